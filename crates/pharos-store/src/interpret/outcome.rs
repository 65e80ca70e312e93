//! The outcome of a record: what it says by itself, whatever the rules and the state of the stores.

use super::status::StatusMeaning;
use crate::catalog::Removal;
use crate::{LibraryEvent, LibraryRecord, RecordContent, RecordKind};

/// The statement of a record about its page.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordOutcome {
    /// A response that determines what the page is from now on.
    Settled(StatusMeaning),
    /// A response after which the page is what it was before.
    Inconclusive(StatusMeaning),
    /// A version whose content was dropped by the retention rule.
    Dropped(StatusMeaning),
    /// No response was received.
    Failed,
    /// A rule forbids the page. It is hidden until it is fetched again.
    Refused,
    /// A data feed reports the page as deleted. Versions of this time and before are hidden.
    Deleted,
    /// An operator removed pages permanently.
    Removed(Removal),
    /// The site of the page is a mirror of another site, and its pages are hidden.
    Mirror,
    /// A robots.txt, or the reason why there is none.
    Robots,
    /// Any other event. It changes no page that is stored.
    Decision,
}

impl RecordOutcome {
    /// Returns the outcome of a record.
    pub fn from_record(record: &LibraryRecord) -> Self {
        if record.kind == RecordKind::Robots {
            return Self::Robots;
        }
        let responded = |status| match StatusMeaning::from_status(status) {
            meaning if meaning.settles(record.is_refetch) => Self::Settled(meaning),
            meaning => Self::Inconclusive(meaning),
        };
        match &record.content {
            RecordContent::Response(response) => responded(response.status),
            RecordContent::Revisit(revisit) => responded(revisit.status),
            RecordContent::Event(event) => match event {
                LibraryEvent::Failed { .. } => Self::Failed,
                LibraryEvent::Refused { .. } => Self::Refused,
                LibraryEvent::Deleted => Self::Deleted,
                LibraryEvent::Removed { what } => Self::Removed(what.clone()),
                LibraryEvent::Alias { .. } => Self::Mirror,
                LibraryEvent::Dropped { status, .. } => Self::Dropped(StatusMeaning::from_status(*status)),
                LibraryEvent::CrawlStarted { .. }
                | LibraryEvent::Submitted
                | LibraryEvent::Decided { .. }
                | LibraryEvent::Announced { .. }
                | LibraryEvent::Recrawl { .. } => Self::Decision,
            },
        }
    }

    /// Returns `true` if the record ends an attempt to fetch a page.
    pub fn is_fetch_attempt(&self) -> bool {
        matches!(self, Self::Settled(_) | Self::Inconclusive(_) | Self::Failed | Self::Refused)
    }

    /// Returns the meaning of the status of a stored or dropped version.
    pub fn version(&self) -> Option<StatusMeaning> {
        match self {
            Self::Settled(meaning) | Self::Inconclusive(meaning) | Self::Dropped(meaning) => Some(*meaning),
            _ => None,
        }
    }

    /// Returns `true` if the record proves that the page existed. Redirects and errors do not.
    pub fn proves_existence(&self) -> bool {
        self.version().is_some_and(StatusMeaning::has_content)
    }
}
