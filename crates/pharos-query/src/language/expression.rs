//! A parsed query, and its translation to an index query.

use std::fmt;

use pharos_core::{PageId, PageUrl, SiteId};
use pharos_index::{PageLabel, PagePart, Query};
use pharos_text::{Analyser, is_han};

use crate::curation::stop_words::StopWords;
use crate::curation::synonyms::SynonymSets;
use crate::language::parse::MAX_TERMS;
use crate::language::term::{IsIndexed, QueryTerm, Synonym, phrase_of};

/// A parsed query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    All(Vec<Expression>),
    Any(Vec<Expression>),
    Not(Box<Expression>),
    /// Words that must all occur.
    Words(Vec<QueryTerm>),
    /// Words that must occur together, as written.
    Phrase(Vec<QueryTerm>),
    /// Words that must occur together in one part of the page.
    In(PagePart, Vec<QueryTerm>),
    /// Pages of a site or of one of its directories.
    Site(String),
    Label(PageLabel, String),
    /// Pages before that day.
    Before(i64),
    /// Pages of that day or later.
    After(i64),
    /// Pages that link to the target.
    Link(PageTarget),
    /// The page at that URL.
    Url(PageTarget),
    /// Pages similar to that one.
    Related(PageTarget),
}

/// The target of a link, or a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PageTarget {
    shown: String,
    /// Ids for both schemes if none was given.
    pub(crate) pages: Vec<PageId>,
    /// The whole site instead of a page.
    site: Option<SiteId>,
}

impl PageTarget {
    /// Parses a URL; a host alone means the whole site.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut target = Self::parse_page(text)?;
        if !text.contains('/') {
            target.site = target.pages.first().map(|page| page.site());
            target.shown = PageUrl::parse(&format!("http://{text}")).ok()?.site().as_str().to_string();
        }
        Some(target)
    }

    /// Parses the URL of a page.
    pub(crate) fn parse_page(text: &str) -> Option<Self> {
        let is_whole = text.starts_with("http://") || text.starts_with("https://");
        let schemes: &[&str] = if is_whole { &[""] } else { &["http://", "https://"] };
        let urls = schemes.iter().map(|scheme| PageUrl::parse(&format!("{scheme}{text}")).ok());
        let urls = urls.collect::<Option<Vec<PageUrl>>>()?;
        let shown = urls.first()?.as_str().to_string();
        Some(Self { shown, pages: urls.iter().map(PageUrl::id).collect(), site: None })
    }

    fn query_any_page(&self, query: impl Fn(PageId) -> Query) -> Query {
        let mut queries: Vec<Query> = self.pages.iter().map(|page| query(*page)).collect();
        if queries.len() == 1 { queries.remove(0) } else { Query::Or(queries) }
    }
}

impl Expression {
    /// Combines conditions that must all hold, flattening nested ones.
    pub(crate) fn all(conditions: Vec<Self>) -> Self {
        let flat = conditions.into_iter().flat_map(|part| match part {
            Self::All(inside) => inside,
            part => vec![part],
        });
        let mut conditions: Vec<Self> = flat.collect();
        if conditions.len() == 1 { conditions.remove(0) } else { Self::All(conditions) }
    }

    /// Combines alternatives.
    pub(crate) fn or(a: Self, b: Self) -> Self {
        match a {
            Self::Any(mut conditions) => {
                conditions.push(b);
                Self::Any(conditions)
            }
            a => Self::Any(vec![a, b]),
        }
    }

    /// Negates an expression; a double negation is removed.
    pub(crate) fn not(part: Self) -> Self {
        match part {
            Self::Not(inside) => *inside,
            part => Self::Not(Box::new(part)),
        }
    }

    /// Returns `true` if there is nothing to search for.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::All(conditions) if conditions.is_empty())
    }

    /// Translates the expression to an index query.
    pub(crate) fn to_query(&self, is_indexed: IsIndexed<'_>) -> Query {
        self.lower(&LoweringContext { is_indexed, required: self.required_words(), split_unknown: false })
    }

    /// Translates the expression with unknown words split into characters. Returns `None` if that makes no
    /// difference.
    pub(crate) fn to_split_query(&self, is_indexed: IsIndexed<'_>) -> Option<Query> {
        let required = self.required_words();
        let split = self.lower(&LoweringContext { is_indexed, required, split_unknown: true });
        (split != self.to_query(is_indexed)).then_some(split)
    }

    fn lower(&self, context: &LoweringContext<'_>) -> Query {
        let mut conditions = Vec::new();
        self.add_to(&mut conditions, context);
        Query::And(conditions)
    }

    /// Translates the expression so that one of the words suffices. Words with a plus, quoted words and operators stay
    /// required, and suffice. Beside a single content word, question and filler words suffice, too: if no page has the
    /// content word, pages with the others are better than none. Returns `None` if that makes no difference.
    pub(crate) fn relaxed(&self, is_indexed: IsIndexed<'_>) -> Option<Query> {
        let required = self.required_words();
        self.relaxed_to(required, is_indexed)
            .or_else(|| self.relaxed_to(required.min(RequiredWords::ExceptStopWords), is_indexed))
    }

    fn relaxed_to(&self, required: RequiredWords, is_indexed: IsIndexed<'_>) -> Option<Query> {
        let context = LoweringContext { is_indexed, required, split_unknown: true };
        let (mut words, mut others) = (Vec::new(), Vec::new());
        let mut has_required_text = false;
        for part in self.conditions() {
            match part {
                Self::Words(terms) => {
                    let (required, free): (Vec<&QueryTerm>, Vec<&QueryTerm>) =
                        terms.iter().partition(|term| term.is_required);
                    has_required_text |= !required.is_empty();
                    others.extend(context.term_queries(required));
                    words.extend(context.term_queries(free));
                }
                part => {
                    has_required_text |= matches!(part, Self::Phrase(_) | Self::In(..));
                    part.add_to(&mut others, &context);
                }
            }
        }
        match words.len() {
            0 => return None,
            1 if !has_required_text => return None,
            1 => {}
            _ => others.insert(0, Query::Or(words.into_iter().flat_map(alternatives).collect())),
        }
        match others.as_mut_slice() {
            [Query::Or(any)] => Some(Query::Or(std::mem::take(any))),
            _ => Some(Query::And(others)),
        }
    }

    /// Returns the expression with a plus before every word that pages may lack, or `None` if there is none.
    pub(crate) fn with_required_words(&self) -> Option<Self> {
        let mut strict = self.clone();
        let conditions = match &mut strict {
            Self::All(conditions) => conditions.as_mut_slice(),
            other => std::slice::from_mut(other),
        };
        let terms = conditions.iter_mut().filter_map(|part| match part {
            Self::Words(terms) => Some(terms),
            _ => None,
        });
        let mut free: Vec<&mut QueryTerm> =
            terms.flatten().filter(|term| !term.is_required && !term.is_stop_word()).collect();
        if free.is_empty() || self.terms().len() < 2 {
            return None;
        }
        free.iter_mut().for_each(|term| term.is_required = true);
        Some(strict)
    }

    /// Adds each condition as a separate query.
    fn add_to(&self, out: &mut Vec<Query>, context: &LoweringContext<'_>) {
        match self {
            Self::All(conditions) => conditions.iter().for_each(|part| part.add_to(out, context)),
            // A flat list of words is fastest, so the parts of a split word are added individually.
            Self::Words(terms) => out.extend(context.term_queries(terms).flat_map(|query| match query {
                Query::And(conditions) => conditions,
                query => vec![query],
            })),
            other => out.extend(other.query(context)),
        }
    }

    /// Returns `None` if only stop words remain.
    fn query(&self, context: &LoweringContext<'_>) -> Option<Query> {
        let together = |terms| phrase_of(terms, context.is_indexed);
        Some(match self {
            Self::All(_) | Self::Words(_) => {
                let mut conditions = Vec::new();
                self.add_to(&mut conditions, context);
                match conditions.len() {
                    0 => return None,
                    1 => conditions.remove(0),
                    _ => Query::And(conditions),
                }
            }
            Self::Any(conditions) => {
                Query::Or(conditions.iter().filter_map(|part| part.query(context)).collect())
            }
            // Excluded words are excluded as written: -信息检索 excludes the words as a phrase.
            Self::Not(part) => Query::Not(Box::new(match &**part {
                Self::Words(terms) => Query::Phrase(together(terms)),
                part => part.query(context)?,
            })),
            Self::Phrase(terms) => Query::Phrase(together(terms)),
            Self::In(part, terms) => Query::In(*part, together(terms)),
            Self::Site(site) => Query::Site(site.clone()),
            Self::Label(label, name) => Query::Label(*label, name.clone()),
            Self::Before(day) => Query::Days { from: None, to: Some(day - 1) },
            Self::After(day) => Query::Days { from: Some(*day), to: None },
            Self::Link(PageTarget { site: Some(site), .. }) => Query::LinksToSite(*site),
            Self::Link(target) => target.query_any_page(Query::LinksTo),
            Self::Url(target) => target.query_any_page(Query::Page),
            // The words of the target page are added by the retriever.
            Self::Related(target) => Query::Not(Box::new(target.query_any_page(Query::Page))),
        })
    }

    /// Returns the conditions that must all hold.
    fn conditions(&self) -> &[Self] {
        match self {
            Self::All(conditions) => conditions,
            other => std::slice::from_ref(other),
        }
    }

    /// Returns the page of the operator `related:`.
    pub(crate) fn related(&self) -> Option<&PageTarget> {
        self.conditions().iter().find_map(|part| match part {
            Self::Related(target) => Some(target),
            _ => None,
        })
    }

    /// Returns `true` if operators restrict the sites.
    pub(crate) fn names_sites(&self) -> bool {
        self.conditions().iter().any(|part| matches!(part, Self::Site(_) | Self::Url(_)))
    }

    /// Returns `true` if the query consists of words and phrases only.
    pub(crate) fn is_plain(&self) -> bool {
        self.conditions().iter().all(|part| matches!(part, Self::Words(_) | Self::Phrase(_)))
    }

    /// Returns the words that pages must contain.
    fn required_words(&self) -> RequiredWords {
        match self {
            Self::All(conditions) | Self::Any(conditions) => {
                let required = conditions.iter().map(Self::required_words);
                required.max().unwrap_or(RequiredWords::All)
            }
            Self::Words(terms) => {
                let of_term = |term: &QueryTerm| match term.is_stop_word() {
                    true => RequiredWords::All,
                    false if term.is_optional() => RequiredWords::ExceptStopWords,
                    false => RequiredWords::Content,
                };
                terms.iter().map(of_term).max().unwrap_or(RequiredWords::All)
            }
            Self::Phrase(_) | Self::In(..) => RequiredWords::Content,
            _ => RequiredWords::All,
        }
    }

    /// Returns `true` if pages may lack the word, although it counts for their score.
    pub(crate) fn is_optional(&self, term: &QueryTerm) -> bool {
        term.is_optional() && self.required_words() == RequiredWords::Content
    }

    /// Returns the words by which pages are scored.
    pub(crate) fn terms(&self) -> Vec<&QueryTerm> {
        let mut terms = Vec::new();
        self.add_terms(&mut terms, self.required_words() == RequiredWords::All);
        terms
    }

    fn add_terms<'e>(&'e self, out: &mut Vec<&'e QueryTerm>, with_stop_words: bool) {
        match self {
            Self::All(conditions) | Self::Any(conditions) => {
                conditions.iter().for_each(|part| part.add_terms(out, with_stop_words));
            }
            Self::Words(terms) => {
                out.extend(terms.iter().filter(|term| with_stop_words || !term.is_stop_word()));
            }
            Self::Phrase(terms) | Self::In(_, terms) => out.extend(terms),
            _ => {}
        }
    }

    /// Marks additional stop words. Quoted words are always required.
    pub(crate) fn mark_stop_words(&mut self, stop_words: &StopWords) {
        match self {
            Self::All(conditions) | Self::Any(conditions) => {
                conditions.iter_mut().for_each(|part| part.mark_stop_words(stop_words));
            }
            Self::Words(terms) => {
                terms.iter_mut().for_each(|term| term.is_own_stop_word = stop_words.contains(&term.word));
            }
            _ => {}
        }
    }

    /// Adds synonyms to words. Quoted and excluded words have none.
    pub(crate) fn add_synonyms(&mut self, sets: &SynonymSets, analyser: &Analyser) {
        match self {
            Self::All(conditions) => {
                let mut run = Vec::new();
                for part in conditions {
                    match part {
                        Self::Words(terms) => run.extend(terms),
                        part => {
                            add_to_run(&mut std::mem::take(&mut run), sets, analyser);
                            part.add_synonyms(sets, analyser);
                        }
                    }
                }
                add_to_run(&mut run, sets, analyser);
            }
            Self::Any(conditions) => {
                conditions.iter_mut().for_each(|part| part.add_synonyms(sets, analyser));
            }
            Self::Words(terms) => add_to_run(&mut terms.iter_mut().collect::<Vec<_>>(), sets, analyser),
            _ => {}
        }
    }

    /// Returns the distinct words to highlight in results.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for word in self.terms().into_iter().flat_map(QueryTerm::highlight_words) {
            if words.len() < MAX_TERMS && !words.iter().any(|known| known == word) {
                words.push(word.to_string());
            }
        }
        words
    }

    /// Returns `true` if the expression needs brackets inside another one.
    fn is_compound(&self) -> bool {
        match self {
            Self::All(conditions) | Self::Any(conditions) => conditions.len() > 1,
            Self::Words(terms) => terms.len() > 1,
            _ => false,
        }
    }
}

/// The words of a query that pages must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RequiredWords {
    /// The query has stop words only.
    All,
    /// The query has no content words.
    ExceptStopWords,
    /// Stop words, question words and filler words are optional.
    Content,
}

impl RequiredWords {
    fn contains(self, term: &QueryTerm) -> bool {
        match self {
            Self::All => true,
            Self::ExceptStopWords => !term.is_stop_word(),
            Self::Content => !term.is_stop_word() && !term.is_optional(),
        }
    }
}

struct LoweringContext<'a> {
    is_indexed: IsIndexed<'a>,
    required: RequiredWords,
    /// Splits unknown words into characters.
    split_unknown: bool,
}

impl LoweringContext<'_> {
    /// Translates words, without those that are optional.
    fn term_queries<'t>(
        &self,
        terms: impl IntoIterator<Item = &'t QueryTerm>,
    ) -> impl Iterator<Item = Query> {
        let counted = terms.into_iter().filter(|term| self.required.contains(term));
        counted.map(|term| {
            if self.split_unknown {
                term.to_split_query(self.is_indexed)
            } else {
                term.to_query(self.is_indexed)
            }
        })
    }
}

/// Returns the alternatives of a word.
fn alternatives(query: Query) -> Vec<Query> {
    match query {
        Query::Or(alternatives) => alternatives,
        query => vec![query],
    }
}

/// Adds synonyms to consecutive words of a query.
///
/// A synonym of several words is added to each of them: (a ∨ s) ∧ (b ∨ s) equals (a ∧ b) ∨ s.
fn add_to_run(run: &mut [&mut QueryTerm], sets: &SynonymSets, analyser: &Analyser) {
    let mut at = 0;
    while at < run.len() {
        let rest: Vec<&QueryTerm> = run[at..].iter().map(|term| &**term).collect();
        let Some((length, texts)) = sets.find(&rest) else {
            at += 1;
            continue;
        };
        let of = join_typed(rest[..length].iter().copied());
        let synonyms = texts.into_iter().map(|text| Synonym {
            text: text.to_string(),
            of: of.clone(),
            terms: QueryTerm::parse_all(text, analyser),
        });
        let synonyms: Vec<Synonym> = synonyms.filter(|synonym| !synonym.terms.is_empty()).collect();
        for term in &mut run[at..at + length] {
            term.synonyms.clone_from(&synonyms);
        }
        at += length;
    }
}

/// Joins words as typed, with spaces except between Han characters.
fn join_typed<'t>(terms: impl IntoIterator<Item = &'t QueryTerm>) -> String {
    let mut text = String::new();
    for term in terms {
        let is_one = text.ends_with(is_han) && term.typed.starts_with(is_han);
        if !text.is_empty() && !is_one {
            text.push(' ');
        }
        text.push_str(&term.typed);
    }
    text
}

/// Formats the expression in the query language.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let typed = |terms: &[QueryTerm]| {
            let typed =
                terms.iter().map(|term| format!("{}{}", if term.is_required { "+" } else { "" }, term.typed));
            typed.collect::<Vec<_>>().join(" ")
        };
        let value = |terms: &[QueryTerm]| match terms {
            [term] if !term.typed.contains(char::is_whitespace) => term.typed.clone(),
            terms => format!("\"{}\"", join_typed(terms)),
        };
        let inside = |part: &Self| if part.is_compound() { format!("({part})") } else { part.to_string() };
        match self {
            Self::All(conditions) => {
                let conditions = conditions.iter().map(|part| match part {
                    Self::Any(_) => inside(part),
                    part => part.to_string(),
                });
                f.write_str(&conditions.collect::<Vec<_>>().join(" "))
            }
            Self::Any(conditions) => {
                f.write_str(&conditions.iter().map(inside).collect::<Vec<_>>().join(" OR "))
            }
            Self::Not(part) => match &**part {
                Self::Words(terms) => write!(f, "-{}", value(terms)),
                part => write!(f, "-{}", inside(part)),
            },
            Self::Words(terms) => f.write_str(&typed(terms)),
            Self::Phrase(terms) => write!(f, "\"{}\"", join_typed(terms)),
            Self::In(part, terms) => {
                let name = match part {
                    PagePart::Title => "intitle",
                    PagePart::Address => "inurl",
                    PagePart::Anchor => "inanchor",
                    PagePart::Body => "inbody",
                };
                write!(f, "{name}:{}", value(terms))
            }
            Self::Site(site) => write!(f, "site:{site}"),
            Self::Label(label, name) => {
                let label = match label {
                    PageLabel::Lang => "lang",
                    PageLabel::Type => "type",
                    PageLabel::Format => "filetype",
                    PageLabel::Category => "category",
                };
                write!(f, "{label}:{name}")
            }
            Self::Before(day) => write!(f, "before:{}", pharos_index::document::day::format(*day)),
            Self::After(day) => write!(f, "after:{}", pharos_index::document::day::format(*day)),
            Self::Link(target) => write!(f, "link:{}", target.shown),
            Self::Url(target) => write!(f, "url:{}", target.shown),
            Self::Related(target) => write!(f, "related:{}", target.shown),
        }
    }
}
