//! Okapi BM25 in full (《走进搜索引擎》 §7.2; Robertson & Spärck Jones 1976, Robertson & Walker 1994).

/// The parameters, by their names in the literature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bm25 {
    /// How soon more of a word adds no more; 0 counts only whether it is there.
    pub(crate) k1: f64,
    /// How much the length of a page counts.
    pub(crate) b: f64,
    /// How much the length of a page counts by itself; 0 is usual.
    pub(crate) k2: f64,
    /// How soon more of a word in the query adds no more.
    pub(crate) k3: f64,
}

/// What is known of a word in all pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Known {
    /// Pages (N).
    pub(crate) pages: f64,
    /// Pages with the word (n).
    pub(crate) with_word: f64,
    /// Pages known to be relevant (R).
    pub(crate) relevant: f64,
    /// Those of them with the word (r).
    pub(crate) relevant_with_word: f64,
}

impl Known {
    pub(crate) fn of(pages: f64, with_word: f64) -> Self {
        Self { pages, with_word, ..Self::default() }
    }

    /// The relevance weight W⁽¹⁾; without knowledge of relevant pages ln((N−n+0.5)/(n+0.5)).
    pub(crate) fn relevance_weight(&self) -> f64 {
        let Self { pages, with_word: n, relevant, relevant_with_word: r } = *self;
        // Pages that newer ones hide are counted: there may be more with the word than pages.
        let n = n.min(pages);
        let without = (pages - n - relevant + r).max(0.0);
        ((r + 0.5) / (relevant - r + 0.5) / ((n - r).max(0.0) + 0.5) * (without + 0.5)).ln()
    }

    /// The same, never negative: ln(1 + e^w). A word that most pages have still says a little.
    pub(crate) fn weight(&self) -> f64 {
        let weight = self.relevance_weight();
        if weight > 30.0 { weight } else { weight.exp().ln_1p() }
    }
}

impl Bm25 {
    /// What so many occurrences (tf) are worth in a page that is so long beside the mean (dl/avdl): below k1 + 1.
    pub(crate) fn saturated(&self, times: f64, length: f64) -> f64 {
        if times <= 0.0 {
            return 0.0;
        }
        let k = self.k1 * ((1.0 - self.b) + self.b * length);
        (self.k1 + 1.0) * times / (k + times)
    }

    /// What so many occurrences in the query (qtf) are worth.
    pub(crate) fn in_query(&self, times: f64) -> f64 {
        (self.k3 + 1.0) * times / (self.k3 + times)
    }

    /// What a length is worth by itself, for a query of so many words.
    pub(crate) fn of_length(&self, words: usize, length: f64) -> f64 {
        self.k2 * words as f64 * (1.0 - length) / (1.0 + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Bm25 = Bm25 { k1: 1.2, b: 0.75, k2: 0.0, k3: 8.0 };

    #[test]
    fn without_feedback_it_is_the_usual_weight() {
        let weight = Known::of(1000.0, 20.0).relevance_weight();
        assert!((weight - ((1000.0 - 20.0 + 0.5) / (20.0 + 0.5_f64)).ln()).abs() < 1e-12);
        assert!((Known::of(1000.0, 20.0).weight() - weight).abs() < 0.03);
        assert!(Known::of(10.0, 9.0).relevance_weight() < 0.0 && Known::of(10.0, 9.0).weight() > 0.0);
        assert!(Known::of(10.0, 50.0).weight().is_finite(), "hidden pages are counted, too");
    }

    #[test]
    fn words_of_relevant_pages_weigh_more() {
        let known = Known { relevant: 5.0, relevant_with_word: 5.0, ..Known::of(1000.0, 20.0) };
        assert!(known.relevance_weight() > Known::of(1000.0, 20.0).relevance_weight());
        let absent = Known { relevant: 5.0, ..Known::of(1000.0, 20.0) };
        assert!(absent.relevance_weight() < Known::of(1000.0, 20.0).relevance_weight());
    }

    #[test]
    fn with_k1_zero_frequency_has_no_effect() {
        let binary = Bm25 { k1: 0.0, ..USUAL };
        assert_eq!((binary.saturated(1.0, 3.0), binary.saturated(50.0, 0.1)), (1.0, 1.0));
        assert_eq!(binary.saturated(0.0, 1.0), 0.0);
    }

    #[test]
    fn repetition_and_length_are_bounded() {
        assert!(USUAL.saturated(1e9, 1.0) <= 2.2);
        assert!(USUAL.saturated(3.0, 0.5) > USUAL.saturated(3.0, 2.0));
        assert_eq!(USUAL.of_length(3, 0.5), 0.0, "k2 = 0 is usual");
        assert!(Bm25 { k2: 1.0, ..USUAL }.of_length(3, 0.5) > 0.0);
        assert!(USUAL.in_query(2.0) < 2.0 && USUAL.in_query(1.0) == 1.0);
    }
}
