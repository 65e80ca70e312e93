//! Links to pages on the same subject (相关链接).
//!
//! Strategy 1 of HTML_DocView (《搜索引擎——原理、技术与系统》§7.1): a block of links is kept if its anchors are similar enough to
//! the body; links inside the body are always kept. Strategy 2 fetches a page behind each block and compares
//! categories; it is not implemented because it needs the network.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _};

use pharos_core::{Link, LinkKind, PageUrl};
use url::Url;

use super::{BlockKind, CleanedPage, LINK_BLOCK_SHARE};
use crate::blocks::is_ideograph;
use crate::dom::Dom;
use crate::dom::visible_text::{collapse_whitespace, text_inside};

/// β: minimum cosine between the words of a block's anchors and those of the body.
const MIN_SIMILARITY: f32 = 0.15;

/// Maximum number of related links; more are a directory.
const MAX_LINKS: usize = 500;

const MAX_ANCHOR_CHARS: usize = 200;

/// Minimum length of a word in scripts with spaces; shorter words carry no subject.
const MIN_WORD_CHARS: usize = 4;

type WordBag = HashMap<u64, f32, foldhash::fast::FixedState>;

impl CleanedPage {
    /// Returns for each line whether it is outside the body and links to pages on the body's subject.
    pub(crate) fn related_lines(&self) -> Vec<bool> {
        let lines = &self.blocks.lines;
        let mut related = vec![false; lines.len()];
        let body =
            words((0..lines.len()).filter(|n| self.is_body(*n)).map(|n| self.blocks.text_of(&lines[n])));
        let is_link_line = |n: usize| !self.is_body(n) && lines[n].counts.link_share() > LINK_BLOCK_SHARE;
        let mut from = 0;
        while from < lines.len() {
            if !is_link_line(from) {
                from += 1;
                continue;
            }
            // A block of links ends where the template changes.
            let template = self.blocks.container_of(&lines[from]).signature;
            let is_same =
                |n: &usize| is_link_line(*n) && self.blocks.container_of(&lines[*n]).signature == template;
            let to = from + (from..lines.len()).take_while(is_same).count();
            let anchors = words((from..to).map(|n| self.blocks.text_of(&lines[n])));
            related[from..to].fill(cosine(&body, &anchors) > MIN_SIMILARITY);
            from = to;
        }
        related
    }

    /// Returns the links of the body and of the related blocks.
    pub(crate) fn related_links(&self, dom: &Dom, base: &Url, related: &[bool]) -> Vec<Link> {
        let is_wanted = |line: u32| {
            let line = line as usize;
            self.is_body(line) || related.get(line).copied().unwrap_or_default()
        };
        let wanted = self.blocks.links.iter().filter(|(line, _)| is_wanted(*line)).map(|(_, id)| *id);
        let links = wanted.filter_map(|id| {
            let element = dom.element(id)?;
            let href = element.attribute("href").filter(|href| !href.trim_start().starts_with('#'))?;
            Some(Link {
                url: PageUrl::join_to(base, href).ok()?,
                anchor: text_inside(dom, id, MAX_ANCHOR_CHARS),
                kind: LinkKind::Page,
                rel: collapse_whitespace(element.attribute("rel").unwrap_or_default(), MAX_ANCHOR_CHARS)
                    .to_lowercase(),
            })
        });
        links.filter(|link| !link.anchor.is_empty()).take(MAX_LINKS).collect()
    }
}

/// Counts the words of texts; in Chinese, the pairs of adjacent characters.
fn words<'a>(texts: impl Iterator<Item = &'a str>) -> WordBag {
    let state = foldhash::fast::FixedState::with_seed(0);
    let mut bag = WordBag::default();
    for text in texts {
        let mut word = state.build_hasher();
        let (mut chars, mut previous) = (0, None);
        for c in text.chars().chain([' ']) {
            if c.is_alphanumeric() && !is_ideograph(c) {
                word.write_u32(u32::from(c.to_ascii_lowercase()));
                chars += 1;
                previous = None;
                continue;
            }
            if chars >= MIN_WORD_CHARS {
                *bag.entry(word.finish()).or_default() += 1.0;
            }
            (word, chars) = (state.build_hasher(), 0);
            if is_ideograph(c) {
                if let Some(previous) = previous {
                    *bag.entry(u64::from(u32::from(previous)) << 32 | u64::from(u32::from(c)))
                        .or_default() += 1.0;
                }
                previous = Some(c);
            } else {
                previous = None;
            }
        }
    }
    bag
}

fn cosine(a: &WordBag, b: &WordBag) -> f32 {
    let length = |bag: &WordBag| bag.values().map(|n| n * n).sum::<f32>().sqrt();
    let product: f32 = b.iter().filter_map(|(word, n)| a.get(word).map(|m| m * n)).sum();
    product / (length(a) * length(b)).max(f32::MIN_POSITIVE)
}

impl BlockKind {
    /// Returns [`BlockKind::Related`] for related links outside the body.
    pub(crate) fn or_related(self, is_related: bool) -> BlockKind {
        if is_related && self != BlockKind::Body { BlockKind::Related } else { self }
    }
}
