//! Edits of a copied text.

use std::ops::Range;

use super::TextEdit;
use crate::rng::Rng;
use crate::writer::{TextWriter, capital};

/// Edits a text of several paragraphs.
pub(super) fn apply(edit: TextEdit, paragraphs: &mut Vec<String>, writer: &TextWriter, rng: &mut Rng) {
    match edit {
        TextEdit::Words { percent } => replace_words(paragraphs, percent, writer, rng),
        TextEdit::Added => {
            let place = rng.between(1, paragraphs.len());
            paragraphs.insert(place, writer.paragraph(60, rng));
        }
        TextEdit::Dropped if paragraphs.len() > 1 => {
            let place = rng.between(1, paragraphs.len() - 1);
            paragraphs.remove(place);
        }
        TextEdit::Moved if paragraphs.len() > 1 => {
            let from = rng.below(paragraphs.len());
            let moved = paragraphs.remove(from);
            let to = (from + rng.between(1, paragraphs.len())) % (paragraphs.len() + 1);
            paragraphs.insert(to, moved);
        }
        TextEdit::Part { percent } => extract_part(paragraphs, percent, rng),
        TextEdit::Dropped
        | TextEdit::Moved
        | TextEdit::Nothing
        | TextEdit::Source
        | TextEdit::Ending
        | TextEdit::Banner => {}
    }
}

/// Replaces this share of the words, at least one.
fn replace_words(paragraphs: &mut [String], percent: u8, writer: &TextWriter, rng: &mut Rng) {
    let words: Vec<Vec<Range<usize>>> = paragraphs.iter().map(|text| words_of(text)).collect();
    let mut left: usize = words.iter().map(Vec::len).sum();
    let mut wanted = (left * usize::from(percent)).div_ceil(100);
    for (text, words) in paragraphs.iter_mut().zip(words) {
        // From the end, so that the ranges before stay valid.
        for word in words.into_iter().rev() {
            // Selection sampling (Knuth, The Art of Computer Programming 3.4.2, algorithm S).
            if rng.below(left) < wanted {
                let other = other_word(&text[word.clone()], writer, rng);
                text.replace_range(word, &other);
                wanted -= 1;
            }
            left -= 1;
        }
    }
}

fn other_word(word: &str, writer: &TextWriter, rng: &mut Rng) -> String {
    loop {
        let other = writer.word(rng);
        if !other.eq_ignore_ascii_case(word) {
            let is_capital = word.starts_with(|first: char| first.is_ascii_uppercase());
            return if is_capital { capital(other) } else { other.to_owned() };
        }
    }
}

/// Returns the byte ranges of the words. Chinese is not segmented: two characters count as one word.
fn words_of(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (place, letter) in text.char_indices().filter(|(_, letter)| letter.is_alphabetic()) {
        let end = place + letter.len_utf8();
        match words.last_mut() {
            Some(word) if word.end == place && belongs_to(&text[word.clone()], letter) => word.end = end,
            _ => words.push(place..end),
        }
    }
    words
}

fn belongs_to(word: &str, letter: char) -> bool {
    if letter.is_ascii() { word.is_ascii() } else { !word.is_ascii() && word.chars().nth(1).is_none() }
}

/// Keeps consecutive sentences that make up this share of the text.
fn extract_part(paragraphs: &mut Vec<String>, percent: u8, rng: &mut Rng) {
    let length = |text: &str| text.chars().count();
    let total: usize = paragraphs.iter().map(|text| length(text)).sum();
    let wanted = total * usize::from(percent) / 100;
    // Half of the excerpts are beginnings.
    let skipped = if rng.chance(0.5) { 0 } else { rng.below(total - wanted) };
    let mut place = 0;
    let mut taken = 0;
    let mut kept = Vec::new();
    for paragraph in paragraphs.iter() {
        let mut part = String::new();
        for sentence in paragraph.split_inclusive(['.', '。']) {
            if place >= skipped && taken < wanted {
                part.push_str(sentence);
                taken += length(sentence);
            }
            place += length(sentence);
        }
        if !part.is_empty() {
            kept.push(part.trim().to_owned());
        }
    }
    *paragraphs = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Lang;

    #[test]
    fn words_are_runs_of_letters_or_two_characters() {
        let words =
            |text: &'static str| words_of(text).into_iter().map(|word| &text[word]).collect::<Vec<_>>();
        assert_eq!(words("A lamp, 2 owls."), ["A", "lamp", "owls"]);
        assert_eq!(words("说起“灯塔船”，ok吗"), ["说起", "灯塔", "船", "ok", "吗"]);
    }

    #[test]
    fn as_many_words_are_replaced_as_was_planned() {
        let writer = TextWriter::new(Lang::En, 0);
        let mut rng = Rng::from_parts(&[1]);
        let before: Vec<String> = (0..4).map(|_| writer.paragraph(80, &mut rng)).collect();
        for percent in 1..=8 {
            let mut after = before.clone();
            replace_words(&mut after, percent, &writer, &mut rng);
            let words = |texts: &[String]| texts.join(" ").split(' ').map(str::to_owned).collect::<Vec<_>>();
            let (before, after) = (words(&before), words(&after));
            assert_eq!(before.len(), after.len());
            let replaced = before.iter().zip(&after).filter(|(old, new)| old != new).count();
            assert_eq!(replaced, (before.len() * usize::from(percent)).div_ceil(100));
        }
    }

    #[test]
    fn a_moved_paragraph_changes_position() {
        let writer = TextWriter::new(Lang::Zh, 0);
        let texts: Vec<String> = ["一", "二", "三"].map(str::to_owned).to_vec();
        for seed in 0..30 {
            let mut moved = texts.clone();
            apply(TextEdit::Moved, &mut moved, &writer, &mut Rng::from_parts(&[seed]));
            assert_ne!(moved, texts);
            moved.sort();
            let mut all = texts.clone();
            all.sort();
            assert_eq!(moved, all);
        }
    }
}
