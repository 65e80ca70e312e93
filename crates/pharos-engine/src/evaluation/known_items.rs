//! Known-item queries: each is made from one stored page, and a good search finds that page again.
//!
//! Known-item search needs no judgements, so that every data directory is a test collection (Azzopardi, de Rijke and
//! Balog, *Building simulated queries for known-item topics*, SIGIR 2007). Queries that another page answers equally
//! well are left out: titles and anchor texts must be unique, and copies of a page are not asked for.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use pharos_core::config::Config;
use pharos_core::{PageId, PageObject, PageUrl, SiteId};
use pharos_graph::anchors::informative_anchor;
use pharos_store::DataDir;
use pharos_text::analyser::stop_words::is_stop_word;
use pharos_text::title::title_parts;
use pharos_text::{Analyser, normalise};
use serde::Serialize;

use super::misspelling::misspell;
use super::seeded_choice::SeededChoice;
use crate::EngineError;
use crate::build::current_pages::CurrentPages;

/// Number of words of a query made from the text of a page, and of the passage that they come from.
const BODY_WORDS: usize = 4;
const PASSAGE_WORDS: usize = 30;
/// Minimum number of different words in the text of a page that is asked for by its text.
const MIN_TEXT_WORDS: usize = 40;
/// Maximum length of a query in characters.
const MAX_QUERY_CHARS: usize = 60;
/// Number of pages of a site that must share a part of their titles for it to count as the name of the site.
const SHARED_TITLE_PARTS: u32 = 3;
/// Several times as many pages as queries are sampled, because not every page yields every kind of query.
const SAMPLE_FACTOR: usize = 4;

/// The source of a known-item query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KnownItemKind {
    /// The title of the page, without the name of the site.
    Title,
    /// Words of one passage of its text.
    Body,
    /// The text of a link to it.
    Anchor,
    /// The name of the site; the page is its home page.
    Site,
    /// The title with a misspelled word.
    Misspelling,
}

/// A query, and the page that it was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KnownItem {
    pub kind: KnownItemKind,
    pub query: String,
    pub url: PageUrl,
    /// Language of the page; may be empty.
    pub lang: String,
}

/// Options of [`known_items`].
#[derive(Clone, Copy, Debug)]
pub struct KnownItemOptions {
    /// Maximum number of queries of each kind.
    pub per_kind: usize,
    /// The same seed gives the same queries for the same pages.
    pub seed: u64,
}

/// Makes known-item queries from the current pages of the library.
///
/// `progress` receives the number of pages read and returns `false` to stop.
pub fn known_items(
    data: &DataDir,
    config: &Config,
    options: KnownItemOptions,
    mut progress: impl FnMut(u64) -> bool,
) -> Result<Vec<KnownItem>, EngineError> {
    let mut check = |n: u64| if progress(n) { Ok(()) } else { Err(EngineError::Stopped) };
    let pages = CurrentPages::find(data, config, &mut |_| check(0))?;
    let mut collection = Collection::new(options);
    pages.for_each(&mut check, &mut |url, _, _, page| {
        collection.add_page(url, page);
        Ok(())
    })?;
    pages.for_each_links(&mut check, &mut |url, links| {
        for link in links {
            collection.add_link(url, &link.url, &link.anchor);
        }
        Ok(())
    })?;
    Ok(collection.finish())
}

/// The content of a page that queries are made from.
struct SampledPage {
    url: PageUrl,
    title: String,
    text: String,
    site_name: String,
    lang: String,
}

/// Statistics of all pages, and a sample of them.
struct Collection {
    options: KnownItemOptions,
    /// The pages with the smallest random numbers.
    sample: BTreeMap<(u64, PageId), SampledPage>,
    homes: BTreeMap<(u64, PageId), SampledPage>,
    /// Number of pages with a title or text, by hash.
    titles: HashMap<u64, u32>,
    texts: HashMap<u64, u32>,
    /// Number of pages of a site whose title has a part, by hash.
    title_parts: HashMap<(SiteId, u64), u32>,
    /// The only page that links with a text lead to, by hash; `None` if they lead to several.
    anchors: HashMap<u64, Option<PageId>>,
    /// Texts of links to sampled pages.
    anchors_of: HashMap<PageId, Vec<String>>,
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    normalise(text).trim().hash(&mut hasher);
    hasher.finish()
}

impl Collection {
    fn new(options: KnownItemOptions) -> Self {
        Self {
            options,
            sample: BTreeMap::new(),
            homes: BTreeMap::new(),
            titles: HashMap::new(),
            texts: HashMap::new(),
            title_parts: HashMap::new(),
            anchors: HashMap::new(),
            anchors_of: HashMap::new(),
        }
    }

    fn add_page(&mut self, url: &PageUrl, page: &PageObject) {
        if page.no_index() || (page.title.trim().is_empty() && page.text.trim().is_empty()) {
            return;
        }
        *self.titles.entry(hash(&page.title)).or_default() += 1;
        *self.texts.entry(hash(&page.text)).or_default() += 1;
        let site = url.id().site();
        for part in title_parts(&page.title) {
            *self.title_parts.entry((site, hash(part))).or_default() += 1;
        }
        let order = SeededChoice::new(self.options.seed, url.as_str()).next();
        let limit = self.options.per_kind.saturating_mul(SAMPLE_FACTOR);
        let is_home = *url == url.home();
        let kept = if is_home { &mut self.homes } else { &mut self.sample };
        let is_beyond =
            kept.len() >= limit && kept.last_key_value().is_some_and(|((last, _), _)| order > *last);
        if !is_beyond {
            let sampled = SampledPage {
                url: url.clone(),
                title: page.title.clone(),
                text: page.text.clone(),
                site_name: page.site_name.clone(),
                lang: page.lang.clone(),
            };
            kept.insert((order, url.id()), sampled);
            if kept.len() > limit {
                kept.pop_last();
            }
        }
    }

    fn add_link(&mut self, from: &PageUrl, to: &PageUrl, anchor: &str) {
        let Some(text) = informative_anchor(anchor).filter(|_| from != to) else { return };
        let target = to.id();
        let known = self.anchors.entry(hash(&text)).or_insert(Some(target));
        if *known != Some(target) {
            *known = None;
        }
        let order = SeededChoice::new(self.options.seed, to.as_str()).next();
        if self.sample.contains_key(&(order, target)) {
            let texts = self.anchors_of.entry(target).or_default();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }

    fn finish(self) -> Vec<KnownItem> {
        let per_kind = self.options.per_kind;
        let pages = || self.sample.values().filter(|page| self.texts.get(&hash(&page.text)) == Some(&1));
        let make = |kind, query: String, page: &SampledPage| KnownItem {
            kind,
            query,
            url: page.url.clone(),
            lang: page.lang.clone(),
        };
        let titles: Vec<KnownItem> = pages()
            .filter_map(|page| Some(make(KnownItemKind::Title, self.title_query(page)?, page)))
            .take(per_kind)
            .collect();
        let bodies = pages().filter_map(|page| Some(make(KnownItemKind::Body, self.body_query(page)?, page)));
        let anchors =
            pages().filter_map(|page| Some(make(KnownItemKind::Anchor, self.anchor_query(page)?, page)));
        let sites = self
            .homes
            .values()
            .filter_map(|page| Some(make(KnownItemKind::Site, self.site_query(page)?, page)));
        let misspelled = titles.iter().filter_map(|item| {
            let mut choice = SeededChoice::new(self.options.seed, &item.query);
            // People misspell single words and short queries as well as long ones.
            let short: Vec<&str> = item.query.split(' ').take(1 + choice.below(4)).collect();
            let query = misspell(&segmented(&short.join(" ")), &mut choice)?;
            Some(KnownItem { kind: KnownItemKind::Misspelling, query: joined(&query), ..item.clone() })
        });
        let mut items: Vec<KnownItem> = bodies.take(per_kind).collect();
        items.extend(anchors.take(per_kind));
        items.extend(sites.take(per_kind));
        items.extend(misspelled);
        items.extend(titles.iter().cloned());
        items.sort_by_key(|item| item.kind);
        items
    }

    /// Returns the title without the parts that name the site, if no other page has it.
    fn title_query(&self, page: &SampledPage) -> Option<String> {
        if self.titles.get(&hash(&page.title)) != Some(&1) {
            return None;
        }
        let site = page.url.id().site();
        let is_own = |part: &&str| {
            self.title_parts.get(&(site, hash(part))).is_none_or(|pages| *pages < SHARED_TITLE_PARTS)
        };
        let own: Vec<&str> = title_parts(&page.title).filter(is_own).collect();
        plain_query(&own.join(" "))
    }

    /// Returns some words of a passage of the text.
    fn body_query(&self, page: &SampledPage) -> Option<String> {
        let mut choice = SeededChoice::new(self.options.seed, page.url.as_str());
        let tokens = page.text.lines().flat_map(|line| Analyser::shared().segment(line));
        let is_content = |word: &&str| {
            word.chars().nth(1).is_some()
                && word.chars().all(char::is_alphanumeric)
                && !is_stop_word(&normalise(word))
        };
        let words: Vec<&str> = tokens.filter(is_content).collect();
        let mut different = words.clone();
        different.sort_unstable();
        different.dedup();
        if different.len() < MIN_TEXT_WORDS {
            return None;
        }
        let start = choice.below(words.len().saturating_sub(PASSAGE_WORDS));
        let passage = &words[start..words.len().min(start + PASSAGE_WORDS)];
        let mut chosen: Vec<&str> = Vec::new();
        for _ in 0..PASSAGE_WORDS {
            if let Some(word) = choice.one_of(passage).filter(|word| !chosen.contains(word)) {
                chosen.push(word);
            }
            if chosen.len() == BODY_WORDS {
                return plain_query(&chosen.join(" "));
            }
        }
        None
    }

    /// Returns the text of a link that leads to this page only.
    fn anchor_query(&self, page: &SampledPage) -> Option<String> {
        let target = page.url.id();
        let mut texts: Vec<&String> = self.anchors_of.get(&target)?.iter().collect();
        texts.retain(|text| self.anchors.get(&hash(text)) == Some(&Some(target)));
        texts.sort_unstable();
        plain_query(SeededChoice::new(self.options.seed, page.url.as_str()).one_of(&texts)?)
    }

    /// Returns the name of the site as its home page declares it, or the first part of its title.
    fn site_query(&self, page: &SampledPage) -> Option<String> {
        let name = page.site_name.trim();
        let name = if name.is_empty() { title_parts(&page.title).next().unwrap_or_default() } else { name };
        plain_query(name)
    }
}

/// Returns a text as a query without operators: its words, separated by spaces.
fn plain_query(text: &str) -> Option<String> {
    let plain: String =
        text.chars().map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' }).collect();
    let mut query = String::new();
    // Upper-case operators would not be words.
    let is_word = |word: &&str| !matches!(*word, "" | "OR" | "AND" | "NOT");
    for word in plain.split_whitespace().map(|word| word.trim_matches('\'')).filter(is_word) {
        if query.chars().count() + word.chars().count() > MAX_QUERY_CHARS && !query.is_empty() {
            break;
        }
        if !query.is_empty() {
            query.push(' ');
        }
        query.push_str(word);
    }
    query.chars().any(char::is_alphabetic).then_some(query)
}

/// Separates the words of a query by spaces, also where it is written without.
fn segmented(query: &str) -> String {
    Analyser::shared().segment(query).join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes the spaces between Chinese words again.
fn joined(query: &str) -> String {
    let mut text = String::new();
    for word in query.split(' ') {
        let is_latin = |c: char| c.is_ascii();
        let needs_space =
            text.chars().last().is_some_and(is_latin) || word.chars().next().is_some_and(is_latin);
        if needs_space && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://museum.example/{path}")).unwrap()
    }

    fn page(title: &str, text: &str) -> PageObject {
        PageObject { title: title.into(), text: text.into(), lang: "en".into(), ..PageObject::default() }
    }

    /// A text with many different words.
    fn long_text(of: &str) -> String {
        let word = |n: u8| format!("{of}{}{}", char::from(b'a' + n / 26), char::from(b'a' + n % 26));
        (0..60).map(word).collect::<Vec<_>>().join(" ")
    }

    fn collection() -> Collection {
        let mut collection = Collection::new(KnownItemOptions { per_kind: 10, seed: 7 });
        collection.add_page(&url(""), &page("Lighthouse Museum", "Welcome"));
        for (path, title) in [
            ("lamps", "Lamps | Lighthouse Museum"),
            ("keepers", "Keepers | Lighthouse Museum"),
            ("a", "Same"),
            ("b", "Same"),
        ] {
            collection.add_page(&url(path), &page(title, &long_text(path)));
        }
        collection.add_page(&url("copy1"), &page("First", "the same text"));
        collection.add_page(&url("copy2"), &page("Second", "the same text"));
        for (to, anchor) in
            [("lamps", "old lamps"), ("keepers", "who kept it"), ("keepers", "museum"), ("a", "museum")]
        {
            collection.add_link(&url(""), &url(to), anchor);
        }
        collection
    }

    fn queries(items: &[KnownItem], kind: KnownItemKind) -> Vec<(&str, &str)> {
        let mut found: Vec<(&str, &str)> = items
            .iter()
            .filter(|item| item.kind == kind)
            .map(|item| (item.query.as_str(), item.url.as_url().path()))
            .collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn queries_identify_one_page() {
        let items = collection().finish();
        assert_eq!(queries(&items, KnownItemKind::Title), [("Keepers", "/keepers"), ("Lamps", "/lamps")]);
        assert_eq!(
            queries(&items, KnownItemKind::Anchor),
            [("old lamps", "/lamps"), ("who kept it", "/keepers")]
        );
        assert_eq!(queries(&items, KnownItemKind::Site), [("Lighthouse Museum", "/")]);
        let bodies = queries(&items, KnownItemKind::Body);
        assert_eq!(bodies.len(), 4);
        for (query, path) in bodies {
            assert!(query.split(' ').all(|word| word.starts_with(&path[1..])), "{query} {path}");
            assert_eq!(query.split(' ').count(), BODY_WORDS);
        }
        let wrong = queries(&items, KnownItemKind::Misspelling);
        assert_eq!(wrong.len(), 2);
        assert!(wrong.iter().all(|(query, path)| query.to_lowercase() != path[1..]), "{wrong:?}");
        assert_eq!(items, collection().finish(), "the same seed gives the same queries");
    }

    #[test]
    fn the_sample_is_limited() {
        let mut collection = Collection::new(KnownItemOptions { per_kind: 2, seed: 1 });
        for n in 0..100 {
            collection.add_page(&url(&format!("p{n}")), &page(&format!("Number {n}"), &format!("text {n}")));
        }
        assert_eq!(collection.sample.len(), 2 * SAMPLE_FACTOR);
        assert_eq!(queries(&collection.finish(), KnownItemKind::Title).len(), 2);
    }

    #[test]
    fn titles_become_plain_queries() {
        assert_eq!(
            plain_query("os.path — \"Common\" pathname OR (x)").as_deref(),
            Some("os path Common pathname x")
        );
        assert_eq!(plain_query("《灯塔》：历史").as_deref(), Some("灯塔 历史"));
        assert_eq!(plain_query("— 12 —"), None);
        assert!(plain_query(&"word ".repeat(100)).unwrap().chars().count() <= MAX_QUERY_CHARS);
        assert_eq!(joined("python 灯塔 历史 rust code"), "python 灯塔历史 rust code");
    }
}
