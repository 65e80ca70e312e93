//! The forward index (正排索引): the words of a document in order, with their positions.
//!
//! The embedded index does not store one. This module exports it in the two forms of the literature: as text
//! (《搜索引擎——原理、技术与系统》§4.4, figure 4-8), and as lists of hits (《走进搜索引擎》§4.4.2).

use std::collections::HashMap;
use std::fmt::Write as _;

use pharos_text::Analyser;

/// Formats a document as two lines: its number, and its words as `词/  词/  `.
pub fn lines(number: u64, text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2 + 16);
    let _ = writeln!(out, "{number}");
    for line in text.lines() {
        for word in Analyser::shared().segment(line) {
            out.extend([word, "/  "]);
        }
    }
    out.push('\n');
    out
}

/// A word of a document with its positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordHits {
    /// Normalised form.
    pub word: String,
    /// Hits (命中) as gaps: the first is counted from 1, the others from the previous hit. A Han character counts as
    /// one position, another word as one, punctuation as none.
    pub gaps: Vec<usize>,
}

/// Returns the words of a document in the order of their first hits.
pub fn hits(text: &str) -> Vec<WordHits> {
    let mut words: Vec<WordHits> = Vec::new();
    // Index of each word in the list, and its last position.
    let mut seen: HashMap<String, (usize, usize)> = HashMap::new();
    Analyser::shared().for_each_token(text, |word, _, _, position| {
        let place = position + 1;
        if let Some((index, last)) = seen.get_mut(word) {
            words[*index].gaps.push(place - *last);
            *last = place;
        } else {
            seen.insert(word.to_string(), (words.len(), place));
            words.push(WordHits { word: word.to_string(), gaps: vec![place] });
        }
    });
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_two_lines() {
        let text = lines(12_726, "北京大学\n计算机系, lit again");
        let mut found = text.lines();
        assert_eq!(found.next(), Some("12726"));
        let words = found.next().unwrap();
        assert!(words.starts_with("北京大学/  ") && words.ends_with("again/  "), "{words}");
        assert_eq!(found.next(), None);
        assert_eq!(lines(0, ""), "0\n\n");
    }

    #[test]
    fn hits_are_gaps_between_places() {
        let hit = |word: &str, gaps: &[usize]| WordHits { word: word.into(), gaps: gaps.to_vec() };
        assert_eq!(
            hits("走进搜索引擎，学习搜索引擎"),
            [hit("走进", &[1]), hit("搜索引擎", &[3, 6]), hit("学习", &[7])]
        );
    }
}
