//! Rate limits for logins and setup attempts. Loopback is not exempt: other users of the machine may not be operators.

use std::net::IpAddr;
use std::time::Duration;

use super::operators::fold_name;
use super::secret::digest_secret;
use crate::server::rate_limit::{RateLimit, client_network};

/// Per client network: burst size, and time for one more attempt.
const BURST: u32 = 5;
const INTERVAL: Duration = Duration::from_secs(30);

/// Per name from anywhere: a larger burst, so that a single client cannot lock an operator out.
const NAME_BURST: u32 = 10;
const NAME_INTERVAL: Duration = Duration::from_secs(10);

/// Rate limits for login and setup.
pub(super) struct LoginLimits {
    networks: RateLimit<IpAddr>,
    names: RateLimit<[u8; 32]>,
    setups: RateLimit<()>,
}

impl LoginLimits {
    pub(super) fn new() -> Self {
        Self {
            networks: RateLimit::new(1, INTERVAL, BURST),
            names: RateLimit::new(1, NAME_INTERVAL, NAME_BURST),
            setups: RateLimit::new(1, NAME_INTERVAL, NAME_BURST),
        }
    }

    /// Takes one login attempt; otherwise returns the time to wait.
    pub(super) fn log_in(&self, from: IpAddr, name: &str) -> Result<(), Duration> {
        self.networks.acquire(&client_network(from))?;
        self.password(name)
    }

    /// Takes one attempt to enter the password of an operator.
    pub(super) fn password(&self, name: &str) -> Result<(), Duration> {
        self.names.acquire(&digest_secret(&fold_name(name)))
    }

    /// Takes one attempt to enter the setup code.
    pub(super) fn set_up(&self, from: IpAddr) -> Result<(), Duration> {
        self.networks.acquire(&client_network(from))?;
        self.setups.acquire(&())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_limited_per_network_and_per_name() {
        let limits = LoginLimits::new();
        let address = |n: u8| IpAddr::from([192, 0, 2, n]);
        for n in 0..BURST {
            assert!(limits.log_in(IpAddr::from([127, 0, 0, 1]), &n.to_string()).is_ok());
        }
        assert!(limits.log_in(IpAddr::from([127, 0, 0, 1]), "another").is_err(), "loopback is limited too");
        let taken = (0..100).filter(|n| limits.log_in(address(*n), " KEEPER").is_ok()).count();
        assert_eq!(taken, NAME_BURST as usize);
        assert!(limits.password("keeper").is_err() && limits.password("mate").is_ok());
        assert_eq!((0..100).filter(|n| limits.set_up(address(100 + n)).is_ok()).count(), NAME_BURST as usize);
    }
}
