//! All statistics of a web at once.

use serde::Serialize;

use super::{BowTieRegion, DegreeDistribution, PowerLaw, bow_tie, longest_shortest_path, predicted_diameter};
use crate::rank::hyperball::{HyperBallOptions, hyperball};
use crate::relations::{GraphSizes, Relations};
use crate::web::{Direction, LinkClosure, link_closure};
use crate::{GraphError, duplicates::mirrors::MirrorOptions};

/// Sweeps through the web for its longest shortest path.
const SWEEPS: u32 = 8;

/// How many links pages have.
#[derive(Clone, Debug, Serialize)]
pub struct DegreeSummary {
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub largest: u64,
    /// Pages without any.
    pub without: u64,
    /// The power law of the tail.
    pub power_law: Option<PowerLaw>,
}

/// Pages by their place in the bow-tie.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BowTieSummary {
    /// In the core, where every page reaches every other.
    pub core: u64,
    /// Leading to the core.
    pub leading_in: u64,
    /// Reached from the core.
    pub leading_out: u64,
    /// On ways around the core.
    pub tube: u64,
    /// Otherwise connected.
    pub tendril: u64,
    /// Not connected with the core.
    pub apart: u64,
    /// Strongly connected components, single pages included.
    pub components: u32,
}

/// How far pages are from each other.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DistanceStatistics {
    /// The books' estimate, 0.35 + 2.06 · log₁₀ N.
    pub books_diameter: f64,
    /// The longest shortest path that was found: the diameter is at least this.
    pub diameter_at_least: u32,
    /// The mean of two pages between which a path leads; none where that would take too much memory.
    pub mean: Option<f64>,
    /// Within this lie nine of ten such pairs.
    pub effective_diameter: Option<f64>,
}

/// All statistics of a web.
#[derive(Clone, Debug, Serialize)]
pub struct GraphStatistics {
    /// How much there is.
    #[serde(flatten)]
    pub sizes: GraphSizes,
    /// Links to pages.
    pub in_degree: DegreeSummary,
    /// Links from pages that were fetched.
    pub out_degree: DegreeSummary,
    /// The bow-tie.
    pub bow_tie: BowTieSummary,
    /// DistanceStatistics.
    pub distances: DistanceStatistics,
    /// Where links lead.
    pub closure: LinkClosure,
    /// Sites that show the same as another.
    pub mirrors: u64,
}

impl GraphStatistics {
    /// Counts everything. `memory` bounds what distances may take.
    pub fn of(relations: &Relations, memory: u64) -> Result<Self, GraphError> {
        let graph = relations.graph();
        let tie = bow_tie(graph);
        let count = |part| tie.pages(part) as u64;
        let bow_tie = BowTieSummary {
            core: count(BowTieRegion::Core),
            leading_in: count(BowTieRegion::In),
            leading_out: count(BowTieRegion::Out),
            tube: count(BowTieRegion::Tube),
            tendril: count(BowTieRegion::Tendril),
            apart: count(BowTieRegion::Disconnected),
            components: tie.components,
        };
        // From the page that most link to: it lies in the core, if any does.
        let start = (0..graph.pages()).max_by_key(|page| graph.links_to(*page).len()).unwrap_or(0);
        let (longest, _, _) = longest_shortest_path(graph, start, Direction::Forward, SWEEPS);
        let rings = match hyperball(
            graph,
            Direction::Forward,
            HyperBallOptions { memory, ..HyperBallOptions::default() },
        ) {
            Err(GraphError::Memory { .. }) => None,
            rings => Some(rings?),
        };
        let distances = DistanceStatistics {
            books_diameter: predicted_diameter(u64::from(graph.pages())),
            diameter_at_least: longest,
            mean: rings.as_ref().map(|rings| rings.mean_distance()),
            effective_diameter: rings.as_ref().map(|rings| rings.effective_distance(0.9)),
        };
        let aliases = relations.aliases(&MirrorOptions::default());
        Ok(Self {
            sizes: relations.sizes(),
            in_degree: degrees(&DegreeDistribution::of_graph(graph, Direction::Backward)),
            // What a page that was never fetched links to is not known.
            out_degree: degrees(&DegreeDistribution::of_pages(graph, Direction::Forward, |page| {
                relations.is_fetched(page)
            })),
            bow_tie,
            distances,
            closure: link_closure(graph, relations.places()?)?,
            mirrors: aliases.iter().map(|group| group.len() as u64 - 1).sum(),
        })
    }
}

fn degrees(degrees: &DegreeDistribution) -> DegreeSummary {
    DegreeSummary {
        mean: degrees.mean(),
        largest: degrees.largest(),
        without: degrees.without_links(),
        power_law: degrees.power_law(),
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::{LibraryPosition, PageUrl};

    use super::*;
    use crate::relations::{RelationsBuilder, RelationsOptions};

    #[test]
    fn links_from_pages_never_fetched_are_not_counted_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = RelationsBuilder::begin(folder.path(), RelationsOptions::default()).unwrap();
        let url = |name: &str| PageUrl::parse(&format!("http://a.example/{name}")).unwrap();
        ["hub", "leaf"].iter().for_each(|page| builder.page(&url(page)).unwrap());
        for target in ["leaf", "unseen", "unseen2"] {
            builder.link(&url("hub"), &url(target), "").unwrap();
        }
        let (relations, _) = builder.finish(LibraryPosition::START, 0).unwrap();
        let summary = GraphStatistics::of(&relations, 1 << 20).unwrap();
        assert_eq!((summary.out_degree.mean, summary.out_degree.without), (1.5, 1));
        assert_eq!((summary.in_degree.mean, summary.in_degree.without), (0.75, 1));
    }
}
