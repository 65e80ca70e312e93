//! The content-block tree of a page (适合内容分析的标签树).
//!
//! Only container elements (`div`, `table`, `td`, `p` …) are nodes. The text between their borders is divided into
//! `BlockLine`s, the smallest units of text that are laid out separately. All lines are stored consecutively in one
//! string, so a container is a range of lines and each statistic of a container is a sum over that range. A single
//! walk over the DOM builds the whole structure (`build`).
//!
//! Source: the tag tree of HTML_DocView (《搜索引擎——原理、技术与系统》§7.1) and of the PageClean thesis, §2.2. Container tags
//! form the skeleton; links, pictures and emphasis are counted per block.

mod build;
mod element_kind;
mod measure;
pub(crate) mod split;
pub(crate) mod style;

use std::ops::{AddAssign, Range};

pub(crate) use element_kind::{ElementKind, emphasis};
pub(crate) use measure::{TextMeasure, is_ideograph, measure};

use crate::dom::NodeId;

/// A line: the smallest unit of text laid out separately, such as a paragraph, a heading, a table cell or a row
/// between two `br`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockLine {
    start: u32,
    end: u32,
    /// Index of the enclosing container.
    pub(crate) container: u32,
    /// `true` if only a space separates this line from the previous one, as between the cells of a row.
    pub(crate) joins: bool,
    pub(crate) counts: ContentCounts,
    pub(crate) measure: TextMeasure,
}

impl BlockLine {
    /// Returns the byte range of the line in [`Blocks::text`].
    pub(crate) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Content statistics of a line or a container.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContentCounts {
    /// Non-whitespace characters.
    pub(crate) chars: u32,
    /// Characters inside links.
    pub(crate) link_chars: u32,
    /// Bold or otherwise emphasised characters.
    pub(crate) strong_chars: u32,
    /// Characters on buttons and labels.
    pub(crate) control_chars: u32,
    pub(crate) links: u32,
    pub(crate) images: u32,
    /// Form fields.
    pub(crate) fields: u32,
    /// Paragraphs and line breaks: `p` and `br`.
    pub(crate) paragraphs: u32,
}

impl AddAssign for ContentCounts {
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

impl ContentCounts {
    /// Returns the share of the text that is inside links, from 0 to 1.
    pub(crate) fn link_share(&self) -> f32 {
        self.link_chars as f32 / self.chars.max(1) as f32
    }
}

/// A content block (内容块): a container element and the lines inside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Container {
    pub(crate) element: NodeId,
    pub(crate) tag: ElementKind,
    /// Index of the enclosing container; container 0 is its own parent.
    pub(crate) parent: u32,
    first_line: u32,
    end_line: u32,
    /// Statistics of the block including nested blocks.
    pub(crate) counts: ContentCounts,
    /// Terms in the block; see [`TextMeasure::terms`].
    pub(crate) terms: f32,
    /// Kinds of names found in the class and id, one bit for each kind.
    pub(crate) names: u32,
    /// Equal for elements that come from the same template.
    pub(crate) signature: u64,
}

impl Container {
    /// Returns the range of lines in this container.
    pub(crate) fn lines(&self) -> Range<usize> {
        self.first_line as usize..self.end_line as usize
    }

    /// Returns the number of lines in this container.
    pub(crate) fn line_count(&self) -> u32 {
        self.end_line - self.first_line
    }
}

/// A page divided into blocks.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// Concatenated text of all lines.
    pub(crate) text: String,
    /// Lines in reading order.
    pub(crate) lines: Vec<BlockLine>,
    /// Containers in reading order, so that a parent precedes its children. Container 0 is the page.
    pub(crate) containers: Vec<Container>,
    /// Links, each with the number of the line in which it begins.
    pub(crate) links: Vec<(u32, NodeId)>,
    /// Emphasised elements: the number of the line in which each begins, the element, and its emphasis factor.
    pub(crate) emphasised: Vec<(u32, NodeId, f32)>,
    /// Byte ranges of the text that must not be quoted, in order.
    pub(crate) unquotable: Vec<Range<usize>>,
    /// Text nodes of the document, each with its line number.
    pub(crate) texts: Vec<(u32, NodeId)>,
}

impl Blocks {
    /// Returns the text of a line.
    pub(crate) fn text_of(&self, line: &BlockLine) -> &str {
        &self.text[line.range()]
    }

    /// Returns the container of a line.
    pub(crate) fn container_of(&self, line: &BlockLine) -> &Container {
        &self.containers[line.container as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cleaning::voting::word_finder::WordFinder;
    use crate::dom::Dom;

    fn blocks(html: &str) -> Blocks {
        Blocks::build(&Dom::parse(html), &WordFinder::default())
    }

    fn lines(html: &str) -> Vec<String> {
        let blocks = blocks(html);
        blocks.lines.iter().map(|line| blocks.text_of(line).to_string()).collect()
    }

    #[test]
    fn containers_separate_lines_and_whitespace_collapses() {
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
    fn invisible_elements_are_skipped() {
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
    fn line_numbers_and_heading_marks_are_no_text() {
        assert_eq!(
            lines(
                "<h2>Paths<a class=headerlink href='#paths'>¶</a></h2><pre><span class=lineno>1</span>docker run\n                 <span class=linenos> 2</span>docker ps</pre><table><tr><td class=gutter><pre>1\n2</pre><td>cd</table>                 <a href='#n'>[1]</a><a href='#top'>#</a><p class=gutter>Gutter text"
            ),
            ["Paths", "docker run\ndocker ps", "cd", "[1]", "Gutter text"]
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
