//! What was made of each part of a page, and why.

use std::collections::BTreeMap;

use pharos_core::PageType;
use serde::Serialize;

use super::{BlockKind, Clean, Noise, Shape};
use crate::dom::Dom;
use crate::voting::RuleSet;

/// Rules named for each line.
const MAX_REASONS: usize = 5;

/// Lines of which everything is told that the rules were told; there is much to tell.
const MAX_TOLD: usize = 10_000;

/// Why every line of a page is body or is not.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// What kind of page the central region makes it.
    #[serde(rename = "type")]
    pub page_type: PageType,
    /// How often the page breaks the rules of HTML.
    pub html_errors: u32,
    /// Sums from here on are body.
    pub threshold: f32,
    /// Every line, in reading order.
    pub lines: Vec<LineReport>,
}

/// Why a line is body or is not.
#[derive(Clone, Debug, Serialize)]
pub struct LineReport {
    /// Its text.
    pub text: String,
    /// What it is for.
    pub kind: BlockKind,
    /// What it is made of.
    pub shape: Shape,
    /// The class of noise it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// The sum of the rules' scores.
    pub score: f32,
    /// The weightiest rules: number in the file, and score.
    pub reasons: Vec<(usize, f32)>,
    /// What the rules were told, by name; what is 0 is left out, and everything far down a very long page.
    pub features: BTreeMap<String, f32>,
}

impl Clean {
    /// Why every line is body or is not.
    pub(crate) fn explain(&self, dom: &Dom, rules: &RuleSet) -> Explanation {
        let related = self.related_lines();
        let names = rules.feature_names();
        let lines = self.blocks.lines.iter().zip(&self.votes.features).enumerate();
        let lines = lines.map(|(number, (line, features))| {
            let kind = self.kind(number, rules).or_related(related[number]);
            let mut reasons = rules.reasons(features);
            reasons.truncate(MAX_REASONS);
            let values = features.values();
            let told = names.iter().zip(values).filter(|(_, value)| *value != 0.0 && number < MAX_TOLD);
            LineReport {
                text: self.blocks.text_of(line).to_string(),
                kind,
                shape: self.shape(line),
                noise: kind.noise(),
                score: self.votes.scores[number],
                reasons,
                features: told.map(|(name, value)| (name.clone(), value)).collect(),
            }
        });
        Explanation {
            page_type: self.page_type,
            html_errors: dom.errors,
            threshold: self.votes.threshold,
            lines: lines.collect(),
        }
    }

    /// The blocks as the page object has them: lines of one kind and shape that follow each other.
    pub(crate) fn block_objects(&self, related: &[bool], rules: &RuleSet) -> Vec<serde_json::Value> {
        #[derive(Serialize)]
        struct Block {
            kind: BlockKind,
            shape: Shape,
            #[serde(skip_serializing_if = "Option::is_none")]
            noise: Option<Noise>,
            terms: f32,
            links: u32,
            images: u32,
            text: String,
        }
        let mut blocks: Vec<Block> = Vec::new();
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
                _ => blocks.push(Block {
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
