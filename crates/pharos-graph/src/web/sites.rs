//! Assignment of pages to sites and registrable domains, and the link graph of sites.

use rayon::prelude::*;
use serde::Serialize;

use super::{Direction, Graph, GraphBuilder, GraphOptions};
use crate::GraphError;

/// Tables from page to site and from site to registrable domain. Domain numbers are below the number of sites.
#[derive(Clone, Copy, Debug)]
pub struct PageSites<'table> {
    site_of_page: &'table [u32],
    domain_of_site: &'table [u32],
}

impl<'table> PageSites<'table> {
    /// Creates the assignment after checking that every entry is in range.
    pub fn new(site_of_page: &'table [u32], domain_of_site: &'table [u32]) -> Result<Self, GraphError> {
        let sites = domain_of_site.len();
        check_entries("sites of pages", site_of_page, sites)?;
        check_entries("domains of sites", domain_of_site, sites)?;
        Ok(Self { site_of_page, domain_of_site })
    }

    /// Checks that the tables have an entry for every page of the graph.
    pub(crate) fn check_graph(self, graph: &Graph) -> Result<(), GraphError> {
        let (found, expected) = (self.site_of_page.len(), graph.pages() as usize);
        if found == expected {
            return Ok(());
        }
        Err(GraphError::TableLength { table: "sites of pages", found, expected })
    }

    /// Returns the number of sites.
    pub fn sites(self) -> u32 {
        self.domain_of_site.len() as u32
    }

    /// Returns the number of domains, which is one more than the largest domain number.
    pub fn domains(self) -> u32 {
        self.domain_of_site.iter().max().map_or(0, |&largest| largest + 1)
    }

    /// Returns the domain of every site.
    pub(crate) fn domains_of_sites(self) -> &'table [u32] {
        self.domain_of_site
    }

    /// Returns the site of a page.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn site(self, page: u32) -> u32 {
        self.site_of_page[page as usize]
    }

    /// Returns the domain of a page.
    ///
    /// # Panics
    /// If there is no such page.
    pub fn domain(self, page: u32) -> u32 {
        self.domain_of_site[self.site(page) as usize]
    }
}

fn check_entries(table: &'static str, entries: &[u32], limit: usize) -> Result<(), GraphError> {
    match entries.iter().position(|&value| value as usize >= limit) {
        Some(entry) => Err(GraphError::TableEntry { table, entry, value: entries[entry], limit }),
        None => Ok(()),
    }
}

/// Builds the graph of sites. A pair of sites has one link, however many of their pages are linked, and sites of one
/// domain have none. A site of a thousand pages that all link to its home page therefore counts no more than a site of
/// one page.
pub fn site_graph(
    graph: &Graph,
    page_sites: PageSites<'_>,
    options: GraphOptions,
) -> Result<Graph, GraphError> {
    page_sites.check_graph(graph)?;
    let options = GraphOptions { keep_duplicates: false, keep_self_links: false, ..options };
    let mut builder = GraphBuilder::new(options);
    for from in 0..graph.pages() {
        let source = page_sites.site(from);
        let mut last = source;
        for &to in graph.links_from(from) {
            let target = page_sites.site(to);
            // Consecutive targets are mostly on the same site, so this removes most repetitions early.
            if target != last && page_sites.domain(from) != page_sites.domain(to) {
                builder.add(source, target)?;
                last = target;
            }
        }
    }
    builder.finish(page_sites.sites())
}

/// Numbers of links by destination (封闭性): links within a site or domain need not be passed to another crawler node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkClosure {
    pub same_site: u64,
    /// Links to another site of the same domain.
    pub same_domain: u64,
    /// Links to another domain.
    pub elsewhere: u64,
}

impl LinkClosure {
    /// Returns the share of links that stay within their domain, or 0 without links.
    pub fn share_inside(self) -> f64 {
        let inside = self.same_site + self.same_domain;
        let all = inside + self.elsewhere;
        if all == 0 { 0.0 } else { inside as f64 / all as f64 }
    }
}

/// Counts the links within sites, within domains and between domains.
pub fn link_closure(graph: &Graph, page_sites: PageSites<'_>) -> Result<LinkClosure, GraphError> {
    page_sites.check_graph(graph)?;
    let parts = graph.parts(Direction::Forward);
    let count_part = |part: std::ops::Range<usize>| {
        let mut closure = LinkClosure::default();
        for from in part.start as u32..part.end as u32 {
            for &to in graph.links_from(from) {
                if page_sites.site(from) == page_sites.site(to) {
                    closure.same_site += 1;
                } else if page_sites.domain(from) == page_sites.domain(to) {
                    closure.same_domain += 1;
                } else {
                    closure.elsewhere += 1;
                }
            }
        }
        closure
    };
    Ok(parts.into_par_iter().map(count_part).reduce(LinkClosure::default, |left, right| LinkClosure {
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
        let page_sites = PageSites::new(&[0, 0, 0, 1, 2], &[0, 0, 1]).unwrap();
        let sites = site_graph(&graph, page_sites, GraphOptions::default()).unwrap();
        assert_eq!(
            (sites.links_from(0), sites.links_from(2), sites.links()),
            ([2].as_slice(), [1].as_slice(), 2)
        );
        let closure = link_closure(&graph, page_sites).unwrap();
        assert_eq!(closure, LinkClosure { same_site: 1, same_domain: 1, elsewhere: 4 });
        assert!((closure.share_inside() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        assert!(matches!(PageSites::new(&[1], &[0]), Err(GraphError::TableEntry { entry: 0, value: 1, .. })));
        assert!(matches!(PageSites::new(&[0], &[7]), Err(GraphError::TableEntry { .. })));
        let graph = Graph::from_links(2, [(0, 1)], GraphOptions::default()).unwrap();
        let page_sites = PageSites::new(&[0], &[0]).unwrap();
        assert!(matches!(link_closure(&graph, page_sites), Err(GraphError::TableLength { .. })));
    }
}
