//! `pharos eval correct`: how many mistyped queries are set right, by kind of slip.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use pharos_index::EmbeddedIndex;
use pharos_query::{Request, Search};
use pharos_text::normalise;
use serde::Serialize;

use crate::cli::{EvalCorrectArgs, Global};
use crate::{Outcome, console, settings};

/// What became of the queries of one kind.
#[derive(Debug, Default, Serialize)]
struct Share {
    queries: usize,
    /// What was meant was offered; for queries that are right, nothing was.
    right: usize,
    /// Something else was offered.
    wrong: usize,
    /// They have results enough as they were typed.
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

pub(crate) fn run(global: &Global, args: &EvalCorrectArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    let place = args.table.display();
    let table = fs::read_to_string(&args.table).with_context(|| format!("cannot read {place}"))?;
    let search = Search::new(Arc::new(EmbeddedIndex::open_reader(&data.index())?), &config);
    search.set_help(super::suggest::gather(&data, &config, &search)?);
    let (mut shares, mut cases): (BTreeMap<&str, Share>, Vec<Case<'_>>) = Default::default();
    for (number, line) in (1..).zip(table.lines()) {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let mut columns = line.split('\t');
        let (Some(typed), Some(meant)) = (columns.next(), columns.next()) else {
            bail!(
                "{place}:{number}: a line is what was typed, a tab, what was meant, and perhaps a tab and the kind of slip"
            );
        };
        let kind = columns.next().unwrap_or("any");
        let answer = search.run(&Request::new(typed))?;
        let share = shares.entry(kind).or_default();
        share.queries += 1;
        let is_right = typed == meant;
        let offered = answer.corrected.clone();
        match &offered {
            Some(offered) if !is_right && normalise(offered) == normalise(meant) => share.right += 1,
            Some(_) => share.wrong += 1,
            None if is_right => share.right += 1,
            None if !search.is_doubtful(&answer)? => share.found += 1,
            None => {}
        }
        cases.push(Case { typed, meant, kind, offered, results: answer.total });
    }
    if global.json {
        console::print_json(&serde_json::json!({ "shares": shares, "cases": cases }))?;
        return Ok(Outcome::Good);
    }
    for case in cases.iter().filter(|_| args.cases) {
        let offered = case.offered.as_deref().unwrap_or("-");
        console::out!("{}\t{}\t{}\t{}\t{}", case.kind, case.typed, case.meant, offered, case.results);
    }
    let sum = |what: fn(&Share) -> usize| shares.values().map(what).sum::<usize>();
    let all = Share {
        queries: sum(|s| s.queries),
        right: sum(|s| s.right),
        wrong: sum(|s| s.wrong),
        found: sum(|s| s.found),
    };
    console::out!(
        "{:<20} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "slip",
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
    Ok(Outcome::Good)
}
