//! Parses the lines of a robots.txt into groups (RFC 9309 §2.1 and §2.2.1).

use std::time::Duration;

use pharos_core::work::spend_work;

use super::ROBOTS_LIMIT;
use super::rule::PathRule;

/// Maximum number of sitemaps, and maximum length of a sitemap URL.
const MAX_SITEMAPS: usize = 100;
const MAX_SITEMAP_LENGTH: usize = 2_048;
/// Maximum `Crawl-delay`, in seconds.
const MAX_DELAY: f64 = 86_400.0;

/// Content of a robots.txt.
#[derive(Default)]
pub(super) struct ParsedRobots {
    pub(super) groups: Vec<AgentGroup>,
    pub(super) sitemaps: Vec<String>,
}

/// Rules and the user agents they apply to.
#[derive(Default)]
pub(super) struct AgentGroup {
    pub(super) agents: Vec<AgentEntry>,
    pub(super) rules: Vec<PathRule>,
    /// `true` after a rule, even an empty one. The next user agent then starts a new group.
    has_rule: bool,
    /// The last `Crawl-delay` of each sequence of user agents. It applies to that sequence and ends no group.
    delays: Vec<Option<Duration>>,
    /// `true` after a `Crawl-delay`, even an invalid one. The next user agent then starts a new sequence.
    has_delay: bool,
}

/// A user agent in lower case, and the index of its sequence in [`AgentGroup::delays`].
pub(super) struct AgentEntry {
    pub(super) name: Vec<u8>,
    sequence: usize,
}

/// The key of a line.
enum Directive {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

impl Directive {
    /// Parses a key, including the common misspellings that Google's parser accepts.
    fn parse(text: &[u8]) -> Option<Self> {
        Some(match text.to_ascii_lowercase().as_slice() {
            b"user-agent" | b"useragent" | b"user agent" => Self::UserAgent,
            b"allow" => Self::Allow,
            b"disallow" | b"dissallow" | b"dissalow" | b"disalow" | b"diasllow" | b"disallaw" => {
                Self::Disallow
            }
            b"crawl-delay" => Self::CrawlDelay,
            b"sitemap" | b"site-map" => Self::Sitemap,
            _ => return None,
        })
    }
}

/// Parses a file. A group starts with one or more user agents and extends to the next user agent after a rule.
pub(super) fn parse_file(bytes: &[u8]) -> ParsedRobots {
    let bytes = strip_byte_order_mark(bytes);
    let mut file = ParsedRobots::default();
    for line in bytes[..bytes.len().min(ROBOTS_LIMIT)].split(|b| matches!(b, b'\r' | b'\n')) {
        spend_work(1 + line.len() as u64);
        let Some((key, value)) = key_and_value(line) else { continue };
        match key {
            Directive::Sitemap => {
                let address = std::str::from_utf8(value).ok().filter(|a| !a.is_empty());
                let address =
                    address.filter(|a| a.len() <= MAX_SITEMAP_LENGTH && file.sitemaps.len() < MAX_SITEMAPS);
                file.sitemaps.extend(address.map(String::from));
            }
            Directive::UserAgent => {
                if file.groups.last().is_none_or(|group| group.has_rule) {
                    file.groups.push(AgentGroup::default());
                }
                if let Some(group) = file.groups.last_mut() {
                    group.add_agent(value);
                }
            }
            // Rules before the first user agent apply to no crawler.
            key => {
                if let Some(group) = file.groups.last_mut() {
                    group.add_rule(&key, value);
                }
            }
        }
    }
    file
}

impl AgentGroup {
    fn add_agent(&mut self, value: &[u8]) {
        if std::mem::take(&mut self.has_delay) || self.delays.is_empty() {
            self.delays.push(None);
        }
        self.agents.push(AgentEntry { name: agent_name(value), sequence: self.delays.len() - 1 });
    }

    /// Returns the `Crawl-delay` for a user agent of this group.
    pub(super) fn crawl_delay(&self, agent: &AgentEntry) -> Option<Duration> {
        self.delays.get(agent.sequence).copied().flatten()
    }

    fn add_rule(&mut self, key: &Directive, value: &[u8]) {
        match key {
            Directive::Allow | Directive::Disallow => {
                self.has_rule = true;
                self.rules.extend(PathRule::new(matches!(key, Directive::Allow), value));
            }
            Directive::CrawlDelay => {
                self.has_delay = true;
                if let (Some(delay), Some(last)) = (seconds(value), self.delays.last_mut()) {
                    *last = Some(delay);
                }
            }
            Directive::UserAgent | Directive::Sitemap => {}
        }
    }
}

/// Strips the UTF-8 byte order mark, complete or partial.
fn strip_byte_order_mark(bytes: &[u8]) -> &[u8] {
    let mark = b"\xef\xbb\xbf".iter().zip(bytes).take_while(|(mark, byte)| mark == byte).count();
    &bytes[mark..]
}

/// Parses `key: value`, or `key value` if the colon is missing.
fn key_and_value(line: &[u8]) -> Option<(Directive, &[u8])> {
    let line = line.split(|b| *b == b'#').next()?.trim_ascii();
    if let Some(colon) = line.iter().position(|b| *b == b':') {
        return Some((Directive::parse(line[..colon].trim_ascii())?, line[colon + 1..].trim_ascii()));
    }
    let space = line.iter().position(u8::is_ascii_whitespace)?;
    let value = line[space..].trim_ascii();
    let is_one_word = !value.iter().any(u8::is_ascii_whitespace);
    is_one_word.then_some((Directive::parse(&line[..space])?, value))
}

fn seconds(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds.min(MAX_DELAY)).ok()
}

/// Returns `*`, or the product token in lower case: `foobot` of `FooBot/1.2 (news)`.
fn agent_name(value: &[u8]) -> Vec<u8> {
    let name = if value.first() == Some(&b'*') { &value[..1] } else { product_token(value) };
    name.to_ascii_lowercase()
}

/// Returns the product token at the beginning of a user agent (RFC 9309 §2.2.1).
pub fn product_token(text: &[u8]) -> &[u8] {
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    &text[..text.iter().take_while(|b| is_token(b)).count()]
}

/// Returns how specifically a group's name matches: 0 for `*`, more for a prefix up to a hyphen, most for the whole
/// name.
pub(super) fn match_length(name: &[u8], agent: &[u8]) -> Option<usize> {
    if name == b"*" {
        return Some(0);
    }
    let rest = agent.strip_prefix(name).filter(|_| !name.is_empty())?;
    matches!(rest.first(), None | Some(b'-' | b'_')).then_some(name.len())
}
