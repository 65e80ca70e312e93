//! Arguments of `pharos graph` and `pharos dedup`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum GraphCommand {
    /// Analyse links and texts, and compute ranks and duplicates (part of `pharos index build`)
    Build,
    /// Show graph statistics: degrees, bow-tie structure, distances, link targets
    Stats(GraphStatsArgs),
    /// List the highest-ranked pages or sites
    Top(GraphTopArgs),
    /// Show ranks, in-links, out-links and anchor texts of a page
    Neighbours(GraphNeighboursArgs),
    /// Find hubs and authorities around the results of a query
    Hits(GraphHitsArgs),
    /// Simulate a link farm and show its gain
    Farm(GraphFarmArgs),
}

#[derive(Args)]
pub(crate) struct GraphStatsArgs {
    /// Pairs of pages per kind for the topical locality; 0 to skip it
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) samples: u32,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum RankBy {
    /// PageRank, normalised to a mean of 1
    PageRank,
    /// PageRank with teleports to the pages of --seed only
    Trust,
    /// Links from other domains
    LinkHits,
    /// Number of linking domains
    Domains,
    /// All in-links
    InDegree,
    /// All out-links
    OutDegree,
    /// Links from other domains, with compensation for new pages
    LinkWeight,
    /// Harmonic centrality
    Harmonic,
    /// Duplicates of the page
    Mirrors,
}

#[derive(Args)]
#[command(after_help = "\
A jump probability α equals a damping factor of 1 − α. By default, the ranks of the last build are shown; with one of these \
options, or with --seed, they are computed again.")]
pub(crate) struct GraphTopArgs {
    /// Ranking criterion
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = RankBy::PageRank)]
    pub(crate) by: RankBy,
    /// Number of results
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
    /// Rank sites instead of pages
    #[arg(long, conflicts_with_all = ["by", "seed", "fetched"])]
    pub(crate) sites: bool,
    /// Trusted or preferred pages to which the random surfer teleports (with --by page-rank or trust)
    #[arg(long, value_name = "URL")]
    pub(crate) seed: Vec<String>,
    /// Damping factor: probability to follow a link [default: `graph.damping` of the configuration]
    #[arg(long, value_name = "D", conflicts_with = "jump")]
    pub(crate) damping: Option<f64>,
    /// Probability to jump to a random page
    #[arg(long, value_name = "ALPHA")]
    pub(crate) jump: Option<f64>,
    /// Print probabilities that sum to one
    #[arg(long)]
    pub(crate) probability: bool,
    /// List only fetched pages
    #[arg(long)]
    pub(crate) fetched: bool,
}

#[derive(Args)]
pub(crate) struct GraphNeighboursArgs {
    /// URL of the page
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Number of pages shown in each direction, highest ranks first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
}

#[derive(Args)]
pub(crate) struct GraphHitsArgs {
    /// Query whose results form the root set
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Number of hubs and authorities shown
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
    /// Maximum size of the root set
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) root: usize,
    /// Maximum size of the base set
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    pub(crate) pages: usize,
    /// Maximum number of iterations
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) rounds: u32,
    /// Also count links within a domain
    #[arg(long)]
    pub(crate) own_links: bool,
}

#[derive(Args)]
pub(crate) struct GraphFarmArgs {
    /// Target of the link farm
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Number of pages of the link farm
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) pages: u32,
}

#[derive(Subcommand)]
pub(crate) enum DedupCommand {
    /// Summarise duplicates: largest groups, mirror sites, shares by site
    Report(DedupReportArgs),
    /// Show the duplicates of a page
    Of(DedupOfArgs),
    /// List all duplicate groups, largest first, with the type of each duplicate
    Groups(DedupGroupsArgs),
    /// Evaluate duplicate detection methods on labelled pages
    Measure(DedupMeasureArgs),
}

#[derive(Args)]
pub(crate) struct DedupReportArgs {
    /// Number of groups, mirrors and sites shown
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}

#[derive(Args)]
pub(crate) struct DedupOfArgs {
    /// URL of the page
    #[arg(value_name = "URL")]
    pub(crate) url: String,
}

#[derive(Args)]
pub(crate) struct DedupGroupsArgs {
    /// Show only groups with a page of this site
    #[arg(long, value_name = "SITE")]
    pub(crate) site: Option<String>,
    /// Maximum number of groups
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: Option<usize>,
}

#[derive(Args)]
#[command(after_help = "\
LABELS has one line per page: its URL, a tab, and a label shared by its duplicates only; or a JSON object with `url` and \
`content`. URLs that are not in the library are counted and skipped.")]
pub(crate) struct DedupMeasureArgs {
    /// File of labels (- for standard input)
    #[arg(value_name = "LABELS")]
    pub(crate) labels: String,
}
