//! Lines of a page with their features, for fitting rules.

use std::ops::Range;

use super::parse_blocks;
use super::voting::RuleSet;
use super::voting::page_clues::PageClues;

/// A line of a page.
#[derive(Clone, Debug)]
pub struct TrainingLine {
    pub text: String,
    /// Values in the order of [`RuleSet::feature_names`], without the results of genre rules and the first pass.
    pub features: Vec<f32>,
    /// Lines of the innermost block and the three next larger ones.
    pub blocks: [Range<usize>; 4],
    /// Equal for lines whose blocks come from the same template.
    pub template: u64,
}

/// Returns the lines of a decoded page.
pub fn training_lines(html: &str, rules: &RuleSet) -> Vec<TrainingLine> {
    let (dom, blocks) = parse_blocks(html, rules);
    let (features, context) = rules.line_features(&blocks, &PageClues::from_dom(&dom));
    let lines = blocks.lines.iter().zip(&features).map(|(line, features)| TrainingLine {
        text: blocks.text_of(line).to_string(),
        features: features.values().to_vec(),
        blocks: context.surrounding(line).map(|container| blocks.containers[container].lines()),
        template: blocks.container_of(line).signature,
    });
    lines.collect()
}
