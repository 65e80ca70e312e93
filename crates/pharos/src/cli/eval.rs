//! Arguments of `pharos eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum EvalCommand {
    /// Search for pages of the data directory by queries made from them
    Search(EvalSearchArgs),
    /// Evaluate page cleaning
    Clean(EvalCleanArgs),
    /// Evaluate word segmentation
    Segment(EvalSegmentArgs),
    /// Evaluate ranking on a test collection
    Retrieval(EvalRetrievalArgs),
    /// Simulate result caches of several policies and sizes on a query log
    Cache(EvalCacheArgs),
    /// Evaluate query correction against the index of the data directory
    Correct(EvalCorrectArgs),
    /// Measure the gain of clicks with simulated users of a judged collection
    Clicks(EvalClicksArgs),
    /// Measure the effect of ranking spam: keyword stuffing, link farms, fake clicks
    Spam,
}

#[derive(Args)]
#[command(after_help = "\
Makes queries from stored pages: their titles, words of their texts, texts of links to them, names of sites, and titles with a \
misspelled word. Queries that another page answers equally well are left out: titles and link texts are unique, words of texts come from lines that no \
other page has, and a misspelled title finds its page without the misspelling. Every query is searched like one of a visitor, and \
the table says how often its page is the first result (P@1), at which rank it is (MRR, mean reciprocal rank), how often it is \
among the first ten (S@10, with its 95 % confidence interval), and why it is not:

  not indexed   the page is not in the index
  offered       it is among the first results of the correction that is offered
  not matched   the query does not match the page
  ranked low    ten other pages have higher scores
  folded        another page represents it as a near-duplicate
  grouped       other results of its site take the places of the site")]
pub(crate) struct EvalSearchArgs {
    /// Maximum number of queries of each kind
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200)]
    pub(crate) queries: usize,
    /// Seed of the sample: the same seed gives the same queries for the same pages
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// List the queries whose page is not among the first results
    #[arg(long)]
    pub(crate) misses: bool,
    /// List all queries
    #[arg(long)]
    pub(crate) cases: bool,
}

#[derive(Args)]
pub(crate) struct EvalCacheArgs {
    /// Query logs: one query per line, or JSON lines with a `query`; optionally zstd-compressed; - for standard input
    /// [default: logs/queries-*.jsonl of the data directory]
    #[arg(value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Cache sizes in results
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [100, 300, 500, 1000, 2000, 3000])]
    pub(crate) sizes: Vec<usize>,
    /// Factor by which LFU multiplies its counts at each eviction
    #[arg(long, value_name = "FACTOR", default_value_t = pharos_query::cache::policy::DECAY)]
    pub(crate) decay: f64,
}

#[derive(Args)]
pub(crate) struct EvalCorrectArgs {
    /// Table with columns separated by tabs: typed query, intended query, optional error type; equal columns for correct queries
    #[arg(value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// Print every query with its suggested correction
    #[arg(long)]
    pub(crate) cases: bool,
}

#[derive(Args)]
pub(crate) struct EvalRetrievalArgs {
    /// Directory with docs.jsonl, queries.tsv and qrels.txt (or TREC files), or with graded.tsv
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Search the pages of the data directory like a visitor, with their anchors, links and clicks; qrels.txt names URLs
    #[arg(long)]
    pub(crate) pages: bool,
    /// Compare with other settings: rank.model=tfidf; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) with: Vec<String>,
    /// Measure used for the comparison
    #[arg(long, value_name = "MEASURE", default_value = "nDCG@10")]
    pub(crate) measure: String,
    /// Lowest grade that counts as relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    pub(crate) relevant_from: u32,
    /// Write the rankings as a TREC run file
    #[arg(long, value_name = "FILE")]
    pub(crate) run: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = "\
Users of every second query read the first ten results from the top, click good results more often than bad ones, and stop when \
they are satisfied. The table compares the ranking without clicks with one that knows them: `own-clicks` for the query itself, \
`click-words` for the query without its last word, so that only the words of queries that led to pages can help. Queries without \
clicks should not get worse.")]
pub(crate) struct EvalClicksArgs {
    /// Directory with docs.jsonl, queries.tsv and qrels.txt (or TREC files), or with graded.tsv
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Number of users of each query with clicks
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) users: u32,
    /// Seed of the users
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Measure of the table
    #[arg(long, value_name = "MEASURE", default_value = "nDCG@10")]
    pub(crate) measure: String,
}

#[derive(Args)]
pub(crate) struct EvalSegmentArgs {
    /// Manually segmented text: one sentence per line, words separated by spaces
    #[arg(value_name = "GOLD")]
    pub(crate) gold: PathBuf,
    /// Evaluate only this method [default: all methods with the given models]
    #[arg(long, value_name = "METHOD")]
    pub(crate) mode: Option<String>,
    /// Model of `pharos segment train`; can be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Vec<PathBuf>,
    /// List of known words; all others count as unknown [default: the base dictionary]
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct EvalCleanArgs {
    /// Directory with html/*.html.gz and gold.json (id → text, set, type)
    pub(crate) dir: PathBuf,
    /// Rule set: pharos, score-tables (of 《走进搜索引擎》§3.2.3), tables (PageClean's table algorithm), or a file
    /// [default: `clean.rules` of the configuration]
    #[arg(long, value_name = "SET|FILE")]
    pub(crate) rules: Option<String>,
    /// Number of worst pages to list
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) worst: usize,
}
