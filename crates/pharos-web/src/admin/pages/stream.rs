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

use crate::admin::session::Operator;
use crate::admin::watch::Watch;
use crate::service::Rooms;

/// Maximum number of open streams.
const MOST: usize = 64;
/// Lifetime of a stream. The browser then reconnects, which checks its session again.
const LASTS: Duration = Duration::from_secs(60);
/// Delay before the browser reconnects.
const RETRY: Duration = Duration::from_millis(1_500);

static OPEN: AtomicUsize = AtomicUsize::new(0);

/// A slot for one open stream, released on drop.
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let taken =
            OPEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| (open < MOST).then_some(open + 1));
        taken.ok().map(|_| Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// `GET /admin/live`.
pub(crate) async fn live(State(rooms): State<Rooms>, _operator: Operator, headers: HeaderMap) -> Response {
    let Some(place) = Place::take() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let seen = headers.get(HeaderName::from_static("last-event-id"));
    let seen = seen.and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
    let watch = Arc::clone(&rooms.desk().watch);
    // A browser without a last id has the past samples in the page.
    let newest = watch.now().map_or(0, |sample| sample.id);
    // Ids of a previous process may be larger than the current ones.
    let seen = seen.filter(|seen| *seen <= newest).unwrap_or(newest);
    let mut response = Sse::new(events(rooms, watch, seen, place)).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Prevents buffering by proxies.
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

fn events(
    rooms: Rooms,
    watch: Arc<Watch>,
    seen: u64,
    place: Place,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let newest = watch.newest();
    let ends = Instant::now() + LASTS;
    let first = Event::default().retry(RETRY).comment("figures");
    let rest = stream::unfold(
        (rooms, watch, newest, seen, place),
        move |(rooms, watch, mut newest, seen, place)| async move {
            loop {
                if Instant::now() > ends || rooms.is_closing() {
                    return None;
                }
                let missed = watch.since(seen);
                if let Some(sample) = missed.first() {
                    let event = Event::default().id(sample.id.to_string()).json_data(&**sample).ok()?;
                    let id = sample.id;
                    return Some((Ok(event), (rooms, watch, newest, id, place)));
                }
                tokio::select! {
                    changed = newest.changed() => changed.ok()?,
                    () = rooms.closing() => return None,
                }
            }
        },
    );
    stream::StreamExt::chain(stream::once(async { Ok(first) }), rest)
}
