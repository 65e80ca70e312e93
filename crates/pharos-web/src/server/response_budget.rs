//! Memory budget for long responses: bounds the bytes waiting to be sent, sends them in chunks, and drops stalled ones.
//!
//! A client can request a hundred long stored pages over one connection and read none of them. Responses that are read slower
//! than a modem are dropped, and while the budget is exhausted, no further long response is started.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;

use crate::server::compression::STREAM_FROM;
use crate::state::AppState;

/// Maximum number of bytes of long responses waiting to be sent.
const MAX_PENDING: usize = 256 << 20;

/// Bytes passed to the connection at once.
const CHUNK: usize = 64 << 10;

/// Minimum number of bytes to be read within the idle timeout.
const MIN_PROGRESS: usize = 8 * CHUNK;

/// Number of bytes waiting to be sent.
#[derive(Default)]
pub(crate) struct ResponseBudget(AtomicUsize);

impl ResponseBudget {
    /// Reserves bytes; `None` if the budget is exhausted.
    fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Reservation> {
        let reservation = Reservation { response_budget: Arc::clone(self), bytes };
        (self.0.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_PENDING).then_some(reservation)
    }
}

/// Reserved bytes, released on drop.
struct Reservation {
    response_budget: Arc<ResponseBudget>,
    bytes: usize,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.response_budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Middleware that sends long responses in chunks, and rejects them while the budget is exhausted.
pub(crate) async fn limit_responses(State(app): State<AppState>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let length = response.body().size_hint().exact().filter(|length| *length >= STREAM_FROM);
    let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else { return response };
    let Some(reservation) = app.response_budget().reserve(length) else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (head, body) = response.into_parts();
    match body.collect().await {
        Ok(whole) => {
            let chunked = ChunkedBody::new(whole.to_bytes(), reservation, app.config().web.idle_timeout);
            Response::from_parts(head, Body::new(chunked))
        }
        // A body in memory cannot fail.
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The unsent rest of a response; `None` once it is dropped.
type PendingBody = Mutex<Option<(Bytes, Reservation)>>;

struct ChunkedBody(Arc<PendingBody>);

impl ChunkedBody {
    fn new(bytes: Bytes, reservation: Reservation, idle_timeout: Duration) -> Self {
        let rest: Arc<PendingBody> = Arc::new(Mutex::new(Some((bytes, reservation))));
        tokio::spawn(drop_stalled(Arc::downgrade(&rest), idle_timeout));
        Self(rest)
    }

    fn left(&self) -> Option<usize> {
        let rest = self.0.lock();
        rest.as_ref().map(|(bytes, _)| bytes.len())
    }
}

/// Drops the body if the client reads too slowly.
async fn drop_stalled(rest: Weak<PendingBody>, idle_timeout: Duration) {
    let mut before = None;
    loop {
        let Some(rest) = rest.upgrade() else { return };
        {
            let mut rest = rest.lock();
            let Some((bytes, _)) = &*rest else { return };
            let now = bytes.len();
            if before.is_some_and(|before: usize| before.saturating_sub(now) < MIN_PROGRESS) {
                *rest = None;
                return;
            }
            before = Some(now);
        }
        drop(rest);
        tokio::time::sleep(idle_timeout).await;
    }
}

impl HttpBody for ChunkedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let mut rest = self.0.lock();
        let Some((bytes, _)) = &mut *rest else {
            let late = io::Error::new(io::ErrorKind::TimedOut, "the response was not read in time");
            return Poll::Ready(Some(Err(late)));
        };
        let chunk = bytes.split_to(bytes.len().min(CHUNK));
        Poll::Ready((!chunk.is_empty()).then(|| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.left() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left().unwrap_or_default() as u64)
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;

    use super::*;
    use crate::server::router;
    use crate::testing::{TestPage, engine, get};

    fn chunked(length: usize, idle_timeout: Duration) -> (Arc<ResponseBudget>, ChunkedBody) {
        let response_budget = Arc::<ResponseBudget>::default();
        let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
        let reservation = response_budget.reserve(length).unwrap();
        (response_budget, ChunkedBody::new(bytes.into(), reservation, idle_timeout))
    }

    #[tokio::test]
    async fn chunks_add_up_to_the_body() {
        let (response_budget, chunked) = chunked(10 * CHUNK + 7, Duration::from_secs(60));
        assert_eq!(chunked.size_hint().exact(), Some(10 * CHUNK as u64 + 7));
        let fetched = chunked.collect().await.unwrap().to_bytes();
        assert!(fetched.iter().enumerate().all(|(n, byte)| *byte == n as u8));
        assert_eq!((fetched.len(), response_budget.0.load(Ordering::Relaxed)), (10 * CHUNK + 7, 0));
    }

    #[tokio::test]
    async fn an_unread_body_is_dropped() {
        let (response_budget, mut chunked) = chunked(10 * CHUNK, Duration::from_millis(50));
        assert!(chunked.frame().await.unwrap().is_ok());
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        while response_budget.0.load(Ordering::Relaxed) > 0 {
            assert!(tokio::time::Instant::now() < deadline, "the body is never dropped");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(chunked.frame().await.unwrap().unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn the_budget_is_bounded() {
        let response_budget = Arc::<ResponseBudget>::default();
        let first = response_budget.reserve(MAX_PENDING / 2 + 1);
        assert!(first.is_some() && response_budget.reserve(MAX_PENDING / 2).is_none());
        drop(first);
        assert!(response_budget.reserve(MAX_PENDING).is_some());
    }

    #[tokio::test]
    async fn long_pages_are_rejected_while_the_budget_is_exhausted() {
        let text = format!("{} the end", "lighthouse ".repeat(40_000)).leak();
        let page = TestPage::new("https://www.example.org/long", "Long", text);
        let path = format!("{}/content", page.cached_page());
        let (_dir, service) = engine(&[page], Config::default());
        let app = AppState::new(service).unwrap();
        let router = router::build(app.clone());
        let whole = get(&router, &path).await;
        assert_eq!(whole.status, StatusCode::OK);
        assert!(whole.bytes.len() as u64 > STREAM_FROM && whole.text().contains(" the end"));
        let others = app.response_budget().reserve(MAX_PENDING).unwrap();
        let refused = get(&router, &path).await;
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(refused.header("retry-after").parse::<u64>().is_ok());
        assert_eq!(get(&router, "/help").await.status, StatusCode::OK, "short responses are not affected");
        drop(others);
        assert_eq!(get(&router, &path).await.status, StatusCode::OK);
    }
}
