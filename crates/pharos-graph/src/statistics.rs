//! What the web looks like: degrees and their power law, the bow-tie, how far pages are apart, and whether neighbours
//! speak of the same things.

mod bow_tie;
mod degrees;
mod diameter;
mod locality;
mod power_law;
mod summary;

pub use self::bow_tie::{BowTie, Part, bow_tie, components};
pub use self::degrees::Degrees;
pub use self::diameter::{books_diameter, longest_shortest_path};
pub use self::locality::{Locality, MeanSimilarity, topical_locality};
pub use self::power_law::PowerLaw;
pub use self::summary::{BowTieSummary, DegreeSummary, Distances, Summary};
