//! The table algorithm of PageClean (PageClean thesis, §4.4): selects the tables of a page that contain its topic.
//!
//! It applies to pages laid out with tables. Important content is in the middle, wide and high; noise is at the
//! edges, narrow and long. A table is kept by its size and by whether it has paragraphs.
//!
//! The thesis leaves gaps, which are filled as follows. A missing size means the full available space (100 %), so a
//! table without declared sizes is judged by its paragraphs alone. "Ratio very small" means nearly square. The last
//! branch, which saves directory and picture pages, applies to every table without paragraphs. Of nested tables,
//! the topic is on one level only: the level whose kept tables have the most paragraphs, because noise has fewer
//! paragraphs.

use crate::blocks::style::DeclaredSize;
use crate::dom::visible_text::text_inside;
use crate::dom::{Dom, NodeId, WalkStep};

/// Parameters of the algorithm. The thesis names them without values; the defaults are those of this implementation.
#[derive(Clone, Copy, Debug)]
pub struct TableLimits {
    /// δ1: minimum width in pixels.
    pub width_pixels: f32,
    /// δ2: minimum width in percent.
    pub width_percent: f32,
    /// δ3: minimum height in percent.
    pub height_percent: f32,
    /// Maximum ratio of the longer side to the shorter one.
    pub ratio: f32,
    /// Minimum share of the page that a table without paragraphs covers.
    pub large_part: f32,
    /// Window size in pixels to which percentages refer.
    pub page: (f32, f32),
}

impl Default for TableLimits {
    fn default() -> Self {
        TableLimits {
            width_pixels: 300.0,
            width_percent: 50.0,
            height_percent: 50.0,
            ratio: 2.0,
            large_part: 0.3,
            page: (1024.0, 768.0),
        }
    }
}

/// Maximum number of characters kept of a page.
const MAX_CHARS: usize = 1_000_000;

/// A table with its nesting level, declared size, and the paragraphs in it but not in nested tables.
struct LayoutTable {
    id: NodeId,
    level: usize,
    width: DeclaredSize,
    height: DeclaredSize,
    paragraphs: u32,
}

/// Returns the topic of a page by its tables. For a page without tables, returns the whole text if it has
/// paragraphs.
pub(crate) fn topic(dom: &Dom, limits: &TableLimits) -> Vec<String> {
    let (tables, paragraphs) = tables(dom);
    if tables.is_empty() {
        return if paragraphs > 0 { vec![text_inside(dom, dom.root(), MAX_CHARS)] } else { Vec::new() };
    }
    let kept: Vec<&LayoutTable> = tables.iter().filter(|table| is_topic(table, limits)).collect();
    let of_level = |level: usize| kept.iter().filter(|t| t.level == level).map(|t| t.paragraphs).sum::<u32>();
    let levels = kept.iter().map(|t| t.level);
    // The outermost level wins a tie.
    let Some(best) = levels.max_by_key(|level| (of_level(*level), std::cmp::Reverse(*level))) else {
        return Vec::new();
    };
    kept.iter().filter(|t| t.level == best).map(|t| text_inside(dom, t.id, MAX_CHARS)).collect()
}

/// Step 3 of the algorithm, branches a to e.
fn is_topic(table: &LayoutTable, limits: &TableLimits) -> bool {
    let (width, height) = (table.width.pixels(limits.page.0), table.height.pixels(limits.page.1));
    let is_squarish = width.max(height) <= limits.ratio * width.min(height);
    if table.paragraphs == 0 {
        let covered = width * height / (limits.page.0 * limits.page.1);
        return is_squarish && covered > limits.large_part; // e
    }
    match (table.width, table.height) {
        (DeclaredSize::Missing, DeclaredSize::Missing) => true,
        (DeclaredSize::Percent(percent), _) => percent > limits.width_percent, // b
        (_, DeclaredSize::Percent(percent)) => percent > limits.height_percent, // c
        (DeclaredSize::Pixels(_), DeclaredSize::Pixels(_)) => is_squarish,     // d
        _ => width > limits.width_pixels,                                      // a
    }
}

/// Returns all tables, and the number of paragraphs outside of them.
fn tables(dom: &Dom) -> (Vec<LayoutTable>, u32) {
    let (mut tables, mut open, mut outside): (Vec<LayoutTable>, Vec<usize>, u32) =
        (Vec::new(), Vec::new(), 0);
    for step in dom.walk(dom.root()) {
        match step {
            WalkStep::Enter(id) => {
                let Some(element) = dom.element(id) else { continue };
                match element.tag() {
                    "table" => {
                        tables.push(LayoutTable {
                            id,
                            level: open.len(),
                            width: DeclaredSize::from_element(element, "width"),
                            height: DeclaredSize::from_element(element, "height"),
                            paragraphs: 0,
                        });
                        open.push(tables.len() - 1);
                    }
                    "p" | "br" => match open.last() {
                        Some(innermost) => tables[*innermost].paragraphs += 1,
                        None => outside += 1,
                    },
                    _ => {}
                }
            }
            WalkStep::Leave(id) => {
                if open.last().is_some_and(|innermost| tables[*innermost].id == id) {
                    open.pop();
                }
            }
        }
    }
    (tables, outside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_kept(html: &str) -> bool {
        topic(&Dom::parse(html), &TableLimits::default()).concat().contains("topic")
    }

    #[test]
    fn without_tables_paragraphs_are_the_topic() {
        assert!(is_kept("<p>the topic<p>more"));
        assert!(!is_kept("<div>the topic</div>"));
    }

    #[test]
    fn a_width_in_pixels() {
        assert!(is_kept("<table width=500><td>the topic<p>more</table>"));
        assert!(!is_kept("<table width=120><td>the topic<p>more</table>"));
    }

    #[test]
    fn a_width_in_percent() {
        assert!(is_kept("<table width=80% height=600><td>the topic<p>more</table>"));
        assert!(!is_kept("<table width=20% height=600><td>the topic<p>more</table>"));
    }

    #[test]
    fn a_height_in_percent() {
        assert!(is_kept("<table width=200 height=80%><td>the topic<p>more</table>"));
        assert!(!is_kept("<table width=200 height=10%><td>the topic<p>more</table>"));
    }

    #[test]
    fn nearly_square() {
        assert!(is_kept("<table width=400 height=500><td>the topic<p>more</table>"));
        assert!(!is_kept("<table width=100 height=600><td>the topic<p>more</table>"));
    }

    #[test]
    fn directory_pages_have_no_paragraphs() {
        assert!(is_kept("<table width=800 height=600><td><a href=x>the topic</a></table>"));
        assert!(!is_kept("<table width=800 height=60><td><a href=x>the topic</a></table>"));
    }

    #[test]
    fn of_nested_tables_one_level_is_the_topic() {
        let page = "<table width=100%><td>navigation<br><td><table width=90%><td>the topic<p>a<p>b<p>c</table></table>";
        let found = topic(&Dom::parse(page), &TableLimits::default()).concat();
        assert!(found.contains("the topic") && !found.contains("navigation"), "{found}");
    }
}
