//! Export of the library for other programs. Works as a reader alongside the owner of the data directory.
//!
//! | format     | content                                                                             | versions |
//! |------------|-------------------------------------------------------------------------------------|----------|
//! | `warc`     | responses as received, one gzip member each, `warcinfo` first                       | all      |
//! | `tianwang` | a directory of raw files with `Doc.idx` and `Url.idx.sort`                          | all      |
//! | `cdxj`     | a sorted index of the library's own files, for replay tools                           | all      |
//! | `jsonl`    | page objects, one per line, with their fetch time                                   | current  |
//! | `soif`     | summaries of pages (Harvest SOIF)                                                    | current  |
//! | `forward`  | the forward index: the words of each page, two lines per page                        | current  |
//!
//! Raw formats export every version by default, the others only current ones. The current version of a page is its newest
//! response that determines its content: a temporary server error does not change it.
//!
//! An imported Tianwang file is exported byte for byte if its records follow the format; compressed records are exported
//! uncompressed.
//!
//! Requests, failures and operators' decisions are not exported (use a backup), nor are removed or deleted pages. An
//! unchanged version is exported as a reference if its original is exported too, and in full otherwise. `robots.txt` is
//! omitted only from selections by site or query.
//!
//! # Invariants
//! * A file appears complete, by a rename, or not at all. Existing files are overwritten only on request.
//! * A damaged record is reported and skipped.
//! * Memory use does not grow with the library, except for the keys of a selection and of the Tianwang index.

mod cdxj;
mod line_sort;
mod page_objects;
mod raw;
mod selection;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageId, SiteName, Timestamp};
use pharos_files::NewFile;
use pharos_store::{DataDir, StoreError};
use serde::Serialize;
use tokio::sync::watch;
use tracing::warn;

use crate::{EngineError, Stores};
use selection::ExportSource;

/// Number of damaged records that the summary describes; all are counted.
const MAX_DESCRIBED: usize = 100;

/// Format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// WARC 1.1, gzip-compressed.
    Warc,
    /// CDXJ index of the library's own files.
    Cdxj,
    /// Tianwang raw files with their index.
    Tianwang,
    /// Page objects as JSON lines.
    Jsonl,
    /// Page summaries in SOIF.
    Soif,
    /// The forward index.
    Forward,
}

impl ExportFormat {
    /// Returns `true` if the format exports every version by default.
    pub fn holds_all_versions(self) -> bool {
        matches!(self, Self::Warc | Self::Cdxj | Self::Tianwang)
    }
}

/// The pages and versions to export.
#[derive(Clone, Debug, Default)]
pub struct ExportSelection {
    /// Sites to export; empty for all.
    pub sites: Vec<SiteName>,
    /// Earliest fetch time.
    pub from: Option<Timestamp>,
    /// Latest fetch time, exclusive.
    pub to: Option<Timestamp>,
    /// Pages to export; `None` for all.
    pub pages: Option<HashSet<PageId>>,
    /// Export every version instead of the current one.
    pub all_versions: bool,
}

/// Destination of an export.
pub enum ExportTarget<'a> {
    /// A stream.
    Stream(&'a mut dyn Write),
    /// A file, or a directory for the Tianwang format.
    Path {
        path: &'a Path,
        /// Overwrite existing files.
        force: bool,
    },
}

/// The outcome of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportSummary {
    pub written: u64,
    pub damaged: u64,
    /// The first damaged records.
    pub problems: Vec<DamagedRecord>,
}

/// A library record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedRecord {
    pub position: LibraryPosition,
    pub detail: String,
}

/// Exports a selection of the library.
///
/// `progress` receives intermediate summaries. Returns [`EngineError::Stopped`] once `stop` is `true`.
pub fn export(
    data: &DataDir,
    config: &Config,
    format: ExportFormat,
    selection: &ExportSelection,
    target: ExportTarget<'_>,
    stop: &watch::Receiver<bool>,
    progress: impl FnMut(&ExportSummary),
) -> Result<ExportSummary, EngineError> {
    let source = ExportSource::open(&Stores::open(data, config)?, selection)?;
    let monitor = ExportMonitor { stop, progress: Box::new(progress), summary: ExportSummary::default() };
    let mut job = ExportJob { source, config, format, monitor };
    match target {
        ExportTarget::Stream(_) if format == ExportFormat::Tianwang => {
            let problem = "the Tianwang format needs a directory: specify it with --out".into();
            return Err(EngineError::Input { place: "standard output".into(), problem });
        }
        ExportTarget::Stream(out) => job.write_to(out, Path::new("standard output"))?,
        ExportTarget::Path { path, force } if format == ExportFormat::Tianwang => {
            job.write_folder(path, force)?
        }
        ExportTarget::Path { path, force } => job.write_file(path, force)?,
    }
    Ok(job.monitor.summary)
}

/// An export in progress.
struct ExportJob<'a> {
    source: ExportSource<'a>,
    config: &'a Config,
    format: ExportFormat,
    monitor: ExportMonitor<'a>,
}

impl ExportJob<'_> {
    fn write_to(&mut self, out: &mut dyn Write, path: &Path) -> Result<(), EngineError> {
        let mut out = BufWriter::with_capacity(256 << 10, out);
        let (source, monitor) = (&self.source, &mut self.monitor);
        match self.format {
            ExportFormat::Warc => raw::write_warc(source, monitor, &mut out, path)?,
            ExportFormat::Cdxj => cdxj::write(source, monitor, &mut out, path)?,
            ExportFormat::Tianwang => raw::write_tianwang(source, monitor, path)?,
            ExportFormat::Jsonl | ExportFormat::Soif | ExportFormat::Forward => {
                page_objects::write(source, monitor, self.config, self.format, &mut out, path)?;
            }
        }
        Ok(out.flush().map_err(StoreError::io("write", path))?)
    }

    /// Writes a new file and installs it when it is complete.
    fn write_file(&mut self, path: &Path, force: bool) -> Result<(), EngineError> {
        let failed = || StoreError::io("write", path);
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                let problem = "is a directory: specify a file".into();
                return Err(EngineError::Input { place: path.display().to_string(), problem });
            }
            // A pipe or device is written to, not replaced.
            Ok(there) if !there.is_file() => {
                let mut file = File::options().write(true).open(path).map_err(failed())?;
                return self.write_to(&mut file, path);
            }
            Ok(_) if !force => return Err(EngineError::AlreadyExists { path: path.to_path_buf() }),
            _ => {}
        }
        let mut new = NewFile::create(path).map_err(failed())?;
        self.write_to(&mut new, path)?;
        Ok(if force { new.install() } else { new.install_new() }.map_err(failed())?)
    }

    /// Writes to a temporary directory and moves the files.
    fn write_folder(&mut self, path: &Path, force: bool) -> Result<(), EngineError> {
        let failed = || StoreError::io("write", path);
        let mut ours = Vec::new();
        if path.exists() {
            let there = file_names(path).map_err(failed())?;
            if !there.is_empty() && !force {
                return Err(EngineError::AlreadyExists { path: path.to_path_buf() });
            }
            ours.extend(there.into_iter().filter(|name| raw::is_tianwang_file(name)));
        }
        let new = tempfile::Builder::new().prefix(".export-").tempdir_in(parent(path)).map_err(failed())?;
        raw::write_tianwang(&self.source, &mut self.monitor, new.path())?;
        pharos_files::create_dir_all(path).map_err(failed())?;
        for name in ours {
            fs::remove_file(path.join(name)).map_err(failed())?;
        }
        for name in file_names(new.path()).map_err(failed())? {
            pharos_files::rename(&new.path().join(&name), &path.join(&name)).map_err(failed())?;
        }
        Ok(())
    }
}

fn file_names(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| entry.map(|entry| PathBuf::from(entry.file_name()))).collect()
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Tracks progress and damage of an export, and stop requests.
struct ExportMonitor<'a> {
    stop: &'a watch::Receiver<bool>,
    progress: Box<dyn FnMut(&ExportSummary) + 'a>,
    summary: ExportSummary,
}

impl ExportMonitor<'_> {
    /// Returns an error once the export is to stop. Called for each record.
    fn check_stop(&self) -> Result<(), EngineError> {
        if *self.stop.borrow() { Err(EngineError::Stopped) } else { Ok(()) }
    }

    fn written(&mut self) {
        self.summary.written += 1;
        if self.summary.written.is_multiple_of(64) {
            (self.progress)(&self.summary);
        }
    }

    fn bad(&mut self, position: LibraryPosition, detail: String) {
        self.summary.damaged += 1;
        if self.summary.problems.len() < MAX_DESCRIBED {
            warn!(%position, "skipping a damaged record: {detail}");
            self.summary.problems.push(DamagedRecord { position, detail });
        } else if self.summary.damaged == MAX_DESCRIBED as u64 + 1 {
            warn!("further damaged records are counted but not listed");
        }
    }

    /// Records damage and returns other errors. A version dropped by the retention policy is not damage.
    fn accept<T>(&mut self, read: Result<T, StoreError>) -> Result<Option<T>, EngineError> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(StoreError::NoRecord(_)) => Ok(None),
            Err(StoreError::Damaged { position, detail }) => {
                self.bad(position, detail);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}
