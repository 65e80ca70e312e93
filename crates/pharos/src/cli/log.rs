//! Arguments of `pharos log` and `pharos hot`.

mod share;
mod study;

use clap::{Args, Subcommand, ValueEnum};

pub(crate) use self::share::*;
pub(crate) use self::study::*;

#[derive(Subcommand)]
pub(crate) enum LogCommand {
    /// Check every line of every log (exit code 1: invalid lines)
    Check,
    /// Print the records of a log as JSON lines, including compressed days
    Cat(LogCatArgs),
    /// Count records by hour, day or query
    Count(LogCountArgs),
    /// Import query and click logs of other engines
    Import(LogImportArgs),
    /// Divide searches into sessions and goals
    Sessions(LogSessionsArgs),
    /// List queries that users ask or fail with
    Queries(LogQueriesArgs),
    /// List entities that users ask about, with their contexts and classes
    Entities(LogEntitiesArgs),
    /// Report the behaviour of users: statistics with plots
    Report(LogReportArgs),
    /// Show the click graph: sizes, neighbours of a query or page, clusters of queries
    #[command(subcommand)]
    Graph(LogGraphCommand),
    /// Write an anonymised copy of a log
    Anonymise(LogAnonymiseArgs),
    /// Measure the k-anonymity of a log (exit code 1: it is broken)
    K(LogKArgs),
    /// Remove all records of a visit
    Purge(LogPurgeArgs),
    /// Print queries and clicks in the field names of OpenSearch UBI
    Export(LogExportArgs),
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogKindArg {
    /// Queries
    Queries,
    /// Results shown
    Impressions,
    /// Clicks
    Clicks,
    /// System metrics
    System,
    /// HTTP requests
    Access,
}

#[derive(Args)]
pub(crate) struct LogDays {
    /// First day (UTC): 2026-01-31
    #[arg(long, value_name = "DATE")]
    pub(crate) from: Option<String>,
    /// Last day, inclusive
    #[arg(long, value_name = "DATE")]
    pub(crate) to: Option<String>,
}

#[derive(Args)]
pub(crate) struct LogCatArgs {
    /// Log to print
    #[arg(value_enum, value_name = "KIND", default_value_t = LogKindArg::Queries)]
    pub(crate) kind: LogKindArg,
    #[command(flatten)]
    pub(crate) days: LogDays,
    /// Print a format of the literature instead of JSON: queries as `query5` or `line`, clicks as `click5`; times in UTC
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub(crate) form: Option<WrittenForm>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WrittenForm {
    /// Five lines: time, -, cache state, words, page number
    Query5,
    /// Five lines: time, -, words, URL, rank
    Click5,
    /// One line: time and words
    Line,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum CountBy {
    /// Hours, in order
    Hour,
    /// Days, in order
    Day,
    /// Queries, the most frequent first
    Query,
}

#[derive(Args)]
pub(crate) struct LogCountArgs {
    /// Log to count
    #[arg(value_enum, value_name = "KIND", default_value_t = LogKindArg::Queries)]
    pub(crate) kind: LogKindArg,
    #[command(flatten)]
    pub(crate) days: LogDays,
    /// Grouping
    #[arg(long, value_enum, value_name = "BY", default_value_t = CountBy::Day)]
    pub(crate) by: CountBy,
    /// Number of queries shown
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogForm {
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
Records are added to the logs of their days and kept for log.keep_for from now. IP addresses and user names are replaced by \
keyed hashes and not stored; long numbers are deleted from queries. Texts can be UTF-8 or GB18030. Incomplete rows are \
dropped and counted; the exit code is then 1. Importing a file twice duplicates its records.")]
pub(crate) struct LogImportArgs {
    /// Format of the logs
    #[arg(long, value_enum)]
    pub(crate) form: LogForm,
    /// Time zone of the logs: +08:00
    #[arg(long, value_name = "ZONE", default_value = "+00:00", allow_hyphen_values = true)]
    pub(crate) zone: String,
    /// Day of logs that contain only times: 2008-06-01
    #[arg(long, value_name = "DATE")]
    pub(crate) date: Option<String>,
    /// Files, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
}

#[derive(Args)]
#[command(after_help = "\
Only queries of at least hot.min_visits different visits are shown. Rising queries exceed the count expected from the \
previous window, relative to total traffic: (now + s) / (before · all now / all before + s), where s is hot.smoothing.")]
pub(crate) struct HotArgs {
    /// Time window: 1h, 1d or today (since midnight, UTC)
    #[arg(long, value_name = "WINDOW", default_value = "1d", value_parser = ["1h", "1d", "today"])]
    pub(crate) window: String,
    /// Show rising queries instead of popular ones
    #[arg(long, conflicts_with = "hourly")]
    pub(crate) rising: bool,
    /// Show the hourly counts of a query over the last 24 hours
    #[arg(long, value_name = "QUERY")]
    pub(crate) hourly: Option<String>,
    /// Number of queries shown [default: hot.shown]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: Option<usize>,
    /// Reference time: 2026-01-31T12:00:00Z, or the end of a day
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
}
