//! Explains the status of a page to its webmaster.

use pharos_core::Timestamp;
use pharos_engine::{Story, WaitsFor};
use pharos_store::PageState;

use super::Link;
use crate::known::Known;
use crate::words::{Lang, Words, fill};

/// The status of a page in sentences.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// `None` if the text is not a URL.
    pub(super) url: Option<String>,
    pub(super) is_found: bool,
    /// The most important sentence first.
    pub(super) lines: Vec<String>,
    /// Rule of the site's robots.txt that forbids the page.
    pub(super) rule: Option<String>,
    pub(super) snapshot: Option<Link>,
    /// A button to submit the page is shown.
    pub(super) may_submit: bool,
}

impl Verdict {
    /// Describes an unknown page, or a text that is not a URL.
    pub(super) fn unknown(words: &Words, url: Option<String>, may_submit: bool) -> Self {
        let line = if url.is_some() { words.bot_unknown } else { words.bot_no_address };
        let may_submit = may_submit && url.is_some();
        Self { url, lines: vec![line.to_string()], may_submit, ..Self::default() }
    }

    pub(super) fn of(known: &Known, lang: Lang) -> Self {
        let url = Some(known.url.as_str().to_string());
        let words = lang.words();
        if let Some(card) = &known.card {
            let day = |at: Timestamp| lang.date(&at.date());
            let since = known.story.as_ref().map(|story| day(story.page.found_at));
            let fetched = day(card.fetched);
            let mut lines = vec![words.bot_found.to_string()];
            lines.push(match since {
                Some(since) => fill(words.bot_since, &[&since, &fetched]),
                None => fill(words.bot_fetched, &[&fetched]),
            });
            if known.story.as_ref().is_some_and(|story| !story.same.is_empty()) {
                lines.push(words.bot_same.to_string());
            }
            let snapshot = known.snapshot().map(|href| Link { href, text: words.snapshot.to_string() });
            return Self { url, is_found: true, lines, snapshot, ..Self::default() };
        }
        let Some(story) = &known.story else { return Self::unknown(words, url, false) };
        let reason = Reason::of(story, known.asks_not_to_be_found);
        let rule = match reason {
            Reason::RobotsTxt(rule) => Some(rule.to_string()),
            _ => None,
        };
        let mut lines = vec![reason.told(lang)];
        if reason.is_tried_again() {
            lines.push(words.bot_again_soon.to_string());
        }
        Self { url, lines, rule, ..Self::default() }
    }
}

/// The reason why a known page cannot be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason<'a> {
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
    Soon(Timestamp),
    NoName(Timestamp),
    TooSlow(Timestamp),
    NoTls(Timestamp),
    NoAnswer(Timestamp),
    Gone,
}

impl<'a> Reason<'a> {
    fn of(story: &'a Story, asks_not_to_be_found: bool) -> Self {
        let page = &story.page;
        let reason = page.reason.as_deref().unwrap_or_default();
        let at = page.visited_at.unwrap_or(page.found_at);
        match (page.state, &story.waits_for) {
            (PageState::Waiting, Some(WaitsFor::Original(_))) => Self::CopyOfSite,
            (PageState::Waiting, Some(WaitsFor::RobotsTxt(at, _))) => Self::WaitsForRobots(*at),
            (PageState::Waiting, Some(WaitsFor::Moment(until))) => Self::WaitsUntil(*until),
            (PageState::Waiting, None) => Self::Waits,
            (PageState::Refused, _) => match reason.strip_prefix("robots.txt: ") {
                Some(rule) => Self::RobotsTxt(rule),
                None => Self::OurRules,
            },
            (PageState::Failed, _) => Self::of_failure(reason, at),
            (PageState::Deleted | PageState::Removed, _) => Self::Gone,
            (PageState::Stored, _) => match page.status {
                Some(300..400) => Self::Redirect(at),
                Some(status @ 400..) => Self::Status(status, at),
                _ if page.indexable => Self::Soon(at),
                _ if asks_not_to_be_found => Self::NoIndex(at),
                _ => Self::Nothing(at),
            },
        }
    }

    /// Classifies a failure. Its message may contain addresses and is not shown.
    fn of_failure(reason: &str, at: Timestamp) -> Self {
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
            Self::Status(status, _) => status == 429 || status >= 500,
            _ => false,
        }
    }

    fn told(self, lang: Lang) -> String {
        let words = lang.words();
        let on = |phrase: &str, at: Timestamp| fill(phrase, &[&lang.date(&at.date())]);
        match self {
            Self::Waits => words.bot_waiting.to_string(),
            Self::WaitsForRobots(at) => on(words.bot_waiting_robots, at),
            Self::WaitsUntil(until) => on(words.bot_waiting_patience, until),
            Self::CopyOfSite => words.bot_copy.to_string(),
            Self::RobotsTxt(_) => words.bot_robots_refused.to_string(),
            Self::OurRules => words.bot_refused.to_string(),
            Self::Status(status, at) => {
                fill(words.bot_status, &[&status.to_string(), &lang.date(&at.date())])
            }
            Self::Redirect(at) => on(words.bot_redirect, at),
            Self::NoIndex(at) => on(words.bot_noindex, at),
            Self::Nothing(at) => on(words.bot_nothing, at),
            Self::Soon(at) => on(words.bot_soon, at),
            Self::NoName(at) => on(words.bot_no_name, at),
            Self::TooSlow(at) => on(words.bot_too_slow, at),
            Self::NoTls(at) => on(words.bot_no_tls, at),
            Self::NoAnswer(at) => on(words.bot_no_answer, at),
            Self::Gone => words.bot_gone.to_string(),
        }
    }
}
