//! The words of a query as pages are scored by them.

use std::borrow::Cow;

use pharos_index::{Evidence, Frequencies, IndexError, Snapshot, TermEvidence, Zone};
use pharos_text::is_han;
use smallvec::SmallVec;

use super::basic_weight::Shape;
use super::bm25::Known;
use crate::expression::Expression;
use crate::term::{Knows, Term};

/// A word that is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Sought {
    /// The word.
    pub(crate) word: String,
    /// Where the query has it first, as positions count.
    pub(crate) position: usize,
    /// How often the query has it (qtf).
    pub(crate) times: f64,
    /// How many positions it takes.
    pub(crate) length: usize,
    /// What is known of it in all pages.
    pub(crate) known: Known,
    /// How rare it is: the weight that follows from that.
    pub(crate) weight: f64,
    /// Ways to write it: terms, by their numbers, at distances.
    ways: Vec<Vec<(u32, usize)>>,
    /// The very form that was asked for, where others count, too.
    exact: Option<usize>,
}

/// All words of a query and the terms of the index that they ask for.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoughtWords {
    pub(crate) words: Vec<Sought>,
    pub(crate) terms: Vec<String>,
    pub(crate) pages: f64,
    pub(crate) mean_length: f64,
}

/// How often and where a page has a word.
pub(crate) struct Occurrences<'e> {
    /// By zone, in the order of [`Zone::ALL`]; an anchor as often as it has votes.
    pub(crate) times: [f64; 6],
    /// Ascending.
    pub(crate) places: Cow<'e, [u32]>,
}

impl SoughtWords {
    pub(crate) fn of(terms: &[&Term], knows: Knows<'_>, snapshot: &dyn Snapshot) -> Result<Self, IndexError> {
        let mut sought = Self::default();
        // Each part of a query counts its positions from 0: here they go on.
        let (mut base, mut last, mut end) = (0, 0, 0);
        for term in terms {
            let length = term.word.chars().filter(|c| is_han(*c)).count().max(1);
            if term.position() <= last {
                base = end;
            }
            last = term.position();
            let position = base + last;
            end = position + length;
            if let Some(known) = sought.words.iter_mut().find(|known| known.word == term.word) {
                known.times += 1.0;
                continue;
            }
            let (ways, exact) = term.ways(knows);
            let ways = ways.into_iter().map(|way| {
                way.into_iter().map(|(at, term)| (at as u32, sought.number(term))).collect::<Vec<_>>()
            });
            let ways = ways.collect();
            let exact = exact.map(|term| sought.number(term));
            sought.words.push(Sought {
                word: term.word.clone(),
                position,
                times: 1.0,
                length,
                known: Known::default(),
                weight: 0.0,
                ways,
                exact,
            });
        }
        let Frequencies { pages, mean_length, with_term } = snapshot.frequencies(&sought.terms)?;
        (sought.pages, sought.mean_length) = (pages as f64, f64::from(mean_length.max(1.0)));
        for word in &mut sought.words {
            // A word in parts is at most as frequent as its rarest part, in each of its ways.
            let of_way = |way: &Vec<(u32, usize)>| way.iter().map(|(_, term)| with_term[*term]).min();
            let with_word = word.ways.iter().filter_map(of_way).max().unwrap_or_default();
            word.known = Known::of(sought.pages, with_word as f64);
            word.weight = word.known.weight();
        }
        Ok(sought)
    }

    /// Words that are terms of the index as they are, with one page known to be relevant that has them all.
    pub(crate) fn of_words(words: Vec<String>, snapshot: &dyn Snapshot) -> Result<Self, IndexError> {
        let Frequencies { pages, mean_length, with_term } = snapshot.frequencies(&words)?;
        let (pages, mean_length) = (pages as f64, f64::from(mean_length.max(1.0)));
        let of_word = |(nth, word): (usize, &String)| {
            let known = Known::of(pages, with_term[nth] as f64);
            let known = Known { relevant: 1.0, relevant_with_word: 1.0, ..known };
            let length = word.chars().filter(|c| is_han(*c)).count().max(1);
            let (word, weight, ways) = (word.clone(), known.weight(), vec![vec![(0, nth)]]);
            Sought { word, position: 0, times: 1.0, length, known, weight, ways, exact: None }
        };
        let sought = words.iter().enumerate().map(of_word).collect();
        Ok(Self { words: sought, terms: words, pages, mean_length })
    }

    /// What scores depend on beside the pages: how many pages there are, how long, and how many have each word.
    pub(crate) fn statistics(&self) -> Vec<f64> {
        let of_words = self.words.iter().map(|word| word.known.with_word);
        [self.pages, self.mean_length].into_iter().chain(of_words).collect()
    }

    /// How the words belong together in a query.
    pub(crate) fn shape(&self, asked: &Expression) -> Shape {
        let words = |terms: &[Term]| {
            let number = |term: &Term| self.words.iter().position(|word| word.word == term.word);
            Shape::And(terms.iter().filter_map(number).map(Shape::Word).collect())
        };
        let all = |parts: &[Expression]| {
            let shapes = parts.iter().map(|part| self.shape(part));
            shapes.filter(|shape| !matches!(shape, Shape::And(parts) if parts.is_empty())).collect()
        };
        match asked {
            Expression::All(parts) => Shape::And(all(parts)),
            Expression::Any(parts) => Shape::Or(all(parts)),
            Expression::Words(terms) | Expression::Phrase(terms) | Expression::In(_, terms) => words(terms),
            // These say which pages are wanted, and nothing of how well they fit.
            _ => Shape::And(Vec::new()),
        }
    }

    fn number(&mut self, term: String) -> usize {
        match self.terms.iter().position(|known| *known == term) {
            Some(number) => number,
            None => {
                self.terms.push(term);
                self.terms.len() - 1
            }
        }
    }
}

impl Sought {
    /// Where a page has the word.
    pub(crate) fn on<'e>(&self, page: &'e Evidence) -> Occurrences<'e> {
        match self.ways.as_slice() {
            [way] => self.in_way(way, page),
            ways => {
                let mut all = Occurrences { times: [0.0; 6], places: Cow::Borrowed(&[]) };
                for way in ways {
                    let found = self.in_way(way, page);
                    // Ways to write a name may stand at the same place: the better one counts.
                    all.times.iter_mut().zip(found.times).for_each(|(all, times)| *all = all.max(times));
                    all.places.to_mut().extend_from_slice(&found.places);
                }
                all.places.to_mut().sort_unstable();
                all
            }
        }
    }

    /// Where a page has the very form that was asked for.
    pub(crate) fn exactly_on<'e>(&self, page: &'e Evidence) -> Option<Occurrences<'e>> {
        self.exact.and_then(|term| page.terms.get(term)).map(of_term)
    }

    fn in_way<'e>(&self, way: &[(u32, usize)], page: &'e Evidence) -> Occurrences<'e> {
        let terms: SmallVec<[(u32, &TermEvidence); 4]> =
            way.iter().filter_map(|(at, term)| Some((*at, page.terms.get(*term)?))).collect();
        let [(_, first), rest @ ..] = terms.as_slice() else {
            return Occurrences { times: [0.0; 6], places: Cow::Borrowed(&[]) };
        };
        if rest.is_empty() {
            return of_term(first);
        }
        let begins =
            first.places.iter().copied().filter(|begin| {
                rest.iter().all(|(at, term)| term.places.binary_search(&(begin + at)).is_ok())
            });
        let places: Vec<u32> = begins.collect();
        let mut times = [0.0; 6];
        places.iter().for_each(|place| times[Zone::of(*place) as usize] += 1.0);
        Occurrences { times, places: Cow::Owned(places) }
    }
}

fn of_term(term: &TermEvidence) -> Occurrences<'_> {
    let mut times = term.times.map(f64::from);
    // What the weight has beyond the places is votes for anchors.
    let counted: u32 =
        Zone::ALL.iter().map(|zone| u32::from(zone.weight()) * term.times[*zone as usize]).sum();
    times[Zone::Anchor as usize] += f64::from(term.weight.saturating_sub(counted));
    Occurrences { times, places: Cow::Borrowed(&term.places) }
}
