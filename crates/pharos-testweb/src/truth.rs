//! The truth about a web at a given time: the expected results of every test.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use crate::compose::{compose, links_of, text_of};
use crate::copies::{CopyKind, TextEdit, content_of};
use crate::model::{Body, Charset, Lang, LinkTarget, PageKind, PageNo, PlannedPage, Web};
use crate::render::head_title;
use crate::urls::{target_url, url_of};

/// Complete knowledge about a web at one point in time.
#[derive(Clone, Debug, Serialize)]
pub struct Truth {
    /// Every URL that the web ever links to, whatever its status.
    pub pages: Vec<TruePage>,
    pub hosts: Vec<TrueHost>,
}

impl Truth {
    /// Returns the pages that a correct crawler has stored after it started at the seeds, stayed on their hosts,
    /// obeyed robots.txt and finished: pages, redirects and dead links alike.
    pub fn stored(&self) -> impl Iterator<Item = &TruePage> {
        self.pages.iter().filter(|page| page.stored())
    }

    /// Returns the pages copied from another, of every kind.
    pub fn copies(&self) -> impl Iterator<Item = &TruePage> {
        self.pages.iter().filter(|page| page.copy.is_some())
    }

    /// Returns groups of stored pages with the same content: only contents of at least two pages, in order of first
    /// appearance.
    pub fn content_groups(&self) -> Vec<Vec<&TruePage>> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut groups: Vec<Vec<&TruePage>> = Vec::new();
        for page in self.stored() {
            if let Some(content) = &page.content {
                let place = *places.entry(content).or_insert(groups.len());
                if place == groups.len() {
                    groups.push(Vec::new());
                }
                groups[place].push(page);
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }

    /// Returns the page with this URL.
    pub fn page(&self, url: &str) -> Option<&TruePage> {
        self.pages.iter().find(|page| page.url == url)
    }
}

/// Complete knowledge about one URL.
#[derive(Clone, Debug, Serialize)]
pub struct TruePage {
    /// Absolute and normalised, as a WHATWG parser prints it.
    pub url: String,
    pub host: String,
    pub kind: PageKind,
    pub status: u16,
    /// Target of a redirect, absolute and normalised.
    pub redirect: Option<String>,
    /// The headline: unique in the web, except for copies; empty without a page.
    pub title: String,
    /// Text of the `title` element: the headline, mostly followed by the name of the site.
    pub html_title: String,
    /// Text without navigation, lists and footer, one paragraph per line.
    pub text: String,
    /// Author; empty if none is named.
    pub author: String,
    pub lang: Lang,
    pub charset: Charset,
    /// Links in document order, including navigation and footer.
    pub links: Vec<TrueLink>,
    /// `true` if robots.txt allows the URL.
    pub allowed: bool,
    /// `true` if links, frames and redirects lead here from the seeds without a forbidden page on the way.
    pub reachable: bool,
    /// Number of clicks from the seeds; a link or a frame counts one, a redirect zero.
    pub depth: Option<u32>,
    /// The page with the same bytes.
    pub duplicate_of: Option<String>,
    /// The page with nearly the same text.
    pub near_duplicate_of: Option<String>,
    /// Identifies the content by the URL that has it first: pages with the same content, and only these, are copies
    /// of each other. `None` without a page.
    pub content: Option<String>,
    /// Original and kind of a copy, including duplicates and near-duplicates.
    pub copy: Option<TrueCopy>,
    /// Target of the canonical link.
    pub canonical: Option<String>,
    /// Pages of one series share two paragraphs of boilerplate, and are not copies of each other.
    pub series: Option<u32>,
    /// Publication time in Unix seconds.
    pub published: u64,
    /// Time of the last change in Unix seconds: the Last-Modified of the response.
    pub modified: u64,
    /// Modifications per day of the Poisson process behind `changes`; lists also change with their entries.
    pub change_rate: f64,
    /// All times at which the bytes change, past and future, in Unix seconds.
    pub changes: Vec<u64>,
    /// Time of deletion, if any, in Unix seconds.
    pub deleted: Option<u64>,
}

impl TruePage {
    /// Returns `true` if a correct crawler stores this URL: it is reachable and allowed.
    pub fn stored(&self) -> bool {
        self.reachable && self.allowed
    }
}

/// Relation of a copy to its original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrueCopy {
    pub kind: CopyKind,
    /// The copied page, which may be a copy itself.
    pub of: String,
    pub edit: TextEdit,
}

/// Knowledge about a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrueHost {
    pub name: String,
    /// The mirrored host, for a mirror.
    pub mirror_of: Option<String>,
}

/// A link as a parser should see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TrueLink {
    /// The target: absolute, normalised, without fragment.
    pub url: String,
    /// Anchor text; empty for a frame.
    pub anchor: String,
}

/// An iterator over the pages of a web, each computed on demand: the texts of a large web need not be in memory at
/// once. A clone iterates again.
#[derive(Clone, Debug)]
pub struct TruePages<'web> {
    web: &'web Web,
    port: u16,
    moment: u64,
    depths: Arc<[Option<u32>]>,
    numbers: Range<usize>,
}

impl Iterator for TruePages<'_> {
    type Item = TruePage;

    fn next(&mut self) -> Option<TruePage> {
        let number = self.numbers.next()?;
        Some(true_page(self.web, number as PageNo, self.port, self.moment, self.depths[number]))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl ExactSizeIterator for TruePages<'_> {}

pub(crate) fn true_pages(web: &Web, port: u16, moment: u64) -> TruePages<'_> {
    TruePages { web, port, moment, depths: depths(web, moment).into(), numbers: 0..web.pages.len() }
}

pub(crate) fn truth(web: &Web, port: u16, moment: u64) -> Truth {
    let hosts =
        web.hosts.iter().map(|host| TrueHost { name: host.name.clone(), mirror_of: host.mirror_of.clone() });
    Truth { pages: true_pages(web, port, moment).collect(), hosts: hosts.collect() }
}

pub(crate) fn is_allowed(web: &Web, page: &PlannedPage) -> bool {
    web.host_of(page).rules.as_ref().is_none_or(|rules| rules.allow(&page.path))
}

fn true_page(web: &Web, number: PageNo, port: u16, moment: u64, depth: Option<u32>) -> TruePage {
    let page = web.page(number);
    let there = page.exists_at(moment);
    let url = |number: PageNo| url_of(web, web.page(number), port);
    let (status, redirect) = match page.body {
        _ if !there => (page.status_when_absent(number), None),
        Body::Redirect { status, to } => (status, Some(url(to))),
        _ => (200, None),
    };
    // A duplicate has the content of its original.
    let source_number = page.duplicate_of.unwrap_or(number);
    let source = web.page(source_number);
    let source_host = web.host_of(source);
    let has_words = status == 200;
    let draft = compose(web, source_number, moment);
    let framed = source.kind == PageKind::Frameset;
    let links = if has_words {
        let true_link = |link| TrueLink {
            url: target_url(web, link, port),
            anchor: if framed { String::new() } else { link.anchor.clone() },
        };
        links_of(web, source, &draft).into_iter().map(true_link).collect()
    } else {
        Vec::new()
    };
    TruePage {
        url: url(number),
        host: web.host_of(page).name.clone(),
        kind: page.kind,
        status,
        redirect,
        title: page.title.to_string(),
        html_title: if has_words { head_title(source_host, source) } else { String::new() },
        text: if has_words && !framed { text_of(&draft) } else { String::new() },
        author: if has_words { draft.author.clone() } else { String::new() },
        lang: page.lang,
        charset: source_host.charset,
        links,
        allowed: is_allowed(web, page),
        reachable: depth.is_some(),
        depth,
        duplicate_of: page.duplicate_of.map(url),
        near_duplicate_of: page.near_duplicate_of.map(url),
        content: has_words.then(|| url(content_of(web, number))),
        copy: true_copy(page).filter(|_| has_words).map(|(kind, of, edit)| TrueCopy {
            kind,
            of: url(of),
            edit,
        }),
        canonical: page.canonical.filter(|_| has_words).map(url),
        series: page.series,
        published: page.published,
        modified: source.version(moment).1,
        change_rate: page.change_rate,
        changes: page.changes.clone(),
        deleted: page.deleted,
    }
}

fn true_copy(page: &PlannedPage) -> Option<(CopyKind, PageNo, TextEdit)> {
    let planned = page.copy.map(|copy| (copy.kind, copy.of, copy.edit));
    planned
        .or(page.duplicate_of.map(|of| (CopyKind::Duplicate, of, TextEdit::Nothing)))
        .or(page.near_duplicate_of.map(|of| (CopyKind::NearDuplicate, of, TextEdit::Ending)))
}

/// Breadth-first from the home pages; a redirect has no cost, so its target goes to the front of the queue.
fn depths(web: &Web, moment: u64) -> Vec<Option<u32>> {
    let mut depths: Vec<Option<u32>> = vec![None; web.pages.len()];
    let homes = (0..web.hosts.len() as u32).filter_map(|host| web.page_at(host, "/"));
    let mut queue: VecDeque<(PageNo, u32)> = homes.map(|home| (home, 0)).collect();
    while let Some((number, depth)) = queue.pop_front() {
        if depths[number as usize].is_some_and(|known| known <= depth) {
            continue;
        }
        depths[number as usize] = Some(depth);
        let page = web.page(number);
        if !is_allowed(web, page) || !page.exists_at(moment) {
            continue;
        }
        if let Body::Redirect { to, .. } = page.body {
            queue.push_front((to, depth));
            continue;
        }
        let source_number = page.duplicate_of.unwrap_or(number);
        let draft = compose(web, source_number, moment);
        for link in links_of(web, web.page(source_number), &draft) {
            if let LinkTarget::Page(to) = link.to
                && depths[to as usize].is_none()
            {
                queue.push_back((to, depth + 1));
            }
        }
    }
    depths
}
