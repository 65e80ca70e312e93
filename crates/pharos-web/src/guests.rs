//! How many connections one household has: some of the places, so that nobody takes them all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::rate::household;

/// One in so many of the places is the most that one may have.
const SHARE: usize = 16;

/// Browsers open several at once, and people share an address.
const LEAST: usize = 64;

/// Who is here, and how often.
pub(crate) struct Guests {
    most: usize,
    here: Mutex<HashMap<IpAddr, usize>>,
}

impl Guests {
    /// For so many places. Behind a proxy all come from its address, and it is the proxy that counts.
    pub(crate) fn new(places: usize, behind_proxy: bool) -> Arc<Self> {
        let most = if behind_proxy { usize::MAX } else { (places / SHARE).max(LEAST) };
        Arc::new(Self { most, here: Mutex::default() })
    }

    /// Lets one more in, for as long as what is given lasts; nothing where its household has enough. Who comes from this
    /// machine is not counted.
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

/// One who was let in.
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
    fn one_household_does_not_take_every_place() {
        let guests = Guests::new(16_000, false);
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let crowd: Vec<_> = (0..2_000).map_while(|_| guests.admit(address("2001:db8::1"))).collect();
        assert_eq!(crowd.len(), 1_000);
        assert!(guests.admit(address("2001:db8::ffff")).is_none(), "the same household");
        let other = guests.admit(address("192.0.2.1"));
        assert!(other.is_some() && guests.admit(address("127.0.0.1")).is_some());
        drop(crowd);
        assert!(guests.admit(address("2001:db8::1")).is_some());
        drop(other);
        assert!(guests.here.lock().unwrap().is_empty(), "who is gone is forgotten");
        let proxied = Guests::new(1, true);
        let all: Vec<_> = (0..1_000).map_while(|_| proxied.admit(address("192.0.2.1"))).collect();
        assert_eq!(all.len(), 1_000);
    }
}
