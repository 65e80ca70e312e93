//! What the pages of a site have in common (网页模板): slogans, notices, lists, in the very same words.
//!
//! One page alone does not show that its first paragraph stands on every other page of its site. Whoever reads many
//! pages of a site keeps a [`Template`] for it: it learns from the first pages it meets, and votes against lines of a
//! cleaned text that others have, too. A page object never depends on it, because it must follow from the page's own
//! bytes; what is built from many pages may.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

/// Pages that it learns from; what is common to them is common to the site.
const LEARNT_PAGES: usize = 32;

/// Fewer other pages tell nothing.
const LEAST_PAGES: usize = 3;

/// Lines that are learnt of one page.
const MAX_LINES: usize = 1_000;

/// A page that has less than this part of its text to itself is a copy of others and no page of their template.
const OWN_PART: f64 = 0.3;

/// The lines that pages of one site share.
#[derive(Debug, Default)]
pub struct Template {
    /// The pages it has learnt from: none counts twice, however often it is read.
    pages: HashSet<u64>,
    /// How many of them have a line.
    lines: HashMap<u64, u16, FixedState>,
}

impl Template {
    /// The text of a page without the lines that `share` of the other pages have, too.
    pub fn own_text<'a>(&mut self, url: &str, text: &'a str, share: f64) -> Cow<'a, str> {
        let hasher = FixedState::with_seed(0);
        let page = hasher.hash_one(url);
        let lines: Vec<(u64, &str)> = text.lines().map(|line| (hasher.hash_one(line), line)).collect();
        self.learn(page, &lines);
        let is_known = usize::from(self.pages.contains(&page));
        let others = self.pages.len() - is_known;
        if others < LEAST_PAGES {
            return text.into();
        }
        let is_own = |line: u64| {
            let having = usize::from(self.lines.get(&line).copied().unwrap_or_default());
            (having.saturating_sub(is_known) as f64) < share * others as f64
        };
        let own: Vec<&str> = lines.iter().filter(|(hash, _)| is_own(*hash)).map(|(_, line)| *line).collect();
        let size: usize = own.iter().map(|line| line.len()).sum();
        if own.len() == lines.len() || (size as f64) < OWN_PART * text.len() as f64 {
            return text.into();
        }
        own.join("\n").into()
    }

    fn learn(&mut self, page: u64, lines: &[(u64, &str)]) {
        if self.pages.len() >= LEARNT_PAGES || !self.pages.insert(page) {
            return;
        }
        // However often a page has a line, it is one page.
        let mut distinct: Vec<u64> = lines.iter().take(MAX_LINES).map(|(hash, _)| *hash).collect();
        distinct.sort_unstable();
        distinct.dedup();
        for line in distinct {
            *self.lines.entry(line).or_default() += 1;
        }
        if self.pages.len() == LEARNT_PAGES {
            self.lines.retain(|_, pages| *pages > 1);
            self.lines.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTICE: &str = "Ferries leave every hour, except on days of strong wind.";

    fn story(number: usize) -> String {
        format!(
            "Lighthouse number {number} was built of grey stone, and its lamp is lit at {number} past six."
        )
    }

    fn own_text(template: &mut Template, page: usize, story: &str) -> String {
        template
            .own_text(&format!("http://example.org/{page}"), &format!("{NOTICE}\n{story}"), 0.3)
            .into_owned()
    }

    #[test]
    fn what_all_pages_say_is_what_none_is_about() {
        let mut template = Template::default();
        for page in 1..40 {
            let own = own_text(&mut template, page, &story(page));
            assert_eq!(own.contains("Ferries"), page < 4, "{page}");
            assert!(own.ends_with(&story(page)));
        }
    }

    #[test]
    fn the_same_page_again_and_copies_of_it_teach_nothing() {
        let mut template = Template::default();
        for _ in 0..10 {
            assert!(own_text(&mut template, 1, &story(1)).contains("Ferries"), "one page is no site");
        }
        for copy in 2..8 {
            assert!(own_text(&mut template, copy, &story(1)).contains("number 1"), "a copy keeps its text");
        }
    }
}
