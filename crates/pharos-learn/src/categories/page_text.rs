//! The text of a page that is classified.
//!
//! Zones count by repetition: a term of the title counts three times, one of a heading or keyword twice
//! (《搜索引擎——原理、技术与系统》§11.2 weights terms by their places).

use pharos_core::PageObject;

/// Maximum number of bytes of the main content. The beginning of a page decides its category.
const MAX_CONTENT: usize = 6_000;

/// Maximum number of bytes of titles, headings and keywords.
const MAX_ZONES: usize = 2_000;

/// Returns the text of a page for training and classification.
pub fn page_text(page: &PageObject) -> String {
    let mut zones = String::new();
    let headings = page.headings.iter().chain(&page.keywords);
    for zone in [&page.title, &page.title, &page.content_title].into_iter().chain(headings) {
        if zones.len() + zone.len() > MAX_ZONES {
            break;
        }
        zones.push_str(zone);
        zones.push('\n');
    }
    let content = if page.text.trim().is_empty() { &page.summary } else { &page.text };
    zones.push_str(&content[..content.floor_char_boundary(MAX_CONTENT)]);
    zones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_count_more_than_content_and_all_parts_are_bounded() {
        let mut page = PageObject {
            title: "Tower".into(),
            headings: vec!["The lamp".into()],
            text: "塔".repeat(10_000),
            ..PageObject::default()
        };
        let text = page_text(&page);
        assert!(text.starts_with("Tower\nTower\n\nThe lamp\n塔") && text.len() < MAX_CONTENT + MAX_ZONES);
        page.title = "x".repeat(100_000);
        assert!(page_text(&page).len() <= MAX_CONTENT + MAX_ZONES);
        page.text.clear();
        page.summary = "about".into();
        assert!(page_text(&page).ends_with("about"));
    }
}
