//! Speed and size of the catalog, compared with a bare loop of SQLite inserts into the same table in the same run.
//!
//! `cargo run --release -p bench-store --bin catalog -- [PAGES] [DIRECTORY]`
//!
//! Batches are typical of a crawl: the links of 64 pages, 50 each, most of them on a few sites.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use pharos_core::{LibraryPosition, PageUrl, SiteName, Timestamp};
use pharos_store::{Catalog, SqliteCatalog};
use pharos_store::catalog::{CatalogChange, DueOrder, DiscoveredLink};
use rusqlite::{Connection, params};
use rustix::time::ClockId;

const LINKS_OF_A_PAGE: u64 = 50;
const BATCH: u64 = 64 * LINKS_OF_A_PAGE;
const SITES_OF_A_BATCH: u64 = 16;
const PAGES_OF_A_SITE: u64 = 500;
/// Number of batches before the contestants alternate.
const TURN: u64 = 50;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let pages: u64 = arguments.next().map_or(Ok(10_000_000), |n| n.replace('_', "").parse())?;
    let parent = arguments.next().map_or_else(env::temp_dir, Into::into);
    let dir = tempfile::tempdir_in(parent)?;
    let web = Web { sites: (pages / PAGES_OF_A_SITE).max(SITES_OF_A_BATCH), batches: pages.div_ceil(BATCH) };
    let (ours, theirs) = (dir.path().join("catalog.db"), dir.path().join("bare.db"));
    let mut catalog = Ours { catalog: SqliteCatalog::open_writer(&ours)?, applied: 0 };
    let mut bare = Bare::create(&theirs, &web)?;
    println!("{pages} pages on {} sites, {BATCH} links per batch", web.sites);

    let mut table = Table::default();
    let new = |n: u64| web.new_batch(n);
    let (most, last) = (web.batches - web.batches / 10, web.batches);
    table.line("new", contest(&mut catalog, &mut bare, 0..most, new)?);
    table.line("new, last tenth", contest(&mut catalog, &mut bare, most..last, new)?);
    let known = |n: u64| web.known_batch(n);
    table.line("known", contest(&mut catalog, &mut bare, 0..(web.batches / 5).clamp(20, 1_000), known)?);
    table.print();

    queries(&catalog.catalog, &web)?;
    drop((catalog, bare));
    size(&ours, &web)
}

/// Times of the catalog and of the bare loop for the same links.
#[derive(Default)]
struct Contest {
    links: u64,
    ours: Times,
    bare: Times,
}

/// Wall-clock and processor time; on a busy machine only the second is comparable.
#[derive(Clone, Copy, Default)]
struct Times {
    wall: Duration,
    processor: Duration,
}

impl Times {
    fn add(&mut self, work: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
        let (wall, processor) = (Instant::now(), processor_time()?);
        work()?;
        self.wall += wall.elapsed();
        self.processor += processor_time()? - processor;
        Ok(())
    }
}

fn processor_time() -> Outcome<Duration> {
    Ok(rustix::time::clock_gettime(ClockId::ThreadCPUTime).try_into()?)
}

/// Runs both on the same batches in turn, so that background load is shared.
fn contest(
    ours: &mut Ours,
    bare: &mut Bare,
    batches: std::ops::Range<u64>,
    make: impl Fn(u64) -> Vec<Link>,
) -> Outcome<Contest> {
    let mut contest = Contest::default();
    let mut next = batches.start;
    while next < batches.end {
        let turn = next..(next + TURN).min(batches.end);
        next = turn.end;
        let links: Vec<Vec<Link>> = turn.map(&make).collect();
        contest.links += links.iter().map(|b| b.len() as u64).sum::<u64>();
        let changes: Vec<Vec<CatalogChange>> = links.iter().map(|b| b.iter().map(Link::change).collect()).collect();
        contest.ours.add(|| changes.iter().try_for_each(|batch| ours.apply(batch)))?;
        let rows: Vec<Vec<Row<'_>>> = links.iter().map(|b| b.iter().map(Link::row).collect()).collect();
        contest.bare.add(|| rows.iter().try_for_each(|batch| bare.insert(batch)))?;
    }
    Ok(contest)
}

struct Ours {
    catalog: SqliteCatalog,
    applied: u64,
}

impl Ours {
    fn apply(&mut self, changes: &[CatalogChange]) -> Outcome<()> {
        self.applied += 1;
        self.catalog.apply(changes, &LibraryPosition::new(1, self.applied).into())?;
        Ok(())
    }
}

/// A bare loop of inserts into the catalog's table with its settings.
struct Bare {
    connection: Connection,
}

impl Bare {
    fn create(path: &Path, web: &Web) -> Outcome<Self> {
        drop(SqliteCatalog::open_writer(path)?);
        let mut connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "cache_size", -64 * 1024)?;
        connection.pragma_update(None, "wal_autocheckpoint", 16 * 1024)?;
        let transaction = connection.transaction()?;
        for site in 0..web.sites {
            let name = SiteName::from_stored(host(site));
            transaction.execute(
                "INSERT INTO sites (site, id, name) VALUES (?1, ?2, ?3)",
                params![site as i64, name.id().0.cast_signed(), name.as_str()],
            )?;
        }
        transaction.commit()?;
        Ok(Self { connection })
    }

    fn insert(&mut self, rows: &[Row<'_>]) -> Outcome<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO pages (site, page, path, https, state, depth, hops, found_at, anchor)
                 VALUES (?1, ?2, ?3, 1, 0, ?4, 0, ?5, ?6) ON CONFLICT DO NOTHING",
            )?;
            for row in rows {
                insert.execute(params![row.site, row.page, row.path, row.depth, row.at, row.anchor])?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
}

/// A link of the generated web.
struct Link {
    url: PageUrl,
    site: u64,
    depth: u32,
    at: i64,
    anchor: &'static str,
}

/// The same link for the bare loop, with nothing left to compute.
struct Row<'l> {
    site: i64,
    page: i64,
    path: &'l str,
    depth: u32,
    at: i64,
    anchor: &'static str,
}

impl Link {
    fn change(&self) -> CatalogChange {
        let at = Timestamp::from_millis(self.at);
        CatalogChange::Found(DiscoveredLink {
            anchor: self.anchor.to_string(),
            ..DiscoveredLink::new(self.url.clone(), self.depth, at)
        })
    }

    fn row(&self) -> Row<'_> {
        Row {
            site: self.site as i64,
            page: self.url.id().page().cast_signed(),
            path: self.url.path_and_query(),
            depth: self.depth,
            at: self.at,
            anchor: self.anchor,
        }
    }
}

const ANCHORS: [&str; 6] = [
    "Home",
    "read more",
    "The harbour at night",
    "新闻中心",
    "A lighthouse keeper's diary, 1911",
    "Next page",
];

/// The generated web: link `n` is a function of `n`.
struct Web {
    sites: u64,
    batches: u64,
}

impl Web {
    fn link(&self, n: u64) -> Link {
        let random = mix(n);
        let of_batch = (random % 10 < 9).then(|| mix(n / BATCH * 1_000 + (random >> 8) % SITES_OF_A_BATCH));
        // Squared, so that few sites are large.
        let part = (of_batch.unwrap_or(random) >> 11) as f64 / (1u64 << 53) as f64;
        let site = ((part * part) * self.sites as f64) as u64;
        let (year, month) = (2000 + random % 26, 1 + random % 12);
        let word = ["harbour", "lighthouse-keeper", "news", "tides-and-winds"][(random >> 20) as usize % 4];
        let text = format!("https://{}/articles/{year}/{month:02}/{word}-{n}.html", host(site));
        Link {
            url: PageUrl::parse(&text).expect("generated addresses are valid"),
            site,
            depth: 2 + (random >> 30) as u32 % 6,
            at: 1_790_000_000_000 + (n / LINKS_OF_A_PAGE * 37) as i64,
            anchor: ANCHORS[(random >> 40) as usize % ANCHORS.len()],
        }
    }

    fn new_batch(&self, batch: u64) -> Vec<Link> {
        (batch * BATCH..(batch + 1) * BATCH).map(|n| self.link(n)).collect()
    }

    /// Returns known links, from four moments of the crawl.
    fn known_batch(&self, batch: u64) -> Vec<Link> {
        (0..BATCH)
            .map(|i| {
                let earlier = mix(batch * 4 + i % 4) % self.batches;
                self.link(earlier * BATCH + mix(batch + i) % BATCH)
            })
            .collect()
    }

    fn links(&self) -> impl Iterator<Item = Link> {
        (0..self.batches * BATCH).map(|n| self.link(n))
    }
}

fn host(site: u64) -> String {
    format!("www.site-{site}.example")
}

/// SplitMix64.
fn mix(n: u64) -> u64 {
    let mut z = n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[derive(Default)]
struct Table(Vec<String>);

impl Table {
    fn line(&mut self, what: &str, contest: Contest) {
        let links = contest.links;
        let rate = |time: Duration| links as f64 / time.as_secs_f64();
        let (ours, bare) = (rate(contest.ours.wall), rate(contest.bare.wall));
        let (our_cpu, bare_cpu) = (rate(contest.ours.processor), rate(contest.bare.processor));
        self.0.push(format!(
            "{what:<16} {links:>10} {ours:>11.0} {bare:>11.0} {:>6.2} {our_cpu:>13.0} {bare_cpu:>13.0} {:>6.2}",
            ours / bare,
            our_cpu / bare_cpu
        ));
    }

    fn print(&self) {
        println!(
            "{:<16} {:>10} {:>11} {:>11} {:>6} {:>13} {:>13} {:>6}",
            "", "links", "catalog/s", "bare/s", "ratio", "catalog/cpu s", "bare/cpu s", "ratio"
        );
        for line in &self.0 {
            println!("{line}");
        }
    }
}

fn queries(catalog: &SqliteCatalog, web: &Web) -> Outcome<()> {
    let now = Timestamp::from_millis(1_900_000_000_000);
    let largest = catalog.sites(1)?.remove(0);
    let site = largest.site.id();
    let pages = largest.pages;
    time(&format!("100 due pages of the largest site ({pages} pages)"), 20, |_| {
        Ok(catalog.due_pages(site, now, DueOrder::Nearest, 100)?.len())
    })?;
    time("100 due pages of any site", 1_000, |n| {
        let site = SiteName::from_stored(host(mix(n) % web.sites)).id();
        Ok(catalog.due_pages(site, now, DueOrder::Nearest, 100)?.len())
    })?;
    time("report of a page", 10_000, |n| {
        let url = web.link(mix(n) % (web.batches * BATCH)).url;
        Ok(usize::from(catalog.page(url.id())?.is_some()))
    })?;
    time("100 least recently visited sites", 100, |_| Ok(catalog.least_recently_visited(100)?.len()))?;
    time("all sites with due pages", 3, |_| Ok(catalog.due_sites(now)?.len()))?;
    time("next due time", 3, |_| Ok(usize::from(catalog.next_due(now)?.is_some())))?;
    time("counts", 3, |_| Ok(catalog.counts()?.pages as usize))?;
    Ok(())
}

fn time(what: &str, times: u64, ask: impl Fn(u64) -> Outcome<usize>) -> Outcome<()> {
    let start = Instant::now();
    let mut given = 0;
    for n in 0..times {
        given = ask(n)?;
    }
    println!("{what}: {:.3} ms ({given} results)", start.elapsed().as_secs_f64() * 1e3 / times as f64);
    Ok(())
}

/// Prints the final file size beside the total length of the addresses.
fn size(path: &Path, web: &Web) -> Outcome<()> {
    let (mut urls, mut text, mut anchors) = (0u64, 0u64, 0u64);
    for link in web.links() {
        urls += 1;
        text += link.url.as_str().len() as u64;
        anchors += link.anchor.len() as u64;
    }
    let bytes = fs::metadata(path)?.len();
    let each = |bytes: u64| bytes as f64 / urls as f64;
    println!(
        "{bytes} bytes on disk, {:.1} per page: {:.1} beyond its address ({:.1}), {:.1} beyond address and anchor ({:.1})",
        each(bytes),
        each(bytes - text),
        each(text),
        each(bytes - text - anchors),
        each(anchors),
    );
    Ok(())
}
