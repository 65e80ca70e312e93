//! One look through the library: which record of each page is the current one, and what is gone.

use std::collections::{HashMap, HashSet};

use pharos_core::{LibraryPosition, PageId, PageUrl, SiteId, Timestamp};
use pharos_crawl::redirect_target;
use pharos_store::{Content, Event, Library, Removal, StoreError, StoredRecord};
use tracing::warn;

use crate::EngineError;
use crate::reading::settles;

/// When and where each page was last answered in a way that settles what it says.
pub(crate) type Current = HashMap<PageId, (Timestamp, LibraryPosition)>;

/// What the library holds.
pub(crate) struct Survey {
    /// The current version of every page that is not deleted or removed.
    pub(crate) current: Current,
    /// When each of them was there for the first time, versions that are not kept any more included.
    pub(crate) first_seen: HashMap<PageId, Timestamp>,
    /// Of these, the ones that lead elsewhere, and where to.
    pub(crate) redirects: HashMap<PageId, PageUrl>,
    /// What operators took out for good.
    pub(crate) removed_pages: HashSet<PageId>,
    pub(crate) removed_sites: HashSet<SiteId>,
    /// Where the library ended.
    pub(crate) to: LibraryPosition,
}

/// Looks through the library, up to its end or to `to`; `check` hears of every thousand records. Damage is told, and
/// costs no more than it hits.
pub(crate) fn survey(
    library: &dyn Library,
    to: Option<LibraryPosition>,
    check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
) -> Result<Survey, EngineError> {
    let mut surveyor = Surveyor::default();
    let mut records = 0;
    for stored in library.scan(LibraryPosition::START, to)? {
        let stored = match stored {
            Err(damage @ StoreError::Damaged { .. }) => {
                warn!("{damage}");
                continue;
            }
            stored => stored?,
        };
        surveyor.see(&stored);
        records += 1;
        if records % 1024 == 0 {
            check(records)?;
        }
    }
    let mut surveyed = surveyor.finish();
    surveyed.to = to.unwrap_or(surveyed.to);
    Ok(surveyed)
}

/// Hears of every record, in the order of the library.
#[derive(Default)]
pub(crate) struct Surveyor {
    current: Current,
    first_seen: HashMap<PageId, Timestamp>,
    redirects: HashMap<PageId, (LibraryPosition, PageUrl)>,
    deleted: HashMap<PageId, Timestamp>,
    pages: HashSet<PageId>,
    sites: HashSet<SiteId>,
    /// Sites that are copies of others, under http or https.
    copies: HashSet<(SiteId, bool)>,
    /// Pages under https.
    secure: HashSet<PageId>,
    to: LibraryPosition,
}

impl Surveyor {
    pub(crate) fn see(&mut self, stored: &StoredRecord) {
        self.to = stored.next;
        let (id, at) = (stored.record.url.id(), stored.record.at);
        if was_there(&stored.record.content) {
            let first = self.first_seen.entry(id).or_insert(at);
            *first = at.min(*first);
        }
        match &stored.record.content {
            Content::Event(Event::Removed { what: Removal::Page(url) }) => {
                self.pages.insert(url.id());
            }
            Content::Event(Event::Removed { what: Removal::Site(site) }) => {
                self.sites.insert(site.id());
            }
            // Of a copy, nothing is shown.
            Content::Event(Event::Alias { .. }) => {
                self.copies.insert((id.site(), stored.record.url.is_https()));
            }
            // What may not be asked for any more is not shown any more.
            Content::Event(Event::Deleted | Event::Refused { .. }) => {
                let last = self.deleted.entry(id).or_insert(at);
                *last = at.max(*last);
            }
            _ if settles(&stored.record) => {
                if stored.record.url.is_https() {
                    self.secure.insert(id);
                }
                if let Content::Response(response) = &stored.record.content
                    && let Some(target) = redirect_target(&stored.record.url, response)
                {
                    self.redirects.insert(id, (stored.position, target));
                }
                let version = (at, stored.position);
                let newest = self.current.entry(id).or_insert(version);
                *newest = version.max(*newest);
            }
            _ => {}
        }
    }

    pub(crate) fn finish(mut self) -> Survey {
        self.current.retain(|page, (at, _)| {
            !self.pages.contains(page)
                && !self.sites.contains(&page.site())
                && (self.copies.is_empty()
                    || !self.copies.contains(&(page.site(), self.secure.contains(page))))
                && self.deleted.get(page).is_none_or(|deleted| deleted < at)
        });
        let current = self.current;
        self.first_seen.retain(|page, _| current.contains_key(page));
        // A page that leads elsewhere today may have said something yesterday, and the other way round.
        let redirects = self.redirects.into_iter().filter_map(|(page, (position, target))| {
            current.get(&page).filter(|(_, now)| *now == position).map(|_| (page, target))
        });
        let redirects = redirects.collect();
        Survey {
            current,
            first_seen: self.first_seen,
            redirects,
            removed_pages: self.pages,
            removed_sites: self.sites,
            to: self.to,
        }
    }
}

/// Does a record tell that there was a page? A redirect or "not found" is an answer, but no page; a version that the
/// retention rule let go was one.
fn was_there(content: &Content) -> bool {
    let status = match content {
        Content::Response(response) => response.status,
        // Its content is that of an earlier page.
        Content::Revisit(revisit) if revisit.status == 304 => return true,
        Content::Revisit(revisit) => revisit.status,
        Content::Event(Event::Dropped { status, .. }) => *status,
        Content::Event(_) => return false,
    };
    (200..300).contains(&status)
}

#[cfg(test)]
mod tests {
    use pharos_store::{Record, Response, Revisit};

    use super::*;

    fn answer(status: u16) -> Content {
        Content::Response(Response { status, ..Response::default() })
    }

    fn dropped(status: u16) -> Content {
        Content::Event(Event::Dropped { status, digest: 1 })
    }

    fn unchanged() -> Content {
        Content::Revisit(Revisit {
            status: 304,
            headers: Vec::new(),
            address: None,
            of: LibraryPosition::START,
            of_at: Timestamp::EPOCH,
            digest: String::new(),
        })
    }

    /// What is known of a page whose records tell this, one a second: when it was first seen, and when it said what it
    /// says now.
    fn seen(contents: impl IntoIterator<Item = Content>) -> (Option<i64>, Option<i64>) {
        let url = PageUrl::parse("http://example.org/").unwrap();
        let mut surveyor = Surveyor::default();
        for (second, content) in (1..).zip(contents) {
            let record = Record::new(url.clone(), Timestamp::from_millis(second * 1000), content);
            let position = LibraryPosition { file: 1, offset: second as u64 };
            surveyor.see(&StoredRecord { position, next: position, record });
        }
        let Survey { first_seen, current, .. } = surveyor.finish();
        let seconds = |at: &Timestamp| at.millis() / 1000;
        (first_seen.get(&url.id()).map(seconds), current.get(&url.id()).map(|(at, _)| seconds(at)))
    }

    fn first_seen(contents: impl IntoIterator<Item = Content>) -> Option<i64> {
        seen(contents).0
    }

    #[test]
    fn a_page_that_may_not_be_asked_for_is_not_shown_until_it_may() {
        let refused = || Content::Event(Event::Refused { reason: "robots.txt: /".into() });
        assert_eq!(seen([answer(200), refused()]).1, None);
        assert_eq!(seen([answer(200), refused(), answer(200)]).1, Some(3));
        let failed = Content::Event(Event::Failed { reason: "timed out".into() });
        assert_eq!(seen([answer(200), failed]).1, Some(1));
    }

    #[test]
    fn a_page_is_first_seen_when_it_is_first_there() {
        assert_eq!(first_seen([answer(404), answer(301), answer(410), answer(200), answer(200)]), Some(4));
        assert_eq!(first_seen([dropped(404), dropped(200), dropped(200), answer(200)]), Some(2));
        assert_eq!(first_seen([answer(503), unchanged(), answer(200)]), Some(2));
        assert_eq!(first_seen([answer(404)]), None);
    }
}
