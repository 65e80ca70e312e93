//! Crawler traps: calendars, growing paths, session ids, a page for every URL, a host name for every page.

use super::Outcome::{AtMost, Stored};
use super::host::{Ask, Host, Reply, Speech, page};

/// Number of real pages of the host with session ids.
const REAL_PAGES: u64 = 5;
/// Number of requests after which a crawler should have noticed a trap.
const PATIENCE: usize = 400;
/// Number of links to absent pages.
const BROKEN_LINKS: usize = 20;
/// Number of names of the host with many names.
const SUBDOMAINS: u64 = 5000;

pub(super) fn hosts() -> Vec<Host> {
    let stored = Stored { status: 200 };
    let mut soft = Host::new("soft-404", Speech::Http(soft_404))
        .expect("/", stored, "a home page with broken links")
        .expect("/real", stored, "a real page");
    for number in 0..BROKEN_LINKS {
        soft = soft.expect(format!("/gone/{number}"), stored, "not there, and answers 200 all the same");
    }
    vec![
        Host::new("calendar", Speech::Http(calendar))
            .expect("/", stored, "a calendar with a link to the next month, for ever")
            .expect("/", AtMost(PATIENCE), "months without end"),
        Host::new("growing-path", Speech::Http(growing_path))
            .expect("/", stored, "relative links that make every path longer")
            .expect("/", AtMost(PATIENCE), "paths without end"),
        Host::new(
            "visit-ids",
            Speech::Http(|ask| visit_ids(ask, |page, id| format!("/page/{page}?sid={id}"))),
        )
        .expect("/", stored, "a new ?sid= in every link")
        .expect("/", AtMost(2 * REAL_PAGES as usize + 3), "there are only five pages behind them"),
        Host::new(
            "visit-ids-in-path",
            Speech::Http(|ask| visit_ids(ask, |page, id| format!("/page/{page};jsessionid={id}"))),
        )
        .expect("/", stored, "a new ;jsessionid= in every link")
        .expect("/", AtMost(2 * REAL_PAGES as usize + 3), "there are only five pages behind them"),
        Host::new("tracking", Speech::Http(tracking))
            .expect("/", stored, "one page linked with ten different tracking parameters")
            .expect("/", AtMost(4), "it is one page"),
        soft.expect("/", AtMost(BROKEN_LINKS + 4), "each is asked for once"),
        many_names().expect("/", stored, "the first of thousands of names").expect(
            "/",
            AtMost(3),
            "each name is asked for its rules and its page",
        ),
    ]
}

fn calendar(ask: &Ask) -> Reply {
    let month = match ask.path.strip_prefix("/month/") {
        None if ask.path == "/" => 24_312,
        None => return Reply::not_found(),
        Some(month) => match month.parse::<u64>() {
            Ok(month) if month < u64::MAX => month,
            _ => return Reply::not_found(),
        },
    };
    let (next, before) = (format!("/month/{}", month + 1), format!("/month/{}", month.saturating_sub(1)));
    let title = format!("events of month {} of the year {}", month % 12 + 1, month / 12);
    Reply::page(&title, &[&next, &before])
}

fn growing_path(ask: &Ask) -> Reply {
    if ask.is_robots_txt() || ask.path.len() > 60_000 {
        return Reply::not_found();
    }
    Reply::page("a page below itself", &["a/", "b/"])
}

fn visit_ids(ask: &Ask, link: fn(u64, u64) -> String) -> Reply {
    let page = match ask.path.strip_prefix("/page/") {
        None if ask.path == "/" => 0,
        None => return Reply::not_found(),
        Some(rest) => rest.chars().next().and_then(|digit| digit.to_digit(10)).map_or(0, u64::from),
    };
    // The id is as long as those of real servers, and never the same.
    let id = (ask.earlier + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let links = [1, 2].map(|step| link((page + step) % REAL_PAGES, id.wrapping_add(step)));
    Reply::page(&format!("page {page} of a shop"), &links.each_ref().map(String::as_str))
}

fn tracking(ask: &Ask) -> Reply {
    if ask.path == "/" {
        let links: Vec<String> =
            (0..10).map(|n| format!("/offer?utm_source=letter{n}&amp;fbclid=x{n}")).collect();
        return Reply::page("letters to customers", &links.iter().map(String::as_str).collect::<Vec<_>>());
    }
    if ask.path.starts_with("/offer") { Reply::page("an offer", &[]) } else { Reply::not_found() }
}

fn soft_404(ask: &Ask) -> Reply {
    match ask.path.as_str() {
        "/robots.txt" => Reply::not_found(),
        "/" => {
            let mut links: Vec<String> = (0..BROKEN_LINKS).map(|number| format!("/gone/{number}")).collect();
            links.push("/real".to_string());
            Reply::page("a site that was rebuilt", &links.iter().map(String::as_str).collect::<Vec<_>>())
        }
        "/real" => Reply::page("the only real page", &[]),
        _ => Reply::page("Oops! We could not find that page", &["/"]),
    }
}

/// Every name under `many-names.test` is a site, with links to ten more.
fn many_names() -> Host {
    let host = Host::new("many-names", Speech::Http(one_of_many));
    Host {
        names: vec!["0.many-names.test".to_string(), "*.many-names.test".to_string()],
        seeds: vec![(0, "/".to_string())],
        ..host
    }
}

fn one_of_many(ask: &Ask) -> Reply {
    if ask.path != "/" {
        return Reply::not_found();
    }
    let number = ask.host.split('.').next().and_then(|label| label.parse::<u64>().ok()).unwrap_or(0);
    let port = ask.places.http("0.many-names.test");
    let port = port.rsplit_once(':').map_or("", |(_, port)| port);
    let links: Vec<String> = (1..=10)
        .map(|step| (number * 10 + step) % SUBDOMAINS)
        .map(|number| format!("http://{number}.many-names.test:{port}/"))
        .collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    Reply::html(page(&format!("site number {number}"), &links))
}
