//! Resistance to spam: the gain of spam techniques for an irrelevant page among relevant ones.
//!
//! With the sum no part contributes more than its weight, so the gain of each technique is bounded regardless of the
//! effort (《搜索引擎——原理、技术与系统》§10.3). The product is measured for comparison.

use std::sync::Arc;

use pharos_core::config::ScoreCombination;
use pharos_core::{Config, LibraryPosition, PageId, PageUrl};
use pharos_index::{GenerationalIndex, IndexChange, IndexDocument, IndexError, LinkFigures, LinkMaxima};
use pharos_mining::clicks::votes::VoteLimit;
use serde::Serialize;

use crate::{Clicks, QueryError, QueryProcessor, ResultOptions, SearchRequest};

/// Number of relevant pages, of varying quality.
const HONEST_PAGES: usize = 100;

const WRITER_MEMORY: usize = 16 << 20;
const BODY_LIMIT: usize = 1 << 20;
const AT: LibraryPosition = LibraryPosition::new(1, 1);
const QUERY: &str = "computer";

/// A spam technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpamTechnique {
    /// Repeats the word in invisible text.
    StuffedText,
    /// Repeats the word in the title.
    StuffedTitle,
    /// Links from the spammer's own pages.
    LinkFarm,
    /// Paid clicks of as many visits.
    BoughtClicks,
    /// Clicks of one visit: they count once a day.
    RepeatedClicks,
    /// All techniques together.
    All,
}

impl SpamTechnique {
    /// All techniques.
    pub const ALL: [SpamTechnique; 6] = [
        SpamTechnique::StuffedText,
        SpamTechnique::StuffedTitle,
        SpamTechnique::LinkFarm,
        SpamTechnique::BoughtClicks,
        SpamTechnique::RepeatedClicks,
        SpamTechnique::All,
    ];

    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            SpamTechnique::StuffedText => "stuffed text",
            SpamTechnique::StuffedTitle => "stuffed title",
            SpamTechnique::LinkFarm => "link farm",
            SpamTechnique::BoughtClicks => "bought clicks",
            SpamTechnique::RepeatedClicks => "repeated clicks",
            SpamTechnique::All => "everything",
        }
    }

    fn includes(self, other: SpamTechnique) -> bool {
        self == other || self == SpamTechnique::All
    }
}

/// The gain of a technique.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpamGain {
    #[serde(rename = "trick")]
    pub technique: SpamTechnique,
    /// Number of repetitions, pages or clicks.
    pub effort: usize,
    /// Increase of the score, with the sum.
    pub sum: f64,
    /// Maximum increase: the weights of the affected parts.
    pub bound: f64,
    /// Rank among the relevant pages, with the sum.
    pub rank_by_sum: usize,
    /// Rank among the relevant pages, with the product.
    pub rank_by_product: usize,
}

/// Measures every technique with increasing effort. `open` creates an empty index for each measurement, given its name.
pub fn measure_gains(
    config: &Config,
    open: impl Fn(&str) -> Result<Arc<dyn GenerationalIndex>, IndexError>,
) -> Result<Vec<SpamGain>, QueryError> {
    let measure_placement = |technique: SpamTechnique, effort: usize| {
        let index = open(&format!("{}-{effort}", technique.name().replace(' ', "-")))?;
        measure_placement(index, config, technique, effort)
    };
    let k = &config.rank.ordinary;
    let mut gains = Vec::new();
    let honest = measure_placement(SpamTechnique::All, 0)?;
    for technique in SpamTechnique::ALL {
        let words = k.words + k.near + k.title;
        let bound = match technique {
            SpamTechnique::StuffedText => k.words + k.near,
            SpamTechnique::StuffedTitle => words,
            SpamTechnique::LinkFarm => k.links,
            SpamTechnique::BoughtClicks | SpamTechnique::RepeatedClicks => k.clicks,
            SpamTechnique::All => words + k.links + k.clicks,
        };
        for effort in [10, 100, 1_000, 10_000] {
            let [by_sum, by_product] = measure_placement(technique, effort)?;
            gains.push(SpamGain {
                technique,
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

/// Returns rank and score of the spam page, with the sum and with the product.
fn measure_placement(
    index: Arc<dyn GenerationalIndex>,
    config: &Config,
    trick: SpamTechnique,
    effort: usize,
) -> Result<[(usize, f64); 2], QueryError> {
    let documents = test_documents(trick, effort);
    let mut maxima = LinkMaxima::default();
    documents.iter().for_each(|document| maxima.include(&document.link_figures));
    let generations = index.generations();
    let builder = generations.lock_builder()?;
    let history = generations.build_directory().begin(1, WRITER_MEMORY, BODY_LIMIT)?;
    let mut history = history.with_maxima(maxima)?;
    for document in &documents {
        history.add(document)?;
    }
    generations.install(history.finish(AT.into())?)?;
    drop(builder);
    index.apply(vec![IndexChange::Gone(url("never.example", 0).id())])?;
    index.commit(&AT.into())?;
    let mut config = config.clone();
    let mut places = [(0, 0.0); 2];
    for (place, combine) in places.iter_mut().zip([ScoreCombination::Sum, ScoreCombination::Product]) {
        config.rank.combine = combine;
        let search = QueryProcessor::new(Arc::clone(&index) as Arc<dyn pharos_index::Index>, &config);
        search.set_clicks(clicks(trick, effort));
        let request = SearchRequest {
            size: HONEST_PAGES + 1,
            options: ResultOptions { all: true, ..ResultOptions::default() },
            ..SearchRequest::new(QUERY)
        };
        let answer = search.run(&request)?;
        let found = answer.hits.iter().position(|hit| hit.site == SPAM_SITE).unwrap_or(answer.hits.len());
        *place = (found + 1, answer.hits.get(found).map_or(0.0, |hit| f64::from(hit.score)));
    }
    Ok(places)
}

/// Site of the spam page.
const SPAM_SITE: &str = "hotel.example";

fn url(site: &str, page: usize) -> PageUrl {
    // The names are valid by construction.
    PageUrl::parse(&format!("http://{site}/{page}")).unwrap_or_else(|_| unreachable!("{site}"))
}

fn honest_page(nth: usize) -> PageId {
    url(&format!("s{nth}.example"), nth).id()
}

fn test_documents(trick: SpamTechnique, effort: usize) -> Vec<IndexDocument> {
    let filler = "The harbour was quiet and the ships lay at anchor until the morning came. ";
    let mut documents: Vec<IndexDocument> = (0..HONEST_PAGES)
        .map(|nth| {
            let sentences = 1 + nth % 7;
            let body =
                format!("{}{filler}", "A computer reads and writes what it is told. ".repeat(sentences));
            let title =
                if nth % 3 == 0 { format!("The computer, part {nth}") } else { format!("Notes, part {nth}") };
            let page_rank = 1.0 + (nth % 10) as f32;
            let link_figures = LinkFigures {
                page_rank,
                site_rank: page_rank,
                link_hits: nth as u32,
                ..LinkFigures::default()
            };
            IndexDocument {
                title,
                body: body + &filler.repeat(nth % 5),
                link_figures,
                ..IndexDocument::new(url(&format!("s{nth}.example"), nth))
            }
        })
        .collect();
    let times = |of: SpamTechnique| if trick.includes(of) { effort } else { 0 };
    let stuffing = format!("{QUERY} ").repeat(times(SpamTechnique::StuffedText));
    let title =
        format!("Rooms by the sea {}", format!("{QUERY} ").repeat(times(SpamTechnique::StuffedTitle)));
    // PageRank of the target of a link farm of n pages: each passes on 0.85 of its own 0.15, and little more.
    let page_rank = 0.5 + 0.25 * times(SpamTechnique::LinkFarm) as f32;
    documents.push(IndexDocument {
        title,
        body: format!(
            "Rooms with a view of the sea, breakfast, one computer in the hall. {}{stuffing}",
            filler.repeat(3)
        ),
        link_figures: LinkFigures {
            page_rank,
            site_rank: 0.5,
            in_degree: effort as u32,
            ..LinkFigures::default()
        },
        ..IndexDocument::new(url(SPAM_SITE, 1))
    });
    documents
}

/// Relevant pages are clicked too, better ones more often.
fn clicks(trick: SpamTechnique, effort: usize) -> Clicks {
    let clicks = Clicks::default();
    for nth in 0..20 {
        (0..20 - nth).for_each(|_| clicks.click(QUERY, honest_page(nth), 1));
    }
    if trick.includes(SpamTechnique::BoughtClicks) {
        (0..effort).for_each(|_| clicks.click(QUERY, url(SPAM_SITE, 1).id(), 10));
    }
    if trick.includes(SpamTechnique::RepeatedClicks) {
        let mut votes = VoteLimit::default();
        let (page, day) = (url(SPAM_SITE, 1), "2026-01-31");
        let admitted = (0..effort).filter(|_| votes.admit("visit", QUERY, page.as_str(), day));
        admitted.for_each(|_| clicks.click(QUERY, page.id(), 10));
    }
    clicks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::open_index;

    #[test]
    fn no_technique_gains_more_than_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let gains = measure_gains(&Config::default(), |name| Ok(open_index(&dir.path().join(name)))).unwrap();
        assert_eq!(gains.len(), 24);
        for gain in &gains {
            assert!(gain.sum <= gain.bound + 1e-6, "{gain:?}");
        }
        let of = |trick| gains.iter().filter(|gain| gain.technique == trick).collect::<Vec<_>>();
        for trick in [SpamTechnique::StuffedText, SpamTechnique::LinkFarm, SpamTechnique::BoughtClicks] {
            assert!(of(trick).iter().all(|gain| gain.rank_by_sum > 1), "{:?}", of(trick));
        }
        let repeated: Vec<f64> = of(SpamTechnique::RepeatedClicks).iter().map(|gain| gain.sum).collect();
        assert!(repeated.iter().all(|sum| (sum - repeated[0]).abs() < 1e-9), "one vote: {repeated:?}");
        // The additional gain diminishes.
        for trick in SpamTechnique::ALL {
            let of = of(trick);
            assert!(of[3].sum - of[2].sum < 0.05, "{of:?}");
        }
        assert!(of(SpamTechnique::BoughtClicks).iter().any(|gain| gain.rank_by_product < gain.rank_by_sum));
    }
}
