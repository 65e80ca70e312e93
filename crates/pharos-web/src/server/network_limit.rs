//! Limits what one client network may use at once, so that no client takes all connections or renderings.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use pharos_core::config::TrustedProxies;

use crate::server::rate_limit::client_network;

/// One client network may use at most this fraction of the slots.
const MAX_SHARE: usize = 16;

/// Minimum limit: browsers open several connections, and users share addresses.
const MIN_LIMIT: usize = 64;

/// Counts the uses of every client network.
pub(crate) struct NetworkLimit {
    max_per_network: usize,
    /// Not limited: their connections carry the requests of many clients.
    proxies: TrustedProxies,
    open: Mutex<HashMap<IpAddr, usize>>,
}

impl NetworkLimit {
    /// Creates the limit for connections to a server with a number of slots.
    pub(crate) fn of_connections(slots: usize, proxies: TrustedProxies) -> Arc<Self> {
        let max_per_network = (slots / MAX_SHARE).max(MIN_LIMIT);
        Arc::new(Self { max_per_network, proxies, open: Mutex::default() })
    }

    /// Creates a limit without exceptions.
    pub(crate) fn new(max_per_network: usize) -> Arc<Self> {
        Arc::new(Self { max_per_network, proxies: TrustedProxies::default(), open: Mutex::default() })
    }

    /// Admits a connection for the lifetime of the returned permit, or returns `None` if the network is at its limit.
    /// Connections of the local machine and of proxies are not counted.
    pub(crate) fn admit_connection(self: &Arc<Self>, address: IpAddr) -> Option<NetworkPermit> {
        let is_exempt = address.to_canonical().is_loopback() || self.proxies.contains(address);
        if is_exempt { Some(NetworkPermit(None)) } else { self.acquire(address) }
    }

    /// Counts one use for the lifetime of the returned permit, or returns `None` if the network is at its limit.
    pub(crate) fn acquire(self: &Arc<Self>, address: IpAddr) -> Option<NetworkPermit> {
        let address = client_network(address);
        let mut open = self.open.lock();
        let count = open.entry(address).or_default();
        if *count >= self.max_per_network {
            return None;
        }
        *count += 1;
        Some(NetworkPermit(Some((Arc::clone(self), address))))
    }
}

/// Permit for one use; releases its slot on drop.
pub(crate) struct NetworkPermit(Option<(Arc<NetworkLimit>, IpAddr)>);

impl Drop for NetworkPermit {
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
    use pharos_core::config::SettingValue as _;

    use super::*;

    #[test]
    fn one_network_does_not_take_every_slot() {
        let limit = NetworkLimit::of_connections(16_000, TrustedProxies::default());
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let crowd: Vec<_> =
            (0..2_000).map_while(|_| limit.admit_connection(address("2001:db8::1"))).collect();
        assert_eq!(crowd.len(), 1_000);
        assert!(limit.admit_connection(address("2001:db8::ffff")).is_none(), "same network");
        let other = limit.admit_connection(address("192.0.2.1"));
        assert!(other.is_some() && limit.admit_connection(address("127.0.0.1")).is_some());
        drop(crowd);
        assert!(limit.admit_connection(address("2001:db8::1")).is_some());
        drop(other);
        assert!(limit.open.lock().is_empty(), "empty entries are removed");
        let proxies = TrustedProxies::from_text("192.0.2.1").unwrap();
        let proxied = NetworkLimit::of_connections(1, proxies);
        let all: Vec<_> = (0..1_000).map_while(|_| proxied.admit_connection(address("192.0.2.1"))).collect();
        assert_eq!(all.len(), 1_000);
        let others: Vec<_> =
            (0..1_000).map_while(|_| proxied.admit_connection(address("192.0.2.2"))).collect();
        assert_eq!(others.len(), MIN_LIMIT, "only the proxy has no limit");
    }
}
