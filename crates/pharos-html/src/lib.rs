//! Bytes to page object: what a server sent, understood.
//!
//! **In:** a URL, its `Content-Type` and a body (already decompressed). **Out:** a [`PageObject`] with text, links
//! and metadata, or the page made harmless for display ([`snapshot::safe_html`]).
//!
//! ```text
//! body ─ media ─▶ charset ─▶ trim  ─▶ dom ─┬─▶ blocks ─▶ voting ─▶ clean   what it is about
//!        which    bytes to   cut      tree  │      └──▶ weights, summary     which words matter in it, its abstract
//!        reader   text       programs       ├─▶ links     where it leads
//!          │                                ├─▶ metadata  what it says of itself
//!          └────▶ formats                   └─▶ snapshot  the page to look at, harmless
//!                 PDF, Office, RTF, XML
//! ```
//!
//! The page is a tree of containers, cut into lines. Rules score every line, and the lines whose sums are high
//! enough are the body: the rules, their scores and the words they look for are data (`rules/`). The *central region*
//! of a page is the smallest block that holds nearly all of the body; it decides whether the page is a topic, a hub or
//! a picture page, and a hub keeps its links. What a page asks not to be quoted is marked on the way (`quoting`).
//!
//! Sitemaps, RSS and Atom are no pages but lists of them: [`feed`] reads those, and gives nothing for all else.
//!
//! ```
//! use pharos_core::PageUrl;
//!
//! let url = PageUrl::parse("http://example.org/news/").unwrap();
//! let page = pharos_html::understand(
//!     &url,
//!     Some("text/html; charset=utf-8"),
//!     b"<title>News</title><p>The lighthouse is <a href=/lit>lit</a> again.",
//! );
//! assert_eq!(page.title, "News");
//! assert_eq!(page.text, "The lighthouse is lit again.");
//! assert_eq!(page.links[0].url.as_str(), "http://example.org/lit");
//! ```
//!
//! # Invariants
//! * Any bytes give a page object; nothing panics, and no page is deep or wide enough to exhaust stack or memory.
//! * Nothing here opens a file or a socket.
//! * The same bytes at the same address give the same page object, but for dates of publication that lay in the
//!   future and have come.
//! * What [`snapshot::safe_html`] returns contains only allowed elements and attributes, runs no script and loads
//!   nothing.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

mod blocks;
mod charset;
mod clean;
mod dom;
pub mod evaluate;
mod feed;
mod formats;
mod layout;
mod links;
mod media;
mod metadata;
mod quoting;
mod robots_tag;
mod skim;
pub mod snapshot;
mod summary;
mod tags;
mod template;
mod text;
mod trim;
mod voting;
mod weights;

pub use blocks::split::TextBlock;
pub use clean::{BlockKind, Explanation, Limits as TableLimits, LineReport, Noise, Shape};
pub use feed::{Entry, Feed, FeedKind, feed};
pub use robots_tag::robots_tag;
pub use summary::first_bytes;
pub use template::Template;
pub use voting::{RuleSet, RulesError};
pub use weights::{IrrelevantWordLearner, Weighing};

use pharos_core::{PageObject, PageUrl};
use pharos_text::lang;

use crate::dom::Dom;
use crate::media::MediaKind;

/// The version of what [`understand`] makes of a page. It is counted up whenever the same bytes give another page
/// object, so that what was derived with an older version is known and made again.
pub const VERSION: u32 = 5;

/// Length of an abstract that the page did not write itself.
const ABSTRACT_CHARS: usize = 200;

/// A declared description with fewer letters says nothing.
const MIN_ABSTRACT_CHARS: usize = 4;

/// Longer media types are no media types.
const MAX_MEDIA_TYPE_CHARS: usize = 100;

/// Length of a title taken from a plain text.
const PLAIN_TITLE_CHARS: usize = 80;

/// Bytes of a text that tell its language.
const LANGUAGE_BYTES: usize = 2_000;

/// From this many characters on, what the text says of its language beats what the page claims.
const ENOUGH_FOR_LANGUAGE: usize = 100;

/// What is wanted of a page besides the usual.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// The rules that tell the body from the rest.
    pub rules: &'a RuleSet,
    /// How much is kept.
    pub scale: Scale,
    /// Is the body wanted as HTML, too?
    pub html: bool,
    /// Are the blocks wanted?
    pub blocks: bool,
    /// How words are weighed.
    pub weighing: Weighing,
}

impl Default for Wish<'_> {
    fn default() -> Self {
        Wish {
            rules: RuleSet::pharos(),
            scale: Scale::Related,
            html: false,
            blocks: false,
            weighing: Weighing::default(),
        }
    }
}

/// How much of a page cleaning keeps (净化尺度).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// The body.
    Body,
    /// The body and the links related to it.
    #[default]
    Related,
}

/// Understands a page: `body` is what the server sent, already decompressed.
///
/// A document that nothing here reads gives a page object without text, and says so in [`PageObject::unread`].
pub fn understand(url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> PageObject {
    understand_as(url, content_type, body, &Wish::default())
}

/// [`understand`] with wishes.
pub fn understand_as(url: &PageUrl, content_type: Option<&str>, body: &[u8], wish: &Wish) -> PageObject {
    let mut page = read(url, content_type, body, |page, url, html| clean::page(page, url, html, wish));
    if page.terms.is_empty() && !page.text.is_empty() {
        weights::fill_from_text(&mut page, wish.weighing, ABSTRACT_CHARS);
    }
    settle(&mut page);
    page
}

/// What a crawl wants to know of a page, at a fraction of the cost: title, text, directives, and the links it follows.
/// The text takes in whatever the page shows, its lines as they were written.
pub fn skim(url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> PageObject {
    read(url, content_type, body, skim::skim)
}

fn read(
    url: &PageUrl,
    content_type: Option<&str>,
    body: &[u8],
    read_html: impl FnOnce(&mut PageObject, &PageUrl, &str),
) -> PageObject {
    let mut page = PageObject { url: url.as_str().to_string(), ..PageObject::default() };
    let kind = media::kind(content_type, body);
    page.format = media::format(kind, content_type).to_string();
    match kind {
        MediaKind::Html | MediaKind::PlainText => {
            let (text, charset) = charset::decode(body, content_type, url.host());
            page.charset = charset.to_string();
            match kind {
                MediaKind::Html => read_html(&mut page, url, &text),
                _ => understand_plain_text(&mut page, &text),
            }
        }
        _ => match formats::read(kind, body, content_type, url.host()) {
            Some(document) => document.fill(&mut page),
            None => page.unread = Some(unread(kind, content_type)),
        },
    }
    page
}

/// Why a document has no text.
fn unread(kind: MediaKind, content_type: Option<&str>) -> String {
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    let media_type = text::collapse(media_type, MAX_MEDIA_TYPE_CHARS).to_ascii_lowercase();
    match kind {
        MediaKind::Other if media_type.is_empty() => "no reader".into(),
        MediaKind::Other => format!("no reader for {media_type}"),
        _ => format!("not readable as {kind:?}").to_lowercase(),
    }
}

/// Why every line of a page is body or is not, by the given rules.
pub fn explain(url: &PageUrl, content_type: Option<&str>, body: &[u8], rules: &RuleSet) -> Explanation {
    let (html, _) = charset::decode(body, content_type, url.host());
    clean::explain(&html, rules)
}

/// The page in blocks by the nine rules of the PageClean thesis: see [`TextBlock`].
pub fn text_blocks(url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> Vec<TextBlock> {
    let (html, _) = charset::decode(body, content_type, url.host());
    blocks::split::split(&Dom::parse(&html))
}

/// The topic of a page by the table algorithm of the PageClean thesis, to be measured against [`body_text`].
pub fn topic_by_tables(html: &str, limits: &TableLimits) -> String {
    clean::topic_by_tables(html, limits)
}

/// The body of a page whose text is known, and nothing else of it.
pub fn body_text(html: &str) -> String {
    clean::body_text(html, RuleSet::pharos())
}

/// The text of a body of which only the bytes are known: HTML as it is, in the charset that it is found to be in.
pub fn decoded(body: &[u8]) -> String {
    charset::decode(body, None, "").0
}

/// Does [`understand`] read this as HTML? `body_prefix` decides where the header does not.
pub fn is_html_like(content_type: Option<&str>, body_prefix: &[u8]) -> bool {
    media::kind(content_type, body_prefix) == MediaKind::Html
}

/// Templates leave `#`, `-` or nothing where a description should be.
fn drop_empty_summary(page: &mut PageObject) {
    if page.summary.chars().filter(|c| c.is_alphanumeric()).count() < MIN_ABSTRACT_CHARS {
        page.summary.clear();
    }
}

fn understand_plain_text(page: &mut PageObject, text: &str) {
    page.text = text.replace("\r\n", "\n").replace(['\r', '\u{c}'], "\n").replace('\0', "");
    page.title = text::collapse(page.text.trim_start().lines().next().unwrap_or_default(), PLAIN_TITLE_CHARS);
}

/// What follows from the text where the page did not say, or not rightly.
fn settle(page: &mut PageObject) {
    drop_empty_summary(page);
    if page.summary.is_empty() {
        let quotable = page.quotable();
        page.summary = text::beginning(quotable.as_ref().unwrap_or(&page.text), ABSTRACT_CHARS);
    }
    let spoken = lang::detect(&page.text[..page.text.floor_char_boundary(LANGUAGE_BYTES)]);
    let is_enough = page.text.chars().nth(ENOUGH_FOR_LANGUAGE).is_some();
    if !spoken.is_empty() && (is_enough || page.lang.is_empty()) {
        page.lang = spoken.to_string();
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::{LinkKind, PageType};
    use proptest::prelude::*;

    use super::*;

    fn understood(html: &str) -> PageObject {
        understand(&PageUrl::parse("http://example.org/x").unwrap(), Some("text/html"), html.as_bytes())
    }

    #[test]
    fn a_chinese_page_in_gbk() {
        let html = "<html lang=en><meta http-equiv=content-type content='text/html; charset=gb2312'>\
                    <title>灯塔</title><h1>灯塔的历史</h1><p>灯塔是建在海岸上的高塔,在夜里发光,为船只指路。</p>\
                    <p>最古老的灯塔之一建在亚历山大港的法罗斯岛上。</p><a href=a>更多</a>";
        let page = understand(
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
    fn the_text_knows_its_language_better_than_the_tag() {
        let english =
            "The lighthouse stands on a rock and its light can be seen from many miles away at night. ";
        assert_eq!(understood(&format!("<html lang=zh><p>{}", english.repeat(3))).lang, "en");
        assert_eq!(understood("<html lang=de-AT><p>Hallo").lang, "de");
    }

    #[test]
    fn kinds_of_pages() {
        let hub: String = (0..40).map(|i| format!("<li><a href={i}>headline number {i}</a>")).collect();
        assert_eq!(understood(&format!("<p>News of today<ul>{hub}")).page_type, PageType::Hub);
        assert_eq!(
            understood("<h1>Holiday</h1><img src=1><img src=2><img src=3>").page_type,
            PageType::Picture
        );
        assert_eq!(understood("<p>Words and words.").page_type, PageType::Topic);
    }

    #[test]
    fn plain_text_and_the_unreadable() {
        let url = PageUrl::parse("http://example.org/x").unwrap();
        let page = understand(&url, Some("text/plain"), b"\r\nFirst <b> line\r\nsecond");
        assert_eq!((page.title.as_str(), page.text.as_str()), ("First <b> line", "\nFirst <b> line\nsecond"));
        let page = understand(&url, Some("image/png"), b"\x89PNG\r\n");
        assert_eq!(
            (page.title.as_str(), page.text.as_str(), page.url.as_str()),
            ("", "", "http://example.org/x")
        );
        assert_eq!(page.unread.as_deref(), Some("no reader for image/png"));
        let page = understand(&url, Some("application/pdf"), b"%PDF-1.4 torn");
        assert_eq!(page.unread.as_deref(), Some("not readable as pdf"));
        let page = understand(&url, None, include_bytes!("../tests/samples/lighthouse.pdf"));
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
            assert_eq!(understand(&url, Some(content_type), body).format, format, "{content_type}");
            assert_eq!(skim(&url, Some(content_type), body).format, format, "{content_type}");
        }
    }

    #[test]
    fn deep_and_wide_pages_end_in_time() {
        let deep = understood(&format!("{}text<a href=/a>b</a>", "<div>".repeat(100_000)));
        assert_eq!((deep.text.as_str(), deep.links.len()), ("textb", 1));
        let tables = understood(&format!("{}text", "<table><td>".repeat(50_000)));
        assert!(tables.text.contains("text"));
        let attributes: String = (0..200_000).map(|i| format!(" a{i}")).collect();
        assert_eq!(understood(&format!("<p{attributes}>text")).text, "text");
        let nested_links = understood(&"<a href=x><object><table><td>".repeat(5_000));
        assert!(nested_links.links.iter().all(|l| l.kind == LinkKind::Page));
        understood(&"<b><i><p></b>".repeat(5_000));
        understood(&"<h1 itemprop=author><b></b>".repeat(20_000));
        understood(&"<meta property=og:title content='a lamp is lit'><h1>a lamp was lit</h1>".repeat(10_000));
        understood(&"<p>On 3.4.2005 and 2005年3月4日 the lamp. ".repeat(20_000));
        understood(&"<svg><a><foreignObject>".repeat(20_000));
        understood(&"<template>".repeat(20_000));
        understood(&"<select><option>".repeat(20_000));
    }

    const SOUP: &str = "(<(/?)(p|a|b|div|table|tr|td|svg|math|mtext|style|script|title|select|option|template|frameset|noscript|form|h1|ul|li|html|head|body|textarea|plaintext|annotation-xml encoding=text/html|font size=1|a href=x|base href=//b|meta charset=gbk|meta name=date content=2026-01-01)>|text |<!--|-->|<!doctype html>|&amp;|&#0;|<!\\[CDATA\\[|\\]\\]>|é|\0){0,40}";

    proptest! {
        #[test]
        fn any_bytes_are_understood(body in prop::collection::vec(any::<u8>(), 0..400), kind in "(text/html|text/plain|application/x)?") {
            understand(&PageUrl::parse("http://example.org/").unwrap(), Some(&kind), &body);
        }

        #[test]
        fn any_tag_soup_is_understood(soup in SOUP) {
            let page = understood(&soup);
            prop_assert!(!page.text.contains("  ") && !page.text.contains("\n\n"));
        }
    }
}
