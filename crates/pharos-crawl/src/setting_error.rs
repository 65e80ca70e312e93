//! Errors in crawl settings.

use thiserror::Error;

/// An invalid setting, with an example of a valid one.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SettingError {
    #[error(
        "invalid `--resolve {0}`: expected HOST:PORT:ADDR[,ADDR], for example www.example.org:80:127.0.0.1"
    )]
    Resolve(String),
    #[error(
        "invalid `--connect-to {0}`: expected HOST1:PORT1:HOST2:PORT2, for example www.example.org:443:localhost:8443"
    )]
    ConnectTo(String),
    #[error("invalid address range `{text}` in `{key}`: expected ADDRESS/BITS, for example 162.105.0.0/16")]
    AddressRange { key: &'static str, text: String },
    #[error("`crawl.extra_ca`: cannot use {file}: {reason}")]
    ExtraCa { file: String, reason: String },
    #[error(
        "invalid line `{line}` in `crawl.site_settings`: {reason}; expected HOST and its settings, for example \
         www.example.cn zone=+08:00 politeness=gentle"
    )]
    Site { line: String, reason: String },
}
