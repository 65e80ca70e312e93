//! Decisions of operators about the category of pages and sites. They win over the model.

use std::collections::HashMap;

use pharos_core::PageUrl;
use serde::{Deserialize, Serialize};

use super::examples::without_scheme;

/// Maximum number of decisions.
pub const MAX_DECISIONS: usize = 100_000;

/// A decision about a page or site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryDecision {
    /// URL of a page, or the host of a site.
    pub target: String,
    /// Id of the category; `None` for no category. An unknown id is kept and has no effect.
    pub category: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at: String,
}

/// All decisions, at most one per page or site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CategoryDecisions(Vec<CategoryDecision>);

impl CategoryDecisions {
    /// Returns all decisions.
    pub fn list(&self) -> &[CategoryDecision] {
        &self.0
    }

    /// Adds a decision, which replaces an earlier one about the same target. Returns `false` if there are too many.
    pub fn put(&mut self, decision: CategoryDecision) -> bool {
        self.remove(&decision.target);
        let has_room = self.0.len() < MAX_DECISIONS;
        if has_room {
            self.0.push(decision);
        }
        has_room
    }

    /// Removes the decision about a target. Returns `false` if there is none.
    pub fn remove(&mut self, target: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|decision| decision.target != target);
        self.0.len() < before
    }

    /// Returns the decisions by target, for lookups.
    pub(crate) fn by_target(&self) -> HashMap<&str, Option<&str>> {
        self.0.iter().map(|decision| (decision.target.as_str(), decision.category.as_deref())).collect()
    }
}

/// Returns the target of a decision: a normalised URL, or the host of a site. `None` if the text is neither.
pub fn parse_target(text: &str) -> Option<String> {
    let text = text.trim();
    if without_scheme(text) != text {
        return PageUrl::parse(text).ok().map(|url| url.as_str().to_string());
    }
    let url = PageUrl::parse(&format!("http://{text}/")).ok()?;
    (!text.contains(['/', '?', '#', '@'])).then(|| url.site().as_str().to_string())
}

#[cfg(test)]
mod tests;
