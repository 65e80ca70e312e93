//! Redirects: chains, loops, into private networks, between hosts, to invalid targets.

use std::net::SocketAddr;

use crate::hostile::ExpectedOutcome::{AtMost, NeverRequested, Stored};
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest};

/// Names of addresses that only forbidden redirects lead to.
pub(in crate::hostile) const DECOY_V4: &str = "decoy-v4";
pub(in crate::hostile) const DECOY_V6: &str = "decoy-v6";

const FOUND: crate::hostile::ExpectedOutcome = Stored { status: 302 };

pub(super) fn hosts() -> Vec<HostileHost> {
    let chain_3 = HostileHost::new("redirect-chain-3", HostBehaviour::Http(|request| chain(request, 3)))
        .expect("/", FOUND, "the first of three redirects")
        .expect("/step/2", FOUND, "the last of three redirects")
        .expect("/step/3", Stored { status: 200 }, "the target of three redirects");
    let chain_20 = HostileHost::new("redirect-chain-20", HostBehaviour::Http(|request| chain(request, 20)))
        .expect("/", FOUND, "the first of twenty redirects")
        .expect("/step/20", NeverRequested, "twenty redirects exceed every limit")
        .expect("/", AtMost(12), "no crawler follows more than ten redirects");
    let turn = HostileHost::new("redirect-loop", HostBehaviour::Http(turn))
        .expect("/", FOUND, "two pages that redirect to each other")
        .expect("/other", FOUND, "two pages that redirect to each other")
        .expect("/", AtMost(4), "the loop is detected immediately");
    let ring = |label: &str| {
        HostileHost::new(label, HostBehaviour::Http(ring))
            .expect("/", FOUND, "two hosts that redirect to each other")
            .expect("/", AtMost(3), "the loop is detected immediately")
    };
    let (ring_a, ring_b) = (ring("redirect-ring-a"), ring("redirect-ring-b").seeds(&[]));
    let to_itself = HostileHost::new("redirect-itself", HostBehaviour::Http(|request| to(request, "/")))
        .expect("/", FOUND, "a page that redirects to itself")
        .expect("/", AtMost(3), "the loop is detected immediately");
    let mut private = HostileHost::new("redirect-private", HostBehaviour::Http(into_private)).expect(
        "/",
        Stored { status: 200 },
        "links to redirects into private networks",
    );
    for (path, _) in PRIVATE {
        private = private.expect(*path, FOUND, "redirects into a private network");
    }
    let away = HostileHost::new("redirect-away", HostBehaviour::Http(away))
        .expect("/", Stored { status: 200 }, "links to a redirect to a host out of scope")
        .expect("/away", Stored { status: 301 }, "redirects to a host out of scope");
    let stranger = HostileHost::new("redirect-stranger", HostBehaviour::Http(anything)).seeds(&[]).expect(
        "/landing",
        NeverRequested,
        "target of a redirect of another host; out of scope",
    );
    let seed_moves = HostileHost::new("redirect-seed", HostBehaviour::Http(seed_moves)).expect(
        "/",
        Stored { status: 308 },
        "the seed has moved to another host",
    );
    let seed_moved = HostileHost::new("redirect-seed-moved", HostBehaviour::Http(anything))
        .seeds(&[])
        .expect("/", Stored { status: 200 }, "target of a moved seed, so in scope");
    let mut nowhere = HostileHost::new("redirect-nowhere", HostBehaviour::Http(nowhere))
        .expect("/", Stored { status: 200 }, "links to redirects without a valid target")
        .expect("/none", FOUND, "no Location at all");
    for (path, _) in NOWHERE {
        nowhere = nowhere.expect(*path, FOUND, "a Location that no crawler may follow");
    }
    let nowhere = nowhere.expect("/", AtMost(NOWHERE.len() + 3), "no redirect is followed");
    vec![
        chain_3, chain_20, turn, ring_a, ring_b, to_itself, private, away, stranger, seed_moves, seed_moved,
        nowhere,
    ]
}

/// Returns a host that must never be requested; its listener would notice.
pub(in crate::hostile) fn decoy(address: SocketAddr) -> HostileHost {
    let host = HostileHost::new("decoy", HostBehaviour::Http(anything));
    HostileHost { names: vec![address.ip().to_string()], ..host }
}

fn anything(request: &HostileRequest) -> CannedResponse {
    if request.is_robots_txt() {
        CannedResponse::not_found()
    } else {
        CannedResponse::page("a place at the end of a redirect", &[])
    }
}

fn to(request: &HostileRequest, target: &str) -> CannedResponse {
    if request.is_robots_txt() { CannedResponse::not_found() } else { CannedResponse::redirect(302, target) }
}

/// `/` → `/step/1` → … → `/step/{length}`, which is a page.
fn chain(request: &HostileRequest, length: u32) -> CannedResponse {
    let step = match request.path.strip_prefix("/step/") {
        None if request.path == "/" => 0,
        None => return CannedResponse::not_found(),
        Some(step) => step.parse().unwrap_or(length),
    };
    if step < length {
        CannedResponse::redirect(302, &format!("/step/{}", step + 1))
    } else {
        CannedResponse::page("the end of a chain of redirects", &[])
    }
}

fn turn(request: &HostileRequest) -> CannedResponse {
    to(request, if request.path == "/other" { "/" } else { "/other" })
}

fn ring(request: &HostileRequest) -> CannedResponse {
    let other =
        if request.host == "redirect-ring-a.test" { "redirect-ring-b.test" } else { "redirect-ring-a.test" };
    to(request, &format!("{}/", request.urls.http(other)))
}

/// Paths and their redirect targets; names of decoys are replaced by their addresses.
const PRIVATE: &[(&str, &str)] = &[
    ("/metadata", "http://169.254.169.254/latest/meta-data/"),
    ("/ten", "http://10.0.0.1/"),
    ("/mapped", "http://[::ffff:10.0.0.1]/"),
    ("/decimal", "http://167772161/"),
    ("/loopback", DECOY_V4),
    ("/loopback-v6", DECOY_V6),
];

fn into_private(request: &HostileRequest) -> CannedResponse {
    if request.path == "/" {
        let links: Vec<&str> = PRIVATE.iter().map(|(path, _)| *path).collect();
        return CannedResponse::page("ways into private networks", &links);
    }
    match PRIVATE.iter().find(|(path, _)| *path == request.path) {
        Some((_, decoy)) if decoy.starts_with("decoy") => {
            CannedResponse::redirect(302, &format!("{}/", request.urls.http(decoy)))
        }
        Some((_, target)) => CannedResponse::redirect(302, target),
        None => CannedResponse::not_found(),
    }
}

fn away(request: &HostileRequest) -> CannedResponse {
    match request.path.as_str() {
        "/" => CannedResponse::page("a page with a link that leaves", &["/away"]),
        "/away" => {
            CannedResponse::redirect(301, &format!("{}/landing", request.urls.http("redirect-stranger.test")))
        }
        _ => CannedResponse::not_found(),
    }
}

fn seed_moves(request: &HostileRequest) -> CannedResponse {
    match request.path.as_str() {
        "/" => CannedResponse::redirect(308, &format!("{}/", request.urls.http("redirect-seed-moved.test"))),
        _ => CannedResponse::not_found(),
    }
}

const NOWHERE: &[(&str, &str)] = &[
    ("/empty", ""),
    ("/broken", "http://[:::]:x/"),
    ("/file", "file:///etc/passwd"),
    ("/script", "javascript:alert(1)"),
    ("/mail", "mailto:nobody@redirect-nowhere.test"),
];

fn nowhere(request: &HostileRequest) -> CannedResponse {
    match request.path.as_str() {
        "/" => {
            let mut links: Vec<&str> = NOWHERE.iter().map(|(path, _)| *path).collect();
            links.push("/none");
            CannedResponse::page("redirects without a place to go", &links)
        }
        "/none" => CannedResponse::text(302, "moved, but nobody knows where\n"),
        path => match NOWHERE.iter().find(|(known, _)| *known == path) {
            Some((_, target)) => CannedResponse::redirect(302, target),
            None => CannedResponse::not_found(),
        },
    }
}
