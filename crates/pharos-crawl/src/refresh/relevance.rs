//! Relevance of a page to the words that users search for (a refresh strategy based on the Poisson process, §4).

/// Weight of each part of a page (tag) in the relevance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TagWeights {
    pub title: f64,
    pub anchor: f64,
    pub text: f64,
}

/// The title counts most, then the anchor text; the values are ours, as the source gives none.
impl Default for TagWeights {
    fn default() -> Self {
        Self { title: 3.0, anchor: 2.0, text: 1.0 }
    }
}

/// Numbers of popular query words (流行查询词) in the parts of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HotWordCounts {
    pub title: u32,
    pub anchor: u32,
    pub text: u32,
}

/// Returns the relevance of a page: the hot words of each part times the weight of the part, times the weight of its home
/// page (formula 2 of the source).
pub fn relevance(words: HotWordCounts, tags: &TagWeights, home_page: f64) -> f64 {
    let HotWordCounts { title, anchor, text } = words;
    let counts = [(title, tags.title), (anchor, tags.anchor), (text, tags.text)];
    counts.iter().map(|(count, weight)| f64::from(*count) * weight).sum::<f64>() * home_page
}

/// Returns the weight of a page from its relevance: home-page weight plus relevance.
///
/// The product of formula 2 is zero for a page without hot words, although its source says that authority alone makes a
/// page relevant; the sum keeps a floor for such pages.
pub fn relevance_weight(words: HotWordCounts, tags: &TagWeights, home_page: f64) -> f64 {
    home_page + relevance(words, tags, home_page)
}

/// Converts a relevance to a probability, Rel/(Rel + k): a page is half as relevant as possible at k. The changes of a
/// page that users care about are then again a Poisson process, with the rate pλ (thinning).
pub fn relevance_probability(relevance: f64, half: f64) -> f64 {
    if relevance > 0.0 && half > 0.0 { relevance / (relevance + half) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_words_count_by_part_and_home_page() {
        let tags = TagWeights { title: 3.0, anchor: 2.0, text: 1.0 };
        let words = HotWordCounts { title: 2, anchor: 1, text: 0 };
        assert_eq!(relevance(words, &tags, 2.0), 16.0);
    }

    #[test]
    fn an_authority_page_without_a_hot_word_keeps_its_weight() {
        let (none, tags) = (HotWordCounts::default(), TagWeights::default());
        assert_eq!(relevance(none, &tags, 5.0), 0.0);
        assert_eq!(relevance_weight(none, &tags, 5.0), 5.0);
        assert!(relevance_weight(none, &tags, 5.0) > relevance_weight(none, &tags, 1.0));
    }

    #[test]
    fn a_probability_is_bounded() {
        assert_eq!(relevance_probability(4.0, 4.0), 0.5);
        assert_eq!((relevance_probability(0.0, 4.0), relevance_probability(-1.0, 4.0)), (0.0, 0.0));
        assert!(relevance_probability(1e12, 4.0) < 1.0);
    }
}
