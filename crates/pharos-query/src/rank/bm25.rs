//! Okapi BM25 with all parameters (《走进搜索引擎》§7.2.1; Robertson & Spärck Jones 1976, Robertson & Walker 1994).

/// The BM25 parameters, by their names in the literature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bm25 {
    /// Saturation of the term frequency; 0 ignores it.
    pub(crate) k1: f64,
    /// Length normalisation.
    pub(crate) b: f64,
    /// Length correction independent of terms; usually 0.
    pub(crate) k2: f64,
    /// Saturation of the query term frequency.
    pub(crate) k3: f64,
}

/// The collection statistics of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WordStatistics {
    /// Number of pages (N).
    pub(crate) pages: f64,
    /// Number of pages with the word (n).
    pub(crate) with_word: f64,
    /// Number of known relevant pages (R).
    pub(crate) relevant: f64,
    /// Number of known relevant pages with the word (r).
    pub(crate) relevant_with_word: f64,
}

impl WordStatistics {
    pub(crate) fn new(pages: f64, with_word: f64) -> Self {
        Self { pages, with_word, ..Self::default() }
    }

    /// Returns the relevance weight W⁽¹⁾; without relevance information ln((N−n+0.5)/(n+0.5)).
    pub(crate) fn relevance_weight(&self) -> f64 {
        let Self { pages, with_word: n, relevant, relevant_with_word: r } = *self;
        // Hidden pages are counted, so n may exceed N.
        let n = n.min(pages);
        let without = (pages - n - relevant + r).max(0.0);
        ((r + 0.5) / (relevant - r + 0.5) / ((n - r).max(0.0) + 0.5) * (without + 0.5)).ln()
    }

    /// Returns the non-negative weight ln(1 + e^w), so that very frequent words still count a little.
    pub(crate) fn weight(&self) -> f64 {
        let weight = self.relevance_weight();
        if weight > 30.0 { weight } else { weight.exp().ln_1p() }
    }
}

impl Bm25 {
    /// Returns the saturated term frequency (tf) for a page of relative length dl/avdl; less than k1 + 1.
    pub(crate) fn term_frequency_factor(&self, times: f64, length: f64) -> f64 {
        if times <= 0.0 {
            return 0.0;
        }
        let k = self.k1 * ((1.0 - self.b) + self.b * length);
        (self.k1 + 1.0) * times / (k + times)
    }

    /// Returns the saturated query term frequency (qtf).
    pub(crate) fn query_frequency_factor(&self, times: f64) -> f64 {
        (self.k3 + 1.0) * times / (self.k3 + times)
    }

    /// Returns the length correction for a query of `words` words.
    pub(crate) fn length_correction(&self, words: usize, length: f64) -> f64 {
        self.k2 * words as f64 * (1.0 - length) / (1.0 + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANDARD: Bm25 = Bm25 { k1: 1.2, b: 0.75, k2: 0.0, k3: 8.0 };

    #[test]
    fn without_feedback_it_is_the_usual_weight() {
        let weight = WordStatistics::new(1000.0, 20.0).relevance_weight();
        assert!((weight - ((1000.0 - 20.0 + 0.5) / (20.0 + 0.5_f64)).ln()).abs() < 1e-12);
        assert!((WordStatistics::new(1000.0, 20.0).weight() - weight).abs() < 0.03);
        assert!(
            WordStatistics::new(10.0, 9.0).relevance_weight() < 0.0
                && WordStatistics::new(10.0, 9.0).weight() > 0.0
        );
        assert!(WordStatistics::new(10.0, 50.0).weight().is_finite(), "hidden pages are counted, too");
    }

    #[test]
    fn words_of_relevant_pages_weigh_more() {
        let known =
            WordStatistics { relevant: 5.0, relevant_with_word: 5.0, ..WordStatistics::new(1000.0, 20.0) };
        assert!(known.relevance_weight() > WordStatistics::new(1000.0, 20.0).relevance_weight());
        let absent = WordStatistics { relevant: 5.0, ..WordStatistics::new(1000.0, 20.0) };
        assert!(absent.relevance_weight() < WordStatistics::new(1000.0, 20.0).relevance_weight());
    }

    #[test]
    fn with_k1_zero_frequency_has_no_effect() {
        let binary = Bm25 { k1: 0.0, ..STANDARD };
        assert_eq!(
            (binary.term_frequency_factor(1.0, 3.0), binary.term_frequency_factor(50.0, 0.1)),
            (1.0, 1.0)
        );
        assert_eq!(binary.term_frequency_factor(0.0, 1.0), 0.0);
    }

    #[test]
    fn repetition_and_length_are_bounded() {
        assert!(STANDARD.term_frequency_factor(1e9, 1.0) <= 2.2);
        assert!(STANDARD.term_frequency_factor(3.0, 0.5) > STANDARD.term_frequency_factor(3.0, 2.0));
        assert_eq!(STANDARD.length_correction(3, 0.5), 0.0, "k2 = 0 is usual");
        assert!(Bm25 { k2: 1.0, ..STANDARD }.length_correction(3, 0.5) > 0.0);
        assert!(STANDARD.query_frequency_factor(2.0) < 2.0 && STANDARD.query_frequency_factor(1.0) == 1.0);
    }
}
