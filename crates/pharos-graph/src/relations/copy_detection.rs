//! Which pages are copies of which, gathered from the fingerprints of all of them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::num::NonZeroU32;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use pharos_core::Timestamp;

use crate::duplicates::{
    Boilerplate, Digest, DuplicateDetector as _, DuplicateGroups, Fingerprint, FullMinHashSignature,
    GroupBuilder, MAX_SAMPLED_PAGES, MinHash, MinHashSignature, PageAttributes,
};

/// The number of no text.
pub(super) const NO_TEXT: u32 = u32::MAX;

/// Added to the time at which a page was first seen if it names another address as the right one, and is not seen to be
/// mistaken, so that it speaks for a group only if nobody else does.
const NON_CANONICAL_PENALTY: i64 = 1 << 60;

/// Pages that one may collect because they name it as the right one and are somewhat like it. Those that are copies by
/// themselves do not count.
const MAX_CLAIMED_VARIANTS: u32 = 100;

/// Collects fingerprints. The wide ones wait in a file without a name.
pub(super) struct CopyDetector {
    pages: Vec<u32>,
    domains: Vec<u32>,
    titles: Vec<u32>,
    facts: Vec<PageAttributes>,
    /// Shingles of each text, none where there are too few.
    shingles: Vec<Option<NonZeroU32>>,
    /// A row for each text, empty where it has no shingles.
    wide: BufWriter<File>,
    /// Digest; how it may be shown, and the site (0 where the text says enough to be recognised on any site); number.
    digests: Vec<(Digest, (u32, u32), u32)>,
    /// Texts with the page that they name as the right one.
    canonical: Vec<(u32, u32)>,
}

/// A page with a text.
pub(super) struct TextAttributes {
    pub(super) page: u32,
    pub(super) site: u32,
    pub(super) domain: u32,
    pub(super) first_seen: Timestamp,
    pub(super) layout: u32,
    pub(super) manner: u32,
    /// The page that it names as the right one, if that is another.
    pub(super) canonical: Option<u32>,
}

/// CopyTables among pages. Only pages with a text have any; they have numbers of their own here.
#[derive(Debug, Default)]
pub(super) struct CopyTables {
    /// The page of each text.
    pub(super) pages: Vec<u32>,
    pub(super) facts: Vec<PageAttributes>,
    /// The text of each page, [`NO_TEXT`] where it has none.
    pub(super) texts: Vec<u32>,
    /// Near-duplicates and exact copies alike.
    pub(super) groups: DuplicateGroups,
    /// For each text the one that stands for all with the very same words, mostly itself.
    pub(super) exact: Vec<u32>,
    /// Empty once saved: only the index that is being built wants them.
    pub(super) signatures: Vec<Option<MinHashSignature>>,
    /// Pages that are variants of another of their domain by their own word, which proved true, with that page. Empty
    /// once saved: links have been led there.
    pub(super) variants: HashMap<u32, u32>,
}

impl CopyDetector {
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

    pub(super) fn add(&mut self, text: TextAttributes, fingerprint: Fingerprint) -> io::Result<()> {
        let number = self.pages.len() as u32;
        self.pages.push(text.page);
        self.domains.push(text.domain);
        self.facts.push(PageAttributes {
            first_seen: text.first_seen.millis(),
            site: text.site,
            layout: text.layout,
        });
        let site = if fingerprint.is_distinctive { 0 } else { text.site + 1 };
        self.digests.push((fingerprint.digest, (text.manner, site), number));
        self.canonical.extend(text.canonical.map(|page| (number, page)));
        self.titles.push(fingerprint.title);
        self.shingles.push(fingerprint.full.as_ref().map(|wide| wide.shingles()));
        let row = fingerprint.full.map_or([0; FullMinHashSignature::BYTES], |wide| wide.to_bytes());
        self.wide.write_all(&row)
    }

    /// The copies among the texts of `pages` pages.
    pub(super) fn finish(mut self, pages: u32) -> io::Result<CopyTables> {
        let method = MinHash::default();
        let mut texts = vec![NO_TEXT; pages as usize];
        for (page, text) in self.pages.iter().zip(0..) {
            texts[*page as usize] = text;
        }
        let named = self.take_claims(&texts);
        let mut grouping = GroupBuilder::new(self.pages.len());
        let mut exact: Vec<u32> = (0..self.pages.len() as u32).collect();
        self.digests.sort_unstable();
        for same in self.digests.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
            for (_, _, text) in same {
                exact[*text as usize] = same[0].2;
                grouping.unite(same[0].2, *text);
            }
        }
        self.digests = Vec::new();
        self.wide.flush()?;
        let wide = FullSignatures { file: self.wide.get_ref(), shingles: &self.shingles };
        let signatures = compress_signatures(&wide, &self.facts, &self.titles)?;

        let (mut variants, mut by_name) = (HashMap::new(), HashMap::<u32, u32>::new());
        for CanonicalClaim { text, other, same_words } in named {
            let Some(other) = other else {
                self.demote(text);
                continue;
            };
            // Whatever a page says of itself must be seen to be true: a site whose every page names its home page as the
            // right one is not one page. Within a domain, which knows its own variants, less is enough.
            let [one, two] = [text, other].map(|text| signatures[text as usize].as_ref());
            let both = one.zip(two);
            let is_copy = same_words || both.is_some_and(|(one, two)| method.compare(one, two).is_some());
            let is_home = self.domains[text as usize] == self.domains[other as usize];
            let is_variant = is_copy || {
                let collected = by_name.entry(other).or_default();
                let is_like = is_home && both.is_some_and(|(one, two)| method.is_possible_part(one, two));
                *collected += u32::from(is_like);
                is_like && *collected <= MAX_CLAIMED_VARIANTS
            };
            if is_variant {
                self.demote(text);
                grouping.unite(text, other);
                if is_home {
                    variants.insert(self.pages[text as usize], self.pages[other as usize]);
                }
            }
        }
        let variants = resolve_variants(&variants);
        choose_representatives(&mut exact, &self.facts);
        // Joining is what takes the most: what is not needed any more goes first.
        drop((self.titles, self.shingles, self.domains, self.wide));
        grouping.join(&method, &signatures);
        let groups = grouping.finish(&method, &signatures, &self.facts);
        Ok(CopyTables { pages: self.pages, texts, facts: self.facts, groups, exact, signatures, variants })
    }

    /// A page says itself that another is the right one.
    fn demote(&mut self, text: u32) {
        let seen = &mut self.facts[text as usize].first_seen;
        *seen = seen.saturating_add(NON_CANONICAL_PENALTY);
    }

    /// What pages say of themselves. Digests must stand in the order of the texts.
    fn take_claims(&mut self, texts: &[u32]) -> Vec<CanonicalClaim> {
        let digest = |text: u32| self.digests[text as usize].0;
        let named = std::mem::take(&mut self.canonical).into_iter().map(|(text, page)| {
            let other = texts.get(page as usize).copied().filter(|other| *other != NO_TEXT);
            CanonicalClaim {
                text,
                other,
                same_words: other.is_some_and(|other| digest(text) == digest(other)),
            }
        });
        named.collect()
    }
}

/// A text that names another as the right one.
struct CanonicalClaim {
    text: u32,
    /// None where that is no page with a text.
    other: Option<u32>,
    same_words: bool,
}

/// Where each variant leads in the end; those that run in a circle lead nowhere.
fn resolve_variants(variants: &HashMap<u32, u32>) -> HashMap<u32, u32> {
    let end = |page: u32| {
        let mut end = page;
        for _ in 0..super::MAX_HOPS {
            match variants.get(&end) {
                Some(next) => end = *next,
                None => return Some((page, end)),
            }
        }
        None
    };
    variants.keys().filter_map(|page| end(*page)).collect()
}

/// Has the first seen of each set of equal texts speak for it.
fn choose_representatives(exact: &mut [u32], facts: &[PageAttributes]) {
    let seen = |text: u32| (facts[text as usize].first_seen, text);
    let mut speakers: Vec<u32> = (0..exact.len() as u32).collect();
    for (text, set) in (0..).zip(&*exact) {
        let speaker = &mut speakers[*set as usize];
        if seen(text) < seen(*speaker) {
            *speaker = text;
        }
    }
    for set in exact {
        *set = speakers[*set as usize];
    }
}

/// Wide signatures by their numbers.
struct FullSignatures<'a> {
    file: &'a File,
    shingles: &'a [Option<NonZeroU32>],
}

impl FullSignatures<'_> {
    fn read(&self, text: u32) -> io::Result<Option<FullMinHashSignature>> {
        let Some(shingles) = self.shingles[text as usize] else { return Ok(None) };
        let mut row = [0; FullMinHashSignature::BYTES];
        self.file.read_exact_at(&mut row, u64::from(text) * FullMinHashSignature::BYTES as u64)?;
        Ok(Some(FullMinHashSignature::from_bytes(&row, shingles)))
    }
}

/// The signatures of all texts, without what pages of the same site say under many titles.
fn compress_signatures(
    wide: &FullSignatures<'_>,
    facts: &[PageAttributes],
    titles: &[u32],
) -> io::Result<Vec<Option<MinHashSignature>>> {
    let site = |text: u32| facts[text as usize].site;
    let mut order: Vec<u32> = (0..facts.len() as u32).collect();
    order.sort_by_key(|text| site(*text));
    let mut signatures = vec![None; facts.len()];
    for of_site in order.chunk_by(|one, other| site(*one) == site(*other)) {
        let mut known = Vec::new();
        for text in of_site.iter().take(MAX_SAMPLED_PAGES) {
            known.extend(wide.read(*text)?.map(|wide| (titles[*text as usize], wide)));
        }
        let boilerplate = Boilerplate::from_pages(&known);
        drop(known);
        for text in of_site {
            signatures[*text as usize] =
                wide.read(*text)?.map(|wide| wide.compress(boilerplate.hidden_bins(&wide)));
        }
    }
    Ok(signatures)
}

impl CopyTables {
    /// Makes room for pages that have a number by now, and no text.
    pub(super) fn cover(&mut self, pages: usize) {
        self.texts.resize(pages, NO_TEXT);
    }

    /// The number of a page's text.
    pub(super) fn text(&self, page: u32) -> Option<u32> {
        self.texts.get(page as usize).copied().filter(|text| *text != NO_TEXT)
    }

    /// The page of a text.
    pub(super) fn page(&self, text: u32) -> u32 {
        self.pages[text as usize]
    }
}
