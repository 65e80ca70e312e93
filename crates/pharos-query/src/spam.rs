//! What tricks gain: a page that has nothing to say about a query, among pages that do, tries to come first.
//!
//! With the sum no part gives more than its weight, so that each trick gains a bounded amount however much effort it takes
//! (《搜索引擎——原理、技术与系统》 §10.3); the product is there to compare.

use std::path::Path;
use std::sync::Arc;

use pharos_core::config::Combine;
use pharos_core::{Config, LibraryPosition, PageId, PageUrl};
use pharos_index::{Change, Document, EmbeddedIndex, HistoryBuilder, Index as _, Maxima, WebFigures};
use serde::Serialize;

use crate::{Clicks, QueryError, Request, Search};

/// Pages that answer the query, better and worse ones.
const HONEST: usize = 100;

const MEMORY: usize = 16 << 20;
const BODY_LIMIT: usize = 1 << 20;
const AT: LibraryPosition = LibraryPosition { file: 1, offset: 1 };
const QUERY: &str = "computer";

/// A way to come first without deserving it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trick {
    /// The word, again and again, in a text that nobody sees.
    StuffedText,
    /// The word, again and again, in the title.
    StuffedTitle,
    /// Pages of its own that link to it.
    LinkFarm,
    /// People who are paid for clicking it.
    BoughtClicks,
    /// Everything.
    All,
}

impl Trick {
    /// All of them.
    pub const ALL: [Trick; 5] =
        [Trick::StuffedText, Trick::StuffedTitle, Trick::LinkFarm, Trick::BoughtClicks, Trick::All];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Trick::StuffedText => "stuffed text",
            Trick::StuffedTitle => "stuffed title",
            Trick::LinkFarm => "link farm",
            Trick::BoughtClicks => "bought clicks",
            Trick::All => "everything",
        }
    }

    fn includes(self, other: Trick) -> bool {
        self == other || self == Trick::All
    }
}

/// What a trick gains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// Which.
    pub trick: Trick,
    /// How often the word, how many pages, how many clicks.
    pub effort: usize,
    /// What it adds to the score, with the sum.
    pub sum: f64,
    /// The most it can add: the weights of the parts it touches.
    pub bound: f64,
    /// Its rank among the honest pages, with the sum.
    pub rank_by_sum: usize,
    /// The same with the product.
    pub rank_by_product: usize,
}

/// Tries every trick with rising effort, in an empty directory.
pub fn gains(dir: &Path, config: &Config) -> Result<Vec<Gain>, QueryError> {
    let k = &config.rank.ordinary;
    let mut gains = Vec::new();
    let honest = place(dir, config, Trick::All, 0)?;
    for trick in Trick::ALL {
        let words = k.words + k.near + k.title;
        let bound = match trick {
            Trick::StuffedText => k.words + k.near,
            Trick::StuffedTitle => words,
            Trick::LinkFarm => k.links,
            Trick::BoughtClicks => k.clicks,
            Trick::All => words + k.links + k.clicks,
        };
        for effort in [10, 100, 1_000, 10_000] {
            let [by_sum, by_product] = place(dir, config, trick, effort)?;
            gains.push(Gain {
                trick,
                effort,
                sum: by_sum.1 - honest[0].1,
                bound,
                rank_by_sum: by_sum.0,
                rank_by_product: by_product.0,
            });
        }
    }
    Ok(gains)
}

/// Rank and score of the page, with the sum and with the product.
fn place(dir: &Path, config: &Config, trick: Trick, effort: usize) -> Result<[(usize, f64); 2], QueryError> {
    let dir = dir.join(format!("{}-{effort}", trick.name().replace(' ', "-")));
    let documents = web(trick, effort);
    let index = EmbeddedIndex::open_writer(&dir, MEMORY, BODY_LIMIT)?;
    let mut maxima = Maxima::default();
    documents.iter().for_each(|document| maxima.include(&document.web));
    let builder = index.generations().lock_builder()?;
    let mut history =
        HistoryBuilder::begin(index.generations(), 1, MEMORY, BODY_LIMIT)?.measured_by(maxima)?;
    for document in &documents {
        history.add(document)?;
    }
    index.generations().install(history.finish(AT)?)?;
    drop(builder);
    index.apply(vec![Change::Gone(url("never.example", 0).id())])?;
    index.commit(AT)?;
    let index = Arc::new(index);
    let mut config = config.clone();
    let mut places = [(0, 0.0); 2];
    for (place, combine) in places.iter_mut().zip([Combine::Sum, Combine::Product]) {
        config.rank.combine = combine;
        let search = Search::new(Arc::clone(&index) as Arc<dyn pharos_index::Index>, &config);
        search.set_clicks(clicks(trick, effort));
        let request = Request { size: HONEST + 1, all: true, ..Request::new(QUERY) };
        let answer = search.run(&request)?;
        let found = answer.hits.iter().position(|hit| hit.site == CHEAT).unwrap_or(answer.hits.len());
        *place = (found + 1, answer.hits.get(found).map_or(0.0, |hit| f64::from(hit.score)));
    }
    Ok(places)
}

/// The site of the page that cheats.
const CHEAT: &str = "hotel.example";

fn url(site: &str, page: usize) -> PageUrl {
    // The names are ours.
    PageUrl::parse(&format!("http://{site}/{page}")).unwrap_or_else(|_| unreachable!("{site}"))
}

fn honest(nth: usize) -> PageId {
    url(&format!("s{nth}.example"), nth).id()
}

fn web(trick: Trick, effort: usize) -> Vec<Document> {
    let filler = "The harbour was quiet and the ships lay at anchor until the morning came. ";
    let mut documents: Vec<Document> = (0..HONEST)
        .map(|nth| {
            let sentences = 1 + nth % 7;
            let body =
                format!("{}{filler}", "A computer reads and writes what it is told. ".repeat(sentences));
            let title =
                if nth % 3 == 0 { format!("The computer, part {nth}") } else { format!("Notes, part {nth}") };
            let page_rank = 1.0 + (nth % 10) as f32;
            let web = WebFigures {
                page_rank,
                site_rank: page_rank,
                link_hits: nth as u32,
                ..WebFigures::default()
            };
            Document {
                title,
                body: body + &filler.repeat(nth % 5),
                web,
                ..Document::new(url(&format!("s{nth}.example"), nth))
            }
        })
        .collect();
    let times = |of: Trick| if trick.includes(of) { effort } else { 0 };
    let stuffing = format!("{QUERY} ").repeat(times(Trick::StuffedText));
    let title = format!("Rooms by the sea {}", format!("{QUERY} ").repeat(times(Trick::StuffedTitle)));
    // What a farm of n pages gives its target: each passes on 0.85 of its own 0.15 and little more.
    let page_rank = 0.5 + 0.25 * times(Trick::LinkFarm) as f32;
    documents.push(Document {
        title,
        body: format!(
            "Rooms with a view of the sea, breakfast, one computer in the hall. {}{stuffing}",
            filler.repeat(3)
        ),
        web: WebFigures { page_rank, site_rank: 0.5, in_degree: effort as u32, ..WebFigures::default() },
        ..Document::new(url(CHEAT, 1))
    });
    documents
}

/// Honest pages are clicked, too, the better ones more.
fn clicks(trick: Trick, effort: usize) -> Clicks {
    let clicks = Clicks::default();
    for nth in 0..20 {
        (0..20 - nth).for_each(|_| clicks.click(QUERY, honest(nth), 1));
    }
    if trick.includes(Trick::BoughtClicks) {
        (0..effort).for_each(|_| clicks.click(QUERY, url(CHEAT, 1).id(), 10));
    }
    clicks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_trick_gains_more_than_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let gains = gains(dir.path(), &Config::default()).unwrap();
        assert_eq!(gains.len(), 20);
        for gain in &gains {
            assert!(gain.sum <= gain.bound + 1e-6, "{gain:?}");
        }
        let of = |trick| gains.iter().filter(|gain| gain.trick == trick).collect::<Vec<_>>();
        for trick in [Trick::StuffedText, Trick::LinkFarm, Trick::BoughtClicks] {
            assert!(of(trick).iter().all(|gain| gain.rank_by_sum > 1), "{:?}", of(trick));
        }
        // More and more of it adds less and less.
        for trick in Trick::ALL {
            let of = of(trick);
            assert!(of[3].sum - of[2].sum < 0.05, "{of:?}");
        }
        assert!(of(Trick::BoughtClicks).iter().any(|gain| gain.rank_by_product < gain.rank_by_sum));
    }
}
