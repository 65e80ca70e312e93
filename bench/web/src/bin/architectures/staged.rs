//! Stages connected by queues: an event loop for the sockets, a fixed number of worker threads (SEDA).
//!
//! Each stage has the resources it needs: sockets need an event loop, work needs as many threads as there are cores.
//! The queue between them is bounded. When it is full, the server can decide: here the loop waits with the request,
//! which is fair; Pharos answers 503 with Retry-After, and answers cached queries without queueing.

use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, available_parallelism};

use bench_web::Outcome;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};

use crate::task::{Work, converse};

/// Maximum number of requests that wait for a thread.
const QUEUE: usize = 512;

/// A request and the channel for its response.
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
