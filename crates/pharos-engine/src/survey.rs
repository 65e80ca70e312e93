//! One look through the library: which record of each page is the current one, and what is gone.

use std::collections::{HashMap, HashSet};

use pharos_core::{LibraryPosition, PageId, SiteId, Timestamp};
use pharos_store::{Content, Event, Library, Removal, StoreError};
use tracing::warn;

use crate::EngineError;
use crate::reading::settles;

/// When and where each page was last answered in a way that settles what it says.
pub(crate) type Current = HashMap<PageId, (Timestamp, LibraryPosition)>;

/// What the library holds.
pub(crate) struct Survey {
    /// The current version of every page that is not deleted or removed.
    pub(crate) current: Current,
    /// Where the library ended.
    pub(crate) to: LibraryPosition,
}

/// Looks through the library; `check` hears of every thousand records. Damage is told, and costs no more than it hits.
pub(crate) fn survey(
    library: &dyn Library,
    check: &mut dyn FnMut(u64) -> Result<(), EngineError>,
) -> Result<Survey, EngineError> {
    let mut current = Current::new();
    let mut deleted: HashMap<PageId, Timestamp> = HashMap::new();
    let (mut pages, mut sites): (HashSet<PageId>, HashSet<SiteId>) = Default::default();
    let mut to = LibraryPosition::START;
    let mut records = 0;
    for stored in library.scan(LibraryPosition::START, None)? {
        let stored = match stored {
            Err(damage @ StoreError::Damaged { .. }) => {
                warn!("{damage}");
                continue;
            }
            stored => stored?,
        };
        to = stored.next;
        let (id, at) = (stored.record.url.id(), stored.record.at);
        match &stored.record.content {
            Content::Event(Event::Removed { what: Removal::Page(url) }) => {
                pages.insert(url.id());
            }
            Content::Event(Event::Removed { what: Removal::Site(site) }) => {
                sites.insert(site.id());
            }
            Content::Event(Event::Deleted) => {
                let last = deleted.entry(id).or_insert(at);
                *last = at.max(*last);
            }
            _ if stored.record.status().is_some_and(settles) => {
                let version = (at, stored.position);
                let newest = current.entry(id).or_insert(version);
                *newest = version.max(*newest);
            }
            _ => {}
        }
        records += 1;
        if records % 1024 == 0 {
            check(records)?;
        }
    }
    current.retain(|page, (at, _)| {
        !pages.contains(page)
            && !sites.contains(&page.site())
            && deleted.get(page).is_none_or(|deleted| deleted < at)
    });
    Ok(Survey { current, to })
}
