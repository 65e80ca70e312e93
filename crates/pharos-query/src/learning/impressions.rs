//! Recent impressions, for validating clicks: only links that were shown recently can be clicked.
//!
//! Clicks influence the ranking for other users. A click names an impression of this process and a position; the URL is taken
//! from the impression, never from the browser.

use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;
use pharos_mining::log::records::ClickKind;

/// Maximum number of impressions; the oldest are evicted.
const CAPACITY: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// Maximum number of clicks accepted per impression.
const MAX_CLICKS: u32 = 30;

/// The links shown on a result page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Impression {
    pub(crate) query: String,
    pub(crate) visit: String,
    /// Position of the first result across all pages, from 1, and the URLs from there on.
    pub(crate) first: u32,
    /// Results per page.
    pub(crate) page_size: u32,
    pub(crate) urls: Vec<String>,
    pub(crate) related: Vec<String>,
    pub(crate) corrected: Option<String>,
}

/// A validated click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VerifiedClick {
    pub(crate) query: String,
    pub(crate) visit: String,
    /// Sequence number of the click within the impression, from 1.
    pub(crate) order: u32,
    /// Results per page of the impression.
    pub(crate) page_size: u32,
    pub(crate) target: ClickedLink,
}

/// The target of a clicked link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClickedLink {
    Url(String),
    Query(String),
}

/// Impressions by identifier. A lookup does not extend the life of an impression.
pub(crate) struct Impressions(Mutex<LruCache<String, TrackedImpression>>);

impl Default for Impressions {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(CAPACITY)))
    }
}

/// An impression with its click counts.
struct TrackedImpression {
    impression: Impression,
    clicks: u32,
    left: u32,
    is_seen: bool,
}

impl Impressions {
    pub(crate) fn insert(&self, id: &str, impression: Impression) {
        let tracked = TrackedImpression { impression, clicks: 0, left: 0, is_seen: false };
        self.0.lock().put(id.to_string(), tracked);
    }

    /// Marks an impression as seen by a browser that reports clicks. Returns its query the first time.
    pub(crate) fn mark_seen(&self, id: &str) -> Option<String> {
        let mut shown = self.0.lock();
        let followed = shown.peek_mut(id)?;
        (!std::mem::replace(&mut followed.is_seen, true)).then(|| followed.impression.query.clone())
    }

    /// Validates a click. Returns `None` if no such link was shown, or if there were too many clicks.
    pub(crate) fn verify_click(&self, id: &str, kind: ClickKind, rank: u32) -> Option<VerifiedClick> {
        let mut shown = self.0.lock();
        let TrackedImpression { impression, clicks, left, .. } = shown.peek_mut(id)?;
        let count = if kind == ClickKind::Leave { left } else { clicks };
        let target = match kind {
            ClickKind::Result | ClickKind::Snapshot | ClickKind::Leave => {
                let nth = rank.checked_sub(impression.first)?;
                ClickedLink::Url(impression.urls.get(nth as usize)?.clone())
            }
            ClickKind::Related => {
                ClickedLink::Query(impression.related.get(rank.checked_sub(1)? as usize)?.clone())
            }
            ClickKind::Corrected => ClickedLink::Query(impression.corrected.clone()?),
            // Such links are not part of an impression.
            ClickKind::Suggestion | ClickKind::Filter | ClickKind::Sort | ClickKind::Product => return None,
        };
        if *count >= MAX_CLICKS {
            return None;
        }
        *count += 1;
        let Impression { query, visit, page_size, .. } = impression;
        let (query, visit) = (query.clone(), visit.clone());
        Some(VerifiedClick { query, visit, order: *count, page_size: *page_size, target })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_that_were_shown_can_be_clicked() {
        let impressions = Impressions::default();
        let urls = vec!["http://a.example/11".to_string(), "http://a.example/12".to_string()];
        let related = vec!["tea".to_string()];
        impressions
            .insert("i", Impression { query: "q".into(), first: 11, urls, related, ..Impression::default() });
        let url = |url: &str| ClickedLink::Url(url.into());
        let click =
            |kind, rank| impressions.verify_click("i", kind, rank).map(|click| (click.target, click.order));
        assert_eq!(click(ClickKind::Result, 12), Some((url("http://a.example/12"), 1)));
        assert_eq!(click(ClickKind::Leave, 12), Some((url("http://a.example/12"), 1)));
        assert_eq!(
            click(ClickKind::Related, 1),
            Some((ClickedLink::Query("tea".into()), 2)),
            "returning is not a click"
        );
        for (kind, rank) in [
            (ClickKind::Result, 10),
            (ClickKind::Result, 13),
            (ClickKind::Result, 0),
            (ClickKind::Related, 0),
            (ClickKind::Corrected, 1),
            (ClickKind::Sort, 11),
        ] {
            assert_eq!(click(kind, rank), None);
        }
        assert_eq!(impressions.mark_seen("i").as_deref(), Some("q"));
        assert_eq!((impressions.mark_seen("i"), impressions.mark_seen("another")), (None, None), "only once");
        assert_eq!(impressions.verify_click("another", ClickKind::Result, 11), None);
        assert_eq!((0..99).filter_map(|_| click(ClickKind::Result, 11)).count(), MAX_CLICKS as usize - 2);
        (0..2 * CAPACITY.get()).for_each(|n| impressions.insert(&n.to_string(), Impression::default()));
        assert_eq!(impressions.0.lock().len(), CAPACITY.get());
    }
}
