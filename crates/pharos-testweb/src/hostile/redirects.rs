//! Redirects: chains, loops, into private networks, between hosts, to invalid targets.

use std::net::SocketAddr;

use super::Outcome::{AtMost, NeverAsked, Stored};
use super::host::{Ask, Host, Reply, Speech};

/// Names of addresses that only forbidden redirects lead to.
pub(super) const DECOY_V4: &str = "decoy-v4";
pub(super) const DECOY_V6: &str = "decoy-v6";

const FOUND: super::Outcome = Stored { status: 302 };

pub(super) fn hosts() -> Vec<Host> {
    let chain_3 = Host::new("redirect-chain-3", Speech::Http(|ask| chain(ask, 3)))
        .expect("/", FOUND, "the first of three redirects")
        .expect("/step/2", FOUND, "the last of three redirects")
        .expect("/step/3", Stored { status: 200 }, "where three redirects lead");
    let chain_20 = Host::new("redirect-chain-20", Speech::Http(|ask| chain(ask, 20)))
        .expect("/", FOUND, "the first of twenty redirects")
        .expect("/step/20", NeverAsked, "nobody follows twenty redirects")
        .expect("/", AtMost(12), "ten redirects are the most that anybody follows");
    let turn = Host::new("redirect-loop", Speech::Http(turn))
        .expect("/", FOUND, "two pages that redirect to each other")
        .expect("/other", FOUND, "two pages that redirect to each other")
        .expect("/", AtMost(4), "a loop is left at once");
    let ring = |label: &str| {
        Host::new(label, Speech::Http(ring))
            .expect("/", FOUND, "two hosts that redirect to each other")
            .expect("/", AtMost(3), "a loop is left at once")
    };
    let (ring_a, ring_b) = (ring("redirect-ring-a"), ring("redirect-ring-b").seeds(&[]));
    let to_itself = Host::new("redirect-itself", Speech::Http(|ask| to(ask, "/")))
        .expect("/", FOUND, "a page that redirects to itself")
        .expect("/", AtMost(3), "a loop is left at once");
    let mut private = Host::new("redirect-private", Speech::Http(into_private)).expect(
        "/",
        Stored { status: 200 },
        "links to redirects into private networks",
    );
    for (path, _) in PRIVATE {
        private = private.expect(*path, FOUND, "redirects into a private network");
    }
    let away = Host::new("redirect-away", Speech::Http(away))
        .expect("/", Stored { status: 200 }, "links to a redirect to a host out of scope")
        .expect("/away", Stored { status: 301 }, "redirects to a host out of scope");
    let stranger = Host::new("redirect-stranger", Speech::Http(anything)).seeds(&[]).expect(
        "/landing",
        NeverAsked,
        "a redirect of another host leads here, and this host is out of scope",
    );
    let seed_moves = Host::new("redirect-seed", Speech::Http(seed_moves)).expect(
        "/",
        Stored { status: 308 },
        "the whole host has moved",
    );
    let seed_moved = Host::new("redirect-seed-moved", Speech::Http(anything)).seeds(&[]).expect(
        "/",
        Stored { status: 200 },
        "a seed has moved here, so this host is in scope",
    );
    let mut nowhere = Host::new("redirect-nowhere", Speech::Http(nowhere))
        .expect("/", Stored { status: 200 }, "links to redirects without a place to go")
        .expect("/none", FOUND, "no Location at all");
    for (path, _) in NOWHERE {
        nowhere = nowhere.expect(*path, FOUND, "a Location that no crawler may follow");
    }
    let nowhere = nowhere.expect("/", AtMost(NOWHERE.len() + 3), "nothing of it is followed");
    vec![
        chain_3, chain_20, turn, ring_a, ring_b, to_itself, private, away, stranger, seed_moves, seed_moved,
        nowhere,
    ]
}

/// Returns a host that must never be requested; its listener would notice.
pub(super) fn decoy(address: SocketAddr) -> Host {
    let host = Host::new("decoy", Speech::Http(anything));
    Host { names: vec![address.ip().to_string()], ..host }
}

fn anything(ask: &Ask) -> Reply {
    if ask.is_robots_txt() {
        Reply::not_found()
    } else {
        Reply::page("a place at the end of a redirect", &[])
    }
}

fn to(ask: &Ask, target: &str) -> Reply {
    if ask.is_robots_txt() { Reply::not_found() } else { Reply::redirect(302, target) }
}

/// `/` → `/step/1` → … → `/step/{length}`, which is a page.
fn chain(ask: &Ask, length: u32) -> Reply {
    let step = match ask.path.strip_prefix("/step/") {
        None if ask.path == "/" => 0,
        None => return Reply::not_found(),
        Some(step) => step.parse().unwrap_or(length),
    };
    if step < length {
        Reply::redirect(302, &format!("/step/{}", step + 1))
    } else {
        Reply::page("the end of a chain of redirects", &[])
    }
}

fn turn(ask: &Ask) -> Reply {
    to(ask, if ask.path == "/other" { "/" } else { "/other" })
}

fn ring(ask: &Ask) -> Reply {
    let other =
        if ask.host == "redirect-ring-a.test" { "redirect-ring-b.test" } else { "redirect-ring-a.test" };
    to(ask, &format!("{}/", ask.places.http(other)))
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

fn into_private(ask: &Ask) -> Reply {
    if ask.path == "/" {
        let links: Vec<&str> = PRIVATE.iter().map(|(path, _)| *path).collect();
        return Reply::page("ways into private networks", &links);
    }
    match PRIVATE.iter().find(|(path, _)| *path == ask.path) {
        Some((_, decoy)) if decoy.starts_with("decoy") => {
            Reply::redirect(302, &format!("{}/", ask.places.http(decoy)))
        }
        Some((_, target)) => Reply::redirect(302, target),
        None => Reply::not_found(),
    }
}

fn away(ask: &Ask) -> Reply {
    match ask.path.as_str() {
        "/" => Reply::page("a page with a link that leaves", &["/away"]),
        "/away" => Reply::redirect(301, &format!("{}/landing", ask.places.http("redirect-stranger.test"))),
        _ => Reply::not_found(),
    }
}

fn seed_moves(ask: &Ask) -> Reply {
    match ask.path.as_str() {
        "/" => Reply::redirect(308, &format!("{}/", ask.places.http("redirect-seed-moved.test"))),
        _ => Reply::not_found(),
    }
}

const NOWHERE: &[(&str, &str)] = &[
    ("/empty", ""),
    ("/broken", "http://[:::]:x/"),
    ("/file", "file:///etc/passwd"),
    ("/script", "javascript:alert(1)"),
    ("/mail", "mailto:nobody@redirect-nowhere.test"),
];

fn nowhere(ask: &Ask) -> Reply {
    match ask.path.as_str() {
        "/" => {
            let mut links: Vec<&str> = NOWHERE.iter().map(|(path, _)| *path).collect();
            links.push("/none");
            Reply::page("redirects without a place to go", &links)
        }
        "/none" => Reply::text(302, "moved, but nobody knows where\n"),
        path => match NOWHERE.iter().find(|(known, _)| *known == path) {
            Some((_, target)) => Reply::redirect(302, target),
            None => Reply::not_found(),
        },
    }
}
