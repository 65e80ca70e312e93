//! Pages that are hard to parse.

use std::fmt::Write;
use std::sync::LazyLock;

use bytes::Bytes;

use crate::hostile::ExpectedOutcome::{AtMost, Stored};
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest, page};

const DEPTH: usize = 100_000;
const LINKS: usize = 1_000_000;
const ATTRIBUTES: usize = 100_000;
const FORMATTING_ELEMENTS: usize = 60_000;
const LARGE: usize = 20 << 20;

pub(super) fn hosts() -> Vec<HostileHost> {
    let stored = Stored { status: 200 };
    vec![
        HostileHost::new("broken-html", HostBehaviour::Http(broken))
            .expect("/", stored, "overlapping, unclosed and unopened tags")
            .with_text("words between the ruins")
            .expect("/found", stored, "a link in broken markup"),
        HostileHost::new("nested", HostBehaviour::Http(|request| home(request, &NESTED))).expect(
            "/",
            stored,
            "a hundred thousand nested elements",
        ),
        HostileHost::new("many-attributes", HostBehaviour::Http(|request| home(request, &MANY_ATTRIBUTES)))
            .expect("/", stored, "a tag with a hundred thousand attributes"),
        HostileHost::new("formatting", HostBehaviour::Http(|request| home(request, &FORMATTING)))
            .expect("/", stored, "a megabyte of formatting elements that are never closed")
            .with_text("the words after it"),
        HostileHost::new("million-links", HostBehaviour::Http(|request| home(request, &MILLION_LINKS)))
            .expect("/", stored, "a million links, all to a host out of scope")
            .expect("/", AtMost(3), "none of them is followed"),
        HostileHost::new("large-page", HostBehaviour::Http(|request| home(request, &LARGE_PAGE)))
            .expect("/", stored, "twenty megabytes: truncated at the limit")
            .with_text("a page that goes on and on"),
        HostileHost::new("not-a-page", HostBehaviour::Http(not_a_page))
            .expect("/", stored, "links to files that are no pages")
            .expect("/noise.html", stored, "binary data declared as HTML")
            .expect("/", AtMost(8), "each is requested once at most"),
    ]
}

fn home(request: &HostileRequest, body: &LazyLock<Bytes>) -> CannedResponse {
    if request.path == "/" {
        CannedResponse::html(LazyLock::force(body).clone())
    } else {
        CannedResponse::not_found()
    }
}

fn broken(request: &HostileRequest) -> CannedResponse {
    const RUINS: &str = "<title>ruins</title>of a page</head><p><b><i>words between the ruins</b></i><table><a \
        href='/found'>found<tr><td></p></td><div></span><![CDATA[ ]]><ul><li><<>&#xFFFFFFFF;&nosuch;<\u{0}script>\
        </body><p><a href=\"/never-closed>x</a><!-- <a href=/commented>never";
    match request.path.as_str() {
        "/" => CannedResponse::html(RUINS),
        "/found" => CannedResponse::page("found among the ruins", &[]),
        _ => CannedResponse::not_found(),
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

/// The tree builder of the HTML standard creates all unclosed formatting elements again in every block.
static FORMATTING: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = "<!DOCTYPE html><title>formatting</title>".to_string();
    for number in 0..FORMATTING_ELEMENTS {
        // Writing to a string cannot fail.
        let _ = write!(out, "<a><b c{number}><div>");
    }
    out.push_str("the words after it");
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
fn not_a_page(request: &HostileRequest) -> CannedResponse {
    let noise: Vec<u8> = (0..20_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    match request.path.as_str() {
        "/" => CannedResponse::page(
            "files of many kinds",
            &["/noise.html", "/film.mp4", "/program.exe", "/no-type", "/odd-type"],
        ),
        "/noise.html" => CannedResponse::html(noise),
        "/film.mp4" => CannedResponse::new(200, "video/mp4", noise),
        "/program.exe" => CannedResponse::new(200, "application/octet-stream", noise),
        "/no-type" => {
            CannedResponse { fields: Vec::new(), ..CannedResponse::page("a page without a type", &[]) }
        }
        "/odd-type" => CannedResponse::new(200, ";;;/", page("a page with an odd type", &[])),
        _ => CannedResponse::not_found(),
    }
}
