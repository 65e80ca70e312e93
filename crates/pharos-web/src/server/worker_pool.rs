//! Worker threads with a bounded FIFO queue.
//!
//! Jobs do not pass through tokio between the queue and a worker: however many connections keep tokio busy, the workers get
//! their next job at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use parking_lot::Mutex;

/// A unit of work.
type Job = Box<dyn FnOnce() + Send>;

/// Error: the queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QueueFull;

/// A pool of worker threads, which end when it is dropped.
pub(crate) struct WorkerPool {
    queue: SyncSender<Job>,
    waiting: Arc<AtomicUsize>,
    capacity: usize,
}

impl WorkerPool {
    /// Starts `threads` workers called `name` with a queue of `capacity` jobs.
    pub(crate) fn start(name: &str, threads: usize, capacity: usize) -> io::Result<Self> {
        let capacity = capacity.max(1);
        let (queue, received) = sync_channel(capacity);
        let (received, waiting) = (Arc::new(Mutex::new(received)), Arc::new(AtomicUsize::new(0)));
        for _ in 0..threads.max(1) {
            let (received, waiting) = (Arc::clone(&received), Arc::clone(&waiting));
            thread::Builder::new().name(name.into()).spawn(move || run_jobs(&received, &waiting))?;
        }
        Ok(Self { queue, waiting, capacity })
    }

    /// Adds a job to the queue.
    pub(crate) fn enqueue(&self, job: impl FnOnce() + Send + 'static) -> Result<(), QueueFull> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.queue.try_send(Box::new(job)).map_err(|refused| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match refused {
                TrySendError::Full(_) | TrySendError::Disconnected(_) => QueueFull,
            }
        })
    }

    /// Returns the live counter of queued jobs.
    pub(crate) fn queue_length(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.waiting)
    }

    /// Returns `true` if the queue is full.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= self.capacity
    }
}

fn run_jobs(received: &Mutex<Receiver<Job>>, waiting: &AtomicUsize) {
    loop {
        let next = received.lock().recv();
        let Ok(job) = next else { return };
        waiting.fetch_sub(1, Ordering::Relaxed);
        // The requester is notified by the dropped channel; the worker continues.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn jobs_run_in_order_and_excess_jobs_are_rejected() {
        let pool = WorkerPool::start("query", 1, 2).unwrap();
        let (done, finished) = channel();
        let (open, gate) = channel::<()>();
        pool.enqueue(move || gate.recv().unwrap_or(())).unwrap();
        // The first job is being executed; two fit into the queue.
        let enqueue = |n: u32| {
            let done = done.clone();
            pool.enqueue(move || done.send(n).unwrap())
        };
        let deadline = std::time::Instant::now() + Duration::from_secs(30);
        while pool.waiting.load(Ordering::Relaxed) > 0 {
            assert!(std::time::Instant::now() < deadline, "no worker starts");
            thread::yield_now();
        }
        assert_eq!((enqueue(1), enqueue(2), enqueue(3)), (Ok(()), Ok(()), Err(QueueFull)));
        assert!(pool.is_full());
        open.send(()).unwrap();
        let wait = Duration::from_secs(30);
        assert_eq!([finished.recv_timeout(wait), finished.recv_timeout(wait)], [Ok(1), Ok(2)]);
        pool.enqueue(|| panic!("on purpose")).unwrap();
        pool.enqueue({
            let done = done.clone();
            move || done.send(4).unwrap()
        })
        .unwrap();
        assert_eq!(finished.recv_timeout(wait), Ok(4), "a panic affects only its own job");
    }
}
