//! Configuration: every key with its default and meaning, declared in one table.
//!
//! A value comes from one of four sources, in order of increasing precedence: the default declared here,
//! `pharos.toml`, the environment (`PHAROS_CRAWL_MAX_PAGES` sets `crawl.max_pages`) and the command line. An unknown
//! key or a value of the wrong type is an error that names the key, the line and the most similar known key.

mod address_range;
mod politeness;
mod read;
mod score_weights;
mod value;

use std::time::Duration;

use toml::de::DeValue;

use crate::schedule::{Recurrence, Zone};

pub use address_range::{AddressRanges, TrustedProxies, parse_address_range};
pub use politeness::PolitenessLimits;
pub use read::ConfigError;
pub use score_weights::ScoreWeights;
pub use value::{
    ByteSize, CrawlMode, InsertedVisit, LibraryFormat, LinkScope, PolitenessProfile, RankModel,
    RefreshPolicyName, RestartPolicy, ScoreCombination, SettingValue, SmtpSecurity, StrategyName,
    SubmissionPolicy,
};

/// A configuration key or section with its meaning, as printed by `pharos config`.
#[derive(Clone, Copy, Debug)]
pub struct ConfigKey {
    /// `section.name`, or the name of a section.
    pub name: &'static str,
    pub meaning: &'static str,
}

/// Time at which a running process applies a changed setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakesEffect {
    /// As soon as the configuration file is saved.
    AtOnce,
    /// At the start of the next crawl.
    NextCrawl,
    /// At the next start of the process.
    NextStart,
}

/// Returns the time at which a running process applies a change of the setting `key`.
pub fn takes_effect(key: &str) -> TakesEffect {
    match key {
        "crawl.agent" | "crawl.mode" | "crawl.run_for" | "crawl.strategy" | "crawl.restart"
        | "crawl.alpha" | "crawl.beta" | "crawl.alternate" | "crawl.queue_ratio" | "crawl.seen_memory" => {
            TakesEffect::NextCrawl
        }
        // The result page shows icons from the next start on.
        "crawl.icons" => TakesEffect::NextStart,
        "engine.disk_floor" | "index.build_every" | "index.build_at" | "index.latest_share"
        | "index.first_build" => TakesEffect::AtOnce,
        _ if ["crawl.", "refresh.", "rank.", "backup.", "alerts."]
            .iter()
            .any(|section| key.starts_with(section)) =>
        {
            TakesEffect::AtOnce
        }
        _ => TakesEffect::NextStart,
    }
}

/// Returns `true` if the value of `key` must be shown only to operators who may change it.
pub fn is_secret(key: &str) -> bool {
    matches!(key, "web.api_keys" | "alerts.smtp_password" | "alerts.webhook")
}

/// Returns the environment variable that sets a key: `PHAROS_CRAWL_MAX_PAGES` for `crawl.max_pages`.
pub fn environment_name(key: &str) -> String {
    format!("PHAROS_{}", key.replace('.', "_").to_ascii_uppercase())
}

/// Declares the sections of the configuration: struct, defaults, documentation and access by name from one list.
macro_rules! settings {
    ($( $(#[doc = $section_doc:literal])+ $section:ident: $Section:ident {
        $( $(#[doc = $doc:literal])+ $key:ident: $kind:ty = $default:expr, )+
    } )+) => {
        /// The complete configuration.
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

        /// All configuration keys.
        pub const KEYS: &[ConfigKey] = &[ $( $( ConfigKey {
            name: concat!(stringify!($section), ".", stringify!($key)),
            meaning: concat!($($doc),+),
        }, )+ )+ ];

        /// All sections of the configuration.
        pub const SECTIONS: &[ConfigKey] =
            &[ $( ConfigKey { name: stringify!($section), meaning: concat!($($section_doc),+) }, )+ ];

        /// Returns the valid values of a key if they are few and have names.
        pub fn choices(name: &str) -> &'static [&'static str] {
            match name {
                $( $( concat!(stringify!($section), ".", stringify!($key)) => <$kind as SettingValue>::choices(), )+ )+
                _ => &[],
            }
        }

        impl Config {
            /// Returns the value of a key as TOML.
            pub fn get(&self, name: &str) -> Option<String> {
                match name {
                    $( $( concat!(stringify!($section), ".", stringify!($key)) => Some(self.$section.$key.to_toml()), )+ )+
                    _ => None,
                }
            }

            fn set_value(&mut self, name: &str, value: &DeValue<'_>) -> Option<Result<(), String>> {
                match name {
                    $( $( concat!(stringify!($section), ".", stringify!($key)) =>
                        Some(SettingValue::from_toml(value).map(|v| self.$section.$key = v)
                            .ok_or_else(<$kind as SettingValue>::expected)), )+ )+
                    _ => None,
                }
            }

            fn set_text(&mut self, name: &str, text: &str) -> Option<Result<(), String>> {
                match name {
                    $( $( concat!(stringify!($section), ".", stringify!($key)) =>
                        Some(SettingValue::from_text(text).map(|v| self.$section.$key = v)
                            .ok_or_else(<$kind as SettingValue>::expected)), )+ )+
                    _ => None,
                }
            }
        }
    };
}

settings! {
    /// Crawling: scope, politeness, limits, retries and refresh.
    crawl: CrawlConfig {
        /// Email address or page where site owners can reach the operator; required to crawl public addresses.
        contact: String = String::new(),
        /// Product name of the crawler: the user agent that robots.txt rules are matched against.
        agent: String = "Pharos".into(),
        /// Links that are followed from the seeds: same host (host), same registrable domain (domain) or all (any).
        scope: LinkScope = LinkScope::Host,
        /// Treatment of known pages in a new crawl: incremental fetches them when they are due, batch fetches
        /// everything again from the seeds.
        mode: CrawlMode = CrawlMode::Incremental,
        /// Maximum number of stored pages before the crawl stops; 0 means no limit.
        max_pages: u64 = 0,
        /// Maximum link distance from a seed (17 covers every page a person finds: Chinese web survey).
        max_depth: u32 = 17,
        /// URL patterns to follow, matched against the whole URL, with * for any characters; an empty list follows all.
        include: Vec<String> = Vec::new(),
        /// URL patterns never to follow, written as in include.
        exclude: Vec<String> = Vec::new(),
        /// Substrings of URLs never to follow, case-insensitive; the name tse adds the 25 filters of Tianwang's
        /// TSE.
        filter: Vec<String> = Vec::new(),
        /// Media types to store, such as text/html or text/*; an empty list stores every readable document type.
        types: Vec<String> = Vec::new(),
        /// Sites or domains on which the order of query parameters has no meaning: the parameters are sorted.
        sorted_sites: Vec<String> = Vec::new(),
        /// Guide words of a topical crawl: pages about them, and the pages they link to, are fetched first. Used by the strategies importance, hot-queue and alternate only.
        guide_words: Vec<String> = Vec::new(),
        /// Also try the parent directories of each discovered page: /a/ suggests /.
        parent_directories: bool = false,
        /// Read the sitemaps that sites provide.
        sitemaps: bool = true,
        /// Fetch the icon of each site (/favicon.ico) and show it beside its results; Pharos serves it, so that users
        /// send no request to the site.
        icons: bool = false,
        /// Fetch from these IP networks only, such as 162.105.0.0/16; an empty list allows all.
        allow_addresses: Vec<String> = Vec::new(),
        /// Never fetch from these IP networks, such as 162.105.0.0/16.
        forbid_addresses: Vec<String> = Vec::new(),
        /// Maximum number of stored pages per site; 0 means no limit.
        max_pages_per_site: u64 = 0,
        /// Maximum duration of a crawl; 0 means no limit.
        run_for: Duration = Duration::ZERO,
        /// Stop the crawl when the data directory exceeds this size; 0 means no limit.
        max_disk: ByteSize = ByteSize(0),
        /// Crawl order: breadth-first, depth-first, importance, alternate, hot-queue, site-first or worm.
        strategy: StrategyName = StrategyName::BreadthFirst,
        /// Starting point of a resumed crawl: all known pages not yet fetched (known), or the seeds only (seeds; RBSE).
        restart: RestartPolicy = RestartPolicy::Known,
        /// Importance of a page: weight of the link score (alpha) and of the URL score (beta).
        alpha: u32 = 1,
        /// Importance of a page: weight of the URL score; see alpha.
        beta: u32 = 1,
        /// Alternate strategy: pages taken by weight, then pages taken at random, in turn (TSE).
        alternate: Vec<u32> = vec![1, 1],
        /// Hot-queue strategy: pages taken from each queue in turn, hottest queue first.
        queue_ratio: Vec<u32> = vec![10, 1],
        /// Hosts or domains whose pages get a higher weight. Used by the strategies importance, hot-queue and alternate only.
        important_sites: Vec<String> = Vec::new(),
        /// Languages and charsets whose pages get a higher weight, such as zh and gb18030. Used by the strategies importance, hot-queue and alternate only.
        wanted: Vec<String> = Vec::new(),
        /// Memory of the filter of seen links, which saves most catalog lookups.
        seen_memory: ByteSize = ByteSize(32 << 20),
        /// Politeness profile: gentle, normal or own-site; the next three keys define the profiles.
        politeness: PolitenessProfile = PolitenessProfile::Normal,
        /// Gentle profile: 10 s between requests by day and 1 s by night (or 30 s always), 100 times the duration of
        /// the last fetch (at most 5 minutes), 20,000 pages per site per day.
        gentle: PolitenessLimits = PolitenessLimits::GENTLE,
        /// Normal profile: 1 s between requests, or 10 times the duration of the last fetch (at most 5 minutes).
        normal: PolitenessLimits = PolitenessLimits::NORMAL,
        /// Own-site profile: no delay and no limit, for servers you operate.
        own_site: PolitenessLimits = PolitenessLimits::OWN_SITE,
        /// Maximum request rate of a domain with many sites, as a multiple of the rate of one site.
        sites_per_domain: usize = 8,
        /// Settings per host: HOST with any of zone=+08:00 politeness=gentle delay=5s connections=2 max_pages=1000
        /// sorted window=mon-fri/22:00-06:00; HOST may be *.example.org. A host with windows is fetched only within
        /// them; zone may also be a name such as Europe/Berlin.
        site_settings: Vec<String> = Vec::new(),
        /// Scheduled visits, each WHEN TARGET: WHEN is a time of day (03:30), with days (mon-fri 03:30), an interval (6h)
        /// or one date and time (2026-12-24T22:00); TARGET is a host or a URL pattern with *.
        recrawl: Vec<String> = Vec::new(),
        /// Time zone of crawl windows and all other schedules, such as Europe/Berlin or +08:00; empty uses the zone of
        /// the machine.
        time_zone: Zone = Zone::default(),
        /// Treat a robots.txt request rejected with 401 or 403 as allowing everything, as in RFC 9309; false treats it as
        /// forbidding everything.
        robots_forbidden_is_allowed: bool = true,
        /// Time for which an expired robots.txt stays in force while the server does not return a new one.
        robots_stale: Duration = Duration::from_secs(7 * 24 * 3600),
        /// Use HTTP/2 with servers that offer it.
        http2: bool = true,
        /// PEM file of certificate authorities to trust in addition to the public ones.
        extra_ca: String = String::new(),
        /// Minimum transfer rate of a response body in bytes per second, averaged over low_speed_time; slower bodies
        /// are truncated. 0 disables the check.
        low_speed: ByteSize = ByteSize(100),
        /// Averaging window of low_speed.
        low_speed_time: Duration = Duration::from_secs(30),
        /// Upper limit of a Crawl-delay in robots.txt; longer delays are reduced to it.
        max_crawl_delay: Duration = Duration::from_secs(60),
        /// Maximum number of concurrent requests over all hosts. A running crawl rereads it on SIGHUP.
        fetchers: usize = 64,
        /// Maximum number of concurrent requests to one host.
        connections_per_host: usize = 1,
        /// Maximum size of a response body; longer bodies are truncated.
        body_limit: ByteSize = ByteSize(5 << 20),
        /// Timeout of a connection, including DNS lookup and TLS handshake.
        connect_timeout: Duration = Duration::from_secs(10),
        /// Timeout of the first byte of a response.
        first_byte_timeout: Duration = Duration::from_secs(30),
        /// Timeout of a complete response.
        total_timeout: Duration = Duration::from_secs(120),
        /// Maximum length of a redirect chain.
        max_redirects: u32 = 5,
        /// Maximum number of attempts for a page that fails without a response.
        max_attempts: u32 = 3,
        /// Delay before the second attempt; each further delay is four times longer.
        retry_delay: Duration = Duration::from_secs(60),
        /// Pages of a site that are fetched although they contain nothing new; each page with new content adds ten. 0
        /// means no limit.
        site_budget: u64 = 1_000,
        /// Refresh interval of a page; 0 never refreshes.
        refresh: Duration = Duration::from_secs(7 * 86_400),
        /// Refresh interval of the home page of a site.
        refresh_home: Duration = Duration::from_secs(86_400),
        /// Refresh interval of hub pages, where new pages of a site appear first.
        refresh_hub: Duration = Duration::from_secs(86_400),
        /// Refresh interval of sitemaps and news feeds.
        refresh_feed: Duration = Duration::from_secs(6 * 3600),
        /// Minimum refresh interval of any page (refreshing too often is provably harmful: Cho 2003).
        refresh_at_most_every: Duration = Duration::from_secs(3600),
        /// Delay before a missing page (404) is fetched once more; if it is still missing, it leaves the index. It is then
        /// checked at intervals that double, up to 32 times this delay, and dropped.
        gone_after: Duration = Duration::from_secs(86_400),
        /// Lifetime of a fetched robots.txt (RFC 9309: at most 24 hours).
        robots_lifetime: Duration = Duration::from_secs(24 * 3600),
        /// Also fetch from private and loopback addresses.
        allow_private: bool = false,
        /// HOST:PORT:ADDR: use this address for this host and port, as in curl.
        resolve: Vec<String> = Vec::new(),
        /// HOST1:PORT1:HOST2:PORT2: connect to the second instead of the first, as in curl.
        connect_to: Vec<String> = Vec::new(),
    }
    /// Refresh of known pages: the policy that decides when a page is fetched again.
    refresh: RefreshConfig {
        /// Policy: uniform (the fixed intervals crawl.refresh*), lag (shortest wait of changes, by learned change rates),
        /// proportional, paper, freshness or harmonic.
        policy: RefreshPolicyName = RefreshPolicyName::Uniform,
        /// Visits to known pages per day that the policy plans; 0 plans as many as the fixed intervals crawl.refresh* make.
        budget: u64 = 0,
        /// Maximum refresh interval: no page is left unvisited for longer.
        longest: Duration = Duration::from_secs(90 * 86_400),
        /// Weights by site or URL pattern, one per line: `www.example.org 4`, `https://www.example.org/news/* 8`. The first line
        /// that matches decides. Pages of weight 4 are visited twice as often under the policy lag.
        weights: Vec<String> = Vec::new(),
        /// Interval at which weights are computed from popular queries, clicks and links; 0 ignores all three.
        interest_every: Duration = Duration::from_secs(3600),
        /// Paper policy: place of the additional visit after a change, midpoint or golden-section.
        inserted_visit: InsertedVisit = InsertedVisit::Midpoint,
    }
    /// The library of raw pages.
    library: LibraryConfig {
        /// Size at which a library volume is closed and a new one is started.
        file_size: ByteSize = ByteSize(1 << 30),
        /// Compression of records: gzip (`.warc.gz`, readable by every tool) or zstd (`.warc.zst`).
        format: LibraryFormat = LibraryFormat::Gzip,
        /// Compression level of records: gzip 1 (fast) to 12 (small), zstd 1 to 19.
        level: u32 = 1,
        /// Store the request headers with each response.
        requests: bool = true,
        /// Number of newest versions of a page that compaction keeps; 0 keeps all.
        keep_versions: u32 = 0,
        /// Age up to which compaction keeps versions that are no longer current; 0 keeps them without limit.
        keep_for: Duration = Duration::ZERO,
    }
    /// Page cleaning and keyword extraction.
    clean: CleanConfig {
        /// Rules that locate the main content: `pharos`, `score-tables` (of 《走进搜索引擎》§3.2.3), or a
        /// file.
        rules: String = "pharos".into(),
        /// Share of a site's other pages that must contain a line for a history build to drop it as boilerplate; 0
        /// keeps all lines.
        template: f64 = 0.3,
        /// Propagation distance of emphasis, in levels: neighbours of the block, then neighbours of the enclosing block
        /// (levels).
        levels: usize = 2,
        /// Weight above which a block does not propagate emphasis (cap).
        cap: f64 = 50.0,
        /// Number of keywords per page (α, absolute selection).
        keywords: usize = 10,
        /// Minimum weight of a keyword as a multiple of the average weight (β, relative selection).
        keyword_factor: f64 = 0.0,
        /// Table algorithm (`eval clean --rules tables`): minimum width of a topic block in pixels (δ1).
        delta1: f64 = 300.0,
        /// Table algorithm: minimum width of a topic block in percent of the page (δ2).
        delta2: f64 = 50.0,
        /// Table algorithm: minimum height of a topic block in percent of the page (δ3).
        delta3: f64 = 50.0,
    }
    /// Link analysis and duplicate detection.
    graph: GraphConfig {
        /// PageRank: probability that a reader follows a link instead of jumping to a random page (damping factor).
        damping: f64 = 0.85,
        /// PageRank: total change of all probabilities in one iteration at which the computation ends (epsilon).
        epsilon: f64 = 1e-10,
        /// PageRank: maximum number of iterations.
        max_rounds: usize = 200,
        /// Memory for sorting links, and the same again for ordering anchors; the rest spills to disk. The graph itself
        /// is not bounded by it and takes about 8 bytes per link plus 400 bytes per page.
        memory: ByteSize = ByteSize(128 << 20),
        /// Maximum number of anchors kept per page; more add no information.
        max_anchors: usize = 32,
        /// Age below which a page is compensated for links it cannot have yet.
        new_page: Duration = Duration::from_secs(30 * 86_400),
    }
    /// The index.
    index: IndexConfig {
        /// Memory of the index writer.
        memory: ByteSize = ByteSize(128 << 20),
        /// Interval at which fetched pages become searchable.
        commit_every: Duration = Duration::from_millis(1000),
        /// Maximum length of indexed text per page; longer texts are truncated.
        body_limit: ByteSize = ByteSize(1 << 20),
        /// Age of history at which `up` builds a new one, which bounds the time span of latest; 0 disables this
        /// trigger.
        build_every: Duration = Duration::from_secs(86_400),
        /// Times at which `up` builds a new history if pages are new: a time of day (03:30), with days (sun 03:30), or an
        /// interval (12h); off adds none. The other triggers stay in force unless they are 0.
        build_at: Recurrence = Recurrence::Never,
        /// Size of latest, as a share of the pages of history (and at least 10,000 pages), at which `up` builds a new
        /// history; 0 disables this trigger.
        latest_share: f64 = 0.25,
        /// Number of searchable pages at which `up` builds the first history, which adds link ranks, anchors and
        /// duplicate groups; it is built earlier once every known page is fetched. 0 disables this trigger.
        first_build: u64 = 1_000,
        /// Number of pages after which a build saves its progress; a killed build resumes from there. A save takes a
        /// second.
        save_every: u64 = 20_000,
    }
    /// Query evaluation.
    query: QueryConfig {
        /// Results per result page.
        page_size: usize = 10,
        /// Maximum number of results that can be paged through (26 pages of ten).
        max_results: usize = 256,
        /// Maximum query length in characters; longer queries are truncated.
        max_length: usize = 256,
        /// Number of candidates that are ranked in full, chosen by term score and static rank.
        candidates: usize = 5_000,
        /// Time budget of a query; when it expires, the results so far are returned and marked as partial.
        time: Duration = Duration::from_millis(150),
        /// Number of pages with all words below which pages with only some of the words are results, too; 0 requires all
        /// words.
        partial_below: usize = 50,
        /// Minimum share of the words on such a page, by their rarity, relative to the best match.
        min_coverage: f64 = 0.5,
        /// Minimum number of words of a query for which the frequent words of the best results count, too (pseudo-relevance
        /// feedback, RM3); 0 disables it.
        feedback_words: usize = 5,
        /// Maximum number of results per site on a result page, while other sites have results.
        per_site: usize = 2,
        /// Maximum contribution of the static rank to the score that selects candidates.
        rank_weight: f64 = 2.0,
    }
    /// Query caches.
    cache: CacheConfig {
        /// Memory for the caches: half for rendered result pages, half for result lists; 0 disables them.
        memory: ByteSize = ByteSize(64 << 20),
    }
    /// Suggestions while a query is typed.
    suggest: SuggestConfig {
        /// Number of suggestions.
        count: usize = 10,
        /// Number of titles and anchors kept as suggestions, most frequent and important first; one million takes about
        /// 100 MB.
        phrases: usize = 1_000_000,
        /// Suggestions that contain one of these strings are suppressed.
        block: Vec<String> = Vec::new(),
        /// Minimum interval between updates from new pages and queries; updates use at most a twentieth of the time.
        refresh: Duration = Duration::from_secs(5),
    }
    /// Spelling correction (did you mean).
    correct: CorrectConfig {
        /// Number of results below which a correction is offered; 0 disables corrections.
        below: u64 = 3,
        /// Cost of an edit of one word, in log frequency; a higher cost gives fewer and safer corrections.
        edit: f64 = 8.0,
        /// Cost of replacing a Chinese character by one with the same pronunciation.
        homophone: f64 = 4.0,
    }
    /// Ranking. Every feature of a score lies between 0 and 1.
    rank: RankConfig {
        /// Term scoring model: bm25, basic-weight (tags, rarity, length), or the cosine of binary, tf or tfidf vectors.
        model: RankModel = RankModel::Bm25,
        /// Combination of the term, link and click scores: sum, which bounds each of them, or product.
        combine: ScoreCombination = ScoreCombination::Sum,
        /// Feature weights for ordinary queries.
        ordinary: ScoreWeights = ScoreWeights::new([0.68, 0.10, 0.10, 0.04, 0.0, 0.06, 0.0, 0.02]),
        /// Feature weights for queries that name a site.
        site: ScoreWeights = ScoreWeights::new([0.20, 0.05, 0.15, 0.05, 0.47, 0.06, 0.0, 0.02]),
        /// Feature weights for queries about recent events.
        news: ScoreWeights = ScoreWeights::new([0.48, 0.08, 0.10, 0.03, 0.0, 0.04, 0.25, 0.02]),
        /// BM25: saturation of term frequency.
        k1: f64 = 2.0,
        /// BM25: document length normalisation.
        b: f64 = 0.75,
        /// BM25: weight of the document length correction term.
        k2: f64 = 0.0,
        /// BM25: saturation of term frequency in the query.
        k3: f64 = 100.0,
        /// Weight of a term in the title, relative to 1 in the body.
        title: f64 = 3.0,
        /// Weight of a term in the URL.
        address: f64 = 1.0,
        /// Weight of a term in the anchor texts of other pages.
        anchor: f64 = 1.0,
        /// Weight of a term in headings.
        heading: f64 = 1.0,
        /// Weight of a term in emphasised text.
        emphasis: f64 = 1.0,
        /// Basic weight: maximum page length that is taken into account, in terms (Smax).
        longest: f64 = 100_000.0,
        /// Half-life of the freshness score.
        half_life: Duration = Duration::from_secs(30 * 86_400),
        /// Factor by which the weight of clicks decreases per day.
        click_decay: f64 = 0.9,
        /// Initial click score of a page without clicks, as a share of the highest.
        click_start: f64 = 0.1,
        /// Weight of the words of queries that led to a page, for queries without clicks of their own, as a share of the
        /// click weight; 0 uses only the clicks for any query.
        click_words: f64 = 0.5,
        /// Sites, directories or URLs whose score is raised, with the amount: `docs.example.org 0.1`.
        boost: Vec<String> = Vec::new(),
        /// Sites, directories or URLs that are excluded from results.
        block: Vec<String> = Vec::new(),
    }
    /// The web server.
    web: WebConfig {
        /// Address and port to listen on.
        listen: String = "127.0.0.1:8080".into(),
        /// Addresses or networks of the proxies in front of the server, such as 127.0.0.1: their headers
        /// X-Forwarded-For, -Proto, -Host and Forwarded identify the client; those of others are ignored. true means
        /// all local and private networks, and will be removed.
        behind_proxy: TrustedProxies = TrustedProxies::default(),
        /// Maximum duration of a request.
        timeout: Duration = Duration::from_secs(10),
        /// Public scheme and host of the server, without a path; empty derives it from each request.
        base_url: String = String::new(),
        /// Further host names of the server, such as search.lan: without base_url, links to this server use the
        /// requested host only if it is listed here, or a name or address of the machine itself.
        hosts: Vec<String> = Vec::new(),
        /// Client networks that may read /metrics; clients with an API key may, too.
        metrics_allow: AddressRanges = AddressRanges::loopback(),
        /// PEM file with the certificate chain: together with key it enables TLS. The file is reloaded when it changes.
        certificate: String = String::new(),
        /// PEM file with the private key of the certificate.
        key: String = String::new(),
        /// Maximum number of open connections; further connections wait. One client address may hold at most a
        /// sixteenth of them.
        connections: usize = 12_000,
        /// Maximum time a client may take to send the request headers.
        head_timeout: Duration = Duration::from_secs(10),
        /// Time after which an idle connection is closed.
        idle_timeout: Duration = Duration::from_secs(75),
        /// Maximum size of the request headers.
        head_limit: ByteSize = ByteSize(32 << 10),
        /// Maximum number of queued queries; further queries are rejected with 503. Cached results are served in any
        /// case.
        waiting: usize = 512,
        /// Maximum time to render a stored page (cached page, cleaned view); a page that takes longer is refused.
        view_timeout: Duration = Duration::from_secs(5),
        /// Memory for rendered pages.
        view_cache: ByteSize = ByteSize(32 << 20),
        /// Average number of requests per second allowed per client address; further requests are rejected with 429. 0
        /// means no limit. Requests from the local machine are not counted.
        rate: u32 = 20,
        /// Number of requests a client address may send at once before rate applies.
        burst: u32 = 100,
        /// Treatment of URLs submitted by visitors: off, propose (an operator decides) or add (fetched at once).
        submit: SubmissionPolicy = SubmissionPolicy::Propose,
        /// Maximum number of submissions waiting for a decision; further ones are rejected.
        submissions: usize = 1_000,
        /// Submissions per hour allowed per client address; 0 means no limit.
        submit_rate: u32 = 20,
        /// Accept IndexNow notices of changed pages (/indexnow) from webmasters of crawled sites who prove it with a key file.
        indexnow: bool = false,
        /// API keys, one of which a client must send (header API-Key, or Authorization: Bearer). Keys with name and
        /// scope are on the page API keys of the desk. Without any key the API is open to all.
        api_keys: Vec<String> = Vec::new(),
        /// Average number of requests per second allowed per API key, in place of rate. 0 means no limit.
        key_rate: u32 = 100,
        /// Origins (scheme and host) whose pages may call the API from a browser (CORS); * allows all.
        cors: Vec<String> = Vec::new(),
        /// Contact shown to webmasters; empty shows crawl.contact.
        contact: String = String::new(),
    }
    /// The operator's desk at /admin.
    desk: DeskConfig {
        /// Serve the desk.
        enabled: bool = true,
        /// Client networks that may use the desk, such as 10.0.0.0/8; the default is the local machine only.
        allow: Vec<String> = vec!["127.0.0.0/8".into(), "::1/128".into()],
        /// Idle time after which an operator has to log in again; from a minute to 7 days.
        session: Duration = Duration::from_secs(12 * 3600),
    }
    /// The running engine.
    engine: EngineConfig {
        /// Number of analysis threads; 0 means one per core.
        threads: usize = 0,
        /// Maximum size in bytes of the pages queued between two stages.
        queue: ByteSize = ByteSize(64 << 20),
        /// Maximum time to analyse one page; a page that takes longer is quarantined.
        page_time: Duration = Duration::from_secs(10),
        /// Free disk space below which the crawl pauses.
        disk_floor: ByteSize = ByteSize(512 << 20),
    }
    /// Alerts of a running engine, shown on the desk and sent to a webhook or by mail.
    alerts: AlertsConfig {
        /// URL to which each new alert is sent as a JSON POST; empty sends none.
        webhook: String = String::new(),
        /// Mail addresses to which each new alert is sent.
        mail_to: Vec<String> = Vec::new(),
        /// Sender address of the mails.
        mail_from: String = String::new(),
        /// Mail server, HOST:PORT, such as mail.example.org:587.
        smtp_server: String = String::new(),
        /// Encryption of the connection to the mail server: starttls (usually port 587), tls (port 465) or none.
        smtp_security: SmtpSecurity = SmtpSecurity::StartTls,
        /// User name at the mail server; empty sends without authentication.
        smtp_user: String = String::new(),
        /// Password at the mail server. It is sent over encrypted connections only.
        smtp_password: String = String::new(),
        /// Also send to a webhook or mail server with a private or loopback address.
        allow_private: bool = false,
        /// Time without any fetched page, while pages are queued, after which the crawl counts as stalled; 0 disables
        /// this alert.
        stalled_after: Duration = Duration::from_secs(30 * 60),
        /// Free disk space below which an alert is raised; 0 disables it.
        disk_free: ByteSize = ByteSize(1 << 30),
        /// Share of requests without a response, among at least 50 of the last ten minutes, above which an alert is
        /// raised; 0 disables it.
        error_rate: f64 = 0.5,
        /// Remaining lifetime of web.certificate below which an alert is raised; 0 disables it.
        certificate_left: Duration = Duration::from_secs(14 * 86_400),
        /// Share of queries without results, among at least 50 of the last hour, above which an alert is raised if it
        /// has also risen by half; 0 disables it.
        no_results: f64 = 0.3,
        /// Delay of a scheduled backup after which an alert is raised; 0 disables it.
        backup_overdue: Duration = Duration::from_secs(6 * 3600),
        /// Time for which the cause of an alert must be absent before the alert ends; later it may be sent again.
        clear_after: Duration = Duration::from_secs(600),
    }
    /// Backups made by a running engine.
    backup: BackupConfig {
        /// Directory of the backups, best on another disk; empty makes none. Each backup has a directory of its own there.
        directory: String = String::new(),
        /// Times of the backups: a time of day (03:30), with days (sat,sun 03:30), or an interval (6h); off makes none.
        schedule: Recurrence = Recurrence::Never,
        /// Number of backups to keep in the directory; older ones are deleted. 0 keeps all.
        keep: usize = 7,
    }
    /// Query log, access log and system log.
    log: LogConfig {
        /// Log queries, impressions, clicks and the state of the system.
        enabled: bool = true,
        /// Age at which logs are deleted; 0 keeps them without limit.
        keep_for: Duration = Duration::from_secs(90 * 86_400),
        /// Minimum length of a run of digits that is removed from logged queries, or two more with single spaces, dots
        /// or hyphens between them (identity cards, telephone numbers); 0 removes none.
        scrub_digits: usize = 7,
        /// Lifetime of the key of the hash that identifies visits; discarding the key breaks every link between earlier
        /// and later queries of a visitor.
        key_lifetime: Duration = Duration::from_secs(24 * 3600),
        /// Interval of the system log.
        slot: Duration = Duration::from_secs(60),
        /// Maximum size in bytes of log lines waiting to be written; further lines are dropped and counted.
        queue: ByteSize = ByteSize(4 << 20),
        /// Log every request, without query and client address.
        access: bool = true,
        /// Minimum number of visits with the same query before the query enters the click graph and exports (k-anonymity).
        k: usize = 3,
    }
    /// Click graph: what clicks say about queries and pages.
    clicks: ClicksConfig {
        /// Time after which a click counts half.
        half_life: Duration = Duration::from_secs(30 * 86_400),
        /// Number of transitions of a random walk (t).
        steps: usize = 2,
        /// Probability that a walk stays where it is in one transition (s).
        stay: f64 = 0.0,
        /// Minimum closeness of a query to the leader of its cluster.
        cluster: f64 = 0.2,
        /// Number of queries of a page below which its click words are discounted (Good–Turing).
        cutoff: usize = 5,
        /// Weight of random walks among the signs of related queries and similar pages; 0 uses none.
        related: f64 = 0.3,
        /// Greatest share by which satisfied clicks raise the weight of a suggested query, and missing ones lower it; 0
        /// counts searches only.
        satisfied: f64 = 0.5,
        /// Minimum number of visits that asked for an unknown word before a build adds it to the vocabulary; 0 learns no
        /// words and removes those learnt before.
        learn_words: usize = 10,
    }
    /// Hot queries and related queries.
    hot: HotConfig {
        /// Number of hot queries to show.
        shown: usize = 10,
        /// Number of queries that each bucket passes to the heap (K).
        k: usize = 100,
        /// Number of buckets in which queries are counted.
        buckets: usize = 256,
        /// Interval at which the heap is rebuilt from the buckets.
        interval: Duration = Duration::from_secs(10),
        /// Minimum number of distinct visits with the same query before the query is shown to others.
        min_visits: usize = 3,
        /// Days of logs to keep in memory.
        days: u32 = 7,
        /// Maximum number of distinct queries in memory; the least frequent are evicted first.
        max_queries: usize = 100_000,
        /// Maximum amount of log data to read at start, newest first.
        read_limit: ByteSize = ByteSize(256 << 20),
        /// Rising queries are ranked by (now + smoothing) / (expected + smoothing): a higher value gives less weight to
        /// a few queries.
        smoothing: f64 = 5.0,
        /// Maximum time between two queries of a visit for the second to count as a follow-up.
        follow_within: Duration = Duration::from_secs(30 * 60),
    }
}
