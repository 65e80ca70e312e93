//! Puts the categories of a page into its index document.

use pharos_index::IndexDocument;
use pharos_learn::categories::{AssignedCategory, CategoryStore, PageClassifier};
use pharos_store::DataDir;
use tracing::warn;
use xxhash_rust::xxh3::xxh3_64;

/// Ids of the categories of a page, ready for its index document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageCategories {
    /// The most probable category; empty if there is none.
    pub(crate) best: String,
    /// Its confidence in percent.
    pub(crate) confidence: u8,
    /// The other ones, and those above.
    pub(crate) broader: Vec<String>,
}

impl PageCategories {
    /// Collects the categories of a page and those above them.
    pub(crate) fn new(assigned: &[AssignedCategory], classifier: &PageClassifier) -> Self {
        let Some(best) = assigned.first() else { return Self::default() };
        let mut broader: Vec<String> = Vec::new();
        for id in assigned.iter().flat_map(|category| classifier.path(&category.id)) {
            if id != best.id && !broader.contains(&id) {
                broader.push(id);
            }
        }
        let confidence = (best.confidence * 100.0).round().clamp(1.0, 100.0) as u8;
        Self { best: best.id.clone(), confidence, broader }
    }

    /// Sets the categories of a document.
    pub(crate) fn write_to(self, document: &mut IndexDocument) {
        document.category = self.best;
        document.category_confidence = self.confidence;
        document.broader_categories = self.broader;
    }
}

/// Loads the deployed model for a build. Without a usable model, pages have no categories.
pub(crate) fn classifier_for_build(data: &DataDir) -> Option<PageClassifier> {
    CategoryStore::at(&data.models()).classifier().unwrap_or_else(|error| {
        warn!(%error, "pages get no categories in this build");
        None
    })
}

/// Returns a fingerprint of everything that decides about the categories of pages.
pub(crate) fn fingerprint(data: &DataDir) -> String {
    let files = CategoryStore::at(&data.models()).watched_files();
    // The edited taxonomy, the last file, affects names only.
    let contents = files[..2].iter().map(|path| std::fs::read(path).unwrap_or_default());
    format!("{:016x}", xxh3_64(&contents.collect::<Vec<_>>().join(&0)))
}

#[cfg(test)]
mod tests {
    use pharos_core::PageUrl;
    use pharos_learn::categories::training::{TrainingSettings, train};
    use pharos_learn::categories::{AssignedBy, CategoryDecisions};
    use pharos_learn::classify::taxonomy::Taxonomy;

    use super::*;

    #[test]
    fn a_document_has_its_category_and_those_above() {
        let taxonomy =
            Taxonomy::parse("id,parent,en\nscience,,Science\nphysics,science,Physics\narts,,Arts\n").unwrap();
        let texts = [("quantum", "physics"), ("music", "arts")].map(|(t, c)| (t.to_string(), c.to_string()));
        let (model, card) = train(&texts, &taxonomy, &TrainingSettings::default(), "now").unwrap();
        let classifier = PageClassifier::new(card, model, taxonomy, &CategoryDecisions::default());
        let assigned =
            |id: &str, confidence| AssignedCategory { id: id.into(), confidence, by: AssignedBy::Model };
        let mut document = IndexDocument::new(PageUrl::parse("http://a.example/").unwrap());
        let categories =
            PageCategories::new(&[assigned("physics", 0.876), assigned("arts", 0.6)], &classifier);
        categories.write_to(&mut document);
        assert_eq!((document.category.as_str(), document.category_confidence), ("physics", 88));
        assert_eq!(document.broader_categories, ["science", "arts"]);
        assert_eq!(PageCategories::new(&[], &classifier), PageCategories::default());
    }
}
