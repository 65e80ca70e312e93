//! Names and addresses: several names on one address, one name on several, one site under several names.

use super::Outcome::{AtMostTogether, Stored};
use super::host::{Ask, Carrier, Certificate, Host, Reply, Speech};

/// Number of pages of the site with several names.
const PAGES: usize = 12;
const ALL_NAMES: &[&str] = &["alias.test", "www.alias.test", "second-alias.test"];
/// Requests for the whole site with its robots.txt once, and for recognising it under three more names, one of them
/// https: robots.txt, the home page and some pages.
const ENOUGH: usize = PAGES + 2 + 3 * 6;

pub(super) fn hosts() -> Vec<Host> {
    let stored = Stored { status: 200 };
    let shared = Host::new("shared-one", Speech::Http(by_name))
        .also_named(&["shared-two", "shared-three"])
        .seeds(&[(0, "/"), (1, "/"), (2, "/")]);
    let note = "several names on one address, with different content: no aliases of each other";
    let shared = (0..3).fold(shared, |host, name| {
        host.expect_of(name, "/", stored, note).expect_of(name, "/page", stored, note)
    });
    let half_dead = Host::new("half-dead", Speech::Http(by_name))
        .expect("/", stored, "one name on two addresses, and nobody listens on the first")
        .expect("/page", stored, "one name on two addresses, and nobody listens on the first");
    let half_dead = Host { half_dead: true, ..half_dead };
    let alias = Host::new("alias", Speech::Http(same_for_all))
        .also_named(&["www.alias", "second-alias"])
        .seeds(&[(0, "/"), (1, "/"), (2, "/")])
        .expect("/", stored, "a site under several names: the home page of each is looked at")
        .expect(
            "/",
            AtMostTogether { hosts: ALL_NAMES, requests: ENOUGH },
            "each page is fetched under one of them",
        );
    let secure_alias = Host::new("alias", Speech::Http(same_for_all))
        .also_named(&["www.alias"])
        .over(Carrier::Tls { certificate: Certificate::Good, http2: true })
        .seeds(&[(0, "/")]);
    let default_port = |host: Host| Host { default_port: true, ..host };
    vec![shared, half_dead, default_port(alias), default_port(secure_alias)]
}

fn by_name(ask: &Ask) -> Reply {
    match ask.path.as_str() {
        "/" => Reply::page(&format!("the home page of {}", ask.host), &["/page"]),
        "/page" => Reply::page(&format!("a page of {} alone", ask.host), &["/"]),
        _ => Reply::not_found(),
    }
}

/// Relative links only, so that each name appears to be a whole site.
fn same_for_all(ask: &Ask) -> Reply {
    if ask.path == "/" {
        let links: Vec<String> = (0..PAGES).map(|number| format!("/article/{number}")).collect();
        return Reply::page("a site under many names", &links.iter().map(String::as_str).collect::<Vec<_>>());
    }
    match ask.path.strip_prefix("/article/").and_then(|number| number.parse::<usize>().ok()) {
        Some(number) if number < PAGES => Reply::page(&format!("article {number}"), &["/"]),
        _ => Reply::not_found(),
    }
}
