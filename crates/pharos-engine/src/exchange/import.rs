//! Import: adds pages fetched by other programs to the library, with their original fetch times.
//!
//! ```text
//!   WARC ─────────┐
//!   Tianwang ─────┤ convert   a record with the date, URL and status of the source
//!   SOIF ─────────┼─────────▶ importer ──groups──▶ ingest: library, catalog, latest
//!   page files ───┘           duplicates, removed pages and non-pages are counted and skipped
//! ```
//!
//! Formats are detected by content, not by name. Repeating an import resumes it, because versions that the library
//! already has are skipped.
//!
//! # Invariants
//! * Memory use is bounded by one group and one record.
//! * A damaged record is reported with file and offset; no other record is affected.
//! * Imported records stay, however the import ends.

mod convert;
mod importer;
mod page_files;
mod source;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use pharos_core::PageUrl;
use pharos_core::config::Config;
use pharos_store::formats::soif::SoifReader;
use pharos_store::formats::tianwang::TianwangScan;
use pharos_store::formats::warc_file::{WarcRecord, WarcScan, open_warc};
use pharos_store::{DataDir, StoreError};
use serde::Serialize;
use tokio::sync::watch;

use crate::{Engine, EngineError};
use importer::Importer;
use source::{FileFormat, FolderWalk, ImportSource};

pub(crate) use convert::as_response;
#[cfg(test)]
pub(crate) use convert::tianwang as convert_tianwang;
pub(crate) use importer::is_writable;

/// Maximum body size, unless the crawl allows larger ones.
const MAX_BODY: usize = 64 << 20;
/// Maximum record size of the library, minus a record header.
const LIBRARY_LIMIT: usize = 255 << 20;
/// Number of damaged records that the summary describes; all are counted.
const MAX_DESCRIBED: usize = 100;

/// The sources of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportSources {
    /// Files, directories, or `-` for a WARC file on standard input.
    pub paths: Vec<PathBuf>,
    /// Base URL of directories with HTML files and documents. Without it, directories are searched for archive files.
    pub base_url: Option<PageUrl>,
}

/// The outcome of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportSummary {
    pub files: u64,
    /// Records found, valid or not.
    pub records: u64,
    /// Pages imported.
    #[serde(rename = "taken")]
    pub imported: u64,
    /// Versions that the library already has.
    pub known: u64,
    /// Pages that operators removed permanently.
    pub removed: u64,
    /// Records that are not web pages: requests, metadata, other schemes, revisits without an original.
    #[serde(rename = "passed_over")]
    pub skipped: u64,
    /// Unreadable records and files.
    pub damaged: u64,
    /// The first unreadable records.
    pub problems: Vec<BadRecord>,
    /// `true` if the import was stopped before the end.
    pub stopped: bool,
    /// Bytes of the source files read so far.
    #[serde(skip)]
    pub read_bytes: u64,
    /// Total size of the source files; 0 if it is unknown.
    #[serde(skip)]
    pub total_bytes: u64,
}

/// A record that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadRecord {
    pub file: String,
    /// Byte offset in the file.
    pub offset: u64,
    pub detail: String,
}

/// Imports archives, HTML files or documents.
///
/// `progress` receives intermediate summaries. Once `stop` is `true`, the records read so far are imported and the summary
/// is marked as stopped.
pub fn import(
    data: &DataDir,
    config: &Config,
    sources: &ImportSources,
    stop: &watch::Receiver<bool>,
    progress: impl FnMut(&ImportSummary),
) -> Result<ImportSummary, EngineError> {
    // Before any store is opened for writing, so that a mistyped name has no effect.
    let sources = source::classify_sources(sources)?;
    let engine = Engine::open(data.clone(), config.clone(), "import", true)?;
    let ingest = match engine.ingest(stop) {
        Err(EngineError::Stopped) => return Ok(ImportSummary { stopped: true, ..ImportSummary::default() }),
        ingest => ingest?,
    };
    let mut importer = Importer::new(&engine, ingest, stop, Box::new(progress));
    importer.summary.total_bytes = source::total_size(&sources);
    let limit = MAX_BODY.max(config.crawl.body_limit.bytes()).min(LIBRARY_LIMIT);
    let read = sources.iter().try_for_each(|source| read_source(&mut importer, source, limit));
    let stopped = match read {
        Err(EngineError::Stopped) => true,
        // Records read before the failure are kept.
        Err(error) => return importer.finish().and(Err(error)),
        Ok(()) => false,
    };
    let summary = importer.finish()?;
    Ok(ImportSummary { stopped, ..summary })
}

fn read_source(importer: &mut Importer<'_>, source: &ImportSource, limit: usize) -> Result<(), EngineError> {
    match source {
        ImportSource::Pipe(name) => {
            let place = name.as_ref().map_or("standard input".into(), |path| path.display().to_string());
            let input: Box<dyn Read + Send> = match name {
                Some(path) => Box::new(open(path)?),
                None => Box::new(io::stdin()),
            };
            importer.summary.files += 1;
            if !read_warc(importer, &place, WarcScan::new(input).with_max_block(limit))? {
                return Err(input_error(&place, "contains no WARC record"));
            }
            Ok(())
        }
        ImportSource::File(path, kind) => read_file(importer, path, *kind, limit),
        ImportSource::Page(path, base) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            read_page(importer, folder, base, path, limit)
        }
        ImportSource::Folder(root) => {
            let before = importer.summary.files;
            for found in FolderWalk::new(root)? {
                match found {
                    Err((path, error)) => importer.bad(&path.display().to_string(), 0, &error.to_string()),
                    Ok(path) => match source::detect_format(&path, false) {
                        Ok(Some(kind)) => read_file(importer, &path, kind, limit)?,
                        Ok(None) => importer.file_done(&path),
                        Err(error) => importer.bad(&path.display().to_string(), 0, &error.to_string()),
                    },
                }
            }
            if importer.summary.files == before {
                let problem = "contains no WARC, Tianwang or SOIF file; for HTML files and documents, specify --base-url";
                return Err(input_error(&root.display().to_string(), problem));
            }
            Ok(())
        }
        ImportSource::Tree(root, base) => {
            let before = importer.summary.files;
            for found in FolderWalk::new(root)? {
                match found {
                    Err((path, error)) => importer.bad(&path.display().to_string(), 0, &error.to_string()),
                    Ok(path) => read_page(importer, root, base, &path, limit)?,
                }
            }
            if importer.summary.files == before {
                let problem = "contains no .html, .htm, .xhtml or .txt file";
                return Err(input_error(&root.display().to_string(), problem));
            }
            Ok(())
        }
    }
}

fn read_file(
    importer: &mut Importer<'_>,
    path: &Path,
    kind: FileFormat,
    limit: usize,
) -> Result<(), EngineError> {
    let place = path.display().to_string();
    importer.summary.files += 1;
    match kind {
        FileFormat::Warc => {
            let scan = open_warc(path)?.with_max_block(limit);
            read_warc(importer, &place, scan)?;
        }
        FileFormat::Tianwang => {
            let scan = TianwangScan::new(open(path)?).map_err(StoreError::io("read", path))?;
            for found in scan {
                importer.check_stop()?;
                match found {
                    Ok((offset, record)) => {
                        let converted = convert::tianwang(record);
                        importer.import_converted(&place, offset, converted)?;
                    }
                    Err(damage) => importer.bad(&place, damage.offset, &damage.detail),
                }
            }
        }
        FileFormat::Soif => {
            let gathered = page_files::modification_time(path);
            for found in SoifReader::new(BufReader::with_capacity(256 << 10, open(path)?)) {
                importer.check_stop()?;
                match found {
                    Ok(object) => {
                        let converted = convert::soif(&object, gathered);
                        importer.import_converted(&place, 0, converted)?;
                    }
                    Err(damage) => importer.bad(&place, damage.offset, &damage.detail),
                }
            }
        }
    }
    importer.file_done(path);
    Ok(())
}

/// Reads the records of a WARC file. Returns `true` if there were any.
fn read_warc(
    importer: &mut Importer<'_>,
    place: &str,
    scan: WarcScan<impl Read + Send + 'static>,
) -> Result<bool, EngineError> {
    let mut any = false;
    for found in scan.read_ahead() {
        importer.check_stop()?;
        match found {
            Ok(record) => {
                any = true;
                import_warc(importer, place, &record)?;
            }
            Err(damage) => importer.bad(place, damage.offset, &damage.detail),
        }
    }
    Ok(any)
}

fn import_warc(importer: &mut Importer<'_>, place: &str, record: &WarcRecord) -> Result<(), EngineError> {
    if record.kind() == "revisit" {
        let Ok(Some(revisit)) = convert::revisit(record) else {
            importer.skip();
            return Ok(());
        };
        return importer.import_revisit(revisit);
    }
    importer.import_converted(place, record.offset, convert::warc(record))
}

fn read_page(
    importer: &mut Importer<'_>,
    root: &Path,
    base: &PageUrl,
    path: &Path,
    limit: usize,
) -> Result<(), EngineError> {
    importer.check_stop()?;
    importer.file_done(path);
    let Some(page) = page_files::page_file(root, base, path) else { return Ok(()) };
    importer.summary.files += 1;
    match page.and_then(|page| page.read(limit)) {
        Ok(record) => importer.import(record),
        Err(problem) => {
            importer.bad(&path.display().to_string(), 0, &problem);
            Ok(())
        }
    }
}

fn open(path: &Path) -> Result<File, EngineError> {
    Ok(File::open(path).map_err(StoreError::io("open", path))?)
}

fn input_error(place: &str, problem: &str) -> EngineError {
    EngineError::Input { place: place.to_string(), problem: problem.to_string() }
}
