//! How many pages match, in all and by what they are told apart by.
//!
//! Counting needs every match, so it stops where a person would: beyond a number it is enough to know about how many.

use std::collections::HashMap;
use std::time::Instant;

use foldhash::fast::FixedState;
use tantivy::columnar::{Column, StrColumn};
use tantivy::query::{EnableScoring, Query as TantivyQuery};
use tantivy::{DocId, SegmentReader, TERMINATED};

use crate::plan::Plan;
use crate::query::{Label, Query};
use crate::retrieve::Time;
use crate::schema::{CATEGORY, DAY, FORMAT, HOST, LANG, TYPE};
use crate::snapshot::ChainSnapshot;
use crate::{Count, IndexError, Retrieval};

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

/// Somebody who looks at the pages that match, segment by segment.
trait Visitor {
    fn begin(&mut self, _reader: &SegmentReader) -> tantivy::Result<()> {
        Ok(())
    }

    /// Sees a page with so many addresses that may be shown. False: that was enough.
    fn see(&mut self, doc: DocId, addresses: u64) -> bool;

    /// No more pages of the segment.
    fn end(&mut self) -> tantivy::Result<()> {
        Ok(())
    }
}

/// Shows the pages that match. Gives how many addresses there are; beyond where it was enough, as many as there would
/// be if the rest were like the beginning.
fn show(
    chain: &ChainSnapshot,
    asked: &Retrieval<'_>,
    visitor: &mut dyn Visitor,
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
                visitor.begin(reader)?;
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
                visitor.end()?;
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
    impl Visitor for UpTo {
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
    let counters = facets.iter().map(|facet| Counter { facet: *facet, column: None, counts: HashMap::new() });
    let mut tally = Tally { counters: counters.collect(), left: up_to };
    show(chain, &Retrieval { until, ..Retrieval::new(query, 0) }, &mut tally)?;
    let sorted = |counter: Counter| {
        let counts = counter.counts.into_iter();
        let mut counts: Vec<FacetCount> = counts.map(|(value, pages)| FacetCount { value, pages }).collect();
        counts.sort_unstable_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.value.cmp(&b.value)));
        counts.truncate(most);
        counts
    };
    Ok(tally.counters.into_iter().map(sorted).collect())
}

struct Tally {
    counters: Vec<Counter>,
    left: u64,
}

struct Counter {
    facet: Facet,
    column: Option<Values>,
    counts: HashMap<String, u64>,
}

/// The values of a segment. Names are counted by their numbers, which each segment has its own of.
enum Values {
    Names(StrColumn, HashMap<u64, u64, FixedState>),
    /// With how many are young enough.
    Days(Column<i64>, u64),
}

impl Visitor for Tally {
    fn begin(&mut self, reader: &SegmentReader) -> tantivy::Result<()> {
        let fast = reader.fast_fields();
        for counter in &mut self.counters {
            let names = |name| {
                Ok::<_, tantivy::TantivyError>(fast.str(name)?.map(|c| Values::Names(c, HashMap::default())))
            };
            counter.column = match counter.facet {
                Facet::Since(_) => fast.column_opt(DAY)?.map(|days| Values::Days(days, 0)),
                Facet::Host => names(HOST)?,
                Facet::Label(Label::Lang) => names(LANG)?,
                Facet::Label(Label::Type) => names(TYPE)?,
                Facet::Label(Label::Format) => names(FORMAT)?,
                Facet::Label(Label::Category) => names(CATEGORY)?,
            };
        }
        Ok(())
    }

    fn see(&mut self, doc: DocId, _: u64) -> bool {
        for Counter { facet, column, .. } in &mut self.counters {
            match (column, facet) {
                (Some(Values::Names(column, seen)), _) => {
                    column.ords().values_for_doc(doc).for_each(|name| *seen.entry(name).or_default() += 1);
                }
                (Some(Values::Days(column, young)), Facet::Since(day)) => {
                    *young += u64::from(column.first(doc).is_some_and(|of_page| of_page >= *day));
                }
                _ => {}
            }
        }
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    fn end(&mut self) -> tantivy::Result<()> {
        for Counter { facet, column, counts } in &mut self.counters {
            match (column.take(), facet) {
                (Some(Values::Names(column, seen)), _) => {
                    for (number, pages) in seen {
                        let mut name = String::new();
                        if column.ord_to_str(number, &mut name)? {
                            *counts.entry(name).or_default() += pages;
                        }
                    }
                }
                (Some(Values::Days(_, young)), Facet::Since(day)) if young > 0 => {
                    *counts.entry(day.to_string()).or_default() += young;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
