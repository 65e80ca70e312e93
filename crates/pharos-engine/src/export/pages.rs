//! Pages as they were understood: page objects, descriptions, words.

use std::io::Write;
use std::path::Path;

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageObject, Timestamp};
use pharos_index::forward;
use pharos_store::soif::{self, Gathered};
use pharos_store::{Library as _, Piece, StoreError, StoredPage, StoredRecord};
use serde::Serialize;

use super::select::Shelves;
use super::{Format, Watch};
use crate::EngineError;
use crate::intake::next_group;
use crate::readers::Readers;
use crate::reading::Wanted;

/// Writes the selected pages.
pub(super) fn write(
    shelves: &Shelves<'_>,
    watch: &mut Watch<'_>,
    config: &Config,
    format: Format,
    out: &mut dyn Write,
    path: &Path,
) -> Result<(), EngineError> {
    let readers = Readers::of(config)?;
    let mut writer = PageWriter { shelves, watch, config, readers, format, out, path };
    match shelves.positions()? {
        Some(positions) => positions.into_iter().try_for_each(|position| writer.at(position)),
        None => writer.all(),
    }
}

struct PageWriter<'a, 'w> {
    shelves: &'a Shelves<'a>,
    watch: &'a mut Watch<'w>,
    config: &'a Config,
    readers: Readers,
    format: Format,
    out: &'a mut dyn Write,
    path: &'a Path,
}

/// A line of `jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    fetched: String,
    #[serde(flatten)]
    page: &'a PageObject,
}

impl PageWriter<'_, '_> {
    /// All pages, in the order of the library.
    fn all(&mut self) -> Result<(), EngineError> {
        let derived = &self.shelves.derived;
        let (from, to) = (LibraryPosition::START, self.shelves.to);
        // Words need no links, and those cost as much again.
        let pieces: Box<dyn Iterator<Item = Result<Piece<StoredPage>, StoreError>>> = match self.format {
            Format::Forward => Box::new(derived.pages_without_links(from, to)),
            _ => Box::new(derived.pages(from, to)),
        };
        for piece in pieces {
            self.watch.go_on()?;
            match piece? {
                Piece::Kept(kept) => self.offer(kept)?,
                Piece::Gap { from, to } => self.read_again(from, to)?,
            }
        }
        Ok(())
    }

    /// The page at a position.
    fn at(&mut self, position: LibraryPosition) -> Result<(), EngineError> {
        self.watch.go_on()?;
        if let Some(kept) = self.shelves.derived.page(position)? {
            return self.offer(kept);
        }
        let stored = self.shelves.library.read(position);
        match self.watch.note(stored)? {
            Some(stored) => self.understand(vec![stored]),
            None => Ok(()),
        }
    }

    /// Reads the raw pages of a stretch that nothing is kept about.
    fn read_again(&mut self, from: LibraryPosition, to: LibraryPosition) -> Result<(), EngineError> {
        let mut scan = self.shelves.library.scan(from, Some(to))?;
        loop {
            self.watch.go_on()?;
            let mut damaged = Vec::new();
            let group = next_group(&mut scan.by_ref().filter_map(|stored| match stored {
                Err(StoreError::Damaged { position, detail }) => {
                    damaged.push((position, detail));
                    None
                }
                stored => Some(stored),
            }))?;
            for (position, detail) in damaged {
                self.watch.bad(position, detail);
            }
            if group.is_empty() {
                return Ok(());
            }
            let mut wanted = Vec::new();
            for stored in group {
                if self.shelves.wants(&stored.record.url, stored.record.at, stored.position)? {
                    wanted.push(stored);
                }
            }
            self.understand(wanted)?;
        }
    }

    fn understand(&mut self, group: Vec<StoredRecord>) -> Result<(), EngineError> {
        for read in self.readers.read(group, &*self.shelves.library, self.config, Wanted::Everything) {
            let StoredRecord { position, next, record } = read.stored;
            if let Some(facts) = read.page {
                self.offer(StoredPage { position, next, at: record.at, url: record.url, page: facts.page })?;
            }
        }
        Ok(())
    }

    fn offer(&mut self, page: StoredPage) -> Result<(), EngineError> {
        if !self.shelves.wants(&page.url, page.at, page.position)? {
            return Ok(());
        }
        let bytes = match self.format {
            Format::Soif => {
                let answer = self.shelves.library.response(page.position);
                let Some(answer) = self.watch.note(answer)? else { return Ok(()) };
                description(&page, page.at, answer.body.len() as u64)
            }
            Format::Forward => {
                let text = format!("{}\n{}", page.page.title, page.page.text);
                forward::lines(self.watch.summary.written, &text).into_bytes()
            }
            _ => {
                let line = Line { fetched: page.at.to_precise(), page: &page.page };
                let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
                bytes.push(b'\n');
                bytes
            }
        };
        self.out.write_all(&bytes).map_err(StoreError::io("write", self.path))?;
        self.watch.written();
        Ok(())
    }
}

fn description(page: &StoredPage, at: Timestamp, size: u64) -> Vec<u8> {
    let gathered = Gathered { size, at, refresh: None, time_to_live: None };
    soif::write(&soif::from_page(&page.page, &gathered))
}
