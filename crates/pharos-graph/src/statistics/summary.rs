//! All statistics of a graph in one report.

use serde::Serialize;

use super::{BowTieRegion, DegreeDistribution, PowerLaw, bow_tie, longest_shortest_path, predicted_diameter};
use crate::rank::hyperball::{HyperBallOptions, hyperball};
use crate::relations::{GraphSizes, Relations};
use crate::web::{Direction, LinkClosure, link_closure};
use crate::{GraphError, duplicates::mirrors::MirrorOptions};

/// Maximum number of sweeps for the longest shortest path.
const SWEEPS: u32 = 8;

/// Summary of a degree distribution.
#[derive(Clone, Debug, Serialize)]
pub struct DegreeSummary {
    pub mean: f64,
    pub largest: u64,
    /// Number of pages of degree 0.
    pub without: u64,
    /// Power law of the tail.
    pub power_law: Option<PowerLaw>,
}

/// Number of pages by bow-tie region.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BowTieSummary {
    pub core: u64,
    /// Pages in the region IN.
    pub leading_in: u64,
    /// Pages in the region OUT.
    pub leading_out: u64,
    pub tube: u64,
    pub tendril: u64,
    /// Disconnected pages.
    pub apart: u64,
    /// Strongly connected components, including single pages.
    pub components: u32,
}

/// Distances between pages.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DistanceStatistics {
    /// Predicted diameter, 0.35 + 2.06 · log₁₀ N.
    pub books_diameter: f64,
    /// Longest shortest path found: a lower bound of the diameter.
    pub diameter_at_least: u32,
    /// Mean distance of connected pairs; `None` if it would exceed the memory.
    pub mean: Option<f64>,
    /// Distance within which 90 % of the connected pairs lie.
    pub effective_diameter: Option<f64>,
}

/// All statistics of a graph.
#[derive(Clone, Debug, Serialize)]
pub struct GraphStatistics {
    #[serde(flatten)]
    pub sizes: GraphSizes,
    pub in_degree: DegreeSummary,
    /// Out-degrees of fetched pages.
    pub out_degree: DegreeSummary,
    pub bow_tie: BowTieSummary,
    pub distances: DistanceStatistics,
    pub closure: LinkClosure,
    /// Number of sites that mirror another site.
    pub mirrors: u64,
}

impl GraphStatistics {
    /// Computes all statistics. `memory` bounds the computation of distances.
    pub fn compute(relations: &Relations, memory: u64) -> Result<Self, GraphError> {
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
        // The page with the most in-links lies in the core, if any page does.
        let start = (0..graph.pages()).max_by_key(|page| graph.links_to(*page).len()).unwrap_or(0);
        let (longest, _, _) = longest_shortest_path(graph, start, Direction::Forward, SWEEPS);
        let result = match hyperball(
            graph,
            Direction::Forward,
            HyperBallOptions { memory, ..HyperBallOptions::default() },
        ) {
            Err(GraphError::Memory { .. }) => None,
            result => Some(result?),
        };
        let distances = DistanceStatistics {
            books_diameter: predicted_diameter(u64::from(graph.pages())),
            diameter_at_least: longest,
            mean: result.as_ref().map(|result| result.mean_distance()),
            effective_diameter: result.as_ref().map(|result| result.effective_distance(0.9)),
        };
        let aliases = relations.aliases(&MirrorOptions::default());
        Ok(Self {
            sizes: relations.sizes(),
            in_degree: summarise(&DegreeDistribution::of_graph(graph, Direction::Backward)),
            // The links of a page that was never fetched are unknown.
            out_degree: summarise(&DegreeDistribution::of_pages(graph, Direction::Forward, |page| {
                relations.is_fetched(page)
            })),
            bow_tie,
            distances,
            closure: link_closure(graph, relations.page_sites()?)?,
            mirrors: aliases.iter().map(|group| group.len() as u64 - 1).sum(),
        })
    }
}

fn summarise(degrees: &DegreeDistribution) -> DegreeSummary {
    DegreeSummary {
        mean: degrees.mean(),
        largest: degrees.largest(),
        without: degrees.without_links(),
        power_law: degrees.power_law(),
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::{LibraryPositions, PageUrl};

    use super::*;
    use crate::relations::{RelationsBuilder, RelationsOptions};

    #[test]
    fn links_from_pages_never_fetched_are_not_counted_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = RelationsBuilder::begin(folder.path(), RelationsOptions::default()).unwrap();
        let url = |name: &str| PageUrl::parse(&format!("http://a.example/{name}")).unwrap();
        ["hub", "leaf"].iter().for_each(|page| builder.add_page(&url(page)).unwrap());
        for target in ["leaf", "unseen", "unseen2"] {
            builder.add_link(&url("hub"), &url(target), "").unwrap();
        }
        let (relations, _) = builder.finish(LibraryPositions::START, 0).unwrap();
        let summary = GraphStatistics::compute(&relations, 1 << 20).unwrap();
        assert_eq!((summary.out_degree.mean, summary.out_degree.without), (1.5, 1));
        assert_eq!((summary.in_degree.mean, summary.in_degree.without), (0.75, 1));
    }
}
