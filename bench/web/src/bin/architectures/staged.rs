//! Stages with queues between them: an event loop for the sockets, a fixed number of threads for the work (SEDA).
//!
//! Each stage has what it needs: sockets need an event loop, work needs as many threads as there are cores. Between them is a
//! queue with a limit. Where it is full the server knows, and chooses: here the loop waits with the request, which is fair;
//! Pharos tells the client to come back (503) and answers what it knows without asking for a place in the queue.

use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, available_parallelism};

use bench_web::Outcome;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};

use crate::task::{Work, converse};

/// Requests that may wait for a thread.
const QUEUE: usize = 512;

/// A request, and where the answer goes.
type Job = (String, oneshot::Sender<Vec<u8>>);

pub fn serve(listener: TcpListener, work: Work) -> Outcome<()> {
    let (queue, waiting) = mpsc::channel::<Job>(QUEUE);
    let waiting = Arc::new(Mutex::new(waiting));
    for _ in 0..available_parallelism()?.get() {
        let waiting = Arc::clone(&waiting);
        thread::spawn(move || {
            loop {
                let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
                let Some((request, reply)) = next else { return };
                let _ = reply.send(work.answer(&request));
            }
        });
    }
    listener.set_nonblocking(true)?;
    Builder::new_current_thread().enable_all().build()?.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let queue = queue.clone();
            tokio::spawn(converse(stream, move |request| {
                let queue = queue.clone();
                async move {
                    let (reply, answer) = oneshot::channel();
                    let _ = queue.send((request, reply)).await;
                    answer.await.unwrap_or_default()
                }
            }));
        }
    })
}
