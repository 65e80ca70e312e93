//! Export of analysed pages: page objects, SOIF summaries, forward index.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageObject, Timestamp};
use pharos_index::document::forward_index;
use pharos_store::derived::{DerivedItem, DerivedPage};
use pharos_store::formats::soif;
use pharos_store::formats::soif::CrawlMetadata;
use pharos_store::{RecordKind, StoreError, StoredRecord};
use serde::Serialize;

use super::selection::ExportSource;
use super::{ExportFormat, ExportMonitor};
use crate::EngineError;
use crate::stages::analyse::AnalysisDepth;
use crate::stages::analysis_pool::AnalysisPool;
use crate::stages::ingest::next_group;

/// Writes the selected pages.
pub(super) fn write(
    source: &ExportSource<'_>,
    monitor: &mut ExportMonitor<'_>,
    config: &Config,
    format: ExportFormat,
    out: &mut dyn Write,
    path: &Path,
) -> Result<(), EngineError> {
    let pool = AnalysisPool::from_config(config)?;
    let mut writer = PageWriter { source, monitor, config, pool, format, out, path };
    match source.positions()? {
        Some(positions) => positions.into_iter().try_for_each(|position| writer.write_at(position)),
        None => writer.write_all_pages(),
    }
}

struct PageWriter<'a, 'w> {
    source: &'a ExportSource<'a>,
    monitor: &'a mut ExportMonitor<'w>,
    config: &'a Config,
    pool: AnalysisPool,
    format: ExportFormat,
    out: &'a mut dyn Write,
    path: &'a Path,
}

/// One line of a `jsonl` export.
#[derive(Serialize)]
struct JsonLine<'a> {
    fetched: String,
    #[serde(flatten)]
    page: &'a PageObject,
}

impl PageWriter<'_, '_> {
    /// Writes all pages in library order.
    fn write_all_pages(&mut self) -> Result<(), EngineError> {
        let derived = &self.source.derived;
        let ranges = self.source.to.iter().map(|to| (LibraryPosition::start_of_log(to.log), to));
        // The forward index needs no links, which cost as much again to read.
        let pieces: Box<dyn Iterator<Item = Result<DerivedItem<DerivedPage>, StoreError>>> = match self.format
        {
            ExportFormat::Forward => {
                Box::new(ranges.flat_map(|(from, to)| derived.pages_without_links(from, to)))
            }
            _ => Box::new(ranges.flat_map(|(from, to)| derived.pages(from, to))),
        };
        for piece in pieces {
            self.monitor.check_stop()?;
            match piece? {
                DerivedItem::Present(stored) => self.write_page(stored)?,
                DerivedItem::Gap { from, to } => self.parse_again(from, to)?,
            }
        }
        Ok(())
    }

    /// Writes the page at a position.
    fn write_at(&mut self, position: LibraryPosition) -> Result<(), EngineError> {
        self.monitor.check_stop()?;
        if let Some(stored) = self.source.derived.page(position)? {
            return self.write_page(stored);
        }
        let stored = self.source.library.read(position);
        match self.monitor.accept(stored)? {
            Some(stored) => self.analyse_and_write(vec![stored]),
            None => Ok(()),
        }
    }

    /// Parses the raw pages of a range without derived data.
    fn parse_again(&mut self, from: LibraryPosition, to: LibraryPosition) -> Result<(), EngineError> {
        let mut scan = self.source.library.scan(from, Some(to))?;
        loop {
            self.monitor.check_stop()?;
            let mut damaged = Vec::new();
            let group = next_group(&mut scan.by_ref().filter_map(|stored| match stored {
                Err(StoreError::Damaged { position, detail }) => {
                    damaged.push((position, detail));
                    None
                }
                stored => Some(stored),
            }))?;
            for (position, detail) in damaged {
                self.monitor.bad(position, detail);
            }
            if group.is_empty() {
                return Ok(());
            }
            let mut selected = Vec::new();
            for stored in group {
                let record = &stored.record;
                if self.source.includes(record.kind, &record.url, record.at, stored.position)? {
                    selected.push(stored);
                }
            }
            self.analyse_and_write(selected)?;
        }
    }

    fn analyse_and_write(&mut self, group: Vec<StoredRecord>) -> Result<(), EngineError> {
        for read in self.pool.analyse(group, &*self.source.library, self.config, AnalysisDepth::Everything)? {
            let StoredRecord { position, next, record } = read.stored;
            if let Some(analysed) = read.page.filter(|page| !page.is_quarantined()) {
                self.write_page(DerivedPage {
                    position,
                    next,
                    at: record.at,
                    url: record.url,
                    page: analysed.summary.page,
                })?;
            }
        }
        Ok(())
    }

    fn write_page(&mut self, page: DerivedPage) -> Result<(), EngineError> {
        if !self.source.includes(RecordKind::Page, &page.url, page.at, page.position)? {
            return Ok(());
        }
        let bytes = match self.format {
            ExportFormat::Soif => {
                let answer = self.source.library.response(page.position);
                let Some(answer) = self.monitor.accept(answer)? else { return Ok(()) };
                let interval = self.source.visit_interval(&page.url)?;
                soif_summary(&page, page.at, answer.body.len() as u64, interval)
            }
            ExportFormat::Forward => {
                let text = format!("{}\n{}", page.page.title, page.page.text);
                forward_index::lines(self.monitor.summary.written, &text).into_bytes()
            }
            _ => {
                let line = JsonLine { fetched: page.at.to_precise(), page: &page.page };
                let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
                bytes.push(b'\n');
                bytes
            }
        };
        self.out.write_all(&bytes).map_err(StoreError::io("write", self.path))?;
        self.monitor.written();
        Ok(())
    }
}

/// Writes the summary of a page. It is valid until the next visit of the page.
fn soif_summary(page: &DerivedPage, at: Timestamp, size: u64, interval: Option<Duration>) -> Vec<u8> {
    let gathered = CrawlMetadata { size, at, refresh: interval, time_to_live: interval };
    soif::write_object(&soif::describe_page(&page.page, &gathered))
}
