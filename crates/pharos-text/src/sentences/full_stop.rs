//! Decides whether a full stop ends a sentence or belongs to an abbreviation, an initial or a number.
//!
//! A simplified form of Punkt (Kiss & Strunk 2006). Abbreviations are listed instead of learnt. An
//! abbreviation ends a sentence only if a word follows that mostly begins sentences.

use crate::is_han;

/// Maximum length of an abbreviation.
const MAX_WORD: usize = 12;

/// Maximum number of digits in the number of a list item. Longer numbers, such as years, are not item
/// numbers.
const MAX_ITEM_DIGITS: usize = 3;

/// Abbreviations that are always followed by a name or an explanation.
const NEVER_LAST: &[&str] = &[
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "mt", "lt", "sgt", "capt", "col", "gen", "gov", "sen",
    "rep", "rev", "hon", "pres", "messrs", "mme", "mlle", "vs", "cf", "e.g", "i.e", "viz",
];

/// Abbreviations that rarely end a sentence.
const SELDOM_LAST: &[&str] = &[
    "sr", "jr", "inc", "ltd", "co", "corp", "bros", "dept", "univ", "assn", "est", "approx", "ca", "al",
    "eds", "trans", "ave", "blvd", "resp", "incl", "ariz", "calif", "colo", "conn", "fla", "mich", "minn",
    "okla", "tenn", "wis",
];

/// Words that are abbreviations only before a number.
const BEFORE_NUMBERS: &[&str] = &[
    "no", "nos", "p", "pp", "fig", "figs", "vol", "vols", "ch", "chap", "sec", "art", "eq", "para", "ver",
    "tel", "ext", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];

/// Words that, capitalised, mostly begin a sentence.
const STARTERS: &[&str] = &[
    "the", "this", "that", "these", "those", "it", "its", "he", "she", "they", "we", "you", "his", "her",
    "their", "our", "my", "in", "on", "at", "by", "for", "from", "with", "as", "if", "when", "while",
    "after", "before", "since", "but", "and", "or", "so", "however", "there", "then", "what", "who", "where",
    "why", "how", "although",
];

/// Returns `true` if a full stop between `before` and `following` ends the sentence. Both are on the same
/// line; `following` does not begin with a lower-case letter.
pub(super) fn ends_sentence(before: &str, following: &str) -> bool {
    let word = last_word(before);
    let Some(next) = following.chars().next() else { return true };
    if word.is_empty() {
        return true;
    }
    if word.bytes().all(|b| b.is_ascii_digit()) {
        // The number of a list item belongs to the item, in Chinese also where several items are on one line.
        let before_number = &before[..before.len() - word.len()];
        let is_item =
            before_number.is_empty() || is_han(next) && before_number.ends_with(char::is_whitespace);
        return word.len() > MAX_ITEM_DIGITS || !is_item;
    }
    let is_one_of = |list: &[&str]| list.iter().any(|entry| entry.eq_ignore_ascii_case(word));
    if is_one_of(NEVER_LAST) || next.is_ascii_digit() && is_one_of(BEFORE_NUMBERS) {
        return false;
    }
    if is_one_of(SELDOM_LAST) || are_initials(word) {
        // In Chinese text an ASCII full stop is rare, but initials and company names are not.
        return !is_han(next) && is_starter(following);
    }
    true
}

/// Returns the letters, digits and points at the end, or an empty string if they are too long for an
/// abbreviation.
fn last_word(before: &str) -> &str {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.';
    let len = before.bytes().rev().take(MAX_WORD + 1).take_while(is_part).count();
    if len > MAX_WORD { "" } else { &before[before.len() - len..] }
}

/// Returns `true` for J, U.S, Ph.D: one or two letters between points.
fn are_initials(word: &str) -> bool {
    let has_point = word.contains('.');
    word.split('.').all(|part| {
        (1..=1 + usize::from(has_point)).contains(&part.len())
            && part.bytes().all(|b| b.is_ascii_alphabetic())
    })
}

fn is_starter(following: &str) -> bool {
    let len = following.bytes().take(MAX_WORD).take_while(u8::is_ascii_alphabetic).count();
    STARTERS.iter().any(|starter| starter.eq_ignore_ascii_case(&following[..len]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_initials_and_numbers() {
        for (before, following) in [
            ("Dear Mr", "Brown"),
            ("Mr", "He Jun"),
            ("in the U.S", "Army"),
            ("fruit, e.g", "Apples"),
            ("by J", "Smith"),
            ("J.R.R", "Tolkien"),
            ("see No", "5"),
            ("on Jan", "3"),
            ("Apple Inc", "shares"),
            ("3", "Results"),
            ("a Ph.D", "Student"),
        ] {
            assert!(!ends_sentence(before, following), "{before}. {following}");
        }
        for (before, following) in [
            ("He lives in the U.S", "The house"),
            ("bread, milk, etc", "They"),
            ("I said no", "Then"),
            ("It is 3.14", "Next"),
            ("in 1999", "We"),
            ("in May", "We"),
            ("at example.com", "Go"),
            ("version 1.2.3", "It"),
            ("the end)", "More"),
            ("by J", ""),
        ] {
            assert!(ends_sentence(before, following), "{before}. {following}");
        }
    }
}
