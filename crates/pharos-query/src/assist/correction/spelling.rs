//! Spelling correction of words of letters.
//!
//! The distance is Damerau–Levenshtein with restricted transpositions and weighted costs: neighbouring keys,
//! transposed letters, single instead of double letters and confused vowels are more likely errors (after Kernighan,
//! Church & Gale 1990, whose confusion matrices agree). The value of a word is the logarithm of its frequency minus
//! the cost of the edits: the noisy channel model.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::LazyLock;

use pharos_text::phrase_index::PhraseIndex;

/// Maximum number of words, the most frequent ones.
const MAX_WORDS: usize = 300_000;

/// Costs of edits.
const PLAIN: f32 = 1.0;
const NEIGHBOUR: f32 = 0.7;
const VOWEL: f32 = 0.7;
const LIKE_SOUNDING: f32 = 0.8;
const SWAP: f32 = 0.7;
const DOUBLING: f32 = 0.5;
const MISSING: f32 = 0.9;
/// Additional cost of an error in the first letter, which is rare.
const FIRST: f32 = 0.4;
/// Rounding error of sums of the same costs in a different order.
const ROUNDING: f32 = 1e-3;

const ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/// Letters with similar sounds in many languages.
const ALIKE: [(char, char); 8] =
    [('c', 'k'), ('c', 's'), ('s', 'z'), ('k', 'q'), ('f', 'v'), ('g', 'j'), ('i', 'y'), ('v', 'w')];

/// A known word close to an unknown one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpellingCandidate {
    pub(crate) word: String,
    /// Frequency of the word.
    pub(crate) weight: f32,
    /// Cost of the edits.
    pub(crate) cost: f32,
}

/// Known words in alphabetical order in one string. For every unknown word, all words with a similar beginning are
/// examined.
#[derive(Debug, Default)]
pub(crate) struct Speller {
    letters: String,
    ends: Vec<u32>,
    weights: Vec<f32>,
    /// Letters of each word.
    sets: Vec<LetterSet>,
}

impl Speller {
    /// Collects the words of letters of phrase indexes.
    pub(crate) fn from_indexes<'b>(indexes: impl IntoIterator<Item = &'b PhraseIndex>) -> Self {
        let mut words: Vec<(&str, f32)> = Vec::new();
        for index in indexes {
            let of_letters = |text: &str| text.chars().all(|c| c.is_alphabetic() && c < '\u{2E80}');
            let phrases = index.phrases().filter(|phrase| of_letters(phrase.text));
            words.extend(phrases.take(MAX_WORDS).map(|phrase| (phrase.text, phrase.weight)));
        }
        words.sort_by(|a, b| a.0.cmp(b.0));
        let mut speller = Self::default();
        for (word, weight) in words {
            let last = speller.weights.len().checked_sub(1);
            if let Some(last) = last.filter(|last| speller.word(*last) == word) {
                speller.weights[last] += weight;
            } else {
                speller.letters.push_str(word);
                speller.ends.push(speller.letters.len() as u32);
                speller.weights.push(weight);
                speller.sets.push(LetterSet::from_letters(word.chars()));
            }
        }
        speller
    }

    fn word(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.letters[start..self.ends[number] as usize]
    }

    /// Returns the ranges of words with a possible beginning, in alphabetical order.
    fn candidate_ranges(&self, letters: &[char]) -> Vec<Range<usize>> {
        let firsts = first_letters(letters);
        let mut ranges = Vec::new();
        let mut number = 0;
        while let Some(first) =
            (number < self.weights.len()).then(|| self.word(number).chars().next()).flatten()
        {
            let all = self.prefix_range(&[first]);
            number = all.end;
            if firsts.contains(&first) {
                ranges.push(all);
            } else if let Some(typed) = letters.first() {
                // The first letter may be missing.
                ranges.push(self.prefix_range(&[first, *typed]));
            }
        }
        ranges
    }

    /// Returns the range of words with this prefix.
    fn prefix_range(&self, letters: &[char]) -> Range<usize> {
        let prefix: String = letters.iter().collect();
        let (mut start, mut end) = (0, self.weights.len());
        while start < end {
            let middle = (start + end) / 2;
            if self.word(middle) < prefix.as_str() { start = middle + 1 } else { end = middle }
        }
        let (first, mut end) = (start, self.weights.len());
        while start < end {
            let middle = (start + end) / 2;
            if self.word(middle).starts_with(&prefix) { start = middle + 1 } else { end = middle }
        }
        first..start
    }

    /// Returns known words close to `typed`, by descending value with cost `edit` per edit; never the word itself.
    pub(crate) fn near(&self, typed: &str, edit: f32, limit: usize) -> Vec<SpellingCandidate> {
        let letters: Vec<char> = typed.chars().collect();
        let max_cost = max_edit_cost(letters.len());
        if max_cost <= 0.0 {
            return Vec::new();
        }
        let mut distance = EditDistance::default();
        let mut found = Vec::new();
        let set = LetterSet::from_letters(letters.iter().copied());
        for number in self.candidate_ranges(&letters).into_iter().flatten() {
            if set.least_cost(self.sets[number]) > max_cost + ROUNDING {
                continue;
            }
            let word = self.word(number);
            // Letters take one or two bytes in most languages: a first check without decoding.
            if word.len().abs_diff(typed.len()) > 4 || word == typed {
                continue;
            }
            if let Some(cost) = distance.between(&letters, word, max_cost) {
                found.push(SpellingCandidate { word: word.to_string(), weight: self.weights[number], cost });
            }
        }
        let worth = |near: &SpellingCandidate| near.weight.ln_1p() - edit * near.cost;
        found.sort_by(|a, b| {
            worth(b).partial_cmp(&worth(a)).unwrap_or(Ordering::Equal).then_with(|| a.word.cmp(&b.word))
        });
        found.truncate(limit);
        found
    }
}

/// The set of letters of a word as bits; letters of other scripts share them.
///
/// Most words with the same beginning are far apart and have different letters, which this detects without comparing
/// the words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LetterSet(u32);

impl LetterSet {
    fn from_letters(letters: impl Iterator<Item = char>) -> Self {
        Self(letters.fold(0, |set, letter| set | 1 << (u32::from(letter) & 31)))
    }

    /// Returns a lower bound for the cost of edits between words with these sets.
    ///
    /// A substitution removes at most one letter from the set and adds at most one. An insertion or deletion does one
    /// of these, and costs more unless the same letter remains. A transposition changes nothing.
    fn least_cost(self, other: Self) -> f32 {
        let (lost, won) = ((self.0 & !other.0).count_ones(), (other.0 & !self.0).count_ones());
        lost.max(won) as f32 * NEIGHBOUR
    }
}

/// Returns the maximum cost of edits for a word of this length; short words are all close to each other.
fn max_edit_cost(letters: usize) -> f32 {
    match letters {
        0..=2 => 0.0,
        3 => 0.75,
        4..=5 => 1.1,
        6..=8 => 1.8,
        _ => 2.4,
    }
}

/// Returns the possible first letters of the intended word: the first typed letter, the second (insertion or
/// transposition), neighbouring keys of the first, or another vowel.
fn first_letters(letters: &[char]) -> Vec<char> {
    let mut firsts: Vec<char> = letters.iter().take(2).copied().collect();
    if let Some(first) = letters.first() {
        firsts.extend(('a'..='z').filter(|c| substitution(*first, *c) < PLAIN));
    }
    firsts.sort_unstable();
    firsts.dedup();
    firsts
}

/// Substitution costs for a to z, used for every letter of every known word.
static SUBSTITUTIONS: LazyLock<[[f32; 26]; 26]> = LazyLock::new(|| {
    let letter = |number: usize| char::from(b'a' + number as u8);
    std::array::from_fn(|typed| std::array::from_fn(|meant| substitution_cost(letter(typed), letter(meant))))
});

/// Returns the cost of typing one letter for another.
fn substitution(typed: char, meant: char) -> f32 {
    let number = |c: char| c.is_ascii_lowercase().then(|| usize::from(c as u8 - b'a'));
    match (number(typed), number(meant)) {
        (Some(typed), Some(meant)) => SUBSTITUTIONS[typed][meant],
        _ => substitution_cost(typed, meant),
    }
}

fn substitution_cost(typed: char, meant: char) -> f32 {
    let is_vowel = |c: char| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y');
    if are_neighbours(typed, meant) {
        NEIGHBOUR
    } else if is_vowel(typed) && is_vowel(meant) {
        VOWEL
    } else if ALIKE.contains(&(typed, meant)) || ALIKE.contains(&(meant, typed)) {
        LIKE_SOUNDING
    } else {
        PLAIN
    }
}

/// Returns `true` if two keys are adjacent on the keyboard.
fn are_neighbours(a: char, b: char) -> bool {
    let place = |c: char| ROWS.iter().enumerate().find_map(|(row, keys)| Some((row, keys.find(c)?)));
    let (Some((row_a, at_a)), Some((row_b, at_b))) = (place(a), place(b)) else { return false };
    match row_b as i32 - row_a as i32 {
        0 => at_a.abs_diff(at_b) == 1,
        // Each row starts half a key to the right of the one above.
        1 => at_a == at_b || at_a == at_b + 1,
        -1 => at_b == at_a || at_b == at_a + 1,
        _ => false,
    }
}

/// The rows of the edit distance table, reused for every word.
#[derive(Default)]
struct EditDistance {
    meant: Vec<char>,
    before_last: Vec<f32>,
    last: Vec<f32>,
    now: Vec<f32>,
}

impl EditDistance {
    /// Returns the cost of typing one word for another, or `None` if it exceeds `max_cost`.
    fn between(&mut self, typed: &[char], meant: &str, max_cost: f32) -> Option<f32> {
        self.meant.clear();
        self.meant.extend(meant.chars());
        // No cost before the first letter.
        let (columns, mut swapped) = (self.meant.len() + 1, 0.0);
        if self.meant.len().abs_diff(typed.len()) as f32 * DOUBLING > max_cost {
            return None;
        }
        for row in [&mut self.before_last, &mut self.last, &mut self.now] {
            row.clear();
            row.resize(columns, f32::INFINITY);
        }
        let first = |i: usize, j: usize| if i == 0 && j == 0 { FIRST } else { 0.0 };
        self.last[0] = 0.0;
        for j in 0..columns - 1 {
            self.last[j + 1] = self.last[j] + insertion_cost(&self.meant, j) + first(0, j);
        }
        for (i, letter) in typed.iter().enumerate() {
            self.now[0] = self.last[0] + insertion_cost(typed, i) + first(i, 0);
            let mut least = self.now[0];
            for (j, meant) in self.meant.iter().enumerate() {
                let replaced =
                    if letter == meant { 0.0 } else { substitution(*letter, *meant) + first(i, j) };
                let mut cost = (self.last[j] + replaced)
                    .min(self.last[j + 1] + insertion_cost(typed, i) + first(i, j))
                    .min(self.now[j] + insertion_cost(&self.meant, j) + first(i, j));
                if i > 0 && j > 0 && *letter == self.meant[j - 1] && typed[i - 1] == *meant && letter != meant
                {
                    cost = cost.min(self.before_last[j - 1] + SWAP);
                }
                self.now[j + 1] = cost;
                least = least.min(cost);
            }
            // A transposition refers back two rows.
            if least.min(swapped) > max_cost {
                return None;
            }
            swapped = least;
            std::mem::swap(&mut self.before_last, &mut self.last);
            std::mem::swap(&mut self.last, &mut self.now);
        }
        self.last.last().copied().filter(|cost| *cost > 0.0 && *cost <= max_cost)
    }
}

/// Returns the cost of an insertion or deletion: low next to the same letter.
fn insertion_cost(letters: &[char], at: usize) -> f32 {
    let is_double = at > 0 && letters[at - 1] == letters[at] || letters.get(at + 1) == Some(&letters[at]);
    if is_double { DOUBLING } else { MISSING }
}

#[cfg(test)]
mod tests {
    use pharos_text::phrase_index::PhraseIndexBuilder;

    use super::*;

    #[test]
    fn every_word_that_may_be_meant_is_looked_at() {
        let words = ["apple", "lamp", "ample", "élan", "maple", "sample", "zamp", "a", "samp", "lam"];
        let speller = speller(&words.map(|word| (word, 1.0)));
        for typed in ["amp", "lamp", "sample", "élan", "zzz", "mple"] {
            let letters: Vec<char> = typed.chars().collect();
            let firsts = first_letters(&letters);
            let may_be_meant = |word: &str| {
                let mut begin = word.chars();
                begin.next().is_some_and(|first| firsts.contains(&first)) || begin.next() == Some(letters[0])
            };
            let all = (0..words.len()).filter(|number| may_be_meant(speller.word(*number)));
            let examined = speller.candidate_ranges(&letters).into_iter().flatten();
            assert_eq!(examined.collect::<Vec<_>>(), all.collect::<Vec<_>>(), "{typed}");
        }
    }

    fn speller(words: &[(&str, f32)]) -> Speller {
        let mut writer = PhraseIndexBuilder::default();
        words.iter().for_each(|(word, weight)| writer.add(word, *weight));
        Speller::from_indexes([&writer.finish(usize::MAX)])
    }

    fn cost(typed: &str, meant: &str) -> f32 {
        let typed: Vec<char> = typed.chars().collect();
        EditDistance::default().between(&typed, meant, 99.0).unwrap_or_default()
    }

    #[test]
    fn likelier_slips_cost_less() {
        assert!(cost("accomodation", "accommodation") < cost("accmmodation", "accommodation"));
        assert!(cost("recieve", "receive") < PLAIN);
        assert!(cost("seperate", "separate") < cost("sepxrate", "separate"));
        assert!(cost("lighrhouse", "lighthouse") < cost("lighphouse", "lighthouse"));
        assert!(cost("kight", "light") > cost("lighr", "light"), "the first letter is seldom wrong");
        assert_eq!(cost("harbour", "harbour"), 0.0);
        assert_eq!(cost("tommorow", "tomorrow"), 2.0 * DOUBLING);
    }

    #[test]
    fn short_words_have_slips_too() {
        let speller = speller(&[("tea", 9.0), ("toe", 5.0), ("code", 5.0)]);
        for (typed, meant) in [("tee", "tea"), ("ocde", "code")] {
            assert_eq!(speller.near(typed, 1.0, 1).first().map(|near| near.word.as_str()), Some(meant));
        }
    }

    #[test]
    fn neighbours_are_those_of_a_keyboard() {
        for (a, b) in [('q', 'w'), ('t', 'g'), ('g', 't'), ('a', 'z'), ('l', 'o'), ('l', 'p'), ('m', 'j')] {
            assert!(are_neighbours(a, b), "{a} {b}");
        }
        for (a, b) in [('q', 'p'), ('q', 'z'), ('a', 'a'), ('é', 'e'), ('t', 'b')] {
            assert!(!are_neighbours(a, b), "{a} {b}");
        }
    }

    #[test]
    fn the_frequent_word_that_is_near_is_meant() {
        let speller = speller(&[
            ("lighthouse", 90.0),
            ("lightness", 5.0),
            ("harbour", 40.0),
            ("harbor", 40.0),
            ("tea", 9.0),
        ]);
        for (typed, meant) in [
            ("lighthuose", "lighthouse"),
            ("lihgthouse", "lighthouse"),
            ("ligthhouse", "lighthouse"),
            ("oighthouse", "lighthouse"),
            ("ilghthouse", "lighthouse"),
            ("ighthouse", "lighthouse"),
            ("llighthouse", "lighthouse"),
            ("harbuor", "harbour"),
        ] {
            let near = speller.near(typed, 8.0, 3);
            assert_eq!(near.first().map(|near| near.word.as_str()), Some(meant), "{typed}");
        }
        for far in ["te", "xx", "", "zebra", "lighthouse", "灯塔", &"x".repeat(10_000)] {
            assert!(
                speller.near(far, 8.0, 3).iter().all(|near| near.word != far && near.cost < 2.4),
                "{far}"
            );
        }
        assert!(Speller::default().near("lamp", 8.0, 3).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn a_distance_is_none_only_where_it_is_too_far(typed in "[a-e]{0,8}", meant in "[a-e]{1,8}", max_cost in 0.1f32..3.0) {
            let letters: Vec<char> = typed.chars().collect();
            let whole = EditDistance::default().between(&letters, &meant, 99.0);
            let bounded = EditDistance::default().between(&letters, &meant, max_cost);
            proptest::prop_assert_eq!(bounded, whole.filter(|cost| *cost <= max_cost));
            proptest::prop_assert_eq!(whole.is_none(), typed == meant);
        }

        #[test]
        fn letters_that_differ_cost_no_more_than_the_slips(
            typed in "[a-eé灯]{1,7}",
            slips in proptest::collection::vec((0usize..8, "[a-eé灯]{0,2}"), 1..4),
        ) {
            // A few edits away: distant words have different letters anyway.
            let mut meant: Vec<char> = typed.chars().collect();
            for (at, put) in slips {
                let at = at.min(meant.len());
                meant.splice(at..(at + 1).min(meant.len()), put.chars());
            }
            let letters: Vec<char> = typed.chars().collect();
            let least = LetterSet::from_letters(letters.iter().copied()).least_cost(LetterSet::from_letters(meant.iter().copied()));
            let meant: String = meant.into_iter().collect();
            let cost = EditDistance::default().between(&letters, &meant, 99.0).unwrap_or_default();
            proptest::prop_assert!(least <= cost + ROUNDING, "{} for {}: {} > {}", typed, meant, least, cost);
        }
    }
}
