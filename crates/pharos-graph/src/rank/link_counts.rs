//! In-link counts: all in-links, in-links from other domains, and linking domains.
//!
//! LHN (Link Hit Number, 链接命中数; 《搜索引擎——原理、技术与系统》§10.3) counts only links from other sites: templates repeat navigation
//! links, large sites inflate their home pages, and cheating editors add invisible links. The book does not define a
//! site; here it is the registrable domain, because subdomains cost nothing.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::web::{Direction, Graph, PageSites, split_table};

/// Link counts of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkCounts {
    pub out_degree: u32,
    /// Links to this page from anywhere: the in-degree (入度), called raw LHN (原始 LHN) in the book.
    pub raw_link_hits: u32,
    /// LHN: links to this page from pages of other domains.
    pub link_hits: u32,
    /// Number of other domains that link to this page.
    pub linking_domains: u32,
}

/// Computes the counts of every page. Counts saturate at `u32::MAX`.
pub fn link_counts(graph: &Graph, page_sites: PageSites<'_>) -> Result<Vec<LinkCounts>, GraphError> {
    page_sites.check_graph(graph)?;
    let parts = graph.parts(Direction::Backward);
    let mut counts = vec![LinkCounts::default(); graph.pages() as usize];
    let work: Vec<_> = parts.iter().cloned().zip(split_table(&mut counts, &parts, 1)).collect();
    work.into_par_iter().for_each(|(part, counts)| {
        let mut domains = Vec::new();
        for (page, count) in part.zip(counts) {
            let page = page as u32;
            let own = page_sites.domain(page);
            let sources = graph.links_to(page);
            domains.clear();
            domains.extend(
                sources.iter().map(|&source| page_sites.domain(source)).filter(|&domain| domain != own),
            );
            let link_hits = narrow(domains.len());
            domains.sort_unstable();
            domains.dedup();
            *count = LinkCounts {
                out_degree: narrow(graph.links_from(page).len()),
                raw_link_hits: narrow(sources.len()),
                link_hits,
                linking_domains: narrow(domains.len()),
            };
        }
    });
    Ok(counts)
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::GraphOptions;

    #[test]
    fn a_farm_of_a_thousand_pages_changes_no_link_hits() {
        // Pages 0 and 1 are on two sites of one domain; 2, 3 and 4 belong to other domains.
        let web = [(2, 0), (3, 0), (4, 0), (2, 1), (1, 0)];
        let farm = (5..1_005).map(|page| (page, 0));
        let sites: Vec<u32> = [0, 1, 2, 2, 3].into_iter().chain((0..1_000).map(|page| page % 2)).collect();
        let domains = [0, 0, 1, 2];

        let graph = Graph::from_links(5, web, GraphOptions::default()).unwrap();
        let before = link_counts(&graph, PageSites::new(&sites[..5], &domains).unwrap()).unwrap();
        let expected = LinkCounts { out_degree: 0, raw_link_hits: 4, link_hits: 3, linking_domains: 2 };
        assert_eq!(before[0], expected);

        let graph = Graph::from_links(1_005, web.into_iter().chain(farm), GraphOptions::default()).unwrap();
        let after = link_counts(&graph, PageSites::new(&sites, &domains).unwrap()).unwrap();
        assert_eq!(after[0], LinkCounts { raw_link_hits: 1_004, ..expected });
        assert_eq!(after[1..5], before[1..5]);
    }
}
