//! Traces: pages, and the times at which they changed.
//!
//! A trace file has one JSON object per line:
//! `{"page": "http://…", "site": "…", "weight": 1.0, "from": 1700000000, "to": 1710000000, "changes": [1700050000, …]}`,
//! with times in seconds since 1970. `site`, `weight` and `changes` may be missing. A line may also state the change rate
//! (`rate`, per day) that produced it, for the policy that knows it.

mod from_catalog;
mod read;
mod synthetic;

pub use read::{InvalidLine, TraceError, TraceReader};
pub use synthetic::{ChangeLaw, SyntheticTrace};

/// Seconds of a day.
pub const DAY: f64 = 86_400.0;

/// Maximum number of pages of a trace.
pub const MAX_PAGES: usize = 20_000_000;

/// Maximum number of changes of a trace; each takes four bytes.
pub const MAX_CHANGES: usize = 400_000_000;

/// Pages with their changes, in compact form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    pages: Vec<TracePage>,
    /// Seconds from the start of the page to each of its changes, page after page.
    changes: Vec<u32>,
}

/// A page of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracePage {
    /// Number of the site, counted from 0.
    pub site: u32,
    pub weight: f32,
    /// The known change rate per day; 0 if it is unknown.
    pub rate: f32,
    /// Time at which the page became known, in seconds since 1970.
    pub from: i64,
    /// End of the observation.
    pub to: i64,
    first: usize,
    count: u32,
}

impl TracePage {
    /// Returns the observed time in days.
    pub fn days(&self) -> f64 {
        (self.to - self.from) as f64 / DAY
    }

    /// Returns the number of changes.
    pub fn changes(&self) -> u32 {
        self.count
    }

    /// Returns the change rate that produced the page, or else an estimate from all its changes, past and future.
    pub fn known_rate(&self) -> f64 {
        if self.rate > 0.0 { f64::from(self.rate) } else { (f64::from(self.count) + 0.5) / self.days() }
    }
}

/// Figures of a whole trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSummary {
    pub pages: usize,
    pub sites: usize,
    pub changes: usize,
    /// Observed days, from the first page to the last.
    pub days: f64,
    /// Mean change rate per day.
    pub mean_rate: f64,
    /// Standard deviation of ln λ. Estimated rates scatter more than true ones.
    pub spread: f64,
    /// `true` if all pages state their rates, so that the spread is exact.
    pub has_rates: bool,
    /// Weighted mean lag of the best policy relative to the uniform one, (E√(wλ))²/(E[w·λ]), if rates are known.
    pub attainable: f64,
}

impl Trace {
    /// Adds a page. The changes are sorted, and those outside the observed time are left out. Returns their number.
    pub fn push(
        &mut self,
        site: u32,
        weight: f32,
        rate: f32,
        from: i64,
        to: i64,
        changes: &mut [i64],
    ) -> usize {
        changes.sort_unstable();
        let first = self.changes.len();
        let inside = changes.iter().filter(|at| (from..=to).contains(*at));
        self.changes.extend(inside.map(|at| u32::try_from(at - from).unwrap_or(u32::MAX)));
        let count = self.changes.len() - first;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.pages.push(TracePage { site, weight, rate, from, to, first, count });
        changes.len() - count as usize
    }

    /// Returns all pages.
    pub fn pages(&self) -> &[TracePage] {
        &self.pages
    }

    /// Returns the changes of a page, in seconds from its start.
    pub fn changes_of(&self, page: &TracePage) -> &[u32] {
        &self.changes[page.first..page.first + page.count as usize]
    }

    /// Returns the number of changes of all pages.
    pub fn change_count(&self) -> usize {
        self.changes.len()
    }

    /// Returns the start of the first and the end of the last page, or `None` for an empty trace.
    pub fn span(&self) -> Option<(i64, i64)> {
        let from = self.pages.iter().map(|page| page.from).min()?;
        Some((from, self.pages.iter().map(|page| page.to).max()?))
    }

    /// Returns the figures of the trace.
    pub fn summary(&self) -> TraceSummary {
        let number = self.pages.len().max(1) as f64;
        let (mut rates, mut logs, mut squares, mut roots, mut weighted) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for page in &self.pages {
            let (rate, weight) = (page.known_rate(), f64::from(page.weight));
            let log = rate.max(f64::MIN_POSITIVE).ln();
            rates += rate;
            logs += log;
            squares += log * log;
            roots += (weight * rate).sqrt();
            weighted += weight * rate;
        }
        let mean = logs / number;
        let attainable = if weighted > 0.0 { roots * roots / (number * weighted) } else { 1.0 };
        TraceSummary {
            pages: self.pages.len(),
            sites: self.pages.iter().map(|page| page.site as usize + 1).max().unwrap_or(0),
            changes: self.changes.len(),
            days: self.span().map_or(0.0, |(from, to)| (to - from) as f64 / DAY),
            mean_rate: rates / number,
            spread: (squares / number - mean * mean).max(0.0).sqrt(),
            has_rates: self.pages.iter().all(|page| page.rate > 0.0),
            attainable,
        }
    }
}
