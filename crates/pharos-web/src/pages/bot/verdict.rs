//! Explains the status of a page to its webmaster.

use pharos_core::Timestamp;
use pharos_engine::status::page_report::{PageReport, WaitReason};
use pharos_store::PageState;
use pharos_store::catalog::PageProblem;
use pharos_store::interpret::status::StatusMeaning;

use super::Link;
use crate::messages::{Lang, Messages, fill};
use crate::state::page_status::PageStatus;

/// The status of a page in sentences.
#[derive(Debug, Default)]
pub(super) struct PageVerdict {
    /// `None` if the text is not a URL.
    pub(super) url: Option<String>,
    pub(super) is_found: bool,
    /// The most important sentence first.
    pub(super) lines: Vec<String>,
    /// Rule of the site's robots.txt that forbids the page.
    pub(super) rule: Option<String>,
    pub(super) cached_page: Option<Link>,
    /// A button to submit the page is shown.
    pub(super) may_submit: bool,
}

impl PageVerdict {
    /// Describes an unknown page, or a text that is not a URL.
    pub(super) fn unknown(messages: &Messages, url: Option<String>, may_submit: bool) -> Self {
        let line = if url.is_some() { messages.bot_unknown } else { messages.bot_no_address };
        let may_submit = may_submit && url.is_some();
        Self { url, lines: vec![line.to_string()], may_submit, ..Self::default() }
    }

    pub(super) fn new(status: &PageStatus, lang: Lang) -> Self {
        let url = Some(status.url.as_str().to_string());
        let messages = lang.messages();
        if let Some(indexed) = &status.indexed {
            let day = |at: Timestamp| lang.date(&at.date());
            let since = status.report.as_ref().map(|report| day(report.page.found_at));
            let fetched = day(indexed.fetched);
            let mut lines = vec![messages.bot_found.to_string()];
            lines.push(match since {
                Some(since) => fill(messages.bot_since, &[&since, &fetched]),
                None => fill(messages.bot_fetched, &[&fetched]),
            });
            if status.report.as_ref().is_some_and(|report| !report.same.is_empty()) {
                lines.push(messages.bot_same.to_string());
            }
            let cached_page =
                status.cached_page_path().map(|href| Link { href, text: messages.snapshot.to_string() });
            return Self { url, is_found: true, lines, cached_page, ..Self::default() };
        }
        let Some(report) = &status.report else { return Self::unknown(messages, url, false) };
        let reason = ExclusionReason::from_report(report, status.is_noindex);
        let rule = match reason {
            ExclusionReason::RobotsTxt(rule) => Some(rule.to_string()),
            _ => None,
        };
        let mut lines = vec![reason.sentence(lang)];
        if reason.is_tried_again() {
            lines.push(messages.bot_again_soon.to_string());
        }
        Self { url, lines, rule, ..Self::default() }
    }
}

/// The reason why a known page cannot be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExclusionReason<'a> {
    Waits,
    WaitsForRobots(Timestamp),
    WaitsUntil(Timestamp),
    CopyOfSite,
    RobotsTxt(&'a str),
    OurRules,
    Status(u16, Timestamp),
    Redirect(Timestamp),
    NoIndex(Timestamp),
    Nothing(Timestamp),
    TooComplex(Timestamp),
    Soon(Timestamp),
    NoName(Timestamp),
    TooSlow(Timestamp),
    NoTls(Timestamp),
    NoAnswer(Timestamp),
    Gone,
}

impl<'a> ExclusionReason<'a> {
    fn from_report(report: &'a PageReport, is_noindex: bool) -> Self {
        let page = &report.page;
        let reason = page.reason.as_deref().unwrap_or_default();
        let at = page.visited_at.unwrap_or(page.found_at);
        match (page.state, &report.waits_for) {
            (PageState::Waiting, Some(WaitReason::Original(_))) => Self::CopyOfSite,
            (PageState::Waiting, Some(WaitReason::RobotsTxt { at, .. })) => Self::WaitsForRobots(*at),
            (PageState::Waiting, Some(WaitReason::Moment(until))) => Self::WaitsUntil(*until),
            (PageState::Waiting, None | Some(WaitReason::Window(_))) => Self::Waits,
            (PageState::Refused, _) => Self::from_refusal(reason),
            (PageState::Stored, _) if page.problem == Some(PageProblem::Refused) => {
                Self::from_refusal(reason)
            }
            (PageState::Failed, _) => Self::from_failure(reason, at),
            (PageState::Deleted | PageState::Removed, _) => Self::Gone,
            (PageState::Quarantined, _) => Self::TooComplex(at),
            (PageState::Stored, _) => {
                match page.status.map(|status| (status, StatusMeaning::from_status(status))) {
                    Some((_, StatusMeaning::Moved)) => Self::Redirect(at),
                    Some((status, meaning)) if meaning.is_error() => Self::Status(status, at),
                    _ if page.indexable => Self::Soon(at),
                    _ if is_noindex => Self::NoIndex(at),
                    _ => Self::Nothing(at),
                }
            }
        }
    }

    fn from_refusal(reason: &'a str) -> Self {
        reason.strip_prefix("robots.txt: ").map_or(Self::OurRules, Self::RobotsTxt)
    }

    /// Classifies a failure. Its message may contain addresses and is not shown.
    fn from_failure(reason: &str, at: Timestamp) -> Self {
        let reason = reason.strip_prefix("robots.txt could not be fetched: ").unwrap_or(reason);
        if reason.starts_with("name not found") {
            Self::NoName(at)
        } else if reason.starts_with("timed out") {
            Self::TooSlow(at)
        } else if reason.starts_with("tls: ") {
            Self::NoTls(at)
        } else {
            Self::NoAnswer(at)
        }
    }

    /// Returns `true` if the crawler tries again without any action of the webmaster.
    fn is_tried_again(self) -> bool {
        match self {
            Self::NoName(_)
            | Self::TooSlow(_)
            | Self::NoTls(_)
            | Self::NoAnswer(_)
            | Self::WaitsForRobots(_) => true,
            Self::Status(status, _) => StatusMeaning::from_status(status).is_temporary(),
            _ => false,
        }
    }

    fn sentence(self, lang: Lang) -> String {
        let messages = lang.messages();
        let on = |phrase: &str, at: Timestamp| fill(phrase, &[&lang.date(&at.date())]);
        match self {
            Self::Waits => messages.bot_waiting.to_string(),
            Self::WaitsForRobots(at) => on(messages.bot_waiting_robots, at),
            Self::WaitsUntil(until) => on(messages.bot_waiting_until, until),
            Self::CopyOfSite => messages.bot_copy.to_string(),
            Self::RobotsTxt(_) => messages.bot_robots_refused.to_string(),
            Self::OurRules => messages.bot_refused.to_string(),
            Self::Status(status, at) => {
                fill(messages.bot_status, &[&status.to_string(), &lang.date(&at.date())])
            }
            Self::Redirect(at) => on(messages.bot_redirect, at),
            Self::NoIndex(at) => on(messages.bot_noindex, at),
            Self::Nothing(at) => on(messages.bot_nothing, at),
            Self::TooComplex(at) => on(messages.bot_quarantined, at),
            Self::Soon(at) => on(messages.bot_soon, at),
            Self::NoName(at) => on(messages.bot_no_name, at),
            Self::TooSlow(at) => on(messages.bot_too_slow, at),
            Self::NoTls(at) => on(messages.bot_no_tls, at),
            Self::NoAnswer(at) => on(messages.bot_no_answer, at),
            Self::Gone => messages.bot_gone.to_string(),
        }
    }
}
