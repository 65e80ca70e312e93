//! Evaluation of word segmentation as in the SIGHAN bake-offs (Sproat & Emerson 2003): a word is correct if
//! both its boundaries are.
//!
//! ```
//! use pharos_text::segment::evaluation::SegmentationScore;
//!
//! let mut score = SegmentationScore::default();
//! score.add("研究 生命 起源".split_whitespace(), ["研究生", "命", "起源"], |word| word == "研究")?;
//! assert_eq!((score.precision(), score.recall()), (1.0 / 3.0, 1.0 / 3.0));
//! assert_eq!((score.known_recall(), score.unknown_recall()), (Some(0.0), Some(0.5)));
//! # Ok::<(), pharos_text::segment::evaluation::TextMismatch>(())
//! ```

/// Word counts over any number of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentationScore {
    lines: usize,
    found: usize,
    known: RecallCounts,
    unknown: RecallCounts,
}

/// Number of gold words and number of those that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RecallCounts {
    gold: usize,
    correct: usize,
}

/// Error: the gold line and the segmented line are different texts.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: the text differs from the gold text after {matching_bytes} bytes")]
pub struct TextMismatch {
    /// Line number, counted from 1.
    pub line: usize,
    /// Length of the common prefix in bytes, whitespace excluded.
    pub matching_bytes: usize,
}

impl SegmentationScore {
    /// Adds one line: its gold words and the words found by the segmenter. Whitespace around words is
    /// ignored.
    ///
    /// `is_known` returns `true` for words of the segmenter's word list or training corpus. Recall of the
    /// other words measures how well the segmenter handles new words.
    ///
    /// # Errors
    /// Fails if the texts differ. A rejected line changes only the number of lines.
    pub fn add<'g, 'f>(
        &mut self,
        gold: impl IntoIterator<Item = &'g str>,
        found: impl IntoIterator<Item = &'f str>,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<(), TextMismatch> {
        self.lines += 1;
        let word_spans = |words: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            let mut spans = Vec::new();
            for word in words.map(str::trim).filter(|word| !word.is_empty()) {
                let start = text.len();
                text.push_str(word);
                spans.push((start, text.len()));
            }
            (text, spans)
        };
        let (gold_text, gold_spans) = word_spans(&mut gold.into_iter());
        let (found_text, found_spans) = word_spans(&mut found.into_iter());
        if gold_text != found_text {
            let matching_bytes =
                gold_text.bytes().zip(found_text.bytes()).take_while(|(a, b)| a == b).count();
            return Err(TextMismatch { line: self.lines, matching_bytes });
        }
        self.found += found_spans.len();
        let mut candidates = found_spans.iter().peekable();
        for span in &gold_spans {
            while candidates.next_if(|candidate| candidate.0 < span.0).is_some() {}
            let recalled =
                if is_known(&gold_text[span.0..span.1]) { &mut self.known } else { &mut self.unknown };
            recalled.gold += 1;
            recalled.correct += usize::from(candidates.peek() == Some(&span));
        }
        Ok(())
    }

    /// Returns the number of lines added, rejected lines included.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Returns the number of words in the gold lines.
    pub fn gold_words(&self) -> usize {
        self.known.gold + self.unknown.gold
    }

    /// Returns the number of words found that are words of the gold lines.
    pub fn correct_words(&self) -> usize {
        self.known.correct + self.unknown.correct
    }

    /// Returns the share of the words found that is correct (查准率); 1 if there are none.
    pub fn precision(&self) -> f64 {
        share(self.correct_words(), self.found).unwrap_or(1.0)
    }

    /// Returns the share of the gold words that is found (查全率); 1 if there are none.
    pub fn recall(&self) -> f64 {
        share(self.correct_words(), self.gold_words()).unwrap_or(1.0)
    }

    /// Returns the harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        share(2 * self.correct_words(), self.gold_words() + self.found).unwrap_or(1.0)
    }

    /// Returns the share of the gold words that is unknown (OOV rate); `None` without gold words.
    pub fn unknown_rate(&self) -> Option<f64> {
        share(self.unknown.gold, self.gold_words())
    }

    /// Returns the recall of known words; `None` if there are none.
    pub fn known_recall(&self) -> Option<f64> {
        share(self.known.correct, self.known.gold)
    }

    /// Returns the recall of unknown words (OOV recall, 未登录词召回率); `None` if there are none.
    pub fn unknown_recall(&self) -> Option<f64> {
        share(self.unknown.correct, self.unknown.gold)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn boundaries_decide_and_not_the_words() {
        let mut score = SegmentationScore::default();
        // The second 的 has another position than the gold one: the words are equal, but the result is wrong.
        score.add(["的", "的确", "好"], ["的", "的", "确", "好"], |word| word != "好").unwrap();
        assert_eq!((score.gold_words(), score.found, score.correct_words()), (3, 4, 2));
        assert_eq!((score.precision(), score.recall(), score.f1()), (0.5, 2.0 / 3.0, 4.0 / 7.0));
        assert_eq!((score.known_recall(), score.unknown_recall()), (Some(0.5), Some(1.0)));
        assert_eq!(score.unknown_rate(), Some(1.0 / 3.0));
    }

    #[test]
    fn a_different_text_is_rejected_with_its_line() {
        let mut score = SegmentationScore::default();
        score.add(["一", "二"], ["一", " ", "二"], |_| true).unwrap();
        let error = score.add(["一", "二"], ["一", "三"], |_| true).unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.to_string().starts_with("line 2: the text differs"));
        assert_eq!((score.gold_words(), score.f1()), (2, 1.0));
    }

    #[test]
    fn nothing_is_perfect() {
        let mut score = SegmentationScore::default();
        score.add([], [], |_| true).unwrap();
        assert_eq!((score.f1(), score.precision(), score.unknown_recall()), (1.0, 1.0, None));
    }

    proptest! {
        #[test]
        fn equal_segmentations_are_perfect_and_figures_stay_in_bounds(gold in "[一二三 ]{0,30}", other in "[ ]{0,3}") {
            let mut score = SegmentationScore::default();
            score.add(gold.split_whitespace(), gold.split_whitespace(), |word| word.len() > 3).unwrap();
            prop_assert_eq!(score.f1(), 1.0);
            let joined: String = gold.split_whitespace().collect();
            score.add(gold.split_whitespace(), [joined.as_str(), &other], |_| true).unwrap();
            prop_assert!((0.0..=1.0).contains(&score.f1()));
            prop_assert!(score.correct_words() <= score.found.min(score.gold_words()));
        }
    }
}
