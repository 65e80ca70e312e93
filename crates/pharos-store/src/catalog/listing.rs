//! What an operator's desk shows: tables of sites and of pages in trouble, a part at a time.

use pharos_core::{PageId, PageUrl, SiteId, SiteName, Timestamp};
use serde::Serialize;

use super::PageState;

/// Which sites an operator's table shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteQuery {
    /// A part of the name, in any case; empty: all. A name in other letters than English ones is compared part by
    /// part between its dots.
    pub contains: String,
    /// Only sites of which this is true; without it all, also those that were removed.
    pub state: Option<SiteState>,
    /// In which order.
    pub order: SiteOrder,
    /// So many of the sites that match are passed over.
    pub offset: usize,
    /// And at most so many given. None is given unless this is set.
    pub limit: usize,
}

/// What is true of a site. More than one may be, but nothing else of one that was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SiteState {
    /// An operator named a page of it.
    Seed,
    /// Nobody named it: a link led there.
    Found,
    /// It has pages that were not yet asked for.
    Waiting,
    /// It has pages that failed.
    Failing,
    /// Rules refused pages of it, and nothing is stored.
    Refused,
    /// Its server asked for patience, which may be over by now.
    Patient,
    /// Its pages are the same on another site.
    Copy,
    /// An operator took it out for good.
    Removed,
}

/// In which order sites are shown. Those that are equal stand by their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SiteOrder {
    /// Most pages first.
    #[default]
    Pages,
    /// Most stored pages first.
    Stored,
    /// Most failed pages first.
    Failed,
    /// Most waiting pages first.
    Waiting,
    /// The one visited last first, those never visited at the end.
    Visited,
    /// By name.
    Name,
}

/// A site in an operator's table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteRow {
    /// The site.
    pub site: SiteName,
    /// Whether an operator named a page of it.
    pub seed: bool,
    /// Whether an operator took it out for good.
    pub removed: bool,
    /// Whether its pages are the same on another site.
    pub copy: bool,
    /// Pages known.
    pub pages: u64,
    /// Pages not yet asked for.
    pub waiting: u64,
    /// Pages answered.
    pub stored: u64,
    /// Of those, pages to be found by searching.
    pub indexable: u64,
    /// Pages without an answer.
    pub failed: u64,
    /// Pages refused by a rule.
    pub refused: u64,
    /// Pages that are gone.
    pub deleted: u64,
    /// When a page of it was last asked for.
    pub visited_at: Option<Timestamp>,
    /// Nothing of it is due before then: its server asked for patience.
    pub not_before: Option<Timestamp>,
}

/// A part of the sites that match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteList {
    /// The part that was asked for.
    pub rows: Vec<SiteRow>,
    /// How many match.
    pub total: u64,
}

/// Which pages in trouble: failed or refused, the newest trouble first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TroubleQuery {
    /// Of this site only.
    pub site: Option<SiteId>,
    /// [`PageState::Failed`] or [`PageState::Refused`] only; without it both. No page in any other state is in trouble.
    pub state: Option<PageState>,
    /// A part of the reason, in any case.
    pub contains: String,
    /// Go on behind this one: `(trouble.at, trouble.url.id())` of the last that was given.
    pub before: Option<(Timestamp, PageId)>,
    /// At most so many. None is given unless this is set.
    pub limit: usize,
}

/// A page in trouble.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// The page.
    pub url: PageUrl,
    /// Failed or refused.
    pub state: PageState,
    /// Why.
    pub reason: String,
    /// Tries in a row without a good answer.
    pub attempts: u32,
    /// When it happened.
    pub at: Timestamp,
    /// When it is tried again.
    pub due: Option<Timestamp>,
}

/// A reason without what differs from page to page, so that alike reasons count together: `…` for an address or a
/// path, `#` for a number. A status is no such number.
pub(super) fn folded(reason: &str) -> String {
    let mut folded = String::with_capacity(reason.len());
    let mut before = "";
    for word in reason.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        if is_address(word) {
            folded.push('…');
        } else if before == "status" {
            folded.push_str(word);
        } else {
            let mut in_number = false;
            for character in word.chars() {
                let digit = character.is_ascii_digit();
                if !digit {
                    folded.push(character);
                } else if !in_number {
                    folded.push('#');
                }
                in_number = digit;
            }
        }
        before = word;
    }
    folded
}

/// Is it a web address, a path, or the address of a machine?
fn is_address(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| "()[]<>,;:'\"".contains(c));
    let of_machine = |part: &str| {
        part.bytes().all(|b| b.is_ascii_hexdigit() || b".:[]".contains(&b))
            && part.bytes().any(|b| b.is_ascii_digit())
            && part.bytes().filter(|b| b".:".contains(b)).count() >= 2
    };
    bare.contains("://") || bare.starts_with('/') || of_machine(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_reasons_are_the_same_when_folded() {
        for (reason, same) in [
            ("timed out after 30 s connecting", "timed out after # s connecting"),
            ("timed out after 2.5s reading", "timed out after #.#s reading"),
            (
                "private address 10.0.0.17 (allow with --allow-private)",
                "private address … (allow with --allow-private)",
            ),
            ("address fd00::1 is link-local", "address … is link-local"),
            ("http://a.example/x?y=1 redirects too often", "… redirects too often"),
            ("robots.txt: /private/*.html", "robots.txt: …"),
            ("status 503", "status 503"),
            ("name not found", "name not found"),
            ("名字 12 不存在", "名字 # 不存在"),
            ("", ""),
        ] {
            assert_eq!(folded(reason), same);
        }
    }
}
