//! CDXJ: where each answer stands in the library's own files.

use std::fs;
use std::io::Write;
use std::path::Path;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_store::cdxj::{self, Capture};
use pharos_store::{Content, StoreError, WarcRecord, open_warc};

use super::Watch;
use super::select::Shelves;
use super::sorted::SortedLines;
use crate::EngineError;
use crate::import::as_answer;

/// How replay tools tell an unchanged version.
const REVISIT: &str = "warc/revisit";

/// Writes the index of the library's files.
pub(super) fn write(
    shelves: &Shelves<'_>,
    watch: &mut Watch<'_>,
    out: &mut dyn Write,
    path: &Path,
) -> Result<(), EngineError> {
    let mut lines = SortedLines::new();
    for (number, file) in shelves.library.files()? {
        if number > shelves.to.file {
            break;
        }
        index_file(shelves, watch, number, &file, &mut |line| {
            lines.add(line).map_err(StoreError::io("sort the lines of", path))
        })?;
    }
    lines.write(out).map_err(StoreError::io("write", path))?;
    Ok(())
}

fn index_file(
    shelves: &Shelves<'_>,
    watch: &mut Watch<'_>,
    number: u32,
    path: &Path,
    add: &mut dyn FnMut(String) -> Result<(), StoreError>,
) -> Result<(), EngineError> {
    let filename = path.file_name().unwrap_or_default().to_string_lossy();
    let mut scan = open_warc(path)?.peekable();
    let end = fs::metadata(path).map_err(StoreError::io("read", path))?.len();
    while let Some(found) = scan.next() {
        watch.go_on()?;
        // A record ends where the next thing begins.
        let next = match scan.peek() {
            Some(Ok(next)) => next.offset,
            Some(Err(damage)) => damage.offset,
            None => end,
        };
        let record = match found {
            Ok(record) => record,
            Err(damage) => {
                let position = LibraryPosition { file: number, offset: damage.offset };
                // What the owner is just writing is not there yet.
                if position < shelves.to {
                    watch.bad(position, damage.detail);
                }
                continue;
            }
        };
        let position = LibraryPosition { file: number, offset: first_offset(&record) };
        if position >= shelves.to {
            break;
        }
        let Some(answer) = Answer::of(&record) else { continue };
        if !shelves.wants(&answer.url, answer.at, position)? {
            continue;
        }
        add(cdxj::line(&Capture {
            url: &answer.url,
            at: answer.at,
            mime: &answer.mime,
            status: answer.status,
            digest: record.field("WARC-Payload-Digest").unwrap_or_default(),
            length: next.saturating_sub(record.offset),
            offset: record.offset,
            filename: &filename,
        }))?;
        watch.written();
    }
    Ok(())
}

/// The offset that a record was appended at: compaction moves it, but remembers.
fn first_offset(record: &WarcRecord) -> u64 {
    let span = record.field("Pharos-Span").and_then(|span| span.split('-').next()?.parse().ok());
    span.unwrap_or(record.offset)
}

struct Answer {
    url: PageUrl,
    at: Timestamp,
    status: u16,
    mime: String,
}

impl Answer {
    /// An answer or an unchanged version; `None` for everything else.
    fn of(record: &WarcRecord) -> Option<Self> {
        let is_revisit = record.kind() == "revisit";
        let ours = match record.kind() {
            "response" => record.to_record(),
            "revisit" => as_answer(record).to_record(),
            _ => return None,
        };
        let ours = ours.ok()??;
        let Content::Response(response) = ours.content else { return None };
        let media = response.header("Content-Type").unwrap_or_default().split(';').next().unwrap_or_default();
        let mime = if is_revisit { REVISIT.to_string() } else { media.trim().to_string() };
        Some(Self { url: ours.url, at: ours.at, status: response.status, mime })
    }
}
