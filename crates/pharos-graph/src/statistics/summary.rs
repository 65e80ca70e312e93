//! All statistics of a web at once.

use serde::Serialize;

use super::{Degrees, Part, PowerLaw, books_diameter, bow_tie, longest_shortest_path};
use crate::balls::{BallRules, balls};
use crate::relations::{Relations, Sizes};
use crate::web::{Closure, Direction, closure};
use crate::{GraphError, duplicates::mirrors::MirrorRule};

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
pub struct Distances {
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
pub struct Summary {
    /// How much there is.
    #[serde(flatten)]
    pub sizes: Sizes,
    /// Links to pages.
    pub in_degree: DegreeSummary,
    /// Links from pages that were fetched.
    pub out_degree: DegreeSummary,
    /// The bow-tie.
    pub bow_tie: BowTieSummary,
    /// Distances.
    pub distances: Distances,
    /// Where links lead.
    pub closure: Closure,
    /// Sites that show the same as another.
    pub mirrors: u64,
}

impl Summary {
    /// Counts everything. `memory` bounds what distances may take.
    pub fn of(relations: &Relations, memory: u64) -> Result<Self, GraphError> {
        let graph = relations.graph();
        let tie = bow_tie(graph);
        let count = |part| tie.pages(part) as u64;
        let bow_tie = BowTieSummary {
            core: count(Part::Core),
            leading_in: count(Part::In),
            leading_out: count(Part::Out),
            tube: count(Part::Tube),
            tendril: count(Part::Tendril),
            apart: count(Part::Disconnected),
            components: tie.components,
        };
        // From the page that most link to: it lies in the core, if any does.
        let start = (0..graph.pages()).max_by_key(|page| graph.links_to(*page).len()).unwrap_or(0);
        let (longest, _, _) = longest_shortest_path(graph, start, Direction::Forward, SWEEPS);
        let rings = match balls(graph, Direction::Forward, BallRules { memory, ..BallRules::default() }) {
            Err(GraphError::Memory { .. }) => None,
            rings => Some(rings?),
        };
        let distances = Distances {
            books_diameter: books_diameter(u64::from(graph.pages())),
            diameter_at_least: longest,
            mean: rings.as_ref().map(|rings| rings.mean_distance()),
            effective_diameter: rings.as_ref().map(|rings| rings.effective_distance(0.9)),
        };
        let aliases = relations.aliases(&MirrorRule::default());
        Ok(Self {
            sizes: relations.sizes(),
            in_degree: degrees(&Degrees::of(graph, Direction::Backward)),
            // What a page that was never fetched links to is not known.
            out_degree: degrees(&Degrees::among(graph, Direction::Forward, |page| {
                relations.is_fetched(page)
            })),
            bow_tie,
            distances,
            closure: closure(graph, relations.places()?)?,
            mirrors: aliases.iter().map(|group| group.len() as u64 - 1).sum(),
        })
    }
}

fn degrees(degrees: &Degrees) -> DegreeSummary {
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
    use crate::relations::{RelationRules, RelationsBuilder};

    #[test]
    fn links_from_pages_never_fetched_are_not_counted_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = RelationsBuilder::begin(folder.path(), RelationRules::default()).unwrap();
        let url = |name: &str| PageUrl::parse(&format!("http://a.example/{name}")).unwrap();
        ["hub", "leaf"].iter().for_each(|page| builder.page(&url(page)).unwrap());
        for target in ["leaf", "unseen", "unseen2"] {
            builder.link(&url("hub"), &url(target), "").unwrap();
        }
        let (relations, _) = builder.finish(LibraryPosition::START, 0).unwrap();
        let summary = Summary::of(&relations, 1 << 20).unwrap();
        assert_eq!((summary.out_degree.mean, summary.out_degree.without), (1.5, 1));
        assert_eq!((summary.in_degree.mean, summary.in_degree.without), (0.75, 1));
    }
}
