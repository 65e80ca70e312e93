//! `/admin/index`: the generations of the index, building and rolling back.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_core::Timestamp;
use pharos_engine::build::history::BuildProgress;
use pharos_engine::build::runner::BuildStatus;
use pharos_engine::status::index_status::{GenerationStatus, IndexStatus};
use pharos_engine::{index_status, roll_back};

use super::charts::format_bytes;
use super::commands::{record_and_redirect, spawn_blocking};
use super::messages::PageMessages;
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, fill, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

const PATH: &str = "/admin/index";

#[derive(Template)]
#[template(path = "admin/index.html")]
struct IndexPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    searchable: String,
    size: String,
    rows: Vec<GenerationRow>,
    previous: Vec<GenerationRow>,
    refused: bool,
    latest_share: Option<String>,
    next_build: Option<String>,
    /// Number of pages at which the first history is built, if there is none.
    first_build: Option<String>,
    outdated: bool,
    /// A build runs in another process.
    is_built_elsewhere: bool,
    unfinished: Option<String>,
    build: BuildView,
}

struct GenerationRow {
    kind: &'static str,
    number: u64,
    pages: String,
    size: String,
    since: String,
    is_open: bool,
}

/// The running build of this process and the result of the last one.
#[derive(Default)]
pub(super) struct BuildView {
    is_running: bool,
    is_stopping: bool,
    step: String,
    /// Progress of the step in percent, if it can be computed.
    done: Option<u64>,
    pub(super) last: Option<String>,
}

/// `/admin/index`.
pub(crate) async fn index(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (m, lang) = (PageMessages::for_lang(visitor.lang), visitor.lang);
    let status = spawn_blocking(&app, |service| Ok(index_status(&service.data, &service.config)?)).await?;
    let build = BuildView::new(&app.service().builds.state(), m, lang);
    let open = status.latest.last().map(|open| open.number);
    let IndexStatus { history, latest, previous, refused, searchable, bytes: size, .. } = status;
    let row = |generation: &GenerationStatus| {
        GenerationRow::new(generation, lang, generation.kind == "latest" && Some(generation.number) == open)
    };
    let page = IndexPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
        searchable: grouped(searchable),
        size: format_bytes(size as f64),
        rows: history.iter().chain(&latest).map(row).collect(),
        previous: previous.iter().map(|generation| GenerationRow::new(generation, lang, false)).collect(),
        refused,
        latest_share: status.latest_share.map(|share| format!("{:.1} %", 100.0 * share)),
        next_build: status.next_build.filter(|_| status.first_build.is_none()).map(|at| date_time(&at, lang)),
        first_build: status.first_build.map(grouped),
        outdated: status.outdated,
        is_built_elsewhere: status.building && !build.is_running,
        unfinished: status.unfinished.filter(|_| !status.building).map(|build| grouped(build.saved)),
        build,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl GenerationRow {
    fn new(generation: &GenerationStatus, lang: Lang, is_open: bool) -> Self {
        let m = PageMessages::for_lang(lang);
        Self {
            kind: if generation.kind == "history" { m.history } else { m.latest },
            number: generation.number,
            pages: grouped(generation.pages),
            size: format_bytes(generation.bytes as f64),
            since: generation.since.as_deref().map(|at| date_time(at, lang)).unwrap_or_default(),
            is_open,
        }
    }
}

/// Formats a time of the status of the index.
fn date_time(at: &str, lang: Lang) -> String {
    Timestamp::parse(at).map_or_else(|| at.to_string(), |at| lang.date_time(at))
}

impl BuildView {
    pub(super) fn new(state: &BuildStatus, m: &'static PageMessages, lang: Lang) -> Self {
        let last = state.last.as_ref().map(|(at, built)| match built {
            Ok(built) => fill(
                m.last_built,
                &[&lang.date_time(*at), &built.generation.to_string(), &grouped(built.pages)],
            ),
            Err(error) => fill(m.last_failed, &[&lang.date_time(*at), error]),
        });
        let Some((_, progress)) = &state.running else { return Self { last, ..Self::default() } };
        let part = |done: u64, all: u64| Some(100 * done / all.max(1));
        let (step, done) = match *progress {
            BuildProgress::Sealing => (m.build_sealing.to_string(), None),
            BuildProgress::Analysing(read) => {
                (fill(m.build_analysing, &[&grouped(read.records)]), part(read.done, read.total))
            }
            BuildProgress::Surveying(scan) => {
                (fill(m.build_surveying, &[&grouped(scan.records)]), part(scan.done, scan.total))
            }
            BuildProgress::Comparing(done, all) => {
                (fill(m.build_comparing, &[&grouped(done), &grouped(all)]), part(done, all))
            }
            BuildProgress::Linking(done, all) => {
                (fill(m.build_linking, &[&grouped(done), &grouped(all)]), part(done, all))
            }
            BuildProgress::Ranking => (m.build_ranking.to_string(), None),
            BuildProgress::Indexing(done, all) => {
                (fill(m.build_indexing, &[&grouped(done), &grouped(all)]), part(done, all))
            }
            BuildProgress::Verifying => (m.build_verifying.to_string(), None),
            BuildProgress::Warming(queries) => (fill(m.build_warming, &[&grouped(queries)]), None),
            BuildProgress::Switching => (m.build_switching.to_string(), None),
        };
        Self { is_running: true, is_stopping: state.stopping, step, done, last }
    }
}

/// `POST /admin/index/{build,stop,rollback}`.
pub(crate) async fn act(Path(what): Path<String>, action: Action) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    let builds = &action.app.service().builds;
    match what.as_str() {
        "build" => {
            let done = match builds.start() {
                Ok(true) => Ok(()),
                Ok(false) => Err(m.already_building.to_string()),
                Err(error) => Err(error.to_string()),
            };
            record_and_redirect(&action, "index.build", "", "", done, PATH, m.did_build).await
        }
        "stop" => {
            builds.stop();
            record_and_redirect(&action, "index.stop", "", "", Ok(()), PATH, m.did_stop_build).await
        }
        "rollback" if action.form.text("sure") != "yes" => action.fail(PATH, m.not_sure),
        "rollback" => {
            let rolled_back =
                spawn_blocking(&action.app, |service| Ok(roll_back(&service.data, &service.config)?)).await;
            let (detail, done) = match rolled_back {
                Ok(summary) => (format!("{} → {}", summary.from, summary.to), Ok(())),
                Err(error) => (String::new(), Err(error.to_string())),
            };
            record_and_redirect(&action, "index.rollback", "", &detail, done, PATH, m.did_roll_back).await
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}
