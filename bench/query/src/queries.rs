//! Queries generated from pages with a seed: words that occur together on a page, phrases, sites, and words that no
//! page has together.

use std::collections::{HashMap, HashSet};

use pharos_core::PageUrl;
use pharos_text::Analyser;
use pharos_text::analyser::stop_words::is_stop_word;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// A kind of query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This number of words of a title or text.
    Words(usize),
    Phrase,
    OnSite,
    NameOfSite,
    /// A single very frequent word.
    Common,
    /// A very frequent word and a word of the page.
    WithCommon,
    /// Words of two unrelated pages.
    Scattered,
}

impl Kind {
    /// All kinds with their numbers of queries.
    pub const MIX: [(Kind, usize); 10] = [
        (Kind::Words(1), 400),
        (Kind::Words(2), 500),
        (Kind::Words(3), 400),
        (Kind::Words(4), 300),
        (Kind::Phrase, 200),
        (Kind::OnSite, 200),
        (Kind::NameOfSite, 150),
        (Kind::Common, 50),
        (Kind::WithCommon, 150),
        (Kind::Scattered, 150),
    ];

    pub fn name(self) -> String {
        match self {
            Kind::Words(1) => "1 word".into(),
            Kind::Words(count) => format!("{count} words"),
            Kind::Phrase => "phrase".into(),
            Kind::OnSite => "words and `site:`".into(),
            Kind::NameOfSite => "name of a site".into(),
            Kind::Common => "a common word".into(),
            Kind::WithCommon => "a common word and another".into(),
            Kind::Scattered => "words of two pages".into(),
        }
    }
}

pub struct BenchQuery {
    pub kind: Kind,
    /// The query as a user would type it.
    pub text: String,
    /// The words alone.
    pub words: String,
    pub is_phrase: bool,
    pub site: Option<String>,
}

/// Number of words per language that count as very frequent.
const COMMON: usize = 60;

/// A page that queries are generated from.
struct Page {
    host: String,
    site_name: String,
    is_chinese: bool,
    /// Words as written, without stop words.
    title: Vec<String>,
    text: Vec<String>,
    /// Passages of the text as written, two or three words each.
    pieces: Vec<String>,
}

/// Generates queries of all kinds in mixed order, without repetitions.
pub fn generate(sample: &[[String; 3]], seed: u64) -> Vec<BenchQuery> {
    let pages: Vec<Page> = sample.iter().filter_map(Page::of).collect();
    let common = [true, false].map(|is_chinese| most_common(&pages, is_chinese));
    let mut random = StdRng::seed_from_u64(seed);
    let mut known = HashSet::new();
    let mut queries = Vec::new();
    for (kind, count) in Kind::MIX {
        let (mut made, mut tries) = (0, 0);
        while made < count && tries < 100 * count {
            tries += 1;
            let page = &pages[random.random_range(0..pages.len())];
            let other = &pages[random.random_range(0..pages.len())];
            let common = &common[usize::from(!page.is_chinese)];
            let Some(asked) = generate_one(kind, page, other, common, &mut random) else { continue };
            if known.insert(asked.text.clone()) {
                queries.push((random.random::<u64>(), asked));
                made += 1;
            }
        }
    }
    queries.sort_by_key(|(place, _)| *place);
    queries.into_iter().map(|(_, asked)| asked).collect()
}

fn generate_one(
    kind: Kind,
    page: &Page,
    other: &Page,
    common: &[String],
    random: &mut StdRng,
) -> Option<BenchQuery> {
    let pick = |words: &[String], random: &mut StdRng| -> Option<String> {
        (!words.is_empty()).then(|| words[random.random_range(0..words.len())].clone())
    };
    // Words of titles are rarer, so title and text are used equally often.
    let word = |random: &mut StdRng| {
        let words = if random.random_bool(0.5) { &page.title } else { &page.text };
        pick(words, random)
    };
    let (mut is_phrase, mut site) = (false, None);
    let words = match kind {
        Kind::Words(count) => {
            let words: Option<Vec<String>> = (0..count).map(|_| word(random)).collect();
            different(words?)?
        }
        Kind::Phrase => {
            is_phrase = true;
            pick(&page.pieces, random)?
        }
        Kind::OnSite => {
            site = Some(page.host.clone());
            word(random)?
        }
        Kind::NameOfSite => page.site_name.clone(),
        Kind::Common => pick(common, random)?,
        Kind::WithCommon => format!("{} {}", pick(common, random)?, word(random)?),
        Kind::Scattered => {
            let [one, two, three] = [&page.title, &page.title, &other.title].map(|words| pick(words, random));
            different(vec![one?, two?, three?])?
        }
    };
    let quoted = if is_phrase { format!("\"{words}\"") } else { words.clone() };
    let text = site.as_ref().map_or(quoted.clone(), |site| format!("{quoted} site:{site}"));
    Some(BenchQuery { kind, text, words, is_phrase, site })
}

/// Returns the words as a user would type them, or `None` if one is repeated.
fn different(words: Vec<String>) -> Option<String> {
    let known: HashSet<&String> = words.iter().collect();
    (known.len() == words.len()).then(|| words.join(" "))
}

impl Page {
    fn of([url, title, text]: &[String; 3]) -> Option<Self> {
        let host = PageUrl::parse(url).ok()?.host().to_string();
        let (headline, site_name) = title.rsplit_once(" - ")?;
        let words = |text: &str| -> Vec<(String, usize, usize)> {
            let tokens = Analyser::shared().tokens(text).into_iter();
            tokens
                .filter(|token| !is_stop_word(&token.text) && token.text.chars().count() > 1)
                .map(|token| (text[token.start..token.end].to_string(), token.start, token.end))
                .collect()
        };
        let only = |words: &[(String, usize, usize)]| words.iter().map(|(word, ..)| word.clone()).collect();
        let in_text = words(text);
        let near =
            |start: usize, end: usize| text.get(start..end).filter(|piece| !piece.contains(['“', '”', '"']));
        let pieces = in_text.windows(3).enumerate().filter_map(|(nth, three)| {
            let last = &three[1 + nth % 2];
            near(three[0].1, last.2).filter(|piece| piece.len() < 60).map(String::from)
        });
        Some(Self {
            host,
            site_name: site_name.to_string(),
            is_chinese: !headline.is_ascii(),
            title: only(&words(headline)),
            text: only(&in_text),
            pieces: pieces.collect(),
        })
    }
}

fn most_common(pages: &[Page], is_chinese: bool) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for page in pages.iter().filter(|page| page.is_chinese == is_chinese) {
        let words: HashSet<&str> = page.text.iter().map(String::as_str).collect();
        words.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
    }
    let mut counts: Vec<(usize, &str)> = counts.into_iter().map(|(word, count)| (count, word)).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts.into_iter().take(COMMON).map(|(_, word)| word.to_string()).collect()
}
