//! Cuts a session into goals, by common words, spelling or results (Jones & Klinkner 2008, §5).

use super::reformulation::{Reformulation, classify_words, is_correction};
use super::terms::{QueryTerms, jaccard};
use super::{Ending, Goal, SessionRules, Step};
use crate::log::records::QuerySource;
use crate::search_log::{Search, SearchLog};

/// Maximum number of goals of a session that a search is compared with, the latest first.
const MAX_OPEN_GOALS: usize = 16;

/// Assigns the searches of a session to goals.
pub(super) fn cut_goals(
    log: &SearchLog,
    rules: &SessionRules,
    terms: &mut QueryTerms,
    searches: &[u32],
) -> Vec<Goal> {
    let mut goals: Vec<Vec<Step>> = Vec::new();
    for &number in searches {
        let search = &log.searches[number as usize];
        let oldest = goals.len().saturating_sub(MAX_OPEN_GOALS);
        let mut is_joined = |steps: &Vec<Step>| {
            let recent = steps.iter().rev().take(rules.compared);
            recent
                .map(|step| &log.searches[step.search as usize])
                .any(|before| is_same_goal(log, rules, terms, before, search))
        };
        let joined = (oldest..goals.len()).rev().find(|nth| is_joined(&goals[*nth]));
        match joined {
            Some(nth) => {
                let before = goals[nth].last().map(|step| &log.searches[step.search as usize]);
                let kind = before.map_or(Reformulation::New, |before| step_kind(log, terms, before, search));
                goals[nth].push(Step { search: number, kind });
            }
            None => goals.push(vec![Step { search: number, kind: Reformulation::New }]),
        }
    }
    let goal = |steps: Vec<Step>| {
        let (clicks, ending) = ending(log, &steps);
        Goal { steps, clicks, ending }
    };
    goals.into_iter().map(goal).collect()
}

fn is_same_goal(
    log: &SearchLog,
    rules: &SessionRules,
    terms: &mut QueryTerms,
    before: &Search,
    search: &Search,
) -> bool {
    if before.query == search.query || search.source == QuerySource::Corrected {
        return true;
    }
    let (own, other) = (terms.get(log, search.query), terms.get(log, before.query));
    jaccard(&own, &other) >= rules.word_overlap
        || is_correction(log.queries.text(before.query), log.queries.text(search.query))
        || {
            let sorted = |search: &Search| {
                let mut shown = log.shown_of(search).to_vec();
                shown.sort_unstable();
                shown.dedup();
                shown
            };
            jaccard(&sorted(before), &sorted(search)) >= rules.result_overlap
        }
}

fn step_kind(log: &SearchLog, terms: &mut QueryTerms, before: &Search, search: &Search) -> Reformulation {
    if before.query == search.query {
        return if before.page == search.page { Reformulation::Repeat } else { Reformulation::PageTurn };
    }
    if search.source == QuerySource::Corrected {
        return Reformulation::Correct;
    }
    let (before_words, words) = (terms.get(log, before.query), terms.get(log, search.query));
    classify_words(log.queries.text(before.query), &before_words, log.queries.text(search.query), &words)
}

/// Returns the number of clicks of a goal and how it ended.
fn ending(log: &SearchLog, steps: &[Step]) -> (u32, Ending) {
    let searches = || steps.iter().map(|step| &log.searches[step.search as usize]);
    let clicks = searches().map(|search| log.clicks_of(search).len() as u32).sum();
    let last = searches().flat_map(|search| log.clicks_of(search)).max_by_key(|click| click.at);
    let ending = match last {
        None if searches().any(|search| log.reports_clicks(search)) => Ending::Abandoned,
        None => Ending::Unknown,
        Some(click) if click.dwell_ms.is_some() => {
            if click.is_satisfied() {
                Ending::Satisfied
            } else {
                Ending::Unsatisfied
            }
        }
        // Without a dwell time, the user is satisfied if no search followed (Hassan, Jones & Klinkner 2010).
        Some(click) => {
            let is_last = steps.last().is_some_and(|step| step.search == click.search);
            if is_last { Ending::Satisfied } else { Ending::Unsatisfied }
        }
    };
    (clicks, ending)
}
