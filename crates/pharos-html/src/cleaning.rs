//! Page cleaning: separates the body of a page (正文) from the rest.
//!
//! ```text
//! dom ─▶ blocks ─▶ voting ─▶ body lines ─┬─▶ text, html      indexed and displayed
//!                              │         ├─▶ page type       from the contents of the central region
//!                              ▼         └─▶ related links   links of the body and of blocks on its subject
//!                         other lines: navigation, advertisement, copyright, form, comment, other
//! ```
//!
//! **The central region** of a page is the smallest block that contains `CENTRE_SHARE` of the body's terms. Without a
//! body it is the whole page except its edges (header, footer, navigation, aside). It determines the page type
//! (HTML_DocView, 《搜索引擎——原理、技术与系统》§7.1). If more than half of its terms are in link blocks, the page is a hub. If
//! there are pictures with hardly a word each (those at the edges not counted), it is a picture page. Any other
//! page is a topic page. A hub keeps its links in the body because they are its content. The text of a picture page
//! includes the descriptions of its pictures.

mod block_kind;
mod body_html;
pub mod evaluation;
pub(crate) mod explanation;
mod pictures;
mod related_links;
mod site_template;
mod table_algorithm;
pub mod training;
pub(crate) mod voting;

use std::ops::Range;

use pharos_core::{PageObject, PageType, PageUrl};

use crate::blocks::{Blocks, Container, ElementKind};
use crate::cleaning::voting::page_clues::PageClues;
use crate::cleaning::voting::{LineScores, RuleSet};
use crate::dom::{Dom, layout};
use crate::metadata::nosnippet::repeats_unquotable;
use crate::{ABSTRACT_CHARS, CleaningScope, ExtractOptions, drop_empty_summary, links, metadata, weights};
pub use block_kind::{BlockKind, BlockShape, NoiseClass};
pub use explanation::{CleaningExplanation, LineExplanation};
pub use site_template::SiteTemplate;
pub use table_algorithm::TableLimits;
pub use voting::genre::PageGenre;

/// Share of the body's terms that the central region contains.
const CENTRE_SHARE: f32 = 0.9;

/// Minimum number of terms of a body. Below it, everything outside the page edges is the body.
const MIN_BODY_TERMS: f32 = 5.0;

/// Minimum share of linked text of a link block.
const LINK_BLOCK_SHARE: f32 = 0.5;

/// A block with fewer terms per picture is a picture block.
const TERMS_PER_PICTURE: f32 = 10.0;

/// A page with fewer terms probably loads its content by script.
const MIN_PAGE_TERMS: f32 = 60.0;

/// Hidden content is used if it has more than this many times the terms of the visible content.
const HIDDEN_FACTOR: f32 = 3.0;

/// Parses a page into blocks. If a page has hardly any text before scripts run, its `<noscript>` content is used.
/// If there is none either, content hidden until a script shows it is used.
fn parse_blocks(html: &str, rules: &RuleSet) -> (Dom, Blocks) {
    let dom = Dom::parse(html);
    let blocks = Blocks::build(&dom, &rules.names);
    if blocks.containers[0].terms >= MIN_PAGE_TERMS {
        return (dom, blocks);
    }
    if html.contains("<noscript") {
        let without_scripts = Dom::parse_without_scripts(html);
        let blocks = Blocks::build(&without_scripts, &rules.names);
        if blocks.containers[0].terms >= MIN_PAGE_TERMS {
            return (without_scripts, blocks);
        }
    }
    let with_hidden = Blocks::build_with_hidden(&dom, &rules.names);
    let has_more =
        with_hidden.containers[0].terms > HIDDEN_FACTOR * (blocks.containers[0].terms + MIN_PAGE_TERMS);
    (dom, if has_more { with_hidden } else { blocks })
}

/// Returns the body of a page as text.
pub(crate) fn body_text(html: &str, rules: &RuleSet) -> String {
    let (dom, blocks) = parse_blocks(html, rules);
    CleanedPage::new(blocks, &PageClues::from_dom(&dom), rules).text().0
}

/// Explains the classification of every line.
pub(crate) fn explain(html: &str, rules: &RuleSet) -> CleaningExplanation {
    let (dom, blocks) = parse_blocks(html, rules);
    CleanedPage::new(blocks, &PageClues::from_dom(&dom), rules).explain(&dom, rules)
}

/// Returns the topic of a page by the table algorithm of the PageClean thesis, §4.4.
pub(crate) fn topic_by_tables(html: &str, limits: &TableLimits) -> String {
    table_algorithm::topic(&Dom::parse(html), limits).join("\n")
}

/// Fills a page object from HTML.
pub(crate) fn fill_page(page: &mut PageObject, url: &PageUrl, html: &str, options: &ExtractOptions) {
    let (dom, blocks) = parse_blocks(html, options.rules);
    let base = links::base_url(&dom, url);
    metadata::fill(page, &dom, &base);
    page.links = links::extract_links(&dom, &base);
    page.layout = layout::fingerprint(&dom);
    let clean = CleanedPage::new(blocks, &PageClues::from_dom(&dom), options.rules);
    page.page_type = clean.page_type;
    (page.text, page.unquotable) = clean.text();
    (page.other, page.unquotable_other) = clean.other_text();
    if page.page_type == PageType::Picture {
        pictures::describe(page, &dom);
    }
    if page.image.is_empty() {
        page.image = clean.main_picture(&dom, &base).unwrap_or_default();
    }
    drop_empty_summary(page);
    if repeats_unquotable(&page.summary, &clean.blocks) {
        page.summary.clear();
    }
    weights::fill(page, &dom, &clean.blocks, options.term_weighting, ABSTRACT_CHARS, |line| {
        clean.is_body(line)
    });
    if options.scope == CleaningScope::Related || options.blocks {
        let related = clean.related_lines();
        if options.scope == CleaningScope::Related {
            page.related_links = clean.related_links(&dom, &base, &related);
        }
        if options.blocks {
            page.blocks = clean.block_objects(&related, options.rules);
        }
    }
    if options.html {
        page.html = clean.html(&dom, &base);
    }
}

/// Maximum number of terms of a picture page, regardless of the number of pictures.
const MAX_PICTURE_PAGE_TERMS: f32 = 60.0;

/// Minimum number of linked terms of a hub.
const MIN_HUB_TERMS: f32 = 20.0;

/// A cleaned page.
#[derive(Debug)]
pub(crate) struct CleanedPage {
    pub(crate) blocks: Blocks,
    pub(crate) line_scores: LineScores,
    /// `true` for body lines, by line number.
    body: Vec<bool>,
    /// Page type determined by the central region.
    pub(crate) page_type: PageType,
}

impl CleanedPage {
    /// Cleans a page with the given clues from its head.
    pub(crate) fn new(blocks: Blocks, clues: &PageClues, rules: &RuleSet) -> CleanedPage {
        let line_scores = rules.score_lines(&blocks, clues);
        let mut body: Vec<bool> = (0..blocks.lines.len()).map(|line| line_scores.is_body(line)).collect();
        let terms: f32 =
            blocks.lines.iter().zip(&body).filter(|(_, b)| **b).map(|(l, _)| l.measure.terms()).sum();
        if terms < MIN_BODY_TERMS || is_plain(&blocks) {
            for (line, is_body) in blocks.lines.iter().zip(&mut body) {
                *is_body = !is_edge(&blocks, line.container);
            }
        }
        let page_type = page_type(&blocks, central_region(&blocks, &body));
        CleanedPage { blocks, line_scores, body, page_type }
    }

    /// Returns `true` if the line is body.
    pub(crate) fn is_body(&self, line: usize) -> bool {
        self.body.get(line).copied().unwrap_or_default()
    }

    /// Returns the body as text in reading order, and the byte ranges of it that must not be quoted. Cells of a row
    /// stay on one line.
    pub(crate) fn text(&self) -> (String, Vec<Range<usize>>) {
        self.text_of_lines(true)
    }

    /// Returns all visible text that is not body, like [`text`](Self::text).
    pub(crate) fn other_text(&self) -> (String, Vec<Range<usize>>) {
        self.text_of_lines(false)
    }

    fn text_of_lines(&self, body: bool) -> (String, Vec<Range<usize>>) {
        let mut text = String::with_capacity(self.blocks.text.len() / 2);
        let mut unquotable: Vec<Range<usize>> = Vec::new();
        let mut parts = self.blocks.unquotable.as_slice();
        let mut previous = None;
        for (number, line) in self.blocks.lines.iter().enumerate().filter(|(n, _)| self.body[*n] == body) {
            if previous.is_some() {
                text.push(if line.joins && previous == number.checked_sub(1) { ' ' } else { '\n' });
            }
            let (range, start) = (line.range(), text.len());
            // A range may continue in the following lines.
            parts = &parts[parts.partition_point(|part| part.end <= range.start)..];
            for part in parts.iter().take_while(|part| part.start < range.end) {
                let from = start + part.start.saturating_sub(range.start);
                let to = start + part.end.min(range.end) - range.start;
                match unquotable.last_mut() {
                    // The range continues from the previous line.
                    Some(last) if from == start && last.end + 1 == from => last.end = to,
                    _ => unquotable.push(from..to),
                }
            }
            text.push_str(self.blocks.text_of(line));
            previous = Some(number);
        }
        (text, unquotable)
    }
}

/// Returns `true` for a page of plain text: no links, no form fields, and no recognised names on any block.
fn is_plain(blocks: &Blocks) -> bool {
    let page = &blocks.containers[0].counts;
    page.links == 0 && page.fields == 0 && blocks.containers.iter().all(|c| c.names == 0)
}

/// Returns the smallest block that contains [`CENTRE_SHARE`] of the body's terms.
fn central_region<'a>(blocks: &'a Blocks, body: &[bool]) -> &'a Container {
    let mut before = Vec::with_capacity(body.len() + 1);
    let mut terms = 0.0f32;
    before.push(terms);
    for (line, is_body) in blocks.lines.iter().zip(body) {
        terms += if *is_body { line.measure.terms() } else { 0.0 };
        before.push(terms);
    }
    let holds = |c: &Container| before[c.lines().end] - before[c.lines().start] >= CENTRE_SHARE * terms;
    let smallest = blocks.containers.iter().filter(|c| holds(c)).min_by_key(|c| c.line_count());
    smallest.unwrap_or(&blocks.containers[0])
}

fn page_type(blocks: &Blocks, centre: &Container) -> PageType {
    let (mut terms, mut hub_terms) = (0.0f32, 0.0f32);
    for line in &blocks.lines[centre.lines()] {
        if is_edge(blocks, line.container) {
            continue;
        }
        terms += line.measure.terms();
        if line.counts.link_share() > LINK_BLOCK_SHARE {
            hub_terms += line.measure.terms();
        }
    }
    // Pictures have no terms, so they need not lie in the region that contains the terms.
    let edges = blocks.containers.iter().filter(|c| is_edge_tag(c.tag) && !is_edge(blocks, c.parent));
    let images = blocks.containers[0].counts.images.saturating_sub(edges.map(|c| c.counts.images).sum());
    if images > 0 && terms < TERMS_PER_PICTURE * images as f32 && terms < MAX_PICTURE_PAGE_TERMS {
        PageType::Picture
    } else if hub_terms > terms - hub_terms && hub_terms > MIN_HUB_TERMS {
        PageType::Hub
    } else {
        PageType::Topic
    }
}

/// Returns `true` if a container lies at the edge of the page: header, footer, navigation, aside or form.
fn is_edge(blocks: &Blocks, mut container: u32) -> bool {
    while container != 0 {
        let c = &blocks.containers[container as usize];
        if is_edge_tag(c.tag) {
            return true;
        }
        container = c.parent;
    }
    false
}

fn is_edge_tag(tag: ElementKind) -> bool {
    matches!(
        tag,
        ElementKind::Header | ElementKind::Footer | ElementKind::Nav | ElementKind::Aside | ElementKind::Form
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{extract_page, extract_page_with};

    fn cleaned(html: &str) -> PageObject {
        let options = ExtractOptions { html: true, blocks: true, ..ExtractOptions::default() };
        extract_page_with(
            &PageUrl::parse("http://example.org/x").unwrap(),
            Some("text/html"),
            html.as_bytes(),
            &options,
        )
    }

    fn article() -> String {
        let paragraph = "<p>The lighthouse on the rock was built long ago, and its lamp can be seen from far away. \
                         Ships that pass at night, in fog or in snow, steer by it; no ship has been lost since.</p>";
        format!(
            "<title>The lighthouse on the rock</title>\
             <nav><ul><li><a href=/harbour>Zebrafish</a><li><a href=/b>Boats</a><li><a href=/c>Coast</a></ul></nav>\
             <div class=ad>Buy the wombat now!</div>\
             <article><h1>The lighthouse on the rock</h1>{}<p>It has <a href=/keeper>a keeper</a>, who lights the \
             lamp every evening, and who writes down which ships went by, and when.</p></article>\
             <div class=related><a href=/rock>More of the lighthouse on the rock and its lamp</a></div>\
             <footer><p>© 2026 Platypus Press, all rights reserved.</p></footer>",
            paragraph.repeat(4)
        )
    }

    #[test]
    fn words_of_navigation_advertisement_and_footer_are_gone() {
        let page = cleaned(&article());
        assert!(page.text.contains("Ships that pass at night") && page.text.contains("which ships went by"));
        for noise in ["Zebrafish", "wombat", "Platypus"] {
            assert!(!page.text.contains(noise) && !page.html.contains(noise), "{noise}");
        }
        assert_eq!(page.page_type, PageType::Topic);
        let kinds: Vec<_> = page.blocks.iter().map(|b| b["kind"].as_str().unwrap()).collect();
        assert!(
            kinds.contains(&"body") && kinds.contains(&"copyright") && kinds.contains(&"navigation"),
            "{kinds:?}"
        );
        let noises: Vec<_> = page.blocks.iter().filter_map(|b| b["noise"].as_str()).collect();
        assert!(noises.contains(&"decoration") && noises.contains(&"other"), "{noises:?}");
    }

    #[test]
    fn related_links_are_those_of_the_body_and_of_its_subject() {
        let page = cleaned(&article());
        let urls: Vec<_> = page.related_links.iter().map(|l| l.url.as_str()).collect();
        assert_eq!(urls, ["http://example.org/keeper", "http://example.org/rock"]);
        let options = ExtractOptions { scope: CleaningScope::Body, ..ExtractOptions::default() };
        let url = PageUrl::parse("http://example.org/x").unwrap();
        assert!(
            extract_page_with(&url, Some("text/html"), article().as_bytes(), &options)
                .related_links
                .is_empty()
        );
    }

    #[test]
    fn html_keeps_text_and_removes_scripts() {
        let html = cleaned(&article().replace("<article>", "<article onclick=x><script>x</script>")).html;
        assert!(html.contains("<p>It has <a href=\"http://example.org/keeper\">a keeper</a>"), "{html}");
        assert!(!html.contains("script") && !html.contains("onclick"));
        let html = cleaned(&article().replace("<article>", "<article><p>&nbsp; </p><p> </p>")).html;
        assert!(!html.contains("<p></p>") && !html.contains("&nbsp;") && !html.contains("<p> "), "{html}");
    }

    #[test]
    fn a_hub_keeps_its_links() {
        let links: String =
            (0..60).map(|i| format!("<li><a href=/{i}>Headline number {i} of today</a>")).collect();
        let page = cleaned(&format!("<title>News of today</title><h1>News of today</h1><ul>{links}</ul>"));
        assert_eq!(page.page_type, PageType::Hub);
        assert!(page.text.contains("Headline number 0 of") && page.text.contains("Headline number 59 of"));
        assert_eq!(page.related_links.len(), 60);
    }

    #[test]
    fn comments_scripts_and_style_sheets_leave_nothing() {
        let page =
            cleaned("<style>s{}</style><script>x()</script><!-- c --><p>Words and words, and more words.");
        assert_eq!(page.text, "Words and words, and more words.");
    }

    #[test]
    fn noscript_content_is_used() {
        let html = format!("<body><div id=app></div><noscript>{}</noscript>", article());
        assert!(cleaned(&html).text.contains("Ships that pass at night"));
    }

    #[test]
    fn shapes_by_terms_a_picture_and_by_linked_text() {
        assert_eq!(block_kind::shape(30.0, 0, 0.6), BlockShape::Link);
        assert_eq!(block_kind::shape(30.0, 0, 0.4), BlockShape::Text);
        assert_eq!(block_kind::shape(9.0, 1, 0.0), BlockShape::Image);
        assert_eq!(block_kind::shape(11.0, 1, 0.0), BlockShape::Text);
    }

    #[test]
    fn an_empty_page_has_no_body() {
        let page = extract_page(&PageUrl::parse("http://example.org/").unwrap(), Some("text/html"), b"");
        assert_eq!((page.text.as_str(), page.page_type), ("", PageType::Topic));
    }
}
