//! `pharos index explain`: the story of one term.

use anyhow::bail;
use pharos_index::{EmbeddedIndex, TermInField, TermStory};

use crate::cli::{Global, IndexExplainArgs};
use crate::{Outcome, console, settings};

/// A text longer than this is no term.
const MAX_TERM: usize = 1_000;

pub(crate) fn run(global: &Global, args: &IndexExplainArgs) -> anyhow::Result<Outcome> {
    let data = settings::data_dir(global);
    super::search::must_exist(&data)?;
    if args.term.len() > MAX_TERM {
        bail!("this text has {} bytes: give a word, or a text of at most {MAX_TERM}", args.term.len());
    }
    let index = EmbeddedIndex::open_reader(&data.index())?;
    let story = index.explain(&args.term, args.field.as_deref(), args.count.min(1_000))?;
    if global.json {
        console::print_json(&story)?;
    } else {
        print(&story)?;
    }
    Ok(if story.is_known() { Outcome::Good } else { Outcome::NothingFound })
}

fn print(story: &TermStory) -> anyhow::Result<()> {
    console::out!("index tokens of {:?}", console::printable(&story.text));
    if story.tokens.is_empty() {
        console::out!("  none: it has no words");
    }
    for token in &story.tokens {
        let term = console::printable(&token.term);
        console::out!("  {term:<24} at place {}, bytes {}–{}", token.position, token.start, token.end);
    }
    console::out!("\n{} documents", story.documents);
    for term in &story.terms {
        let name = console::printable(&term.term);
        if term.fields.is_empty() {
            console::out!("\n{name}: no page has it");
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
    if !story.is_known() {
        console::out!("\nno page that can be found has it");
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

/// `history-1: 5, latest-2: 1`.
fn generations(field: &TermInField) -> String {
    let each = field.generations.iter().map(|here| format!("{}: {}", here.generation, here.documents));
    each.collect::<Vec<_>>().join(", ")
}

/// The pages of the field that has it most; all fields are in the JSON, and may be named.
fn pages(fields: &[TermInField]) -> anyhow::Result<()> {
    let Some(field) = fields.first().filter(|field| !field.pages.is_empty()) else { return Ok(()) };
    console::out!("  most often in {}", field.field);
    for page in &field.pages {
        let url = console::printable(&page.url);
        console::out!("  {:>8} times, {:>6} places   {url}", page.occurrences, page.positions);
    }
    Ok(())
}
