//! Fields of the page object that derive from term weights.

use std::collections::HashSet;

use pharos_core::PageObject;

use super::keywords::{Choice, choose};
use super::{BlockTree, Weighing, blocks};
use crate::blocks::Blocks;
use crate::dom::Dom;
use crate::metadata::is_page_title;
use crate::summary;

/// Maximum number of terms kept with their weights.
const KEPT_TERMS: usize = 50;

/// Number of terms that replace a meaningless title (《搜索引擎——原理、技术与系统》§7.1).
const TITLE_WORDS: Choice = Choice::Absolute(3);

/// Terms that weight sentences: those well above the average.
const SENTENCE_WORDS: Choice = Choice::Relative(3.0);

/// Maximum number of such terms, since each is searched for in each sentence.
const MOST_SENTENCE_WORDS: Choice = Choice::Absolute(30);

/// Fills headings, emphasised texts and the terms with the highest weights. Also fills keywords, abstract and title
/// if the page declares none. Only lines for which `is_body` returns `true` count.
pub(crate) fn fill(
    page: &mut PageObject,
    dom: &Dom,
    blocks: &Blocks,
    weighing: Weighing,
    abstract_chars: usize,
    is_body: impl Fn(usize) -> bool + Copy,
) {
    let found = blocks::emphasis(dom, blocks, is_body);
    (page.headings, page.emphasised) = (found.headings, found.emphasised);
    conclude(page, &found.tree, weighing, abstract_chars);
}

/// Fills the same fields for a document without markup: its lines are the blocks, and its headings are known.
pub(crate) fn fill_from_text(page: &mut PageObject, weighing: Weighing, abstract_chars: usize) {
    let text = std::mem::take(&mut page.text);
    let headings: HashSet<&str> = page.headings.iter().chain([&page.title]).map(String::as_str).collect();
    let mut tree = BlockTree::new();
    for line in text.lines().filter(|line| !line.is_empty()).take(blocks::MAX_BLOCKS) {
        let factor = if headings.contains(line) { blocks::HEADING_FACTOR } else { 1.0 };
        tree.leaf(0, factor, line);
    }
    conclude(page, &tree, weighing, abstract_chars);
    page.text = text;
}

fn conclude(page: &mut PageObject, tree: &BlockTree, weighing: Weighing, abstract_chars: usize) {
    let mut terms = tree.term_weights(weighing.propagation());
    let keywords = choose(&terms, Choice::Relative(weighing.keyword_factor as f32));
    let keywords = choose(keywords, Choice::Absolute(weighing.keywords));
    if page.keywords.is_empty() {
        page.keywords = keywords.iter().map(|t| t.term.clone()).collect();
    }
    if page.summary.is_empty() {
        let weighty = match choose(&terms, SENTENCE_WORDS) {
            // In a short text all terms have similar weights.
            [] => keywords,
            weighty => choose(weighty, MOST_SENTENCE_WORDS),
        };
        let mut paragraphs = match page.quotable() {
            Some(quotable) => quotable.lines().map(str::to_string).collect(),
            None => tree.paragraphs(),
        };
        // The title is displayed next to the abstract.
        paragraphs.retain(|paragraph| *paragraph != page.title && *paragraph != page.content_title);
        page.summary = summary::by_paragraphs(&paragraphs, weighty, abstract_chars);
    }
    if !is_page_title(&page.title) {
        let words: Vec<&str> = choose(&terms, TITLE_WORDS).iter().map(|t| t.term.as_str()).collect();
        page.title = words.join(" ");
    }
    terms.truncate(KEPT_TERMS);
    page.terms = terms;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::voting::words::Finder;

    #[test]
    fn the_heaviest_words_stand_in_for_a_title() {
        for title in ["Untitled Document", "New page", "welcome", "欢迎访问"] {
            let html =
                format!("<title>{title}</title><p>lighthouse <b>lighthouse</b> harbour harbour wharf<p>x");
            let (dom, mut page) = (Dom::parse(&html), PageObject::default());
            crate::metadata::fill(&mut page, &dom, &url::Url::parse("http://example.org/").unwrap());
            fill(&mut page, &dom, &Blocks::of(&dom, &Finder::default()), Weighing::default(), 200, |_| true);
            assert_eq!(page.title, "lighthouse harbour wharf", "{title}");
            assert_eq!(page.keywords, ["lighthouse", "harbour", "wharf"]);
        }
    }
}
