//! Query times of the operator's desk on ten thousand sites and ten million pages.
//!
//! `cargo run --release -p bench-store --bin desk -- [SITES] [PAGES] [DIRECTORY]`
//!
//! The pages are on sites of very different sizes; one in ten is stored, one in twenty failed, one in thirty was
//! refused and the rest is pending. Each query of the desk is run many times by its own reader, first alone, then
//! beside a continuous writer. The peer is SQLite on the same tables without the counts and indexes that exist for the
//! desk. Finally the file is converted to format 3 and migrated back.

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use pharos_core::{LibraryPosition, PageUrl, SiteName, Timestamp};
use pharos_store::catalog::{ResponseSummary, CatalogChange, DiscoveredLink, VisitOutcome, SiteOrder, SiteQuery, SiteState, PageFailure, PageFailureQuery, PageProblem};
use pharos_store::{Catalog, SqliteCatalog};
use rusqlite::Connection;
use rustix::time::ClockId;

/// Number of pages added at once.
const BATCH: u64 = 100_000;
/// Rows of a table on the desk.
const ROWS: usize = 50;
/// Maximum response time of the desk.
const MAX_TIME: Duration = Duration::from_millis(300);

type Given<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Given<()> {
    let mut arguments = env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |n| n.replace('_', "").parse::<u64>());
    let web = Web { sites: number(10_000)?.max(1), pages: number(10_000_000)? };
    let parent = arguments.next().map_or_else(env::temp_dir, Into::into);
    let dir = tempfile::tempdir_in(parent)?;
    let path = dir.path().join("catalog.db");
    let catalog = SqliteCatalog::open_writer(&path)?;
    let start = Instant::now();
    fill(&catalog, &web)?;
    let counts = catalog.counts()?;
    println!(
        "{} pages on {} sites: {} pending, {} stored, {} failed, {} refused; filled in {:.0} s, {} MB",
        counts.pages,
        counts.sites,
        counts.waiting,
        counts.stored,
        counts.failed,
        counts.refused,
        start.elapsed().as_secs_f64(),
        size(dir.path())? >> 20
    );
    let reader = SqliteCatalog::open_reader(&path)?.ok_or("there is no catalog")?;
    let questions = questions(&reader, &web)?;
    println!("\nalone\n{HEAD}");
    ask(&reader, &questions)?;
    println!("\nbeside a writer\n{HEAD}");
    let (stop, pages) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let writer = scope.spawn(|| keep_writing(&catalog, &web, &stop, &pages));
        let start = Instant::now();
        let asked = ask(&reader, &questions);
        stop.store(true, Ordering::Relaxed);
        let rate = pages.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
        println!("(the writer added {rate:.0} links per second)");
        writer.join().map_err(|_| "the writer failed")??;
        asked
    })?;
    println!("\nSQLite without the counts and indexes\n{HEAD}");
    peers(&path)?;
    drop((reader, catalog));
    from_format_3(&path)
}

/// Returns the size of the file and its write-ahead log.
fn size(dir: &Path) -> Given<u64> {
    let mut bytes = 0;
    for file in fs::read_dir(dir)? {
        bytes += file?.metadata()?.len();
    }
    Ok(bytes)
}

/// The generated web: page `n` is a function of `n`.
struct Web {
    sites: u64,
    pages: u64,
}

impl Web {
    /// Returns the site of a page. Few sites are large: of ten thousand, the first has a hundredth of all pages.
    fn site(&self, n: u64) -> u64 {
        let part = (n as f64 + 0.5) / self.pages as f64;
        ((part * part * self.sites as f64) as u64).min(self.sites - 1)
    }

    fn url(&self, n: u64) -> PageUrl {
        let random = mix(n);
        let (year, month) = (2000 + random % 26, 1 + random % 12);
        let text = format!("https://{}/articles/{year}/{month:02}/news-{n}.html", host(self.site(n)));
        PageUrl::parse(&text).expect("generated addresses are valid")
    }

    /// Returns the discovery of the page, and the outcome of its fetch, if it was fetched.
    fn changes(&self, n: u64) -> impl Iterator<Item = CatalogChange> {
        let (url, random) = (self.url(n), mix(n ^ 0xDE5C));
        let found_at = Timestamp::from_millis(1_790_000_000_000);
        let at = Timestamp::from_millis(1_790_000_000_000 + (random >> 16) as i64 % 2_592_000_000);
        let due = Some(at.plus(Duration::from_secs(86_400)));
        let attempt = 1 + (random >> 8) as u32 % 3;
        let outcome = match random % 60 {
            0..6 => {
                let position = LibraryPosition::new(1, n + 1);
                let indexable = random & 64 == 0;
                Some(VisitOutcome::Responded(ResponseSummary {
                    status: 200,
                    position,
                    digest: random,
                    indexable,
                    ..ResponseSummary::default()
                }))
            }
            6..9 => Some(VisitOutcome::Failed { reason: reason(random), attempt }),
            9..11 => {
                Some(VisitOutcome::Refused { reason: format!("robots.txt: /articles/{}/", 2000 + random % 26) })
            }
            _ => None,
        };
        let seed = (n == 0).then(|| CatalogChange::Seed {
            url: url.clone(),
            at: found_at,
            hops: 0,
            origin: None,
            stale_before: None,
        });
        let found =
            CatalogChange::Found(DiscoveredLink { anchor: "read more".into(), ..DiscoveredLink::new(url.clone(), 3, found_at) });
        let visited = outcome.map(|outcome| CatalogChange::Visited { url, at, outcome, next_due: due });
        seed.into_iter().chain([found]).chain(visited)
    }
}

fn reason(random: u64) -> String {
    match (random >> 24) % 100 {
        0..40 => format!("timed out after {} s connecting", 5 + random % 60),
        40..70 => "connection refused".to_string(),
        70..90 => "name not found".to_string(),
        90..98 => format!("address 10.0.{}.{} is private", random % 256, (random >> 8) % 256),
        _ => "tls: the certificate has expired".to_string(),
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

fn fill(catalog: &SqliteCatalog, web: &Web) -> Given<()> {
    let mut n = 0;
    while n < web.pages {
        let end = (n + BATCH).min(web.pages);
        let changes: Vec<CatalogChange> = (n..end).flat_map(|n| web.changes(n)).collect();
        catalog.apply(&changes, &LibraryPosition::new(1, end).into())?;
        n = end;
    }
    // Some servers send Retry-After, and some sites are mirrors.
    let home = |site| PageUrl::parse(&format!("https://{}/", host(site)));
    let (at, until) = (Timestamp::from_millis(1_790_000_000_000), Timestamp::from_millis(1_800_000_000_000));
    let mut changes = Vec::new();
    for site in (0..web.sites).step_by(97) {
        changes.push(CatalogChange::BackOff { site: home(site)?.site(), at, until });
        if site % 2 == 1 {
            changes.push(CatalogChange::Alias { home: home(site)?, of: home(site - 1)? });
        }
    }
    catalog.apply(&changes, &LibraryPosition::new(2, 1).into())?;
    Ok(())
}

/// Writes like a crawl: the links of 64 pages at a time, without a break.
fn keep_writing(catalog: &SqliteCatalog, web: &Web, stop: &AtomicBool, pages: &AtomicU64) -> Given<()> {
    let mut batch = 0;
    while !stop.load(Ordering::Relaxed) {
        batch += 1;
        let changes: Vec<CatalogChange> = (0..3_200)
            .map(|i| {
                let n = mix(batch * 3_200 + i);
                let text = format!("https://{}/new/{n}.html", host(mix(batch * 16 + i % 16) % web.sites));
                let url = PageUrl::parse(&text)?;
                Ok(CatalogChange::Found(DiscoveredLink::new(url, 4, Timestamp::from_millis(1_795_000_000_000))))
            })
            .collect::<Given<_>>()?;
        catalog.apply(&changes, &LibraryPosition::new(3, batch).into())?;
        pages.fetch_add(3_200, Ordering::Relaxed);
    }
    Ok(())
}

type Ask = Box<dyn Fn(&SqliteCatalog, u64) -> Given<usize>>;

/// A query of the desk and its number of repetitions.
struct Question {
    what: String,
    times: u64,
    ask: Ask,
}

fn questions(catalog: &SqliteCatalog, web: &Web) -> Given<Vec<Question>> {
    let mut questions = Vec::new();
    let mut add = |what: &str, times, ask: Ask| questions.push(Question { what: what.into(), times, ask });
    let sites = |wanted: SiteQuery| -> Ask { Box::new(move |c, _| Ok(c.list_sites(&wanted)?.rows.len())) };
    let all = SiteQuery { limit: ROWS, ..SiteQuery::default() };
    add("sites: first page", 200, sites(all.clone()));
    for order in
        [SiteOrder::Stored, SiteOrder::Failed, SiteOrder::Waiting, SiteOrder::Visited, SiteOrder::Name]
    {
        add(&format!("sites: first page, by {order:?}"), 50, sites(SiteQuery { order, ..all.clone() }));
    }
    let last = (web.sites as usize).saturating_sub(ROWS);
    add("sites: last page", 200, sites(SiteQuery { offset: last, ..all.clone() }));
    for state in [
        SiteState::Seed,
        SiteState::Waiting,
        SiteState::Failing,
        SiteState::Refused,
        SiteState::BackingOff,
        SiteState::Copy,
    ] {
        add(&format!("sites: {state:?}"), 50, sites(SiteQuery { state: Some(state), ..all.clone() }));
    }
    for part in ["SITE-12", "site-4711.ex", "unheard-of"] {
        add(&format!("sites: named {part}"), 100, sites(SiteQuery { contains: part.into(), ..all.clone() }));
    }
    let (sites_known, largest) = (web.sites, SiteName::from_stored(host(0)).id());
    add(
        "a site",
        1_000,
        Box::new(move |c, n| {
            let site = SiteName::from_stored(host(mix(n) % sites_known)).id();
            Ok(usize::from(c.site_row(site)?.is_some()))
        }),
    );
    let failures = |wanted: PageFailureQuery| -> Ask { Box::new(move |c, _| Ok(c.failures(&wanted)?.len())) };
    let newest = PageFailureQuery { limit: ROWS, ..PageFailureQuery::default() };
    add("errors: first page", 200, failures(newest.clone()));
    for state in [PageProblem::Failed, PageProblem::Refused] {
        add(
            &format!("errors: {state:?}"),
            200,
            failures(PageFailureQuery { problem: Some(state), ..newest.clone() }),
        );
    }
    add(
        "troubles: of the largest site",
        200,
        failures(PageFailureQuery { site: Some(largest), ..newest.clone() }),
    );
    let deep = far_back(catalog, &newest)?;
    add("troubles: the last page", 200, failures(PageFailureQuery { before: deep, ..newest.clone() }));
    for part in ["TIMED OUT", "certificate", "after 64 s connecting", "unheard-of"] {
        let wanted = PageFailureQuery { contains: part.into(), ..newest.clone() };
        add(&format!("troubles: saying {part}"), 50, failures(wanted.clone()));
        if part == "unheard-of" {
            add(
                "troubles: of the largest site, saying it",
                50,
                failures(PageFailureQuery { site: Some(largest), ..wanted.clone() }),
            );
            add("troubles: far back, saying it", 50, failures(PageFailureQuery { before: deep, ..wanted }));
        }
    }
    for of in [1_000, 10_000, 20_000] {
        add(
            &format!("reasons of the newest {of}"),
            50,
            Box::new(move |c, _| Ok(c.failure_reasons(of)?.len())),
        );
    }
    let (sites, pages) = (web.sites, web.pages);
    add(
        "a page as if it were due",
        1_000,
        Box::new(move |c, n| {
            let url = Web { sites, pages }.url(mix(n) % pages);
            Ok(usize::from(c.due_page(url.id())?.is_some()))
        }),
    );
    add("counts", 100, Box::new(|c, _| Ok(c.counts()?.pages as usize)));
    Ok(questions)
}

/// Returns the start of the last page of errors, by paging through all others.
fn far_back(
    catalog: &SqliteCatalog,
    newest: &PageFailureQuery,
) -> Given<Option<(Timestamp, pharos_core::PageId)>> {
    let place = |t: &PageFailure| (t.at, t.url.id());
    let (mut before, mut walked, start) = (None, 0, Instant::now());
    loop {
        let part = catalog.failures(&PageFailureQuery { before, limit: 1_000, ..newest.clone() })?;
        walked += part.len();
        if part.len() < 1_000 {
            println!("paged through {walked} errors in {:.1} s", start.elapsed().as_secs_f64());
            return Ok(if part.len() > ROWS { Some(place(&part[part.len() - ROWS - 1])) } else { before });
        }
        before = part.last().map(place);
    }
}

const HEAD: &str = "                                                    given     p50 ms     p99 ms     max ms  cpu p50  cpu max";

fn ask(catalog: &SqliteCatalog, questions: &[Question]) -> Given<()> {
    for question in questions {
        time(&question.what, question.times, |n| (question.ask)(catalog, n))?;
    }
    Ok(())
}

/// Measures wall-clock and processor time; on a busy machine only the second is comparable.
fn time(what: &str, times: u64, ask: impl Fn(u64) -> Given<usize>) -> Given<()> {
    let mut given = 0;
    let (mut wall, mut processor) = (Vec::new(), Vec::new());
    for n in 0..times {
        let (start, spent) = (Instant::now(), processor_time()?);
        given = ask(n)?;
        wall.push(start.elapsed());
        processor.push(processor_time()?.saturating_sub(spent));
    }
    let ms = |times: &mut Vec<Duration>, part: f64| {
        times.sort_unstable();
        times[((times.len() - 1) as f64 * part).round() as usize].as_secs_f64() * 1e3
    };
    let [p50, p99, max] = [0.5, 0.99, 1.0].map(|part| ms(&mut wall, part));
    let [cpu_p50, cpu_max] = [0.5, 1.0].map(|part| ms(&mut processor, part));
    let late = if max > MAX_TIME.as_secs_f64() * 1e3 { "  late" } else { "" };
    println!(
        "{what:<46} {given:>10} {p50:>10.2} {p99:>10.2} {max:>10.2} {cpu_p50:>8.2} {cpu_max:>8.2}{late}"
    );
    Ok(())
}

fn processor_time() -> Given<Duration> {
    Ok(rustix::time::clock_gettime(ClockId::ThreadCPUTime).try_into()?)
}

/// Runs the same queries on the tables alone.
fn peers(path: &Path) -> Given<()> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "cache_size", -8 * 1024)?;
    let failures = |condition: &str| {
        format!(
            "SELECT s.name, p.path, v.reason, v.visited_at
             FROM visits v NOT INDEXED CROSS JOIN pages p USING (site, page) CROSS JOIN sites s USING (site)
             WHERE v.reason IS NOT NULL AND p.state IN (2, 3) {condition} ORDER BY v.visited_at DESC LIMIT {ROWS}"
        )
    };
    let sites = format!(
        "SELECT s.name, count(*) AS pages, sum(p.state = 0), sum(p.state = 1), sum(p.state = 2), sum(p.state = 3)
         FROM sites s JOIN pages p USING (site) GROUP BY s.site ORDER BY pages DESC LIMIT {ROWS}"
    );
    for (what, sql) in [
        ("sites: first page", sites),
        ("errors: first page", failures("")),
        ("troubles: Refused", failures("AND p.state = 3")),
        ("troubles: saying certificate", failures("AND v.reason LIKE '%certificate%'")),
        ("troubles: saying unheard-of", failures("AND v.reason LIKE '%unheard-of%'")),
    ] {
        time(what, 3, |_| {
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map([], |r| r.get::<_, String>(0))?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?.len())
        })?;
    }
    Ok(())
}

fn from_format_3(path: &Path) -> Given<()> {
    Connection::open(path)?.execute_batch(
        "DROP INDEX troubles; DROP INDEX troubles_of_site; ALTER TABLE visits DROP COLUMN trouble;
         ALTER TABLE sites DROP COLUMN asked_at; ALTER TABLE sites DROP COLUMN recrawl_at;
         ALTER TABLE visits DROP COLUMN rate; ALTER TABLE visits DROP COLUMN rhythm; PRAGMA user_version = 3;",
    )?;
    let start = Instant::now();
    let catalog = SqliteCatalog::open_writer(path)?;
    let took = start.elapsed().as_secs_f64();
    let failures = catalog.failures(&PageFailureQuery { limit: ROWS, ..PageFailureQuery::default() })?.len();
    println!("\nmigrated from format 3 in {took:.1} s ({failures} errors on the first page)");
    Ok(())
}
