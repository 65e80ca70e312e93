//! Segmented text to learn from.

use crate::normalise::Normalised;

/// Sentences cut into words by people, normalised as every text that will be cut.
#[derive(Default)]
pub struct Corpus {
    text: String,
    /// Where words end in `text`.
    word_ends: Vec<usize>,
    /// How many words there are up to the end of each sentence.
    sentence_ends: Vec<usize>,
    lines: usize,
    form: Option<Form>,
}

/// How a corpus writes its words; its first line that has any tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Separated by white space.
    Plain,
    /// As in the corpus of People's Daily: every word with a tag, `新/a  世纪/n`.
    Tagged,
}

/// A line of a corpus that cannot be understood.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {word:?} has no tag, unlike the words before it")]
pub struct CorpusError {
    /// Number of the line, from one.
    pub line: usize,
    /// The word, cut off where it is long.
    pub word: String,
}

/// What an error shows of a word.
const SHOWN_CHARS: usize = 40;

impl Corpus {
    /// Adds one line: words separated by white space, all of them tagged (`word/tag`, compounds in brackets,
    /// `[中央/n 电视台/n]nt`) or none.
    ///
    /// A line that is refused leaves no trace but its number.
    pub fn add_line(&mut self, line: &str) -> Result<(), CorpusError> {
        self.lines += 1;
        let mut words = Vec::new();
        for (place, word) in line.trim_start_matches('\u{FEFF}').split_whitespace().enumerate() {
            let form = *self.form.get_or_insert(if without_tag(word).is_some() {
                Form::Tagged
            } else {
                Form::Plain
            });
            match (form, without_tag(word)) {
                (Form::Plain, _) => words.push(word),
                (Form::Tagged, Some(word)) if place == 0 && is_article_number(word) => {}
                (Form::Tagged, Some(word)) => words.push(word),
                (Form::Tagged, None) => {
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
            self.text.extend(Normalised::of(word).text().chars().filter(|c| !c.is_whitespace()));
            if self.text.len() > before {
                self.word_ends.push(self.text.len());
            }
        }
        if self.sentence_ends.last().copied().unwrap_or(0) < self.word_ends.len() {
            self.sentence_ends.push(self.word_ends.len());
        }
    }

    /// How many words it has.
    pub fn len(&self) -> usize {
        self.word_ends.len()
    }

    /// Is there nothing to learn from?
    pub fn is_empty(&self) -> bool {
        self.word_ends.is_empty()
    }

    /// The sentences, each as its words in normal form.
    pub fn sentences(&self) -> impl Iterator<Item = impl Iterator<Item = &str>> {
        (0..self.sentence_ends.len()).map(|sentence| {
            let first = if sentence == 0 { 0 } else { self.sentence_ends[sentence - 1] };
            (first..self.sentence_ends[sentence]).map(|word| {
                let start = if word == 0 { 0 } else { self.word_ends[word - 1] };
                &self.text[start..self.word_ends[word]]
            })
        })
    }

    /// All text, without borders.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// The word of `word/tag`, `[word/tag` or `word/tag]tag`.
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

/// `19980101-01-001-002`: what the lines of People's Daily begin with in some editions.
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
