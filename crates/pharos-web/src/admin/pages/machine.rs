//! `/admin/machine`: resource usage of the machine and the bottleneck of every engine stage.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_mining::machine::MachineReading;

use super::charts::{Chart, format_bytes, format_value};
use super::commands::spawn_blocking;
use super::messages::PageMessages;
use super::overview::draw_charts;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::admin::stages::{Bottleneck, StageSample};
use crate::messages::{fill, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::Visitor;
use crate::state::{AppState, ServiceError};

#[derive(Template)]
#[template(path = "admin/machine.html")]
struct MachinePage {
    frame: DeskFrame,
    m: &'static PageMessages,
    charts: Vec<Chart>,
    facts: Vec<(&'static str, String)>,
    stages: Vec<StageRow>,
}

struct StageRow {
    name: &'static str,
    bound: &'static str,
    /// CSS class of the colour.
    css_class: &'static str,
    waiting: String,
    threads: u32,
    processors: String,
    read: String,
    written: String,
    switches: String,
}

/// `/admin/machine`.
pub(crate) async fn machine(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = PageMessages::for_lang(visitor.lang);
    let reading = spawn_blocking(&app, |service| Ok(MachineReading::now(service.data.root()))).await?;
    let now = app.desk().sampler.latest();
    let stages = now.iter().flat_map(|sample| &sample.stages).map(|stage| StageRow::new(stage, m)).collect();
    let part = |of: Option<f64>| of.map_or_else(|| "–".into(), |part| format_value(part, "part"));
    let both = |pair: Option<(u64, u64)>| match pair {
        Some((all, free)) => fill(m.free_of, &[&format_bytes(free as f64), &format_bytes(all as f64)]),
        None => "–".into(),
    };
    let [processor, disk, memory] = reading.pressure;
    let facts = vec![
        (m.processors, reading.processors.to_string()),
        (m.load, reading.load.map_or_else(|| "–".into(), |load| format!("{load:.2}"))),
        (m.memory, both(reading.memory)),
        (m.own_memory, reading.own_memory.map_or_else(|| "–".into(), |own| format_bytes(own as f64))),
        (m.disk, both(reading.disk)),
        (m.waits, format!("{} · {} · {}", part(processor), part(disk), part(memory))),
    ];
    let charts = draw_charts(
        &app,
        &[
            ("processor", m.processor, "part", |sample| sample.processor),
            ("memory", m.memory, "part", |sample| sample.memory),
            ("disk_read", m.disk_read, "bytes", |sample| sample.disk_read),
            ("disk_written", m.disk_written, "bytes", |sample| sample.disk_written),
            ("received", m.received, "bytes", |sample| sample.received),
            ("sent", m.sent, "bytes", |sample| sample.sent),
            ("switches", m.switches, "count", |sample| sample.switches),
            ("load", m.load, "count", |sample| sample.load),
        ],
    );
    let frame = DeskFrame::new(&app, &visitor, &operator);
    Ok(respond(&visitor, StatusCode::OK, &MachinePage { frame, m, charts, facts, stages }))
}

impl StageRow {
    fn new(stage: &StageSample, m: &'static PageMessages) -> Self {
        let name = match stage.name {
            "fetch" => m.stage_fetch,
            "append" => m.stage_append,
            "analyse" => m.stage_analyse,
            "apply" => m.stage_apply,
            "build" => m.stage_build,
            _ => m.stage_query,
        };
        let (bound, css_class) = match stage.bound {
            Bottleneck::Idle => (m.bound_idle, "open"),
            Bottleneck::Processor => (m.bound_processor, "bad"),
            Bottleneck::Disk => (m.bound_disk, "bad"),
            Bottleneck::Network => (m.bound_network, "good"),
            Bottleneck::Politeness => (m.bound_politeness, "good"),
            Bottleneck::Next => (m.bound_next, "open"),
        };
        let (by_itself, taken) = stage.switches;
        Self {
            name,
            bound,
            css_class,
            waiting: grouped(stage.waiting),
            threads: stage.threads,
            processors: format!("{:.2}", stage.processors),
            read: format_bytes(stage.disk.0),
            written: format_bytes(stage.disk.1),
            switches: format!(
                "{} / {}",
                format_value(by_itself.round(), "count"),
                format_value(taken.round(), "count")
            ),
        }
    }
}
