//! Single-threaded event loops for connections, each of which serves its share of them in FIFO order.
//!
//! tokio's multi-threaded scheduler has a short local queue per worker and a global one for the overflow, which is polled only
//! when the local queue is empty or every few ticks. With ten thousand waiting connections the most recently served ones are
//! served again, and others starve. A current-thread scheduler has one queue of any length, so every thread has its own
//! scheduler.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Ticks between polls of the queue for tasks woken by other threads, such as completed queries: they have waited already.
const GLOBAL_QUEUE_INTERVAL: u32 = 2;

/// A set of event loops, which end with all their connections when it is dropped.
pub(crate) struct EventLoops(Vec<EventLoop>);

struct EventLoop {
    scheduler: Handle,
    connections: Arc<AtomicUsize>,
    /// Dropped to stop the loop; never sent to.
    _running: oneshot::Sender<()>,
}

impl EventLoops {
    pub(crate) fn start(count: usize) -> io::Result<Self> {
        (0..count.max(1)).map(|_| EventLoop::start()).collect::<io::Result<_>>().map(Self)
    }

    /// Spawns a connection on the event loop with the fewest connections.
    pub(crate) fn spawn(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let Some(thread) = self.0.iter().min_by_key(|thread| thread.connections.load(Ordering::Relaxed))
        else {
            return;
        };
        let count = ConnectionCount::start(&thread.connections);
        thread.scheduler.spawn(async move {
            let _count = count;
            connection.await;
        });
    }
}

impl EventLoop {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .global_queue_interval(GLOBAL_QUEUE_INTERVAL)
            .enable_all()
            .build()?;
        let (running, ended) = oneshot::channel::<()>();
        let scheduler = runtime.handle().clone();
        thread::Builder::new().name("web".into()).spawn(move || {
            let _ = runtime.block_on(ended);
            // Blocking work of the desk ends by itself.
            runtime.shutdown_background();
        })?;
        Ok(Self { scheduler, connections: Arc::default(), _running: running })
    }
}

/// Counts a connection until it is dropped.
struct ConnectionCount(Arc<AtomicUsize>);

impl ConnectionCount {
    fn start(connections: &Arc<AtomicUsize>) -> Self {
        connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(connections))
    }
}

impl Drop for ConnectionCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(30);

    #[test]
    fn connections_are_distributed_and_end_with_the_loops() {
        let loops = EventLoops::start(2).unwrap();
        let (sender, receiver) = channel();
        for _ in 0..6 {
            let sender = sender.clone();
            loops.spawn(async move {
                sender.send(thread::current().id()).unwrap();
                pending::<()>().await;
            });
        }
        drop(sender);
        let ids: Vec<_> = (0..6).map(|_| receiver.recv_timeout(DEADLINE).unwrap()).collect();
        for id in &ids {
            assert_eq!(ids.iter().filter(|other| *other == id).count(), 3, "{ids:?}");
        }
        drop(loops);
        assert!(
            receiver
                .recv_timeout(DEADLINE)
                .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Disconnected)
        );
    }

    #[test]
    fn tasks_run_in_fifo_order() {
        let loops = EventLoops::start(1).unwrap();
        let (sender, receiver) = channel();
        for n in 0..5_000 {
            let sender = sender.clone();
            loops.spawn(async move { sender.send(n).unwrap() });
        }
        let order: Vec<_> = (0..5_000).map(|_| receiver.recv_timeout(DEADLINE).unwrap()).collect();
        assert!(order.is_sorted());
    }
}
