//! Scripted responses: bytes that hyper would never send.

use std::time::Instant;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::host::{HostileRequest, ScriptStep};
use super::wire::{HostileState, RequestHead, ServedHost};

/// Maximum size of a request head.
const MAX_HEAD: u64 = 64 << 10;

/// Result of a step: continue or end the connection.
#[derive(PartialEq, Eq)]
enum StepResult {
    Next,
    ResponseEnd,
}

/// Plays the script for every request.
pub(super) async fn on_request(
    stream: TcpStream,
    script: fn(&HostileRequest) -> Vec<ScriptStep>,
    served: &ServedHost,
    state: &HostileState,
    connection: u64,
) {
    let mut stream = BufReader::new(stream);
    while let Some(head) = read_head(&mut stream).await {
        let (request, _guard) = state.log_request(served, head, connection);
        for step in script(&request) {
            if play(&mut stream, step).await == StepResult::ResponseEnd {
                return;
            }
        }
    }
}

/// Plays a script without waiting for a request.
pub(super) async fn at_once(
    stream: TcpStream,
    steps: Vec<ScriptStep>,
    served: &ServedHost,
    state: &HostileState,
    connection: u64,
) {
    let mut stream = BufReader::new(stream);
    let listens = steps.iter().any(|step| matches!(step, ScriptStep::Respond(_)));
    let _guard = (!listens).then(|| state.log_connection(served, connection, Instant::now()));
    for step in steps {
        let after = match step {
            ScriptStep::Respond(answer) => {
                let Some(head) = read_head(&mut stream).await else { return };
                let (request, _guard) = state.log_request(served, head, connection);
                send(&mut stream, answer(&request).bytes()).await
            }
            step => play(&mut stream, step).await,
        };
        if after == StepResult::ResponseEnd {
            return;
        }
    }
}

async fn play(stream: &mut BufReader<TcpStream>, step: ScriptStep) -> StepResult {
    match step {
        ScriptStep::Send(bytes) => send(stream, bytes).await,
        ScriptStep::Drip(bytes, pause) => loop {
            sleep(pause).await;
            if send(stream, bytes.clone()).await == StepResult::ResponseEnd {
                return StepResult::ResponseEnd;
            }
        },
        ScriptStep::Endless(bytes) => loop {
            if send(stream, bytes.clone()).await == StepResult::ResponseEnd {
                return StepResult::ResponseEnd;
            }
        },
        ScriptStep::Stall => {
            let mut ignored = [0; 1024];
            while matches!(stream.read(&mut ignored).await, Ok(read) if read > 0) {}
            StepResult::ResponseEnd
        }
        // No request is left to respond to.
        ScriptStep::Close | ScriptStep::Respond(_) => {
            // A client that closed first is not an error.
            let _ = stream.shutdown().await;
            StepResult::ResponseEnd
        }
    }
}

async fn send(stream: &mut BufReader<TcpStream>, bytes: Bytes) -> StepResult {
    if stream.write_all(&bytes).await.is_ok() { StepResult::Next } else { StepResult::ResponseEnd }
}

/// Reads a request head up to its empty line; `None` if the client disconnected or the head is too long.
async fn read_head(stream: &mut BufReader<TcpStream>) -> Option<RequestHead> {
    let mut limited = stream.take(MAX_HEAD);
    let mut head = RequestHead { version: "HTTP/1.1", ..RequestHead::default() };
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
