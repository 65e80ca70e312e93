//! What several addresses with the very same words receive together: one document is found for all of them.

use super::Relations;
use crate::rank::link_counts::LinkCounts;

/// What the web says of several pages as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MergedMetrics {
    /// The ranks of all: whoever comes by one of them has read the page.
    pub page_rank: f64,
    /// Pages that link to one of them, each counted once; their links to each other do not count. Links from them are
    /// those of the first.
    pub counts: LinkCounts,
    /// The largest.
    pub link_weight: f32,
}

impl Relations {
    /// What these pages receive together; the first stands for the others.
    pub fn together(&self, pages: &[u32]) -> MergedMetrics {
        let page_rank = pages.iter().map(|page| self.page_ranks()[*page as usize]).sum();
        let link_weight = pages.iter().map(|page| self.link_weight(*page)).fold(0.0, f32::max);
        let counts = match pages {
            [] => LinkCounts::default(),
            [page] => self.counts(*page),
            [first, ..] => LinkCounts { out_degree: self.counts(*first).out_degree, ..self.united(pages) },
        };
        MergedMetrics { page_rank, counts, link_weight }
    }

    /// Links to one of these pages, by the pages they come from.
    fn united(&self, pages: &[u32]) -> LinkCounts {
        let domain = |page: u32| self.sites.domains[self.site(page) as usize];
        let mut own = pages.to_vec();
        own.sort_unstable();
        let mut sources: Vec<(u32, bool)> = Vec::new();
        for page in pages {
            let others =
                self.graph.links_to(*page).iter().filter(|source| own.binary_search(source).is_err());
            sources.extend(others.map(|source| (*source, domain(*source) != domain(*page))));
        }
        // Of a page that links to several, the link from elsewhere comes last.
        sources.sort_unstable();
        let each = sources.chunk_by(|one, other| one.0 == other.0);
        let elsewhere = each.clone().filter_map(|same| same.last()).filter(|(_, is_elsewhere)| *is_elsewhere);
        let mut domains: Vec<u32> = elsewhere.map(|(source, _)| domain(*source)).collect();
        let narrow = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (raw_link_hits, link_hits) = (narrow(each.count()), narrow(domains.len()));
        domains.sort_unstable();
        domains.dedup();
        LinkCounts { out_degree: 0, raw_link_hits, link_hits, linking_domains: narrow(domains.len()) }
    }
}
