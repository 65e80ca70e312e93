//! How often somebody may try to get in. Nobody is exempt, not even this machine: who is on it need not be an operator.

use std::net::IpAddr;
use std::time::Duration;

use super::operators::folded;
use super::secret::mark;
use crate::rate::{Rate, household};

/// From one household: some quick tries, then one in this time.
const QUICK: u32 = 5;
const EVERY: Duration = Duration::from_secs(30);

/// For one name, from wherever: more, so that no single household can keep an operator out by trying.
const QUICK_FOR_NAME: u32 = 10;
const EVERY_FOR_NAME: Duration = Duration::from_secs(10);

/// What is left of everybody's tries.
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

    /// Takes one try to log in under a name; else gives how long to wait.
    pub(super) fn log_in(&self, from: IpAddr, name: &str) -> Result<(), Duration> {
        self.households.take(&household(from))?;
        self.password(name)
    }

    /// Takes one try of the password of somebody who is logged in.
    pub(super) fn password(&self, name: &str) -> Result<(), Duration> {
        self.names.take(&mark(&folded(name)))
    }

    /// Takes one try to enter the setup code.
    pub(super) fn set_up(&self, from: IpAddr) -> Result<(), Duration> {
        self.households.take(&household(from))?;
        self.setups.take(&())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_are_few_for_a_household_and_for_a_name() {
        let tries = Tries::new();
        let address = |n: u8| IpAddr::from([192, 0, 2, n]);
        for n in 0..QUICK {
            assert!(tries.log_in(IpAddr::from([127, 0, 0, 1]), &n.to_string()).is_ok());
        }
        assert!(tries.log_in(IpAddr::from([127, 0, 0, 1]), "another").is_err(), "this machine, too");
        let taken = (0..100).filter(|n| tries.log_in(address(*n), " KEEPER").is_ok()).count();
        assert_eq!(taken, QUICK_FOR_NAME as usize);
        assert!(tries.password("keeper").is_err() && tries.password("mate").is_ok());
        assert_eq!(
            (0..100).filter(|n| tries.set_up(address(100 + n)).is_ok()).count(),
            QUICK_FOR_NAME as usize
        );
    }
}
