//! `/admin/logs`: the end of a log file, optionally only the lines that contain a text or report a problem.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use super::charts::format_bytes;
use super::commands::spawn_blocking;
use super::messages::PageMessages;
use super::params;
use super::queries::tail;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::fill;
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

/// Bytes read from the end of a log, and maximum number of lines shown.
const MAX_READ: u64 = 4 << 20;
const MAX_LINES: usize = 300;
/// Maximum number of files listed, newest first.
const MAX_FILES: usize = 60;
/// Maximum length of the filter.
const MAX_FILTER_LENGTH: usize = 200;
/// Longer lines are truncated, in characters.
const MAX_LINE_LENGTH: usize = 1_000;

#[derive(Template)]
#[template(path = "admin/logs.html")]
struct LogsPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    files: Vec<LogFileOption>,
    chosen: String,
    contains: String,
    levels: Vec<(&'static str, &'static str, bool)>,
    lines: Vec<LogLine>,
    summary: String,
}

/// A line of a log as shown.
struct LogLine {
    text: String,
    /// CSS class.
    level: &'static str,
}

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LogLevel {
    Normal,
    /// The request was refused, or led to nothing (status 4xx).
    Warning,
    /// The request failed (no response, or status 5xx).
    Error,
}

impl LogLevel {
    const NAMES: [(&'static str, LogLevel); 3] =
        [("all", Self::Normal), ("warnings", Self::Warning), ("errors", Self::Error)];

    /// Determines the severity of a line of the crawl log, or of a log in JSON.
    fn of(line: &str) -> Self {
        let status = match line.strip_prefix('{') {
            Some(json) => json.split_once("\"status\":").map_or("", |(_, rest)| rest),
            None => line.split_whitespace().nth(1).unwrap_or_default(),
        };
        match status.as_bytes() {
            [b'4', b'0'..=b'9', b'0'..=b'9', ..] | b"no" => Self::Warning,
            [b'5', b'0'..=b'9', b'0'..=b'9', ..] | b"---" => Self::Error,
            _ => Self::Normal,
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Normal => "",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

struct LogFileOption {
    name: String,
    size: String,
    is_chosen: bool,
}

/// Name and size of the log files.
type LogFiles = Vec<(String, u64)>;

/// `/admin/logs?file=…&q=…&level=…`.
pub(crate) async fn logs(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = PageMessages::for_lang(visitor.lang);
    let requested = visitor.param("file").map(ToString::to_string);
    let contains = params::text(&visitor, "q", MAX_FILTER_LENGTH);
    let word = contains.clone();
    let (level_name, level) =
        params::choice(&visitor, "level", &LogLevel::NAMES).unwrap_or(LogLevel::NAMES[0]);
    let (files, chosen, lines) = spawn_blocking(&app, move |service| {
        let dir = service.data.logs();
        let files = list_logs(&dir);
        // Only files of the directory can be chosen, whatever the request names.
        let chosen = files.iter().map(|(name, _)| name).find(|name| Some(*name) == requested.as_ref());
        let chosen =
            chosen.or_else(|| files.iter().map(|(name, _)| name).find(|name| name.starts_with("crawl-")));
        let chosen = chosen.or(files.first().map(|(name, _)| name)).cloned().unwrap_or_default();
        let text = if chosen.is_empty() {
            String::new()
        } else {
            tail(&dir.join(&chosen), MAX_READ).unwrap_or_default()
        };
        let lower = word.to_lowercase();
        let matching = text
            .lines()
            .rev()
            .filter(|line| lower.is_empty() || line.to_lowercase().contains(&lower))
            .map(|line| (line, LogLevel::of(line)))
            .filter(|(_, of_line)| *of_line >= level);
        let lines = matching.take(MAX_LINES).map(|(line, level)| LogLine {
            text: line.chars().take(MAX_LINE_LENGTH).collect(),
            level: level.class(),
        });
        Ok((files, chosen, lines.collect::<Vec<_>>()))
    })
    .await?;
    let page = LogsPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
        files: files
            .into_iter()
            .take(MAX_FILES)
            .map(|(name, size)| LogFileOption {
                size: format_bytes(size as f64),
                is_chosen: name == chosen,
                name,
            })
            .collect(),
        levels: [("all", m.all_levels), ("warnings", m.warnings), ("errors", m.errors)]
            .map(|(name, text)| (name, text, name == level_name))
            .into(),
        summary: fill(m.lines_shown, &[&lines.len().to_string()]),
        chosen,
        contains,
        lines,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// Lists the uncompressed logs, newest day first.
fn list_logs(dir: &std::path::Path) -> LogFiles {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: LogFiles = entries
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_levels() {
        for (line, level) in [
            ("2026-01-31T08:15:02.120Z  200     34127 B  d2  http://a.example/500", LogLevel::Normal),
            ("2026-01-31T08:15:02.120Z  404      127 B  d2  http://a.example/", LogLevel::Warning),
            (
                "2026-01-31T08:15:02.120Z  no         0 B  d2  http://a.example/  robots.txt",
                LogLevel::Warning,
            ),
            ("2026-01-31T08:15:02.120Z  503        0 B  d2  http://a.example/", LogLevel::Error),
            ("2026-01-31T08:15:02.120Z  ---        0 B  d2  http://a.example/  timed out", LogLevel::Error),
            ("{\"at\":\"2026-01-31T08:15:02.120Z\",\"route\":\"/search\",\"status\":503}", LogLevel::Error),
            ("{\"at\":\"2026-01-31T08:15:02.120Z\",\"query\":\"404\"}", LogLevel::Normal),
            ("", LogLevel::Normal),
        ] {
            assert_eq!(LogLevel::of(line), level, "{line}");
        }
    }
}
