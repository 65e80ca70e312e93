//! Repeatable random choices.

/// A sequence of pseudo-random numbers (SplitMix64: Steele, Lea and Flood 2014). The same seed and text give the same
/// sequence on every machine.
pub(super) struct SeededChoice(u64);

impl SeededChoice {
    /// Starts a sequence for a text, such as a URL.
    pub(super) fn new(seed: u64, text: &str) -> Self {
        // FNV-1a.
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(text.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, fold))
    }

    /// Returns the next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `limit`; 0 if `limit` is 0.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        let limit = limit as u64;
        // Less than `limit`, which came from a `usize`.
        if limit == 0 { 0 } else { (self.next() % limit) as usize }
    }

    /// Returns a number from 0 up to, but not including, 1.
    pub(super) fn fraction(&mut self) -> f64 {
        // The upper 53 bits, as many as the fraction of a double has.
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns one of the items.
    pub(super) fn one_of<'i, T>(&mut self, items: &'i [T]) -> Option<&'i T> {
        items.get(self.below(items.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_repeatable_and_spread() {
        let numbers = |seed: u64, text: &str| {
            let mut choice = SeededChoice::new(seed, text);
            [choice.below(100), choice.below(100), choice.below(100)]
        };
        assert_eq!(numbers(1, "a"), numbers(1, "a"));
        assert_ne!(numbers(1, "a"), numbers(2, "a"));
        assert_ne!(numbers(1, "a"), numbers(1, "b"));
        let mut choice = SeededChoice::new(1, "");
        let mut counts = [0; 10];
        (0..10_000).for_each(|_| counts[choice.below(10)] += 1);
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
        assert!((0..1_000).map(|_| choice.fraction()).all(|fraction| (0.0..1.0).contains(&fraction)));
        assert_eq!((choice.below(0), choice.one_of::<u8>(&[])), (0, None));
    }
}
