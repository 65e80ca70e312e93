//! robots.txt in every state (RFC 9309 §2.3.1).

use std::io::Write;
use std::sync::LazyLock;

use bytes::Bytes;

use super::Outcome::{AtMost, Failed, NeverAsked, Refused, Stored};
use super::host::{Ask, Host, Reply, Speech, Step, page};

const RULES: &str = "User-agent: *\nDisallow: /private/\n";
/// A crawler reads at least 500 KiB of rules; these are four times that.
const HUGE: usize = 2 << 20;

pub(super) fn hosts() -> Vec<Host> {
    let unknown = || Failed { reason: "robots.txt" };
    let mut hosts = vec![
        allowed("robots-missing", |ask| site(ask, Reply::not_found), "no rules: everything is allowed"),
        allowed("robots-401", |ask| site(ask, || Reply::text(401, "who are you?\n")), "unavailable: allowed"),
        allowed("robots-403", |ask| site(ask, || Reply::text(403, "go away\n")), "unavailable: allowed"),
        allowed("robots-410", |ask| site(ask, || Reply::text(410, "gone\n")), "unavailable: allowed"),
        allowed("robots-empty", |ask| site(ask, || Reply::text(200, "")), "empty rules allow everything"),
        allowed("robots-binary", |ask| site(ask, binary), "noise is no rule"),
        allowed("robots-html", |ask| site(ask, || Reply::page("Welcome!", &[])), "a page is no rule"),
        allowed(
            "robots-redirect-loop",
            |ask| site(ask, || Reply::redirect(302, "/robots.txt")),
            "rules that cannot be reached by redirects are unavailable: allowed",
        ),
        forbidden("robots-known", |ask| site(ask, || Reply::text(200, RULES)), "good rules"),
        forbidden("robots-gzip", |ask| site(ask, compressed), "compressed rules are rules"),
        forbidden(
            "robots-bom",
            |ask| site(ask, || Reply::text(200, "\u{feff}User-agent: *\r\nDisallow: /private/\r\n")),
            "rules behind a byte order mark, with two bytes at the end of a line",
        ),
        forbidden(
            "robots-moved",
            |ask| site(ask, || Reply::redirect(301, "/rules.txt")),
            "rules by redirect",
        ),
        forbidden("robots-elsewhere", elsewhere, "rules on another host, by redirect, hold for this one"),
        forbidden("robots-huge", |ask| site(ask, || Reply::text(200, HUGE_RULES.clone())), "rules of 2 MB")
            .expect("/late", Stored { status: 200 }, "forbidden only beyond what anybody reads"),
        Host::new("robots-source", Speech::Http(|ask| site(ask, || Reply::text(200, RULES)))).seeds(&[]),
        Host::new("robots-stalls", Speech::Script(stalls)),
        Host::new("robots-closes", Speech::Script(closes)),
    ];
    for (label, answer) in [
        ("robots-500", (|ask| site(ask, || Reply::text(500, "an error\n"))) as fn(&Ask) -> Reply),
        ("robots-503", |ask| site(ask, || Reply::text(503, "an error\n").field("retry-after", "3600"))),
        ("robots-429", |ask| site(ask, || Reply::text(429, "an error\n").field("retry-after", "3600"))),
    ] {
        hosts.push(Host::new(label, Speech::Http(answer)));
    }
    let is_unknown = |host: &Host| host.truth.is_empty() && !host.seeds.is_empty();
    let note = "its rules cannot be had: nothing may be asked for the time being";
    let unknown = |host: Host| {
        host.expect("/", unknown(), note).expect("/", NeverAsked, note).expect("/", AtMost(4), note)
    };
    hosts.into_iter().map(|host| if is_unknown(&host) { unknown(host) } else { host }).collect()
}

/// A host with rules that forbid nothing.
fn allowed(label: &str, answer: fn(&Ask) -> Reply, note: &'static str) -> Host {
    let stored = Stored { status: 200 };
    Host::new(label, Speech::Http(answer)).expect("/", stored, note).expect("/private/page", stored, note)
}

/// A host with rules that forbid `/private/`.
fn forbidden(label: &str, answer: fn(&Ask) -> Reply, note: &'static str) -> Host {
    Host::new(label, Speech::Http(answer))
        .expect("/", Stored { status: 200 }, note)
        .expect("/private/page", Refused { reason: "robots.txt" }, note)
        .expect("/private/page", NeverAsked, note)
}

fn site(ask: &Ask, robots_txt: fn() -> Reply) -> Reply {
    match ask.path.as_str() {
        "/robots.txt" => robots_txt(),
        "/rules.txt" => Reply::text(200, RULES),
        "/" => Reply::page(&format!("{}, a site with rules", ask.host), &["/private/page", "/late"]),
        "/private/page" | "/late" => Reply::page(&format!("what the rules of {} speak about", ask.host), &[]),
        _ => Reply::not_found(),
    }
}

fn elsewhere(ask: &Ask) -> Reply {
    if ask.is_robots_txt() {
        return Reply::redirect(302, &format!("{}/robots.txt", ask.places.http("robots-source.test")));
    }
    site(ask, Reply::not_found)
}

fn binary() -> Reply {
    Reply::text(200, (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect::<Bytes>())
}

fn compressed() -> Reply {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(RULES.as_bytes());
    Reply::text(200, encoder.finish().unwrap_or_default()).field("content-encoding", "gzip")
}

static HUGE_RULES: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = RULES.to_string();
    while out.len() < HUGE {
        out.push_str("Disallow: /a/place/that/nobody/ever/linked/to\n");
    }
    out.push_str("Disallow: /late\n");
    out.into()
});

fn stalls(ask: &Ask) -> Vec<Step> {
    if ask.is_robots_txt() { vec![Step::Stall] } else { vec![the_page()] }
}

fn closes(ask: &Ask) -> Vec<Step> {
    if ask.is_robots_txt() { vec![Step::Close] } else { vec![the_page()] }
}

fn the_page() -> Step {
    Step::Send(Reply::html(page("a page behind unknown rules", &[])).bytes())
}
