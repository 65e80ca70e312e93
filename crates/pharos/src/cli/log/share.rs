//! Arguments of the commands for the click graph and for logs that are handed on.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::LogDays;
use super::study::LogSourceArgs;

#[derive(Subcommand)]
pub(crate) enum LogGraphCommand {
    /// Print the numbers of queries, pages and edges
    Stats(LogGraphStatsArgs),
    /// Print the pages and queries that a query or URL is connected with
    Neighbours(LogGraphNeighboursArgs),
    /// Print clusters of queries, the heaviest first
    Clusters(LogGraphClustersArgs),
}

#[derive(Args)]
pub(crate) struct LogGraphStatsArgs {
    #[command(flatten)]
    pub(crate) source: LogSourceArgs,
    /// Minimum number of visits with the same query [default: log.k]
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) min_visits: Option<u32>,
}

#[derive(Args)]
pub(crate) struct LogGraphNeighboursArgs {
    /// Query or URL
    #[arg(value_name = "QUERY|URL")]
    pub(crate) node: String,
    #[command(flatten)]
    pub(crate) graph: LogGraphStatsArgs,
    /// Number of transitions of the random walk [default: clicks.steps]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) steps: Option<u32>,
    /// Probability of staying in one transition [default: clicks.stay]
    #[arg(long, value_name = "S")]
    pub(crate) stay: Option<f64>,
    /// Walk backward: where walks that end here began
    #[arg(long)]
    pub(crate) backward: bool,
    /// Number of neighbours of each kind
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}

#[derive(Args)]
pub(crate) struct LogGraphClustersArgs {
    #[command(flatten)]
    pub(crate) graph: LogGraphStatsArgs,
    /// Closeness of queries
    #[arg(long, value_enum, value_name = "BY", default_value_t = ClusterByArg::Walk)]
    pub(crate) by: ClusterByArg,
    /// Number of clusters
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ClusterByArg {
    /// Random walk on the click graph
    Walk,
    /// Words of the queries that lead to the same pages
    Content,
}

#[derive(Args)]
#[command(after_help = "\
Clicks of rare queries are dropped with them. Hashes are keyed: without the key they can be neither reversed nor compared with \
another log. Lists find the words they contain and no more; check the result with `pharos log k --log OUT`.")]
pub(crate) struct LogAnonymiseArgs {
    /// Log directory, or a file of JSON lines, also compressed
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// File to write as JSON lines; must not exist
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) days: LogDays,
    /// Visit identifiers
    #[arg(long, value_enum, value_name = "RULE", default_value_t = VisitsArg::Hash)]
    pub(crate) visits: VisitsArg,
    /// Replace queries by keyed hashes
    #[arg(long)]
    pub(crate) hash_queries: bool,
    /// File with the key of the hashes, created if it is missing; without it, the key is discarded
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Drop queries asked by fewer visits; 0 drops none [default: log.k]
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) min_visits: Option<u32>,
    /// Precision of times
    #[arg(long, value_enum, value_name = "UNIT", default_value_t = TimesArg::Hour)]
    pub(crate) times: TimesArg,
    /// Remove runs of this many digits; 0 removes none
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) digits: usize,
    /// Sensitive words
    #[arg(long, value_enum, value_name = "RULE", default_value_t = SensitiveArg::Remove)]
    pub(crate) sensitive: SensitiveArg,
    /// Lists of sensitive words
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',', default_values_t = [SensitiveListArg::Names, SensitiveListArg::Addresses, SensitiveListArg::Health, SensitiveListArg::Money])]
    pub(crate) lists: Vec<SensitiveListArg>,
    /// File with further sensitive words, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) words: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum VisitsArg {
    Keep,
    /// Replace by a keyed hash
    Hash,
    Remove,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum TimesArg {
    Exact,
    Hour,
    Day,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum SensitiveArg {
    Keep,
    /// Remove the words
    Remove,
    /// Drop records with such words
    Drop,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum SensitiveListArg {
    Names,
    Addresses,
    Health,
    Money,
}

#[derive(Args)]
#[command(after_help = "\
Two measures: queries asked by fewer than k visits, and visits whose set of queries fewer than k visits share. The first \
protects queries that are published alone, the second also whole visits.")]
pub(crate) struct LogKArgs {
    #[command(flatten)]
    pub(crate) source: LogSourceArgs,
    /// Required number of visits [default: log.k]
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) min_visits: Option<u32>,
    /// Number of queries listed, the rarest first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
}

#[derive(Args)]
#[command(after_help = "\
Visits are listed by `pharos log sessions`. A person cannot be looked up: the key of the identifiers is discarded daily. What was \
learnt from the records is removed by the next `pharos index build`.")]
pub(crate) struct LogPurgeArgs {
    /// Identifier of the visit
    #[arg(value_name = "VISIT")]
    pub(crate) visit: String,
}

#[derive(Args)]
#[command(after_help = "\
Each line is {\"index\": \"ubi_queries\" or \"ubi_events\", \"document\": …}. Only queries of at least log.k visits are exported, \
with their clicks.")]
pub(crate) struct LogExportArgs {
    #[command(flatten)]
    pub(crate) days: LogDays,
    /// Minimum number of visits with the same query; 0 exports all [default: log.k]
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) min_visits: Option<u32>,
}
