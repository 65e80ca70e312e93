//! Sequences of words that stand side by side, counted with what stands before and after them.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::Forgotten;
use super::prune::forget_rare;
use crate::segment::hybrid::MAX_WORDS;

/// The numbers of words, zero where it is over.
pub(super) type Gram = [u32; MAX_WORDS];

/// The edge of a run: no word has this number.
const EDGE: u32 = 0;
/// Different neighbours that are told apart on each side.
const MAX_NEIGHBOURS: usize = 24;

/// Counts of words and of their sequences.
pub(super) struct Grams {
    longest: usize,
    room: usize,
    numbers: HashMap<Box<str>, u32, RandomState>,
    /// By number: the word and how often it was seen. The first has no word.
    words: Vec<(Box<str>, u32)>,
    /// Words up to this number are in no sequence.
    last_function_word: u32,
    counts: HashMap<Gram, Count, RandomState>,
    total: u64,
    pages: u32,
    forgotten: Option<Forgotten>,
}

/// What is known of a sequence.
pub(super) struct Count {
    pub(super) frequency: u32,
    pub(super) pages: u32,
    last_page: u32,
    /// Around its first occurrence; most sequences have no other.
    first_neighbours: (u32, u32),
    borders: Option<Box<(Border, Border)>>,
}

/// What stands on one side of a sequence.
#[derive(Default)]
struct Border {
    /// The edge of a run never repeats itself: it says that the sequence can stand alone.
    edges: u32,
    neighbours: Vec<(u32, u32)>,
    others: u32,
}

impl Border {
    fn see(&mut self, neighbour: u32) {
        if neighbour == EDGE {
            self.edges = self.edges.saturating_add(1);
        } else if let Some((_, seen)) = self.neighbours.iter_mut().find(|(number, _)| *number == neighbour) {
            *seen = seen.saturating_add(1);
        } else if self.neighbours.len() < MAX_NEIGHBOURS {
            self.neighbours.push((neighbour, 1));
        } else {
            self.others = self.others.saturating_add(1);
        }
    }

    /// In nats. Neighbours that were not told apart count as one: rather too little than too much.
    fn entropy(&self) -> f64 {
        let seen =
            self.neighbours.iter().map(|(_, seen)| *seen).chain([self.others]).filter(|seen| *seen > 0);
        let total = f64::from(self.edges) + seen.clone().map(f64::from).sum::<f64>();
        if total == 0.0 {
            return 0.0;
        }
        let edges = f64::from(self.edges) / total * total.ln();
        edges + seen.map(|seen| f64::from(seen) / total * (total / f64::from(seen)).ln()).sum::<f64>()
    }
}

impl Count {
    /// Entropy on the left and on the right.
    pub(super) fn entropies(&self) -> (f64, f64) {
        self.borders.as_ref().map_or((0.0, 0.0), |borders| (borders.0.entropy(), borders.1.entropy()))
    }

    fn see(&mut self, neighbours: (u32, u32)) {
        let borders = self.borders.get_or_insert_with(|| {
            let mut borders = Box::<(Border, Border)>::default();
            borders.0.see(self.first_neighbours.0);
            borders.1.see(self.first_neighbours.1);
            borders
        });
        borders.0.see(neighbours.0);
        borders.1.see(neighbours.1);
    }
}

impl Grams {
    /// Sequences of up to `longest` words, `room` different ones at most.
    pub(super) fn new(longest: usize, room: usize, function_words: &[String]) -> Self {
        let mut grams = Self {
            longest,
            room: room.max(2),
            numbers: HashMap::default(),
            words: vec![("".into(), 0)],
            last_function_word: 0,
            counts: HashMap::default(),
            total: 0,
            pages: 0,
            forgotten: None,
        };
        for word in function_words {
            grams.number(word);
        }
        grams.last_function_word = (grams.words.len() - 1) as u32;
        grams
    }

    /// The number of a word. There are as many as words of the base dictionary and characters.
    pub(super) fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = self.words.len() as u32;
        self.numbers.insert(word.into(), number);
        self.words.push((word.into(), 0));
        number
    }

    pub(super) fn begin_page(&mut self) {
        self.pages = self.pages.saturating_add(1);
    }

    /// Counts all sequences of a run of words.
    pub(super) fn take(&mut self, run: &[u32], weight: u32) {
        for start in 0..run.len() {
            let seen = &mut self.words[run[start] as usize].1;
            *seen = seen.saturating_add(weight);
            self.total += u64::from(weight);
            let before = if start == 0 { EDGE } else { run[start - 1] };
            let mut gram = [0; MAX_WORDS];
            for (nth, number) in run[start..].iter().take(self.longest).enumerate() {
                if *number <= self.last_function_word {
                    break;
                }
                gram[nth] = *number;
                if nth > 0 {
                    self.count(gram, (before, run.get(start + nth + 1).copied().unwrap_or(EDGE)), weight);
                }
            }
            if self.counts.len() > self.room {
                let frequency = forget_rare(&mut self.counts, self.room, |count| count.frequency);
                Forgotten::add(&mut self.forgotten, frequency);
            }
        }
    }

    fn count(&mut self, gram: Gram, neighbours: (u32, u32), weight: u32) {
        let page = self.pages;
        self.counts
            .entry(gram)
            .and_modify(|count| {
                count.frequency = count.frequency.saturating_add(weight);
                count.pages += u32::from(count.last_page != page);
                count.last_page = page;
                count.see(neighbours);
            })
            .or_insert(Count {
                frequency: weight,
                pages: 1,
                last_page: page,
                first_neighbours: neighbours,
                borders: None,
            });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Gram, &Count)> {
        self.counts.iter()
    }

    /// How often a sequence, or a single word, was seen; of what was forgotten, since then.
    pub(super) fn frequency(&self, numbers: &[u32]) -> u32 {
        if let [number] = numbers {
            return self.words.get(*number as usize).map_or(0, |word| word.1);
        }
        let mut gram = [0; MAX_WORDS];
        for (slot, number) in gram.iter_mut().zip(numbers) {
            *slot = *number;
        }
        self.counts.get(&gram).map_or(0, |count| count.frequency)
    }

    /// The word with this number.
    pub(super) fn word(&self, number: u32) -> &str {
        self.words.get(number as usize).map_or("", |word| &word.0)
    }

    pub(super) fn words(&self) -> u64 {
        self.total
    }

    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    pub(super) fn forgotten(&self) -> Option<Forgotten> {
        self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_the_neighbours() {
        let mut border = Border::default();
        assert_eq!(border.entropy(), 0.0);
        border.see(5);
        border.see(5);
        assert_eq!(border.entropy(), 0.0);
        border.see(6);
        border.see(6);
        assert!((border.entropy() - 2f64.ln()).abs() < 1e-12);
        // Edges are all different: four of them weigh as four neighbours.
        let mut alone = Border::default();
        (0..4).for_each(|_| alone.see(EDGE));
        assert!((alone.entropy() - 4f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn memory_is_bounded_and_what_is_frequent_stays() {
        let mut grams = Grams::new(2, 100, &[]);
        let frequent = [grams.number("常"), grams.number("见")];
        for n in 0..2000u32 {
            let rare = [grams.number(&n.to_string()), grams.number(&(n * 7).to_string())];
            grams.take(&rare, 1);
            grams.take(&frequent, 1);
        }
        assert!(grams.counts.len() <= 100);
        assert!(grams.frequency(&frequent) > 1900);
        assert!(grams.forgotten().is_some_and(|forgotten| forgotten.times > 0));
    }
}
