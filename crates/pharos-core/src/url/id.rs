//! The ids of pages.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use super::{PageUrl, SiteId};

/// A page's id: 64 bits of its site and 64 of its URL, so that pages of a site lie together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(u128);

impl PageId {
    /// The id of a page.
    pub fn of(url: &PageUrl) -> Self {
        Self::from_parts(url.site().id(), xxh3_64(url.as_str().as_bytes()))
    }

    /// From its two halves.
    pub fn from_parts(site: SiteId, page: u64) -> Self {
        Self((u128::from(site.0) << 64) | u128::from(page))
    }

    /// The half that stands for the site.
    pub fn site(self) -> SiteId {
        SiteId((self.0 >> 64) as u64)
    }

    /// The half that stands for the URL.
    pub fn page(self) -> u64 {
        self.0 as u64
    }

    /// Big-endian bytes, which sort as the ids do.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Back from [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

/// 32 hexadecimal digits, as in the address of a snapshot.
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
