//! Emphasis in the markup of a body, and the block tree through which it propagates.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::BlockTree;
use crate::blocks::{Blocks, ElementKind};
use crate::dom::Dom;
use crate::dom::visible_text::text_inside;

/// Factor of a heading of unknown rank.
pub(super) const HEADING_FACTOR: f64 = 3.0;

/// Maximum factor of a leaf, regardless of the number of its tags.
const MAX_FACTOR: f64 = 10.0;

/// Maximum length of emphasised text in characters. Longer text is a paragraph in bold type, which is a style and
/// not an emphasis.
const MAX_EMPHASIS: usize = 60;

/// Maximum numbers of headings and of emphasised texts kept.
const MAX_KEPT: usize = 100;

/// Maximum number of important tags whose text is read, since nested tags have the same text.
const MAX_LOOKED_AT: usize = 5_000;

/// Maximum number of blocks; later blocks are not weighted.
pub(super) const MAX_BLOCKS: usize = 20_000;

/// Labels whose markup does not count as emphasis (《搜索引擎——原理、技术与系统》§7.1).
static NOISE: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let list = include_str!("../../data/noise-words.txt");
    list.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
});

/// Emphasis in the markup of a page.
#[derive(Debug)]
pub(crate) struct Emphasis<'a> {
    /// Blocks with their factors.
    pub(crate) tree: BlockTree<'a>,
    /// Texts of the headings.
    pub(crate) headings: Vec<String>,
    /// Other emphasised texts.
    pub(crate) emphasised: Vec<String>,
}

/// Reads the emphasis in the lines for which `is_body` returns `true`.
pub(crate) fn emphasis<'a>(dom: &Dom, blocks: &'a Blocks, is_body: impl Fn(usize) -> bool) -> Emphasis<'a> {
    let (mut headings, mut others) = (Vec::new(), Vec::new());
    let mut factors = vec![0.0_f64; blocks.lines.len()];
    let mut seen = HashSet::new();
    let emphasised = blocks.emphasised.iter().filter(|(line, ..)| is_body(*line as usize));
    for (line, id, factor) in emphasised.take(MAX_LOOKED_AT) {
        let content = text_inside(dom, *id, MAX_EMPHASIS + 1);
        if !is_emphasis(&content) {
            continue;
        }
        if let Some(sum) = factors.get_mut(*line as usize) {
            *sum += f64::from(*factor);
        }
        let is_heading =
            dom.element(*id).is_some_and(|element| ElementKind::from_element(element).is_heading());
        let kept = if is_heading { &mut headings } else { &mut others };
        if kept.len() < MAX_KEPT && seen.insert(content.clone()) {
            kept.push(content);
        }
    }
    Emphasis { tree: tree(dom, blocks, &factors, is_body), headings, emphasised: others }
}

/// Builds the tree of containers around body lines, with the lines as leaves. A container with one line is the leaf
/// itself.
fn tree<'a>(
    dom: &Dom,
    blocks: &'a Blocks,
    factors: &[f64],
    is_body: impl Fn(usize) -> bool,
) -> BlockTree<'a> {
    let mut tree = BlockTree::new();
    // Tree indexes of the containers; 0 means the page's body or a container not added yet.
    let mut numbers = vec![0; blocks.containers.len()];
    let mut missing = Vec::new();
    for (number, line) in blocks.lines.iter().enumerate().filter(|(number, _)| is_body(*number)) {
        if tree.nodes.len() >= MAX_BLOCKS {
            break;
        }
        let factor = factors[number].clamp(1.0, MAX_FACTOR);
        let mut around = line.container as usize;
        if blocks.containers[around].line_count() == 1 {
            around = blocks.containers[around].parent as usize;
        }
        missing.clear();
        let is_known = |container: usize, numbers: &[usize]| {
            let element = || dom.element(blocks.containers[container].element);
            container == 0 || numbers[container] > 0 || element().is_some_and(|e| e.tag() == "body")
        };
        while !is_known(around, &numbers) {
            missing.push(around);
            around = blocks.containers[around].parent as usize;
        }
        let mut parent = numbers[around];
        for container in missing.drain(..).rev() {
            parent = tree.add_container(parent);
            numbers[container] = parent;
        }
        tree.add_leaf(parent, factor, blocks.text_of(line));
    }
    tree
}

/// Returns `true` for words, and `false` for labels, numbers and whole paragraphs.
fn is_emphasis(content: &str) -> bool {
    let plain = content.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let label = plain.split([':', '：']).next().unwrap_or_default().trim_end();
    plain.chars().filter(|c| c.is_alphabetic()).count() >= 2
        && content.chars().count() <= MAX_EMPHASIS
        && !content.ends_with([':', '：'])
        && !NOISE.contains(plain.as_str())
        && !NOISE.contains(label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cleaning::voting::word_finder::WordFinder;
    use crate::weights::Propagation;

    fn with_emphasis<T>(html: &str, check: impl FnOnce(Emphasis) -> T) -> T {
        let dom = Dom::parse(html);
        let blocks = Blocks::build(&dom, &WordFinder::default());
        check(emphasis(&dom, &blocks, |line| !blocks.text_of(&blocks.lines[line]).contains("buy")))
    }

    #[test]
    fn emphasis_is_distinguished_from_labels_and_bold_paragraphs() {
        let long = "bold type all over the page ".repeat(5);
        let html = format!(
            "<h1>灯塔的历史</h1><h2>相关链接</h2><p>The <b>lamp</b> is <em>lit</em>. <b>Tel: 555</b> <b>42</b> <b>lamp</b>\
             <p><b>{long}</b><div><b>buy</b></div>"
        );
        with_emphasis(&html, |found| {
            assert_eq!(found.headings, ["灯塔的历史"]);
            assert_eq!(found.emphasised, ["lamp", "lit"]);
        });
    }

    #[test]
    fn emphasis_lifts_words_and_their_neighbours() {
        let html = "<div><h2>lighthouse</h2><p>harbour harbour</p></div><div><p>wharf wharf</p></div>";
        with_emphasis(html, |found| {
            let terms = found.tree.term_weights(Propagation::default());
            let order: Vec<&str> = terms.iter().map(|t| t.term.as_str()).collect();
            assert_eq!(order, ["harbour", "lighthouse", "wharf"]);
            assert_eq!(found.tree.paragraphs(), ["lighthouse\nharbour harbour", "wharf wharf"]);
        });
    }

    #[test]
    fn deep_and_wide_pages_end() {
        with_emphasis(&"<div><b>x y</b>".repeat(50_000), |_| ());
        with_emphasis(&"<p><b>lamp</b> text".repeat(50_000), |wide| {
            assert!(wide.tree.nodes.len() <= MAX_BLOCKS + 2);
            wide.tree.term_weights(Propagation::default());
        });
    }
}
