//! `pharos log sessions`.

use std::time::Duration;

use pharos_mining::search_log::SearchLog;
use pharos_mining::sessions::{Session, SessionCounts, SessionRules, count_sessions, sessions};
use serde_json::json;

use super::source::read_searches;
use crate::cli::{Global, LogSessionsArgs};
use crate::{CommandOutcome, console};

pub(super) fn run(global: &Global, args: &LogSessionsArgs) -> anyhow::Result<CommandOutcome> {
    let log = read_searches(global, &args.source)?;
    let rules = SessionRules { gap: Duration::from_secs(60 * args.gap), ..SessionRules::default() };
    let sessions = sessions(&log, &rules);
    let counts = count_sessions(&sessions);
    let latest = &sessions[sessions.len().saturating_sub(args.count)..];
    if global.json {
        let latest: Vec<_> = latest.iter().map(|session| to_json(&log, session)).collect();
        console::print_json(&json!({ "counts": counts, "coverage": log.coverage, "sessions": latest }))?;
    } else {
        print_counts(&counts)?;
        for session in latest {
            print_session(&log, session)?;
        }
    }
    if sessions.is_empty() {
        console::print_message(global.quiet, "the log has no queries");
        return Ok(CommandOutcome::NothingFound);
    }
    Ok(CommandOutcome::Good)
}

fn print_counts(counts: &SessionCounts) -> anyhow::Result<()> {
    let SessionCounts { sessions, goals, searches, searches_per_session, steps, endings } = counts;
    console::out!(
        "{sessions} sessions, {goals} goals, {searches} searches ({searches_per_session:.2} per session)"
    );
    for (title, counted) in [("steps", steps), ("endings", endings)] {
        let total = counted.iter().map(|(_, count)| count).sum::<u64>().max(1);
        for (name, count) in counted {
            console::out!(
                "{title:<8} {name:<12} {count:>10} {:>5.1} %",
                100.0 * *count as f64 / total as f64
            );
        }
    }
    Ok(())
}

fn print_session(log: &SearchLog, session: &Session) -> anyhow::Result<()> {
    let minutes = session.to.since(session.from).as_secs() / 60;
    let visit = session.visit.map_or("-", |visit| log.visits.text(visit));
    console::out!("\n{}  visit {}  {minutes} min", session.from, console::printable(visit));
    for (nth, goal) in (1..).zip(&session.goals) {
        console::out!("  goal {nth}: {}, {} clicks", goal.ending.name(), goal.clicks);
        for step in &goal.steps {
            let search = &log.searches[step.search as usize];
            let page = if search.page > 1 { format!(" (page {})", search.page) } else { String::new() };
            let query = console::printable(log.queries.text(search.query));
            console::out!("    {:<11} {query}{page}", step.kind.name());
        }
    }
    Ok(())
}

fn to_json(log: &SearchLog, session: &Session) -> serde_json::Value {
    let goals: Vec<_> = session
        .goals
        .iter()
        .map(|goal| {
            let steps: Vec<_> = goal
                .steps
                .iter()
                .map(|step| {
                    let search = &log.searches[step.search as usize];
                    json!({
                        "at": search.at.to_precise(),
                        "query": log.queries.text(search.query),
                        "page": search.page,
                        "step": step.kind,
                        "clicks": log.clicks_of(search).len(),
                    })
                })
                .collect();
            json!({ "ending": goal.ending, "clicks": goal.clicks, "searches": steps })
        })
        .collect();
    json!({
        "visit": session.visit.map(|visit| log.visits.text(visit)),
        "from": session.from.to_precise(),
        "to": session.to.to_precise(),
        "goals": goals,
    })
}
