//! Memory budget for long responses: bounds the bytes waiting to be sent, sends them in chunks, and drops stalled ones.
//!
//! A client can request a hundred long stored pages over one connection and read none of them. Responses that are read slower
//! than a modem are dropped, and while the budget is exhausted, no further long response is started.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};

use crate::packing::LONG;
use crate::service::Rooms;

/// Maximum number of bytes of long responses waiting to be sent.
const MOST: usize = 256 << 20;

/// Bytes passed to the connection at once.
const PIECE: usize = 64 << 10;

/// Minimum number of bytes to be read within the idle timeout.
const LEAST: usize = 8 * PIECE;

/// Number of bytes waiting to be sent.
#[derive(Default)]
pub(crate) struct Unsent(AtomicUsize);

impl Unsent {
    /// Reserves bytes; `None` if the budget is exhausted.
    fn hold(self: &Arc<Self>, bytes: usize) -> Option<Held> {
        let held = Held { unsent: Arc::clone(self), bytes };
        (self.0.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST).then_some(held)
    }
}

/// Reserved bytes, released on drop.
struct Held {
    unsent: Arc<Unsent>,
    bytes: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.unsent.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Middleware that sends long responses in chunks, and rejects them while the budget is exhausted.
pub(crate) async fn bound(State(rooms): State<Rooms>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let length = response.body().size_hint().exact().filter(|length| *length >= LONG);
    let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else { return response };
    let Some(held) = rooms.unsent().hold(length) else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (head, body) = response.into_parts();
    match body.collect().await {
        Ok(whole) => {
            let pieces = Pieces::new(whole.to_bytes(), held, rooms.config().web.idle_timeout);
            Response::from_parts(head, Body::new(pieces))
        }
        // A body in memory cannot fail.
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The unsent rest of a response; `None` once it is dropped.
type Waiting = Mutex<Option<(Bytes, Held)>>;

struct Pieces(Arc<Waiting>);

impl Pieces {
    fn new(bytes: Bytes, held: Held, silence: Duration) -> Self {
        let rest: Arc<Waiting> = Arc::new(Mutex::new(Some((bytes, held))));
        tokio::spawn(watch(Arc::downgrade(&rest), silence));
        Self(rest)
    }

    fn left(&self) -> Option<usize> {
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rest.as_ref().map(|(bytes, _)| bytes.len())
    }
}

/// Drops the body if the client reads too slowly.
async fn watch(rest: Weak<Waiting>, silence: Duration) {
    let mut before = None;
    loop {
        let Some(rest) = rest.upgrade() else { return };
        {
            let mut rest = rest.lock().unwrap_or_else(PoisonError::into_inner);
            let Some((bytes, _)) = &*rest else { return };
            let now = bytes.len();
            if before.is_some_and(|before: usize| before.saturating_sub(now) < LEAST) {
                *rest = None;
                return;
            }
            before = Some(now);
        }
        drop(rest);
        tokio::time::sleep(silence).await;
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let mut rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((bytes, _)) = &mut *rest else {
            let late = io::Error::new(io::ErrorKind::TimedOut, "the response was not read in time");
            return Poll::Ready(Some(Err(late)));
        };
        let piece = bytes.split_to(bytes.len().min(PIECE));
        Poll::Ready((!piece.is_empty()).then(|| Ok(Frame::data(piece))))
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
    use crate::router;
    use crate::testing::{TestPage, engine, get};

    fn pieces(length: usize, silence: Duration) -> (Arc<Unsent>, Pieces) {
        let unsent = Arc::<Unsent>::default();
        let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
        let held = unsent.hold(length).unwrap();
        (unsent, Pieces::new(bytes.into(), held, silence))
    }

    #[tokio::test]
    async fn chunks_add_up_to_the_body() {
        let (unsent, pieces) = pieces(10 * PIECE + 7, Duration::from_secs(60));
        assert_eq!(pieces.size_hint().exact(), Some(10 * PIECE as u64 + 7));
        let fetched = pieces.collect().await.unwrap().to_bytes();
        assert!(fetched.iter().enumerate().all(|(n, byte)| *byte == n as u8));
        assert_eq!((fetched.len(), unsent.0.load(Ordering::Relaxed)), (10 * PIECE + 7, 0));
    }

    #[tokio::test]
    async fn an_unread_body_is_dropped() {
        let (unsent, mut pieces) = pieces(10 * PIECE, Duration::from_millis(50));
        assert!(pieces.frame().await.unwrap().is_ok());
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        while unsent.0.load(Ordering::Relaxed) > 0 {
            assert!(tokio::time::Instant::now() < deadline, "the body is never dropped");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(pieces.frame().await.unwrap().unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn the_budget_is_bounded() {
        let unsent = Arc::<Unsent>::default();
        let first = unsent.hold(MOST / 2 + 1);
        assert!(first.is_some() && unsent.hold(MOST / 2).is_none());
        drop(first);
        assert!(unsent.hold(MOST).is_some());
    }

    #[tokio::test]
    async fn long_pages_are_rejected_while_the_budget_is_exhausted() {
        let text = format!("{} the end", "lighthouse ".repeat(40_000)).leak();
        let page = TestPage::new("https://www.example.org/long", "Long", text);
        let path = format!("{}/content", page.snapshot());
        let (_dir, service) = engine(&[page], Config::default());
        let rooms = Rooms::new(service).unwrap();
        let router = router::open(rooms.clone());
        let whole = get(&router, &path).await;
        assert_eq!(whole.status, StatusCode::OK);
        assert!(whole.bytes.len() as u64 > LONG && whole.text().contains(" the end"));
        let others = rooms.unsent().hold(MOST).unwrap();
        let refused = get(&router, &path).await;
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(refused.header("retry-after").parse::<u64>().is_ok());
        assert_eq!(get(&router, "/help").await.status, StatusCode::OK, "short responses are not affected");
        drop(others);
        assert_eq!(get(&router, &path).await.status, StatusCode::OK);
    }
}
