//! Prose lines of a page, and the block that most likely contains the body.

use std::ops::Range;

use crate::blocks::{BlockLine, Blocks, ElementKind};

/// Kinds of names with a special role, one bit for each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameRoles {
    /// Kinds that are meaningful even on blocks that contain nearly the whole page.
    pub(crate) holding_body: u32,
    /// Kinds of blocks that are never body, regardless of their prose.
    pub(crate) never_body: u32,
    /// Index of the kind of phrases that comments contain.
    pub(crate) reply_phrases: usize,
}

/// Returns `true` for a long line with few links and with punctuation.
fn is_prose(line: &BlockLine) -> bool {
    line.measure.terms() >= 12.0
        && line.counts.link_share() < 0.33
        && line.measure.commas + line.measure.stops > 0
}

/// Determines the prose lines. Lines in blocks that are never body do not count. Lines in asides and footers count
/// only if there is hardly any other prose.
pub(super) fn prose_lines(blocks: &Blocks, names: NameRoles) -> Vec<bool> {
    /// A name on a block with more than this share of the page's terms belongs to the page itself.
    const WHOLE_PAGE: f32 = 0.95;
    /// Number of prose terms sufficient for a body.
    const ENOUGH: f32 = 100.0;
    let most = WHOLE_PAGE * blocks.containers[0].terms;
    let (mut never, mut beside) = (Vec::with_capacity(blocks.containers.len()), Vec::new());
    for container in &blocks.containers {
        let around = |of: &[bool]| of.get(container.parent as usize).copied().unwrap_or_default();
        let is_part = container.terms < most;
        never.push(around(&never) || (is_part && container.names & names.never_body != 0));
        let is_beside = matches!(container.tag, ElementKind::Aside | ElementKind::Nav | ElementKind::Footer);
        beside.push(around(&beside) || (is_part && is_beside));
    }
    let mut prose: Vec<bool> =
        blocks.lines.iter().map(|line| is_prose(line) && !never[line.container as usize]).collect();
    let is_beside = |line: &BlockLine| beside[line.container as usize];
    let lines = blocks.lines.iter().zip(&prose).filter(|(line, is_prose)| **is_prose && !is_beside(line));
    if lines.map(|(line, _)| line.measure.terms()).sum::<f32>() >= ENOUGH {
        for (line, is_prose) in blocks.lines.iter().zip(&mut prose) {
            *is_prose &= !is_beside(line);
        }
    }
    prose
}

/// Returns the lines of the block that most likely contains the body, by the method of Readability. Every prose
/// line gives points for its length and commas to its block, and half as many to the next larger block; the share
/// of links reduces them.
pub(super) fn candidate(blocks: &Blocks, is_prose: &[bool]) -> Range<usize> {
    let mut points = vec![0.0f32; blocks.containers.len()];
    for (line, _) in blocks.lines.iter().zip(is_prose).filter(|(_, is_prose)| **is_prose) {
        let given = 1.0 + line.measure.commas as f32 + (line.measure.terms() / 20.0).min(3.0);
        let mut at = line.container as usize;
        // A paragraph is not a candidate itself.
        if matches!(
            blocks.containers[at].tag,
            ElementKind::Paragraph | ElementKind::Item | ElementKind::Quote | ElementKind::Cell
        ) {
            at = blocks.containers[at].parent as usize;
        }
        points[at] += given;
        points[blocks.containers[at].parent as usize] += given / 2.0;
    }
    let weighed = points.iter().zip(&blocks.containers).map(|(p, c)| p * (1.0 - c.counts.link_share()));
    let best = weighed.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(number, _)| number);
    blocks.containers[best].lines()
}
