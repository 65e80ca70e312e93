//! Sorted runs of links on disk, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use crate::GraphError;

/// How many runs are merged at once: bounds open files and read buffers.
const FAN_IN: usize = 64;
const BUFFER_BYTES: usize = 64 << 10;

/// One sorted run in a file without a name.
struct SortedRun {
    file: File,
    links: u64,
}

/// All runs. Level 0 holds what was written; whenever a level is full, its runs become one of the next level, so that a
/// link is rewritten once for each factor of [`FAN_IN`].
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

    /// The graph has at least so many links: those of all runs, or, where a link may stand in several, of the largest.
    pub(super) fn min_links(&self) -> u64 {
        let links = self.levels.iter().flatten().map(|run| run.links);
        if self.keep_duplicates { links.sum() } else { links.max().unwrap_or(0) }
    }

    /// Adds a run of sorted links.
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

    /// Hands out every link in rising order.
    pub(super) fn merge(mut self, each: impl FnMut(u64) -> Result<(), GraphError>) -> Result<(), GraphError> {
        // Levels are few, but each may be almost full: bring them down to one merge.
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
    left: u64,
}

impl RunReader {
    fn next(&mut self) -> io::Result<Option<u64>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
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
        .map(|run| RunReader { file: BufReader::with_capacity(BUFFER_BYTES, run.file), left: run.links })
        .collect();
    let mut heads = BinaryHeap::with_capacity(readers.len());
    for (place, reader) in readers.iter_mut().enumerate() {
        if let Some(link) = reader.next()? {
            heads.push(Reverse((link, place)));
        }
    }
    let mut last = None;
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((link, place)) = *head;
        match readers[place].next()? {
            Some(next) => *head = Reverse((next, place)),
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
