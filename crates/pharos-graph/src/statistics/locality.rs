//! Topical locality (Davison 2000): similarity of linked pages compared with random pairs.
//!
//! The caller provides the similarity; this module samples the pairs. Davison's order, with the cosine of TF·IDF
//! vectors: same domain > siblings > different domains ≫ random.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde::Serialize;

use crate::GraphError;
use crate::web::{Graph, PageSites};

/// Mean similarity of one kind of pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MeanSimilarity {
    /// Number of compared pairs.
    pub pairs: u64,
    /// Mean similarity, 0 without pairs.
    pub mean: f64,
}

impl MeanSimilarity {
    fn add(&mut self, similarity: Option<f64>) {
        if let Some(similarity) = similarity.filter(|similarity| similarity.is_finite()) {
            self.pairs += 1;
            self.mean += (similarity - self.mean) / self.pairs as f64;
        }
    }
}

/// Mean similarities by kind of pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TopicalLocality {
    /// A page and a page of the same domain that it links to.
    pub same_domain: MeanSimilarity,
    /// A page and a page of another domain that it links to.
    pub other_domain: MeanSimilarity,
    /// Two pages that one page links to.
    pub siblings: MeanSimilarity,
    /// Two random pages.
    pub random: MeanSimilarity,
}

/// Compares at most `samples` pairs of every kind. `similarity` returns `None` for pages that cannot be compared.
pub fn topical_locality(
    graph: &Graph,
    page_sites: PageSites<'_>,
    samples: u32,
    seed: u64,
    mut similarity: impl FnMut(u32, u32) -> Option<f64>,
) -> Result<TopicalLocality, GraphError> {
    page_sites.check_graph(graph)?;
    let mut locality = TopicalLocality::default();
    let pages = graph.pages();
    if pages < 2 {
        return Ok(locality);
    }
    let mut rng = StdRng::seed_from_u64(seed);
    let samples = u64::from(samples);
    // Links of one kind may be rare or absent, so more pages are sampled, up to a limit.
    for _ in 0..samples.saturating_mul(8) {
        let linked = [locality.same_domain, locality.other_domain, locality.siblings];
        if linked.iter().all(|kind| kind.pairs >= samples) {
            break;
        }
        let page = rng.random_range(0..pages);
        let row = graph.links_from(page);
        if row.is_empty() {
            continue;
        }
        let first = row[rng.random_range(0..row.len())];
        let second = row[rng.random_range(0..row.len())];
        let kind = if page_sites.domain(page) == page_sites.domain(first) {
            &mut locality.same_domain
        } else {
            &mut locality.other_domain
        };
        if kind.pairs < samples && page != first {
            kind.add(similarity(page, first));
        }
        if first != second && locality.siblings.pairs < samples {
            locality.siblings.add(similarity(first, second));
        }
    }
    for _ in 0..samples {
        let (one, other) = (rng.random_range(0..pages), rng.random_range(0..pages));
        if one != other {
            locality.random.add(similarity(one, other));
        }
    }
    Ok(locality)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::GraphOptions;

    #[test]
    fn linked_pages_of_one_topic_are_nearer_than_random_ones() {
        // Ten topics of ten pages, each a domain with internal links; one link in ten leads to the next topic.
        let links = (0..100u32).flat_map(|page| {
            let home = page / 10 * 10;
            (home..home + 9).map(move |to| (page, to)).chain([(page, (home + 10) % 100)])
        });
        let graph = Graph::from_links(100, links, GraphOptions::default()).unwrap();
        let sites: Vec<u32> = (0..100).map(|page| page / 10).collect();
        let domains: Vec<u32> = (0..10).collect();
        let page_sites = PageSites::new(&sites, &domains).unwrap();
        let same_topic = |one: u32, other: u32| Some(f64::from(u8::from(one / 10 == other / 10)));
        let found = topical_locality(&graph, page_sites, 200, 7, same_topic).unwrap();
        assert_eq!((found.same_domain.mean, found.other_domain.mean), (1.0, 0.0));
        assert!(found.siblings.mean > 0.6 && found.random.mean < 0.25);
        assert_eq!(found, topical_locality(&graph, page_sites, 200, 7, same_topic).unwrap());
    }
}
