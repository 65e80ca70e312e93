//! Duplicate detectors, one file each.

pub(super) mod digest;
pub(super) mod exact;
pub(super) mod i_match;
pub(super) mod keyword_digest;
pub(super) mod min_hash;
pub(super) mod segments;
pub(super) mod shingles;
pub(super) mod sim_hash;
pub(super) mod word_list;
