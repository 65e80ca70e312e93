//! Positions in the library: the common order of all stores.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A position between two records of the library.
///
/// The library is append-only, so positions also order events in time. A store that has applied the library up to a
/// position reflects every record before it and none after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LibraryPosition {
    /// Number of the library volume, from 1; 0 precedes the first volume.
    pub file: u32,
    /// Byte offset in that volume.
    pub offset: u64,
}

impl LibraryPosition {
    /// The position before the first record.
    pub const START: LibraryPosition = LibraryPosition { file: 0, offset: 0 };

    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Option<Self> {
        let (file, offset) = text.split_once(':')?;
        Some(Self { file: file.parse().ok()?, offset: offset.parse().ok()? })
    }

    /// Packs the position into one number with the same sort order: 24 bits of volume number and 40 bits of offset.
    /// Volumes stay far below 1 TB.
    pub fn to_u64(self) -> u64 {
        (u64::from(self.file) << 40) | (self.offset & ((1 << 40) - 1))
    }

    /// Unpacks the output of [`to_u64`](Self::to_u64).
    pub fn from_u64(packed: u64) -> Self {
        Self { file: u32::try_from(packed >> 40).unwrap_or(u32::MAX), offset: packed & ((1 << 40) - 1) }
    }
}

/// Formats as `00000003:4711`.
impl fmt::Display for LibraryPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}:{}", self.file, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_positions_keep_their_order() {
        let positions = [(0, 0), (1, 0), (1, 900), (2, 5), (70_000, 1 << 39)]
            .map(|(file, offset)| LibraryPosition { file, offset });
        for pair in positions.windows(2) {
            assert!(pair[0] < pair[1] && pair[0].to_u64() < pair[1].to_u64());
        }
        for p in positions {
            assert_eq!(LibraryPosition::from_u64(p.to_u64()), p);
            assert_eq!(LibraryPosition::parse(&p.to_string()), Some(p));
        }
    }
}
