//! CDXJ export: an index of the responses in the library's own files.

use std::fs;
use std::io::Write;
use std::path::Path;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_store::formats::cdxj;
use pharos_store::formats::cdxj::Capture;
use pharos_store::formats::warc_file::{WarcRecord, open_warc};
use pharos_store::{RecordContent, RecordKind, StoreError};

use super::ExportMonitor;
use super::line_sort::SortedLines;
use super::selection::ExportSource;
use crate::EngineError;
use crate::exchange::import::as_response;

/// Media type of a revisit record, as replay tools expect it.
const REVISIT: &str = "warc/revisit";

/// Writes the index of the library files.
pub(super) fn write(
    source: &ExportSource<'_>,
    monitor: &mut ExportMonitor<'_>,
    out: &mut dyn Write,
    path: &Path,
) -> Result<(), EngineError> {
    let mut lines = SortedLines::new();
    let files =
        source.library.local().ok_or(EngineError::NotLocal { operation: "indexing library files" })?;
    for (number, file) in files.files()? {
        if number > source.to.get(0).volume {
            break;
        }
        index_file(source, monitor, number, &file, &mut |line| {
            lines.add(line).map_err(StoreError::io("sort the lines of", path))
        })?;
    }
    lines.write(out).map_err(StoreError::io("write", path))?;
    Ok(())
}

fn index_file(
    source: &ExportSource<'_>,
    monitor: &mut ExportMonitor<'_>,
    number: u32,
    path: &Path,
    add: &mut dyn FnMut(String) -> Result<(), StoreError>,
) -> Result<(), EngineError> {
    let filename = path.file_name().unwrap_or_default().to_string_lossy();
    let mut scan = open_warc(path)?.peekable();
    let end = fs::metadata(path).map_err(StoreError::io("read", path))?.len();
    while let Some(found) = scan.next() {
        monitor.check_stop()?;
        // A record ends where the next one begins.
        let next = match scan.peek() {
            Some(Ok(next)) => next.offset,
            Some(Err(damage)) => damage.offset,
            None => end,
        };
        let record = match found {
            Ok(record) => record,
            Err(damage) => {
                let position = LibraryPosition::new(number, damage.offset);
                // Records that the owner is writing are not exported yet.
                if source.to.covers_record(position) {
                    monitor.bad(position, damage.detail);
                }
                continue;
            }
        };
        let position = LibraryPosition::new(number, original_offset(&record));
        if !source.to.covers_record(position) {
            break;
        }
        let Some(answer) = CaptureFields::from_record(&record) else { continue };
        if !source.includes(answer.kind, &answer.url, answer.at, position)? {
            continue;
        }
        add(cdxj::format_line(&Capture {
            url: &answer.url,
            at: answer.at,
            mime: &answer.mime,
            status: answer.status,
            digest: record.field("WARC-Payload-Digest").unwrap_or_default(),
            length: next.saturating_sub(record.offset),
            offset: record.offset,
            filename: &filename,
        }))?;
        monitor.written();
    }
    Ok(())
}

/// Returns the offset at which a record was appended. Compaction moves records but keeps this offset in a header.
fn original_offset(record: &WarcRecord) -> u64 {
    let span = record.field("Pharos-Span").and_then(|span| span.split('-').next()?.parse().ok());
    span.unwrap_or(record.offset)
}

struct CaptureFields {
    kind: RecordKind,
    url: PageUrl,
    at: Timestamp,
    status: u16,
    mime: String,
}

impl CaptureFields {
    /// Extracts the fields of a response or revisit; returns `None` for other records.
    fn from_record(record: &WarcRecord) -> Option<Self> {
        let is_revisit = record.kind() == "revisit";
        let ours = match record.kind() {
            "response" => record.to_record(),
            "revisit" => as_response(record).to_record(),
            _ => return None,
        };
        let ours = ours.ok()??;
        let RecordContent::Response(response) = ours.content else { return None };
        let media = response.header("Content-Type").unwrap_or_default().split(';').next().unwrap_or_default();
        let mime = if is_revisit { REVISIT.to_string() } else { media.trim().to_string() };
        Some(Self { kind: ours.kind, url: ours.url, at: ours.at, status: response.status, mime })
    }
}
