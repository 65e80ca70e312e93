//! Many connections that each send one request after another, with individual counters.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::figures::{jain, quantile, time};
use crate::response::{self, Response};

/// Maximum number of connections being opened at a time: a simultaneous rush is not measured.
const OPENING: usize = 200;

/// Timeout for opening a connection.
const TO_CONNECT: Duration = Duration::from_secs(20);

/// Headers as sent by browsers.
pub const HEADERS: &str = "User-Agent: bench\r\nAccept: text/html\r\nAccept-Encoding: gzip, deflate, br\r\n";

/// The requests and their target.
#[derive(Clone)]
pub struct Plan {
    pub address: SocketAddr,
    pub connections: usize,
    pub duration: Duration,
    /// All connections together request these in turn, and start again after the last.
    pub paths: Arc<[String]>,
    /// First position in `paths`.
    pub first: usize,
}

/// Measurements of one connection.
#[derive(Default)]
struct Seen {
    times: Vec<u32>,
    statuses: BTreeMap<u16, usize>,
    with_retry_after: usize,
    problem: Option<String>,
}

/// Measurements of all connections.
#[derive(Default)]
pub struct Report {
    /// Successful responses per connection, ascending.
    pub answers: Vec<u32>,
    /// Time of each successful response in µs, ascending.
    pub times: Vec<u32>,
    pub statuses: BTreeMap<u16, usize>,
    /// Responses with Retry-After.
    pub with_retry_after: usize,
    /// Refused, closed or broken connections, by error message.
    pub problems: BTreeMap<String, usize>,
    pub seconds: f64,
}

impl Report {
    pub fn per_second(&self) -> f64 {
        self.times.len() as f64 / self.seconds
    }

    pub fn fairness(&self) -> f64 {
        jain(&self.answers)
    }

    /// Returns a quantile of the response times, formatted.
    pub fn time(&self, part: f64) -> String {
        if self.times.is_empty() { "–".into() } else { time(f64::from(quantile(&self.times, part))) }
    }

    /// Returns all errors on one line.
    pub fn trouble(&self) -> String {
        let bad = self.statuses.iter().filter(|(status, _)| !(200..300).contains(*status));
        let bad = bad.map(|(status, count)| format!("{count} × {status}"));
        let broken = self.problems.iter().map(|(what, count)| format!("{count} × {what}"));
        let all: Vec<String> = bad.chain(broken).collect();
        if all.is_empty() { "none".into() } else { all.join(", ") }
    }
}

/// Opens all connections, runs them for a while, and counts the responses in that time.
pub async fn run(plan: Plan) -> Report {
    let (start, started) = watch::channel(None);
    let opening = Arc::new(Semaphore::new(OPENING));
    let (ready, next) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(plan.first)));
    let mut clients = JoinSet::new();
    let opened = Instant::now() + TO_CONNECT;
    for _ in 0..plan.connections {
        let (plan, opening, started) = (plan.clone(), Arc::clone(&opening), started.clone());
        let (ready, next) = (Arc::clone(&ready), Arc::clone(&next));
        clients.spawn(async move {
            let mut seen = Seen::default();
            let stream = {
                let _turn = opening.acquire().await;
                timeout_at(opened, TcpStream::connect(plan.address)).await
            };
            ready.fetch_add(1, Ordering::Relaxed);
            let outcome = match stream {
                Ok(Ok(stream)) => ask(stream, &plan, started, &next, &mut seen).await,
                Ok(Err(error)) => Err(format!("not connected: {}", error.kind())),
                Err(_) => Err("not connected in time".into()),
            };
            seen.problem = outcome.err();
            seen
        });
    }
    while ready.load(Ordering::Relaxed) < plan.connections {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    start.send_replace(Some(Instant::now() + plan.duration));
    let mut report = Report { seconds: plan.duration.as_secs_f64(), ..Report::default() };
    while let Some(seen) = clients.join_next().await {
        let Ok(seen) = seen else { continue };
        report.answers.push(seen.times.len() as u32);
        report.times.extend(seen.times);
        report.with_retry_after += seen.with_retry_after;
        seen.statuses.into_iter().for_each(|(status, n)| *report.statuses.entry(status).or_default() += n);
        seen.problem.into_iter().for_each(|what| *report.problems.entry(what).or_default() += 1);
    }
    report.answers.sort_unstable();
    report.times.sort_unstable();
    report
}

/// Runs one connection until the deadline.
async fn ask(
    mut stream: TcpStream,
    plan: &Plan,
    mut started: watch::Receiver<Option<Instant>>,
    next: &AtomicUsize,
    seen: &mut Seen,
) -> Result<(), String> {
    let _ = stream.set_nodelay(true);
    let _ = started.wait_for(Option::is_some).await;
    let Some(deadline) = *started.borrow() else { return Ok(()) };
    let mut bytes = Vec::new();
    while Instant::now() < deadline {
        let path = &plan.paths[next.fetch_add(1, Ordering::Relaxed) % plan.paths.len()];
        let asked = Instant::now();
        // A request in flight at the deadline has no response and counts as such.
        let Ok(answer) = timeout_at(deadline, exchange(&mut stream, plan.address, path, &mut bytes)).await
        else {
            break;
        };
        let answer = answer.map_err(|error| error.to_string())?;
        if Instant::now() > deadline {
            break;
        }
        if answer.status < 300 {
            seen.times.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
        }
        *seen.statuses.entry(answer.status).or_default() += 1;
        seen.with_retry_after += usize::from(answer.has_retry_after);
        if answer.is_last {
            return Err("closed after an answer".into());
        }
    }
    Ok(())
}

/// Sends one request on an open connection; the response is in `bytes`.
pub async fn exchange(
    stream: &mut TcpStream,
    address: SocketAddr,
    path: &str,
    bytes: &mut Vec<u8>,
) -> io::Result<Response> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{HEADERS}\r\n");
    stream.write_all(request.as_bytes()).await?;
    bytes.clear();
    loop {
        if stream.read_buf(bytes).await? == 0 {
            return Err(io::Error::other("closed instead of an answer"));
        }
        if let Some(answer) = response::parse(bytes).map_err(io::Error::other)? {
            return Ok(answer);
        }
    }
}
