//! Classification of blocks: three shapes, eight kinds, four classes of noise.

use serde::Serialize;

use super::{CleanedPage, LINK_BLOCK_SHARE, TERMS_PER_PICTURE};
use crate::blocks::BlockLine;
use crate::cleaning::voting::RuleSet;

/// Predominant content of a block (文本块、链接块、图片块).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockShape {
    Text,
    Link,
    Image,
}

/// Purpose of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    /// The subject of the page (正文).
    Body,
    /// Links to pages on the same subject (相关链接).
    Related,
    /// Links for moving within the site (导航).
    Navigation,
    /// 广告.
    Advertisement,
    /// Copyright notice, imprint and licences of the site (版权).
    Copyright,
    Form,
    /// Reader comments that are not the subject of the page.
    Comment,
    /// Everything else, such as dates, names and captions.
    Other,
}

/// The four classes of noise (噪音) removed from a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoiseClass {
    /// Links for moving within the site (导航类).
    Navigation,
    /// Pictures, logos and advertisements (修饰类).
    Decoration,
    /// Forms, search boxes, polls and comments (交互类).
    Interaction,
    /// Copyright, author, dates and the rest (其它类).
    Other,
}

impl BlockKind {
    /// Returns the class of noise; `None` for the body and its related links.
    pub fn noise(self) -> Option<NoiseClass> {
        match self {
            BlockKind::Body | BlockKind::Related => None,
            BlockKind::Navigation => Some(NoiseClass::Navigation),
            BlockKind::Advertisement => Some(NoiseClass::Decoration),
            BlockKind::Form | BlockKind::Comment => Some(NoiseClass::Interaction),
            BlockKind::Copyright | BlockKind::Other => Some(NoiseClass::Other),
        }
    }
}

/// Determines the shape by two thresholds: terms per picture, then the share of linked text.
///
/// Source: HTML_DocView, 《搜索引擎——原理、技术与系统》§7.1. The text of the book once says "smaller" for the second threshold;
/// its own formula means greater.
pub(crate) fn shape(terms: f32, images: u32, link_share: f32) -> BlockShape {
    if images > 0 && terms < TERMS_PER_PICTURE * images as f32 {
        BlockShape::Image
    } else if link_share > LINK_BLOCK_SHARE {
        BlockShape::Link
    } else {
        BlockShape::Text
    }
}

impl CleanedPage {
    /// Returns the shape of a line's block.
    pub(crate) fn shape(&self, line: &BlockLine) -> BlockShape {
        shape(line.measure.terms(), line.counts.images, line.counts.link_share())
    }

    /// Returns the kind of a line. [`BlockKind::Related`] is distinguished from navigation elsewhere.
    pub(crate) fn kind(&self, number: usize, rules: &RuleSet) -> BlockKind {
        if self.is_body(number) {
            return BlockKind::Body;
        }
        let (Some(line), Some(features)) =
            (self.blocks.lines.get(number), self.line_scores.features.get(number))
        else {
            return BlockKind::Other;
        };
        /// Names more levels up than this carry little information.
        const NEAR: f32 = 3.0;
        let position = |list: &[String], kind: &str| list.iter().position(|known| known == kind);
        let named = |kind| position(&rules.kinds.names, kind).is_some_and(|k| features.names[k] < NEAR);
        // Words of the title are the subject of the page and not a label.
        let is_title = features.in_title > 0.5;
        let says = |kind| {
            !is_title && position(&rules.kinds.phrases, kind).is_some_and(|k| features.phrases[k] > 0.0)
        };
        if says("copyright") || features.cookie_words > 0.0 {
            BlockKind::Copyright
        } else if named("advertisement") || says("advertisement") {
            BlockKind::Advertisement
        } else if named("comment") || says("comment") {
            BlockKind::Comment
        } else if line.counts.fields > 0 || line.counts.control_chars > line.counts.chars / 2 || named("form")
        {
            BlockKind::Form
        } else if features.link_share > LINK_BLOCK_SHARE || features.wider_link_share > LINK_BLOCK_SHARE {
            BlockKind::Navigation
        } else {
            BlockKind::Other
        }
    }
}
