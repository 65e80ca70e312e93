//! Anchor texts (锚文本), collected by target page, filtered, weighted and bounded.
//!
//! An anchor text counts once for each domain that uses it, so that a template which repeats a link on a thousand pages
//! counts once. Generic texts (点击这里, read more), short numbers and URLs say nothing about their target and are
//! dropped.
//!
//! Anchors of all pages may exceed memory. They are distributed over buckets by target; a bucket that exceeds its share
//! of the memory goes to disk. At the end each bucket is aggregated separately, in as many parts as its size requires.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, Write as _};
use std::path::PathBuf;
use std::sync::LazyLock;

use serde::Serialize;

/// Maximum length of an anchor text in bytes; longer texts are truncated.
pub const MAX_ANCHOR_BYTES: usize = 240;

/// Weight added if the page's own domain uses the text. The first other domain adds ln 2.
const OWN_DOMAIN_WEIGHT: f32 = 0.35;

/// Maximum number of distinct texts per page; the first ones are kept.
const MAX_ANCHOR_TEXTS: usize = 1_024;
/// Maximum number of domains counted for one text.
const MAX_DOMAINS: usize = 64;
const BUCKETS: usize = 64;
/// Maximum number of parts of a bucket; each may be an open file.
const MAX_PARTS: usize = 256;
/// Memory needed to aggregate an anchor, as a multiple of its bytes in a bucket.
const MEMORY_FACTOR: usize = 6;

static GENERIC_ANCHORS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("../data/generic_anchors.txt").lines().filter(|line| !line.starts_with('#')).collect()
});

/// Returns the anchor text with whitespace collapsed, or `None` if it says nothing about its target.
pub fn informative_anchor(anchor: &str) -> Option<String> {
    let mut text = String::new();
    for word in anchor.split_whitespace() {
        if text.len() >= MAX_ANCHOR_BYTES {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    text.truncate(text.floor_char_boundary(MAX_ANCHOR_BYTES));
    let plain = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let is_number = plain.len() < 4 && plain.bytes().all(|byte| byte.is_ascii_digit());
    let is_address =
        plain.starts_with("http://") || plain.starts_with("https://") || plain.starts_with("www.");
    let is_letter = text.len() < 2;
    let is_generic =
        plain.is_empty() || is_number || is_address || is_letter || GENERIC_ANCHORS.contains(plain.as_str());
    (!is_generic).then_some(text)
}

/// An anchor text of a page and its weight.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Anchor {
    pub text: String,
    /// ln(1 + number of other domains that use the text), plus a constant if the page's own domain uses it.
    pub weight: f32,
}

/// Limits of anchor collection.
#[derive(Clone, Debug)]
pub struct AnchorOptions {
    /// Maximum number of anchors per page.
    pub max_anchors: usize,
    /// Bytes of memory. Anchors beyond it go to disk.
    pub memory: usize,
    /// Directory of the temporary files, which are unnamed.
    pub directory: PathBuf,
}

/// Collects the anchor texts of all pages.
pub struct AnchorCollector {
    options: AnchorOptions,
    buckets: Vec<Bucket>,
}

#[derive(Default)]
struct Bucket {
    buffer: Vec<u8>,
    file: Option<File>,
    /// Total bytes of `buffer` and `file`.
    bytes: usize,
}

/// The anchor text of one link.
struct AnchorRecord<'a> {
    target: u32,
    domain: u32,
    same_domain: bool,
    text: &'a str,
}

/// Domains that use one text for one page.
#[derive(Default)]
struct AnchorSources {
    domains: HashSet<u32>,
    same_domain: bool,
}

impl AnchorCollector {
    /// Creates an empty collector.
    pub fn new(options: AnchorOptions) -> Self {
        Self { options, buckets: (0..BUCKETS).map(|_| Bucket::default()).collect() }
    }

    /// Adds the anchor text of a link from a page of `domain` to the page `target`. `same_domain` marks targets of the
    /// same domain.
    pub fn add(&mut self, target: u32, domain: u32, same_domain: bool, anchor: &str) -> io::Result<()> {
        let Some(text) = informative_anchor(anchor) else { return Ok(()) };
        let bucket = &mut self.buckets[target as usize % BUCKETS];
        bucket.add(&AnchorRecord { target, domain, same_domain, text: &text }, &self.options, BUCKETS)
    }

    /// Calls `each` with the anchors of every page that has some, the heaviest first. The order of pages is
    /// unspecified.
    pub fn finish(self, mut each: impl FnMut(u32, &[Anchor]) -> io::Result<()>) -> io::Result<()> {
        for bucket in self.buckets {
            for part in bucket.partition(&self.options)? {
                aggregate_part(part, self.options.max_anchors, &mut each)?;
            }
        }
        Ok(())
    }
}

/// Aggregates one part of a bucket and calls `each` with the anchors of every page in it.
fn aggregate_part(
    part: Bucket,
    max_anchors: usize,
    each: &mut impl FnMut(u32, &[Anchor]) -> io::Result<()>,
) -> io::Result<()> {
    let mut pages: HashMap<u32, HashMap<String, AnchorSources>> = HashMap::new();
    part.read(|record| {
        let texts = pages.entry(record.target).or_default();
        let has_space = texts.len() < MAX_ANCHOR_TEXTS;
        let sources = match texts.get_mut(record.text) {
            Some(sources) => sources,
            None if has_space => texts.entry(record.text.to_owned()).or_default(),
            None => return Ok(()),
        };
        sources.same_domain |= record.same_domain;
        if !record.same_domain && sources.domains.len() < MAX_DOMAINS {
            sources.domains.insert(record.domain);
        }
        Ok(())
    })?;
    for (page, texts) in pages {
        each(page, &heaviest(texts, max_anchors))?;
    }
    Ok(())
}

fn heaviest(texts: HashMap<String, AnchorSources>, count: usize) -> Vec<Anchor> {
    let weigh = |(text, sources): (String, AnchorSources)| {
        let same_domain = if sources.same_domain { OWN_DOMAIN_WEIGHT } else { 0.0 };
        Anchor { text, weight: (sources.domains.len() as f32).ln_1p() + same_domain }
    };
    let mut anchors: Vec<Anchor> = texts.into_iter().map(weigh).collect();
    anchors.sort_unstable_by(|one, other| {
        other.weight.total_cmp(&one.weight).then_with(|| one.text.cmp(&other.text))
    });
    anchors.truncate(count);
    anchors
}

impl Bucket {
    /// Adds a record. `buckets` is the number of buckets that share the memory.
    fn add(&mut self, record: &AnchorRecord<'_>, options: &AnchorOptions, buckets: usize) -> io::Result<()> {
        let before = self.buffer.len();
        record.write(&mut self.buffer);
        self.bytes += self.buffer.len() - before;
        if self.buffer.len() > options.memory / buckets { self.spill(options) } else { Ok(()) }
    }

    /// Partitions the records by target, so that each part can be aggregated within the memory.
    fn partition(self, options: &AnchorOptions) -> io::Result<Vec<Bucket>> {
        let count = (self.bytes.saturating_mul(MEMORY_FACTOR) / options.memory.max(1) + 1).min(MAX_PARTS);
        if count == 1 {
            return Ok(vec![self]);
        }
        let mut parts: Vec<Bucket> = (0..count).map(|_| Bucket::default()).collect();
        self.read(|record| {
            let part = &mut parts[record.target as usize / BUCKETS % count];
            part.add(&record, options, count)
        })?;
        Ok(parts)
    }

    fn spill(&mut self, options: &AnchorOptions) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(&options.directory)?),
        };
        file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn read(self, mut each: impl FnMut(AnchorRecord<'_>) -> io::Result<()>) -> io::Result<()> {
        if let Some(mut file) = self.file {
            file.rewind()?;
            read_all(&mut BufReader::new(file), &mut each)?;
        }
        read_all(&mut self.buffer.as_slice(), &mut each)
    }
}

impl AnchorRecord<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.target.to_le_bytes());
        out.extend(self.domain.to_le_bytes());
        out.push(u8::from(self.same_domain));
        out.push(self.text.len() as u8);
        out.extend(self.text.as_bytes());
    }
}

fn read_all(
    input: &mut impl Read,
    each: &mut impl FnMut(AnchorRecord<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut head = [0; 10];
    let mut text = [0; MAX_ANCHOR_BYTES];
    loop {
        match input.read(&mut head[..1])? {
            0 => return Ok(()),
            _ => input.read_exact(&mut head[1..])?,
        }
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let Some(text) = text.get_mut(..usize::from(head[9])) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "anchor record exceeds the maximum length",
            ));
        };
        input.read_exact(text)?;
        let text = str::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        each(AnchorRecord { target: number(0), domain: number(4), same_domain: head[8] != 0, text })?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(memory: usize, record: &[(u32, u32, bool, &str)]) -> HashMap<u32, Vec<Anchor>> {
        let dir = tempfile::tempdir().unwrap();
        let options = AnchorOptions { max_anchors: 2, memory, directory: dir.path().to_owned() };
        let mut collector = AnchorCollector::new(options);
        for (target, domain, same_domain, text) in record {
            collector.add(*target, *domain, *same_domain, text).unwrap();
        }
        let mut found = HashMap::new();
        collector
            .finish(|page, anchors| {
                found.insert(page, anchors.to_vec());
                Ok(())
            })
            .unwrap();
        found
    }

    #[test]
    fn anchors_that_fit_any_page_say_nothing() {
        for nothing in
            ["", " \n", "Click here", "[更多]", "点击这里>>", "12", "»", "https://a.example/x", "A"]
        {
            assert_eq!(informative_anchor(nothing), None, "{nothing}");
        }
        assert_eq!(informative_anchor(" Lighthouses\n of the  coast ").unwrap(), "Lighthouses of the coast");
        assert_eq!(informative_anchor("C++").unwrap(), "C++");
        assert_eq!(informative_anchor("灯").unwrap(), "灯");
        assert!(informative_anchor(&"灯塔 ".repeat(1000)).unwrap().len() <= MAX_ANCHOR_BYTES);
    }

    #[test]
    fn a_bucket_is_put_in_order_in_as_many_parts_as_its_bytes_ask_for() {
        let dir = tempfile::tempdir().unwrap();
        let options = AnchorOptions { max_anchors: 2, memory: 10_000, directory: dir.path().to_owned() };
        let mut bucket = Bucket::default();
        for number in 0..1_000 {
            let record = AnchorRecord {
                target: number * BUCKETS as u32,
                domain: 1,
                same_domain: false,
                text: "harbour lights",
            };
            bucket.add(&record, &options, BUCKETS).unwrap();
        }
        assert_eq!(bucket.bytes, 24_000);
        let parts = bucket.partition(&options).unwrap();
        assert_eq!(parts.len(), 15);
        assert!(
            parts.iter().all(|part| part.bytes * MEMORY_FACTOR <= options.memory),
            "every part fits the memory"
        );
        assert_eq!(parts.iter().map(|part| part.bytes).sum::<usize>(), 24_000);
    }

    #[test]
    fn what_one_site_repeats_counts_once_and_many_sites_more() {
        let mut record: Vec<(u32, u32, bool, &str)> = vec![(7, 0, true, "Our best lamps"); 1_000];
        record.extend((1..4).map(|domain| (7, domain, false, "lamps")));
        record.extend([(7, 1, false, "lamps"), (7, 1, false, "a shop"), (8, 2, false, "harbour")]);
        for memory in [0, 1 << 20] {
            let found = collected(memory, &record);
            let texts: Vec<&str> = found[&7].iter().map(|anchor| anchor.text.as_str()).collect();
            assert_eq!(texts, ["lamps", "a shop"]);
            assert_eq!(found[&7][0].weight, 3f32.ln_1p());
            assert_eq!(found[&8].len(), 1);
        }
    }
}
