//! Is a point the end of a sentence, or part of an abbreviation, an initial or a number?
//!
//! A small relative of Punkt (Kiss & Strunk 2006): abbreviations are listed instead of learnt, and a word
//! that mostly begins sentences decides where an abbreviation may stand at the end of one.

use crate::is_han;

/// Longer words are not abbreviations.
const MAX_WORD: usize = 12;

/// Longer numbers, such as years, do not count the items of a list.
const MAX_ITEM_DIGITS: usize = 3;

/// A name or an explanation always follows.
const NEVER_LAST: &[&str] = &[
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "mt", "lt", "sgt", "capt", "col", "gen", "gov", "sen",
    "rep", "rev", "hon", "pres", "messrs", "mme", "mlle", "vs", "cf", "e.g", "i.e", "viz",
];

/// Seldom at the end of a sentence.
const SELDOM_LAST: &[&str] = &[
    "sr", "jr", "inc", "ltd", "co", "corp", "bros", "dept", "univ", "assn", "est", "approx", "ca", "al",
    "eds", "trans", "ave", "blvd", "resp", "incl", "ariz", "calif", "colo", "conn", "fla", "mich", "minn",
    "okla", "tenn", "wis",
];

/// Abbreviations only before a number.
const BEFORE_NUMBERS: &[&str] = &[
    "no", "nos", "p", "pp", "fig", "figs", "vol", "vols", "ch", "chap", "sec", "art", "eq", "para", "ver",
    "tel", "ext", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];

/// Words that, with a capital letter, mostly begin a sentence.
const STARTERS: &[&str] = &[
    "the", "this", "that", "these", "those", "it", "its", "he", "she", "they", "we", "you", "his", "her",
    "their", "our", "my", "in", "on", "at", "by", "for", "from", "with", "as", "if", "when", "while",
    "after", "before", "since", "but", "and", "or", "so", "however", "there", "then", "what", "who", "where",
    "why", "how", "although",
];

/// Does a point end the sentence that has `before` before it and, on the same line, `following` after it
/// (which does not begin with a lower-case letter)?
pub(super) fn ends_sentence(before: &str, following: &str) -> bool {
    let word = last_word(before);
    let Some(next) = following.chars().next() else { return true };
    if word.is_empty() {
        return true;
    }
    if word.bytes().all(|b| b.is_ascii_digit()) {
        // The number of an item in a list belongs to the item, in Chinese also where items follow each other
        // on a line.
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
        // In Chinese text a full stop of this form is rare, an initial or a company's name is not.
        return !is_han(next) && is_starter(following);
    }
    true
}

/// The letters, digits and points at the end; nothing if they are too many for an abbreviation.
fn last_word(before: &str) -> &str {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'.';
    let len = before.bytes().rev().take(MAX_WORD + 1).take_while(is_part).count();
    if len > MAX_WORD { "" } else { &before[before.len() - len..] }
}

/// J, U.S, Ph.D: points between letters that are one or two.
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
