//! `pharos eval search`: known-item search on the pages of the data directory.

use std::collections::BTreeMap;
use std::io;

use pharos_engine::evaluation::known_items::{KnownItem, KnownItemKind, KnownItemOptions, known_items};
use pharos_query::evaluate::known_item_search::{DEPTH, ItemOutcome, MissCause, find_known_item};
use serde::Serialize;

use crate::cli::{EvalSearchArgs, Global};
use crate::long_task::LongTask;
use crate::{CommandOutcome, commands, console, settings};

/// Kind and language of queries: the rows of the table.
type Row = (KnownItemKind, &'static str);

/// Results of the queries of one row.
#[derive(Debug, Default, Serialize)]
struct RowFigures {
    queries: usize,
    /// Share of queries whose page is the first result.
    p_at_1: f64,
    /// Mean reciprocal rank; 0 for pages beyond the first results.
    mrr: f64,
    /// Share of queries whose page is among the first results.
    s_at_10: f64,
    /// Half the width of the 95 % confidence interval of `s_at_10`.
    s_at_10_margin: f64,
    causes: BTreeMap<MissCause, usize>,
}

#[derive(Serialize)]
struct Case<'i> {
    #[serde(flatten)]
    item: &'i KnownItem,
    #[serde(flatten)]
    outcome: ItemOutcome,
}

pub(crate) fn run(global: &Global, args: &EvalSearchArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let options = KnownItemOptions { per_kind: args.queries, seed: args.seed };
    let search = commands::search::open_service(&data, &config)?;
    let cases = LongTask::run(|task| -> anyhow::Result<Vec<(KnownItem, ItemOutcome)>> {
        let items =
            known_items(&data, &config, options, |pages| task.report(format!("reading pages: {pages}")))?;
        let mut cases = Vec::with_capacity(items.len());
        for (done, item) in items.into_iter().enumerate() {
            if !task.report(format!("searching: {done} queries")) {
                return Err(pharos_engine::EngineError::Stopped.into());
            }
            // No correction finds a page that the query without its misspelling does not find.
            if let Some(intended) = &item.intended
                && find_known_item(&search, intended, &item.url)?.rank.is_none()
            {
                continue;
            }
            let outcome = find_known_item(&search, &item.query, &item.url)?;
            cases.push((item, outcome));
        }
        Ok(cases)
    })?;
    let mut rows: BTreeMap<Row, Vec<ItemOutcome>> = BTreeMap::new();
    for (item, outcome) in &cases {
        rows.entry((item.kind, language(&item.lang))).or_default().push(*outcome);
    }
    let rows: Vec<(Row, RowFigures)> =
        rows.into_iter().map(|(row, outcomes)| (row, figures(&outcomes))).collect();
    let shown = cases.iter().filter(|(_, outcome)| args.cases || outcome.rank.is_none());
    if global.json {
        let rows: Vec<_> = rows
            .iter()
            .map(
                |((kind, lang), figures)| serde_json::json!({"kind": kind, "lang": lang, "figures": figures}),
            )
            .collect();
        let cases: Vec<Case<'_>> = shown.map(|(item, outcome)| Case { item, outcome: *outcome }).collect();
        console::print_json(&serde_json::json!({"rows": rows, "cases": cases}))?;
    } else {
        for (item, outcome) in shown.filter(|_| args.misses || args.cases) {
            let found = match (outcome.rank, outcome.cause) {
                (Some(rank), _) => format!("#{rank}"),
                (None, Some(cause)) => cause_name(cause).to_string(),
                (None, None) => String::new(),
            };
            let query = console::printable(&item.query);
            console::out!("{}\t{found}\t{query}\t{}", kind_name(item.kind), item.url);
        }
        print_table(&rows)?;
    }
    Ok(if rows.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

/// Chinese pages are evaluated apart from all others.
fn language(lang: &str) -> &'static str {
    if lang == "zh" { "zh" } else { "other" }
}

fn figures(outcomes: &[ItemOutcome]) -> RowFigures {
    let queries = outcomes.len();
    let mean =
        |value: &dyn Fn(&ItemOutcome) -> f64| outcomes.iter().map(value).sum::<f64>() / queries.max(1) as f64;
    let s_at_10 = mean(&|outcome| f64::from(u8::from(outcome.rank.is_some())));
    let mut causes = BTreeMap::new();
    for cause in outcomes.iter().filter_map(|outcome| outcome.cause) {
        *causes.entry(cause).or_default() += 1;
    }
    RowFigures {
        queries,
        p_at_1: mean(&|outcome| f64::from(u8::from(outcome.rank == Some(1)))),
        mrr: mean(&|outcome| outcome.rank.map_or(0.0, |rank| 1.0 / rank as f64)),
        s_at_10,
        s_at_10_margin: margin(s_at_10, queries),
        causes,
    }
}

/// Returns half the width of the 95 % confidence interval of a share (Wilson 1927), which is never empty.
fn margin(share: f64, count: usize) -> f64 {
    const Z: f64 = 1.96;
    let n = count.max(1) as f64;
    Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt()
}

fn kind_name(kind: KnownItemKind) -> &'static str {
    match kind {
        KnownItemKind::Title => "title",
        KnownItemKind::Body => "body",
        KnownItemKind::Anchor => "anchor",
        KnownItemKind::Site => "site",
        KnownItemKind::Misspelling => "misspelling",
    }
}

fn cause_name(cause: MissCause) -> &'static str {
    match cause {
        MissCause::NotIndexed => "not indexed",
        MissCause::Offered => "offered",
        MissCause::NotMatched => "not matched",
        MissCause::RankedLow => "ranked low",
        MissCause::Folded => "folded",
        MissCause::Grouped => "grouped",
    }
}

fn print_table(rows: &[(Row, RowFigures)]) -> io::Result<()> {
    console::out!(
        "{:<12} {:<6} {:>7} {:>6} {:>6} {:>14}   pages that are not among the first {DEPTH}",
        "query",
        "pages",
        "queries",
        "P@1",
        "MRR",
        "S@10"
    );
    for ((kind, lang), row) in rows {
        let causes: Vec<String> =
            row.causes.iter().map(|(cause, count)| format!("{count} {}", cause_name(*cause))).collect();
        console::out!(
            "{:<12} {lang:<6} {:>7} {:>6.3} {:>6.3} {:>6.3} ± {:.3}   {}",
            kind_name(*kind),
            row.queries,
            row.p_at_1,
            row.mrr,
            row.s_at_10,
            row.s_at_10_margin,
            causes.join(", ")
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_means() {
        let found = |rank| ItemOutcome { rank: Some(rank), cause: None };
        let missed = ItemOutcome { rank: None, cause: Some(MissCause::Folded) };
        let row = figures(&[found(1), found(4), missed, found(1)]);
        assert_eq!((row.queries, row.p_at_1, row.s_at_10), (4, 0.5, 0.75));
        assert!((row.mrr - 0.5625).abs() < 1e-12);
        assert_eq!(row.causes, BTreeMap::from([(MissCause::Folded, 1)]));
        assert_eq!(figures(&[]).queries, 0);
    }

    #[test]
    fn margins_shrink_with_the_number_of_queries() {
        // Wilson interval of 8 of 10: 0.490 to 0.943.
        assert!((margin(0.8, 10) - 0.2265).abs() < 1e-3);
        assert!(margin(1.0, 10) > 0.1 && margin(1.0, 1_000) < 0.01);
    }
}
