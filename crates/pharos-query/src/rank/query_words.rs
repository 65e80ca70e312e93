//! The words of a query, prepared for scoring.

use std::borrow::Cow;

use pharos_index::document::zones::Zone;
use pharos_index::read::evidence::{DocumentFrequencies, Evidence, TermEvidence};
use pharos_index::{IndexError, IndexView};
use pharos_text::is_han;
use smallvec::SmallVec;

use super::basic_weight::QueryShape;
use super::bm25::WordStatistics;
use super::{OPTIONAL_WEIGHT, SYNONYM_WEIGHT, SynonymMatch};
use crate::language::expression::Expression;
use crate::language::optional_words::is_question_word;
use crate::language::term::{IsIndexed, QueryTerm};

/// A word of the query.
#[derive(Clone, Debug)]
pub(crate) struct QueryWord {
    pub(crate) word: String,
    /// First position in the query.
    pub(crate) position: usize,
    /// Number of occurrences in the query (qtf).
    pub(crate) times: f64,
    /// Length in positions.
    pub(crate) length: usize,
    /// Collection statistics.
    pub(crate) statistics: WordStatistics,
    /// Inverse document frequency weight, derived from the statistics.
    pub(crate) weight: f64,
    /// `true` if matching pages may lack the word, which weighs less then.
    is_optional: bool,
    /// `true` if users expect the word on matching pages, so that results report its absence.
    is_expected: bool,
    variants: Vec<Variant>,
    /// Term number of the exact form, if other forms count too.
    exact: Option<usize>,
    /// Synonyms with their variants.
    synonyms: Vec<(SynonymMatch, Vec<Variant>)>,
}

/// A variant of a word: term numbers with relative positions.
type Variant = Vec<(u32, usize)>;

/// All words of a query and the index terms they need.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryWords {
    pub(crate) words: Vec<QueryWord>,
    pub(crate) terms: Vec<String>,
    pub(crate) pages: f64,
    pub(crate) mean_length: f64,
}

/// The occurrences of a word on a page.
pub(crate) struct WordOccurrences<'e> {
    /// Occurrences by zone, in the order of [`Zone::ALL`]; anchors are multiplied by their votes.
    pub(crate) times: [f64; 6],
    /// In ascending order.
    pub(crate) positions: Cow<'e, [u32]>,
    /// Occurrences outside all zones.
    pub(crate) other: u32,
    /// 1 for the word as typed, less if only a synonym occurs.
    pub(crate) weight: f64,
    /// The synonym that occurs in place of the word.
    pub(crate) synonym: Option<&'e SynonymMatch>,
}

impl WordOccurrences<'_> {
    fn none() -> Self {
        Self { times: [0.0; 6], positions: Cow::Borrowed(&[]), other: 0, weight: 1.0, synonym: None }
    }

    /// Returns `true` if the word occurs in no zone.
    pub(crate) fn is_empty(&self) -> bool {
        self.times.iter().all(|times| *times == 0.0) && self.positions.is_empty()
    }

    /// Returns `true` if the word occurs nowhere on the page.
    fn is_missing(&self) -> bool {
        self.is_empty() && self.other == 0
    }
}

impl QueryWords {
    pub(crate) fn from_expression(
        expression: &Expression,
        is_indexed: IsIndexed<'_>,
        view: &dyn IndexView,
    ) -> Result<Self, IndexError> {
        let mut query_words = Self::default();
        // Each clause of a query counts positions from 0; here they are made consecutive.
        let (mut base, mut last, mut end) = (0, 0, 0);
        for term in expression.terms() {
            let length = term.word.chars().filter(|c| is_han(*c)).count().max(1);
            if term.position() <= last {
                base = end;
            }
            last = term.position();
            let position = base + last;
            end = position + length;
            if let Some(statistics) =
                query_words.words.iter_mut().find(|statistics| statistics.word == term.word)
            {
                statistics.times += 1.0;
                continue;
            }
            let (variants, exact) = term.variants(is_indexed);
            let variants = query_words.number_variants(variants);
            let synonyms = term.synonyms.iter().map(|synonym| {
                let variants = query_words.number_variants(synonym.variants(is_indexed));
                (SynonymMatch { text: synonym.text.clone(), synonym_of: synonym.of.clone() }, variants)
            });
            let synonyms = synonyms.collect();
            let exact = exact.map(|term| query_words.term_number(term));
            query_words.words.push(QueryWord {
                word: term.word.clone(),
                position,
                times: 1.0,
                length,
                statistics: WordStatistics::default(),
                weight: 0.0,
                is_optional: expression.is_optional(term),
                is_expected: !is_question_word(&term.word),
                variants,
                exact,
                synonyms,
            });
        }
        let DocumentFrequencies { pages, mean_length, with_term } = view.frequencies(&query_words.terms)?;
        (query_words.pages, query_words.mean_length) = (pages as f64, f64::from(mean_length.max(1.0)));
        for word in &mut query_words.words {
            // A multi-part word is at most as frequent as its rarest part, in each variant.
            let of_way = |variant: &Variant| variant.iter().map(|(_, term)| with_term[*term]).min();
            let with_word = word.variants.iter().filter_map(of_way).max().unwrap_or_default();
            word.statistics = WordStatistics::new(query_words.pages, with_word as f64);
            let share = if word.is_optional { OPTIONAL_WEIGHT } else { 1.0 };
            word.weight = share * word.statistics.weight();
        }
        Ok(query_words)
    }

    /// Prepares words that are index terms, with one known relevant page that contains them all.
    pub(crate) fn from_words(words: Vec<String>, view: &dyn IndexView) -> Result<Self, IndexError> {
        let DocumentFrequencies { pages, mean_length, with_term } = view.frequencies(&words)?;
        let (pages, mean_length) = (pages as f64, f64::from(mean_length.max(1.0)));
        let to_query_word = |(nth, word): (usize, &String)| {
            let statistics = WordStatistics::new(pages, with_term[nth] as f64);
            let statistics = WordStatistics { relevant: 1.0, relevant_with_word: 1.0, ..statistics };
            let length = word.chars().filter(|c| is_han(*c)).count().max(1);
            let (word, weight, variants) = (word.clone(), statistics.weight(), vec![vec![(0, nth)]]);
            QueryWord {
                word,
                position: 0,
                times: 1.0,
                length,
                statistics,
                weight,
                is_optional: false,
                is_expected: true,
                variants,
                exact: None,
                synonyms: Vec::new(),
            }
        };
        let query_words = words.iter().enumerate().map(to_query_word).collect();
        Ok(Self { words: query_words, terms: words, pages, mean_length })
    }

    /// Returns the statistics that scores depend on: number of pages, mean length, and document frequency of each
    /// word.
    pub(crate) fn statistics(&self) -> Vec<f64> {
        let with_word = self.words.iter().map(|word| word.statistics.with_word);
        [self.pages, self.mean_length].into_iter().chain(with_word).collect()
    }

    /// Returns the number of words that are not optional.
    pub(crate) fn required(&self) -> usize {
        self.words.iter().filter(|word| !word.is_optional).count()
    }

    /// Returns the mean weight of the words.
    pub(crate) fn mean_weight(&self) -> f64 {
        let sum: f64 = self.words.iter().map(|word| word.weight).sum();
        sum / self.words.len().max(1) as f64
    }

    /// Returns the AND/OR structure of the words in an expression.
    pub(crate) fn shape(&self, expression: &Expression) -> QueryShape {
        let words = |terms: &[QueryTerm]| {
            let number = |term: &QueryTerm| self.words.iter().position(|word| word.word == term.word);
            QueryShape::And(terms.iter().filter_map(number).map(QueryShape::Word).collect())
        };
        let all = |parts: &[Expression]| {
            let shapes = parts.iter().map(|part| self.shape(part));
            shapes
                .filter(|shape| {
                    !matches!(shape, QueryShape::And(parts) | QueryShape::Or(parts) if parts.is_empty())
                })
                .collect()
        };
        match expression {
            Expression::All(parts) => QueryShape::And(all(parts)),
            Expression::Any(parts) => QueryShape::Or(all(parts)),
            Expression::Words(terms) | Expression::Phrase(terms) | Expression::In(_, terms) => words(terms),
            // Other operators only select pages.
            _ => QueryShape::And(Vec::new()),
        }
    }

    /// Returns the share of the required words that occur on a page, by their weights.
    pub(crate) fn coverage(&self, found: &[WordOccurrences<'_>]) -> f64 {
        let (mut present, mut all) = (0.0, 0.0);
        for (word, found) in self.words.iter().zip(found).filter(|(word, _)| !word.is_optional) {
            all += word.weight;
            present += if found.is_missing() { 0.0 } else { word.weight };
        }
        if all > 0.0 { present / all } else { 1.0 }
    }

    /// Returns the words that a page lacks, as bits in the order of the words, without words that only ask.
    pub(crate) fn missing(&self, found: &[WordOccurrences<'_>]) -> u64 {
        let words = self.words.iter().zip(found).zip(0..u64::BITS);
        let missing = words.filter(|((word, found), _)| word.is_expected && found.is_missing());
        missing.fold(0, |bits, (_, nth)| bits | 1 << nth)
    }

    /// Returns the words in the title of a page, as bits in the order of the words.
    pub(crate) fn in_title(found: &[WordOccurrences<'_>]) -> u64 {
        let in_title = |found: &WordOccurrences<'_>| found.times[Zone::Title as usize] > 0.0;
        let words = found.iter().zip(0..u64::BITS).filter(|(found, _)| in_title(found));
        words.fold(0, |bits, (_, nth)| bits | 1 << nth)
    }

    fn number_variants(&mut self, variants: Vec<Vec<(usize, String)>>) -> Vec<Variant> {
        let numbered = variants.into_iter().map(|variant| {
            variant.into_iter().map(|(at, term)| (at as u32, self.term_number(term))).collect()
        });
        numbered.collect()
    }

    fn term_number(&mut self, term: String) -> usize {
        match self.terms.iter().position(|statistics| *statistics == term) {
            Some(number) => number,
            None => {
                self.terms.push(term);
                self.terms.len() - 1
            }
        }
    }
}

impl QueryWord {
    /// Returns the occurrences of the word on a page; those of a synonym if the word itself does not occur.
    pub(crate) fn occurrences_on<'e>(&'e self, page: &'e Evidence) -> WordOccurrences<'e> {
        let typed = in_variants(&self.variants, page);
        if !typed.is_empty() {
            return typed;
        }
        let synonyms = self.synonyms.iter().map(|(synonym, variants)| WordOccurrences {
            weight: f64::from(SYNONYM_WEIGHT),
            synonym: Some(synonym),
            ..in_variants(variants, page)
        });
        synonyms.into_iter().find(|found| !found.is_empty()).unwrap_or(typed)
    }

    /// Returns the occurrences of the exact form on a page.
    pub(crate) fn exact_occurrences_on<'e>(&self, page: &'e Evidence) -> Option<WordOccurrences<'e>> {
        self.exact.and_then(|term| page.terms.get(term)).map(term_occurrences)
    }
}

/// Returns the occurrences of a word in all its variants.
fn in_variants<'e>(variants: &[Variant], page: &'e Evidence) -> WordOccurrences<'e> {
    match variants {
        [variant] => in_variant(variant, page),
        variants => {
            let mut all = WordOccurrences::none();
            for variant in variants {
                let found = in_variant(variant, page);
                // Variants may occur at the same position: the more frequent one counts.
                all.times.iter_mut().zip(found.times).for_each(|(all, times)| *all = all.max(times));
                all.positions.to_mut().extend_from_slice(&found.positions);
                all.other = all.other.max(found.other);
            }
            all.positions.to_mut().sort_unstable();
            all
        }
    }
}

fn in_variant<'e>(variant: &[(u32, usize)], page: &'e Evidence) -> WordOccurrences<'e> {
    let terms: SmallVec<[(u32, &TermEvidence); 4]> =
        variant.iter().filter_map(|(at, term)| Some((*at, page.terms.get(*term)?))).collect();
    let [(_, first), rest @ ..] = terms.as_slice() else { return WordOccurrences::none() };
    if rest.is_empty() {
        return term_occurrences(first);
    }
    let begins =
        first.positions.iter().copied().filter(|begin| {
            rest.iter().all(|(at, term)| term.positions.binary_search(&(begin + at)).is_ok())
        });
    let positions: Vec<u32> = begins.collect();
    let mut times = [0.0; 6];
    positions.iter().for_each(|position_on_page| times[Zone::of_position(*position_on_page) as usize] += 1.0);
    // Positions outside the zones are not kept: the parts of the word are assumed to stand together.
    let other = terms.iter().map(|(_, term)| term.other).min().unwrap_or_default();
    WordOccurrences { times, positions: Cow::Owned(positions), other, ..WordOccurrences::none() }
}

fn term_occurrences(term: &TermEvidence) -> WordOccurrences<'_> {
    let mut times = term.times.map(f64::from);
    // The part of the weight that positions do not explain comes from anchor votes.
    let counted: u32 =
        Zone::ALL.iter().map(|zone| u32::from(zone.weight()) * term.times[*zone as usize]).sum();
    times[Zone::Anchor as usize] += f64::from(term.weight.saturating_sub(counted));
    let positions = Cow::Borrowed(term.positions.as_slice());
    WordOccurrences { times, positions, other: term.other, ..WordOccurrences::none() }
}
