//! The stream of a connection: closes those with a slow request head, an unread response, or no traffic, and checks line endings.
//!
//! A stream wrapper records the time of the last transfer, which is cheap. One timer per connection checks it now and then.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use pharos_core::config::WebConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::line_endings::LineEndings;

/// Timeouts of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// From the first byte of a request head to its last; for the first one, from the start of the connection.
    pub(crate) head: Duration,
    /// Without a byte in either direction.
    pub(crate) idle: Duration,
}

impl Timeouts {
    pub(crate) fn from_config(web: &WebConfig) -> Self {
        // While a request is handled the connection is idle through no fault of the client.
        Self { head: web.head_timeout, idle: web.idle_timeout.max(web.timeout + Duration::from_secs(1)) }
    }
}

/// The phase of a connection, shared between the stream and the request handler.
#[derive(Debug)]
pub(crate) struct ConnectionPhase(AtomicU8);

impl Default for ConnectionPhase {
    /// A new connection is expected to send a request head.
    fn default() -> Self {
        Self(AtomicU8::new(READING_HEAD))
    }
}

/// No request in progress.
const IDLE: u8 = 0;
/// A request head has begun.
const READING_HEAD: u8 = 1;
/// A request is being handled.
const HANDLING: u8 = 2;
/// HTTP/2: bytes may belong to any of several requests.
const MULTIPLEXED: u8 = 3;

impl ConnectionPhase {
    /// Marks the request head as complete.
    pub(crate) fn head_complete(&self, multiplexed: bool) {
        self.0.store(if multiplexed { MULTIPLEXED } else { HANDLING }, Ordering::Relaxed);
    }

    /// Records received bytes. Returns `true` if a request head begins with them.
    fn on_read(&self) -> bool {
        self.0.compare_exchange(IDLE, READING_HEAD, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Records sent bytes: a response has begun, and the next bytes received belong to another request.
    fn on_write(&self) {
        let _ = self.0.compare_exchange(HANDLING, IDLE, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn is_reading_head(&self) -> bool {
        self.0.load(Ordering::Relaxed) == READING_HEAD
    }
}

/// A stream that fails when a timeout expires.
pub(crate) struct TimedStream<S> {
    stream: S,
    phase: Arc<ConnectionPhase>,
    line_endings: LineEndings,
    timeouts: Timeouts,
    last_byte: Instant,
    head_began: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<S> TimedStream<S> {
    pub(crate) fn new(stream: S, phase: Arc<ConnectionPhase>, timeouts: Timeouts) -> Self {
        let now = Instant::now();
        let timer = Box::pin(tokio::time::sleep(timeouts.head.min(timeouts.idle)));
        let line_endings = LineEndings::default();
        Self { stream, phase, line_endings, timeouts, last_byte: now, head_began: now, timer }
    }

    /// Returns the current deadline.
    fn deadline(&self) -> Instant {
        let idle = self.last_byte + self.timeouts.idle;
        if self.phase.is_reading_head() { idle.min(self.head_began + self.timeouts.head) } else { idle }
    }

    /// Returns `true` if the deadline has passed. Called whenever the stream is pending; registers a wake-up otherwise.
    fn is_expired(&mut self, cx: &mut Context<'_>) -> bool {
        while self.timer.as_mut().poll(cx).is_ready() {
            let (deadline, now) = (self.deadline(), Instant::now());
            if deadline <= now {
                return true;
            }
            // A head may begin, and time out, before the idle timeout.
            self.timer.as_mut().reset(deadline.min(now + self.timeouts.head));
        }
        false
    }
}

fn timed_out<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "connection timed out")))
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(end) = self.line_endings.take_head_end() {
            buf.put_slice(&end[..end.len().min(buf.remaining())]);
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, buf) {
            Poll::Pending if self.is_expired(cx) => timed_out(),
            Poll::Ready(Ok(())) if buf.filled().len() > before => {
                self.line_endings.check(&mut buf.filled_mut()[before..]);
                self.last_byte = Instant::now();
                if self.phase.on_read() {
                    self.head_began = self.last_byte;
                }
                Poll::Ready(Ok(()))
            }
            other => other,
        }
    }
}

impl<S: AsyncWrite + Unpin> TimedStream<S> {
    fn after_write(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Pending if self.is_expired(cx) => timed_out(),
            Poll::Ready(Ok(bytes)) => {
                self.last_byte = Instant::now();
                self.phase.on_write();
                Poll::Ready(Ok(bytes))
            }
            other => other,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.after_write(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.after_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    const TIMEOUTS: Timeouts = Timeouts { head: Duration::from_millis(100), idle: Duration::from_secs(1) };

    fn pair() -> (tokio::io::DuplexStream, TimedStream<tokio::io::DuplexStream>, Arc<ConnectionPhase>) {
        let (theirs, ours) = duplex(16);
        let phase = Arc::new(ConnectionPhase::default());
        (theirs, TimedStream::new(ours, Arc::clone(&phase), TIMEOUTS), phase)
    }

    #[tokio::test]
    async fn a_slow_head_times_out() {
        let (mut theirs, mut ours, _pace) = pair();
        // Always sending, never complete.
        tokio::spawn(async move {
            while theirs.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let mut byte = [0];
        let error = loop {
            if let Err(error) = ours.read_exact(&mut byte).await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_silent_new_connection_times_out_soon() {
        let (_theirs, mut ours, _pace) = pair();
        let began = Instant::now();
        let error = ours.read_exact(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= TIMEOUTS.head);
    }

    #[tokio::test]
    async fn idle_connections_are_kept_longer() {
        let (mut theirs, mut ours, phase) = pair();
        let mut byte = [0];
        for _ in 0..3 {
            theirs.write_all(b"x").await.unwrap();
            ours.read_exact(&mut byte).await.unwrap();
            phase.head_complete(false);
            ours.write_all(b"y").await.unwrap();
            theirs.read_exact(&mut byte).await.unwrap();
            tokio::time::sleep(TIMEOUTS.head * 3).await;
        }
        assert_eq!(ours.read_exact(&mut byte).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }

    #[tokio::test]
    async fn an_unread_response_times_out() {
        let (_theirs, mut ours, phase) = pair();
        phase.head_complete(false);
        let error = ours.write_all(&[0; 1000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn multiplexed_connections_have_no_head_timeout() {
        let (mut theirs, mut ours, phase) = pair();
        phase.head_complete(true);
        let mut byte = [0];
        for _ in 0..5 {
            theirs.write_all(b"x").await.unwrap();
            ours.read_exact(&mut byte).await.unwrap();
            tokio::time::sleep(TIMEOUTS.head * 2).await;
        }
    }
}
