//! Which words stand for a page (DocView, B87).

use pharos_core::WeightedTerm;

/// How many words are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Choice {
    /// So many of the weightiest (绝对选取, α).
    Absolute(usize),
    /// All that weigh more than so many times the average (相对选取, β).
    Relative(f32),
}

/// The words chosen of `terms`, which are sorted.
pub(crate) fn choose(terms: &[WeightedTerm], choice: Choice) -> &[WeightedTerm] {
    let chosen = match choice {
        Choice::Absolute(count) => count.min(terms.len()),
        Choice::Relative(factor) => {
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
        assert_eq!(choose(&terms, Choice::Absolute(3)).len(), 3);
        assert_eq!(choose(&terms, Choice::Absolute(9)).len(), 4);
        assert_eq!(choose(&terms, Choice::Relative(1.5)).len(), 1, "the average is 0.4");
        assert_eq!(choose(&terms, Choice::Relative(0.9)).len(), 2);
        assert!(choose(&[], Choice::Relative(1.0)).is_empty());
    }
}
