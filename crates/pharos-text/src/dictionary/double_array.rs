//! A double-array trie (双数组) over characters: Aoe 1989, with the symbols of a text looked up once.
//!
//! A state is a place in one array of units. From a state with the offset `base`, the symbol `s` leads to the unit
//! `base + s`, which belongs to it if that unit's `check` names the state. A word that ends in a state hangs from
//! it by the symbol 0, which no character has; a state where nothing goes on holds the word itself.

/// What a character is called inside a trie. Usual characters have small numbers.
pub(crate) type Symbol = u16;

/// The symbol of the end of a word, and of characters that no word contains.
pub(crate) const NONE: Symbol = 0;

/// `base` with this bit holds a word in place of an offset: nothing goes on from there.
const LEAF: u32 = 1 << 31;
/// `base` with this bit has a word by the symbol [`NONE`].
const WORD: u32 = 1 << 30;
const OFFSET: u32 = WORD - 1;

/// Two numbers a unit: `base`, `check`. `check` is the state it belongs to, plus one.
pub(crate) type Units = [u32];

/// Where the walk begins.
pub(crate) const ROOT: u32 = 0;

/// Follows one symbol.
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

/// The word that ends in a state.
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

/// Builds the units for words that are sorted by their symbols and different, each with its number.
pub(crate) fn build(words: &[(Vec<Symbol>, u32)]) -> Vec<u32> {
    let mut builder = Builder { units: Vec::new(), free: 1, used: Vec::new() };
    builder.grow(1);
    builder.used[0] = true;
    builder.fill(words);
    let end = builder.used.iter().rposition(|used| *used).map_or(0, |last| last + 1);
    builder.units.truncate(2 * end);
    builder.units
}

struct Builder {
    units: Vec<u32>,
    used: Vec<bool>,
    /// Before this place nothing is free, or too little to be worth a look.
    free: usize,
}

impl Builder {
    /// States are filled from a list and not by recursion: a word may be long.
    fn fill(&mut self, words: &[(Vec<Symbol>, u32)]) {
        let mut waiting = vec![(ROOT, 0, words)];
        let mut children: Vec<(Symbol, usize)> = Vec::new();
        while let Some((state, depth, words)) = waiting.pop() {
            children.clear();
            for (at, (symbols, _)) in words.iter().enumerate() {
                let symbol = symbols.get(depth).copied().unwrap_or(NONE);
                if children.last().is_none_or(|(last, _)| *last != symbol) {
                    children.push((symbol, at));
                }
            }
            if let ([(NONE, _)], [(_, number)]) = (children.as_slice(), words) {
                self.units[2 * state as usize] = LEAF | number;
                continue;
            }
            let base = self.place(&children);
            self.units[2 * state as usize] = base as u32;
            for (nth, (symbol, from)) in children.iter().enumerate() {
                let to = children.get(nth + 1).map_or(words.len(), |(_, next)| *next);
                let child = base + usize::from(*symbol);
                self.used[child] = true;
                self.units[2 * child + 1] = state + 1;
                if *symbol == NONE {
                    self.units[2 * state as usize] |= WORD;
                    self.units[2 * child] = words[*from].1;
                } else {
                    waiting.push((child as u32, depth + 1, &words[*from..to]));
                }
            }
        }
    }

    /// The first offset where all children find a free unit.
    fn place(&mut self, children: &[(Symbol, usize)]) -> usize {
        let (first, last) = match (children.first(), children.last()) {
            (Some((first, _)), Some((last, _))) => (usize::from(*first), usize::from(*last)),
            _ => return 1,
        };
        let mut tried = 0;
        let mut at = self.free.max(first + 1);
        loop {
            self.grow(at + last - first + 1);
            if !self.used[at] {
                let base = at - first;
                if children.iter().all(|(symbol, _)| !self.used[base + usize::from(*symbol)]) {
                    break;
                }
                tried += 1;
            }
            at += 1;
        }
        // Where many gaps fitted nothing, the next look begins further on: a little room for much time.
        if tried > 64 || at == self.free {
            self.free = self.free.max(at.saturating_sub(4096)).max(self.first_free());
        }
        at - first
    }

    fn first_free(&self) -> usize {
        let from = self.free.min(self.used.len());
        self.used[from..].iter().position(|used| !used).map_or(self.used.len(), |gap| from + gap)
    }

    fn grow(&mut self, len: usize) {
        if len > self.used.len() {
            let len = len.next_power_of_two();
            self.used.resize(len, false);
            self.units.resize(2 * len, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn find(units: &Units, symbols: &[Symbol]) -> Option<u32> {
        let state = symbols.iter().try_fold(ROOT, |state, symbol| step(units, state, *symbol))?;
        word(units, state)
    }

    proptest! {
        #[test]
        fn what_was_put_in_is_found_and_nothing_else(
            words in prop::collection::btree_map(prop::collection::vec(1u16..40, 1..7), 0u32..1000, 0..200),
            others in prop::collection::vec(prop::collection::vec(0u16..60, 0..8), 0..50),
        ) {
            let words: BTreeMap<Vec<u16>, u32> = words;
            let sorted: Vec<_> = words.iter().map(|(w, n)| (w.clone(), *n)).collect();
            let units = build(&sorted);
            for (word, number) in &words {
                prop_assert_eq!(find(&units, word), Some(*number));
            }
            for other in others {
                prop_assert_eq!(find(&units, &other), words.get(&other).copied());
            }
        }

        #[test]
        fn any_numbers_can_be_walked(units in prop::collection::vec(any::<u32>(), 0..64), symbols in prop::collection::vec(any::<u16>(), 0..9)) {
            let _ = find(&units, &symbols);
        }
    }
}
