//! PageClean's table algorithm (thesis, chapter 4): which tables of a page hold its topic.
//!
//! Pages used to be laid out with tables: what matters lies in the middle and is wide and high, what does not lies at
//! the edges and is narrow and long. A table is kept by its size and by whether it has paragraphs. The thesis leaves
//! gaps; we read them so: a missing extent is all the room there is (100 %), so that a table which says nothing of its
//! size is judged by its paragraphs alone; "ratio very small" means nearly square; the last branch, which saves
//! directory and picture pages, is asked of every table without paragraphs. Of nested tables the topic lies in one
//! level only: the level whose kept tables have the most paragraphs, for noise has paragraphs too, but fewer.

use crate::blocks::look::Extent;
use crate::dom::{Dom, NodeId, Step};
use crate::text::text_inside;

/// The parameters of the algorithm. The thesis names them and gives no values; these are ours.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// δ1: width in pixels.
    pub width_pixels: f32,
    /// δ2: width in percent.
    pub width_percent: f32,
    /// δ3: height in percent.
    pub height_percent: f32,
    /// The longer side over the shorter one, at most.
    pub ratio: f32,
    /// Part of the page that a table without paragraphs has to cover.
    pub large_part: f32,
    /// The window that percentages are of, in pixels.
    pub page: (f32, f32),
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            width_pixels: 300.0,
            width_percent: 50.0,
            height_percent: 50.0,
            ratio: 2.0,
            large_part: 0.3,
            page: (1024.0, 768.0),
        }
    }
}

/// Text kept of a page.
const MAX_CHARS: usize = 1_000_000;

/// A table: how deep it is nested in others, what it says of its size, and what lies in it but not in tables in it.
struct Table {
    id: NodeId,
    level: usize,
    width: Extent,
    height: Extent,
    paragraphs: u32,
}

/// The topic of a page by its tables; of a page without tables, all of it if it has paragraphs.
pub(crate) fn topic(dom: &Dom, limits: &Limits) -> Vec<String> {
    let (tables, paragraphs) = tables(dom);
    if tables.is_empty() {
        return if paragraphs > 0 { vec![text_inside(dom, dom.root(), MAX_CHARS)] } else { Vec::new() };
    }
    let kept: Vec<&Table> = tables.iter().filter(|table| is_topic(table, limits)).collect();
    let of_level = |level: usize| kept.iter().filter(|t| t.level == level).map(|t| t.paragraphs).sum::<u32>();
    let levels = kept.iter().map(|t| t.level);
    // The outermost one of those with equally many.
    let Some(best) = levels.max_by_key(|level| (of_level(*level), std::cmp::Reverse(*level))) else {
        return Vec::new();
    };
    kept.iter().filter(|t| t.level == best).map(|t| text_inside(dom, t.id, MAX_CHARS)).collect()
}

/// Step 3 of the algorithm, branches a to e.
fn is_topic(table: &Table, limits: &Limits) -> bool {
    let (width, height) = (table.width.pixels(limits.page.0), table.height.pixels(limits.page.1));
    let is_squarish = width.max(height) <= limits.ratio * width.min(height);
    if table.paragraphs == 0 {
        let covered = width * height / (limits.page.0 * limits.page.1);
        return is_squarish && covered > limits.large_part; // e
    }
    match (table.width, table.height) {
        (Extent::Missing, Extent::Missing) => true,
        (Extent::Percent(percent), _) => percent > limits.width_percent, // b
        (_, Extent::Percent(percent)) => percent > limits.height_percent, // c
        (Extent::Pixels(_), Extent::Pixels(_)) => is_squarish,           // d
        _ => width > limits.width_pixels,                                // a
    }
}

/// All tables, and the paragraphs outside of them.
fn tables(dom: &Dom) -> (Vec<Table>, u32) {
    let (mut tables, mut open, mut outside): (Vec<Table>, Vec<usize>, u32) = (Vec::new(), Vec::new(), 0);
    for step in dom.walk(dom.root()) {
        match step {
            Step::Enter(id) => {
                let Some(element) = dom.element(id) else { continue };
                match element.tag() {
                    "table" => {
                        tables.push(Table {
                            id,
                            level: open.len(),
                            width: Extent::of(element, "width"),
                            height: Extent::of(element, "height"),
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
            Step::Leave(id) => {
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
        topic(&Dom::parse(html), &Limits::default()).concat().contains("topic")
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
        let found = topic(&Dom::parse(page), &Limits::default()).concat();
        assert!(found.contains("the topic") && !found.contains("navigation"), "{found}");
    }
}
