//! Copies: reprints, excerpts, mirrors and second URLs, and series whose articles only look alike.
//!
//! A copy is composed from its original at the same time, so that it stays a copy when the original changes. Its
//! edit is planned and part of the truth; its position in the text follows from the seed.

mod edits;
mod mirrors;
mod series;

use serde::Serialize;

pub(crate) use series::{LEAST_WORDS, Series};

use crate::compose::{compose as compose_original, links_at, text_of};
use crate::model::{
    ContentBlock, Lang, LinkPosition, LinkTarget, PageDraft, PageLink, PageNo, PlannedLink, PlannedPage,
    Spelling, TextSpan, Web,
};
use crate::rng::Rng;
use crate::writer::TextWriter;

/// Purpose of the random stream of edits; planner and composer use smaller numbers.
const STREAM: u64 = 201;

/// Origin of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyKind {
    /// The same bytes as its original.
    Duplicate,
    /// All but the last paragraph, under another headline; it changes independently.
    NearDuplicate,
    /// The article on another host, in that host's layout.
    Reprint,
    /// A part of the article on another host.
    Excerpt,
    /// The page of the same path on the mirrored host.
    Mirror,
    /// The article under a second URL of its host, with a canonical link to the first.
    Variant,
}

/// Change that a copy made to the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextEdit {
    /// None, except possibly the headline and the name of the site.
    Nothing,
    /// This percentage of words was replaced.
    Words {
        /// Between 1 and 8.
        percent: u8,
    },
    Added,
    Dropped,
    Moved,
    /// A line that names the source was added.
    Source,
    /// Only some consecutive sentences were taken.
    Part {
        /// Approximate share of the text.
        percent: u8,
    },
    /// The last paragraph differs, and the first sentence contains another headline.
    Ending,
    /// A banner says that the host is a mirror.
    Banner,
}

/// A planned copy: original, kind and edit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedCopy {
    pub(crate) of: PageNo,
    pub(crate) kind: CopyKind,
    pub(crate) edit: TextEdit,
}

/// Returns the content of a copy at a given time.
pub(crate) fn compose(
    web: &Web,
    number: PageNo,
    copy: PlannedCopy,
    planned: &[PlannedLink],
    moment: u64,
) -> PageDraft {
    let page = web.page(number);
    let original = compose_original(web, copy.of, moment).into_owned();
    match copy.kind {
        CopyKind::Mirror => mirrors::adapt_links(web, page, copy, original),
        CopyKind::Reprint | CopyKind::Excerpt => {
            let related = links_at(web, page, planned, LinkPosition::Related, moment);
            reprint(web, number, copy, &original, related)
        }
        CopyKind::Variant | CopyKind::Duplicate | CopyKind::NearDuplicate => original,
    }
}

/// Returns the page whose content a page has: itself, or the end of the chain of copies.
pub(crate) fn content_of(web: &Web, number: PageNo) -> PageNo {
    let mut content = number;
    // Every copy was planned after its original, so the numbers fall and the chain ends.
    while let Some(original) = web.page(content).original() {
        content = original;
    }
    content
}

/// Copies the text alone: links, lists and layout are those of the new host.
fn reprint(
    web: &Web,
    number: PageNo,
    copy: PlannedCopy,
    original: &PageDraft,
    related: Vec<PageLink>,
) -> PageDraft {
    let page = web.page(number);
    let writer = TextWriter::new(page.lang, web.host_of(page).topic);
    let mut rng = Rng::from_parts(&[web.seed, STREAM, u64::from(number)]);
    let mut paragraphs: Vec<String> = text_of(original).lines().map(str::to_owned).collect();
    edits::apply(copy.edit, &mut paragraphs, &writer, &mut rng);
    let description = paragraphs.first().map(|text| text.chars().take(120).collect()).unwrap_or_default();
    let mut blocks: Vec<ContentBlock> =
        paragraphs.into_iter().map(|text| ContentBlock::Paragraph(vec![TextSpan::Text(text)])).collect();
    if copy.edit == TextEdit::Source {
        let place = if rng.chance(0.5) { 0 } else { blocks.len() };
        blocks.insert(place, source_line(web, page, copy.of));
    }
    PageDraft { description, keywords: String::new(), author: original.author.clone(), blocks, related }
}

fn source_line(web: &Web, page: &PlannedPage, original: PageNo) -> ContentBlock {
    let source = web.page(original);
    let host = web.host_of(source);
    let (before, after) = match page.lang {
        Lang::En => (format!("Reprinted from {} ({}), where it stands as ", host.title, host.name), "."),
        Lang::Zh => (format!("本文转载自{}（{}），原文见", host.title, host.name), "。"),
    };
    let link = PageLink {
        to: LinkTarget::Page(original),
        anchor: source.title.to_string(),
        spelling: Spelling::Absolute,
    };
    ContentBlock::Paragraph(vec![TextSpan::Text(before), TextSpan::Link(link), TextSpan::Text(after.into())])
}
