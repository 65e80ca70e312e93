//! Crawler traps: calendars, growing paths, session ids, a page for every URL, a host name for every page.

use crate::hostile::ExpectedOutcome::{AtMost, Stored};
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest, page};

/// Number of real pages of the host with session ids.
const REAL_PAGES: u64 = 5;
/// Number of requests after which a crawler should have noticed a trap.
const TRAP_LIMIT: usize = 400;
/// Number of links to absent pages.
const BROKEN_LINKS: usize = 20;
/// Number of names of the host with many names.
const SUBDOMAINS: u64 = 5000;

pub(super) fn hosts() -> Vec<HostileHost> {
    let stored = Stored { status: 200 };
    let mut soft = HostileHost::new("soft-404", HostBehaviour::Http(soft_404))
        .expect("/", stored, "a home page with broken links")
        .expect("/real", stored, "a real page");
    for number in 0..BROKEN_LINKS {
        soft = soft.expect(format!("/gone/{number}"), stored, "absent, but responds with 200");
    }
    vec![
        HostileHost::new("calendar", HostBehaviour::Http(calendar))
            .expect("/", stored, "a calendar with an endless sequence of next months")
            .expect("/", AtMost(TRAP_LIMIT), "months without end"),
        HostileHost::new("growing-path", HostBehaviour::Http(growing_path))
            .expect("/", stored, "relative links that lengthen every path")
            .expect("/", AtMost(TRAP_LIMIT), "paths without end"),
        HostileHost::new(
            "visit-ids",
            HostBehaviour::Http(|request| visit_ids(request, |page, id| format!("/page/{page}?sid={id}"))),
        )
        .expect("/", stored, "a new ?sid= in every link")
        .expect("/", AtMost(2 * REAL_PAGES as usize + 3), "there are only five pages"),
        HostileHost::new(
            "visit-ids-in-path",
            HostBehaviour::Http(|request| {
                visit_ids(request, |page, id| format!("/page/{page};jsessionid={id}"))
            }),
        )
        .expect("/", stored, "a new ;jsessionid= in every link")
        .expect("/", AtMost(2 * REAL_PAGES as usize + 3), "there are only five pages"),
        HostileHost::new("tracking", HostBehaviour::Http(tracking))
            .expect("/", stored, "one page linked with ten different tracking parameters")
            .expect("/", AtMost(4), "it is one page"),
        soft.expect("/", AtMost(BROKEN_LINKS + 4), "each is requested once"),
        many_names().expect("/", stored, "the first of thousands of names").expect(
            "/",
            AtMost(3),
            "robots.txt and one page of each name are requested",
        ),
    ]
}

fn calendar(request: &HostileRequest) -> CannedResponse {
    let month = match request.path.strip_prefix("/month/") {
        None if request.path == "/" => 24_312,
        None => return CannedResponse::not_found(),
        Some(month) => match month.parse::<u64>() {
            Ok(month) if month < u64::MAX => month,
            _ => return CannedResponse::not_found(),
        },
    };
    let (next, before) = (format!("/month/{}", month + 1), format!("/month/{}", month.saturating_sub(1)));
    let title = format!("events of month {} of the year {}", month % 12 + 1, month / 12);
    CannedResponse::page(&title, &[&next, &before])
}

fn growing_path(request: &HostileRequest) -> CannedResponse {
    if request.is_robots_txt() || request.path.len() > 60_000 {
        return CannedResponse::not_found();
    }
    CannedResponse::page("a page below itself", &["a/", "b/"])
}

fn visit_ids(request: &HostileRequest, link: fn(u64, u64) -> String) -> CannedResponse {
    let page = match request.path.strip_prefix("/page/") {
        None if request.path == "/" => 0,
        None => return CannedResponse::not_found(),
        Some(rest) => rest.chars().next().and_then(|digit| digit.to_digit(10)).map_or(0, u64::from),
    };
    // The id is as long as those of real servers, and never the same.
    let id = (request.earlier + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let links = [1, 2].map(|step| link((page + step) % REAL_PAGES, id.wrapping_add(step)));
    CannedResponse::page(&format!("page {page} of a shop"), &links.each_ref().map(String::as_str))
}

fn tracking(request: &HostileRequest) -> CannedResponse {
    if request.path == "/" {
        let links: Vec<String> =
            (0..10).map(|n| format!("/offer?utm_source=letter{n}&amp;fbclid=x{n}")).collect();
        return CannedResponse::page(
            "letters to customers",
            &links.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }
    if request.path.starts_with("/offer") {
        CannedResponse::page("an offer", &[])
    } else {
        CannedResponse::not_found()
    }
}

fn soft_404(request: &HostileRequest) -> CannedResponse {
    match request.path.as_str() {
        "/robots.txt" => CannedResponse::not_found(),
        "/" => {
            let mut links: Vec<String> = (0..BROKEN_LINKS).map(|number| format!("/gone/{number}")).collect();
            links.push("/real".to_string());
            CannedResponse::page(
                "a site that was rebuilt",
                &links.iter().map(String::as_str).collect::<Vec<_>>(),
            )
        }
        "/real" => CannedResponse::page("the only real page", &[]),
        _ => CannedResponse::page("Oops! We could not find that page", &["/"]),
    }
}

/// Every name under `many-names.test` is a site, with links to ten more.
fn many_names() -> HostileHost {
    let host = HostileHost::new("many-names", HostBehaviour::Http(one_of_many));
    HostileHost {
        names: vec!["0.many-names.test".to_string(), "*.many-names.test".to_string()],
        seeds: vec![(0, "/".to_string())],
        ..host
    }
}

fn one_of_many(request: &HostileRequest) -> CannedResponse {
    if request.path != "/" {
        return CannedResponse::not_found();
    }
    let number = request.host.split('.').next().and_then(|label| label.parse::<u64>().ok()).unwrap_or(0);
    let port = request.urls.http("0.many-names.test");
    let port = port.rsplit_once(':').map_or("", |(_, port)| port);
    let links: Vec<String> = (1..=10)
        .map(|step| (number * 10 + step) % SUBDOMAINS)
        .map(|number| format!("http://{number}.many-names.test:{port}/"))
        .collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    CannedResponse::html(page(&format!("site number {number}"), &links))
}
