//! A bounded in-memory cache of robots.txt rules by server.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use lru::LruCache;
use pharos_core::config::CrawlConfig;
use pharos_core::{BackOff, PageUrl, Timestamp};
use pharos_store::catalog::RobotsState;
use pharos_store::interpret::robots::RobotsRules;

/// Maximum number of cached servers.
const MAX_SERVERS: NonZeroUsize = NonZeroUsize::new(16_384).unwrap();
/// Maximum total size of cached rules, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Cached knowledge about a server.
#[derive(Clone, Debug)]
pub(crate) enum RobotsVerdict {
    Rules(Arc<RobotsRules>),
    /// Nothing may be requested before this time.
    NotBefore(Timestamp, RobotsObstacle),
}

/// Reason why a server's rules are unavailable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RobotsObstacle {
    /// The file could not be fetched, for this reason.
    Unreachable(String),
    /// Requests are not permitted, for this reason.
    NoContact(String),
}

impl RobotsObstacle {
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Unreachable(reason) => format!("robots.txt could not be fetched: {reason}"),
            Self::NoContact(reason) => reason.clone(),
        }
    }
}

/// A verdict with its lifetime.
struct CachedVerdict {
    verdict: RobotsVerdict,
    /// Expiry time.
    until: Timestamp,
    /// Time at which the file of these rules was read; `None` if there was no file.
    read_at: Option<Timestamp>,
    failures: u32,
    size: usize,
}

impl CachedVerdict {
    fn new(verdict: RobotsVerdict, until: Timestamp, read_at: Option<Timestamp>, failures: u32) -> Self {
        let rules = if let RobotsVerdict::Rules(rules) = &verdict { rules.memory_size() } else { 0 };
        Self { verdict, until, read_at, failures, size: rules + size_of::<Self>() }
    }

    /// Returns rules from an expired file that may still be used, with the time the file was read.
    fn stale_rules(&self, now: Timestamp, config: &CrawlConfig) -> Option<(Arc<RobotsRules>, Timestamp)> {
        let read_at = self.read_at?;
        let RobotsVerdict::Rules(rules) = &self.verdict else { return None };
        let end = read_at.plus(lifetime(config)).plus(config.robots_stale);
        (end > now).then(|| (rules.clone(), read_at))
    }
}

/// Returns the lifetime of rules: at most 24 hours (RFC 9309 §2.4), and long enough to fetch a page.
fn lifetime(config: &CrawlConfig) -> Duration {
    config.robots_lifetime.clamp(Duration::from_millis(10), Duration::from_secs(24 * 3600))
}

fn retry_wait(config: &CrawlConfig, failures: u32) -> Duration {
    BackOff::PAGE.wait(config.retry_delay.max(Duration::from_secs(1)), failures)
}

/// Verdicts by the URL of the robots.txt; the least recently used are evicted first.
pub(crate) struct RobotsCache {
    servers: LruCache<PageUrl, CachedVerdict>,
    bytes: usize,
}

impl Default for RobotsCache {
    fn default() -> Self {
        Self { servers: LruCache::new(MAX_SERVERS), bytes: 0 }
    }
}

impl RobotsCache {
    /// Returns the verdict on a server, unless it is unknown or expired.
    pub(crate) fn get(&mut self, robots_txt: &PageUrl, now: Timestamp) -> Option<RobotsVerdict> {
        self.servers.get(robots_txt).filter(|cached| cached.until > now).map(|cached| cached.verdict.clone())
    }

    /// Lets blocked servers be requested again at once, because the settings changed.
    pub(crate) fn end_blocks(&mut self) {
        for (_, cached) in self.servers.iter_mut() {
            if matches!(cached.verdict, RobotsVerdict::NotBefore(..)) {
                cached.until = Timestamp::EPOCH;
            }
        }
    }

    /// Returns the number of consecutive failures of a server.
    pub(crate) fn failures(&self, robots_txt: &PageUrl) -> u32 {
        self.servers.peek(robots_txt).map_or(0, |cached| cached.failures)
    }

    /// Adds the reason to the verdict on an unreachable server.
    pub(crate) fn set_reason(&mut self, robots_txt: &PageUrl, why: &str) {
        if let Some(cached) = self.servers.peek_mut(robots_txt)
            && let RobotsVerdict::NotBefore(_, RobotsObstacle::Unreachable(reason)) = &mut cached.verdict
        {
            *reason = why.to_string();
        }
    }

    /// Stores the result of a robots.txt request.
    pub(crate) fn update(
        &mut self,
        robots_txt: &PageUrl,
        state: &RobotsState,
        at: Timestamp,
        config: &CrawlConfig,
    ) {
        let cached = self.servers.peek(robots_txt);
        let old = cached.and_then(|cached| cached.stale_rules(at, config));
        match (state, old) {
            // RFC 9309 §2.3.1.4 permits a cached copy while the file is unreachable.
            (RobotsState::Unreachable, Some((rules, read_at))) => {
                let failures = cached.map_or(0, |cached| cached.failures) + 1;
                let until = at.plus(retry_wait(config, failures));
                self.insert(
                    robots_txt,
                    CachedVerdict::new(RobotsVerdict::Rules(rules), until, Some(read_at), failures),
                );
            }
            (RobotsState::Unreachable, None) => {
                self.block(robots_txt, RobotsObstacle::Unreachable("no response".into()), at, config)
            }
            (state, _) => {
                let verdict = RobotsVerdict::Rules(Arc::new(RobotsRules::from_state(state, &config.agent)));
                let read_at = matches!(state, RobotsState::Known(_)).then_some(at);
                let until = at.plus(lifetime(config));
                self.insert(robots_txt, CachedVerdict::new(verdict, until, read_at, 0));
            }
        }
    }

    /// Blocks a server for a while; longer after each failure.
    pub(crate) fn block(
        &mut self,
        robots_txt: &PageUrl,
        obstacle: RobotsObstacle,
        at: Timestamp,
        config: &CrawlConfig,
    ) {
        let failures = self.servers.peek(robots_txt).map_or(0, |cached| cached.failures) + 1;
        let until = at.plus(retry_wait(config, failures));
        self.insert(
            robots_txt,
            CachedVerdict::new(RobotsVerdict::NotBefore(until, obstacle), until, None, failures),
        );
    }

    fn insert(&mut self, robots_txt: &PageUrl, mut cached: CachedVerdict) {
        cached.size += 2 * robots_txt.as_str().len();
        self.bytes += cached.size;
        // The replaced verdict on this server, or the evicted one on another.
        if let Some((_, old)) = self.servers.push(robots_txt.clone(), cached) {
            self.bytes -= old.size;
        }
        while self.bytes > MAX_BYTES && self.servers.len() > 1 {
            self.bytes -= self.servers.pop_lru().map_or(0, |(_, cached)| cached.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn robots_txt(host: usize) -> PageUrl {
        PageUrl::parse(&format!("http://h{host}.example/robots.txt")).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn rules_are_cached_for_their_lifetime() {
        let config = CrawlConfig { robots_lifetime: Duration::from_secs(100), ..Default::default() };
        let mut cached = RobotsCache::default();
        cached.update(&robots_txt(1), &RobotsState::Missing, at(0), &config);
        assert!(matches!(cached.get(&robots_txt(1), at(99)), Some(RobotsVerdict::Rules(_))));
        assert!(cached.get(&robots_txt(1), at(100)).is_none());
        assert!(cached.get(&robots_txt(2), at(1)).is_none());
    }

    #[test]
    fn an_unreachable_server_is_retried_less_and_less_often() {
        let config = CrawlConfig { retry_delay: Duration::from_secs(10), ..Default::default() };
        let mut cached = RobotsCache::default();
        let mut waits = Vec::new();
        for _ in 0..3 {
            cached.update(&robots_txt(1), &RobotsState::Unreachable, at(0), &config);
            match cached.get(&robots_txt(1), at(1)) {
                Some(RobotsVerdict::NotBefore(until, RobotsObstacle::Unreachable(_))) => {
                    waits.push(until.seconds())
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(waits, [10, 40, 160]);
        cached.update(&robots_txt(1), &RobotsState::Missing, at(0), &config);
        cached.update(&robots_txt(1), &RobotsState::Unreachable, at(0), &config);
        assert!(cached.get(&robots_txt(1), at(11)).is_none(), "an answer in between resets the back-off");
    }

    #[test]
    fn changed_settings_end_blocks() {
        let config = CrawlConfig::default();
        let mut cached = RobotsCache::default();
        cached.update(&robots_txt(1), &RobotsState::Unreachable, at(0), &config);
        cached.update(&robots_txt(2), &RobotsState::Missing, at(0), &config);
        cached.end_blocks();
        assert!(cached.get(&robots_txt(1), at(1)).is_none(), "it is fetched again");
        assert_eq!(cached.failures(&robots_txt(1)), 1, "failures are still counted");
        assert!(cached.get(&robots_txt(2), at(1)).is_some());
    }

    #[test]
    fn memory_is_bounded() {
        let config = CrawlConfig::default();
        let mut cached = RobotsCache::default();
        let large = RobotsState::Known(
            format!("user-agent: *\n{}", "disallow: /aaaaaaaaaaaaaaaaaa\n".repeat(16_000)).into_bytes(),
        );
        for host in 0..200 {
            cached.update(&robots_txt(host), &large, at(0), &config);
        }
        assert!(cached.bytes <= MAX_BYTES && cached.servers.len() < 200);
        assert!(cached.get(&robots_txt(199), at(1)).is_some());
        for host in 0..MAX_SERVERS.get() + 10 {
            cached.update(&robots_txt(host), &RobotsState::Missing, at(0), &config);
        }
        assert_eq!(cached.servers.len(), MAX_SERVERS.get());
        assert_eq!(cached.bytes, cached.servers.iter().map(|(_, cached)| cached.size).sum::<usize>());
    }

    #[test]
    fn a_cached_file_stays_in_force_while_unreachable() {
        let config = CrawlConfig {
            robots_lifetime: Duration::from_secs(100),
            robots_stale: Duration::from_secs(50),
            retry_delay: Duration::from_secs(10),
            ..Default::default()
        };
        let page = PageUrl::parse("http://h1.example/x").unwrap();
        let mut cached = RobotsCache::default();
        cached.update(
            &robots_txt(1),
            &RobotsState::Known(b"user-agent: *\ndisallow: /x".to_vec()),
            at(0),
            &config,
        );
        assert!(cached.get(&robots_txt(1), at(100)).is_none(), "it must be fetched again");
        cached.update(&robots_txt(1), &RobotsState::Unreachable, at(100), &config);
        match cached.get(&robots_txt(1), at(109)) {
            Some(RobotsVerdict::Rules(rules)) => assert!(!rules.allows(&page)),
            other => panic!("{other:?}"),
        }
        assert!(cached.get(&robots_txt(1), at(110)).is_none(), "and fetched again soon");
        cached.update(&robots_txt(1), &RobotsState::Unreachable, at(150), &config);
        assert!(
            matches!(cached.get(&robots_txt(1), at(151)), Some(RobotsVerdict::NotBefore(..))),
            "not indefinitely"
        );
        cached.update(&robots_txt(2), &RobotsState::Missing, at(0), &config);
        cached.update(&robots_txt(2), &RobotsState::Unreachable, at(100), &config);
        assert!(
            matches!(cached.get(&robots_txt(2), at(101)), Some(RobotsVerdict::NotBefore(..))),
            "no file, no copy"
        );
    }
}
