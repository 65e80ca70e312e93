//! The vocabulary: 230,000 words in two languages, drawn by Zipf's law, with topics.
//!
//! The head of each list is real (`head.rs`), the tail is generated: pronounceable English words, and Chinese words
//! of two to four common characters. The lists are the same for every seed; the seed decides which words are drawn.

mod head;
mod topics;

use std::collections::HashSet;
use std::sync::LazyLock;

pub(crate) use topics::{TOPICS, Topic};

use crate::rng::{Rng, hash};

const EN_NOUNS: usize = 80_000;
const EN_VERBS: usize = 20_000;
const EN_ADJECTIVES: usize = 20_000;
const ZH_NOUNS: usize = 80_000;
const ZH_VERBS: usize = 20_000;
const ZH_ADJECTIVES: usize = 10_000;

/// Words from this rank on are rare enough to make a title unique.
const RARE_FROM: usize = 4_000;

/// Number of further nouns that a topic draws from.
const TOPIC_NOUNS: usize = 2_000;

/// Number of distinct words in generated text.
pub const VOCABULARY: usize = EN_NOUNS + EN_VERBS + EN_ADJECTIVES + ZH_NOUNS + ZH_VERBS + ZH_ADJECTIVES;

/// Words in order of frequency, in one string.
pub(crate) struct RankedWords {
    text: String,
    ends: Vec<u32>,
}

impl RankedWords {
    fn build(
        head: &str,
        count: usize,
        taken: &mut HashSet<String>,
        tail: fn(&mut Rng) -> String,
    ) -> RankedWords {
        let mut list = RankedWords { text: String::new(), ends: Vec::with_capacity(count) };
        for word in head.split_whitespace() {
            if taken.insert(word.to_owned()) {
                list.push(word);
            }
        }
        let mut rng = Rng::from_parts(&[0x0D1C_7104, count as u64, list.ends.len() as u64]);
        while list.ends.len() < count {
            let word = tail(&mut rng);
            if !taken.contains(&word) {
                list.push(&word);
                taken.insert(word);
            }
        }
        list
    }

    fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.ends.push(self.text.len() as u32);
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, rank: usize) -> &str {
        let start = if rank == 0 { 0 } else { self.ends[rank - 1] as usize };
        &self.text[start..self.ends[rank] as usize]
    }

    /// Draws a word by its frequency.
    pub(crate) fn draw(&self, rng: &mut Rng) -> &str {
        self.get(rng.zipf(self.len()))
    }

    /// Draws a word that hardly any other page contains.
    pub(crate) fn draw_rare(&self, rng: &mut Rng) -> &str {
        self.get(rng.between(RARE_FROM, self.len() - 1))
    }

    /// Draws a noun for a site about this topic: its own nouns first, then preferred nouns of the tail.
    pub(crate) fn draw_of_topic<'a>(
        &'a self,
        rng: &mut Rng,
        topic: usize,
        own: &'a [&'static str],
    ) -> &'a str {
        let rank = rng.zipf(TOPIC_NOUNS);
        match own.get(rank) {
            Some(word) => word,
            None => self.get(RARE_FROM / 8 + hash(&[topic as u64, rank as u64]) as usize % TOPIC_NOUNS),
        }
    }
}

/// The word lists of one language.
pub(crate) struct Lexicon {
    pub(crate) nouns: RankedWords,
    pub(crate) verbs: RankedWords,
    pub(crate) adjectives: RankedWords,
}

pub(crate) static ENGLISH: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut taken: HashSet<String> =
        TOPICS.iter().flat_map(|topic| topic.en).map(|&word| word.to_owned()).collect();
    Lexicon {
        nouns: RankedWords::build(head::EN_NOUNS, EN_NOUNS, &mut taken, |rng| {
            let ending = rng.pick(&["", "", "", "er", "ion", "age", "ment", "ist"]);
            english_root(rng) + ending
        }),
        verbs: RankedWords::build(head::EN_VERBS, EN_VERBS, &mut taken, |rng| english_root(rng) + "ed"),
        adjectives: RankedWords::build(head::EN_ADJECTIVES, EN_ADJECTIVES, &mut taken, |rng| {
            let ending = rng.pick(&["al", "ous", "ic", "ive", "ish", "ent"]);
            english_root(rng) + ending
        }),
    }
});

pub(crate) static CHINESE: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut taken: HashSet<String> =
        TOPICS.iter().flat_map(|topic| topic.zh).map(|&word| word.to_owned()).collect();
    Lexicon {
        nouns: RankedWords::build(head::ZH_NOUNS, ZH_NOUNS, &mut taken, |rng| {
            let length = rng.pick(&[2, 2, 2, 2, 2, 3, 3, 4]);
            chinese_word(rng, length)
        }),
        verbs: RankedWords::build(head::ZH_VERBS, ZH_VERBS, &mut taken, |rng| chinese_word(rng, 2)),
        adjectives: RankedWords::build(head::ZH_ADJECTIVES, ZH_ADJECTIVES, &mut taken, |rng| {
            chinese_word(rng, 2)
        }),
    }
});

const ONSETS: &[&str] = &[
    "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "ch", "cl",
    "dr", "fl", "gr", "pl", "sh", "sl", "st", "th", "tr", "z",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "a", "e", "o", "ai", "ea", "ou", "oo"];
const CODAS: &[&str] = &["l", "m", "n", "r", "s", "t", "nd", "rn", "st", "ck", "rt", "ng"];

fn english_root(rng: &mut Rng) -> String {
    let mut root = String::with_capacity(12);
    for _ in 0..rng.pick(&[1, 1, 1, 1, 2]) {
        root.push_str(rng.pick(ONSETS));
        root.push_str(rng.pick(VOWELS));
    }
    root.push_str(rng.pick(ONSETS));
    root.push_str(rng.pick(VOWELS));
    root.push_str(rng.pick(CODAS));
    root
}

fn chinese_word(rng: &mut Rng, length: usize) -> String {
    static CHARACTERS: LazyLock<Vec<char>> = LazyLock::new(|| head::ZH_CHARACTERS.chars().collect());
    (0..length).map(|_| rng.pick(&CHARACTERS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary_is_as_large_as_promised_and_has_no_word_twice_in_a_language() {
        const { assert!(VOCABULARY >= 200_000) };
        for lexicon in [&*ENGLISH, &*CHINESE] {
            let lists = [&lexicon.nouns, &lexicon.verbs, &lexicon.adjectives];
            let all: HashSet<&str> =
                lists.iter().flat_map(|list| (0..list.len()).map(|rank| list.get(rank))).collect();
            assert_eq!(all.len(), lists.iter().map(|list| list.len()).sum::<usize>());
        }
    }

    #[test]
    fn every_topic_can_name_the_sections_of_a_site() {
        for topic in TOPICS {
            assert!(topic.en.len() >= 12 && topic.zh.len() >= 12);
        }
    }
}
