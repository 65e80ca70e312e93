//! What the last build found out of a page, carried over to the page as it is fetched again: until the next build, it is
//! still linked and called so, and still a copy of what it was a copy of if it says the same.

use std::path::PathBuf;

use pharos_graph::relations::{Known, Lookup};
use pharos_index::{Document, WebFigures};
use tracing::warn;

use crate::relate::{carried, spoken};

/// The newest relations, looked into page by page. They may be built anew at any time, or not be there.
pub(crate) struct CarryOver {
    folder: PathBuf,
    lookup: Option<Lookup>,
}

impl CarryOver {
    pub(crate) fn from(folder: PathBuf) -> Self {
        Self { folder, lookup: None }
    }

    /// Opens what was built since.
    pub(crate) fn refresh(&mut self) {
        if self.lookup.as_ref().is_some_and(|lookup| lookup.is_newest(&self.folder)) {
            return;
        }
        self.lookup = Lookup::open(&self.folder).unwrap_or_else(|error| {
            warn!(%error, "what the last build found cannot be read");
            None
        });
    }

    /// Completes a page that is fetched again. `text` is the hash of what it says, `before` what the index knew of it.
    pub(crate) fn complete(&mut self, document: &mut Document, text: u64, before: Option<WebFigures>) {
        document.web = carried(&document.url, before);
        let Some(known) = self.known(document) else { return };
        document.anchors.extend(spoken(known.anchors));
        // Of a page that says something else now, only its signature tells whose copy it is.
        document.group = (text != 0 && text == known.text).then_some(known.group);
    }

    fn known(&mut self, document: &Document) -> Option<Known> {
        let found = self.lookup.as_ref()?.page(document.url.id());
        found.unwrap_or_else(|error| {
            warn!(%error, "what the last build found cannot be read");
            self.lookup = None;
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::{LibraryPosition, PageUrl, Timestamp};
    use pharos_graph::relations::{PageWords, RelationRules, RelationsBuilder};

    use super::*;

    fn url(address: &str) -> PageUrl {
        PageUrl::parse(&format!("http://{address}")).unwrap()
    }

    #[test]
    fn a_page_that_says_the_same_stays_in_its_group_and_any_keeps_its_anchors() {
        let folder = tempfile::tempdir().unwrap();
        let mut carry = CarryOver::from(folder.path().to_owned());
        let complete = |carry: &mut CarryOver, text: u64| {
            carry.refresh();
            let mut document = Document::new(url("copy.example/a/b/lamps"));
            let before = WebFigures { in_degree: 7, directory_depth: 9, ..WebFigures::default() };
            carry.complete(&mut document, text, Some(before));
            document
        };
        assert_eq!(complete(&mut carry, 2).group, None, "nothing is built yet");

        let mut builder = RelationsBuilder::begin(folder.path(), RelationRules::default()).unwrap();
        let body: String = (0..60).map(|n| format!("keeper {n} lit lamp {} ", n * 7)).collect();
        let words = |address: &str, seen: i64| PageWords {
            url: url(address),
            first_seen: Timestamp::from_millis(seen),
            published: None,
            title: "Lamps".into(),
            body: body.clone(),
            hash: 2,
            manner: 0,
            layout: 0,
            canonical: None,
        };
        builder.texts(vec![words("first.example/lamps", 1), words("copy.example/a/b/lamps", 2)]).unwrap();
        builder.link(&url("c.example/"), &url("copy.example/a/b/lamps"), "where keepers sleep").unwrap();
        builder.finish(LibraryPosition::START, 0).unwrap();

        let same = complete(&mut carry, 2);
        assert_eq!(same.group, Some(url("first.example/lamps").id()));
        assert!(same.anchors.iter().any(|anchor| anchor.text == "where keepers sleep"), "{:?}", same.anchors);
        // What it received as a copy stays; how deep it lies is its own.
        assert_eq!((same.web.in_degree, same.web.directory_depth), (7, 3));
        let changed = complete(&mut carry, 4);
        assert_eq!((changed.group, changed.anchors), (None, same.anchors));
    }
}
