//! Tables of the operator's desk: sites and failed pages, one page of rows at a time.

use pharos_core::{PageId, PageUrl, SiteId, SiteName, Timestamp};
use serde::Serialize;

use super::PageProblem;

/// A query for the operator's site table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteQuery {
    /// Part of the site name, case-insensitive; empty matches all. A name with non-ASCII letters is compared label
    /// by label.
    pub contains: String,
    /// Only sites in this state; `None` selects all sites, including removed ones.
    pub state: Option<SiteState>,
    pub order: SiteOrder,
    /// Number of matching sites to skip.
    pub offset: usize,
    /// Maximum number of rows. The default 0 returns none.
    pub limit: usize,
}

/// A state of a site. Several states may apply at once, but a removed site has no other state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SiteState {
    /// A seed of an operator is on the site.
    Seed,
    /// Discovered through a link, without a seed.
    Found,
    /// The site has pages not yet fetched.
    Waiting,
    /// The site has failed pages.
    Failing,
    /// The site has refused pages and no stored page.
    Refused,
    /// Its server requested a back-off, which may have expired.
    #[serde(rename = "patient")]
    BackingOff,
    /// The site is a mirror of another site.
    Copy,
    /// An operator removed the site permanently.
    Removed,
}

/// The sort order of the site table. Equal sites are sorted by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SiteOrder {
    #[default]
    Pages,
    Stored,
    Failed,
    Waiting,
    /// Most recently visited first; sites never visited come last.
    Visited,
    Name,
}

/// A row of the operator's site table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteRow {
    pub site: SiteName,
    pub seed: bool,
    pub removed: bool,
    /// `true` if the site is a mirror of another site.
    pub copy: bool,
    pub pages: u64,
    /// Pages not yet fetched, without those that are fetched from another site or with the other scheme.
    pub waiting: u64,
    /// Pages with a stored response.
    pub stored: u64,
    /// Stored pages that are indexed.
    pub indexable: u64,
    /// Pages without a response.
    pub failed: u64,
    pub refused: u64,
    /// Pages reported as deleted.
    pub deleted: u64,
    /// Time of the last request to the site.
    pub visited_at: Option<Timestamp>,
    /// No page of the site is due before this time, because its server requested a back-off.
    pub not_before: Option<Timestamp>,
}

/// One page of the site table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteList {
    pub rows: Vec<SiteRow>,
    /// Number of matching sites.
    pub total: u64,
}

/// A query for pages with a problem at their last visit, most recent first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageFailureQuery {
    pub site: Option<SiteId>,
    /// `None` selects all problems.
    pub problem: Option<PageProblem>,
    /// Selects seeds alone.
    pub seeds_only: bool,
    /// Part of the reason, case-insensitive.
    pub contains: String,
    /// Continue after this failure: `(failure.at, failure.url.id())` of the last one returned.
    pub before: Option<(Timestamp, PageId)>,
    /// Maximum number of results. The default 0 returns none.
    pub limit: usize,
}

/// A page with a problem at its last visit.
#[derive(Clone, Debug, PartialEq)]
pub struct PageFailure {
    pub url: PageUrl,
    pub problem: PageProblem,
    /// `true` if an operator named the page.
    pub is_seed: bool,
    pub reason: String,
    /// Consecutive attempts without a successful response.
    pub attempts: u32,
    pub at: Timestamp,
    /// Time of the next attempt.
    pub due: Option<Timestamp>,
}

/// Masks the parts of a reason that differ from page to page, so that similar reasons are counted together: `…` for
/// an address or a path, `#` for a number. HTTP status codes are kept.
pub(super) fn mask_reason(reason: &str) -> String {
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

/// Returns `true` for a URL, a path or an IP address.
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
            assert_eq!(mask_reason(reason), same);
        }
    }
}
