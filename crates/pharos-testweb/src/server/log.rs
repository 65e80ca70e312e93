//! Request log and counters of the server.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use serde::Serialize;

/// One request as the server saw it.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    pub at: Instant,
    /// Requested host from the `Host` header, without port, in lower case.
    pub host: Arc<str>,
    /// Path and query.
    pub path: Arc<str>,
    pub status: u16,
    pub user_agent: Arc<str>,
    /// Number of its connection.
    pub connection: u64,
    /// Number of requests to the same host in progress on arrival, including itself.
    pub in_flight: u32,
}

/// Counters since the start of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerCounters {
    pub connections: u64,
    pub requests: u64,
    /// Responses with status 200.
    pub ok: u64,
    /// Responses with status 301, 302 or 308.
    pub redirects: u64,
    /// Responses with status 304.
    pub not_modified: u64,
    /// Responses with any other status.
    pub others: u64,
    /// Total size of all bodies sent.
    pub body_bytes: u64,
}

/// Counters updated by concurrent connections.
#[derive(Default)]
pub(super) struct AtomicCounters {
    connections: AtomicU64,
    ok: AtomicU64,
    redirects: AtomicU64,
    not_modified: AtomicU64,
    others: AtomicU64,
    body_bytes: AtomicU64,
}

impl AtomicCounters {
    /// Counts a connection and returns its number.
    pub(super) fn connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn count_response(&self, status: u16, body_bytes: usize) {
        let counter = match status {
            200 => &self.ok,
            301 | 302 | 308 => &self.redirects,
            304 => &self.not_modified,
            _ => &self.others,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.body_bytes.fetch_add(body_bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> ServerCounters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (ok, redirects) = (read(&self.ok), read(&self.redirects));
        let (not_modified, others) = (read(&self.not_modified), read(&self.others));
        ServerCounters {
            connections: read(&self.connections),
            requests: ok + redirects + not_modified + others,
            ok,
            redirects,
            not_modified,
            others,
            body_bytes: read(&self.body_bytes),
        }
    }
}

/// The latest requests; the oldest are dropped first.
pub(super) struct RequestLog {
    requests: Mutex<VecDeque<LoggedRequest>>,
    capacity: usize,
}

impl RequestLog {
    pub(super) fn new(capacity: usize) -> RequestLog {
        RequestLog { requests: Mutex::new(VecDeque::new()), capacity }
    }

    pub(super) fn write(&self, request: LoggedRequest) {
        if self.capacity == 0 {
            return;
        }
        let mut requests = self.requests.lock();
        if requests.len() == self.capacity {
            requests.pop_front();
        }
        requests.push_back(request);
    }

    pub(super) fn read(&self) -> Vec<LoggedRequest> {
        self.requests.lock().iter().cloned().collect()
    }

    pub(super) fn clear(&self) {
        self.requests.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_forgets_the_oldest() {
        let log = RequestLog::new(2);
        for status in [200, 301, 404] {
            let (host, path, user_agent): (Arc<str>, Arc<str>, Arc<str>) =
                ("h".into(), "/".into(), "u".into());
            log.write(LoggedRequest {
                at: Instant::now(),
                host,
                path,
                status,
                user_agent,
                connection: 0,
                in_flight: 1,
            });
        }
        let kept: Vec<u16> = log.read().iter().map(|request| request.status).collect();
        assert_eq!(kept, [301, 404]);
    }
}
