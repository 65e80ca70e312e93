//! Reports a running crawl on stderr: progress, seeds that yield nothing, limits, and the end of the work.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_crawl::{CrawlNotice, CrawlStatus, CrawlStatusReport};
use tokio::task::JoinHandle;

use crate::console::{self, count};

/// Interval of the updates.
const INTERVAL: Duration = Duration::from_secs(1);
/// Number of intervals without work after which the crawl counts as finished: the index follows within a second.
const IDLE_INTERVALS: u32 = 2;
/// Minimum time between two messages that everything is fetched. A continuous crawl is idle many times a day.
const ANNOUNCEMENT_INTERVAL: Duration = Duration::from_secs(3600);

/// Returns the number of searchable pages.
type CountSearchable = Box<dyn Fn() -> u64 + Send + Sync>;

/// The message when every known page is fetched.
pub(crate) struct Announcement {
    /// URL of the search page.
    pub(crate) address: String,
    pub(crate) is_demo: bool,
    pub(crate) searchable: CountSearchable,
}

/// Reports a crawl until it is finished or dropped.
pub(crate) struct CrawlReporter {
    notices: Arc<Notices>,
    line: ProgressBar,
    task: JoinHandle<()>,
}

/// Prints each notice of a crawl once.
struct Notices {
    status: Arc<CrawlStatus>,
    quiet: bool,
    /// Number of the last printed notice.
    printed: Mutex<u64>,
}

impl CrawlReporter {
    /// Starts to report a crawl. Without an announcement, the end of the work is not reported.
    pub(crate) fn start(status: Arc<CrawlStatus>, quiet: bool, announcement: Option<Announcement>) -> Self {
        let notices = Arc::new(Notices { status, quiet, printed: Mutex::new(0) });
        let line = console::progress();
        let task = tokio::spawn(report(Arc::clone(&notices), line.clone(), announcement));
        Self { notices, line, task }
    }

    /// Returns the first problem of a seed, with its remedy.
    pub(crate) fn first_problem(&self) -> Option<String> {
        let notices = self.notices.status.notices_after(0);
        notices.iter().find(|notice| !notice.is_limit).map(describe_notice)
    }

    /// Prints the remaining notices and removes the progress line.
    pub(crate) fn finish(self) {
        self.task.abort();
        self.line.finish_and_clear();
        self.notices.print_new();
    }
}

impl Drop for CrawlReporter {
    fn drop(&mut self) {
        self.task.abort();
        self.line.finish_and_clear();
    }
}

impl Notices {
    fn print_new(&self) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        for notice in self.status.notices_after(*printed) {
            *printed = notice.number;
            let kind = if notice.is_limit { "limit" } else { "problem" };
            console::print_message(self.quiet, &format!("{kind}: {}", describe_notice(&notice)));
        }
    }
}

/// Describes a notice in one line, without control characters of foreign texts.
fn describe_notice(notice: &CrawlNotice) -> String {
    let remedy = notice.remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
    console::printable(&format!("{}: {}{remedy}", notice.subject, notice.reason))
}

async fn report(notices: Arc<Notices>, line: ProgressBar, announcement: Option<Announcement>) {
    let mut before = notices.status.report();
    let mut idle_for = 0;
    let mut announced: Option<Instant> = None;
    loop {
        tokio::time::sleep(INTERVAL).await;
        notices.print_new();
        let now = notices.status.report();
        idle_for = if now.idle { idle_for + 1 } else { 0 };
        match &announcement {
            Some(announcement) if idle_for >= IDLE_INTERVALS => {
                if idle_for == IDLE_INTERVALS {
                    console::pause_line(&line, &describe_idle(&now));
                }
                let is_due = announced.is_none_or(|at| at.elapsed() >= ANNOUNCEMENT_INTERVAL);
                if idle_for == IDLE_INTERVALS && is_due {
                    let message = tokio::task::block_in_place(|| announcement.message(&now));
                    console::print_message(notices.quiet, &message);
                    announced = Some(Instant::now());
                }
            }
            _ => {
                console::resume_line(&line);
                line.set_message(describe(&now, &before));
            }
        }
        before = now;
    }
}

impl Announcement {
    fn message(&self, now: &CrawlStatusReport) -> String {
        let (pages, address) = ((self.searchable)(), &self.address);
        if pages == 0 {
            return format!("no page is searchable yet: {address}admin/trouble lists the problems");
        }
        let pages = count(pages, "page", "pages");
        if self.is_demo {
            return format!("ready: {pages}, open {address}, try lighthouse or 灯塔");
        }
        let next = match now.next_visit {
            Some(at) => format!("the next visit is due {}", in_words(SystemClock.now(), at)),
            None => "no further visit is due (crawl.refresh)".into(),
        };
        format!("everything is fetched: {pages} searchable at {address}; {next}")
    }
}

fn describe_idle(now: &CrawlStatusReport) -> String {
    let next = now.next_visit.map(|at| format!(" · next visit {at}")).unwrap_or_default();
    format!("idle: everything is fetched{next}")
}

fn describe(now: &CrawlStatusReport, before: &CrawlStatusReport) -> String {
    let problems = now.problems;
    let errors = problems.not_found + problems.denied + problems.server_errors;
    format!(
        "{} ({}/s), {} ({}/s) · {} active, {} in flight, {} queued · {}, {} failed, {} refused{}",
        count(now.pages, "page", "pages"),
        now.pages.saturating_sub(before.pages),
        console::bytes(now.bytes),
        console::bytes(now.bytes.saturating_sub(before.bytes)),
        count(now.sites, "site", "sites"),
        count(now.in_flight, "request", "requests"),
        now.queued,
        count(errors, "error response", "error responses"),
        now.failed,
        now.refused,
        match now {
            CrawlStatusReport { paused_by_operator: true, .. } => " · paused by an operator",
            CrawlStatusReport { paused: true, .. } => " · paused: disk space is low",
            _ => "",
        },
    )
}

/// Describes a moment relative to now, with its date.
fn in_words(now: Timestamp, at: Timestamp) -> String {
    let seconds = at.since(now).as_secs();
    let wait = match seconds {
        0..60 => count(seconds, "second", "seconds"),
        60..3_600 => count(seconds / 60, "minute", "minutes"),
        3_600..86_400 => count(seconds / 3_600, "hour", "hours"),
        _ => count(seconds / 86_400, "day", "days"),
    };
    format!("in {wait} ({at})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announcement(is_demo: bool, pages: u64) -> Announcement {
        let address = "http://127.0.0.1:8080/".into();
        Announcement { address, is_demo, searchable: Box::new(move || pages) }
    }

    #[test]
    fn the_demo_names_its_address_and_words_to_try() {
        let idle = CrawlStatusReport::default();
        assert_eq!(
            announcement(true, 358).message(&idle),
            "ready: 358 pages, open http://127.0.0.1:8080/, try lighthouse or 灯塔"
        );
        assert!(announcement(true, 0).message(&idle).contains("/admin/trouble"));
        assert!(
            announcement(false, 1).message(&idle).starts_with("everything is fetched: 1 page searchable")
        );
    }

    #[test]
    fn waits_are_rounded_down() {
        let now = Timestamp::from_millis(0);
        let after = |seconds: i64| in_words(now, Timestamp::from_millis(1000 * seconds));
        assert!(after(1).starts_with("in 1 second ("));
        assert!(after(150).starts_with("in 2 minutes ("));
        assert!(after(3_600).starts_with("in 1 hour ("));
        assert!(after(7 * 86_400).starts_with("in 7 days ("));
    }
}
