//! How a query is put to tantivy.
//!
//! Blocks of postings that cannot hold one of the best pages are passed over (block-max pruning) only where the query is a
//! flat AND or OR of plain terms. So a query is split where it can be: a flat *base* that selects and scores, *extras* that
//! only add to the score of what the base finds (exact forms beside stems; what they can add is bounded), and *filters*
//! that only say no. Whatever does not fit is asked as a whole.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    Bm25StatisticsProvider, Bm25Weight, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, Occur,
    PhraseQuery, Query as TantivyQuery, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::query::{Label, Part, Query};
use crate::schema::{COPIED, Fields, HOME, PAGE};
use crate::zone_query::ZoneQuery;
use crate::zones::Zone;

type Boxed = Box<dyn TantivyQuery>;

/// A query, split.
pub(crate) struct Plan {
    /// Selects and scores.
    pub(crate) base: Boxed,
    /// Is the base a flat AND or OR of plain terms, which can be pruned?
    pub(crate) is_flat: bool,
    /// The terms that the base asks for together; empty where it is no flat AND.
    pub(crate) all_of: Vec<Term>,
    /// Terms that add to the score, with their weights.
    pub(crate) extras: Vec<(f32, Term)>,
    /// What a page must match as well (true), or must not.
    pub(crate) filters: Vec<(bool, Boxed)>,
}

impl Plan {
    pub(crate) fn of(query: &Query, fields: &Fields) -> Self {
        Self::flat_and(query, fields).unwrap_or_else(|| Self::whole(query, fields))
    }

    /// The query as one, asked without splitting.
    pub(crate) fn whole(query: &Query, fields: &Fields) -> Self {
        let is_flat = is_flat(query);
        Self { base: whole(query, fields), is_flat, all_of: vec![], extras: vec![], filters: vec![] }
    }

    fn flat_and(query: &Query, fields: &Fields) -> Option<Self> {
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
                Query::Not(not) => filters.push((false, unwanted(not, fields))),
                filter if filter.is_filter() => filters.push((true, whole(filter, fields))),
                _ => return None,
            }
        }
        let base: Boxed = match all_of.as_slice() {
            [] => return None,
            [(weight, term)] if *weight == 1.0 => plain(term.clone()),
            terms => Box::new(BooleanQuery::new(
                terms
                    .iter()
                    .map(|(weight, term)| (Occur::Must, weighted(*weight, plain(term.clone()))))
                    .collect(),
            )),
        };
        let all_of = all_of.into_iter().map(|(_, term)| term).collect();
        Some(Self { base, is_flat: true, all_of, extras, filters })
    }

    /// How much the extras can add at most: a term never scores more than its weight.
    pub(crate) fn most_extra(&self, statistics: &dyn Bm25StatisticsProvider) -> tantivy::Result<f32> {
        let most = |(weight, term): &(f32, Term)| {
            let scores = Bm25Weight::for_terms(statistics, std::slice::from_ref(term))?;
            Ok(scores.boost_by(*weight).max_score())
        };
        self.extras.iter().map(most).sum()
    }

    /// Which pages match, whatever their scores.
    pub(crate) fn matching(query: &Query, fields: &Fields) -> Boxed {
        whole(&loose(query), fields)
    }
}

/// The same pages, asked for without what only adds to scores.
fn loose(query: &Query) -> Query {
    match query {
        Query::Or(any) => Query::Or(any.iter().map(loose).collect()),
        Query::And(all) => Query::And(all.iter().map(loose).collect()),
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

/// A query as one.
fn whole(query: &Query, fields: &Fields) -> Boxed {
    match query {
        Query::All => unscored(plain(Term::from_field_text(fields.kind, PAGE))),
        Query::Word(word) => plain(Term::from_field_text(fields.text, word)),
        Query::Forms(forms) => any_of(
            forms
                .iter()
                .map(|(weight, word)| weighted(*weight, plain(Term::from_field_text(fields.text, word)))),
        ),
        Query::Phrase(terms) => phrase(fields.text, terms),
        Query::In(Part::Title, terms) => phrase(fields.title, terms),
        Query::In(Part::Address, terms) => phrase(fields.address, terms),
        Query::In(Part::Anchor, terms) => in_zone(Zone::Anchor, terms, fields),
        Query::In(Part::Body, terms) => in_zone(Zone::Body, terms, fields),
        Query::Site(host) => unscored(plain(Term::from_field_text(fields.site, host))),
        Query::Page(page) => unscored(plain(fields.page_term(*page))),
        Query::LinksTo(page) => unscored(plain(Term::from_field_u64(fields.links, page.page()))),
        Query::LinksToSite(site) => unscored(plain(Term::from_field_u64(fields.links, site.0))),
        Query::Home => unscored(plain(Term::from_field_text(fields.kind, HOME))),
        Query::Label(label, name) => {
            let field = match label {
                Label::Format => fields.format,
                Label::Lang => fields.lang,
                Label::Type => fields.page_type,
                Label::Category => fields.category,
            };
            unscored(plain(Term::from_field_text(field, name)))
        }
        Query::Days { from, to } => {
            let bound = |day: &Option<i64>| match day {
                Some(day) => Bound::Included(Term::from_field_i64(fields.day, *day)),
                None => Bound::Unbounded,
            };
            let (from, to) = match (from, to) {
                // A range needs an end; these are beyond every day that a page can have.
                (None, None) => {
                    (Bound::Included(Term::from_field_i64(fields.day, i64::MIN)), Bound::Unbounded)
                }
                (from, to) => (bound(from), bound(to)),
            };
            unscored(Box::new(RangeQuery::new(from, to)))
        }
        Query::And(parts) => {
            let mut clauses: Vec<(Occur, Boxed)> = Vec::new();
            for part in parts {
                match part {
                    Query::Not(not) => clauses.push((Occur::MustNot, unwanted(not, fields))),
                    part => clauses.push((Occur::Must, whole(part, fields))),
                }
            }
            if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
                clauses.push((Occur::Must, whole(&Query::All, fields)));
            }
            Box::new(BooleanQuery::new(clauses))
        }
        Query::Or(parts) => {
            // Forms among the words make no difference to an OR: all are terms of one list.
            let flat = parts.iter().flat_map(|part| match part {
                Query::Forms(forms) => forms
                    .iter()
                    .map(|(weight, word)| weighted(*weight, plain(Term::from_field_text(fields.text, word))))
                    .collect(),
                part => vec![whole(part, fields)],
            });
            any_of(flat)
        }
        Query::Not(_) => whole(&Query::And(vec![query.clone()]), fields),
    }
}

/// What must not be.
fn unwanted(not: &Query, fields: &Fields) -> Boxed {
    match not {
        // One with copies may have an address elsewhere: `SiteRules` looks at each.
        Query::Site(host) if !host.contains('/') => Box::new(BooleanQuery::new(vec![
            (Occur::Must, plain(Term::from_field_text(fields.site, host))),
            (Occur::MustNot, plain(Term::from_field_text(fields.kind, COPIED))),
        ])),
        not => whole(not, fields),
    }
}

fn phrase(field: Field, terms: &[(usize, String)]) -> Boxed {
    let term = |word: &String| Term::from_field_text(field, word);
    match terms {
        [] => Box::new(EmptyQuery),
        [(_, word)] => plain(term(word)),
        terms => {
            Box::new(PhraseQuery::new_with_offset(terms.iter().map(|(at, word)| (*at, term(word))).collect()))
        }
    }
}

/// Scored like any phrase, and in that zone.
fn in_zone(zone: Zone, terms: &[(usize, String)], fields: &Fields) -> Boxed {
    let there = ZoneQuery { field: fields.text, zone, terms: terms.to_vec() };
    Box::new(BooleanQuery::new(vec![
        (Occur::Must, phrase(fields.text, terms)),
        (Occur::Must, Box::new(there)),
    ]))
}

fn plain(term: Term) -> Boxed {
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

fn weighted(weight: f32, query: Boxed) -> Boxed {
    if weight == 1.0 { query } else { Box::new(BoostQuery::new(query, weight)) }
}

fn unscored(query: Boxed) -> Boxed {
    Box::new(ConstScoreQuery::new(query, 0.0))
}

fn any_of(queries: impl Iterator<Item = Boxed>) -> Boxed {
    Box::new(BooleanQuery::new(queries.map(|query| (Occur::Should, query)).collect()))
}
