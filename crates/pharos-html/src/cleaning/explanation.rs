//! Explanation of the cleaning of a page, line by line.

use std::collections::BTreeMap;

use pharos_core::PageType;
use pharos_core::work::spend_work;
use serde::Serialize;

use super::{BlockKind, BlockShape, CleanedPage, NoiseClass, PageGenre};
use crate::cleaning::voting::RuleSet;
use crate::dom::Dom;

/// Maximum number of rules reported for each line.
const MAX_REASONS: usize = 5;

/// Maximum number of lines reported with all their features, since features take much space.
const MAX_EXPLAINED_LINES: usize = 10_000;

/// Explanation of how each line of a page was classified.
#[derive(Clone, Debug, Serialize)]
pub struct CleaningExplanation {
    /// Page type determined by the central region.
    #[serde(rename = "type")]
    pub page_type: PageType,
    /// Genre of the page, which the rules for lines use.
    pub genre: PageGenre,
    /// Number of HTML parse errors.
    pub html_errors: u32,
    /// Minimum score of a body line.
    pub threshold: f32,
    /// Lines in reading order.
    pub lines: Vec<LineExplanation>,
}

/// Explanation of the classification of one line.
#[derive(Clone, Debug, Serialize)]
pub struct LineExplanation {
    pub text: String,
    pub kind: BlockKind,
    pub shape: BlockShape,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseClass>,
    /// Sum of the scores of all rules.
    pub score: f32,
    /// Rules with the greatest effect: number in the rule file and score.
    pub reasons: Vec<(usize, f32)>,
    /// Feature values by name, without those that are 0. Empty beyond the first 10,000 lines.
    pub features: BTreeMap<String, f32>,
}

impl CleanedPage {
    /// Explains the classification of every line.
    pub(crate) fn explain(&self, dom: &Dom, rules: &RuleSet) -> CleaningExplanation {
        let related = self.related_lines();
        let names = rules.feature_names();
        let lines = self.blocks.lines.iter().zip(&self.line_scores.features).enumerate();
        let lines = lines.map(|(number, (line, features))| {
            spend_work(64);
            let kind = self.kind(number, rules).or_related(related[number]);
            let mut reasons = rules.reasons(features);
            reasons.truncate(MAX_REASONS);
            let values = features.values();
            let nonzero =
                names.iter().zip(values).filter(|(_, value)| *value != 0.0 && number < MAX_EXPLAINED_LINES);
            LineExplanation {
                text: self.blocks.text_of(line).to_string(),
                kind,
                shape: self.shape(line),
                noise: kind.noise(),
                score: self.line_scores.scores[number],
                reasons,
                features: nonzero.map(|(name, value)| (name.clone(), value)).collect(),
            }
        });
        CleaningExplanation {
            page_type: self.page_type,
            genre: self.line_scores.genre,
            html_errors: dom.errors,
            threshold: self.line_scores.threshold,
            lines: lines.collect(),
        }
    }

    /// Returns the blocks in the form of the page object: consecutive lines of the same kind and shape.
    pub(crate) fn block_objects(&self, related: &[bool], rules: &RuleSet) -> Vec<serde_json::Value> {
        #[derive(Serialize)]
        struct BlockRecord {
            kind: BlockKind,
            shape: BlockShape,
            #[serde(skip_serializing_if = "Option::is_none")]
            noise: Option<NoiseClass>,
            terms: f32,
            links: u32,
            images: u32,
            text: String,
        }
        let mut blocks: Vec<BlockRecord> = Vec::new();
        for (number, line) in self.blocks.lines.iter().enumerate() {
            let kind = self.kind(number, rules).or_related(related[number]);
            let shape = self.shape(line);
            let (terms, text) = (line.measure.terms(), self.blocks.text_of(line));
            match blocks.last_mut() {
                Some(block) if block.kind == kind && block.shape == shape => {
                    block.terms += terms;
                    block.links += line.counts.links;
                    block.images += line.counts.images;
                    block.text.push('\n');
                    block.text.push_str(text);
                }
                _ => blocks.push(BlockRecord {
                    kind,
                    shape,
                    noise: kind.noise(),
                    terms,
                    links: line.counts.links,
                    images: line.counts.images,
                    text: text.to_string(),
                }),
            }
        }
        blocks.iter().filter_map(|block| serde_json::to_value(block).ok()).collect()
    }
}
