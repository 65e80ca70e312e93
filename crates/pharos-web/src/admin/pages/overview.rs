//! `/admin`: the state of the crawl, live charts, and buttons to control it.

use std::time::Duration;

use askama::Template;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use pharos_core::{Clock as _, SystemClock};
use pharos_engine::{CrawlOrder, Ended, Live, Order, Phase, live};
use pharos_store::CatalogCounts;

use super::charts::Chart;
use super::words::PageWords;
use super::work::{finish, order, with_catalog};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::admin::watch::{Sample, state};
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;
use crate::words::{fill, grouped};

/// Number of failure reasons shown, and number of latest failures they are counted from.
const REASONS: usize = 5;
const TROUBLES: usize = 1_000;
/// Poll interval, and maximum number of polls, while waiting for a new status of the engine.
const LOOK: Duration = Duration::from_millis(100);
const TOLD_WITHIN: usize = 30;

#[derive(Template)]
#[template(path = "admin/overview.html")]
struct OverviewPage {
    frame: DeskFrame,
    w: &'static PageWords,
    /// State of the crawl as an identifier for scripts, and as a sentence.
    state: &'static str,
    told: String,
    levers: Vec<Lever>,
    charts: Vec<Chart>,
    figures: Vec<(&'static str, String)>,
    waiting_submissions: usize,
    reasons: Vec<(String, u64)>,
}

/// A button that controls the crawl.
struct Lever {
    order: &'static str,
    text: &'static str,
    is_main: bool,
}

/// Figures from the catalog.
#[derive(Default)]
struct Known {
    counts: CatalogCounts,
    undecided: usize,
    reasons: Vec<(String, u64)>,
}

/// `GET /admin`.
pub(crate) async fn overview(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let w = PageWords::of(visitor.lang);
    let known = with_catalog(&rooms, |_, catalog| {
        Ok(Known {
            counts: catalog.counts()?,
            undecided: catalog.submissions()?.iter().filter(|one| one.accepted.is_none()).count(),
            reasons: catalog.trouble_reasons(TROUBLES)?.into_iter().take(REASONS).collect(),
        })
    })
    .await?;
    let live = live(&rooms.service().data);
    let state = state(live.as_ref());
    let counts = &known.counts;
    let searchable = rooms.pages_aside().await?;
    let figures = [
        (w.known_sites, counts.sites),
        (w.known_pages, counts.pages),
        (w.waiting, counts.waiting),
        (w.stored, counts.stored),
        (w.searchable, searchable),
        (w.failed, counts.failed),
        (w.refused, counts.refused),
    ];
    let page = OverviewPage {
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        w,
        state,
        told: told(w, live.as_ref()),
        levers: levers(w, state),
        charts: charts(w, &rooms),
        figures: figures.map(|(name, figure)| (name, grouped(figure))).into(),
        waiting_submissions: known.undecided,
        reasons: known.reasons,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// `POST /admin/crawl/{pause,resume,stop,start}`.
pub(crate) async fn steer(Path(what): Path<String>, action: Action) -> Response {
    let w = PageWords::of(action.visitor.lang);
    let (name, crawl, good) = match what.as_str() {
        "pause" => ("crawl.pause", CrawlOrder::Pause, w.did_pause),
        "resume" => ("crawl.resume", CrawlOrder::Resume, w.did_resume),
        "stop" => ("crawl.stop", CrawlOrder::Stop, w.did_stop),
        "start" => ("crawl.start", CrawlOrder::Start, w.did_start),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let done = order(&action.rooms, Order::Crawl(crawl)).await;
    if done.is_ok() {
        told_anew(&action.rooms).await;
    }
    finish(&action, name, "", "", done, "/admin", good).await
}

/// Waits until the engine has published a status after the order, so that the next page shows its effect.
async fn told_anew(rooms: &Rooms) {
    let now = SystemClock.now();
    for _ in 0..TOLD_WITHIN {
        tokio::time::sleep(LOOK).await;
        // The crawl needs a moment to react to the order.
        if live(&rooms.service().data).is_none_or(|live| live.at > now.plus(LOOK)) {
            return;
        }
    }
}

fn levers(w: &'static PageWords, state: &str) -> Vec<Lever> {
    let lever = |order, text, is_main| Lever { order, text, is_main };
    match state {
        "running" | "no-room" => vec![lever("pause", w.pause, true), lever("stop", w.stop, false)],
        "held" => vec![lever("resume", w.resume, true), lever("stop", w.stop, false)],
        "ended" | "failed" | "empty" => vec![lever("start", w.start, state != "empty")],
        _ => Vec::new(),
    }
}

/// Describes the state of the crawl in a sentence.
fn told(w: &'static PageWords, live: Option<&Live>) -> String {
    let Some(live) = live else { return w.is_off.into() };
    match &live.phase {
        Phase::Idle => w.is_idle.into(),
        Phase::Replaying => w.is_replaying.into(),
        Phase::Running if live.held => w.is_held.into(),
        Phase::Running if live.no_room => w.is_without_room.into(),
        Phase::Running => fill(w.is_running, &[&live.command]),
        Phase::Empty => w.is_empty.into(),
        Phase::Ended(why) => match why {
            Ended::NothingDue => w.ended_nothing_due,
            Ended::MaxPages => w.ended_max_pages,
            Ended::Time => w.ended_time,
            Ended::Disk => w.ended_disk,
            Ended::Stopped => w.ended_stopped,
        }
        .into(),
        Phase::Failed(error) => fill(w.has_failed, &[error]),
    }
}

/// Selects one figure of a sample.
type Figure = fn(&Sample) -> f64;

/// Draws charts of the latest samples: name of the field, title, unit, figure.
pub(super) fn drawn(
    rooms: &Rooms,
    charts: &[(&'static str, &'static str, &'static str, Figure)],
) -> Vec<Chart> {
    let samples = rooms.desk().watch.since(0);
    let draw = |(name, title, unit, figure): &(&'static str, &'static str, &'static str, Figure)| {
        let values: Vec<f64> = samples.iter().map(|sample| figure(sample)).collect();
        Chart::of(name, title, unit, &values)
    };
    charts.iter().map(draw).collect()
}

fn charts(w: &'static PageWords, rooms: &Rooms) -> Vec<Chart> {
    drawn(
        rooms,
        &[
            ("pages", w.pages_a_second, "count", |sample| sample.pages),
            ("bytes", w.bytes_a_second, "bytes", |sample| sample.bytes),
            ("errors", w.errors_a_second, "count", |sample| sample.errors),
            ("queued", w.queue, "count", |sample| sample.queued),
            ("hosts", w.active_hosts, "count", |sample| sample.hosts),
            ("under_way", w.under_way, "count", |sample| sample.under_way),
        ],
    )
}
