//! Fingerprint of a page's layout, independent of its content. Pages from one template have nearly equal
//! fingerprints.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::dom::{Dom, WalkStep};

/// Maximum number of elements examined; the frame of a page lies within them.
const MAX_ELEMENTS: usize = 20_000;

/// Elements that structure a page. Lists and paragraphs are left out because their number depends on the text.
const DIVIDING: &[&str] = &[
    "div", "table", "td", "th", "section", "article", "nav", "header", "footer", "aside", "main", "form",
    "frameset", "frame", "center",
];

/// Computes a 32-bit SimHash (Charikar 2002) of the paths from the root to the structuring elements, by tag and
/// class. Pages from one template differ in few bits. Returns 0 for a page without such elements.
pub(crate) fn fingerprint(dom: &Dom) -> u32 {
    let mut paths: HashSet<u64> = HashSet::new();
    let mut open: Vec<u64> = Vec::new();
    for step in dom.walk(dom.root()).take(2 * MAX_ELEMENTS) {
        let (WalkStep::Enter(id) | WalkStep::Leave(id)) = step;
        let Some(element) = dom.element(id).filter(|element| DIVIDING.contains(&element.tag())) else {
            continue;
        };
        if matches!(step, WalkStep::Leave(_)) {
            open.pop();
            continue;
        }
        let class = element.attribute("class").unwrap_or_default();
        let above = open.last().copied().unwrap_or(0);
        let path = xxh3_64_with_seed(class.as_bytes(), xxh3_64_with_seed(element.tag().as_bytes(), above));
        paths.insert(path);
        open.push(path);
    }
    if paths.is_empty() {
        return 0;
    }
    let mut votes = [0i32; 32];
    for path in paths {
        for (bit, vote) in votes.iter_mut().enumerate() {
            *vote += if path >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    let bits = votes.iter().enumerate().fold(0, |bits, (bit, vote)| bits | u32::from(*vote > 0) << bit);
    bits.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout_of(html: &str) -> u32 {
        fingerprint(&Dom::parse(html))
    }

    #[test]
    fn one_template_has_one_layout_whatever_it_says() {
        let news = |text: &str| {
            format!(
                "<div class=page><div class=top><nav class=menu></nav></div><div class=story>{text}</div><footer></footer></div>"
            )
        };
        let (one, other) =
            (layout_of(&news("<p>a</p>")), layout_of(&news("<p>b<p>c <b>d</b><ul><li>e</ul>")));
        assert_eq!(one, other);
        let tables =
            layout_of("<table><tr><td class=l><table><tr><td>a</table><td class=r><div>b</div></table>");
        assert!((one ^ tables).count_ones() > 5);
        assert_eq!(layout_of("<p>bare"), 0);
    }
}
