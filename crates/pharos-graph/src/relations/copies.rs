//! Which pages are copies of which, gathered from the fingerprints of all of them.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::num::NonZeroU32;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use pharos_core::Timestamp;

use crate::duplicates::{
    Boilerplate, Digest, ENOUGH_PAGES, Fingerprint, Grouping, Groups, Method as _, MinHash, MinHashSignature,
    PageFacts, WideSignature,
};

/// The number of no text.
pub(super) const NO_TEXT: u32 = u32::MAX;

/// Added to the time at which a page was first seen if it names another address as the right one, so that it speaks
/// for a group only if nobody else does.
const NOT_CANONICAL: i64 = 1 << 60;

/// Collects fingerprints. The wide ones wait in a file without a name.
pub(super) struct CopyCollector {
    pages: Vec<u32>,
    domains: Vec<u32>,
    titles: Vec<u32>,
    facts: Vec<PageFacts>,
    /// Shingles of each text, none where there are too few.
    shingles: Vec<Option<NonZeroU32>>,
    /// A row for each text, empty where it has no shingles.
    wide: BufWriter<File>,
    /// Digest; whether it may be shown, and the site (0 where the text says enough to be recognised on any site); number.
    digests: Vec<(Digest, (bool, u32), u32)>,
    /// Texts with the page that they name as the right one.
    canonical: Vec<(u32, u32)>,
}

/// A page with a text.
pub(super) struct TextOf {
    pub(super) page: u32,
    pub(super) site: u32,
    pub(super) domain: u32,
    pub(super) first_seen: Timestamp,
    pub(super) layout: u32,
    pub(super) archive: bool,
    /// The page that it names as the right one, if that is another.
    pub(super) canonical: Option<u32>,
}

/// Copies among pages. Only pages with a text have any; they have numbers of their own here.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// The page of each text.
    pub(super) pages: Vec<u32>,
    pub(super) facts: Vec<PageFacts>,
    /// The text of each page, [`NO_TEXT`] where it has none.
    pub(super) texts: Vec<u32>,
    /// Near-duplicates and exact copies alike.
    pub(super) groups: Groups,
    /// For each text the one that stands for all with the very same words, mostly itself.
    pub(super) exact: Vec<u32>,
    /// Empty once saved: only the index that is being built wants them.
    pub(super) signatures: Vec<Option<MinHashSignature>>,
}

impl CopyCollector {
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            pages: Vec::new(),
            domains: Vec::new(),
            titles: Vec::new(),
            facts: Vec::new(),
            shingles: Vec::new(),
            wide: BufWriter::with_capacity(1 << 16, tempfile::tempfile_in(directory)?),
            digests: Vec::new(),
            canonical: Vec::new(),
        })
    }

    pub(super) fn add(&mut self, text: TextOf, fingerprint: Fingerprint) -> io::Result<()> {
        let number = self.pages.len() as u32;
        let later = if text.canonical.is_some() { NOT_CANONICAL } else { 0 };
        self.pages.push(text.page);
        self.domains.push(text.domain);
        self.facts.push(PageFacts {
            first_seen: text.first_seen.millis().saturating_add(later),
            site: text.site,
            layout: text.layout,
        });
        let site = if fingerprint.is_telling { 0 } else { text.site + 1 };
        self.digests.push((fingerprint.digest, (text.archive, site), number));
        self.canonical.extend(text.canonical.map(|page| (number, page)));
        self.titles.push(fingerprint.title);
        self.shingles.push(fingerprint.wide.as_ref().map(|wide| wide.shingles()));
        let row = fingerprint.wide.map_or([0; WideSignature::BYTES], |wide| wide.to_bytes());
        self.wide.write_all(&row)
    }

    /// The copies among the texts of `pages` pages.
    pub(super) fn finish(mut self, pages: u32) -> io::Result<Copies> {
        let method = MinHash::default();
        let mut grouping = Grouping::new(self.pages.len());
        let first = |facts: &[PageFacts], text: u32| (facts[text as usize].first_seen, text);
        let mut exact: Vec<u32> = (0..self.pages.len() as u32).collect();
        self.digests.sort_unstable();
        for same in self.digests.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
            let texts = same.iter().map(|(_, _, text)| *text);
            let Some(speaker) = texts.clone().min_by_key(|text| first(&self.facts, *text)) else { continue };
            for text in texts {
                exact[text as usize] = speaker;
                grouping.unite(speaker, text);
            }
        }
        drop(self.digests);
        self.wide.flush()?;
        let wide = Wide { file: self.wide.get_ref(), shingles: &self.shingles };
        let signatures = own_signatures(&wide, &self.facts, &self.titles)?;
        let mut texts = vec![NO_TEXT; pages as usize];
        for (page, text) in self.pages.iter().zip(0..) {
            texts[*page as usize] = text;
        }
        for (text, page) in self.canonical {
            let other = texts[page as usize];
            if other == NO_TEXT {
                continue;
            }
            // A page may speak for its own domain; of others it must be seen to be true.
            let [one, two] = [text, other].map(|text| signatures[text as usize].as_ref());
            let is_copy = one.zip(two).is_some_and(|(one, two)| method.compare(one, two).is_some());
            if self.domains[text as usize] == self.domains[other as usize] || is_copy {
                grouping.unite(text, other);
            }
        }
        // Joining is what takes the most: what is not needed any more goes first.
        drop((self.titles, self.shingles, self.domains, self.wide));
        grouping.join(&method, &signatures);
        let groups = grouping.finish(&method, &signatures, &self.facts);
        Ok(Copies { pages: self.pages, texts, facts: self.facts, groups, exact, signatures })
    }
}

/// Wide signatures by their numbers.
struct Wide<'a> {
    file: &'a File,
    shingles: &'a [Option<NonZeroU32>],
}

impl Wide<'_> {
    fn read(&self, text: u32) -> io::Result<Option<WideSignature>> {
        let Some(shingles) = self.shingles[text as usize] else { return Ok(None) };
        let mut row = [0; WideSignature::BYTES];
        self.file.read_exact_at(&mut row, u64::from(text) * WideSignature::BYTES as u64)?;
        Ok(Some(WideSignature::from_bytes(&row, shingles)))
    }
}

/// The signatures of all texts, without what pages of the same site say under many titles.
fn own_signatures(
    wide: &Wide<'_>,
    facts: &[PageFacts],
    titles: &[u32],
) -> io::Result<Vec<Option<MinHashSignature>>> {
    let site = |text: u32| facts[text as usize].site;
    let mut order: Vec<u32> = (0..facts.len() as u32).collect();
    order.sort_by_key(|text| site(*text));
    let mut signatures = vec![None; facts.len()];
    for of_site in order.chunk_by(|one, other| site(*one) == site(*other)) {
        let mut known = Vec::new();
        for text in of_site.iter().take(ENOUGH_PAGES) {
            known.extend(wide.read(*text)?.map(|wide| (titles[*text as usize], wide)));
        }
        let boilerplate = Boilerplate::of(&known);
        drop(known);
        for text in of_site {
            signatures[*text as usize] = wide.read(*text)?.map(|wide| wide.narrow(boilerplate.hidden(&wide)));
        }
    }
    Ok(signatures)
}

impl Copies {
    /// The number of a page's text.
    pub(super) fn text(&self, page: u32) -> Option<u32> {
        self.texts.get(page as usize).copied().filter(|text| *text != NO_TEXT)
    }

    /// The page of a text.
    pub(super) fn page(&self, text: u32) -> u32 {
        self.pages[text as usize]
    }
}
