//! `pharos log …`: the logs of queries, impressions and clicks.

mod entities;
mod graph;
mod queries;
mod report;
mod sessions;
mod share;
mod source;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use pharos_core::SystemClock;
use pharos_mining::import::{ImportReport, UtcOffset, click_log, parse_date, query_log};
use pharos_mining::log::files::is_day;
use pharos_mining::log::scan::{check as check_logs, scan};
use pharos_mining::{
    AnyRecord, DayRange, ImportFormat, ImportOptions, LineError, LogAppender, LogKind, VisitHasher,
    import as read_log,
};
use serde::Serialize;
use serde_json::json;

use crate::cli::{
    CountBy, Global, LogCatArgs, LogCommand, LogCountArgs, LogDays, LogForm, LogImportArgs, LogKindArg,
    WrittenForm,
};
use crate::{CommandOutcome, console, settings};

/// Number of invalid lines listed individually.
const MAX_LISTED: usize = 100;

pub(crate) fn run(global: &Global, command: LogCommand) -> anyhow::Result<CommandOutcome> {
    match command {
        LogCommand::Check => check(global),
        LogCommand::Cat(args) => cat(global, &args),
        LogCommand::Count(args) => count(global, &args),
        LogCommand::Import(args) => import(global, &args),
        LogCommand::Sessions(args) => sessions::run(global, &args),
        LogCommand::Entities(args) => entities::run(global, &args),
        LogCommand::Queries(args) => queries::run(global, &args),
        LogCommand::Report(args) => report::run(global, &args),
        LogCommand::Graph(command) => graph::run(global, &command),
        LogCommand::Anonymise(args) => share::anonymise(global, &args),
        LogCommand::K(args) => share::measure_k(global, &args),
        LogCommand::Purge(args) => share::purge(global, &args),
        LogCommand::Export(args) => share::export(global, &args),
    }
}

/// Returns the log directory of an existing data directory.
fn logs(global: &Global) -> anyhow::Result<PathBuf> {
    let data = settings::data_dir(global);
    settings::require_data_dir(&data)?;
    Ok(data.logs())
}

fn kind_of(kind: LogKindArg) -> LogKind {
    match kind {
        LogKindArg::Queries => LogKind::Queries,
        LogKindArg::Impressions => LogKind::Impressions,
        LogKindArg::Clicks => LogKind::Clicks,
        LogKindArg::System => LogKind::System,
        LogKindArg::Access => LogKind::Access,
    }
}

fn days_of(args: &LogDays) -> anyhow::Result<DayRange> {
    for day in [&args.from, &args.to].into_iter().flatten() {
        if !is_day(day) {
            bail!("invalid day `{day}`: expected a form such as 2026-01-31");
        }
    }
    Ok(DayRange { from: args.from.clone(), to: args.to.clone() })
}

fn check(global: &Global) -> anyhow::Result<CommandOutcome> {
    let dir = logs(global)?;
    let mut lines = Vec::new();
    let mut more = 0_u64;
    let checked = check_logs(&dir, &mut |line| {
        if lines.len() < MAX_LISTED { lines.push(line.clone()) } else { more += 1 }
    });
    let checked = checked.with_context(|| format!("cannot read {}", dir.display()))?;
    let broken: u64 = checked.values().map(|checked| checked.broken).sum();
    if global.json {
        let lines: Vec<_> = lines
            .iter()
            .map(|line| json!({ "file": line.file, "line": line.line, "flaw": line.error.to_string() }))
            .collect();
        console::print_json(&json!({ "logs": checked, "lines": lines, "lines_not_listed": more }))?;
    } else {
        for line in &lines {
            let hint = match line.error {
                LineError::Unfinished => " (being written, or left by a crash: the next writer repairs it)",
                _ => "",
            };
            console::out!("{}{hint}", console::printable(&line.to_string()));
        }
        if more > 0 {
            console::out!("… and {} more", more);
        }
        for (kind, checked) in &checked {
            let mut line = format!("{kind:<12} {:>4} files {:>12} records", checked.files, checked.records);
            for (count, what) in [(checked.broken, "broken"), (checked.unfinished, "unfinished")] {
                if count > 0 {
                    line += &format!(", {} {what}", count);
                }
            }
            console::out!("{line}");
        }
    }
    Ok(if broken > 0 { CommandOutcome::PartlyBad } else { CommandOutcome::Good })
}

fn cat(global: &Global, args: &LogCatArgs) -> anyhow::Result<CommandOutcome> {
    let kind = kind_of(args.kind);
    match (args.form, kind) {
        (None, _)
        | (Some(WrittenForm::Query5 | WrittenForm::Line), LogKind::Queries)
        | (Some(WrittenForm::Click5), LogKind::Clicks) => {}
        (Some(WrittenForm::Click5), _) => {
            bail!("the form click5 is for clicks: use `pharos log cat clicks --form click5`")
        }
        (Some(_), _) => {
            bail!("the forms query5 and line are for queries: use `pharos log cat queries --form line`")
        }
    }
    let (dir, days) = (logs(global)?, days_of(&args.days)?);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let (mut printed, mut broken) = (0_u64, 0_u64);
    scan(&dir, &[kind], &days, &mut |_, line| {
        let scanned = match line {
            Ok(scanned) => scanned,
            Err(line) => {
                // A last line that is being written is not an error.
                broken += u64::from(line.error != LineError::Unfinished);
                return Ok(());
            }
        };
        printed += 1;
        match (args.form, &scanned.record) {
            (Some(WrittenForm::Query5), AnyRecord::Query(query)) => {
                out.write_all(query_log::write_five_lines(query, UtcOffset::UTC).as_bytes())
            }
            (Some(WrittenForm::Line), AnyRecord::Query(query)) => {
                out.write_all(query_log::write_line(query, UtcOffset::UTC).as_bytes())
            }
            (Some(WrittenForm::Click5), AnyRecord::Click(click)) => out
                .write_all(click_log::write_five_lines(click, UtcOffset::UTC).unwrap_or_default().as_bytes()),
            _ => out.write_all(scanned.line).and_then(|()| out.write_all(b"\n")),
        }
    })?;
    out.flush()?;
    report_broken(global, broken);
    Ok(outcome(printed, broken))
}

fn report_broken(global: &Global, broken: u64) {
    if broken > 0 {
        let message = format!("{} invalid lines: `pharos log check` lists them", broken);
        console::print_message(global.quiet, &message);
    }
}

fn outcome(good: u64, bad: u64) -> CommandOutcome {
    match (good, bad) {
        (_, 1..) => CommandOutcome::PartlyBad,
        (0, 0) => CommandOutcome::NothingFound,
        _ => CommandOutcome::Good,
    }
}

/// One row of `pharos log count`.
#[derive(Serialize)]
struct CountRow {
    of: String,
    count: u64,
}

fn count(global: &Global, args: &LogCountArgs) -> anyhow::Result<CommandOutcome> {
    let (dir, days) = (logs(global)?, days_of(&args.days)?);
    let mut counts: HashMap<String, u64> = HashMap::new();
    let (mut records, mut broken) = (0_u64, 0_u64);
    scan(&dir, &[kind_of(args.kind)], &days, &mut |file, line| {
        let scanned = match line {
            Ok(scanned) => scanned,
            Err(line) => {
                // A last line that is being written is not an error.
                broken += u64::from(line.error != LineError::Unfinished);
                return Ok(());
            }
        };
        let of = match args.by {
            CountBy::Day => file.day.clone(),
            // 2026-01-31T12
            CountBy::Hour => scanned.record.at().to_string().chars().take(13).collect(),
            CountBy::Query => match scanned.record.query() {
                Some(query) => query.to_string(),
                None => return Ok(()),
            },
        };
        records += 1;
        *counts.entry(of).or_default() += 1;
        Ok(())
    })?;
    let mut counted: Vec<CountRow> = counts.into_iter().map(|(of, count)| CountRow { of, count }).collect();
    counted.sort_by(|a, b| a.of.cmp(&b.of));
    if matches!(args.by, CountBy::Query) {
        counted.sort_by_key(|counted| Reverse(counted.count));
        counted.truncate(args.count);
    }
    if global.json {
        console::print_json(&counted)?;
    } else {
        for CountRow { of, count } in &counted {
            console::out!("{}\t{count}", console::printable(of));
        }
    }
    report_broken(global, broken);
    Ok(outcome(records, broken))
}

fn import(global: &Global, args: &LogImportArgs) -> anyhow::Result<CommandOutcome> {
    let form = match args.form {
        LogForm::Query5 => ImportFormat::Query5,
        LogForm::Click5 => ImportFormat::Click5,
        LogForm::Line => ImportFormat::Line,
        LogForm::Columns => ImportFormat::Columns,
        LogForm::Sogou => ImportFormat::Sogou,
    };
    let zone = UtcOffset::parse(&args.zone);
    let zone = zone.with_context(|| {
        format!("--zone: invalid time zone `{}`: expected a form such as +08:00", args.zone)
    })?;
    let date = args.date.as_ref().map(|text| {
        parse_date(text)
            .with_context(|| format!("--date: invalid day `{text}`: expected a form such as 2008-06-01"))
    });
    let date = date.transpose()?;
    let (config, data) = (settings::load(global)?, settings::data_dir(global));
    let key = VisitHasher::open(&data, &config.log, Arc::new(SystemClock)).key();
    let key = key.context("cannot create the key for visit identifiers: no random numbers available")?;
    let options = ImportOptions { form, zone, date, key };
    let mut log = LogAppender::open(&data, &config.log);
    let mut total = ImportReport::default();
    for file in &args.files {
        let input: Box<dyn Read + Send> = match file.as_str() {
            "-" => Box::new(io::stdin()),
            path => Box::new(File::open(path).with_context(|| format!("cannot read {path}"))?),
        };
        let imported = read_log(input, &options, &mut |record| append(&mut log, record));
        let imported = imported.with_context(|| format!("cannot import {file}"))?;
        total.queries += imported.queries;
        total.clicks += imported.clicks;
        for (reason, rows) in imported.dropped {
            *total.dropped.entry(reason).or_default() += rows;
        }
    }
    log.finish()?;
    report_import(global, args, &total)
}

fn append(log: &mut LogAppender, record: AnyRecord) -> io::Result<()> {
    match record {
        AnyRecord::Query(record) => log.append(record),
        AnyRecord::Impression(record) => log.append(record),
        AnyRecord::Click(record) => log.append(record),
        AnyRecord::System(record) => log.append(record),
        AnyRecord::Access(record) => log.append(record),
    }
    .map_err(io::Error::other)
}

fn report_import(
    global: &Global,
    args: &LogImportArgs,
    total: &ImportReport,
) -> anyhow::Result<CommandOutcome> {
    let dropped: u64 = total.dropped.values().sum();
    if global.json {
        let by_reason: &BTreeMap<_, _> = &total.dropped;
        console::print_json(
            &json!({ "queries": total.queries, "clicks": total.clicks, "dropped": by_reason }),
        )?;
    } else {
        for (count, what) in [(total.queries, "queries"), (total.clicks, "clicks")] {
            if count > 0 {
                console::out!("{count} {what} imported");
            }
        }
        for (reason, rows) in &total.dropped {
            console::out!("{} dropped: {reason}", rows);
        }
    }
    if matches!(args.form, LogForm::Sogou) && args.date.is_none() && total.dropped.contains_key("no time") {
        console::print_message(global.quiet, "the log contains only times: specify its day with --date");
    }
    Ok(outcome(total.queries + total.clicks, dropped))
}
