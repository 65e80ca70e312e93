//! Pages to index: read from a file, or generated with realistic frequencies of words and ranks.

use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader};

use pharos_core::PageUrl;
use pharos_index::{IndexDocument, LinkFigures};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// Number of distinct words.
const VOCABULARY: usize = 300_000;
const TOPICS: usize = 2_000;
const TOPIC_WORDS: usize = 300;
/// Mean length of a page in words: 5.3 KB.
const MEAN_WORDS: f64 = 850.0;

/// Pages generated on demand, always the same.
pub struct Made {
    words: Vec<String>,
    /// Positions of the words of each topic in the frequency order.
    topics: Vec<Vec<usize>>,
    pub count: usize,
}

impl Made {
    pub fn new(count: usize) -> Self {
        let mut random = StdRng::seed_from_u64(1);
        let words = (0..VOCABULARY).map(|n| word(n, &mut random)).collect();
        let mut topic = || (0..TOPIC_WORDS).map(|_| random.random_range(200..VOCABULARY)).collect();
        let topics = (0..TOPICS).map(|_| topic()).collect();
        Self { words, topics, count }
    }

    /// Returns page `n`. Words follow Zipf's law, some of them over the words of the page's topic; ranks follow a power
    /// law.
    pub fn page(&self, n: usize) -> IndexDocument {
        let mut random = StdRng::seed_from_u64(n as u64 + 7);
        let topic = &self.topics[random.random_range(0..TOPICS)];
        let any = |random: &mut StdRng| {
            if random.random_bool(0.3) {
                &self.words[topic[zipf(TOPIC_WORDS, random)]]
            } else {
                &self.words[zipf(VOCABULARY, random)]
            }
        };
        let uniform = |random: &mut StdRng| random.random_range(1e-9..1.0f64);
        // Lengths are lognormal: the sum of twelve uniform numbers is nearly normal.
        let normal = (0..12).map(|_| uniform(&mut random)).sum::<f64>() - 6.0;
        let length = (MEAN_WORDS * (0.8 * normal - 0.32).exp()).clamp(20.0, 20_000.0) as usize;
        let mut body = String::with_capacity(length * 7);
        for nth in 0..length {
            body.push_str(any(&mut random));
            body.push(if nth % 15 == 14 { '\n' } else { ' ' });
        }
        let title: Vec<&str> =
            (0..6).map(|_| self.words[topic[zipf(TOPIC_WORDS, &mut random)]].as_str()).collect();
        let site = zipf(1 + self.count / 100, &mut random);
        let url = format!("http://site{site}.example/{}/{n}", self.words[topic[0]]);
        IndexDocument {
            title: title.join(" "),
            body,
            lang: "en".into(),
            link_figures: LinkFigures {
                page_rank: (0.15 / uniform(&mut random).powf(0.7)) as f32,
                ..LinkFigures::default()
            },
            ..IndexDocument::new(PageUrl::parse(&url).expect("an address made here"))
        }
    }
}

/// Returns a number below `count`, small numbers most often.
fn zipf(count: usize, random: &mut StdRng) -> usize {
    let most = (count as f64).ln();
    ((random.random_range(0.0..1.0f64) * most).exp() as usize).min(count - 1)
}

/// Returns a unique word for a number, short for frequent words.
fn word(mut number: usize, random: &mut StdRng) -> String {
    let mut word = String::new();
    loop {
        word.push(char::from(b"bcdfghjklmnprstvwz"[number % 18]));
        word.push(char::from(b"aeiou"[random.random_range(0..5)]));
        number /= 18;
        if number == 0 {
            break word;
        }
    }
}

/// Reads the pages of a file with one page object per line, as written by `pharos export --format jsonl` or `pharos
/// clean --batch`.
pub fn read(path: &str) -> Result<Vec<IndexDocument>, Box<dyn Error>> {
    let mut pages = Vec::new();
    for (nth, line) in BufReader::new(fs::File::open(path)?).lines().enumerate() {
        let page: serde_json::Value = serde_json::from_str(&line?)?;
        let text = |name: &str| page[name].as_str().unwrap_or_default().to_string();
        let url = PageUrl::parse(&text("url"))
            .or_else(|_| PageUrl::parse(&format!("http://file{}.example/{nth}", nth % 50)))?;
        // The links to these pages are unknown: ranks are generated.
        let page_rank =
            (0.15 / StdRng::seed_from_u64(nth as u64).random_range(1e-9..1.0f64).powf(0.7)) as f32;
        pages.push(IndexDocument {
            title: text("title"),
            body: text("text"),
            lang: text("lang"),
            link_figures: LinkFigures { page_rank, ..LinkFigures::default() },
            ..IndexDocument::new(url)
        });
    }
    Ok(pages)
}
