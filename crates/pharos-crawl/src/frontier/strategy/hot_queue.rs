//! Several queues by ratio: ten pages from the hot queue, then one from the normal one (《走进搜索引擎》§2.4.8).
//!
//! Generalises `multi_dequeue(hot_queue, url_queue)` to any number of queues. Each queue reads the site in its own
//! order: the first by weight, the second by depth from the seeds, the third at random, the fourth deepest first, and
//! any further one at random. Hot pages are fetched early, and no page starves.

use pharos_store::catalog::DueOrder;

use super::{Strategy, SubQueue, build_sub_queues, whole_rounds};

/// Approximate number of pages per refill: a few rounds, so that each queue is reordered soon.
const APPROXIMATE_BATCH: usize = 66;

/// Several queues by ratio.
pub(crate) struct HotQueue {
    sub_queues: Vec<SubQueue>,
}

impl HotQueue {
    /// Creates the strategy with the number of pages taken from each queue in turn, the hottest first.
    pub(crate) fn new(ratio: &[u32]) -> Self {
        let order = |number| match number {
            0 => DueOrder::Heaviest,
            1 => DueOrder::Nearest,
            3 => DueOrder::Deepest,
            _ => DueOrder::Random(number),
        };
        Self { sub_queues: build_sub_queues((0..ratio.len().max(1) as u64).map(order), ratio) }
    }
}

impl Strategy for HotQueue {
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

    /// Crawls a site with `hot` and `normal` pages; the normal ones are nearer to the seeds.
    fn pages(ratio: &[u32], hot: usize, normal: usize) -> Vec<String> {
        let mut web = SimulatedWeb::new(&[]);
        web.config.strategy = StrategyName::HotQueue;
        web.config.queue_ratio = ratio.to_vec();
        for n in 0..normal {
            web.known(&format!("s/normal/{n}"), 1);
        }
        for n in 0..hot {
            web.known(&format!("s/hot/{n}"), 2);
            web.weigh(&format!("s/hot/{n}"), 900);
        }
        web.crawl(&[]).into_iter().map(|page| page.split('/').nth(1).unwrap().to_string()).collect()
    }

    /// 《走进搜索引擎》§2.4.8: multi-queue with time slicing.
    #[test]
    fn ten_hot_pages_then_one_normal_page() {
        let order = pages(&[10, 1], 200, 200);
        for (n, kind) in order[..66].iter().enumerate() {
            assert_eq!(kind, if n % 11 == 10 { "normal" } else { "hot" }, "{n}");
        }
        let hot = order[..220].iter().filter(|kind| *kind == "hot").count();
        assert_eq!(
            (hot, order.len()),
            (200, 400),
            "the ratio holds from chunk to chunk, and nothing is lost"
        );
        assert_eq!(pages(&[10, 1], 0, 30).len(), 30, "an empty queue delays no other queue");
    }

    #[test]
    fn any_number_of_queues() {
        let queues =
            |ratio: &[u32]| HotQueue::new(ratio).sub_queues().iter().map(|l| l.share).collect::<Vec<_>>();
        assert_eq!(queues(&[10, 3, 1]), [10, 3, 1]);
        assert_eq!(queues(&[]), [1]);
        assert_eq!(queues(&[0; 100]), [1; 8]);
        let order = pages(&[3, 2, 1], 100, 100);
        assert_eq!(order[..5], ["hot", "hot", "hot", "normal", "normal"]);
        assert_eq!(order.len(), 200);
    }
}
