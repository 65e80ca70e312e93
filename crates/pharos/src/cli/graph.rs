//! Arguments of `pharos graph` and `pharos dedup`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum GraphCommand {
    /// Read all links and texts, and compute ranks and copies (`pharos index build` does this too)
    Build,
    /// What this web looks like: degrees, the bow-tie, distances, where links lead
    Stats(GraphStatsArgs),
    /// The pages or sites that rank highest
    Top(GraphTopArgs),
    /// What is known of a page: who links to it, what it links to, what it is called
    Neighbours(GraphNeighboursArgs),
    /// Hubs and authorities among the results of a query and the pages around them
    Hits(GraphHitsArgs),
    /// What pages of one's own that all link home would gain
    Farm(GraphFarmArgs),
}

#[derive(Args)]
pub(crate) struct GraphStatsArgs {
    /// Pairs of pages of each kind whose words are compared; 0 for none
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) samples: u32,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum RankBy {
    /// PageRank, in the form whose mean is 1
    PageRank,
    /// PageRank of readers who begin, and begin anew, at the pages of --seed
    Trust,
    /// Links from other domains
    LinkHits,
    /// Other domains that link to it
    Domains,
    /// All links to it
    InDegree,
    /// Links from it
    OutDegree,
    /// Links from other domains, with compensation for new pages
    LinkWeight,
    /// How near it is to all pages that lead to it
    Harmonic,
    /// Pages that say the same
    Mirrors,
}

#[derive(Args)]
#[command(after_help = "\
A jump probability α is the same as a damping of 1 − α. Without either, the ranks of the last build are shown; with one, or \
with --seed, they are computed anew.")]
pub(crate) struct GraphTopArgs {
    /// What decides
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = RankBy::PageRank)]
    pub(crate) by: RankBy,
    /// How many are shown
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
    /// Sites instead of pages, by their rank among sites
    #[arg(long, conflicts_with_all = ["by", "seed", "fetched"])]
    pub(crate) sites: bool,
    /// Pages that are trusted, or that a reader likes: ranks are seen from there (with --by page-rank or trust)
    #[arg(long, value_name = "URL")]
    pub(crate) seed: Vec<String>,
    /// The probability to follow a link [default: `graph.damping` of the configuration]
    #[arg(long, value_name = "D", conflicts_with = "jump")]
    pub(crate) damping: Option<f64>,
    /// The probability to jump to any page
    #[arg(long, value_name = "ALPHA")]
    pub(crate) jump: Option<f64>,
    /// As probabilities that sum to one
    #[arg(long)]
    pub(crate) probability: bool,
    /// Pages that were fetched only
    #[arg(long)]
    pub(crate) fetched: bool,
}

#[derive(Args)]
pub(crate) struct GraphNeighboursArgs {
    /// The address of the page
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// How many are shown in each direction, the highest ranks first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
}

#[derive(Args)]
pub(crate) struct GraphHitsArgs {
    /// What is searched for
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// How many are shown of each
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
    /// Results that are taken as the root
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) root: usize,
    /// Pages that the root grows to at most
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    pub(crate) pages: usize,
    /// Rounds at most; they end before that when no value changes any more
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) rounds: u32,
    /// Links within one domain count, too
    #[arg(long)]
    pub(crate) own_links: bool,
}

#[derive(Args)]
pub(crate) struct GraphFarmArgs {
    /// The page that all of them link to
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// How many pages are planted
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) pages: u32,
}

#[derive(Subcommand)]
pub(crate) enum DedupCommand {
    /// How many copies there are, the largest groups, mirrors of whole sites, shares of sites
    Report(DedupReportArgs),
    /// The copies of one page
    Of(DedupOfArgs),
    /// All groups, the largest first: representative, and each copy with what it has in common with it
    Groups(DedupGroupsArgs),
    /// Every method to find copies, measured on pages of which it is known what they are copies of
    Measure(DedupMeasureArgs),
}

#[derive(Args)]
pub(crate) struct DedupReportArgs {
    /// How many groups, mirrors and sites are shown
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}

#[derive(Args)]
pub(crate) struct DedupOfArgs {
    /// The address of the page
    #[arg(value_name = "URL")]
    pub(crate) url: String,
}

#[derive(Args)]
pub(crate) struct DedupGroupsArgs {
    /// Only groups with a page of this site
    #[arg(long, value_name = "SITE")]
    pub(crate) site: Option<String>,
    /// How many are shown
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: Option<usize>,
}

#[derive(Args)]
#[command(after_help = "\
LABELS has a line for each page: its address, a tab, and a label that it shares with its copies and with nothing else; or a \
JSON object with `url` and `content`. Addresses that the library does not have are passed over, and counted.")]
pub(crate) struct DedupMeasureArgs {
    /// What is known (- for standard input)
    #[arg(value_name = "LABELS")]
    pub(crate) labels: String,
}
