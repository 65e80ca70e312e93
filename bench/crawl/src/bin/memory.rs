//! Memory of a crawl with many known pages, compared with the same crawl with few.
//!
//! `cargo run --release -p bench-crawl --bin memory -- [PAGES…] [--for SECONDS] [--dir DIRECTORY]`
//!
//! A catalog is filled, and a separate process continues the crawl for a while. Every page links to known and to new
//! pages; nothing is stored in a library. This measures the crawl loop, its frontier and its catalog.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bench_crawl::{memory, peak_memory, serve};
use pharos_core::config::{CrawlConfig, PolitenessProfile, LinkScope};
use pharos_core::{Clock as _, LibraryPosition, Link, LinkKind, PageUrl, SystemClock, Timestamp};
use pharos_crawl::{AppliedRecords, Crawl, rules_from_config};
use pharos_store::interpret::{CrawlScope, PageSummary, interpret};
use pharos_store::{Catalog, RecordContent, LibraryEvent, LibraryRecord, SqliteCatalog, StoredRecord};
use pharos_store::catalog::{CatalogChange, DiscoveredLink};
use tokio::sync::{mpsc, watch};

#[global_allocator]
static ALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PAGES_OF_A_SITE: u64 = 500;
const BATCH: u64 = 10_000;
/// Links per fetched page; every tenth leads to a new page.
const LINKS: u64 = 30;
/// Maximum number of records applied together.
const GROUP: usize = 64;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    if let [first, port, catalog, pages, seconds] = arguments.as_slice()
        && first == "--crawl"
    {
        let time = Duration::from_secs(seconds.parse()?);
        return runtime.block_on(crawl(port, Path::new(catalog), pages.parse()?, time));
    }
    let (mut seconds, mut parent, mut sizes) = (30, std::env::temp_dir(), Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--for" => seconds = arguments.next().ok_or("how long?")?.parse()?,
            "--dir" => parent = PathBuf::from(arguments.next().ok_or("which directory?")?),
            pages => sizes.push(pages.replace('_', "").parse()?),
        }
    }
    if sizes.is_empty() {
        sizes = vec![1_000_000, 10_000_000];
    }
    let page = async |_, path: String| if path == "/robots.txt" { String::new() } else { "<p>a page".into() };
    let address = runtime.block_on(serve(page))?;
    println!(
        "{:>10} {:>10} {:>10} {:>10} {:>12} {:>12}",
        "pages", "requests", "MB now", "peak MB", "above empty", "per page"
    );
    let mut empty = None;
    for pages in std::iter::once(PAGES_OF_A_SITE).chain(sizes) {
        let dir = tempfile::tempdir_in(&parent)?;
        let catalog = dir.path().join("catalog.db");
        fill(&catalog, address.port(), pages)?;
        let mut child = Command::new(std::env::current_exe()?);
        child.arg("--crawl").arg(address.port().to_string()).arg(&catalog);
        let output = child.args([pages.to_string(), seconds.to_string()]).output()?;
        let figures = String::from_utf8(output.stdout)?;
        let figures: Vec<f64> = figures.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        let [requests, now, most] = figures[..] else {
            return Err(format!("the crawl failed: {}", String::from_utf8_lossy(&output.stderr)).into());
        };
        let above = most - *empty.get_or_insert(most);
        println!(
            "{pages:>10} {requests:>10} {:>10.1} {:>10.1} {:>9.1} MB {:>10.1} B",
            now / 1e6,
            most / 1e6,
            above / 1e6,
            above / pages as f64
        );
    }
    Ok(())
}

fn page_url(port: u16, number: u64, sites: u64) -> Outcome<PageUrl> {
    let (site, word) =
        (number % sites, ["harbour", "lighthouse-keeper", "news", "tides-and-winds"][(number % 4) as usize]);
    Ok(PageUrl::parse(&format!(
        "http://www.site-{site}.example:{port}/articles/{}/{word}-{number}.html",
        2000 + number % 26
    ))?)
}

/// Creates a catalog with this number of known pages, none fetched.
fn fill(path: &Path, port: u16, pages: u64) -> Outcome<()> {
    let catalog = SqliteCatalog::open_writer(path)?;
    let sites = (pages / PAGES_OF_A_SITE).max(1);
    for batch in 0..pages.div_ceil(BATCH) {
        let numbers = batch * BATCH..((batch + 1) * BATCH).min(pages);
        let found = numbers.map(|number| {
            let at = Timestamp::from_millis(1_790_000_000_000 + number as i64);
            let (url, depth) = (page_url(port, number, sites)?, 1 + (number / sites % 8) as u32);
            Ok(CatalogChange::Found(DiscoveredLink { anchor: "The harbour at night".into(), ..DiscoveredLink::new(url, depth, at) }))
        });
        let changes = found.collect::<Outcome<Vec<CatalogChange>>>()?;
        catalog.apply(&changes, &LibraryPosition::new(1, batch + 1).into())?;
    }
    Ok(())
}

async fn crawl(port: &str, path: &Path, pages: u64, time: Duration) -> Outcome<()> {
    let catalog: Arc<dyn Catalog> = Arc::new(SqliteCatalog::open_writer(path)?);
    let config = Arc::new(CrawlConfig {
        allow_private: true,
        politeness: PolitenessProfile::OwnSite,
        scope: LinkScope::Any,
        run_for: time,
        resolve: vec![format!("*:{port}:127.0.0.1")],
        ..CrawlConfig::default()
    });
    let (records, arriving) = mpsc::channel(256);
    let (sender, applied) = mpsc::unbounded_channel();
    let writer = CatalogWriter {
        scoping: CrawlScope::load(&*catalog, rules_from_config(&config), config.seen_memory)?,
        at: catalog.applied_positions()?.get(0),
        catalog: catalog.clone(),
        config: config.clone(),
        port: port.parse()?,
        pages,
    };
    let writing = std::thread::spawn(move || writer.run(arriving, &sender));
    let (_stop, stop) = watch::channel(false);
    let clock = Arc::new(SystemClock);
    let status = Arc::default();
    let summary = pharos_crawl::run_crawl(Crawl {
        config,
        catalog,
        clock,
        records,
        applied,
        status,
        keep_going: true,
        rules_changed: false,
        stop,
    })
    .await?;
    let (now, most) = (memory()?, peak_memory()?);
    writing.join().map_err(|_| "the writer of the catalog crashed")??;
    println!("{} {now} {most}", summary.pages);
    Ok(())
}

/// Applies records like the engine, but only to the catalog.
struct CatalogWriter {
    scoping: CrawlScope,
    at: LibraryPosition,
    catalog: Arc<dyn Catalog>,
    config: Arc<CrawlConfig>,
    port: u16,
    pages: u64,
}

impl CatalogWriter {
    fn run(
        mut self,
        mut records: mpsc::Receiver<LibraryRecord>,
        sender: &mpsc::UnboundedSender<AppliedRecords>,
    ) -> Outcome<()> {
        let started =
            LibraryEvent::CrawlStarted { seeds: vec![page_url(self.port, 0, 1)?], rules: rules_from_config(&self.config) };
        self.apply(vec![LibraryRecord::new(
            page_url(self.port, 0, 1)?,
            SystemClock.now(),
            RecordContent::Event(started),
        )])?;
        while let Some(first) = records.blocking_recv() {
            let mut group = vec![first];
            while group.len() < GROUP
                && let Ok(record) = records.try_recv()
            {
                group.push(record);
            }
            // The crawl may have ended, and with it the receiver.
            let _ = sender.send(self.apply(group)?);
        }
        Ok(())
    }

    fn apply(&mut self, group: Vec<LibraryRecord>) -> Outcome<AppliedRecords> {
        let mut all = Vec::new();
        let pages: Vec<_> = group.iter().map(|record| record.url.id()).collect();
        for record in group {
            let position = self.at;
            self.at.offset += 1;
            let links = self.links(position.offset)?;
            let facts = matches!(record.content, RecordContent::Response(_)).then_some(PageSummary {
                links,
                digest: position.offset,
                ..PageSummary::default()
            });
            let stored = StoredRecord { position, next: self.at, record };
            all.extend(interpret(&mut self.scoping, &self.config, &stored, facts.as_ref()).catalog);
        }
        let applied = self.catalog.apply(&all, &self.at.into())?;
        Ok(AppliedRecords { pages, due_sites: applied.due_sites, ..AppliedRecords::default() })
    }

    fn links(&self, page: u64) -> Outcome<Vec<Link>> {
        let sites = (self.pages / PAGES_OF_A_SITE).max(1);
        (0..LINKS)
            .map(|link| {
                let mixed = (page * LINKS + link).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
                // The crawl with few known pages must stay small.
                let is_new = link % 10 == 0 && self.pages > PAGES_OF_A_SITE;
                let number = if is_new { self.pages + page * LINKS + link } else { mixed % self.pages };
                let url = page_url(self.port, number, sites)?;
                Ok(Link { url, anchor: "read on".into(), kind: LinkKind::Page, rel: String::new() })
            })
            .collect()
    }
}
