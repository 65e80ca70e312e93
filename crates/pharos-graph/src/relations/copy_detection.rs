//! Detects copies among all pages: exact copies, near-duplicates and variants with a canonical URL.

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

/// Marks a page without a text.
pub(super) const NO_TEXT: u32 = u32::MAX;

/// Penalty added to the first-seen time of a page that declares another canonical URL, unless the claim is refuted.
/// Such a page represents a group only if no other page can.
const NON_CANONICAL_PENALTY: i64 = 1 << 60;

/// Maximum number of pages united with a page because they declare it as canonical and are similar to it. Pages that
/// are copies by themselves do not count.
const MAX_CLAIMED_VARIANTS: u32 = 100;

/// Collects fingerprints. Full signatures are stored in an unnamed file.
pub(super) struct CopyDetector {
    pages: Vec<u32>,
    domains: Vec<u32>,
    titles: Vec<u32>,
    attributes: Vec<PageAttributes>,
    /// Number of shingles of each text, `None` if there are too few.
    shingles: Vec<Option<NonZeroU32>>,
    /// File of full signatures: one row per text, zeros if it has no shingles.
    full: BufWriter<File>,
    /// Digest; display hash and site (0 if the text is distinctive enough to be recognised on any site); text number.
    digests: Vec<(Digest, (u32, u32), u32)>,
    /// Texts with the page that they declare as canonical.
    canonical: Vec<(u32, u32)>,
}

/// Attributes of a page with a text.
pub(super) struct TextAttributes {
    pub(super) page: u32,
    pub(super) site: u32,
    pub(super) domain: u32,
    pub(super) first_seen: Timestamp,
    pub(super) layout: u32,
    pub(super) display_hash: u32,
    /// Page declared as canonical, if it is another page.
    pub(super) canonical: Option<u32>,
}

/// Copies among pages. Texts have numbers of their own, because not every page has a text.
#[derive(Debug, Default)]
pub(super) struct CopyTables {
    /// Page of each text.
    pub(super) pages: Vec<u32>,
    pub(super) attributes: Vec<PageAttributes>,
    /// Text of each page, or [`NO_TEXT`].
    pub(super) texts: Vec<u32>,
    /// Groups of near-duplicates and exact copies.
    pub(super) groups: DuplicateGroups,
    /// For each text the representative of all texts with the same words, mostly itself.
    pub(super) exact: Vec<u32>,
    /// Empty in loaded tables: only the index build that follows needs them.
    pub(super) signatures: Vec<Option<MinHashSignature>>,
    /// Verified variants with their canonical page of the same domain. Empty in loaded tables: the links have been
    /// redirected already.
    pub(super) variants: HashMap<u32, u32>,
}

impl CopyDetector {
    pub(super) fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            pages: Vec::new(),
            domains: Vec::new(),
            titles: Vec::new(),
            attributes: Vec::new(),
            shingles: Vec::new(),
            full: BufWriter::with_capacity(1 << 16, tempfile::tempfile_in(directory)?),
            digests: Vec::new(),
            canonical: Vec::new(),
        })
    }

    pub(super) fn add(&mut self, text: TextAttributes, fingerprint: Fingerprint) -> io::Result<()> {
        let number = self.pages.len() as u32;
        self.pages.push(text.page);
        self.domains.push(text.domain);
        self.attributes.push(PageAttributes {
            first_seen: text.first_seen.millis(),
            site: text.site,
            layout: text.layout,
        });
        let site = if fingerprint.is_distinctive { 0 } else { text.site + 1 };
        self.digests.push((fingerprint.digest, (text.display_hash, site), number));
        self.canonical.extend(text.canonical.map(|page| (number, page)));
        self.titles.push(fingerprint.title);
        self.shingles.push(fingerprint.full.as_ref().map(|full| full.shingles()));
        let row = fingerprint.full.map_or([0; FullMinHashSignature::BYTES], |full| full.to_bytes());
        self.full.write_all(&row)
    }

    /// Detects the copies among the texts of `pages` pages.
    pub(super) fn finish(mut self, pages: u32) -> io::Result<CopyTables> {
        let method = MinHash::default();
        let mut texts = vec![NO_TEXT; pages as usize];
        for (page, text) in self.pages.iter().zip(0..) {
            texts[*page as usize] = text;
        }
        let claims = self.take_claims(&texts);
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
        self.full.flush()?;
        let full = FullSignatures { file: self.full.get_ref(), shingles: &self.shingles };
        let signatures = compress_signatures(&full, &self.attributes, &self.titles)?;

        let (mut variants, mut claimed) = (HashMap::new(), HashMap::<u32, u32>::new());
        for CanonicalClaim { text, other, same_words } in claims {
            let Some(other) = other else {
                self.demote(text);
                continue;
            };
            // A canonical declaration must be verified: a site on which every page declares the home page as canonical
            // is not one page. Within a domain a lower similarity is enough.
            let [one, two] = [text, other].map(|text| signatures[text as usize].as_ref());
            let both = one.zip(two);
            let is_copy = same_words || both.is_some_and(|(one, two)| method.compare(one, two).is_some());
            let same_domain = self.domains[text as usize] == self.domains[other as usize];
            let is_variant = is_copy || {
                let collected = claimed.entry(other).or_default();
                let is_similar =
                    same_domain && both.is_some_and(|(one, two)| method.is_possible_part(one, two));
                *collected += u32::from(is_similar);
                is_similar && *collected <= MAX_CLAIMED_VARIANTS
            };
            if is_variant {
                self.demote(text);
                grouping.unite(text, other);
                if same_domain {
                    variants.insert(self.pages[text as usize], self.pages[other as usize]);
                }
            }
        }
        let variants = resolve_variants(&variants);
        choose_representatives(&mut exact, &self.attributes);
        // Joining needs the most memory, so unused columns are dropped first.
        drop((self.titles, self.shingles, self.domains, self.full));
        grouping.join(&method, &signatures);
        let groups = grouping.finish(&method, &signatures, &self.attributes);
        Ok(CopyTables {
            pages: self.pages,
            texts,
            attributes: self.attributes,
            groups,
            exact,
            signatures,
            variants,
        })
    }

    /// Lowers the priority of a page that declares another page as canonical.
    fn demote(&mut self, text: u32) {
        let seen = &mut self.attributes[text as usize].first_seen;
        *seen = seen.saturating_add(NON_CANONICAL_PENALTY);
    }

    /// Takes the canonical declarations. Digests must still be in the order of the texts.
    fn take_claims(&mut self, texts: &[u32]) -> Vec<CanonicalClaim> {
        let digest = |text: u32| self.digests[text as usize].0;
        let claims = std::mem::take(&mut self.canonical).into_iter().map(|(text, page)| {
            let other = texts.get(page as usize).copied().filter(|other| *other != NO_TEXT);
            CanonicalClaim {
                text,
                other,
                same_words: other.is_some_and(|other| digest(text) == digest(other)),
            }
        });
        claims.collect()
    }
}

/// A text that declares another page as canonical.
struct CanonicalClaim {
    text: u32,
    /// `None` if that page has no text.
    other: Option<u32>,
    same_words: bool,
}

/// Resolves chains of variants; cycles are dropped.
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

/// Makes the text seen first the representative of each set of equal texts.
fn choose_representatives(exact: &mut [u32], attributes: &[PageAttributes]) {
    let first_seen = |text: u32| (attributes[text as usize].first_seen, text);
    let mut representatives: Vec<u32> = (0..exact.len() as u32).collect();
    for (text, set) in (0..).zip(&*exact) {
        let representative = &mut representatives[*set as usize];
        if first_seen(text) < first_seen(*representative) {
            *representative = text;
        }
    }
    for set in exact {
        *set = representatives[*set as usize];
    }
}

/// Full signatures on disk, by text number.
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

/// Compresses the signatures of all texts, with the boilerplate of each site hidden.
fn compress_signatures(
    full: &FullSignatures<'_>,
    attributes: &[PageAttributes],
    titles: &[u32],
) -> io::Result<Vec<Option<MinHashSignature>>> {
    let site = |text: u32| attributes[text as usize].site;
    let mut order: Vec<u32> = (0..attributes.len() as u32).collect();
    order.sort_by_key(|text| site(*text));
    let mut signatures = vec![None; attributes.len()];
    for same_site in order.chunk_by(|one, other| site(*one) == site(*other)) {
        let mut sample = Vec::new();
        for text in same_site.iter().take(MAX_SAMPLED_PAGES) {
            sample.extend(full.read(*text)?.map(|full| (titles[*text as usize], full)));
        }
        let boilerplate = Boilerplate::from_pages(&sample);
        drop(sample);
        for text in same_site {
            signatures[*text as usize] =
                full.read(*text)?.map(|full| full.compress(boilerplate.hidden_bins(&full)));
        }
    }
    Ok(signatures)
}

impl CopyTables {
    /// Adds entries for pages that were numbered later and have no text.
    pub(super) fn extend_to(&mut self, pages: usize) {
        self.texts.resize(pages, NO_TEXT);
    }

    /// Returns the text number of a page.
    pub(super) fn text(&self, page: u32) -> Option<u32> {
        self.texts.get(page as usize).copied().filter(|text| *text != NO_TEXT)
    }

    /// Returns the page of a text.
    pub(super) fn page(&self, text: u32) -> u32 {
        self.pages[text as usize]
    }
}
