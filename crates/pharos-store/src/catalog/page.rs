//! The life of one page: what a change means for it. Pure, and the same for every implementation of the catalog.
//!
//! Changes need not come in the order in which things happened: imports bring old captures, replays overlap. So two
//! things are kept apart, each with its own moment, and a change that is older than what is known leaves it alone:
//!
//! * what the page *is* (`settled_at`, `answer`): its newest answer, or that it is gone;
//! * what *happened last* (`visited_at`, `due`, `attempts`, `reason`): the last visit, good or not.

use pharos_core::{LibraryPosition, PageUrl, Timestamp};

use super::{Answered, Change, Found, Outcome, PageState, PageStory, Removal, Validators};

/// The heaviest a page can be.
const HEAVIEST: u32 = 1000;
/// What every further page that links to a page adds to its weight, where they are counted.
const LINK_WEIGHT: u32 = 5;

/// All that is known of a page but its address.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page {
    pub(super) state: PageState,
    pub(super) way: Way,
    pub(super) anchor: String,
    pub(super) weight: u32,
    pub(super) linked_by: u32,
    pub(super) found_at: Timestamp,
    /// When to visit again. A waiting page has none: it is due at any time.
    pub(super) due: Option<Timestamp>,
    pub(super) visited_at: Option<Timestamp>,
    pub(super) visits: u32,
    pub(super) changes: u32,
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
    pub(super) text: u64,
    pub(super) indexable: bool,
    pub(super) validators: Validators,
}

/// What happened to a page, for those who count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Effect {
    /// The page is due because of it.
    pub(super) due: bool,
    /// The page was not known before.
    pub(super) new: bool,
}

/// What a change makes of its page, known or not. `new_version`: it brings an answer that was not known yet.
pub(super) fn apply(page: &mut Option<Page>, change: &Change, new_version: bool) -> Effect {
    if page.as_ref().is_some_and(|page| page.state == PageState::Removed) {
        return Effect::default();
    }
    match change {
        Change::Seed { url, at, hops, origin, stale_before } => {
            let link = Found {
                hops: *hops,
                origin: origin.clone(),
                stale_before: *stale_before,
                ..Found::new(url.clone(), 0, *at)
            };
            let mut effect = know(page, &link);
            effect.due |= *hops == 0 && page.as_mut().is_some_and(|page| page.named_again(*at));
            effect
        }
        Change::Found(link) => know(page, link),
        Change::Visited { at, outcome, next_due, .. } => {
            let page = page.get_or_insert_with(|| Page::unheard_of(*at));
            page.visits = page.visits.saturating_add(u32::from(new_version));
            page.visited(*at, outcome, *next_due, new_version);
            Effect::default()
        }
        Change::Deleted { at, .. } => {
            page.get_or_insert_with(|| Page::unheard_of(*at)).deleted(*at);
            Effect::default()
        }
        Change::Recrawl { at, .. } => {
            Effect { due: page.as_mut().is_some_and(|page| page.wanted_again(*at)), new: false }
        }
        Change::Removed(Removal::Page(_)) => {
            *page = Some(Page::removed());
            Effect::default()
        }
        _ => Effect::default(),
    }
}

/// A page was named or found.
fn know(page: &mut Option<Page>, link: &Found) -> Effect {
    match page {
        Some(page) => Effect { due: page.found_again(link), new: false },
        None => {
            *page = Some(Page::found(link));
            Effect { due: true, new: true }
        }
    }
}

/// Weight and number of links of a page that this link made known.
pub(super) fn first_weight(link: &Found) -> (u32, u32) {
    (link.weight.min(HEAVIEST), u32::from(link.counted))
}

/// Weight and number of links of a page that waits, after one more link to it.
pub(super) fn weighed(weight: u32, linked_by: u32, link: &Found) -> (u32, u32) {
    let (bonus, more) = if link.counted { (LINK_WEIGHT, 1) } else { (0, 0) };
    (weight.max(link.weight).saturating_add(bonus).min(HEAVIEST), linked_by.saturating_add(more))
}

impl Way {
    fn of(link: &Found) -> Self {
        Self { depth: link.depth, hops: link.hops, origin: link.origin.clone() }
    }
}

impl Answer {
    fn of(answer: &Answered) -> Self {
        Self {
            status: answer.status,
            position: answer.position,
            digest: answer.digest,
            text: answer.text,
            indexable: answer.indexable,
            validators: answer.validators.clone(),
        }
    }
}

impl Page {
    /// A page heard of for the first time.
    fn found(link: &Found) -> Self {
        let (weight, linked_by) = first_weight(link);
        let (way, anchor) = (Way::of(link), link.anchor.clone());
        Self { way, anchor, weight, linked_by, ..Self::unheard_of(link.at) }
    }

    /// Records may come without a link that led to them: an import, a lost beginning.
    fn unheard_of(at: Timestamp) -> Self {
        Self {
            state: PageState::Waiting,
            way: Way::default(),
            anchor: String::new(),
            weight: 0,
            linked_by: 0,
            found_at: at,
            due: None,
            visited_at: None,
            visits: 0,
            changes: 0,
            attempts: 0,
            reason: None,
            settled_at: None,
            answer: None,
        }
    }

    /// What is left of a page that was taken out for good: the same, whatever was known of it.
    fn removed() -> Self {
        Self { state: PageState::Removed, ..Self::unheard_of(Timestamp::EPOCH) }
    }

    /// Found again: a shorter way is remembered while the page waits. Is it due because of this?
    fn found_again(&mut self, link: &Found) -> bool {
        if self.state != PageState::Waiting {
            if link.counted {
                self.linked_by = self.linked_by.saturating_add(1);
            }
            return self.is_stale(link);
        }
        (self.weight, self.linked_by) = weighed(self.weight, self.linked_by, link);
        let nearer = link.depth < self.way.depth;
        if nearer {
            self.way = Way::of(link);
        }
        nearer
    }

    /// Was the last visit too long ago, as who found the page knows? Then it is due.
    fn is_stale(&mut self, link: &Found) -> bool {
        let stale = link.stale_before.is_some_and(|moment| self.last_heard_of() < Some(moment));
        let sooner = self.due.is_none_or(|due| link.at < due);
        if stale && sooner {
            self.due = Some(link.at);
            self.attempts = 0;
        }
        stale && sooner
    }

    /// Naming a page again is asking to try it again, where it failed, was refused or is gone. Does it?
    fn named_again(&mut self, at: Timestamp) -> bool {
        // By what happened last, not by the state: an old capture may have settled what the page is meanwhile.
        let failed = self.reason.is_some();
        let unwell = match self.state {
            PageState::Deleted => true,
            PageState::Failed | PageState::Refused => failed,
            PageState::Stored => failed || self.answer.as_ref().is_some_and(|a| a.status >= 400),
            PageState::Waiting | PageState::Removed => false,
        };
        let again = unwell && Some(at) >= self.last_heard_of();
        if again {
            self.due = Some(at);
            self.attempts = 0;
        }
        again
    }

    /// An operator wants to see it again, if it was not visited since. Is it due because of this? What waits is due
    /// already.
    fn wanted_again(&mut self, at: Timestamp) -> bool {
        if self.state == PageState::Waiting || self.last_heard_of() >= Some(at) {
            return false;
        }
        self.attempts = 0;
        let sooner = self.due.is_none_or(|due| at < due);
        if sooner {
            self.due = Some(at);
        }
        sooner
    }

    /// A visit. Where a link led to the page, the way to it stays as it was.
    fn visited(&mut self, at: Timestamp, outcome: &Outcome, next_due: Option<Timestamp>, new_version: bool) {
        let is_last = Some(at) >= self.last_heard_of();
        self.visited_at = self.visited_at.max(Some(at));
        match outcome {
            Outcome::Answered(answer) => {
                if (at, false, Some(answer.position)) < self.settled() {
                    return;
                }
                let before = self.answer.replace(Answer::of(answer));
                self.state = PageState::Stored;
                self.settled_at = Some(at);
                self.weight = if answer.weight > 0 { answer.weight.min(HEAVIEST) } else { self.weight };
                let changed = new_version && before.is_some_and(|before| is_changed(&before, answer));
                self.changes = self.changes.saturating_add(u32::from(changed));
                if is_last {
                    self.schedule(next_due, answer.attempts, None);
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
            changes: self.changes,
            attempts: self.attempts,
            status: self.answer.as_ref().map(|a| a.status),
            reason: self.reason,
            position: self.answer.as_ref().map(|a| a.position),
            digest: self.answer.as_ref().map(|a| a.digest),
            text: self.answer.as_ref().map(|a| a.text).filter(|text| *text != 0),
            indexable: self.answer.as_ref().is_some_and(|a| a.indexable),
            validators: self.answer.map(|a| a.validators).unwrap_or_default(),
            weight: self.weight,
            linked_by: self.linked_by,
            due,
        }
    }
}
/// Does the page say something else than before? Texts that were read differently cannot be compared: then the bytes
/// decide.
fn is_changed(before: &Answer, now: &Answered) -> bool {
    if before.text == 0 || now.text == 0 {
        return false;
    }
    if (before.text ^ now.text) & 1 == 0 { before.text != now.text } else { before.digest != now.digest }
}
