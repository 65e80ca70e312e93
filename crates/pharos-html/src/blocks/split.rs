//! The nine rules that split a page into blocks (中文网页分块; PageClean thesis, §2.4).
//!
//! Splitting is top-down: the whole page is one block, and a block whose theme is not uniform is split into its
//! children. The thesis defines no precedence; the order used here is that of [`BlockSplitter::decide`]. In addition to
//! the nine rules, lists stay whole, paragraphs do not split, and a heading cell stays with its long cell. Tables
//! that alternate between short and long text are paired. Each frame is a block of its own, joined by the text that
//! links to it.

use super::element_kind::ElementKind;
use super::style::TextStyle;
use crate::dom::visible_text::{self, collapse_whitespace, text_inside};
use crate::dom::{Dom, Element, NodeData, NodeId, WalkStep};

/// Minimum number of characters of a block that is split (rule 5).
const MIN_CHARS: u32 = 40;

/// Minimum number of characters of a long cell or table.
const LONG_CHARS: u32 = 60;

/// A cell is the heading of another one if it has less than this share of its characters.
const HEADING_SHARE: f32 = 0.25;

/// Maximum number of characters kept of one block.
const MAX_CHARS: usize = 100_000;

/// Maximum number of blocks of one page.
const MAX_BLOCKS: usize = 10_000;

/// A text block by the rules of the PageClean thesis, §2.4.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextBlock {
    /// Text on one line.
    pub text: String,
    /// The `href` values of its links; for a frame, its source.
    pub links: Vec<String>,
}

/// Splits a page into blocks by the nine rules.
pub(crate) fn split(dom: &Dom) -> Vec<TextBlock> {
    let mut splitter = BlockSplitter { dom, facts: facts(dom), blocks: Vec::new() };
    splitter.run();
    splitter.blocks
}

/// Properties of a node and everything below it that the rules evaluate.
#[derive(Clone, Copy, Debug, Default)]
struct BlockFacts {
    chars: u32,
    /// Contains something a browser shows: text, a picture or a frame (有效节点).
    is_valid: bool,
    /// Consists of text, or of elements that contain only text (准文本块).
    is_quasi_text: bool,
    /// Contains a table other than itself.
    has_table: bool,
    has_frame: bool,
}

/// Computes the facts of all nodes in one pass.
fn facts(dom: &Dom) -> Vec<BlockFacts> {
    let mut facts = vec![BlockFacts::default(); dom.len()];
    let mut walk = dom.walk(dom.root());
    while let Some(step) = walk.next() {
        match step {
            WalkStep::Enter(id) => match dom.data(id) {
                NodeData::Element(element) if is_invisible(element) => walk.skip_contents(id),
                NodeData::Element(element) => {
                    let is_shown = matches!(element.tag(), "img" | "frame" | "iframe");
                    let own = &mut facts[id.index()];
                    own.is_valid = is_shown;
                    own.is_quasi_text = !is_structural(element);
                    own.has_frame = is_frame(element);
                }
                NodeData::Text(text) => {
                    let chars = text.chars().filter(|c| !c.is_whitespace()).count();
                    let chars = u32::try_from(chars).unwrap_or(u32::MAX);
                    let own = BlockFacts {
                        chars,
                        is_valid: chars > 0,
                        is_quasi_text: true,
                        ..BlockFacts::default()
                    };
                    facts[id.index()] = own;
                }
                NodeData::Other => facts[id.index()].is_quasi_text = true,
            },
            WalkStep::Leave(id) => {
                let Some(parent) = dom.parent(id) else { continue };
                let own = facts[id.index()];
                let is_table = dom.element(id).is_some_and(|e| e.tag() == "table");
                let is_list = dom.element(parent).is_some_and(is_list);
                let above = &mut facts[parent.index()];
                above.chars = above.chars.saturating_add(own.chars);
                above.is_valid |= own.is_valid;
                above.has_table |= own.has_table || is_table;
                above.has_frame |= own.has_frame;
                // A list is a simple table whose items belong together, regardless of their contents.
                above.is_quasi_text &= own.is_quasi_text || !own.is_valid || is_list;
            }
        }
    }
    facts
}

/// Decision on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitDecision {
    Delete,
    Whole,
    Split,
    SplitAtRules,
}

struct BlockSplitter<'a> {
    dom: &'a Dom,
    facts: Vec<BlockFacts>,
    blocks: Vec<TextBlock>,
}

impl BlockSplitter<'_> {
    fn run(&mut self) {
        // Groups of siblings still to be processed, the next one last.
        let mut waiting: Vec<Vec<NodeId>> = vec![vec![self.dom.root()]];
        while let Some(group) = waiting.pop() {
            if self.blocks.len() >= MAX_BLOCKS {
                return;
            }
            let [node] = group[..] else {
                self.keep(&group);
                continue;
            };
            if let Some(element) = self.dom.element(node)
                && is_frame(element)
            {
                self.keep_frame(element);
                continue;
            }
            match self.decide(node) {
                SplitDecision::Delete => {}
                SplitDecision::Whole => self.keep(&group),
                SplitDecision::SplitAtRules => waiting.extend(self.between_rules(node).into_iter().rev()),
                SplitDecision::Split => waiting.extend(self.children(node).into_iter().rev()),
            }
        }
    }

    /// Applies the nine rules in order of precedence.
    fn decide(&self, node: NodeId) -> SplitDecision {
        let facts = self.facts[node.index()];
        let is_table = self.dom.element(node).is_some_and(|e| e.tag() == "table");
        if !facts.is_valid {
            return SplitDecision::Delete; // 6: nothing visible
        }
        if facts.has_frame {
            return SplitDecision::Split; // 8: a frame is a separate page
        }
        if facts.chars < MIN_CHARS {
            return SplitDecision::Whole; // 5: too small
        }
        if facts.is_quasi_text {
            return SplitDecision::Whole; // 4: text only
        }
        if self.dom.children(node).any(|c| self.dom.element(c).is_some_and(|e| e.tag() == "hr")) {
            return SplitDecision::SplitAtRules; // 1: a horizontal rule
        }
        if is_table {
            if facts.has_table {
                return SplitDecision::Split; // 2: a table in a table
            }
            let cells = self.cells(node);
            if self.is_heading_with_text(&cells) {
                return SplitDecision::Whole; // exception: a short cell is the heading of a long one
            }
            // 9 and 3: cells with different styles. Rule 9 applies to cells that are all long; the outcome is the
            // same.
            return if self.have_different_styles(&cells) {
                SplitDecision::Split
            } else {
                SplitDecision::Whole
            };
        }
        SplitDecision::Split // 7: visible content that is not only text
    }

    /// Groups the children of a node. Inline content stays with its neighbours; tables that alternate between short
    /// and long text are paired.
    fn children(&self, node: NodeId) -> Vec<Vec<NodeId>> {
        let mut groups: Vec<Vec<NodeId>> = Vec::new();
        let mut text_run = false;
        for child in self.dom.children(node) {
            let facts = self.facts[child.index()];
            let is_text =
                facts.is_quasi_text && !facts.has_frame && !self.dom.element(child).is_some_and(is_list);
            if !facts.is_valid {
                continue;
            }
            match groups.last_mut() {
                Some(last) if is_text && text_run => last.push(child),
                _ => groups.push(vec![child]),
            }
            text_run = is_text;
        }
        self.pair_tables(groups)
    }

    fn pair_tables(&self, groups: Vec<Vec<NodeId>>) -> Vec<Vec<NodeId>> {
        let chars = |group: &Vec<NodeId>| self.facts[group[0].index()].chars;
        let is_table = |group: &Vec<NodeId>| self.dom.element(group[0]).is_some_and(|e| e.tag() == "table");
        let alternate = groups.len() >= 4
            && groups.len().is_multiple_of(2)
            && groups.iter().all(|g| g.len() == 1 && is_table(g))
            && groups.chunks(2).all(|pair| chars(&pair[0]) < LONG_CHARS && chars(&pair[1]) >= LONG_CHARS);
        if !alternate {
            return groups;
        }
        groups.chunks(2).map(|pair| pair.concat()).collect()
    }

    fn between_rules(&self, node: NodeId) -> Vec<Vec<NodeId>> {
        let mut groups = vec![Vec::new()];
        for child in self.dom.children(node) {
            if self.dom.element(child).is_some_and(|e| e.tag() == "hr") {
                groups.push(Vec::new());
            } else if let Some(group) = groups.last_mut()
                && self.facts[child.index()].is_valid
            {
                group.push(child);
            }
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Returns the cells of a table that contains no tables, with their styles.
    fn cells(&self, table: NodeId) -> Vec<(NodeId, TextStyle)> {
        let mut cells: Vec<(NodeId, TextStyle)> = Vec::new();
        for (id, element) in self.dom.elements(table) {
            match element.tag() {
                "td" | "th" => cells.push((id, TextStyle::default().with_element(element))),
                // The style of a cell's text is that of its first font.
                "font" | "span" | "p" | "div" => {
                    if let Some((_, style)) = cells.last_mut() {
                        *style = std::mem::take(style).with_element(element);
                    }
                }
                _ => {}
            }
        }
        cells.retain(|(id, _)| self.facts[id.index()].is_valid);
        cells
    }

    fn is_heading_with_text(&self, cells: &[(NodeId, TextStyle)]) -> bool {
        let [(first, _), (second, _)] = cells else { return false };
        let (a, b) = (self.facts[first.index()].chars as f32, self.facts[second.index()].chars as f32);
        a.min(b) < HEADING_SHARE * a.max(b) && a.max(b) >= LONG_CHARS as f32
    }

    fn have_different_styles(&self, cells: &[(NodeId, TextStyle)]) -> bool {
        cells.windows(2).any(|pair| pair[0].1 != pair[1].1)
    }

    fn keep(&mut self, group: &[NodeId]) {
        let mut block = TextBlock::default();
        for node in group {
            let text = match self.dom.data(*node) {
                NodeData::Text(text) => collapse_whitespace(text, MAX_CHARS),
                _ => text_inside(self.dom, *node, MAX_CHARS),
            };
            if !text.is_empty() && !block.text.is_empty() {
                block.text.push(' ');
            }
            block.text.push_str(&text);
            let hrefs = self.dom.elements(*node).filter(|(_, e)| matches!(e.tag(), "a" | "area"));
            block.links.extend(hrefs.filter_map(|(_, e)| e.attribute("href").map(str::to_string)));
        }
        if !block.text.is_empty() || !block.links.is_empty() {
            self.blocks.push(block);
        }
    }

    /// Adds the block of a frame. The text of a frame is on another page; the text of links to it is on this page.
    fn keep_frame(&mut self, frame: &Element) {
        let name = frame.attribute("name").unwrap_or_default();
        let leads_here =
            |e: &Element| e.tag() == "a" && !name.is_empty() && e.attribute("target") == Some(name);
        let mut text: Vec<String> = frame.attribute("title").map(str::to_string).into_iter().collect();
        let leading = self.dom.elements(self.dom.root()).filter(|(_, e)| leads_here(e));
        text.extend(leading.take(MAX_BLOCKS).map(|(id, _)| text_inside(self.dom, id, MAX_CHARS)));
        let links = frame.attribute("src").map(str::to_string).into_iter().collect();
        self.blocks.push(TextBlock { text: text.join(" "), links });
    }
}

fn is_frame(element: &Element) -> bool {
    matches!(element.tag(), "frame" | "iframe")
}

fn is_list(element: &Element) -> bool {
    matches!(element.tag(), "dl" | "ol" | "ul" | "menu" | "dir")
}

fn is_invisible(element: &Element) -> bool {
    !is_frame(element) && visible_text::is_invisible(element)
}

/// Returns `true` for elements that break the line or arrange content. Paragraphs and breaks do not count
/// (PageClean thesis, §2.4), and lists stay whole.
fn is_structural(element: &Element) -> bool {
    let tag = ElementKind::from_element(element);
    (tag.is_container() && tag != ElementKind::Paragraph && !is_list(element))
        || matches!(tag, ElementKind::Rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str =
        "Lighthouses stand where land and water meet and show ships their way through the night.";

    fn texts(html: &str) -> Vec<String> {
        split(&Dom::parse(html)).into_iter().map(|block| block.text).collect()
    }

    #[test]
    fn a_separator_splits() {
        assert_eq!(texts(&format!("<div>{LONG} one<hr>{LONG} two</div>")).len(), 2);
    }

    #[test]
    fn a_table_in_a_table_splits() {
        let page = format!("<table><tr><td>{LONG} one<td><table><tr><td>{LONG} two</table></table>");
        assert_eq!(texts(&page).len(), 2);
    }

    #[test]
    fn cells_that_look_different_are_split() {
        let cell = |colour: &str| format!("<tr><td bgcolor={colour}>{LONG} {colour}");
        assert_eq!(texts(&format!("<table>{}{}{}</table>", cell("red"), cell("red"), cell("blue"))).len(), 3);
        assert_eq!(texts(&format!("<table>{}{}{}</table>", cell("red"), cell("red"), cell("red"))).len(), 1);
    }

    /// All cells are long, so none is a heading, and their styles differ: rule 9.
    #[test]
    fn symmetric_cells_that_differ_are_split() {
        let page = format!(
            "<table><tr><td><font color=red>{LONG} one</font><td><font size=5>{LONG} two</font></table>"
        );
        assert_eq!(texts(&page).len(), 2);
    }

    #[test]
    fn text_and_paragraphs_stay_together() {
        assert_eq!(texts(&format!("<div>{LONG} <b>bold <i>too</i></b> and {LONG}</div>")).len(), 1);
        assert_eq!(texts(&format!("<div><p>{LONG} one<p>{LONG} two<p>{LONG} three</div>")).len(), 1);
    }

    #[test]
    fn small_blocks_are_not_split() {
        assert_eq!(texts("<div><div>one</div><div>two</div></div>"), ["one two"]);
    }

    #[test]
    fn invisible_nodes_form_no_block() {
        assert!(texts("<div><div></div><!-- comment --><span> </span><script>x</script></div>").is_empty());
    }

    #[test]
    fn mixed_children_are_split() {
        assert_eq!(texts(&format!("<div>{LONG} one<div>{LONG} two</div></div>")).len(), 2);
    }

    #[test]
    fn a_frame_is_a_block_and_the_text_leading_to_it_joins() {
        let page = format!(
            "<div>{LONG}</div><a href=n.html target=news>The news</a><iframe name=news src=n.html></iframe>"
        );
        let blocks = split(&Dom::parse(&page));
        let frame = blocks.iter().find(|b| b.text == "The news" && b.links == ["n.html"]);
        assert!(blocks.len() >= 2 && frame.is_some(), "{blocks:?}");
    }

    #[test]
    fn a_heading_cell_stays_with_its_text() {
        let page = format!("<table><tr><td bgcolor=red>Lights<tr><td bgcolor=white>{LONG} {LONG}</table>");
        assert_eq!(texts(&page).len(), 1);
    }

    #[test]
    fn tables_of_little_and_much_are_taken_in_pairs() {
        let table = |text: &str| format!("<table><tr><td>{text}</table>");
        let page = [table("One"), table(LONG), table("Two"), table(LONG)].concat();
        let found = texts(&page);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("One Light") && found[1].starts_with("Two Light"));
    }

    #[test]
    fn a_definition_list_is_one_block() {
        let cities = "<dl><dt>China<dd>Beijing, the capital<dd>Shanghai, by the sea<dt>United States\
                      <dd>Washington, the capital<dd>New York, by the sea</dl>";
        assert_eq!(texts(&format!("<div>{cities}<div>{LONG}</div></div>")).len(), 2);
        assert_eq!(texts(cities).len(), 1);
    }

    #[test]
    fn deep_pages_end() {
        texts(&"<div><table><td>x".repeat(20_000));
    }
}
