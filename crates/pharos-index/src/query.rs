//! What can be asked of an index, and how it is put to tantivy.

use tantivy::Term;
use tantivy::query::{
    BooleanQuery, BoostQuery, EmptyQuery, Occur, PhraseQuery, Query as TantivyQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::schema::Fields;

/// A question, already analysed into terms.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Every page.
    All,
    /// A term in title, headings, emphasised words, anchors or body.
    Word(String),
    /// One of these terms, each with its weight: the forms of a word.
    Forms(Vec<(f32, String)>),
    /// Terms at these distances from each other, in one of these.
    Phrase(Vec<(usize, String)>),
    /// Pages of a host and of the hosts below it.
    Site(String),
    /// All of these.
    And(Vec<Query>),
    /// One of these.
    Or(Vec<Query>),
    /// Not this.
    Not(Box<Query>),
}

/// A title says in a few words what the page is about, headings say it of its parts, and anchors say it in the words
/// of others; the weights are those commonly given to fields of BM25F. What is emphasised is in the body too.
const TITLE: f32 = 3.0;
const HEADING: f32 = 1.5;
const EMPHASIS: f32 = 0.5;
const ANCHOR: f32 = 1.5;
const BODY: f32 = 1.0;

impl Query {
    pub(crate) fn to_tantivy(&self, fields: &Fields) -> Box<dyn TantivyQuery> {
        match self {
            Query::All => exact(fields.kind, "page"),
            Query::Word(word) => in_texts(fields, |field| exact(field, word)),
            Query::Forms(forms) => {
                let clauses = forms.iter().map(|(weight, word)| {
                    let form = in_texts(fields, |field| exact(field, word));
                    (Occur::Should, Box::new(BoostQuery::new(form, *weight)) as Box<dyn TantivyQuery>)
                });
                Box::new(BooleanQuery::new(clauses.collect()))
            }
            Query::Phrase(terms) => match terms.as_slice() {
                [] => Box::new(EmptyQuery),
                [(_, word)] => in_texts(fields, |field| exact(field, word)),
                terms => in_texts(fields, |field| {
                    let terms =
                        terms.iter().map(|(at, word)| (*at, Term::from_field_text(field, word))).collect();
                    Box::new(PhraseQuery::new_with_offset(terms))
                }),
            },
            Query::Site(host) => Box::new(BoostQuery::new(exact(fields.site, host), 0.0)),
            Query::And(parts) => {
                let mut clauses: Vec<(Occur, Box<dyn TantivyQuery>)> = Vec::new();
                for part in parts {
                    match part {
                        Query::Not(not) => clauses.push((Occur::MustNot, not.to_tantivy(fields))),
                        part => clauses.push((Occur::Must, part.to_tantivy(fields))),
                    }
                }
                if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
                    clauses.push((Occur::Must, Query::All.to_tantivy(fields)));
                }
                Box::new(BooleanQuery::new(clauses))
            }
            Query::Or(parts) => Box::new(BooleanQuery::new(
                parts.iter().map(|p| (Occur::Should, p.to_tantivy(fields))).collect(),
            )),
            Query::Not(_) => Query::And(vec![self.clone()]).to_tantivy(fields),
        }
    }
}

fn exact(field: Field, text: &str) -> Box<dyn TantivyQuery> {
    Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::WithFreqs))
}

fn in_texts(fields: &Fields, make: impl Fn(Field) -> Box<dyn TantivyQuery>) -> Box<dyn TantivyQuery> {
    let weighted = [
        (fields.title, TITLE),
        (fields.heading, HEADING),
        (fields.emphasis, EMPHASIS),
        (fields.anchor, ANCHOR),
        (fields.body, BODY),
    ];
    let clauses = weighted.map(|(field, weight)| {
        (Occur::Should, Box::new(BoostQuery::new(make(field), weight)) as Box<dyn TantivyQuery>)
    });
    Box::new(BooleanQuery::new(clauses.into()))
}
