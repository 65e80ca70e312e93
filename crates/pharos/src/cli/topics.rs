//! Arguments of `pharos topics`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum TopicsCommand {
    /// Learn the topics of texts, one text per line
    Train(TopicsTrainArgs),
    /// Print the words of topics
    Show(TopicsShowArgs),
    /// Print the topics of texts, one text per line
    Infer(TopicsInferArgs),
}

#[derive(Args)]
#[command(after_help = "\
Every tenth text is held out: the perplexity of the model on these texts, of which every second word is predicted from the others, is \
printed. Lower is better. No data directory is needed.")]
pub(crate) struct TopicsTrainArgs {
    /// Texts, one per line (- for standard input)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// File of the topic model to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Number of topics
    #[arg(short, long, value_name = "K", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=5000))]
    pub(crate) topics: u16,
    /// Algorithm
    #[arg(long, value_enum, value_name = "NAME", default_value_t = TopicsMethod::Gibbs)]
    pub(crate) method: TopicsMethod,
    /// Prior of the topics of a text, α
    #[arg(long, value_name = "A", default_value_t = 0.1)]
    pub(crate) alpha: f64,
    /// Prior of the words of a topic, β
    #[arg(long, value_name = "B", default_value_t = 0.01)]
    pub(crate) beta: f64,
    /// Number of passes over the texts [default: 200 for gibbs, at most 50 for em]
    #[arg(long, value_name = "N")]
    pub(crate) passes: Option<usize>,
    /// Relative change at which em stops
    #[arg(long, value_name = "E", default_value_t = 1e-4)]
    pub(crate) tolerance: f64,
    /// Maximum number of words of the vocabulary
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    pub(crate) words: usize,
    /// Minimum number of texts with a word
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) min_texts: usize,
    /// Seed of random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Args)]
pub(crate) struct TopicsShowArgs {
    /// File of the topic model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Number of words per topic
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) words: usize,
}

#[derive(Args)]
pub(crate) struct TopicsInferArgs {
    /// File of the topic model
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Texts, one per line (- for standard input)
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// Number of topics per text
    #[arg(short = 'n', long, value_name = "N", default_value_t = 3)]
    pub(crate) topics: usize,
}

/// Algorithms of topic models.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum TopicsMethod {
    /// Collapsed Gibbs sampling
    Gibbs,
    /// Variational EM
    Em,
}
