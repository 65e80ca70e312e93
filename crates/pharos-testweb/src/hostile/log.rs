//! Request log of the hostile hosts.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// One request, or one connection without a request.
#[derive(Clone, Debug)]
pub struct HostileLogEntry {
    pub at: Instant,
    /// Time until the last byte was sent or the client disconnected; `None` while in progress.
    pub duration: Option<Duration>,
    /// Requested host without port; the host's first name if there was no request.
    pub host: Arc<str>,
    /// Path and query; empty if a connection was opened without a request.
    pub path: Arc<str>,
    /// Number of its connection, over all hosts.
    pub connection: u64,
    /// `HTTP/1.1` or `HTTP/2`; empty without a request.
    pub version: &'static str,
    pub user_agent: Arc<str>,
}

/// The latest requests; the oldest are dropped first.
pub(super) struct RequestLog {
    requests: Mutex<(u64, VecDeque<HostileLogEntry>)>,
    capacity: usize,
}

/// A request in progress; it ends when this is dropped.
pub(super) struct LogGuard {
    log: Arc<RequestLog>,
    number: u64,
}

impl RequestLog {
    pub(super) fn new(capacity: usize) -> RequestLog {
        RequestLog { requests: Mutex::default(), capacity: capacity.max(1) }
    }

    pub(super) fn log_request(self: &Arc<RequestLog>, request: HostileLogEntry) -> LogGuard {
        let mut guard = self.requests.lock();
        let (forgotten, requests) = &mut *guard;
        if requests.len() == self.capacity {
            requests.pop_front();
            *forgotten += 1;
        }
        requests.push_back(request);
        let number = *forgotten + requests.len() as u64 - 1;
        LogGuard { log: self.clone(), number }
    }

    pub(super) fn read(&self) -> Vec<HostileLogEntry> {
        let guard = self.requests.lock();
        guard.1.iter().cloned().collect()
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let mut guard = self.log.requests.lock();
        let (forgotten, requests) = &mut *guard;
        let place = self.number.checked_sub(*forgotten).and_then(|place| usize::try_from(place).ok());
        if let Some(request) = place.and_then(|place| requests.get_mut(place)) {
            request.duration = Some(request.at.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str) -> HostileLogEntry {
        let nothing: Arc<str> = "".into();
        HostileLogEntry {
            at: Instant::now(),
            duration: None,
            host: nothing.clone(),
            path: path.into(),
            connection: 0,
            version: "HTTP/1.1",
            user_agent: nothing,
        }
    }

    #[test]
    fn a_request_ends_once_and_the_oldest_is_dropped() {
        let log = Arc::new(RequestLog::new(2));
        let guards = ["/a", "/b", "/c"].map(|path| log.log_request(request(path)));
        let [a, b, c] = guards;
        drop((a, c));
        let kept: Vec<_> = log.read().iter().map(|r| (r.path.to_string(), r.duration.is_some())).collect();
        assert_eq!(kept, [("/b".to_string(), false), ("/c".to_string(), true)]);
        drop(b);
        assert!(log.read()[0].duration.is_some());
    }
}
