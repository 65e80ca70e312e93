//! Text shared by the pages of a site (网页模板): slogans, notices and lists in identical wording.
//!
//! A single page does not show that its first paragraph is repeated on every page of its site. Code that reads many
//! pages of a site keeps one [`SiteTemplate`] for it. The template learns from the first pages and then removes lines
//! of a cleaned text that other pages also have. Page objects never depend on it because they must be a function of
//! the page's own bytes; data built from many pages may.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

/// Number of pages to learn from.
const MAX_PAGES: usize = 32;

/// Minimum number of other pages needed to remove a line.
const MIN_OTHER_PAGES: usize = 3;

/// Maximum number of lines learnt from one page.
const MAX_LINES: usize = 1_000;

/// A page with a smaller share of unique text is a copy of other pages and is left unchanged.
const MIN_OWN_SHARE: f64 = 0.3;

/// Lines shared by the pages of one site.
#[derive(Debug, Default)]
pub struct SiteTemplate {
    /// Hashes of the pages learnt from; each page counts once.
    pages: HashSet<u64>,
    /// Number of pages that contain a line, by line hash.
    lines: HashMap<u64, u16, FixedState>,
}

impl SiteTemplate {
    /// Returns the text of a page without the lines that at least `share` of the other pages contain. A page with
    /// hardly any other lines is left unchanged.
    pub fn remove_shared_lines<'a>(&mut self, url: &str, text: &'a str, share: f64) -> Cow<'a, str> {
        self.remove_lines(url, text, share, MIN_OWN_SHARE)
    }

    /// Returns the text like [`remove_shared_lines`](Self::remove_shared_lines), even if no line is left.
    pub fn remove_all_shared_lines<'a>(&mut self, url: &str, text: &'a str, share: f64) -> Cow<'a, str> {
        self.remove_lines(url, text, share, 0.0)
    }

    fn remove_lines<'a>(&mut self, url: &str, text: &'a str, share: f64, min_own: f64) -> Cow<'a, str> {
        let hasher = FixedState::with_seed(0);
        let page = hasher.hash_one(url);
        let lines: Vec<(u64, &str)> = text.lines().map(|line| (hasher.hash_one(line), line)).collect();
        self.learn(page, &lines);
        let is_known = usize::from(self.pages.contains(&page));
        let others = self.pages.len() - is_known;
        if others < MIN_OTHER_PAGES {
            return text.into();
        }
        let is_own = |line: u64| {
            let containing = usize::from(self.lines.get(&line).copied().unwrap_or_default());
            (containing.saturating_sub(is_known) as f64) < share * others as f64
        };
        let own: Vec<&str> = lines.iter().filter(|(hash, _)| is_own(*hash)).map(|(_, line)| *line).collect();
        let size: usize = own.iter().map(|line| line.len()).sum();
        if own.len() == lines.len() || (size as f64) < min_own * text.len() as f64 {
            return text.into();
        }
        own.join("\n").into()
    }

    fn learn(&mut self, page: u64, lines: &[(u64, &str)]) {
        if self.pages.len() >= MAX_PAGES || !self.pages.insert(page) {
            return;
        }
        // A line repeated within a page counts once.
        let mut distinct: Vec<u64> = lines.iter().take(MAX_LINES).map(|(hash, _)| *hash).collect();
        distinct.sort_unstable();
        distinct.dedup();
        for line in distinct {
            *self.lines.entry(line).or_default() += 1;
        }
        if self.pages.len() == MAX_PAGES {
            self.lines.retain(|_, pages| *pages > 1);
            self.lines.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTICE: &str = "Ferries leave every hour, except on days of strong wind.";

    fn article(number: usize) -> String {
        format!(
            "Lighthouse number {number} was built of grey stone, and its lamp is lit at {number} past six."
        )
    }

    fn own_text(template: &mut SiteTemplate, page: usize, article: &str) -> String {
        template
            .remove_shared_lines(&format!("http://example.org/{page}"), &format!("{NOTICE}\n{article}"), 0.3)
            .into_owned()
    }

    #[test]
    fn lines_common_to_all_pages_are_removed() {
        let mut template = SiteTemplate::default();
        for page in 1..40 {
            let own = own_text(&mut template, page, &article(page));
            assert_eq!(own.contains("Ferries"), page < 4, "{page}");
            assert!(own.ends_with(&article(page)));
        }
    }

    #[test]
    fn a_menu_is_removed_whole_and_its_own_line_stays() {
        let mut template = SiteTemplate::default();
        for page in 1..10 {
            let (url, menu) = (format!("http://example.org/{page}"), "Home\nBoats\nCoast");
            let text = format!("{menu}\nPage {page}");
            let own = template.remove_all_shared_lines(&url, &text, 0.3);
            assert_eq!(own, if page < 4 { text.clone() } else { format!("Page {page}") });
            if page > 4 {
                assert_eq!(template.remove_all_shared_lines(&url, menu, 0.3), "");
            }
        }
    }

    #[test]
    fn repeated_pages_and_copies_are_not_learnt() {
        let mut template = SiteTemplate::default();
        for _ in 0..10 {
            assert!(own_text(&mut template, 1, &article(1)).contains("Ferries"), "one page is not enough");
        }
        for copy in 2..8 {
            assert!(own_text(&mut template, copy, &article(1)).contains("number 1"), "a copy keeps its text");
        }
    }
}
