//! How many pages match, in all and by what they are told apart by.
//!
//! Counting needs every match, so it stops where a person would: beyond a number it is enough to know about how many.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::Instant;

use foldhash::fast::FixedState;
use tantivy::columnar::{Column, StrColumn};
use tantivy::query::{EnableScoring, Query as TantivyQuery};
use tantivy::{DocId, SegmentReader, TERMINATED};

use crate::plan::Plan;
use crate::query::{Label, Query};
use crate::retrieve::Time;
use crate::schema::{CATEGORY, FORMAT, HOST, LANG, TYPE};
use crate::snapshot::{ChainSnapshot, Columns};
use crate::{Candidate, Count, IndexError, Place, Retrieval};

/// By what results are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Facet {
    /// The host.
    Host,
    /// A label.
    Label(Label),
    /// Whether the page is of this day or later, as [`day`](crate::day) counts; the value is that number.
    Since(i64),
}

/// How often a value occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacetCount {
    /// The value.
    pub value: String,
    /// Pages that have it.
    pub pages: u64,
}

/// So many names of a column are kept in memory: to unpack one takes as long as counting a thousand pages.
const KEPT_NAMES: usize = 10_000;

/// A column of names, which are numbered in their order.
struct Names {
    column: StrColumn,
    /// All of them, where they are not too many.
    kept: Option<Vec<Box<str>>>,
}

impl Names {
    fn of(reader: &SegmentReader, field: &str) -> tantivy::Result<Option<Self>> {
        let Some(column) = reader.fast_fields().str(field)? else { return Ok(None) };
        let all: Vec<u64> = (0..column.num_terms() as u64).collect();
        let mut kept = Vec::new();
        if all.len() <= KEPT_NAMES {
            column.dictionary().sorted_ords_to_term_cb(&all, |name| kept.push(text(name)))?;
        }
        let kept = (kept.len() == all.len()).then_some(kept);
        Ok(Some(Self { column, kept }))
    }

    /// The names that have these numbers, which ascend.
    fn read(&self, numbers: &[u64], mut each: impl FnMut(&str)) -> io::Result<()> {
        if let Some(kept) = &self.kept {
            numbers.iter().for_each(|number| each(kept.get(*number as usize).map_or("", |name| name)));
            return Ok(());
        }
        self.column.dictionary().sorted_ords_to_term_cb(numbers, |name| each(&text(name))).map(|_| ())
    }
}

fn text(bytes: &[u8]) -> Box<str> {
    String::from_utf8_lossy(bytes).into()
}

/// The columns of a segment that results are counted by.
pub(crate) struct FacetColumns {
    hosts: Option<Names>,
    langs: Option<Names>,
    types: Option<Names>,
    formats: Option<Names>,
    categories: Option<Names>,
}

impl FacetColumns {
    pub(crate) fn of(reader: &SegmentReader) -> tantivy::Result<Self> {
        Ok(Self {
            hosts: Names::of(reader, HOST)?,
            langs: Names::of(reader, LANG)?,
            types: Names::of(reader, TYPE)?,
            formats: Names::of(reader, FORMAT)?,
            categories: Names::of(reader, CATEGORY)?,
        })
    }

    /// Nothing where days are counted.
    fn names(&self, facet: Facet) -> Option<&Names> {
        let column = match facet {
            Facet::Since(_) => return None,
            Facet::Host => &self.hosts,
            Facet::Label(Label::Lang) => &self.langs,
            Facet::Label(Label::Type) => &self.types,
            Facet::Label(Label::Format) => &self.formats,
            Facet::Label(Label::Category) => &self.categories,
        };
        column.as_ref()
    }
}

/// Somebody who looks at the pages that match, segment by segment.
trait Visitor<'c> {
    fn begin(&mut self, _member: &'c Path, _columns: &'c Columns) {}

    /// Sees a page with so many addresses that may be shown. False: that was enough.
    fn see(&mut self, doc: DocId, addresses: u64) -> bool;

    /// No more pages of the segment.
    fn end(&mut self) {}
}

/// Shows the pages that match. Gives how many addresses there are; beyond where it was enough, as many as there would
/// be if the rest were like the beginning.
fn show<'c>(
    chain: &'c ChainSnapshot,
    asked: &Retrieval<'_>,
    visitor: &mut dyn Visitor<'c>,
) -> Result<Count, IndexError> {
    let Retrieval { query, every_address, until, members, .. } = *asked;
    let whole = Plan::matching(query, &chain.fields);
    let sites = query.site_rules();
    let wanted = if every_address { usize::MAX } else { 1 };
    let (mut found, mut looked_at, mut unseen) = (0u64, 0u64, 0u64);
    let mut enough = false;
    for (_, view) in chain.asked(members) {
        let mut run = || -> tantivy::Result<()> {
            let weight = whole.weight(EnableScoring::disabled_from_searcher(&view.searcher))?;
            for (segment, reader) in (0..).zip(view.searcher.segment_readers()) {
                let all = reader.max_doc();
                if enough {
                    unseen += u64::from(all);
                    continue;
                }
                visitor.begin(&view.path, view.columns(segment)?);
                let shown = view.shown(segment, &sites)?;
                let only_first = wanted == 1 && shown.all();
                let mut matching = weight.scorer(reader, 1.0)?;
                let mut doc = matching.doc();
                let mut time = Time::until(until);
                while doc != TERMINATED {
                    if time.is_over() {
                        enough = true;
                        break;
                    }
                    if reader.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                        let addresses =
                            if only_first { 1 } else { shown.addresses(doc).take(wanted).count() as u64 };
                        found += addresses;
                        if addresses > 0 && !visitor.see(doc, addresses) {
                            enough = true;
                            break;
                        }
                    }
                    doc = matching.advance();
                }
                visitor.end();
                let behind = if enough { doc + 1 } else { all };
                looked_at += u64::from(behind);
                unseen += u64::from(all - behind);
            }
            Ok(())
        };
        run().map_err(IndexError::tantivy(&view.path))?;
    }
    let rest = if enough { found as f64 * unseen as f64 / looked_at.max(1) as f64 } else { 0.0 };
    Ok(Count { pages: found + rest as u64, is_exact: !enough })
}

/// Exact up to where it is wanted.
pub(crate) fn count(chain: &ChainSnapshot, asked: &Retrieval<'_>) -> Result<Count, IndexError> {
    struct UpTo(u64);
    impl Visitor<'_> for UpTo {
        fn see(&mut self, _: DocId, addresses: u64) -> bool {
            let was_there = self.0 >= addresses;
            self.0 = self.0.saturating_sub(addresses);
            was_there
        }
    }
    show(chain, asked, &mut UpTo(asked.count_up_to))
}

/// The `most` frequent values of each facet among the first `up_to` pages that match, the most frequent first.
pub(crate) fn facets(
    chain: &ChainSnapshot,
    query: &Query,
    facets: &[Facet],
    most: usize,
    up_to: u64,
    until: Option<Instant>,
) -> Result<Vec<Vec<FacetCount>>, IndexError> {
    let mut tally = Tally::of(facets, up_to);
    show(chain, &Retrieval { until, ..Retrieval::new(query, 0) }, &mut tally)?;
    tally.finish(most)
}

/// The same among these pages, each of which is there once.
pub(crate) fn facets_of(
    chain: &ChainSnapshot,
    candidates: &[Candidate],
    facets: &[Facet],
    most: usize,
) -> Result<Vec<Vec<FacetCount>>, IndexError> {
    let mut places: Vec<Place> = candidates.iter().map(|candidate| candidate.place).collect();
    places.sort_unstable_by_key(|place| (place.member, place.segment, place.doc));
    let mut tally = Tally::of(facets, u64::MAX);
    for of_segment in places.chunk_by(|a, b| (a.member, a.segment) == (b.member, b.segment)) {
        let place = of_segment[0];
        tally.begin(&chain.member(place)?.path, chain.columns(place)?);
        of_segment.iter().for_each(|place| {
            tally.see(place.doc, 1);
        });
        tally.end();
    }
    tally.finish(most)
}

struct Tally<'c> {
    counters: Vec<Counter<'c>>,
    left: u64,
    member: Option<&'c Path>,
    days: Option<&'c Column<i64>>,
}

/// How often each value of a facet was seen. Names are counted by their numbers, which each segment has its own of.
struct Counter<'c> {
    facet: Facet,
    names: Option<&'c Names>,
    seen: HashMap<u64, u64, FixedState>,
    /// What was seen in the segments before.
    before: Vec<Seen<'c>>,
    /// Pages that are young enough.
    young: u64,
}

/// Numbers of names in a segment, with how often they were seen.
struct Seen<'c> {
    member: &'c Path,
    names: &'c Names,
    times: Vec<(u64, u64)>,
}

impl<'c> Tally<'c> {
    fn of(facets: &[Facet], up_to: u64) -> Self {
        let counter = |facet: &Facet| Counter {
            facet: *facet,
            names: None,
            seen: HashMap::default(),
            before: Vec::new(),
            young: 0,
        };
        Self { counters: facets.iter().map(counter).collect(), left: up_to, member: None, days: None }
    }

    fn finish(self, most: usize) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.counters.into_iter().map(|counter| counter.finish(most)).collect()
    }
}

impl<'c> Visitor<'c> for Tally<'c> {
    fn begin(&mut self, member: &'c Path, columns: &'c Columns) {
        (self.member, self.days) = (Some(member), columns.days.as_ref());
        for counter in &mut self.counters {
            counter.names = columns.facets.names(counter.facet);
        }
    }

    fn see(&mut self, doc: DocId, _: u64) -> bool {
        let day = self.days.and_then(|days| days.first(doc));
        for Counter { facet, names, seen, young, .. } in &mut self.counters {
            match (names, facet) {
                (_, Facet::Since(since)) => *young += u64::from(day.is_some_and(|day| day >= *since)),
                (Some(names), _) => {
                    names
                        .column
                        .ords()
                        .values_for_doc(doc)
                        .for_each(|name| *seen.entry(name).or_default() += 1);
                }
                _ => {}
            }
        }
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    fn end(&mut self) {
        for Counter { names, seen, before, .. } in &mut self.counters {
            if let (Some(names), Some(member), false) = (names.take(), self.member, seen.is_empty()) {
                before.push(Seen { member, names, times: seen.drain().collect() });
            }
        }
    }
}

impl Counter<'_> {
    /// The most frequent values, the most frequent first, then in the order of their names.
    fn finish(self, most: usize) -> Result<Vec<FacetCount>, IndexError> {
        let Self { facet, mut before, young, .. } = self;
        if let Facet::Since(day) = facet {
            let counted = FacetCount { value: day.to_string(), pages: young };
            return Ok(Vec::from_iter((young > 0).then_some(counted)));
        }
        // Within a segment numbers are in the order of names: only what is told need be named.
        if let [Seen { times, .. }] = before.as_mut_slice() {
            times.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            times.truncate(most);
        }
        let mut named: HashMap<String, u64, FixedState> = HashMap::default();
        for Seen { member, names, mut times } in before {
            times.sort_unstable();
            let (numbers, pages): (Vec<u64>, Vec<u64>) = times.into_iter().unzip();
            let mut pages = pages.into_iter();
            let read = names.read(&numbers, |name| {
                *named.entry(name.to_string()).or_default() += pages.next().unwrap_or_default();
            });
            read.map_err(IndexError::io("read the names of", member))?;
        }
        let mut counts: Vec<FacetCount> =
            named.into_iter().map(|(value, pages)| FacetCount { value, pages }).collect();
        counts.sort_unstable_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.value.cmp(&b.value)));
        counts.truncate(most);
        Ok(counts)
    }
}
