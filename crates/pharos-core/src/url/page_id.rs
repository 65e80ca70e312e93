//! Page ids.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use super::{PageUrl, SiteId};

/// The id of a page: a 64-bit hash of its site followed by a 64-bit hash of its URL. Ids of one site are adjacent in
/// sort order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(u128);

impl PageId {
    /// Computes the id of a page.
    pub fn from_url(url: &PageUrl) -> Self {
        Self::from_parts(url.site().id(), xxh3_64(url.as_str().as_bytes()))
    }

    /// Combines the hashes of site and URL.
    pub fn from_parts(site: SiteId, page: u64) -> Self {
        Self((u128::from(site.0) << 64) | u128::from(page))
    }

    /// Returns the id of the site.
    pub fn site(self) -> SiteId {
        SiteId((self.0 >> 64) as u64)
    }

    /// Returns the hash of the URL.
    pub fn page(self) -> u64 {
        self.0 as u64
    }

    /// Returns the id as big-endian bytes, which have the sort order of the ids.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Reads the output of [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

/// Formats as 32 hexadecimal digits, as in the URL of a cached page.
impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageId({self})")
    }
}

impl FromStr for PageId {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
    }
}
