//! Arguments of `pharos index`.

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum IndexCommand {
    /// Build a new history generation and install it; resumes an interrupted build
    Build(IndexBuildArgs),
    /// Show the generations, their positions, and when the next one is built
    Status,
    /// Verify every file of every generation, including those kept for a rollback (exit code 1: damaged)
    Verify,
    /// Roll back to the previous history generation, keeping later changes
    Rollback,
    /// Show statistics of terms, postings and bytes, with textbook estimates
    Stats(IndexStatsArgs),
    /// Show pages, frequencies and costs of a term
    Explain(IndexExplainArgs),
}

#[derive(Args)]
pub(crate) struct IndexBuildArgs {
    /// Build even if the library lacks records that the stores have applied; old generations are set aside
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args)]
#[command(after_help = "\
Statistics cover the fields that are segmented into words, each a separate inverted file: N documents, M terms, α postings \
per term on average, T_N occurrences. Duplicates are one document. Replaced documents and those hidden by a newer \
generation are stale: they are not counted, but use space until the next build.

Zipf's law is fitted by least squares to the logarithms of rank and frequency, with ten bins per decade of ranks, one point \
per bin, over all ranks.

Estimates follow two textbooks and are compared with measurements of the field with most occurrences: the size of all \
postings from Zipf's law alone; the size of one list, c·(α + T_N/M); the bytes read for k concurrent lists, \
D = dαM(1 − (1 − 1/M)^k); and the queries per second m of a disk, (T_latency + T_N·TF/IO_bw)·Lq·m ≤ 1.")]
pub(crate) struct IndexStatsArgs {
    /// Show only this field; fields that are not segmented can be named, too
    #[arg(long, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// Last rank of the rank tables
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) ranks: u64,
    #[command(flatten)]
    pub(crate) estimates: EstimateArgs,
}

/// Parameters of the estimates; the defaults are those of the textbooks.
#[derive(Args)]
#[command(next_help_heading = "Estimates (defaults of the textbooks)")]
pub(crate) struct EstimateArgs {
    /// S: number of distinct words, for the size of all postings
    #[arg(long, value_name = "S", default_value_t = 500_000)]
    pub(crate) zipf_words: u64,
    /// Words per page, for the same
    #[arg(long, value_name = "N", default_value_t = 1_000.0, value_parser = positive)]
    pub(crate) page_words: f64,
    /// Bytes per gap between document numbers, for the same
    #[arg(long, value_name = "BYTES", default_value_t = 1.0, value_parser = positive)]
    pub(crate) gap_bytes: f64,
    /// c: bytes per posting or position, for the size of one list
    #[arg(long, value_name = "C", default_value_t = 10.0, value_parser = positive)]
    pub(crate) posting_bytes: f64,
    /// k: number of concurrent lists (20 queries of 5 terms)
    #[arg(long, value_name = "K", default_value_t = 100.0, value_parser = positive)]
    pub(crate) lists: f64,
    /// r: response time in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = positive)]
    pub(crate) response: f64,
    /// Lq: terms per query
    #[arg(long, value_name = "LQ", default_value_t = 5.0, value_parser = positive)]
    pub(crate) query_terms: f64,
    /// TF: mean frequency of a query term (0.00005 for words, 0.0005 for Chinese characters)
    #[arg(long, value_name = "TF", default_value_t = 0.000_05, value_parser = positive)]
    pub(crate) query_tf: f64,
    /// T_latency: access time in milliseconds (100 accesses per second)
    #[arg(long, value_name = "MS", default_value_t = 10.0, value_parser = positive)]
    pub(crate) latency: f64,
    /// IO_bw: disk bandwidth in megabytes per second
    #[arg(long, value_name = "MB", default_value_t = 20.0, value_parser = positive)]
    pub(crate) bandwidth: f64,
}

/// Parses a number above zero.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().map_err(|error| error.to_string())?;
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err("must be greater than zero".into()) }
}

#[derive(Args)]
#[command(after_help = "\
DF is the fraction of documents with the term, TF its fraction of all occurrences; IDF = −lg DF, ITF = −lg TF. A text of \
several terms is explained term by term. Exit code 1 if no page contains any of them.")]
pub(crate) struct IndexExplainArgs {
    /// A word or short text
    #[arg(value_name = "TERM")]
    pub(crate) term: String,
    /// Show only this field
    #[arg(long, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// Number of pages shown, those with most occurrences
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}
