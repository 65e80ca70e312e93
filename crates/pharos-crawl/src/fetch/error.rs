//! Errors of a fetch.

use std::error::Error as _;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use hyper_util::client::legacy;
use thiserror::Error;

use crate::fetch::fetcher::MAX_HEADER_BYTES;

/// Reason why a request got no response, short enough to be displayed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FetchError {
    #[error("name not found")]
    NameNotFound,
    #[error("name server: {0}")]
    NameServer(String),
    #[error("private address {0} (allow with --allow-private)")]
    PrivateAddress(IpAddr),
    /// The address is excluded by `crawl.allow_addresses` or `crawl.forbid_addresses`.
    #[error("address {0} is {1}")]
    ForbiddenAddress(IpAddr, &'static str),
    /// The host is public, and no contact address is configured.
    #[error(
        "{address} is a public address, and its owner must be able to reach you: \
         pharos crawl --contact you@example.org {site}"
    )]
    NoContact { address: IpAddr, site: String },
    /// The media type is not configured; the body was not read.
    #[error("media type {0} is not accepted (crawl.types)")]
    UnwantedType(String),
    /// The connection failed, or was closed before a response.
    #[error("{0}")]
    Connection(String),
    #[error("timed out after {} {doing}", Seconds(*.after))]
    TimedOut {
        after: Duration,
        /// Description of the phase.
        doing: &'static str,
    },
    #[error("tls: {0}")]
    Tls(String),
    /// The response is not HTTP.
    #[error("{0}")]
    NotHttp(String),
}

impl FetchError {
    /// Returns `true` if the server caused the error, so that it gets time to recover.
    pub(crate) fn is_server_fault(&self) -> bool {
        match self {
            Self::NameServer(_)
            | Self::Connection(_)
            | Self::TimedOut { .. }
            | Self::Tls(_)
            | Self::NotHttp(_)
            | Self::NameNotFound => true,
            Self::PrivateAddress(_)
            | Self::ForbiddenAddress(..)
            | Self::NoContact { .. }
            | Self::UnwantedType(_) => false,
        }
    }

    pub(crate) fn from_io(error: &io::Error) -> Self {
        Self::Connection(match error.kind() {
            io::ErrorKind::ConnectionRefused => "connection refused".into(),
            io::ErrorKind::ConnectionReset => "connection reset".into(),
            io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => {
                "connection closed before a response".into()
            }
            io::ErrorKind::HostUnreachable => "host unreachable".into(),
            io::ErrorKind::NetworkUnreachable => "network unreachable".into(),
            io::ErrorKind::TimedOut => "connection timed out".into(),
            _ => error.to_string(),
        })
    }

    pub(crate) fn from_client(error: &legacy::Error) -> Self {
        let mut cause = error.source();
        let mut deepest = error.to_string();
        while let Some(error) = cause {
            if let Some(own) = error.downcast_ref::<FetchError>() {
                return own.clone();
            }
            if let Some(io) = error.downcast_ref::<io::Error>() {
                return Self::from_io(io);
            }
            if let Some(http) = error.downcast_ref::<hyper::Error>() {
                if http.is_parse_too_large() {
                    return Self::NotHttp(format!("response header exceeds {} KB", MAX_HEADER_BYTES >> 10));
                } else if http.is_incomplete_message() {
                    return Self::Connection("connection closed before a response".into());
                } else if http.is_parse() {
                    return Self::NotHttp("response is not HTTP".into());
                }
            }
            deepest = error.to_string();
            cause = error.source();
        }
        Self::Connection(deepest)
    }
}

/// Formats a duration as `10 s` or `0.5 s`.
struct Seconds(Duration);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} s", self.0.as_millis() as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_short() {
        let late = FetchError::TimedOut { after: Duration::from_secs(10), doing: "connecting" };
        assert_eq!(late.to_string(), "timed out after 10 s connecting");
        let late = FetchError::TimedOut { after: Duration::from_millis(1500), doing: "in total" };
        assert_eq!(late.to_string(), "timed out after 1.5 s in total");
    }
}
