//! The original text: lines in reading order, grouped by kind, with the reasons for their classification.

use pharos_core::PageObject;
use pharos_html::CleaningExplanation;
use pharos_html::cleaning::{BlockKind, LineExplanation};
use serde_json::json;

use super::facts::shorten;
use crate::messages::{Messages, fill, grouped};

/// Maximum number of lines shown, and maximum bytes of their text.
const MAX_LINES: usize = 2_000;
const MAX_BYTES: usize = 1 << 20;

/// Number of lines per block whose reasons are shown.
const MAX_EXPLAINED: usize = 6;

/// Characters of a line shown to identify it.
const BEGINNING_LENGTH: usize = 40;

/// Features of a line that can be understood without the others.
const SHOWN_FEATURES: [&str; 7] =
    ["terms", "link_share", "stops", "in_title", "block_prose", "candidate_levels", "repeats"];

/// Maximum distance in levels at which a named element counts.
const MAX_LEVELS: f32 = 3.0;

/// Kinds of blocks in the order of the legend and of the colours in `clean.css`; those that are kept come first.
const KINDS: [BlockKind; 8] = [
    BlockKind::Body,
    BlockKind::Related,
    BlockKind::Navigation,
    BlockKind::Advertisement,
    BlockKind::Copyright,
    BlockKind::Form,
    BlockKind::Comment,
    BlockKind::Other,
];

/// CSS classes of the kinds. Descriptive names would be hidden by the filter lists of ad blockers.
const CLASSES: [&str; KINDS.len()] = ["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"];

/// The lines of a page as shown.
pub(super) struct OriginalText {
    pub(super) blocks: Vec<BlockView>,
    pub(super) legend: Vec<LegendGroup>,
    /// Note that not all lines are shown.
    pub(super) truncated: Option<String>,
}

/// Consecutive lines of one kind.
pub(super) struct BlockView {
    pub(super) class: &'static str,
    pub(super) name: &'static str,
    /// HTML id of the first block of each kind, target of the legend.
    pub(super) id: Option<&'static str>,
    pub(super) lines: Vec<LineView>,
    pub(super) why: Vec<LineReason>,
    /// Note that further lines are not explained.
    pub(super) more: Option<String>,
}

/// A line.
pub(super) struct LineView {
    pub(super) text: String,
    /// Score, and contributions of the most important rules.
    pub(super) rules: String,
}

/// The reasons for the classification of a line.
pub(super) struct LineReason {
    pub(super) score: String,
    pub(super) beginning: String,
    pub(super) rules: String,
    /// Values of the features.
    pub(super) features: String,
}

/// The kinds that are kept, or those that are removed.
pub(super) struct LegendGroup {
    pub(super) name: &'static str,
    pub(super) entries: Vec<LegendEntry>,
}

/// A kind, its colour and its number of lines.
pub(super) struct LegendEntry {
    pub(super) class: &'static str,
    pub(super) name: &'static str,
    pub(super) count: String,
    /// Id of the first block of that kind, if it is shown.
    pub(super) target: Option<&'static str>,
}

impl OriginalText {
    /// Builds the view from the explanation, or without one from the blocks of the page object.
    pub(super) fn new(
        messages: &'static Messages,
        page: &PageObject,
        explanation: Option<CleaningExplanation>,
    ) -> Self {
        let mut writer = BlockWriter::new(messages);
        match explanation {
            Some(explained) => {
                for line in &explained.lines {
                    writer.write(line.kind, &line.text, Some(line));
                }
            }
            None => {
                for block in &page.blocks {
                    let is_named = |kind: &BlockKind| json!(kind) == block["kind"];
                    let kind = KINDS.into_iter().find(is_named);
                    for line in block["text"].as_str().unwrap_or_default().lines() {
                        writer.write(kind.unwrap_or(BlockKind::Other), line, None);
                    }
                }
            }
        }
        writer.finish()
    }
}

struct BlockWriter {
    messages: &'static Messages,
    blocks: Vec<BlockView>,
    /// Number of lines of each kind, and whether a block of the kind is shown.
    counts: [(u64, bool); KINDS.len()],
    shown: usize,
    bytes: usize,
}

impl BlockWriter {
    fn new(messages: &'static Messages) -> Self {
        Self { messages, blocks: Vec::new(), counts: Default::default(), shown: 0, bytes: 0 }
    }

    fn write(&mut self, kind: BlockKind, text: &str, explained: Option<&LineExplanation>) {
        let (count, is_shown) = &mut self.counts[number(kind)];
        *count += 1;
        if self.shown >= MAX_LINES || self.bytes >= MAX_BYTES {
            return;
        }
        let class = class(kind);
        if self.blocks.last().is_none_or(|block| block.class != class) {
            let id = (!*is_shown).then_some(class);
            let name = name(kind, self.messages);
            self.blocks.push(BlockView { class, name, id, lines: Vec::new(), why: Vec::new(), more: None });
        }
        *is_shown = true;
        let Some(block) = self.blocks.last_mut() else { return };
        let end = text.floor_char_boundary(MAX_BYTES - self.bytes);
        let dots = if end < text.len() { "…" } else { "" };
        let rules = explained.map(|line| rules(line, self.messages)).unwrap_or_default();
        if let Some(line) = explained.filter(|_| block.why.len() < MAX_EXPLAINED) {
            block.why.push(LineReason {
                score: signed(line.score),
                beginning: shorten(text, BEGINNING_LENGTH),
                rules: rules.clone(),
                features: features_text(line),
            });
        }
        let rules = explained.map(|line| format!("{} · {rules}", signed(line.score))).unwrap_or_default();
        block.lines.push(LineView { text: format!("{}{dots}", &text[..end]), rules });
        self.shown += 1;
        self.bytes += end;
    }

    fn finish(mut self) -> OriginalText {
        for block in &mut self.blocks {
            let rest = block.lines.len() - block.why.len();
            let is_told = !block.why.is_empty() && rest > 0;
            block.more = is_told.then(|| fill(self.messages.why_more, &[&grouped(rest as u64)]));
        }
        let all: u64 = self.counts.iter().map(|(count, _)| count).sum();
        let truncated = (all > self.shown as u64).then(|| {
            fill(self.messages.clean_lines_truncated, &[&grouped(self.shown as u64), &grouped(all)])
        });
        let group = |name, is_kept| {
            let kinds = KINDS.into_iter().filter(|kind| kind.noise().is_none() == is_kept);
            let entries = kinds.filter_map(|kind| {
                let (count, is_shown) = self.counts[number(kind)];
                let target = is_shown.then_some(class(kind));
                (count > 0).then(|| LegendEntry {
                    class: class(kind),
                    name: self::name(kind, self.messages),
                    count: grouped(count),
                    target,
                })
            });
            LegendGroup { name, entries: entries.collect() }
        };
        let legend = [group(self.messages.clean_kept, true), group(self.messages.clean_removed, false)];
        let legend = legend.into_iter().filter(|group| !group.entries.is_empty()).collect();
        OriginalText { blocks: self.blocks, legend, truncated }
    }
}

fn rules(line: &LineExplanation, messages: &Messages) -> String {
    // Rules are numbered from 1, as in the rule file.
    let parts = line
        .reasons
        .iter()
        .map(|(rule, score)| fill(messages.why_rule, &[&(rule + 1).to_string(), &signed(*score)]));
    parts.collect::<Vec<_>>().join(", ")
}

/// Formats features: `terms 12, link_share 0.5, name.navigation 1`.
fn features_text(line: &LineExplanation) -> String {
    let plain = SHOWN_FEATURES.iter().filter_map(|name| Some((*name, *line.features.get(*name)?)));
    let near = line.features.iter().filter(|(name, value)| {
        (name.starts_with("name.") && **value < MAX_LEVELS) || (name.starts_with("phrase.") && **value > 0.0)
    });
    let near = near.map(|(name, value)| (name.as_str(), *value));
    let parts = plain.chain(near).map(|(name, value)| format!("{name} {}", (value * 100.0).round() / 100.0));
    parts.collect::<Vec<_>>().join(", ")
}

/// Formats a number with sign and two decimals.
pub(super) fn signed(number: f32) -> String {
    format!("{number:+.2}").replace('-', "−")
}

fn number(kind: BlockKind) -> usize {
    KINDS.iter().position(|known| *known == kind).unwrap_or(KINDS.len() - 1)
}

fn class(kind: BlockKind) -> &'static str {
    CLASSES[number(kind)]
}

fn name(kind: BlockKind, messages: &Messages) -> &'static str {
    match kind {
        BlockKind::Body => messages.kind_body,
        BlockKind::Related => messages.kind_related,
        BlockKind::Navigation => messages.kind_navigation,
        BlockKind::Advertisement => messages.kind_advertisement,
        BlockKind::Copyright => messages.kind_copyright,
        BlockKind::Form => messages.kind_form,
        BlockKind::Comment => messages.kind_comment,
        BlockKind::Other => messages.kind_other,
    }
}
