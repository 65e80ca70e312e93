//! Property test: every way in which a record reaches the stores gives it the same meaning.
//!
//! Random sequences of records go through the live stages. The library that results is replayed, rebuilt, built into a
//! history, exported, imported and examined. Catalog and searchable pages must be the same each time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_index::Query;
use pharos_store::catalog::{PageDetails, PageVersion, Removal};
use pharos_store::{CrawlRules, DataDir, LibraryEvent, LibraryRecord, RawResponse, RecordContent};
use proptest::prelude::*;
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

use crate::exchange::export::{ExportSelection, ExportTarget};
use crate::maintenance::doctor::Repair;
use crate::maintenance::rebuild::RebuildPart;
use crate::stages::append_stage::{AppendStage, queue_records};
use crate::stages::ingest::IngestPipeline;
use crate::stores::test_stores;
use crate::{Engine, ExportFormat, ImportSources, build_history, compact, doctor, export, import, rebuild};

const SITES: [&str; 3] = ["http://a.example", "http://b.example", "https://c.example"];
const PATHS: [&str; 3] = ["/", "/1", "/2"];

/// One record of a sequence, before it has a time.
#[derive(Clone, Debug)]
struct Step {
    site: usize,
    path: usize,
    /// Seconds between this record and the newest time so far; imports are older.
    age: i64,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// A visit of the crawler.
    Visit {
        answer: Answer,
        is_refetch: bool,
        attempt: u32,
    },
    /// A visit to a sitemap with this number of pages.
    Sitemap(usize),
    /// A record of another program, of any age.
    Import(Answer),
    Robots(Answer),
    RobotsFailed,
    Event(LibraryEvent),
    RemoveSite,
    RemovePage,
    Mirror {
        of: usize,
    },
}

#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    /// Number of the body.
    body: usize,
}

impl Answer {
    fn response(&self) -> RawResponse {
        let text = format!("The keeper lights lamp {} every evening. ", self.body).repeat(12);
        let link = format!("<a href=/{}>next</a>", self.body);
        let body = match (self.status, self.body) {
            (200, 3) => format!("<title>Hidden</title><meta name=robots content=noindex><p>{text}"),
            (200, 4) => String::new(),
            (200, n) => format!("<title>Lamp {n}</title><p>{text}{link}"),
            _ => String::new(),
        };
        let mut headers = vec![("Content-Type".to_string(), "text/html".to_string())];
        if (300..400).contains(&self.status) && self.status != 304 {
            headers.push(("Location".into(), format!("/{}", self.body)));
        }
        RawResponse { status: self.status, headers, body: body.into(), ..RawResponse::default() }
    }
}

fn answer() -> impl Strategy<Value = Answer> {
    let status = prop_oneof![
        8 => Just(200u16),
        2 => Just(304),
        2 => Just(301),
        3 => Just(404),
        1 => Just(410),
        1 => Just(403),
        1 => Just(429),
        2 => Just(503),
        1 => Just(500),
    ];
    (status, 0..5usize).prop_map(|(status, body)| Answer { status, body })
}

fn event() -> impl Strategy<Value = LibraryEvent> {
    let reason = || "a reason".to_string();
    prop_oneof![
        2 => Just(LibraryEvent::Failed { reason: reason() }),
        3 => Just(LibraryEvent::Refused { reason: reason() }),
        3 => Just(LibraryEvent::Deleted),
        1 => Just(LibraryEvent::Submitted),
        1 => any::<bool>().prop_map(|accepted| LibraryEvent::Decided { accepted }),
        1 => any::<bool>().prop_map(|whole_site| LibraryEvent::Recrawl { whole_site }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let what = prop_oneof![
        12 => (answer(), any::<bool>(), 1..3u32)
            .prop_map(|(answer, is_refetch, attempt)| What::Visit { answer, is_refetch, attempt }),
        2 => (1..60usize).prop_map(What::Sitemap),
        5 => answer().prop_map(What::Import),
        1 => answer().prop_map(What::Robots),
        1 => Just(What::RobotsFailed),
        6 => event().prop_map(What::Event),
        1 => Just(What::RemovePage),
        1 => Just(What::Mirror { of: 0 }),
    ];
    let rarely = prop_oneof![30 => what, 1 => Just(What::RemoveSite)];
    (0..SITES.len(), 0..PATHS.len(), 0..4i64, rarely).prop_map(|(site, path, age, what)| Step {
        site,
        path,
        age,
        what,
    })
}

/// Returns the records of a sequence. The crawl starts with all sites as seeds.
fn records(steps: &[Step]) -> Vec<LibraryRecord> {
    let url = |site: usize, path: &str| PageUrl::parse(&format!("{}{path}", SITES[site])).unwrap();
    // Imports are dated between the visits: archives know a version by its second.
    let at = |second: i64| Timestamp::from_millis(1_700_000_000_000 + second * 2000);
    let seeds = (0..SITES.len()).map(|site| url(site, "/")).collect();
    // Sitemaps soon reach the number of pages that a budget of one page permits.
    let rules = CrawlRules { sitemaps: true, site_budget: 1, ..CrawlRules::default() };
    let started = LibraryEvent::CrawlStarted { seeds, rules };
    let mut records = vec![LibraryRecord::new(url(0, "/"), at(0), RecordContent::Event(started))];
    for (second, step) in (1..).zip(steps) {
        let page = url(step.site, PATHS[step.path]);
        let robots = page.robots_txt();
        let event = |url, event| LibraryRecord::new(url, at(second), RecordContent::Event(event));
        let older = at((second - 3 * step.age).max(0)).plus(Duration::from_secs(1));
        records.push(match &step.what {
            What::Visit { answer, is_refetch, attempt } => LibraryRecord {
                attempt: *attempt,
                is_refetch: *is_refetch,
                depth: step.path as u32,
                ..LibraryRecord::new(page, at(second), RecordContent::Response(answer.response()))
            },
            What::Sitemap(pages) => {
                let site = SITES[step.site];
                let locations: String =
                    (0..*pages).map(|n| format!("<url><loc>{site}/s{n}</loc></url>")).collect();
                let headers = vec![("Content-Type".to_string(), "application/xml".to_string())];
                let body = format!("<urlset>{locations}</urlset>").into();
                let response = RawResponse { status: 200, headers, body, ..RawResponse::default() };
                let url = PageUrl::parse(&format!("{site}/sitemap-{pages}.xml")).unwrap();
                let content = RecordContent::Response(response);
                LibraryRecord { attempt: 1, depth: 1, ..LibraryRecord::new(url, at(second), content) }
            }
            What::Import(answer) if answer.status != 304 => {
                LibraryRecord::new(page, older, RecordContent::Response(answer.response()))
            }
            What::Import(_) => event(page, LibraryEvent::Failed { reason: "none".into() }),
            What::Robots(answer) => {
                let content = RecordContent::Response(answer.response());
                LibraryRecord { attempt: 1, ..LibraryRecord::new(robots, at(second), content) }
            }
            What::RobotsFailed => event(robots, LibraryEvent::Failed { reason: "timed out".into() }),
            // A data feed may date a deletion back.
            What::Event(LibraryEvent::Deleted) => {
                LibraryRecord::new(page, older, RecordContent::Event(LibraryEvent::Deleted))
            }
            What::Event(other) => event(page, other.clone()),
            What::RemovePage => event(page.clone(), LibraryEvent::Removed { what: Removal::Page(page) }),
            What::RemoveSite => {
                let what = Removal::Site(page.site());
                event(page, LibraryEvent::Removed { what })
            }
            What::Mirror { of } if *of != step.site => {
                event(page.home(), LibraryEvent::Alias { of: url(*of, "/") })
            }
            What::Mirror { .. } => event(page, LibraryEvent::Submitted),
        });
    }
    records
}

/// The contents of the stores. Positions are replaced by the number of the record.
#[derive(Debug, PartialEq)]
struct Contents {
    pages: Vec<(PageDetails, Vec<PageVersion>)>,
    lists: BTreeMap<&'static str, Vec<String>>,
    searchable: BTreeMap<String, u32>,
}

impl Contents {
    fn read(data: &DataDir) -> Self {
        let numbers = record_numbers(data);
        let number = |position: LibraryPosition| LibraryPosition::new(0, numbers[&position].into());
        let catalog = test_stores(data).catalog().unwrap().unwrap();
        let mut pages: Vec<(PageDetails, Vec<PageVersion>)> = Vec::new();
        for mut page in catalog.pages(None, None, 1000).unwrap() {
            let mut versions = catalog.versions(page.url.id()).unwrap();
            page.position = page.position.map(number);
            for version in &mut versions {
                version.position = number(version.position);
            }
            pages.push((page, versions));
        }
        pages.sort_by(|(one, _), (other, _)| one.url.as_str().cmp(other.url.as_str()));
        let robots = SITES.iter().map(|site| PageUrl::parse(site).unwrap().robots_txt());
        let mut lists = BTreeMap::from([
            ("robots", robots.map(|url| format!("{:?}", catalog.robots(&url).unwrap())).collect()),
            ("aliases", strings(catalog.aliases().unwrap())),
            ("removed", strings(catalog.removed().unwrap())),
            ("submissions", strings(catalog.submissions().unwrap())),
            ("seeds", strings(catalog.seed_sites().unwrap())),
            ("filtered", strings(catalog.filtered().unwrap())),
            ("rules and counts", vec![format!("{:?} {:?}", catalog.rules(), catalog.counts())]),
        ]);
        lists.values_mut().for_each(|list: &mut Vec<String>| list.sort());
        let view = test_stores(data).index().unwrap().view().unwrap();
        let found = view.search_addresses(&Query::All, 1000).unwrap().candidates;
        let fields = view.result_fields(&found).unwrap().into_iter();
        let searchable = fields.map(|fields| (fields.url, numbers[&fields.position])).collect();
        Self { pages, lists, searchable }
    }

    fn addresses(&self) -> BTreeSet<&str> {
        self.searchable.keys().map(String::as_str).collect()
    }
}

fn strings<T: std::fmt::Debug>(items: Vec<T>) -> Vec<String> {
    items.into_iter().map(|item| format!("{item:?}")).collect()
}

/// Returns the number of each record of the library.
fn record_numbers(data: &DataDir) -> HashMap<LibraryPosition, u32> {
    let library = test_stores(data).library().unwrap();
    let scan = library.scan(LibraryPosition::START, None).unwrap();
    scan.zip(0..).map(|(stored, number)| (stored.unwrap().position, number)).collect()
}

/// Divides records into groups of at most `size`, without two of the same page: a page is in flight once.
fn groups(records: &[LibraryRecord], size: usize) -> Vec<Vec<LibraryRecord>> {
    let mut groups: Vec<Vec<LibraryRecord>> = vec![Vec::new()];
    for record in records {
        let last = groups.last_mut().unwrap();
        if last.len() < size && last.iter().all(|other| other.url != record.url) {
            last.push(record.clone());
        } else {
            groups.push(vec![record.clone()]);
        }
    }
    groups
}

/// Feeds records through the stages of a crawl.
fn run_live(data: &DataDir, config: &Config, records: &[LibraryRecord], group: usize) {
    let engine = Engine::open(data.clone(), config.clone(), "test", true).unwrap();
    let (_stop, never) = watch::channel(false);
    let IngestPipeline { appender, library, pool, mut applier, .. } = engine.ingest(&never).unwrap();
    let stage = AppendStage { appender, stage_metrics: engine.stage_metrics.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for chunk in groups(records, group) {
        let (send, received) = mpsc::channel(chunk.len());
        let (waiting_in, waiting_out) = mpsc::unbounded_channel();
        let (stored_in, stored_out) = std::sync::mpsc::sync_channel(chunk.len());
        chunk.iter().for_each(|record| send.try_send(record.clone()).unwrap());
        drop(send);
        runtime.block_on(queue_records(received, 1 << 20, waiting_in, engine.stage_metrics.clone()));
        stage.run(waiting_out, &stored_in).unwrap();
        drop(stored_in);
        for group in stored_out {
            let depth = applier.analysis_depth();
            applier.apply(pool.analyse(group, &*library, config, depth).unwrap()).unwrap();
        }
    }
    applier.finish().unwrap();
}

/// Feeds records through the pipeline of imports and data feeds.
fn run_ingest(data: &DataDir, config: &Config, records: &[LibraryRecord], group: usize) {
    let engine = Engine::open(data.clone(), config.clone(), "test", true).unwrap();
    let (_stop, never) = watch::channel(false);
    let mut ingest = engine.ingest(&never).unwrap();
    for chunk in groups(records, group) {
        ingest.append(chunk.to_vec()).unwrap();
    }
    ingest.finish().unwrap();
}

/// Opens a copy of the library alone, so that all other stores are replayed.
fn replay(from: &DataDir, to: &DataDir, config: &Config) {
    fs::create_dir_all(to.library()).unwrap();
    for entry in fs::read_dir(from.library()).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), to.library().join(entry.file_name())).unwrap();
        }
    }
    run_ingest(to, config, &[], 1);
}

fn assert_healthy(data: &DataDir, config: &Config, when: &str) {
    let report = doctor(data, config, Repair::No, |_| true).unwrap();
    assert!(report.is_healthy(), "{when}: {:#?}", report.findings);
}

/// Returns the addresses of the exported current pages that can be searched.
fn exported(data: &DataDir, config: &Config) -> BTreeSet<String> {
    let (_stop, never) = watch::channel(false);
    let mut out = Vec::new();
    let selection = ExportSelection::default();
    let target = ExportTarget::Stream(&mut out);
    export(data, config, ExportFormat::Jsonl, &selection, target, &never, |_| {}).unwrap();
    let pages = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let pages = pages.map(|line| serde_json::from_slice::<pharos_core::PageObject>(line).unwrap());
    pages.filter(pharos_store::interpret::is_searchable).map(|page| page.url).collect()
}

/// Exports all versions and imports them into an empty data directory.
fn exchange(from: &DataDir, to: &DataDir, file: &Path, config: &Config) {
    let (_stop, never) = watch::channel(false);
    let selection = ExportSelection { all_versions: true, ..ExportSelection::default() };
    let target = ExportTarget::Path { path: file, force: true };
    export(from, config, ExportFormat::Warc, &selection, target, &never, |_| {}).unwrap();
    let sources = ImportSources { paths: vec![file.to_path_buf()], ..ImportSources::default() };
    let summary = import(to, config, &sources, &never, |_| {}).unwrap();
    assert_eq!(summary.damaged, 0, "{summary:?}");
}

/// Returns the pages whose state follows from their responses alone, as an archive of another program has them.
fn decided_by_responses(records: &[LibraryRecord]) -> BTreeSet<String> {
    let is_plain = |record: &&LibraryRecord| match &record.content {
        RecordContent::Response(response) => !(response.status == 404 && record.is_refetch),
        RecordContent::Revisit(_) | RecordContent::Event(_) => false,
    };
    let mirrors = records.iter().filter(|record| {
        matches!(
            &record.content,
            RecordContent::Event(LibraryEvent::Alias { .. } | LibraryEvent::Removed { .. })
        )
    });
    let is_twin = |record: &&LibraryRecord| {
        records.iter().filter(|other| (&other.url, other.at) == (&record.url, record.at)).count() > 1
    };
    let other: BTreeSet<&str> = records[1..]
        .iter()
        .filter(|record| !is_plain(record) || is_twin(record))
        .map(|record| record.url.as_str())
        .collect();
    let sites: BTreeSet<String> = mirrors.map(|record| record.url.site().to_string()).collect();
    let urls = records[1..].iter().map(|record| &record.url);
    urls.filter(|url| !other.contains(url.as_str()) && !sites.contains(url.site().as_str()))
        .map(ToString::to_string)
        .collect()
}

/// Runs a sequence through everything and compares.
fn check(steps: &[Step], group: usize) {
    let dir = TempDir::new().unwrap();
    let data = |name: &str| DataDir::at(dir.path().join(name));
    let mut config = Config::default();
    config.engine.threads = 1;
    config.index.memory = pharos_core::config::ByteSize(16 << 20);
    let records = records(steps);

    let live = data("live");
    run_live(&live, &config, &records, group);
    let expected = Contents::read(&live);
    assert_healthy(&live, &config, "live");

    let ingested = data("ingested");
    run_ingest(&ingested, &config, &records, 7);
    assert_eq!(Contents::read(&ingested), expected, "ingested in other groups");
    assert_healthy(&ingested, &config, "ingested");

    let replayed = data("replayed");
    replay(&live, &replayed, &config);
    assert_eq!(Contents::read(&replayed), expected, "replayed");

    let is_refused = |record: &LibraryRecord| {
        matches!(&record.content, RecordContent::Event(LibraryEvent::Refused { .. }))
    };
    let is_mirror =
        |record: &LibraryRecord| matches!(&record.content, RecordContent::Event(LibraryEvent::Alias { .. }));
    // Exports contain pages that are stored but hidden.
    let hidden = |url: &str| {
        records.iter().any(|record| {
            (is_refused(record) && record.url.as_str() == url)
                || (is_mirror(record) && url.starts_with(record.url.as_str()))
        })
    };
    let exported = exported(&live, &config);
    let exported: BTreeSet<&str> = exported.iter().map(String::as_str).collect();
    let missing: Vec<_> = expected.addresses().difference(&exported).copied().collect();
    assert!(missing.is_empty(), "searchable but not exported: {missing:?}");
    let hidden_only = exported.difference(&expected.addresses()).all(|url| hidden(url));
    assert!(hidden_only, "exported but not searchable: {exported:?} {:?}", expected.searchable);

    let imported = data("imported");
    exchange(&live, &imported, &dir.path().join("all.warc.gz"), &config);
    let plain = decided_by_responses(&records);
    let searchable = |contents: &Contents| -> BTreeSet<String> {
        contents.searchable.keys().filter(|url| plain.contains(*url)).cloned().collect()
    };
    assert_eq!(searchable(&Contents::read(&imported)), searchable(&expected), "exported and imported");
    assert_healthy(&imported, &config, "imported");

    build_history(&live, &config, false, |_| true).unwrap();
    assert_eq!(Contents::read(&live), expected, "history");
    assert_healthy(&live, &config, "history");

    rebuild(&live, &config, &RebuildPart::ALL, false, |_| true).unwrap();
    assert_eq!(Contents::read(&live), expected, "rebuilt");

    config.library.keep_versions = 1;
    compact(&replayed, &config, |_| true).unwrap();
    assert_healthy(&replayed, &config, "compacted");
    let searchable = Contents::read(&replayed).searchable.into_keys().collect::<Vec<_>>();
    rebuild(&replayed, &config, &RebuildPart::ALL, false, |_| true).unwrap();
    assert_healthy(&replayed, &config, "compacted and rebuilt");
    assert_eq!(searchable, expected.searchable.keys().cloned().collect::<Vec<_>>(), "compacted");
    let searchable = Contents::read(&replayed).searchable.into_keys().collect::<Vec<_>>();
    assert_eq!(searchable, expected.searchable.into_keys().collect::<Vec<_>>(), "compacted and rebuilt");
}

/// A crawl that must end leaves the rest of its records to the next start.
#[test]
fn abandoned_records_are_replayed() {
    let dir = TempDir::new().unwrap();
    let data = |name: &str| DataDir::at(dir.path().join(name));
    let config = Config::default();
    let visit = |number| Step {
        site: 0,
        path: number % PATHS.len(),
        age: 0,
        what: What::Visit { answer: Answer { status: 200, body: number % 3 }, is_refetch: false, attempt: 1 },
    };
    let records = records(&(0..9).map(visit).collect::<Vec<_>>());
    run_ingest(&data("whole"), &config, &records, 3);
    {
        let engine = Engine::open(data("cut"), config.clone(), "test", true).unwrap();
        let (_stop, never) = watch::channel(false);
        let mut ingest = engine.ingest(&never).unwrap();
        ingest.append(records[..3].to_vec()).unwrap();
        ingest.applier.abandon_when(Arc::new(AtomicBool::new(true)));
        ingest.append(records[3..].to_vec()).unwrap();
        ingest.finish().unwrap();
    }
    assert_ne!(Contents::read(&data("cut")), Contents::read(&data("whole")));
    run_ingest(&data("cut"), &config, &[], 1);
    assert_eq!(Contents::read(&data("cut")), Contents::read(&data("whole")));
    assert_healthy(&data("cut"), &config, "after the replay");
}

fn cases() -> u32 {
    if std::env::var_os("PHAROS_LONG").is_some() { 400 } else { 16 }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(cases()) })]
    #[test]
    fn a_record_means_the_same_wherever_it_comes_from(
        steps in prop::collection::vec(step(), 1..24),
        group in 1..6usize,
    ) {
        check(&steps, group);
    }
}
