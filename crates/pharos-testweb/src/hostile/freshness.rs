//! Pages with validators, and pages that disappear.

use super::Outcome::Stored;
use super::host::{Ask, Host, Reply, Speech};
use crate::clock::START;
use crate::render::http_date;

const ETAG: &str = "\"the-first-edition\"";

pub(super) fn hosts() -> Vec<Host> {
    let stored = Stored { status: 200 };
    let vanishing = |label: &str, answer: fn(&Ask) -> Reply| {
        Host::new(label, Speech::Http(answer))
            .expect("/", stored, "links to a page that can be taken away")
            .expect("/page", stored, "there until it is taken away")
    };
    vec![
        Host::new("etag", Speech::Http(etag)).expect("/", stored, "304 for whoever shows its ETag"),
        Host::new("last-modified", Speech::Http(last_modified)).expect(
            "/",
            stored,
            "304 for whoever has it since its last change",
        ),
        Host::new("always-new", Speech::Http(always_new)).expect(
            "/",
            stored,
            "the same words with a new ETag and a new comment each time",
        ),
        vanishing("vanishing", |ask| vanish(ask, 404)),
        vanishing("vanished-for-good", |ask| vanish(ask, 410)),
    ]
}

fn etag(ask: &Ask) -> Reply {
    if ask.path != "/" {
        return Reply::not_found();
    }
    let known = ask.if_none_match.as_deref().is_some_and(|known| known == "*" || known.contains(ETAG));
    answer(known).field("etag", ETAG)
}

fn last_modified(ask: &Ask) -> Reply {
    if ask.path != "/" {
        return Reply::not_found();
    }
    let changed = http_date(START);
    let since = ask.if_modified_since.as_deref().and_then(|date| httpdate::parse_http_date(date).ok());
    let known =
        since.is_some_and(|since| httpdate::parse_http_date(&changed).is_ok_and(|date| since >= date));
    answer(known).field("last-modified", changed)
}

fn answer(is_known: bool) -> Reply {
    let page = Reply::page("a page that never changes", &[]);
    if is_known { Reply { status: 304, fields: Vec::new(), body: Default::default(), ..page } } else { page }
}

fn always_new(ask: &Ask) -> Reply {
    if ask.path != "/" {
        return Reply::not_found();
    }
    let page = super::host::page("a page that pretends to change", &[]);
    let etag = format!("\"{}\"", ask.earlier);
    Reply::html(format!("{page}<!-- visitor {} -->", ask.earlier)).field("etag", etag)
}

fn vanish(ask: &Ask, status: u16) -> Reply {
    match ask.path.as_str() {
        _ if ask.taken_away => Reply::text(status, "there was a page here once\n"),
        "/" => Reply::page(&format!("a page of {} with a link", ask.host), &["/page"]),
        "/page" => Reply::page(&format!("a page of {} that may go away", ask.host), &[]),
        _ => Reply::not_found(),
    }
}
