//! Settings of the desk, validated at start.

use std::net::IpAddr;
use std::time::Duration;

use ipnet::IpNet;
use pharos_core::config::{DeskConfig, parse_address_range};
use thiserror::Error;

/// Maximum lifetime of a session.
pub(super) const MAX_LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);

/// Minimum idle timeout.
const MIN_IDLE: Duration = Duration::from_secs(60);

/// Minimum length of a setup code given in the environment.
pub(super) const MIN_CODE_LENGTH: usize = 12;

/// An invalid setting of the desk.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DeskSettingsError {
    /// `desk.allow` contains something other than an address or network.
    #[error("`desk.allow` must be a list of addresses such as 10.0.0.0/8 or 2001:db8::1, not `{0}`")]
    Address(String),
    /// `desk.session` is out of range.
    #[error("`desk.session` must be between 1 minute and 7 days")]
    Session,
    /// The setup code in the environment is too short.
    #[error("the environment variable {variable} must have at least {MIN_CODE_LENGTH} characters", variable = super::SETUP_CODE_VARIABLE)]
    SetupCode,
}

/// Allowed addresses and session timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeskSettings {
    pub(super) enabled: bool,
    allow: Vec<IpNet>,
    /// Idle timeout of sessions.
    pub(super) idle_timeout: Duration,
}

impl DeskSettings {
    pub(super) fn from_config(config: &DeskConfig) -> Result<Self, DeskSettingsError> {
        if config.session < MIN_IDLE || config.session > MAX_LIFETIME {
            return Err(DeskSettingsError::Session);
        }
        let parse = |text: &String| {
            parse_address_range(text).ok_or_else(|| DeskSettingsError::Address(text.trim().to_string()))
        };
        let allow = config.allow.iter().map(parse).collect::<Result<_, _>>()?;
        Ok(Self { enabled: config.enabled, allow, idle_timeout: config.session })
    }

    /// Returns `true` if the desk may be used from this address.
    pub(super) fn allows(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.allow.iter().any(|network| network.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(allow: &[&str], session: u64) -> Result<DeskSettings, DeskSettingsError> {
        let allow = allow.iter().map(ToString::to_string).collect();
        DeskSettings::from_config(&DeskConfig {
            allow,
            session: Duration::from_secs(session),
            ..DeskConfig::default()
        })
    }

    fn allows(settings: &DeskSettings, address: &str) -> bool {
        settings.allows(address.parse().unwrap())
    }

    #[test]
    fn only_loopback_is_allowed_by_default() {
        let settings = DeskSettings::from_config(&DeskConfig::default()).unwrap();
        for ours in ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"] {
            assert!(allows(&settings, ours), "{ours}");
        }
        for other in ["192.168.1.1", "0.0.0.0", "::", "::2", "2001:db8::1", "::ffff:192.0.2.1"] {
            assert!(!allows(&settings, other), "{other}");
        }
    }

    #[test]
    fn networks_and_single_addresses_are_allowed() {
        let settings =
            parse(&["10.0.0.0/8", " 192.0.2.7 ", "2001:db8::/32", "::ffff:198.51.100.1"], 3600).unwrap();
        for ours in ["10.1.2.3", "192.0.2.7", "2001:db8::5", "198.51.100.1"] {
            assert!(allows(&settings, ours), "{ours}");
        }
        assert!(!allows(&settings, "192.0.2.8") && !allows(&settings, "127.0.0.1"));
        assert!(!allows(&parse(&[], 3600).unwrap(), "127.0.0.1"), "an empty list allows no address");
        for wrong in ["", "localhost", "10.0.0.0/33", "10.0.0", "*"] {
            assert_eq!(parse(&[wrong], 3600), Err(DeskSettingsError::Address(wrong.into())), "{wrong}");
        }
    }

    #[test]
    fn the_session_timeout_has_bounds() {
        assert!(parse(&[], 60).is_ok() && parse(&[], 7 * 86_400).is_ok());
        assert_eq!(
            (parse(&[], 59), parse(&[], 7 * 86_400 + 1)),
            (Err(DeskSettingsError::Session), Err(DeskSettingsError::Session))
        );
    }
}
