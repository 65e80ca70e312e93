//! What was probably meant (查询纠错): asked where a query has few results, and never more than asked.
//!
//! A query is looked at as a whole and word by word:
//! * *letters* that are no word of any page: a known word a [slip](spelling) away, two known words that were joined, one that
//!   was split, Chinese typed in [pinyin](sounds) with the input method switched off;
//! * *Han characters*: words that [sound](sounds) alike (周结伦 for 周杰伦), or differ by one character.
//!
//! The words come from the index itself and from what people asked ([`Help`]), so that nothing is offered that has no page;
//! whoever shows a correction counts its results first. Operators, quoted words and words that must not be there stay as they
//! were typed.

mod sounds;
mod spelling;

use pharos_core::config::CorrectConfig;
use pharos_text::stem::stem_term;
use pharos_text::{is_han, normalise, pinyin};

pub(crate) use self::spelling::Speller;
use crate::help::Help;

/// Longer queries, in characters, are not corrected: nobody types them.
const MAX_LENGTH: usize = 100;
/// Pieces of a query that are looked at.
const MAX_PIECES: usize = 16;
/// Corrections that are given.
const CANDIDATES: usize = 6;
/// A word in so many pages is no slip, whatever is near it.
const KNOWN: u64 = 20;

/// In how many pages a term of the index stands.
pub(crate) type Pages<'a> = &'a dyn Fn(&str) -> u64;

/// Makes corrections.
pub(crate) struct Corrector<'a> {
    pub(crate) help: &'a Help,
    pub(crate) costs: &'a CorrectConfig,
    pub(crate) pages: Pages<'a>,
}

impl Corrector<'_> {
    /// What may have been meant, the likeliest first; never the text itself.
    pub(crate) fn corrections(&self, text: &str) -> Vec<String> {
        if self.help.is_empty() || text.chars().count() > MAX_LENGTH {
            return Vec::new();
        }
        let pieces: Vec<&str> = text.split_whitespace().collect();
        if pieces.is_empty() || pieces.len() > MAX_PIECES {
            return Vec::new();
        }
        let mut found = Vec::new();
        if pieces.iter().all(|piece| is_plain(piece)) {
            found.extend(self.as_a_whole(&pieces));
        }
        found.extend(self.piece_by_piece(&pieces));
        found.extend(self.joined(&pieces));
        let typed = normalise(text);
        let mut different: Vec<String> = Vec::new();
        for correction in found {
            if normalise(&correction) != typed && !different.contains(&correction) {
                different.push(correction);
            }
        }
        different.truncate(CANDIDATES);
        different
    }

    /// The whole query is pinyin: `zhou jie lun`, `beijingdaxue`.
    fn as_a_whole(&self, pieces: &[&str]) -> Vec<String> {
        let letters = normalise(&pieces.concat());
        if !is_pinyin(&letters) || pieces.iter().all(|piece| self.is_known(&normalise(piece))) {
            return Vec::new();
        }
        let letters = letters.replace('\'', "");
        let mut phrases = self.help.sounding(&letters);
        phrases.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let mut found: Vec<String> =
            phrases.into_iter().take(2).map(|phrase| phrase.text.to_string()).collect();
        found.extend(sounds::of_pinyin(&letters, self.help, self.costs));
        found
    }

    /// Every piece that is wrong is replaced by the best there is; and once more with the second best of the first.
    fn piece_by_piece(&self, pieces: &[&str]) -> Vec<String> {
        let choices: Vec<Vec<String>> = pieces.iter().map(|piece| self.piece(piece)).collect();
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

    /// What a piece may mean, best first; nothing where it is right.
    fn piece(&self, piece: &str) -> Vec<String> {
        if !is_plain(piece) {
            return Vec::new();
        }
        let word = normalise(piece);
        if word.chars().all(is_han) {
            return sounds::homophones(&word, self.help, self.costs);
        }
        if word.contains(is_han) {
            return self.runs(&word);
        }
        self.word(&word)
    }

    /// A piece of several scripts: the Han characters of it.
    fn runs(&self, piece: &str) -> Vec<String> {
        let mut corrected = String::new();
        for run in piece.split_inclusive(|c| !is_han(c)) {
            let end = run.trim_end_matches(|c| !is_han(c)).len();
            let better = sounds::homophones(&run[..end], self.help, self.costs).into_iter().next();
            corrected.push_str(better.as_deref().unwrap_or(&run[..end]));
            corrected.push_str(&run[end..]);
        }
        if corrected == piece { Vec::new() } else { vec![corrected] }
    }

    /// A word of letters.
    fn word(&self, word: &str) -> Vec<String> {
        let seen = (self.pages)(word);
        if word.chars().any(|c| !c.is_alphabetic() && c != '\'') || self.is_known(word) {
            return Vec::new();
        }
        let edit = self.costs.edit as f32;
        let near = self.help.speller.near(word, edit, 3).into_iter();
        // A word that a few pages have may be right.
        let mut found: Vec<(f32, String)> = near
            .map(|near| (near.weight.ln_1p() - edit * near.cost, near.word))
            .filter(|(worth, _)| seen == 0 || *worth > (seen as f32).ln_1p())
            .collect();
        if seen == 0 {
            found.extend(self.split(word).map(|(weight, two)| (weight.ln_1p() - edit, two)));
            if is_pinyin(word) {
                let chinese = sounds::of_pinyin(word, self.help, self.costs).into_iter().take(1);
                found.extend(chinese.map(|text| (self.help.weight(&text).ln_1p() - edit / 2.0, text)));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().map(|(_, text)| text).collect()
    }

    /// Two words that were typed as one: those whose rarer one is the most frequent.
    fn split(&self, word: &str) -> Option<(f32, String)> {
        let borders = word.char_indices().map(|(at, _)| at).filter(|at| *at >= 2 && word.len() - at >= 2);
        let two = borders.filter_map(|at| {
            let (a, b) = word.split_at(at);
            let rarer = (self.pages)(a).min((self.pages)(b));
            (rarer > 0).then(|| (rarer as f32, format!("{a} {b}")))
        });
        two.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Words that were typed apart.
    fn joined(&self, pieces: &[&str]) -> Vec<String> {
        let mut found: Vec<(u64, String)> = Vec::new();
        for at in 1..pieces.len() {
            let [a, b] = [normalise(pieces[at - 1]), normalise(pieces[at])];
            let letters = |word: &str| word.chars().all(|c| c.is_alphabetic() && !is_han(c));
            let (one, pages) = (format!("{a}{b}"), (self.pages)(&format!("{a}{b}")));
            if letters(&one) && pages > 0 && is_plain(pieces[at - 1]) && is_plain(pieces[at]) {
                let before = pieces[..at - 1].iter().copied();
                let after = pieces[at + 1..].iter().copied();
                found.push((pages, before.chain([one.as_str()]).chain(after).collect::<Vec<_>>().join(" ")));
            }
        }
        found.sort_by_key(|(pages, _)| std::cmp::Reverse(*pages));
        found.into_iter().map(|(_, text)| text).collect()
    }

    /// Do enough pages have a word, or a form of it?
    fn is_known(&self, word: &str) -> bool {
        let seen = (self.pages)(word);
        let forms = || stem_term(word).map_or(0, |stem| (self.pages)(&stem));
        // A stem that nobody wrote so, of a word in no page, is that of a slip that happens to end like a form.
        seen >= KNOWN || (seen == 0 && forms() >= KNOWN)
    }
}

/// No operator, no quotes.
fn is_plain(piece: &str) -> bool {
    let signs =
        ['"', '“', '”', '「', '」', '『', '』', '《', '》', '(', ')', '（', '）', '|', '｜', ':', '：'];
    !piece.starts_with(['-', '－']) && !piece.contains(signs) && piece != "OR"
}

/// Letters that can be cut into at least two syllables.
fn is_pinyin(letters: &str) -> bool {
    letters.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'')
        && pinyin::split(letters).is_some_and(|syllables| syllables.len() > 1)
}

#[cfg(test)]
mod tests;
