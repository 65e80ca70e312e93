//! Known-item queries: each is made from one stored page, and a good search finds that page again.
//!
//! Known-item search needs no judgements, so that every data directory is a test collection (Azzopardi, de Rijke and
//! Balog, *Building simulated queries for known-item topics*, SIGIR 2007). Queries that another page answers equally
//! well are left out: titles and anchor texts must be unique, and copies of a page are not asked for.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
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
/// Rarity of a word that every page has, relative to one that a page in e (2.7) has.
const MIN_RARITY: f64 = 0.05;
/// Several times as many pages as queries are sampled, because not every page yields every kind of query.
const SAMPLE_FACTOR: usize = 4;

/// The source of a known-item query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KnownItemKind {
    /// The title of the page, without the name of the site.
    Title,
    /// Words of one passage of its text. Words are chosen in proportion to their frequency on the page and their rarity
    /// elsewhere, as the paper's model of popular and discriminative terms does.
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
    /// The query without its misspelling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intended: Option<String>,
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
    let mut lines = collection.sampled_lines();
    pages.for_each(&mut check, &mut |_, _, _, page| {
        count_lines(&mut lines, page);
        Ok(())
    })?;
    Ok(collection.finish(&lines))
}

/// Number of pages with each line of the sampled pages, by hash.
type LineCounts = HashMap<u64, u32>;

fn count_lines(counts: &mut LineCounts, page: &PageObject) {
    let lines: HashSet<u64> = page.text.lines().map(hash).collect();
    for line in lines {
        if let Some(pages) = counts.get_mut(&line) {
            *pages += 1;
        }
    }
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

    /// Returns the lines of the sampled pages with a count of 0.
    fn sampled_lines(&self) -> LineCounts {
        self.sample.values().flat_map(|page| page.text.lines()).map(|line| (hash(line), 0)).collect()
    }

    /// Makes the queries. `lines` counts the pages with each line.
    fn finish(self, lines: &LineCounts) -> Vec<KnownItem> {
        let per_kind = self.options.per_kind;
        let texts = SampledTexts::new(self.sample.values(), lines);
        let pages = || self.sample.values().filter(|page| self.texts.get(&hash(&page.text)) == Some(&1));
        let make = |kind, query: String, page: &SampledPage| KnownItem {
            kind,
            query,
            intended: None,
            url: page.url.clone(),
            lang: page.lang.clone(),
        };
        let titles: Vec<KnownItem> = pages()
            .filter_map(|page| Some(make(KnownItemKind::Title, self.title_query(page)?, page)))
            .take(per_kind)
            .collect();
        let bodies =
            pages().filter_map(|page| Some(make(KnownItemKind::Body, self.body_query(page, &texts)?, page)));
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
            let intended = short.join(" ");
            let query = joined(&misspell(&segmented(&intended), &mut choice)?);
            let intended = Some(intended);
            Some(KnownItem { kind: KnownItemKind::Misspelling, query, intended, ..item.clone() })
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

    /// Returns some words of a passage of the text that no other page has.
    fn body_query(&self, page: &SampledPage, texts: &SampledTexts<'_>) -> Option<String> {
        let mut choice = SeededChoice::new(self.options.seed, page.url.as_str());
        let words = texts.words(page);
        if words.iter().collect::<HashSet<_>>().len() < MIN_TEXT_WORDS {
            return None;
        }
        let mut times: BTreeMap<String, u32> = BTreeMap::new();
        words.iter().for_each(|word| *times.entry(normalise(word)).or_default() += 1);
        let start = choice.below(words.len().saturating_sub(PASSAGE_WORDS));
        let passage: BTreeSet<&str> =
            words[start..words.len().min(start + PASSAGE_WORDS)].iter().copied().collect();
        // Weighted sampling without replacement (Efraimidis and Spirakis 2006).
        let mut key = |word: &str| {
            let word = normalise(word);
            let weight = f64::from(times.get(&word).copied().unwrap_or(1)) * texts.rarity(&word);
            -choice.fraction().max(f64::MIN_POSITIVE).ln() / weight
        };
        let mut keyed: Vec<(f64, &str)> = passage.into_iter().map(|word| (key(word), word)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let chosen: Vec<&str> = keyed.into_iter().take(BODY_WORDS).map(|(_, word)| word).collect();
        (chosen.len() == BODY_WORDS).then(|| plain_query(&chosen.join(" ")))?
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

/// The texts of the sampled pages, and how rare their words are.
struct SampledTexts<'l> {
    lines: &'l LineCounts,
    /// Number of sampled pages with a word.
    pages_with: HashMap<String, u32>,
    pages: usize,
}

impl<'l> SampledTexts<'l> {
    fn new<'p>(sample: impl ExactSizeIterator<Item = &'p SampledPage>, lines: &'l LineCounts) -> Self {
        let mut texts = Self { lines, pages_with: HashMap::new(), pages: sample.len() };
        for page in sample {
            let words: HashSet<String> = content_words(page.text.lines()).map(normalise).collect();
            words.into_iter().for_each(|word| *texts.pages_with.entry(word).or_default() += 1);
        }
        texts
    }

    /// Returns the content words of the lines that no other page has.
    fn words<'p>(&self, page: &'p SampledPage) -> Vec<&'p str> {
        let is_own = |line: &&str| self.lines.get(&hash(line)).is_none_or(|pages| *pages <= 1);
        content_words(page.text.lines().filter(is_own)).collect()
    }

    /// Returns how rare a normalised word is: ln(N / n).
    fn rarity(&self, word: &str) -> f64 {
        let pages_with = self.pages_with.get(word).copied().unwrap_or(1).max(1);
        (self.pages.max(1) as f64 / f64::from(pages_with)).ln().max(MIN_RARITY)
    }
}

/// Returns the words of lines without stop words, single characters, and words with signs.
fn content_words<'t>(lines: impl Iterator<Item = &'t str>) -> impl Iterator<Item = &'t str> {
    let is_content = |word: &&str| {
        word.chars().nth(1).is_some()
            && word.chars().all(char::is_alphanumeric)
            && !is_stop_word(&normalise(word))
    };
    lines.flat_map(|line| Analyser::shared().segment(line)).filter(is_content)
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

    fn finish(collection: Collection) -> Vec<KnownItem> {
        let lines = collection.sampled_lines();
        collection.finish(&lines)
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
        let items = finish(collection());
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
        let intended: Vec<_> = items.iter().filter_map(|item| item.intended.as_deref()).collect();
        assert_eq!(intended.len(), 2);
        assert!(intended.iter().all(|query| ["Lamps", "Keepers"].contains(query)), "{intended:?}");
        assert!(wrong.iter().all(|(query, path)| query.to_lowercase() != path[1..]), "{wrong:?}");
        assert_eq!(items, finish(collection()), "the same seed gives the same queries");
    }

    #[test]
    fn body_queries_prefer_rare_words_of_own_lines() {
        let mut collection = Collection::new(KnownItemOptions { per_kind: 50, seed: 3 });
        let pages: Vec<PageObject> = (0..40)
            .map(|n| {
                let common: Vec<String> = (0..20).map(|n| format!("common{n}")).collect();
                let (rare, shared) = (long_text(&format!("rare{n}")), long_text("shared"));
                page(&format!("Page {n}"), &format!("{shared}\n{} {n}\n{rare}", common.join(" ")))
            })
            .collect();
        for (n, page) in pages.iter().enumerate() {
            collection.add_page(&url(&format!("p{n}")), page);
        }
        let mut lines = collection.sampled_lines();
        pages.iter().for_each(|page| count_lines(&mut lines, page));
        let items = collection.finish(&lines);
        let bodies = queries(&items, KnownItemKind::Body);
        assert_eq!(bodies.len(), 40);
        let words: Vec<&str> = bodies.iter().flat_map(|(query, _)| query.split(' ')).collect();
        assert!(!words.iter().any(|word| word.starts_with("shared")), "{words:?}");
        let common = words.iter().filter(|word| word.starts_with("common")).count();
        assert!(common * 10 < words.len(), "{common} of {}", words.len());
    }

    #[test]
    fn the_sample_is_limited() {
        let mut collection = Collection::new(KnownItemOptions { per_kind: 2, seed: 1 });
        for n in 0..100 {
            collection.add_page(&url(&format!("p{n}")), &page(&format!("Number {n}"), &format!("text {n}")));
        }
        assert_eq!(collection.sample.len(), 2 * SAMPLE_FACTOR);
        assert_eq!(queries(&finish(collection), KnownItemKind::Title).len(), 2);
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
