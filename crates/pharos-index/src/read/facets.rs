//! Counting of matching pages, in total and by facet.
//!
//! Counting visits every match, so it stops at a limit and extrapolates beyond it.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::Instant;

use foldhash::fast::FixedState;
use pharos_core::PageType;
use tantivy::columnar::{Column, StrColumn};
use tantivy::query::{EnableScoring, Query as TantivyQuery};
use tantivy::{DocId, SegmentReader, TERMINATED};

use crate::IndexError;
use crate::document::schema::{CATEGORY, FORMAT, HOST, LANG, TYPE, page_type_name};
use crate::read::chain_view::{ChainView, SegmentColumns};
use crate::read::doc_location::DocLocation;
use crate::read::query::{PageLabel, Query};
use crate::read::query_plan::QueryPlan;
use crate::read::retrieve::Deadline;
use crate::view::{Candidate, MatchCount, RetrievalRequest};

/// A property by which matching pages are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Facet {
    Host,
    Label(PageLabel),
    /// Pages of this day or later, see [`day`](crate::document::day). The facet value is the day number.
    Since(i64),
}

/// The number of pages with a facet value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacetCount {
    pub value: String,
    pub pages: u64,
}

/// Maximum number of column values kept in memory. Decoding one value takes as long as counting a thousand pages.
const MAX_CACHED_NAMES: usize = 10_000;

/// A string column with sorted ordinals.
struct NameColumn {
    column: StrColumn,
    /// All values, unless there are too many.
    cached: Option<Vec<Box<str>>>,
}

impl NameColumn {
    fn open(reader: &SegmentReader, field: &str) -> tantivy::Result<Option<Self>> {
        let Some(column) = reader.fast_fields().str(field)? else { return Ok(None) };
        let all: Vec<u64> = (0..column.num_terms() as u64).collect();
        let mut cached = Vec::new();
        if all.len() <= MAX_CACHED_NAMES {
            column.dictionary().sorted_ords_to_term_cb(&all, |name| cached.push(text(name)))?;
        }
        let cached = (cached.len() == all.len()).then_some(cached);
        Ok(Some(Self { column, cached }))
    }

    /// Calls `each` with the values of these ordinals, which must be ascending.
    fn read(&self, numbers: &[u64], mut each: impl FnMut(&str)) -> io::Result<()> {
        if let Some(cached) = &self.cached {
            numbers.iter().for_each(|number| each(cached.get(*number as usize).map_or("", |name| name)));
            return Ok(());
        }
        self.column.dictionary().sorted_ords_to_term_cb(numbers, |name| each(&text(name))).map(|_| ())
    }
}

fn text(bytes: &[u8]) -> Box<str> {
    String::from_utf8_lossy(bytes).into()
}

/// The facet columns of a segment.
pub(crate) struct FacetColumns {
    hosts: Option<NameColumn>,
    langs: Option<NameColumn>,
    types: Option<NameColumn>,
    formats: Option<NameColumn>,
    categories: Option<NameColumn>,
}

impl FacetColumns {
    pub(crate) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        Ok(Self {
            hosts: NameColumn::open(reader, HOST)?,
            langs: NameColumn::open(reader, LANG)?,
            types: NameColumn::open(reader, TYPE)?,
            formats: NameColumn::open(reader, FORMAT)?,
            categories: NameColumn::open(reader, CATEGORY)?,
        })
    }

    /// Returns `true` for a page that consists mostly of links.
    pub(crate) fn is_listing(&self, doc: DocId) -> bool {
        let Some(NameColumn { column, cached: Some(names) }) = &self.types else { return false };
        let page_type = column.term_ords(doc).next().and_then(|ord| names.get(ord as usize));
        page_type.is_some_and(|name| **name == *page_type_name(PageType::Hub))
    }

    /// Returns the column of a facet, or `None` for [`Facet::Since`].
    fn names(&self, facet: Facet) -> Option<&NameColumn> {
        let column = match facet {
            Facet::Since(_) => return None,
            Facet::Host => &self.hosts,
            Facet::Label(PageLabel::Lang) => &self.langs,
            Facet::Label(PageLabel::Type) => &self.types,
            Facet::Label(PageLabel::Format) => &self.formats,
            Facet::Label(PageLabel::Category) => &self.categories,
        };
        column.as_ref()
    }
}

/// A visitor of matching pages, segment by segment.
trait MatchVisitor<'c> {
    fn begin_segment(&mut self, _member: &'c Path, _columns: &'c SegmentColumns) {}

    /// Visits a page with its number of visible URLs. Returns `false` to stop.
    fn visit(&mut self, doc: DocId, addresses: u64) -> bool;

    fn end_segment(&mut self) {}
}

/// Visits the matching pages. Returns the number of visible URLs, extrapolated from the scanned part if the
/// visitor stopped early.
fn visit_matches<'c>(
    chain: &'c ChainView,
    request: &RetrievalRequest<'_>,
    visitor: &mut dyn MatchVisitor<'c>,
) -> Result<MatchCount, IndexError> {
    let RetrievalRequest { query, every_address, until, scope, .. } = *request;
    let whole = QueryPlan::matching(query, &chain.fields);
    let sites = query.site_filter();
    let max_addresses = if every_address { usize::MAX } else { 1 };
    let (mut found, mut scanned, mut unscanned) = (0u64, 0u64, 0u64);
    let mut stopped = false;
    for (_, view) in chain.in_scope(scope) {
        let mut run = || -> tantivy::Result<()> {
            let weight = whole.weight(EnableScoring::disabled_from_searcher(&view.searcher))?;
            for (segment, reader) in (0..).zip(view.searcher.segment_readers()) {
                let all = reader.max_doc();
                if stopped {
                    unscanned += u64::from(all);
                    continue;
                }
                visitor.begin_segment(&view.path, view.columns(segment)?);
                let shown = view.visible_addresses(segment, &sites)?;
                let only_first = max_addresses == 1 && shown.is_unrestricted();
                let mut matching = weight.scorer(reader, 1.0)?;
                let mut doc = matching.doc();
                let mut time = Deadline::at(until);
                while doc != TERMINATED {
                    if time.check_expired() {
                        stopped = true;
                        break;
                    }
                    if reader.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                        let addresses = if only_first {
                            1
                        } else {
                            shown.addresses(doc).take(max_addresses).count() as u64
                        };
                        found += addresses;
                        if addresses > 0 && !visitor.visit(doc, addresses) {
                            stopped = true;
                            break;
                        }
                    }
                    doc = matching.advance();
                }
                visitor.end_segment();
                let behind = if stopped { doc + 1 } else { all };
                scanned += u64::from(behind);
                unscanned += u64::from(all - behind);
            }
            Ok(())
        };
        run().map_err(IndexError::tantivy(&view.path))?;
    }
    let rest = if stopped { found as f64 * unscanned as f64 / scanned.max(1) as f64 } else { 0.0 };
    Ok(MatchCount { pages: found + rest as u64, is_exact: !stopped })
}

/// Counts matches, exactly up to the requested limit.
pub(crate) fn count(chain: &ChainView, request: &RetrievalRequest<'_>) -> Result<MatchCount, IndexError> {
    struct CountUpTo(u64);
    impl MatchVisitor<'_> for CountUpTo {
        fn visit(&mut self, _: DocId, addresses: u64) -> bool {
            let was_there = self.0 >= addresses;
            self.0 = self.0.saturating_sub(addresses);
            was_there
        }
    }
    visit_matches(chain, request, &mut CountUpTo(request.count_up_to))
}

/// Returns the `max_values` most frequent values of each facet among the first `up_to` matching pages, most frequent
/// first.
pub(crate) fn facets(
    chain: &ChainView,
    query: &Query,
    facets: &[Facet],
    max_values: usize,
    up_to: u64,
    until: Option<Instant>,
) -> Result<Vec<Vec<FacetCount>>, IndexError> {
    let mut counter = FacetCounter::new(facets, up_to);
    visit_matches(chain, &RetrievalRequest { until, ..RetrievalRequest::new(query, 0) }, &mut counter)?;
    counter.finish(max_values)
}

/// Returns the `max_values` most frequent values of each facet among these candidates, which must be distinct.
pub(crate) fn facets_of(
    chain: &ChainView,
    candidates: &[Candidate],
    facets: &[Facet],
    max_values: usize,
) -> Result<Vec<Vec<FacetCount>>, IndexError> {
    let mut locations: Vec<DocLocation> =
        candidates.iter().map(|candidate| candidate.doc_location()).collect();
    locations.sort_unstable_by_key(|location| (location.generation, location.segment, location.doc));
    let mut counter = FacetCounter::new(facets, u64::MAX);
    for of_segment in locations.chunk_by(|a, b| (a.generation, a.segment) == (b.generation, b.segment)) {
        let location = of_segment[0];
        counter.begin_segment(&chain.generation_at(location)?.path, chain.columns(location)?);
        of_segment.iter().for_each(|location| {
            counter.visit(location.doc, 1);
        });
        counter.end_segment();
    }
    counter.finish(max_values)
}

struct FacetCounter<'c> {
    counters: Vec<ValueCounter<'c>>,
    left: u64,
    generation: Option<&'c Path>,
    days: Option<&'c Column<i64>>,
}

/// Counts of the values of one facet. Values are counted by their ordinals, which differ between segments.
struct ValueCounter<'c> {
    facet: Facet,
    names: Option<&'c NameColumn>,
    seen: HashMap<u64, u64, FixedState>,
    /// Counts of the segments visited so far.
    before: Vec<SegmentValueCounts<'c>>,
    /// Number of pages of the requested day or later.
    recent: u64,
}

/// Ordinals of the values of a segment, with their counts.
struct SegmentValueCounts<'c> {
    generation: &'c Path,
    names: &'c NameColumn,
    times: Vec<(u64, u64)>,
}

impl<'c> FacetCounter<'c> {
    fn new(facets: &[Facet], up_to: u64) -> Self {
        let new_counter = |facet: &Facet| ValueCounter {
            facet: *facet,
            names: None,
            seen: HashMap::default(),
            before: Vec::new(),
            recent: 0,
        };
        Self { counters: facets.iter().map(new_counter).collect(), left: up_to, generation: None, days: None }
    }

    fn finish(self, max_values: usize) -> Result<Vec<Vec<FacetCount>>, IndexError> {
        self.counters.into_iter().map(|counter| counter.finish(max_values)).collect()
    }
}

impl<'c> MatchVisitor<'c> for FacetCounter<'c> {
    fn begin_segment(&mut self, generation: &'c Path, columns: &'c SegmentColumns) {
        (self.generation, self.days) = (Some(generation), columns.days.as_ref());
        for counter in &mut self.counters {
            counter.names = columns.facets.names(counter.facet);
        }
    }

    fn visit(&mut self, doc: DocId, _: u64) -> bool {
        let day = self.days.and_then(|days| days.first(doc));
        for ValueCounter { facet, names, seen, recent, .. } in &mut self.counters {
            match (names, facet) {
                (_, Facet::Since(since)) => *recent += u64::from(day.is_some_and(|day| day >= *since)),
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

    fn end_segment(&mut self) {
        for ValueCounter { names, seen, before, .. } in &mut self.counters {
            if let (Some(names), Some(generation), false) = (names.take(), self.generation, seen.is_empty()) {
                before.push(SegmentValueCounts { generation, names, times: seen.drain().collect() });
            }
        }
    }
}

impl ValueCounter<'_> {
    /// Returns the most frequent values, most frequent first; equal counts are sorted by value.
    fn finish(self, max_values: usize) -> Result<Vec<FacetCount>, IndexError> {
        let Self { facet, mut before, recent, .. } = self;
        if let Facet::Since(day) = facet {
            let counted = FacetCount { value: day.to_string(), pages: recent };
            return Ok(Vec::from_iter((recent > 0).then_some(counted)));
        }
        // Ordinals are in value order within a segment, so only the returned values need decoding.
        if let [SegmentValueCounts { times, .. }] = before.as_mut_slice() {
            times.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            times.truncate(max_values);
        }
        let mut named: HashMap<String, u64, FixedState> = HashMap::default();
        for SegmentValueCounts { generation, names, mut times } in before {
            times.sort_unstable();
            let (numbers, pages): (Vec<u64>, Vec<u64>) = times.into_iter().unzip();
            let mut pages = pages.into_iter();
            let read = names.read(&numbers, |name| {
                *named.entry(name.to_string()).or_default() += pages.next().unwrap_or_default();
            });
            read.map_err(IndexError::io("read the facet values of", generation))?;
        }
        let mut counts: Vec<FacetCount> =
            named.into_iter().map(|(value, pages)| FacetCount { value, pages }).collect();
        counts.sort_unstable_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.value.cmp(&b.value)));
        counts.truncate(max_values);
        Ok(counts)
    }
}
