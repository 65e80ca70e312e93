//! Rate limits for logins and setup attempts. Loopback is not exempt: other users of the machine may not be operators.

use std::net::IpAddr;
use std::time::Duration;

use super::operators::folded;
use super::secret::mark;
use crate::rate::{Rate, household};

/// Per client network: burst size, and time for one more attempt.
const QUICK: u32 = 5;
const EVERY: Duration = Duration::from_secs(30);

/// Per name from anywhere: a larger burst, so that a single client cannot lock an operator out.
const QUICK_FOR_NAME: u32 = 10;
const EVERY_FOR_NAME: Duration = Duration::from_secs(10);

/// Rate limits for login and setup.
pub(super) struct Tries {
    households: Rate<IpAddr>,
    names: Rate<[u8; 32]>,
    setups: Rate<()>,
}

impl Tries {
    pub(super) fn new() -> Self {
        Self {
            households: Rate::new(1, EVERY, QUICK),
            names: Rate::new(1, EVERY_FOR_NAME, QUICK_FOR_NAME),
            setups: Rate::new(1, EVERY_FOR_NAME, QUICK_FOR_NAME),
        }
    }

    /// Takes one login attempt; otherwise returns the time to wait.
    pub(super) fn log_in(&self, from: IpAddr, name: &str) -> Result<(), Duration> {
        self.households.take(&household(from))?;
        self.password(name)
    }

    /// Takes one attempt to enter the password of an operator.
    pub(super) fn password(&self, name: &str) -> Result<(), Duration> {
        self.names.take(&mark(&folded(name)))
    }

    /// Takes one attempt to enter the setup code.
    pub(super) fn set_up(&self, from: IpAddr) -> Result<(), Duration> {
        self.households.take(&household(from))?;
        self.setups.take(&())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_limited_per_network_and_per_name() {
        let tries = Tries::new();
        let address = |n: u8| IpAddr::from([192, 0, 2, n]);
        for n in 0..QUICK {
            assert!(tries.log_in(IpAddr::from([127, 0, 0, 1]), &n.to_string()).is_ok());
        }
        assert!(tries.log_in(IpAddr::from([127, 0, 0, 1]), "another").is_err(), "loopback is limited too");
        let taken = (0..100).filter(|n| tries.log_in(address(*n), " KEEPER").is_ok()).count();
        assert_eq!(taken, QUICK_FOR_NAME as usize);
        assert!(tries.password("keeper").is_err() && tries.password("mate").is_ok());
        assert_eq!(
            (0..100).filter(|n| tries.set_up(address(100 + n)).is_ok()).count(),
            QUICK_FOR_NAME as usize
        );
    }
}
