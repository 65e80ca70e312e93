//! Configuration: every key with its default and its meaning, in one table.
//!
//! A value comes from, in rising order: the default here, `pharos.toml`, the environment
//! (`PHAROS_CRAWL_MAX_PAGES` is `crawl.max_pages`), the command line. A key nobody knows or a value of the wrong
//! kind is an error that names the key, the line and what was probably meant.

mod manners;
mod part_weights;
mod value;

use std::time::Duration;

use thiserror::Error;
use toml::de::{DeTable, DeValue};

pub use manners::Manners;
pub use part_weights::PartWeights;
pub use value::{
    Combine, LibraryFormat, Mode, Politeness, RankModel, Restart, Scope, Setting, Size, StrategyName, Submit,
};

/// What is wrong with a configuration.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// Not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// File and line.
        place: String,
        /// What the TOML parser says.
        message: String,
    },
    /// A key that does not exist.
    #[error(
        "{place}: unknown key `{key}`; the nearest known key is `{nearest}` (`pharos config` lists them all)"
    )]
    UnknownKey {
        /// File and line, environment variable or flag.
        place: String,
        /// What was written.
        key: String,
        /// What was probably meant.
        nearest: &'static str,
    },
    /// A value that the key cannot take.
    #[error("{place}: `{key}` must be {expected}, not `{found}`")]
    WrongValue {
        /// File and line, environment variable or flag.
        place: String,
        /// The key.
        key: String,
        /// What it takes.
        expected: String,
        /// What was written.
        found: String,
    },
}

/// One line of the table that `pharos config` prints.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// `section.name`.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// When a change of a setting is felt by a process that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakesEffect {
    /// As soon as the file is saved.
    AtOnce,
    /// When the next crawl begins.
    NextCrawl,
    /// When the process is started again.
    NextStart,
}

/// When a change of this setting is felt.
pub fn takes_effect(key: &str) -> TakesEffect {
    match key {
        "crawl.agent" | "crawl.mode" | "crawl.run_for" | "crawl.strategy" | "crawl.restart"
        | "crawl.alpha" | "crawl.beta" | "crawl.alternate" | "crawl.queue_ratio" | "crawl.seen_memory" => {
            TakesEffect::NextCrawl
        }
        "engine.disk_floor" => TakesEffect::AtOnce,
        _ if key.starts_with("crawl.") || key.starts_with("rank.") => TakesEffect::AtOnce,
        _ => TakesEffect::NextStart,
    }
}

/// Is the value of this setting for nobody but who may change it?
pub fn is_secret(key: &str) -> bool {
    key == "web.api_keys"
}

/// The environment variable that sets a key: `PHAROS_CRAWL_MAX_PAGES` for `crawl.max_pages`.
pub fn environment_name(key: &str) -> String {
    format!("PHAROS_{}", key.replace('.', "_").to_ascii_uppercase())
}

/// Declares the sections of the configuration: struct, default, documentation and access by name from one list.
macro_rules! settings {
    ($( $(#[doc = $section_doc:literal])+ $section:ident: $Section:ident {
        $( $(#[doc = $doc:literal])+ $key:ident: $kind:ty = $default:expr, )+
    } )+) => {
        /// The whole configuration.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Config {
            $( $(#[doc = $section_doc])+ pub $section: $Section, )+
        }

        $(
            $(#[doc = $section_doc])+
            #[derive(Clone, Debug, PartialEq)]
            pub struct $Section { $( $(#[doc = $doc])+ pub $key: $kind, )+ }

            impl Default for $Section {
                fn default() -> Self { Self { $( $key: $default, )+ } }
            }
        )+

        /// Every key there is.
        pub const KEYS: &[Key] = &[ $( $( Key {
            name: concat!(stringify!($section), ".", stringify!($key)),
            meaning: concat!($($doc),+),
        }, )+ )+ ];

        impl Config {
            /// The value of a key, as TOML.
            pub fn get(&self, name: &str) -> Option<String> {
                match name {
                    $( $( concat!(stringify!($section), ".", stringify!($key)) => Some(self.$section.$key.to_toml()), )+ )+
                    _ => None,
                }
            }

            fn set_value(&mut self, name: &str, value: &DeValue<'_>) -> Option<Result<(), String>> {
                match name {
                    $( $( concat!(stringify!($section), ".", stringify!($key)) =>
                        Some(Setting::from_toml(value).map(|v| self.$section.$key = v)
                            .ok_or_else(<$kind as Setting>::expected)), )+ )+
                    _ => None,
                }
            }

            fn set_text(&mut self, name: &str, text: &str) -> Option<Result<(), String>> {
                match name {
                    $( $( concat!(stringify!($section), ".", stringify!($key)) =>
                        Some(Setting::from_text(text).map(|v| self.$section.$key = v)
                            .ok_or_else(<$kind as Setting>::expected)), )+ )+
                    _ => None,
                }
            }
        }
    };
}

settings! {
    /// Downloading.
    crawl: CrawlConfig {
        /// Mail address or page where the owners of crawled sites reach you; needed for public addresses.
        contact: String = String::new(),
        /// The name robots.txt knows us by.
        agent: String = "Pharos".into(),
        /// Which links are followed from the seeds: those on the same host, the same registrable domain, or any.
        scope: Scope = Scope::Host,
        /// What a new crawl does with pages that are known: incremental leaves them until they are due, batch collects
        /// everything anew from the seeds.
        mode: Mode = Mode::Incremental,
        /// Stop after this many stored pages; 0 is no limit.
        max_pages: u64 = 0,
        /// Follow links this many clicks away from a seed (17 covers every page a person finds: Chinese web survey).
        max_depth: u32 = 17,
        /// Follow only links that fit one of these, written as whole addresses in which * stands for any characters; none follows all.
        include: Vec<String> = Vec::new(),
        /// Never follow links that fit one of these, written like those of include.
        exclude: Vec<String> = Vec::new(),
        /// Never follow links that contain one of these, upper and lower case alike; the word tse stands for the 25 of Tianwang's TSE.
        filter: Vec<String> = Vec::new(),
        /// Media types that are stored, as in text/html or text/*; none means every kind of document that can be read.
        types: Vec<String> = Vec::new(),
        /// Sites, or whole domains, on which the order of a query's parameters means nothing: they are sorted.
        sorted_sites: Vec<String> = Vec::new(),
        /// Words that lead the crawl: pages about them, and what those link to, come first.
        guide_words: Vec<String> = Vec::new(),
        /// Try the directories above each page that is found: /a/ suggests /.
        parent_directories: bool = false,
        /// Read the sitemaps that sites offer.
        sitemaps: bool = true,
        /// Fetch from these addresses only, as in 162.105.0.0/16; none means from all.
        allow_addresses: Vec<String> = Vec::new(),
        /// Never fetch from these addresses, as in 162.105.0.0/16.
        forbid_addresses: Vec<String> = Vec::new(),
        /// Pages of one site that are stored at most; 0 is no limit.
        max_pages_per_site: u64 = 0,
        /// Stop after this long; 0 is no limit.
        run_for: Duration = Duration::ZERO,
        /// Stop when the data directory is larger than this; 0 is no limit.
        max_disk: Size = Size(0),
        /// Which page next: breadth-first, depth-first, importance, alternate, hot-queue, site-first or worm.
        strategy: StrategyName = StrategyName::BreadthFirst,
        /// Where a crawl goes on from: all known pages that were never asked for, or the seeds only (RBSE).
        restart: Restart = Restart::Known,
        /// Importance is alpha times what links say of a page and beta times what its address says.
        alpha: u32 = 1,
        /// See alpha.
        beta: u32 = 1,
        /// The alternate strategy takes so many pages by weight, then so many at random (TSE).
        alternate: Vec<u32> = vec![1, 1],
        /// The hot-queue strategy takes so many pages from each queue in turn, the hottest first.
        queue_ratio: Vec<u32> = vec![10, 1],
        /// Hosts or domains whose pages weigh more.
        important_sites: Vec<String> = Vec::new(),
        /// Languages and charsets whose pages weigh more, such as zh and gb18030.
        wanted: Vec<String> = Vec::new(),
        /// Memory for remembering which links were seen, so that most need no look into the catalog.
        seen_memory: Size = Size(32 << 20),
        /// How gently sites are treated: gentle, normal or own-site; the three keys below say what that means.
        politeness: Politeness = Politeness::Normal,
        /// Gentle: the books' wait of 10 s by day and 1 s by night (or 30 s always), 100 times as long as a fetch took (5 minutes at most), and 20,000 pages of a site in a day.
        gentle: Manners = Manners::GENTLE,
        /// Normal: a second between requests, or 10 times as long as a fetch took (5 minutes at most).
        normal: Manners = Manners::NORMAL,
        /// Own-site: no wait and no limit, for servers that are your own.
        own_site: Manners = Manners::OWN_SITE,
        /// A domain with many sites is asked at most at this many times the pace of one site.
        sites_per_domain: usize = 8,
        /// HOST with any of zone=+08:00 politeness=gentle delay=5s connections=2 max_pages=1000 sorted; HOST may be *.example.org.
        site_settings: Vec<String> = Vec::new(),
        /// A robots.txt that we may not read (401, 403) forbids nothing, as RFC 9309 says; false forbids everything.
        robots_forbidden_is_allowed: bool = true,
        /// How long a known robots.txt stays in force beyond its lifetime while the server does not give a new one.
        robots_stale: Duration = Duration::from_secs(7 * 24 * 3600),
        /// Speak HTTP/2 with servers that offer it.
        http2: bool = true,
        /// A PEM file with certificate authorities to trust besides the public ones.
        extra_ca: String = String::new(),
        /// A body that comes more slowly than this many bytes a second, over low_speed_time, is cut; 0 never is.
        low_speed: Size = Size(100),
        /// Over how long low_speed is averaged.
        low_speed_time: Duration = Duration::from_secs(30),
        /// A robots.txt Crawl-delay longer than this is cut to it.
        max_crawl_delay: Duration = Duration::from_secs(60),
        /// Requests under way at once, over all hosts. A running crawl reads it again on SIGHUP.
        fetchers: usize = 64,
        /// Requests under way at once to one host.
        connections_per_host: usize = 1,
        /// Longer bodies are cut here.
        body_limit: Size = Size(5 << 20),
        /// How long a connection, with its name look-up and TLS, may take.
        connect_timeout: Duration = Duration::from_secs(10),
        /// How long the first byte of an answer may take.
        first_byte_timeout: Duration = Duration::from_secs(30),
        /// How long a whole answer may take.
        total_timeout: Duration = Duration::from_secs(120),
        /// Redirects followed in a row before a chain is given up.
        max_redirects: u32 = 5,
        /// Tries of a page that fails without an answer.
        max_attempts: u32 = 3,
        /// Wait before the second try; four times longer before each further one.
        retry_delay: Duration = Duration::from_secs(60),
        /// Pages of a site that are asked for although they say nothing new; ten more for each that does. 0: no limit.
        site_budget: u64 = 1_000,
        /// How long a page is left alone before it is visited again; 0 is for ever.
        refresh: Duration = Duration::from_secs(7 * 86_400),
        /// The same for the first page of a site.
        refresh_home: Duration = Duration::from_secs(86_400),
        /// The same for pages that mostly lead elsewhere, where what is new on a site shows first.
        refresh_hub: Duration = Duration::from_secs(86_400),
        /// The same for sitemaps and news feeds.
        refresh_feed: Duration = Duration::from_secs(6 * 3600),
        /// No page is visited more often than this (refreshing too often is provably harmful: Cho 2003).
        refresh_at_most_every: Duration = Duration::from_secs(3600),
        /// When a page that is gone (404) is looked for once more before it leaves the index.
        gone_after: Duration = Duration::from_secs(86_400),
        /// How long a robots.txt is believed (RFC 9309: at most 24 hours).
        robots_lifetime: Duration = Duration::from_secs(24 * 3600),
        /// Fetch from private and loopback addresses too.
        allow_private: bool = false,
        /// HOST:PORT:ADDR: use this address for this host and port, as in curl.
        resolve: Vec<String> = Vec::new(),
        /// HOST1:PORT1:HOST2:PORT2: connect to the second instead of the first, as in curl.
        connect_to: Vec<String> = Vec::new(),
    }
    /// The library of raw pages.
    library: LibraryConfig {
        /// A new file is begun when the current one is larger than this.
        file_size: Size = Size(1 << 30),
        /// How records are compressed: gzip (`.warc.gz`, which every tool reads) or zstd (`.warc.zst`).
        format: LibraryFormat = LibraryFormat::Gzip,
        /// Compression level of stored records: for gzip 1 (fast) to 12 (small), for zstd 1 to 19.
        level: u32 = 1,
        /// Whether the head of each request is kept beside its answer.
        requests: bool = true,
        /// Versions of a page that compaction keeps, the newest first; 0 keeps all.
        keep_versions: u32 = 0,
        /// How long compaction keeps versions that are not the current one; 0 keeps them for ever.
        keep_for: Duration = Duration::ZERO,
    }
    /// Cleaning and understanding pages.
    clean: CleanConfig {
        /// The rules that find the body: `pharos`, `thesis` (the score tables of the literature), or a file.
        rules: String = "pharos".into(),
        /// History leaves out lines that this part of the other pages of a site have, too; 0 keeps them.
        template: f64 = 0.3,
        /// How far emphasis reaches: its block's neighbours, then those of the block around them (levels).
        levels: usize = 2,
        /// A block that weighs more than this carries emphasis no further (cap).
        cap: f64 = 50.0,
        /// Words that stand for a page (α, absolute choice).
        keywords: usize = 10,
        /// Of those, only words that weigh more than so many times the average (β, relative choice).
        keyword_factor: f64 = 0.0,
        /// The table algorithm of the literature (`eval clean --rules tables`): least width of a topic in pixels (δ1).
        delta1: f64 = 300.0,
        /// The same in percent of the page (δ2).
        delta2: f64 = 50.0,
        /// Its least height in percent (δ3).
        delta3: f64 = 50.0,
    }
    /// Links and copies.
    graph: GraphConfig {
        /// PageRank: the probability that a reader follows a link rather than jumps to any page (damping).
        damping: f64 = 0.85,
        /// PageRank: rounds end when one changes the probabilities of all pages together by no more (epsilon).
        epsilon: f64 = 1e-10,
        /// PageRank: rounds at most.
        max_rounds: usize = 200,
        /// Memory for sorting links, and as much for putting anchors in order; what is more goes to disk. It does not bound
        /// the graph itself, which takes about 8 bytes for each link and 400 for each page beside it.
        memory: Size = Size(128 << 20),
        /// Anchors kept for one page; more of them say nothing new.
        max_anchors: usize = 32,
        /// Pages younger than this are compensated for links that they cannot have yet.
        new_page: Duration = Duration::from_secs(30 * 86_400),
    }
    /// The index.
    index: IndexConfig {
        /// Memory of the index writer.
        memory: Size = Size(128 << 20),
        /// How often fetched pages become searchable.
        commit_every: Duration = Duration::from_millis(1000),
        /// Longer texts are indexed up to here.
        body_limit: Size = Size(1 << 20),
        /// `up` builds a new history when the last one is this old, so that latest spans no more; 0 is never.
        build_every: Duration = Duration::from_secs(86_400),
        /// And when latest holds more than this part of the pages of history (and at least 10,000); 0 is never.
        latest_share: f64 = 0.25,
        /// A build saves what it has after so many pages: one that is killed goes on from there. A save costs a second.
        save_every: u64 = 20_000,
    }
    /// Searching.
    query: QueryConfig {
        /// Results on a page.
        page_size: usize = 10,
        /// Results that can be paged through (26 pages of ten).
        max_results: usize = 256,
        /// Longer queries are cut here, in characters.
        max_length: usize = 256,
        /// Pages that are looked at closely, the best by their words and their rank.
        candidates: usize = 5_000,
        /// What is found within this time must do; the answer says so.
        time: Duration = Duration::from_millis(150),
        /// Results of one site on a page of results, while others have some.
        per_site: usize = 2,
        /// What the static rank adds at most to the score by which candidates are chosen.
        rank_weight: f64 = 2.0,
    }
    /// Answers that are known from before.
    cache: CacheConfig {
        /// Memory for them: half for pages of results as they are shown, half for lists of what was found; 0 keeps none.
        memory: Size = Size(64 << 20),
    }
    /// Suggestions while a query is typed.
    suggest: SuggestConfig {
        /// How many are given.
        count: usize = 10,
        /// Titles and anchors that are kept for them, the most frequent and important; a million takes about 100 MB.
        phrases: usize = 1_000_000,
        /// Nothing that contains one of these is suggested.
        block: Vec<String> = Vec::new(),
        /// How often new pages and queries are taken in, at most; no more than a twentieth of the time goes into it.
        refresh: Duration = Duration::from_secs(5),
    }
    /// What was probably meant.
    correct: CorrectConfig {
        /// Asked where a query has fewer results than this; 0 is never.
        below: u64 = 3,
        /// What an edit of a word costs, in logarithms of frequencies: the more, the fewer and the surer corrections.
        edit: f64 = 8.0,
        /// What a Chinese character costs that sounds like the one typed.
        homophone: f64 = 4.0,
    }
    /// Ranking. Every part of a score lies between 0 and 1.
    rank: RankConfig {
        /// How well words fit: bm25, basic-weight (tags, rarity, length), or cosine of binary, tf or tfidf vectors.
        model: RankModel = RankModel::Bm25,
        /// How words, links and clicks are joined: sum, which bounds each, or product.
        combine: Combine = Combine::Sum,
        /// Weights for ordinary queries.
        ordinary: PartWeights = PartWeights::new([0.68, 0.10, 0.10, 0.04, 0.0, 0.08, 0.0]),
        /// Weights for queries that name a site.
        site: PartWeights = PartWeights::new([0.20, 0.05, 0.15, 0.05, 0.47, 0.08, 0.0]),
        /// Weights for queries that want what is new.
        news: PartWeights = PartWeights::new([0.48, 0.08, 0.10, 0.03, 0.0, 0.06, 0.25]),
        /// BM25: how soon more of a word adds no more.
        k1: f64 = 1.5,
        /// BM25: how much the length of a page counts.
        b: f64 = 0.75,
        /// BM25: how much the length of a page counts by itself.
        k2: f64 = 0.0,
        /// BM25: how soon more of a word in the query adds no more.
        k3: f64 = 100.0,
        /// What a word counts in the title, beside 1 in the body.
        title: f64 = 3.0,
        /// … in the address.
        address: f64 = 1.0,
        /// … in what other pages call it.
        anchor: f64 = 1.0,
        /// … in headings.
        heading: f64 = 1.0,
        /// … in emphasised words.
        emphasis: f64 = 1.0,
        /// Basic weight: longer pages count as this long, in terms (Smax).
        longest: f64 = 100_000.0,
        /// A page is half as fresh after this time.
        half_life: Duration = Duration::from_secs(30 * 86_400),
        /// What yesterday's clicks count today.
        click_decay: f64 = 0.9,
        /// What a page without clicks begins with, as a part of the best.
        click_start: f64 = 0.1,
        /// Sites, folders or addresses whose score is raised, and by how much: `docs.example.org 0.1`.
        boost: Vec<String> = Vec::new(),
        /// Sites, folders or addresses that are not shown.
        block: Vec<String> = Vec::new(),
    }
    /// The web page.
    web: WebConfig {
        /// Address and port to listen on.
        listen: String = "127.0.0.1:8080".into(),
        /// A proxy of yours stands in front: visits are told apart by the address that it names (X-Forwarded-For).
        behind_proxy: bool = false,
        /// Longest time a request may take.
        timeout: Duration = Duration::from_secs(10),
        /// How visitors reach it: scheme and host, and nothing behind; empty takes it from each request.
        base_url: String = String::new(),
        /// PEM file with the certificate chain: with it and key, the page is served over TLS. Read anew when it changes.
        certificate: String = String::new(),
        /// PEM file with the private key of the certificate.
        key: String = String::new(),
        /// Connections that may be open at once; more wait to be let in. One address has a sixteenth of them at most.
        connections: usize = 12_000,
        /// Longest time a client may take to send the head of a request.
        head_timeout: Duration = Duration::from_secs(10),
        /// A connection on which nothing is asked is closed after this long.
        idle_timeout: Duration = Duration::from_secs(75),
        /// Bytes of the head of a request.
        head_limit: Size = Size(32 << 10),
        /// Queries that may wait for their turn; more are told to come back later (503). What is known from before is
        /// answered all the same.
        waiting: usize = 512,
        /// Requests a second that one address may make on average; more are told to come back later (429). 0 is no limit.
        /// Requests from this machine are not counted.
        rate: u32 = 20,
        /// Requests that one address may make at once before rate counts.
        burst: u32 = 100,
        /// What becomes of addresses that visitors submit: off, propose (an operator decides) or add (fetched at once).
        submit: Submit = Submit::Propose,
        /// Submissions that may wait for a decision; more are refused.
        submissions: usize = 1_000,
        /// Submissions an hour that one address may make; 0 is no limit.
        submit_rate: u32 = 20,
        /// Keys of which the API asks one (header API-Key, or Authorization: Bearer); none leaves it open to all.
        api_keys: Vec<String> = Vec::new(),
        /// Requests a second that one key may make on average, instead of rate. 0 is no limit.
        key_rate: u32 = 100,
        /// Sites, with scheme and host, whose pages may use the API from a browser (CORS); * is all.
        cors: Vec<String> = Vec::new(),
        /// Who answers for this engine, shown to webmasters; empty shows crawl.contact.
        contact: String = String::new(),
    }
    /// The operator's desk at /admin.
    desk: DeskConfig {
        /// Whether there is one.
        enabled: bool = true,
        /// Addresses that it answers to, as in 10.0.0.0/8; by default this machine only.
        allow: Vec<String> = vec!["127.0.0.0/8".into(), "::1/128".into()],
        /// Who does nothing there for so long has to log in again; from a minute to 7 days.
        session: Duration = Duration::from_secs(12 * 3600),
    }
    /// The running engine.
    engine: EngineConfig {
        /// Threads that analyse pages; 0 is one per core.
        threads: usize = 0,
        /// Bytes of pages that may wait between two stages.
        queue: Size = Size(64 << 20),
        /// The crawl pauses while less disk space than this is free.
        disk_floor: Size = Size(512 << 20),
    }
    /// What is asked, shown and clicked, written down.
    log: LogConfig {
        /// Write down queries, what was shown, what was clicked, and the state of the machine.
        enabled: bool = true,
        /// Logs are removed when they are this old; 0 keeps them for ever.
        keep_for: Duration = Duration::from_secs(90 * 86_400),
        /// Delete so many digits in a row, or two more with single spaces, dots or hyphens between them, from queries
        /// before they are written (identity cards, telephones); 0 deletes none.
        scrub_digits: usize = 7,
        /// Visits are told apart by a keyed hash; the key is thrown away after this long, and with it every link between
        /// what was asked before and after.
        key_lifetime: Duration = Duration::from_secs(24 * 3600),
        /// How often the state of the machine is written down.
        slot: Duration = Duration::from_secs(60),
        /// Bytes of lines that may wait for the disk; what is more is lost and counted.
        queue: Size = Size(4 << 20),
        /// Write down every request, without what was asked and from which address.
        access: bool = true,
    }
    /// What people ask for most, and what they ask for next.
    hot: HotConfig {
        /// Queries that are shown.
        shown: usize = 10,
        /// Queries that each bucket hands to the heap (K).
        k: usize = 100,
        /// Buckets that queries are counted in.
        buckets: usize = 256,
        /// How often the heap is built anew from the buckets.
        interval: Duration = Duration::from_secs(10),
        /// Only what so many different visits asked is ever shown to others.
        min_visits: usize = 3,
        /// Days of logs that are remembered.
        days: u32 = 7,
        /// Different queries that are remembered; the least asked are forgotten first.
        max_queries: usize = 100_000,
        /// Of the logs, so much is read at the start, the newest first.
        read_limit: Size = Size(256 << 20),
        /// What rises fastest is (now + smoothing) / (expected + smoothing): the larger, the less a few queries mean.
        smoothing: f64 = 5.0,
        /// Queries of a visit follow each other when no more time than this lies between them.
        follow_within: Duration = Duration::from_secs(30 * 60),
    }
}

impl Config {
    /// Reads a configuration file's text on top of what is there. `file` names it in messages.
    pub fn read_toml(&mut self, file: &str, text: &str) -> Result<(), ConfigError> {
        let place =
            |at: usize| format!("{file} line {}", text[..at.min(text.len())].matches('\n').count() + 1);
        let root = DeTable::parse(text).map_err(|e| ConfigError::Syntax {
            place: place(e.span().map_or(0, |s| s.start)),
            message: e.message().to_string(),
        })?;
        for (section, value) in root.get_ref() {
            let DeValue::Table(table) = value.get_ref() else {
                return Err(unknown_key(place(section.span().start), section.get_ref()));
            };
            for (key, value) in table {
                let name = format!("{}.{}", section.get_ref(), key.get_ref());
                match self.set_value(&name, value.get_ref()) {
                    None => return Err(unknown_key(place(key.span().start), &name)),
                    Some(Err(expected)) => {
                        let place = place(key.span().start);
                        return Err(wrong_value(place, &name, expected, &text[value.span()]));
                    }
                    Some(Ok(())) => {}
                }
            }
        }
        Ok(())
    }

    /// Takes `PHAROS_SECTION_KEY` variables. `reserved` names the ones that mean something else.
    pub fn read_environment(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
        reserved: &[&str],
    ) -> Result<(), ConfigError> {
        for (variable, text) in variables {
            let Some(rest) = variable.strip_prefix("PHAROS_") else { continue };
            if reserved.contains(&variable.as_str()) {
                continue;
            }
            let place = format!("environment variable {variable}");
            let named = variable.to_ascii_uppercase();
            match KEYS.iter().find(|key| environment_name(key.name) == named) {
                Some(key) => self.set(key.name, &text, &place)?,
                None => return Err(unknown_key(place, &rest.to_ascii_lowercase())),
            }
        }
        Ok(())
    }

    /// Sets one key from text; `place` says where it came from (a flag, a variable).
    pub fn set(&mut self, name: &str, text: &str, place: &str) -> Result<(), ConfigError> {
        match self.set_text(name, text) {
            None => Err(unknown_key(place.to_string(), name)),
            Some(Ok(())) => Ok(()),
            Some(Err(expected)) => Err(wrong_value(place.to_string(), name, expected, text)),
        }
    }
}

fn wrong_value(place: String, key: &str, expected: String, found: &str) -> ConfigError {
    // Messages are read by more people than the file.
    let found = if is_secret(key) { "what is there" } else { found };
    ConfigError::WrongValue { place, key: key.to_string(), expected, found: found.to_string() }
}

fn unknown_key(place: String, key: &str) -> ConfigError {
    let flat = key.replace('.', "_");
    let nearest = KEYS
        .iter()
        .map(|k| k.name)
        .max_by(|a, b| {
            let likeness = |name: &str| strsim::jaro_winkler(&name.replace('.', "_"), &flat);
            likeness(a).total_cmp(&likeness(b))
        })
        .unwrap_or_default();
    ConfigError::UnknownKey { place, key: key.to_string(), nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        config.read_toml("pharos.toml", text).map(|()| config)
    }

    #[test]
    fn an_empty_file_is_the_defaults() {
        assert_eq!(read("").unwrap(), Config::default());
    }

    #[test]
    fn values_of_every_kind_are_read() {
        let config = read(
            "[crawl]\nscope = \"domain\"\nmax_pages = 10\nbody_limit = \"2MB\"\nconnect_timeout = \"1500ms\"\n\
             allow_private = true\nresolve = [\"a:80:127.0.0.1\"]\n",
        )
        .unwrap();
        assert_eq!(config.crawl.scope, Scope::Domain);
        assert_eq!(config.crawl.max_pages, 10);
        assert_eq!(config.crawl.body_limit, Size(2 << 20));
        assert_eq!(config.crawl.connect_timeout, Duration::from_millis(1500));
        assert!(config.crawl.allow_private);
        assert_eq!(config.crawl.resolve, ["a:80:127.0.0.1"]);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_nearest() {
        let error = read("[crawl]\n# a comment\nmax_page = 3\n").unwrap_err().to_string();
        assert!(error.starts_with("pharos.toml line 3: unknown key `crawl.max_page`"), "{error}");
        assert!(error.contains("`crawl.max_pages`"), "{error}");
        assert!(read("colour = 1").unwrap_err().to_string().contains("unknown key `colour`"));
        assert!(read("[kraul]\nscope = 1").unwrap_err().to_string().contains("`crawl.scope`"));
    }

    #[test]
    fn a_wrong_value_is_named_with_what_was_expected() {
        let error = read("\n[crawl]\nmax_pages = \"many\"\n").unwrap_err().to_string();
        assert_eq!(error, "pharos.toml line 3: `crawl.max_pages` must be a whole number, not `\"many\"`");
        assert!(read("[crawl]\nscope = \"world\"").unwrap_err().to_string().contains("host, domain or any"));
        assert!(read("[crawl]\nmax_depth = -1").is_err());
        let error = read("[web]\napi_keys = \"a secret\"").unwrap_err().to_string();
        assert!(error.contains("`web.api_keys` must be") && !error.contains("secret"), "{error}");
        assert!(read("[crawl\n").unwrap_err().to_string().starts_with("pharos.toml line 1: "));
    }

    #[test]
    fn the_environment_and_flags_override() {
        let mut config = read("[crawl]\nmax_pages = 1\n").unwrap();
        let variables = [("PHAROS_CRAWL_MAX_PAGES", "7"), ("PHAROS_LONG", "1"), ("HOME", "/")];
        let variables = variables.map(|(k, v)| (k.to_string(), v.to_string()));
        config.read_environment(variables, &["PHAROS_LONG"]).unwrap();
        assert_eq!(config.crawl.max_pages, 7);
        config.set("crawl.max_pages", "9", "--max-pages").unwrap();
        assert_eq!(config.crawl.max_pages, 9);
        let error = config.read_environment([("PHAROS_CRAWL_PAGES".into(), "1".into())], &[]).unwrap_err();
        assert!(error.to_string().contains("environment variable PHAROS_CRAWL_PAGES"));
    }

    #[test]
    fn printed_values_read_back_as_themselves() {
        let config = Config::default();
        for key in KEYS {
            let (section, name) = key.name.split_once('.').unwrap();
            let text = format!("[{section}]\n{name} = {}\n", config.get(key.name).unwrap());
            assert_eq!(read(&text).unwrap(), config, "{text}");
            assert!(!key.meaning.trim().is_empty());
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,120}") {
            let _ = read(&text);
            let _ = read(&format!("[crawl]\nscope = {text}"));
        }
    }
}
