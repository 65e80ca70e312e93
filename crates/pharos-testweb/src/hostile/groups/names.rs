//! Names and addresses: several names on one address, one name on several, one site under several names.

use crate::hostile::ExpectedOutcome::{AtMostTogether, Stored};
use crate::hostile::host::{
    CannedResponse, CertificateFault, HostBehaviour, HostileHost, HostileRequest, Transport,
};

/// Number of pages of the site with several names.
const PAGES: usize = 12;
const ALL_NAMES: &[&str] = &["alias.test", "www.alias.test", "second-alias.test"];
/// Requests for the whole site with its robots.txt once, and for recognising it under three more names, one of them
/// https: robots.txt, the home page and some pages.
const ENOUGH: usize = PAGES + 2 + 3 * 6;

pub(super) fn hosts() -> Vec<HostileHost> {
    let stored = Stored { status: 200 };
    let shared = HostileHost::new("shared-one", HostBehaviour::Http(by_name))
        .also_named(&["shared-two", "shared-three"])
        .seeds(&[(0, "/"), (1, "/"), (2, "/")]);
    let note = "several names on one address with different content: no mirrors";
    let shared = (0..3).fold(shared, |host, name| {
        host.expect_of(name, "/", stored, note).expect_of(name, "/page", stored, note)
    });
    let half_dead = HostileHost::new("half-dead", HostBehaviour::Http(by_name))
        .expect("/", stored, "one name on two addresses, without a listener on the first")
        .expect("/page", stored, "one name on two addresses, without a listener on the first");
    let half_dead = HostileHost { half_dead: true, ..half_dead };
    let alias = HostileHost::new("alias", HostBehaviour::Http(same_for_all))
        .also_named(&["www.alias", "second-alias"])
        .seeds(&[(0, "/"), (1, "/"), (2, "/")])
        .expect("/", stored, "a site under several names: each home page is fetched")
        .expect(
            "/",
            AtMostTogether { hosts: ALL_NAMES, requests: ENOUGH },
            "each page is fetched under one of them",
        );
    let secure_alias = HostileHost::new("alias", HostBehaviour::Http(same_for_all))
        .also_named(&["www.alias"])
        .with_transport(Transport::Tls { certificate: CertificateFault::Good, http2: true })
        .seeds(&[(0, "/")]);
    let default_port = |host: HostileHost| HostileHost { default_port: true, ..host };
    vec![shared, half_dead, default_port(alias), default_port(secure_alias)]
}

fn by_name(request: &HostileRequest) -> CannedResponse {
    match request.path.as_str() {
        "/" => CannedResponse::page(&format!("the home page of {}", request.host), &["/page"]),
        "/page" => CannedResponse::page(&format!("a page of {} alone", request.host), &["/"]),
        _ => CannedResponse::not_found(),
    }
}

/// Relative links only, so that each name appears to be a whole site.
fn same_for_all(request: &HostileRequest) -> CannedResponse {
    if request.path == "/" {
        let links: Vec<String> = (0..PAGES).map(|number| format!("/article/{number}")).collect();
        return CannedResponse::page(
            "a site under many names",
            &links.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }
    match request.path.strip_prefix("/article/").and_then(|number| number.parse::<usize>().ok()) {
        Some(number) if number < PAGES => CannedResponse::page(&format!("article {number}"), &["/"]),
        _ => CannedResponse::not_found(),
    }
}
