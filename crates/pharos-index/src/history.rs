//! Building a history generation beside the one that serves.

use std::fs;
use std::path::PathBuf;

use crate::generations::{Generations, History};
use crate::member::{Member, MemberWriter};
use crate::{Document, IndexError, Maxima};
use pharos_core::LibraryPosition;

/// A history generation under construction. Nobody sees it until it is installed.
pub struct HistoryBuilder {
    number: u64,
    path: PathBuf,
    writer: MemberWriter,
    maxima: Maxima,
    body_limit: usize,
    pages: u64,
}

impl HistoryBuilder {
    /// Begins a generation; the caller holds the builder's lock. What a killed builder left behind is removed.
    pub fn begin(
        generations: &Generations,
        threads: usize,
        memory: usize,
        body_limit: usize,
    ) -> Result<Self, IndexError> {
        let number = generations.next_history()?;
        let path = generations.history_dir(number);
        match fs::remove_dir_all(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(IndexError::io("remove", &path)(e));
            }
            _ => {}
        }
        let member = Member::open_or_create_ordered(&path, &crate::words(generations).current())?;
        let writer = member.writer(threads.max(1), memory)?.without_merges();
        Ok(Self { number, path, writer, maxima: Maxima::default(), body_limit, pages: 0 })
    }

    /// Tells what the figures of all pages are measured by, before the first is added.
    pub fn measured_by(mut self, maxima: Maxima) -> Result<Self, IndexError> {
        maxima.write(&self.path)?;
        self.maxima = maxima;
        Ok(self)
    }

    /// Adds a page with its copies; each address once.
    pub fn add(&mut self, document: &Document) -> Result<(), IndexError> {
        self.pages += 1;
        self.writer.add(document, &self.maxima, self.body_limit)
    }

    /// How many pages were added, copies not counted.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Makes it durable. It knows the library up to `to`.
    pub fn finish(mut self, to: LibraryPosition) -> Result<History, IndexError> {
        self.writer.commit(to)?;
        self.writer.merge_all()?;
        self.writer.finish()?;
        fs::File::open(&self.path).and_then(|d| d.sync_all()).map_err(IndexError::io("sync", &self.path))?;
        Ok(History { number: self.number, to })
    }
}
