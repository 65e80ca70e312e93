//! The time of the next visit to a page.

use std::time::{Duration, UNIX_EPOCH};

use pharos_core::config::CrawlConfig;
use pharos_core::{BackOff, Timestamp};

use super::refresh::{self, ConclusiveVisit, RefreshClass};
use super::status::StatusMeaning;
use crate::{LibraryRecord, RawResponse};

/// Maximum wait that a server can request.
pub const MAX_REQUESTED_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Minimum wait before a seed is tried again that failed too often.
const MIN_LATE_WAIT: Duration = Duration::from_secs(3600);

/// Number of consecutive responses without a page after which a page that existed is dropped.
const MAX_GONE_CHECKS: u32 = 6;

/// Schedule of the next visit.
#[derive(Default)]
pub(super) struct NextVisit {
    pub(super) due: Option<Timestamp>,
    /// Number of consecutive inconclusive responses.
    pub(super) attempts: u32,
    /// Back-off of the whole site.
    pub(super) site_back_off: Option<Duration>,
    /// Class of the page, if the refresh policy decides when it is due. `due` is then the fixed interval of the class.
    pub(super) refresh: Option<RefreshClass>,
}

/// Returns the schedule after a response.
pub(super) fn schedule_next_visit(
    config: &CrawlConfig,
    record: &LibraryRecord,
    response: &RawResponse,
    class: RefreshClass,
) -> NextVisit {
    let attempt = record.attempt;
    // Imported records schedule nothing.
    if attempt == 0 {
        return NextVisit::default();
    }
    let meaning = StatusMeaning::from_status(response.status);
    match meaning {
        // Overload and server errors may be temporary. A Retry-After is respected.
        _ if meaning.is_temporary() => {
            let requested = retry_after(config, record.at, response);
            let due = next_attempt(config, record.at, attempt).or_else(|| next_late_attempt(config, record));
            let due = due.map(|due| requested.map_or(due, |wait| due.max(record.at.plus(wait))));
            let is_requested =
                meaning == StatusMeaning::RateLimited || response.header("Retry-After").is_some();
            NextVisit {
                due,
                attempts: attempt,
                site_back_off: requested.filter(|_| is_requested),
                refresh: None,
            }
        }
        // A missing page is fetched once more before it counts as gone, if it existed before.
        _ if meaning.is_absent() && !meaning.settles(record.is_refetch) => {
            NextVisit { due: Some(record.at.plus(config.gone_after)), attempts: 1, ..NextVisit::default() }
        }
        _ if meaning.is_absent() => {
            NextVisit { due: next_check(config, record), attempts: attempt, ..NextVisit::default() }
        }
        _ => {
            let interval = refresh::fixed_intervals(config).interval(&ConclusiveVisit { class, meaning });
            let refresh = (meaning == StatusMeaning::Content).then_some(class);
            NextVisit { due: interval.map(|wait| record.at.plus(wait)), refresh, ..NextVisit::default() }
        }
    }
}

/// Returns the next check of a page that is gone: it may return. The wait doubles with each check, and after the last one the
/// page is dropped. A page that never existed is not checked.
fn next_check(config: &CrawlConfig, record: &LibraryRecord) -> Option<Timestamp> {
    let existed = record.is_refetch || record.attempt > 1;
    let wait = || config.gone_after.saturating_mul(1 << record.attempt.min(MAX_GONE_CHECKS));
    (existed && record.attempt < MAX_GONE_CHECKS).then(|| record.at.plus(wait()))
}

/// Returns the next visit of a page that was fetched too often without success: pages that existed once are refreshed,
/// and seeds are tried again, at longer and longer intervals.
pub(super) fn next_late_attempt(config: &CrawlConfig, record: &LibraryRecord) -> Option<Timestamp> {
    if record.is_refetch {
        return (!config.refresh.is_zero()).then(|| record.at.plus(config.refresh));
    }
    let is_seed = record.depth == 0 && record.attempt > 0;
    let late = record.attempt.saturating_sub(config.max_attempts).saturating_add(1);
    is_seed.then(|| record.at.plus(BackOff::PAGE.wait(config.retry_delay.max(MIN_LATE_WAIT), late)))
}

/// Returns the wait requested by an overloaded server, in seconds or until a date, within bounds.
pub fn retry_after(config: &CrawlConfig, at: Timestamp, response: &RawResponse) -> Option<Duration> {
    if !StatusMeaning::from_status(response.status).is_overload() {
        return None;
    }
    let requested = response.header("Retry-After").and_then(|text| retry_after_value(text.trim(), at));
    Some(requested.unwrap_or_default().min(MAX_REQUESTED_WAIT).max(config.retry_delay))
}

fn retry_after_value(text: &str, at: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::EPOCH.plus(date).since(at))
}

/// Returns the time of the next attempt after a failure, or `None` if there is none.
pub(super) fn next_attempt(config: &CrawlConfig, at: Timestamp, attempt: u32) -> Option<Timestamp> {
    (attempt < config.max_attempts).then(|| at.plus(BackOff::PAGE.wait(config.retry_delay, attempt)))
}

#[cfg(test)]
mod tests {
    use pharos_core::PageUrl;

    use super::*;
    use crate::RecordContent;

    /// Returns the days until the next visit after a response without a page.
    fn wait(status: u16, is_refetch: bool, attempt: u32) -> Option<u64> {
        let response = RawResponse { status, ..RawResponse::default() };
        let url = PageUrl::parse("http://a.example/x").unwrap();
        let content = RecordContent::Response(response.clone());
        let record =
            LibraryRecord { is_refetch, attempt, ..LibraryRecord::new(url, Timestamp::EPOCH, content) };
        let next = schedule_next_visit(&CrawlConfig::default(), &record, &response, RefreshClass::Page);
        next.due.map(|due| due.since(Timestamp::EPOCH).as_secs() / 86_400)
    }

    #[test]
    fn a_page_that_is_gone_is_checked_at_growing_intervals_and_then_dropped() {
        assert_eq!(wait(404, true, 1), Some(1), "once more before it counts as gone");
        let later: Vec<_> = (2..=6).map(|attempt| wait(404, false, attempt)).collect();
        assert_eq!(later, [Some(4), Some(8), Some(16), Some(32), None]);
        assert_eq!((wait(410, true, 1), wait(410, false, 2)), (Some(2), Some(4)));
        assert_eq!((wait(404, false, 1), wait(410, false, 1)), (None, None), "it never existed");
    }
}
