//! State transitions of one page: the effect of each change. Pure code, shared by all implementations of the
//! catalog.
//!
//! Changes need not arrive in chronological order: imports deliver old captures, and replays overlap. Two parts of
//! the state are therefore kept separately, each with its own time, and a change that is older than a part leaves it
//! unchanged:
//!
//! * the *content* (`settled_at`, `response`): the newest response, or the fact that the page is deleted;
//! * the *last event* (`visited_at`, `due`, `attempts`, `problem`, `reason`): the last visit, successful or not.

use std::time::Duration;

use pharos_core::{LibraryPosition, PageUrl, Timestamp};

use super::{
    CLOCK_TOLERANCE, CatalogChange, DiscoveredLink, PageDetails, PageProblem, PageState, Removal,
    ResponseSummary, Validators, VisitOutcome,
};
use crate::RecordKind;
use crate::interpret::refresh::{RefreshPlan, RefreshState, SettledVisit, SignalObservation, SiteSignals};
use crate::interpret::status::{StatusMeaning, is_success};

/// Maximum weight of a page.
const MAX_WEIGHT: u32 = 1000;
/// Weight added by every further link to a page, if links are counted.
const LINK_BONUS: u32 = 5;

/// Longest time in days by which a signal brings a visit forward, beyond every interval.
const MAX_ADVANCE: f64 = 10_000.0;

/// The catalog entry of a page, without its URL.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PageEntry {
    pub(super) state: PageState,
    pub(super) path: DiscoveryPath,
    pub(super) anchor: String,
    pub(super) weight: u32,
    pub(super) linked_by: u32,
    pub(super) found_at: Timestamp,
    /// Time of the next visit. A waiting page has none: it is due at any time.
    pub(super) due: Option<Timestamp>,
    pub(super) visited_at: Option<Timestamp>,
    pub(super) visits: u32,
    pub(super) changes: u32,
    pub(super) attempts: u32,
    pub(super) problem: Option<PageProblem>,
    /// Reason of the problem.
    pub(super) reason: Option<String>,
    /// Time of the current response, or of the deletion.
    pub(super) settled_at: Option<Timestamp>,
    pub(super) response: Option<CurrentResponse>,
    /// Change rate and rhythm of visits.
    pub(super) refresh: RefreshState,
}

/// The shortest known path from a seed to a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DiscoveryPath {
    pub(super) depth: u32,
    pub(super) hops: u32,
    pub(super) origin: Option<String>,
}

/// Metadata of the current response of a page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CurrentResponse {
    pub(super) status: u16,
    pub(super) position: LibraryPosition,
    pub(super) digest: u64,
    pub(super) text: u64,
    pub(super) indexable: bool,
    pub(super) validators: Validators,
}

/// The effect of a change, used to update counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ChangeEffect {
    /// The change makes the page due.
    pub(super) due: bool,
    pub(super) new: bool,
    /// The change is a signal that the page changed.
    pub(super) announced: bool,
    /// Evidence about the signals of the site, from a visit.
    pub(super) observed: Option<SignalObservation>,
}

/// Context of a change: everything that decides about its effect, apart from the page.
pub(super) struct ChangeContext<'a> {
    /// `true` if the change delivers a response that was not stored before.
    pub(super) new_version: bool,
    /// Time of the newest response that is no temporary error; only deletions need it.
    pub(super) content_at: Option<Timestamp>,
    /// Decides when a visited page is due.
    pub(super) plan: &'a RefreshPlan,
    /// Trust in the signals of the site.
    pub(super) signals: SiteSignals,
}

/// Applies a change to the entry of its page, creating the entry if necessary.
pub(super) fn apply_change(
    page: &mut Option<PageEntry>,
    change: &CatalogChange,
    context: &ChangeContext<'_>,
) -> ChangeEffect {
    if page.as_ref().is_some_and(|page| page.state == PageState::Removed) {
        return ChangeEffect::default();
    }
    match change {
        CatalogChange::Seed { url, at, hops, origin, stale_before } => {
            let link = DiscoveredLink {
                hops: *hops,
                origin: origin.clone(),
                stale_before: *stale_before,
                ..DiscoveredLink::new(url.clone(), 0, *at)
            };
            let mut effect = apply_link(page, &link, context);
            effect.due |= *hops == 0 && page.as_mut().is_some_and(|page| page.reseed(*at));
            effect
        }
        CatalogChange::Found(link) => apply_link(page, link, context),
        CatalogChange::Visited { url, at, outcome, next_due } => {
            let page = page.get_or_insert_with(|| PageEntry::without_link(*at));
            page.visits = page.visits.saturating_add(u32::from(context.new_version));
            let observed = page.apply_visit(*at, outcome, *next_due, context);
            // Many sites have no icon, which is no problem.
            let is_response = matches!(outcome, VisitOutcome::Responded(_));
            if is_response && RecordKind::of_url(url) == RecordKind::Icon {
                (page.problem, page.reason) = (None, None);
            }
            ChangeEffect { observed, ..ChangeEffect::default() }
        }
        CatalogChange::Deleted { at, .. } => {
            page.get_or_insert_with(|| PageEntry::without_link(*at)).mark_deleted(*at, context.content_at);
            ChangeEffect::default()
        }
        CatalogChange::Recrawl { at, .. } => {
            let due = page.as_mut().is_some_and(|page| page.recrawl(*at));
            ChangeEffect { due, ..ChangeEffect::default() }
        }
        CatalogChange::Removed(Removal::Page(_)) => {
            *page = Some(PageEntry::removed());
            ChangeEffect::default()
        }
        _ => ChangeEffect::default(),
    }
}

/// Applies a seed or link.
fn apply_link(
    page: &mut Option<PageEntry>,
    link: &DiscoveredLink,
    context: &ChangeContext<'_>,
) -> ChangeEffect {
    match page {
        Some(page) => {
            let due = page.rediscover(link);
            let announced = page.is_announced_by(link);
            let due = announced && page.announce(link.at, context) || due;
            ChangeEffect { due, announced, ..ChangeEffect::default() }
        }
        None => {
            *page = Some(PageEntry::discovered(link));
            ChangeEffect { due: true, new: true, ..ChangeEffect::default() }
        }
    }
}

/// Returns the weight and link count of a page discovered through this link.
pub(super) fn initial_weight(link: &DiscoveredLink) -> (u32, u32) {
    (link.weight.min(MAX_WEIGHT), u32::from(link.counted))
}

/// Returns the weight and link count of a waiting page after one more link to it.
pub(super) fn add_link_weight(weight: u32, linked_by: u32, link: &DiscoveredLink) -> (u32, u32) {
    let (bonus, more) = if link.counted { (LINK_BONUS, 1) } else { (0, 0) };
    (weight.max(link.weight).saturating_add(bonus).min(MAX_WEIGHT), linked_by.saturating_add(more))
}

impl DiscoveryPath {
    fn from_link(link: &DiscoveredLink) -> Self {
        Self { depth: link.depth, hops: link.hops, origin: link.origin.clone() }
    }
}

impl CurrentResponse {
    fn from_summary(response: &ResponseSummary) -> Self {
        Self {
            status: response.status,
            position: response.position,
            digest: response.digest,
            text: response.text,
            indexable: response.indexable,
            validators: response.validators.clone(),
        }
    }
}

impl PageEntry {
    /// Creates the entry of a newly discovered page.
    fn discovered(link: &DiscoveredLink) -> Self {
        let (weight, linked_by) = initial_weight(link);
        let (path, anchor) = (DiscoveryPath::from_link(link), link.anchor.clone());
        Self { path, anchor, weight, linked_by, ..Self::without_link(link.at) }
    }

    /// Creates an entry for a page without a known link: from an import, or after the loss of the first records.
    fn without_link(at: Timestamp) -> Self {
        Self {
            state: PageState::Waiting,
            path: DiscoveryPath::default(),
            anchor: String::new(),
            weight: 0,
            linked_by: 0,
            found_at: at,
            due: None,
            visited_at: None,
            visits: 0,
            changes: 0,
            attempts: 0,
            problem: None,
            reason: None,
            settled_at: None,
            response: None,
            refresh: RefreshState::default(),
        }
    }

    /// Returns the entry of a removed page, which keeps nothing of its former content.
    fn removed() -> Self {
        Self { state: PageState::Removed, ..Self::without_link(Timestamp::EPOCH) }
    }

    /// Applies a further link to the page. A shorter path replaces the present one while the page waits. Returns
    /// `true` if the page becomes due.
    fn rediscover(&mut self, link: &DiscoveredLink) -> bool {
        if self.state != PageState::Waiting {
            if link.counted {
                self.linked_by = self.linked_by.saturating_add(1);
            }
            return self.refresh_if_stale(link);
        }
        (self.weight, self.linked_by) = add_link_weight(self.weight, self.linked_by, link);
        let nearer = link.depth < self.path.depth;
        if nearer {
            self.path = DiscoveryPath::from_link(link);
        }
        nearer
    }

    /// Makes the page due if its last visit is older than the limit given by the link. Returns `true` if it becomes
    /// due.
    fn refresh_if_stale(&mut self, link: &DiscoveredLink) -> bool {
        let stale = link.stale_before.is_some_and(|moment| self.last_event_at() < Some(moment));
        let sooner = self.due.is_none_or(|due| link.at < due);
        if stale && sooner {
            self.due = Some(link.at);
            self.attempts = 0;
        }
        stale && sooner
    }

    /// Returns `true` if a link announces a change after the last visit.
    fn is_announced_by(&self, link: &DiscoveredLink) -> bool {
        let visited = self.state != PageState::Waiting;
        visited && link.modified.is_some_and(|modified| self.last_event_at() < Some(modified))
    }

    /// Applies a signal that the page changed: its next visit comes forward as far as the signals of its site can be
    /// trusted, but not before `at`. Further signals before that visit change nothing. Returns `true` if the page becomes
    /// due at `at`.
    fn announce(&mut self, at: Timestamp, context: &ChangeContext<'_>) -> bool {
        let due = match self.due {
            None => at,
            Some(_) if self.refresh.is_announced => return false,
            Some(due) => {
                let rate = context.plan.demand(&self.refresh, self.weight).rate;
                let advance =
                    Duration::from_secs_f64(86_400.0 * context.signals.advance(rate).min(MAX_ADVANCE));
                due.min(due.minus(advance).max(at))
            }
        };
        self.refresh.is_announced = true;
        let is_due = due <= at && self.due.is_none_or(|before| due < before);
        self.due = Some(due);
        if is_due {
            self.attempts = 0;
        }
        is_due
    }

    /// Applies a repeated seed, which makes a failed, refused or deleted page due again. Returns `true` if it does.
    fn reseed(&mut self, at: Timestamp) -> bool {
        // Decided by the last event, not by the state: an old capture may have changed the state since.
        let failed = self.reason.is_some();
        let needs_retry = match self.state {
            PageState::Deleted => true,
            PageState::Failed | PageState::Refused => failed,
            PageState::Stored | PageState::Quarantined => {
                failed
                    || self.response.as_ref().is_some_and(|a| StatusMeaning::from_status(a.status).is_error())
            }
            PageState::Waiting | PageState::Removed => false,
        };
        let again = needs_retry && Some(at) >= self.last_event_at();
        if again {
            self.due = Some(at);
            self.attempts = 0;
        }
        again
    }

    /// Applies an operator's recrawl request, unless the page was visited since. Returns `true` if the page becomes
    /// due. Waiting pages are due already.
    fn recrawl(&mut self, at: Timestamp) -> bool {
        if self.state == PageState::Waiting || self.last_event_at() >= Some(at) {
            return false;
        }
        self.attempts = 0;
        let sooner = self.due.is_none_or(|due| at < due);
        if sooner {
            self.due = Some(at);
        }
        sooner
    }

    /// Returns `true` if a later response of the crawler proves that the dates of the page are wrong.
    pub(super) fn is_misdated(&self, at: Timestamp, outcome: &VisitOutcome) -> bool {
        let VisitOutcome::Responded(new) = outcome else { return false };
        let latest = Some(at.plus(CLOCK_TOLERANCE));
        let current = self.response.as_ref().map(|current| current.position.sort_key());
        new.is_live
            && Some(new.position.sort_key()) > current
            && (self.visited_at > latest || self.settled_at > latest)
    }

    /// Sets dates after `at` to `at`.
    fn correct_dates(&mut self, at: Timestamp) {
        self.visited_at = self.visited_at.min(Some(at));
        self.settled_at = self.settled_at.min(Some(at));
    }

    /// Applies a visit. The discovery path stays unchanged. Returns what the visit says about the signals of the site.
    fn apply_visit(
        &mut self,
        at: Timestamp,
        outcome: &VisitOutcome,
        next_due: Option<Timestamp>,
        context: &ChangeContext<'_>,
    ) -> Option<SignalObservation> {
        let ChangeContext { new_version, plan, .. } = *context;
        if self.is_misdated(at, outcome) {
            self.correct_dates(at);
        }
        // Only the crawler fails. The content keeps its date until there is a response.
        let is_failure = !matches!(outcome, VisitOutcome::Responded(_));
        if is_failure && self.visited_at > Some(at.plus(CLOCK_TOLERANCE)) {
            self.visited_at = Some(at);
        }
        let is_last = Some(at) >= self.last_event_at();
        self.visited_at = self.visited_at.max(Some(at));
        match outcome {
            VisitOutcome::Responded(response) => {
                if (at, false, Some(response.position.sort_key())) < self.content_order() {
                    return None;
                }
                // A temporary error says nothing about a page that a data feed deleted.
                if response.inconclusive && self.state == PageState::Deleted {
                    self.schedule(next_due, response.attempts, None);
                    return None;
                }
                let settled_before = self.settled_at;
                let before = self.response.replace(CurrentResponse::from_summary(response));
                let quarantine = response.quarantine.as_ref();
                self.state = quarantine.map_or(PageState::Stored, |_| PageState::Quarantined);
                self.settled_at = Some(at);
                self.weight = if response.weight > 0 { response.weight.min(MAX_WEIGHT) } else { self.weight };
                let comparable = before.filter(|before| is_comparable(before, response));
                let changed =
                    new_version && comparable.as_ref().is_some_and(|before| is_changed(before, response));
                self.changes = self.changes.saturating_add(u32::from(changed));
                let elapsed = settled_before.map(|before| at.since(before));
                let compared = elapsed.filter(|_| new_version && comparable.is_some());
                let observed = compared.map(|elapsed| SignalObservation {
                    elapsed: elapsed.as_secs_f64() / 86_400.0,
                    is_announced: self.refresh.is_announced,
                    changed,
                });
                let fixed = next_due.map(|due| due.since(at));
                let interval = match response.refresh {
                    Some(class) => {
                        let (is_new, weight) = (new_version, self.weight);
                        let visit = SettledVisit { class, fixed, compared, changed, is_new, weight };
                        self.refresh.after_visit(plan, &visit)
                    }
                    None => fixed,
                };
                if is_last {
                    self.refresh.is_announced = false;
                    let due = interval.map(|wait| at.plus(wait));
                    self.schedule(due, response.attempts, self.response_problem(response));
                }
                return observed;
            }
            VisitOutcome::Failed { reason, attempt } if is_last => {
                self.set_unanswered(PageState::Failed);
                self.schedule(next_due, *attempt, Some((PageProblem::Failed, reason.clone())));
            }
            VisitOutcome::Refused { reason } if is_last => {
                self.set_unanswered(PageState::Refused);
                // A page that may no longer be fetched leaves the index.
                if let Some(response) = &mut self.response {
                    response.indexable = false;
                }
                self.schedule(next_due, self.attempts, Some((PageProblem::Refused, reason.clone())));
            }
            // A failure older than the last event.
            VisitOutcome::Failed { .. } | VisitOutcome::Refused { .. } => {}
        }
        None
    }

    /// Applies a deletion reported by a data feed, unless newer content is known. Newer errors that may be temporary say
    /// nothing about the page.
    fn mark_deleted(&mut self, at: Timestamp, content_at: Option<Timestamp>) {
        let known = if self.state == PageState::Deleted { self.settled_at } else { content_at };
        if known.is_some_and(|known| at < known) {
            return;
        }
        self.state = PageState::Deleted;
        self.settled_at = Some(at);
        self.response = None;
        if Some(at) >= self.visited_at {
            self.schedule(None, 0, None);
        }
    }

    /// Returns `true` if the response at `position` is the current one.
    pub(super) fn is_current(&self, position: LibraryPosition) -> bool {
        self.response.as_ref().is_some_and(|a| a.position == position)
    }

    pub(super) fn is_indexable(&self) -> bool {
        self.response.as_ref().is_some_and(|a| a.indexable)
    }

    /// Returns the sort key of the current content. Responses are ordered by time, then by position. A deletion at
    /// the same time as a response wins.
    fn content_order(&self) -> (Timestamp, bool, Option<u64>) {
        let at = self.settled_at.unwrap_or(Timestamp::from_millis(i64::MIN));
        (at, self.state == PageState::Deleted, self.response.as_ref().map(|a| a.position.sort_key()))
    }

    fn last_event_at(&self) -> Option<Timestamp> {
        if self.state == PageState::Deleted { self.visited_at.max(self.settled_at) } else { self.visited_at }
    }

    fn set_unanswered(&mut self, state: PageState) {
        if self.settled_at.is_none() {
            self.state = state;
        }
    }

    fn schedule(&mut self, due: Option<Timestamp>, attempts: u32, problem: Option<(PageProblem, String)>) {
        self.due = due;
        self.attempts = attempts;
        (self.problem, self.reason) = problem.unzip();
    }

    /// Returns the problem that a response expresses, and the reason.
    fn response_problem(&self, response: &ResponseSummary) -> Option<(PageProblem, String)> {
        if let Some(reason) = &response.quarantine {
            return Some((PageProblem::Quarantined, reason.clone()));
        }
        if let Some(problem) = PageProblem::from_status(response.status) {
            return Some((problem, format!("status {}", response.status)));
        }
        let is_seed = self.path.depth == 0 && response.is_live;
        let leads_nowhere = !response.indexable && response.links == 0;
        (is_seed && leads_nowhere && is_success(response.status))
            .then(|| (PageProblem::Empty, "it has neither text to search nor links to follow".to_string()))
    }

    /// Converts the entry to its public form.
    pub(super) fn into_report(self, url: PageUrl) -> PageDetails {
        let due = if self.state == PageState::Waiting { Some(self.found_at) } else { self.due };
        PageDetails {
            url,
            state: self.state,
            depth: self.path.depth,
            hops: self.path.hops,
            origin: self.path.origin,
            anchor: self.anchor,
            found_at: self.found_at,
            visited_at: self.visited_at,
            visits: self.visits,
            changes: self.changes,
            attempts: self.attempts,
            status: self.response.as_ref().map(|a| a.status),
            problem: self.problem,
            reason: self.reason,
            position: self.response.as_ref().map(|a| a.position),
            digest: self.response.as_ref().map(|a| a.digest),
            text: self.response.as_ref().map(|a| a.text).filter(|text| *text != 0),
            indexable: self.response.as_ref().is_some_and(|a| a.indexable),
            validators: self.response.map(|a| a.validators).unwrap_or_default(),
            weight: self.weight,
            linked_by: self.linked_by,
            refresh: self.refresh,
            due,
        }
    }
}
/// Returns `true` if both responses have a text.
fn is_comparable(before: &CurrentResponse, now: &ResponseSummary) -> bool {
    before.text != 0 && now.text != 0
}

/// Returns `true` if the text changed. Hashes of texts extracted by different methods are not comparable; in that
/// case the body hashes decide.
fn is_changed(before: &CurrentResponse, now: &ResponseSummary) -> bool {
    if (before.text ^ now.text) & 1 == 0 { before.text != now.text } else { before.digest != now.digest }
}
