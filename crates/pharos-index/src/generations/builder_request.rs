//! The [`BuilderRequest`] that a builder or an operator leaves for the owner of the data directory.

use serde::{Deserialize, Serialize};

use crate::generations::chain::HistoryGeneration;

/// A request of a builder or an operator to the owner of the data directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuilderRequest {
    /// Seal the latest generation of this number.
    Seal(u64),
    /// Install this history generation.
    Install(HistoryGeneration),
    /// Roll back from the history generation of this number to the previous one.
    Rollback(u64),
}
