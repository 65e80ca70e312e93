//! Turns the bytes of an HTTP response into a page object.
//!
//! **Input:** a URL, its `Content-Type` and the decompressed body. **Output:** a [`PageObject`] with text, links and
//! metadata, or the page sanitised for display ([`cached_page::sanitise_page`]).
//!
//! ```text
//! body ─ media_type ─▶ charset ─▶ prefilter ─▶ dom ─┬─▶ blocks ─▶ voting ─▶ cleaning   body text, page type
//!          │                                        │      └──▶ weights               term weights, abstract
//!          │                                        ├─▶ links
//!          │                                        ├─▶ metadata      title, author, dates, directives
//!          └────▶ formats (PDF, Office, RTF, XML)   └─▶ cached_page   sanitised page
//! ```
//!
//! ```
//! use pharos_core::PageUrl;
//!
//! let url = PageUrl::parse("http://example.org/news/").unwrap();
//! let body = b"<title>News</title><p>The lighthouse is <a href=/lit>lit</a> again.";
//! let page = pharos_html::extract_page(&url, Some("text/html; charset=utf-8"), body);
//! assert_eq!(page.title, "News");
//! assert_eq!(page.text, "The lighthouse is lit again.");
//! assert_eq!(page.links[0].url.as_str(), "http://example.org/lit");
//! ```
//!
//! # Invariants
//! * Any bytes give a page object. Nothing panics, and no page exhausts stack or memory.
//! * The work on a page is linear in its length ([`work_budget`]).
//! * Nothing here opens a file or a socket.
//! * The same bytes at the same URL give the same page object, except for publication dates that were in the future.
//! * [`cached_page::sanitise_page`] writes only allowed elements and attributes; the result runs and loads nothing.
//!
//! # Modules
//! * `charset/`, `dom/`, `blocks/`: decoding, parsing, division into containers and lines.
//! * `cleaning/`: rules (`rules/*.toml`) score every line; lines above the threshold are the body. `cleaning/voting/`
//!   holds features and rules, `cleaning/evaluation.rs` the metrics.
//! * `weights/`: term weights, keywords and abstracts. `metadata/`: declared and visible metadata.
//! * `formats/`: documents other than HTML. `feed/`: sitemaps, RSS and Atom. `cached_page/`: display.
//! * `skim.rs`: links and text without a tree, for the crawler.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a failing step must abort the test"))]

pub mod blocks;
pub mod cached_page;
mod charset;
pub mod cleaning;
mod dom;
mod feed;
mod formats;
mod links;
mod metadata;
mod skim;
pub mod weights;

pub use blocks::split::TextBlock;
pub use cleaning::explanation::CleaningExplanation;
pub use cleaning::voting::{RuleSet, RulesError};
pub use feed::{Feed, FeedEntry, FeedKind, parse_feed};
pub use formats::reader_process;
pub use metadata::robots_tag::robots_directives;
pub use weights::TermWeighting;

use pharos_core::work::{WorkBudget, spend_work};
use pharos_core::{PageObject, PageUrl};
use pharos_text::language;

use crate::dom::Dom;
use crate::dom::visible_text::{collapse_whitespace, truncate_at_word};
use crate::formats::ReadFailure;
use crate::formats::media_type::{self, MediaKind};

/// Version of the extraction. It is incremented whenever the same bytes give another page object, so that stored
/// page objects of older versions are recognised and derived again.
pub const VERSION: u32 = 6;

/// Maximum length of a generated abstract in characters.
const ABSTRACT_CHARS: usize = 200;

/// Minimum number of letters of a declared description.
const MIN_ABSTRACT_CHARS: usize = 4;

/// Maximum length of a media type in messages.
const MAX_MEDIA_TYPE_CHARS: usize = 100;

/// Maximum length of a title taken from plain text.
const PLAIN_TITLE_CHARS: usize = 80;

/// Number of bytes of a text used to detect its language.
const LANGUAGE_BYTES: usize = 2_000;

/// Minimum length of a text whose detected language overrides the declared one.
const ENOUGH_FOR_LANGUAGE: usize = 100;

/// Options of [`extract_page_with`].
#[derive(Clone, Copy, Debug)]
pub struct ExtractOptions<'a> {
    /// Rules that separate the body from the rest.
    pub rules: &'a RuleSet,
    pub scope: CleaningScope,
    /// Fill [`PageObject::html`], the body as HTML.
    pub html: bool,
    /// Fill [`PageObject::blocks`].
    pub blocks: bool,
    pub term_weighting: TermWeighting,
}

impl Default for ExtractOptions<'_> {
    fn default() -> Self {
        ExtractOptions {
            rules: RuleSet::pharos(),
            scope: CleaningScope::Related,
            html: false,
            blocks: false,
            term_weighting: TermWeighting::default(),
        }
    }
}

/// Parts of a page that cleaning keeps (净化尺度).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CleaningScope {
    /// The body.
    Body,
    /// The body and the links related to it.
    #[default]
    Related,
}

/// Maximum number of steps of the extraction per byte. The worst known pages take 45.
const STEPS_PER_BYTE: u64 = 100;

/// Number of steps allowed for any page regardless of its size.
const MIN_STEP_LIMIT: u64 = 5_000_000;

/// Returns the work budget for the extraction or display of a body of `bytes` bytes. It is linear in the length.
pub fn work_budget(bytes: usize) -> WorkBudget {
    WorkBudget::new(MIN_STEP_LIMIT + STEPS_PER_BYTE * bytes as u64)
}

/// Extracts a page object from `body`, the decompressed response body.
///
/// A document without a reader gives a page object without text and with the reason in [`PageObject::unread_reason`].
pub fn extract_page(url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> PageObject {
    extract_page_with(url, content_type, body, &ExtractOptions::default())
}

/// Extracts a page object like [`extract_page`], with options.
pub fn extract_page_with(
    url: &PageUrl,
    content_type: Option<&str>,
    body: &[u8],
    options: &ExtractOptions,
) -> PageObject {
    let mut page =
        read_body(url, content_type, body, |page, url, html| cleaning::fill_page(page, url, html, options));
    if page.terms.is_empty() && !page.text.is_empty() {
        weights::fill_from_text(&mut page, options.term_weighting, ABSTRACT_CHARS);
    }
    fill_defaults(&mut page);
    page
}

/// Extracts the fields that the crawler needs at a fraction of the cost: title, text, directives, and links to follow.
/// The text contains all visible text, without cleaning.
pub fn skim(url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> PageObject {
    read_body(url, content_type, body, skim::skim)
}

fn read_body(
    url: &PageUrl,
    content_type: Option<&str>,
    body: &[u8],
    read_html: impl FnOnce(&mut PageObject, &PageUrl, &str),
) -> PageObject {
    let mut page = PageObject { url: url.as_str().to_string(), ..PageObject::default() };
    spend_work(body.len() as u64);
    let kind = media_type::detect(content_type, body);
    page.format = media_type::extension(kind, content_type).to_string();
    match kind {
        MediaKind::Html | MediaKind::PlainText => {
            let (text, charset) = charset::decode(body, content_type, url.host());
            page.charset = charset.to_string();
            match kind {
                MediaKind::Html => read_html(&mut page, url, &text),
                _ => extract_plain_text(&mut page, &text),
            }
        }
        _ => match formats::read(kind, body, content_type, url.host()) {
            Ok(document) => document.fill(&mut page),
            Err(failure) => page.unread_reason = Some(unread_reason(kind, content_type, failure)),
        },
    }
    page
}

/// Returns the reason why a document has no text.
fn unread_reason(kind: MediaKind, content_type: Option<&str>, failure: ReadFailure) -> String {
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let media_type = collapse_whitespace(media_type, MAX_MEDIA_TYPE_CHARS).to_ascii_lowercase();
    match kind {
        MediaKind::Other if media_type.is_empty() => "no reader".into(),
        MediaKind::Other => format!("no reader for {media_type}"),
        _ if failure == ReadFailure::LimitExceeded => "reading needs too much memory or time".into(),
        _ if failure == ReadFailure::NoReader => "the process that reads documents failed".into(),
        _ => format!("not readable as {kind:?}").to_lowercase(),
    }
}

/// Explains the classification of every line of a page by the given rules.
pub fn explain_cleaning(
    url: &PageUrl,
    content_type: Option<&str>,
    body: &[u8],
    rules: &RuleSet,
) -> CleaningExplanation {
    let (html, _) = charset::decode(body, content_type, url.host());
    cleaning::explain(&html, rules)
}

/// Splits a page into blocks by the nine rules of the PageClean thesis, §2.4; see [`TextBlock`].
pub fn split_text_blocks(url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> Vec<TextBlock> {
    let (html, _) = charset::decode(body, content_type, url.host());
    blocks::split::split(&Dom::parse(&html))
}

/// Returns the topic of a page by the table algorithm of the PageClean thesis, §4.4, for comparison with [`body_text`].
pub fn topic_by_tables(html: &str, limits: &cleaning::TableLimits) -> String {
    cleaning::topic_by_tables(html, limits)
}

/// Returns only the body text of a decoded page.
pub fn body_text(html: &str) -> String {
    cleaning::body_text(html, RuleSet::pharos())
}

/// Decodes a body without a `Content-Type`, in its detected charset.
pub fn decode_body(body: &[u8]) -> String {
    charset::decode(body, None, "").0
}

/// Returns `true` if [`extract_page`] reads this body as HTML. `body_prefix` decides if the header does not.
pub fn is_html_like(content_type: Option<&str>, body_prefix: &[u8]) -> bool {
    media_type::detect(content_type, body_prefix) == MediaKind::Html
}

/// Removes a description without information: templates leave `#` or `-` in its place.
fn drop_empty_summary(page: &mut PageObject) {
    if page.summary.chars().filter(|c| c.is_alphanumeric()).count() < MIN_ABSTRACT_CHARS {
        page.summary.clear();
    }
}

fn extract_plain_text(page: &mut PageObject, text: &str) {
    page.text = text.replace("\r\n", "\n").replace(['\r', '\u{c}'], "\n").replace('\0', "");
    page.title =
        collapse_whitespace(page.text.trim_start().lines().next().unwrap_or_default(), PLAIN_TITLE_CHARS);
}

/// Derives the abstract and the language from the text if the declarations are missing or wrong.
fn fill_defaults(page: &mut PageObject) {
    drop_empty_summary(page);
    if page.summary.is_empty() {
        let quotable = page.quotable();
        page.summary = truncate_at_word(quotable.as_ref().unwrap_or(&page.text), ABSTRACT_CHARS);
    }
    let prose = prose_sample(&page.text);
    let detected = language::detect(&prose);
    let is_enough = prose.chars().nth(ENOUGH_FOR_LANGUAGE).is_some();
    if !detected.is_empty()
        && (page.lang.is_empty() || (is_enough && !language::may_be_declared(&prose, &page.lang)))
    {
        page.lang = detected.to_string();
    }
}

/// Returns the first lines of a text that are not code, or the beginning of the text if there are none.
fn prose_sample(text: &str) -> String {
    let mut sample = String::with_capacity(LANGUAGE_BYTES);
    for line in text.lines().filter(|line| !is_code(line)) {
        sample.push_str(&line[..line.floor_char_boundary(LANGUAGE_BYTES)]);
        sample.push('\n');
        if sample.len() >= LANGUAGE_BYTES {
            break;
        }
    }
    if sample.trim().is_empty() {
        text[..text.floor_char_boundary(LANGUAGE_BYTES)].to_string()
    } else {
        sample
    }
}

/// Returns `true` for a line with more marks of code than prose has: brackets, operators, underscores.
fn is_code(line: &str) -> bool {
    let line = &line[..line.floor_char_boundary(LANGUAGE_BYTES)];
    let marks = line
        .bytes()
        .filter(|b| matches!(b, b'{' | b'}' | b'=' | b'<' | b'>' | b';' | b'_' | b'/' | b'\\' | b'$' | b'|'))
        .count();
    let ends = line.trim_end().ends_with(['{', '}', ';']) || line.trim_start().starts_with(['$', '#', '<']);
    marks * 12 > line.len() || (ends && marks > 0)
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;
    use pharos_core::{LinkKind, PageType};
    use proptest::prelude::*;

    use super::*;

    fn extracted(html: &str) -> PageObject {
        extract_page(&PageUrl::parse("http://example.org/x").unwrap(), Some("text/html"), html.as_bytes())
    }

    #[test]
    fn code_does_not_decide_the_language() {
        let code = "let config = read_file(path)?; if (x == null) { return config; }\n".repeat(30);
        let prose = "这个函数读取配置文件，如果文件不存在，就返回默认值。";
        for lang in ["", " lang=zh-CN"] {
            let page = extracted(&format!(
                "<html{lang}><title>x</title><pre>{code}</pre><p>{prose}</p><pre>{code}</pre>"
            ));
            assert_eq!(page.lang, "zh", "{lang}");
        }
        let english = "The lighthouse on the rock was built long ago, and its lamp can be seen from far away at night, by ships that pass. ";
        assert_eq!(extracted(&format!("<html lang=zh><p>{}", english.repeat(3))).lang, "en");
    }

    /// Mark-up and text whose repetition makes naive algorithms slow; `#` is the number of the repetition.
    const REPEATED: [&str; 40] = [
        "<a><b c#><div>x",
        "<p>word#</p>",
        "<a href=/#>link #</a>",
        "<a href=/same>same</a>",
        "<table><tr><td>x#",
        "<table><tr><td><a href=/#>x</a>, words here.</table>",
        "<li>item #",
        "<ul><li><a href=/#>x</a></ul>",
        "<h2>head #</h2><p>Text of a paragraph, with commas, number #.",
        "<img src=/#.png width=300 height=200 alt=x>",
        "<script type='application/ld+json'>{\"datePublished\":\"2020-01-0#\"}</script>",
        "<meta name=a# content=b>",
        "2020-01-01 published # ",
        "<span class=date>2020年1月#日</span>",
        "<div class='comment author' id=x#>by J. Smith #</div>",
        "<em>very # strong</em> ",
        "<font size=#>x",
        "a",
        "灯塔",
        "灯塔。",
        "a. ",
        "&amp;",
        "&",
        "<",
        "<!-- x -->",
        "<!--",
        "<p style='display:none'>x#",
        "<svg><path d=#>",
        "<noscript><p>x#</noscript>",
        "x#<br>",
        "<option>x#",
        "<title>t#</title>",
        "<base href=/#/>",
        "<p data-nosnippet>x#</p>",
        "<pre>x#\n",
        "<div><div><p>t # t</div>",
        "<section><article><p>Some text here #, with, commas.</section>",
        "http://h#.example/ ",
        "\u{301}",
        "<p>the same text in every line, again and again.",
    ];

    #[test]
    fn the_work_on_a_page_is_linear() {
        let url = PageUrl::parse("http://example.org/").unwrap();
        let terms = ["text".to_string(), "a".into(), "灯塔".into()];
        let highlights = cached_page::HighlightOptions { terms: &terms, next_label: "next" };
        for start in ["<body>", "<div class='", "<script type='application/ld+json'>"] {
            for unit in REPEATED {
                let mut body = start.to_string();
                for number in 0.. {
                    body.push_str(&unit.replace('#', &number.to_string()));
                    if body.len() > 20_000 {
                        break;
                    }
                }
                let body = body.as_bytes();
                let work: [(&str, &dyn Fn()); 5] = [
                    ("extract", &|| drop(extract_page(&url, Some("text/html"), body))),
                    ("skim", &|| drop(skim(&url, Some("text/html"), body))),
                    ("display", &|| {
                        drop(cached_page::sanitise_page(&url, Some("text/html"), body, &highlights));
                    }),
                    ("explain", &|| drop(explain_cleaning(&url, Some("text/html"), body, RuleSet::pharos()))),
                    ("feed", &|| drop(parse_feed(&url, Some("text/xml"), body))),
                ];
                for (name, work) in work {
                    let steps = measure_work(work).1;
                    let limit = STEPS_PER_BYTE * body.len() as u64;
                    assert!(steps < limit, "{name} {start} {unit}: {steps} steps for {} bytes", body.len());
                }
            }
        }
    }

    #[test]
    fn a_chinese_page_in_gbk() {
        let html = "<html lang=en><meta http-equiv=content-type content='text/html; charset=gb2312'>\
                    <title>灯塔</title><h1>灯塔的历史</h1><p>灯塔是建在海岸上的高塔,在夜里发光,为船只指路。</p>\
                    <p>最古老的灯塔之一建在亚历山大港的法罗斯岛上。</p><a href=a>更多</a>";
        let page = extract_page(
            &PageUrl::parse("http://example.cn/").unwrap(),
            Some("text/html"),
            &encoding_rs::GBK.encode(html).0,
        );
        assert_eq!((page.charset.as_str(), page.title.as_str()), ("GBK", "灯塔"));
        assert_eq!(page.content_title, "灯塔的历史");
        assert!(page.summary.starts_with("灯塔是建在"));
        assert_eq!(page.links[0].anchor, "更多");
        assert_eq!(page.page_type, PageType::Topic);
    }

    #[test]
    fn text_overrides_the_declared_language() {
        let english =
            "The lighthouse stands on a rock and its light can be seen from many miles away at night. ";
        assert_eq!(extracted(&format!("<html lang=zh><p>{}", english.repeat(3))).lang, "en");
        assert_eq!(extracted("<html lang=de-AT><p>Hallo").lang, "de");
    }

    #[test]
    fn kinds_of_pages() {
        let hub: String = (0..40).map(|i| format!("<li><a href={i}>headline number {i}</a>")).collect();
        assert_eq!(extracted(&format!("<p>News of today<ul>{hub}")).page_type, PageType::Hub);
        assert_eq!(
            extracted("<h1>Holiday</h1><img src=1><img src=2><img src=3>").page_type,
            PageType::Picture
        );
        assert_eq!(extracted("<p>Words and words.").page_type, PageType::Topic);
    }

    #[test]
    fn plain_text_and_unsupported_types() {
        let url = PageUrl::parse("http://example.org/x").unwrap();
        let page = extract_page(&url, Some("text/plain"), b"\r\nFirst <b> line\r\nsecond");
        assert_eq!((page.title.as_str(), page.text.as_str()), ("First <b> line", "\nFirst <b> line\nsecond"));
        let page = extract_page(&url, Some("image/png"), b"\x89PNG\r\n");
        assert_eq!(
            (page.title.as_str(), page.text.as_str(), page.url.as_str()),
            ("", "", "http://example.org/x")
        );
        assert_eq!(page.unread_reason.as_deref(), Some("no reader for image/png"));
        let page = extract_page(&url, Some("application/pdf"), b"%PDF-1.4 torn");
        assert_eq!(page.unread_reason.as_deref(), Some("not readable as pdf"));
        let page = extract_page(&url, None, include_bytes!("../tests/samples/lighthouse.pdf"));
        assert_eq!((page.title.as_str(), page.lang.as_str()), ("The History of Lighthouses", "en"));
        assert!(
            page.keywords.contains(&"lighthouse".to_string()) && page.summary.starts_with("A lighthouse")
        );
    }

    #[test]
    fn kinds_of_files() {
        let url = PageUrl::parse("http://example.org/x").unwrap();
        let samples: [(&str, &[u8], &str); 9] = [
            ("text/html", b"<p>x", "html"),
            ("", b"<!doctype html>x", "html"),
            ("application/xhtml+xml", b"<html>", "html"),
            ("text/plain; charset=utf-8", b"x", "txt"),
            ("Text/CSV", b"a,b", "csv"),
            ("application/octet-stream", include_bytes!("../tests/samples/lighthouse.pdf"), "pdf"),
            ("application/msword", include_bytes!("../tests/samples/lighthouse.docx"), "docx"),
            ("application/msword", include_bytes!("../tests/samples/lighthouse.rtf"), "rtf"),
            ("image/png", b"x", ""),
        ];
        for (content_type, body, format) in samples {
            assert_eq!(extract_page(&url, Some(content_type), body).format, format, "{content_type}");
            assert_eq!(skim(&url, Some(content_type), body).format, format, "{content_type}");
        }
    }

    #[test]
    fn deep_and_wide_pages_end_in_time() {
        let deep = extracted(&format!("{}text<a href=/a>b</a>", "<div>".repeat(100_000)));
        assert_eq!((deep.text.as_str(), deep.links.len()), ("textb", 1));
        let tables = extracted(&format!("{}text", "<table><td>".repeat(50_000)));
        assert!(tables.text.contains("text"));
        let attributes: String = (0..200_000).map(|i| format!(" a{i}")).collect();
        assert_eq!(extracted(&format!("<p{attributes}>text")).text, "text");
        let nested_links = extracted(&"<a href=x><object><table><td>".repeat(5_000));
        assert!(nested_links.links.iter().all(|l| l.kind == LinkKind::Page));
        extracted(&"<b><i><p></b>".repeat(5_000));
        extracted(&"<h1 itemprop=author><b></b>".repeat(20_000));
        extracted(&"<meta property=og:title content='a lamp is lit'><h1>a lamp was lit</h1>".repeat(10_000));
        extracted(&"<p>On 3.4.2005 and 2005年3月4日 the lamp. ".repeat(20_000));
        extracted(&"<svg><a><foreignObject>".repeat(20_000));
        extracted(&"<template>".repeat(20_000));
        extracted(&"<select><option>".repeat(20_000));
    }

    const SOUP: &str = "(<(/?)(p|a|b|div|table|tr|td|svg|math|mtext|style|script|title|select|option|template|frameset|noscript|form|h1|ul|li|html|head|body|textarea|plaintext|annotation-xml encoding=text/html|font size=1|a href=x|base href=//b|meta charset=gbk|meta name=date content=2026-01-01)>|text |<!--|-->|<!doctype html>|&amp;|&#0;|<!\\[CDATA\\[|\\]\\]>|é|\0){0,40}";

    proptest! {
        #[test]
        fn any_bytes_are_extracted(body in prop::collection::vec(any::<u8>(), 0..400), kind in "(text/html|text/plain|application/x)?") {
            extract_page(&PageUrl::parse("http://example.org/").unwrap(), Some(&kind), &body);
        }

        #[test]
        fn any_tag_soup_is_extracted(soup in SOUP) {
            let page = extracted(&soup);
            prop_assert!(!page.text.contains("  ") && !page.text.contains("\n\n"));
        }
    }
}
