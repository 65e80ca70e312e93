//! Multi-pattern search for words that reveal the purpose of a part of a page, in classes, ids and short lines.

use aho_corasick::{AhoCorasick, AhoCorasickKind, BuildError};

/// Finds words of several kinds in one pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordFinder {
    /// `None` if there are no words.
    automaton: Option<AhoCorasick>,
    words: Vec<PatternWord>,
}

#[derive(Clone, Copy, Debug)]
struct PatternWord {
    kind: u8,
    /// `true` if the match must begin, or end, at a word boundary.
    begins: bool,
    ends: bool,
}

impl WordFinder {
    /// Compiles words with the number of their kind, at most 32 kinds.
    pub(crate) fn new<'a>(words: impl Iterator<Item = (usize, &'a str)>) -> Result<WordFinder, BuildError> {
        let (mut patterns, mut known) = (Vec::new(), Vec::new());
        for (kind, spelling) in words {
            let word = spelling.trim_matches('*');
            let is_plain = word.is_ascii();
            known.push(PatternWord {
                kind: (kind % 32) as u8,
                begins: is_plain && !spelling.starts_with('*'),
                ends: is_plain && !spelling.ends_with('*'),
            });
            patterns.push(word);
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(patterns)?;
        Ok(WordFinder { automaton: Some(automaton), words: known })
    }

    /// Returns the kinds of the words found in `text`, one bit for each.
    pub(crate) fn find(&self, text: &str) -> u32 {
        let Some(automaton) = &self.automaton else { return 0 };
        let bytes = text.as_bytes();
        let mut kinds = 0;
        for found in automaton.find_overlapping_iter(bytes) {
            let word = self.words[found.pattern().as_usize()];
            if (!word.begins || begins_word(bytes, found.start()))
                && (!word.ends || ends_word(bytes, found.end()))
            {
                kinds |= 1 << word.kind;
            }
        }
        kinds
    }
}

/// `sideBar` is two words.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    at == 0
        || !bytes[at - 1].is_ascii_alphabetic()
        || (bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase())
}

fn ends_word(bytes: &[u8], at: usize) -> bool {
    at == bytes.len()
        || !bytes[at].is_ascii_alphabetic()
        || (bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_boundaries_are_respected() {
        let finder =
            WordFinder::new([(0, "ad"), (1, "comment*"), (2, "*content*"), (3, "来源")].into_iter()).unwrap();
        assert_eq!(finder.find("header"), 0);
        assert_eq!(finder.find("top-ad_1"), 1);
        assert_eq!(finder.find("leftAd"), 1);
        assert_eq!(finder.find("Comments"), 2);
        assert_eq!(finder.find("nocomment"), 0);
        assert_eq!(finder.find("maincontents"), 4);
        assert_eq!(finder.find("文章来源:"), 8);
    }
}
