//! Orders to a running engine.
//!
//! A command that finds the data directory owned puts its order into the directory `inbox/`, and the owner executes it
//! between two groups of records. An order is a small file that appears by a rename and disappears when it is done; a
//! failure is reported in a file beside it. Callers that cannot wait, such as web pages, enqueue an unattended order and
//! get no result.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use pharos_core::config::Config;
use pharos_core::{PageUrl, SiteName, Timestamp};
use pharos_index::phrase_index::PhraseIndexes;
use pharos_store::catalog::{PageDetails, Removal};
use pharos_store::interpret::scope::check_page_url;
use pharos_store::{
    Catalog, CrawlRules, DataDir, LibraryEvent, LibraryRecord, PageState, RecordContent, StoreError,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tracing::warn;

use crate::{Engine, EngineError};

/// Maximum size of an order file.
const MAX_ORDER_BYTES: u64 = 4 << 20;
/// Time allowed for the owner to respond.
pub(crate) const OWNER_TIMEOUT: Duration = Duration::from_secs(60);
/// File name prefix of unattended orders. Attended ones have numeric names, so they sort first.
const UNATTENDED_PREFIX: &str = "left-";
/// Number of unattended orders executed per round, so that operators do not wait for all of them.
const UNATTENDED_PER_ROUND: usize = 16;

/// An operator's command to the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Remove pages or sites permanently.
    Remove(Vec<Removal>),
    /// Fetch these pages, as seeds of the running crawl.
    Add(Vec<PageUrl>),
    /// Submit these pages for approval by an operator.
    Propose(Vec<PageUrl>),
    /// Approve submitted pages.
    Accept(Vec<PageUrl>),
    /// Reject submitted pages.
    Refuse(Vec<PageUrl>),
    /// Fetch these pages again now; unknown pages are added.
    Recrawl(Vec<PageUrl>),
    /// A webmaster announced that these pages of one site changed.
    Announce(Vec<PageUrl>),
    /// Fetch every known page of this site again.
    RecrawlSite(SiteName),
    /// Change the crawl rules.
    Rules {
        /// A page of the crawl, because every record needs a URL.
        about: PageUrl,
        rules: Box<CrawlRules>,
    },
    /// Control the crawl itself.
    Crawl(CrawlOrder),
}

/// A command to the crawl. It is not recorded and ends with the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CrawlOrder {
    /// Start no new requests.
    Pause,
    /// Start new requests again.
    Resume,
    /// End the crawl. The engine keeps serving.
    Stop,
    /// Resume an ended crawl.
    Start,
}

impl Order {
    /// Returns the records that express this order.
    pub(crate) fn records(
        &self,
        at: Timestamp,
        rules: CrawlRules,
        catalog: &dyn Catalog,
    ) -> Vec<LibraryRecord> {
        match self {
            Self::Remove(removals) => removals
                .iter()
                .filter_map(|what| {
                    let url = match what {
                        Removal::Page(url) => url.clone(),
                        Removal::Site(site) => home_page(site)?,
                    };
                    let event = LibraryEvent::Removed { what: what.clone() };
                    Some(LibraryRecord::new(url, at, RecordContent::Event(event)))
                })
                .collect(),
            Self::Add(seeds) => {
                let event = LibraryEvent::CrawlStarted { seeds: seeds.clone(), rules };
                let first = seeds.first().cloned();
                first
                    .map(|url| LibraryRecord::new(url, at, RecordContent::Event(event)))
                    .into_iter()
                    .collect()
            }
            Self::Propose(urls) => records_about(urls, at, &LibraryEvent::Submitted),
            Self::Accept(urls) => records_about(urls, at, &LibraryEvent::Decided { accepted: true }),
            Self::Refuse(urls) => records_about(urls, at, &LibraryEvent::Decided { accepted: false }),
            Self::Recrawl(urls) => {
                let known = |url: &&PageUrl| catalog.page(url.id()).is_ok_and(|page| page.is_some());
                let (known, new): (Vec<&PageUrl>, Vec<&PageUrl>) = urls.iter().partition(known);
                let known: Vec<PageUrl> = known.into_iter().cloned().collect();
                let mut records = records_about(&known, at, &LibraryEvent::Recrawl { whole_site: false });
                if !new.is_empty() {
                    records.extend(Self::Add(new.into_iter().cloned().collect()).records(at, rules, catalog));
                }
                records
            }
            Self::Announce(pages) => {
                let home = pages.first().map(PageUrl::home);
                records_about(home.as_slice(), at, &LibraryEvent::Announced { pages: pages.clone() })
            }
            Self::RecrawlSite(site) => {
                records_about(home_page(site).as_slice(), at, &LibraryEvent::Recrawl { whole_site: true })
            }
            Self::Rules { about: url, rules } => {
                let event = LibraryEvent::CrawlStarted { seeds: Vec::new(), rules: CrawlRules::clone(rules) };
                records_about(std::slice::from_ref(url), at, &event)
            }
            Self::Crawl(_) => Vec::new(),
        }
    }

    /// Returns `true` if the catalog reflects this order, which was recorded at time `at`.
    pub(crate) fn is_done(&self, catalog: &dyn Catalog, at: Timestamp) -> Result<bool, StoreError> {
        Ok(match self {
            Self::Remove(removals) => {
                let removed = catalog.removed()?;
                removals.iter().all(|what| match what {
                    Removal::Page(url) => {
                        removed.contains(what) || removed.contains(&Removal::Site(url.site()))
                    }
                    Removal::Site(_) => removed.contains(what),
                })
            }
            Self::Add(seeds) => {
                // robots.txt is never stored as a page, so there is nothing to wait for.
                let known = |url: &PageUrl| {
                    let sorted = url.with_sorted_query();
                    let is_copy = catalog.aliases()?.iter().any(|(home, _)| *home == url.home());
                    Ok(check_page_url(url).is_err()
                        || is_copy
                        || catalog.page(url.id())?.is_some()
                        || catalog.page(sorted.id())?.is_some()
                        || catalog.is_removed(url)?)
                };
                seeds.iter().map(known).collect::<Result<Vec<_>, StoreError>>()?.into_iter().all(|k| k)
            }
            Self::Propose(urls) => {
                let known = catalog.submissions()?;
                urls.iter().all(|url| known.iter().any(|s| s.url == *url))
            }
            Self::Accept(urls) => all_decided(catalog, urls, true)?,
            Self::Refuse(urls) => all_decided(catalog, urls, false)?,
            Self::Recrawl(urls) => {
                let mut due = true;
                for url in urls {
                    due &= match catalog.page(url.id())? {
                        Some(page) => is_due(&page, at),
                        None => Self::Add(vec![url.clone()]).is_done(catalog, at)?,
                    };
                }
                due
            }
            Self::RecrawlSite(site) => {
                let first = catalog.pages(Some(site.id()), None, 1)?;
                first.first().is_none_or(|page| is_due(page, at))
            }
            Self::Rules { rules, .. } => catalog.rules()?.as_ref() == Some(&**rules),
            Self::Announce(_) | Self::Crawl(_) => true,
        })
    }
}

/// Returns the home page of a site, under which events about the site are recorded.
pub(crate) fn home_page(site: &SiteName) -> Option<PageUrl> {
    PageUrl::parse(&format!("http://{}/", site.as_str())).ok()
}

/// Returns `true` if the page is due, or was fetched, because of an order given at `at`.
fn is_due(page: &PageDetails, at: Timestamp) -> bool {
    matches!(page.state, PageState::Waiting | PageState::Removed)
        || page.due.is_some_and(|due| due <= at)
        || page.visited_at.is_some_and(|visited| visited >= at)
}

fn records_about(urls: &[PageUrl], at: Timestamp, event: &LibraryEvent) -> Vec<LibraryRecord> {
    urls.iter().map(|url| LibraryRecord::new(url.clone(), at, RecordContent::Event(event.clone()))).collect()
}

fn all_decided(catalog: &dyn Catalog, urls: &[PageUrl], accepted: bool) -> Result<bool, StoreError> {
    let known = catalog.submissions()?;
    Ok(urls.iter().all(|url| known.iter().any(|s| s.url == *url && s.accepted == Some(accepted))))
}

/// The order queue of a data directory.
#[derive(Clone, Debug)]
pub(crate) struct OrderQueue {
    dir: PathBuf,
}

impl OrderQueue {
    pub(crate) fn open(data: &DataDir) -> Self {
        Self { dir: data.root().join("inbox") }
    }

    /// Returns the pending orders with their files: attended ones, oldest first, then some unattended ones.
    ///
    /// An order that cannot be read is rejected.
    pub(crate) fn pending(&self) -> Vec<(PathBuf, Order)> {
        let mut paths = self.files();
        paths.sort();
        let first_unattended = paths.iter().position(|path| is_unattended(path)).unwrap_or(paths.len());
        paths.truncate(first_unattended + UNATTENDED_PER_ROUND);
        let mut orders = Vec::new();
        for path in paths {
            match read(&path) {
                Ok(order) => orders.push((path, order)),
                Err(error) => self.resolve(&path, Err(&error)),
            }
        }
        orders
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|e| e == "json")).collect()
    }

    /// Reports the outcome to the caller and removes the order.
    pub(crate) fn resolve(&self, path: &Path, done: Result<(), &dyn std::fmt::Display>) {
        match done {
            Ok(()) => {}
            Err(error) if is_unattended(path) => warn!(%error, "unattended order failed"),
            Err(error) => {
                // The caller waits for it; after a power cut there is no caller.
                let failed = path.with_extension("failed");
                let _ = pharos_files::replace_volatile(&failed, error.to_string().as_bytes());
            }
        }
        let _ = fs::remove_file(path);
    }

    /// Enqueues an unattended order, unless `limit` are pending.
    fn enqueue(&self, order: &Order, limit: usize) -> Result<Enqueued, EngineError> {
        let bytes = serde_json::to_vec(order).unwrap_or_default();
        // Named after its content, so that identical orders are merged.
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let path = self.dir.join(format!("{UNATTENDED_PREFIX}{:016x}.json", hasher.finish()));
        if !path.exists() {
            if self.unattended_count() >= limit {
                return Ok(Enqueued::Full);
            }
            self.write(&path, &bytes)?;
        }
        Ok(Enqueued::Pending)
    }

    /// Enqueues an unattended order that runs before those of visitors, in order of arrival.
    pub(crate) fn enqueue_in_order(&self, order: &Order) -> Result<(), EngineError> {
        let path = self.dir.join(format!("{UNATTENDED_PREFIX}-{:020}.json", nanoseconds()));
        self.write(&path, &serde_json::to_vec(order).unwrap_or_default())
    }

    /// Returns the number of pending unattended orders.
    fn unattended_count(&self) -> usize {
        self.files().iter().filter(|path| is_unattended(path)).count()
    }

    /// Writes an order file durably: a caller that does not wait relies on its execution.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
        pharos_files::create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        Ok(pharos_files::replace(path, bytes).map_err(StoreError::io("write", path))?)
    }

    /// Enqueues an order and waits until the owner has executed it.
    pub(crate) fn execute_by_owner(
        &self,
        order: &Order,
        owner: &str,
        is_free: &dyn Fn() -> bool,
    ) -> Result<Delivery, EngineError> {
        let path = self.dir.join(format!("{:020}-{}.json", nanoseconds(), std::process::id()));
        self.write(&path, &serde_json::to_vec(order).unwrap_or_default())?;
        let deadline = Instant::now() + OWNER_TIMEOUT;
        for round in 1.. {
            if !path.exists() {
                break;
            }
            // Withdrawn, so that it is not executed later unexpectedly.
            if Instant::now() > deadline {
                let _ = fs::remove_file(&path);
                return Err(EngineError::OrderNotAccepted { owner: owner.to_string() });
            }
            if round % 25 == 0 && is_free() && fs::remove_file(&path).is_ok() {
                return Ok(Delivery::Withdrawn);
            }
            thread::sleep(Duration::from_millis(20));
        }
        let refused = path.with_extension("failed");
        match fs::read_to_string(&refused) {
            Ok(reason) => {
                let _ = fs::remove_file(&refused);
                Err(EngineError::OrderRefused { owner: owner.to_string(), reason })
            }
            Err(_) => Ok(Delivery::Done),
        }
    }
}

/// Executes an order: directly if no process owns the data directory, otherwise through the owner.
pub fn execute_order(
    data: &DataDir,
    config: &Config,
    command: &str,
    order: &Order,
) -> Result<(), EngineError> {
    deliver(data, config, command, order)?;
    if matches!(order, Order::Remove(_)) {
        // Removed pages must not be suggested: the phrase index is rebuilt without them.
        let models = data.models();
        PhraseIndexes::remove(&models).map_err(StoreError::io("remove the phrase index in", &models))?;
    }
    Ok(())
}

/// Enqueues an order without waiting for its execution.
///
/// A running owner executes it at once, otherwise the next one at its start. At most `limit` such orders can be pending.
pub fn enqueue_order(data: &DataDir, order: &Order, limit: usize) -> Result<Enqueued, EngineError> {
    OrderQueue::open(data).enqueue(order, limit)
}

/// Returns the number of pending unattended orders.
pub fn pending_orders(data: &DataDir) -> usize {
    OrderQueue::open(data).unattended_count()
}

/// The outcome of enqueueing an unattended order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// The order is pending, possibly since an earlier call.
    Pending,
    /// The queue is full; the order was rejected.
    Full,
}

fn deliver(data: &DataDir, config: &Config, command: &str, order: &Order) -> Result<(), EngineError> {
    loop {
        match Engine::open(data.clone(), config.clone(), command, true) {
            Ok(_) if matches!(order, Order::Crawl(_)) => return Err(EngineError::NotRunning),
            Ok(engine) => {
                let (_stop, stopped) = watch::channel(false);
                let mut ingest = engine.ingest(&stopped)?;
                ingest.execute_order(order)?;
                return ingest.finish();
            }
            Err(EngineError::Store(StoreError::InUse { owner, .. })) => {
                let is_free = || data.own(command).is_ok();
                if OrderQueue::open(data).execute_by_owner(order, &owner, &is_free)? == Delivery::Done {
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// The outcome of handing an order to the owner.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The owner executed it.
    Done,
    /// The owner ended before it picked up the order, which was withdrawn.
    Withdrawn,
}

/// Returns the current time in nanoseconds, by which order files sort.
fn nanoseconds() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap_or_default().as_nanos()
}

fn is_unattended(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(UNATTENDED_PREFIX))
}

fn read(path: &Path) -> io::Result<Order> {
    if fs::metadata(path)?.len() > MAX_ORDER_BYTES {
        return Err(io::Error::other("the order is too large"));
    }
    serde_json::from_slice(&fs::read(path)?).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_executed_by_the_owner_and_reported() {
        let dir = tempfile::tempdir().unwrap();
        let queue = OrderQueue::open(&DataDir::at(dir.path()));
        let page = PageUrl::parse("http://example.org/secret").unwrap();
        let order = Order::Remove(vec![Removal::Page(page.clone()), Removal::Site(page.site())]);
        let owner = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut seen = Vec::new();
                while seen.len() < 2 {
                    for (path, order) in queue.pending() {
                        let refused = !seen.is_empty();
                        queue.resolve(&path, if refused { Err(&"no space") } else { Ok(()) });
                        seen.push(order);
                    }
                }
                seen
            })
        };
        assert_eq!(queue.execute_by_owner(&order, "up", &|| false).unwrap(), Delivery::Done);
        let error = queue.execute_by_owner(&order, "up", &|| false).unwrap_err().to_string();
        assert!(error.contains("no space"), "{error}");
        assert_eq!(owner.join().unwrap(), [order.clone(), order]);
        assert_eq!(
            queue.execute_by_owner(&Order::Add(vec![page]), "crawl", &|| true).unwrap(),
            Delivery::Withdrawn
        );
        fs::write(queue.dir.join("rubbish.json"), "{").unwrap();
        assert!(queue.pending().is_empty() && !queue.dir.join("rubbish.json").exists());
    }

    #[test]
    fn an_accepted_order_survives_a_power_cut() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let order = Order::Add(vec![PageUrl::parse("http://a.example/").unwrap()]);
        let enqueue = || assert_eq!(enqueue_order(&data, &order, 9).unwrap(), Enqueued::Pending);
        pharos_files::power_cut::check(dir.path(), enqueue).unwrap();
    }

    #[test]
    fn unattended_orders_are_bounded_and_come_last() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let queue = OrderQueue::open(&data);
        let order =
            |n: usize| Order::Propose(vec![PageUrl::parse(&format!("http://a.example/{n}")).unwrap()]);
        assert_eq!(pending_orders(&data), 0);
        for n in 0..20 {
            assert_eq!(enqueue_order(&data, &order(n), 20).unwrap(), Enqueued::Pending);
        }
        assert_eq!(enqueue_order(&data, &order(20), 20).unwrap(), Enqueued::Full);
        assert_eq!(enqueue_order(&data, &order(3), 20).unwrap(), Enqueued::Pending, "it waits already");
        assert_eq!(pending_orders(&data), 20);
        queue.write(&queue.dir.join("00000000000000000001-1.json"), b"{\"remove\":[]}").unwrap();
        let pending = queue.pending();
        assert_eq!(pending.len(), 1 + UNATTENDED_PER_ROUND);
        assert_eq!(pending[0].1, Order::Remove(Vec::new()), "attended orders come first");
        for (path, _) in &pending {
            queue.resolve(path, Err(&"no space"));
        }
        assert_eq!(pending_orders(&data), 20 - UNATTENDED_PER_ROUND);
        let failed = fs::read_dir(&queue.dir).unwrap().flatten();
        let failed = failed.filter(|entry| entry.path().extension().is_some_and(|e| e == "failed"));
        assert_eq!(failed.count(), 1, "unattended orders get no report");
    }
}
