//! Measures the requests per second of the server on loopback, with the client in the same process. The server alone
//! does more.
//!
//! `cargo run --release -p pharos-testweb --example requests_per_second -- [REQUESTS] [CONNECTIONS] [PAGES]`

use std::io;
use std::time::Instant;

use pharos_testweb::{ServeOptions, Server, Web, WebSpec};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> io::Result<()> {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let number = |place: usize, default: usize| numbers.get(place).copied().unwrap_or(default).max(1);
    let (requests, connections, pages) = (number(0, 200_000), number(1, 8), number(2, 1000));

    let begun = Instant::now();
    let web = Web::generate(&WebSpec { pages, ..WebSpec::default() });
    println!("{pages} pages planned in {:.2?}", begun.elapsed());
    let server = Server::start(web, ServeOptions::default()).await?;
    let begun = Instant::now();
    let truth = server.truth();
    println!("truth written in {:.2?}", begun.elapsed());

    println!("{:<28} {:>12} {:>12} {:>10}", "", "requests/s", "MB/s", "seconds");
    for (label, headers, rounds) in [
        ("first visit, plain", "", pages),
        ("from the cache, plain", "", requests),
        ("from the cache, gzip", "Accept-Encoding: gzip\r\n", requests),
    ] {
        let request_bytes: Vec<Vec<u8>> = truth
            .pages
            .iter()
            .map(|page| {
                let path = page.url.splitn(4, '/').nth(3).unwrap_or("");
                format!("GET /{path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: bench\r\n{headers}\r\n", page.host)
                    .into_bytes()
            })
            .collect();
        let request_bytes = std::sync::Arc::new(request_bytes);
        if rounds == requests {
            server.warm();
        }
        let begun = Instant::now();
        let mut clients = JoinSet::new();
        for client in 0..connections {
            let (request_bytes, address) = (request_bytes.clone(), server.address());
            clients.spawn(async move {
                let mut stream = TcpStream::connect(address).await?;
                stream.set_nodelay(true)?;
                let mut buffer = vec![0; 1 << 20];
                let mut bytes = 0;
                for round in (client..rounds).step_by(connections) {
                    stream.write_all(&request_bytes[round % request_bytes.len()]).await?;
                    bytes += read_answer(&mut stream, &mut buffer).await?;
                }
                io::Result::Ok(bytes)
            });
        }
        let mut bytes = 0;
        while let Some(done) = clients.join_next().await {
            bytes += done??;
        }
        let seconds = begun.elapsed().as_secs_f64();
        let (rate, megabytes) = (rounds as f64 / seconds, bytes as f64 / seconds / 1e6);
        println!("{label:<28} {rate:>12.0} {megabytes:>12.1} {seconds:>10.2}");
    }
    println!("{:?}", server.counters());
    server.stop().await;
    Ok(())
}

/// Reads one response with a Content-Length and returns its size.
async fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
        if let Some(end) = buffer[..filled].windows(4).position(|four| four == b"\r\n\r\n") {
            let head = std::str::from_utf8(&buffer[..end]).unwrap_or("");
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let total = end + 4 + length.and_then(|length| length.parse().ok()).unwrap_or(0);
            while filled < total {
                let read = stream.read(&mut buffer[filled..total]).await?;
                if read == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                filled += read;
            }
            return Ok(total);
        }
    }
}
