//! Simulation of a refresh policy on a trace, with change rates learned from the simulated visits alone.
//!
//! All policies get the same number of visits. Pages are served by stride scheduling (Waldspurger & Weihl 1995): a page is
//! due at the virtual time of its last visit plus its interval, the page due first is visited next, and virtual time is
//! the due time of the page served last. This scales all intervals by a common factor, so that any set of intervals uses
//! the budget exactly. The running engine does the same with its threshold θ.

mod figure;
mod learned;
mod measures;
mod paper;

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use thiserror::Error;

use super::trace::{DAY, Trace, TracePage};
pub use figure::lag_figure;
pub use learned::LearnedIntervals;
use measures::Measures;
pub use measures::PolicyFigures;
pub use paper::PaperIntervals;

/// Maximum number of visits of a simulation.
pub const MAX_VISITS: f64 = 1e9;

/// Conditions of a simulation, the same for all policies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationOptions {
    /// Visits per day.
    pub budget: f64,
    /// Longest time between two visits of a page, in days. At most every second visit is spent on pages beyond it.
    pub longest: f64,
}

/// An error in the conditions of a simulation.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SimulationError {
    #[error("the trace has no valid page")]
    NoPages,
    #[error("the budget must be a positive number of visits per day")]
    InvalidBudget,
    #[error(
        "{days:.0} days with {budget} visits a day exceed the maximum of {MAX_VISITS:.0} visits: use a smaller budget"
    )]
    TooManyVisits { days: f64, budget: f64 },
}

/// The time and result of a simulated visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedVisit {
    /// Seconds since 1970.
    pub at: f64,
    /// Days since the previous visit.
    pub elapsed: f64,
    /// Number of changes since the previous visit. An estimator may only use whether there were any.
    pub changes: u32,
}

/// Chooses the intervals between the visits of each page, in days.
pub trait VisitIntervals {
    /// Returns the interval of a page that becomes known.
    fn start(&mut self, number: usize, page: &TracePage) -> f64;

    /// Returns the interval after a visit.
    fn next(&mut self, number: usize, visit: &SimulatedVisit) -> f64;

    /// Ends the observation of a page.
    fn end(&mut self, _number: usize) {}

    /// Computes the intervals of all pages again. Returns `true` if they may have changed.
    fn plan(&mut self) -> bool {
        false
    }

    /// Returns the current interval of a page, after [`plan`](Self::plan).
    fn current(&self, number: usize) -> f64;

    /// Returns the share of a day's visits that is spent in an hour of the day (UTC).
    fn hour_share(&self, _hour: usize) -> f64 {
        1.0 / 24.0
    }
}

/// State of a page in a simulation. Virtual times are in days.
#[derive(Clone, Copy, Debug)]
struct PageState {
    last_visit: f64,
    virtual_visit: f64,
    due: f64,
    /// Number of changes that visits have collected.
    collected: u32,
    /// Share of the interval after which the page is due: less than 1 before the first visit, so that pages that become
    /// known together are not due together.
    phase: f32,
    is_observed: bool,
}

/// A page and its due time; the earliest is the greatest.
#[derive(Clone, Copy, PartialEq)]
struct DueEntry {
    due: f64,
    page: u32,
}

impl Eq for DueEntry {}

impl PartialOrd for DueEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for DueEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.due.total_cmp(&self.due).then_with(|| other.page.cmp(&self.page))
    }
}

/// Simulates a policy on a trace.
pub fn simulate(
    trace: &Trace,
    options: &SimulationOptions,
    intervals: &mut dyn VisitIntervals,
) -> Result<PolicyFigures, SimulationError> {
    let (start, end) = trace.span().ok_or(SimulationError::NoPages)?;
    let (start, end) = (start as f64, end as f64);
    let days = (end - start) / DAY;
    if !(options.budget > 0.0 && options.budget.is_finite()) {
        return Err(SimulationError::InvalidBudget);
    }
    if days * options.budget > MAX_VISITS {
        return Err(SimulationError::TooManyVisits { days, budget: options.budget });
    }
    let mut simulation = Simulation {
        trace,
        longest: options.longest * DAY,
        states: vec![None; trace.pages().len()],
        heap: BinaryHeap::new(),
        oldest: VecDeque::new(),
        measures: Measures::default(),
        virtual_now: 0.0,
        known: 0,
        was_overdue: false,
    };
    let mut order: Vec<u32> = (0..trace.pages().len() as u32).collect();
    order.sort_by_key(|page| trace.pages()[*page as usize].from);
    let mut arrivals = order.into_iter().peekable();
    let (mut now, mut next_plan, mut visits) = (start, 0u64, 0u64);
    loop {
        let hour = (now / 3600.0).rem_euclid(24.0) as usize % 24;
        now += DAY / options.budget / (24.0 * intervals.hour_share(hour)).max(1e-3);
        if simulation.known == 0 {
            let Some(next) = arrivals.peek() else { break };
            now = now.max(trace.pages()[*next as usize].from as f64);
        }
        if now > end {
            break;
        }
        let before = simulation.known;
        while let Some(page) = arrivals.next_if(|page| trace.pages()[*page as usize].from as f64 <= now) {
            simulation.admit(page, intervals);
        }
        visits += 1;
        let has_grown = simulation.known > before + before / 10;
        if (visits >= next_plan || has_grown) && intervals.plan() {
            simulation.reschedule(intervals);
        }
        if visits >= next_plan || has_grown {
            next_plan = visits + (simulation.known as u64 / 4).max(64);
        }
        simulation.visit_next(now, intervals);
    }
    for page in 0..trace.pages().len() as u32 {
        simulation.close(page, intervals);
    }
    Ok(simulation.measures.figures())
}

struct Simulation<'t> {
    trace: &'t Trace,
    /// Longest time between two visits, in seconds.
    longest: f64,
    states: Vec<Option<PageState>>,
    /// Pages by due time. Entries that differ from the state of their page are outdated.
    heap: BinaryHeap<DueEntry>,
    /// Pages by last visit, oldest first. Entries that differ from the state of their page are outdated.
    oldest: VecDeque<(u32, f64)>,
    measures: Measures,
    virtual_now: f64,
    /// Number of pages that are observed.
    known: usize,
    /// The last visit was to a page beyond the longest interval.
    was_overdue: bool,
}

impl Simulation<'_> {
    fn admit(&mut self, page: u32, intervals: &mut dyn VisitIntervals) {
        let entry = &self.trace.pages()[page as usize];
        let phase = start_phase(page);
        let interval = intervals.start(page as usize, entry);
        let due = self.virtual_now + f64::from(phase) * interval;
        self.states[page as usize] = Some(PageState {
            last_visit: entry.from as f64,
            virtual_visit: self.virtual_now,
            due,
            collected: 0,
            phase,
            is_observed: true,
        });
        self.heap.push(DueEntry { due, page });
        self.oldest.push_back((page, entry.from as f64));
        self.known += 1;
    }

    /// Applies new intervals to all pages.
    fn reschedule(&mut self, intervals: &dyn VisitIntervals) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.clear();
        for (page, state) in self.states.iter_mut().enumerate() {
            let Some(state) = state.as_mut().filter(|state| state.is_observed) else { continue };
            state.due = state.virtual_visit + f64::from(state.phase) * intervals.current(page);
            entries.push(DueEntry { due: state.due, page: page as u32 });
        }
        self.heap = entries.into();
    }

    /// Visits the page that is overdue or due first.
    fn visit_next(&mut self, now: f64, intervals: &mut dyn VisitIntervals) {
        let overdue = if self.was_overdue { None } else { self.overdue_page(now) };
        self.was_overdue = overdue.is_some();
        let Some(page) = overdue.or_else(|| self.due_page(now, intervals)) else { return };
        let Some(state) = &mut self.states[page as usize] else { return };
        let entry = &self.trace.pages()[page as usize];
        let seconds = self.trace.changes_of(entry);
        let first = state.collected as usize;
        let found = seconds[first..].partition_point(|at| entry.from as f64 + f64::from(*at) <= now);
        let collected = &seconds[first..first + found];
        self.measures.visit(entry, state.last_visit, now, collected);
        state.collected += found as u32;
        let elapsed = (now - state.last_visit) / DAY;
        let interval =
            intervals.next(page as usize, &SimulatedVisit { at: now, elapsed, changes: found as u32 });
        state.last_visit = now;
        state.virtual_visit = self.virtual_now;
        state.phase = 1.0;
        state.due = self.virtual_now + interval;
        self.heap.push(DueEntry { due: state.due, page });
        self.oldest.push_back((page, now));
    }

    fn due_page(&mut self, now: f64, intervals: &mut dyn VisitIntervals) -> Option<u32> {
        while let Some(DueEntry { due, page }) = self.heap.pop() {
            let is_current =
                self.states[page as usize].is_some_and(|state| state.is_observed && state.due == due);
            if !is_current {
                continue;
            }
            if (self.trace.pages()[page as usize].to as f64) < now {
                self.close(page, intervals);
                continue;
            }
            if due.is_finite() {
                self.virtual_now = self.virtual_now.max(due);
            }
            return Some(page);
        }
        None
    }

    fn overdue_page(&mut self, now: f64) -> Option<u32> {
        while let Some(&(page, visited)) = self.oldest.front() {
            if now - visited < self.longest {
                return None;
            }
            self.oldest.pop_front();
            let is_current = self.states[page as usize]
                .is_some_and(|state| state.is_observed && state.last_visit == visited);
            if is_current && self.trace.pages()[page as usize].to as f64 >= now {
                return Some(page);
            }
        }
        None
    }

    /// Ends the observation of a page.
    fn close(&mut self, page: u32, intervals: &mut dyn VisitIntervals) {
        let entry = &self.trace.pages()[page as usize];
        let Some(state) = &mut self.states[page as usize] else {
            // The page never got a turn: it was known for less than the time between two visits.
            self.measures.end(entry, entry.from as f64, self.trace.changes_of(entry));
            return;
        };
        if std::mem::take(&mut state.is_observed) {
            let rest = &self.trace.changes_of(entry)[state.collected as usize..];
            self.measures.end(entry, state.last_visit, rest);
            self.known -= 1;
            intervals.end(page as usize);
        }
    }
}

/// Returns the share of the first interval after which a page is due: multiples of the golden ratio, which are evenly
/// distributed over any number of pages.
fn start_phase(page: u32) -> f32 {
    let phase = (f64::from(page) + 1.0) * 0.618_033_988_749_894_9;
    (phase.fract() as f32).max(1e-6)
}

#[cfg(test)]
mod tests;
