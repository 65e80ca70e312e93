//! Why no answer came.

use std::error::Error as _;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use hyper_util::client::legacy;
use thiserror::Error;

use crate::fetch::MAX_HEADER_BYTES;

/// Why no answer came: a short reason for a person.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FetchError {
    /// The host does not exist.
    #[error("name not found")]
    NameNotFound,
    /// DNS did not work.
    #[error("name server: {0}")]
    NameServer(String),
    /// The host is not on the public internet.
    #[error("private address {0} (allow with --allow-private)")]
    PrivateAddress(IpAddr),
    /// The host is where an operator does not want to go.
    #[error("address {0} is {1}")]
    ForbiddenAddress(IpAddr, &'static str),
    /// A public host, and nobody whom its owner could reach.
    #[error(
        "{address} is a public address, and its owner must be able to reach you: \
         pharos crawl --contact you@example.org {site}"
    )]
    NoContact {
        /// Where it is.
        address: IpAddr,
        /// What was asked for.
        site: String,
    },
    /// An answer of a kind that is not wanted; its body was not read.
    #[error("type {0} is not wanted (crawl.types)")]
    UnwantedType(String),
    /// The connection did not come about, or broke before an answer.
    #[error("{0}")]
    Connection(String),
    /// It took too long.
    #[error("timed out after {} {doing}", Seconds(*.after))]
    TimedOut {
        /// The limit.
        after: Duration,
        /// At what.
        doing: &'static str,
    },
    /// No secure connection.
    #[error("tls: {0}")]
    Tls(String),
    /// Something came, but no HTTP.
    #[error("{0}")]
    NotHttp(String),
}

impl FetchError {
    /// Is it for the server to do better, so that it is given time?
    pub(crate) fn is_servers_fault(&self) -> bool {
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
                "the connection closed before an answer came".into()
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
                    return Self::NotHttp(format!("the header is longer than {} KB", MAX_HEADER_BYTES >> 10));
                } else if http.is_incomplete_message() {
                    return Self::Connection("the connection closed before an answer came".into());
                } else if http.is_parse() {
                    return Self::NotHttp("the answer is not HTTP".into());
                }
            }
            deepest = error.to_string();
            cause = error.source();
        }
        Self::Connection(deepest)
    }
}

/// `10 s`, `0.5 s`.
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
        let late = FetchError::TimedOut { after: Duration::from_millis(1500), doing: "in all" };
        assert_eq!(late.to_string(), "timed out after 1.5 s in all");
    }
}
