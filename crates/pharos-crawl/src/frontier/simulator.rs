//! A web and a catalog in memory, for running strategies on worked examples with the real frontier.
//!
//! Pages are written `site/path`. Every request gets a response immediately, which is applied before
//! the next request starts.

use std::collections::HashMap;
use std::time::Duration;

use pharos_core::config::{CrawlConfig, LinkScope};
use pharos_core::{LibraryPosition, Link, LinkKind, PageId, PageUrl, SiteId, Timestamp};
use pharos_store::catalog::{CatalogChange, DueOrder};
use pharos_store::interpret::{CrawlScope, PageSummary, interpret};
use pharos_store::{DuePage, LibraryRecord, RawResponse, RecordContent, StoredRecord};

use super::strategy::{PageAdmission, strategy_from_config};
use super::{Frontier, NextAction, RefillRequest};
use crate::rules::from_config::rules_from_config;

pub(super) struct SimulatedWeb {
    pub(super) config: CrawlConfig,
    links: HashMap<PageId, Vec<PageUrl>>,
    weights: HashMap<PageId, u32>,
    /// In order of discovery.
    catalog: Vec<KnownPage>,
    now: Timestamp,
}

struct KnownPage {
    page: DuePage,
    due: bool,
}

pub(super) fn url(short: &str) -> PageUrl {
    let (site, path) = short.split_once('/').unwrap();
    PageUrl::parse(&format!("http://{site}.example/{path}")).unwrap()
}

pub(super) fn due_page(short: &str) -> DuePage {
    DuePage {
        url: url(short),
        depth: 0,
        hops: 0,
        origin: None,
        attempts: 0,
        weight: 1,
        visited: false,
        exists: false,
        found_at: Timestamp::EPOCH,
        validators: Default::default(),
    }
}

impl SimulatedWeb {
    pub(super) fn new(links: &[(&str, &[&str])]) -> Self {
        let targets = |targets: &[&str]| targets.iter().map(|target| url(target)).collect();
        Self {
            config: CrawlConfig { scope: LinkScope::Any, ..CrawlConfig::default() },
            links: links.iter().map(|(page, to)| (url(page).id(), targets(to))).collect(),
            weights: HashMap::new(),
            catalog: Vec::new(),
            now: Timestamp::from_millis(1_000),
        }
    }

    /// The tree 0→(1, 2), 1→(3, 4), 2→(5, 6), and back 6→0 (《走进搜索引擎》§2.4.2).
    pub(super) fn tree() -> Self {
        Self::new(&[
            ("s/0", &["s/1", "s/2"]),
            ("s/1", &["s/3", "s/4"]),
            ("s/2", &["s/5", "s/6"]),
            ("s/6", &["s/0"]),
        ])
    }

    /// A on one server links to B, C and E; E on another to D and F (survey of robot-based Web indexing and search,
    /// §3).
    pub(super) fn discovery_example() -> Self {
        Self::new(&[("one/a", &["one/b", "one/c", "two/e"]), ("two/e", &["two/d", "two/f"])])
    }

    /// The chain 0→1→2→… up to `last`.
    pub(super) fn chain(last: usize) -> Self {
        let mut web = Self::new(&[]);
        for n in 0..last {
            web.links.insert(url(&format!("s/{n}")).id(), vec![url(&format!("s/{}", n + 1))]);
        }
        web
    }

    /// Adds a page that an earlier crawl discovered but did not fetch.
    pub(super) fn known(&mut self, page: &str, depth: u32) {
        self.add_page(&url(page), depth, Timestamp::EPOCH);
    }

    pub(super) fn weigh(&mut self, page: &str, weight: u32) {
        let id = url(page).id();
        self.weights.insert(id, weight);
        for known in self.catalog.iter_mut().filter(|known| known.page.url.id() == id) {
            known.page.weight = weight;
        }
    }

    pub(super) fn all_due_again(&mut self) {
        self.catalog.iter_mut().for_each(|known| known.due = true);
    }

    /// Crawls to the end and returns the pages in the order in which they were requested.
    pub(super) fn crawl(&mut self, seeds: &[&str]) -> Vec<String> {
        let admission = PageAdmission::new(&self.config, self.now);
        let mut frontier = Frontier::new(strategy_from_config(&self.config), admission, 1, Duration::ZERO);
        for seed in seeds {
            self.add_page(&url(seed), 0, self.now);
        }
        for known in self.catalog.iter().filter(|known| known.due) {
            frontier.wake(known.page.url.id().site());
        }
        let mut order = Vec::new();
        for _ in 0..10_000 {
            match frontier.next(self.now) {
                NextAction::Page(page) => {
                    let site = page.url.id().site();
                    frontier.request_started(site, self.now);
                    self.now = self.now.plus(Duration::from_millis(1));
                    frontier.request_ended(site, self.now, Duration::ZERO);
                    let due_sites = self.apply_page(&page);
                    frontier.page_applied(page.url.id());
                    due_sites.into_iter().for_each(|site| frontier.wake(site));
                    order.push(page.url.as_str()["http://".len()..].replacen(".example", "", 1));
                }
                NextAction::Refill(requests) => {
                    for RefillRequest { site, sub_queues } in requests {
                        let drawn =
                            sub_queues.iter().map(|(order, limit)| self.due_pages(site, *order, *limit));
                        let drawn = drawn.collect();
                        frontier.refill(site, drawn);
                    }
                }
                NextAction::Wait(Some(until)) => self.now = until,
                NextAction::Wait(None) => {
                    assert!(frontier.is_idle() && frontier.queued() == 0);
                    return order;
                }
                NextAction::Robots(_) => unreachable!("no robots.txt was queued"),
            }
        }
        panic!("it does not end: {order:?}");
    }

    fn add_page(&mut self, url: &PageUrl, depth: u32, found_at: Timestamp) -> Option<SiteId> {
        if self.catalog.iter().any(|known| known.page.url == *url) {
            return None;
        }
        let weight = self.weights.get(&url.id()).copied().unwrap_or(1);
        let page = DuePage { url: url.clone(), depth, found_at, weight, ..due_page("s/") };
        self.catalog.push(KnownPage { page, due: true });
        Some(url.id().site())
    }

    /// Adds the links of a page to the catalog with [`interpret`].
    fn apply_page(&mut self, page: &DuePage) -> Vec<SiteId> {
        for known in self.catalog.iter_mut().filter(|known| known.page.url == page.url) {
            known.due = false;
            known.page.visited = true;
        }
        let link = |url: &PageUrl| Link {
            url: url.clone(),
            anchor: String::new(),
            kind: LinkKind::Page,
            rel: String::new(),
        };
        let links: Vec<Link> = self.links.get(&page.url.id()).into_iter().flatten().map(link).collect();
        let summary = PageSummary { links, ..PageSummary::default() };
        let content = RecordContent::Response(RawResponse { status: 200, ..RawResponse::default() });
        let record = LibraryRecord {
            depth: page.depth,
            attempt: 1,
            ..LibraryRecord::new(page.url.clone(), self.now, content)
        };
        let (position, next) = (LibraryPosition::START, LibraryPosition::START);
        let mut scope = CrawlScope::new(rules_from_config(&self.config));
        let stored = StoredRecord { position, next, record };
        let meaning = interpret(&mut scope, &self.config, &stored, Some(&summary));
        let found = meaning.catalog.into_iter().filter_map(|change| match change {
            CatalogChange::Found(found) => self.add_page(&found.url, found.depth, found.at),
            _ => None,
        });
        found.collect()
    }

    fn due_pages(&self, site: SiteId, order: DueOrder, limit: usize) -> Vec<DuePage> {
        let due = self.catalog.iter().enumerate();
        let mut due: Vec<(usize, &DuePage)> = due
            .filter(|(_, known)| known.due && known.page.url.id().site() == site)
            .map(|(number, known)| (number, &known.page))
            .collect();
        match order {
            DueOrder::Nearest => due.sort_by_key(|(number, page)| (page.depth, *number)),
            DueOrder::Deepest => {
                due.sort_by_key(|(number, page)| (u32::MAX - page.depth, usize::MAX - number))
            }
            DueOrder::Heaviest => due.sort_by_key(|(n, page)| (u32::MAX - page.weight, page.depth, *n)),
            DueOrder::Random(chance) => due
                .sort_by_key(|(_, page)| (page.url.id().page() ^ chance).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        }
        due.into_iter().take(limit).map(|(_, page)| page.clone()).collect()
    }
}
