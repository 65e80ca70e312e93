//! A small engine for tests: a real library and index in a temporary directory.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use pharos_core::{Config, LibraryPosition, LibraryPositions, PageUrl, Timestamp};
use pharos_engine::Stores;
use pharos_engine::build::runner::BuildRunner;
use pharos_engine::maintenance::backup::runner::BackupRunner;
use pharos_index::{IndexChange, IndexDocument};
use pharos_mining::Logs;
use pharos_mining::system::SystemCounters;
use pharos_query::SearchService;
use pharos_store::catalog::CatalogChange;
use pharos_store::{DataDir, LibraryRecord, RawResponse, RecordContent};
use tempfile::TempDir;
use tower::ServiceExt;

use crate::{LoadedSettings, Service, SettingsSource, install_metrics};

/// A page of the test engine.
pub(crate) struct TestPage {
    pub(crate) url: &'static str,
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) archive: bool,
}

impl TestPage {
    pub(crate) const fn new(url: &'static str, title: &'static str, text: &'static str) -> Self {
        Self { url, title, text, headers: &[], archive: true }
    }

    /// Returns the path of the cached page.
    pub(crate) fn cached_page(&self) -> String {
        format!("/snapshot/{}", self.url().id())
    }

    pub(crate) fn url(&self) -> PageUrl {
        PageUrl::parse(self.url).unwrap()
    }
}

/// Stores and indexes pages. The directory is deleted when the first value is dropped.
pub(crate) fn engine(pages: &[TestPage], config: Config) -> (TempDir, Service) {
    let dir = tempfile::tempdir().unwrap();
    let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
    let data = DataDir::at(dir.path());
    let stores = test_stores(&data);
    let library = stores.own_library(&LibraryPositions::START, at).unwrap();
    let index = stores.own_index().unwrap();
    for page in pages {
        let html =
            format!("<title>{}</title><script>x()</script><p onclick=x()>{}</p>", page.title, page.text);
        // The first header of a name counts, so that a page may have its own content type.
        let headers = page.headers.iter().chain(&[("Content-Type", "text/html; charset=utf-8")]);
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let response =
            RawResponse { status: 200, headers, body: html.into_bytes(), ..RawResponse::default() };
        let record = LibraryRecord::new(page.url(), at, RecordContent::Response(response));
        let position = library.append(&[record]).unwrap()[0].0;
        let document = IndexDocument {
            title: page.title.into(),
            body: page.text.into(),
            lang: if page.title.is_ascii() { "en".into() } else { "zh".into() },
            fetched: at,
            position,
            archive: page.archive,
            ..IndexDocument::new(page.url())
        };
        index.apply(vec![IndexChange::Put(Box::new(document))]).unwrap();
    }
    index.commit(&library.end().unwrap()).unwrap();
    let metrics = install_metrics().unwrap();
    let logs = Logs::open(&data, &config, SystemCounters::default);
    let search = SearchService::open(index, logs, &data.models(), &config).unwrap();
    let (search, config) = (Arc::new(search), Arc::new(config));
    let builds = Arc::new(BuildRunner::new(data.clone(), &config));
    let backups = Arc::new(BackupRunner::new(stores.clone()));
    let settings = settings_of(&data);
    (dir, Service { data, stores, search, library, config, metrics, settings, builds, backups })
}

/// Returns a settings source that reads only the file of the data directory.
fn settings_of(data: &DataDir) -> SettingsSource {
    let file = data.config();
    SettingsSource::new(file.clone(), move || {
        let mut config = Config::default();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        config.read_toml("pharos.toml", &text).map_err(|error| error.to_string())?;
        Ok(LoadedSettings { config, ..LoadedSettings::default() })
    })
}

/// Opens the stores of a data directory with default settings.
fn test_stores(data: &DataDir) -> Stores {
    Stores::open(data, &Config::default()).unwrap()
}

/// Applies changes to the catalog.
pub(crate) fn apply_changes(dir: &TempDir, changes: &[CatalogChange]) {
    let catalog = test_stores(&DataDir::at(dir.path())).own_catalog().unwrap();
    let position = catalog.applied_positions().unwrap().get(0);
    let reached = LibraryPosition { offset: position.offset + 1, ..position };
    catalog.apply(changes, &reached.into()).unwrap();
}

/// A response.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.bytes).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Sends a GET request from the local machine, without headers except the host.
pub(crate) async fn get(router: &Router, uri: &str) -> Reply {
    get_with(router, uri, &[]).await
}

/// Sends a GET request with headers.
pub(crate) async fn get_with(router: &Router, uri: &str, headers: &[(&str, &str)]) -> Reply {
    send(router, Method::GET, uri, headers, "").await
}

/// Sends a POST request.
pub(crate) async fn post(router: &Router, uri: &str, kind: &str, body: &str) -> Reply {
    send(router, Method::POST, uri, &[("content-type", kind)], body).await
}

/// Sends any request from the local machine.
pub(crate) async fn send(
    router: &Router,
    method: Method,
    uri: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let local = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 50_000)));
    send_from(router, Some(local), method, uri, headers, body).await
}

/// Sends any request from a given client address.
pub(crate) async fn send_from(
    router: &Router,
    from: Option<ConnectInfo<SocketAddr>>,
    method: Method,
    uri: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reply {
    let mut request = Request::builder().method(method).uri(uri);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "localhost");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut request = request.body(Body::from(body.to_string())).unwrap();
    if let Some(from) = from {
        request.extensions_mut().insert(from);
    }
    let response = router.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes().to_vec();
    Reply { status: parts.status, headers: parts.headers, bytes }
}
