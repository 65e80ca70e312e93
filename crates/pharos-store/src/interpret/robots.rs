//! robots.txt (RFC 9309): parsing and matching.

mod file;
mod rule;
#[cfg(test)]
mod suites;

use std::time::Duration;

use pharos_core::PageUrl;

use self::file::match_length;
pub use self::file::product_token;
use self::rule::{PathRule, canonical};
use super::status::{StatusMeaning, is_forbidden, is_partial, is_success};
use crate::catalog::RobotsState;
use crate::library::TruncationReason;
use crate::{RawResponse, RecordKind};

/// Maximum number of bytes read from a file (RFC 9309 §2.5: at least 500 KiB).
pub const ROBOTS_LIMIT: usize = 500 << 10;
/// Maximum number of rules with wildcards that are matched in full, since each is compared with the whole path of each
/// page. More of them are an attack.
const MAX_WILDCARD_RULES: usize = 2_000;
/// Rules of a server that denies access to its robots.txt, where the operator treats that as a refusal.
const FORBID_ALL: &[u8] = b"User-agent: *\nDisallow: /";

/// The rules of one server for one crawler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RobotsRules {
    /// User agent of the selected group.
    agent: String,
    rules: Vec<PathRule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

/// The rule that decides about a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidingRule {
    /// User agent of its group: the crawler's name, or `*`.
    pub agent: String,
    /// The rule as written in a file: `Disallow: /private/`.
    pub rule: String,
    pub allows: bool,
}

/// Returns the meaning of a response to a robots.txt request (RFC 9309 §2.3.1), or `None` for a redirect.
///
/// A file that breaks off counts as unreachable (§2.3.1.4): the rules that are missing may be the ones that forbid. A
/// file longer than [`ROBOTS_LIMIT`] is whole up to there. `forbidden_is_allowed` is
/// `crawl.robots_forbidden_is_allowed`.
pub fn robots_state(response: &RawResponse, forbidden_is_allowed: bool) -> Option<RobotsState> {
    match StatusMeaning::from_status(response.status) {
        StatusMeaning::Content => {
            Some(whole_file(response).map_or(RobotsState::Unreachable, RobotsState::Known))
        }
        StatusMeaning::Moved | StatusMeaning::NotModified => None,
        StatusMeaning::Denied if is_forbidden(response.status) && !forbidden_is_allowed => {
            Some(RobotsState::Known(FORBID_ALL.to_vec()))
        }
        StatusMeaning::Missing | StatusMeaning::Gone | StatusMeaning::Denied => Some(RobotsState::Missing),
        StatusMeaning::RateLimited | StatusMeaning::Unavailable | StatusMeaning::ServerError => {
            Some(RobotsState::Unreachable)
        }
    }
}

/// Returns the file of a successful response, or `None` if a part of it is missing.
fn whole_file(response: &RawResponse) -> Option<Vec<u8>> {
    match response.truncated {
        _ if is_partial(response.status) => None,
        Some(TruncationReason::Disconnect | TruncationReason::Time) => None,
        Some(TruncationReason::Length) => Some(response.content(ROBOTS_LIMIT).into_owned()),
        None => response.intact_content(ROBOTS_LIMIT).map(|file| file.into_owned()),
    }
}

/// Returns the reason why a response makes a robots.txt unreachable.
pub fn unreachable_reason(response: &RawResponse) -> String {
    match response.truncated {
        _ if !is_success(response.status) || is_partial(response.status) => {
            format!("status {}", response.status)
        }
        Some(TruncationReason::Time) => "the file was received too slowly".into(),
        Some(_) => "the connection was lost before the end of the file".into(),
        None => "the compressed file is damaged or ends too early".into(),
    }
}

impl RobotsRules {
    /// Returns rules that allow everything, as for a missing robots.txt.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Returns rules that forbid everything, as for an unreachable robots.txt.
    pub fn forbid_all() -> Self {
        Self::parse(FORBID_ALL, "")
    }

    /// Returns the rules of a known, missing or unreachable file.
    pub fn from_state(state: &RobotsState, agent: &str) -> Self {
        match state {
            RobotsState::Missing => Self::allow_all(),
            RobotsState::Unreachable => Self::forbid_all(),
            RobotsState::Known(file) => Self::parse(file, agent),
        }
    }

    /// Parses a file for `agent`: all groups with the most specific matching name, or else those for `*`. Sitemaps
    /// apply to every agent.
    pub fn parse(file: &[u8], agent: &str) -> Self {
        let ours = product_token(agent.as_bytes()).to_ascii_lowercase();
        let file = file::parse_file(file);
        let agents = file.groups.iter().flat_map(|group| &group.agents);
        let best = agents.filter_map(|agent| match_length(&agent.name, &ours)).max();
        let mut robots = Self { sitemaps: file.sitemaps, ..Self::default() };
        let Some(best) = best else { return robots };
        robots.agent =
            if best == 0 { "*".into() } else { String::from_utf8_lossy(&ours[..best]).into_owned() };
        for group in file.groups {
            let named = group.agents.iter().filter(|agent| match_length(&agent.name, &ours) == Some(best));
            let mut named = named.peekable();
            if named.peek().is_some() {
                robots.crawl_delay =
                    named.fold(robots.crawl_delay, |longest, agent| longest.max(group.crawl_delay(agent)));
                robots.rules.extend(group.rules);
            }
        }
        robots.limit_wildcards();
        robots
    }

    /// Simplifies the rules with wildcards beyond [`MAX_WILDCARD_RULES`] so that no forbidden page becomes allowed:
    /// `Disallow` matches more, and `Allow` is dropped.
    fn limit_wildcards(&mut self) {
        let mut wildcard_rules = 0;
        self.rules.retain_mut(|rule| {
            wildcard_rules += usize::from(rule.has_wildcard());
            if !rule.has_wildcard() || wildcard_rules <= MAX_WILDCARD_RULES {
                return true;
            }
            rule.widen();
            !rule.allow
        });
    }

    /// Returns `true` if this page may be fetched.
    pub fn allows(&self, url: &PageUrl) -> bool {
        self.decide(url).is_none_or(|rule| rule.allow)
    }

    /// Returns the rule that forbids this page, as written in a file: `Disallow: /private/`.
    pub fn refusal(&self, url: &PageUrl) -> Option<String> {
        self.decide(url).filter(|rule| !rule.allow).map(PathRule::to_string)
    }

    /// Returns the rule that decides about this page, or `None` if no rule matches and the page is allowed.
    pub fn deciding_rule(&self, url: &PageUrl) -> Option<DecidingRule> {
        let rule = self.decide(url)?;
        Some(DecidingRule { agent: self.agent.clone(), rule: rule.to_string(), allows: rule.allow })
    }

    /// Returns the longest match. A robots.txt itself may always be fetched.
    fn decide(&self, url: &PageUrl) -> Option<&PathRule> {
        if RecordKind::of_url(url) == RecordKind::Robots {
            return None;
        }
        let path = canonical(url.path_and_query().as_bytes(), false);
        self.rules.iter().filter(|rule| rule.matches(&path)).max_by_key(|rule| rule.precedence())
    }

    /// Returns the `Crawl-delay`, which is not part of the RFC but widely used.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Returns the URLs of `Sitemap` lines as written.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Returns the approximate size in memory, in bytes.
    pub fn memory_size(&self) -> usize {
        let rules = self.rules.iter().map(PathRule::memory_size).sum::<usize>();
        let sitemaps = self.sitemaps.iter().map(|s| s.len() + size_of::<String>()).sum::<usize>();
        rules + sitemaps + size_of::<Self>()
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://example.org{path}")).unwrap()
    }

    fn allowed(file: &str, agent: &str, path: &str) -> bool {
        RobotsRules::parse(file.as_bytes(), agent).allows(&url(path))
    }

    /// RFC 9309 §5.1.
    #[test]
    fn the_simple_example_of_the_rfc() {
        let file = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
                    User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
                    User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n\
                    User-Agent: quxbot\n";
        for (agent, path, expected) in [
            ("Pharos", "/a.gif", false),
            ("Pharos", "/a.gif?x", true),
            ("Pharos", "/example/x", false),
            ("Pharos", "/publications/a.html", true),
            ("Pharos", "/publications/a.gif", true),
            ("foobot", "/", false),
            ("FooBot", "/example/page.html", true),
            ("foobot", "/example/allowed.gif", true),
            ("foobot", "/a.gif", false),
            ("barbot", "/example/page.html", false),
            ("bazbot", "/example/page.html", false),
            ("bazbot", "/example/other", true),
            ("quxbot", "/example/x", true),
        ] {
            assert_eq!(allowed(file, agent, path), expected, "{agent} {path}");
        }
    }

    /// RFC 9309 §5.2 and §2.2.2: the longest match wins, and Allow among equals.
    #[test]
    fn the_longest_match_wins() {
        let file = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
        assert!(!allowed(file, "foobot", "/example/page/disallowed.gif"));
        assert!(allowed(file, "foobot", "/example/page/x"));
        assert!(allowed("user-agent: *\ndisallow: /page\nallow: /page\n", "a", "/page"));
        assert!(allowed("user-agent: *\nallow: /page\ndisallow: /page\n", "a", "/page"));
        assert!(!allowed("user-agent: *\nallow: /p\ndisallow: /\ndisallow: /pa*e\n", "a", "/page"));
    }

    /// RFC 9309 §2.2.1: groups for one name are merged; `*` applies only if no name matches.
    #[test]
    fn groups_for_one_name_are_merged() {
        let file = "user-agent: a\ndisallow: /c\n\nuser-agent: *\ndisallow: /\n\n\
                    user-agent: b\ndisallow: /e\n\nuser-agent: A/2.0\ndisallow: /d\n";
        for (path, expected) in [("/c", false), ("/d", false), ("/e", true)] {
            assert_eq!(allowed(file, "a", path), expected, "{path}");
        }
        assert!(!allowed(file, "other", "/x"));
        let file = "user-agent: bot\ndisallow: /a\nuser-agent: bot-news\ndisallow: /b\n";
        assert!(
            allowed(file, "bot-news", "/a") && !allowed(file, "bot-news", "/b"),
            "the more specific name"
        );
        assert!(!allowed(file, "bot-images", "/a"), "its family");
        assert!(allowed(file, "botany", "/a"), "a different name");
        assert!(allowed("disallow: /\n", "a", "/x"), "rules before the first user agent apply to no crawler");
        assert!(
            !allowed("user-agent: a\nsitemap: x\n\nuser-agent: b\ndisallow: /", "a", "/x"),
            "other lines end no group"
        );
        assert!(
            allowed("user-agent: a\ndisallow:\nuser-agent: b\ndisallow: /", "a", "/x"),
            "an empty rule ends a group"
        );
    }

    /// RFC 9309 §2.2.3 and the table of §2.2.2: escaped and plain spellings are equal.
    #[test]
    fn wildcards_and_escapes() {
        for (rule, path, expected) in [
            ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true),
            ("/path/foo-%24", "/path/foo-$", true),
            ("/path/foo-$", "/path/foo-$", false),
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz", true),
            ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", true),
            ("/foo/bar/ツ", "/foo/bar/%E3%83%84", true),
            ("/foo/bar/%e3%83%84", "/foo/bar/ツ", true),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz", true),
            ("/foo/bar/baz", "/foo/bar/%62%61%7A", true),
            ("/a%2fb", "/a/b", false),
            ("/a%2fb", "/a%2Fb", true),
            ("/fish", "/fishheads/yummy.html", true),
            ("/fish*", "/fish", true),
            ("/fish/", "/fish", false),
            ("/*.php", "/folder/any.php.file.html", true),
            ("/*.php$", "/filename.php?parameters", false),
            ("/*.php$", "/a.php/b.php", true),
            ("/fish*.php", "/fishheads/catfish.php?parameters", true),
            ("/a**b***$", "/a-b-c", true),
            ("*", "/anything", true),
            ("/$", "/", true),
            ("/$", "/x", false),
            ("$", "/x", false),
            ("/*aa$", "/aaa", true),
            ("/%zz", "/%25zz", true),
        ] {
            assert_eq!(
                !allowed(&format!("user-agent: *\ndisallow: {rule}"), "a", path),
                expected,
                "{rule} on {path}"
            );
        }
    }

    #[test]
    fn every_kind_of_line_is_read() {
        let file =
            "\u{feff}# hello\rUSER-AGENT : Pharos # us\r\n\tDisallow:/a#b\n\n crawl-delay: 2.5\nallow:\n";
        let robots = RobotsRules::parse(file.as_bytes(), "Pharos");
        assert!(!robots.allows(&url("/a")) && robots.allows(&url("/b")));
        assert_eq!(robots.crawl_delay(), Some(Duration::from_millis(2500)));
        assert_eq!(robots.refusal(&url("/abc")).unwrap(), "Disallow: /a");
        for nonsense in ["-1", "nan", "inf soon", "", "1e999"] {
            let delay = RobotsRules::parse(format!("user-agent: *\ncrawl-delay: {nonsense}").as_bytes(), "a")
                .crawl_delay();
            assert!(delay.is_none_or(|d| d <= Duration::from_secs(86_400)), "{nonsense}");
        }
        let far = format!("user-agent: *\n{}disallow: /far", "#\n".repeat(ROBOTS_LIMIT / 2));
        assert!(allowed(&far, "a", "/far"), "only the first 500 KiB count");
        assert!(!allowed("user-agent: *\ndisallow: /caf\u{e9}", "a", "/caf%C3%A9"));
    }

    #[test]
    fn absent_unreachable_and_fetched_are_three_states() {
        let answer = |status: u16| {
            let body = b"user-agent: *\ndisallow: /x".to_vec();
            robots_state(&RawResponse { status, body, ..RawResponse::default() }, true)
        };
        let page =
            |state: &RobotsState, path: &str| RobotsRules::from_state(state, "Pharos").allows(&url(path));
        let absent = answer(404).unwrap();
        assert_eq!(absent, RobotsState::Missing);
        assert!(page(&absent, "/x") && page(&absent, "/y"));
        // A timeout is recorded as unreachable, which does not mean "no restrictions".
        for timed_out in
            [RobotsState::Unreachable, answer(503).unwrap(), answer(429).unwrap(), answer(999).unwrap()]
        {
            assert_eq!(timed_out, RobotsState::Unreachable);
            assert!(!page(&timed_out, "/x") && !page(&timed_out, "/y"));
        }
        let fetched = answer(200).unwrap();
        assert!(!page(&fetched, "/x") && page(&fetched, "/y"));
        assert_eq!(answer(301), None);
    }

    #[test]
    fn a_file_that_breaks_off_is_unreachable() {
        let answer = |status, truncated, headers: &[(&str, &str)], body: &[u8]| {
            let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            let body = body.to_vec();
            RawResponse { status, headers, body, truncated, ..RawResponse::default() }
        };
        let begun = b"user-agent: *\ndisallow: /x\n";
        let gzip = [("content-encoding", "gzip")];
        for (response, reason) in [
            (answer(200, Some(TruncationReason::Disconnect), &[], begun), "connection was lost"),
            (answer(200, Some(TruncationReason::Time), &[], begun), "too slowly"),
            (answer(200, None, &gzip, &[0x1f, 0x8b, 8, 0, 0]), "damaged"),
            (answer(206, None, &[], begun), "status 206"),
            (answer(503, None, &[], begun), "status 503"),
        ] {
            assert_eq!(robots_state(&response, true), Some(RobotsState::Unreachable), "{reason}");
            assert!(unreachable_reason(&response).contains(reason), "{}", unreachable_reason(&response));
        }
        let long = answer(200, Some(TruncationReason::Length), &[], begun);
        assert_eq!(
            robots_state(&long, true),
            Some(RobotsState::Known(begun.to_vec())),
            "a long file is read"
        );
    }

    #[test]
    fn forbidden_robots_files_follow_the_setting() {
        let answer = |status, allowed| {
            robots_state(&RawResponse { status, ..RawResponse::default() }, allowed).unwrap()
        };
        for status in [401, 403] {
            assert_eq!(answer(status, true), RobotsState::Missing);
            assert!(!RobotsRules::from_state(&answer(status, false), "Pharos").allows(&url("/x")));
        }
        assert_eq!(answer(404, false), RobotsState::Missing);
    }

    #[test]
    fn the_deciding_rule_is_returned() {
        let file = "user-agent: *\ndisallow: /\nuser-agent: PHAROS/1.0\nallow: /a/$\ndisallow: /a";
        let robots = RobotsRules::parse(file.as_bytes(), "Pharos");
        let rule_for = |path: &str| {
            robots.deciding_rule(&url(path)).map(|d| format!("{} {} {}", d.agent, d.rule, d.allows))
        };
        assert_eq!(rule_for("/a/").unwrap(), "pharos Allow: /a/$ true");
        assert_eq!(rule_for("/a/b").unwrap(), "pharos Disallow: /a false");
        assert_eq!(rule_for("/b"), None);
        let other = RobotsRules::parse(file.as_bytes(), "Other").deciding_rule(&url("/b")).unwrap();
        assert_eq!((other.agent.as_str(), other.rule.as_str()), ("*", "Disallow: /"));
    }

    #[test]
    fn sitemaps_apply_to_all_agents_and_are_bounded() {
        let long = format!("sitemap: http://a.example/{}\n", "x".repeat(2048));
        let file = format!(
            "Sitemap: http://a.example/1\nuser-agent: x\nsite-map:\thttp://a.example/2 # old\n{long}disallow: /\n\
             sitemap:\n{}",
            "sitemap: http://a.example/n\n".repeat(200)
        );
        let robots = RobotsRules::parse(file.as_bytes(), "Pharos");
        assert_eq!(robots.sitemaps()[..2], ["http://a.example/1", "http://a.example/2"]);
        assert_eq!(robots.sitemaps().len(), 100);
        assert!(robots.allows(&url("/")));
    }

    #[test]
    fn beyond_the_limit_rules_with_wildcards_forbid_more() {
        let many = "disallow: /x*y\n".repeat(MAX_WILDCARD_RULES);
        let file =
            format!("user-agent: *\n{many}disallow: /a*b$\nallow: /a*c*c\ndisallow: /d\nallow: /a/long\n");
        for (path, expected) in
            [("/xy", false), ("/x", true), ("/ab", false), ("/acc", false), ("/d", false), ("/e", true)]
        {
            assert_eq!(allowed(&file, "a", path), expected, "{path}");
        }
        assert!(allowed(&file, "a", "/a/long/b"), "the precedence stays");
    }

    /// Parsing takes at most two steps per byte of the file. A decision takes at most two per byte of the file and of
    /// the path, times the number of rules with wildcards, which is limited.
    #[test]
    fn the_work_on_a_file_is_linear() {
        for length in [8_000, 64_000] {
            let repeat = |line: &str| line.repeat(length / line.len());
            let files = [
                repeat("user-agent: a\n") + &repeat("crawl-delay: 1\n"),
                repeat("user-agent: *\ncrawl-delay: 1\n"),
                repeat("user-agent: *\ndisallow: /a\n"),
                format!("user-agent: *\n{}", repeat("disallow: *b\n")),
                format!("user-agent: *\n{}", repeat("disallow: /*a*b*c$\n")),
                format!("user-agent: *\n{}", repeat("disallow: /aaaaaaaaaaaaaaaaaaaaaaaab\n")),
                format!("user-agent: *\ndisallow: /{}", repeat("*a")),
                format!("user-agent: *\ndisallow: {}", repeat("%2")),
                repeat("sitemap: http://a.example/\n"),
                repeat(":"),
                repeat("#"),
                repeat("\r"),
                repeat("a "),
            ];
            for file in files {
                let (robots, steps) = measure_work(|| RobotsRules::parse(file.as_bytes(), "a"));
                let start = &file[..30];
                assert!(steps <= 2 * file.len() as u64, "{start}: {steps} steps for {} bytes", file.len());
                let wildcards = robots.rules.iter().filter(|rule| rule.has_wildcard()).count();
                let matched = wildcards.min(MAX_WILDCARD_RULES) as u64;
                for path in ["/".to_string() + &"a".repeat(1_900), "/ab".repeat(600)] {
                    let steps = measure_work(|| robots.allows(&url(&path))).1;
                    let limit = 2 * (file.len() as u64 + (1 + matched) * path.len() as u64);
                    assert!(steps <= limit, "{start}: {steps} steps for {} bytes", file.len());
                }
            }
        }
    }

    #[test]
    fn robots_txt_itself_may_always_be_read() {
        assert!(RobotsRules::forbid_all().allows(&url("/robots.txt")));
        assert!(!RobotsRules::forbid_all().allows(&url("/")));
    }

    proptest! {
        #[test]
        fn no_file_panics(file in proptest::collection::vec(any::<u8>(), 0..400), path in "/[ -~]{0,40}") {
            let text = [b"user-agent: *\ndisallow: ".as_slice(), &file].concat();
            for file in [&file, &text] {
                let _ = RobotsRules::parse(file, "Pharos").refusal(&url(&path));
            }
        }

        #[test]
        fn a_rule_made_of_the_path_forbids_it(path in "/[a-z0-9/?=&.%*$ ~-]{0,30}", length in 0..30usize) {
            let page = url(&path);
            let whole = page.path_and_query().replace('*', "%2A").replace('$', "%24");
            let beginning = &whole[..whole.floor_char_boundary(length.max(1))];
            // Half an escape is a different text.
            let beginning = match beginning.rfind('%') {
                Some(escape) if escape + 3 > beginning.len() => &beginning[..escape],
                _ => beginning,
            };
            for rule in [whole.clone(), format!("{whole}$"), format!("*{whole}"), beginning.to_string()] {
                let file = format!("user-agent: *\ndisallow: {rule}");
                prop_assert!(!RobotsRules::parse(file.as_bytes(), "a").allows(&page), "{}", rule);
            }
        }
    }
}
