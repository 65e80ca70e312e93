//! Lists of pages that sites publish for machines: sitemaps, RSS and Atom.
//!
//! The sitemap protocol (sitemaps.org, 0.9) allows XML, compressed or not, an index of further sitemaps, plain text
//! with one URL per line, and feeds. For a truncated or damaged list, the entries before the damage are kept.

mod date;
mod xml;

use std::io::Read as _;

use flate2::read::MultiGzDecoder;
use pharos_core::work::spend_work;
use pharos_core::{Link, LinkKind, PageUrl, Timestamp};

use crate::charset;

/// Maximum number of entries of a sitemap (sitemaps.org), also applied to feeds.
const MAX_ENTRIES: usize = 50_000;
/// Maximum uncompressed size of a sitemap (sitemaps.org).
const MAX_BYTES: usize = 50 << 20;
/// Magic bytes of gzip.
const GZIP: &[u8] = &[0x1F, 0x8B];

/// A sitemap or news feed.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    pub kind: FeedKind,
    /// Entries in the order of the list.
    pub entries: Vec<FeedEntry>,
}

/// Format of a list of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedKind {
    /// Pages of a site, in XML.
    Sitemap,
    /// Further sitemaps.
    SitemapIndex,
    /// Pages of a site, one URL per line.
    TextSitemap,
    /// RSS of any version.
    Rss,
    Atom,
}

/// A page of a list, or a sitemap of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedEntry {
    pub url: PageUrl,
    /// Title; empty for sitemaps.
    pub title: String,
    /// Declared time of the last change.
    pub modified: Option<Timestamp>,
}

impl Feed {
    /// Returns the entries as links, with their titles as anchors.
    pub fn links(&self) -> Vec<Link> {
        let link = |entry: &FeedEntry| Link {
            url: entry.url.clone(),
            anchor: entry.title.clone(),
            kind: LinkKind::Page,
            rel: String::new(),
        };
        self.entries.iter().map(link).collect()
    }
}

/// Parses a body as a list of pages; `None` for other documents. URLs are resolved against `url`.
pub fn parse_feed(url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> Option<Feed> {
    let decompressed = body.starts_with(GZIP).then(|| decompress(body));
    let body = decompressed.as_deref().unwrap_or(body);
    let (text, _) = charset::decode(&body[..body.len().min(MAX_BYTES)], content_type, url.host());
    let text = text.trim_start();
    if text.starts_with('<') { xml::read(url, text) } else { text_sitemap(url, text) }
}

/// Decompresses up to the first error or the size limit.
fn decompress(body: &[u8]) -> Vec<u8> {
    let mut decompressed = Vec::new();
    // Data before an error stays in the buffer.
    let _ = MultiGzDecoder::new(body).take(MAX_BYTES as u64).read_to_end(&mut decompressed);
    decompressed
}

/// Parses a text sitemap. Every line must be a URL, and the file name must contain `sitemap` or end in `.txt`
/// with more than one line, because any text could be a list.
fn text_sitemap(url: &PageUrl, text: &str) -> Option<Feed> {
    let name = url.as_url().path().to_ascii_lowercase();
    let is_list = name.ends_with(".txt") && text.trim().lines().nth(1).is_some();
    if !name.contains("sitemap") && !is_list {
        return None;
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(MAX_ENTRIES);
    let entry = |line: &str| {
        spend_work(1 + line.len() as u64);
        let url = PageUrl::parse(line).ok()?;
        Some(FeedEntry { url, title: String::new(), modified: None })
    };
    let entries = lines.map(entry).collect::<Option<Vec<_>>>()?;
    (!entries.is_empty()).then_some(Feed { kind: FeedKind::TextSitemap, entries })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::*;

    fn read(path: &str, body: &[u8]) -> Option<Feed> {
        parse_feed(&PageUrl::parse(&format!("http://example.org{path}")).unwrap(), None, body)
    }

    fn shown(feed: &Feed) -> Vec<(&str, &str, String)> {
        let day = |entry: &FeedEntry| entry.modified.map(|at| at.to_string()).unwrap_or_default();
        feed.entries.iter().map(|e| (e.url.as_str(), e.title.as_str(), day(e))).collect()
    }

    fn compressed(body: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).unwrap();
        encoder.finish().unwrap()
    }

    const SITEMAP: &str = "\u{FEFF}<?xml version='1.0' encoding='UTF-8'?>\n<!-- made by hand -->
        <urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'>
        <url><loc> http://example.org/a?x=1&amp;y=2 </loc><lastmod>2005-01-01</lastmod><priority>0.8</priority>
          <image:image><image:loc>http://example.org/picture.png</image:loc></image:image></url>
        <url><image:loc>http://example.org/other.png</image:loc><loc><![CDATA[http://example.org/b&c]]></loc>
          <lastmod>2004-12-23T18:00:15+08:00</lastmod></url>
        <url><loc>mailto:nobody</loc></url><url/>
        </urlset>";

    #[test]
    fn a_sitemap_packed_or_not() {
        let expected = [
            ("http://example.org/a?x=1&y=2", "", "2005-01-01T00:00:00Z".to_string()),
            ("http://example.org/b&c", "", "2004-12-23T10:00:15Z".to_string()),
        ];
        let plain = read("/sitemap.xml", SITEMAP.as_bytes()).unwrap();
        assert_eq!((plain.kind, shown(&plain)), (FeedKind::Sitemap, expected.to_vec()));
        let gzip = compressed(SITEMAP.as_bytes());
        assert_eq!(read("/x.gz", &gzip), Some(plain.clone()));
        let torn = read("/x.gz", &gzip[..gzip.len() - 12]).unwrap();
        assert!(!torn.entries.is_empty(), "entries before the damage are kept");
        assert_eq!(plain.links()[0].url.as_str(), expected[0].0);
    }

    #[test]
    fn an_index_with_a_prefix() {
        let index = read(
            "/s.xml",
            b"<sm:sitemapindex xmlns:sm='x'><sm:sitemap><sm:loc>/s1.xml.gz</sm:loc><sm:lastmod>2026-01</sm:lastmod>\
              </sm:sitemap><sm:sitemap><sm:loc>http://example.org/s2.xml",
        )
        .unwrap();
        assert_eq!(index.kind, FeedKind::SitemapIndex);
        assert_eq!(shown(&index), [("http://example.org/s1.xml.gz", "", "2026-01-01T00:00:00Z".to_string())]);
    }

    #[test]
    fn news_as_rss_and_atom() {
        let rss = "<?xml version='1.0' encoding='gb2312'?><rss version='2.0'><channel><title>灯塔</title><link>/</link>\
            <image><link>/logo</link></image>\
            <item><title>灯塔 &amp; 海&#x5cb8;&nbsp;</title><media:title>no</media:title><link>/1</link>\
              <pubDate>Sat, 31 Jan 2026 12:00:00 +0800</pubDate></item>\
            <item><title><![CDATA[two]]></title><guid>http://example.org/2</guid><dc:date>2026-02-01</dc:date></item>\
            <item><guid isPermaLink='false'>http://example.org/no</guid></item></channel></rss>";
        let rss = read("/rss", &encoding_rs::GBK.encode(rss).0).unwrap();
        assert_eq!(rss.kind, FeedKind::Rss);
        assert_eq!(
            shown(&rss),
            [
                ("http://example.org/1", "灯塔 & 海岸", "2026-01-31T04:00:00Z".to_string()),
                ("http://example.org/2", "two", "2026-02-01T00:00:00Z".to_string()),
            ]
        );
        let rdf = b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'><channel/><item rdf:about='/3'><title>three</title></item></rdf:RDF>";
        assert_eq!(shown(&read("/", rdf).unwrap()), [("http://example.org/3", "three", String::new())]);
        let atom = "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://example.net/blog/'><link href='/'/>\
            <entry><title type='xhtml'><div>Some <b>bold</b> words</div></title>\
              <link rel='enclosure' href='film.mp4'/><link rel='alternate' href='4?a&amp;b'/>\
              <published>2026-01-01T00:00:00Z</published><updated>2026-01-31T12:00:00.5Z</updated></entry></feed>";
        let atom = read("/atom", atom.as_bytes()).unwrap();
        assert_eq!(atom.kind, FeedKind::Atom);
        assert_eq!(
            shown(&atom),
            [("http://example.net/blog/4?a&b", "Some bold words", "2026-01-31T12:00:00Z".to_string())]
        );
    }

    #[test]
    fn a_text_sitemap_is_nothing_but_addresses() {
        let lines = b"\xEF\xBB\xBFhttp://example.org/a\r\n\r\nhttp://example.org/b\n";
        assert_eq!(read("/Sitemap.txt", lines).unwrap().entries.len(), 2);
        assert_eq!(read("/sitemap.txt.gz", &compressed(lines)).unwrap().kind, FeedKind::TextSitemap);
        assert_eq!(read("/links.txt", lines).unwrap().entries.len(), 2);
        assert_eq!(read("/links.txt", b"http://example.org/a"), None);
        assert_eq!(read("/links", lines), None);
        assert_eq!(read("/sitemap.txt", b"http://example.org/a\nand words"), None);
        assert_eq!(read("/sitemap.txt", b" \n"), None);
    }

    #[test]
    fn other_documents_are_no_lists() {
        for body in
            ["<!doctype html><html><body><rss>", "<svg/>", "<?xml version='1.0'?>", "", "words", "<", "<a"]
        {
            assert_eq!(read("/x.xml", body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn nothing_is_fetched_expanded_or_without_bounds() {
        let bomb = "<!DOCTYPE urlset [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>\
            <!ENTITY file SYSTEM 'file:///etc/passwd'>]><urlset><url><loc>http://example.org/&b;&file;x</loc></url>";
        let bomb = read("/s.xml", bomb.as_bytes()).unwrap();
        assert_eq!(bomb.entries[0].url.as_str(), "http://example.org/%20%20x");
        let many = "<url><loc>/a</loc></url>".repeat(MAX_ENTRIES + 10);
        assert_eq!(read("/", format!("<urlset>{many}").as_bytes()).unwrap().entries.len(), MAX_ENTRIES);
        let deep = "<a>".repeat(200_000);
        assert!(read("/", format!("<rss><channel><item><title>{deep}").as_bytes()).is_some());
        let zeros = compressed(&vec![0; MAX_BYTES + (1 << 20)]);
        assert_eq!(decompress(&zeros).len(), MAX_BYTES);
    }

    /// At most eight steps per byte: attributes are searched up to three times.
    #[test]
    fn the_work_on_a_list_is_linear() {
        let units = [
            "<url><loc>/a</loc><lastmod>2026-01-31T12:00:00Z</lastmod></url>",
            "<sitemap><loc>http://example.org/%%333</loc></sitemap>",
            "<item><title>a &amp; b</title><guid isPermaLink='false' a='b' c='d'>x</guid><pubDate>May</pubDate></item>",
            "<entry><link rel='alternate' a='b' c='d' href='/a'/></entry>",
            "<entry>",
            "<link a='b' ",
            "<a>",
            "</a>",
            "<loc>",
            "&amp;",
            "&",
            "<!--",
            "<![CDATA[x]]>",
            "x",
        ];
        for length in [8_000, 64_000] {
            for unit in units {
                for root in ["<urlset>", "<sitemapindex>", "<rss><item><title>", "<feed><entry><link "] {
                    let body = format!("{root}{}", unit.repeat(length / unit.len()));
                    let steps = measure_work(|| read("/s.xml", body.as_bytes())).1;
                    let bytes = body.len();
                    assert!(steps <= 8 * bytes as u64, "{root} {unit}: {steps} steps for {bytes} bytes");
                }
            }
            let lines = "http://example.org/%%333\n".repeat(length / 25);
            let steps = measure_work(|| read("/sitemap.txt", lines.as_bytes())).1;
            assert!(steps <= 8 * lines.len() as u64, "{steps} steps for {} bytes", lines.len());
        }
    }

    const SOUP: &str = "(<(/?)(urlset|url|loc|lastmod|sitemapindex|sitemap|rss|channel|item|title|link|link href=\"/x\"|guid|rdf:RDF|feed|entry|updated|dc:date|a:url)(/?)>|http://a.b/|2026-01-31|&amp;|&#6;|&x;|&|<!--|-->|<!\\[CDATA\\[|\\]\\]>|<\\?|é| ){0,40}";

    proptest! {
        #[test]
        fn any_bytes_are_a_list_or_not(body in prop::collection::vec(any::<u8>(), 0..300), packs in any::<bool>()) {
            let body = if packs { compressed(&body) } else { body };
            read("/sitemap.txt", &body);
        }

        #[test]
        fn any_tag_soup_is_a_list_or_not(root in "<(urlset|sitemapindex|rss|feed|rdf:RDF)>", soup in SOUP) {
            let entries = read("/s.xml", format!("{root}{soup}").as_bytes()).map(|feed| feed.entries);
            for entry in entries.unwrap_or_default() {
                prop_assert!(!entry.title.contains(char::is_control));
            }
        }
    }
}
