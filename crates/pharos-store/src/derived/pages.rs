//! The sections of a pages block: JSON lines, one page object a line, without its links.

use pharos_core::{LibraryPosition, PageObject, PageUrl, Timestamp};
use serde::{Deserialize, Serialize};

use super::blocks::Sections;
use super::coding::Damage;
use super::{Analysed, StoredPage, Stretch};

/// A section is closed when it has this many bytes: small enough to read one page of it in a millisecond, large
/// enough to compress well.
const SECTION: usize = 256 << 10;

/// Pages on their way into a block.
#[derive(Default)]
pub(super) struct PagesBuilder {
    sections: Sections,
    pages: u32,
    bytes: usize,
}

/// A line as it is written: what tells people where they are comes first.
#[derive(Serialize)]
struct LineOut<'a> {
    position: LibraryPosition,
    next: u64,
    at: Timestamp,
    /// Only where the page object has another.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a PageUrl>,
    page: &'a PageObject,
}

#[derive(Deserialize)]
struct LineIn {
    position: LibraryPosition,
    next: u64,
    at: Timestamp,
    url: Option<PageUrl>,
    page: PageObject,
}

/// The line of a page whose links have been taken out. `None`: it cannot be written as JSON.
pub(super) fn line(record: &Analysed, page: &PageObject) -> Option<Vec<u8>> {
    let url = (page.url != record.url.as_str()).then_some(&record.url);
    let mut line = Vec::with_capacity(1024 + page.text.len() + page.html.len());
    let out = LineOut { position: record.position, next: record.next.offset, at: record.at, url, page };
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

    /// The sections of a block that begins at `from`.
    pub(super) fn sections(&mut self, from: LibraryPosition) -> &Sections {
        if let Some((_, covers_from)) = self.sections.first_mut() {
            *covers_from = from.offset;
        }
        &self.sections
    }
}

/// The pages of a stretch, which is one section.
pub(super) fn read(stretch: &Stretch) -> Result<std::vec::IntoIter<StoredPage>, Damage> {
    let mut pages = Vec::new();
    for index in stretch.sections.clone() {
        let text = stretch.block.section(&stretch.file, index)?;
        let mut before = stretch.whole.start;
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line: LineIn = serde_json::from_slice(line).map_err(|_| Damage("a line that is no page"))?;
            let next = LibraryPosition { offset: line.next, ..line.position };
            if line.position < before || next <= line.position || next > stretch.whole.end {
                return Err(Damage("a page that belongs elsewhere"));
            }
            before = next;
            if !stretch.range.contains(&line.position) {
                continue;
            }
            let url = match line.url {
                Some(url) => url,
                None => PageUrl::parse(&line.page.url).map_err(|_| Damage("a page without a URL"))?,
            };
            pages.push(StoredPage { position: line.position, next, at: line.at, url, page: line.page });
        }
    }
    Ok(pages.into_iter())
}
