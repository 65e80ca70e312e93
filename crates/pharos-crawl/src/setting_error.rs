//! Settings of a crawl that cannot be used.

use thiserror::Error;

/// A setting that cannot be used, with what to write instead.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingError {
    /// Not `HOST:PORT:ADDR`.
    #[error(
        "`--resolve {0}` cannot be read: write HOST:PORT:ADDR[,ADDR], as in www.example.org:80:127.0.0.1"
    )]
    Resolve(String),
    /// Not `HOST1:PORT1:HOST2:PORT2`.
    #[error(
        "`--connect-to {0}` cannot be read: write HOST1:PORT1:HOST2:PORT2, as in www.example.org:443:localhost:8443"
    )]
    ConnectTo(String),
    /// Not `ADDRESS/BITS`.
    #[error("`{text}` in `{key}` is no range of addresses: write ADDRESS/BITS, as in 162.105.0.0/16")]
    AddressRange {
        /// The key.
        key: &'static str,
        /// What stands there.
        text: String,
    },
    /// No certificates in it, or no such file.
    #[error("`crawl.extra_ca`: cannot use {file}: {reason}")]
    ExtraCa {
        /// The file.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// Not `HOST word=value …`.
    #[error(
        "`{line}` in `crawl.site_settings` cannot be read: {reason}; write HOST and what is different there, as in \
         www.example.cn zone=+08:00 politeness=gentle"
    )]
    Site {
        /// The line.
        line: String,
        /// What is wrong.
        reason: String,
    },
}
