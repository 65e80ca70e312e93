//! Sections of a pages block: JSON Lines, one page object per line, without its links.

use pharos_core::{LibraryPosition, PageObject, PageUrl, Timestamp};
use serde::{Deserialize, Serialize};

use super::blocks::Sections;
use super::encoding::DecodeError;
use super::{BlockPart, DerivedPage, DerivedRecord};

/// Size at which a section is closed: small enough to read one of its pages within a millisecond, large enough to
/// compress well.
const SECTION: usize = 256 << 10;

/// Pages collected for the next block.
#[derive(Default)]
pub(super) struct PagesBuilder {
    sections: Sections,
    pages: u32,
    bytes: usize,
}

/// A line as written. The position comes first for human readers.
#[derive(Serialize)]
struct PageLineRef<'a> {
    position: LibraryPosition,
    next: u64,
    at: Timestamp,
    /// Set only if it differs from the URL in the page object.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a PageUrl>,
    page: &'a PageObject,
}

#[derive(Deserialize)]
struct PageLine {
    position: LibraryPosition,
    next: u64,
    at: Timestamp,
    url: Option<PageUrl>,
    page: PageObject,
}

/// Encodes the line of a page without its links. Returns `None` if it cannot be written as JSON.
pub(super) fn encode_line(record: &DerivedRecord, page: &PageObject) -> Option<Vec<u8>> {
    let url = (page.url != record.url.as_str()).then_some(&record.url);
    let mut line = Vec::with_capacity(1024 + page.text.len() + page.html.len());
    let out = PageLineRef { position: record.position, next: record.next.offset, at: record.at, url, page };
    serde_json::to_writer(&mut line, &out).ok()?;
    line.push(b'\n');
    Some(line)
}

impl PagesBuilder {
    pub(super) fn add(&mut self, position: LibraryPosition, line: &[u8]) {
        match self.sections.last_mut() {
            Some((section, _)) if section.len() + line.len() <= SECTION => section.extend_from_slice(line),
            _ => {
                let mut section = Vec::with_capacity(SECTION.max(line.len()));
                section.extend_from_slice(line);
                self.sections.push((section, position.offset));
            }
        }
        self.pages += 1;
        self.bytes += line.len();
    }

    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn section_count(&self) -> usize {
        self.sections.len()
    }

    /// Returns the sections of a block that starts at `from`.
    pub(super) fn sections(&mut self, from: LibraryPosition) -> &Sections {
        if let Some((_, covers_from)) = self.sections.first_mut() {
            *covers_from = from.offset;
        }
        &self.sections
    }
}

/// Reads the pages of a block part, which is one section.
pub(super) fn read_pages(part: &BlockPart) -> Result<std::vec::IntoIter<DerivedPage>, DecodeError> {
    let mut pages = Vec::new();
    for index in part.sections.clone() {
        let text = part.block.section(&part.file, index)?;
        let mut before = part.whole.start;
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line: PageLine =
                serde_json::from_slice(line).map_err(|_| DecodeError("invalid page line"))?;
            let next = LibraryPosition { offset: line.next, ..line.position };
            if line.position < before || next <= line.position || next > part.whole.end {
                return Err(DecodeError("page outside the block range"));
            }
            before = next;
            if !part.range.contains(&line.position) {
                continue;
            }
            let url = match line.url {
                Some(url) => url,
                None => {
                    PageUrl::parse(&line.page.url).map_err(|_| DecodeError("page without a valid URL"))?
                }
            };
            pages.push(DerivedPage { position: line.position, next, at: line.at, url, page: line.page });
        }
    }
    Ok(pages.into_iter())
}
