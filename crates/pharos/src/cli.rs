//! The arguments, as people type them.

mod eval;
mod graph;
mod health;
mod index;
mod log;
mod manual;
mod words;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use eval::*;
pub(crate) use graph::*;
pub(crate) use health::*;
pub(crate) use index::*;
pub(crate) use log::*;
pub(crate) use manual::*;
pub(crate) use words::*;

/// Pharos (灯塔): a complete web search engine in one binary.
#[derive(Parser)]
#[command(
    name = "pharos",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 good, 1 nothing found or parts of the input bad, 2 error.\nSettings: `pharos config` lists them all."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args, Clone)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// The data directory [default: ./data]
    #[arg(long, global = true, value_name = "DIR", env = "PHAROS_DATA", hide_env = true)]
    pub(crate) data: Option<PathBuf>,
    /// The configuration file [default: pharos.toml in the data directory]
    #[arg(long, global = true, value_name = "FILE", env = "PHAROS_CONFIG", hide_env = true)]
    pub(crate) config: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more; twice for everything
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Try it: a small sample web on this machine, crawled, indexed and served
    Demo(ListenArgs),
    /// Crawl, index and serve in one process; pages are searchable seconds after they are fetched
    Up(UpArgs),
    /// Crawl only
    Crawl(CrawlOnlyArgs),
    /// Submit pages: the crawl that runs fetches them, or the next one
    Add(AddArgs),
    /// The story of a page and every version the library has of it
    Page(PageArgs),
    /// Take pages or whole sites out of index, snapshot and library, for good
    Remove(RemoveArgs),
    /// Take in what others gathered: WARC, Tianwang and SOIF files, folders of HTML files
    Import(ImportArgs),
    /// Load a feed of pages added, modified, sent again and deleted
    Load(LoadArgs),
    /// Write pages out for other programs
    Export(ExportArgs),
    /// Free the space of what was removed and of versions that need not be kept
    Compact,
    /// Check every store, and whether they agree; silent where all is well
    Doctor(DoctorArgs),
    /// Make catalog, links and index again from the library alone, without a single request
    Rebuild(RebuildArgs),
    /// Copy the data directory, also while an engine works on it
    Backup(BackupArgs),
    /// Bring a backup back into a new data directory
    Restore(RestoreArgs),
    /// Build the index, check it, go back to the one before, or tell its state
    Index {
        #[command(subcommand)]
        command: IndexCommand,
    },
    /// Search
    Search(SearchArgs),
    /// What a query that begins so may become
    Suggest(SuggestArgs),
    /// Serve the search page and the API only
    Serve(ListenArgs),
    /// Does the engine answer? For who watches over processes (exit code 1: it does not)
    Health(HealthArgs),
    /// Show what is left of a page once it is understood
    Clean(CleanArgs),
    /// Cut text into words, separated by two spaces
    Segment(SegmentArgs),
    /// The words of this installation: names, new words, words of a field
    Words {
        #[command(subcommand)]
        command: WordsCommand,
    },
    /// Who links to whom, and what that says about a page
    Graph {
        #[command(subcommand)]
        command: GraphCommand,
    },
    /// Pages that say the same, and sites that are copies of others
    Dedup {
        #[command(subcommand)]
        command: DedupCommand,
    },
    /// What was asked, shown and clicked: check, print, count and import the logs
    Log {
        #[command(subcommand)]
        command: LogCommand,
    },
    /// What people ask for most, what rises fastest, and when a query is asked
    Hot(HotArgs),
    /// How good it is, against data that people marked
    Eval {
        #[command(subcommand)]
        command: EvalCommand,
    },
    /// Numbers about the data directory
    Stats,
    /// All settings with their values, defaults and meaning
    Config,
    /// The manual pages
    Man(ManArgs),
    /// Completions for a shell, to be read by it
    Completions(CompletionsArgs),
}

#[derive(Args)]
pub(crate) struct ListenArgs {
    /// Address and port of the search page [default: 127.0.0.1:8080]
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
    /// Crawl nothing: tell which rule admits or refuses this address, and why (exit code 1: refused). With seeds, as
    /// if a crawl began with them
    #[arg(long, value_name = "URL")]
    pub(crate) explain: Option<String>,
}

#[derive(Args, Clone)]
pub(crate) struct CrawlArgs {
    /// Addresses to start from; without any, an earlier crawl goes on
    #[arg(value_name = "SEED")]
    pub(crate) seeds: Vec<String>,
    /// Read more of them from a file, one a line (- for standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) seeds_file: Option<PathBuf>,
    /// incremental goes on with what is known; batch collects everything anew from the seeds
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,
    /// Stop after this many pages
    #[arg(long, value_name = "N")]
    pub(crate) max_pages: Option<String>,
    /// Follow links this many clicks away from a seed
    #[arg(long, value_name = "D")]
    pub(crate) max_depth: Option<String>,
    /// Stop after this long: 90s, 10m, 2h
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) run_for: Option<String>,
    /// Which page next: breadth-first, depth-first, importance, alternate, hot-queue, site-first or worm
    #[arg(long, value_name = "NAME")]
    pub(crate) strategy: Option<String>,
    /// Where to go on from: known (all pages never asked for) or seeds (only what is found from now on)
    #[arg(long, value_name = "FROM")]
    pub(crate) restart: Option<String>,
    /// Which links to follow: host, domain or any
    #[arg(long)]
    pub(crate) scope: Option<String>,
    /// Follow only links that fit such a pattern: a whole address, * for any characters
    #[arg(long, value_name = "PATTERN")]
    pub(crate) include: Vec<String>,
    /// Never follow links that fit such a pattern
    #[arg(long, value_name = "PATTERN")]
    pub(crate) exclude: Vec<String>,
    /// How to treat servers: gentle, normal or own-site (no delay: only for your own)
    #[arg(long)]
    pub(crate) politeness: Option<String>,
    /// Mail address or page where the owners of crawled sites reach you
    #[arg(long, value_name = "MAIL")]
    pub(crate) contact: Option<String>,
    /// Fetch from private and loopback addresses too
    #[arg(long)]
    pub(crate) allow_private: bool,
    /// Use this address for this host and port, as in curl
    #[arg(long, value_name = "HOST:PORT:ADDR")]
    pub(crate) resolve: Vec<String>,
    /// Connect to the second host and port instead of the first, as in curl
    #[arg(long, value_name = "HOST1:PORT1:HOST2:PORT2")]
    pub(crate) connect_to: Vec<String>,
}

#[derive(Args)]
pub(crate) struct AddArgs {
    /// Addresses of pages
    #[arg(required_unless_present_any = ["file", "proposals"], value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// Read addresses from a file too, one a line (- for standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Do not fetch them yet: put them before an operator
    #[arg(long, conflicts_with_all = ["accept", "refuse"])]
    pub(crate) propose: bool,
    /// Fetch these, which were proposed
    #[arg(long, conflicts_with = "refuse")]
    pub(crate) accept: bool,
    /// Do not fetch these, which were proposed
    #[arg(long)]
    pub(crate) refuse: bool,
    /// List what was proposed and what was said to it
    #[arg(long, conflicts_with_all = ["urls", "file", "propose", "accept", "refuse"])]
    pub(crate) proposals: bool,
}

#[derive(Args)]
pub(crate) struct PageArgs {
    /// The address of the page
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Print this version, 1 being the newest: its body as the server sent it, or the page object with --json
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1")]
    pub(crate) show: Option<usize>,
    /// With --show: what the page says, without its markup
    #[arg(long, requires = "show")]
    pub(crate) text: bool,
}

#[derive(Args)]
pub(crate) struct RemoveArgs {
    /// An address (http://…) or a site (www.example.org)
    #[arg(required = true, value_name = "URL|SITE")]
    pub(crate) what: Vec<String>,
}

#[derive(Args)]
#[command(after_help = "\
Formats are told by content. Pages keep the date, server address and status they came with. A version that the library \
has already is not taken twice: the same command again goes on where the last one stopped.

With --base-url, a folder is taken in as a site: docs/a.html becomes BASE/docs/a.html, index.html its folder, and \
a.html.gz stands for a.html. The date is that of the file.")]
pub(crate) struct ImportArgs {
    /// Files, folders to look for such files in, or - for a WARC file on standard input
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Take folders in as sites of HTML files (.html, .htm, .xhtml, .txt): the address of their top
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
One JSON object a line:
  {\"op\": \"add\", \"url\": \"https://www.example.org/a\", \"html\": \"<title>A</title><p>...\"}
  {\"op\": \"modify\", \"url\": \"...\", \"date\": \"2026-01-31T12:00:00Z\", \"title\": \"A\", \"text\": \"...\"}
  {\"op\": \"delete\", \"url\": \"...\"}

op is add, modify, resend (the same as modify) or delete. Content is html, or text with or without a title; \
content_type and status may be given where they are not the usual ones. A missing date is now. Modify and resend delete \
the page and add it again as of their date; a delete takes the page off the list of what is still to be loaded, or else \
out of the index.

A bad line is told with its number and the rest is loaded; the exit code is 1 then.")]
pub(crate) struct LoadArgs {
    /// A file, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) input: String,
}

#[derive(Args)]
#[command(after_help = "\
warc, tianwang and cdxj hold every version of a page unless --current is given; jsonl, soif and forward the current one \
unless --all-versions is given. cdxj is an index of the library's own files, by which replay tools read them. tianwang \
is a folder, the others are files or standard output. Pages that were removed or deleted stay at home.")]
pub(crate) struct ExportArgs {
    /// What to write
    #[arg(long, value_enum)]
    pub(crate) format: ExportFormat,
    /// The file or folder to write, or - for standard output
    #[arg(long, value_name = "PATH", default_value = "-")]
    pub(crate) out: String,
    /// Overwrite what is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Pages of this site only; may be given more than once
    #[arg(long = "site", value_name = "SITE")]
    pub(crate) sites: Vec<String>,
    /// Versions of this moment or later: 2026-01-31, 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Versions before this moment
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// Pages that this query finds only
    #[arg(long, value_name = "QUERY")]
    pub(crate) query: Option<String>,
    /// Every version of each page
    #[arg(long, conflicts_with = "current")]
    pub(crate) all_versions: bool,
    /// The current version of each page
    #[arg(long)]
    pub(crate) current: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Answers as they came, packed with gzip
    Warc,
    /// An index of the library's own files
    Cdxj,
    /// Answers as they came, with their index, in a folder
    Tianwang,
    /// Page objects, one a line
    Jsonl,
    /// Descriptions of pages
    Soif,
    /// The words of pages, two lines each
    Forward,
}

#[derive(Args)]
#[command(after_help = "Exit codes: 0 healthy, 1 something is wrong, 2 error.")]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended, as the owner of the data directory, then check again
    #[arg(long)]
    pub(crate) repair: bool,
}

#[derive(Args)]
pub(crate) struct RebuildArgs {
    /// What to make again [default: all of it]
    #[arg(value_name = "PART")]
    pub(crate) parts: Vec<RebuildPart>,
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
Copied: the library, the settings, the catalog, page objects and links, the history of the index, models and logs.
Not copied: the latest part of the index, which is made again when the backup is restored.
Nothing but a backup saves pharos.toml and the operators' accounts: all else follows from the library.
A second backup into the same directory copies only what is new.")]
pub(crate) struct BackupArgs {
    /// Where to copy to
    #[arg(value_name = "DIR")]
    pub(crate) to: PathBuf,
}

#[derive(Args)]
#[command(after_help = "\
The backup is proved first. --data names the new directory, which must be empty or not there.
A restore that was cut short goes on when it is run again.")]
pub(crate) struct RestoreArgs {
    /// The backup
    #[arg(value_name = "DIR")]
    pub(crate) from: PathBuf,
}

#[derive(Args)]
pub(crate) struct SearchArgs {
    /// Words, "phrases", -without, OR, ( ), site:, intitle:, inurl:, inbody:, inanchor:, filetype:, lang:, before:, after:,
    /// link:, url:, related:; in quotes, or after -- where it begins with a minus
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Results a page
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) number: usize,
    /// Which page of results
    #[arg(long, default_value_t = 1)]
    pub(crate) page: usize,
    /// Show pages that say the same as another, too
    #[arg(long)]
    pub(crate) all: bool,
    /// The newest first instead of the best
    #[arg(long, value_name = "ORDER", default_value = "relevance", value_parser = ["relevance", "date"])]
    pub(crate) sort: String,
    /// Pages that have some of the words, too
    #[arg(long)]
    pub(crate) any: bool,
    /// Count results by site, language, type, category and time
    #[arg(long)]
    pub(crate) facets: bool,
    /// Show how the query was understood and what scores are made of
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Args)]
pub(crate) struct SuggestArgs {
    /// What was typed so far: Chinese, pinyin, initials, English
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) typed: Vec<String>,
    /// Suggestions [default: suggest.count]
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) number: Option<usize>,
}

#[derive(Args)]
pub(crate) struct CleanArgs {
    /// A file, an address, or - for standard input
    #[arg(value_name = "FILE|URL|-", required_unless_present = "batch")]
    pub(crate) input: Option<String>,
    /// Read every *.html and *.html.gz of DIR, write one object a line to OUT
    #[arg(long, num_args = 2, value_names = ["DIR", "OUT"], conflicts_with = "input")]
    pub(crate) batch: Option<Vec<PathBuf>>,
    /// The text only
    #[arg(long)]
    pub(crate) text: bool,
    /// The cleaned page as HTML
    #[arg(long, conflicts_with = "text")]
    pub(crate) view: bool,
    /// Every line with what it was taken for, its score and the rules that weighed most
    #[arg(long, conflicts_with_all = ["text", "view"])]
    pub(crate) explain: bool,
    /// Write the page's blocks to DIR: text in block1, block2 …, their links in block1a, block2a …
    #[arg(long, value_name = "DIR")]
    pub(crate) blocks: Option<PathBuf>,
    /// How much is kept
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scale: CleanScale,
    /// pharos, thesis, or a file of rules [default: `clean.rules` of the configuration]
    #[arg(long, value_name = "SET|FILE")]
    pub(crate) rules: Option<String>,
    /// The page's address, where the input is not one
    #[arg(long, value_name = "URL", default_value = "http://localhost/")]
    pub(crate) base_url: String,
    /// Fetch from private and loopback addresses too
    #[arg(long)]
    pub(crate) allow_private: bool,
}

/// How much of a page cleaning keeps.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum CleanScale {
    /// The body
    Body,
    /// The body and the links related to it
    #[default]
    Related,
}
