//! Gives pages their categories, by the deployed model and the decisions of operators.

use std::collections::HashMap;

use pharos_core::{PageObject, PageUrl};
use serde::Serialize;

use super::decisions::CategoryDecisions;
use super::page_text::page_text;
use super::store::ModelCard;
use crate::classify::taxonomy::Taxonomy;
use crate::classify::{ClassifierModel, DecisiveTerm};

/// Maximum number of categories of a page, without those above them.
const MAX_PER_PAGE: usize = 3;

/// The origin of a category of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AssignedBy {
    Model,
    Operator,
}

/// A category of a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AssignedCategory {
    pub id: String,
    /// Estimated probability that the page belongs to the category; 1 if an operator decided.
    pub confidence: f32,
    pub by: AssignedBy,
}

/// A category that the model considered, with the terms that decide about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConsideredCategory {
    pub id: String,
    pub confidence: f32,
    pub terms: Vec<DecisiveTerm>,
}

/// A deployed model with its taxonomy and the decisions of operators.
pub struct PageClassifier {
    card: ModelCard,
    model: ClassifierModel,
    taxonomy: Taxonomy,
    /// Category by target.
    decisions: HashMap<String, Option<String>>,
    /// Ids from the top to the category of each class; empty if the taxonomy lacks it.
    paths: Vec<Vec<String>>,
}

impl PageClassifier {
    /// Creates a classifier. Classes that the taxonomy lacks are never assigned.
    pub fn new(
        card: ModelCard,
        model: ClassifierModel,
        taxonomy: Taxonomy,
        decisions: &CategoryDecisions,
    ) -> Self {
        let path = |class: &String| taxonomy.path(class).iter().map(|category| category.id.clone()).collect();
        let paths = model.classes().iter().map(path).collect();
        let decided = decisions.by_target().into_iter();
        let decisions =
            decided.map(|(target, category)| (target.to_string(), category.map(Into::into))).collect();
        Self { card, model, taxonomy, decisions, paths }
    }

    /// Returns version and figures of the model.
    pub fn card(&self) -> &ModelCard {
        &self.card
    }

    /// Returns the taxonomy of the model.
    pub fn taxonomy(&self) -> &Taxonomy {
        &self.taxonomy
    }

    /// Returns the categories of a page, the most probable first. Decisions about the page win over those about its site,
    /// and these over the model.
    pub fn assign(&self, url: &PageUrl, page: &PageObject) -> Vec<AssignedCategory> {
        match self.decision(url) {
            Some(None) => Vec::new(),
            Some(Some(id)) => {
                vec![AssignedCategory { id: id.to_string(), confidence: 1.0, by: AssignedBy::Operator }]
            }
            None => self.assign_text(&page_text(page)),
        }
    }

    /// Returns the decision about a page: a category, or none. Decisions that name an unknown category have no effect.
    pub fn decision(&self, url: &PageUrl) -> Option<Option<&str>> {
        if self.decisions.is_empty() {
            return None;
        }
        let site = url.site();
        let targets = [url.as_str(), site.as_str(), site.host(), site.domain()];
        let mut found = targets.into_iter().filter_map(|target| self.decisions.get(target));
        found.find_map(|category| match category {
            None => Some(None),
            Some(id) => self.taxonomy.get(id).map(|category| Some(category.id.as_str())),
        })
    }

    /// Returns the categories of a text.
    ///
    /// If pages have one category each, the confidence of a category is the sum over the classes below it. The result is
    /// the deepest category on the way of the highest sums that reaches the least confidence of the model: a page that
    /// may be about physics or chemistry is about science.
    pub fn assign_text(&self, text: &str) -> Vec<AssignedCategory> {
        let least = self.card.min_confidence;
        let by = AssignedBy::Model;
        let Some(confidences) = self.model.confidences_of(text) else { return Vec::new() };
        if self.model.separator().is_some() {
            let predictions = self.model.classify(text).into_iter();
            let known = predictions
                .filter(|prediction| prediction.confidence >= least)
                .filter_map(|prediction| Some((self.paths[prediction.class as usize].last()?, prediction)));
            return known
                .map(|(id, prediction)| AssignedCategory {
                    id: id.clone(),
                    confidence: prediction.confidence,
                    by,
                })
                .take(MAX_PER_PAGE)
                .collect();
        }
        let mut sums: HashMap<&str, f32> = HashMap::new();
        for (path, confidence) in self.paths.iter().zip(&confidences) {
            path.iter().for_each(|id| *sums.entry(id).or_default() += confidence);
        }
        let mut found: Option<(&str, f32)> = None;
        loop {
            let children = self.taxonomy.children(found.map(|(id, _)| id));
            let sums = children
                .map(|child| (child.id.as_str(), sums.get(child.id.as_str()).copied().unwrap_or_default()));
            match sums.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, sum)| *sum >= least) {
                Some(best) => found = Some(best),
                None => break,
            }
        }
        let assigned = found.map(|(id, confidence)| AssignedCategory {
            id: id.into(),
            confidence: confidence.min(1.0),
            by,
        });
        assigned.into_iter().collect()
    }

    /// Returns the `count` most probable categories of a text, each with the terms that decide about it.
    pub fn consider(&self, text: &str, count: usize) -> Vec<ConsideredCategory> {
        let confidences = self.model.confidences_of(text).unwrap_or_default();
        let mut order: Vec<usize> = (0..confidences.len()).collect();
        order.sort_by(|a, b| confidences[*b].total_cmp(&confidences[*a]));
        let considered = |class: usize| ConsideredCategory {
            id: self.model.classes()[class].clone(),
            confidence: confidences[class],
            terms: self.model.decisive_terms(text, class as u32, 8),
        };
        order.into_iter().take(count).map(considered).collect()
    }

    /// Returns a category and those above it, from the top.
    pub fn path(&self, id: &str) -> Vec<String> {
        self.taxonomy.path(id).iter().map(|category| category.id.clone()).collect()
    }
}

#[cfg(test)]
mod tests;
