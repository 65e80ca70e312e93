//! What can be asked of an index, and how it is put to tantivy.

use tantivy::Term;
use tantivy::query::{
    BooleanQuery, BoostQuery, EmptyQuery, Occur, PhraseQuery, Query as TantivyQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::address::SiteRules;
use crate::schema::{COPIED, Fields, PAGE};

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
    /// Pages of a host and of the hosts below it. Alone and in `And`, wanted or not, this is asked of each address: a
    /// page with copies is shown at one that fits. Deeper inside it is asked of the page with all its addresses.
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
            Query::All => exact(fields.kind, PAGE),
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
                        Query::Not(not) => {
                            let not = match &**not {
                                // One with copies may have an address elsewhere: `SiteRules` looks at each.
                                Query::Site(host) => only_address(fields, host),
                                not => not.to_tantivy(fields),
                            };
                            clauses.push((Occur::MustNot, not));
                        }
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

    /// What it asks of an address.
    pub(crate) fn site_rules(&self) -> SiteRules {
        let mut rules = SiteRules::default();
        self.add_site_rules(&mut rules);
        rules
    }

    fn add_site_rules(&self, rules: &mut SiteRules) {
        match self {
            Query::Site(host) => rules.wanted.push(host.clone()),
            Query::Not(not) => {
                if let Query::Site(host) = &**not {
                    rules.unwanted.push(host.clone());
                }
            }
            Query::And(parts) => parts.iter().for_each(|part| part.add_site_rules(rules)),
            _ => {}
        }
    }
}

/// Pages of a host that have no other address.
fn only_address(fields: &Fields, host: &str) -> Box<dyn TantivyQuery> {
    let clauses = vec![(Occur::Must, exact(fields.site, host)), (Occur::MustNot, exact(fields.kind, COPIED))];
    Box::new(BooleanQuery::new(clauses))
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
