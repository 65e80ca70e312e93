//! Pages of a test web, indexed like a build of the history.
//!
//! Texts are never in memory together: the web is generated three times, for texts (duplicates), for links (ranks and
//! anchors), and for documents. Ranks, link counts, anchors, groups and signatures are computed by [`pharos_graph`]
//! from these pages and links.

use std::path::Path;

use pharos_core::{LibraryPositions, PageType, PageUrl, Timestamp};
use pharos_graph::Relations;
use pharos_graph::relations::{PageContent, RelationsOptions, RelationsBuilder};
use pharos_index::{Anchor, IndexDocument, LinkMaxima, LinkFigures};
use pharos_index::document::{MAX_LINKS, day};
use pharos_index::document::zones::MAX_VOTES;
use pharos_testweb::{Lang, PageKind, TruePage, TruePages, Web, WebSpec};

use crate::Outcome;

/// Seed of all random choices.
pub const SEED: u64 = 1;

/// Some addresses are redirects, forbidden, dead or exact copies, so the web needs more pages than requested.
const SPARE: f64 = 1.15;

/// Mean number of pages per host.
const PAGES_PER_HOST: usize = 100;

/// Number of texts compared at a time.
const BATCH: usize = 1_000;

/// Length of an abstract in characters.
const SUMMARY: usize = 160;

/// A web whose pages are generated on demand.
pub struct Pages<'web> {
    all: TruePages<'web>,
    count: usize,
}

/// Returns a web with at least this number of indexable pages, half of them Chinese.
pub fn web(count: usize) -> Web {
    let pages = (count as f64 * SPARE) as usize + 100;
    Web::generate(&WebSpec { seed: SEED, hosts: pages / PAGES_PER_HOST, pages, ..WebSpec::default() })
}

impl<'web> Pages<'web> {
    /// Returns the first `count` pages of a web.
    pub fn of(web: &'web Web, count: usize) -> Self {
        Self { all: web.true_pages(80), count }
    }

    fn each(&self) -> impl Iterator<Item = (PageUrl, TruePage)> {
        let pages = self.all.clone().filter(is_wanted);
        pages.filter_map(|page| Some((PageUrl::parse(&page.url).ok()?, page))).take(self.count)
    }

    /// Computes the relations of the pages.
    pub fn relate(&self, folder: &Path) -> Outcome<Relations> {
        let mut builder = RelationsBuilder::begin(folder, RelationsOptions::default())?;
        let (mut batch, mut added) = (Vec::with_capacity(BATCH), 0);
        for page in self.all.clone() {
            let url = PageUrl::parse(&page.url)?;
            if let Some(to) = &page.redirect {
                builder.add_redirect(url.id(), PageUrl::parse(to)?);
            }
            if !is_wanted(&page) || added == self.count {
                continue;
            }
            added += 1;
            builder.add_page(&url)?;
            batch.push(PageContent {
                url,
                first_seen: Timestamp::EPOCH,
                published: Some(Timestamp::from_millis(page.published as i64 * 1000)),
                title: page.html_title,
                body: page.text,
                hash: 0,
                display_hash: 0,
                layout: 0,
                canonical: None,
            });
            if batch.len() == BATCH {
                builder.add_texts(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))?;
            }
        }
        builder.add_texts(batch)?;
        for (url, page) in self.each() {
            for link in &page.links {
                builder.add_link(&url, &PageUrl::parse(&link.url)?, &link.anchor)?;
            }
        }
        Ok(builder.finish(LibraryPositions::START, pharos_testweb::START as i64)?.0)
    }

    /// Returns the pages as index documents.
    pub fn documents<'a>(&'a self, relations: &'a Relations) -> impl Iterator<Item = Outcome<IndexDocument>> + 'a {
        self.each().map(|(url, page)| document(url, page, relations))
    }
}

/// Returns `true` for a page that a crawler stores and that is not an exact copy.
fn is_wanted(page: &TruePage) -> bool {
    page.status == 200 && page.stored() && page.duplicate_of.is_none()
}

/// Returns the maximum values over all pages.
pub fn maxima(relations: &Relations) -> LinkMaxima {
    let mut maxima = LinkMaxima::default();
    (0..relations.page_ranks().len() as u32).for_each(|page| maxima.include(&link_figures(relations, page)));
    maxima
}

fn link_figures(relations: &Relations, page: u32) -> LinkFigures {
    let counts = relations.counts(page);
    LinkFigures {
        page_rank: relations.page_ranks()[page as usize] as f32,
        site_rank: relations.site_ranks()[relations.site(page) as usize] as f32,
        link_weight: relations.link_weight(page),
        in_degree: counts.raw_link_hits,
        out_degree: counts.out_degree,
        link_hits: counts.link_hits,
        linking_domains: counts.linking_domains,
        mirror_degree: relations.mirror_degree(page),
        ..LinkFigures::default()
    }
}

fn document(url: PageUrl, page: TruePage, relations: &Relations) -> Outcome<IndexDocument> {
    let number = relations.number(url.id()).ok_or("a page without a number")?;
    let votes = |weight: f32| (1.0 + weight).round().clamp(1.0, f32::from(MAX_VOTES)) as u8;
    let anchors = relations.anchors(number)?;
    let link_figures = LinkFigures {
        domain_depth: url.domain_depth() as u32,
        directory_depth: url.directory_depth() as u32,
        ..link_figures(relations, number)
    };
    let links = page.links.iter().filter_map(|link| PageUrl::parse(&link.url).ok());
    Ok(IndexDocument {
        summary: page.text.lines().next().unwrap_or_default().chars().take(SUMMARY).collect(),
        title: page.html_title,
        headings: vec![page.title],
        body: page.text,
        anchors: anchors.into_iter().map(|a| Anchor { votes: votes(a.weight), text: a.text }).collect(),
        links: links.take(MAX_LINKS).collect(),
        lang: match page.lang {
            Lang::Zh => "zh".into(),
            Lang::En => "en".into(),
        },
        page_type: match page.kind {
            PageKind::Home | PageKind::Hub => PageType::Hub,
            PageKind::Picture => PageType::Picture,
            _ => PageType::Topic,
        },
        format: "html".into(),
        date: Some(day::format(page.published as i64 / 86_400)),
        link_figures,
        group: Some(relations.id(relations.representative(number).unwrap_or(number))),
        signature: relations.signature(number).map(|signature| signature.to_bytes().into()),
        ..IndexDocument::new(url)
    })
}
