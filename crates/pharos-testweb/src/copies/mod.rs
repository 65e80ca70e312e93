//! What is said twice: reprints, excerpts, mirrors and second URLs, and series whose parts only look alike.
//!
//! A copy is composed from its original at the same moment, so that it stays a copy when the original changes. Its
//! edit is planned and told by the truth; where in the text it falls follows from the seed.

mod edits;
mod mirrors;
mod series;

use serde::Serialize;

pub(crate) use series::{LEAST_WORDS, Series};

use crate::compose::{compose as compose_original, links_at, text_of};
use crate::model::{Block, Draft, Lang, Link, Page, PageNo, Place, PlannedLink, Span, Spelling, Target, Web};
use crate::rng::Rng;
use crate::writer::Writer;

/// The purpose of the random stream of edits; planner and composer use smaller numbers.
const STREAM: u64 = 201;

/// How a page came to say what another says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyKind {
    /// The very bytes of its original.
    Duplicate,
    /// All but the last paragraph, under another headline; it goes its own way when it changes.
    NearDuplicate,
    /// The article on another host, in that host's layout.
    Reprint,
    /// A part of the article on another host.
    Excerpt,
    /// The page of the same path on the host that is mirrored.
    Mirror,
    /// The article under a second URL of its host, with a canonical link to the first.
    Variant,
}

/// What a copy changed in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// Nothing but, perhaps, the headline and the name of the site.
    Nothing,
    /// This many words in a hundred are others.
    Words {
        /// Between 1 and 8.
        percent: u8,
    },
    /// A paragraph was added.
    Added,
    /// A paragraph was dropped.
    Dropped,
    /// A paragraph was moved.
    Moved,
    /// A line that names the source was added.
    Source,
    /// Only some sentences in a row were taken.
    Part {
        /// Roughly how much of the text they are.
        percent: u8,
    },
    /// The last paragraph is another, and the first sentence names another headline.
    Ending,
    /// A line on top says that the host is a mirror.
    Banner,
}

/// A copy as it was planned: of which page, how, and what it changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedCopy {
    pub(crate) of: PageNo,
    pub(crate) kind: CopyKind,
    pub(crate) edit: Edit,
}

/// What a copy says at a moment.
pub(crate) fn compose(
    web: &Web,
    number: PageNo,
    copy: PlannedCopy,
    planned: &[PlannedLink],
    moment: u64,
) -> Draft {
    let page = web.page(number);
    let original = compose_original(web, copy.of, moment).into_owned();
    match copy.kind {
        CopyKind::Mirror => mirrors::settle(web, page, copy, original),
        CopyKind::Reprint | CopyKind::Excerpt => {
            let related = links_at(web, page, planned, Place::Related, moment);
            reprint(web, number, copy, &original, related)
        }
        CopyKind::Variant | CopyKind::Duplicate | CopyKind::NearDuplicate => original,
    }
}

/// The page whose content a page has: its own, or the one at the end of the chain of copies.
pub(crate) fn content_of(web: &Web, number: PageNo) -> PageNo {
    let mut content = number;
    // Every copy was planned after its original, so that the numbers fall and the chain ends.
    while let Some(original) = web.page(content).original() {
        content = original;
    }
    content
}

/// The words alone are taken over: links, lists and layout are those of the new host.
fn reprint(web: &Web, number: PageNo, copy: PlannedCopy, original: &Draft, related: Vec<Link>) -> Draft {
    let page = web.page(number);
    let writer = Writer::new(page.lang, web.host_of(page).topic);
    let mut rng = Rng::of(&[web.seed, STREAM, u64::from(number)]);
    let mut paragraphs: Vec<String> = text_of(original).lines().map(str::to_owned).collect();
    edits::apply(copy.edit, &mut paragraphs, &writer, &mut rng);
    let description = paragraphs.first().map(|text| text.chars().take(120).collect()).unwrap_or_default();
    let mut blocks: Vec<Block> =
        paragraphs.into_iter().map(|text| Block::Paragraph(vec![Span::Text(text)])).collect();
    if copy.edit == Edit::Source {
        let place = if rng.chance(0.5) { 0 } else { blocks.len() };
        blocks.insert(place, source_line(web, page, copy.of));
    }
    Draft { description, keywords: String::new(), author: original.author.clone(), blocks, related }
}

fn source_line(web: &Web, page: &Page, original: PageNo) -> Block {
    let source = web.page(original);
    let host = web.host_of(source);
    let (before, after) = match page.lang {
        Lang::En => (format!("Reprinted from {} ({}), where it stands as ", host.title, host.name), "."),
        Lang::Zh => (format!("本文转载自{}（{}），原文见", host.title, host.name), "。"),
    };
    let link =
        Link { to: Target::Page(original), anchor: source.title.to_string(), spelling: Spelling::Absolute };
    Block::Paragraph(vec![Span::Text(before), Span::Link(link), Span::Text(after.into())])
}
