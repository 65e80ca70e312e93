//! Arguments of `pharos log` and `pharos hot`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum LogCommand {
    /// Is every line of every log whole? (exit code 1: some are not)
    Check,
    /// Print the records of a log, one JSON object a line, from packed days, too
    Cat(LogCatArgs),
    /// Count records by hour, day or query
    Count(LogCountArgs),
    /// Take in query and click logs of other engines
    Import(LogImportArgs),
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogKind {
    /// What was asked
    Queries,
    /// What was shown
    Impressions,
    /// What was clicked
    Clicks,
    /// How the system fared
    System,
    /// Requests, one by one.
    Access,
}

#[derive(Args)]
pub(crate) struct LogDays {
    /// From this day on (UTC): 2026-01-31
    #[arg(long, value_name = "DATE")]
    pub(crate) from: Option<String>,
    /// Up to this day and with it
    #[arg(long, value_name = "DATE")]
    pub(crate) to: Option<String>,
}

#[derive(Args)]
pub(crate) struct LogCatArgs {
    /// Which log
    #[arg(value_enum, value_name = "KIND", default_value_t = LogKind::Queries)]
    pub(crate) kind: LogKind,
    #[command(flatten)]
    pub(crate) days: LogDays,
    /// In a form of the literature instead of JSON: queries as `query5` or `line`, clicks as `click5`; times in UTC
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
    /// Which log
    #[arg(value_enum, value_name = "KIND", default_value_t = LogKind::Queries)]
    pub(crate) kind: LogKind,
    #[command(flatten)]
    pub(crate) days: LogDays,
    /// What is counted together
    #[arg(long, value_enum, value_name = "BY", default_value_t = CountBy::Day)]
    pub(crate) by: CountBy,
    /// How many queries are shown
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogForm {
    /// Queries in five lines: time, address, cache state, words, page number
    Query5,
    /// Clicks in five lines: time, address, words, URL, rank
    Click5,
    /// Queries in one line: Wed-Apr-14-16:09:06-2004 words
    Line,
    /// Queries in columns: user, date, time, words
    Columns,
    /// Sogou's public log: time, user, words in brackets, rank and order of the click, URL
    Sogou,
}

#[derive(Args)]
#[command(after_help = "\
Records go into the logs of the days they belong to, and are kept for log.keep_for from now. Addresses and names of users \
become the names of visits by a keyed hash and are written nowhere; long numbers are deleted from queries. Texts may be \
UTF-8 or GB18030. Rows that lack something are dropped and counted; the exit code is 1 then. A file that is imported twice \
is there twice.")]
pub(crate) struct LogImportArgs {
    /// The form of the logs
    #[arg(long, value_enum)]
    pub(crate) form: LogForm,
    /// The zone of their times: +08:00
    #[arg(long, value_name = "ZONE", default_value = "+00:00", allow_hyphen_values = true)]
    pub(crate) zone: String,
    /// The day of logs that tell only the time: 2008-06-01
    #[arg(long, value_name = "DATE")]
    pub(crate) date: Option<String>,
    /// Files, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
}

#[derive(Args)]
#[command(after_help = "\
Only queries that hot.min_visits different visits asked are shown. What rises fastest is what is asked most beyond what the \
window before lets expect, given how much was asked in all: (now + s) / (before · all now / all before + s), s being \
hot.smoothing.")]
pub(crate) struct HotArgs {
    /// 1h, 1d or today (since midnight, UTC)
    #[arg(long, value_name = "WINDOW", default_value = "1d", value_parser = ["1h", "1d", "today"])]
    pub(crate) window: String,
    /// What rises fastest instead of what is asked most
    #[arg(long, conflicts_with = "hourly")]
    pub(crate) rising: bool,
    /// How often this query was asked in each of the last 24 hours
    #[arg(long, value_name = "QUERY")]
    pub(crate) hourly: Option<String>,
    /// How many are shown [default: hot.shown]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: Option<usize>,
    /// As of this moment: 2026-01-31T12:00:00Z, or the end of a day
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
}
