//! Builds [`Blocks`] from a DOM in one walk.

use std::collections::HashMap;
use std::hash::BuildHasher as _;

use foldhash::fast::FixedState;

use super::{BlockLine, Blocks, Container, ContentCounts, ElementKind, emphasis, measure};
use crate::cleaning::voting::word_finder::WordFinder;
use crate::dom::visible_text::{TextCollapser, is_hidden, text_inside};
use crate::dom::{Dom, Element, NodeData, NodeId, WalkStep};
use crate::metadata::nosnippet::{MAX_PARTS, is_unquotable};

/// Limits on lines and containers. Content beyond them is ignored, so memory stays bounded for any page.
const MAX_LINES: usize = 50_000;
const MAX_CONTAINERS: usize = 100_000;

impl Blocks {
    /// Builds the blocks of a page. `names` recognises the meaning of classes and ids.
    pub(crate) fn build(dom: &Dom, names: &WordFinder) -> Blocks {
        Self::build_from(BlocksBuilder::new(dom, names, false))
    }

    /// Builds the blocks of a page including elements that stay hidden until a script shows them.
    pub(crate) fn build_with_hidden(dom: &Dom, names: &WordFinder) -> Blocks {
        Self::build_from(BlocksBuilder::new(dom, names, true))
    }

    fn build_from(mut builder: BlocksBuilder) -> Blocks {
        let dom = builder.dom;
        let mut walk = dom.walk(dom.root());
        let mut skipped = None;
        while let Some(step) = walk.next() {
            match step {
                WalkStep::Enter(id) => match dom.data(id) {
                    NodeData::Text(text) => builder.text(id, text),
                    NodeData::Element(element) => {
                        if !builder.enter(id, element) {
                            skipped = Some(id);
                            walk.skip_contents(id);
                        }
                    }
                    NodeData::Other => {}
                },
                // A skipped element was never entered, so it is not left either.
                WalkStep::Leave(id) if skipped == Some(id) => {}
                WalkStep::Leave(id) => {
                    if let Some(element) = dom.element(id) {
                        builder.leave(id, element);
                    }
                }
            }
        }
        builder.finish()
    }
}

/// Classes of line-number gutters and of links from a heading to itself, as written by Pygments, Rouge, highlight.js,
/// Sphinx, Hexo, Hugo and AnchorJS.
const DECORATION_CLASSES: [&str; 14] = [
    "anchorjs-link",
    "gutter",
    "headerlink",
    "heading-anchor",
    "hljs-ln-numbers",
    "line-number",
    "line-numbers",
    "line-numbers-rows",
    "linenodiv",
    "lineno",
    "linenos",
    "linenumber",
    "lnt",
    "rouge-gutter",
];

/// Returns `true` for a line-number gutter, and for a link within the page that consists of a mark such as `¶` or `#`.
fn is_decoration(dom: &Dom, id: NodeId, element: &Element) -> bool {
    const MAX_CHARS: usize = 200;
    let is_mark = element.tag() == "a" && element.attribute("href").is_some_and(|href| href.starts_with('#'));
    let class = element.attribute("class").unwrap_or_default();
    let is_named = class.split_ascii_whitespace().any(|name| DECORATION_CLASSES.contains(&name));
    if !is_mark && !is_named {
        return false;
    }
    let text = text_inside(dom, id, MAX_CHARS);
    !text.is_empty() && !text.chars().any(|c| c.is_alphabetic() || (is_mark && c.is_numeric()))
}

struct BlocksBuilder<'a> {
    dom: &'a Dom,
    names: &'a WordFinder,
    shows_hidden: bool,
    blocks: Blocks,
    text: TextCollapser,
    /// Counts since the end of the last line.
    counts: ContentCounts,
    line_start: usize,
    next_joins: bool,
    /// Enclosing containers, innermost last.
    open: Vec<u32>,
    open_links: u32,
    open_strong: u32,
    open_controls: u32,
    open_pre: u32,
    open_unquotable: u32,
    hasher: FixedState,
    /// Name kinds of the classes seen so far, by class hash.
    class_names: HashMap<u64, u32, FixedState>,
}

impl<'a> BlocksBuilder<'a> {
    fn new(dom: &'a Dom, names: &'a WordFinder, shows_hidden: bool) -> Self {
        let mut builder = BlocksBuilder {
            dom,
            names,
            shows_hidden,
            blocks: Blocks::default(),
            text: TextCollapser::unbounded(),
            counts: ContentCounts::default(),
            line_start: 0,
            next_joins: false,
            open: Vec::new(),
            open_links: 0,
            open_strong: 0,
            open_controls: 0,
            open_pre: 0,
            open_unquotable: 0,
            hasher: FixedState::with_seed(0),
            class_names: HashMap::default(),
        };
        builder.push_container(dom.root(), ElementKind::Plain, 0, 0);
        builder
    }

    fn text(&mut self, id: NodeId, text: &str) {
        let (before, start) = (self.text.chars, self.text.text.len());
        if self.open_pre > 0 {
            self.text.push_lines(text);
        } else {
            self.text.push(text);
        }
        let chars = u32::try_from(self.text.chars - before).unwrap_or(u32::MAX);
        self.blocks.texts.push((self.blocks.lines.len() as u32, id));
        self.counts.chars += chars;
        if self.open_links > 0 {
            self.counts.link_chars += chars;
        }
        if self.open_strong > 0 {
            self.counts.strong_chars += chars;
        }
        if self.open_controls > 0 {
            self.counts.control_chars += chars;
        }
        if self.open_unquotable > 0 {
            self.unquotable_from(start);
        }
    }

    /// Marks the text from `start` on as unquotable, without its leading whitespace.
    fn unquotable_from(&mut self, start: usize) {
        let end = self.text.text.len();
        let parts = &mut self.blocks.unquotable;
        let is_full = parts.len() >= MAX_PARTS;
        match parts.last_mut() {
            Some(last) if last.end == start || is_full => last.end = end,
            _ => {
                let words = self.text.text[start..].trim_start();
                if !words.is_empty() {
                    parts.push(end - words.len()..end);
                }
            }
        }
    }

    /// Enters an element. Returns `false` if its contents must be skipped.
    fn enter(&mut self, id: NodeId, element: &Element) -> bool {
        let tag = ElementKind::from_element(element);
        if tag == ElementKind::Invisible && self.dom.shows_noscript(element) {
            return true;
        }
        if tag == ElementKind::Invisible || (!self.shows_hidden && is_hidden(element)) {
            return false;
        }
        if is_decoration(self.dom, id, element) {
            return false;
        }
        self.open_unquotable += u32::from(is_unquotable(element));
        match tag {
            ElementKind::Break => {
                self.end_line(false);
                self.counts.paragraphs += 1;
            }
            ElementKind::Rule => self.end_line(false),
            ElementKind::Link => {
                self.open_links += 1;
                self.counts.links += 1;
                self.blocks.links.push((self.blocks.lines.len() as u32, id));
            }
            ElementKind::Picture => self.counts.images += 1,
            ElementKind::Strong => self.open_strong += 1,
            ElementKind::Control => self.open_controls += 1,
            ElementKind::Field => self.counts.fields += 1,
            ElementKind::Inline | ElementKind::Invisible => {}
            _ => self.open_container(id, tag, element),
        }
        let factor = emphasis(element);
        if factor > 0.0 {
            self.blocks.emphasised.push((self.blocks.lines.len() as u32, id, factor));
        }
        true
    }

    fn leave(&mut self, id: NodeId, element: &Element) {
        let tag = ElementKind::from_element(element);
        self.open_unquotable -= u32::from(is_unquotable(element));
        match tag {
            ElementKind::Link => self.open_links -= 1,
            ElementKind::Strong => self.open_strong -= 1,
            ElementKind::Control => self.open_controls -= 1,
            _ if tag.is_container() => self.close_container(id, tag),
            _ => {}
        }
    }

    fn open_container(&mut self, id: NodeId, tag: ElementKind, element: &Element) {
        self.end_line(tag == ElementKind::Cell);
        if tag == ElementKind::Preformatted {
            self.open_pre += 1;
        }
        if tag == ElementKind::Paragraph {
            self.counts.paragraphs += 1;
        }
        let class = element.attribute("class").unwrap_or_default();
        let class_hash = self.hasher.hash_one(class);
        // Most classes of a page occur on many of its elements, so results are cached.
        let mut names = *self.class_names.entry(class_hash).or_insert_with(|| self.names.find(class));
        for name in [element.attribute("id"), element.attribute("itemprop")].into_iter().flatten() {
            names |= self.names.find(name);
        }
        let parent = self.open.last().map_or(0, |c| self.blocks.containers[*c as usize].signature);
        // The upper half of a signature identifies the element, the lower half also its parent.
        let own = self.hasher.hash_one((tag as u8, class_hash)) >> 32;
        let signature = (own << 32) | (self.hasher.hash_one((own, parent >> 32)) & 0xFFFF_FFFF);
        self.push_container(id, tag, names, signature);
    }

    fn push_container(&mut self, element: NodeId, tag: ElementKind, names: u32, signature: u64) {
        if self.blocks.containers.len() >= MAX_CONTAINERS {
            return;
        }
        let number = self.blocks.containers.len() as u32;
        let first_line = self.blocks.lines.len() as u32;
        self.blocks.containers.push(Container {
            element,
            tag,
            parent: self.open.last().copied().unwrap_or_default(),
            first_line,
            end_line: first_line,
            counts: ContentCounts::default(),
            terms: 0.0,
            names,
            signature,
        });
        self.open.push(number);
    }

    fn close_container(&mut self, id: NodeId, tag: ElementKind) {
        self.end_line(tag == ElementKind::Cell);
        if tag == ElementKind::Preformatted {
            self.open_pre -= 1;
        }
        // Containers beyond the limit were not opened.
        if self.open.last().is_some_and(|c| self.blocks.containers[*c as usize].element == id) {
            self.close_innermost();
        }
    }

    fn close_innermost(&mut self) {
        let Some(number) = self.open.pop() else { return };
        let end_line = self.blocks.lines.len() as u32;
        let container = &mut self.blocks.containers[number as usize];
        container.end_line = end_line;
        let (counts, terms) = (container.counts, container.terms);
        if let Some(parent) = self.open.last() {
            let parent = &mut self.blocks.containers[*parent as usize];
            parent.counts += counts;
            parent.terms += terms;
        }
    }

    fn end_line(&mut self, joins: bool) {
        let end = self.text.text.len();
        let container = self.open.last().copied().unwrap_or_default();
        let counts = std::mem::take(&mut self.counts);
        if let Some(container) = self.blocks.containers.get_mut(container as usize) {
            container.counts += counts;
        }
        if end > self.line_start && self.blocks.lines.len() < MAX_LINES {
            let measure = measure(&self.text.text[self.line_start..end]);
            if let Some(container) = self.blocks.containers.get_mut(container as usize) {
                container.terms += measure.terms();
            }
            self.blocks.lines.push(BlockLine {
                start: u32::try_from(self.line_start).unwrap_or(u32::MAX),
                end: u32::try_from(end).unwrap_or(u32::MAX),
                container,
                joins: self.next_joins,
                counts,
                measure,
            });
            self.next_joins = true;
        }
        self.next_joins &= joins;
        if joins {
            self.text.space();
        } else {
            self.text.end_line();
        }
        // One byte will separate the next line.
        self.line_start = if end == 0 { 0 } else { end + 1 };
    }

    fn finish(mut self) -> Blocks {
        self.end_line(false);
        while !self.open.is_empty() {
            self.close_innermost();
        }
        self.blocks.text = self.text.text;
        self.blocks
    }
}
