//! Lists of pages and sites by descending value, without hidden ones.

use std::cmp::Ordering;

use pharos_core::PageUrl;
use serde::Serialize;

use super::Relations;
use crate::GraphError;
use crate::anchors::Anchor;

/// A page or site with its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedUrl {
    pub value: f64,
    /// URL of a page, or name of a site.
    pub url: String,
}

/// Figures of a page and its neighbours in the link graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbourhood {
    pub url: String,
    pub fetched: bool,
    pub page_rank: f64,
    pub site_rank: f64,
    pub in_degree: u32,
    /// Links from other domains.
    pub link_hits: u32,
    pub linking_domains: u32,
    pub out_degree: u32,
    pub link_weight: f32,
    pub mirror_degree: u32,
    pub domain_depth: usize,
    pub directory_depth: usize,
    /// The page crawled first, if the page has duplicates.
    pub representative: Option<String>,
    pub anchors: Vec<Anchor>,
    /// The highest-ranked pages with a link to the page.
    pub linked_from: Vec<Neighbour>,
    /// The highest-ranked pages that the page links to.
    pub links_to: Vec<Neighbour>,
}

/// A neighbouring page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbour {
    pub url: String,
    pub page_rank: f64,
}

impl Relations {
    /// Returns the `count` pages with the highest values; of equal ones, those numbered first.
    pub fn highest_pages(
        &self,
        pages: impl IntoIterator<Item = (u32, f64)>,
        count: usize,
    ) -> Result<Vec<RankedUrl>, GraphError> {
        let shown = pages.into_iter().filter(|(page, _)| !self.is_hidden(*page));
        let highest = highest(shown, count).into_iter();
        highest.map(|(page, value)| Ok(RankedUrl { value, url: self.url(page)? })).collect()
    }

    /// Returns the `count` sites with the highest of these values, one for each site.
    pub fn highest_sites(&self, values: &[f64], count: usize) -> Vec<RankedUrl> {
        let sites = (0..).zip(values.iter().copied()).filter(|(site, _)| !self.is_site_hidden(*site));
        let named = |(site, value): (u32, f64)| {
            let url = self.sites().get(site as usize)?.to_string();
            Some(RankedUrl { value, url })
        };
        highest(sites, count).into_iter().filter_map(named).collect()
    }

    /// Returns the figures of a page, with up to `count` neighbours in each direction.
    pub fn neighbourhood(&self, page: u32, count: usize) -> Result<Neighbourhood, GraphError> {
        let (graph, counts, url) = (self.graph(), self.counts(page), self.url(page)?);
        let parsed = PageUrl::parse(&url).ok();
        let neighbours = |pages: &[u32]| {
            let ranked = pages.iter().map(|page| (*page, self.page_ranks()[*page as usize]));
            let highest = self.highest_pages(ranked, count)?.into_iter();
            Ok::<_, GraphError>(
                highest.map(|page| Neighbour { url: page.url, page_rank: page.value }).collect(),
            )
        };
        Ok(Neighbourhood {
            fetched: self.is_fetched(page),
            page_rank: self.page_ranks()[page as usize],
            site_rank: self.site_ranks()[self.site(page) as usize],
            in_degree: counts.raw_link_hits,
            link_hits: counts.link_hits,
            linking_domains: counts.linking_domains,
            out_degree: counts.out_degree,
            link_weight: self.link_weight(page),
            mirror_degree: self.mirror_degree(page),
            domain_depth: parsed.as_ref().map_or(0, PageUrl::domain_depth),
            directory_depth: parsed.as_ref().map_or(0, PageUrl::directory_depth),
            representative: self.representative(page).map(|page| self.url(page)).transpose()?,
            anchors: self.anchors(page)?,
            linked_from: neighbours(graph.links_to(page))?,
            links_to: neighbours(graph.links_from(page))?,
            url,
        })
    }
}

/// Returns the `count` entries with the highest values in descending order.
fn highest(entries: impl Iterator<Item = (u32, f64)>, count: usize) -> Vec<(u32, f64)> {
    let descending = |one: &(u32, f64), other: &(u32, f64)| -> Ordering {
        other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
    };
    let mut entries: Vec<(u32, f64)> = entries.collect();
    if count < entries.len() {
        entries.select_nth_unstable_by(count, descending);
        entries.truncate(count);
    }
    entries.sort_unstable_by(descending);
    entries
}

#[cfg(test)]
mod tests {
    use pharos_core::LibraryPositions;

    use super::*;
    use crate::relations::{RelationsBuilder, RelationsOptions};

    fn relations() -> Relations {
        let folder = tempfile::tempdir().unwrap();
        let url = |text: &str| PageUrl::parse(text).unwrap();
        let mut builder = RelationsBuilder::begin(folder.path(), RelationsOptions::default()).unwrap();
        builder.add_page(&url("http://www.a.example/x/y.html")).unwrap();
        for (from, to) in [("a", "b"), ("c", "b"), ("d", "b"), ("b", "c")] {
            let page = |name: &str| match name {
                "a" => url("http://www.a.example/x/y.html"),
                name => url(&format!("http://{name}.example/")),
            };
            builder.add_link(&page(from), &page(to), "harbour").unwrap();
        }
        builder.finish(LibraryPositions::START, 0).unwrap();
        Relations::open(folder.path()).unwrap()
    }

    #[test]
    fn the_highest_come_first_and_ties_by_number() {
        let values = [(3, 1.0), (1, 2.0), (0, 1.0), (2, 0.5)];
        assert_eq!(highest(values.into_iter(), 3), [(1, 2.0), (0, 1.0), (3, 1.0)]);
        assert_eq!(highest(values.into_iter(), 9).len(), 4);
        assert_eq!(highest(values.into_iter(), 0), []);
    }

    #[test]
    fn hidden_pages_and_sites_are_not_listed() {
        let mut relations = relations();
        let ranks = relations.page_ranks().to_vec();
        let pages = || (0..).zip(ranks.iter().copied());
        let all = relations.highest_pages(pages(), 10).unwrap();
        assert_eq!((all.len(), all[0].url.as_str()), (4, "http://b.example/"));
        assert_eq!(relations.highest_sites(relations.site_ranks(), 10).len(), 4);
        let b = PageUrl::parse("http://b.example/").unwrap();
        relations.hide_site(b.site().id());
        assert_eq!(relations.highest_pages(pages(), 1).unwrap()[0].url, "http://c.example/");
        assert_eq!(relations.highest_sites(relations.site_ranks(), 10).len(), 3);
    }

    #[test]
    fn a_neighbourhood_has_both_directions() {
        let relations = relations();
        let number = |text: &str| relations.number(PageUrl::parse(text).unwrap().id()).unwrap();
        let b = relations.neighbourhood(number("http://b.example/"), 2).unwrap();
        assert_eq!((b.in_degree, b.linked_from.len(), b.links_to.len(), b.fetched), (3, 2, 1, false));
        assert_eq!(b.linked_from[0].url, "http://c.example/");
        assert_eq!(b.anchors[0].text, "harbour");
        let a = relations.neighbourhood(number("http://www.a.example/x/y.html"), 2).unwrap();
        assert_eq!((a.fetched, a.directory_depth, a.representative), (true, 2, None));
    }
}
