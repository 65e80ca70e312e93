//! How well a text was cut, measured as in the SIGHAN bake-offs (Sproat and Emerson 2003): a word is right if
//! both its borders are.
//!
//! ```
//! use pharos_text::evaluate::Score;
//!
//! let mut score = Score::default();
//! score.add("研究 生命 起源".split_whitespace(), ["研究生", "命", "起源"], |word| word == "研究")?;
//! assert_eq!((score.precision(), score.recall()), (1.0 / 3.0, 1.0 / 3.0));
//! assert_eq!((score.known_recall(), score.unknown_recall()), (Some(0.0), Some(0.5)));
//! # Ok::<(), pharos_text::evaluate::LinesDiffer>(())
//! ```

/// Counts of words over any number of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    lines: usize,
    found: usize,
    known: Recalled,
    unknown: Recalled,
}

/// Words of the gold cut, and how many of them were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Recalled {
    gold: usize,
    right: usize,
}

/// The gold line and the cut one are not the same text.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: the text differs from the gold text after {same} bytes")]
pub struct LinesDiffer {
    /// Number of the line, from one.
    pub line: usize,
    /// How many bytes are the same, white space not counted.
    pub same: usize,
}

impl Score {
    /// Adds one line: its words as they should be, and as they were found. White space around words does not
    /// count.
    ///
    /// `is_known` tells the words that the method could have known, its word list or training corpus: how many
    /// of the others are found shows what it makes of new words.
    ///
    /// A line that is refused changes nothing but the number of lines.
    pub fn add<'g, 'f>(
        &mut self,
        gold: impl IntoIterator<Item = &'g str>,
        found: impl IntoIterator<Item = &'f str>,
        is_known: impl Fn(&str) -> bool,
    ) -> Result<(), LinesDiffer> {
        self.lines += 1;
        let words_of = |words: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            let mut spans = Vec::new();
            for word in words.map(str::trim).filter(|word| !word.is_empty()) {
                let start = text.len();
                text.push_str(word);
                spans.push((start, text.len()));
            }
            (text, spans)
        };
        let (gold_text, gold_spans) = words_of(&mut gold.into_iter());
        let (found_text, found_spans) = words_of(&mut found.into_iter());
        if gold_text != found_text {
            let same = gold_text.bytes().zip(found_text.bytes()).take_while(|(a, b)| a == b).count();
            return Err(LinesDiffer { line: self.lines, same });
        }
        self.found += found_spans.len();
        let mut candidates = found_spans.iter().peekable();
        for span in &gold_spans {
            while candidates.next_if(|candidate| candidate.0 < span.0).is_some() {}
            let recalled =
                if is_known(&gold_text[span.0..span.1]) { &mut self.known } else { &mut self.unknown };
            recalled.gold += 1;
            recalled.right += usize::from(candidates.peek() == Some(&span));
        }
        Ok(())
    }

    /// Lines added, those refused included.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Words of the gold lines.
    pub fn gold_words(&self) -> usize {
        self.known.gold + self.unknown.gold
    }

    /// Words found.
    pub fn found_words(&self) -> usize {
        self.found
    }

    /// Words found that are words of the gold lines.
    pub fn right_words(&self) -> usize {
        self.known.right + self.unknown.right
    }

    /// Which part of the words found is right (查准率); 1 if there are none.
    pub fn precision(&self) -> f64 {
        share(self.right_words(), self.found).unwrap_or(1.0)
    }

    /// Which part of the gold words is found (查全率); 1 if there are none.
    pub fn recall(&self) -> f64 {
        share(self.right_words(), self.gold_words()).unwrap_or(1.0)
    }

    /// Harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        share(2 * self.right_words(), self.gold_words() + self.found).unwrap_or(1.0)
    }

    /// Which part of the gold words is unknown (OOV rate); `None` without gold words.
    pub fn unknown_rate(&self) -> Option<f64> {
        share(self.unknown.gold, self.gold_words())
    }

    /// Recall of known words; `None` if there are none.
    pub fn known_recall(&self) -> Option<f64> {
        share(self.known.right, self.known.gold)
    }

    /// Recall of unknown words (OOV recall, 未登录词召回率); `None` if there are none.
    pub fn unknown_recall(&self) -> Option<f64> {
        share(self.unknown.right, self.unknown.gold)
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
    fn borders_decide_and_not_the_words() {
        let mut score = Score::default();
        // The second 的 stands elsewhere than the gold one: equal as a word, and wrong.
        score.add(["的", "的确", "好"], ["的", "的", "确", "好"], |word| word != "好").unwrap();
        assert_eq!((score.gold_words(), score.found_words(), score.right_words()), (3, 4, 2));
        assert_eq!((score.precision(), score.recall(), score.f1()), (0.5, 2.0 / 3.0, 4.0 / 7.0));
        assert_eq!((score.known_recall(), score.unknown_recall()), (Some(0.5), Some(1.0)));
        assert_eq!(score.unknown_rate(), Some(1.0 / 3.0));
    }

    #[test]
    fn another_text_is_refused_by_its_line() {
        let mut score = Score::default();
        score.add(["一", "二"], ["一", " ", "二"], |_| true).unwrap();
        let error = score.add(["一", "二"], ["一", "三"], |_| true).unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.to_string().starts_with("line 2: the text differs"));
        assert_eq!((score.gold_words(), score.f1()), (2, 1.0));
    }

    #[test]
    fn nothing_is_perfect() {
        let mut score = Score::default();
        score.add([], [], |_| true).unwrap();
        assert_eq!((score.f1(), score.precision(), score.unknown_recall()), (1.0, 1.0, None));
    }

    proptest! {
        #[test]
        fn the_same_cut_is_perfect_and_figures_stay_in_bounds(gold in "[一二三 ]{0,30}", other in "[ ]{0,3}") {
            let mut score = Score::default();
            score.add(gold.split_whitespace(), gold.split_whitespace(), |word| word.len() > 3).unwrap();
            prop_assert_eq!(score.f1(), 1.0);
            let joined: String = gold.split_whitespace().collect();
            score.add(gold.split_whitespace(), [joined.as_str(), &other], |_| true).unwrap();
            prop_assert!((0.0..=1.0).contains(&score.f1()));
            prop_assert!(score.right_words() <= score.found_words().min(score.gold_words()));
        }
    }
}
