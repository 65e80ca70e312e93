//! robots.txt in every state (RFC 9309 §2.3.1).

use std::io::Write;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;

use crate::hostile::ExpectedOutcome::{AtMost, Failed, NeverRequested, Refused, Stored};
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest, ScriptStep, page};

const RULES: &str = "User-agent: *\nDisallow: /private/\n";
/// A crawler reads at least 500 KiB of rules; these are four times that.
const HUGE: usize = 2 << 20;

pub(super) fn hosts() -> Vec<HostileHost> {
    let unknown = || Failed { reason: "robots.txt" };
    let mut hosts = vec![
        allowed(
            "robots-missing",
            |request| site(request, CannedResponse::not_found),
            "no rules: everything is allowed",
        ),
        allowed(
            "robots-401",
            |request| site(request, || CannedResponse::text(401, "who are you?\n")),
            "unavailable: allowed",
        ),
        allowed(
            "robots-403",
            |request| site(request, || CannedResponse::text(403, "go away\n")),
            "unavailable: allowed",
        ),
        allowed(
            "robots-410",
            |request| site(request, || CannedResponse::text(410, "gone\n")),
            "unavailable: allowed",
        ),
        allowed(
            "robots-empty",
            |request| site(request, || CannedResponse::text(200, "")),
            "empty rules allow everything",
        ),
        allowed("robots-binary", |request| site(request, binary), "binary data contains no rule"),
        allowed(
            "robots-html",
            |request| site(request, || CannedResponse::page("Welcome!", &[])),
            "an HTML page contains no rule",
        ),
        allowed(
            "robots-redirect-loop",
            |request| site(request, || CannedResponse::redirect(302, "/robots.txt")),
            "a redirect loop means unavailable rules: allowed",
        ),
        forbidden("robots-known", |request| site(request, || CannedResponse::text(200, RULES)), "good rules"),
        forbidden("robots-gzip", |request| site(request, compressed), "compressed rules apply"),
        forbidden(
            "robots-bom",
            |request| {
                site(request, || {
                    CannedResponse::text(200, "\u{feff}User-agent: *\r\nDisallow: /private/\r\n")
                })
            },
            "rules after a byte order mark, with CRLF line endings",
        ),
        forbidden(
            "robots-moved",
            |request| site(request, || CannedResponse::redirect(301, "/rules.txt")),
            "rules after a redirect",
        ),
        forbidden(
            "robots-elsewhere",
            elsewhere,
            "rules on another host, after a redirect, apply to this one",
        ),
        forbidden(
            "robots-huge",
            |request| site(request, || CannedResponse::text(200, HUGE_RULES.clone())),
            "rules of 2 MB",
        )
        .expect("/late", Stored { status: 200 }, "forbidden only beyond the read limit"),
        HostileHost::new(
            "robots-source",
            HostBehaviour::Http(|request| site(request, || CannedResponse::text(200, RULES))),
        )
        .seeds(&[]),
        HostileHost::new("robots-stalls", HostBehaviour::Script(stalls)),
        HostileHost::new("robots-closes", HostBehaviour::Script(closes)),
        HostileHost::new("robots-cut-length", HostBehaviour::Script(cut_length)),
        HostileHost::new("robots-cut-chunk", HostBehaviour::Script(cut_chunk)),
        HostileHost::new("robots-cut-gzip", HostBehaviour::Script(cut_gzip)),
        HostileHost::new("robots-drips", HostBehaviour::Script(drips)),
    ];
    for (label, answer) in [
        (
            "robots-500",
            (|request| site(request, || CannedResponse::text(500, "an error\n")))
                as fn(&HostileRequest) -> CannedResponse,
        ),
        ("robots-503", |request| {
            site(request, || CannedResponse::text(503, "an error\n").field("retry-after", "3600"))
        }),
        ("robots-429", |request| {
            site(request, || CannedResponse::text(429, "an error\n").field("retry-after", "3600"))
        }),
    ] {
        hosts.push(HostileHost::new(label, HostBehaviour::Http(answer)));
    }
    let is_unknown = |host: &HostileHost| host.expectations.is_empty() && !host.seeds.is_empty();
    let note = "its robots.txt is unreachable: nothing may be requested for now";
    let unknown = |host: HostileHost| {
        host.expect("/", unknown(), note).expect("/", NeverRequested, note).expect("/", AtMost(4), note)
    };
    hosts.into_iter().map(|host| if is_unknown(&host) { unknown(host) } else { host }).collect()
}

/// A host with rules that forbid nothing.
fn allowed(label: &str, answer: fn(&HostileRequest) -> CannedResponse, note: &'static str) -> HostileHost {
    let stored = Stored { status: 200 };
    HostileHost::new(label, HostBehaviour::Http(answer)).expect("/", stored, note).expect(
        "/private/page",
        stored,
        note,
    )
}

/// A host with rules that forbid `/private/`.
fn forbidden(label: &str, answer: fn(&HostileRequest) -> CannedResponse, note: &'static str) -> HostileHost {
    HostileHost::new(label, HostBehaviour::Http(answer))
        .expect("/", Stored { status: 200 }, note)
        .expect("/private/page", Refused { reason: "robots.txt" }, note)
        .expect("/private/page", NeverRequested, note)
}

fn site(request: &HostileRequest, robots_txt: fn() -> CannedResponse) -> CannedResponse {
    match request.path.as_str() {
        "/robots.txt" => robots_txt(),
        "/rules.txt" => CannedResponse::text(200, RULES),
        "/" => {
            CannedResponse::page(&format!("{}, a site with rules", request.host), &["/private/page", "/late"])
        }
        "/private/page" | "/late" => {
            CannedResponse::page(&format!("what the rules of {} speak about", request.host), &[])
        }
        _ => CannedResponse::not_found(),
    }
}

fn elsewhere(request: &HostileRequest) -> CannedResponse {
    if request.is_robots_txt() {
        return CannedResponse::redirect(
            302,
            &format!("{}/robots.txt", request.urls.http("robots-source.test")),
        );
    }
    site(request, CannedResponse::not_found)
}

fn binary() -> CannedResponse {
    CannedResponse::text(
        200,
        (0..4096u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8).collect::<Bytes>(),
    )
}

fn compressed() -> CannedResponse {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(RULES.as_bytes());
    CannedResponse::text(200, encoder.finish().unwrap_or_default()).field("content-encoding", "gzip")
}

static HUGE_RULES: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = RULES.to_string();
    while out.len() < HUGE {
        out.push_str("Disallow: /a/place/that/nobody/ever/linked/to\n");
    }
    out.push_str("Disallow: /late\n");
    out.into()
});

fn stalls(request: &HostileRequest) -> Vec<ScriptStep> {
    if request.is_robots_txt() { vec![ScriptStep::Stall] } else { vec![the_page()] }
}

fn closes(request: &HostileRequest) -> Vec<ScriptStep> {
    if request.is_robots_txt() { vec![ScriptStep::Close] } else { vec![the_page()] }
}

fn the_page() -> ScriptStep {
    ScriptStep::Send(CannedResponse::html(page("a page behind unknown rules", &[])).bytes())
}

/// Responds to robots.txt with the beginning of harmless rules and these further steps.
fn cut_rules(request: &HostileRequest, field: &str, body: &[u8], end: ScriptStep) -> Vec<ScriptStep> {
    if !request.is_robots_txt() {
        return vec![the_page()];
    }
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{field}\r\n\r\n");
    vec![ScriptStep::Send([head.as_bytes(), body].concat().into()), end]
}

fn cut_length(request: &HostileRequest) -> Vec<ScriptStep> {
    cut_rules(request, "Content-Length: 4000", RULES.as_bytes(), ScriptStep::Close)
}

fn cut_chunk(request: &HostileRequest) -> Vec<ScriptStep> {
    let body = format!("{:x}\r\n{RULES}", RULES.len() + 9);
    cut_rules(request, "Transfer-Encoding: chunked", body.as_bytes(), ScriptStep::Close)
}

fn cut_gzip(request: &HostileRequest) -> Vec<ScriptStep> {
    let whole = compressed().body;
    cut_rules(request, "Content-Encoding: gzip", &whole[..whole.len() - 9], ScriptStep::Close)
}

fn drips(request: &HostileRequest) -> Vec<ScriptStep> {
    let drip = ScriptStep::Drip(Bytes::from_static(b"#"), Duration::from_millis(200));
    cut_rules(request, "Content-Length: 4000", RULES.as_bytes(), drip)
}
