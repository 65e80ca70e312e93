//! Generated pages of about 4 KB of cleaned text with known copies, deterministic for a seed.
//!
//! Words follow Zipf's law over a generated vocabulary; a third come from the few words of a subject. Of twenty pages,
//! nine are an article and its reprints, one for each [`Edit`] and each in the template of another site; one is another
//! article on the same subject, and ten are unrelated.

use std::collections::HashMap;
use std::fmt;

use pharos_graph::duplicates::PageText;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

const VOCABULARY: usize = 30_000;
/// Number of pages in a block, as described above.
pub const BLOCK: usize = 1 + EDITS.len() + 1 + 10;
/// The pages of this number of blocks are shuffled, so that copies are not adjacent.
const MIXED: usize = 1_000;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Language {
    English,
    Chinese,
}

impl fmt::Display for Language {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{self:?}")
    }
}

/// An edit applied to a reprinted article.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Edit {
    None,
    /// Lines of the other site above and below.
    HeaderAndFooter,
    /// One word in forty replaced.
    Words,
    /// One word in ten replaced.
    ManyWords,
    /// The end dropped, at most a third.
    Truncated,
    /// Half of the paragraphs dropped.
    Half,
    /// Paragraphs in another order.
    Reordered,
    /// Header and footer, replaced words, and a paragraph dropped.
    Several,
}

const EDITS: [Edit; 8] = [
    Edit::None,
    Edit::HeaderAndFooter,
    Edit::Words,
    Edit::ManyWords,
    Edit::Truncated,
    Edit::Half,
    Edit::Reordered,
    Edit::Several,
];

/// Paragraphs of words, each given by its frequency rank.
type Article = Vec<Vec<usize>>;

/// All pages of a language, generated on demand.
pub struct Pages {
    language: Language,
    seed: u64,
    count: usize,
    vocabulary: Vec<String>,
    templates: Vec<String>,
}

/// A page with its words segmented.
pub struct Page {
    raw: Vec<u8>,
    title: String,
    pub body: String,
    words: Vec<std::ops::Range<usize>>,
    keywords: Vec<(usize, f32)>,
}

/// The slices that [`PageText`] borrows from a page.
pub struct PageSlices<'a> {
    page: &'a Page,
    words: Vec<&'a str>,
    keywords: Vec<(&'a str, f32)>,
}

impl PageSlices<'_> {
    pub fn text(&self) -> PageText<'_> {
        PageText {
            raw: &self.page.raw,
            title: &self.page.title,
            body: &self.page.body,
            keywords: &self.keywords,
            words: &self.words,
        }
    }
}

impl Pages {
    /// Creates about `count` pages, in whole blocks.
    pub fn new(language: Language, count: usize, seed: u64) -> Self {
        let vocabulary = (0..VOCABULARY).map(|rank| word(language, rank)).collect();
        let count = (count / BLOCK).max(1) * BLOCK;
        let mut pages = Self { language, seed, count, vocabulary, templates: Vec::new() };
        let mut writer = Writer { random: Xoshiro256PlusPlus::seed_from_u64(seed) };
        let template = |_| pages.write(&(0..4).map(|_| writer.line(30)).collect()).0;
        pages.templates = (0..10).map(template).collect();
        pages
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the block of a page and its position in the block.
    fn block_position(&self, number: usize) -> (usize, usize) {
        let first = number / (MIXED * BLOCK) * MIXED;
        let blocks = MIXED.min(self.count / BLOCK - first);
        let within = number - first * BLOCK;
        (first + within % blocks, within / blocks)
    }

    /// Returns the duplicate class of a page: pages are copies exactly if it is equal.
    pub fn content(&self, number: usize) -> u32 {
        let (block, kind) = self.block_position(number);
        (block * BLOCK + if kind <= EDITS.len() { 0 } else { kind }) as u32
    }

    pub fn page(&self, number: usize) -> Page {
        let (block, kind) = self.block_position(number);
        let writer = |stream: usize| {
            let seed = self.seed ^ ((block * (BLOCK + 1) + stream + 1) as u64) << 16;
            Writer { random: Xoshiro256PlusPlus::seed_from_u64(seed) }
        };
        let (mut original, mut own) = (writer(0), writer(1 + kind));
        let subject = original.subject();
        let article = match kind {
            0 => original.article(self.language, &subject),
            1..=8 => {
                let article = original.article(self.language, &subject);
                own.edited(article, EDITS[kind - 1])
            }
            9 => own.article(self.language, &subject),
            _ => {
                let subject = own.subject();
                own.article(self.language, &subject)
            }
        };
        let (body, words) = self.write(&article);
        let template = &self.templates[(block + kind) % self.templates.len()];
        let raw = format!("<div>{template}</div><main>{body}</main>").into_bytes();
        Page { raw, title: format!("page {number}"), body, words, keywords: keywords(&article) }
    }

    pub fn slices<'a>(&'a self, page: &'a Page) -> PageSlices<'a> {
        let words = page.words.iter().map(|word| &page.body[word.clone()]).collect();
        let keywords =
            page.keywords.iter().map(|(rank, weight)| (self.vocabulary[*rank].as_str(), *weight)).collect();
        PageSlices { page, words, keywords }
    }

    /// Returns the text and the ranges of its words.
    fn write(&self, article: &Article) -> (String, Vec<std::ops::Range<usize>>) {
        let (mut text, mut words) = (String::new(), Vec::new());
        for paragraph in article {
            for rank in paragraph {
                let start = text.len();
                text.push_str(&self.vocabulary[*rank]);
                words.push(start..text.len());
                if self.language == Language::English {
                    text.push(' ');
                }
            }
            text.push('\n');
        }
        (text, words)
    }
}

struct Writer {
    random: Xoshiro256PlusPlus,
}

impl Writer {
    /// Returns a random word with Zipf-distributed frequency.
    fn any_word(&mut self) -> usize {
        (VOCABULARY as f64).powf(self.random.random::<f64>()) as usize - 1
    }

    fn line(&mut self, length: usize) -> Vec<usize> {
        (0..length).map(|_| self.any_word()).collect()
    }

    fn subject(&mut self) -> Vec<usize> {
        (0..80).map(|_| self.random.random_range(100..VOCABULARY)).collect()
    }

    fn article(&mut self, language: Language, subject: &[usize]) -> Article {
        // Words of two characters take fewer bytes than words of five letters and a space.
        let fewest = if language == Language::English { 9 } else { 11 };
        let paragraphs = self.random.random_range(fewest..fewest + 6);
        let word = |writer: &mut Self| match writer.random.random_range(0..3) {
            0 => subject[writer.random.random_range(0..subject.len())],
            _ => writer.any_word(),
        };
        let paragraph =
            |writer: &mut Self| (0..writer.random.random_range(40..80)).map(|_| word(writer)).collect();
        (0..paragraphs).map(|_| paragraph(self)).collect()
    }

    fn edited(&mut self, mut paragraphs: Article, edit: Edit) -> Article {
        if matches!(edit, Edit::Words | Edit::ManyWords | Edit::Several) {
            let one_in = if edit == Edit::ManyWords { 10 } else { 40 };
            for word in paragraphs.iter_mut().flatten() {
                if self.random.random_range(0..one_in) == 0 {
                    *word = self.any_word();
                }
            }
        }
        match edit {
            Edit::Truncated => {
                let least = paragraphs.len() * 2 / 3 + 1;
                paragraphs.truncate(self.random.random_range(least..=paragraphs.len()));
            }
            Edit::Half => paragraphs.truncate(paragraphs.len().div_ceil(2)),
            Edit::Reordered => paragraphs.shuffle(&mut self.random),
            Edit::Several => drop(paragraphs.remove(self.random.random_range(0..paragraphs.len()))),
            Edit::None | Edit::HeaderAndFooter | Edit::Words | Edit::ManyWords => {}
        }
        if matches!(edit, Edit::HeaderAndFooter | Edit::Several) {
            paragraphs.insert(0, self.line(25));
            paragraphs.push(self.line(25));
        }
        paragraphs
    }
}

/// Returns the twenty words with the highest product of frequency and rarity.
fn keywords(article: &Article) -> Vec<(usize, f32)> {
    let mut counts: HashMap<usize, u32> = HashMap::new();
    article.iter().flatten().for_each(|rank| *counts.entry(*rank).or_default() += 1);
    let mut keywords: Vec<(usize, f32)> =
        counts.into_iter().map(|(rank, count)| (rank, count as f32 * (rank as f32 + 2.0).ln())).collect();
    keywords.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    keywords.truncate(20);
    keywords
}

/// Returns the word of a rank; frequent words are short.
fn word(language: Language, rank: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ke", "lo", "mi", "nu", "pa", "re", "so", "ti", "vu", "za", "fe", "go", "hi", "du", "cho"];
    const HAN: usize = 2_500;
    let mut word = String::new();
    match language {
        Language::English => {
            let mut rest = rank;
            loop {
                word.push_str(SYLLABLES[rest % 16]);
                rest /= 16;
                if rest == 0 {
                    break;
                }
            }
        }
        Language::Chinese => {
            let length = if rank < 50 { 1 } else { 2 + usize::from(rank >= 20_000) };
            // Two ranks with the same first character differ in the second.
            let characters = [rank % HAN, (rank / HAN * 911 + rank * 7) % HAN, rank * 31 % HAN];
            let han = |number: &usize| char::from_u32(0x4e00 + 8 * *number as u32);
            word.extend(characters.iter().take(length).filter_map(han));
        }
    }
    word
}
