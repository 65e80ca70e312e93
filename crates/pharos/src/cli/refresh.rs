//! Arguments of `pharos refresh`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum RefreshCommand {
    /// Show policy, budget, change rates and intervals of the known pages
    Status(RefreshStatusArgs),
    /// Compare refresh policies on a trace of changing pages
    Simulate(RefreshSimulateArgs),
    /// Generate a synthetic trace of changing pages
    Trace(RefreshTraceArgs),
}

#[derive(Args)]
pub(crate) struct RefreshStatusArgs {
    /// Only the pages of this site
    #[arg(long, value_name = "HOST")]
    pub(crate) site: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
A trace has one JSON object per line, with times in seconds since 1970:
  {\"page\": \"http://www.example.org/a\", \"site\": \"www.example.org\", \"weight\": 1.0, \"from\": 1735689600,
   \"to\": 1748649600, \"changes\": [1735790000, 1736000000]}

site, weight (1) and changes may be missing. All policies get the same number of visits and learn the change rates from \
their visits alone, except oracle: it knows the rates (field `rate` of the trace, in changes per day, or else the mean rate of \
the page) and minimises the lag. Times in the JSON output are in seconds.

A change that no visit collects counts with the time until the end of its page. Invalid lines are reported with their number \
and skipped; the exit code is then 1.")]
pub(crate) struct RefreshSimulateArgs {
    /// Trace file (- for standard input)
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "from_library",
        conflicts_with = "from_library"
    )]
    pub(crate) trace: Option<String>,
    /// Use the visits of this installation: pages fetched at least twice, changes in the middle between two visits
    #[arg(long)]
    pub(crate) from_library: bool,
    /// Policies: uniform, proportional, paper, paper-golden, freshness, harmonic, lag, oracle
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', default_value = "uniform,lag,oracle")]
    pub(crate) policy: Vec<String>,
    /// Visits per day, of all pages together
    #[arg(long, value_name = "N")]
    pub(crate) budget: f64,
    /// Longest time between two visits of a page, in days
    #[arg(long, value_name = "DAYS", default_value_t = 90.0)]
    pub(crate) longest: f64,
    /// Write a figure of the lags, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) figure: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum TraceLaw {
    /// Poisson process
    Constant,
    /// Groups of changes within an hour
    Bursty,
    /// Nineteen of twenty changes between 7:00 and 23:00 UTC
    Daily,
}

#[derive(Args)]
pub(crate) struct RefreshTraceArgs {
    /// Number of pages
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=20_000_000))]
    pub(crate) pages: u32,
    /// Number of sites
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) sites: u32,
    /// Length of the trace in days
    #[arg(long, value_name = "DAYS", default_value_t = 150.0)]
    pub(crate) days: f64,
    /// Mean change rate of the pages, in changes per day
    #[arg(long, value_name = "RATE", default_value_t = 0.3)]
    pub(crate) rate: f64,
    /// Standard deviation of the logarithm of the change rate
    #[arg(long, value_name = "S", default_value_t = 1.5)]
    pub(crate) spread: f64,
    /// Exponent of the Zipf law of the weights; 0 gives equal weights
    #[arg(long, value_name = "Z", default_value_t = 0.7)]
    pub(crate) zipf: f64,
    /// Law of the changes
    #[arg(long, value_enum, value_name = "LAW", default_value_t = TraceLaw::Constant)]
    pub(crate) law: TraceLaw,
    /// Random seed; equal seeds give equal traces
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
