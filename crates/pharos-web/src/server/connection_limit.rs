//! Limits the connections per client network, so that no client takes all slots.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::server::rate_limit::client_network;

/// One client network may use at most this fraction of the slots.
const MAX_SHARE: usize = 16;

/// Minimum limit: browsers open several connections, and users share addresses.
const MIN_LIMIT: usize = 64;

/// Counts the open connections of every client network.
pub(crate) struct ConnectionLimit {
    max_per_network: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

impl ConnectionLimit {
    /// Creates the limit for a number of slots. Behind a proxy there is none: all connections come from the proxy.
    pub(crate) fn new(slots: usize, behind_proxy: bool) -> Arc<Self> {
        let max_per_network = if behind_proxy { usize::MAX } else { (slots / MAX_SHARE).max(MIN_LIMIT) };
        Arc::new(Self { max_per_network, open: Mutex::default() })
    }

    /// Admits a connection for the lifetime of the returned permit, or returns `None` if the network is at its limit.
    /// Loopback connections are not counted.
    pub(crate) fn acquire(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionPermit> {
        let address = client_network(address);
        if address.is_loopback() {
            return Some(ConnectionPermit(None));
        }
        let mut open = self.open.lock();
        let count = open.entry(address).or_default();
        if *count >= self.max_per_network {
            return None;
        }
        *count += 1;
        Some(ConnectionPermit(Some((Arc::clone(self), address))))
    }
}

/// Permit for one connection; releases its slot on drop.
pub(crate) struct ConnectionPermit(Option<(Arc<ConnectionLimit>, IpAddr)>);

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let Some((limit, address)) = &self.0 else { return };
        let mut open = limit.open.lock();
        if let Some(count) = open.get_mut(address) {
            *count -= 1;
            if *count == 0 {
                open.remove(address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_does_not_take_every_slot() {
        let limit = ConnectionLimit::new(16_000, false);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let crowd: Vec<_> = (0..2_000).map_while(|_| limit.acquire(address("2001:db8::1"))).collect();
        assert_eq!(crowd.len(), 1_000);
        assert!(limit.acquire(address("2001:db8::ffff")).is_none(), "same network");
        let other = limit.acquire(address("192.0.2.1"));
        assert!(other.is_some() && limit.acquire(address("127.0.0.1")).is_some());
        drop(crowd);
        assert!(limit.acquire(address("2001:db8::1")).is_some());
        drop(other);
        assert!(limit.open.lock().is_empty(), "empty entries are removed");
        let proxied = ConnectionLimit::new(1, true);
        let all: Vec<_> = (0..1_000).map_while(|_| proxied.acquire(address("192.0.2.1"))).collect();
        assert_eq!(all.len(), 1_000);
    }
}
