//! Alternation: N pages by weight, then M at random (《搜索引擎——原理、技术与系统》§3.5).
//!
//! Selection by weight alone never leaves known good areas, and random selection alone finds little early. The queue
//! is filled in two alternating passes.

use pharos_store::catalog::DueOrder;

use super::{Strategy, SubQueue, build_sub_queues, whole_rounds};

/// Approximate number of pages per refill: few, so that new weights take effect soon.
const APPROXIMATE_BATCH: usize = 64;
/// Seed of the random order, so that two crawls of the same pages take the same course.
const SEED: u64 = 0x5EED;

/// N pages by weight, M at random.
pub(crate) struct Alternate {
    sub_queues: Vec<SubQueue>,
}

impl Alternate {
    /// Creates the strategy with N and M, which are at least one.
    pub(crate) fn new(shares: &[u32]) -> Self {
        Self { sub_queues: build_sub_queues([DueOrder::Heaviest, DueOrder::Random(SEED)], shares) }
    }
}

impl Strategy for Alternate {
    fn sub_queues(&self) -> &[SubQueue] {
        &self.sub_queues
    }

    fn batch_size(&self) -> usize {
        whole_rounds(&self.sub_queues, APPROXIMATE_BATCH)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::simulator::SimulatedWeb;
    use super::*;
    use pharos_core::config::StrategyName;

    /// 《搜索引擎——原理、技术与系统》§3.5: alternating selection.
    #[test]
    fn two_by_weight_one_at_random() {
        let names: Vec<String> = (1..=300).map(|n| format!("s/{n}")).collect();
        let links: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut web = SimulatedWeb::new(&[("s/", &links)]);
        web.config.strategy = StrategyName::Alternate;
        web.config.alternate = vec![2, 1];
        for (n, name) in names.iter().enumerate() {
            web.weigh(name, 1000 - n as u32);
        }
        let order = web.crawl(&["s/"]);
        assert_eq!(order.len(), 301);
        let numbers: Vec<usize> = order[1..31].iter().map(|page| page[2..].parse().unwrap()).collect();
        let by_weight = |(n, number): (usize, &usize)| (n % 3 != 2).then_some(*number);
        let heavy: Vec<usize> = numbers.iter().enumerate().filter_map(by_weight).collect();
        assert!(heavy.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
        let by_chance: Vec<usize> = numbers.iter().copied().skip(2).step_by(3).collect();
        assert!(by_chance.windows(2).any(|pair| pair[0] > pair[1]), "{by_chance:?}");
        assert!(by_chance.iter().any(|n| *n > 100), "{by_chance:?}");
    }

    #[test]
    fn invalid_shares_are_bounded() {
        for shares in [&[][..], &[0], &[0, 0], &[u32::MAX, u32::MAX, 7]] {
            let alternate = Alternate::new(shares);
            assert_eq!(alternate.sub_queues().len(), 2);
            assert!((2..=200).contains(&alternate.batch_size()), "{shares:?}");
        }
    }
}
