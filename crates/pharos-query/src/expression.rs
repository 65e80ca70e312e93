//! A query as understood, and what it asks of an index.

use std::fmt;

use pharos_core::{PageId, PageUrl, SiteId};
use pharos_index::{Label, Part, Query};
use pharos_text::is_han;
use pharos_text::stop_words::is_stop_word;

use crate::parse::MAX_TERMS;
use crate::term::{Knows, Term};

/// A query as understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// All of these.
    All(Vec<Expression>),
    /// One of these.
    Any(Vec<Expression>),
    /// Without this.
    Not(Box<Expression>),
    /// Words that need only all be there.
    Words(Vec<Term>),
    /// Words that must stand together, as they are written.
    Phrase(Vec<Term>),
    /// Words together in one part of the page.
    In(Part, Vec<Term>),
    /// Pages of a site or a folder of it.
    Site(String),
    /// Pages with a label.
    Label(Label, String),
    /// Pages older than that day.
    Before(i64),
    /// Pages of that day and later.
    After(i64),
    /// Pages that link there.
    Link(Target),
    /// The page at that address.
    Url(Target),
    /// Pages like that one.
    Related(Target),
}

/// Where a link leads, or a page stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    shown: String,
    /// The same address with both schemes, where none was given.
    pub(crate) pages: Vec<PageId>,
    /// The whole site instead.
    site: Option<SiteId>,
}

impl Target {
    /// An address; a host alone is the whole site.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut target = Self::page(text)?;
        if !text.contains('/') {
            target.site = target.pages.first().map(|page| page.site());
            target.shown = PageUrl::parse(&format!("http://{text}")).ok()?.site().as_str().to_string();
        }
        Some(target)
    }

    /// An address.
    pub(crate) fn page(text: &str) -> Option<Self> {
        let is_whole = text.starts_with("http://") || text.starts_with("https://");
        let schemes: &[&str] = if is_whole { &[""] } else { &["http://", "https://"] };
        let urls = schemes.iter().map(|scheme| PageUrl::parse(&format!("{scheme}{text}")).ok());
        let urls = urls.collect::<Option<Vec<PageUrl>>>()?;
        let shown = urls.first()?.as_str().to_string();
        Some(Self { shown, pages: urls.iter().map(PageUrl::id).collect(), site: None })
    }

    fn any(&self, query: impl Fn(PageId) -> Query) -> Query {
        let mut queries: Vec<Query> = self.pages.iter().map(|page| query(*page)).collect();
        if queries.len() == 1 { queries.remove(0) } else { Query::Or(queries) }
    }
}

impl Expression {
    /// All of these, where several.
    pub(crate) fn all(parts: Vec<Self>) -> Self {
        let flat = parts.into_iter().flat_map(|part| match part {
            Self::All(inside) => inside,
            part => vec![part],
        });
        let mut parts: Vec<Self> = flat.collect();
        if parts.len() == 1 { parts.remove(0) } else { Self::All(parts) }
    }

    /// One of the two.
    pub(crate) fn or(a: Self, b: Self) -> Self {
        match a {
            Self::Any(mut parts) => {
                parts.push(b);
                Self::Any(parts)
            }
            a => Self::Any(vec![a, b]),
        }
    }

    /// Without this; twice is with it.
    pub(crate) fn not(part: Self) -> Self {
        match part {
            Self::Not(inside) => *inside,
            part => Self::Not(Box::new(part)),
        }
    }

    /// Is there nothing to look for?
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::All(parts) if parts.is_empty())
    }

    /// What to ask an index.
    pub(crate) fn to_query(&self, knows: Knows<'_>) -> Query {
        self.asked(&Context { knows, with_stop_words: !self.says_something(), apart: false })
    }

    /// The same with the characters of unknown words apart; `None` where that makes no difference.
    pub(crate) fn apart(&self, knows: Knows<'_>) -> Option<Query> {
        let apart = self.asked(&Context { knows, with_stop_words: !self.says_something(), apart: true });
        (apart != self.to_query(knows)).then_some(apart)
    }

    fn asked(&self, context: &Context<'_>) -> Query {
        let mut parts = Vec::new();
        self.add_to(&mut parts, context);
        Query::And(parts)
    }

    /// The same where not all words need be there: one of them must. `None` where that makes no difference.
    pub(crate) fn relaxed(&self, knows: Knows<'_>) -> Option<Query> {
        let context = Context { knows, with_stop_words: !self.says_something(), apart: true };
        let (mut words, mut others) = (Vec::new(), Vec::new());
        for part in self.parts() {
            match part {
                Self::Words(terms) => {
                    words.extend(context.counting(terms));
                }
                part => part.add_to(&mut others, &context),
            }
        }
        if words.len() < 2 {
            return None;
        }
        others.insert(0, Query::Or(words.into_iter().flat_map(ways).collect()));
        Some(if others.len() == 1 { others.remove(0) } else { Query::And(others) })
    }

    /// Adds what must hold, each condition by itself.
    fn add_to(&self, out: &mut Vec<Query>, context: &Context<'_>) {
        match self {
            Self::All(parts) => parts.iter().for_each(|part| part.add_to(out, context)),
            // Words side by side are quickest for an index to ask: those of a word in parts, too.
            Self::Words(terms) => out.extend(context.counting(terms).flat_map(|query| match query {
                Query::And(parts) => parts,
                query => vec![query],
            })),
            other => out.extend(other.query(context)),
        }
    }

    /// `None`: nothing but stop words.
    fn query(&self, context: &Context<'_>) -> Option<Query> {
        let together = |terms| phrase_of(terms, context.knows);
        Some(match self {
            Self::All(_) | Self::Words(_) => {
                let mut parts = Vec::new();
                self.add_to(&mut parts, context);
                match parts.len() {
                    0 => return None,
                    1 => parts.remove(0),
                    _ => Query::And(parts),
                }
            }
            Self::Any(parts) => Query::Or(parts.iter().filter_map(|part| part.query(context)).collect()),
            // What is not wanted is not wanted as it was written: -信息检索 forbids the words together.
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
            Self::Link(Target { site: Some(site), .. }) => Query::LinksToSite(*site),
            Self::Link(target) => target.any(Query::LinksTo),
            Self::Url(target) => target.any(Query::Page),
            // What such pages have in common is asked for by whoever knows the page.
            Self::Related(target) => Query::Not(Box::new(target.any(Query::Page))),
        })
    }

    /// The conditions that must all hold.
    fn parts(&self) -> &[Self] {
        match self {
            Self::All(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }

    /// The page whose like are asked for.
    pub(crate) fn related(&self) -> Option<&Target> {
        self.parts().iter().find_map(|part| match part {
            Self::Related(target) => Some(target),
            _ => None,
        })
    }

    /// Do operators say which sites are wanted?
    pub(crate) fn names_sites(&self) -> bool {
        self.parts().iter().any(|part| matches!(part, Self::Site(_) | Self::Url(_)))
    }

    /// Is it words and phrases alone?
    pub(crate) fn is_plain(&self) -> bool {
        self.parts().iter().all(|part| matches!(part, Self::Words(_) | Self::Phrase(_)))
    }

    /// Is there a wanted word besides stop words? Then these need not be on the page.
    fn says_something(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::says_something),
            Self::Words(terms) => terms.iter().any(|term| !is_stop_word(&term.word)),
            Self::Phrase(_) | Self::In(..) => true,
            _ => false,
        }
    }

    /// The wanted words, which pages are scored by.
    pub(crate) fn terms(&self) -> Vec<&Term> {
        let mut terms = Vec::new();
        self.add_terms(&mut terms, !self.says_something());
        terms
    }

    fn add_terms<'e>(&'e self, out: &mut Vec<&'e Term>, with_stop_words: bool) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().for_each(|part| part.add_terms(out, with_stop_words));
            }
            Self::Words(terms) => {
                out.extend(terms.iter().filter(|term| with_stop_words || !is_stop_word(&term.word)));
            }
            Self::Phrase(terms) | Self::In(_, terms) => out.extend(terms),
            _ => {}
        }
    }

    /// The words a result may contain, for marking them; each once.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for word in self.terms().into_iter().flat_map(Term::to_mark) {
            if words.len() < MAX_TERMS && !words.iter().any(|known| known == word) {
                words.push(word.to_string());
            }
        }
        words
    }

    /// Does what stands inside need brackets?
    fn is_compound(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.len() > 1,
            Self::Words(terms) => terms.len() > 1,
            _ => false,
        }
    }
}

struct Context<'a> {
    knows: Knows<'a>,
    with_stop_words: bool,
    /// Are the characters of unknown words asked for apart?
    apart: bool,
}

impl Context<'_> {
    /// What the words ask, without stop words where these need not be there.
    fn counting(&self, terms: &[Term]) -> impl Iterator<Item = Query> {
        let counting = terms.iter().filter(|term| self.with_stop_words || !is_stop_word(&term.word));
        counting.map(|term| if self.apart { term.apart(self.knows) } else { term.anywhere(self.knows) })
    }
}

/// One of the words is enough, in one of its ways.
fn ways(query: Query) -> Vec<Query> {
    match query {
        Query::Or(ways) => ways,
        query => vec![query],
    }
}

fn phrase_of(terms: &[Term], knows: Knows<'_>) -> Vec<(usize, String)> {
    let first = terms.first().map_or(0, Term::position);
    let exactly = terms.iter().flat_map(|term| term.exactly(knows));
    exactly.map(|(at, term)| (at - first, term)).collect()
}

/// Words as they stand together: with spaces, but not between Han characters.
fn joined(terms: &[Term]) -> String {
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

/// In the query language itself.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let typed = |terms: &[Term]| terms.iter().map(|t| t.typed.as_str()).collect::<Vec<_>>().join(" ");
        let value = |terms: &[Term]| match terms {
            [term] if !term.typed.contains(char::is_whitespace) => term.typed.clone(),
            terms => format!("\"{}\"", joined(terms)),
        };
        let inside = |part: &Self| if part.is_compound() { format!("({part})") } else { part.to_string() };
        match self {
            Self::All(parts) => {
                let parts = parts.iter().map(|part| match part {
                    Self::Any(_) => inside(part),
                    part => part.to_string(),
                });
                f.write_str(&parts.collect::<Vec<_>>().join(" "))
            }
            Self::Any(parts) => f.write_str(&parts.iter().map(inside).collect::<Vec<_>>().join(" OR ")),
            Self::Not(part) => match &**part {
                Self::Words(terms) => write!(f, "-{}", value(terms)),
                part => write!(f, "-{}", inside(part)),
            },
            Self::Words(terms) => f.write_str(&typed(terms)),
            Self::Phrase(terms) => write!(f, "\"{}\"", joined(terms)),
            Self::In(part, terms) => {
                let name = match part {
                    Part::Title => "intitle",
                    Part::Address => "inurl",
                    Part::Anchor => "inanchor",
                    Part::Body => "inbody",
                };
                write!(f, "{name}:{}", value(terms))
            }
            Self::Site(site) => write!(f, "site:{site}"),
            Self::Label(label, name) => {
                let label = match label {
                    Label::Lang => "lang",
                    Label::Type => "type",
                    Label::Format => "filetype",
                    Label::Category => "category",
                };
                write!(f, "{label}:{name}")
            }
            Self::Before(day) => write!(f, "before:{}", pharos_index::day::format(*day)),
            Self::After(day) => write!(f, "after:{}", pharos_index::day::format(*day)),
            Self::Link(target) => write!(f, "link:{}", target.shown),
            Self::Url(target) => write!(f, "url:{}", target.shown),
            Self::Related(target) => write!(f, "related:{}", target.shown),
        }
    }
}
