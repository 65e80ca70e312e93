//! Statistics of the link graph: degrees and their power law, the bow-tie, distances, and topical locality.

mod bow_tie;
mod degrees;
mod diameter;
mod locality;
mod power_law;
mod summary;

pub use self::bow_tie::{BowTie, BowTieRegion, bow_tie, strongly_connected_components};
pub use self::degrees::DegreeDistribution;
pub use self::diameter::{longest_shortest_path, predicted_diameter};
pub use self::locality::{MeanSimilarity, TopicalLocality, topical_locality};
pub use self::power_law::PowerLaw;
pub use self::summary::{BowTieSummary, DegreeSummary, DistanceStatistics, GraphStatistics};
