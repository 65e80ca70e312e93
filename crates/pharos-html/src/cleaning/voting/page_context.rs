//! Position of a line among the blocks of its page.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;

use super::features::{Features, NAME_KINDS};
use super::prose::{NameRoles, candidate, prose_lines};
use super::title_similarity::TitleWords;
use crate::blocks::{BlockLine, Blocks, ElementKind};

/// Tags that rules can use: the feature is the number of levels up to the nearest one.
pub(crate) const TAG_KINDS: [(ElementKind, &str); 15] = [
    (ElementKind::Article, "article"),
    (ElementKind::Main, "main"),
    (ElementKind::Section, "section"),
    (ElementKind::Aside, "aside"),
    (ElementKind::Nav, "nav"),
    (ElementKind::Header, "header"),
    (ElementKind::Footer, "footer"),
    (ElementKind::Form, "form"),
    (ElementKind::Table, "table"),
    (ElementKind::List, "list"),
    (ElementKind::Item, "item"),
    (ElementKind::Figure, "figure"),
    (ElementKind::Quote, "quote"),
    (ElementKind::Details, "details"),
    (ElementKind::Address, "address"),
];

/// Maximum length of a line compared with the title.
const TITLE_TERMS: f32 = 40.0;

/// Number of levels that means "no such ancestor".
const NOWHERE: u8 = 20;

/// A name is ignored on a block with more than these shares of the page's prose and of its terms, for example
/// `<div class=has-sidebar>`. Prose alone is not sufficient: if the body is short, a sidebar contains most of the prose.
const TOO_LARGE_PROSE: f32 = 0.7;
const TOO_LARGE_TERMS: f32 = 0.5;

type Map<K, V> = HashMap<K, V, foldhash::fast::FixedState>;

/// Page-wide statistics needed to compute the features of a line.
pub(crate) struct PageContext {
    /// Context of each container.
    contexts: Vec<BlockContext>,
    /// Statistics of the blocks of each template, by signature.
    alike: Map<u64, TemplateStats>,
    /// Number of blocks of each template.
    template_counts: Map<u64, u32>,
    /// Number of occurrences of each text by its hash, and the hash of each line.
    repeats: Map<u64, u32>,
    hashes: Vec<u64>,
    /// Similarity of each line to the title, in both directions.
    similarities: Vec<(f32, f32)>,
    /// Prose terms before each line, followed by their total.
    prose: Vec<f32>,
    /// Terms before each line.
    terms: Vec<f32>,
    /// Number of the nearest prose line before and after each line.
    last_prose: Vec<u32>,
    next_prose: Vec<u32>,
    top: Option<usize>,
    /// Lines of the best candidate for the body block.
    candidate: Range<usize>,
    named_prose: f32,
    articles: f32,
    items_share: f32,
    /// Index of the kind of phrases that comments contain.
    reply_phrases: usize,
}

/// Position on the page, ordered by the scores of 《走进搜索引擎》§3.2.3.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum PagePosition {
    /// Includes the bottom, which the book does not mention.
    Right,
    Top,
    Left,
    Middle,
}

/// A cell with more than this share of the page's terms is the middle column; the other cells of its row are left
/// and right of it.
const MIDDLE_COLUMN: f32 = 0.3;

#[derive(Clone, Copy)]
struct BlockContext {
    position: PagePosition,
    /// The nearest enclosing block with more lines.
    wider: u32,
    depth: u16,
    tags: [u8; TAG_KINDS.len()],
    names: [u8; NAME_KINDS],
}

#[derive(Clone, Copy, Default)]
struct TemplateStats {
    lines: f32,
    terms: f32,
    chars: f32,
    link_chars: f32,
    prose: f32,
    after_link: f32,
}

impl PageContext {
    pub(super) fn new(blocks: &Blocks, title: &TitleWords, names: NameRoles) -> Self {
        let mut this = PageContext {
            contexts: Vec::with_capacity(blocks.containers.len()),
            alike: Map::default(),
            template_counts: Map::default(),
            repeats: Map::default(),
            hashes: Vec::with_capacity(blocks.lines.len()),
            similarities: Vec::with_capacity(blocks.lines.len()),
            prose: Vec::with_capacity(blocks.lines.len() + 1),
            terms: Vec::with_capacity(blocks.lines.len() + 1),
            last_prose: Vec::with_capacity(blocks.lines.len()),
            next_prose: vec![u32::MAX; blocks.lines.len()],
            top: None,
            candidate: 0..0,
            named_prose: 0.0,
            articles: 0.0,
            items_share: 0.0,
            reply_phrases: names.reply_phrases,
        };
        let is_prose = prose_lines(blocks, names);
        this.read_lines(blocks, title, &is_prose);
        this.candidate = candidate(blocks, &is_prose);
        this.read_containers(blocks, names.holding_body);
        this
    }

    fn read_lines(&mut self, blocks: &Blocks, title: &TitleWords, is_prose: &[bool]) {
        let (mut prose, mut terms, mut last_prose) = (0.0, 0.0, u32::MAX);
        let mut best_title = 0.5;
        let mut follows_link = false;
        for (number, line) in blocks.lines.iter().enumerate() {
            self.prose.push(prose);
            self.terms.push(terms);
            self.last_prose.push(last_prose);
            terms += line.measure.terms();
            let container = blocks.container_of(line);
            let alike = self.alike.entry(container.signature).or_default();
            alike.lines += 1.0;
            alike.terms += line.measure.terms();
            alike.chars += line.counts.chars as f32;
            alike.link_chars += line.counts.link_chars as f32;
            alike.after_link += f32::from(u8::from(follows_link));
            follows_link = line.counts.link_share() > 0.8;
            if is_prose[number] {
                prose += line.measure.terms();
                alike.prose += line.measure.terms();
                last_prose = number as u32;
            }
            let hash = hash(blocks.text_of(line));
            self.hashes.push(hash);
            *self.repeats.entry(hash).or_default() += 1;
            let is_short = line.measure.terms() < TITLE_TERMS;
            let (own, covered) = if is_short { title.similarity(blocks.text_of(line)) } else { (0.0, 0.0) };
            self.similarities.push((own, covered));
            let bonus = if container.tag == ElementKind::Heading1 { 0.3 } else { 0.0 };
            if is_short && own * covered + bonus > best_title {
                best_title = own * covered + bonus;
                self.top = Some(number);
            }
            if container.tag == ElementKind::Item {
                self.items_share += 1.0;
            }
        }
        self.prose.push(prose);
        self.terms.push(terms);
        self.items_share /= blocks.lines.len().max(1) as f32;
        let mut next = u32::MAX;
        for (number, is_prose) in is_prose.iter().enumerate().rev() {
            self.next_prose[number] = next;
            if *is_prose {
                next = number as u32;
            }
        }
    }

    fn read_containers(&mut self, blocks: &Blocks, holding_body: u32) {
        let middle_columns = middle_columns(blocks);
        for (number, container) in blocks.containers.iter().enumerate() {
            let mut context = match self.contexts.get(container.parent as usize) {
                None => BlockContext {
                    position: PagePosition::Middle,
                    wider: 0,
                    depth: 0,
                    tags: [NOWHERE; _],
                    names: [NOWHERE; _],
                },
                Some(parent) => {
                    let mut context = *parent;
                    context.depth = context.depth.saturating_add(1);
                    if blocks.containers[container.parent as usize].line_count() > container.line_count() {
                        context.wider = container.parent;
                        for level in context.tags.iter_mut().chain(&mut context.names) {
                            *level = (*level + 1).min(NOWHERE);
                        }
                    }
                    context
                }
            };
            let lines = container.lines();
            let prose = self.prose[lines.end] - self.prose[lines.start];
            let is_too_large = number == 0
                || (prose > TOO_LARGE_PROSE * self.all_prose()
                    && container.terms > TOO_LARGE_TERMS * blocks.containers[0].terms);
            for (level, (tag, _)) in context.tags.iter_mut().zip(TAG_KINDS) {
                if container.tag == tag
                    && (!is_too_large
                        || matches!(tag, ElementKind::Article | ElementKind::Main | ElementKind::Table))
                {
                    *level = 0;
                }
            }
            if context.position == PagePosition::Middle && !is_too_large {
                context.position = match container.tag {
                    ElementKind::Header | ElementKind::Nav => PagePosition::Top,
                    ElementKind::Aside | ElementKind::Footer => PagePosition::Right,
                    ElementKind::Cell => match middle_columns.get(&container.parent) {
                        Some(middle) if number < *middle => PagePosition::Left,
                        Some(middle) if number > *middle => PagePosition::Right,
                        _ => PagePosition::Middle,
                    },
                    _ => PagePosition::Middle,
                };
            }
            if container.names & holding_body != 0 && prose > self.named_prose {
                self.named_prose = prose;
            }
            let names = if is_too_large { container.names & holding_body } else { container.names };
            if names != 0 {
                for (kind, level) in context.names.iter_mut().enumerate() {
                    if names >> kind & 1 == 1 {
                        *level = 0;
                    }
                }
            }
            if container.line_count() > 0 {
                *self.template_counts.entry(container.signature).or_default() += 1;
            }
            if container.tag == ElementKind::Article {
                self.articles += 1.0;
            }
            self.contexts.push(context);
        }
    }

    fn all_prose(&self) -> f32 {
        self.prose.last().copied().unwrap_or_default()
    }

    /// Returns the number of occurrences of the line's text on the page.
    pub(super) fn repeats(&self, line: usize) -> f32 {
        self.hashes.get(line).and_then(|hash| self.repeats.get(hash)).copied().unwrap_or_default() as f32
    }

    /// Returns the similarity of a line to the title, in both directions.
    pub(super) fn title_similarity(&self, line: usize) -> (f32, f32) {
        self.similarities.get(line).copied().unwrap_or_default()
    }

    /// Returns the block of a line and the three next larger ones, innermost first.
    pub(crate) fn surrounding(&self, line: &BlockLine) -> [usize; 4] {
        let mut at = line.container as usize;
        std::array::from_fn(|level| {
            if level > 0 {
                at = self.contexts[at].wider as usize;
            }
            at
        })
    }

    /// Fills the numbers of replies, dates, top headings and articles around and before each line.
    pub(super) fn count_in_blocks(&self, all: &mut [Features], blocks: &Blocks) {
        let mut sums = Vec::with_capacity(all.len() + 1);
        let (mut replies, mut dates) = (0.0f32, 0.0f32);
        sums.push((replies, dates));
        for f in all.iter() {
            replies += f.phrases.get(self.reply_phrases).copied().unwrap_or_default();
            dates += f.dated;
            sums.push((replies, dates));
        }
        let mut ends: Vec<usize> = (blocks.containers.iter())
            .filter(|c| c.tag == ElementKind::Article && c.line_count() > 0)
            .map(|c| c.lines().end)
            .collect();
        ends.sort_unstable();
        let mut top_headings = 0.0;
        for (number, (f, line)) in all.iter_mut().zip(&blocks.lines).enumerate() {
            let counts = self.surrounding(line).map(|container| {
                let lines = blocks.containers[container].lines();
                (sums[lines.end].0 - sums[lines.start].0, sums[lines.end].1 - sums[lines.start].1)
            });
            (f.block_replies, f.wider_replies, f.wider2_replies, f.wider3_replies) =
                (counts[0].0, counts[1].0, counts[2].0, counts[3].0);
            (f.wider_dates, f.wider2_dates, f.wider3_dates) = (counts[1].1, counts[2].1, counts[3].1);
            f.top_headings = top_headings;
            top_headings += f32::from(u8::from(f.heading == 1.0));
            f.articles_ended = ends.partition_point(|end| *end <= number) as f32;
        }
    }

    /// Fills the features that depend on the line's position.
    pub(super) fn fill(&self, f: &mut Features, blocks: &Blocks, number: usize, line: &BlockLine) {
        let context = &self.contexts[line.container as usize];
        f.position = f32::from(context.position as u8);
        f.depth = f32::from(context.depth);
        f.tags = context.tags.map(f32::from);
        f.names = context.names.map(f32::from);
        self.fill_blocks(f, blocks, line.container as usize);
        self.fill_alike(f, blocks, line);
        let wider = blocks.containers[context.wider as usize].lines();
        let (from, to) = (self.terms[wider.start], self.terms[wider.end]);
        f.wider_before = (self.terms[number] - from) / (to - from).max(1.0);
        let (all, count) = (self.all_prose().max(1.0), blocks.lines.len());
        f.prose_before = self.prose[number] / all;
        let steps =
            |a: usize, b: u32| if b == u32::MAX { 1_000.0 } else { a.abs_diff(b as usize).min(1_000) as f32 };
        f.lines_since_prose = steps(number, self.last_prose[number]);
        f.lines_to_prose = steps(number, self.next_prose[number]);
        f.since_top = self.top.map_or(-2_000.0, |top| (number as f32 - top as f32).clamp(-1_000.0, 1_000.0));
        let page = &blocks.containers[0];
        f.place = number as f32 / count as f32;
        f.place_terms = self.terms[number] / page.terms.max(1.0);
        f.index = number as f32;
        f.index_from_end = (count - number) as f32;
        f.page_terms = page.terms;
        f.page_lines = count as f32;
        f.page_link_share = page.counts.link_share();
        f.page_prose = self.all_prose() / page.terms.max(1.0);
        f.page_articles = self.articles;
        f.page_images = page.counts.images as f32;
        f.page_fields = page.counts.fields as f32;
        f.page_items_share = self.items_share;
    }

    fn fill_blocks(&self, f: &mut Features, blocks: &Blocks, number: usize) {
        let all = self.all_prose().max(1.0);
        let prose = |c: usize| {
            let lines = blocks.containers[c].lines();
            (self.prose[lines.end] - self.prose[lines.start]) / all
        };
        let block = &blocks.containers[number];
        f.block_terms = block.terms;
        f.block_link_share = block.counts.link_share();
        f.block_lines = block.line_count() as f32;
        f.block_images = block.counts.images as f32;
        f.block_paragraphs = block.counts.paragraphs as f32;
        f.block_fields = block.counts.fields as f32;
        f.block_prose = prose(number);
        let wider_of = |c: usize| self.contexts[c].wider as usize;
        let (first, second, third) =
            (wider_of(number), wider_of(wider_of(number)), wider_of(wider_of(wider_of(number))));
        let sizes = |c: usize| {
            let c = &blocks.containers[c];
            let lines = c.line_count() as f32;
            (c.terms, c.counts.link_share(), lines, c.terms / lines.max(1.0))
        };
        (f.wider_terms, f.wider_link_share, f.wider_lines, f.wider_mean) = sizes(first);
        (f.wider2_terms, f.wider2_link_share, f.wider2_lines, f.wider2_mean) = sizes(second);
        (f.wider3_terms, f.wider3_link_share, f.wider3_lines, f.wider3_mean) = sizes(third);
        f.wider_fields = blocks.containers[first].counts.fields as f32;
        (f.wider_prose, f.wider2_prose, f.wider3_prose) = (prose(first), prose(second), prose(third));
        let template_count = |c: usize| {
            self.template_counts.get(&blocks.containers[c].signature).copied().unwrap_or_default() as f32
        };
        (f.block_twins, f.wider_twins, f.wider2_twins) =
            (template_count(number), template_count(first), template_count(second));
        f.candidate_prose = (self.prose[self.candidate.end] - self.prose[self.candidate.start]) / all;
        f.named_prose = self.named_prose / all;
        let (mut at, mut levels) = (number, 0.0);
        (f.half_levels, f.most_levels) = (f32::from(NOWHERE), f32::from(NOWHERE));
        f.candidate_levels = f32::from(NOWHERE);
        while levels < f32::from(NOWHERE) {
            let share = prose(at);
            let lines = blocks.containers[at].lines();
            if f.candidate_levels > levels && at != 0 {
                // Inside the candidate: 0. Otherwise the number of levels up to a block that contains it.
                if lines.start >= self.candidate.start && lines.end <= self.candidate.end {
                    f.candidate_levels = 0.0;
                } else if lines.start <= self.candidate.start && lines.end >= self.candidate.end {
                    f.candidate_levels = levels;
                }
            }
            if share >= 0.5 && f.half_levels > levels {
                f.half_levels = levels;
            }
            if share >= 0.9 && f.most_levels > levels {
                f.most_levels = levels;
            }
            if at == 0 || (f.most_levels < f32::from(NOWHERE) && f.candidate_levels < f32::from(NOWHERE)) {
                break;
            }
            at = wider_of(at);
            levels += 1.0;
        }
    }

    fn fill_alike(&self, f: &mut Features, blocks: &Blocks, line: &BlockLine) {
        let alike = self.alike.get(&blocks.container_of(line).signature).copied().unwrap_or_default();
        f.alike_lines = alike.lines;
        f.alike_mean = alike.terms / alike.lines.max(1.0);
        f.alike_link_share = alike.link_chars / alike.chars.max(1.0);
        f.alike_after_link = alike.after_link / alike.lines.max(1.0);
        f.alike_prose = alike.prose / self.all_prose().max(1.0);
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = foldhash::fast::FixedState::with_seed(0).build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Returns the middle column of each row that has one.
fn middle_columns(blocks: &Blocks) -> Map<u32, usize> {
    let enough = MIDDLE_COLUMN * blocks.containers[0].terms;
    let cells =
        blocks.containers.iter().enumerate().filter(|(_, c)| c.tag == ElementKind::Cell && c.terms > enough);
    cells.map(|(number, cell)| (cell.parent, number)).collect()
}
