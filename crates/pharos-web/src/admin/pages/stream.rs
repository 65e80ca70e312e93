//! `/admin/live`: the figures as server-sent events. A browser that comes back names the last one it saw.

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

/// Streams that may be open at once.
const MOST: usize = 64;
/// A stream ends after so long, and the browser comes back: whoever is not logged in any more is not let in again.
const LASTS: Duration = Duration::from_secs(60);
/// After so many milliseconds it comes back.
const RETRY: Duration = Duration::from_millis(1_500);

static OPEN: AtomicUsize = AtomicUsize::new(0);

/// One open stream.
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

/// `/admin/live`.
pub(crate) async fn live(State(rooms): State<Rooms>, _operator: Operator, headers: HeaderMap) -> Response {
    let Some(place) = Place::take() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let seen = headers.get(HeaderName::from_static("last-event-id"));
    let seen = seen.and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
    let watch = Arc::clone(&rooms.desk().watch);
    // Who was never here has the past in the page already.
    let newest = watch.now().map_or(0, |sample| sample.id);
    // Samples of a process before this one were counted from 1, too.
    let seen = seen.filter(|seen| *seen <= newest).unwrap_or(newest);
    let mut response = Sse::new(events(rooms, watch, seen, place)).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that gather answers must not gather these.
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
