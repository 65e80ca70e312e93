//! The vocabulary as a text file.
//!
//! A line is `word`, or `word`, kind, frequency and source separated by tabs; trailing columns may be
//! omitted. Lines that begin with `#` are comments.

use std::fmt::{self, Write};

use super::{MAX_WORD_BYTES, MAX_WORDS, Vocabulary, VocabularyWord, WordError};
use crate::dictionary::Dictionary;

/// Maximum size of the file in bytes.
pub const MAX_FILE_BYTES: usize = 64 << 20;
/// Maximum number of invalid lines that are reported individually. The others are counted.
pub const MAX_PROBLEMS: usize = 1000;

pub(super) const HEADER: &str = "# The words of this installation: word, kind (base or extension), frequency, source; tabs between\n\
     # them; the word alone is enough. Lines with this sign are comments.\n";

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VocabularyProblem {
    /// Counted from 1.
    pub line: usize,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for VocabularyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Vocabulary {
    /// Parses a vocabulary file. Invalid lines are reported and skipped. `normalise` converts words to the
    /// form in which texts are compared.
    pub fn parse(
        text: &str,
        base: &'static Dictionary,
        normalise: &dyn Fn(&str) -> String,
    ) -> (Self, Vec<VocabularyProblem>) {
        let mut words = Self::new(base);
        let mut problems = Vec::new();
        let mut unreported = 0;
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let mut read = 0;
        for (nth, line) in text.split_inclusive('\n').enumerate() {
            read += line.len();
            let result = if read > MAX_FILE_BYTES {
                Err(format!("the file is larger than {MAX_FILE_BYTES} bytes; the rest was ignored"))
            } else {
                words.parse_line(line, normalise)
            };
            let Err(message) = result else { continue };
            if problems.len() < MAX_PROBLEMS {
                problems.push(VocabularyProblem { line: nth + 1, message });
            } else {
                unreported += 1;
            }
            if read > MAX_FILE_BYTES || words.len() == MAX_WORDS {
                break;
            }
        }
        if unreported > 0 {
            let line = problems.last().map_or(0, |last| last.line);
            problems.push(VocabularyProblem {
                line,
                message: format!("{unreported} more invalid lines after this one"),
            });
        }
        (words, problems)
    }

    fn parse_line(&mut self, line: &str, normalise: &dyn Fn(&str) -> String) -> Result<(), String> {
        let line = line.trim_end_matches(['\n', '\r']);
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let mut columns = line.split('\t').map(str::trim);
        let written = columns.next().unwrap_or_default();
        let [kind, frequency, source] = std::array::from_fn(|_| columns.next().unwrap_or_default());
        if columns.next().is_some() {
            return Err("more than four columns".to_string());
        }
        self.parse_word(written, kind, frequency, source, normalise).map_err(|error| {
            let shown = &written[..written.floor_char_boundary(MAX_WORD_BYTES)];
            format!("`{}`: {error}", shown.escape_debug())
        })
    }

    fn parse_word(
        &mut self,
        written: &str,
        kind: &str,
        frequency: &str,
        source: &str,
        normalise: &dyn Fn(&str) -> String,
    ) -> Result<(), WordError> {
        // Checked before normalisation too: it may drop characters that must be reported, and it takes time.
        super::check_word(&written[..written.floor_char_boundary(MAX_WORD_BYTES)])?;
        if written.len() > 4 * MAX_WORD_BYTES {
            return Err(WordError::TooLong(MAX_WORD_BYTES));
        }
        let kind = if kind.is_empty() { None } else { Some(kind.parse()?) };
        let frequency = match frequency {
            "" => None,
            digits => Some(digits.parse().map_err(|_| WordError::InvalidFrequency)?),
        };
        self.add(&normalise(written), kind, frequency, source)?;
        Ok(())
    }

    /// Returns the file content, one word per line in code point order. Equal vocabularies give equal files.
    pub fn to_text(&self) -> String {
        let mut text = HEADER.to_string();
        for (word, known) in self.iter() {
            write_line(&mut text, word, known);
        }
        text
    }
}

pub(super) fn write_line(text: &mut String, word: &str, known: &VocabularyWord) {
    // A word may begin with `#`, which marks a comment only at the beginning of a line.
    let indent = if word.starts_with('#') { " " } else { "" };
    // Writing to a string cannot fail.
    let _ = write!(text, "{indent}{word}\t{}\t{}", known.kind, known.frequency);
    if !known.source.is_empty() {
        let _ = write!(text, "\t{}", known.source);
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vocabulary::WordKind;

    fn parse(text: &str) -> (Vocabulary, Vec<VocabularyProblem>) {
        Vocabulary::parse(text, Dictionary::base(), &|word| word.to_lowercase())
    }

    #[test]
    fn a_file_written_by_hand_is_read() {
        let (words, problems) =
            parse("\u{FEFF}# our words\r\n爱心社\r\n\n  X光社 \tbase\t12\tschool paper\n灯塔搜索引擎\t\t3\n");
        assert_eq!(problems, []);
        assert_eq!(
            words.iter().map(|(word, _)| word).collect::<Vec<_>>(),
            ["x光社", "灯塔搜索引擎", "爱心社"]
        );
        let known = words.get("x光社").unwrap();
        assert_eq!((known.kind, known.frequency, &*known.source), (WordKind::Base, 12, "school paper"));
        assert_eq!(
            words.get("灯塔搜索引擎").map(|known| (known.kind, known.frequency)),
            Some((WordKind::Extension, 3))
        );
    }

    #[test]
    fn bad_lines_are_reported_with_their_numbers_and_skipped() {
        let (words, problems) = parse(
            "中国\n爱心社\nx\tnoun\n爱心社\nx\tbase\tmany\nx\tbase\t0\nx\tbase\t1\ts\tt\n爱 心\n\u{7}\n\u{FFFD}\n搜虎\n",
        );
        assert_eq!(words.len(), 2);
        assert_eq!(problems.iter().map(|p| p.line).collect::<Vec<_>>(), [1, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!(problems[0].to_string(), "line 1: `中国`: already a word of the base dictionary");
        assert_eq!(problems[5].message, "more than four columns");

        let (words, problems) = parse(&"中国\n".repeat(2 * MAX_PROBLEMS));
        assert_eq!((words.len(), problems.len()), (0, MAX_PROBLEMS + 1));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_and_valid_lines_round_trip(text in "([爱心社#A\\-\u{7}\u{3000} ]{0,6}(\t(base|extension|x|)(\t[0-9x]{0,3}(\t[a-z\u{85} ]{0,4})?)?)?\r?\n){0,9}|(?s).{0,80}") {
            let (words, _) = parse(&text);
            let written = words.to_text();
            let (again, problems) = parse(&written);
            prop_assert_eq!(problems, []);
            prop_assert_eq!(again.to_text(), written);
            prop_assert_eq!(again.version(), words.version());
        }
    }
}
