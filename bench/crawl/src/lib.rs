//! Shared code of the crawl benchmarks: resource usage of a process, and a programmable web server.

use std::net::SocketAddr;
use std::{fs, io};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpSocket, TcpStream};

/// Returns the peak resident memory of this process in bytes.
pub fn peak_memory() -> io::Result<u64> {
    status_bytes("VmHWM:")
}

/// Returns the current resident memory of this process in bytes.
pub fn memory() -> io::Result<u64> {
    status_bytes("VmRSS:")
}

fn status_bytes(name: &str) -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes << 10).ok_or_else(|| io::Error::other(format!("no {name} line")))
}

/// Returns the processor time of all threads of this process in seconds.
pub fn processor_seconds() -> io::Result<f64> {
    /// Linux reports hundredths of a second, whatever the kernel's clock.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The command name in parentheses may contain anything; user and system time are fields 14 and 15.
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 =
        behind_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok()).sum();
    Ok(ticks as f64 / TICKS_PER_SECOND)
}

/// Returns the median.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Starts a small web server on loopback: `answer` gets host and path of every request and returns the body. Returns
/// its address.
pub async fn serve<A, F>(answer: A) -> io::Result<SocketAddr>
where
    A: Fn(String, String) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = String> + Send + 'static,
{
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    // Thousands of hosts may be contacted at the same moment.
    let listener = socket.listen(8_192)?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            tokio::spawn(converse(stream, answer.clone()));
        }
    });
    Ok(address)
}

async fn converse<A, F>(stream: TcpStream, answer: A)
where
    A: Fn(String, String) -> F + Send + Sync + 'static,
    F: Future<Output = String> + Send + 'static,
{
    // If it fails, responses are only slower.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let host = host.split(':').next().unwrap_or_default().to_string();
        let body = answer(host, request.uri().path().to_string());
        async move {
            let body = Full::new(Bytes::from(body.await));
            Response::builder().header(CONTENT_TYPE, "text/html; charset=utf-8").body(body)
        }
    });
    // Errors of disconnected clients are ignored.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
