//! A bounded in-memory cache of robots.txt rules by server.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::CrawlConfig;
use pharos_core::{PageUrl, Timestamp};
use pharos_store::RobotsState;

use crate::absorb::backoff;
use crate::robots::Robots;

/// Maximum number of cached servers.
const MAX_SERVERS: usize = 16_384;
/// Maximum total size of cached rules, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Cached knowledge about a server.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    Rules(Arc<Robots>),
    /// Nothing may be requested before this time.
    NotBefore(Timestamp, Obstacle),
}

/// Reason why a server's rules are unavailable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Obstacle {
    Unreachable,
    /// Requests are not permitted, for this reason.
    NoContact(String),
}

/// A verdict with its lifetime.
struct Known {
    verdict: Verdict,
    /// Expiry time.
    until: Timestamp,
    /// Time at which the file of these rules was read; `None` if there was no file.
    read_at: Option<Timestamp>,
    failures: u32,
    weight: usize,
}

impl Known {
    fn new(verdict: Verdict, until: Timestamp, read_at: Option<Timestamp>, failures: u32) -> Self {
        let rules = if let Verdict::Rules(rules) = &verdict { rules.weight() } else { 0 };
        Self { verdict, until, read_at, failures, weight: rules + size_of::<Self>() }
    }

    /// Returns rules from an expired file that may still be used, with the time the file was read.
    fn stale_rules(&self, now: Timestamp, config: &CrawlConfig) -> Option<(Arc<Robots>, Timestamp)> {
        let read_at = self.read_at?;
        let Verdict::Rules(rules) = &self.verdict else { return None };
        let end = read_at.plus(lifetime(config)).plus(config.robots_stale);
        (end > now).then(|| (rules.clone(), read_at))
    }
}

/// Returns the lifetime of rules: at most 24 hours (RFC 9309 §2.4), and long enough to fetch a page.
fn lifetime(config: &CrawlConfig) -> Duration {
    config.robots_lifetime.clamp(Duration::from_millis(10), Duration::from_secs(24 * 3600))
}

fn wait_for_rules(config: &CrawlConfig, failures: u32) -> Duration {
    backoff(config.retry_delay.max(Duration::from_secs(1)), failures)
}

/// Verdicts by the URL of the robots.txt; the oldest entries are evicted first.
#[derive(Default)]
pub(crate) struct KnownRobots {
    servers: HashMap<PageUrl, Known>,
    order: VecDeque<PageUrl>,
    bytes: usize,
}

impl KnownRobots {
    /// Returns the verdict on a server, unless it is unknown or expired.
    pub(crate) fn get(&self, robots_txt: &PageUrl, now: Timestamp) -> Option<Verdict> {
        self.servers.get(robots_txt).filter(|known| known.until > now).map(|known| known.verdict.clone())
    }

    /// Stores the result of a robots.txt request.
    pub(crate) fn learn(
        &mut self,
        robots_txt: &PageUrl,
        state: &RobotsState,
        at: Timestamp,
        config: &CrawlConfig,
    ) {
        let known = self.servers.get(robots_txt);
        let old = known.and_then(|known| known.stale_rules(at, config));
        match (state, old) {
            // RFC 9309 §2.3.1.4 permits a cached copy while the file is unreachable.
            (RobotsState::Unreachable, Some((rules, read_at))) => {
                let failures = known.map_or(0, |known| known.failures) + 1;
                let until = at.plus(wait_for_rules(config, failures));
                self.insert(robots_txt, Known::new(Verdict::Rules(rules), until, Some(read_at), failures));
            }
            (RobotsState::Unreachable, None) => self.obstacle(robots_txt, Obstacle::Unreachable, at, config),
            (state, _) => {
                let verdict = Verdict::Rules(Arc::new(Robots::of(state, &config.agent)));
                let read_at = matches!(state, RobotsState::Known(_)).then_some(at);
                let until = at.plus(lifetime(config));
                self.insert(robots_txt, Known::new(verdict, until, read_at, 0));
            }
        }
    }

    /// Blocks a server for a while; longer after each failure.
    pub(crate) fn obstacle(
        &mut self,
        robots_txt: &PageUrl,
        why: Obstacle,
        at: Timestamp,
        config: &CrawlConfig,
    ) {
        let failures = self.servers.get(robots_txt).map_or(0, |known| known.failures) + 1;
        let until = at.plus(wait_for_rules(config, failures));
        self.insert(robots_txt, Known::new(Verdict::NotBefore(until, why), until, None, failures));
    }

    fn insert(&mut self, robots_txt: &PageUrl, mut known: Known) {
        known.weight += 2 * robots_txt.as_str().len();
        self.bytes += known.weight;
        match self.servers.insert(robots_txt.clone(), known) {
            Some(old) => self.bytes -= old.weight,
            None => self.order.push_back(robots_txt.clone()),
        }
        while self.servers.len() > MAX_SERVERS || (self.bytes > MAX_BYTES && self.servers.len() > 1) {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.servers.remove(&oldest).map_or(0, |known| known.weight);
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
    fn rules_are_believed_for_their_lifetime() {
        let config = CrawlConfig { robots_lifetime: Duration::from_secs(100), ..Default::default() };
        let mut known = KnownRobots::default();
        known.learn(&robots_txt(1), &RobotsState::Missing, at(0), &config);
        assert!(matches!(known.get(&robots_txt(1), at(99)), Some(Verdict::Rules(_))));
        assert!(known.get(&robots_txt(1), at(100)).is_none());
        assert!(known.get(&robots_txt(2), at(1)).is_none());
    }

    #[test]
    fn a_server_that_stays_unreachable_is_asked_ever_less_often() {
        let config = CrawlConfig { retry_delay: Duration::from_secs(10), ..Default::default() };
        let mut known = KnownRobots::default();
        let mut waits = Vec::new();
        for _ in 0..3 {
            known.learn(&robots_txt(1), &RobotsState::Unreachable, at(0), &config);
            match known.get(&robots_txt(1), at(1)) {
                Some(Verdict::NotBefore(until, Obstacle::Unreachable)) => waits.push(until.seconds()),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(waits, [10, 40, 160]);
        known.learn(&robots_txt(1), &RobotsState::Missing, at(0), &config);
        known.learn(&robots_txt(1), &RobotsState::Unreachable, at(0), &config);
        assert!(known.get(&robots_txt(1), at(11)).is_none(), "an answer in between begins anew");
    }

    #[test]
    fn memory_is_bounded() {
        let config = CrawlConfig::default();
        let mut known = KnownRobots::default();
        let large = RobotsState::Known(
            format!("user-agent: *\n{}", "disallow: /aaaaaaaaaaaaaaaaaa\n".repeat(16_000)).into_bytes(),
        );
        for host in 0..200 {
            known.learn(&robots_txt(host), &large, at(0), &config);
        }
        assert!(known.bytes <= MAX_BYTES && known.servers.len() < 200);
        assert!(known.get(&robots_txt(199), at(1)).is_some());
        for host in 0..MAX_SERVERS + 10 {
            known.learn(&robots_txt(host), &RobotsState::Missing, at(0), &config);
        }
        assert_eq!(known.servers.len(), known.order.len());
        assert!(known.servers.len() <= MAX_SERVERS);
        assert_eq!(known.bytes, known.servers.values().map(|k| k.weight).sum::<usize>());
    }

    #[test]
    fn a_known_file_stays_in_force_while_no_new_one_can_be_had() {
        let config = CrawlConfig {
            robots_lifetime: Duration::from_secs(100),
            robots_stale: Duration::from_secs(50),
            retry_delay: Duration::from_secs(10),
            ..Default::default()
        };
        let page = PageUrl::parse("http://h1.example/x").unwrap();
        let mut known = KnownRobots::default();
        known.learn(
            &robots_txt(1),
            &RobotsState::Known(b"user-agent: *\ndisallow: /x".to_vec()),
            at(0),
            &config,
        );
        assert!(known.get(&robots_txt(1), at(100)).is_none(), "time to ask again");
        known.learn(&robots_txt(1), &RobotsState::Unreachable, at(100), &config);
        match known.get(&robots_txt(1), at(109)) {
            Some(Verdict::Rules(rules)) => assert!(!rules.allows(&page)),
            other => panic!("{other:?}"),
        }
        assert!(known.get(&robots_txt(1), at(110)).is_none(), "and to ask again before long");
        known.learn(&robots_txt(1), &RobotsState::Unreachable, at(150), &config);
        assert!(matches!(known.get(&robots_txt(1), at(151)), Some(Verdict::NotBefore(..))), "not for ever");
        known.learn(&robots_txt(2), &RobotsState::Missing, at(0), &config);
        known.learn(&robots_txt(2), &RobotsState::Unreachable, at(100), &config);
        assert!(
            matches!(known.get(&robots_txt(2), at(101)), Some(Verdict::NotBefore(..))),
            "no file, no copy"
        );
    }
}
