//! `pharos index explain`: shows how a term is indexed.

use anyhow::{Context as _, bail};
use pharos_index::statistics::{TermInField, TermReport};

use crate::cli::{Global, IndexExplainArgs};
use crate::{CommandOutcome, console, settings};

/// Maximum length of a term in bytes.
const MAX_TERM: usize = 1_000;

pub(crate) fn run(global: &Global, args: &IndexExplainArgs) -> anyhow::Result<CommandOutcome> {
    let stores = settings::stores(global)?;
    if args.term.len() > MAX_TERM {
        bail!("the text has {} bytes: the maximum is {MAX_TERM}", args.term.len());
    }
    let index = stores.index()?;
    let index = index.generational().context(super::NO_POSTING_LISTS)?;
    let explanation = index.explain(&args.term, args.field.as_deref(), args.count.min(1_000))?;
    if global.json {
        console::print_json(&explanation)?;
    } else {
        print(&explanation)?;
    }
    Ok(if explanation.is_known() { CommandOutcome::Good } else { CommandOutcome::NothingFound })
}

fn print(explanation: &TermReport) -> anyhow::Result<()> {
    console::out!("index tokens of {:?}", console::printable(&explanation.text));
    if explanation.tokens.is_empty() {
        console::out!("  none: the text has no words");
    }
    for token in &explanation.tokens {
        let term = console::printable(&token.term);
        console::out!("  {term:<24} at position {}, bytes {}–{}", token.position, token.start, token.end);
    }
    console::out!("\n{} documents", explanation.documents);
    for term in &explanation.terms {
        let name = console::printable(&term.term);
        if term.fields.is_empty() {
            console::out!("\n{name}: not indexed");
            continue;
        }
        console::out!("\n{name}");
        console::out!(
            "  {:<10} {:>10} {:>12} {:>10} {:>6} {:>10} {:>6} {:>10} {:>10}",
            "field",
            "documents",
            "occurrences",
            "DF",
            "IDF",
            "TF",
            "ITF",
            "list",
            "bytes"
        );
        for field in &term.fields {
            row(field)?;
        }
        pages(&term.fields)?;
    }
    if !explanation.is_known() {
        console::out!("\nno searchable page contains it");
    }
    Ok(())
}

fn row(field: &TermInField) -> anyhow::Result<()> {
    let logarithm = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.2}"));
    console::out!(
        "  {:<10} {:>10} {:>12} {:>10.3e} {:>6} {:>10.3e} {:>6} {:>10} {:>10}   {}",
        field.field,
        field.documents,
        field.occurrences,
        field.df,
        logarithm(field.idf),
        field.tf,
        logarithm(field.itf),
        field.list_length,
        field.posting_bytes + field.position_bytes,
        generations(field)
    );
    Ok(())
}

/// Formats counts by generation: `history-1: 5, latest-2: 1`.
fn generations(field: &TermInField) -> String {
    let each = field.generations.iter().map(|here| format!("{}: {}", here.generation, here.documents));
    each.collect::<Vec<_>>().join(", ")
}

/// Prints the pages of the field with most occurrences; the JSON output has all fields.
fn pages(fields: &[TermInField]) -> anyhow::Result<()> {
    let Some(field) = fields.first().filter(|field| !field.pages.is_empty()) else { return Ok(()) };
    console::out!("  most often in {}", field.field);
    for page in &field.pages {
        let url = console::printable(&page.url);
        console::out!("  {:>8} occurrences, {:>6} positions   {url}", page.occurrences, page.positions);
    }
    Ok(())
}
