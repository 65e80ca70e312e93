//! The tree of blocks of a page, and what is emphasised in it.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::BlockTree;
use crate::dom::{Dom, Element, NodeData, NodeId, Step};
use crate::text::{collapse, text_inside};

/// Influence factors of important tags (重要信息标签, B73, B80). The book names the tags and not the factors; ours fall
/// with the size that browsers give a heading.
const FACTORS: [(&str, f64); 17] = [
    ("h1", 5.0),
    ("h2", 4.0),
    ("h3", 3.0),
    ("h4", 2.5),
    ("h5", 2.0),
    ("h6", 2.0),
    ("strong", 2.0),
    ("b", 2.0),
    ("big", 2.0),
    ("mark", 2.0),
    ("em", 1.5),
    ("i", 1.5),
    ("u", 1.5),
    ("caption", 2.0),
    ("th", 1.5),
    ("dt", 1.5),
    ("legend", 1.5),
];

/// That of a heading whose rank is not known.
pub(super) const HEADING_FACTOR: f64 = 3.0;

/// No factor of a leaf is higher, however many tags it has.
const MAX_FACTOR: f64 = 10.0;

/// Text in important tags that is longer than this, in characters, is a whole paragraph in bold type: a look, not
/// an emphasis.
const MAX_EMPHASIS: usize = 60;

/// Headings and emphasised texts that are kept of a page.
const MAX_KEPT: usize = 100;

/// Important tags of a page whose text is read: in a thousand tags around each other it is the same one.
const MAX_LOOKED_AT: usize = 5_000;

/// Blocks of a page; what comes behind is not weighed.
pub(super) const MAX_BLOCKS: usize = 20_000;

/// Emphasised text that is no emphasis (B79).
static NOISE: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let list = include_str!("../../data/noise-words.txt");
    list.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
});

/// What the markup of a page stresses.
#[derive(Debug)]
pub(crate) struct Emphasis {
    /// Its blocks, with their factors.
    pub(crate) tree: BlockTree,
    /// The texts of its headings.
    pub(crate) headings: Vec<String>,
    /// What else is emphasised.
    pub(crate) emphasised: Vec<String>,
}

/// Reads the page below `root`; what `is_kept` denies is passed over with everything in it.
pub(crate) fn emphasis(dom: &Dom, root: NodeId, is_kept: impl Fn(NodeId, &Element) -> bool) -> Emphasis {
    let mut reader = Reader {
        found: Emphasis { tree: BlockTree::new(), headings: Vec::new(), emphasised: Vec::new() },
        seen: HashSet::new(),
        open: vec![0],
        looked_at: 0,
        text: String::new(),
        factor: 0.0,
    };
    let mut walk = dom.walk(root);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) => match dom.data(id) {
                NodeData::Text(text) => reader.text.push_str(text),
                NodeData::Element(element) if is_passed_over(element) || !is_kept(id, element) => {
                    reader.text.push(' ');
                    walk.skip_contents(id);
                    // It is left next, without having been entered.
                    walk.next();
                }
                NodeData::Element(element) => reader.enter(dom, id, element),
                NodeData::Other => {}
            },
            Step::Leave(id) => {
                if let Some(element) = dom.element(id) {
                    reader.leave(element);
                }
            }
        }
        if reader.found.tree.nodes.len() >= MAX_BLOCKS {
            break;
        }
    }
    reader.end_leaf();
    reader.found
}

struct Reader {
    found: Emphasis,
    seen: HashSet<String>,
    /// The containers that are open, as numbers in the tree.
    open: Vec<usize>,
    /// Important tags met so far.
    looked_at: usize,
    /// The text of the leaf that is being read, and the sum of its factors.
    text: String,
    factor: f64,
}

impl Reader {
    fn enter(&mut self, dom: &Dom, id: NodeId, element: &Element) {
        if is_container(element.tag()) {
            self.end_leaf();
            let parent = self.open.last().copied().unwrap_or(0);
            self.open.push(self.found.tree.container(parent));
        } else if element.tag() == "br" {
            self.text.push('\n');
        }
        let Some(factor) = factor(element.tag()) else { return };
        self.looked_at += 1;
        if self.looked_at > MAX_LOOKED_AT {
            return;
        }
        let content = text_inside(dom, id, MAX_EMPHASIS + 1);
        if !is_truly_important(&content) {
            return;
        }
        self.factor += factor;
        let kept = match element.tag() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => &mut self.found.headings,
            _ => &mut self.found.emphasised,
        };
        if kept.len() < MAX_KEPT && self.seen.insert(content.clone()) {
            kept.push(content);
        }
    }

    fn leave(&mut self, element: &Element) {
        if is_container(element.tag()) {
            self.end_leaf();
            self.open.pop();
        }
    }

    /// A container that holds nothing but text is the leaf itself; text between containers becomes one of its own.
    fn end_leaf(&mut self) {
        let text = collapse(&std::mem::take(&mut self.text), usize::MAX);
        let factor = std::mem::take(&mut self.factor).clamp(1.0, MAX_FACTOR);
        if text.is_empty() {
            return;
        }
        let container = self.open.last().copied().unwrap_or(0);
        if !self.found.tree.fill_last(container, factor, &text) {
            self.found.tree.leaf(container, factor, text);
        }
    }
}

fn factor(tag: &str) -> Option<f64> {
    FACTORS.iter().find(|(name, _)| *name == tag).map(|(_, factor)| *factor)
}

/// Words, not labels, not numbers, and not a whole paragraph.
fn is_truly_important(content: &str) -> bool {
    let plain = content.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let label = plain.split([':', '：']).next().unwrap_or_default().trim_end();
    plain.chars().filter(|c| c.is_alphabetic()).count() >= 2
        && content.chars().count() <= MAX_EMPHASIS
        && !content.ends_with([':', '：'])
        && !NOISE.contains(plain.as_str())
        && !NOISE.contains(label)
}

/// Containers (容器标签): elements that cut a page into blocks.
fn is_container(tag: &str) -> bool {
    matches!(
        tag,
        "address"
            | "article"
            | "blockquote"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "li"
            | "main"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

/// What a reader does not see as text, and what says by its name that it is not the page's own.
fn is_passed_over(element: &Element) -> bool {
    matches!(
        element.tag(),
        "head"
            | "title"
            | "script"
            | "style"
            | "noscript"
            | "template"
            | "textarea"
            | "select"
            | "option"
            | "iframe"
            | "object"
            | "audio"
            | "video"
            | "canvas"
            | "button"
            | "nav"
            | "footer"
            | "aside"
    ) || element.tag().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weights::Propagation;

    fn read(html: &str) -> Emphasis {
        let dom = Dom::parse(html);
        emphasis(&dom, dom.root(), |_, element| element.attribute("id") != Some("ad"))
    }

    #[test]
    fn what_is_stressed_and_what_only_looks_so() {
        let long = "bold type all over the page ".repeat(5);
        let found = read(&format!(
            "<h1>灯塔的历史</h1><h2>相关链接</h2><p>The <b>lamp</b> is <em>lit</em>. <b>Tel: 555</b> <b>42</b> <b>lamp</b>\
             <p><b>{long}</b><nav><b>menu</b></nav><div id=ad><b>buy</b></div>"
        ));
        assert_eq!(found.headings, ["灯塔的历史"]);
        assert_eq!(found.emphasised, ["lamp", "lit"]);
    }

    #[test]
    fn emphasis_lifts_words_and_their_neighbours() {
        let plain = "<p>wharf wharf</p>";
        let found = read(&format!("<div><h2>lighthouse</h2><p>harbour harbour</p></div><div>{plain}</div>"));
        let terms = found.tree.term_weights(Propagation::default());
        let order: Vec<&str> = terms.iter().map(|t| t.term.as_str()).collect();
        assert_eq!(order, ["harbour", "lighthouse", "wharf"]);
        assert_eq!(found.tree.paragraphs(), ["lighthouse\nharbour harbour", "wharf wharf"]);
    }

    #[test]
    fn deep_and_wide_pages_end() {
        read(&"<div><b>x y</b>".repeat(50_000));
        let wide = read(&"<p><b>lamp</b> text".repeat(50_000));
        assert!(wide.tree.nodes.len() <= MAX_BLOCKS + 2);
        wide.tree.term_weights(Propagation::default());
    }
}
