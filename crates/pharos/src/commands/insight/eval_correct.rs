//! `pharos eval correct`: evaluates query correction by type of error.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, bail};
use pharos_query::SearchRequest;
use pharos_text::normalise;
use serde::Serialize;

use crate::cli::{EvalCorrectArgs, Global};
use crate::{CommandOutcome, commands, console, settings};

/// Results for the queries of one error type.
#[derive(Debug, Default, Serialize)]
struct CorrectionCounts {
    queries: usize,
    /// The intended query was suggested, or nothing for a correct query.
    right: usize,
    /// Another query was suggested.
    wrong: usize,
    /// Nothing was suggested because the query has enough results.
    found: usize,
}

#[derive(Debug, Serialize)]
struct Case<'t> {
    typed: &'t str,
    meant: &'t str,
    kind: &'t str,
    offered: Option<String>,
    results: u64,
}

pub(crate) fn run(global: &Global, args: &EvalCorrectArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let place = args.table.display();
    let table = fs::read_to_string(&args.table).with_context(|| format!("cannot read {place}"))?;
    let search = commands::search::open_service(&data, &config)?;
    let (mut shares, mut cases): (BTreeMap<&str, CorrectionCounts>, Vec<Case<'_>>) = Default::default();
    for (number, line) in (1..).zip(table.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let mut columns = line.split('\t');
        let (Some(typed), Some(meant)) = (columns.next(), columns.next()) else {
            bail!(
                "{place}:{number}: expected typed query, tab, intended query, and optionally a tab and the error type"
            );
        };
        let kind = columns.next().unwrap_or("any");
        let answer = search.run(&SearchRequest::new(typed))?;
        let share = shares.entry(kind).or_default();
        share.queries += 1;
        let is_right = typed == meant;
        let offered = answer.corrected.clone();
        match &offered {
            Some(offered) if !is_right && normalise(offered) == normalise(meant) => share.right += 1,
            Some(_) => share.wrong += 1,
            None if is_right => share.right += 1,
            None if !search.processor().has_few_results(&answer)? => share.found += 1,
            None => {}
        }
        cases.push(Case { typed, meant, kind, offered, results: answer.total });
    }
    if global.json {
        console::print_json(&serde_json::json!({ "shares": shares, "cases": cases }))?;
        return Ok(CommandOutcome::Good);
    }
    for case in cases.iter().filter(|_| args.cases) {
        let offered = case.offered.as_deref().unwrap_or("-");
        console::out!("{}\t{}\t{}\t{}\t{}", case.kind, case.typed, case.meant, offered, case.results);
    }
    let sum = |what: fn(&CorrectionCounts) -> usize| shares.values().map(what).sum::<usize>();
    let all = CorrectionCounts {
        queries: sum(|s| s.queries),
        right: sum(|s| s.right),
        wrong: sum(|s| s.wrong),
        found: sum(|s| s.found),
    };
    console::out!(
        "{:<20} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "error type",
        "queries",
        "right",
        "wrong",
        "found",
        "share"
    );
    for (kind, share) in shares.iter().map(|(kind, share)| (*kind, share)).chain([("all", &all)]) {
        let part = 100.0 * share.right as f64 / share.queries.max(1) as f64;
        console::out!(
            "{kind:<20} {:>8} {:>8} {:>8} {:>8} {part:>6.1} %",
            share.queries,
            share.right,
            share.wrong,
            share.found
        );
    }
    Ok(CommandOutcome::Good)
}
