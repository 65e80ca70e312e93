//! Command-line arguments.

mod classify;
mod curate;
mod eval;
mod graph;
mod health;
mod help;
mod index;
mod keys;
mod log;
mod manual;
mod rank;
mod refresh;
mod topics;
mod words;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use classify::*;
pub(crate) use curate::*;
pub(crate) use eval::*;
pub(crate) use graph::*;
pub(crate) use health::*;
pub(crate) use help::*;
pub(crate) use index::*;
pub(crate) use keys::*;
pub(crate) use log::*;
pub(crate) use manual::*;
pub(crate) use rank::*;
pub(crate) use refresh::*;
pub(crate) use topics::*;
pub(crate) use words::*;

/// Pharos (灯塔): a complete web search engine in one binary.
#[derive(Parser)]
#[command(
    name = "pharos",
    version,
    max_term_width = 100,
    after_help = "Run `pharos help <COMMAND>` for details of a command, `pharos config` for all settings.\nExit codes: 0 success, 1 nothing found or invalid parts of the input, 2 error."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args, Clone)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Data directory [default: ./data]
    #[arg(long, global = true, value_name = "DIR", env = "PHAROS_DATA", hide_env = true)]
    pub(crate) data: Option<PathBuf>,
    /// Configuration file [default: pharos.toml in the data directory]
    #[arg(long, global = true, value_name = "FILE", env = "PHAROS_CONFIG", hide_env = true)]
    pub(crate) config: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more messages; repeat for debug output
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Crawl, index and serve a small sample web on this machine
    Demo(ListenArgs),
    /// Crawl, index and serve in one process
    ///
    /// Pages are searchable seconds after they are fetched. Started again, it continues where it stopped.
    Up(UpArgs),
    /// Crawl without indexing or serving
    Crawl(CrawlOnlyArgs),
    /// Add pages to the crawl, or manage submitted pages
    ///
    /// The running crawl fetches them, or else the next one.
    Add(AddArgs),
    /// Show the status of a page and its stored versions
    Page(PageArgs),
    /// Show and simulate how known pages are fetched again
    Refresh {
        #[command(subcommand)]
        command: RefreshCommand,
    },
    /// Remove pages or sites permanently
    ///
    /// They are removed from the index, the cached pages and the library, and are not fetched again.
    Remove(RemoveArgs),
    /// Import WARC, Tianwang, SOIF, HTML, PDF or Office files
    Import(ImportArgs),
    /// Load a data feed of added, changed and deleted pages
    Load(LoadArgs),
    /// Export pages in formats for other programs
    Export(ExportArgs),
    /// Reclaim space of removed pages and old versions
    Compact,
    /// Check that all stores are intact and agree
    Doctor(DoctorArgs),
    /// Rebuild catalog, links and index from the library
    ///
    /// No request is sent.
    Rebuild(RebuildArgs),
    /// Back up the data directory, also while it is in use
    Backup(BackupArgs),
    /// Restore a backup into a new data directory
    Restore(RestoreArgs),
    /// Build, verify, roll back or inspect the index
    Index {
        #[command(subcommand)]
        command: IndexCommand,
    },
    /// Search the index
    Search(SearchArgs),
    /// Complete a partial query
    Suggest(SuggestArgs),
    /// Serve the search page and the API without crawling
    Serve(ListenArgs),
    /// Check whether the engine responds (exit code 1: no)
    ///
    /// Health check for process supervisors.
    Health(HealthArgs),
    /// Extract the main content of a page
    Clean(CleanArgs),
    /// Segment text into words
    ///
    /// Words are separated by two spaces.
    Segment(SegmentArgs),
    /// Manage the vocabulary of this installation
    ///
    /// The vocabulary contains names, new words and words of a field.
    Words {
        #[command(subcommand)]
        command: WordsCommand,
    },
    /// Manage pinned and hidden results, notices and synonyms
    ///
    /// Changes take effect within a second, also in running servers.
    Curate {
        #[command(subcommand)]
        command: CurateCommand,
    },
    /// Analyse the link graph: ranks, hubs, neighbours
    Graph {
        #[command(subcommand)]
        command: GraphCommand,
    },
    /// Report duplicate pages and mirror sites
    Dedup {
        #[command(subcommand)]
        command: DedupCommand,
    },
    /// Check, print, count, import and study query logs
    ///
    /// The logs record queries, impressions and clicks.
    Log {
        #[command(subcommand)]
        command: LogCommand,
    },
    /// Show popular and rising queries
    Hot(HotArgs),
    /// Evaluate quality against labelled data
    Eval {
        #[command(subcommand)]
        command: EvalCommand,
    },
    /// Train and evaluate ranking models
    ///
    /// Models learn to order results from features and human grades.
    Rank {
        #[command(subcommand)]
        command: RankCommand,
    },
    /// Train, test and apply text classifiers
    Classify {
        #[command(subcommand)]
        command: ClassifyCommand,
    },
    /// Learn topics of texts, and find the topics of others
    Topics {
        #[command(subcommand)]
        command: TopicsCommand,
    },
    /// Show numbers of pages, sites and bytes
    Stats,
    /// Manage the keys of programs that use the API
    ///
    /// Changes take effect within a second, also in running servers.
    Keys {
        #[command(subcommand)]
        command: KeysCommand,
    },
    /// Print all settings with values, defaults and meanings
    Config,
    /// Generate the manual pages
    Man(ManArgs),
    /// Generate shell completions
    Completions(CompletionsArgs),
}

#[derive(Args)]
pub(crate) struct ListenArgs {
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) listen: Option<String>,
}

#[derive(Args)]
pub(crate) struct UpArgs {
    #[command(flatten)]
    pub(crate) crawl: CrawlArgs,
    #[command(flatten)]
    pub(crate) listen: ListenArgs,
}

#[derive(Args)]
pub(crate) struct CrawlOnlyArgs {
    #[command(flatten)]
    pub(crate) crawl: CrawlArgs,
    /// Explain which rule admits or refuses this URL instead of crawling (exit code 1: refused). With seeds, as if a
    /// crawl started from them
    #[arg(long, value_name = "URL")]
    pub(crate) explain: Option<String>,
}

#[derive(Args, Clone)]
pub(crate) struct CrawlArgs {
    /// Start URLs; without any, the previous crawl continues
    #[arg(value_name = "SEED")]
    pub(crate) seeds: Vec<String>,
    /// Read more start URLs from a file, one per line (- for standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) seeds_file: Option<PathBuf>,
    /// incremental continues with the known pages; batch fetches everything again from the seeds
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,
    /// Stop after this many pages
    #[arg(long, value_name = "N")]
    pub(crate) max_pages: Option<String>,
    /// Follow links up to this many clicks from a seed
    #[arg(long, value_name = "D")]
    pub(crate) max_depth: Option<String>,
    /// Stop after this time: 90s, 10m, 2h
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) run_for: Option<String>,
    /// Order of the crawl: breadth-first, depth-first, importance, alternate, hot-queue, site-first or worm
    #[arg(long, value_name = "NAME")]
    pub(crate) strategy: Option<String>,
    /// Pages to continue with: known (all pages not fetched yet) or seeds (only pages found from now on)
    #[arg(long, value_name = "FROM")]
    pub(crate) restart: Option<String>,
    /// Scope of links to follow: host, domain or any
    #[arg(long)]
    pub(crate) scope: Option<String>,
    /// Follow only links that match this pattern: a complete URL, * for any characters
    #[arg(long, value_name = "PATTERN")]
    pub(crate) include: Vec<String>,
    /// Never follow links that match this pattern
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// Politeness to servers: gentle, normal or own-site (no delay, for your own sites only)
    #[arg(long)]
    pub(crate) politeness: Option<String>,
    /// Email address or page at which owners of crawled sites can reach you
    #[arg(long, value_name = "MAIL")]
    pub(crate) contact: Option<String>,
    /// Also fetch from private and loopback addresses
    #[arg(long)]
    pub(crate) allow_private: bool,
    /// Use this address for a host and port, as in curl
    #[arg(long, value_name = "HOST:PORT:ADDR")]
    pub(crate) resolve: Vec<String>,
    /// Connect to the second host and port instead of the first, as in curl
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2")]
    pub(crate) connect_to: Vec<String>,
}

#[derive(Args)]
pub(crate) struct AddArgs {
    /// URLs of pages
    #[arg(required_unless_present_any = ["file", "proposals"], value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Read more URLs from a file, one per line (- for standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Submit the pages for approval by an operator instead of fetching them
    #[arg(long, conflicts_with_all = ["accept", "refuse"])]
    pub(crate) propose: bool,
    /// Approve submitted pages
    #[arg(long, conflicts_with = "refuse")]
    pub(crate) accept: bool,
    /// Reject submitted pages
    #[arg(long)]
    pub(crate) refuse: bool,
    /// List submitted pages and decisions
    #[arg(long, conflicts_with_all = ["urls", "file", "propose", "accept", "refuse"])]
    pub(crate) proposals: bool,
}

#[derive(Args)]
pub(crate) struct PageArgs {
    /// URL of the page
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Print a version, 1 being the newest: its body as received, or the page object with --json
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1")]
    pub(crate) show: Option<usize>,
    /// With --show: print the text without markup
    #[arg(long, requires = "show")]
    pub(crate) text: bool,
}

#[derive(Args)]
pub(crate) struct RemoveArgs {
    /// A URL (http://…) or a site (www.example.org)
    #[arg(required = true, value_name = "URL|SITE")]
    pub(crate) what: Vec<String>,
}

#[derive(Args)]
#[command(after_help = "\
Formats are detected by content. Pages keep their original date, server address and status. Versions that the library already \
has are skipped, so repeating the command resumes an interrupted import.

With --base-url, a directory is imported as a site: docs/a.html becomes BASE/docs/a.html, index.html becomes its directory, and \
a.html.gz becomes a.html. The date is the modification time of the file.

Files are recognised by their names: .html .htm .xhtml .txt .md .pdf .rtf .docx .xlsx .pptx .odt .ods .odp.")]
pub(crate) struct ImportArgs {
    /// Files, directories to search for archive files, or - for a WARC file on standard input
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Import the HTML, text, PDF and Office files of directories as pages below this URL
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
One JSON object per line:
  {\"op\": \"add\", \"url\": \"https://www.example.org/a\", \"html\": \"<title>A</title><p>...\"}
  {\"op\": \"modify\", \"url\": \"...\", \"date\": \"2026-01-31T12:00:00Z\", \"title\": \"A\", \"text\": \"...\"}
  {\"op\": \"delete\", \"url\": \"...\"}

op is add, modify, resend (same as modify) or delete. Content is html, or text with or without a title; content_type and \
status are optional. The default date is now. Modify and resend delete the page and add it again as of their date; delete \
cancels a pending addition of the page, or else removes it from the index.

Invalid lines are reported with their number and the rest is loaded; the exit code is then 1.")]
pub(crate) struct LoadArgs {
    /// A file, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) input: String,
}

#[derive(Args)]
#[command(after_help = "\
warc, tianwang and cdxj contain every version of a page unless --current is given; jsonl, soif and forward contain the \
current one unless --all-versions is given. cdxj is an index of the library's own files for replay tools. tianwang writes a \
directory, the others a file or standard output. Removed and deleted pages are not exported.")]
pub(crate) struct ExportArgs {
    /// Format of the export
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// File or directory to write, or - for standard output
    #[arg(long, value_name = "PATH", default_value = "-")]
    pub(crate) out: String,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
    /// Export only pages of this site; can be repeated
    #[arg(long = "site", value_name = "SITE")]
    pub(crate) sites: Vec<String>,
    /// Export versions from this time on: 2026-01-31, 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Export versions before this time
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// Export only pages that match this query
    #[arg(long, value_name = "QUERY")]
    pub(crate) query: Option<String>,
    /// Export every version of each page
    #[arg(long, conflicts_with = "current")]
    pub(crate) all_versions: bool,
    /// Export the current version of each page
    #[arg(long)]
    pub(crate) current: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Responses as received, gzip-compressed
    Warc,
    /// Index of the library's own files
    Cdxj,
    /// Responses as received, with an index, in a directory
    Tianwang,
    /// Page objects, one per line
    Jsonl,
    /// Summaries of pages
    Soif,
    /// Words of pages, two lines per page
    Forward,
}

#[derive(Args)]
#[command(after_help = "Exit codes: 0 healthy, 1 defects found, 2 error.")]
pub(crate) struct DoctorArgs {
    /// Repair defects as the owner of the data directory, then check again
    #[arg(long)]
    pub(crate) repair: bool,
    /// Repair even if the library lacks records that the stores have applied; old stores are set aside
    #[arg(long, requires = "repair")]
    pub(crate) force: bool,
}

#[derive(Args)]
pub(crate) struct RebuildArgs {
    /// Stores to rebuild [default: all]
    #[arg(value_name = "PART")]
    pub(crate) parts: Vec<RebuildPart>,
    /// Rebuild even if the library lacks records that the stores have applied; old stores are set aside
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum RebuildPart {
    /// Sites, pages, versions and the schedule
    Catalog,
    /// Page objects and links
    Links,
    /// The index
    Index,
}

#[derive(Args)]
#[command(after_help = "\
Included: library, settings, catalog, page objects and links, history of the index, models and logs.
Not included: the latest part of the index, which is rebuilt when the backup is restored.
Only a backup saves pharos.toml and the operators' accounts: everything else can be rebuilt from the library.
Another backup into the same directory copies only new data.")]
pub(crate) struct BackupArgs {
    /// Backup directory
    #[arg(value_name = "DIR")]
    pub(crate) to: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
The backup is verified first. --data names the new directory, which must be empty or missing.
An interrupted restore can be run again.")]
pub(crate) struct RestoreArgs {
    /// Backup directory
    #[arg(value_name = "DIR")]
    pub(crate) from: PathBuf,
}

#[derive(Args)]
pub(crate) struct SearchArgs {
    /// Words, "phrases", -excluded, OR, ( ), site:, intitle:, inurl:, inbody:, inanchor:, filetype:, lang:, before:, after:,
    /// link:, url:, related:; quote the query, or put it after -- if it begins with a minus
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Number of results per page [default: query.page_size]
    #[arg(short = 'n', long, alias = "size", value_name = "N")]
    pub(crate) number: Option<usize>,
    /// Number of the result page
    #[arg(long, default_value_t = 1)]
    pub(crate) page: usize,
    /// Also show duplicates
    #[arg(long)]
    pub(crate) all: bool,
    /// Sort by relevance, or by date with the newest first
    #[arg(long, value_name = "ORDER", default_value = "relevance", value_parser = ["relevance", "date"])]
    pub(crate) sort: String,
    /// Also find pages with only some of the words
    #[arg(long)]
    pub(crate) any: bool,
    /// Show the results of the query as typed, even if there are none and a correction is certain
    #[arg(long)]
    pub(crate) as_typed: bool,
    /// Count results by site, language, type, category and time
    #[arg(long)]
    pub(crate) facets: bool,
    /// Show the parsed query and the composition of scores
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Args)]
pub(crate) struct SuggestArgs {
    /// Partial query: Chinese, pinyin, initials or English
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) typed: Vec<String>,
    /// Number of suggestions [default: suggest.count]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) number: Option<usize>,
}

#[derive(Args)]
pub(crate) struct CleanArgs {
    /// A file, a URL, or - for standard input
    #[arg(value_name = "FILE|URL|-", required_unless_present = "batch")]
    pub(crate) input: Option<String>,
    /// Read every *.html and *.html.gz of DIR, write one object per line to OUT
    #[arg(long, num_args = 2, value_names = ["DIR", "OUT"], conflicts_with = "input")]
    pub(crate) batch: Option<Vec<PathBuf>>,
    /// Print only the text
    #[arg(long)]
    pub(crate) text: bool,
    /// Print the cleaned page as HTML
    #[arg(long, conflicts_with = "text")]
    pub(crate) view: bool,
    /// Show each line with its classification, score and the rules with the highest weight
    #[arg(long, conflicts_with_all = ["text", "view"])]
    pub(crate) explain: bool,
    /// Write the blocks of the page to DIR: text in block1, block2 …, links in block1a, block2a …
    #[arg(long, value_name = "DIR")]
    pub(crate) blocks: Option<PathBuf>,
    /// Extent of the result
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scale: CleanScale,
    /// Rule set: pharos, score-tables, or a file [default: `clean.rules` of the configuration]
    #[arg(long, value_name = "SET|FILE")]
    pub(crate) rules: Option<String>,
    /// URL of the page, if the input is not a URL
    #[arg(long, value_name = "URL", default_value = "http://localhost/")]
    pub(crate) base_url: String,
    /// Also fetch from private and loopback addresses
    #[arg(long)]
    pub(crate) allow_private: bool,
}

/// Extent of page cleaning.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum CleanScale {
    /// Main content
    Body,
    /// Main content and related links
    #[default]
    Related,
}
