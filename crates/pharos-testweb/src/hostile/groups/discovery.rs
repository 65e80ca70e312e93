//! Pages without links: sitemaps (XML, compressed, plain text, index), RSS and Atom.

use std::io::Write;

use crate::hostile::ExpectedOutcome::{AtMost, NeverRequested, Stored};
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest};

/// Number of entries of each index of the host without end.
const INDEX_ENTRIES: usize = 4;
/// Number of sitemaps of the flooding host, and of pages in each.
const FLOOD: (usize, usize) = (40, 2_000);

pub(super) fn hosts() -> Vec<HostileHost> {
    let stored = Stored { status: 200 };
    let sitemaps = HostileHost::new("sitemaps", HostBehaviour::Http(sitemaps))
        .expect("/", stored, "a home page without links")
        .expect("/only-in-xml", stored, "only the sitemap leads here")
        .expect("/only-in-gzip", stored, "only the compressed sitemap leads here")
        .expect("/only-in-text", stored, "only the sitemap in plain text leads here")
        .expect("/forbidden/page", NeverRequested, "in the sitemap, and forbidden by robots.txt");
    let bad_sitemaps = HostileHost::new("bad-sitemaps", HostBehaviour::Http(bad_sitemaps))
        .expect("/", stored, "a home page without links")
        .expect("/before-the-break", stored, "in a sitemap that is truncated after it")
        .expect("/page", stored, "a good sitemap after the bad ones");
    let feeds = HostileHost::new("feeds", HostBehaviour::Http(feeds))
        .expect("/", stored, "a home page with links to feeds")
        .expect("/only-in-rss", stored, "only the RSS feed leads here")
        .expect("/only-in-atom", stored, "only the Atom feed leads here");
    let endless = HostileHost::new("endless-sitemaps", HostBehaviour::Http(endless_sitemaps))
        .expect("/", stored, "its sitemap is an index of indexes of indexes, without end")
        .expect("/map-0-0-0.xml", stored, "the third index below the first is read")
        .expect("/map-0-0-0-0.xml", NeverRequested, "its entries are not followed")
        .expect("/", AtMost(2 * (2 + 1 + 4 + 16 + 64)), "no more than the indexes of four levels");
    // Only a crawl that wants the flood has it as seed.
    let flood = HostileHost::new("sitemap-flood", HostBehaviour::Http(sitemap_flood)).seeds(&[]).expect(
        "/",
        AtMost(0),
        "40 sitemaps of 2,000 pages each",
    );
    vec![sitemaps, bad_sitemaps, feeds, endless, flood]
}

fn xml(body: String) -> CannedResponse {
    CannedResponse::new(200, "application/xml", format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}"))
}

fn url_set(urls: &[String]) -> String {
    let url = |url: &String| format!("<url><loc>{url}</loc><lastmod>2026-01-02</lastmod></url>\n");
    let urls: String = urls.iter().map(url).collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n")
}

fn sitemap_index(urls: &[String]) -> String {
    let url = |url: &String| format!("<sitemap><loc>{url}</loc></sitemap>\n");
    let urls: String = urls.iter().map(url).collect();
    format!("<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</sitemapindex>\n")
}

fn sitemaps(request: &HostileRequest) -> CannedResponse {
    let base = request.urls.http(&request.host);
    let at = |path: &str| format!("{base}{path}");
    match request.path.as_str() {
        "/robots.txt" => CannedResponse::text(
            200,
            format!(
                "User-agent: *\nDisallow: /forbidden/\nSitemap: {base}/index.xml\nSitemap: {base}/urls.txt\n"
            ),
        ),
        "/index.xml" => xml(sitemap_index(&[at("/map.xml"), at("/map.xml.gz")])),
        "/map.xml" => xml(url_set(&[at("/"), at("/only-in-xml"), at("/forbidden/page")])),
        "/map.xml.gz" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            // Writing to memory cannot fail.
            let _ = encoder.write_all(url_set(&[at("/only-in-gzip")]).as_bytes());
            CannedResponse::new(200, "application/gzip", encoder.finish().unwrap_or_default())
        }
        "/urls.txt" => CannedResponse::text(200, format!("{base}/\n{base}/only-in-text\n")),
        "/" => CannedResponse::page("a home page without links", &[]),
        path if path.starts_with("/only-in-") => CannedResponse::page("a page that no link leads to", &[]),
        _ => CannedResponse::not_found(),
    }
}

/// A sitemap that is its own index, a missing one, a truncated one, one with other hosts, and a good one.
fn bad_sitemaps(request: &HostileRequest) -> CannedResponse {
    let base = request.urls.http(&request.host);
    let at = |path: &str| format!("{base}{path}");
    match request.path.as_str() {
        "/robots.txt" => {
            let maps = ["/itself.xml", "/missing.xml", "/broken.xml", "/strangers.xml", "/good.xml"];
            CannedResponse::text(200, maps.map(|path| format!("Sitemap: {base}{path}\n")).concat())
        }
        "/itself.xml" => xml(sitemap_index(&[at("/itself.xml")])),
        "/broken.xml" => xml(url_set(&[at("/before-the-break")]).replace("</urlset>", "<url><loc>http://")),
        "/strangers.xml" => {
            let strangers = ["http://10.0.0.1/", "file:///etc/passwd", "http://out-of-scope.test/"];
            xml(url_set(&strangers.map(String::from)))
        }
        "/good.xml" => xml(url_set(&[at("/page")])),
        "/" | "/page" | "/before-the-break" => CannedResponse::page("a page of a careless site", &[]),
        _ => CannedResponse::not_found(),
    }
}

/// Every sitemap `/map-….xml` is an index of sitemaps with one number more.
fn endless_sitemaps(request: &HostileRequest) -> CannedResponse {
    let base = request.urls.http(&request.host);
    match request.path.as_str() {
        "/robots.txt" => CannedResponse::text(200, format!("Sitemap: {base}/map.xml\n")),
        "/" => CannedResponse::page("a home page without links", &[]),
        path => match path.strip_suffix(".xml") {
            Some(parent) => {
                let entries: Vec<_> = (0..INDEX_ENTRIES).map(|n| format!("{base}{parent}-{n}.xml")).collect();
                xml(sitemap_index(&entries))
            }
            None => CannedResponse::not_found(),
        },
    }
}

/// An index of large sitemaps. Every page exists, and all have the same text.
fn sitemap_flood(request: &HostileRequest) -> CannedResponse {
    let base = request.urls.http(&request.host);
    let number = request.path.strip_prefix("/flood-").and_then(|path| path.strip_suffix(".xml"));
    match (request.path.as_str(), number) {
        ("/robots.txt", _) => CannedResponse::text(200, format!("Sitemap: {base}/flood.xml\n")),
        ("/flood.xml", _) => {
            let maps: Vec<String> = (0..FLOOD.0).map(|n| format!("{base}/flood-{n}.xml")).collect();
            xml(sitemap_index(&maps))
        }
        (_, Some(map)) => {
            let pages: Vec<String> = (0..FLOOD.1).map(|n| format!("{base}/page/{map}/{n}")).collect();
            xml(url_set(&pages))
        }
        _ => CannedResponse::page("one of many pages", &[]),
    }
}

fn feeds(request: &HostileRequest) -> CannedResponse {
    let base = request.urls.http(&request.host);
    match request.path.as_str() {
        "/" => {
            let page = crate::hostile::host::page("news", &[]);
            let links = "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/news.rss\">\
                         <link rel=\"alternate\" type=\"application/atom+xml\" href=\"/news.atom\"></head>";
            CannedResponse::html(page.replace("</head>", links))
        }
        "/news.rss" => {
            let item = format!("<item><title>By RSS</title><link>{base}/only-in-rss</link></item>");
            let rss = format!(
                "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>News</title><link>{base}/</link>\
                 <description>News</description>{item}</channel></rss>\n"
            );
            CannedResponse::new(200, "application/rss+xml", rss)
        }
        "/news.atom" => {
            let entry = format!("<entry><title>By Atom</title><link href=\"{base}/only-in-atom\"/></entry>");
            let atom = format!(
                "<?xml version=\"1.0\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>News</title>{entry}</feed>\n"
            );
            CannedResponse::new(200, "application/atom+xml", atom)
        }
        path if path.starts_with("/only-in-") => CannedResponse::page("a piece of news", &[]),
        _ => CannedResponse::not_found(),
    }
}
