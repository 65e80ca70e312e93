//! Plants copies of articles, and articles that only look like copies.
//!
//! Runs after everything else is planned, so that the rest of the web is the same with and without copies.

use std::collections::HashSet;

use super::{WebPlan, links, mirrors, sites, stream};
use crate::clock::START;
use crate::compose::paragraph_count;
use crate::copies::{CopyKind, PlannedCopy, Series, TextEdit};
use crate::model::{Body, Lang, LinkPosition, PageKind, PageNo, PlannedPage};
use crate::rng::Rng;
use crate::spec::CopySpec;
use crate::writer::TextWriter;

/// Only articles of at least this many paragraphs are copied, so that every edit leaves most of the text.
const LEAST_PARAGRAPHS: usize = 4;

/// Approximate number of articles per series.
const PARTS: usize = 5;

/// Plants the configured copies.
pub(super) fn plant(plan: &mut WebPlan) {
    let copies = plan.spec.copies;
    if copies == CopySpec::default() {
        return;
    }
    let mut rng = Rng::from_parts(&[plan.spec.seed, stream::COPIES]);
    let mut originals = Originals::gather(plan, &mut rng);
    let first_edit = rng.below(6);
    for number in 0..copies.reprints {
        // In turn, so that even few reprints contain every edit.
        let edit = match (first_edit + number) % 6 {
            0 => TextEdit::Nothing,
            1 => TextEdit::Words { percent: rng.between(1, 8) as u8 },
            2 => TextEdit::Added,
            3 => TextEdit::Dropped,
            4 => TextEdit::Moved,
            _ => TextEdit::Source,
        };
        copy_elsewhere(plan, &mut originals, CopyKind::Reprint, edit, &mut rng);
    }
    for _ in 0..copies.excerpts {
        // Whole sentences are taken, so the result is a little outside 42 and 70.
        let edit = TextEdit::Part { percent: rng.between(42, 70) as u8 };
        copy_elsewhere(plan, &mut originals, CopyKind::Excerpt, edit, &mut rng);
    }
    write_series(plan, copies.series_articles, &mut rng);
    add_variants(plan, &mut originals, copies.canonical_variants, &mut rng);
    mirrors::plant(plan, &mut rng);
}

/// The articles that can be copied, in random order and alternately in both languages; all are used before one is
/// used again.
struct Originals {
    by_lang: [Vec<PageNo>; 2],
    drawn: usize,
}

impl Originals {
    fn gather(plan: &WebPlan, rng: &mut Rng) -> Originals {
        let mut by_lang = [Vec::new(), Vec::new()];
        for &page in plan.sites.iter().flat_map(|site| &site.carriers) {
            let PlannedPage { kind, lang, .. } = plan.pages[page as usize];
            if kind == PageKind::Article && paragraph_count(plan.spec, page) >= LEAST_PARAGRAPHS {
                by_lang[usize::from(lang == Lang::Zh)].push(page);
            }
        }
        for pages in &mut by_lang {
            for last in (1..pages.len()).rev() {
                pages.swap(last, rng.below(last + 1));
            }
        }
        Originals { by_lang, drawn: 0 }
    }

    fn next(&mut self) -> Option<PageNo> {
        let (lang, place) = (self.drawn % 2, self.drawn / 2);
        self.drawn += 1;
        let pages =
            [&self.by_lang[lang], &self.by_lang[1 - lang]].into_iter().find(|pages| !pages.is_empty())?;
        Some(pages[place % pages.len()])
    }
}

/// Adds a reprint or an excerpt on another host. It changes with its original, and outlives it.
fn copy_elsewhere(
    plan: &mut WebPlan,
    originals: &mut Originals,
    kind: CopyKind,
    edit: TextEdit,
    rng: &mut Rng,
) {
    const DAY: u64 = 86_400;
    const NEW_HEADLINES: f64 = 0.25;
    let Some(of) = originals.next() else { return };
    let original = &plan.pages[of as usize];
    let Some(host) = other_host(plan, original, rng) else { return };
    let (lang, published) = (original.lang, original.published + DAY * rng.between(1, 30) as u64);
    let (changes, change_rate) = (original.changes.clone(), original.change_rate);
    let mut title = original.title.to_string();
    if rng.chance(NEW_HEADLINES) {
        let writer = TextWriter::new(lang, plan.hosts[host].topic);
        title = plan.new_title(|| writer.title(rng));
    }
    let section = rng.below(plan.sites[host].sections.len());
    let path = sites::article_path(plan, host, section, &title, lang);
    let page = plan.add(PlannedPage {
        published: published.min(START),
        changes,
        change_rate,
        copy: Some(PlannedCopy { of, kind, edit }),
        ..PlannedPage::new(host as u32, path, PageKind::Article, lang, title, Body::Generated(Vec::new()))
    });
    list(plan, host, section, page, rng);
}

/// Returns another host than that of the page, with the page's language if possible.
fn other_host(plan: &WebPlan, page: &PlannedPage, rng: &mut Rng) -> Option<usize> {
    let others: Vec<usize> = (0..plan.hosts.len()).filter(|&host| host != page.host as usize).collect();
    let same_lang: Vec<usize> =
        others.iter().copied().filter(|&host| plan.hosts[host].lang == page.lang).collect();
    let hosts = if same_lang.is_empty() { others } else { same_lang };
    (!hosts.is_empty()).then(|| rng.pick(&hosts))
}

/// Adds a planted page to a list of its section, with links to neighbours.
fn list(plan: &mut WebPlan, host: usize, section: usize, page: PageNo, rng: &mut Rng) {
    let shelf = &plan.sites[host].sections[section];
    let list = rng.pick(&shelf.lists);
    let neighbours: Vec<PageNo> = match &shelf.listed[..] {
        [] => Vec::new(),
        listed => (0..rng.between(2, 5)).map(|_| rng.pick(listed)).collect(),
    };
    plan.link(list, page, LinkPosition::List, rng);
    for neighbour in neighbours {
        plan.link(page, neighbour, LinkPosition::Related, rng);
    }
}

/// Adds original articles that share their first and last paragraph with the other articles of their series.
fn write_series(plan: &mut WebPlan, articles: usize, rng: &mut Rng) {
    let series_count = (articles / PARTS).max(1);
    let first_host = rng.below(plan.hosts.len());
    for number in 0..articles {
        let series = number % series_count;
        let host = (first_host + series) % plan.hosts.len();
        let (lang, topic) = (plan.hosts[host].lang, plan.hosts[host].topic);
        let shared = Series::new(plan.spec.seed, series as u32, &plan.hosts[host]);
        let writer = TextWriter::new(lang, topic);
        let part = number / series_count + 1;
        let title = plan.new_title(|| shared.headline(lang, part, &writer.title(rng)));
        let section = series % plan.sites[host].sections.len();
        let path = sites::article_path(plan, host, section, &title, lang);
        let page = plan.add(PlannedPage {
            published: sites::past(rng),
            series: Some(series as u32),
            ..PlannedPage::new(host as u32, path, PageKind::Article, lang, title, Body::Generated(Vec::new()))
        });
        links::text_links(plan, host, page, rng);
        list(plan, host, section, page, rng);
    }
}

/// Adds second URLs of articles, which appear and disappear with the first.
fn add_variants(plan: &mut WebPlan, originals: &mut Originals, count: usize, rng: &mut Rng) {
    let mut taken = HashSet::new();
    for _ in 0..count {
        let Some(of) = originals.next() else { return };
        let original = &plan.pages[of as usize];
        let host = original.host as usize;
        let tagged = format!("{}?from={}", original.path, rng.pick(&["rss", "mail", "wap"]));
        let path = if rng.chance(0.5) && taken.insert((host, tagged.clone())) {
            tagged
        } else {
            format!("/print/{}.html", plan.pages.len())
        };
        let variant = PlannedPage {
            published: original.published,
            changes: original.changes.clone(),
            change_rate: original.change_rate,
            deleted: original.deleted,
            copy: Some(PlannedCopy { of, kind: CopyKind::Variant, edit: TextEdit::Nothing }),
            canonical: Some(of),
            ..PlannedPage::new(
                original.host,
                path,
                original.kind,
                original.lang,
                original.title.to_string(),
                Body::Generated(Vec::new()),
            )
        };
        let page = plan.add(variant);
        let carrier = rng.pick(&plan.sites[host].carriers);
        plan.link(carrier, page, LinkPosition::Text, rng);
    }
}
