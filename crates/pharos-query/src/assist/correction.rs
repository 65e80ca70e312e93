//! Query correction (查询纠错): suggests a different query if the original has few results, or far fewer than a certain
//! correction. If the original has no results, the caller may run a certain correction instead.
//!
//! A query is examined as a whole and word by word:
//! * *letters* that form no indexed word: a known word within a small [edit distance](spelling), two joined words,
//!   one split word, or Chinese typed as [pinyin](homophones);
//! * *Han characters*: words with the same [sound](homophones) (周结伦 for 周杰伦), or with one different character.
//!
//! Words come from the index and from past queries ([`SuggestionSources`]), so every correction has matching pages;
//! the caller counts the results before showing it. Operators, quoted words and excluded words are never changed.

mod homophones;
mod spelling;

use pharos_core::config::CorrectConfig;
use pharos_text::analyser::stem::stem_term;
use pharos_text::{is_han, normalise, pinyin};

pub(crate) use self::spelling::Speller;
use self::spelling::SpellingCandidate;
use crate::assist::suggestion_sources::SuggestionSources;

/// Maximum length of a query in characters; longer ones are not typed by hand.
const MAX_LENGTH: usize = 100;
/// Maximum number of whitespace-separated pieces.
const MAX_PIECES: usize = 16;
/// Maximum number of corrections.
const MAX_CORRECTIONS: usize = 6;
/// Words that occur in this many pages are considered correct.
const MIN_KNOWN_PAGES: u64 = 20;

/// Number of letters for each wrong one of a certain correction.
const CERTAIN_LETTERS: usize = 5;

/// Minimum length of a word with a certain correction. Shorter ones resemble many others.
const MIN_CERTAIN_LENGTH: usize = 4;

/// Minimum length of a word that counts as misspelled although a few pages contain it: pages have misspellings, too.
const MIN_LONG_LENGTH: usize = 6;
/// Part of the cost of an edit by which the other word must then be more frequent.
const LONG_WORD_EDIT: f32 = 0.5;

/// Returns the document frequency of a term.
pub(crate) type DocumentCount<'a> = &'a dyn Fn(&str) -> u64;

/// A generator of corrections.
pub(crate) struct Corrector<'a> {
    pub(crate) suggestions: &'a SuggestionSources,
    pub(crate) costs: &'a CorrectConfig,
    pub(crate) pages: DocumentCount<'a>,
}

impl Corrector<'_> {
    /// Returns possible corrections, most likely first, excluding the text itself.
    pub(crate) fn corrections(&self, text: &str) -> Vec<String> {
        if self.suggestions.is_empty() || text.chars().count() > MAX_LENGTH {
            return Vec::new();
        }
        let pieces: Vec<&str> = text.split_whitespace().collect();
        if pieces.is_empty() || pieces.len() > MAX_PIECES {
            return Vec::new();
        }
        let mut found = Vec::new();
        if pieces.iter().all(|piece| is_plain_text(piece)) {
            found.extend(self.correct_as_pinyin(&pieces));
        }
        found.extend(self.correct_pieces(&pieces));
        found.extend(self.join_pieces(&pieces));
        let typed = normalise(text);
        let mut different: Vec<String> = Vec::new();
        for correction in found {
            if normalise(&correction) != typed && !different.contains(&correction) {
                different.push(correction);
            }
        }
        different.truncate(MAX_CORRECTIONS);
        different
    }

    /// Corrects a query that is pinyin as a whole: `zhou jie lun`, `beijingdaxue`.
    fn correct_as_pinyin(&self, pieces: &[&str]) -> Vec<String> {
        let letters = normalise(&pieces.concat());
        if !is_pinyin(&letters) || pieces.iter().all(|piece| self.is_known(&normalise(piece))) {
            return Vec::new();
        }
        let letters = letters.replace('\'', "");
        let mut phrases = self.suggestions.sounding(&letters);
        phrases.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let mut found: Vec<String> =
            phrases.into_iter().take(2).map(|phrase| phrase.text.to_string()).collect();
        found.extend(homophones::from_pinyin(&letters, self.suggestions, self.costs));
        found
    }

    /// Replaces every misspelled piece by its best correction; further results use other corrections of the first
    /// one.
    fn correct_pieces(&self, pieces: &[&str]) -> Vec<String> {
        let choices: Vec<Vec<String>> = pieces.iter().map(|piece| self.correct_piece(piece)).collect();
        let first_wrong = choices.iter().position(|choices| !choices.is_empty());
        let with = |nth: usize| {
            let chosen = pieces.iter().zip(&choices).enumerate().map(|(at, (piece, choices))| {
                let choice = if first_wrong == Some(at) { nth } else { 0 };
                choices.get(choice).or(choices.first()).map_or(*piece, String::as_str)
            });
            chosen.collect::<Vec<_>>().join(" ")
        };
        (0..choices.iter().map(Vec::len).max().unwrap_or_default().min(3)).map(with).collect()
    }

    /// Returns corrections of a piece, best first, or nothing if it is correct.
    fn correct_piece(&self, piece: &str) -> Vec<String> {
        if !is_plain_text(piece) {
            return Vec::new();
        }
        let word = normalise(piece);
        if word.chars().all(is_han) {
            return homophones::correct_homophones(&word, self.suggestions, self.costs);
        }
        if word.contains(is_han) {
            return self.correct_han_runs(&word);
        }
        self.correct_word(&word)
    }

    /// Corrects the Han characters of a piece in several scripts.
    fn correct_han_runs(&self, piece: &str) -> Vec<String> {
        let mut corrected = String::new();
        for run in piece.split_inclusive(|c| !is_han(c)) {
            let end = run.trim_end_matches(|c| !is_han(c)).len();
            let better =
                homophones::correct_homophones(&run[..end], self.suggestions, self.costs).into_iter().next();
            corrected.push_str(better.as_deref().unwrap_or(&run[..end]));
            corrected.push_str(&run[end..]);
        }
        if corrected == piece { Vec::new() } else { vec![corrected] }
    }

    /// Corrects a word of letters.
    fn correct_word(&self, word: &str) -> Vec<String> {
        let seen = (self.pages)(word);
        if word.chars().any(|c| !c.is_alphabetic() && c != '\'') || self.is_known(word) {
            return Vec::new();
        }
        let edit = self.costs.edit as f32;
        let near = self.suggestions.speller.near(word, edit, 3).into_iter();
        // A word that occurs in a few pages may be correct.
        let is_long = word.chars().count() >= MIN_LONG_LENGTH;
        let required = edit * if is_long { LONG_WORD_EDIT } else { 1.0 };
        let is_likelier = |near: &SpellingCandidate| {
            seen == 0 || near.weight.ln_1p() - required * near.cost > (seen as f32).ln_1p()
        };
        let mut found: Vec<(f32, String)> = near
            .filter(is_likelier)
            .map(|near| (near.weight.ln_1p() - edit * near.cost, near.word))
            .collect();
        if seen == 0 {
            found.extend(self.split_word(word).map(|(weight, two)| (weight.ln_1p() - edit, two)));
            if is_pinyin(word) {
                let chinese = homophones::from_pinyin(word, self.suggestions, self.costs).into_iter().take(1);
                found.extend(chinese.map(|text| (self.suggestions.weight(&text).ln_1p() - edit / 2.0, text)));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().map(|(_, text)| text).collect()
    }

    /// Splits a word into two known words, maximising the frequency of the rarer one.
    fn split_word(&self, word: &str) -> Option<(f32, String)> {
        let borders = word.char_indices().map(|(at, _)| at).filter(|at| *at >= 2 && word.len() - at >= 2);
        let two = borders.filter_map(|at| {
            let (a, b) = word.split_at(at);
            let rarer = (self.pages)(a).min((self.pages)(b));
            (rarer > 0).then(|| (rarer as f32, format!("{a} {b}")))
        });
        two.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Joins adjacent pieces that form one known word.
    fn join_pieces(&self, pieces: &[&str]) -> Vec<String> {
        let mut found: Vec<(u64, String)> = Vec::new();
        for at in 1..pieces.len() {
            let [a, b] = [normalise(pieces[at - 1]), normalise(pieces[at])];
            let letters = |word: &str| word.chars().all(|c| c.is_alphabetic() && !is_han(c));
            let (one, pages) = (format!("{a}{b}"), (self.pages)(&format!("{a}{b}")));
            if letters(&one) && pages > 0 && is_plain_text(pieces[at - 1]) && is_plain_text(pieces[at]) {
                let before = pieces[..at - 1].iter().copied();
                let after = pieces[at + 1..].iter().copied();
                found.push((pages, before.chain([one.as_str()]).chain(after).collect::<Vec<_>>().join(" ")));
            }
        }
        found.sort_by_key(|(pages, _)| std::cmp::Reverse(*pages));
        found.into_iter().map(|(_, text)| text).collect()
    }

    /// Returns `true` if enough pages contain the word or a form of it.
    fn is_known(&self, word: &str) -> bool {
        let seen = (self.pages)(word);
        let forms = || stem_term(word).map_or(0, |stem| (self.pages)(&stem));
        // If pages contain the stem but not the word itself, the word is a form of a known word.
        seen >= MIN_KNOWN_PAGES || (seen == 0 && forms() >= MIN_KNOWN_PAGES)
    }
}

/// Returns `true` if a correction is certain to be what was meant: it has the same letters without regard to spaces, or
/// each changed piece has the same sound in Han characters or pinyin, or one wrong letter in five.
pub(crate) fn is_certain(typed: &str, corrected: &str) -> bool {
    let (typed, corrected) = (normalise(typed), normalise(corrected));
    if letters(&typed) == letters(&corrected) || sounds_alike(&typed, &corrected) {
        return true;
    }
    let (typed, corrected): (Vec<&str>, Vec<&str>) =
        (typed.split_whitespace().collect(), corrected.split_whitespace().collect());
    let is_certain = |(typed, corrected): (&&str, &&str)| {
        let (a, b) = (letters(typed), letters(corrected));
        let has_han = a.iter().chain(&b).any(|c| is_han(*c));
        let errors = (a.len() / CERTAIN_LETTERS).max(1);
        a == b
            || is_same_sound(&a, &b)
            || (!has_han && a.len() >= MIN_CERTAIN_LENGTH && edit_distance(&a, &b) <= errors)
    };
    typed.len() == corrected.len() && typed.iter().zip(&corrected).all(is_certain)
}

/// Returns `true` if Han characters of a text have the sound of the other text, without regard to spaces.
pub(crate) fn sounds_alike(typed: &str, corrected: &str) -> bool {
    is_same_sound(&letters(&normalise(typed)), &letters(&normalise(corrected)))
}

/// Returns the characters of a text without spaces and apostrophes.
fn letters(text: &str) -> Vec<char> {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\'').collect()
}

/// Returns `true` if Han characters have the sound of other characters, or of pinyin.
fn is_same_sound(typed: &[char], corrected: &[char]) -> bool {
    let sound = |text: &[char]| -> Option<String> {
        let text: String = text.iter().collect();
        if !text.contains(is_han) {
            return Some(text);
        }
        pinyin::pinyin(&text).map(|syllable| syllable.reading).collect()
    };
    let has_han = corrected.iter().any(|c| is_han(*c));
    has_han && sound(typed).is_some_and(|typed| Some(typed) == sound(corrected))
}

/// Returns the number of changed, missing, additional and transposed letters (Damerau 1964).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// Returns `true` if the piece contains no operator and no quotes.
fn is_plain_text(piece: &str) -> bool {
    let signs =
        ['"', '“', '”', '「', '」', '『', '』', '《', '》', '(', ')', '（', '）', '|', '｜', ':', '：'];
    !piece.starts_with(['-', '－']) && !piece.contains(signs) && piece != "OR"
}

/// Returns `true` if the letters can be split into at least two syllables.
fn is_pinyin(letters: &str) -> bool {
    letters.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'')
        && pinyin::split(letters).is_some_and(|syllables| syllables.len() > 1)
}

#[cfg(test)]
mod tests;
