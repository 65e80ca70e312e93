//! Hosts without faults, so that a test can see them completed beside the others.

use crate::hostile::ExpectedOutcome::{Refused, Stored};
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest};

/// Number of good hosts, and of pages on each.
const HOSTS: usize = 3;
const PAGES: usize = 20;

pub(super) fn hosts() -> Vec<HostileHost> {
    let host = |number: usize| {
        let mut host = HostileHost::new(&format!("good-{number}"), HostBehaviour::Http(answer)).expect(
            "/",
            Stored { status: 200 },
            "a good home page",
        );
        for page in 0..PAGES {
            host = host.expect(format!("/page/{page}"), Stored { status: 200 }, "a good page");
        }
        host.expect("/forbidden/page", Refused { reason: "robots.txt" }, "forbidden by a good robots.txt")
    };
    (1..=HOSTS).map(host).collect()
}

/// Each page links to the next two, the last ones to the forbidden page.
fn answer(request: &HostileRequest) -> CannedResponse {
    if request.is_robots_txt() {
        return CannedResponse::text(200, "User-agent: *\nDisallow: /forbidden/\n");
    }
    let number = match request.path.strip_prefix("/page/") {
        None if request.path == "/" => {
            return CannedResponse::page(
                &format!("the good home page of {}", request.host),
                &["/page/0", "/page/5", "/page/10", "/page/15"],
            );
        }
        None => return CannedResponse::not_found(),
        Some(number) => number.parse::<usize>().ok().filter(|number| *number < PAGES),
    };
    let Some(number) = number else { return CannedResponse::not_found() };
    let link = |to: usize| if to < PAGES { format!("/page/{to}") } else { "/forbidden/page".to_string() };
    let (next, after) = (link(number + 1), link(number + 2));
    CannedResponse::page(&format!("good page {number} of {}", request.host), &[&next, &after])
}
