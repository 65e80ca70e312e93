//! A generated set of pages with known copies, deterministic for a seed.

use std::collections::HashMap;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use super::{LabelledPage, LabelledSet};

/// Number of words of the generated language.
const VOCABULARY: usize = 30_000;

/// A page before rendering: paragraphs of words, each given by its frequency rank.
#[derive(Clone)]
pub(super) struct Article {
    paragraphs: Vec<Vec<usize>>,
}

/// An edit applied to a reprinted article.
#[derive(Clone, Copy, Debug)]
pub(super) enum ReprintEdit {
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

pub(super) const EDITS: [ReprintEdit; 8] = [
    ReprintEdit::None,
    ReprintEdit::HeaderAndFooter,
    ReprintEdit::Words,
    ReprintEdit::ManyWords,
    ReprintEdit::Truncated,
    ReprintEdit::Half,
    ReprintEdit::Reordered,
    ReprintEdit::Several,
];

pub(super) struct PageGenerator {
    random: StdRng,
    titles: u32,
}

impl PageGenerator {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: StdRng::seed_from_u64(seed), titles: 0 }
    }

    /// Returns a random word with Zipf-distributed frequency.
    fn any_word(&mut self) -> usize {
        (VOCABULARY as f64).powf(self.random.random::<f64>()) as usize - 1
    }

    fn line(&mut self, length: usize) -> Vec<usize> {
        (0..length).map(|_| self.any_word()).collect()
    }

    /// Returns the words of a subject.
    pub(super) fn subject(&mut self) -> Vec<usize> {
        (0..80).map(|_| self.random.random_range(100..VOCABULARY)).collect()
    }

    /// Returns an article of about 4 KB on a subject.
    pub(super) fn article(&mut self, subject: &[usize]) -> Article {
        let paragraphs = (0..self.random.random_range(8..14)).map(|_| {
            let length = self.random.random_range(40..80);
            let word = |writer: &mut Self| match writer.random.random_range(0..3) {
                0 => subject[writer.random.random_range(0..subject.len())],
                _ => writer.any_word(),
            };
            (0..length).map(|_| word(self)).collect()
        });
        Article { paragraphs: paragraphs.collect() }
    }

    pub(super) fn edited(&mut self, article: &Article, edit: ReprintEdit) -> Article {
        let mut edited = article.clone();
        let paragraphs = &mut edited.paragraphs;
        if matches!(edit, ReprintEdit::Words | ReprintEdit::ManyWords | ReprintEdit::Several) {
            let one_in = if matches!(edit, ReprintEdit::ManyWords) { 10 } else { 40 };
            for paragraph in paragraphs.iter_mut() {
                for word in paragraph {
                    if self.random.random_range(0..one_in) == 0 {
                        *word = self.any_word();
                    }
                }
            }
        }
        match edit {
            ReprintEdit::Truncated => {
                let least = paragraphs.len() * 2 / 3 + 1;
                paragraphs.truncate(self.random.random_range(least..=paragraphs.len()));
            }
            ReprintEdit::Half => paragraphs.truncate(paragraphs.len().div_ceil(2)),
            ReprintEdit::Reordered => paragraphs.shuffle(&mut self.random),
            ReprintEdit::Several => drop(paragraphs.remove(self.random.random_range(0..paragraphs.len()))),
            ReprintEdit::None
            | ReprintEdit::HeaderAndFooter
            | ReprintEdit::Words
            | ReprintEdit::ManyWords => {}
        }
        if matches!(edit, ReprintEdit::HeaderAndFooter | ReprintEdit::Several) {
            paragraphs.insert(0, self.line(25));
            paragraphs.push(self.line(25));
        }
        edited
    }

    /// Returns a template: the lines above and below every page of a site.
    pub(super) fn template(&mut self) -> Article {
        Article { paragraphs: (0..4).map(|_| self.line(30)).collect() }
    }

    /// Returns a page whose main content is the article alone; the raw page also has the template.
    pub(super) fn page(&mut self, article: &Article, template: &Article, content: u32) -> LabelledPage {
        self.titles += 1;
        let text = |article: &Article| -> Vec<String> {
            article
                .paragraphs
                .iter()
                .map(|paragraph| paragraph.iter().map(|rank| word(*rank)).collect::<Vec<_>>().join(" "))
                .collect()
        };
        let body = text(article).join("\n");
        let frame = text(template).join("</div><div>");
        let raw = format!("<div>{frame}</div><main>{body}</main>").into_bytes();
        let words = body.split_whitespace().map(str::to_owned).collect();
        LabelledPage {
            raw,
            title: format!("page {}", self.titles),
            body,
            keywords: keywords(article),
            words,
            content,
        }
    }
}

/// Returns the twenty words with the highest product of frequency and rarity.
fn keywords(article: &Article) -> Vec<(String, f32)> {
    let mut counts: HashMap<usize, u32> = HashMap::new();
    article.paragraphs.iter().flatten().for_each(|rank| *counts.entry(*rank).or_default() += 1);
    let weight = |rank: usize, count: u32| count as f32 * (rank as f32 + 2.0).ln();
    let mut keywords: Vec<(String, f32)> =
        counts.into_iter().map(|(rank, count)| (word(rank), weight(rank, count))).collect();
    keywords.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    keywords.truncate(20);
    keywords
}

fn word(rank: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ke", "lo", "mi", "nu", "pa", "re", "so", "ti", "vu", "za", "fe", "go", "hi", "du", "cho"];
    let mut rest = rank;
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES[rest % 16]);
        rest /= 16;
        if rest == 0 {
            return word;
        }
    }
}

/// Generates for each subject: an article, one reprint per edit in the template of another site, another article on the
/// same subject, and an unrelated page in the first template.
pub(super) fn labelled_set(subjects: u32, seed: u64) -> LabelledSet {
    let mut writer = PageGenerator::new(seed);
    let templates: Vec<Article> = (0..10).map(|_| writer.template()).collect();
    let mut set = LabelledSet::default();
    for number in 0..subjects {
        let subject = writer.subject();
        let template = &templates[number as usize % 5];
        let original = writer.article(&subject);
        set.pages.push(writer.page(&original, template, 3 * number));
        for edit in EDITS {
            let reprint = writer.edited(&original, edit);
            let elsewhere = &templates[5 + number as usize % 5];
            set.pages.push(writer.page(&reprint, elsewhere, 3 * number));
        }
        let same_subject = writer.article(&subject);
        set.pages.push(writer.page(&same_subject, template, 3 * number + 1));
        let other_subject = writer.subject();
        let stranger = writer.article(&other_subject);
        set.pages.push(writer.page(&stranger, template, 3 * number + 2));
    }
    set
}

/// Returns the article surrounded by template lines that cleaning did not remove.
pub(super) fn with_template(article: &Article, template: &Article) -> Article {
    let (above, below) = template.paragraphs.split_at(template.paragraphs.len() / 2);
    Article { paragraphs: [above, &article.paragraphs, below].concat() }
}
