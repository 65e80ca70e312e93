//! What a block is: three shapes, seven kinds, four classes of noise.

use serde::Serialize;

use super::{Clean, LINK_BLOCK, TERMS_PER_PICTURE};
use crate::blocks::Line;
use crate::voting::RuleSet;

/// What a block is made of (文本块、链接块、图片块).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Text.
    Text,
    /// Links.
    Link,
    /// Pictures.
    Image,
}

/// What a block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    /// What the page is about (正文).
    Body,
    /// Links to pages on the same subject (相关链接).
    Related,
    /// Links through the site (导航).
    Navigation,
    /// Advertisement (广告).
    Advertisement,
    /// Copyright, imprint, licences of the site (版权).
    Copyright,
    /// Something to fill in.
    Form,
    /// What readers wrote, where it is not the subject.
    Comment,
    /// Anything else: dates, names, captions, what has no place.
    Other,
}

/// The four classes of noise (噪音) that a page is freed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Noise {
    /// Links for moving about the site (导航类).
    Navigation,
    /// Pictures, logos, advertisement (修饰类).
    Decoration,
    /// Forms, search boxes, votes, comments (交互类).
    Interaction,
    /// Copyright, author, dates and the rest (其它类).
    Other,
}

impl BlockKind {
    /// The class of noise it belongs to; the body and its related links are none.
    pub fn noise(self) -> Option<Noise> {
        match self {
            BlockKind::Body | BlockKind::Related => None,
            BlockKind::Navigation => Some(Noise::Navigation),
            BlockKind::Advertisement => Some(Noise::Decoration),
            BlockKind::Form | BlockKind::Comment => Some(Noise::Interaction),
            BlockKind::Copyright | BlockKind::Other => Some(Noise::Other),
        }
    }
}

/// Shape by the books' two thresholds: terms a picture, then the share of linked text.
///
/// The source prints "smaller" for the second one once; its own formula means greater (HTML_DocView, 7.3).
pub(crate) fn shape(terms: f32, images: u32, link_share: f32) -> Shape {
    if images > 0 && terms < TERMS_PER_PICTURE * images as f32 {
        Shape::Image
    } else if link_share > LINK_BLOCK {
        Shape::Link
    } else {
        Shape::Text
    }
}

impl Clean {
    /// The shape of a line's block.
    pub(crate) fn shape(&self, line: &Line) -> Shape {
        shape(line.measure.terms(), line.counts.images, line.counts.link_share())
    }

    /// What a line is for; [`BlockKind::Related`] is told apart from navigation elsewhere.
    pub(crate) fn kind(&self, number: usize, rules: &RuleSet) -> BlockKind {
        if self.is_body(number) {
            return BlockKind::Body;
        }
        let (Some(line), Some(features)) = (self.blocks.lines.get(number), self.votes.features.get(number))
        else {
            return BlockKind::Other;
        };
        /// A name further up than this many levels says little.
        const NEAR: f32 = 3.0;
        let position = |list: &[String], kind: &str| list.iter().position(|known| known == kind);
        let named = |kind| position(&rules.kinds.names, kind).is_some_and(|k| features.names[k] < NEAR);
        // The words of its title are what the page is about, and no label.
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
        } else if features.link_share > LINK_BLOCK || features.wider_link_share > LINK_BLOCK {
            BlockKind::Navigation
        } else {
            BlockKind::Other
        }
    }
}
