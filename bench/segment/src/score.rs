//! Precision and recall of words, as the SIGHAN bakeoffs count them.

/// What was right, line by line.
#[derive(Default)]
pub struct Score {
    gold: usize,
    found: usize,
    right: usize,
    unknown: usize,
    unknown_right: usize,
}

impl Score {
    /// Adds a line, given as ends of words. White space counts for nothing.
    pub fn add(&mut self, text: &str, gold: &[usize], found: &[usize], is_known: impl Fn(&str) -> bool) {
        let spans = |ends: &[usize]| -> Vec<(usize, usize)> {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            starts.zip(ends.iter().copied()).filter(|(s, e)| !text[*s..*e].trim().is_empty()).collect()
        };
        let (gold, found) = (spans(gold), spans(found));
        self.gold += gold.len();
        self.found += found.len();
        for span in gold {
            let right = usize::from(found.binary_search(&span).is_ok());
            let unknown = usize::from(!is_known(&text[span.0..span.1]));
            self.right += right;
            self.unknown += unknown;
            self.unknown_right += right * unknown;
        }
    }

    /// Of the words found, how many are right?
    pub fn precision(&self) -> f64 {
        ratio(self.right, self.found)
    }

    /// Of the right words, how many were found?
    pub fn recall(&self) -> f64 {
        ratio(self.right, self.gold)
    }

    /// The harmonic mean of both.
    pub fn f1(&self) -> f64 {
        ratio(2 * self.right, self.gold + self.found)
    }

    /// The recall of unknown words.
    pub fn unknown_recall(&self) -> f64 {
        ratio(self.unknown_right, self.unknown)
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
