//! A small server that misbehaves on demand, and a small engine that stores and applies the records of a crawl.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pharos_core::config::{CrawlConfig, PolitenessProfile};
use pharos_core::{Clock, LibraryPosition, Link, LinkKind, PageObject, PageUrl, SystemClock};
use pharos_crawl::{
    AppliedRecords, Crawl, CrawlError, CrawlStatus, CrawlSummary, StoredPageInfo, rules_from_config,
    run_crawl,
};
use pharos_store::catalog::PageDetails;
use pharos_store::interpret::{CrawlScope, PageSummary, interpret};
use pharos_store::{
    Catalog, DiskLibrary, Library, LibraryEvent, LibraryRecord, LibraryWriteOptions, RawResponse,
    RecordContent, SqliteCatalog, StoreError, StoredRecord,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

fn load_scope(catalog: &dyn Catalog, config: &CrawlConfig) -> Result<CrawlScope, StoreError> {
    CrawlScope::load(catalog, rules_from_config(config), config.seen_memory)
}

pub(crate) fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct LoggedRequest {
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) connection: usize,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

/// Behaviour of the server.
pub(crate) enum ServerAction {
    /// Sends these bytes and keeps the connection open.
    Bytes(Vec<u8>),
    /// Sends these bytes and closes the connection.
    Close(Vec<u8>),
    /// Sends these bytes, and then nothing for a long time.
    Hang(Vec<u8>),
    /// Sends these bytes after a delay.
    Late(Duration, Vec<u8>),
}

/// Builds a complete response.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> ServerAction {
    ServerAction::Bytes(
        format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes(),
    )
}

pub(crate) fn page(body: &str) -> ServerAction {
    answer(200, "Content-Type: text/html\r\n", body)
}

pub(crate) fn not_found() -> ServerAction {
    answer(404, "", "")
}

pub(crate) fn redirect(target: &str) -> ServerAction {
    answer(302, &format!("Location: {target}\r\n"), "")
}

pub(crate) struct TestServer {
    pub(crate) port: u16,
    log: Arc<Mutex<Vec<LoggedRequest>>>,
}

impl TestServer {
    /// Starts a server; `handle` gets host and path.
    pub(crate) async fn start(handle: impl Fn(&str, &str) -> ServerAction + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (seen, handle) = (log.clone(), Arc::new(handle));
        tokio::spawn(async move {
            let mut connection = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, handle) = (seen.clone(), handle.clone());
                tokio::spawn(async move { serve(stream, connection, &*handle, &seen).await });
                connection += 1;
            }
        });
        Self { port, log }
    }

    pub(crate) fn url(&self, path: &str) -> PageUrl {
        url(&format!("http://127.0.0.1:{}{path}", self.port))
    }

    pub(crate) fn named(&self, host: &str, path: &str) -> PageUrl {
        url(&format!("http://{host}:{}{path}", self.port))
    }

    /// Returns a `--resolve` value that maps a host name to this server.
    pub(crate) fn resolve(&self, host: &str) -> String {
        format!("{host}:{}:127.0.0.1", self.port)
    }

    pub(crate) fn log(&self) -> Vec<LoggedRequest> {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.log().into_iter().map(|seen| seen.path).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    handle: &(dyn Fn(&str, &str) -> ServerAction + Send + Sync),
    log: &Mutex<Vec<LoggedRequest>>,
) {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let began = Instant::now();
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap().to_string();
        let host =
            head.lines().find_map(|l| l.to_lowercase().strip_prefix("host: ").map(String::from)).unwrap();
        let host = host.split(':').next().unwrap().to_string();
        let reply = handle(&host, &path);
        let write = |seen: &Mutex<Vec<LoggedRequest>>| {
            seen.lock().unwrap().push(LoggedRequest {
                host: host.clone(),
                path: path.clone(),
                head: head.clone(),
                connection,
                began,
                ended: Instant::now(),
            })
        };
        let bytes = match &reply {
            ServerAction::Bytes(bytes)
            | ServerAction::Close(bytes)
            | ServerAction::Hang(bytes)
            | ServerAction::Late(_, bytes) => bytes,
        };
        if let ServerAction::Late(wait, _) = &reply {
            tokio::time::sleep(*wait).await;
        }
        write(log);
        if stream.write_all(bytes).await.is_err() {
            return;
        }
        match reply {
            ServerAction::Hang(_) => tokio::time::sleep(Duration::from_secs(600)).await,
            ServerAction::Close(_) => {
                let _ = stream.shutdown().await;
                return;
            }
            ServerAction::Bytes(_) | ServerAction::Late(..) => {}
        }
    }
}

/// Returns a configuration for loopback: no delay, private addresses allowed.
pub(crate) fn config() -> CrawlConfig {
    CrawlConfig { allow_private: true, politeness: PolitenessProfile::OwnSite, ..Default::default() }
}

/// A library and a catalog in a temporary directory.
pub(crate) struct TestEngine {
    _dir: tempfile::TempDir,
    pub(crate) library: Arc<dyn Library>,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) config: Arc<CrawlConfig>,
    pub(crate) status: Arc<CrawlStatus>,
    pub(crate) keep_going: bool,
    pub(crate) clock: Arc<dyn Clock>,
    /// Delay before a record is applied. With a delay, stored pages are reported, all with the same text.
    pub(crate) lag: Option<Duration>,
}

impl TestEngine {
    /// Creates an engine with a crawl started at these seeds.
    pub(crate) fn new(config: CrawlConfig, seeds: &[PageUrl]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let now = SystemClock.now();
        let library = DiskLibrary::open_writer(
            &dir.path().join("library"),
            LibraryWriteOptions::default(),
            LibraryPosition::START,
            now,
        );
        let catalog = SqliteCatalog::open_writer(&dir.path().join("catalog.db")).unwrap();
        let engine = Self {
            _dir: dir,
            library: Arc::new(library.unwrap()),
            catalog: Arc::new(catalog),
            config: Arc::new(config),
            status: Arc::default(),
            keep_going: false,
            clock: Arc::new(SystemClock),
            lag: None,
        };
        let event =
            LibraryEvent::CrawlStarted { seeds: seeds.to_vec(), rules: rules_from_config(&engine.config) };
        let record = LibraryRecord::new(seeds[0].clone(), now, RecordContent::Event(event));
        let mut scope = load_scope(engine.catalog.as_ref(), &engine.config).unwrap();
        apply_record(&*engine.library, &*engine.catalog, &engine.config, &mut scope, record);
        engine
    }

    /// Changes the configuration and keeps the stores.
    pub(crate) fn reconfigured(mut self, change: impl FnOnce(&mut CrawlConfig)) -> Self {
        let mut config = (*self.config).clone();
        change(&mut config);
        self.config = Arc::new(config);
        self
    }

    /// Crawls to the end.
    pub(crate) async fn crawl(&self) -> Result<CrawlSummary, CrawlError> {
        let (_stop, stopped) = watch::channel(false);
        self.crawl_until(stopped).await
    }

    /// Crawls until the stop signal.
    pub(crate) async fn crawl_until(&self, stop: watch::Receiver<bool>) -> Result<CrawlSummary, CrawlError> {
        let (records, mut arriving) = mpsc::channel::<LibraryRecord>(16);
        let (reports, applied) = mpsc::unbounded_channel();
        let (library, catalog, config) = (self.library.clone(), self.catalog.clone(), self.config.clone());
        let lag = self.lag;
        let applier = tokio::task::spawn_blocking(move || {
            let mut scope = load_scope(catalog.as_ref(), &config).unwrap();
            while let Some(record) = arriving.blocking_recv() {
                let page = record.url.id();
                let stored = StoredPageInfo { page: record.url.clone(), is_revisit: false, sketch: Some(1) };
                let stored_pages =
                    lag.filter(|_| record.kind.is_page()).map(|_| stored).into_iter().collect();
                std::thread::sleep(lag.unwrap_or_default());
                let due_sites = apply_record(&*library, &*catalog, &config, &mut scope, record);
                // Any record may have changed the seed sites.
                let applied = AppliedRecords {
                    pages: vec![page],
                    due_sites,
                    new_rules: true,
                    stored_pages,
                    ..AppliedRecords::default()
                };
                let _ = reports.send(applied);
            }
        });
        let summary = run_crawl(Crawl {
            config: self.config.clone(),
            catalog: self.catalog.clone(),
            clock: self.clock.clone(),
            records,
            applied,
            status: self.status.clone(),
            keep_going: self.keep_going,
            rules_changed: false,
            stop,
        })
        .await;
        applier.await.unwrap();
        summary
    }

    /// Returns all records in order.
    pub(crate) fn records(&self) -> Vec<LibraryRecord> {
        self.library
            .scan(LibraryPosition::START, None)
            .unwrap()
            .map(|stored| stored.unwrap().record)
            .collect()
    }

    pub(crate) fn page_details(&self, page: &PageUrl) -> Option<PageDetails> {
        self.catalog.page(page.id()).unwrap()
    }

    /// Returns the reason why a page failed or was refused.
    pub(crate) fn reason(&self, page: &PageUrl) -> String {
        self.page_details(page).and_then(|page_details| page_details.reason).unwrap_or_default()
    }
}

fn apply_record(
    library: &dyn Library,
    catalog: &dyn Catalog,
    config: &CrawlConfig,
    scope: &mut CrawlScope,
    record: LibraryRecord,
) -> Vec<pharos_core::SiteId> {
    let (position, next) = library.append(std::slice::from_ref(&record)).unwrap()[0];
    let links = match &record.content {
        RecordContent::Response(response) => links(&record.url, response),
        RecordContent::Revisit(_) | RecordContent::Event(_) => Vec::new(),
    };
    let page = PageObject { title: "words".into(), ..PageObject::default() };
    let summary = PageSummary { page, links, digest: 1, ..PageSummary::default() };
    let meaning = interpret(scope, config, &StoredRecord { position, next, record }, Some(&summary));
    catalog.apply(&meaning.catalog, &next.into()).unwrap().due_sites
}

fn links(base: &PageUrl, response: &RawResponse) -> Vec<Link> {
    let text = String::from_utf8_lossy(&response.body).into_owned();
    text.split("href=\"")
        .skip(1)
        .filter_map(|rest| base.join(rest.split('"').next()?).ok())
        .map(|url| Link { url, anchor: "words".into(), kind: LinkKind::Page, rel: String::new() })
        .collect()
}
