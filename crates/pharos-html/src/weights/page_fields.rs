//! Fields of the page object that derive from term weights.

use std::collections::HashSet;

use pharos_core::PageObject;

use super::keywords::{KeywordSelection, select_terms};
use super::summary;
use super::{BlockTree, TermWeighting, emphasis};
use crate::blocks::Blocks;
use crate::dom::Dom;
use crate::metadata::is_page_title;

/// Maximum number of terms kept with their weights.
const KEPT_TERMS: usize = 50;

/// Number of terms that replace a meaningless title (《搜索引擎——原理、技术与系统》§7.1).
const TITLE_WORDS: KeywordSelection = KeywordSelection::Absolute(3);

/// Terms that weight sentences: those well above the average.
const SENTENCE_WORDS: KeywordSelection = KeywordSelection::Relative(3.0);

/// Maximum number of such terms, since each is searched for in each sentence.
const MAX_SENTENCE_WORDS: KeywordSelection = KeywordSelection::Absolute(30);

/// Fills headings, emphasised texts and the terms with the highest weights. Also fills keywords, abstract and title
/// if the page declares none. Only lines for which `is_body` returns `true` count.
pub(crate) fn fill(
    page: &mut PageObject,
    dom: &Dom,
    blocks: &Blocks,
    term_weighting: TermWeighting,
    abstract_chars: usize,
    is_body: impl Fn(usize) -> bool + Copy,
) {
    let found = emphasis::emphasis(dom, blocks, is_body);
    (page.headings, page.emphasised) = (found.headings, found.emphasised);
    fill_from_tree(page, &found.tree, term_weighting, abstract_chars);
}

/// Fills the same fields for a document without markup: its lines are the blocks, and its headings are known.
pub(crate) fn fill_from_text(page: &mut PageObject, term_weighting: TermWeighting, abstract_chars: usize) {
    let text = std::mem::take(&mut page.text);
    let headings: HashSet<&str> = page.headings.iter().chain([&page.title]).map(String::as_str).collect();
    let mut tree = BlockTree::new();
    for line in text.lines().filter(|line| !line.is_empty()).take(emphasis::MAX_BLOCKS) {
        let factor = if headings.contains(line) { emphasis::HEADING_FACTOR } else { 1.0 };
        tree.add_leaf(0, factor, line);
    }
    fill_from_tree(page, &tree, term_weighting, abstract_chars);
    page.text = text;
}

fn fill_from_tree(
    page: &mut PageObject,
    tree: &BlockTree,
    term_weighting: TermWeighting,
    abstract_chars: usize,
) {
    let mut terms = tree.term_weights(term_weighting.propagation());
    let keywords = select_terms(&terms, KeywordSelection::Relative(term_weighting.keyword_factor as f32));
    let keywords = select_terms(keywords, KeywordSelection::Absolute(term_weighting.keywords));
    if page.keywords.is_empty() {
        page.keywords = keywords.iter().map(|t| t.term.clone()).collect();
    }
    if page.summary.is_empty() {
        let weighty = match select_terms(&terms, SENTENCE_WORDS) {
            // In a short text all terms have similar weights.
            [] => keywords,
            weighty => select_terms(weighty, MAX_SENTENCE_WORDS),
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
        let words: Vec<&str> = select_terms(&terms, TITLE_WORDS).iter().map(|t| t.term.as_str()).collect();
        page.title = words.join(" ");
    }
    terms.truncate(KEPT_TERMS);
    page.terms = terms;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cleaning::voting::word_finder::WordFinder;

    #[test]
    fn heaviest_words_replace_meaningless_titles() {
        for title in ["Untitled Document", "New page", "welcome", "欢迎访问"] {
            let html =
                format!("<title>{title}</title><p>lighthouse <b>lighthouse</b> harbour harbour wharf<p>x");
            let (dom, mut page) = (Dom::parse(&html), PageObject::default());
            crate::metadata::fill(&mut page, &dom, &url::Url::parse("http://example.org/").unwrap());
            fill(
                &mut page,
                &dom,
                &Blocks::build(&dom, &WordFinder::default()),
                TermWeighting::default(),
                200,
                |_| true,
            );
            assert_eq!(page.title, "lighthouse harbour wharf", "{title}");
            assert_eq!(page.keywords, ["lighthouse", "harbour", "wharf"]);
        }
    }
}
