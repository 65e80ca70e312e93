//! How long a connection may take: whoever sends a head byte by byte, reads an answer never, or says nothing, is let go.
//!
//! A stream is wrapped so that its silence is noticed. A timer per connection looks up now and then; that something was
//! sent or read costs no more than writing down the time.

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

/// How long is waited for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// From the first byte of a head to its last; for the first one, from the beginning of the connection.
    pub(crate) head: Duration,
    /// Without a byte in either direction.
    pub(crate) silence: Duration,
}

impl Patience {
    pub(crate) fn of(web: &WebConfig) -> Self {
        // While a request is answered the connection is silent, and that is not the client's fault.
        Self { head: web.head_timeout, silence: web.idle_timeout.max(web.timeout + Duration::from_secs(1)) }
    }
}

/// Where a connection is in its conversation; told by the stream and by who gets the requests.
#[derive(Debug)]
pub(crate) struct Pace(AtomicU8);

impl Default for Pace {
    /// Who comes has something to say: a new connection that is silent is one that sends its head too slowly.
    fn default() -> Self {
        Self(AtomicU8::new(IN_HEAD))
    }
}

/// Nothing was said, or all was answered.
const BETWEEN: u8 = 0;
/// A head has begun.
const IN_HEAD: u8 = 1;
/// A request is under way.
const AT_WORK: u8 = 2;
/// Several requests at once: bytes may belong to any of them.
const MULTIPLEXED: u8 = 3;

impl Pace {
    /// The head of a request is complete.
    pub(crate) fn head_is_read(&self, multiplexed: bool) {
        self.0.store(if multiplexed { MULTIPLEXED } else { AT_WORK }, Ordering::Relaxed);
    }

    /// Bytes came; gives whether a head begins with them.
    fn came(&self) -> bool {
        self.0.compare_exchange(BETWEEN, IN_HEAD, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Bytes went out: an answer has begun, and what comes next is another request.
    fn went(&self) {
        let _ = self.0.compare_exchange(AT_WORK, BETWEEN, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn is_in_head(&self) -> bool {
        self.0.load(Ordering::Relaxed) == IN_HEAD
    }
}

/// A stream that fails when its other end takes too long.
pub(crate) struct Paced<S> {
    stream: S,
    pace: Arc<Pace>,
    patience: Patience,
    last_byte: Instant,
    head_began: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<S> Paced<S> {
    pub(crate) fn new(stream: S, pace: Arc<Pace>, patience: Patience) -> Self {
        let now = Instant::now();
        let timer = Box::pin(tokio::time::sleep(patience.head.min(patience.silence)));
        Self { stream, pace, patience, last_byte: now, head_began: now, timer }
    }

    /// When patience ends, as things are now.
    fn deadline(&self) -> Instant {
        let silence = self.last_byte + self.patience.silence;
        if self.pace.is_in_head() { silence.min(self.head_began + self.patience.head) } else { silence }
    }

    /// Is it over? Asked whenever the stream has nothing to give; wakes up in time to be asked again.
    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        while self.timer.as_mut().poll(cx).is_ready() {
            let (deadline, now) = (self.deadline(), Instant::now());
            if deadline <= now {
                return true;
            }
            // A head may begin and be slow before silence is too long.
            self.timer.as_mut().reset(deadline.min(now + self.patience.head));
        }
        false
    }
}

fn out_of_patience<T>() -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other end takes too long")))
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, buf) {
            Poll::Pending if self.is_over(cx) => out_of_patience(),
            Poll::Ready(Ok(())) if buf.filled().len() > before => {
                self.last_byte = Instant::now();
                if self.pace.came() {
                    self.head_began = self.last_byte;
                }
                Poll::Ready(Ok(()))
            }
            other => other,
        }
    }
}

impl<S: AsyncWrite + Unpin> Paced<S> {
    fn wrote(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Pending if self.is_over(cx) => out_of_patience(),
            Poll::Ready(Ok(bytes)) => {
                self.last_byte = Instant::now();
                self.pace.went();
                Poll::Ready(Ok(bytes))
            }
            other => other,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(cx, written)
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

    const PATIENCE: Patience = Patience { head: Duration::from_millis(100), silence: Duration::from_secs(1) };

    fn pair() -> (tokio::io::DuplexStream, Paced<tokio::io::DuplexStream>, Arc<Pace>) {
        let (theirs, ours) = duplex(16);
        let pace = Arc::new(Pace::default());
        (theirs, Paced::new(ours, Arc::clone(&pace), PATIENCE), pace)
    }

    #[tokio::test]
    async fn a_head_may_take_its_time_and_no_more() {
        let (mut theirs, mut ours, _pace) = pair();
        // Never silent, and never done.
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
    async fn who_comes_and_says_nothing_is_let_go_soon() {
        let (_theirs, mut ours, _pace) = pair();
        let began = Instant::now();
        let error = ours.read_exact(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= PATIENCE.head);
    }

    #[tokio::test]
    async fn between_requests_silence_is_borne_longer() {
        let (mut theirs, mut ours, pace) = pair();
        let mut byte = [0];
        for _ in 0..3 {
            theirs.write_all(b"x").await.unwrap();
            ours.read_exact(&mut byte).await.unwrap();
            pace.head_is_read(false);
            ours.write_all(b"y").await.unwrap();
            theirs.read_exact(&mut byte).await.unwrap();
            tokio::time::sleep(PATIENCE.head * 3).await;
        }
        assert_eq!(ours.read_exact(&mut byte).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(theirs);
    }

    #[tokio::test]
    async fn who_never_reads_the_answer_is_let_go() {
        let (_theirs, mut ours, pace) = pair();
        pace.head_is_read(false);
        let error = ours.write_all(&[0; 1000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn frames_of_several_requests_are_no_slow_head() {
        let (mut theirs, mut ours, pace) = pair();
        pace.head_is_read(true);
        let mut byte = [0];
        for _ in 0..5 {
            theirs.write_all(b"x").await.unwrap();
            ours.read_exact(&mut byte).await.unwrap();
            tokio::time::sleep(PATIENCE.head * 2).await;
        }
    }
}
