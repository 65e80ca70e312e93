//! The chain of generations: what `CURRENT` says, and what may become of it.

use pharos_core::LibraryPosition;
use serde::{Deserialize, Serialize};

/// Format of `CURRENT` and of the generations it names.
pub(crate) const FORMAT: u32 = 6;

/// The chain: what `CURRENT` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Current {
    format: u32,
    /// The highest number that a history generation of this chain ever had. Numbers are not given twice: whoever has
    /// a generation open knows it by its number.
    histories: u64,
    /// The generation built in one go, once there is one.
    pub history: Option<History>,
    /// The generations that follow the library, oldest first; the last one is written to, the others are sealed.
    pub latest: Vec<Latest>,
    /// What the last build took out of the chain, for going back.
    pub previous: Option<Previous>,
}

/// The history generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Its number.
    pub number: u64,
    /// It knows the library up to here.
    pub to: LibraryPosition,
}

/// A latest generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latest {
    /// Its number.
    pub number: u64,
    /// It knows the library from here on.
    pub from: LibraryPosition,
}

/// The chain before the last build, but for the generations that are still in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previous {
    /// The history before.
    pub history: History,
    /// The sealed latest generations that left the chain with it, oldest first.
    pub latest: Vec<Latest>,
    /// Together they know the library up to here.
    pub to: LibraryPosition,
}

impl Default for Current {
    fn default() -> Self {
        Self::beginning(None, 1, 0)
    }
}

impl Current {
    /// A new chain: this history, if any, and one empty latest generation of this number behind it.
    pub(crate) fn beginning(history: Option<History>, latest: u64, histories: u64) -> Self {
        let from = history.map_or(LibraryPosition::START, |h| h.to);
        let latest = vec![Latest { number: latest, from }];
        let histories = histories.max(history.map_or(0, |h| h.number));
        Self { format: FORMAT, histories, history, latest, previous: None }
    }

    /// The generation that is written to.
    pub fn open(&self) -> Latest {
        self.latest.last().copied().unwrap_or(Latest { number: 1, from: LibraryPosition::START })
    }

    /// The highest number that a history generation ever had.
    pub(crate) fn histories(&self) -> u64 {
        self.histories
    }

    /// The open generation ends at `at`, and the next is open.
    pub(crate) fn sealed(&self, at: LibraryPosition) -> Self {
        let mut next = self.clone();
        next.latest.push(Latest { number: self.open().number + 1, from: at });
        next
    }

    /// With a new history, which takes the place of all sealed generations that it knows to their end. What left the
    /// chain is kept for going back, where there was a history before.
    pub(crate) fn installed(&self, history: History) -> Self {
        let ends = self.latest.iter().skip(1).map(|next| next.from);
        let leaving = ends.take_while(|end| *end <= history.to).count();
        let (left, stay) = self.latest.split_at(leaving);
        let to = stay.first().map_or(history.to, |latest| latest.from);
        Self {
            histories: self.histories.max(history.number),
            history: Some(history),
            latest: stay.to_vec(),
            previous: self.history.map(|history| Previous { history, latest: left.to_vec(), to }),
            ..*self
        }
    }

    /// With the history before in place again, the sealed generations that belonged to it, and all that came since,
    /// which go on hiding what they hid. `None` where nothing was kept.
    pub fn rolled_back(&self) -> Option<Self> {
        let previous = self.previous.as_ref()?;
        let latest = previous.latest.iter().chain(&self.latest).copied().collect();
        Some(Self { history: Some(previous.history), latest, previous: None, ..*self })
    }

    /// The stretch of the library that only the history in place knows, and neither the one before nor the latest
    /// generations: an owner that had nothing in the open one when it started went on from where history ended.
    pub fn gap(&self) -> Option<(LibraryPosition, LibraryPosition)> {
        let previous = self.previous.as_ref()?;
        let first = self.latest.first()?;
        (first.from > previous.to).then_some((previous.to, first.from))
    }

    /// The oldest generation behind history knows the library from `from` on, not only from where it says.
    pub(crate) fn widened(&self, from: LibraryPosition) -> Self {
        let mut wider = self.clone();
        if let Some(first) = wider.latest.first_mut() {
            first.from = first.from.min(from);
        }
        wider
    }

    /// The open generation, which has nothing yet, goes on from where history ends.
    pub(crate) fn caught_up(&self) -> Self {
        let mut next = self.clone();
        if let (Some(open), Some(history)) = (next.latest.last_mut(), self.history) {
            open.from = open.from.max(history.to);
        }
        next
    }

    /// Every history generation that must stay, in place or kept.
    pub(crate) fn named_histories(&self) -> impl Iterator<Item = History> {
        self.history.into_iter().chain(self.previous.iter().map(|previous| previous.history))
    }

    /// Every latest generation that must stay, oldest first.
    pub(crate) fn named_latest(&self) -> impl Iterator<Item = Latest> {
        self.previous.iter().flat_map(|previous| &previous.latest).chain(&self.latest).copied()
    }
}

/// What a builder or an operator asks of the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wish {
    /// Seal this latest generation.
    Seal(u64),
    /// Put this history generation in place.
    Install(History),
    /// Go back from the history generation of this number to the one before.
    Rollback(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64) -> LibraryPosition {
        LibraryPosition { file: 1, offset }
    }

    fn numbers(chain: &Current) -> (u64, Vec<u64>) {
        (chain.history.map_or(0, |h| h.number), chain.latest.iter().map(|l| l.number).collect())
    }

    #[test]
    fn going_back_brings_back_what_a_build_took_out() {
        let first = Current::default().sealed(at(100)).installed(History { number: 1, to: at(100) });
        assert_eq!(numbers(&first), (1, vec![2]));
        assert_eq!(first.rolled_back(), None, "there was no history before");
        // Two builders that were killed left two seals.
        let sealed = first.sealed(at(150)).sealed(at(170));
        let second = sealed.installed(History { number: 2, to: at(190) });
        assert_eq!(numbers(&second), (2, vec![4]));
        let kept = second.previous.as_ref().unwrap();
        assert_eq!((kept.history.number, kept.latest.len(), kept.to), (1, 2, at(170)));
        assert_eq!(second.gap(), None);
        let later = second.sealed(at(250));
        let back = later.rolled_back().unwrap();
        assert_eq!(numbers(&back), (1, vec![2, 3, 4, 5]));
        assert_eq!((back.histories(), back.rolled_back()), (2, None));
        assert_eq!(back.open(), later.open());
        assert!(later.named_latest().map(|l| l.number).eq([2, 3, 4, 5]));
    }

    #[test]
    fn a_sealed_generation_that_reaches_further_than_history_stays() {
        let chain = Current::default().sealed(at(100)).sealed(at(200));
        let installed = chain.installed(History { number: 1, to: at(180) });
        assert_eq!(numbers(&installed), (1, vec![2, 3]));
    }

    #[test]
    fn what_only_history_knows_is_known_to_be_missing_before_it() {
        let chain = Current::beginning(Some(History { number: 1, to: at(100) }), 1, 0);
        let chain = chain.sealed(at(100)).installed(History { number: 2, to: at(180) });
        assert_eq!(chain.gap(), None, "an owner that goes on from 100 has it all");
        let chain = chain.caught_up();
        assert_eq!(chain.gap(), Some((at(100), at(180))));
        assert_eq!(chain.widened(at(100)).gap(), None);
    }
}
