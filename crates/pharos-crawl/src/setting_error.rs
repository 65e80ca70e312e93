//! Errors in crawl settings.

use thiserror::Error;

/// An invalid setting, with an example of a valid one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingError {
    #[error(
        "`--resolve {0}` cannot be read: write HOST:PORT:ADDR[,ADDR], as in www.example.org:80:127.0.0.1"
    )]
    Resolve(String),
    #[error(
        "`--connect-to {0}` cannot be read: write HOST1:PORT1:HOST2:PORT2, as in www.example.org:443:localhost:8443"
    )]
    ConnectTo(String),
    #[error("`{text}` in `{key}` is no range of addresses: write ADDRESS/BITS, as in 162.105.0.0/16")]
    AddressRange {
        key: &'static str,
        text: String,
    },
    #[error("`crawl.extra_ca`: cannot use {file}: {reason}")]
    ExtraCa {
        file: String,
        reason: String,
    },
    #[error(
        "`{line}` in `crawl.site_settings` cannot be read: {reason}; write HOST and what is different there, as in \
         www.example.cn zone=+08:00 politeness=gentle"
    )]
    Site {
        line: String,
        reason: String,
    },
}
