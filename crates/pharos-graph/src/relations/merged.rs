//! Metrics of several URLs with exactly the same words, which the index stores as one document.

use super::Relations;
use crate::rank::link_counts::LinkCounts;

/// Metrics of several pages as one document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergedMetrics {
    /// Sum of the ranks.
    pub page_rank: f64,
    /// Pages that link to any of the URLs, each counted once, without links among the URLs. The out-degree is
    /// that of the first URL.
    pub counts: LinkCounts,
    /// Maximum of the link weights.
    pub link_weight: f32,
}

impl Relations {
    /// Returns the merged metrics of these pages; the first page represents the others.
    pub fn merged_metrics(&self, pages: &[u32]) -> MergedMetrics {
        let page_rank = pages.iter().map(|page| self.page_ranks()[*page as usize]).sum();
        let link_weight = pages.iter().map(|page| self.link_weight(*page)).fold(0.0, f32::max);
        let counts = match pages {
            [] => LinkCounts::default(),
            [page] => self.counts(*page),
            [first, ..] => {
                LinkCounts { out_degree: self.counts(*first).out_degree, ..self.count_sources(pages) }
            }
        };
        MergedMetrics { page_rank, counts, link_weight }
    }

    /// Counts the links to any of these pages by source page.
    fn count_sources(&self, pages: &[u32]) -> LinkCounts {
        let domain = |page: u32| self.sites.domains[self.site(page) as usize];
        let mut own = pages.to_vec();
        own.sort_unstable();
        let mut sources: Vec<(u32, bool)> = Vec::new();
        for page in pages {
            let others =
                self.graph.links_to(*page).iter().filter(|source| own.binary_search(source).is_err());
            sources.extend(others.map(|source| (*source, domain(*source) != domain(*page))));
        }
        // Links from another domain sort last among the links of one source page.
        sources.sort_unstable();
        let each = sources.chunk_by(|one, other| one.0 == other.0);
        let from_other_domain =
            each.clone().filter_map(|same| same.last()).filter(|(_, is_other_domain)| *is_other_domain);
        let mut domains: Vec<u32> = from_other_domain.map(|(source, _)| domain(*source)).collect();
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (raw_link_hits, link_hits) = (narrow(each.count()), narrow(domains.len()));
        domains.sort_unstable();
        domains.dedup();
        LinkCounts { out_degree: 0, raw_link_hits, link_hits, linking_domains: narrow(domains.len()) }
    }
}
