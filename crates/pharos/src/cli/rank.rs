//! Arguments of `pharos rank`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum RankCommand {
    /// Train a ranking model on judged results
    Train(RankTrainArgs),
    /// Evaluate a ranking model on judged results
    Test(RankTestArgs),
    /// Train a click model and estimate which positions users examine
    Clicks(RankClicksArgs),
    /// Compare ranking models on the same judged results
    Compare(RankCompareArgs),
    /// Write a ranking model in the format of another program
    Convert(RankConvertArgs),
    /// List training algorithms with their parameters
    Models,
}

/// Reading of data files.
#[derive(Args)]
pub(crate) struct RankDataArgs {
    /// Meaning of the first column: grades, semi-supervised (rows below 0 are not judged and are left out) or order (a total
    /// order, larger numbers are better)
    #[arg(long, value_name = "KIND", default_value = "grades")]
    pub(crate) labels: String,
    /// The lowest grade that counts as relevant for P@N, MAP and MRR
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    pub(crate) relevant_from: u32,
}

#[derive(Args)]
#[command(after_help = "\
Data files have a row per query and result, in one of these forms, plain or gzip-compressed; rows of a query may be anywhere:

  2 qid:10 1:0.5 2:NULL 7:3 # document   LETOR, MSLR, Yahoo, RankLib, SVMlight
  2 1:0.5 7:3                            LightGBM, with the number of rows of each query in FILE.query
  10<TAB>0.14<TAB>URL<TAB>group<TAB>…    Yandex; grades are 0, 0.07, 0.14, 0.41, 0.61

Features that are not listed are 0; NULL, nan and ? are missing values.

Without --valid, a fifth of the queries selects the number of rounds, and the model is trained again on all queries. `pharos rank \
models` lists algorithms and parameters.

Examples:
  pharos rank train --letor train.txt --valid vali.txt --model lambdamart --out model.json
  pharos rank train --letor train.txt --model ridge --grid lambda=0.1,1,10,100 --out model.json")]
pub(crate) struct RankTrainArgs {
    /// Training data; several files are one set
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) letor: Vec<PathBuf>,
    /// Training algorithm
    #[arg(long, value_name = "NAME", default_value = "lambdamart")]
    pub(crate) model: String,
    /// Model file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Validation data, which selects the number of rounds and the best values of --grid
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) valid: Vec<PathBuf>,
    /// Set a parameter of the algorithm; can be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) parameters: Vec<String>,
    /// Try these values of a parameter and keep the best; can be repeated for all combinations
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub(crate) grid: Vec<String>,
    /// Parts of the cross-validation of --grid without --valid
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..=100))]
    pub(crate) folds: u64,
    /// Normalisation of features: none, query (0 to 1 within each query), query-standard or log
    #[arg(long, value_name = "NAME", default_value = "none")]
    pub(crate) normalise: String,
    /// Measure that validation maximises
    #[arg(long, value_name = "MEASURE", default_value = "nDCG@10")]
    pub(crate) measure: String,
    /// Rounds without improvement after which training ends
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) patience: usize,
    /// Share of queries that selects the number of rounds without --valid; 0 to use all rounds
    #[arg(long, value_name = "SHARE", default_value_t = 0.2)]
    pub(crate) holdout: f64,
    /// Seed of random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) data: RankDataArgs,
}

#[derive(Args)]
#[command(after_help = "\
Prints nDCG@1 to 10, P@1, 3, 5 and 10, MAP, MRR and ERR; with --json, all depths and nDCG with the discount of the LETOR scripts. \
Rows with equal scores keep their order in the file.

Example:
  pharos rank test --letor test.txt --model-file model.json --empty 1 --json")]
pub(crate) struct RankTestArgs {
    /// Test data; several files are one set
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) letor: Vec<PathBuf>,
    /// Model file, of this program or a format that `pharos rank convert` writes
    #[arg(long, value_name = "FILE")]
    pub(crate) model_file: PathBuf,
    /// Queries without a relevant document count as 0 or as 1, or are left out: 0, 1 or out
    #[arg(long, value_name = "VALUE", default_value = "0")]
    pub(crate) empty: String,
    /// Add the measures of every query to --json
    #[arg(long)]
    pub(crate) per_query: bool,
    /// Write the scores, one per row in the order of the data grouped by query
    #[arg(long, value_name = "FILE")]
    pub(crate) scores: Option<PathBuf>,
    /// Write the rankings as a TREC run file
    #[arg(long, value_name = "FILE")]
    pub(crate) run: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) data: RankDataArgs,
}

#[derive(Args)]
#[command(after_help = "\
Every model is compared with the first by a paired t-test over the queries. The error rate is the share of random selections of 25 \
queries that would have given the opposite result.")]
pub(crate) struct RankCompareArgs {
    /// Test data; several files are one set
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) letor: Vec<PathBuf>,
    /// Model files; the first is the baseline
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) model_file: Vec<PathBuf>,
    /// Measure of the test
    #[arg(long, value_name = "MEASURE", default_value = "nDCG@10")]
    pub(crate) measure: String,
    /// Queries without a relevant document count as 0 or as 1, or are left out: 0, 1 or out
    #[arg(long, value_name = "VALUE", default_value = "out")]
    pub(crate) empty: String,
    #[command(flatten)]
    pub(crate) data: RankDataArgs,
}

#[derive(Args)]
#[command(after_help = "\
Formats: pharos (all models), lightgbm (text), xgboost (JSON dump) and ranklib (XML) for trees, solr and opensearch for trees and \
linear models. Feature N of the training data is Column_N in LightGBM, N in RankLib, and fN elsewhere. The format that is read is \
detected.")]
pub(crate) struct RankConvertArgs {
    /// Model file of any of the formats
    #[arg(long, value_name = "FILE")]
    pub(crate) model_file: PathBuf,
    /// Format to write
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: String,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
A session file has one JSON object per line, with the positions of clicks from 0:
  {\"query\": \"lighthouse\", \"results\": [\"http://a/\", \"http://b/\"], \"clicks\": [1]}

Models: pbm (position-based), cascade, dcm (dependent click model), sdbn and dbn (dynamic Bayesian network), ubm (user browsing \
model). Perplexity 1 is a perfect prediction of clicks. Propensities are probabilities of examination relative to the first position, \
weights their reciprocals up to 20.")]
pub(crate) struct RankClicksArgs {
    /// Session files
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) sessions: Vec<PathBuf>,
    /// Click model
    #[arg(long, value_name = "NAME", default_value = "pbm")]
    pub(crate) model: String,
    /// Session files to evaluate the model on
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) test: Vec<PathBuf>,
    /// Write query, result and estimated relevance, separated by tabs
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Smallest number of sessions; with fewer, nothing is trained
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) least: usize,
}
