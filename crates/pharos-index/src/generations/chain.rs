//! The chain of generations as stored in `CURRENT`, and its transitions: seal, install, roll back.

use pharos_core::LibraryPositions;
use serde::{Deserialize, Serialize};

/// Format version of `CURRENT` and of the generations it lists.
///
/// Format 7 added the other text of pages. Generations of format 6 are read and written without it until a build.
pub(crate) const FORMAT: u32 = 7;

/// Oldest format that is read.
pub(crate) const OLDEST_FORMAT: u32 = 6;

/// The chain of generations: the content of `CURRENT`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationChain {
    format: u32,
    /// Highest number that any history generation of this chain ever had. Numbers are never reused, because processes
    /// identify an open generation by its number.
    histories: u64,
    /// The generation built in one go, if there is one.
    pub history: Option<HistoryGeneration>,
    /// Latest generations, oldest first. The last one is open for writing, the others are sealed.
    pub latest: Vec<LatestGeneration>,
    /// Generations replaced by the last build, kept for a rollback.
    pub previous: Option<PreviousChain>,
}

/// A history generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryGeneration {
    pub number: u64,
    /// End of the library range that it covers.
    pub to: LibraryPositions,
}

/// A latest generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatestGeneration {
    pub number: u64,
    /// Start of the library range that it covers.
    pub from: LibraryPositions,
}

/// The generations that the last build removed from the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviousChain {
    pub history: HistoryGeneration,
    /// Sealed latest generations that were replaced, oldest first.
    pub latest: Vec<LatestGeneration>,
    /// End of the library range that they cover together.
    pub to: LibraryPositions,
}

impl Default for GenerationChain {
    fn default() -> Self {
        Self::new(None, 1, 0)
    }
}

impl GenerationChain {
    /// Creates a chain of an optional history and one empty latest generation.
    pub(crate) fn new(history: Option<HistoryGeneration>, latest: u64, histories: u64) -> Self {
        let from = history.as_ref().map(|h| h.to.clone()).unwrap_or_default();
        let latest = vec![LatestGeneration { number: latest, from }];
        let histories = histories.max(history.as_ref().map_or(0, |h| h.number));
        Self { format: FORMAT, histories, history, latest, previous: None }
    }

    /// Returns the chain marked with the current format, which releases before it do not read.
    pub(crate) fn in_current_format(&self) -> Self {
        Self { format: FORMAT, ..self.clone() }
    }

    /// Returns the generation that is open for writing.
    pub fn open(&self) -> LatestGeneration {
        let first = || LatestGeneration { number: 1, from: LibraryPositions::START };
        self.latest.last().cloned().unwrap_or_else(first)
    }

    /// Returns the highest number that a history generation ever had.
    pub(crate) fn highest_history_number(&self) -> u64 {
        self.histories
    }

    /// Returns the chain with the open generation sealed at `at` and a new open one.
    pub(crate) fn sealed(&self, at: LibraryPositions) -> Self {
        let mut next = self.clone();
        next.latest.push(LatestGeneration { number: self.open().number + 1, from: at });
        next
    }

    /// Returns the chain with a new history, which replaces all sealed generations that it fully covers. The replaced
    /// generations are kept for a rollback if there was a history before.
    pub(crate) fn installed(&self, history: HistoryGeneration) -> Self {
        let ends = self.latest.iter().skip(1).map(|next| &next.from);
        let leaving = ends.take_while(|end| history.to.covers_all(end)).count();
        let (left, stay) = self.latest.split_at(leaving);
        let to = stay.first().map_or(&history.to, |latest| &latest.from).clone();
        Self {
            histories: self.histories.max(history.number),
            history: Some(history),
            latest: stay.to_vec(),
            previous: self.history.clone().map(|history| PreviousChain {
                history,
                latest: left.to_vec(),
                to,
            }),
            format: self.format,
        }
    }

    /// Returns the chain with the previous history restored, together with its sealed generations and all later ones.
    /// Returns `None` if no previous history is kept.
    pub fn rolled_back(&self) -> Option<Self> {
        let previous = self.previous.as_ref()?;
        let latest = previous.latest.iter().chain(&self.latest).cloned().collect();
        Some(Self { history: Some(previous.history.clone()), latest, previous: None, ..*self })
    }

    /// Returns the library range that only the current history covers, but neither the previous history nor the
    /// latest generations.
    ///
    /// The gap arises when an owner with an empty open generation starts and continues from the end of history.
    pub fn gap(&self) -> Option<(LibraryPositions, LibraryPositions)> {
        let previous = self.previous.as_ref()?;
        let first = self.latest.first()?;
        (!previous.to.covers_all(&first.from)).then(|| (previous.to.clone(), first.from.clone()))
    }

    /// Returns the chain with the oldest latest generation covering the library from `from` on.
    pub(crate) fn widened(&self, from: &LibraryPositions) -> Self {
        let mut wider = self.clone();
        if let Some(first) = wider.latest.first_mut() {
            first.from = first.from.lowest(from);
        }
        wider
    }

    /// Returns the chain with the empty open generation starting at the end of history.
    pub(crate) fn caught_up(&self) -> Self {
        let mut next = self.clone();
        if let (Some(open), Some(history)) = (next.latest.last_mut(), &self.history) {
            open.from = open.from.highest(&history.to);
        }
        next
    }

    /// Returns all referenced history generations, current and previous.
    pub(crate) fn named_histories(&self) -> impl Iterator<Item = &HistoryGeneration> {
        self.history.iter().chain(self.previous.iter().map(|previous| &previous.history))
    }

    /// Returns all referenced latest generations, oldest first.
    pub(crate) fn named_latest(&self) -> impl Iterator<Item = &LatestGeneration> {
        self.previous.iter().flat_map(|previous| &previous.latest).chain(&self.latest)
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::LibraryPosition;

    use super::*;

    fn at(offset: u64) -> LibraryPositions {
        LibraryPosition::new(1, offset).into()
    }

    fn numbers(chain: &GenerationChain) -> (u64, Vec<u64>) {
        (chain.history.as_ref().map_or(0, |h| h.number), chain.latest.iter().map(|l| l.number).collect())
    }

    #[test]
    fn a_rollback_restores_the_generations_a_build_replaced() {
        let first = GenerationChain::default()
            .sealed(at(100))
            .installed(HistoryGeneration { number: 1, to: at(100) });
        assert_eq!(numbers(&first), (1, vec![2]));
        assert_eq!(first.rolled_back(), None, "there was no history before");
        // Two killed builders left two seals.
        let sealed = first.sealed(at(150)).sealed(at(170));
        let second = sealed.installed(HistoryGeneration { number: 2, to: at(190) });
        assert_eq!(numbers(&second), (2, vec![4]));
        let kept = second.previous.as_ref().unwrap();
        assert_eq!((kept.history.number, kept.latest.len(), &kept.to), (1, 2, &at(170)));
        assert_eq!(second.gap(), None);
        let later = second.sealed(at(250));
        let back = later.rolled_back().unwrap();
        assert_eq!(numbers(&back), (1, vec![2, 3, 4, 5]));
        assert_eq!((back.highest_history_number(), back.rolled_back()), (2, None));
        assert_eq!(back.open(), later.open());
        assert!(later.named_latest().map(|l| l.number).eq([2, 3, 4, 5]));
    }

    #[test]
    fn a_sealed_generation_that_reaches_further_than_history_stays() {
        let chain = GenerationChain::default().sealed(at(100)).sealed(at(200));
        let installed = chain.installed(HistoryGeneration { number: 1, to: at(180) });
        assert_eq!(numbers(&installed), (1, vec![2, 3]));
    }

    #[test]
    fn a_gap_of_the_previous_chain_is_detected() {
        let chain = GenerationChain::new(Some(HistoryGeneration { number: 1, to: at(100) }), 1, 0);
        let chain = chain.sealed(at(100)).installed(HistoryGeneration { number: 2, to: at(180) });
        assert_eq!(chain.gap(), None, "an owner that continues from 100 covers everything");
        let chain = chain.caught_up();
        assert_eq!(chain.gap(), Some((at(100), at(180))));
        assert_eq!(chain.widened(&at(100)).gap(), None);
    }
}
