//! Keyword selection (DocView, 《搜索引擎——原理、技术与系统》§7.1).

use pharos_core::WeightedTerm;

/// Selection strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KeywordSelection {
    /// The given number of terms with the highest weights (绝对选取, α).
    Absolute(usize),
    /// All terms above the given multiple of the average weight (相对选取, β).
    Relative(f32),
}

/// Selects from `terms`, which are sorted by descending weight.
pub(crate) fn select_terms(terms: &[WeightedTerm], choice: KeywordSelection) -> &[WeightedTerm] {
    let chosen = match choice {
        KeywordSelection::Absolute(count) => count.min(terms.len()),
        KeywordSelection::Relative(factor) => {
            let average = terms.iter().map(|t| t.weight).sum::<f32>() / terms.len().max(1) as f32;
            terms.partition_point(|t| t.weight > average * factor)
        }
    };
    &terms[..chosen]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_to_choose() {
        let terms: Vec<WeightedTerm> =
            [0.8, 0.4, 0.2, 0.2].map(|weight| WeightedTerm { term: "x".into(), weight }).to_vec();
        assert_eq!(select_terms(&terms, KeywordSelection::Absolute(3)).len(), 3);
        assert_eq!(select_terms(&terms, KeywordSelection::Absolute(9)).len(), 4);
        assert_eq!(select_terms(&terms, KeywordSelection::Relative(1.5)).len(), 1, "the average is 0.4");
        assert_eq!(select_terms(&terms, KeywordSelection::Relative(0.9)).len(), 2);
        assert!(select_terms(&[], KeywordSelection::Relative(1.0)).is_empty());
    }
}
