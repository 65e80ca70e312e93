//! The threads that talk with visitors: each has its share of the connections, and serves who spoke first first.
//!
//! tokio's scheduler for several threads has a short queue for each of them and one for all, where what does not fit waits
//! until there is nothing nearer at hand. With ten thousand waiting, who was answered last is answered next, and others
//! hardly ever. A scheduler of one thread has one queue, however long. So every thread here has a scheduler of its own.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// What comes from other threads, such as answers that are found, is looked for at every second step: it has waited already.
const FROM_OUTSIDE: u32 = 2;

/// They end when this is dropped, with all that they have under way.
pub(crate) struct Threads(Vec<Thread>);

struct Thread {
    scheduler: Handle,
    connections: Arc<AtomicUsize>,
    /// Never used: that it is gone is the sign to end.
    _running: oneshot::Sender<()>,
}

impl Threads {
    pub(crate) fn start(count: usize) -> io::Result<Self> {
        (0..count.max(1)).map(|_| Thread::start()).collect::<io::Result<_>>().map(Self)
    }

    /// Gives a conversation to the thread that has the fewest.
    pub(crate) fn spawn(&self, conversation: impl Future<Output = ()> + Send + 'static) {
        let Some(thread) = self.0.iter().min_by_key(|thread| thread.connections.load(Ordering::Relaxed))
        else {
            return;
        };
        let place = Place::taken(&thread.connections);
        thread.scheduler.spawn(async move {
            let _place = place;
            conversation.await;
        });
    }
}

impl Thread {
    fn start() -> io::Result<Self> {
        let runtime =
            Builder::new_current_thread().global_queue_interval(FROM_OUTSIDE).enable_all().build()?;
        let (running, ended) = oneshot::channel::<()>();
        let scheduler = runtime.handle().clone();
        thread::Builder::new().name("web".into()).spawn(move || {
            let _ = runtime.block_on(ended);
            // A desk's work that blocks ends by itself.
            runtime.shutdown_background();
        })?;
        Ok(Self { scheduler, connections: Arc::default(), _running: running })
    }
}

/// Counts a connection for as long as there is one.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn taken(connections: &Arc<AtomicUsize>) -> Self {
        connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(connections))
    }
}

impl Drop for Place {
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

    const PATIENCE: Duration = Duration::from_secs(30);

    #[test]
    fn conversations_are_shared_out_and_end_with_the_threads() {
        let threads = Threads::start(2).unwrap();
        let (tell, told) = channel();
        for _ in 0..6 {
            let tell = tell.clone();
            threads.spawn(async move {
                tell.send(thread::current().id()).unwrap();
                pending::<()>().await;
            });
        }
        drop(tell);
        let ids: Vec<_> = (0..6).map(|_| told.recv_timeout(PATIENCE).unwrap()).collect();
        for id in &ids {
            assert_eq!(ids.iter().filter(|other| *other == id).count(), 3, "{ids:?}");
        }
        drop(threads);
        assert!(
            told.recv_timeout(PATIENCE)
                .is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Disconnected)
        );
    }

    #[test]
    fn who_speaks_first_is_served_first_however_many_wait() {
        let threads = Threads::start(1).unwrap();
        let (tell, told) = channel();
        for n in 0..5_000 {
            let tell = tell.clone();
            threads.spawn(async move { tell.send(n).unwrap() });
        }
        let order: Vec<_> = (0..5_000).map(|_| told.recv_timeout(PATIENCE).unwrap()).collect();
        assert!(order.is_sorted());
    }
}
