//! The scores of four tags packed into one machine word and added in parallel.

use std::ops::Add;

use super::features::TAGS;
use super::model::{MAX_WEIGHT, TagWeights};

/// Four lanes of 16 bits, one per tag.
///
/// Weights are shifted to be non-negative. Sums then never carry into the next lane, as long as there are not
/// too many ([`MAX_WEIGHT`]). The shift is the same for all tags of an atom and does not change their order.
#[derive(Clone, Copy, Default)]
pub(super) struct Lanes(u64);

impl Lanes {
    /// Packs the weights of one row.
    pub(super) fn of_row(row: TagWeights) -> Self {
        let lane = |tag: usize| u64::from(row[tag].saturating_add(MAX_WEIGHT).max(0) as u16);
        Lanes((0..TAGS).fold(0, |all, tag| all | lane(tag) << (16 * tag)))
    }

    /// Packs four small weights encoded by [`shifted`].
    #[inline]
    pub(super) fn of_bytes(bytes: [u8; TAGS]) -> Self {
        let word = u64::from(u32::from_le_bytes(bytes));
        let pairs = (word | word << 16) & 0x0000_FFFF_0000_FFFF;
        Lanes((pairs | pairs << 8) & 0x00FF_00FF_00FF_00FF)
    }

    /// Returns the score of a tag.
    #[inline]
    pub(super) fn get(self, tag: usize) -> i64 {
        (self.0 >> (16 * tag) & 0xFFFF) as i64
    }
}

impl Add for Lanes {
    type Output = Lanes;

    #[inline]
    fn add(self, other: Lanes) -> Lanes {
        Lanes(self.0.wrapping_add(other.0))
    }
}

/// Encodes a small weight as a non-negative byte.
pub(super) fn shifted(weight: i8) -> u8 {
    (weight as u8) ^ 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_add_up_each_for_itself() {
        let small = Lanes::of_bytes([-128, -1, 0, 127].map(shifted));
        let large = Lanes::of_row([-MAX_WEIGHT, 0, 5, MAX_WEIGHT]);
        let sum = (0..6).fold(Lanes::default(), |sum, _| sum + large + small + small);
        let differences: Vec<i64> = (1..TAGS).map(|tag| sum.get(tag) - sum.get(0)).collect();
        let weight = i64::from(MAX_WEIGHT);
        assert_eq!(differences, [6 * (weight + 254), 6 * (weight + 5 + 256), 6 * (2 * weight + 510)]);
    }
}
