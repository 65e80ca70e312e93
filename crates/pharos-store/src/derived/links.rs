//! Sections of a links block: sites, pages, ids, links and anchors, each readable without the others.
//!
//! ```text
//! sites     one name per line, sorted
//! pages     for each site the number of its pages, and for each page: twice the number of leading bytes shared with
//!           the previous page, plus 1 if https; the rest of path and query as a column
//! ids       column of (hash of the site u64, number of its pages u32), column of hashes of the URLs u64
//! links     column of source pages in library order: distance from the end of the previous source, length in the
//!           library, page number, number of links; column of flags, one byte per link; column of targets, each as
//!           the difference of page numbers to the previous target, the first one to its source
//! anchors   columns of lengths and texts of the anchors, one per link; the same for those `rel` attributes that
//!           the flags cannot express
//! ```
//!
//! Pages are numbered in sort order by site and path. Links within a site are therefore small differences, and the
//! menus of a site are repeated byte sequences, which zstd compresses well.

use std::collections::HashMap;
use std::ops::Range;

use pharos_core::{LibraryPosition, Link, LinkKind, PageId, PageUrl, SiteId, SiteName};

use super::blocks::Sections;
use super::encoding::{DecodeError, SectionReader, unzigzag, write_column, write_varint, zigzag};
use super::{BlockPart, LinkPair, PageLinks};

const SITES: usize = 0;
const PAGES: usize = 1;
const IDS: usize = 2;
const LINKS: usize = 3;
const ANCHORS: usize = 4;
/// Number of sections of a block with pages.
pub(super) const SECTIONS: usize = 5;

/// Maximum number of links of a page, and of bytes of their URLs and anchors; further links are dropped.
const MAX_PAGE_LINKS: usize = 1 << 20;
const MAX_PAGE_BYTES: usize = 64 << 20;
/// Number of links or bytes at which a block is written. One more page makes it at most twice as large.
const BLOCK_LINKS: usize = MAX_PAGE_LINKS;
const BLOCK_BYTES: usize = MAX_PAGE_BYTES / 2;
const MAX_LINKS: usize = 2 * BLOCK_LINKS;
const MAX_PAGES: usize = 2 * MAX_LINKS;
const MAX_URL_BYTES: usize = 2 * MAX_PAGE_BYTES;
/// Maximum length of a URL.
const MAX_URL: usize = 2_048;

const KIND_BITS: u8 = 0b11;
const NOFOLLOW: u8 = 0b100;
const REL_NOFOLLOW: u8 = 0b1000;
const REL_TEXT: u8 = 0b1_0000;

/// Links collected for the next block.
#[derive(Default)]
pub(super) struct LinksBuilder {
    /// Number of every page, source or target, in order of occurrence.
    numbers: HashMap<PageUrl, u32>,
    sources: Vec<LinkSource>,
    targets: Vec<u32>,
    flags: Vec<u8>,
    anchor_lengths: Vec<u8>,
    anchors: Vec<u8>,
    rel_lengths: Vec<u8>,
    rels: Vec<u8>,
    url_bytes: usize,
}

/// A source page.
struct LinkSource {
    position: u64,
    next: u64,
    page: u32,
    links: usize,
}

impl LinksBuilder {
    /// Adds a page. `nofollow` is `true` if the page as a whole is marked `nofollow`.
    pub(super) fn add(
        &mut self,
        position: LibraryPosition,
        next: LibraryPosition,
        url: PageUrl,
        nofollow: bool,
        links: Vec<Link>,
    ) {
        let page = self.number(url);
        let (mut kept, mut bytes) = (0, 0);
        for link in links {
            bytes += link.url.as_str().len() + link.anchor.len() + link.rel.len();
            if kept == MAX_PAGE_LINKS || bytes > MAX_PAGE_BYTES {
                break;
            }
            kept += 1;
            let mut flags = match link.kind {
                LinkKind::Page => 0,
                LinkKind::Frame => 1,
                LinkKind::Resource => 2,
            };
            if nofollow || link.is_nofollow() {
                flags |= NOFOLLOW;
            }
            if link.rel == "nofollow" {
                flags |= REL_NOFOLLOW;
            } else if !link.rel.is_empty() {
                flags |= REL_TEXT;
                write_varint(&mut self.rel_lengths, link.rel.len() as u64);
                self.rels.extend_from_slice(link.rel.as_bytes());
            }
            self.flags.push(flags);
            write_varint(&mut self.anchor_lengths, link.anchor.len() as u64);
            self.anchors.extend_from_slice(link.anchor.as_bytes());
            let target = self.number(link.url);
            self.targets.push(target);
        }
        self.sources.push(LinkSource { position: position.offset, next: next.offset, page, links: kept });
    }

    fn number(&mut self, url: PageUrl) -> u32 {
        let new = self.numbers.len() as u32;
        let length = url.as_str().len();
        let number = *self.numbers.entry(url).or_insert(new);
        if number == new {
            self.url_bytes += length;
        }
        number
    }

    pub(super) fn pages(&self) -> u32 {
        self.sources.len() as u32
    }

    /// Returns `true` if the block should be written.
    pub(super) fn is_full(&self) -> bool {
        self.targets.len() >= BLOCK_LINKS
            || self.url_bytes + self.anchors.len() + self.rels.len() >= BLOCK_BYTES
    }

    /// Returns the sections of a block that starts at `from`.
    pub(super) fn sections(&self, from: LibraryPosition) -> Sections {
        if self.sources.is_empty() {
            return Vec::new();
        }
        let mut pages: Vec<_> =
            self.numbers.iter().map(|(url, number)| (url_parts(url), url, *number)).collect();
        pages.sort_unstable_by_key(|(address, ..)| *address);

        let (mut sites, mut addresses, mut site_ids, mut page_ids) = (vec![], vec![], vec![], vec![]);
        let mut renumbered = vec![0_u32; pages.len()];
        let mut new = 0;
        let mut site_count = 0;
        for group in pages.chunk_by(|((a, ..), ..), ((b, ..), ..)| a == b) {
            let ((site, ..), first, _) = group[0];
            site_count += 1;
            sites.extend_from_slice(site.as_bytes());
            sites.push(b'\n');
            site_ids.extend(first.id().site().0.to_le_bytes());
            site_ids.extend((group.len() as u32).to_le_bytes());
            write_varint(&mut addresses, group.len() as u64);
            let mut before: &[u8] = b"";
            for ((_, path, https), url, number) in group {
                let path = path.as_bytes();
                let shared = path.iter().zip(before).take_while(|(a, b)| a == b).count();
                write_varint(&mut addresses, (shared as u64) << 1 | u64::from(*https));
                write_column(&mut addresses, &path[shared..]);
                before = path;
                page_ids.extend(url.id().page().to_le_bytes());
                renumbered[*number as usize] = new;
                new += 1;
            }
        }

        let (mut sources, mut targets) = (Vec::new(), Vec::with_capacity(2 * self.targets.len()));
        let mut rest = self.targets.as_slice();
        let mut end = from.offset;
        for source in &self.sources {
            let page = renumbered[source.page as usize];
            write_varint(&mut sources, source.position - end);
            write_varint(&mut sources, source.next - source.position);
            write_varint(&mut sources, u64::from(page));
            write_varint(&mut sources, source.links as u64);
            end = source.next;
            let (own, others) = rest.split_at(source.links);
            rest = others;
            let mut before = page;
            for target in own {
                let target = renumbered[*target as usize];
                write_varint(&mut targets, zigzag(i64::from(target) - i64::from(before)));
                before = target;
            }
        }

        let columns = |columns: &[&[u8]]| {
            let mut section = Vec::with_capacity(columns.iter().map(|c| c.len() + 5).sum());
            columns.iter().for_each(|column| write_column(&mut section, column));
            section
        };
        let (page_count, link_count) = (u64::from(new), self.targets.len() as u64);
        vec![
            (sites, site_count),
            (addresses, page_count),
            (columns(&[&site_ids, &page_ids]), page_count),
            (columns(&[&sources, &self.flags, &targets]), link_count),
            (columns(&[&self.anchor_lengths, &self.anchors, &self.rel_lengths, &self.rels]), link_count),
        ]
    }
}

/// Splits a URL into site, path with query, and https flag, in the sort order of pages.
fn url_parts(url: &PageUrl) -> (&str, &str, bool) {
    let path = url.path_and_query();
    let site = &url.as_str()[scheme(url.is_https()).len()..url.as_str().len() - path.len()];
    (site, path, url.is_https())
}

fn scheme(https: bool) -> &'static str {
    if https { "https://" } else { "http://" }
}

/// Returns the note of a section: its number of items.
fn item_count(part: &BlockPart, section: usize, limit: usize) -> Result<usize, DecodeError> {
    let note = part.block.sections.get(section).ok_or(DecodeError("a section is missing"))?.note;
    usize::try_from(note).ok().filter(|n| *n <= limit).ok_or(DecodeError("too many items in a block"))
}

/// Returns `true` if the block contains no pages.
fn is_empty(part: &BlockPart) -> bool {
    part.block.sections.is_empty()
}

/// Reads the names of all sites of a block.
pub(super) fn read_sites(part: &BlockPart) -> Result<std::vec::IntoIter<SiteName>, DecodeError> {
    if is_empty(part) {
        return Ok(Vec::new().into_iter());
    }
    let expected = item_count(part, SITES, MAX_PAGES)?;
    let bytes = part.block.section(&part.file, SITES)?;
    let text = str::from_utf8(&bytes).map_err(|_| DecodeError("site name is not UTF-8"))?;
    let sites: Vec<_> =
        text.lines().take(expected + 1).map(|line| SiteName::from_stored(line.to_string())).collect();
    if sites.len() == expected { Ok(sites.into_iter()) } else { Err(DecodeError("wrong number of sites")) }
}

/// Reads the URLs of the wanted pages of a block, indexed by page number. Parsing URLs takes most of the time, so
/// unwanted ones are skipped.
fn read_wanted_urls(
    part: &BlockPart,
    wanted: impl Fn(usize) -> bool,
) -> Result<Vec<Option<PageUrl>>, DecodeError> {
    let sites = read_sites(part)?;
    let expected = item_count(part, PAGES, MAX_PAGES)?;
    let bytes = part.block.section(&part.file, PAGES)?;
    let mut input = SectionReader(&bytes);
    let mut urls = Vec::with_capacity(expected.min(bytes.len()));
    let mut total = 0;
    for site in sites {
        let mut path = Vec::new();
        for _ in 0..input.size()? {
            let shared = input.size()?;
            let suffix = input.column()?;
            if shared >> 1 > path.len() {
                return Err(DecodeError("invalid shared prefix"));
            }
            path.truncate(shared >> 1);
            path.extend_from_slice(suffix);
            let scheme = scheme(shared & 1 == 1);
            let length = scheme.len() + site.as_str().len() + path.len();
            total += length;
            if urls.len() == expected || length > MAX_URL || total > MAX_URL_BYTES {
                return Err(DecodeError("too many URLs in a block"));
            }
            if !wanted(urls.len()) {
                urls.push(None);
                continue;
            }
            let path = str::from_utf8(&path).map_err(|_| DecodeError("path is not UTF-8"))?;
            let text = [scheme, site.as_str(), path].concat();
            // A URL that is not normalised would not match the stored id.
            match PageUrl::parse(&text) {
                Ok(url) if url.as_str() == text => urls.push(Some(url)),
                _ => return Err(DecodeError("invalid URL")),
            }
        }
    }
    input.end()?;
    if urls.len() == expected { Ok(urls) } else { Err(DecodeError("wrong number of pages")) }
}

/// Reads the URLs of all pages of a block, sources and targets.
pub(super) fn read_urls(part: &BlockPart) -> Result<std::vec::IntoIter<PageUrl>, DecodeError> {
    let urls = if is_empty(part) { Vec::new() } else { read_wanted_urls(part, |_| true)? };
    Ok(urls.into_iter().flatten().collect::<Vec<_>>().into_iter())
}

/// Reads the ids of all pages of a block, indexed by page number.
fn read_ids(part: &BlockPart) -> Result<Vec<PageId>, DecodeError> {
    let expected = item_count(part, IDS, MAX_PAGES)?;
    let bytes = part.block.section(&part.file, IDS)?;
    let mut input = SectionReader(&bytes);
    let (mut sites, mut pages) = (SectionReader(input.column()?), SectionReader(input.column()?));
    input.end()?;
    if pages.0.len() != 8 * expected {
        return Err(DecodeError("wrong number of ids"));
    }
    let mut ids = Vec::with_capacity(expected);
    while !sites.0.is_empty() {
        let site = SiteId(sites.fixed_u64()?);
        for _ in 0..sites.fixed_u32()? {
            ids.push(PageId::from_parts(site, pages.fixed_u64()?));
        }
    }
    if ids.len() == expected { Ok(ids) } else { Err(DecodeError("wrong number of ids")) }
}

/// Sequential decoder of the links section.
struct LinkDecoder<'a> {
    sources: SectionReader<'a>,
    flags: &'a [u8],
    targets: SectionReader<'a>,
    pages: usize,
    /// End of the previous source, and end of the block.
    at: LibraryPosition,
    end: LibraryPosition,
}

impl<'a> LinkDecoder<'a> {
    fn new(
        bytes: &'a [u8],
        pages: usize,
        links: usize,
        whole: &Range<LibraryPosition>,
    ) -> Result<Self, DecodeError> {
        let mut input = SectionReader(bytes);
        let sources = SectionReader(input.column()?);
        let flags = input.column()?;
        let targets = SectionReader(input.column()?);
        input.end()?;
        if flags.len() != links {
            return Err(DecodeError("wrong number of links"));
        }
        Ok(Self { sources, flags, targets, pages, at: whole.start, end: whole.end })
    }

    /// Returns the next source page and the flags of its links, whose targets must be read next.
    fn source(&mut self) -> Result<Option<(LinkSource, &'a [u8])>, DecodeError> {
        if self.sources.0.is_empty() {
            self.targets.end()?;
            return if self.flags.is_empty() {
                Ok(None)
            } else {
                Err(DecodeError("links without a source page"))
            };
        }
        let add = |a: u64, b: u64| a.checked_add(b).ok_or(DecodeError("page beyond the library"));
        let position = add(self.at.offset, self.sources.varint()?)?;
        let next = add(position, self.sources.varint()?)?;
        let page = self.sources.varint()?;
        let page = self.page(page)?;
        let links = self.sources.size()?;
        let (own, others) =
            self.flags.split_at_checked(links).ok_or(DecodeError("too many links on a page"))?;
        self.flags = others;
        self.at.offset = next;
        if next == position || self.at > self.end {
            return Err(DecodeError("page outside the block range"));
        }
        Ok(Some((LinkSource { position, next, page, links }, own)))
    }

    /// Returns the next target.
    #[inline]
    fn target(&mut self, before: u32) -> Result<u32, DecodeError> {
        let difference = unzigzag(self.targets.varint()?);
        self.page(i64::from(before).wrapping_add(difference) as u64)
    }

    #[inline]
    fn page(&self, number: u64) -> Result<u32, DecodeError> {
        if number < self.pages as u64 { Ok(number as u32) } else { Err(DecodeError("invalid page number")) }
    }
}

#[inline]
fn link_kind(flags: u8) -> Result<LinkKind, DecodeError> {
    match flags & KIND_BITS {
        0 => Ok(LinkKind::Page),
        1 => Ok(LinkKind::Frame),
        2 => Ok(LinkKind::Resource),
        _ => Err(DecodeError("invalid link kind")),
    }
}

/// Reads the links of a block as pairs of ids.
pub(super) fn read_pairs(part: &BlockPart) -> Result<std::vec::IntoIter<LinkPair>, DecodeError> {
    if is_empty(part) {
        return Ok(Vec::new().into_iter());
    }
    let ids = read_ids(part)?;
    let links = item_count(part, LINKS, MAX_LINKS)?;
    let bytes = part.block.section(&part.file, LINKS)?;
    let mut decoder = LinkDecoder::new(&bytes, ids.len(), links, &part.whole)?;
    let mut pairs = Vec::with_capacity(links);
    while let Some((source, flags)) = decoder.source()? {
        let wanted = part.range.contains(&LibraryPosition { offset: source.position, ..part.whole.start });
        let from = ids[source.page as usize];
        let mut target = source.page;
        for flags in flags {
            target = decoder.target(target)?;
            let (to, kind, nofollow) = (ids[target as usize], link_kind(*flags)?, flags & NOFOLLOW != 0);
            if wanted {
                pairs.push(LinkPair { from, to, kind, nofollow });
            }
        }
    }
    Ok(pairs.into_iter())
}

/// The links of a block, page by page. All data is verified before the first page is returned. URLs are copied only
/// then, so that many links to a few long URLs do not exhaust memory.
#[derive(Default)]
pub(super) struct PageLinksReader {
    file: u32,
    /// Indexed by page number; URLs that no wanted page needs are absent.
    urls: Vec<Option<PageUrl>>,
    sources: std::vec::IntoIter<LinkSource>,
    links: std::vec::IntoIter<(u32, u8)>,
    anchors: TextColumn,
    rels: TextColumn,
    range: Range<LibraryPosition>,
}

/// Reads the links of a block, page by page.
pub(super) fn read_links(part: &BlockPart) -> Result<PageLinksReader, DecodeError> {
    if is_empty(part) {
        return Ok(PageLinksReader::default());
    }
    let (pages, expected) = (item_count(part, PAGES, MAX_PAGES)?, item_count(part, LINKS, MAX_LINKS)?);
    let bytes = part.block.section(&part.file, LINKS)?;
    let file = part.whole.start.volume;
    let mut decoder = LinkDecoder::new(&bytes, pages, expected, &part.whole)?;
    let (mut sources, mut links) = (Vec::new(), Vec::with_capacity(expected));
    let mut needed = vec![false; pages];
    let mut rel_texts = 0;
    while let Some((source, flags)) = decoder.source()? {
        let wanted = part.range.contains(&LibraryPosition::new(file, source.position));
        needed[source.page as usize] |= wanted;
        let mut target = source.page;
        for &flags in flags {
            target = decoder.target(target)?;
            needed[target as usize] |= wanted;
            link_kind(flags)?;
            rel_texts += usize::from(flags & REL_TEXT != 0);
            links.push((target, flags));
        }
        sources.push(source);
    }
    let urls = read_wanted_urls(part, |number| needed.get(number).is_some_and(|needed| *needed))?;
    let mut rest = links.as_slice();
    for source in &sources {
        let (own, others) = rest.split_at(source.links);
        rest = others;
        let length =
            |number: u32| urls.get(number as usize).and_then(Option::as_ref).map_or(0, |u| u.as_str().len());
        if own.iter().map(|(target, _)| length(*target)).sum::<usize>() > MAX_PAGE_BYTES {
            return Err(DecodeError("too many links on a page"));
        }
    }
    let bytes = part.block.section(&part.file, ANCHORS)?;
    let mut input = SectionReader(&bytes);
    let (anchors, rels) = (TextColumn::read(&mut input, expected)?, TextColumn::read(&mut input, rel_texts)?);
    input.end()?;
    let (sources, links) = (sources.into_iter(), links.into_iter());
    Ok(PageLinksReader { file, urls, sources, links, anchors, rels, range: part.range.clone() })
}

/// A column of texts, read sequentially.
#[derive(Default)]
struct TextColumn {
    text: String,
    lengths: std::vec::IntoIter<u32>,
    at: usize,
}

impl TextColumn {
    /// Reads columns of lengths and texts, whose lengths must match at character boundaries.
    fn read(input: &mut SectionReader, expected: usize) -> Result<Self, DecodeError> {
        let mut column = SectionReader(input.column()?);
        let text = input.text_column()?;
        let mut lengths = Vec::with_capacity(expected);
        let mut at = 0_usize;
        for _ in 0..expected {
            let length = column.size()?;
            at = at.saturating_add(length);
            if !text.is_char_boundary(at) {
                return Err(DecodeError("text lengths do not match"));
            }
            lengths.push(u32::try_from(length).map_err(|_| DecodeError("invalid text length"))?);
        }
        column.end()?;
        if at != text.len() {
            return Err(DecodeError("text lengths do not match"));
        }
        Ok(Self { text: text.to_string(), lengths: lengths.into_iter(), at: 0 })
    }

    fn next(&mut self) -> &str {
        let start = self.at;
        self.at += self.lengths.next().unwrap_or_default() as usize;
        self.text.get(start..self.at).unwrap_or_default()
    }
}

impl Iterator for PageLinksReader {
    type Item = PageLinks;

    fn next(&mut self) -> Option<PageLinks> {
        loop {
            let source = self.sources.next()?;
            let position = LibraryPosition::new(self.file, source.position);
            let wanted = self.range.contains(&position);
            let mut links = Vec::with_capacity(if wanted { source.links } else { 0 });
            for (target, flags) in self.links.by_ref().take(source.links) {
                let anchor = self.anchors.next();
                let rel = if flags & REL_TEXT != 0 {
                    self.rels.next()
                } else if flags & REL_NOFOLLOW != 0 {
                    "nofollow"
                } else {
                    ""
                };
                if wanted
                    && let Some(url) = self.urls[target as usize].clone()
                    && let Ok(kind) = link_kind(flags)
                {
                    links.push(Link { url, anchor: anchor.to_string(), kind, rel: rel.to_string() });
                }
            }
            if wanted && let Some(url) = self.urls[source.page as usize].clone() {
                let next = LibraryPosition { offset: source.next, ..position };
                return Some(PageLinks { position, next, url, links });
            }
        }
    }
}
