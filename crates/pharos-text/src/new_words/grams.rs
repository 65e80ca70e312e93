//! Counts sequences of adjacent words together with their left and right neighbours.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::PrunedCounts;
use super::prune::prune_rare;
use crate::segment::hybrid::MAX_WORDS;

/// Word numbers, padded with zeros.
pub(super) type Gram = [u32; MAX_WORDS];

/// The edge of a run: no word has this number.
const EDGE: u32 = 0;
/// Maximum number of neighbours that are distinguished on each side.
const MAX_NEIGHBOURS: usize = 24;

/// Counts of words and of their sequences.
pub(super) struct Grams {
    longest: usize,
    capacity: usize,
    numbers: HashMap<Box<str>, u32, RandomState>,
    /// Word and number of occurrences, by word number. The first has no word.
    words: Vec<(Box<str>, u32)>,
    /// Words up to this number are in no sequence.
    last_function_word: u32,
    counts: HashMap<Gram, GramCount, RandomState>,
    total: u64,
    pages: u32,
    forgotten: Option<PrunedCounts>,
}

/// Statistics of a sequence.
pub(super) struct GramCount {
    pub(super) frequency: u32,
    pub(super) pages: u32,
    last_page: u32,
    /// Neighbours of the first occurrence; most sequences have no other.
    first_neighbours: (u32, u32),
    borders: Option<Box<(BorderNeighbours, BorderNeighbours)>>,
}

/// Neighbours on one side of a sequence.
#[derive(Default)]
struct BorderNeighbours {
    /// Each edge of a run counts as a distinct neighbour: it shows that the sequence can occur alone.
    edges: u32,
    neighbours: Vec<(u32, u32)>,
    others: u32,
}

impl BorderNeighbours {
    fn add_neighbour(&mut self, neighbour: u32) {
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

    /// Returns the entropy in nats. Neighbours beyond the limit count as one, which underestimates rather
    /// than overestimates.
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

impl GramCount {
    /// Returns the entropy on the left and on the right.
    pub(super) fn entropies(&self) -> (f64, f64) {
        self.borders.as_ref().map_or((0.0, 0.0), |borders| (borders.0.entropy(), borders.1.entropy()))
    }

    fn add_neighbour(&mut self, neighbours: (u32, u32)) {
        let borders = self.borders.get_or_insert_with(|| {
            let mut borders = Box::<(BorderNeighbours, BorderNeighbours)>::default();
            borders.0.add_neighbour(self.first_neighbours.0);
            borders.1.add_neighbour(self.first_neighbours.1);
            borders
        });
        borders.0.add_neighbour(neighbours.0);
        borders.1.add_neighbour(neighbours.1);
    }
}

impl Grams {
    /// Creates a counter for sequences of up to `longest` words, with at most `capacity` distinct sequences.
    pub(super) fn new(longest: usize, capacity: usize, function_words: &[String]) -> Self {
        let mut grams = Self {
            longest,
            capacity: capacity.max(2),
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

    /// Returns the number of a word. The number of words is bounded by the base dictionary and the
    /// characters.
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
    pub(super) fn add_run(&mut self, run: &[u32], weight: u32) {
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
            if self.counts.len() > self.capacity {
                let frequency = prune_rare(&mut self.counts, self.capacity, |count| count.frequency);
                PrunedCounts::add(&mut self.forgotten, frequency);
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
                count.add_neighbour(neighbours);
            })
            .or_insert(GramCount {
                frequency: weight,
                pages: 1,
                last_page: page,
                first_neighbours: neighbours,
                borders: None,
            });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Gram, &GramCount)> {
        self.counts.iter()
    }

    /// Returns the frequency of a sequence or a single word, since the last pruning if it was pruned.
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

    /// Returns the word with this number.
    pub(super) fn word(&self, number: u32) -> &str {
        self.words.get(number as usize).map_or("", |word| &word.0)
    }

    pub(super) fn words(&self) -> u64 {
        self.total
    }

    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    pub(super) fn forgotten(&self) -> Option<PrunedCounts> {
        self.forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_the_neighbours() {
        let mut border = BorderNeighbours::default();
        assert_eq!(border.entropy(), 0.0);
        border.add_neighbour(5);
        border.add_neighbour(5);
        assert_eq!(border.entropy(), 0.0);
        border.add_neighbour(6);
        border.add_neighbour(6);
        assert!((border.entropy() - 2f64.ln()).abs() < 1e-12);
        // Edges are all distinct: four of them weigh as four neighbours.
        let mut alone = BorderNeighbours::default();
        (0..4).for_each(|_| alone.add_neighbour(EDGE));
        assert!((alone.entropy() - 4f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn memory_is_bounded_and_frequent_sequences_stay() {
        let mut grams = Grams::new(2, 100, &[]);
        let frequent = [grams.number("常"), grams.number("见")];
        for n in 0..2000u32 {
            let rare = [grams.number(&n.to_string()), grams.number(&(n * 7).to_string())];
            grams.add_run(&rare, 1);
            grams.add_run(&frequent, 1);
        }
        assert!(grams.counts.len() <= 100);
        assert!(grams.frequency(&frequent) > 1900);
        assert!(grams.forgotten().is_some_and(|forgotten| forgotten.times > 0));
    }
}
