//! May we ask at all: robots.txt (RFC 9309).

use std::time::Duration;

use pharos_core::PageUrl;
use pharos_store::{Response, RobotsState};

/// How much of a file is read (RFC 9309 §2.5: at least 500 KiB).
pub const ROBOTS_LIMIT: usize = 500 << 10;
/// The canonical form of the longest address there is; a rule with more letters matches nothing.
const MAX_PATTERN: usize = 3 * 2_048;
/// Nobody means more than this by `Crawl-delay`.
const MAX_DELAY: f64 = 86_400.0;

/// The rules of one server for one crawler.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

/// `Allow` or `Disallow`, with the path in canonical form: a `*` in it is always a wildcard.
#[derive(Clone, Debug, PartialEq)]
struct Rule {
    allow: bool,
    pattern: String,
    anchored: bool,
}

/// Rules under the names they are for.
#[derive(Default)]
struct Group {
    agents: Vec<Vec<u8>>,
    rules: Vec<Rule>,
    /// Has a rule come, if only an empty one? Then the next name begins another group.
    ruled: bool,
    crawl_delay: Option<Duration>,
}

/// Is this the address of a robots.txt? Such an address is never a page.
pub fn is_robots_txt(url: &PageUrl) -> bool {
    url.as_url().path() == "/robots.txt"
}

/// What an answer to the question for robots.txt means (RFC 9309 §2.3.1); `None` for a redirect, which means
/// nothing by itself.
pub fn robots_state(response: &Response) -> Option<RobotsState> {
    match response.status {
        200..=299 => Some(RobotsState::Known(response.content(ROBOTS_LIMIT))),
        300..=399 => None,
        429 => Some(RobotsState::Unreachable),
        400..=499 => Some(RobotsState::Missing),
        _ => Some(RobotsState::Unreachable),
    }
}

impl Robots {
    /// Everything is allowed, as where there is no robots.txt.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Nothing is allowed, as where robots.txt cannot be had.
    pub fn forbid_all() -> Self {
        let everything = Rule { allow: false, pattern: "/".into(), anchored: false };
        Self { rules: vec![everything], crawl_delay: None }
    }

    /// What a known, missing or unreachable file means for us.
    pub fn of(state: &RobotsState, agent: &str) -> Self {
        match state {
            RobotsState::Missing => Self::allow_all(),
            RobotsState::Unreachable => Self::forbid_all(),
            RobotsState::Known(file) => Self::parse(file, agent),
        }
    }

    /// Reads a file, keeping what concerns `agent`: all groups under the most specific name that is ours, or else
    /// those under `*`.
    pub fn parse(file: &[u8], agent: &str) -> Self {
        let agent = product_token(agent.as_bytes()).to_ascii_lowercase();
        let groups = groups(file);
        let closeness = |group: &Group| group.agents.iter().filter_map(|name| closeness(name, &agent)).max();
        let best = groups.iter().filter_map(closeness).max();
        let mut robots = Self::default();
        for group in groups.into_iter().filter(|group| best.is_some() && closeness(group) == best) {
            robots.rules.extend(group.rules);
            robots.crawl_delay = robots.crawl_delay.max(group.crawl_delay);
        }
        robots
    }

    /// May this page be asked for?
    pub fn allows(&self, url: &PageUrl) -> bool {
        self.refusal(url).is_none()
    }

    /// The rule that forbids this page, as one would write it: `Disallow: /private/`.
    pub fn refusal(&self, url: &PageUrl) -> Option<String> {
        if is_robots_txt(url) {
            return None;
        }
        let path = canonical(url.path_and_query().as_bytes(), false);
        let longest = self
            .rules
            .iter()
            .filter(|rule| rule.matches(&path))
            .max_by_key(|r| (r.pattern.len(), r.allow))?;
        let end = if longest.anchored { "$" } else { "" };
        let shown = &longest.pattern[..longest.pattern.len().min(200)];
        (!longest.allow).then(|| format!("Disallow: {shown}{end}"))
    }

    /// `Crawl-delay`: not in the RFC, but many sites say it and mean it.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Bytes it takes in memory, more or less.
    pub(crate) fn weight(&self) -> usize {
        self.rules.iter().map(|rule| size_of::<Rule>() + rule.pattern.len()).sum::<usize>()
            + size_of::<Self>()
    }
}

impl Rule {
    /// The rule of a path as written; none where it can never matter.
    fn new(allow: bool, path: &[u8]) -> Option<Self> {
        let (path, anchored) = match path.strip_suffix(b"$") {
            Some(path) => (path, true),
            None => (path, false),
        };
        let pattern = canonical(path, true);
        let letters = pattern.len() - pattern.bytes().filter(|b| *b == b'*').count();
        (letters <= MAX_PATTERN && (anchored || !pattern.is_empty())).then_some(Self {
            allow,
            pattern,
            anchored,
        })
    }

    fn matches(&self, path: &str) -> bool {
        let Some((first, others)) = self.pattern.split_once('*') else {
            return if self.anchored { path == self.pattern } else { path.starts_with(&self.pattern) };
        };
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let mut parts = others.split('*').peekable();
        while let Some(part) = parts.next() {
            // The leftmost place is always right, except for the last part of a rule that ends in `$`.
            if parts.peek().is_none() && self.anchored {
                return rest.ends_with(part);
            }
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    }
}

/// Splits a file into groups. A group begins with one or more names and goes on to the next name after a rule.
fn groups(file: &[u8]) -> Vec<Group> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let file = &file[..file.len().min(ROBOTS_LIMIT)];
    let mut groups: Vec<Group> = Vec::new();
    for line in file.split(|b| matches!(b, b'\r' | b'\n')) {
        let Some((key, value)) = key_and_value(line) else { continue };
        let key = key.to_ascii_lowercase();
        if key == b"user-agent" && groups.last().is_none_or(|group| group.ruled) {
            groups.push(Group::default());
        }
        // Rules before the first name are for nobody.
        let Some(group) = groups.last_mut() else { continue };
        match key.as_slice() {
            b"user-agent" => group.agents.push(agent_name(value)),
            b"allow" | b"disallow" => {
                group.ruled = true;
                group.rules.extend(Rule::new(key == b"allow", value));
            }
            b"crawl-delay" => group.crawl_delay = seconds(value).or(group.crawl_delay),
            _ => {}
        }
    }
    groups
}

fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.split(|b| *b == b'#').next()?;
    let colon = line.iter().position(|b| *b == b':')?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

fn seconds(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds.min(MAX_DELAY)).ok()
}

/// `*`, or the product token in lower case: `foobot` of `FooBot/1.2 (news)`.
fn agent_name(value: &[u8]) -> Vec<u8> {
    let name = if value.first() == Some(&b'*') { &value[..1] } else { product_token(value) };
    name.to_ascii_lowercase()
}

fn product_token(text: &[u8]) -> &[u8] {
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    &text[..text.iter().take_while(|b| is_token(b)).count()]
}

/// How closely a group's name fits ours: `*` barely, the beginning of our name up to a hyphen better, all of it best.
fn closeness(name: &[u8], agent: &[u8]) -> Option<usize> {
    if name == b"*" {
        return Some(0);
    }
    let rest = agent.strip_prefix(name).filter(|_| !name.is_empty())?;
    matches!(rest.first(), None | Some(b'-' | b'_')).then_some(name.len())
}

/// One spelling per path (RFC 9309 §2.2.2): unreserved characters plainly, everything else percent-encoded in upper
/// case; `/`, `?`, `&` and `=` stand for themselves where they are written plainly, except a `/` after the `?`.
/// In a rule a plain `*` stays, as a wildcard.
fn canonical(path: &[u8], is_rule: bool) -> String {
    let hex = |at: usize| path.get(at).and_then(|b| char::from(*b).to_digit(16));
    let mut out = String::with_capacity(path.len());
    let mut in_query = false;
    let mut at = 0;
    while at < path.len() {
        let (byte, was_escaped) = match (path[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => ((high * 16 + low) as u8, true),
            (byte, ..) => (byte, false),
        };
        at += if was_escaped { 3 } else { 1 };
        let plain = match byte {
            b'-' | b'.' | b'_' | b'~' => true,
            b'/' => !was_escaped && !in_query,
            b'?' | b'&' | b'=' => !was_escaped,
            b'*' if is_rule && !was_escaped => {
                // `a**b` means what `a*b` does, and is slower.
                if !out.ends_with('*') {
                    out.push('*');
                }
                continue;
            }
            _ => byte.is_ascii_alphanumeric(),
        };
        in_query |= byte == b'?' && !was_escaped;
        if plain {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend(
                [byte >> 4, byte & 15].map(|digit| char::from(b"0123456789ABCDEF"[usize::from(digit)])),
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(path: &str) -> PageUrl {
        PageUrl::parse(&format!("http://example.org{path}")).unwrap()
    }

    fn allowed(file: &str, agent: &str, path: &str) -> bool {
        Robots::parse(file.as_bytes(), agent).allows(&url(path))
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

    /// RFC 9309 §2.2.1: groups for one name are one group; `*` counts only where no name fits.
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
        assert!(allowed(file, "botany", "/a"), "another word");
        assert!(allowed("disallow: /\n", "a", "/x"), "rules before the first name are for nobody");
        assert!(
            !allowed("user-agent: a\nsitemap: x\n\nuser-agent: b\ndisallow: /", "a", "/x"),
            "other lines divide nothing"
        );
        assert!(
            allowed("user-agent: a\ndisallow:\nuser-agent: b\ndisallow: /", "a", "/x"),
            "an empty rule does"
        );
    }

    /// RFC 9309 §2.2.3, and the table of §2.2.2: escaped and plain spellings meet.
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
        let robots = Robots::parse(file.as_bytes(), "Pharos");
        assert!(!robots.allows(&url("/a")) && robots.allows(&url("/b")));
        assert_eq!(robots.crawl_delay(), Some(Duration::from_millis(2500)));
        assert_eq!(robots.refusal(&url("/abc")).unwrap(), "Disallow: /a");
        for nonsense in ["-1", "nan", "inf soon", "", "1e999"] {
            let delay = Robots::parse(format!("user-agent: *\ncrawl-delay: {nonsense}").as_bytes(), "a")
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
            robots_state(&Response { status, body, ..Response::default() })
        };
        let page = |state: &RobotsState, path: &str| Robots::of(state, "Pharos").allows(&url(path));
        let absent = answer(404).unwrap();
        assert_eq!(absent, RobotsState::Missing);
        assert!(page(&absent, "/x") && page(&absent, "/y"));
        // A timeout is recorded as unreachable, and that is not "no restrictions".
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
    fn robots_txt_itself_may_always_be_read() {
        assert!(Robots::forbid_all().allows(&url("/robots.txt")));
        assert!(!Robots::forbid_all().allows(&url("/")));
    }

    proptest! {
        #[test]
        fn no_file_panics(file in proptest::collection::vec(any::<u8>(), 0..400), path in "/[ -~]{0,40}") {
            let text = [b"user-agent: *\ndisallow: ".as_slice(), &file].concat();
            for file in [&file, &text] {
                let _ = Robots::parse(file, "Pharos").refusal(&url(&path));
            }
        }

        #[test]
        fn a_rule_made_of_the_path_forbids_it(path in "/[a-z0-9/?=&.%*$ ~-]{0,30}", cut in 0..30usize) {
            let page = url(&path);
            let whole = page.path_and_query().replace('*', "%2A").replace('$', "%24");
            let beginning = &whole[..whole.floor_char_boundary(cut.max(1))];
            // Half an escape is another text.
            let beginning = match beginning.rfind('%') {
                Some(escape) if escape + 3 > beginning.len() => &beginning[..escape],
                _ => beginning,
            };
            for rule in [whole.clone(), format!("{whole}$"), format!("*{whole}"), beginning.to_string()] {
                let file = format!("user-agent: *\ndisallow: {rule}");
                prop_assert!(!Robots::parse(file.as_bytes(), "a").allows(&page), "{}", rule);
            }
        }
    }
}
