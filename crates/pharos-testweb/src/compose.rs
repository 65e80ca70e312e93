//! Composes the content of a page at a given time.

use std::borrow::Cow;

use crate::copies::{self, Series};
use crate::model::{
    Body, ContentBlock, Lang, LinkPosition, LinkTarget, PageDraft, PageKind, PageLink, PageNo, PlannedLink,
    PlannedPage, TextSpan, Web,
};
use crate::rng::{Rng, hash};
use crate::spec::WebSpec;
use crate::writer::TextWriter;

/// Purposes of random streams; the planner uses smaller numbers.
mod stream {
    pub(super) const SHAPE: u64 = 101;
    pub(super) const PARAGRAPH: u64 = 102;
    pub(super) const AUTHOR: u64 = 103;
    pub(super) const OUTSIDE: u64 = 104;
}

/// Average; a short article is one paragraph.
const WORDS_PER_PARAGRAPH: usize = 70;

/// Returns the content of a page at a given time; redirects and missing pages have none.
pub(crate) fn compose(web: &Web, number: PageNo, moment: u64) -> Cow<'_, PageDraft> {
    let page = web.page(number);
    match &page.body {
        Body::Written(draft) => Cow::Borrowed(draft),
        Body::Generated(links) => Cow::Owned(match page.copy {
            Some(copy) => copies::compose(web, number, copy, links, moment),
            None => generate(web, number, page, links, moment),
        }),
        Body::Redirect { .. } | Body::Nothing => Cow::Owned(PageDraft::default()),
    }
}

/// Returns all links of a page in document order.
pub(crate) fn links_of<'a>(web: &'a Web, page: &PlannedPage, draft: &'a PageDraft) -> Vec<&'a PageLink> {
    let host = web.host_of(page);
    let mut links: Vec<&PageLink> = Vec::new();
    let framed = page.kind == PageKind::Frameset;
    if !framed {
        links.extend(&host.navigation);
    }
    for block in &draft.blocks {
        match block {
            ContentBlock::Paragraph(spans) => links.extend(spans.iter().filter_map(|span| match span {
                TextSpan::Link(link) => Some(link),
                TextSpan::Text(_) => None,
            })),
            ContentBlock::Links(items) => links.extend(items.iter().map(|(link, _)| link)),
            ContentBlock::Pager(pages) | ContentBlock::Frames(pages) => links.extend(pages),
            ContentBlock::Heading(_)
            | ContentBlock::Facts(_)
            | ContentBlock::Steps(_)
            | ContentBlock::Quote(_)
            | ContentBlock::Picture { .. } => {}
        }
    }
    if !framed {
        links.extend(&draft.related);
        links.extend(&host.footer);
    }
    links
}

/// Returns the text of a page without navigation, lists and footer, one paragraph per line.
pub(crate) fn text_of(draft: &PageDraft) -> String {
    let mut lines: Vec<String> = Vec::new();
    for block in &draft.blocks {
        match block {
            ContentBlock::Heading(text)
            | ContentBlock::Quote(text)
            | ContentBlock::Picture { caption: text, .. } => lines.push(text.clone()),
            ContentBlock::Paragraph(spans) => lines.push(
                spans
                    .iter()
                    .map(|span| match span {
                        TextSpan::Text(text) => text.as_str(),
                        TextSpan::Link(link) => link.anchor.as_str(),
                    })
                    .collect(),
            ),
            ContentBlock::Facts(facts) => {
                lines.extend(facts.iter().map(|(name, value)| format!("{name} {value}")))
            }
            ContentBlock::Steps(steps) => lines.extend(steps.iter().cloned()),
            ContentBlock::Links(_) | ContentBlock::Pager(_) | ContentBlock::Frames(_) => {}
        }
    }
    lines.join("\n")
}

fn generate(
    web: &Web,
    number: PageNo,
    page: &PlannedPage,
    planned: &[PlannedLink],
    moment: u64,
) -> PageDraft {
    let host = web.host_of(page);
    let writer = TextWriter::new(page.lang, host.topic);
    let (version, _) = page.version(moment);
    let (mut shape, words) = shape_of(&web.spec, page.near_duplicate_of.unwrap_or(number));
    let words = match page.kind {
        _ if page.series.is_some() => words.max(copies::LEAST_WORDS),
        PageKind::Article | PageKind::Table => words,
        _ => 40,
    };

    let mut texts = paragraphs(web, number, page, words, version);
    texts[0].insert_str(0, &lead(page, &mut shape));
    let description = texts[0].chars().take(120).collect();
    let links = |place: LinkPosition| links_at(web, page, planned, place, moment);
    let mut in_text = links(LinkPosition::Text);
    in_text.extend(links(LinkPosition::Outside));

    let mut blocks: Vec<ContentBlock> =
        texts.into_iter().map(|text| ContentBlock::Paragraph(vec![TextSpan::Text(text)])).collect();
    for (place, link) in in_text.into_iter().enumerate() {
        let paragraph_count = blocks.len();
        if let ContentBlock::Paragraph(spans) = &mut blocks[place % paragraph_count] {
            weave(link, page.lang, place, spans);
        }
    }
    if page.kind == PageKind::Picture {
        for picture in 0..shape.between(3, 6) {
            let caption = writer.paragraph(6, &mut shape);
            blocks.push(ContentBlock::Picture { name: format!("{number}-{picture}"), caption });
        }
    }
    for (place, block) in [
        (LinkPosition::Pager, ContentBlock::Pager as fn(Vec<PageLink>) -> ContentBlock),
        (LinkPosition::Frame, ContentBlock::Frames),
    ] {
        let chosen = links(place);
        if !chosen.is_empty() {
            blocks.push(block(chosen));
        }
    }
    let listed: Vec<(PageLink, String)> =
        links(LinkPosition::List).into_iter().map(|link| (link, String::new())).collect();
    if !listed.is_empty() {
        blocks.insert(1, ContentBlock::Links(listed));
    }
    if let Some(series) = page.series {
        let Series { about, disclaimer, .. } = Series::new(web.seed, series, host);
        blocks.insert(0, ContentBlock::Paragraph(vec![TextSpan::Text(about)]));
        blocks.push(ContentBlock::Paragraph(vec![TextSpan::Text(disclaimer)]));
    }
    let author = writer.name(&mut Rng::from_parts(&[
        web.seed,
        stream::AUTHOR,
        u64::from(number) % 97,
        u64::from(page.host),
    ]));
    PageDraft { description, keywords: String::new(), author, blocks, related: links(LinkPosition::Related) }
}

/// Returns the links at one position of a page at a given time.
pub(crate) fn links_at(
    web: &Web,
    page: &PlannedPage,
    planned: &[PlannedLink],
    place: LinkPosition,
    moment: u64,
) -> Vec<PageLink> {
    let chosen = planned.iter().filter(|link| link.place == place);
    let shown = chosen.filter(|link| place != LinkPosition::List || web.page(link.to).exists_at(moment));
    shown.map(|link| written(web, page, link)).collect()
}

/// Returns the number of paragraphs of this article, unless it is a near-duplicate.
pub(crate) fn paragraph_count(spec: &WebSpec, number: PageNo) -> usize {
    paragraphs_for(shape_of(spec, number).1)
}

fn paragraphs_for(words: usize) -> usize {
    (words / WORDS_PER_PARAGRAPH).max(1)
}

/// Returns the random stream of an article's shape, and its number of words.
fn shape_of(spec: &WebSpec, number: PageNo) -> (Rng, usize) {
    let mut shape = Rng::from_parts(&[spec.seed, stream::SHAPE, u64::from(number)]);
    let words = shape.log_normal(spec.median_words, spec.length_sigma).clamp(30.0, 6000.0) as usize;
    (shape, words)
}

/// Returns a first sentence that contains the title.
fn lead(page: &PlannedPage, rng: &mut Rng) -> String {
    let title = &page.title;
    match page.lang {
        Lang::En => match rng.below(4) {
            0 => format!("This page is about “{title}”. "),
            1 => format!("“{title}” is a long story, told here in short. "),
            2 => format!("Readers often ask about “{title}”. "),
            _ => format!("Few subjects are as dear to us as “{title}”. "),
        },
        Lang::Zh => match rng.below(4) {
            0 => format!("本文介绍“{title}”。"),
            1 => format!("说起“{title}”，许多读者并不陌生。"),
            2 => format!("“{title}”是一个值得细谈的题目。"),
            _ => format!("最近常有人问起“{title}”。"),
        },
    }
}

/// Returns the paragraphs. Each change rewrites one; a near-duplicate keeps all but the last of its original.
fn paragraphs(web: &Web, number: PageNo, page: &PlannedPage, words: usize, version: usize) -> Vec<String> {
    let writer = TextWriter::new(page.lang, web.host_of(page).topic);
    let count = paragraphs_for(words) + usize::from(page.near_duplicate_of.is_some());
    let mut editions = vec![0u64; count];
    for change in 1..=version as u64 {
        editions[hash(&[u64::from(number), change]) as usize % count] = change;
    }
    let paragraph = |(place, &edition): (usize, &u64)| {
        let taken_over = edition == 0 && place + 1 < count;
        let source = page.near_duplicate_of.filter(|_| taken_over).unwrap_or(number);
        let topic = web.host_of(web.page(source)).topic;
        let mut rng =
            Rng::from_parts(&[web.seed, stream::PARAGRAPH, u64::from(source), place as u64, edition]);
        let length = rng.between(WORDS_PER_PARAGRAPH * 2 / 3, WORDS_PER_PARAGRAPH * 4 / 3).min(words.max(12));
        if topic == web.host_of(page).topic {
            writer.paragraph(length, &mut rng)
        } else {
            TextWriter::new(page.lang, topic).paragraph(length, &mut rng)
        }
    };
    editions.iter().enumerate().map(paragraph).collect()
}

fn written(web: &Web, page: &PlannedPage, link: &PlannedLink) -> PageLink {
    if link.place == LinkPosition::Outside {
        let mut rng = Rng::from_parts(&[web.seed, stream::OUTSIDE, u64::from(link.to)]);
        let url = format!("http://www.elsewhere-{}.invalid/", rng.below(1000));
        let anchor = if page.lang == Lang::En { "a site elsewhere" } else { "别处的网站" };
        return PageLink { to: LinkTarget::Outside(url), anchor: anchor.into(), spelling: link.spelling };
    }
    let target = web.page(link.to);
    let anchor = match (target.title.as_ref(), page.lang) {
        ("", Lang::En) => ["the old page", "an earlier note", "this record"][link.to as usize % 3].to_owned(),
        ("", Lang::Zh) => ["旧文", "早先的记录", "这一页"][link.to as usize % 3].to_owned(),
        (title, _) => title.to_owned(),
    };
    PageLink { to: LinkTarget::Page(link.to), anchor, spelling: link.spelling }
}

/// Adds a sentence with the link to a paragraph.
fn weave(link: PageLink, lang: Lang, place: usize, spans: &mut Vec<TextSpan>) {
    let (before, after) = match (lang, place % 3) {
        (Lang::En, 0) => (" See also ", "."),
        (Lang::En, 1) => (" More on this in ", "."),
        (Lang::En, _) => (" Compare ", "."),
        (Lang::Zh, 0) => ("另见", "。"),
        (Lang::Zh, 1) => ("详情请读", "。"),
        (Lang::Zh, _) => ("可以对照", "。"),
    };
    spans.push(TextSpan::Text(before.into()));
    spans.push(TextSpan::Link(link));
    spans.push(TextSpan::Text(after.into()));
}
