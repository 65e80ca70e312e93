//! The stage behind the pages: a bounded queue of work, and a fixed number of threads that take it in the order it came.
//!
//! Work does not pass through tokio on its way from the queue to a thread. However many connections want something of
//! tokio's workers, the threads here always have the next piece of work at hand.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A piece of work.
type Work = Box<dyn FnOnce() + Send>;

/// The queue is full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The threads end when it is dropped.
pub(crate) struct Pool {
    queue: SyncSender<Work>,
    waiting: Arc<AtomicUsize>,
    most: usize,
}

impl Pool {
    /// So many threads, and a queue of so many.
    pub(crate) fn start(threads: usize, most: usize) -> io::Result<Self> {
        let most = most.max(1);
        let (queue, received) = sync_channel(most);
        let (received, waiting) = (Arc::new(Mutex::new(received)), Arc::new(AtomicUsize::new(0)));
        for _ in 0..threads.max(1) {
            let (received, waiting) = (Arc::clone(&received), Arc::clone(&waiting));
            thread::Builder::new().name("query".into()).spawn(move || work(&received, &waiting))?;
        }
        Ok(Self { queue, waiting, most })
    }

    /// Puts work in line.
    pub(crate) fn put(&self, work: impl FnOnce() + Send + 'static) -> Result<(), Full> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.queue.try_send(Box::new(work)).map_err(|refused| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match refused {
                TrySendError::Full(_) | TrySendError::Disconnected(_) => Full,
            }
        })
    }

    /// How many wait, as it changes.
    pub(crate) fn waiting(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.waiting)
    }

    /// Is there no place in the queue?
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= self.most
    }
}

fn work(received: &Mutex<Receiver<Work>>, waiting: &AtomicUsize) {
    loop {
        let next = received.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        waiting.fetch_sub(1, Ordering::Relaxed);
        // Who waits for it hears that it broke; the thread goes on.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[test]
    fn work_is_done_in_order_and_what_is_too_much_is_refused() {
        let pool = Pool::start(1, 2).unwrap();
        let (done, finished) = channel();
        let (open, gate) = channel::<()>();
        pool.put(move || gate.recv().unwrap_or(())).unwrap();
        // The first is taken from the queue, and two fit behind it.
        let put = |n: u32| {
            let done = done.clone();
            pool.put(move || done.send(n).unwrap())
        };
        let patience = std::time::Instant::now() + Duration::from_secs(30);
        while pool.waiting.load(Ordering::Relaxed) > 0 {
            assert!(std::time::Instant::now() < patience, "nobody begins");
            thread::yield_now();
        }
        assert_eq!((put(1), put(2), put(3)), (Ok(()), Ok(()), Err(Full)));
        assert!(pool.is_full());
        open.send(()).unwrap();
        let wait = Duration::from_secs(30);
        assert_eq!([finished.recv_timeout(wait), finished.recv_timeout(wait)], [Ok(1), Ok(2)]);
        pool.put(|| panic!("on purpose")).unwrap();
        pool.put({
            let done = done.clone();
            move || done.send(4).unwrap()
        })
        .unwrap();
        assert_eq!(finished.recv_timeout(wait), Ok(4), "a panic ends nothing but its own work");
    }
}
