//! Arguments of `pharos index`.

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum IndexCommand {
    /// Build a new history generation from the library and put it in place; goes on where it was cut short
    Build,
    /// The generations, how far they have come, and when the next is built
    Status,
    /// Check every file of every generation, those kept for going back too; exit code 1 where one is damaged
    Verify,
    /// Go back to the history before the last build, with all that came since
    Rollback,
    /// Terms, lists and bytes: how many, how long, how often, and what the books would have expected
    Stats(IndexStatsArgs),
    /// How the index sees a term: its pages, its frequency, what its lists cost
    Explain(IndexExplainArgs),
}

#[derive(Args)]
#[command(after_help = "\
Counted are the fields whose texts are cut into words, each an inverted file of its own: N documents, M terms, lists of α \
postings on average, T_N occurrences. Copies are one document. What was replaced, or is hidden by a newer generation, is \
stale: it is not counted, but takes its bytes until the next build.

Zipf's law is fitted to the logarithms of rank and frequency by least squares: ten bins of ranks to each factor of ten, \
each bin one point, all ranks counted.

Estimates are those of two textbooks, for the field with most occurrences, beside what it measures: the size of all lists \
from Zipf's law alone; the size of one list, c·(α + T_N/M); the bytes that k lists at once make a disk read, \
D = dαM(1 − (1 − 1/M)^k); and the queries a second m that a disk answers, (T_latency + T_N·TF/IO_bw)·Lq·m ≤ 1.")]
pub(crate) struct IndexStatsArgs {
    /// Only this field; fields whose texts are not cut into words can be named, too
    #[arg(long, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// The tables of ranks end here
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) ranks: u64,
    #[command(flatten)]
    pub(crate) estimates: EstimateArgs,
}

/// What estimates start from; the defaults are the books'.
#[derive(Args)]
#[command(next_help_heading = "Estimates (defaults are the books')")]
pub(crate) struct EstimateArgs {
    /// S: words of the language, for the size of all lists
    #[arg(long, value_name = "S", default_value_t = 500_000)]
    pub(crate) zipf_words: u64,
    /// Words of a page, for the same
    #[arg(long, value_name = "N", default_value_t = 1_000.0, value_parser = positive)]
    pub(crate) page_words: f64,
    /// Bytes of a gap between document numbers, for the same
    #[arg(long, value_name = "BYTES", default_value_t = 1.0, value_parser = positive)]
    pub(crate) gap_bytes: f64,
    /// c: bytes of a posting or of a place, for the size of one list
    #[arg(long, value_name = "C", default_value_t = 10.0, value_parser = positive)]
    pub(crate) posting_bytes: f64,
    /// k: lists that are asked for at once (20 queries of 5 terms)
    #[arg(long, value_name = "K", default_value_t = 100.0, value_parser = positive)]
    pub(crate) lists: f64,
    /// r: seconds in which they must be read
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = positive)]
    pub(crate) response: f64,
    /// Lq: terms of a query
    #[arg(long, value_name = "LQ", default_value_t = 5.0, value_parser = positive)]
    pub(crate) query_terms: f64,
    /// TF: mean frequency of a term that is asked for (0.00005 for words, 0.0005 for Chinese characters)
    #[arg(long, value_name = "TF", default_value_t = 0.000_05, value_parser = positive)]
    pub(crate) query_tf: f64,
    /// T_latency: milliseconds of an access (100 accesses a second)
    #[arg(long, value_name = "MS", default_value_t = 10.0, value_parser = positive)]
    pub(crate) latency: f64,
    /// IO_bw: megabytes that the disk gives in a second
    #[arg(long, value_name = "MB", default_value_t = 20.0, value_parser = positive)]
    pub(crate) bandwidth: f64,
}

/// A number above zero.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().map_err(|error| error.to_string())?;
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err("it must be above zero".into()) }
}

#[derive(Args)]
#[command(after_help = "\
DF is the share of documents that have the term, TF its share of all occurrences; IDF = −lg DF, ITF = −lg TF. A text that \
is cut into several terms is told term by term. Exit code 1 if no page has any of them.")]
pub(crate) struct IndexExplainArgs {
    /// A word, or any short text
    #[arg(value_name = "TERM")]
    pub(crate) term: String,
    /// Only this field
    #[arg(long, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// How many pages are shown, those where it occurs most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}
