//! Arguments of the commands that study logs: `log sessions`, `log report`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::LogDays;

#[derive(Args)]
pub(crate) struct LogSourceArgs {
    /// Read this file instead of the logs of the data directory, also compressed with gzip or zstd
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to"])]
    pub(crate) log: Option<PathBuf>,
    /// Format of the file [default: detected]
    #[arg(long, value_enum, value_name = "FORM", requires = "log")]
    pub(crate) form: Option<FileFormArg>,
    /// Time zone of the times in the file, and of hours and weekdays: +08:00
    #[arg(long, value_name = "ZONE", default_value = "+00:00", allow_hyphen_values = true)]
    pub(crate) zone: String,
    /// Day of a file that contains only times: 2008-06-01
    #[arg(long, value_name = "DATE", requires = "log")]
    pub(crate) date: Option<String>,
    #[command(flatten)]
    pub(crate) days: LogDays,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FileFormArg {
    /// JSON lines of Pharos: queries, impressions, clicks
    Pharos,
    /// Queries in five lines: time, IP address, cache state, words, page number
    Query5,
    /// Clicks in five lines: time, IP address, words, URL, rank
    Click5,
    /// Queries in one line: Wed-Apr-14-16:09:06-2004 words
    Line,
    /// Queries in columns: user, date, time, words
    Columns,
    /// Public Sogou log: time, user, words in brackets, rank and order of the click, URL
    Sogou,
}

#[derive(Args)]
#[command(after_help = "\
A session is the searches of a visit without a pause of --gap. Its searches with similar words, spelling or results have one \
goal. Steps: new, specialise (words added), generalise (words removed), correct, rephrase, repeat, page-turn. Endings: \
satisfied (30 seconds or more on the last clicked page, or nothing after it), unsatisfied, abandoned (no click), unknown \
(clicks are not reported).")]
pub(crate) struct LogSessionsArgs {
    #[command(flatten)]
    pub(crate) source: LogSourceArgs,
    /// Pause after which a new session begins, in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=1440))]
    pub(crate) gap: u64,
    /// Number of sessions printed, the latest last; 0 prints only the counts
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum QueryListArg {
    /// Most frequent
    Top,
    /// Asked more often in the second half of the period than in the first
    Rising,
    /// Without results
    WithoutResults,
    /// With clicks in less than half of the searches
    FewClicks,
    /// The last query of a goal without clicks
    Abandoned,
    /// Followed by a query with another spelling
    Corrected,
    /// Longest mean response time
    Slow,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum QueryLanguageArg {
    /// Queries with Han characters
    Zh,
    /// All others
    Other,
}

#[derive(Args)]
pub(crate) struct LogQueriesArgs {
    /// The list
    #[arg(value_enum, value_name = "LIST", default_value_t = QueryListArg::Top)]
    pub(crate) list: QueryListArg,
    #[command(flatten)]
    pub(crate) source: LogSourceArgs,
    /// Only queries in this language
    #[arg(long, value_enum, value_name = "LANG")]
    pub(crate) language: Option<QueryLanguageArg>,
    /// Number of queries
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

#[derive(Args)]
#[command(after_help = "\
Entities are the names in questions such as `什么是X`, `X是什么` and `what is X`, and those of --examples. Their contexts are the \
other queries with the entity replaced by `#`. With examples, weakly supervised LDA learns the contexts of each class and predicts \
the classes of all entities, in total and in each window of --window days: the class of a name may change. Only queries of at \
least -k visits are used.")]
pub(crate) struct LogEntitiesArgs {
    #[command(flatten)]
    pub(crate) source: LogSourceArgs,
    /// Entities with known classes: name and class separated by a tab on each line
    #[arg(long, value_name = "FILE")]
    pub(crate) examples: Option<PathBuf>,
    /// Minimum number of visits with the same query [default: log.k]
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) min_visits: Option<u32>,
    /// Length of a window of time in days
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3650))]
    pub(crate) window: u64,
    /// Number of entities, the most frequent first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
}

#[derive(Args)]
#[command(after_help = "\
Statistics of user behaviour with their sources: concentration and power law, query length, operators, page turns, clicked \
ranks and pages, position bias, repetition, self-similarity (Hurst exponent), visited pages by in-degree, copies and depth, \
sessions, suggestions, hours and weekdays. What a log does not contain is named as missing.")]
pub(crate) struct LogReportArgs {
    #[command(flatten)]
    pub(crate) source: LogSourceArgs,
    /// Write the report as HTML to this file; without it, a summary is printed
    #[arg(short = 'o', long, value_name = "FILE", conflicts_with = "json")]
    pub(crate) output: Option<PathBuf>,
    /// Language of the report
    #[arg(long, value_enum, value_name = "LANG", default_value_t = ReportLangArg::En)]
    pub(crate) lang: ReportLangArg,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportLangArg {
    /// English
    En,
    /// Chinese
    Zh,
}
