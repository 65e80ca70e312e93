//! `/admin/logs`: the end of a log file, optionally only the lines that contain a text.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::charts::bytes;
use super::queries::tail;
use super::words::PageWords;
use super::work::aside;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;
use crate::words::fill;

/// Bytes read from the end of a log, and maximum number of lines shown.
const TAIL: u64 = 4 << 20;
const LINES: usize = 300;
/// Maximum number of files listed, newest first.
const FILES: usize = 60;
/// Longer lines are truncated, in characters.
const LONGEST_LINE: usize = 1_000;

#[derive(Template)]
#[template(path = "admin/logs.html")]
struct LogsPage {
    frame: DeskFrame,
    w: &'static PageWords,
    files: Vec<Entry>,
    chosen: String,
    contains: String,
    lines: Vec<String>,
    told: String,
}

struct Entry {
    name: String,
    size: String,
    is_chosen: bool,
}

/// Name and size of the log files.
type Files = Vec<(String, u64)>;

/// `/admin/logs?file=…&q=…`.
pub(crate) async fn logs(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let w = PageWords::of(visitor.lang);
    let asked = visitor.param("file").map(ToString::to_string);
    let contains: String = visitor.param("q").unwrap_or_default().trim().chars().take(200).collect();
    let word = contains.clone();
    let (files, chosen, lines) = aside(&rooms, move |service| {
        let dir = service.data.logs();
        let files = files_of(&dir);
        // Only files of the directory can be chosen, whatever the request asks for.
        let chosen = files.iter().map(|(name, _)| name).find(|name| Some(*name) == asked.as_ref());
        let chosen =
            chosen.or_else(|| files.iter().map(|(name, _)| name).find(|name| name.starts_with("crawl-")));
        let chosen = chosen.or(files.first().map(|(name, _)| name)).cloned().unwrap_or_default();
        let text = if chosen.is_empty() {
            String::new()
        } else {
            tail(&dir.join(&chosen), TAIL).unwrap_or_default()
        };
        let lower = word.to_lowercase();
        let matching =
            text.lines().rev().filter(|line| lower.is_empty() || line.to_lowercase().contains(&lower));
        let lines: Vec<String> =
            matching.take(LINES).map(|line| line.chars().take(LONGEST_LINE).collect()).collect();
        Ok((files, chosen, lines))
    })
    .await?;
    let page = LogsPage {
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        w,
        files: files
            .into_iter()
            .take(FILES)
            .map(|(name, size)| Entry { size: bytes(size as f64), is_chosen: name == chosen, name })
            .collect(),
        told: fill(w.lines_shown, &[&lines.len().to_string()]),
        chosen,
        contains,
        lines,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// Lists the uncompressed logs, newest day first.
fn files_of(dir: &std::path::Path) -> Files {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Files = entries
        .filter_map(|entry| {
            let (name, meta) = (entry.file_name().into_string().ok()?, entry.metadata().ok()?);
            let is_log = name.ends_with(".log") || name.ends_with(".jsonl");
            (is_log && meta.is_file()).then_some((name, meta.len()))
        })
        .collect();
    let day = |name: &str| {
        name.find(|c: char| c.is_ascii_digit()).map_or(String::new(), |at| name[at..].to_string())
    };
    files.sort_by(|(a, _), (b, _)| day(b).cmp(&day(a)).then_with(|| a.cmp(b)));
    files
}
