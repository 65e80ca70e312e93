//! `pharos hot`: popular and rising queries.

use std::time::Duration;

use anyhow::Context as _;
use pharos_core::{Clock as _, SystemClock, Timestamp};
use pharos_mining::{LogStatistics, TimeWindow};
use serde_json::json;

use crate::cli::{Global, HotArgs};
use crate::{CommandOutcome, console, settings};

/// Width of the longest bar.
const BAR: u64 = 40;
const HOUR: Duration = Duration::from_secs(3600);

pub(crate) fn run(global: &Global, args: &HotArgs) -> anyhow::Result<CommandOutcome> {
    let (config, data) = (settings::load(global)?, settings::data_dir(global));
    settings::require_data_dir(&data)?;
    let now = args.at.as_deref().map_or_else(|| Ok(SystemClock.now()), moment)?;
    let memory = LogStatistics::open(&data, &config.hot, now)
        .with_context(|| format!("cannot read the logs in {}", data.logs().display()))?;
    let count = args.count.unwrap_or(config.hot.shown);
    let window = if args.window == "1h" { TimeWindow::Hour } else { TimeWindow::Day };
    let shown = match &args.hourly {
        Some(query) => hourly(global, &memory, query, now)?,
        None if args.rising => rising(global, &memory, window, count)?,
        None => top(global, &memory, window, count, args.window == "today")?,
    };
    if shown {
        return Ok(CommandOutcome::Good);
    }
    let message = format!(
        "no query of at least {} different visits (hot.min_visits); `pharos log count --by query` counts all queries",
        config.hot.min_visits
    );
    console::print_message(global.quiet, &message);
    Ok(CommandOutcome::NothingFound)
}

/// Parses a time, or the end of a day.
fn moment(text: &str) -> anyhow::Result<Timestamp> {
    let end_of_day = || Timestamp::parse(&format!("{text}T23:59:59.999Z"));
    Timestamp::parse(text)
        .or_else(end_of_day)
        .with_context(|| format!("--at: invalid time `{text}`: expected 2026-01-31 or 2026-01-31T12:00:00Z"))
}

fn top(
    global: &Global,
    memory: &LogStatistics,
    window: TimeWindow,
    count: usize,
    today: bool,
) -> anyhow::Result<bool> {
    let hot = if today { memory.top_today(count) } else { memory.top(window, count) };
    if global.json {
        console::print_json(&hot)?;
    } else {
        for query in &hot {
            console::out!("{:>8}  {}", query.count, console::printable(&query.query));
        }
    }
    Ok(!hot.is_empty())
}

fn rising(global: &Global, memory: &LogStatistics, window: TimeWindow, count: usize) -> anyhow::Result<bool> {
    let rising = memory.rising(window, count);
    if global.json {
        console::print_json(&rising)?;
    } else {
        for query in &rising {
            let text = console::printable(&query.query);
            console::out!("{:>8.1} ×  {:>8} from {:<8}  {text}", query.growth, query.count, query.before);
        }
    }
    Ok(!rising.is_empty())
}

fn hourly(global: &Global, memory: &LogStatistics, query: &str, now: Timestamp) -> anyhow::Result<bool> {
    let Some(counts) = memory.hourly(query) else {
        if global.json {
            console::print_json(&json!([]))?;
        }
        return Ok(false);
    };
    let start = Timestamp::from_millis(now.millis() - now.millis().rem_euclid(3_600_000));
    let hours: Vec<(String, u64)> = (0..)
        .zip(counts.iter().rev())
        .map(|(ago, count)| (start.minus(HOUR * ago).to_string(), *count))
        .collect();
    if global.json {
        let hours: Vec<_> =
            hours.iter().rev().map(|(hour, count)| json!({ "hour": hour, "count": count })).collect();
        console::print_json(&hours)?;
        return Ok(true);
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    for (hour, count) in hours.iter().rev() {
        // 2026-01-31T12:00:00Z
        let (day, time) = (hour.get(..10).unwrap_or_default(), hour.get(11..16).unwrap_or_default());
        let bar = "█".repeat(usize::try_from((count * BAR).div_ceil(most)).unwrap_or(0));
        console::out!("{}", format!("{day} {time}  {count:>8}  {bar}").trim_end());
    }
    Ok(true)
}
