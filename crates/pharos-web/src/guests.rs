//! Limits the connections per client network, so that no client takes all slots.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::rate::household;

/// One client network may use at most this fraction of the slots.
const SHARE: usize = 16;

/// Minimum limit: browsers open several connections, and users share addresses.
const LEAST: usize = 64;

/// Counts the open connections of every client network.
pub(crate) struct Guests {
    most: usize,
    here: Mutex<HashMap<IpAddr, usize>>,
}

impl Guests {
    /// Creates the limit for a number of slots. Behind a proxy there is none: all connections come from the proxy.
    pub(crate) fn new(places: usize, behind_proxy: bool) -> Arc<Self> {
        let most = if behind_proxy { usize::MAX } else { (places / SHARE).max(LEAST) };
        Arc::new(Self { most, here: Mutex::default() })
    }

    /// Admits a connection for the lifetime of the returned permit, or returns `None` if the network is at its limit.
    /// Loopback connections are not counted.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Guest> {
        let address = household(address);
        if address.is_loopback() {
            return Some(Guest(None));
        }
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        let count = here.entry(address).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Guest(Some((Arc::clone(self), address))))
    }
}

/// Permit for one connection; releases its slot on drop.
pub(crate) struct Guest(Option<(Arc<Guests>, IpAddr)>);

impl Drop for Guest {
    fn drop(&mut self) {
        let Some((guests, address)) = &self.0 else { return };
        let mut here = guests.here.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = here.get_mut(address) {
            *count -= 1;
            if *count == 0 {
                here.remove(address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_does_not_take_every_slot() {
        let guests = Guests::new(16_000, false);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let crowd: Vec<_> = (0..2_000).map_while(|_| guests.admit(address("2001:db8::1"))).collect();
        assert_eq!(crowd.len(), 1_000);
        assert!(guests.admit(address("2001:db8::ffff")).is_none(), "same network");
        let other = guests.admit(address("192.0.2.1"));
        assert!(other.is_some() && guests.admit(address("127.0.0.1")).is_some());
        drop(crowd);
        assert!(guests.admit(address("2001:db8::1")).is_some());
        drop(other);
        assert!(guests.here.lock().unwrap().is_empty(), "empty entries are removed");
        let proxied = Guests::new(1, true);
        let all: Vec<_> = (0..1_000).map_while(|_| proxied.admit(address("192.0.2.1"))).collect();
        assert_eq!(all.len(), 1_000);
    }
}
