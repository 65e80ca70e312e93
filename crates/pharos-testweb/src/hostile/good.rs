//! Hosts without faults, so that a test can see them completed beside the others.

use super::Outcome::{Refused, Stored};
use super::host::{Ask, Host, Reply, Speech};

/// Number of good hosts, and of pages on each.
const HOSTS: usize = 3;
const PAGES: usize = 20;

pub(super) fn hosts() -> Vec<Host> {
    let host = |number: usize| {
        let mut host = Host::new(&format!("good-{number}"), Speech::Http(answer)).expect(
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
fn answer(ask: &Ask) -> Reply {
    if ask.is_robots_txt() {
        return Reply::text(200, "User-agent: *\nDisallow: /forbidden/\n");
    }
    let number = match ask.path.strip_prefix("/page/") {
        None if ask.path == "/" => {
            return Reply::page(
                &format!("the good home page of {}", ask.host),
                &["/page/0", "/page/5", "/page/10", "/page/15"],
            );
        }
        None => return Reply::not_found(),
        Some(number) => number.parse::<usize>().ok().filter(|number| *number < PAGES),
    };
    let Some(number) = number else { return Reply::not_found() };
    let link = |to: usize| if to < PAGES { format!("/page/{to}") } else { "/forbidden/page".to_string() };
    let (next, after) = (link(number + 1), link(number + 2));
    Reply::page(&format!("good page {number} of {}", ask.host), &[&next, &after])
}
