//! Segmented text for training.

use crate::analyser::normalise::NormalisedText;

/// Manually segmented sentences, normalised like all texts.
#[derive(Default)]
pub struct Corpus {
    text: String,
    /// Ends of the words in `text`.
    word_ends: Vec<usize>,
    /// Number of words up to the end of each sentence.
    sentence_ends: Vec<usize>,
    lines: usize,
    form: Option<CorpusFormat>,
}

/// The format of a corpus, determined by its first non-empty line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CorpusFormat {
    /// Separated by whitespace.
    Plain,
    /// As in the People's Daily corpus: every word with a tag, `新/a  世纪/n`.
    Tagged,
}

/// Error: an invalid line of a corpus.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {word:?} has no tag, unlike the words before it")]
pub struct CorpusError {
    /// Line number, counted from 1.
    pub line: usize,
    /// The word, truncated if it is long.
    pub word: String,
}

/// Maximum number of characters of a word in an error.
const SHOWN_CHARS: usize = 40;

impl Corpus {
    /// Adds one line of words separated by whitespace, either all tagged (`word/tag`, compounds in brackets,
    /// `[中央/n 电视台/n]nt`) or all untagged.
    ///
    /// A rejected line changes only the line number.
    pub fn add_line(&mut self, line: &str) -> Result<(), CorpusError> {
        self.lines += 1;
        let mut words = Vec::new();
        for (place, word) in line.trim_start_matches('\u{FEFF}').split_whitespace().enumerate() {
            let form = *self.form.get_or_insert(if without_tag(word).is_some() {
                CorpusFormat::Tagged
            } else {
                CorpusFormat::Plain
            });
            match (form, without_tag(word)) {
                (CorpusFormat::Plain, _) => words.push(word),
                (CorpusFormat::Tagged, Some(word)) if place == 0 && is_article_number(word) => {}
                (CorpusFormat::Tagged, Some(word)) => words.push(word),
                (CorpusFormat::Tagged, None) => {
                    return Err(CorpusError {
                        line: self.lines,
                        word: word.chars().take(SHOWN_CHARS).collect(),
                    });
                }
            }
        }
        self.add_sentence(words);
        Ok(())
    }

    /// Adds one sentence, word by word.
    pub fn add_sentence<'a>(&mut self, words: impl IntoIterator<Item = &'a str>) {
        for word in words {
            let before = self.text.len();
            self.text.extend(NormalisedText::new(word).text().chars().filter(|c| !c.is_whitespace()));
            if self.text.len() > before {
                self.word_ends.push(self.text.len());
            }
        }
        if self.sentence_ends.last().copied().unwrap_or(0) < self.word_ends.len() {
            self.sentence_ends.push(self.word_ends.len());
        }
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.word_ends.len()
    }

    /// Returns `true` if the corpus has no words.
    pub fn is_empty(&self) -> bool {
        self.word_ends.is_empty()
    }

    /// Returns the sentences, each as its normalised words.
    pub fn sentences(&self) -> impl Iterator<Item = impl Iterator<Item = &str>> {
        (0..self.sentence_ends.len()).map(|sentence| {
            let first = if sentence == 0 { 0 } else { self.sentence_ends[sentence - 1] };
            (first..self.sentence_ends[sentence]).map(|word| {
                let start = if word == 0 { 0 } else { self.word_ends[word - 1] };
                &self.text[start..self.word_ends[word]]
            })
        })
    }

    /// Returns the concatenated text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the word of `word/tag`, `[word/tag` or `word/tag]tag`.
fn without_tag(word: &str) -> Option<&str> {
    let (mut text, mut tag) = word.rsplit_once('/')?;
    if let Some((inner, outer)) = tag.split_once(']') {
        if !outer.chars().all(|c| c.is_ascii_alphanumeric()) {
            return None;
        }
        tag = inner;
    }
    if text.len() > 1 {
        text = text.strip_prefix('[').unwrap_or(text);
    }
    let is_tag = !tag.is_empty() && tag.chars().all(|c| c.is_ascii_alphanumeric());
    (is_tag && !text.is_empty()).then_some(text)
}

/// Returns `true` for `19980101-01-001-002`, the line prefix of some editions of the People's Daily.
fn is_article_number(word: &str) -> bool {
    word.len() == 19 && word.split('-').map(str::len).eq([8, 2, 3, 3])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sentences(corpus: &Corpus) -> Vec<String> {
        corpus.sentences().map(|words| words.collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn both_forms_are_read() {
        let mut tagged = Corpus::default();
        tagged.add_line("19980101-01-001-001/m  [中央/n  电视台/n]nt  １２月/t  [/w  A／Ｂ/nx").unwrap();
        tagged.add_line("").unwrap();
        tagged.add_line("//w ]/w").unwrap();
        assert_eq!(sentences(&tagged), ["中央 电视台 12月 [ a/b", "/ ]"]);
        let error = tagged.add_line("新/a 世纪").unwrap_err();
        assert_eq!(error.to_string(), "line 4: \"世纪\" has no tag, unlike the words before it");
        assert_eq!(tagged.len(), 7);

        let mut plain = Corpus::default();
        plain.add_line("\u{FEFF}新　世纪  km/h\u{3000}").unwrap();
        assert_eq!(sentences(&plain), ["新 世纪 km/h"]);
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(lines in prop::collection::vec("[a字/ \\[\\]\u{3000}-]{0,12}|\\PC{0,20}", 0..4)) {
            let mut corpus = Corpus::default();
            for line in &lines {
                let _ = corpus.add_line(line);
            }
            prop_assert_eq!(corpus.sentences().flatten().count(), corpus.len());
            prop_assert!(corpus.sentences().flatten().all(|word| !word.is_empty()));
        }
    }
}
