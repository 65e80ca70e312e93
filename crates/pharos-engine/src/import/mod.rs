//! Import: pages that others gathered become part of the library, as if we had fetched them when they did.
//!
//! ```text
//!   WARC ─────────┐
//!   Tianwang ─────┤ convert   a record with the source's own date, address and status
//!   SOIF ─────────┼─────────▶ take ──groups──▶ intake: library, catalog, latest
//!   HTML files ───┘           what is known already, removed or no page is counted and left out
//! ```
//!
//! Formats are told by content, not by name. Running the same import again goes on where the first one stopped,
//! because a version that the library has is not taken twice.
//!
//! # Invariants
//! * Memory holds one group and one record, however large the source.
//! * A damaged record is told with its file and offset, and costs no other record.
//! * What was taken in stays, however the import ends.

mod convert;
mod source;
mod take;
mod tree;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use pharos_core::PageUrl;
use pharos_core::config::Config;
use pharos_store::soif::SoifReader;
use pharos_store::tianwang::TianwangScan;
use pharos_store::{DataDir, StoreError, WarcRecord, WarcScan, open_warc};
use serde::Serialize;
use tokio::sync::watch;

use crate::{Engine, EngineError};
use source::{Kind, Source, Walk};
use take::Taker;

pub(crate) use convert::as_answer;
#[cfg(test)]
pub(crate) use convert::tianwang as convert_tianwang;
pub(crate) use take::is_writable;

/// Bodies longer than this are not taken in, unless the crawl takes longer ones.
const MAX_BODY: usize = 64 << 20;
/// What the library reads back, less the header of a record.
const LIBRARY_LIMIT: usize = 255 << 20;
/// Damaged records that the summary describes; all are counted.
const MAX_DESCRIBED: usize = 100;

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files, folders, or `-` for a WARC file on standard input.
    pub paths: Vec<PathBuf>,
    /// The address that the top of a folder of HTML files stands for. Without one, folders are searched for files of
    /// the known formats.
    pub base_url: Option<PageUrl>,
}

/// What came of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportSummary {
    /// Files read.
    pub files: u64,
    /// Records found in them, good or not.
    pub records: u64,
    /// Pages taken in.
    pub taken: u64,
    /// Versions that the library has already.
    pub known: u64,
    /// Pages that were removed for good.
    pub removed: u64,
    /// What is no page of the web: requests, notes, other schemes, references to what nobody knows.
    pub passed_over: u64,
    /// Records that cannot be read, and files.
    pub damaged: u64,
    /// The first of those.
    pub problems: Vec<BadRecord>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// A record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadRecord {
    /// The file.
    pub file: String,
    /// Where in it.
    pub offset: u64,
    /// What is wrong.
    pub detail: String,
}

/// Takes in what others gathered. `progress` hears how far it is; once `stop` is true, what was read so far is taken
/// in and the summary says so.
pub fn import(
    data: &DataDir,
    config: &Config,
    sources: &Sources,
    stop: &watch::Receiver<bool>,
    progress: impl FnMut(&ImportSummary),
) -> Result<ImportSummary, EngineError> {
    // Before anything is opened for writing: a misspelt name should cost nothing.
    let sources = source::recognise(sources)?;
    let engine = Engine::open(data.clone(), config.clone(), "import", true)?;
    let intake = match engine.intake(stop) {
        Err(EngineError::Stopped) => return Ok(ImportSummary { stopped: true, ..ImportSummary::default() }),
        intake => intake?,
    };
    let mut taker = Taker::new(&engine, intake, stop, Box::new(progress));
    let limit = MAX_BODY.max(config.crawl.body_limit.bytes()).min(LIBRARY_LIMIT);
    let read = sources.iter().try_for_each(|source| read_source(&mut taker, source, limit));
    let stopped = match read {
        Err(EngineError::Stopped) => true,
        // What came before the failure is good and stays.
        Err(error) => return taker.finish().and(Err(error)),
        Ok(()) => false,
    };
    let summary = taker.finish()?;
    Ok(ImportSummary { stopped, ..summary })
}

fn read_source(taker: &mut Taker<'_>, source: &Source, limit: usize) -> Result<(), EngineError> {
    match source {
        Source::Pipe(name) => {
            let place = name.as_ref().map_or("standard input".into(), |path| path.display().to_string());
            let input: Box<dyn Read + Send> = match name {
                Some(path) => Box::new(open(path)?),
                None => Box::new(io::stdin()),
            };
            taker.summary.files += 1;
            if !read_warc(taker, &place, WarcScan::new(input).with_max_block(limit))? {
                return Err(not(&place, "no WARC record in it"));
            }
            Ok(())
        }
        Source::File(path, kind) => read_file(taker, path, *kind, limit),
        Source::Page(path, base) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            read_page(taker, folder, base, path, limit)
        }
        Source::Folder(root) => {
            let before = taker.summary.files;
            for found in Walk::of(root)? {
                match found {
                    Err((path, error)) => taker.bad(&path.display().to_string(), 0, &error.to_string()),
                    Ok(path) => match source::kind(&path, false) {
                        Ok(Some(kind)) => read_file(taker, &path, kind, limit)?,
                        Ok(None) => {}
                        Err(error) => taker.bad(&path.display().to_string(), 0, &error.to_string()),
                    },
                }
            }
            if taker.summary.files == before {
                let problem = "no WARC, Tianwang or SOIF file in it; for HTML files, give --base-url";
                return Err(not(&root.display().to_string(), problem));
            }
            Ok(())
        }
        Source::Tree(root, base) => {
            let before = taker.summary.files;
            for found in Walk::of(root)? {
                match found {
                    Err((path, error)) => taker.bad(&path.display().to_string(), 0, &error.to_string()),
                    Ok(path) => read_page(taker, root, base, &path, limit)?,
                }
            }
            if taker.summary.files == before {
                let problem = "no page in it: files that end in .html, .htm, .xhtml or .txt are looked for";
                return Err(not(&root.display().to_string(), problem));
            }
            Ok(())
        }
    }
}

fn read_file(taker: &mut Taker<'_>, path: &Path, kind: Kind, limit: usize) -> Result<(), EngineError> {
    let place = path.display().to_string();
    taker.summary.files += 1;
    match kind {
        Kind::Warc => {
            let scan = open_warc(path)?.with_max_block(limit);
            read_warc(taker, &place, scan)?;
        }
        Kind::Tianwang => {
            let scan = TianwangScan::new(open(path)?).map_err(StoreError::io("read", path))?;
            for found in scan {
                taker.go_on()?;
                match found {
                    Ok((offset, record)) => {
                        let converted = convert::tianwang(record);
                        taker.offer_converted(&place, offset, converted)?;
                    }
                    Err(damage) => taker.bad(&place, damage.offset, &damage.detail),
                }
            }
        }
        Kind::Soif => {
            let gathered = tree::modified(path);
            for found in SoifReader::new(BufReader::with_capacity(256 << 10, open(path)?)) {
                taker.go_on()?;
                match found {
                    Ok(object) => {
                        let converted = convert::soif(&object, gathered);
                        taker.offer_converted(&place, 0, converted)?;
                    }
                    Err(damage) => taker.bad(&place, damage.offset, &damage.detail),
                }
            }
        }
    }
    Ok(())
}

/// Reads the records of a WARC file. Were there any?
fn read_warc(
    taker: &mut Taker<'_>,
    place: &str,
    scan: WarcScan<impl Read + Send + 'static>,
) -> Result<bool, EngineError> {
    let mut any = false;
    for found in scan.read_ahead() {
        taker.go_on()?;
        match found {
            Ok(record) => {
                any = true;
                offer_warc(taker, place, &record)?;
            }
            Err(damage) => taker.bad(place, damage.offset, &damage.detail),
        }
    }
    Ok(any)
}

fn offer_warc(taker: &mut Taker<'_>, place: &str, record: &WarcRecord) -> Result<(), EngineError> {
    if record.kind() == "revisit" {
        let Ok(Some(revisit)) = convert::revisit(record) else {
            taker.pass_over();
            return Ok(());
        };
        return taker.offer_revisit(revisit);
    }
    taker.offer_converted(place, record.offset, convert::warc(record))
}

fn read_page(
    taker: &mut Taker<'_>,
    root: &Path,
    base: &PageUrl,
    path: &Path,
    limit: usize,
) -> Result<(), EngineError> {
    taker.go_on()?;
    let Some(page) = tree::page(root, base, path) else { return Ok(()) };
    taker.summary.files += 1;
    match page.and_then(|page| page.read(limit)) {
        Ok(record) => taker.offer(record),
        Err(problem) => {
            taker.bad(&path.display().to_string(), 0, &problem);
            Ok(())
        }
    }
}

fn open(path: &Path) -> Result<File, EngineError> {
    Ok(File::open(path).map_err(StoreError::io("open", path))?)
}

fn not(place: &str, problem: &str) -> EngineError {
    EngineError::Input { place: place.to_string(), problem: problem.to_string() }
}
