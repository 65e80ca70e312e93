//! The sections of a links block: sites, pages, ids, links and anchors, each readable without the others.
//!
//! ```text
//! sites     one name a line, sorted
//! pages     for each site the number of its pages, and for each page: twice the number of leading bytes it
//!           shares with the page before it, plus 1 if https; the rest of path and query as a column
//! ids       column of (hash of the site u64, number of its pages u32), column of hashes of the URLs u64
//! links     column of source pages in library order: offset in the library after the end of the source before
//!           it, length there, number of the page, number of its links; column of flags, a byte a link; column
//!           of targets, each as the difference of page numbers to the target before it, the first to its source
//! anchors   columns of lengths and of texts of the anchors, one a link; the same for those `rel` attributes
//!           that the flags cannot tell
//! ```
//!
//! Pages are numbered as they stand: sorted by site and path, so that links within a site are small differences
//! and the menus of a site are the same bytes again and again, which zstd makes short work of.

use std::collections::HashMap;
use std::ops::Range;

use pharos_core::{LibraryPosition, Link, LinkKind, PageId, PageUrl, SiteId, SiteName};

use super::blocks::Sections;
use super::coding::{Damage, Input, put_column, put_number, unzigzag, zigzag};
use super::{LinkPair, PageLinks, Stretch};

const SITES: usize = 0;
const PAGES: usize = 1;
const IDS: usize = 2;
const LINKS: usize = 3;
const ANCHORS: usize = 4;
/// Sections of a block that has pages.
pub(super) const SECTIONS: usize = 5;

/// Links of one page beyond this number, or beyond so many bytes of addresses and anchors, are left out.
const MAX_PAGE_LINKS: usize = 1 << 20;
const MAX_PAGE_BYTES: usize = 64 << 20;
/// A block is written when it has this many links or bytes: so one page more makes twice as much at most.
const BLOCK_LINKS: usize = MAX_PAGE_LINKS;
const BLOCK_BYTES: usize = MAX_PAGE_BYTES / 2;
const MAX_LINKS: usize = 2 * BLOCK_LINKS;
const MAX_PAGES: usize = 2 * MAX_LINKS;
const MAX_URL_BYTES: usize = 2 * MAX_PAGE_BYTES;
/// What a page address and its site are bound by.
const MAX_URL: usize = 2_048;

const KIND_BITS: u8 = 0b11;
const NOFOLLOW: u8 = 0b100;
const REL_NOFOLLOW: u8 = 0b1000;
const REL_TEXT: u8 = 0b1_0000;

/// Links on their way into a block.
#[derive(Default)]
pub(super) struct LinksBuilder {
    /// Every page met, as source or target, in the order met.
    numbers: HashMap<PageUrl, u32>,
    sources: Vec<Source>,
    targets: Vec<u32>,
    flags: Vec<u8>,
    anchor_lengths: Vec<u8>,
    anchors: Vec<u8>,
    rel_lengths: Vec<u8>,
    rels: Vec<u8>,
    url_bytes: usize,
}

/// A page with links.
struct Source {
    position: u64,
    next: u64,
    page: u32,
    links: usize,
}

impl LinksBuilder {
    /// Adds a page. `nofollow`: the page asks that none of its links is followed.
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
                put_number(&mut self.rel_lengths, link.rel.len() as u64);
                self.rels.extend_from_slice(link.rel.as_bytes());
            }
            self.flags.push(flags);
            put_number(&mut self.anchor_lengths, link.anchor.len() as u64);
            self.anchors.extend_from_slice(link.anchor.as_bytes());
            let target = self.number(link.url);
            self.targets.push(target);
        }
        self.sources.push(Source { position: position.offset, next: next.offset, page, links: kept });
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

    /// Is it time to write the block?
    pub(super) fn is_full(&self) -> bool {
        self.targets.len() >= BLOCK_LINKS
            || self.url_bytes + self.anchors.len() + self.rels.len() >= BLOCK_BYTES
    }

    /// The sections of a block that begins at `from`.
    pub(super) fn sections(&self, from: LibraryPosition) -> Sections {
        if self.sources.is_empty() {
            return Vec::new();
        }
        let mut pages: Vec<_> = self.numbers.iter().map(|(url, number)| (parts(url), url, *number)).collect();
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
            put_number(&mut addresses, group.len() as u64);
            let mut before: &[u8] = b"";
            for ((_, path, https), url, number) in group {
                let path = path.as_bytes();
                let shared = path.iter().zip(before).take_while(|(a, b)| a == b).count();
                put_number(&mut addresses, (shared as u64) << 1 | u64::from(*https));
                put_column(&mut addresses, &path[shared..]);
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
            put_number(&mut sources, source.position - end);
            put_number(&mut sources, source.next - source.position);
            put_number(&mut sources, u64::from(page));
            put_number(&mut sources, source.links as u64);
            end = source.next;
            let (own, others) = rest.split_at(source.links);
            rest = others;
            let mut before = page;
            for target in own {
                let target = renumbered[*target as usize];
                put_number(&mut targets, zigzag(i64::from(target) - i64::from(before)));
                before = target;
            }
        }

        let columns = |columns: &[&[u8]]| {
            let mut section = Vec::with_capacity(columns.iter().map(|c| c.len() + 5).sum());
            columns.iter().for_each(|column| put_column(&mut section, column));
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

/// Site, path with query, and whether it is https: what an address is made of, in the order pages are sorted.
fn parts(url: &PageUrl) -> (&str, &str, bool) {
    let path = url.path_and_query();
    let site = &url.as_str()[scheme(url.is_https()).len()..url.as_str().len() - path.len()];
    (site, path, url.is_https())
}

fn scheme(https: bool) -> &'static str {
    if https { "https://" } else { "http://" }
}

/// The note of a section: how many things it holds.
fn count(stretch: &Stretch, section: usize, limit: usize) -> Result<usize, Damage> {
    let note = stretch.block.sections.get(section).ok_or(Damage("a section is missing"))?.note;
    usize::try_from(note).ok().filter(|n| *n <= limit).ok_or(Damage("more things than a block can have"))
}

/// Does the block hold nothing but its range?
fn is_empty(stretch: &Stretch) -> bool {
    stretch.block.sections.is_empty()
}

/// The names of all sites in a block.
pub(super) fn read_sites(stretch: &Stretch) -> Result<std::vec::IntoIter<SiteName>, Damage> {
    if is_empty(stretch) {
        return Ok(Vec::new().into_iter());
    }
    let expected = count(stretch, SITES, MAX_PAGES)?;
    let bytes = stretch.block.section(&stretch.file, SITES)?;
    let text = str::from_utf8(&bytes).map_err(|_| Damage("a site that is not UTF-8"))?;
    let sites: Vec<_> =
        text.lines().take(expected + 1).map(|line| SiteName::from_stored(line.to_string())).collect();
    if sites.len() == expected { Ok(sites.into_iter()) } else { Err(Damage("another number of sites")) }
}

/// The addresses of the wanted pages in a block, by number. Parsing them is most of the work of reading links, so
/// that whoever wants one page should not pay for all.
fn urls(stretch: &Stretch, wanted: impl Fn(usize) -> bool) -> Result<Vec<Option<PageUrl>>, Damage> {
    let sites = read_sites(stretch)?;
    let expected = count(stretch, PAGES, MAX_PAGES)?;
    let bytes = stretch.block.section(&stretch.file, PAGES)?;
    let mut input = Input(&bytes);
    let mut urls = Vec::with_capacity(expected.min(bytes.len()));
    let mut total = 0;
    for site in sites {
        let mut path = Vec::new();
        for _ in 0..input.size()? {
            let shared = input.size()?;
            let suffix = input.column()?;
            if shared >> 1 > path.len() {
                return Err(Damage("a page shares more than there is"));
            }
            path.truncate(shared >> 1);
            path.extend_from_slice(suffix);
            let scheme = scheme(shared & 1 == 1);
            let length = scheme.len() + site.as_str().len() + path.len();
            total += length;
            if urls.len() == expected || length > MAX_URL || total > MAX_URL_BYTES {
                return Err(Damage("more addresses than a block can have"));
            }
            if !wanted(urls.len()) {
                urls.push(None);
                continue;
            }
            let path = str::from_utf8(&path).map_err(|_| Damage("a path that is not UTF-8"))?;
            let text = [scheme, site.as_str(), path].concat();
            // An address in another spelling would have another id than the one beside it.
            match PageUrl::parse(&text) {
                Ok(url) if url.as_str() == text => urls.push(Some(url)),
                _ => return Err(Damage("an address that is none")),
            }
        }
    }
    input.end()?;
    if urls.len() == expected { Ok(urls) } else { Err(Damage("another number of pages")) }
}

/// The addresses of all pages in a block, sources and targets.
pub(super) fn read_urls(stretch: &Stretch) -> Result<std::vec::IntoIter<PageUrl>, Damage> {
    let urls = if is_empty(stretch) { Vec::new() } else { urls(stretch, |_| true)? };
    Ok(urls.into_iter().flatten().collect::<Vec<_>>().into_iter())
}

/// The ids of all pages in a block, by number.
fn ids(stretch: &Stretch) -> Result<Vec<PageId>, Damage> {
    let expected = count(stretch, IDS, MAX_PAGES)?;
    let bytes = stretch.block.section(&stretch.file, IDS)?;
    let mut input = Input(&bytes);
    let (mut sites, mut pages) = (Input(input.column()?), Input(input.column()?));
    input.end()?;
    if pages.0.len() != 8 * expected {
        return Err(Damage("another number of ids"));
    }
    let mut ids = Vec::with_capacity(expected);
    while !sites.0.is_empty() {
        let site = SiteId(sites.fixed_u64()?);
        for _ in 0..sites.fixed_u32()? {
            ids.push(PageId::from_parts(site, pages.fixed_u64()?));
        }
    }
    if ids.len() == expected { Ok(ids) } else { Err(Damage("another number of ids")) }
}

/// The links section, read from front to back.
struct Structure<'a> {
    sources: Input<'a>,
    flags: &'a [u8],
    targets: Input<'a>,
    pages: usize,
    /// Where the source before ended, and where the block does.
    at: LibraryPosition,
    end: LibraryPosition,
}

impl<'a> Structure<'a> {
    fn new(
        bytes: &'a [u8],
        pages: usize,
        links: usize,
        whole: &Range<LibraryPosition>,
    ) -> Result<Self, Damage> {
        let mut input = Input(bytes);
        let sources = Input(input.column()?);
        let flags = input.column()?;
        let targets = Input(input.column()?);
        input.end()?;
        if flags.len() != links {
            return Err(Damage("another number of links"));
        }
        Ok(Self { sources, flags, targets, pages, at: whole.start, end: whole.end })
    }

    /// The next source page and the flags of its links, whose targets must be read next.
    fn source(&mut self) -> Result<Option<(Source, &'a [u8])>, Damage> {
        if self.sources.0.is_empty() {
            self.targets.end()?;
            return if self.flags.is_empty() { Ok(None) } else { Err(Damage("links without a page")) };
        }
        let add = |a: u64, b: u64| a.checked_add(b).ok_or(Damage("a page beyond the library"));
        let position = add(self.at.offset, self.sources.number()?)?;
        let next = add(position, self.sources.number()?)?;
        let page = self.sources.number()?;
        let page = self.page(page)?;
        let links = self.sources.size()?;
        let (own, others) = self.flags.split_at_checked(links).ok_or(Damage("a page with too many links"))?;
        self.flags = others;
        self.at.offset = next;
        if next == position || self.at > self.end {
            return Err(Damage("a page that belongs elsewhere"));
        }
        Ok(Some((Source { position, next, page, links }, own)))
    }

    /// The next target.
    #[inline]
    fn target(&mut self, before: u32) -> Result<u32, Damage> {
        let difference = unzigzag(self.targets.number()?);
        self.page(i64::from(before).wrapping_add(difference) as u64)
    }

    #[inline]
    fn page(&self, number: u64) -> Result<u32, Damage> {
        if number < self.pages as u64 { Ok(number as u32) } else { Err(Damage("a page that is not there")) }
    }
}

#[inline]
fn kind(flags: u8) -> Result<LinkKind, Damage> {
    match flags & KIND_BITS {
        0 => Ok(LinkKind::Page),
        1 => Ok(LinkKind::Frame),
        2 => Ok(LinkKind::Resource),
        _ => Err(Damage("a link of no kind")),
    }
}

/// The links of a block as pairs of ids.
pub(super) fn read_pairs(stretch: &Stretch) -> Result<std::vec::IntoIter<LinkPair>, Damage> {
    if is_empty(stretch) {
        return Ok(Vec::new().into_iter());
    }
    let ids = ids(stretch)?;
    let links = count(stretch, LINKS, MAX_LINKS)?;
    let bytes = stretch.block.section(&stretch.file, LINKS)?;
    let mut structure = Structure::new(&bytes, ids.len(), links, &stretch.whole)?;
    let mut pairs = Vec::with_capacity(links);
    while let Some((source, flags)) = structure.source()? {
        let wanted =
            stretch.range.contains(&LibraryPosition { offset: source.position, ..stretch.whole.start });
        let from = ids[source.page as usize];
        let mut target = source.page;
        for flags in flags {
            target = structure.target(target)?;
            let (to, kind, nofollow) = (ids[target as usize], kind(*flags)?, flags & NOFOLLOW != 0);
            if wanted {
                pairs.push(LinkPair { from, to, kind, nofollow });
            }
        }
    }
    Ok(pairs.into_iter())
}

/// The links of a block page by page. All is proved before the first is handed out; addresses are copied only
/// then, so that many links to a few long ones do not fill the memory.
#[derive(Default)]
pub(super) struct PageLinksReader {
    file: u32,
    /// By number; those that no wanted page needs are not there.
    urls: Vec<Option<PageUrl>>,
    sources: std::vec::IntoIter<Source>,
    links: std::vec::IntoIter<(u32, u8)>,
    anchors: Texts,
    rels: Texts,
    range: Range<LibraryPosition>,
}

/// The links of a block, page by page.
pub(super) fn read_links(stretch: &Stretch) -> Result<PageLinksReader, Damage> {
    if is_empty(stretch) {
        return Ok(PageLinksReader::default());
    }
    let (pages, expected) = (count(stretch, PAGES, MAX_PAGES)?, count(stretch, LINKS, MAX_LINKS)?);
    let bytes = stretch.block.section(&stretch.file, LINKS)?;
    let file = stretch.whole.start.file;
    let mut structure = Structure::new(&bytes, pages, expected, &stretch.whole)?;
    let (mut sources, mut links) = (Vec::new(), Vec::with_capacity(expected));
    let mut needed = vec![false; pages];
    let mut rel_texts = 0;
    while let Some((source, flags)) = structure.source()? {
        let wanted = stretch.range.contains(&LibraryPosition { file, offset: source.position });
        needed[source.page as usize] |= wanted;
        let mut target = source.page;
        for &flags in flags {
            target = structure.target(target)?;
            needed[target as usize] |= wanted;
            kind(flags)?;
            rel_texts += usize::from(flags & REL_TEXT != 0);
            links.push((target, flags));
        }
        sources.push(source);
    }
    let urls = urls(stretch, |number| needed.get(number).is_some_and(|needed| *needed))?;
    let mut rest = links.as_slice();
    for source in &sources {
        let (own, others) = rest.split_at(source.links);
        rest = others;
        let length =
            |number: u32| urls.get(number as usize).and_then(Option::as_ref).map_or(0, |u| u.as_str().len());
        if own.iter().map(|(target, _)| length(*target)).sum::<usize>() > MAX_PAGE_BYTES {
            return Err(Damage("a page with too many links"));
        }
    }
    let bytes = stretch.block.section(&stretch.file, ANCHORS)?;
    let mut input = Input(&bytes);
    let (anchors, rels) = (Texts::read(&mut input, expected)?, Texts::read(&mut input, rel_texts)?);
    input.end()?;
    let (sources, links) = (sources.into_iter(), links.into_iter());
    Ok(PageLinksReader { file, urls, sources, links, anchors, rels, range: stretch.range.clone() })
}

/// Texts one after the other.
#[derive(Default)]
struct Texts {
    text: String,
    lengths: std::vec::IntoIter<u32>,
    at: usize,
}

impl Texts {
    /// Columns of lengths and texts that must fit each other, cut between characters.
    fn read(input: &mut Input, expected: usize) -> Result<Self, Damage> {
        let mut column = Input(input.column()?);
        let text = input.text_column()?;
        let mut lengths = Vec::with_capacity(expected);
        let mut at = 0_usize;
        for _ in 0..expected {
            let length = column.size()?;
            at = at.saturating_add(length);
            if !text.is_char_boundary(at) {
                return Err(Damage("texts of other lengths"));
            }
            lengths.push(u32::try_from(length).map_err(|_| Damage("a text of absurd length"))?);
        }
        column.end()?;
        if at != text.len() {
            return Err(Damage("texts of other lengths"));
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
            let position = LibraryPosition { file: self.file, offset: source.position };
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
                    && let Ok(kind) = kind(flags)
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
