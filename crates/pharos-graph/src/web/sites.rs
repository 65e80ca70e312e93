//! Which site and which domain a page belongs to, and the graph between sites.

use rayon::prelude::*;
use serde::Serialize;

use super::{Direction, Graph, GraphBuilder, GraphOptions};
use crate::GraphError;

/// The tables from page to site and from site to registrable domain. Domains are numbered like sites: below their count.
#[derive(Clone, Copy, Debug)]
pub struct PageSites<'table> {
    site_of_page: &'table [u32],
    domain_of_site: &'table [u32],
}

impl<'table> PageSites<'table> {
    /// Checks that the tables fit together.
    pub fn new(site_of_page: &'table [u32], domain_of_site: &'table [u32]) -> Result<Self, GraphError> {
        let sites = domain_of_site.len();
        check("sites of pages", site_of_page, sites)?;
        check("domains of sites", domain_of_site, sites)?;
        Ok(Self { site_of_page, domain_of_site })
    }

    /// Checks that the tables were made for this graph.
    pub(crate) fn check_graph(self, graph: &Graph) -> Result<(), GraphError> {
        let (found, expected) = (self.site_of_page.len(), graph.pages() as usize);
        if found == expected {
            return Ok(());
        }
        Err(GraphError::TableLength { table: "sites of pages", found, expected })
    }

    /// How many sites there are.
    pub fn sites(self) -> u32 {
        self.domain_of_site.len() as u32
    }

    /// How many domains there are: one more than the largest number.
    pub fn domains(self) -> u32 {
        self.domain_of_site.iter().max().map_or(0, |&largest| largest + 1)
    }

    /// The domain of every site.
    pub(crate) fn domains_of_sites(self) -> &'table [u32] {
        self.domain_of_site
    }

    /// The site of a page.
    ///
    /// # Panics
    /// If there is no such page, as a slice does.
    pub fn site(self, page: u32) -> u32 {
        self.site_of_page[page as usize]
    }

    /// The domain of a page.
    ///
    /// # Panics
    /// If there is no such page, as a slice does.
    pub fn domain(self, page: u32) -> u32 {
        self.domain_of_site[self.site(page) as usize]
    }
}

fn check(table: &'static str, entries: &[u32], limit: usize) -> Result<(), GraphError> {
    match entries.iter().position(|&value| value as usize >= limit) {
        Some(entry) => Err(GraphError::TableEntry { table, entry, value: entries[entry], limit }),
        None => Ok(()),
    }
}

/// The graph of sites: one link from a site to another however many of their pages are linked, and none between sites
/// of one domain, so that nobody recommends himself. A site of a thousand pages that all link home is worth no more
/// than one of a single page.
pub fn site_graph(graph: &Graph, places: PageSites<'_>, rules: GraphOptions) -> Result<Graph, GraphError> {
    places.check_graph(graph)?;
    let rules = GraphOptions { keep_duplicates: false, keep_self_links: false, ..rules };
    let mut builder = GraphBuilder::new(rules);
    for from in 0..graph.pages() {
        let source = places.site(from);
        let mut last = source;
        for &to in graph.links_from(from) {
            let target = places.site(to);
            // Neighbours in number are mostly neighbours in place: most repetitions end here.
            if target != last && places.domain(from) != places.domain(to) {
                builder.add(source, target)?;
                last = target;
            }
        }
    }
    builder.finish(places.sites())
}

/// Where links lead (封闭性: links that stay need not be handed to another crawler).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkClosure {
    /// Links within one site.
    pub same_site: u64,
    /// Links to another site of the same domain.
    pub same_domain: u64,
    /// Links to another domain.
    pub elsewhere: u64,
}

impl LinkClosure {
    /// The share of links that stay within their domain; 0 without links.
    pub fn share_inside(self) -> f64 {
        let inside = self.same_site + self.same_domain;
        let all = inside + self.elsewhere;
        if all == 0 { 0.0 } else { inside as f64 / all as f64 }
    }
}

/// Counts the links within sites, within domains and between domains.
pub fn link_closure(graph: &Graph, places: PageSites<'_>) -> Result<LinkClosure, GraphError> {
    places.check_graph(graph)?;
    let parts = graph.parts(Direction::Forward);
    let of_part = |part: std::ops::Range<usize>| {
        let mut closure = LinkClosure::default();
        for from in part.start as u32..part.end as u32 {
            for &to in graph.links_from(from) {
                if places.site(from) == places.site(to) {
                    closure.same_site += 1;
                } else if places.domain(from) == places.domain(to) {
                    closure.same_domain += 1;
                } else {
                    closure.elsewhere += 1;
                }
            }
        }
        closure
    };
    Ok(parts.into_par_iter().map(of_part).reduce(LinkClosure::default, |left, right| LinkClosure {
        same_site: left.same_site + right.same_site,
        same_domain: left.same_domain + right.same_domain,
        elsewhere: left.elsewhere + right.elsewhere,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_linked_once() {
        // Pages 0–2 on site 0, 3 on site 1 of the same domain, 4 on site 2 of another.
        let links = [(0, 1), (0, 3), (0, 4), (1, 4), (2, 4), (4, 3)];
        let graph = Graph::from_links(5, links, GraphOptions::default()).unwrap();
        let places = PageSites::new(&[0, 0, 0, 1, 2], &[0, 0, 1]).unwrap();
        let sites = site_graph(&graph, places, GraphOptions::default()).unwrap();
        assert_eq!(
            (sites.links_from(0), sites.links_from(2), sites.links()),
            ([2].as_slice(), [1].as_slice(), 2)
        );
        let closure = link_closure(&graph, places).unwrap();
        assert_eq!(closure, LinkClosure { same_site: 1, same_domain: 1, elsewhere: 4 });
        assert!((closure.share_inside() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        assert!(matches!(PageSites::new(&[1], &[0]), Err(GraphError::TableEntry { entry: 0, value: 1, .. })));
        assert!(matches!(PageSites::new(&[0], &[7]), Err(GraphError::TableEntry { .. })));
        let graph = Graph::from_links(2, [(0, 1)], GraphOptions::default()).unwrap();
        let places = PageSites::new(&[0], &[0]).unwrap();
        assert!(matches!(link_closure(&graph, places), Err(GraphError::TableLength { .. })));
    }
}
