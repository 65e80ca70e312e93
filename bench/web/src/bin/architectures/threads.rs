//! A thread per connection.
//!
//! The simplest code: read, compute, write, repeat. The kernel's scheduler does the rest, fairly. The cost is a stack
//! for every connected client, active or idle, and a scheduler with as many threads as clients; at some number of
//! threads the kernel refuses.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use bench_web::Outcome;

use crate::task::{HEAD_LIMIT, Work, request};

/// Small, so that many fit; untouched parts of a stack take no memory.
const STACK: usize = 64 << 10;

pub fn serve(listener: TcpListener, work: Work) -> Outcome<()> {
    for stream in listener.incoming().flatten() {
        // If no thread can be created, the connection is dropped with the closure.
        let _ = thread::Builder::new().stack_size(STACK).spawn(move || converse(stream, work));
    }
    Ok(())
}

/// Serves a connection until the client closes it.
pub fn converse(mut stream: TcpStream, work: Work) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut bytes, mut part) = (Vec::new(), [0; 1024]);
    loop {
        while let Some((line, end)) = request(&bytes) {
            let answer = work.answer(line);
            bytes.drain(..end);
            stream.write_all(&answer)?;
        }
        let length = stream.read(&mut part)?;
        if length == 0 || bytes.len() > HEAD_LIMIT {
            return Ok(());
        }
        bytes.extend(&part[..length]);
    }
}
