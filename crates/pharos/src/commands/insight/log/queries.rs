//! `pharos log queries`: lists of queries that users ask or fail with.

use std::io::{self, Write as _};

use pharos_mining::behaviour::query_table::{
    QueryLanguage, QueryList, QueryRow, query_table, select, to_csv,
};

use super::source::read_searches;
use crate::cli::{Global, LogQueriesArgs, QueryLanguageArg, QueryListArg};
use crate::{CommandOutcome, console};

pub(super) fn run(global: &Global, args: &LogQueriesArgs) -> anyhow::Result<CommandOutcome> {
    let log = read_searches(global, &args.source)?;
    let language = args.language.map(|language| match language {
        QueryLanguageArg::Zh => QueryLanguage::Chinese,
        QueryLanguageArg::Other => QueryLanguage::Other,
    });
    let rows = query_table(&log, language);
    let selected = select(&rows, list_of(args.list), args.count);
    if global.json {
        console::print_json(&selected)?;
    } else if args.csv {
        io::stdout().lock().write_all(to_csv(&selected).as_bytes())?;
    } else {
        print_table(&selected)?;
    }
    if selected.is_empty() {
        console::print_message(global.quiet, "no query belongs to this list");
        return Ok(CommandOutcome::NothingFound);
    }
    Ok(CommandOutcome::Good)
}

fn list_of(list: QueryListArg) -> QueryList {
    match list {
        QueryListArg::Top => QueryList::Top,
        QueryListArg::Rising => QueryList::Rising,
        QueryListArg::WithoutResults => QueryList::WithoutResults,
        QueryListArg::FewClicks => QueryList::FewClicks,
        QueryListArg::Abandoned => QueryList::Abandoned,
        QueryListArg::Corrected => QueryList::Corrected,
        QueryListArg::Slow => QueryList::Slow,
    }
}

fn print_table(rows: &[&QueryRow]) -> anyhow::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    console::out!(
        "{:>8} {:>7} {:>7} {:>7} {:>9} {:>9} {:>9}  query",
        "searches",
        "visits",
        "empty",
        "clicked",
        "abandoned",
        "corrected",
        "time"
    );
    for row in rows {
        let clicked = row.click_rate().map_or_else(|| "-".into(), |rate| format!("{:.0} %", 100.0 * rate));
        let time = row.mean_ms.map_or_else(|| "-".into(), |ms| format!("{ms:.0} ms"));
        console::out!(
            "{:>8} {:>7} {:>7} {clicked:>7} {:>9} {:>9} {time:>9}  {}",
            row.searches,
            row.visits,
            row.without_results,
            row.abandoned,
            row.corrected,
            console::printable(&row.query)
        );
    }
    Ok(())
}
