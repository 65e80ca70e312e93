//! Carries link-analysis results of the last build over to pages that are fetched again.
//!
//! Until the next build, such a page keeps its link features and anchors, and stays in its duplicate group if its text
//! is unchanged.

use std::path::PathBuf;

use pharos_graph::relations::{PageRelations, RelationsLookup};
use pharos_index::{IndexDocument, LinkFigures};
use tracing::warn;

use crate::build::link_analysis::{carried_features, document_anchors};

/// The newest link-analysis results, looked up page by page. They can be replaced or missing at any time.
pub(crate) struct CarryOver {
    folder: PathBuf,
    lookup: Option<RelationsLookup>,
}

impl CarryOver {
    pub(crate) fn open(folder: PathBuf) -> Self {
        Self { folder, lookup: None }
    }

    /// Reopens the results if a newer build exists.
    pub(crate) fn refresh(&mut self) {
        if self.lookup.as_ref().is_some_and(|lookup| lookup.is_newest(&self.folder)) {
            return;
        }
        self.lookup = RelationsLookup::open(&self.folder).unwrap_or_else(|error| {
            warn!(%error, "cannot read the link-analysis results of the last build");
            None
        });
    }

    /// Adds carried-over data to a page that was fetched again.
    ///
    /// `text` is the hash of its text, `before` its features in the index.
    pub(crate) fn complete(&mut self, document: &mut IndexDocument, text: u64, before: Option<LinkFigures>) {
        document.link_figures = carried_features(&document.url, before);
        let Some(previous) = self.look_up(document) else { return };
        document.anchors.extend(document_anchors(previous.anchors));
        // For a changed page, only its signature decides which duplicate group it joins.
        document.group = (text != 0 && text == previous.text_hash).then_some(previous.group);
    }

    fn look_up(&mut self, document: &IndexDocument) -> Option<PageRelations> {
        let found = self.lookup.as_ref()?.page(document.url.id());
        found.unwrap_or_else(|error| {
            warn!(%error, "cannot read the link-analysis results of the last build");
            self.lookup = None;
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::{LibraryPositions, PageUrl, Timestamp};
    use pharos_graph::relations::{PageContent, RelationsBuilder, RelationsOptions};

    use super::*;

    fn url(address: &str) -> PageUrl {
        PageUrl::parse(&format!("http://{address}")).unwrap()
    }

    #[test]
    fn a_page_that_says_the_same_stays_in_its_group_and_any_keeps_its_anchors() {
        let folder = tempfile::tempdir().unwrap();
        let mut carry = CarryOver::open(folder.path().to_owned());
        let complete = |carry: &mut CarryOver, text: u64| {
            carry.refresh();
            let mut document = IndexDocument::new(url("copy.example/a/b/lamps"));
            let before = LinkFigures { in_degree: 7, directory_depth: 9, ..LinkFigures::default() };
            carry.complete(&mut document, text, Some(before));
            document
        };
        assert_eq!(complete(&mut carry, 2).group, None, "nothing is built yet");

        let mut builder = RelationsBuilder::begin(folder.path(), RelationsOptions::default()).unwrap();
        let body: String = (0..60).map(|n| format!("keeper {n} lit lamp {} ", n * 7)).collect();
        let words = |address: &str, seen: i64| PageContent {
            url: url(address),
            first_seen: Timestamp::from_millis(seen),
            published: None,
            title: "Lamps".into(),
            body: body.clone(),
            hash: 2,
            display_hash: 0,
            layout: 0,
            canonical: None,
        };
        builder.add_texts(vec![words("first.example/lamps", 1), words("copy.example/a/b/lamps", 2)]).unwrap();
        builder.add_link(&url("c.example/"), &url("copy.example/a/b/lamps"), "where keepers sleep").unwrap();
        builder.finish(LibraryPositions::START, 0).unwrap();

        let same = complete(&mut carry, 2);
        assert_eq!(same.group, Some(url("first.example/lamps").id()));
        assert!(same.anchors.iter().any(|anchor| anchor.text == "where keepers sleep"), "{:?}", same.anchors);
        // The features it received as a copy are kept; its depth is its own.
        assert_eq!((same.link_figures.in_degree, same.link_figures.directory_depth), (7, 3));
        let changed = complete(&mut carry, 4);
        assert_eq!((changed.group, changed.anchors), (None, same.anchors));
    }
}
