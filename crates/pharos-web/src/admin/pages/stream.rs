//! `/admin/live`: samples as server-sent events. A reconnecting browser sends the id of the last sample it received.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, HeaderName, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures::{Stream, stream};

use crate::admin::sampler::Sampler;
use crate::admin::session::Operator;
use crate::state::AppState;

/// Maximum number of open streams.
const MAX_STREAMS: usize = 64;
/// Lifetime of a stream. The browser then reconnects, which checks its session again.
const LIFETIME: Duration = Duration::from_secs(60);
/// Delay before the browser reconnects.
const RETRY: Duration = Duration::from_millis(1_500);

static OPEN: AtomicUsize = AtomicUsize::new(0);

/// A slot for one open stream, released on drop.
struct StreamSlot;

impl StreamSlot {
    fn acquire() -> Option<Self> {
        let taken = OPEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| {
            (open < MAX_STREAMS).then_some(open + 1)
        });
        taken.ok().map(|_| Self)
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `GET /admin/live`.
pub(crate) async fn live(State(app): State<AppState>, _operator: Operator, headers: HeaderMap) -> Response {
    let Some(slot) = StreamSlot::acquire() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let seen = headers.get(HeaderName::from_static("last-event-id"));
    let seen = seen.and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
    let sampler = Arc::clone(&app.desk().sampler);
    // A browser without a last id has the past samples in the page.
    let newest = sampler.latest().map_or(0, |sample| sample.id);
    // Ids of a previous process may be larger than the current ones.
    let seen = seen.filter(|seen| *seen <= newest).unwrap_or(newest);
    let mut response = Sse::new(events(app, sampler, seen, slot)).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Prevents buffering by proxies.
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

fn events(
    app: AppState,
    sampler: Arc<Sampler>,
    seen: u64,
    slot: StreamSlot,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let newest = sampler.subscribe();
    let ends = Instant::now() + LIFETIME;
    let first = Event::default().retry(RETRY).comment("figures");
    let rest = stream::unfold(
        (app, sampler, newest, seen, slot),
        move |(app, sampler, mut newest, seen, slot)| async move {
            loop {
                if Instant::now() > ends || app.is_shutting_down() {
                    return None;
                }
                let missed = sampler.samples_after(seen);
                if let Some(sample) = missed.first() {
                    let event = Event::default().id(sample.id.to_string()).json_data(&**sample).ok()?;
                    let id = sample.id;
                    return Some((Ok(event), (app, sampler, newest, id, slot)));
                }
                tokio::select! {
                    changed = newest.changed() => changed.ok()?,
                    () = app.shutdown() => return None,
                }
            }
        },
    );
    stream::StreamExt::chain(stream::once(async { Ok(first) }), rest)
}
