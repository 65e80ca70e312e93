//! Sorted runs of links on disk and their k-way merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::GraphError;

/// Maximum number of runs per merge; bounds open files and read buffers.
const FAN_IN: usize = 64;
const BUFFER_BYTES: usize = 64 << 10;

/// A sorted run in an unnamed file.
struct SortedRun {
    file: File,
    links: u64,
}

/// All runs, by level. New runs go to level 0. The runs of a full level are merged into one run of the next level, so
/// that a link is rewritten once for each factor of [`FAN_IN`].
pub(super) struct SortedRuns {
    levels: Vec<Vec<SortedRun>>,
    directory: PathBuf,
    keep_duplicates: bool,
}

impl SortedRuns {
    pub(super) fn new(directory: Option<PathBuf>, keep_duplicates: bool) -> Self {
        Self { levels: Vec::new(), directory: directory.unwrap_or_else(std::env::temp_dir), keep_duplicates }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Returns a lower bound on the number of links: the sum over all runs or, if repeated links are dropped, the
    /// largest run.
    pub(super) fn min_links(&self) -> u64 {
        let links = self.levels.iter().flatten().map(|run| run.links);
        if self.keep_duplicates { links.sum() } else { links.max().unwrap_or(0) }
    }

    /// Writes a run of sorted links.
    pub(super) fn write(&mut self, sorted: &[u64]) -> Result<(), GraphError> {
        let mut writer = RunWriter::new(&self.directory)?;
        for &link in sorted {
            writer.add(link)?;
        }
        let mut run = writer.finish()?;
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[level].push(run);
            if self.levels[level].len() < FAN_IN {
                break;
            }
            run = self.merge_level(level)?;
        }
        Ok(())
    }

    /// Calls `each` with every link in ascending order.
    pub(super) fn merge(mut self, each: impl FnMut(u64) -> Result<(), GraphError>) -> Result<(), GraphError> {
        // There are few levels, but each may be almost full: reduce them to a single merge.
        while self.levels.iter().map(Vec::len).sum::<usize>() > FAN_IN {
            let Some(level) = self.levels.iter().position(|runs| !runs.is_empty()) else { break };
            let run = self.merge_level(level)?;
            if level + 1 == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[level + 1].push(run);
        }
        merge(self.levels.into_iter().flatten().collect(), self.keep_duplicates, each)
    }

    fn merge_level(&mut self, level: usize) -> Result<SortedRun, GraphError> {
        let mut writer = RunWriter::new(&self.directory)?;
        let runs = std::mem::take(&mut self.levels[level]);
        merge(runs, self.keep_duplicates, |link| Ok(writer.add(link)?))?;
        Ok(writer.finish()?)
    }
}

struct RunWriter {
    file: BufWriter<File>,
    links: u64,
}

impl RunWriter {
    fn new(directory: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(directory)?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER_BYTES, file), links: 0 })
    }

    fn add(&mut self, link: u64) -> io::Result<()> {
        self.links += 1;
        self.file.write_all(&link.to_le_bytes())
    }

    fn finish(self) -> io::Result<SortedRun> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(SortedRun { file, links: self.links })
    }
}

struct RunReader {
    file: BufReader<File>,
    remaining: u64,
}

impl RunReader {
    fn next(&mut self) -> io::Result<Option<u64>> {
        if self.remaining == 0 {
            return Ok(None);
        }
        self.remaining -= 1;
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes)?;
        Ok(Some(u64::from_le_bytes(bytes)))
    }
}

fn merge(
    runs: Vec<SortedRun>,
    keep_duplicates: bool,
    mut each: impl FnMut(u64) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    let mut readers: Vec<RunReader> = runs
        .into_iter()
        .map(|run| RunReader { file: BufReader::with_capacity(BUFFER_BYTES, run.file), remaining: run.links })
        .collect();
    let mut heads = BinaryHeap::with_capacity(readers.len());
    for (index, reader) in readers.iter_mut().enumerate() {
        if let Some(link) = reader.next()? {
            heads.push(Reverse((link, index)));
        }
    }
    let mut last = None;
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((link, index)) = *head;
        match readers[index].next()? {
            Some(next) => *head = Reverse((next, index)),
            None => {
                PeekMut::pop(head);
            }
        }
        if keep_duplicates || last != Some(link) {
            each(link)?;
            last = Some(link);
        }
    }
    Ok(())
}
