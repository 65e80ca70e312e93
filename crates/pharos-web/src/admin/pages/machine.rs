//! `/admin/machine`: resource usage of the machine and the bottleneck of every engine stage.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_engine::MachineReading;

use super::charts::{Chart, bytes, written};
use super::overview::drawn;
use super::words::PageWords;
use super::work::aside;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::admin::stages::{Bound, Stage};
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::Visitor;
use crate::words::{fill, grouped};

#[derive(Template)]
#[template(path = "admin/machine.html")]
struct MachinePage {
    frame: DeskFrame,
    w: &'static PageWords,
    charts: Vec<Chart>,
    facts: Vec<(&'static str, String)>,
    stages: Vec<Row>,
}

struct Row {
    name: &'static str,
    bound: &'static str,
    /// CSS class of the colour.
    mood: &'static str,
    waiting: String,
    threads: u32,
    processors: String,
    read: String,
    written: String,
    switches: String,
}

/// `/admin/machine`.
pub(crate) async fn machine(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let w = PageWords::of(visitor.lang);
    let reading = aside(&rooms, |service| Ok(MachineReading::now(service.data.root()))).await?;
    let now = rooms.desk().watch.now();
    let stages = now.iter().flat_map(|sample| &sample.stages).map(|stage| Row::of(stage, w)).collect();
    let part = |of: Option<f64>| of.map_or_else(|| "–".into(), |part| written(part, "part"));
    let both = |pair: Option<(u64, u64)>| match pair {
        Some((all, free)) => fill(w.free_of, &[&bytes(free as f64), &bytes(all as f64)]),
        None => "–".into(),
    };
    let [processor, disk, memory] = reading.pressure;
    let facts = vec![
        (w.processors, reading.processors.to_string()),
        (w.load, reading.load.map_or_else(|| "–".into(), |load| format!("{load:.2}"))),
        (w.memory, both(reading.memory)),
        (w.own_memory, reading.own_memory.map_or_else(|| "–".into(), |own| bytes(own as f64))),
        (w.disk, both(reading.disk)),
        (w.waits, format!("{} · {} · {}", part(processor), part(disk), part(memory))),
    ];
    let charts = drawn(
        &rooms,
        &[
            ("processor", w.processor, "part", |sample| sample.processor),
            ("memory", w.memory, "part", |sample| sample.memory),
            ("disk_read", w.disk_read, "bytes", |sample| sample.disk_read),
            ("disk_written", w.disk_written, "bytes", |sample| sample.disk_written),
            ("received", w.received, "bytes", |sample| sample.received),
            ("sent", w.sent, "bytes", |sample| sample.sent),
            ("switches", w.switches, "count", |sample| sample.switches),
            ("load", w.load, "count", |sample| sample.load),
        ],
    );
    let frame = DeskFrame::new(&rooms, &visitor, &operator);
    Ok(respond(&visitor, StatusCode::OK, &MachinePage { frame, w, charts, facts, stages }))
}

impl Row {
    fn of(stage: &Stage, w: &'static PageWords) -> Self {
        let name = match stage.name {
            "fetch" => w.stage_fetch,
            "shelve" => w.stage_shelve,
            "read" => w.stage_read,
            "absorb" => w.stage_absorb,
            "build" => w.stage_build,
            _ => w.stage_query,
        };
        let (bound, mood) = match stage.bound {
            Bound::Idle => (w.bound_idle, "open"),
            Bound::Processor => (w.bound_processor, "bad"),
            Bound::Disk => (w.bound_disk, "bad"),
            Bound::Network => (w.bound_network, "good"),
            Bound::Politeness => (w.bound_politeness, "good"),
            Bound::Next => (w.bound_next, "open"),
        };
        let (by_itself, taken) = stage.switches;
        Self {
            name,
            bound,
            mood,
            waiting: grouped(stage.waiting),
            threads: stage.threads,
            processors: format!("{:.2}", stage.processors),
            read: bytes(stage.disk.0),
            written: bytes(stage.disk.1),
            switches: format!(
                "{} / {}",
                written(by_itself.round(), "count"),
                written(taken.round(), "count")
            ),
        }
    }
}
