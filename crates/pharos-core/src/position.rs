//! Where in the library: the one order that every store agrees on.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place between two records of the library.
///
/// The library is append-only, so positions are also the sequence in which things happened: a store that has
/// *absorbed* a position knows everything recorded before it and nothing recorded after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LibraryPosition {
    /// Number of the library file, from 1; 0 is the beginning of everything.
    pub file: u32,
    /// Byte offset in that file.
    pub offset: u64,
}

impl LibraryPosition {
    /// Before the first record.
    pub const START: LibraryPosition = LibraryPosition { file: 0, offset: 0 };

    /// Back from what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (file, offset) = text.split_once(':')?;
        Some(Self { file: file.parse().ok()?, offset: offset.parse().ok()? })
    }

    /// As one number that sorts the same: 24 bits of file, 40 of offset (files stay far below 1 TB).
    pub fn to_u64(self) -> u64 {
        (u64::from(self.file) << 40) | (self.offset & ((1 << 40) - 1))
    }

    /// Back from [`to_u64`](Self::to_u64).
    pub fn from_u64(packed: u64) -> Self {
        Self { file: u32::try_from(packed >> 40).unwrap_or(u32::MAX), offset: packed & ((1 << 40) - 1) }
    }
}

/// `00000003:4711`.
impl fmt::Display for LibraryPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}:{}", self.file, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_positions_sort_alike() {
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
