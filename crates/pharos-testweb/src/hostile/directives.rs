//! Directives for robots: nofollow and related link types, meta robots, X-Robots-Tag, canonical URLs.

use super::Outcome::{NeverAsked, Stored};
use super::host::{Ask, Host, Reply, Speech, page};

pub(super) fn hosts() -> Vec<Host> {
    let stored = Stored { status: 200 };
    let links = Host::new("link-directives", Speech::Http(links))
        .expect("/", stored, "links of every rel")
        .expect("/follow", stored, "an ordinary link")
        .expect("/nofollow", NeverAsked, "only a link with rel=nofollow leads here")
        .expect("/ugc", NeverAsked, "only a link with rel=ugc leads here")
        .expect("/sponsored", NeverAsked, "only a link with rel=sponsored leads here")
        .expect("/mixed", NeverAsked, "only a link with rel=\"noopener NoFollow\" leads here");
    let pages = Host::new("page-directives", Speech::Http(pages))
        .expect("/", stored, "pages that speak to robots")
        .expect("/meta-nofollow", stored, "may be stored, its links may not be followed")
        .expect("/from/meta-nofollow", NeverAsked, "only a page with meta robots nofollow leads here")
        .expect("/meta-token", stored, "speaks to Pharos by name")
        .expect("/from/meta-token", NeverAsked, "only a page that tells Pharos not to follow leads here")
        .expect("/meta-other", stored, "speaks to another robot")
        .expect("/from/meta-other", stored, "what another robot is told is not for us")
        .expect("/header-nofollow", stored, "may be stored, its links may not be followed")
        .expect("/from/header-nofollow", NeverAsked, "only a page with X-Robots-Tag nofollow leads here")
        .expect("/header-other", stored, "speaks to another robot")
        .expect("/from/header-other", stored, "what another robot is told is not for us")
        .expect("/none", stored, "none is noindex and nofollow")
        .expect("/from/none", NeverAsked, "only a page with meta robots none leads here")
        .expect("/noindex", stored, "fetched, and not to be found by searching");
    let canonical = Host::new("canonical", Speech::Http(canonical))
        .expect("/", stored, "pages with a canonical address")
        .expect("/print", stored, "its canonical address stands in its head")
        .expect("/mobile", stored, "its canonical address stands in the Link header")
        .expect("/article", stored, "the canonical address of two others")
        .expect("/in-body", stored, "a canonical address in the body counts for nothing");
    vec![links, pages, canonical]
}

fn links(ask: &Ask) -> Reply {
    let link = |path: &str, rel: &str| format!("<p><a href=\"{path}\" rel=\"{rel}\">{path}</a></p>\n");
    match ask.path.as_str() {
        "/" => {
            let links = [
                link("/follow", "next"),
                link("/nofollow", "nofollow"),
                link("/ugc", "ugc"),
                link("/sponsored", "sponsored"),
                link("/mixed", "noopener NoFollow"),
            ];
            Reply::html(
                page("links of every kind", &[]).replace("</body>", &format!("{}</body>", links.concat())),
            )
        }
        "/robots.txt" => Reply::not_found(),
        _ => Reply::page("a page behind a link", &[]),
    }
}

fn pages(ask: &Ask) -> Reply {
    let leading_on = || page("a page that speaks to robots", &[&format!("/from{}", ask.path)]);
    let meta = |name: &str, content: &str| {
        let meta = format!("<meta name=\"{name}\" content=\"{content}\"></head>");
        Reply::html(leading_on().replace("</head>", &meta))
    };
    let header = |value: &str| Reply::html(leading_on()).field("x-robots-tag", value);
    match ask.path.as_str() {
        "/" => Reply::page(
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
        "/robots.txt" => Reply::not_found(),
        _ => Reply::page("a page that another leads to", &[]),
    }
}

fn canonical(ask: &Ask) -> Reply {
    let base = ask.places.http(&ask.host);
    let link = format!("<link rel=\"canonical\" href=\"{base}/article\">");
    let copy = page("one article under many addresses", &[]);
    match ask.path.as_str() {
        "/" => Reply::page("an article and its copies", &["/article", "/print", "/mobile", "/in-body"]),
        "/article" => Reply::html(copy),
        "/print" => Reply::html(copy.replace("</head>", &format!("{link}</head>"))),
        "/mobile" => Reply::html(copy).field("link", format!("<{base}/article>; rel=\"canonical\"")),
        "/in-body" => Reply::html(copy.replace("</body>", &format!("{link}</body>"))),
        _ => Reply::not_found(),
    }
}
