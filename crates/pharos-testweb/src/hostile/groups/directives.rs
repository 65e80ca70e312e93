//! Directives for robots: nofollow and related link types, meta robots, X-Robots-Tag, canonical URLs.

use crate::hostile::ExpectedOutcome::{NeverRequested, Stored};
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest, page};

pub(super) fn hosts() -> Vec<HostileHost> {
    let stored = Stored { status: 200 };
    let links = HostileHost::new("link-directives", HostBehaviour::Http(links))
        .expect("/", stored, "links of every rel")
        .expect("/follow", stored, "an ordinary link")
        .expect("/nofollow", NeverRequested, "only a link with rel=nofollow leads here")
        .expect("/ugc", NeverRequested, "only a link with rel=ugc leads here")
        .expect("/sponsored", NeverRequested, "only a link with rel=sponsored leads here")
        .expect("/mixed", NeverRequested, "only a link with rel=\"noopener NoFollow\" leads here");
    let pages = HostileHost::new("page-directives", HostBehaviour::Http(pages))
        .expect("/", stored, "pages with directives for robots")
        .expect("/meta-nofollow", stored, "may be stored, its links may not be followed")
        .expect("/from/meta-nofollow", NeverRequested, "only a page with meta robots nofollow leads here")
        .expect("/meta-token", stored, "a directive for Pharos by name")
        .expect("/from/meta-token", NeverRequested, "only a page with nofollow for Pharos leads here")
        .expect("/meta-other", stored, "a directive for another robot")
        .expect("/from/meta-other", stored, "directives for another robot do not apply")
        .expect("/header-nofollow", stored, "may be stored, its links may not be followed")
        .expect("/from/header-nofollow", NeverRequested, "only a page with X-Robots-Tag nofollow leads here")
        .expect("/header-other", stored, "a directive for another robot")
        .expect("/from/header-other", stored, "directives for another robot do not apply")
        .expect("/none", stored, "none is noindex and nofollow")
        .expect("/from/none", NeverRequested, "only a page with meta robots none leads here")
        .expect("/noindex", stored, "fetched, but not indexed");
    let canonical = HostileHost::new("canonical", HostBehaviour::Http(canonical))
        .expect("/", stored, "pages with a canonical URL")
        .expect("/print", stored, "its canonical URL is in its head")
        .expect("/mobile", stored, "its canonical URL is in the Link header")
        .expect("/article", stored, "the canonical URL of two others")
        .expect("/in-body", stored, "a canonical URL in the body is ignored");
    vec![links, pages, canonical]
}

fn links(request: &HostileRequest) -> CannedResponse {
    let link = |path: &str, rel: &str| format!("<p><a href=\"{path}\" rel=\"{rel}\">{path}</a></p>\n");
    match request.path.as_str() {
        "/" => {
            let links = [
                link("/follow", "next"),
                link("/nofollow", "nofollow"),
                link("/ugc", "ugc"),
                link("/sponsored", "sponsored"),
                link("/mixed", "noopener NoFollow"),
            ];
            CannedResponse::html(
                page("links of every kind", &[]).replace("</body>", &format!("{}</body>", links.concat())),
            )
        }
        "/robots.txt" => CannedResponse::not_found(),
        _ => CannedResponse::page("a page behind a link", &[]),
    }
}

fn pages(request: &HostileRequest) -> CannedResponse {
    let leading_on = || page("a page that speaks to robots", &[&format!("/from{}", request.path)]);
    let meta = |name: &str, content: &str| {
        let meta = format!("<meta name=\"{name}\" content=\"{content}\"></head>");
        CannedResponse::html(leading_on().replace("</head>", &meta))
    };
    let header = |value: &str| CannedResponse::html(leading_on()).field("x-robots-tag", value);
    match request.path.as_str() {
        "/" => CannedResponse::page(
            "pages that speak to robots",
            &[
                "/meta-nofollow",
                "/meta-token",
                "/meta-other",
                "/header-nofollow",
                "/header-other",
                "/none",
                "/noindex",
            ],
        ),
        "/meta-nofollow" => meta("robots", "index, NOFOLLOW"),
        "/meta-token" => meta("Pharos", "nofollow"),
        "/meta-other" => meta("otherbot", "nofollow"),
        "/none" => meta("robots", "none"),
        "/noindex" => meta("robots", "noindex"),
        "/header-nofollow" => header("nofollow"),
        "/header-other" => header("otherbot: nofollow"),
        "/robots.txt" => CannedResponse::not_found(),
        _ => CannedResponse::page("a page that another leads to", &[]),
    }
}

fn canonical(request: &HostileRequest) -> CannedResponse {
    let base = request.urls.http(&request.host);
    let link = format!("<link rel=\"canonical\" href=\"{base}/article\">");
    let copy = page("one article under many addresses", &[]);
    match request.path.as_str() {
        "/" => {
            CannedResponse::page("an article and its copies", &["/article", "/print", "/mobile", "/in-body"])
        }
        "/article" => CannedResponse::html(copy),
        "/print" => CannedResponse::html(copy.replace("</head>", &format!("{link}</head>"))),
        "/mobile" => CannedResponse::html(copy).field("link", format!("<{base}/article>; rel=\"canonical\"")),
        "/in-body" => CannedResponse::html(copy.replace("</body>", &format!("{link}</body>"))),
        _ => CannedResponse::not_found(),
    }
}
