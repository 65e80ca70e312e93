//! Translation of a query into tantivy queries.
//!
//! Block-max pruning (Ding & Suel 2011) skips blocks of postings that cannot contain a top result, but only for a
//! flat AND or OR of plain terms. A query is therefore split where possible: a flat *base* that selects and scores,
//! *extras* that only add a bounded amount to the score (exact forms beside stems), and *filters* that only exclude.
//! Other queries run as a whole.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    Bm25StatisticsProvider, Bm25Weight, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur,
    PhraseQuery, Query as TantivyQuery, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::document::schema::{COPIED, HOME, PAGE, SchemaFields};
use crate::document::zones::Zone;
use crate::read::query::{PageLabel, PagePart, Query};
use crate::read::zone_query::ZoneQuery;

type BoxedQuery = Box<dyn TantivyQuery>;

/// A query split into base, extras and filters.
pub(crate) struct QueryPlan {
    /// Selects and scores.
    pub(crate) base: BoxedQuery,
    /// `true` if the base is a flat AND or OR of plain terms, which can be pruned.
    pub(crate) is_flat: bool,
    /// Terms of a flat AND; otherwise empty.
    pub(crate) all_of: Vec<Term>,
    /// Terms that add to the score, with their weights.
    pub(crate) extras: Vec<(f32, Term)>,
    /// Conditions that a page must match (`true`) or must not match (`false`).
    pub(crate) filters: Vec<(bool, BoxedQuery)>,
}

impl QueryPlan {
    pub(crate) fn new(query: &Query, fields: &SchemaFields) -> Self {
        Self::flat_and(query, fields)
            .or_else(|| Self::flat_or(query, fields))
            .unwrap_or_else(|| Self::whole(query, fields))
    }

    /// Translates the query as a whole, without splitting.
    pub(crate) fn whole(query: &Query, fields: &SchemaFields) -> Self {
        let is_flat = is_flat(query);
        Self { base: whole(query, fields), is_flat, all_of: vec![], extras: vec![], filters: vec![] }
    }

    fn flat_and(query: &Query, fields: &SchemaFields) -> Option<Self> {
        let Query::And(parts) = query else { return None };
        let (mut all_of, mut extras, mut filters) = (Vec::new(), Vec::new(), Vec::new());
        let term = |word: &str| Term::from_field_text(fields.text, word);
        for part in parts {
            match part {
                Query::Word(word) => all_of.push((1.0, term(word))),
                Query::Forms(forms) => {
                    let ((weight, stem), rest) = forms.split_first()?;
                    all_of.push((*weight, term(stem)));
                    extras.extend(rest.iter().map(|(weight, word)| (*weight, term(word))));
                }
                Query::Not(not) => filters.push((false, excluded(not, fields))),
                filter if filter.is_filter() => filters.push((true, whole(filter, fields))),
                _ => return None,
            }
        }
        let base: BoxedQuery = match all_of.as_slice() {
            [] => return None,
            [(weight, term)] if *weight == 1.0 => term_query(term.clone()),
            terms => Box::new(BooleanQuery::new(
                terms
                    .iter()
                    .map(|(weight, term)| (Occur::Must, weighted(*weight, term_query(term.clone()))))
                    .collect(),
            )),
        };
        let all_of = all_of.into_iter().map(|(_, term)| term).collect();
        Some(Self { base, is_flat: true, all_of, extras, filters })
    }

    /// Splits a flat OR of terms with filters.
    fn flat_or(query: &Query, fields: &SchemaFields) -> Option<Self> {
        let Query::And(parts) = query else { return None };
        let (any, conditions): (Vec<&Query>, Vec<&Query>) =
            parts.iter().partition(|part| matches!(part, Query::Or(_)));
        let [any] = any.as_slice() else { return None };
        if !is_flat(any) || !conditions.iter().all(|condition| condition.is_filter()) {
            return None;
        }
        let filters = conditions.into_iter().map(|condition| match condition {
            Query::Not(not) => (false, excluded(not, fields)),
            filter => (true, whole(filter, fields)),
        });
        let (base, filters) = (whole(any, fields), filters.collect());
        Some(Self { base, is_flat: true, all_of: vec![], extras: vec![], filters })
    }

    /// Returns the maximum score that the extras can add.
    pub(crate) fn max_extra(&self, statistics: &dyn Bm25StatisticsProvider) -> tantivy::Result<f32> {
        let max_score_of = |(weight, term): &(f32, Term)| {
            let scores = Bm25Weight::for_terms(statistics, std::slice::from_ref(term))?;
            Ok(scores.boost_by(*weight).max_score())
        };
        self.extras.iter().map(max_score_of).sum()
    }

    /// Translates the query for counting, where scores do not matter.
    pub(crate) fn matching(query: &Query, fields: &SchemaFields) -> BoxedQuery {
        whole(&without_extras(query), fields)
    }
}

/// Removes the parts that only add to the score.
fn without_extras(query: &Query) -> Query {
    match query {
        Query::Or(any) => Query::Or(any.iter().map(without_extras).collect()),
        Query::And(all) => Query::And(all.iter().map(without_extras).collect()),
        Query::Forms(forms) => {
            forms.first().map_or_else(|| query.clone(), |(_, stem)| Query::Word(stem.clone()))
        }
        query => query.clone(),
    }
}

fn is_flat(query: &Query) -> bool {
    let is_plain = |query: &Query| matches!(query, Query::Word(_) | Query::Forms(_));
    match query {
        Query::Or(parts) => parts.iter().all(is_plain),
        query => is_plain(query),
    }
}

/// Translates a query as a whole.
fn whole(query: &Query, fields: &SchemaFields) -> BoxedQuery {
    match query {
        Query::All => unscored(term_query(Term::from_field_text(fields.kind, PAGE))),
        Query::Word(word) => term_query(Term::from_field_text(fields.text, word)),
        Query::Forms(forms) => {
            any_of(forms.iter().map(|(weight, word)| {
                weighted(*weight, term_query(Term::from_field_text(fields.text, word)))
            }))
        }
        Query::Phrase(terms) => phrase(fields.text, terms),
        Query::In(PagePart::Title, terms) => phrase(fields.title, terms),
        Query::In(PagePart::Address, terms) => phrase(fields.address, terms),
        Query::In(PagePart::Anchor, terms) => in_zone(Zone::Anchor, terms, fields),
        Query::In(PagePart::Body, terms) => in_zone(Zone::Body, terms, fields),
        Query::Site(host) => unscored(term_query(Term::from_field_text(fields.site, host))),
        Query::Page(page) => unscored(term_query(fields.page_term(*page))),
        Query::LinksTo(page) => unscored(term_query(Term::from_field_u64(fields.links, page.page()))),
        Query::LinksToSite(site) => unscored(term_query(Term::from_field_u64(fields.links, site.0))),
        Query::Home => unscored(term_query(Term::from_field_text(fields.kind, HOME))),
        Query::Label(label, name) => {
            let field = match label {
                PageLabel::Format => fields.format,
                PageLabel::Lang => fields.lang,
                PageLabel::Type => fields.page_type,
                PageLabel::Category => fields.category,
            };
            unscored(term_query(Term::from_field_text(field, name)))
        }
        Query::Days { from, to } => {
            let bound = |day: &Option<i64>| match day {
                Some(day) => Bound::Included(Term::from_field_i64(fields.day, *day)),
                None => Bound::Unbounded,
            };
            let (from, to) = match (from, to) {
                // A range query requires a bound; this one includes every valid day.
                (None, None) => {
                    (Bound::Included(Term::from_field_i64(fields.day, i64::MIN)), Bound::Unbounded)
                }
                (from, to) => (bound(from), bound(to)),
            };
            unscored(Box::new(RangeQuery::new(from, to)))
        }
        Query::And(parts) => {
            let mut clauses: Vec<(Occur, BoxedQuery)> = Vec::new();
            for part in parts {
                match part {
                    Query::Not(not) => clauses.push((Occur::MustNot, excluded(not, fields))),
                    part => clauses.push((Occur::Must, whole(part, fields))),
                }
            }
            if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
                clauses.push((Occur::Must, whole(&Query::All, fields)));
            }
            Box::new(BooleanQuery::new(clauses))
        }
        Query::Or(parts) => {
            // Forms need no grouping inside an OR: all terms join one flat list.
            let flat = parts.iter().flat_map(|part| match part {
                Query::Forms(forms) => forms
                    .iter()
                    .map(|(weight, word)| {
                        weighted(*weight, term_query(Term::from_field_text(fields.text, word)))
                    })
                    .collect(),
                part => vec![whole(part, fields)],
            });
            any_of(flat)
        }
        Query::Not(_) => whole(&Query::And(vec![query.clone()]), fields),
    }
}

/// Translates an excluded query.
fn excluded(not: &Query, fields: &SchemaFields) -> BoxedQuery {
    match not {
        // A page with copies may have a URL on another site: `SiteFilter` checks each URL.
        Query::Site(host) if !host.contains('/') => Box::new(BooleanQuery::new(vec![
            (Occur::Must, term_query(Term::from_field_text(fields.site, host))),
            (Occur::MustNot, term_query(Term::from_field_text(fields.kind, COPIED))),
        ])),
        not => whole(not, fields),
    }
}

fn phrase(field: Field, terms: &[(usize, String)]) -> BoxedQuery {
    let term = |word: &String| Term::from_field_text(field, word);
    match terms {
        [] => Box::new(EmptyQuery),
        [(_, word)] => term_query(term(word)),
        terms => {
            Box::new(PhraseQuery::new_with_offset(terms.iter().map(|(at, word)| (*at, term(word))).collect()))
        }
    }
}

/// Scored like any phrase, restricted to the zone.
fn in_zone(zone: Zone, terms: &[(usize, String)], fields: &SchemaFields) -> BoxedQuery {
    let zone_query = ZoneQuery { field: fields.text, zone, terms: terms.to_vec() };
    Box::new(BooleanQuery::new(vec![
        (Occur::Must, phrase(fields.text, terms)),
        (Occur::Must, Box::new(zone_query)),
    ]))
}

fn term_query(term: Term) -> BoxedQuery {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

fn weighted(weight: f32, query: BoxedQuery) -> BoxedQuery {
    if weight == 1.0 { query } else { Box::new(BoostQuery::new(query, weight)) }
}

fn unscored(query: BoxedQuery) -> BoxedQuery {
    Box::new(ConstScoreQuery::new(query, 0.0))
}

fn any_of(queries: impl Iterator<Item = BoxedQuery>) -> BoxedQuery {
    Box::new(BooleanQuery::new(queries.map(|query| (Occur::Should, query)).collect()))
}
