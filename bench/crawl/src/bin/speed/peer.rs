//! The `spider` crate: one crawl per host, all concurrently.

use spider::website::Website;
use tokio::task::JoinSet;

use crate::{Outcome, Task};

pub(crate) async fn crawl(task: Task) -> Outcome<()> {
    let mut crawls = JoinSet::new();
    for seed in task.seeds {
        crawls.spawn(async move {
            let mut website = Website::new(&seed);
            website.with_respect_robots_txt(true).with_delay(0);
            website.crawl().await;
        });
    }
    while let Some(ended) = crawls.join_next().await {
        ended?;
    }
    Ok(())
}
