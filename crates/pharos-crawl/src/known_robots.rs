//! The rules of the servers we met lately, in memory and within bounds.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::CrawlConfig;
use pharos_core::{PageUrl, Timestamp};
use pharos_store::RobotsState;

use crate::absorb::backoff;
use crate::robots::Robots;

/// Servers remembered at once.
const MAX_SERVERS: usize = 16_384;
/// Bytes of rules remembered at once.
const MAX_BYTES: usize = 64 << 20;

/// What is known of a server.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    /// These rules hold.
    Rules(Arc<Robots>),
    /// Nothing may be asked before this moment, and why.
    NotBefore(Timestamp, Obstacle),
}

/// Why a server's rules cannot be had.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Obstacle {
    /// It gives none.
    Unreachable,
    /// We may not ask it, for this reason.
    NoContact(String),
}

struct Known {
    verdict: Verdict,
    /// The verdict is believed until then.
    until: Timestamp,
    failures: u32,
    weight: usize,
}

/// Verdicts by the address of the robots.txt; the oldest go first.
#[derive(Default)]
pub(crate) struct KnownRobots {
    servers: HashMap<PageUrl, Known>,
    order: VecDeque<PageUrl>,
    bytes: usize,
}

impl KnownRobots {
    /// The verdict on a server, unless there is none or it is too old.
    pub(crate) fn get(&self, robots_txt: &PageUrl, now: Timestamp) -> Option<Verdict> {
        self.servers.get(robots_txt).filter(|known| known.until > now).map(|known| known.verdict.clone())
    }

    /// Takes in what asking gave at that moment.
    pub(crate) fn learn(
        &mut self,
        robots_txt: &PageUrl,
        state: &RobotsState,
        at: Timestamp,
        config: &CrawlConfig,
    ) {
        match state {
            RobotsState::Unreachable => self.obstacle(robots_txt, Obstacle::Unreachable, at, config),
            state => {
                let verdict = Verdict::Rules(Arc::new(Robots::of(state, &config.agent)));
                self.insert(robots_txt, verdict, at.plus(config.robots_lifetime), 0);
            }
        }
    }

    /// Nothing may be asked for a while; longer each time.
    pub(crate) fn obstacle(
        &mut self,
        robots_txt: &PageUrl,
        why: Obstacle,
        at: Timestamp,
        config: &CrawlConfig,
    ) {
        let failures = self.servers.get(robots_txt).map_or(0, |known| known.failures) + 1;
        let until = at.plus(backoff(config.retry_delay.max(Duration::from_secs(1)), failures));
        self.insert(robots_txt, Verdict::NotBefore(until, why), until, failures);
    }

    fn insert(&mut self, robots_txt: &PageUrl, verdict: Verdict, until: Timestamp, failures: u32) {
        let rules = if let Verdict::Rules(rules) = &verdict { rules.weight() } else { 0 };
        let weight = rules + 2 * robots_txt.as_str().len() + size_of::<Known>();
        let known = Known { verdict, until, failures, weight };
        self.bytes += weight;
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

/// The wait between two requests to a server: ours, or its own `Crawl-delay` within reason.
pub(crate) fn delay_between_requests(config: &CrawlConfig, robots: Option<&Robots>) -> Duration {
    let asked = robots.and_then(Robots::crawl_delay).unwrap_or_default();
    config.politeness.delay().max(asked.min(config.max_crawl_delay))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::config::Politeness;

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
    fn the_longer_delay_counts_up_to_the_limit() {
        let config = CrawlConfig { max_crawl_delay: Duration::from_secs(60), ..Default::default() };
        let delay = |seconds: u64| {
            let robots = Robots::parse(format!("user-agent: *\ncrawl-delay: {seconds}").as_bytes(), "a");
            delay_between_requests(&config, Some(&robots)).as_secs()
        };
        assert_eq!((delay(0), delay(5), delay(500)), (1, 5, 60));
        assert_eq!(delay_between_requests(&config, None).as_secs(), 1);
        let own = CrawlConfig { politeness: Politeness::OwnSite, ..Default::default() };
        assert_eq!(delay_between_requests(&own, None), Duration::ZERO);
    }
}
