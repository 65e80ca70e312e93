//! `/admin/index`: the generations of the index, building and rolling back.

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_engine::{BuildState, GenerationStatus, IndexStatus, Progress, index_status, roll_back};

use super::charts::bytes;
use super::words::PageWords;
use super::work::{aside, finish};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;
use crate::words::{Lang, fill, grouped};

const HERE: &str = "/admin/index";

#[derive(Template)]
#[template(path = "admin/index.html")]
struct IndexPage {
    frame: DeskFrame,
    w: &'static PageWords,
    searchable: String,
    size: String,
    rows: Vec<Row>,
    previous: Vec<Row>,
    refused: bool,
    latest_share: Option<String>,
    next_build: Option<String>,
    /// A build runs in another process.
    is_built_elsewhere: bool,
    unfinished: Option<String>,
    build: Build,
}

struct Row {
    kind: &'static str,
    number: u64,
    pages: String,
    size: String,
    since: String,
    is_open: bool,
}

/// The running build of this process and the result of the last one.
#[derive(Default)]
struct Build {
    is_running: bool,
    is_stopping: bool,
    told: String,
    /// Progress of the step in per cent, if it can be computed.
    done: Option<u64>,
    last: Option<String>,
}

/// `/admin/index`.
pub(crate) async fn index(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (w, lang) = (PageWords::of(visitor.lang), visitor.lang);
    let status = aside(&rooms, |service| Ok(index_status(&service.data, &service.config)?)).await?;
    let build = Build::of(&rooms.service().builds.state(), w, lang);
    let open = status.latest.last().map(|open| open.number);
    let IndexStatus { history, latest, previous, refused, searchable, bytes: size, .. } = status;
    let row = |one: &GenerationStatus| Row::of(one, w, one.kind == "latest" && Some(one.number) == open);
    let page = IndexPage {
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        w,
        searchable: grouped(searchable),
        size: bytes(size as f64),
        rows: history.iter().chain(&latest).map(row).collect(),
        previous: previous.iter().map(|one| Row::of(one, w, false)).collect(),
        refused,
        latest_share: status.latest_share.map(|share| format!("{:.1} %", 100.0 * share)),
        next_build: status.next_build,
        is_built_elsewhere: status.building && !build.is_running,
        unfinished: status.unfinished.filter(|_| !status.building).map(|build| grouped(build.saved)),
        build,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl Row {
    fn of(one: &GenerationStatus, w: &'static PageWords, is_open: bool) -> Self {
        Self {
            kind: if one.kind == "history" { w.history } else { w.latest },
            number: one.number,
            pages: grouped(one.pages),
            size: bytes(one.bytes as f64),
            since: one.since.clone().unwrap_or_default(),
            is_open,
        }
    }
}

impl Build {
    fn of(state: &BuildState, w: &'static PageWords, lang: Lang) -> Self {
        let last = state.last.as_ref().map(|(at, built)| match built {
            Ok(built) => {
                fill(w.last_built, &[&lang.moment(*at), &built.generation.to_string(), &grouped(built.pages)])
            }
            Err(error) => fill(w.last_failed, &[&lang.moment(*at), error]),
        });
        let Some((_, progress)) = &state.running else { return Self { last, ..Self::default() } };
        let part = |done: u64, all: u64| Some(100 * done / all.max(1));
        let (told, done) = match *progress {
            Progress::Sealing => (w.build_sealing.to_string(), None),
            Progress::Surveying(records) => (fill(w.build_surveying, &[&grouped(records)]), None),
            Progress::Comparing(done, all) => {
                (fill(w.build_comparing, &[&grouped(done), &grouped(all)]), part(done, all))
            }
            Progress::Linking(done, all) => {
                (fill(w.build_linking, &[&grouped(done), &grouped(all)]), part(done, all))
            }
            Progress::Ranking => (w.build_ranking.to_string(), None),
            Progress::Indexing(done, all) => {
                (fill(w.build_indexing, &[&grouped(done), &grouped(all)]), part(done, all))
            }
            Progress::Verifying => (w.build_verifying.to_string(), None),
            Progress::Warming(asked) => (fill(w.build_warming, &[&grouped(asked)]), None),
            Progress::Switching => (w.build_switching.to_string(), None),
        };
        Self { is_running: true, is_stopping: state.stopping, told, done, last }
    }
}

/// `POST /admin/index/{build,stop,rollback}`.
pub(crate) async fn act(Path(what): Path<String>, action: Action) -> Response {
    let w = PageWords::of(action.visitor.lang);
    let builds = &action.rooms.service().builds;
    match what.as_str() {
        "build" => {
            let done = match builds.start() {
                Ok(true) => Ok(()),
                Ok(false) => Err(w.builds_already.to_string()),
                Err(error) => Err(error.to_string()),
            };
            finish(&action, "index.build", "", "", done, HERE, w.did_build).await
        }
        "stop" => {
            builds.stop();
            finish(&action, "index.stop", "", "", Ok(()), HERE, w.did_stop_build).await
        }
        "rollback" if action.form.text("sure") != "yes" => action.failed(HERE, w.not_sure),
        "rollback" => {
            let gone_back =
                aside(&action.rooms, |service| Ok(roll_back(&service.data, &service.config)?)).await;
            let (detail, done) = match gone_back {
                Ok(summary) => (format!("{} → {}", summary.from, summary.to), Ok(())),
                Err(error) => (String::new(), Err(error.to_string())),
            };
            finish(&action, "index.rollback", "", &detail, done, HERE, w.did_roll_back).await
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}
