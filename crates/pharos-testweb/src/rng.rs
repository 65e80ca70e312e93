//! Reproducible random numbers.
//!
//! The bytes of a page are a function of the seed and must not change when a dependency is updated. Therefore the
//! generator is implemented here: SplitMix64 (Steele, Lea & Flood 2014), one stream per purpose.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    /// Creates the stream of these numbers (the seed, a page, a purpose …).
    pub(crate) fn from_parts(parts: &[u64]) -> Rng {
        Rng(hash(parts))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Returns a uniform number in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a uniform number in `0..bound`; 0 if `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Returns a uniform number in `low..=high`.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns one of the items; the slice must not be empty.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Returns a rank in `0..count` by Zipf's law with exponent 1: P(r) = ln((r+2)/(r+1)) / ln(count+1) ≈ 1/(r+1).
    pub(crate) fn zipf(&mut self, count: usize) -> usize {
        let rank = (self.unit() * ((count + 1) as f64).ln()).exp() as usize;
        rank.clamp(1, count.max(1)) - 1
    }

    /// Returns the time until the next event of a Poisson process.
    pub(crate) fn exponential(&mut self, rate: f64) -> f64 {
        -(1.0 - self.unit()).ln() / rate
    }

    /// Returns exp(N(ln median, sigma)), by the Box–Muller method.
    pub(crate) fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.unit()).cos();
        median * (sigma * normal).exp()
    }
}

/// Returns a hash of these numbers and their order.
pub(crate) fn hash(parts: &[u64]) -> u64 {
    parts.iter().fold(0x5DEE_CE66_D1CE_4E5B, |state, &part| mix(state.rotate_left(17) ^ mix(part)))
}

/// Returns a hash of a text, for streams that are named rather than numbered.
pub(crate) fn hash_text(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

fn mix(mut word: u64) -> u64 {
    word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_numbers_give_the_same_stream() {
        let draw = |parts: &[u64]| {
            let mut rng = Rng::from_parts(parts);
            (rng.next(), rng.next())
        };
        assert_eq!(draw(&[7, 1]), draw(&[7, 1]));
        assert_ne!(draw(&[7, 1]), draw(&[1, 7]));
    }

    #[test]
    fn zipf_halves_from_the_first_rank_to_the_second() {
        let mut rng = Rng::from_parts(&[1]);
        let mut counts = [0usize; 1000];
        for _ in 0..200_000 {
            counts[rng.zipf(1000)] += 1;
        }
        let ratio = counts[0] as f64 / counts[1] as f64;
        assert!((1.5..2.0).contains(&ratio), "ln 2 / ln 1.5 is 1.71, got {ratio}");
        assert!(counts[999] < counts[9]);
    }

    #[test]
    fn exponential_and_log_normal_have_their_means() {
        let mut rng = Rng::from_parts(&[2]);
        let mean = (0..50_000).map(|_| rng.exponential(4.0)).sum::<f64>() / 50_000.0;
        assert!((mean - 0.25).abs() < 0.01, "{mean}");
        let mut lengths: Vec<f64> = (0..50_001).map(|_| rng.log_normal(300.0, 0.7)).collect();
        lengths.sort_by(f64::total_cmp);
        assert!((lengths[25_000] - 300.0).abs() < 10.0);
    }
}
