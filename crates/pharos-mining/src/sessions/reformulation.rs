//! Steps from a search to a later one with the same goal (Lau & Horvitz 1999, §3; He, Göker & Harper 2002).

use pharos_text::pinyin::homophone_key;
use serde::Serialize;

use super::terms::{is_subset, word_set};

/// Longest texts whose edit distance is computed.
const MAX_EDITED_CHARS: usize = 64;

/// The step from one search to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reformulation {
    /// The first search of a goal.
    New,
    /// Words were added.
    Specialise,
    /// Words were removed.
    Generalise,
    /// The spelling was corrected.
    Correct,
    /// Some words were replaced.
    Rephrase,
    /// The same query again.
    Repeat,
    /// Another result page of the same query.
    PageTurn,
}

impl Reformulation {
    /// All kinds of steps.
    pub const ALL: [Reformulation; 7] = [
        Reformulation::New,
        Reformulation::Specialise,
        Reformulation::Generalise,
        Reformulation::Correct,
        Reformulation::Rephrase,
        Reformulation::Repeat,
        Reformulation::PageTurn,
    ];

    /// Returns the name used in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Reformulation::New => "new",
            Reformulation::Specialise => "specialise",
            Reformulation::Generalise => "generalise",
            Reformulation::Correct => "correct",
            Reformulation::Rephrase => "rephrase",
            Reformulation::Repeat => "repeat",
            Reformulation::PageTurn => "page-turn",
        }
    }
}

/// Classifies the step between two different normalised queries.
pub fn classify(before: &str, after: &str) -> Reformulation {
    classify_words(before, &word_set(before), after, &word_set(after))
}

/// As [`classify`], with the words of both.
pub(super) fn classify_words(
    before: &str,
    words_before: &[u64],
    after: &str,
    words: &[u64],
) -> Reformulation {
    if before == after || words_before == words {
        return Reformulation::Repeat;
    }
    if !words_before.is_empty() && is_subset(words_before, words) {
        Reformulation::Specialise
    } else if !words.is_empty() && is_subset(words, words_before) {
        Reformulation::Generalise
    } else if is_correction(before, after) {
        Reformulation::Correct
    } else {
        Reformulation::Rephrase
    }
}

/// Returns `true` if two texts differ as a misspelling and its correction: they sound alike, or a fifth of their
/// characters or fewer was edited, and at least one edit is possible in three characters.
pub(crate) fn is_correction(a: &str, b: &str) -> bool {
    let (a_chars, b_chars): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let longer = a_chars.len().max(b_chars.len());
    if !(3..=MAX_EDITED_CHARS).contains(&longer) {
        return false;
    }
    let edits = edit_distance(&a_chars, &b_chars);
    // Digits are not misspelt: 2008 and 2009 are different things.
    let digits = |chars: &[char]| chars.iter().filter(|c| c.is_numeric()).collect::<String>();
    digits(&a_chars) == digits(&b_chars)
        && (edits <= (longer / 5).max(1) || homophone_key(a) == homophone_key(b))
}

/// Returns the number of insertions, deletions, replacements and exchanges of neighbours (optimal string alignment;
/// Damerau 1964).
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        let [before_last, last, row] = &mut rows;
        row[0] = i;
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}
