//! A double-array trie (双数组) over characters (Aoe 1989). The symbols of a text are looked up once.
//!
//! A state is an index into an array of units. From a state with offset `base`, the symbol `s` leads to the
//! unit `base + s`; the transition exists if the `check` of that unit names the state. A word that ends in an
//! inner state is stored in the child with symbol 0, which no character has. A leaf stores the word itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of a character inside a trie. Frequent characters have small numbers.
pub(crate) type Symbol = u16;

/// The symbol of the end of a word, and of characters that occur in no word.
pub(crate) const NONE: Symbol = 0;

/// Flag of `base`: the state is a leaf and holds a word instead of an offset.
const LEAF: u32 = 1 << 31;
/// Flag of `base`: the state has a word in its child with symbol [`NONE`].
const WORD: u32 = 1 << 30;
const OFFSET: u32 = WORD - 1;

/// Number of gaps tried before the search start is advanced. Trades space for time.
const MAX_TRIES: usize = 256;

/// Two numbers per unit: `base` and `check`. `check` is the parent state plus one.
pub(crate) type Units = [u32];

/// The initial state.
pub(crate) const ROOT: u32 = 0;

/// Returns the state reached by one symbol.
#[inline]
pub(crate) fn step(units: &Units, state: u32, symbol: Symbol) -> Option<u32> {
    let base = *units.get(2 * state as usize)?;
    if base & LEAF != 0 || symbol == NONE {
        return None;
    }
    let next = (base & OFFSET) + u32::from(symbol);
    let check = *units.get(2 * next as usize + 1)?;
    (check == state + 1).then_some(next)
}

/// Returns the state reached from the root by all symbols.
pub(crate) fn find(units: &Units, symbols: &[Symbol]) -> Option<u32> {
    symbols.iter().try_fold(ROOT, |state, symbol| step(units, state, *symbol))
}

/// Returns `true` if a word ends in `state`.
#[inline]
pub(crate) fn is_word(units: &Units, state: u32) -> bool {
    units.get(2 * state as usize).is_some_and(|base| base & (LEAF | WORD) != 0)
}

/// Returns the word that ends in `state`.
#[inline]
pub(crate) fn word(units: &Units, state: u32) -> Option<u32> {
    let base = *units.get(2 * state as usize)?;
    if base & LEAF != 0 {
        Some(base & !LEAF)
    } else if base & WORD != 0 {
        units.get(2 * (base & OFFSET) as usize).copied()
    } else {
        None
    }
}

/// Returns the symbols on the path from the root to `state`, last one first, or `None` if `state` is not a
/// state.
pub(crate) fn symbols_to(units: &Units, mut state: u32) -> Option<Vec<Symbol>> {
    let mut symbols = Vec::new();
    while state != ROOT {
        let parent = units.get(2 * state as usize + 1)?.checked_sub(1)?;
        let base = *units.get(2 * parent as usize)?;
        let symbol = Symbol::try_from(state.checked_sub(base & OFFSET)?).ok()?;
        if base & LEAF != 0 || symbol == NONE || symbols.len() >= units.len() {
            return None;
        }
        symbols.push(symbol);
        state = parent;
    }
    Some(symbols)
}

/// Builds the units for distinct words with their numbers, sorted by symbols.
pub(crate) fn build(words: &[(Vec<Symbol>, u32)]) -> Vec<u32> {
    let mut builder = DoubleArrayBuilder::default();
    builder.grow(1);
    builder.take(ROOT as usize);
    builder.fill(words);
    let end = (0..builder.next.len()).rev().find(|at| !builder.is_free(*at)).map_or(0, |last| last + 1);
    builder.units.truncate(2 * end);
    builder.units
}

#[derive(Default)]
struct DoubleArrayBuilder {
    units: Vec<u32>,
    /// Union-find style list of free units: a free unit points to itself, a used one to a later unit.
    next: Vec<u32>,
    /// Start of the search for free units, and the number of children it applies to.
    from: usize,
    fan_out: usize,
}

/// A state whose children are not placed yet. States with most children come first, then older ones.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PendingState<'w> {
    fan_out: usize,
    age: Reverse<usize>,
    state: u32,
    depth: usize,
    words: &'w [(Vec<Symbol>, u32)],
}

impl DoubleArrayBuilder {
    /// Places all states. States with many children are placed while the array is sparse, and the many states
    /// with a single child fill the gaps, so that few units stay empty. Iterative instead of recursive
    /// because a word may be long.
    fn fill(&mut self, words: &[(Vec<Symbol>, u32)]) {
        let mut pending = BinaryHeap::new();
        let mut children = Vec::new();
        let mut next_age = 0;
        find_children(words, 0, &mut children);
        if !children.is_empty() {
            pending.push(PendingState {
                fan_out: children.len(),
                age: Reverse(0),
                state: ROOT,
                depth: 0,
                words,
            });
        }
        let mut grandchildren = Vec::new();
        while let Some(PendingState { state, depth, words, .. }) = pending.pop() {
            find_children(words, depth, &mut children);
            let base = self.place(&children);
            self.units[2 * state as usize] = base as u32;
            for (nth, (symbol, from)) in children.iter().enumerate() {
                let to = children.get(nth + 1).map_or(words.len(), |(_, next)| *next);
                let child = base + usize::from(*symbol);
                let below = &words[*from..to];
                self.take(child);
                self.units[2 * child + 1] = state + 1;
                if *symbol == NONE {
                    self.units[2 * state as usize] |= WORD;
                    self.units[2 * child] = words[*from].1;
                    continue;
                }
                find_children(below, depth + 1, &mut grandchildren);
                if let ([(NONE, _)], [(_, number)]) = (grandchildren.as_slice(), below) {
                    self.units[2 * child] = LEAF | number;
                    continue;
                }
                next_age += 1;
                pending.push(PendingState {
                    fan_out: grandchildren.len(),
                    age: Reverse(next_age),
                    state: child as u32,
                    depth: depth + 1,
                    words: below,
                });
            }
        }
    }

    /// Returns the first offset at which all children find a free unit.
    fn place(&mut self, children: &[(Symbol, usize)]) -> usize {
        let (Some((first, _)), Some((last, _))) = (children.first(), children.last()) else { return 1 };
        let (first, last) = (usize::from(*first), usize::from(*last));
        if self.fan_out != children.len() {
            self.fan_out = children.len();
            self.from = 1;
        }
        self.from = self.free_from(self.from);
        let mut tried = 0;
        let mut at = self.free_from(self.from.max(first));
        loop {
            self.grow(at + last - first + 1);
            let base = at - first;
            if children.iter().all(|(symbol, _)| self.is_free(base + usize::from(*symbol))) {
                break;
            }
            tried += 1;
            at = self.free_from(at + 1);
        }
        // After many failed gaps, the next states with as many children start searching further on.
        if tried > MAX_TRIES && self.from >= first {
            self.from = at;
        }
        at - first
    }

    fn is_free(&self, at: usize) -> bool {
        self.next[at] as usize == at
    }

    fn take(&mut self, at: usize) {
        self.grow(at + 2);
        self.next[at] = at as u32 + 1;
    }

    /// Returns the first free unit at or after `from`.
    fn free_from(&mut self, from: usize) -> usize {
        self.grow(from + 1);
        let mut at = from;
        while !self.is_free(at) {
            // Path compression.
            self.next[at] = self.next[self.next[at] as usize];
            at = self.next[at] as usize;
        }
        at
    }

    fn grow(&mut self, len: usize) {
        let old = self.next.len();
        if len > old {
            let len = len.next_power_of_two();
            self.next.extend(old as u32..len as u32);
            self.units.resize(2 * len, 0);
        }
    }
}

/// Collects the distinct symbols at one depth, each with the index of the first word that has it.
fn find_children(words: &[(Vec<Symbol>, u32)], depth: usize, children: &mut Vec<(Symbol, usize)>) {
    children.clear();
    for (at, (symbols, _)) in words.iter().enumerate() {
        let symbol = symbols.get(depth).copied().unwrap_or(NONE);
        if children.last().is_none_or(|(last, _)| *last != symbol) {
            children.push((symbol, at));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn find_word(units: &Units, symbols: &[Symbol]) -> Option<u32> {
        word(units, find(units, symbols)?)
    }

    proptest! {
        #[test]
        fn exactly_the_inserted_words_are_found(
            words in prop::collection::btree_map(prop::collection::vec(1u16..40, 1..7), 0u32..1000, 0..200),
            others in prop::collection::vec(prop::collection::vec(0u16..60, 0..8), 0..50),
        ) {
            let words: BTreeMap<Vec<u16>, u32> = words;
            let sorted: Vec<_> = words.iter().map(|(w, n)| (w.clone(), *n)).collect();
            let units = build(&sorted);
            for (word, number) in &words {
                prop_assert_eq!(find_word(&units, word), Some(*number));
            }
            for other in others {
                prop_assert_eq!(find_word(&units, &other), words.get(&other).copied());
            }
        }

        #[test]
        fn any_numbers_can_be_walked(units in prop::collection::vec(any::<u32>(), 0..64), symbols in prop::collection::vec(any::<u16>(), 0..9)) {
            let _ = find_word(&units, &symbols);
        }
    }
}
