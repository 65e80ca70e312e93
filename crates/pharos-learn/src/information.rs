//! Information of a probability distribution.

/// Returns the entropy −Σ p log₂ p in bits (Shannon 1948; 《走进搜索引擎》§5.1.1). Values outside (0, 1) add nothing.
pub fn entropy(probabilities: &[f64]) -> f64 {
    probabilities.iter().filter(|&&p| p > 0.0 && p < 1.0).map(|p| -p * p.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_equally_likely_events_have_two_bits() {
        assert_eq!(entropy(&[0.25; 4]), 2.0);
        assert_eq!(entropy(&[1.0, 0.0]), 0.0);
        assert_eq!(entropy(&[f64::NAN]), 0.0);
    }
}
