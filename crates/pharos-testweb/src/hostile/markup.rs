//! Pages that are hard to parse.

use std::fmt::Write;
use std::sync::LazyLock;

use bytes::Bytes;

use super::Outcome::{AtMost, Stored};
use super::host::{Ask, Host, Reply, Speech, page};

const DEPTH: usize = 100_000;
const LINKS: usize = 1_000_000;
const ATTRIBUTES: usize = 100_000;
const LARGE: usize = 20 << 20;

pub(super) fn hosts() -> Vec<Host> {
    let stored = Stored { status: 200 };
    vec![
        Host::new("broken-html", Speech::Http(broken))
            .expect("/", stored, "tags that cross, never close and never open")
            .saying("words between the ruins")
            .expect("/found", stored, "a link among the ruins"),
        Host::new("nested", Speech::Http(|ask| home(ask, &NESTED))).expect(
            "/",
            stored,
            "a hundred thousand elements inside each other",
        ),
        Host::new("many-attributes", Speech::Http(|ask| home(ask, &MANY_ATTRIBUTES))).expect(
            "/",
            stored,
            "a tag with a hundred thousand attributes",
        ),
        Host::new("million-links", Speech::Http(|ask| home(ask, &MILLION_LINKS)))
            .expect("/", stored, "a million links, all to a host out of scope")
            .expect("/", AtMost(3), "none of them is followed"),
        Host::new("large-page", Speech::Http(|ask| home(ask, &LARGE_PAGE)))
            .expect("/", stored, "twenty megabytes: cut at the limit")
            .saying("a page that goes on and on"),
        Host::new("not-a-page", Speech::Http(not_a_page))
            .expect("/", stored, "links to files that are no pages")
            .expect("/noise.html", stored, "noise that calls itself HTML")
            .expect("/", AtMost(8), "each is asked for once at most"),
    ]
}

fn home(ask: &Ask, body: &LazyLock<Bytes>) -> Reply {
    if ask.path == "/" { Reply::html(LazyLock::force(body).clone()) } else { Reply::not_found() }
}

fn broken(ask: &Ask) -> Reply {
    const RUINS: &str = "<title>ruins</title>of a page</head><p><b><i>words between the ruins</b></i><table><a \
        href='/found'>found<tr><td></p></td><div></span><![CDATA[ ]]><ul><li><<>&#xFFFFFFFF;&nosuch;<\u{0}script>\
        </body><p><a href=\"/never-closed>x</a><!-- <a href=/commented>never";
    match ask.path.as_str() {
        "/" => Reply::html(RUINS),
        "/found" => Reply::page("found among the ruins", &[]),
        _ => Reply::not_found(),
    }
}

static NESTED: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = "<!DOCTYPE html><title>deep</title>".to_string();
    out.push_str(&"<div>".repeat(DEPTH));
    out.push_str("the bottom of it");
    out.push_str(&"</div>".repeat(DEPTH));
    out.into()
});

static MANY_ATTRIBUTES: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = "<!DOCTYPE html><title>wide</title><p".to_string();
    for number in 0..ATTRIBUTES {
        // Writing to a string cannot fail.
        let _ = write!(out, " a{number}=1");
    }
    out.push_str(">words</p>");
    out.into()
});

static MILLION_LINKS: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = "<!DOCTYPE html><title>links</title>".to_string();
    for number in 0..LINKS {
        // Writing to a string cannot fail.
        let _ = write!(out, "<a href=//out-of-scope.test/{number}>x</a>");
    }
    out.into()
});

static LARGE_PAGE: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = page("a page that goes on and on", &[]);
    while out.len() < LARGE {
        out.push_str("<p>and on and on and on and on and on and on and on and on and on</p>\n");
    }
    out.into()
});

/// Media types as sent by a careless server.
fn not_a_page(ask: &Ask) -> Reply {
    let noise: Vec<u8> = (0..20_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    match ask.path.as_str() {
        "/" => Reply::page(
            "files of many kinds",
            &["/noise.html", "/film.mp4", "/program.exe", "/no-type", "/odd-type"],
        ),
        "/noise.html" => Reply::html(noise),
        "/film.mp4" => Reply::new(200, "video/mp4", noise),
        "/program.exe" => Reply::new(200, "application/octet-stream", noise),
        "/no-type" => Reply { fields: Vec::new(), ..Reply::page("a page without a type", &[]) },
        "/odd-type" => Reply::new(200, ";;;/", page("a page with an odd type", &[])),
        _ => Reply::not_found(),
    }
}
