//! `pharos search`.

use std::io::{self, Write as _};

use pharos_query::{
    CuratedBy, HitExplanation, QueryExplanation, ResultOptions, SearchRequest, SearchResponse,
};

use crate::cli::{Global, SearchArgs};
use crate::terminal::{Style, Terminal};
use crate::{CommandOutcome, console, settings};

pub(crate) fn run(global: &Global, args: SearchArgs) -> anyhow::Result<CommandOutcome> {
    let config = settings::load(global)?;
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    let search = super::open_service(&data, &config)?;
    let size = args.number.unwrap_or(config.query.page_size).clamp(1, 1000);
    let request = SearchRequest {
        text: args.query.join(" "),
        page: args.page,
        size,
        options: ResultOptions {
            all: args.all,
            newest_first: args.sort == "date",
            any_word: args.any,
            as_typed: args.as_typed,
        },
        explain: args.explain,
        facets: args.facets,
        ..SearchRequest::default()
    };
    let answer = search.run(&request)?;
    if global.json {
        console::print_json(&answer)?;
    } else {
        print(&answer, size)?;
        if answer.matches() == 0 && search.processor().pages()? == 0 {
            console::print_message(
                global.quiet,
                "the index is empty: run `pharos index build` or `pharos up`",
            );
        }
    }
    Ok(if answer.hits.is_empty() { CommandOutcome::NothingFound } else { CommandOutcome::Good })
}

fn print(answer: &SearchResponse, size: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let terminal = Terminal::of_stdout();
    if let Some(explanation) = &answer.explanation {
        explain_query(&mut out, answer, explanation)?;
    }
    if let Some(notice) = &answer.notice {
        let link = notice.link.as_ref().map(|link| format!(" <{link}>")).unwrap_or_default();
        writeln!(out, "notice: {}{link}\n", console::printable(&notice.text))?;
    }
    if let Some(corrected) = &answer.corrected {
        let corrected = console::printable(corrected);
        if answer.is_corrected {
            let typed = console::printable(&answer.query);
            writeln!(out, "showing results for: {corrected}\nsearch instead for: {typed} (--as-typed)\n")?;
        } else {
            writeln!(out, "did you mean: {corrected}\n")?;
        }
    }
    if let Some(exact) = &answer.exact_query {
        writeln!(out, "to require all words: {}\n", console::printable(exact))?;
    }
    if answer.relaxed && !answer.hits.is_empty() {
        writeln!(out, "no page contains all words; showing partial matches\n")?;
    }
    let first = answer.page.saturating_sub(1).saturating_mul(size);
    for (rank, hit) in (1..).zip(&answer.hits) {
        let rank = first.saturating_add(rank);
        let indent = if hit.indented { 8 } else { 5 };
        let margin = &" ".repeat(indent);
        let begin = format!("{}{rank:>3}. ", if hit.indented { "   " } else { "" });
        let title = terminal.marked(&hit.title_html, Style::Title, indent, begin.len());
        writeln!(out, "{begin}{title}")?;
        let url = terminal.plain(&hit.url, Style::Address);
        let pinned = if hit.pinned { "  pinned" } else { "" };
        writeln!(out, "{margin}{url}  {}{pinned}", hit.date.as_deref().unwrap_or_default())?;
        if !hit.snippet.is_empty() {
            writeln!(out, "{}", terminal.marked(&hit.snippet_html, Style::Text, indent, 0))?;
        }
        if !hit.missing.is_empty() {
            writeln!(out, "{margin}without: {}", console::printable(&hit.missing.join(", ")))?;
        }
        for link in &hit.sitelinks {
            writeln!(out, "{margin}> {}  {}", console::printable(&link.title), link.url)?;
        }
        match hit.duplicates {
            0 => {}
            1 => writeln!(out, "{margin}1 duplicate not shown")?,
            more => writeln!(out, "{margin}{more} duplicates not shown")?,
        }
        if hit.more_from_site > 0 {
            writeln!(out, "{margin}{} more from {}", hit.more_from_site, hit.site)?;
        }
        if let Some(explanation) = &hit.explanation {
            explain_hit(&mut out, margin, hit.score, explanation)?;
        }
        writeln!(out)?;
    }
    for (facet, values) in answer.facets.iter().filter(|(_, values)| !values.is_empty()) {
        let values: Vec<String> =
            values.iter().map(|v| format!("{} {}", console::printable(&v.value), v.pages)).collect();
        writeln!(out, "{facet}: {}", values.join(", "))?;
    }
    let about = if answer.total_is_exact { "" } else { "about " };
    let partial = if answer.partial { "; incomplete: the time limit was reached" } else { "" };
    let results = if answer.total == 1 { "result" } else { "results" };
    let some = match answer.partial_total {
        0 => String::new(),
        some => format!(" and {some} with some of the words"),
    };
    writeln!(out, "{about}{} {results}{some}, {:.1} ms{partial}", answer.total, answer.took_ms)
}

fn explain_query(
    out: &mut impl io::Write,
    answer: &SearchResponse,
    explanation: &QueryExplanation,
) -> io::Result<()> {
    let QueryExplanation { kind, executed: asked, model, combine, weights, candidates, feedback, hidden } =
        explanation;
    writeln!(out, "parsed:     {}", console::printable(&answer.understood))?;
    writeln!(out, "executed:   {}", console::printable(asked))?;
    let weights: Vec<String> =
        weights.iter().filter(|(_, k)| **k > 0.0).map(|(part, k)| format!("{part} {k}")).collect();
    writeln!(out, "kind:       {kind:?}; {model}, {combine}; {}", weights.join(", "))?;
    writeln!(out, "scored:     {candidates} of {} pages, generation {}", answer.total, answer.generation)?;
    if !feedback.is_empty() {
        writeln!(out, "feedback:   {}", console::printable(&feedback.join(" ")))?;
    }
    for hidden in hidden {
        writeln!(out, "hidden by {}", curated_by(hidden))?;
    }
    writeln!(out)
}

fn curated_by(by: &CuratedBy) -> String {
    let until = by.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    format!("{} on {}{until} (entry {} of `pharos curate list`)", console::printable(&by.by), by.at, by.entry)
}

fn explain_hit(
    out: &mut impl io::Write,
    margin: &str,
    score: f32,
    explanation: &HitExplanation,
) -> io::Result<()> {
    let parts: Vec<String> = explanation
        .parts
        .iter()
        .map(|part| format!("{} {:.3}×{}", part.part, part.value, part.weight))
        .collect();
    if let Some(pinned) = &explanation.pinned {
        writeln!(out, "{margin}pinned by {}", curated_by(pinned))?;
    }
    if !parts.is_empty() {
        writeln!(out, "{margin}score {score:.4} = {}", parts.join(" + "))?;
    }
    for word in &explanation.words {
        let name = match &word.synonym {
            Some(synonym) => format!("{} (synonym of {})", synonym.text, synonym.synonym_of),
            None => word.word.clone(),
        };
        writeln!(
            out,
            "{margin}  {}: {:.1} occurrences, in {} pages (weight {:.2}), score {:.2}",
            console::printable(&name),
            word.times,
            word.pages,
            word.weight,
            word.score
        )?;
    }
    Ok(())
}
