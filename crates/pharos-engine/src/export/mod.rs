//! Export: what the library holds, for other programs. A reader: it works beside whoever owns the data directory.
//!
//! | format     | what goes out                                                                       | versions |
//! |------------|-------------------------------------------------------------------------------------|----------|
//! | `warc`     | answers as they came, one gzip member each, `warcinfo` first                          | all      |
//! | `tianwang` | a folder of raw files with `Doc.idx` and `Url.idx.sort`                                | all      |
//! | `cdxj`     | an index of the library's own files, sorted, by which replay tools find a page in them | all      |
//! | `jsonl`    | page objects, one a line, with the moment they were fetched                            | current  |
//! | `soif`     | descriptions of pages                                                               | current  |
//! | `forward`  | the words of pages, two lines each                                                    | current  |
//!
//! The raw formats hold every version unless the current ones are asked for, the others the current ones unless all
//! are asked for. The current version of a page is its newest answer that settles what it says: a server that is down
//! for an hour does not change that.
//!
//! A Tianwang file that was imported comes out to the byte where its records were written as the format says; those
//! that were compressed come out plain.
//!
//! Requests, failures and decisions stay at home: a copy with everything is a backup. So do pages that were removed or
//! deleted. An unchanged version goes out as a reference only where the version it refers to goes out too, and in full
//! otherwise. Only a selection by site or query leaves out `robots.txt`.
//!
//! # Invariants
//! * A file appears whole, by a rename, or not at all. Nothing is overwritten unless asked.
//! * A damaged record is told and left out; the others go out.
//! * Memory does not grow with the library, but for the keys of a selection and of the Tianwang index.

mod captures;
mod pages;
mod raw;
mod select;
mod sorted;

use std::collections::HashSet;
use std::fs::{self, File, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageId, SiteName, Timestamp};
use pharos_store::{DataDir, StoreError};
use serde::Serialize;
use tokio::sync::watch;
use tracing::warn;

use crate::EngineError;
use select::Shelves;

/// Damaged records that the summary describes; all are counted.
const MAX_DESCRIBED: usize = 100;

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// WARC, packed with gzip.
    Warc,
    /// An index of the library's own files.
    Cdxj,
    /// Tianwang raw files with their index.
    Tianwang,
    /// Page objects.
    Jsonl,
    /// Descriptions of pages.
    Soif,
    /// The forward index.
    Forward,
}

impl Format {
    /// Does it hold every version, unless asked otherwise?
    pub fn holds_all_versions(self) -> bool {
        matches!(self, Self::Warc | Self::Cdxj | Self::Tianwang)
    }
}

/// Which pages to write.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Pages of these sites; of all where there are none.
    pub sites: Vec<SiteName>,
    /// Versions of this moment or later.
    pub from: Option<Timestamp>,
    /// Versions before this moment.
    pub to: Option<Timestamp>,
    /// These pages; all where there is no such list.
    pub pages: Option<HashSet<PageId>>,
    /// Every version, or the current ones.
    pub all_versions: bool,
}

/// Where to write.
pub enum Target<'a> {
    /// To a stream, as it comes.
    Stream(&'a mut dyn Write),
    /// To a file, or a folder for the Tianwang format.
    Path {
        /// Its name.
        path: &'a Path,
        /// Whether what is there may be overwritten.
        force: bool,
    },
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExportSummary {
    /// Records or pages written.
    pub written: u64,
    /// Records that cannot be read.
    pub damaged: u64,
    /// The first of those.
    pub problems: Vec<Unreadable>,
}

/// A record of the library that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Where it stands.
    pub position: LibraryPosition,
    /// What is wrong.
    pub detail: String,
}

/// Writes a selection of the library in a format. `progress` hears how far it is; once `stop` is true, it ends with
/// [`EngineError::Stopped`].
pub fn export(
    data: &DataDir,
    config: &Config,
    format: Format,
    selection: &Selection,
    target: Target<'_>,
    stop: &watch::Receiver<bool>,
    progress: impl FnMut(&ExportSummary),
) -> Result<ExportSummary, EngineError> {
    let shelves = Shelves::open(data, selection)?;
    let watch = Watch { stop, progress: Box::new(progress), summary: ExportSummary::default() };
    let mut job = Job { shelves, config, format, watch };
    match target {
        Target::Stream(_) if format == Format::Tianwang => {
            let problem = "the Tianwang format is a folder of files: name it with --out".into();
            return Err(EngineError::Input { place: "standard output".into(), problem });
        }
        Target::Stream(out) => job.write_to(out, Path::new("standard output"))?,
        Target::Path { path, force } if format == Format::Tianwang => job.write_folder(path, force)?,
        Target::Path { path, force } => job.write_file(path, force)?,
    }
    Ok(job.watch.summary)
}

/// An export under way.
struct Job<'a> {
    shelves: Shelves<'a>,
    config: &'a Config,
    format: Format,
    watch: Watch<'a>,
}

impl Job<'_> {
    fn write_to(&mut self, out: &mut dyn Write, path: &Path) -> Result<(), EngineError> {
        let mut out = BufWriter::with_capacity(256 << 10, out);
        let (shelves, watch) = (&self.shelves, &mut self.watch);
        match self.format {
            Format::Warc => raw::write_warc(shelves, watch, &mut out, path)?,
            Format::Cdxj => captures::write(shelves, watch, &mut out, path)?,
            Format::Tianwang => raw::write_tianwang(shelves, watch, path)?,
            Format::Jsonl | Format::Soif | Format::Forward => {
                pages::write(shelves, watch, self.config, self.format, &mut out, path)?;
            }
        }
        Ok(out.flush().map_err(StoreError::io("write", path))?)
    }

    /// Writes beside the file and then puts it in place.
    fn write_file(&mut self, path: &Path, force: bool) -> Result<(), EngineError> {
        let failed = || StoreError::io("write", path);
        match fs::metadata(path) {
            Ok(there) if there.is_dir() => {
                let problem = "this is a folder: name a file".into();
                return Err(EngineError::Input { place: path.display().to_string(), problem });
            }
            // A pipe or a device is written to, not replaced.
            Ok(there) if !there.is_file() => {
                let mut file = File::options().write(true).open(path).map_err(failed())?;
                return self.write_to(&mut file, path);
            }
            Ok(_) if !force => return Err(EngineError::Exists { path: path.to_path_buf() }),
            _ => {}
        }
        let mut new = tempfile::Builder::new()
            .prefix(".export-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(parent(path))
            .map_err(failed())?;
        self.write_to(new.as_file_mut(), path)?;
        new.as_file().sync_all().map_err(failed())?;
        let placed = if force { new.persist(path) } else { new.persist_noclobber(path) };
        placed.map_err(|e| failed()(e.error))?;
        Ok(())
    }

    /// Writes beside the folder and then moves the files into it.
    fn write_folder(&mut self, path: &Path, force: bool) -> Result<(), EngineError> {
        let failed = || StoreError::io("write", path);
        let mut ours = Vec::new();
        if path.exists() {
            let there = file_names(path).map_err(failed())?;
            if !there.is_empty() && !force {
                return Err(EngineError::Exists { path: path.to_path_buf() });
            }
            ours.extend(there.into_iter().filter(|name| raw::is_ours(name)));
        }
        let new = tempfile::Builder::new().prefix(".export-").tempdir_in(parent(path)).map_err(failed())?;
        raw::write_tianwang(&self.shelves, &mut self.watch, new.path())?;
        fs::create_dir_all(path).map_err(failed())?;
        for name in ours {
            fs::remove_file(path.join(name)).map_err(failed())?;
        }
        for name in file_names(new.path()).map_err(failed())? {
            fs::rename(new.path().join(&name), path.join(&name)).map_err(failed())?;
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

/// Counts, tells, and says when to stop.
struct Watch<'a> {
    stop: &'a watch::Receiver<bool>,
    progress: Box<dyn FnMut(&ExportSummary) + 'a>,
    summary: ExportSummary,
}

impl Watch<'_> {
    /// Called for each record: an error once it is to stop.
    fn go_on(&self) -> Result<(), EngineError> {
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
            warn!(%position, "a record is left out: {detail}");
            self.summary.problems.push(Unreadable { position, detail });
        } else if self.summary.damaged == MAX_DESCRIBED as u64 + 1 {
            warn!("more damaged records are only counted");
        }
    }

    /// Notes damage, and gives back what is more than that. What is gone by the retention rule is no damage.
    fn note<T>(&mut self, read: Result<T, StoreError>) -> Result<Option<T>, EngineError> {
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
