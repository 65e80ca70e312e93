//! Reports of a crawl to its operator: seeds that yield nothing, sites that reached a limit, and counts of problems.

mod remedy;

use std::collections::{HashSet, VecDeque};

use pharos_core::PageId;
use pharos_store::catalog::PageProblem;
use serde::{Deserialize, Serialize};

pub use remedy::Remedy;

/// Maximum number of notices kept for readers that come later.
const MAX_NOTICES: usize = 100;
/// Maximum number of pages that are distinguished when pages beyond a limit are counted.
const MAX_COUNTED_PAGES: usize = 65_536;

/// Number of problems of a crawl, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProblemCounts {
    /// Responses with status 404 or 410.
    pub not_found: u64,
    /// Other responses with a status 4xx.
    pub denied: u64,
    /// Responses with status 429 or 5xx.
    pub server_errors: u64,
    /// Requests without a response in time. They count as failed, too.
    pub timed_out: u64,
    /// Pages refused by a robots.txt.
    pub by_robots: u64,
    /// Pages refused by a rule of the crawl.
    pub by_rules: u64,
    /// Responses refused because of their media type.
    pub by_type: u64,
    /// Pages left out because their site reached its limit.
    pub over_limit: u64,
}

impl ProblemCounts {
    /// Counts a response by its status.
    pub(crate) fn count_response(&mut self, status: u16) {
        match PageProblem::from_status(status) {
            Some(PageProblem::NotFound) => self.not_found += 1,
            Some(PageProblem::Denied) => self.denied += 1,
            Some(_) => self.server_errors += 1,
            None => {}
        }
    }

    /// Counts a request without a response.
    pub(crate) fn count_failure(&mut self, reason: &str) {
        self.timed_out += u64::from(reason.contains("timed out"));
    }

    /// Counts a page refused by a rule or a robots.txt.
    pub(crate) fn count_refusal(&mut self, reason: &str) {
        match reason.starts_with("robots.txt") {
            true => self.by_robots += 1,
            false => self.by_rules += 1,
        }
    }

    /// Returns the non-zero counts with their descriptions.
    pub fn described(&self) -> Vec<(&'static str, u64)> {
        let all = [
            ("not found", self.not_found),
            ("denied", self.denied),
            ("server errors", self.server_errors),
            ("timed out", self.timed_out),
            ("refused by robots.txt", self.by_robots),
            ("refused by rules", self.by_rules),
            ("refused by media type", self.by_type),
            ("beyond the limits of their site", self.over_limit),
        ];
        all.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

/// A report to the operator.
#[derive(Clone, Debug, PartialEq)]
pub struct CrawlNotice {
    /// Notices are numbered from 1.
    pub number: u64,
    /// URL of a seed, or name of a site.
    pub subject: String,
    pub reason: String,
    pub remedy: Option<Remedy>,
    /// `true` if a site reached a limit, `false` if a seed yields nothing.
    pub is_limit: bool,
}

/// The newest notices and all counts of a process.
#[derive(Debug, Default)]
pub(crate) struct NoticeLog {
    notices: VecDeque<CrawlNotice>,
    last: u64,
    pub(crate) counts: ProblemCounts,
    over_limit: HashSet<PageId>,
}

impl NoticeLog {
    /// Adds a notice, unless the same one is listed already.
    pub(crate) fn add(&mut self, subject: String, reason: String, remedy: Option<Remedy>, is_limit: bool) {
        if self.notices.iter().any(|known| known.subject == subject && known.reason == reason) {
            return;
        }
        if self.notices.len() >= MAX_NOTICES {
            self.notices.pop_front();
        }
        self.last += 1;
        self.notices.push_back(CrawlNotice { number: self.last, subject, reason, remedy, is_limit });
    }

    /// Counts a page beyond the limit of its site, once.
    pub(crate) fn count_over_limit(&mut self, page: PageId) {
        if self.over_limit.len() < MAX_COUNTED_PAGES && self.over_limit.insert(page) {
            self.counts.over_limit += 1;
        }
    }

    /// Returns the notices after number `after`.
    pub(crate) fn after(&self, after: u64) -> Vec<CrawlNotice> {
        self.notices.iter().filter(|notice| notice.number > after).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_counted_by_kind() {
        let mut counts = ProblemCounts::default();
        [200, 301, 404, 410, 403, 500, 503, 429].into_iter().for_each(|status| counts.count_response(status));
        counts.count_failure("timed out after 10 s connecting");
        counts.count_failure("connection refused");
        counts.count_refusal("robots.txt: Disallow: /x");
        counts.count_refusal("matches `*` of crawl.exclude");
        let expected = [
            ("not found", 2),
            ("denied", 1),
            ("server errors", 3),
            ("timed out", 1),
            ("refused by robots.txt", 1),
            ("refused by rules", 1),
        ];
        assert_eq!(counts.described(), expected);
    }

    #[test]
    fn notices_are_bounded_and_not_repeated() {
        let mut log = NoticeLog::default();
        for round in 0..2 {
            for seed in 0..2 * MAX_NOTICES {
                log.add(format!("http://{seed}.example/"), format!("reason {round}"), None, false);
                log.add(format!("http://{seed}.example/"), format!("reason {round}"), None, false);
            }
        }
        assert_eq!(log.after(0).len(), MAX_NOTICES);
        let last = log.after(0).last().map(|notice| notice.number);
        assert_eq!(last, Some(4 * MAX_NOTICES as u64));
        assert_eq!(log.after(4 * MAX_NOTICES as u64 - 1).len(), 1);
    }
}
