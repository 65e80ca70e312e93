//! The tag tree of content blocks (适合内容分析的标签树).
//!
//! Not every tag is a node: containers (`div`, `table`, `td`, `p` …) are, and what stands between their borders is
//! cut into [`Line`]s, the smallest pieces of text that a reader sees apart. All lines lie one behind the other in
//! one text, so that a container is a range of lines and whatever is asked of it is a sum over that range. One walk
//! through the document makes all of it ([`build`]).
//!
//! Source: the tag tree of HTML_DocView (《搜索引擎—原理、技术与系统》, chapter 7) and of the PageClean thesis
//! (chapter 2): container tags make the skeleton, links, pictures and emphasis are counted at the blocks.

mod build;
pub(crate) mod look;
mod measure;
pub(crate) mod split;
mod tag;

use std::ops::{AddAssign, Range};

pub(crate) use measure::{Measure, is_ideograph, measure};
pub(crate) use tag::{Tag, emphasis};

use crate::dom::NodeId;

/// The smallest piece of text that stands apart: a paragraph, a heading, a cell, a row between two `br`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    start: u32,
    end: u32,
    /// The container around it.
    pub(crate) container: u32,
    /// Is it separated from the line before by a space only, as cells of one row are?
    pub(crate) joins: bool,
    /// What it is made of.
    pub(crate) counts: Counts,
    /// What the text looks like.
    pub(crate) measure: Measure,
}

impl Line {
    /// Where it lies in [`Blocks::text`].
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// What a line or a container holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Characters that are not white space.
    pub(crate) chars: u32,
    /// Those of them that are part of a link.
    pub(crate) link_chars: u32,
    /// Those that are bold or otherwise emphasised.
    pub(crate) strong_chars: u32,
    /// Those on a button or a label.
    pub(crate) control_chars: u32,
    /// Links.
    pub(crate) links: u32,
    /// Pictures.
    pub(crate) images: u32,
    /// Fields to fill in.
    pub(crate) fields: u32,
    /// Paragraphs and line breaks: `p` and `br`.
    pub(crate) paragraphs: u32,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.chars += other.chars;
        self.link_chars += other.link_chars;
        self.strong_chars += other.strong_chars;
        self.control_chars += other.control_chars;
        self.links += other.links;
        self.images += other.images;
        self.fields += other.fields;
        self.paragraphs += other.paragraphs;
    }
}

impl Counts {
    /// Which part of the text is links, 0 to 1.
    pub(crate) fn link_share(&self) -> f32 {
        self.link_chars as f32 / self.chars.max(1) as f32
    }
}

/// A content block (内容块): an element that stands for a part of the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Container {
    /// The element.
    pub(crate) element: NodeId,
    /// What kind of element.
    pub(crate) tag: Tag,
    /// The container around it; the first one is its own parent.
    pub(crate) parent: u32,
    /// Its lines.
    first_line: u32,
    end_line: u32,
    /// What it holds, with everything inside.
    pub(crate) counts: Counts,
    /// Terms inside: see [`Measure::terms`].
    pub(crate) terms: f32,
    /// What its class and id call it: one bit for each kind of name.
    pub(crate) names: u32,
    /// The same for elements that were made by the same template.
    pub(crate) signature: u64,
}

impl Container {
    /// Its lines.
    pub(crate) fn lines(&self) -> Range<usize> {
        self.first_line as usize..self.end_line as usize
    }

    /// How many lines.
    pub(crate) fn line_count(&self) -> u32 {
        self.end_line - self.first_line
    }
}

/// A page as blocks.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// The text of all lines.
    pub(crate) text: String,
    /// In reading order.
    pub(crate) lines: Vec<Line>,
    /// In reading order, so that a parent comes before its children. The first one is the page.
    pub(crate) containers: Vec<Container>,
    /// The links, each with the number of the line that it begins in.
    pub(crate) links: Vec<(u32, NodeId)>,
    /// What is emphasised: the number of the line it begins in, the element, its factor.
    pub(crate) emphasised: Vec<(u32, NodeId, f32)>,
    /// The parts of the text that must not be quoted, in their order.
    pub(crate) unquotable: Vec<Range<usize>>,
    /// The pieces of text as the document has them, each with the number of its line.
    pub(crate) texts: Vec<(u32, NodeId)>,
}

impl Blocks {
    /// The text of a line.
    pub(crate) fn text_of(&self, line: &Line) -> &str {
        &self.text[line.range()]
    }

    /// The container of a line.
    pub(crate) fn container_of(&self, line: &Line) -> &Container {
        &self.containers[line.container as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Dom;
    use crate::voting::words::Finder;

    fn blocks(html: &str) -> Blocks {
        Blocks::of(&Dom::parse(html), &Finder::default())
    }

    fn lines(html: &str) -> Vec<String> {
        let blocks = blocks(html);
        blocks.lines.iter().map(|line| blocks.text_of(line).to_string()).collect()
    }

    #[test]
    fn containers_cut_lines_and_white_space_collapses() {
        let text = |html: &str| blocks(html).text;
        assert_eq!(
            text("<title>t</title><h1> A  heading </h1><p>one\n two<b>bold</b>&nbsp;x<br>y</p>z"),
            "A heading\none twobold x\ny\nz"
        );
        assert_eq!(text("<table><tr><td>a<td>b<tr><td>c</table>"), "a b\nc");
        assert_eq!(text("<pre>\n  fn  main()\n\n {}</pre>done"), "fn main()\n{}\ndone");
        assert_eq!(text("a\u{1}b \u{7f} c"), "ab c");
    }

    #[test]
    fn what_nobody_sees_is_left_out() {
        assert_eq!(
            lines(
                "a<script>s</script><style>s</style><noscript>n</noscript><template>t</template><textarea>t</textarea>\
                  <select><option>o</select><p hidden>h<p style='color:red; DISPLAY : none !important'>d<p>b\
                  <svg><text>v</text></svg><img alt=alt><dialog>x</dialog><title>t</title>"
            ),
            ["a", "b"]
        );
    }

    #[test]
    fn nested_tables_are_read_in_depth() {
        let page = "<table><tr><td>走进搜索引擎<tr><td><table><tr><td>第1章<tr><td><table>\
                    <tr><td>第2.1节：爬虫发展史<tr><td>第2.2节：万维网分析</table></table></table>";
        assert_eq!(lines(page).concat(), "走进搜索引擎第1章第2.1节：爬虫发展史第2.2节：万维网分析");
        assert_eq!(lines(page).len(), 4);
    }

    #[test]
    fn containers_are_ranges_of_lines_and_sums_over_them() {
        let blocks = blocks("<div><p>one <a href=x>two</a><p>three<br>four <img></div><p hidden>no</p>five");
        assert_eq!(blocks.lines.len(), 4);
        let page = blocks.containers[0];
        assert_eq!((page.lines(), page.counts.chars, page.counts.link_chars), (0..4, 19, 3));
        assert_eq!((page.counts.links, page.counts.images, page.counts.paragraphs), (1, 1, 3));
        let outer = blocks.containers.iter().find(|c| c.line_count() == 3).unwrap();
        assert_eq!((outer.lines(), outer.counts.chars), (0..3, 15));
        assert!(blocks.containers.iter().skip(1).all(|c| (c.parent as usize) < blocks.containers.len()));
    }

    #[test]
    fn cells_of_a_row_join_and_paragraphs_do_not() {
        let blocks = blocks("<table><tr><td>a<td>b<tr><td>c</table><p>d");
        let joins: Vec<bool> = blocks.lines.iter().map(|line| line.joins).collect();
        assert_eq!(joins, [false, true, false, false]);
    }
}
