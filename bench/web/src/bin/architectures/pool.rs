//! A fixed number of threads that each take a connection from a queue and serve it to its end.
//!
//! Threads, and with them memory, are bounded. But a thread belongs to its client until the client disconnects: with
//! keep-alive connections, the first few clients are served very well and all others not at all, however few requests
//! the first ones send. Servers of this kind close connections early; clients then pay for new ones.

use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use bench_web::Outcome;

use crate::task::Work;
use crate::threads::converse;

const THREADS: usize = 32;

/// Maximum number of connections in this queue; more wait in the kernel's.
const QUEUE: usize = 1_024;

pub fn serve(listener: TcpListener, work: Work) -> Outcome<()> {
    let (queue, waiting) = mpsc::sync_channel::<TcpStream>(QUEUE);
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..THREADS {
        let waiting = Arc::clone(&waiting);
        thread::spawn(move || {
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(stream) = next else { return };
                let _ = converse(stream, work);
            }
        });
    }
    for stream in listener.incoming().flatten() {
        queue.send(stream)?;
    }
    Ok(())
}
