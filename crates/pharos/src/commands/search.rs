//! `pharos search`.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;

use anyhow::bail;
use pharos_index::EmbeddedIndex;
use pharos_query::{Answer, Request, Search};
use pharos_store::DataDir;

use crate::cli::{Global, SearchArgs};
use crate::{Outcome, console, settings};

pub(crate) fn run(global: &Global, args: SearchArgs) -> anyhow::Result<Outcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    must_exist(&data)?;
    let index = EmbeddedIndex::open_reader(&data.index())?;
    let search = Search::new(Arc::new(index), config.query);
    let size = args.number.clamp(1, 1000);
    let request = Request { text: args.query.join(" "), page: args.page, size, all: args.all };
    let answer = search.run(&request)?;
    if global.json {
        console::print_json(&answer)?;
    } else {
        print(&answer, size, args.explain)?;
        if answer.total == 0 && search.pages()? == 0 {
            console::say(global.quiet, "nothing is searchable yet: run `pharos index build`, or `pharos up`");
        }
    }
    Ok(if answer.hits.is_empty() { Outcome::NothingFound } else { Outcome::Good })
}

/// A reader of a directory that is not there has probably misspelt it.
pub(crate) fn must_exist(data: &DataDir) -> anyhow::Result<()> {
    if !data.root().is_dir() {
        bail!(
            "there is no data directory {}: crawl something first, or name another with --data",
            data.root().display()
        );
    }
    Ok(())
}

fn print(answer: &Answer, size: usize, explain: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let (bold, plain) = if out.is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    if explain {
        writeln!(out, "understood: {}\ngeneration: {}\n", answer.understood, answer.generation)?;
    }
    let first = answer.page.saturating_sub(1).saturating_mul(size);
    for (rank, hit) in (1..).zip(&answer.hits) {
        let rank = first.saturating_add(rank);
        writeln!(out, "{rank:>3}. {bold}{}{plain}", console::printable(&hit.title))?;
        writeln!(out, "     {}  {}", hit.url, hit.date.as_deref().unwrap_or_default())?;
        if !hit.snippet.is_empty() {
            writeln!(out, "     {}", console::printable(&hit.snippet))?;
        }
        match hit.duplicates {
            0 => {}
            1 => writeln!(out, "     1 copy not shown")?,
            more => writeln!(out, "     {more} copies not shown")?,
        }
        if explain {
            writeln!(out, "     score {:.3}", hit.score)?;
        }
        writeln!(out)?;
    }
    let about = if answer.total_is_exact { "" } else { "about " };
    writeln!(out, "{about}{} results, {:.1} ms", answer.total, answer.took_ms)
}
