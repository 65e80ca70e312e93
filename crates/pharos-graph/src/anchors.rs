//! What other pages call a page (锚文本), collected by target, filtered, weighed and bounded.
//!
//! An anchor counts once for each domain that uses it: a template that repeats a link on a thousand pages says it once.
//! Anchors that fit any page (点击这里, read more) say nothing and are left out; so are bare numbers and addresses.
//!
//! Anchors of all pages may take more memory than there is. They are spread over buckets by their target; a bucket
//! that grows goes to disk, and in the end each is put in order by itself, in as many parts as its bytes ask for.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, Write as _};
use std::path::PathBuf;
use std::sync::LazyLock;

/// A longer anchor is cut, in bytes: it is no name any more, but a text.
pub const MAX_ANCHOR_BYTES: usize = 240;

/// What is weighed with one domain of one's own, compared to ln 2 for the first domain elsewhere.
const OWN_DOMAIN_WEIGHT: f32 = 0.35;

/// Different anchors of one page that are looked at; whoever links first is heard.
const MAX_ANCHOR_TEXTS: usize = 1_024;
/// Domains that are told apart for one anchor: more do not make it truer.
const MAX_DOMAINS: usize = 64;
const BUCKETS: usize = 64;
/// Parts of one bucket at most: each may be an open file.
const MAX_PARTS: usize = 256;
/// Memory that an anchor takes while it is put in order, compared to its bytes in a bucket.
const MEMORY_FACTOR: usize = 6;

static GENERIC_ANCHORS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("../data/generic_anchors.txt").lines().filter(|line| !line.starts_with('#')).collect()
});

/// An anchor as it is kept, or nothing if it does not tell what its target is about.
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
    let says_nothing =
        plain.is_empty() || is_number || is_address || is_letter || GENERIC_ANCHORS.contains(plain.as_str());
    (!says_nothing).then_some(text)
}

/// What a page is called, and how much that is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// The words.
    pub text: String,
    /// ln(1 + domains elsewhere that say it), and a little if its own domain does.
    pub weight: f32,
}

/// How many anchors are kept.
#[derive(Clone, Debug)]
pub struct AnchorOptions {
    /// For one page.
    pub max_anchors: usize,
    /// Bytes of memory; what is more goes to disk.
    pub memory: usize,
    /// Where it goes meanwhile, in files without a name.
    pub directory: PathBuf,
}

/// Collects anchors.
pub struct AnchorCollector {
    rules: AnchorOptions,
    buckets: Vec<Bucket>,
}

#[derive(Default)]
struct Bucket {
    waiting: Vec<u8>,
    file: Option<File>,
    /// Of both.
    bytes: usize,
}

/// One anchor of one link.
struct AnchorRecord<'a> {
    target: u32,
    domain: u32,
    own: bool,
    text: &'a str,
}

/// Who says one text about one page.
#[derive(Default)]
struct AnchorSources {
    domains: HashSet<u32>,
    own: bool,
}

impl AnchorCollector {
    /// Without anchors yet.
    pub fn new(rules: AnchorOptions) -> Self {
        Self { rules, buckets: (0..BUCKETS).map(|_| Bucket::default()).collect() }
    }

    /// A page of `domain` calls the page `target` so; `own` says that the target is of the same domain.
    pub fn add(&mut self, target: u32, domain: u32, own: bool, anchor: &str) -> io::Result<()> {
        let Some(text) = informative_anchor(anchor) else { return Ok(()) };
        let bucket = &mut self.buckets[target as usize % BUCKETS];
        bucket.add(&AnchorRecord { target, domain, own, text: &text }, &self.rules, BUCKETS)
    }

    /// Hands out the anchors of every page that has some, the heaviest first. Pages come in no particular order.
    pub fn finish(self, mut each: impl FnMut(u32, &[Anchor]) -> io::Result<()>) -> io::Result<()> {
        for bucket in self.buckets {
            for part in bucket.partition(&self.rules)? {
                aggregate_part(part, self.rules.max_anchors, &mut each)?;
            }
        }
        Ok(())
    }
}

/// Hands out what is called so in one part of a bucket.
fn aggregate_part(
    part: Bucket,
    max_anchors: usize,
    each: &mut impl FnMut(u32, &[Anchor]) -> io::Result<()>,
) -> io::Result<()> {
    let mut pages: HashMap<u32, HashMap<String, AnchorSources>> = HashMap::new();
    part.read(|said| {
        let texts = pages.entry(said.target).or_default();
        let room = texts.len() < MAX_ANCHOR_TEXTS;
        let sayers = match texts.get_mut(said.text) {
            Some(sayers) => sayers,
            None if room => texts.entry(said.text.to_owned()).or_default(),
            None => return Ok(()),
        };
        sayers.own |= said.own;
        if !said.own && sayers.domains.len() < MAX_DOMAINS {
            sayers.domains.insert(said.domain);
        }
        Ok(())
    })?;
    for (page, texts) in pages {
        each(page, &heaviest(texts, max_anchors))?;
    }
    Ok(())
}

fn heaviest(texts: HashMap<String, AnchorSources>, count: usize) -> Vec<Anchor> {
    let weigh = |(text, sayers): (String, AnchorSources)| {
        let own = if sayers.own { OWN_DOMAIN_WEIGHT } else { 0.0 };
        Anchor { text, weight: (sayers.domains.len() as f32).ln_1p() + own }
    };
    let mut anchors: Vec<Anchor> = texts.into_iter().map(weigh).collect();
    anchors.sort_unstable_by(|one, other| {
        other.weight.total_cmp(&one.weight).then_with(|| one.text.cmp(&other.text))
    });
    anchors.truncate(count);
    anchors
}

impl Bucket {
    /// Takes an anchor in. So many buckets share the memory.
    fn add(&mut self, said: &AnchorRecord<'_>, rules: &AnchorOptions, buckets: usize) -> io::Result<()> {
        let before = self.waiting.len();
        said.write(&mut self.waiting);
        self.bytes += self.waiting.len() - before;
        if self.waiting.len() > rules.memory / buckets { self.spill(rules) } else { Ok(()) }
    }

    /// The same anchors in parts by target, each small enough to be put in order within the memory.
    fn partition(self, rules: &AnchorOptions) -> io::Result<Vec<Bucket>> {
        let count = (self.bytes.saturating_mul(MEMORY_FACTOR) / rules.memory.max(1) + 1).min(MAX_PARTS);
        if count == 1 {
            return Ok(vec![self]);
        }
        let mut parts: Vec<Bucket> = (0..count).map(|_| Bucket::default()).collect();
        self.read(|said| {
            let part = &mut parts[said.target as usize / BUCKETS % count];
            part.add(&said, rules, count)
        })?;
        Ok(parts)
    }

    fn spill(&mut self, rules: &AnchorOptions) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(&rules.directory)?),
        };
        file.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }

    fn read(self, mut each: impl FnMut(AnchorRecord<'_>) -> io::Result<()>) -> io::Result<()> {
        if let Some(mut file) = self.file {
            file.rewind()?;
            read_all(&mut BufReader::new(file), &mut each)?;
        }
        read_all(&mut self.waiting.as_slice(), &mut each)
    }
}

impl AnchorRecord<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.target.to_le_bytes());
        out.extend(self.domain.to_le_bytes());
        out.push(u8::from(self.own));
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
            return Err(io::Error::new(io::ErrorKind::InvalidData, "an anchor without an end"));
        };
        input.read_exact(text)?;
        let text = str::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        each(AnchorRecord { target: number(0), domain: number(4), own: head[8] != 0, text })?;
    }
}

// Temporary aliases of renamed items, removed once all crates use the new names.
#[doc(hidden)]
pub use self::informative_anchor as telling;

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(memory: usize, said: &[(u32, u32, bool, &str)]) -> HashMap<u32, Vec<Anchor>> {
        let dir = tempfile::tempdir().unwrap();
        let rules = AnchorOptions { max_anchors: 2, memory, directory: dir.path().to_owned() };
        let mut collector = AnchorCollector::new(rules);
        for (target, domain, own, text) in said {
            collector.add(*target, *domain, *own, text).unwrap();
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
        let rules = AnchorOptions { max_anchors: 2, memory: 10_000, directory: dir.path().to_owned() };
        let mut bucket = Bucket::default();
        for number in 0..1_000 {
            let said = AnchorRecord {
                target: number * BUCKETS as u32,
                domain: 1,
                own: false,
                text: "harbour lights",
            };
            bucket.add(&said, &rules, BUCKETS).unwrap();
        }
        assert_eq!(bucket.bytes, 24_000);
        let parts = bucket.partition(&rules).unwrap();
        assert_eq!(parts.len(), 15);
        assert!(
            parts.iter().all(|part| part.bytes * MEMORY_FACTOR <= rules.memory),
            "none is larger than that"
        );
        assert_eq!(parts.iter().map(|part| part.bytes).sum::<usize>(), 24_000);
    }

    #[test]
    fn what_one_site_repeats_counts_once_and_many_sites_more() {
        let mut said: Vec<(u32, u32, bool, &str)> = vec![(7, 0, true, "Our best lamps"); 1_000];
        said.extend((1..4).map(|domain| (7, domain, false, "lamps")));
        said.extend([(7, 1, false, "lamps"), (7, 1, false, "a shop"), (8, 2, false, "harbour")]);
        for memory in [0, 1 << 20] {
            let found = collected(memory, &said);
            let texts: Vec<&str> = found[&7].iter().map(|anchor| anchor.text.as_str()).collect();
            assert_eq!(texts, ["lamps", "a shop"]);
            assert_eq!(found[&7][0].weight, 3f32.ln_1p());
            assert_eq!(found[&8].len(), 1);
        }
    }
}
