//! Alerts: conditions that an operator should know about, shown on the desk and sent to a webhook or by mail.
//!
//! ```text
//! watch: once a second, a sample of the engine ─▶ conditions ─▶ book: raised, acknowledged, cleared
//!                                                                  │ raised
//!                                                                  ▼
//!                                       delivery: webhook, mail; bounded queue, retries with back-off
//! ```
//!
//! An alert is sent once when it is raised and not again until it has cleared; the book is stored in the file `ALERTS`,
//! so that this also holds across restarts. An endpoint that is down never delays the engine.

mod book;
mod certificate;
mod conditions;
mod delivery;
mod mail;
mod query_share;
mod smtp;
#[cfg(test)]
mod smtp_tls_tests;
mod watch;

use pharos_core::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::book::{acknowledge_alert, read_alerts};
pub use self::delivery::{check_endpoints, send_test_message};
pub use self::watch::{AlertSources, watch_alerts};

/// A kind of alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlertKind {
    /// Pages are queued and none was fetched for a time, or the crawl failed.
    CrawlStalled,
    CrawlFailed,
    DiskNearlyFull,
    ErrorRate,
    CertificateEnds,
    BuildFailed,
    NoResultsRising,
    BackupOverdue,
}

impl AlertKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::CrawlStalled,
        Self::CrawlFailed,
        Self::DiskNearlyFull,
        Self::ErrorRate,
        Self::CertificateEnds,
        Self::BuildFailed,
        Self::NoResultsRising,
        Self::BackupOverdue,
    ];

    /// Returns the name in messages and forms: `disk-nearly-full`.
    pub fn name(self) -> &'static str {
        match self {
            Self::CrawlStalled => "crawl-stalled",
            Self::CrawlFailed => "crawl-failed",
            Self::DiskNearlyFull => "disk-nearly-full",
            Self::ErrorRate => "error-rate",
            Self::CertificateEnds => "certificate-ends",
            Self::BuildFailed => "build-failed",
            Self::NoResultsRising => "no-results-rising",
            Self::BackupOverdue => "backup-overdue",
        }
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Describes an alert of this kind in English. The desk has its own texts in each language.
    pub fn describe(self, value: &str) -> String {
        match self {
            Self::CrawlStalled => format!("the crawl is stalled: no page was fetched for {value}"),
            Self::CrawlFailed => format!("the crawl failed: {value}"),
            Self::DiskNearlyFull => format!("the disk is nearly full: {value} free"),
            Self::ErrorRate => format!("many requests fail: {value} of the last ten minutes"),
            Self::CertificateEnds => format!("the TLS certificate ends on {value}"),
            Self::BuildFailed => format!("building the index failed: {value}"),
            Self::NoResultsRising => format!("queries without results are rising: {value} of the last hour"),
            Self::BackupOverdue => format!("the backup is overdue since {value}"),
        }
    }
}

/// A raised alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    pub kind: AlertKind,
    /// The figure or reason, such as the free space.
    pub value: String,
    /// Time at which it was raised.
    pub since: Timestamp,
    /// Operator who acknowledged it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_by: Option<String>,
    /// The last error of each endpoint that did not accept it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undelivered: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_one_name_everywhere() {
        for kind in AlertKind::ALL {
            assert_eq!(AlertKind::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{}\"", kind.name()));
            assert!(kind.describe("42 %").contains("42 %"));
        }
        assert_eq!(AlertKind::from_name("fire"), None);
    }
}
