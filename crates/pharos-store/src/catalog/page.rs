//! The life of one page: what a change means for it. Pure, and the same for every implementation of the catalog.
//!
//! Changes need not come in the order in which things happened: imports bring old captures, replays overlap. So two
//! things are kept apart, each with its own moment, and a change that is older than what is known leaves it alone:
//!
//! * what the page *is* (`settled_at`, `answer`): its newest answer, or that it is gone;
//! * what *happened last* (`visited_at`, `due`, `attempts`, `reason`): the last visit, good or not.

use pharos_core::{LibraryPosition, PageUrl, Timestamp};

use super::{Change, Outcome, PageState, PageStory, Removal};

/// All that is known of a page but its address.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page {
    pub(super) state: PageState,
    pub(super) way: Way,
    pub(super) anchor: String,
    pub(super) found_at: Timestamp,
    /// When to visit again. A waiting page has none: it is due at any time.
    pub(super) due: Option<Timestamp>,
    pub(super) visited_at: Option<Timestamp>,
    pub(super) visits: u32,
    pub(super) attempts: u32,
    pub(super) reason: Option<String>,
    /// When the current answer was given, or the page was called gone.
    pub(super) settled_at: Option<Timestamp>,
    pub(super) answer: Option<Answer>,
}

/// How one gets to a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Way {
    pub(super) depth: u32,
    pub(super) hops: u32,
    pub(super) origin: Option<String>,
}

/// The current answer of a page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) position: LibraryPosition,
    pub(super) digest: u64,
    pub(super) indexable: bool,
}

/// What a change makes of its page, known or not. `new_version`: it brings an answer that was not known yet. Gives
/// whether the page is due because of it.
pub(super) fn apply(page: &mut Option<Page>, change: &Change, new_version: bool) -> bool {
    if page.as_ref().is_some_and(|page| page.state == PageState::Removed) {
        return false;
    }
    match change {
        Change::Seed { at, hops, origin, .. } => {
            let way = Way { depth: 0, hops: *hops, origin: origin.clone() };
            let new = know(page, way, "", *at);
            new | (*hops == 0 && page.as_mut().is_some_and(|page| page.named_again(*at)))
        }
        Change::Found { depth, hops, origin, anchor, at, .. } => {
            know(page, Way { depth: *depth, hops: *hops, origin: origin.clone() }, anchor, *at)
        }
        Change::Visited { at, outcome, next_due, .. } => {
            let page = page.get_or_insert_with(|| Page::unheard_of(*at));
            page.visits = page.visits.saturating_add(u32::from(new_version));
            page.visited(*at, outcome, *next_due);
            false
        }
        Change::Deleted { at, .. } => {
            page.get_or_insert_with(|| Page::unheard_of(*at)).deleted(*at);
            false
        }
        Change::Removed(Removal::Page(_)) => {
            *page = Some(Page::removed());
            false
        }
        Change::Rules(_) | Change::Robots(_) | Change::Removed(Removal::Site(_)) => false,
    }
}

/// A page was named or found. Is it new, or is this a shorter way?
fn know(page: &mut Option<Page>, way: Way, anchor: &str, at: Timestamp) -> bool {
    match page {
        Some(page) => page.found_again(way),
        None => {
            *page = Some(Page::found(way, anchor, at));
            true
        }
    }
}

impl Page {
    /// A page heard of for the first time.
    fn found(way: Way, anchor: &str, found_at: Timestamp) -> Self {
        Self {
            state: PageState::Waiting,
            way,
            anchor: anchor.to_string(),
            found_at,
            due: None,
            visited_at: None,
            visits: 0,
            attempts: 0,
            reason: None,
            settled_at: None,
            answer: None,
        }
    }

    /// Records may come without a link that led to them: an import, a lost beginning.
    fn unheard_of(at: Timestamp) -> Self {
        Self::found(Way::default(), "", at)
    }

    /// What is left of a page that was taken out for good: the same, whatever was known of it.
    fn removed() -> Self {
        Self { state: PageState::Removed, ..Self::unheard_of(Timestamp::EPOCH) }
    }

    /// Found again: a shorter way is remembered while the page waits. Was this one?
    fn found_again(&mut self, way: Way) -> bool {
        let nearer = self.state == PageState::Waiting && way.depth < self.way.depth;
        if nearer {
            self.way = way;
        }
        nearer
    }

    /// Naming a page again is asking to try it again, where it failed, was refused or is gone. Does it?
    fn named_again(&mut self, at: Timestamp) -> bool {
        let unwell = match self.state {
            PageState::Failed | PageState::Refused | PageState::Deleted => true,
            PageState::Stored => self.answer.as_ref().is_some_and(|a| a.status >= 400),
            PageState::Waiting | PageState::Removed => false,
        };
        let again = unwell && Some(at) >= self.last_heard_of();
        if again {
            self.due = Some(at);
            self.attempts = 0;
        }
        again
    }

    /// A visit. Where a link led to the page, the way to it stays as it was.
    fn visited(&mut self, at: Timestamp, outcome: &Outcome, next_due: Option<Timestamp>) {
        let is_last = Some(at) >= self.last_heard_of();
        self.visited_at = self.visited_at.max(Some(at));
        match outcome {
            Outcome::Answered { status, position, digest, indexable, attempts } => {
                if (at, false, Some(*position)) < self.settled() {
                    return;
                }
                self.state = PageState::Stored;
                self.settled_at = Some(at);
                self.answer = Some(Answer {
                    status: *status,
                    position: *position,
                    digest: *digest,
                    indexable: *indexable,
                });
                if is_last {
                    self.schedule(next_due, *attempts, None);
                }
            }
            Outcome::Failed { reason, attempt } if is_last => {
                self.unanswered(PageState::Failed);
                self.schedule(next_due, *attempt, Some(reason));
            }
            Outcome::Refused { reason } if is_last => {
                self.unanswered(PageState::Refused);
                self.schedule(next_due, self.attempts, Some(reason));
            }
            // An old failure, told late.
            Outcome::Failed { .. } | Outcome::Refused { .. } => {}
        }
    }

    /// Somebody who should know says that the page is gone.
    fn deleted(&mut self, at: Timestamp) {
        if (at, true, None) < self.settled() {
            return;
        }
        self.state = PageState::Deleted;
        self.settled_at = Some(at);
        self.answer = None;
        if Some(at) >= self.visited_at {
            self.schedule(None, 0, None);
        }
    }

    /// Is this answer what the page is now?
    pub(super) fn is_current(&self, position: LibraryPosition) -> bool {
        self.answer.as_ref().is_some_and(|a| a.position == position)
    }

    pub(super) fn is_indexable(&self) -> bool {
        self.answer.as_ref().is_some_and(|a| a.indexable)
    }

    /// Answers are ordered by time, then by position; said to be gone at the same moment is gone.
    fn settled(&self) -> (Timestamp, bool, Option<LibraryPosition>) {
        let at = self.settled_at.unwrap_or(Timestamp::from_millis(i64::MIN));
        (at, self.state == PageState::Deleted, self.answer.as_ref().map(|a| a.position))
    }

    fn last_heard_of(&self) -> Option<Timestamp> {
        if self.state == PageState::Deleted { self.visited_at.max(self.settled_at) } else { self.visited_at }
    }

    fn unanswered(&mut self, state: PageState) {
        if self.settled_at.is_none() {
            self.state = state;
        }
    }

    fn schedule(&mut self, due: Option<Timestamp>, attempts: u32, reason: Option<&String>) {
        self.due = due;
        self.attempts = attempts;
        self.reason = reason.cloned();
    }

    /// As told to others.
    pub(super) fn story(self, url: PageUrl) -> PageStory {
        let due = if self.state == PageState::Waiting { Some(self.found_at) } else { self.due };
        PageStory {
            url,
            state: self.state,
            depth: self.way.depth,
            hops: self.way.hops,
            origin: self.way.origin,
            anchor: self.anchor,
            found_at: self.found_at,
            visited_at: self.visited_at,
            visits: self.visits,
            attempts: self.attempts,
            status: self.answer.as_ref().map(|a| a.status),
            reason: self.reason,
            position: self.answer.as_ref().map(|a| a.position),
            digest: self.answer.as_ref().map(|a| a.digest),
            indexable: self.answer.is_some_and(|a| a.indexable),
            due,
        }
    }
}
