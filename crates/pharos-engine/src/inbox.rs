//! Orders to a running engine: a command that finds the data directory owned leaves its order in `inbox/`, and the
//! owner carries it out, as soon as it looks, between two groups of records.
//!
//! An order is a small file that appears by a rename and vanishes when it is done; what could not be done is told in
//! a file beside it. Who has no time to wait, a web page for one, leaves an order and goes; nobody is told then.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use pharos_core::config::Config;
use pharos_core::{PageUrl, SiteName, Timestamp};
use pharos_crawl::robots::is_robots_txt;
use pharos_index::Books;
use pharos_store::{
    Catalog, Content, CrawlRules, DataDir, Event, PageState, PageStory, Record, Removal, StoreError,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tracing::warn;

use crate::{Engine, EngineError};

/// Larger files are no orders.
const MAX_ORDER: u64 = 4 << 20;
/// How long the owner may take to react.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How the names of orders begin that nobody waits for: those that somebody waits for are named by numbers and come first.
const LEFT: &str = "left-";
/// Orders that were left are done so many at a time, so that an operator need not wait for all of them.
const LEFT_AT_ONCE: usize = 16;

/// What an operator wants done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Take these out for good.
    Remove(Vec<Removal>),
    /// Fetch these, as seeds of the crawl that runs.
    Add(Vec<PageUrl>),
    /// Put these before an operator.
    Propose(Vec<PageUrl>),
    /// Fetch these, which were proposed.
    Accept(Vec<PageUrl>),
    /// Do not fetch these, which were proposed.
    Refuse(Vec<PageUrl>),
    /// Fetch these again, now; those that are not known are added.
    Recrawl(Vec<PageUrl>),
    /// Fetch every known page of this site again.
    RecrawlSite(SiteName),
    /// Go by these rules from now on.
    Rules {
        /// A page of the crawl, because every record is about one.
        about: PageUrl,
        /// The rules.
        rules: Box<CrawlRules>,
    },
    /// Do something with the crawl itself.
    Crawl(CrawlOrder),
}

/// What to do with the crawl. It is not recorded: the next process crawls as it is told by who starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CrawlOrder {
    /// Begin no new requests.
    Pause,
    /// Begin new requests again.
    Resume,
    /// End it. The engine goes on serving.
    Stop,
    /// Begin again where it ended.
    Start,
}

impl Order {
    /// The events that this means, as they are recorded.
    pub(crate) fn records(&self, at: Timestamp, rules: CrawlRules, catalog: &dyn Catalog) -> Vec<Record> {
        match self {
            Self::Remove(removals) => removals
                .iter()
                .filter_map(|what| {
                    let url = match what {
                        Removal::Page(url) => url.clone(),
                        Removal::Site(site) => home_of(site)?,
                    };
                    let event = Event::Removed { what: what.clone() };
                    Some(Record::new(url, at, Content::Event(event)))
                })
                .collect(),
            Self::Add(seeds) => {
                let event = Event::CrawlStarted { seeds: seeds.clone(), rules };
                let first = seeds.first().cloned();
                first.map(|url| Record::new(url, at, Content::Event(event))).into_iter().collect()
            }
            Self::Propose(urls) => about(urls, at, &Event::Submitted),
            Self::Accept(urls) => about(urls, at, &Event::Decided { accepted: true }),
            Self::Refuse(urls) => about(urls, at, &Event::Decided { accepted: false }),
            Self::Recrawl(urls) => {
                let known = |url: &&PageUrl| catalog.page(url.id()).is_ok_and(|page| page.is_some());
                let (known, new): (Vec<&PageUrl>, Vec<&PageUrl>) = urls.iter().partition(known);
                let known: Vec<PageUrl> = known.into_iter().cloned().collect();
                let mut records = about(&known, at, &Event::Recrawl { whole_site: false });
                if !new.is_empty() {
                    records.extend(Self::Add(new.into_iter().cloned().collect()).records(at, rules, catalog));
                }
                records
            }
            Self::RecrawlSite(site) => {
                about(home_of(site).as_slice(), at, &Event::Recrawl { whole_site: true })
            }
            Self::Rules { about: url, rules } => {
                let event = Event::CrawlStarted { seeds: Vec::new(), rules: CrawlRules::clone(rules) };
                about(std::slice::from_ref(url), at, &event)
            }
            Self::Crawl(_) => Vec::new(),
        }
    }

    /// Does the catalog know of it, which was recorded then?
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
                // A robots.txt is never a page: nothing will ever come of it.
                let known = |url: &PageUrl| {
                    let sorted = url.with_sorted_query();
                    let is_copy = catalog.aliases()?.iter().any(|(home, _)| *home == url.home());
                    Ok(is_robots_txt(url)
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
            Self::Accept(urls) => decided(catalog, urls, true)?,
            Self::Refuse(urls) => decided(catalog, urls, false)?,
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
            Self::Crawl(_) => true,
        })
    }
}

/// A page of a site to record something of the site by.
pub(crate) fn home_of(site: &SiteName) -> Option<PageUrl> {
    PageUrl::parse(&format!("http://{}/", site.as_str())).ok()
}

/// Is it asked for again because of a word given then, or was it since?
fn is_due(page: &PageStory, at: Timestamp) -> bool {
    matches!(page.state, PageState::Waiting | PageState::Removed)
        || page.due.is_some_and(|due| due <= at)
        || page.visited_at.is_some_and(|visited| visited >= at)
}

fn about(urls: &[PageUrl], at: Timestamp, event: &Event) -> Vec<Record> {
    urls.iter().map(|url| Record::new(url.clone(), at, Content::Event(event.clone()))).collect()
}

fn decided(catalog: &dyn Catalog, urls: &[PageUrl], accepted: bool) -> Result<bool, StoreError> {
    let known = catalog.submissions()?;
    Ok(urls.iter().all(|url| known.iter().any(|s| s.url == *url && s.accepted == Some(accepted))))
}

/// The inbox of a data directory.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    dir: PathBuf,
}

impl Inbox {
    pub(crate) fn of(data: &DataDir) -> Self {
        Self { dir: data.root().join("inbox") }
    }

    /// Orders that wait, oldest first, with the files they stand in, and some of those that were left. One that cannot
    /// be read is set aside.
    pub(crate) fn waiting(&self) -> Vec<(PathBuf, Order)> {
        let mut paths = self.files();
        paths.sort();
        let first_left = paths.iter().position(|path| is_left(path)).unwrap_or(paths.len());
        paths.truncate(first_left + LEFT_AT_ONCE);
        let mut orders = Vec::new();
        for path in paths {
            match read(&path) {
                Ok(order) => orders.push((path, order)),
                Err(error) => self.answer(&path, Err(&error)),
            }
        }
        orders
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|e| e == "json")).collect()
    }

    /// Tells whoever ordered it how it went.
    pub(crate) fn answer(&self, path: &Path, done: Result<(), &dyn std::fmt::Display>) {
        match done {
            Ok(()) => {}
            Err(error) if is_left(path) => warn!(%error, "could not do what a visitor asked for"),
            Err(error) => {
                let _ = fs::write(path.with_extension("failed"), error.to_string());
            }
        }
        let _ = fs::remove_file(path);
    }

    /// Leaves an order that nobody waits for.
    fn leave(&self, order: &Order, most: usize) -> Result<Left, EngineError> {
        let bytes = serde_json::to_vec(order).unwrap_or_default();
        // Named after what it says: the same order twice is one.
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let path = self.dir.join(format!("{LEFT}{:016x}.json", hasher.finish()));
        if !path.exists() {
            if self.left() >= most {
                return Ok(Left::Full);
            }
            self.write(&path, &bytes)?;
        }
        Ok(Left::Waits)
    }

    /// Leaves an order that nobody waits for and that is carried out before those of visitors, after those left so before.
    pub(crate) fn leave_in_turn(&self, order: &Order) -> Result<(), EngineError> {
        let path = self.dir.join(format!("{LEFT}-{:020}.json", nanoseconds()));
        self.write(&path, &serde_json::to_vec(order).unwrap_or_default())
    }

    /// How many orders wait that were left.
    fn left(&self) -> usize {
        self.files().iter().filter(|path| is_left(path)).count()
    }

    /// Makes an order appear as a whole.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
        fs::create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        let unfinished = path.with_extension(format!("new{}", std::process::id()));
        fs::write(&unfinished, bytes)
            .and_then(|()| fs::rename(&unfinished, path))
            .map_err(StoreError::io("write", path))?;
        Ok(())
    }

    /// Leaves an order for the owner and waits until it is done.
    pub(crate) fn hand_over(
        &self,
        order: &Order,
        owner: &str,
        is_free: &dyn Fn() -> bool,
    ) -> Result<Handed, EngineError> {
        let path = self.dir.join(format!("{:020}-{}.json", nanoseconds(), std::process::id()));
        self.write(&path, &serde_json::to_vec(order).unwrap_or_default())?;
        let patience = Instant::now() + PATIENCE;
        for round in 1.. {
            if !path.exists() {
                break;
            }
            // Taken back, so that it is not done after all when nobody expects it any more.
            if Instant::now() > patience {
                let _ = fs::remove_file(&path);
                return Err(EngineError::OrderUnread { owner: owner.to_string() });
            }
            if round % 25 == 0 && is_free() && fs::remove_file(&path).is_ok() {
                return Ok(Handed::Back);
            }
            thread::sleep(Duration::from_millis(20));
        }
        let refused = path.with_extension("failed");
        match fs::read_to_string(&refused) {
            Ok(reason) => {
                let _ = fs::remove_file(&refused);
                Err(EngineError::OrderRefused { owner: owner.to_string(), reason })
            }
            Err(_) => Ok(Handed::Done),
        }
    }
}

/// Carries out an order: at once where nobody owns the data directory, by its owner otherwise.
pub fn carry_out(data: &DataDir, config: &Config, command: &str, order: &Order) -> Result<(), EngineError> {
    hand_in(data, config, command, order)?;
    if matches!(order, Order::Remove(_)) {
        // What was taken out is not suggested any more; books are made again without it.
        let models = data.models();
        Books::remove(&models).map_err(StoreError::io("remove the books in", &models))?;
    }
    Ok(())
}

/// Leaves an order for the owner and does not wait: it is carried out as soon as the owner looks, which is at once where
/// one runs and otherwise when the next one starts. At most `most` orders wait so.
pub fn leave(data: &DataDir, order: &Order, most: usize) -> Result<Left, EngineError> {
    Inbox::of(data).leave(order, most)
}

/// How many orders wait that were left.
pub fn left_orders(data: &DataDir) -> usize {
    Inbox::of(data).left()
}

/// What became of an order that was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It waits for the owner, perhaps since before.
    Waits,
    /// So many wait that it was not taken.
    Full,
}

fn hand_in(data: &DataDir, config: &Config, command: &str, order: &Order) -> Result<(), EngineError> {
    loop {
        match Engine::open(data.clone(), config.clone(), command, true) {
            Ok(_) if matches!(order, Order::Crawl(_)) => return Err(EngineError::NotRunning),
            Ok(engine) => {
                let (_stop, stopped) = watch::channel(false);
                let mut intake = engine.intake(&stopped)?;
                intake.carry_out(order)?;
                return intake.finish();
            }
            Err(EngineError::Store(StoreError::InUse { owner, .. })) => {
                let is_free = || data.own(command).is_ok();
                if Inbox::of(data).hand_over(order, &owner, &is_free)? == Handed::Done {
                    return Ok(());
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// What became of an order that was handed over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Handed {
    /// The owner did it.
    Done,
    /// The owner went away before it looked; the order was taken back.
    Back,
}

/// By which orders stand in the order they were given.
fn nanoseconds() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap_or_default().as_nanos()
}

fn is_left(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(LEFT))
}

fn read(path: &Path) -> io::Result<Order> {
    if fs::metadata(path)?.len() > MAX_ORDER {
        return Err(io::Error::other("an order of absurd size"));
    }
    serde_json::from_slice(&fs::read(path)?).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_handed_over_and_answered() {
        let dir = tempfile::tempdir().unwrap();
        let inbox = Inbox::of(&DataDir::at(dir.path()));
        let page = PageUrl::parse("http://example.org/secret").unwrap();
        let order = Order::Remove(vec![Removal::Page(page.clone()), Removal::Site(page.site())]);
        let owner = {
            let inbox = inbox.clone();
            thread::spawn(move || {
                let mut seen = Vec::new();
                while seen.len() < 2 {
                    for (path, order) in inbox.waiting() {
                        let refused = !seen.is_empty();
                        inbox.answer(&path, if refused { Err(&"no room") } else { Ok(()) });
                        seen.push(order);
                    }
                }
                seen
            })
        };
        assert_eq!(inbox.hand_over(&order, "up", &|| false).unwrap(), Handed::Done);
        let error = inbox.hand_over(&order, "up", &|| false).unwrap_err().to_string();
        assert!(error.contains("no room"), "{error}");
        assert_eq!(owner.join().unwrap(), [order.clone(), order]);
        assert_eq!(inbox.hand_over(&Order::Add(vec![page]), "crawl", &|| true).unwrap(), Handed::Back);
        fs::write(inbox.dir.join("rubbish.json"), "{").unwrap();
        assert!(inbox.waiting().is_empty() && !inbox.dir.join("rubbish.json").exists());
    }

    #[test]
    fn orders_that_nobody_waits_for_are_bounded_and_come_last() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let inbox = Inbox::of(&data);
        let order =
            |n: usize| Order::Propose(vec![PageUrl::parse(&format!("http://a.example/{n}")).unwrap()]);
        assert_eq!(left_orders(&data), 0);
        for n in 0..20 {
            assert_eq!(leave(&data, &order(n), 20).unwrap(), Left::Waits);
        }
        assert_eq!(leave(&data, &order(20), 20).unwrap(), Left::Full);
        assert_eq!(leave(&data, &order(3), 20).unwrap(), Left::Waits, "it waits already");
        assert_eq!(left_orders(&data), 20);
        inbox.write(&inbox.dir.join("00000000000000000001-1.json"), b"{\"remove\":[]}").unwrap();
        let waiting = inbox.waiting();
        assert_eq!(waiting.len(), 1 + LEFT_AT_ONCE);
        assert_eq!(waiting[0].1, Order::Remove(Vec::new()), "somebody waits for this one");
        for (path, _) in &waiting {
            inbox.answer(path, Err(&"no room"));
        }
        assert_eq!(left_orders(&data), 20 - LEFT_AT_ONCE);
        let failed = fs::read_dir(&inbox.dir).unwrap().flatten();
        let failed = failed.filter(|entry| entry.path().extension().is_some_and(|e| e == "failed"));
        assert_eq!(failed.count(), 1, "who left an order is told nothing");
    }
}
