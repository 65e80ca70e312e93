//! The work of every architecture for a request.

use std::hint::black_box;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use memchr::memmem;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// About the size of a result page.
const ANSWER: usize = 7_000;

/// Maximum length of a request head.
pub const HEAD_LIMIT: usize = 8 << 10;

/// Listen backlog.
const BACKLOG: u32 = 4_096;

/// The amount of computation: a fixed number of rounds, because a clock would advance while other threads compute.
#[derive(Clone, Copy)]
pub struct Work {
    pub rounds: u64,
}

impl Work {
    /// Calibrates the number of rounds for this time on an idle machine: the best of several tries.
    pub fn of(time: Duration) -> Self {
        // Each try is so short that most finish before another process gets the core.
        const ROUNDS: u64 = 100_000;
        let took = (0..200).map(|_| {
            let started = Instant::now();
            Self { rounds: ROUNDS }.compute("");
            started.elapsed()
        });
        let took = took.min().unwrap_or_default();
        Self { rounds: (ROUNDS as f64 * time.as_secs_f64() / took.as_secs_f64()) as u64 }
    }

    /// Simulates a query.
    fn compute(self, query: &str) -> u64 {
        let mut number = query.bytes().fold(1, |sum: u64, byte| sum.rotate_left(5) ^ u64::from(byte));
        for round in 0..self.rounds {
            number = black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round));
        }
        number
    }

    /// Returns the complete response to a request.
    pub fn answer(self, request: &str) -> Vec<u8> {
        let mut words = request.split(' ');
        let (method, path, version) = (words.next(), words.next(), words.next());
        let (status, query) = match (method, path, version) {
            (Some("GET"), Some(path), Some("HTTP/1.1")) => ("200 OK", path),
            _ => ("400 Bad Request", ""),
        };
        let mut body = format!("{query}: {}\n", self.compute(query));
        body.extend(std::iter::repeat_n('x', ANSWER.saturating_sub(body.len())));
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        [head, body].concat().into_bytes()
    }
}

/// Returns the first line of the request at the start of `bytes` and the end of its head, once the head is complete.
pub fn request(bytes: &[u8]) -> Option<(&str, usize)> {
    let end = memmem::find(bytes, b"\r\n\r\n")?;
    let line = bytes[..end].split(|byte| *byte == b'\r').next().unwrap_or_default();
    Some((std::str::from_utf8(line).unwrap_or_default(), end + 4))
}

/// Creates a listener with a long backlog and SO_REUSEPORT.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    // A tokio socket must be created within a runtime.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _within = runtime.enter();
    let listener = socket.listen(BACKLOG)?.into_std()?;
    listener.set_nonblocking(false)?;
    Ok(listener)
}

/// Serves one connection of an event loop; `answer` creates the responses. Ends when the client disconnects.
pub async fn converse<F>(mut stream: TcpStream, answer: impl Fn(String) -> F) -> io::Result<()>
where
    F: Future<Output = Vec<u8>>,
{
    stream.set_nodelay(true)?;
    let mut bytes = Vec::with_capacity(512);
    loop {
        while let Some((line, end)) = request(&bytes) {
            let line = line.to_string();
            bytes.drain(..end);
            stream.write_all(&answer(line).await).await?;
        }
        if bytes.len() > HEAD_LIMIT || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_its_first_line_once_the_head_is_complete() {
        let bytes = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b";
        assert_eq!(request(bytes), Some(("GET /a HTTP/1.1", 28)));
        assert_eq!(request(&bytes[..20]), None);
    }

    #[test]
    fn answers_are_whole() {
        let answer = Work { rounds: 1 }.answer("GET /a HTTP/1.1");
        let whole = bench_web::response::parse(&answer).unwrap().unwrap();
        assert_eq!((whole.status, whole.length), (200, answer.len()));
        assert_eq!(answer.len() - whole.head, ANSWER);
        assert!(Work { rounds: 1 }.answer("nonsense").starts_with(b"HTTP/1.1 400 "));
    }
}
