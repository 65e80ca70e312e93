//! The size of the collection: stored pages, and why some of them are not searchable.

use pharos_store::catalog::UnsearchableCounts;
use serde::Serialize;

/// Reason why stored pages are not searchable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnsearchableReason {
    NotFound,
    Denied,
    ServerError,
    Moved,
    Refused,
    Quarantined,
    WithoutText,
    Mirrored,
    /// Fetched and not indexed yet, or only by the next build.
    NotIndexed,
}

impl UnsearchableReason {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::Denied => "denied",
            Self::ServerError => "server-error",
            Self::Moved => "moved",
            Self::Refused => "refused",
            Self::Quarantined => "quarantined",
            Self::WithoutText => "without-text",
            Self::Mirrored => "mirrored",
            Self::NotIndexed => "not-indexed",
        }
    }

    /// Returns the description of the command line.
    pub fn description(self) -> &'static str {
        match self {
            Self::NotFound => "not found",
            Self::Denied => "denied by the server",
            Self::ServerError => "with a server error",
            Self::Moved => "redirected",
            Self::Refused => "excluded by a rule",
            Self::Quarantined => "quarantined",
            Self::WithoutText => "without searchable text",
            Self::Mirrored => "on mirror sites",
            Self::NotIndexed => "not indexed yet",
        }
    }
}

/// Stored pages as a sum: searchable pages, and others by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoredPages {
    pub stored: u64,
    pub searchable: u64,
    /// Pages that are not searchable; the sum of all these and of `searchable` is `stored`.
    pub others: Vec<(UnsearchableReason, u64)>,
}

impl StoredPages {
    /// Explains the difference between stored and searchable pages.
    ///
    /// Errors that may be temporary leave an earlier version searchable. These pages count as searchable alone: the
    /// number of errors is reduced where the sum would exceed the stored pages.
    pub fn new(stored: u64, searchable: u64, counts: UnsearchableCounts) -> Self {
        use UnsearchableReason as Reason;
        let searchable = searchable.min(stored);
        let mut left = stored - searchable;
        let mut take = |pages: u64| {
            let taken = pages.min(left);
            left -= taken;
            taken
        };
        // Reasons that exclude a searchable version come first.
        let mut others = vec![
            (Reason::Refused, take(counts.refused)),
            (Reason::Quarantined, take(counts.quarantined)),
            (Reason::WithoutText, take(counts.without_text)),
            (Reason::Moved, take(counts.moved)),
            (Reason::NotFound, take(counts.not_found)),
            (Reason::Denied, take(counts.denied)),
            (Reason::ServerError, take(counts.server_errors)),
            (Reason::Mirrored, take(counts.mirrored)),
        ];
        others.push((Reason::NotIndexed, left));
        others.retain(|(_, pages)| *pages > 0);
        others.sort();
        Self { stored, searchable, others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(pages: &StoredPages) -> u64 {
        pages.searchable + pages.others.iter().map(|(_, pages)| pages).sum::<u64>()
    }

    #[test]
    fn stored_pages_are_an_explained_sum() {
        let counts = UnsearchableCounts {
            not_found: 2_331,
            without_text: 6,
            server_errors: 3,
            ..UnsearchableCounts::default()
        };
        let pages = StoredPages::new(6_450, 4_108, counts);
        let expected = [
            (UnsearchableReason::NotFound, 2_331),
            (UnsearchableReason::ServerError, 3),
            (UnsearchableReason::WithoutText, 6),
            (UnsearchableReason::NotIndexed, 2),
        ];
        assert_eq!(pages.others, expected);
        // Two of the failing pages are still searchable in an earlier version.
        let pages = StoredPages::new(6_446, 4_108, counts);
        assert!(pages.others.contains(&(UnsearchableReason::ServerError, 1)), "{pages:?}");
        for (stored, searchable) in [(0, 0), (0, 9), (5, 9), (2_000, 3), (9_999, 3)] {
            assert_eq!(sum(&StoredPages::new(stored, searchable, counts)), stored);
        }
    }
}
