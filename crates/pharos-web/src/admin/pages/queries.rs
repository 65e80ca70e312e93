//! `/admin/queries`: top, rising and unsuccessful queries, and latencies over time.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::{Clock as _, SystemClock};
use pharos_mining::log::files::list_files;
use pharos_mining::system::SystemRecord;
use pharos_mining::{LogFile, LogKind, QueryRecord, TimeWindow};
use serde::de::DeserializeOwned;

use super::commands::spawn_blocking;
use super::messages::PageMessages;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

/// Entries per list.
const MAX_SHOWN: usize = 20;
/// Bytes read from the end of a log, so that the page is fast however long the log is.
const MAX_READ: u64 = 2 << 20;
/// Time slots shown, newest first.
const MAX_SLOTS: usize = 24;

#[derive(Template)]
#[template(path = "admin/queries.html")]
struct QueriesPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    is_off: bool,
    top: Vec<(String, String, String)>,
    rising: Vec<(String, String, String)>,
    empty: Vec<(String, String, String)>,
    looked_at: String,
    slots: Vec<Slot>,
    hours: Vec<Hour>,
}

/// A time slot of the system log.
struct Slot {
    at: String,
    queries: String,
    p50: String,
    p99: String,
    cached: String,
    fetched: String,
    lost: u64,
}

/// A bar of the chart of the last 24 hours.
struct Hour {
    x: usize,
    height: u64,
    title: String,
}

/// `GET /admin/queries`.
pub(crate) async fn queries(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = PageMessages::for_lang(visitor.lang);
    let is_off = !app.config().log.enabled;
    let (recent, slots) = spawn_blocking(&app, |service| {
        let logs = service.data.logs();
        Ok((newest::<QueryRecord>(&logs, LogKind::Queries), newest::<SystemRecord>(&logs, LogKind::System)))
    })
    .await?;
    let (top, rising, hours) = spawn_blocking(&app, |service| {
        Ok(service.search.with_statistics(|memory| {
            (
                memory.top(TimeWindow::Day, MAX_SHOWN),
                memory.rising(TimeWindow::Day, MAX_SHOWN),
                memory.hourly_total(),
            )
        }))
    })
    .await?;
    let entry = |query: String, figure: String| (link("/search", [("q", query.as_str())]), query, figure);
    let most = hours.iter().copied().max().unwrap_or_default().max(1);
    let page = QueriesPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
        is_off,
        top: top.into_iter().map(|hot| entry(hot.query, grouped(hot.count))).collect(),
        rising: rising.into_iter().map(|hot| entry(hot.query, format!("× {:.1}", hot.growth))).collect(),
        looked_at: grouped(recent.len() as u64),
        empty: without_results(recent)
            .into_iter()
            .map(|(query, count)| entry(query, grouped(count)))
            .collect(),
        slots: slots.iter().rev().take(MAX_SLOTS).map(|slot| Slot::new(slot, visitor.lang)).collect(),
        hours: hours
            .iter()
            .enumerate()
            .map(|(nth, count)| Hour { x: nth * 12, height: 56 * count / most, title: grouped(*count) })
            .collect(),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// Returns the queries without results, most frequent first.
fn without_results(recent: Vec<QueryRecord>) -> Vec<(String, u64)> {
    let mut counts = std::collections::HashMap::<String, u64>::new();
    for record in recent.into_iter().filter(|record| record.total == Some(0) && record.page <= 1) {
        *counts.entry(record.query).or_default() += 1;
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.truncate(MAX_SHOWN);
    counts
}

impl Slot {
    fn new(slot: &SystemRecord, lang: Lang) -> Self {
        let ms = |time: Option<f64>| time.map_or_else(|| "–".into(), |ms| format!("{ms:.1} ms"));
        let (hits, misses) = (slot.done.cache_hits, slot.done.cache_misses);
        let part = |hits: u64, all: u64| (all > 0).then(|| format!("{} %", 100 * hits / all));
        Self {
            at: lang.date_time(slot.to),
            queries: grouped(slot.queries),
            p50: ms(slot.latency.p50),
            p99: ms(slot.latency.p99),
            cached: part(hits, hits + misses).unwrap_or_else(|| "–".into()),
            fetched: grouped(slot.done.fetched),
            lost: slot.log_lost,
        }
    }
}

/// Reads the newest records of a log, oldest first, from the ends of today's and yesterday's file.
fn newest<R: DeserializeOwned>(logs: &Path, kind: LogKind) -> Vec<R> {
    let today = SystemClock.now().date();
    let files = list_files(logs).unwrap_or_default();
    let open = files.into_iter().filter(|file| file.kind == kind && !file.compressed && file.day <= today);
    let last: Vec<LogFile> = open.collect();
    let mut records = Vec::new();
    for file in &last[last.len().saturating_sub(2)..] {
        let Ok(text) = tail(&file.path, MAX_READ) else { continue };
        records.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
    }
    records
}

/// Reads the last `most` bytes of a file, starting at the beginning of a line.
pub(super) fn tail(path: &Path, limit: u64) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(limit);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let first = text.find('\n').map_or(0, |end| end + 1);
    Ok(if from > 0 { text[first..].to_string() } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_begins_with_a_whole_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        std::fs::write(&path, "first line\nsecond 灯塔\nthird\n").unwrap();
        assert_eq!(tail(&path, 1000).unwrap(), "first line\nsecond 灯塔\nthird\n");
        assert_eq!(tail(&path, 10).unwrap(), "third\n");
        assert!(tail(&dir.path().join("none"), 10).is_err());
    }
}
