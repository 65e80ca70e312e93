//! Sessions (会话): the searches of a visit, cut by a time gap and into goals, with the steps between them and their end.
//!
//! ```text
//! visit ─▶ gap of 30 minutes ─▶ sessions ─▶ similar words, spelling or results ─▶ goals ─▶ steps and ending
//! ```
//!
//! A visit is not a person: its identifier lives for a day at most. A gap of half an hour is the usual cut (Catledge &
//! Pitkow 1995: 25.5 minutes). Several goals of a session may alternate (Jones & Klinkner 2008, §3), so each search
//! joins the latest goal that has a similar search. Steps follow Lau & Horvitz 1999, §3.

mod goals;
mod reformulation;
mod terms;

use std::time::Duration;

use pharos_core::Timestamp;
use serde::Serialize;

use self::goals::cut_goals;
pub(crate) use self::reformulation::is_correction;
pub use self::reformulation::{Reformulation, classify};
use self::terms::QueryTerms;
use crate::search_log::{Search, SearchLog};

/// Criteria for sessions and goals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionRules {
    /// Time without a search or click after which a new session begins.
    pub gap: Duration,
    /// Least share of common words (Jaccard) of two searches with one goal.
    pub word_overlap: f64,
    /// Least share of common results (Jaccard) of two searches with one goal.
    pub result_overlap: f64,
    /// Searches of a goal that a new search is compared with, the latest first.
    pub compared: usize,
}

impl Default for SessionRules {
    fn default() -> Self {
        Self { gap: Duration::from_secs(30 * 60), word_overlap: 0.2, result_overlap: 0.2, compared: 8 }
    }
}

/// The searches of a visit without a long pause.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Number of the visit; `None` for a search whose visit is unknown, which is a session of its own.
    pub visit: Option<u32>,
    pub from: Timestamp,
    /// Time of the last search or click.
    pub to: Timestamp,
    pub goals: Vec<Goal>,
}

/// The searches of a session for the same thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    pub steps: Vec<Step>,
    pub clicks: u32,
    pub ending: Ending,
}

/// A search of a goal, and how it follows from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index into [`SearchLog::searches`].
    pub search: u32,
    pub kind: Reformulation,
}

/// The end of the searches for one goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The last click had a long dwell time, or nothing followed it and its dwell time is unknown.
    Satisfied,
    /// There were clicks, but the last one was short.
    Unsatisfied,
    /// There were no clicks. The results page may have answered the question (good abandonment).
    Abandoned,
    /// Clicks are not reported for these searches.
    Unknown,
}

impl Ending {
    /// All endings.
    pub const ALL: [Ending; 4] = [Ending::Satisfied, Ending::Unsatisfied, Ending::Abandoned, Ending::Unknown];

    /// Returns the name used in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Ending::Satisfied => "satisfied",
            Ending::Unsatisfied => "unsatisfied",
            Ending::Abandoned => "abandoned",
            Ending::Unknown => "unknown",
        }
    }
}

/// Cuts the searches of a log into sessions, in order of their beginning.
pub fn sessions(log: &SearchLog, rules: &SessionRules) -> Vec<Session> {
    let mut order: Vec<u32> = (0..log.searches.len() as u32).collect();
    // Searches are in order of time already, and the sort is stable.
    order.sort_by_key(|number| log.searches[*number as usize].visit);
    let mut terms = QueryTerms::new(log.queries.len());
    let mut sessions = Vec::new();
    let follows = |a: &u32, b: &u32| {
        let (a, b) = (&log.searches[*a as usize], &log.searches[*b as usize]);
        a.visit.is_some() && a.visit == b.visit && b.at.since(last_event(log, a)) <= rules.gap
    };
    for searches in order.chunk_by(follows) {
        sessions.push(session(log, rules, &mut terms, searches));
    }
    sessions.sort_by_key(|session| session.from);
    sessions
}

/// Returns the time of the last click on a search, or of the search itself.
fn last_event(log: &SearchLog, search: &Search) -> Timestamp {
    let clicked = log.clicks_of(search).last();
    // A click long after the search, reported by a clock that jumped, does not join sessions.
    let clicked = clicked.filter(|click| click.at.since(search.at) < Duration::from_secs(86_400));
    clicked.map_or(search.at, |click| click.at.max(search.at))
}

/// Builds the session of consecutive searches, of which there is at least one.
fn session(log: &SearchLog, rules: &SessionRules, terms: &mut QueryTerms, searches: &[u32]) -> Session {
    let (first, last) =
        (&log.searches[searches[0] as usize], &log.searches[searches[searches.len() - 1] as usize]);
    let goals = cut_goals(log, rules, terms, searches);
    Session { visit: first.visit, from: first.at, to: last_event(log, last), goals }
}

/// Counts of sessions, goals, steps and endings.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SessionCounts {
    pub sessions: u64,
    pub goals: u64,
    pub searches: u64,
    /// Mean number of searches of a session.
    pub searches_per_session: f64,
    /// Steps by kind, in the order of [`Reformulation::ALL`].
    pub steps: Vec<(&'static str, u64)>,
    /// Goals by ending, in the order of [`Ending::ALL`].
    pub endings: Vec<(&'static str, u64)>,
}

/// Counts sessions, goals, steps and endings.
pub fn count_sessions(sessions: &[Session]) -> SessionCounts {
    let goals = || sessions.iter().flat_map(|session| &session.goals);
    let steps = || goals().flat_map(|goal| &goal.steps);
    let count_steps = |kind| steps().filter(|step| step.kind == kind).count() as u64;
    let count_endings = |ending| goals().filter(|goal| goal.ending == ending).count() as u64;
    let searches = steps().count() as u64;
    SessionCounts {
        sessions: sessions.len() as u64,
        goals: goals().count() as u64,
        searches,
        searches_per_session: searches as f64 / sessions.len().max(1) as f64,
        steps: Reformulation::ALL.iter().map(|kind| (kind.name(), count_steps(*kind))).collect(),
        endings: Ending::ALL.iter().map(|ending| (ending.name(), count_endings(*ending))).collect(),
    }
}

#[cfg(test)]
mod tests;
