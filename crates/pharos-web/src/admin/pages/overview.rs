//! `/admin`: the state of the crawl, live charts, and buttons to control it.

use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_core::{Clock as _, SystemClock};
use pharos_engine::maintenance::backup::last::read_last_backup;
use pharos_engine::status::collection::StoredPages;
use pharos_engine::status::engine_status::{CrawlPhase, EngineStatus, read_engine_status};
use pharos_engine::{CrawlOrder, Order};
use pharos_store::catalog::{CatalogCounts, PageFailure, PageFailureQuery, UnsearchableCounts};

use super::alerts::unacknowledged_alerts;
use super::backup::describe_age;
use super::charts::Chart;
use super::commands::{execute, record_and_redirect, with_catalog};
use super::messages::PageMessages;
use super::problem_messages::ProblemMessages;
use super::sites::report_link;
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::sampler::{Sample, state_name};
use crate::admin::session::Operator;
use crate::messages::{Lang, fill, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

/// Number of failure reasons shown, and number of latest failures they are counted from.
const MAX_REASONS: usize = 5;
const COUNTED_FAILURES: usize = 1_000;
/// Maximum number of seeds that are listed because they yield nothing.
const MAX_SEEDS: usize = 10;
/// Poll interval, and maximum number of polls, while waiting for a new status of the engine.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
const MAX_POLLS: usize = 30;

#[derive(Template)]
#[template(path = "admin/overview.html")]
struct OverviewPage {
    frame: DeskFrame,
    m: &'static PageMessages,
    /// State of the crawl as an identifier for scripts, and as a sentence.
    state: &'static str,
    state_text: String,
    buttons: Vec<CrawlButton>,
    charts: Vec<Chart>,
    figures: Vec<(&'static str, String)>,
    /// Texts about problems.
    p: &'static ProblemMessages,
    stored_sum: String,
    seeds: Vec<SeedProblem>,
    /// Sites that reached a limit, with the limit.
    limits: Vec<(String, String)>,
    waiting_submissions: usize,
    /// Age of the last backup, and whether the last attempt failed.
    backup: (String, bool),
    /// Alerts that are not acknowledged.
    alerts: Vec<String>,
    reasons: Vec<(String, u64)>,
}

/// A seed that yields nothing.
struct SeedProblem {
    url: String,
    href: String,
    reason: String,
    remedy: &'static str,
}

impl SeedProblem {
    fn new(failure: &PageFailure, p: &'static ProblemMessages) -> Self {
        Self {
            url: failure.url.to_string(),
            href: report_link(failure.url.as_str()),
            reason: failure.reason.clone(),
            remedy: p.remedy(failure.problem, &failure.reason),
        }
    }
}

/// A button that controls the crawl.
struct CrawlButton {
    order: &'static str,
    text: &'static str,
    is_main: bool,
}

/// Figures from the catalog.
#[derive(Default)]
struct CatalogFigures {
    counts: CatalogCounts,
    unsearchable: UnsearchableCounts,
    seeds: Vec<PageFailure>,
    undecided: usize,
    reasons: Vec<(String, u64)>,
}

/// `GET /admin`.
pub(crate) async fn overview(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let (m, p) = (PageMessages::for_lang(visitor.lang), ProblemMessages::for_lang(visitor.lang));
    let seeds = PageFailureQuery { seeds_only: true, limit: MAX_SEEDS, ..PageFailureQuery::default() };
    let catalog_figures = with_catalog(&app, move |_, catalog| {
        Ok(CatalogFigures {
            counts: catalog.counts()?,
            unsearchable: catalog.unsearchable()?,
            seeds: catalog.failures(&seeds)?,
            undecided: catalog.submissions()?.iter().filter(|one| one.accepted.is_none()).count(),
            reasons: catalog.failure_reasons(COUNTED_FAILURES)?.into_iter().take(MAX_REASONS).collect(),
        })
    })
    .await?;
    let live = read_engine_status(&app.service().data);
    let state = state_name(live.as_ref());
    let counts = &catalog_figures.counts;
    let searchable = app.searchable_pages_now().await?;
    let figures = [
        (m.known_sites, counts.sites),
        (m.known_pages, counts.pages),
        (m.waiting, counts.waiting),
        (m.stored, counts.stored),
        (m.searchable, searchable),
        (m.failed, counts.failed),
        (m.refused, counts.refused),
    ];
    let page = OverviewPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
        state,
        state_text: state_text(m, live.as_ref(), visitor.lang),
        buttons: buttons(m, state),
        charts: crawl_charts(m, &app),
        figures: figures.map(|(name, figure)| (name, grouped(figure))).into(),
        p,
        stored_sum: p.explain_stored(&StoredPages::new(
            counts.stored,
            searchable,
            catalog_figures.unsearchable,
        )),
        seeds: catalog_figures.seeds.iter().map(|seed| SeedProblem::new(seed, p)).collect(),
        limits: live.map(|live| live.limits).unwrap_or_default(),
        waiting_submissions: catalog_figures.undecided,
        alerts: unacknowledged_alerts(&app.service().data, visitor.lang),
        backup: describe_age(&read_last_backup(&app.service().data), SystemClock.now(), visitor.lang),
        reasons: catalog_figures.reasons,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// `POST /admin/crawl/{pause,resume,stop,start}`.
pub(crate) async fn control_crawl(Path(what): Path<String>, action: Action) -> Response {
    let m = PageMessages::for_lang(action.visitor.lang);
    let (name, crawl, good) = match what.as_str() {
        "pause" => ("crawl.pause", CrawlOrder::Pause, m.did_pause),
        "resume" => ("crawl.resume", CrawlOrder::Resume, m.did_resume),
        "stop" => ("crawl.stop", CrawlOrder::Stop, m.did_stop),
        "start" => ("crawl.start", CrawlOrder::Start, m.did_start),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let done = execute(&action.app, Order::Crawl(crawl)).await;
    if done.is_ok() {
        wait_for_status(&action.app).await;
    }
    record_and_redirect(&action, name, "", "", done, "/admin", good).await
}

/// Waits until the engine has published a status after the order, so that the next page shows its effect.
async fn wait_for_status(app: &AppState) {
    let now = SystemClock.now();
    for _ in 0..MAX_POLLS {
        tokio::time::sleep(POLL_INTERVAL).await;
        // The crawl needs some time to react to the order.
        if read_engine_status(&app.service().data).is_none_or(|live| live.at > now.plus(POLL_INTERVAL)) {
            return;
        }
    }
}

fn buttons(m: &'static PageMessages, state: &str) -> Vec<CrawlButton> {
    let button = |order, text, is_main| CrawlButton { order, text, is_main };
    match state {
        "running" | "up-to-date" | "no-room" => {
            vec![button("pause", m.pause, true), button("stop", m.stop, false)]
        }
        "held" => vec![button("resume", m.resume, true), button("stop", m.stop, false)],
        "ended" | "failed" | "empty" => vec![button("start", m.start, state != "empty")],
        _ => Vec::new(),
    }
}

/// Describes the state of the crawl in a sentence.
fn state_text(m: &'static PageMessages, live: Option<&EngineStatus>, lang: Lang) -> String {
    let Some(live) = live else { return m.is_off.into() };
    match &live.phase {
        CrawlPhase::Idle => m.is_idle.into(),
        CrawlPhase::Replaying => m.is_replaying.into(),
        CrawlPhase::Running if live.paused => m.is_held.into(),
        CrawlPhase::Running if live.disk_low => m.is_disk_full.into(),
        CrawlPhase::Running if live.idle => match live.next_visit {
            Some(at) => fill(m.is_up_to_date_until, &[&lang.date_time(at)]),
            None => m.is_up_to_date.into(),
        },
        CrawlPhase::Running => fill(m.is_running, &[&live.command]),
        CrawlPhase::Empty => m.is_empty.into(),
        CrawlPhase::NothingDue => m.ended_nothing_due.into(),
        CrawlPhase::PageLimit => m.ended_max_pages.into(),
        CrawlPhase::TimeLimit => m.ended_time.into(),
        CrawlPhase::DiskLimit => m.ended_disk.into(),
        CrawlPhase::Stopped => m.ended_stopped.into(),
        CrawlPhase::Failed(error) => fill(m.has_failed, &[error]),
    }
}

/// Selects one figure of a sample.
type SelectFigure = fn(&Sample) -> f64;

/// Draws charts of the latest samples: name of the field, title, unit, figure.
pub(super) fn draw_charts(
    app: &AppState,
    charts: &[(&'static str, &'static str, &'static str, SelectFigure)],
) -> Vec<Chart> {
    let samples = app.desk().sampler.samples_after(0);
    let draw = |(name, title, unit, figure): &(&'static str, &'static str, &'static str, SelectFigure)| {
        let values: Vec<f64> = samples.iter().map(|sample| figure(sample)).collect();
        Chart::new(name, title, unit, &values)
    };
    charts.iter().map(draw).collect()
}

fn crawl_charts(m: &'static PageMessages, app: &AppState) -> Vec<Chart> {
    draw_charts(
        app,
        &[
            ("pages", m.pages_a_second, "count", |sample| sample.pages),
            ("bytes", m.bytes_a_second, "bytes", |sample| sample.bytes),
            ("errors", m.errors_a_second, "count", |sample| sample.errors),
            ("queued", m.queue, "count", |sample| sample.queued),
            ("hosts", m.active_hosts, "count", |sample| sample.hosts),
            ("under_way", m.under_way, "count", |sample| sample.under_way),
        ],
    )
}
