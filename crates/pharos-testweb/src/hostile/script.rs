//! Scripted responses: bytes that hyper would never send.

use std::time::Instant;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::host::{Ask, Step};
use super::wire::{Head, Served, World};

/// Maximum size of a request head.
const MAX_HEAD: u64 = 64 << 10;

/// Whether the connection continues after a step.
#[derive(PartialEq, Eq)]
enum After {
    Next,
    End,
}

/// Plays the script for every request.
pub(super) async fn on_request(
    stream: TcpStream,
    script: fn(&Ask) -> Vec<Step>,
    served: &Served,
    world: &World,
    connection: u64,
) {
    let mut stream = BufReader::new(stream);
    while let Some(head) = read_head(&mut stream).await {
        let (ask, _ticket) = world.arrived(served, head, connection);
        for step in script(&ask) {
            if play(&mut stream, step).await == After::End {
                return;
            }
        }
    }
}

/// Plays a script without waiting for a request.
pub(super) async fn at_once(
    stream: TcpStream,
    steps: Vec<Step>,
    served: &Served,
    world: &World,
    connection: u64,
) {
    let mut stream = BufReader::new(stream);
    let listens = steps.iter().any(|step| matches!(step, Step::Answer(_)));
    let _ticket = (!listens).then(|| world.connected(served, connection, Instant::now()));
    for step in steps {
        let after = match step {
            Step::Answer(answer) => {
                let Some(head) = read_head(&mut stream).await else { return };
                let (ask, _ticket) = world.arrived(served, head, connection);
                send(&mut stream, answer(&ask).bytes()).await
            }
            step => play(&mut stream, step).await,
        };
        if after == After::End {
            return;
        }
    }
}

async fn play(stream: &mut BufReader<TcpStream>, step: Step) -> After {
    match step {
        Step::Send(bytes) => send(stream, bytes).await,
        Step::Drip(bytes, pause) => loop {
            sleep(pause).await;
            if send(stream, bytes.clone()).await == After::End {
                return After::End;
            }
        },
        Step::Endless(bytes) => loop {
            if send(stream, bytes.clone()).await == After::End {
                return After::End;
            }
        },
        Step::Stall => {
            let mut ignored = [0; 1024];
            while matches!(stream.read(&mut ignored).await, Ok(read) if read > 0) {}
            After::End
        }
        // No request is left to respond to.
        Step::Close | Step::Answer(_) => {
            // A client that closed first is no error.
            let _ = stream.shutdown().await;
            After::End
        }
    }
}

async fn send(stream: &mut BufReader<TcpStream>, bytes: Bytes) -> After {
    if stream.write_all(&bytes).await.is_ok() { After::Next } else { After::End }
}

/// Reads a request head up to its empty line; `None` if the client disconnected or the head is too long.
async fn read_head(stream: &mut BufReader<TcpStream>) -> Option<Head> {
    let mut limited = stream.take(MAX_HEAD);
    let mut head = Head { version: "HTTP/1.1", ..Head::default() };
    let mut line = Vec::new();
    loop {
        line.clear();
        limited.read_until(b'\n', &mut line).await.ok()?;
        if line.pop() != Some(b'\n') {
            return None;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if head.path.is_empty() {
            head.path = text.split(' ').nth(1)?.to_string();
        } else if let Some((name, value)) = text.split_once(':') {
            let value = value.trim().to_string();
            match name.to_ascii_lowercase().as_str() {
                "host" => head.host = Some(value),
                "user-agent" => head.user_agent = value,
                "if-none-match" => head.if_none_match = Some(value),
                "if-modified-since" => head.if_modified_since = Some(value),
                _ => {}
            }
        } else if text.is_empty() {
            return Some(head);
        }
    }
}
