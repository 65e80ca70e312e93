//! Link figures of pages as columns, so that they can be read for a few hundred candidates without the stored
//! documents.

use serde::{Deserialize, Serialize};
use tantivy::columnar::Column;
use tantivy::schema::{FAST, Field, SchemaBuilder, TantivyDocument};
use tantivy::{DocId, SegmentReader};

/// The link figures of a page. All zero if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkFigures {
    /// PageRank, not normalised: 1 on average.
    pub page_rank: f32,
    /// PageRank of the site.
    pub site_rank: f32,
    /// Weighted in-links from other sites with compensation for new pages, from 0 to 1 (链接权重).
    pub link_weight: f32,
    /// Number of pages that link to it (入度).
    pub in_degree: u32,
    /// Number of pages that it links to (出度).
    pub out_degree: u32,
    /// Number of links from other registrable domains.
    pub link_hits: u32,
    /// Number of registrable domains with such links.
    pub linking_domains: u32,
    /// Number of exact and near copies (镜像度).
    pub mirror_degree: u32,
    /// Number of labels from the host up to the top-level domain.
    pub domain_depth: u32,
    /// Number of directories in the path.
    pub directory_depth: u32,
}

/// Names of the columns, in the order of [`to_arrays`].
const RANKS: [&str; 3] = ["page_rank", "site_rank", "link_weight"];
const COUNTS: [&str; 7] = [
    "in_degree",
    "out_degree",
    "link_hits",
    "linking_domains",
    "mirror_degree",
    "domain_depth",
    "directory_depth",
];

fn to_arrays(figures: &LinkFigures) -> ([f32; 3], [u32; 7]) {
    let LinkFigures {
        page_rank,
        site_rank,
        link_weight,
        in_degree,
        out_degree,
        link_hits,
        linking_domains,
        mirror_degree,
        domain_depth,
        directory_depth,
    } = *figures;
    let counts =
        [in_degree, out_degree, link_hits, linking_domains, mirror_degree, domain_depth, directory_depth];
    ([page_rank, site_rank, link_weight], counts)
}

fn from_arrays(ranks: [f32; 3], counts: [u32; 7]) -> LinkFigures {
    let [page_rank, site_rank, link_weight] = ranks;
    let [in_degree, out_degree, link_hits, linking_domains, mirror_degree, domain_depth, directory_depth] =
        counts;
    LinkFigures {
        page_rank,
        site_rank,
        link_weight,
        in_degree,
        out_degree,
        link_hits,
        linking_domains,
        mirror_degree,
        domain_depth,
        directory_depth,
    }
}

impl LinkFigures {
    /// Returns the maximum of each figure.
    pub(crate) fn max(&self, other: &Self) -> Self {
        let ((mut ranks, mut counts), (other_ranks, other_counts)) = (to_arrays(self), to_arrays(other));
        ranks.iter_mut().zip(other_ranks).for_each(|(rank, other)| *rank = rank.max(other));
        counts.iter_mut().zip(other_counts).for_each(|(count, other)| *count = other.max(*count));
        from_arrays(ranks, counts)
    }
}

/// The schema fields of the link figures.
#[derive(Clone, Debug)]
pub(crate) struct LinkFigureFields {
    ranks: [Field; 3],
    counts: [Field; 7],
}

impl LinkFigureFields {
    pub(crate) fn add_to(builder: &mut SchemaBuilder) -> Self {
        Self {
            ranks: RANKS.map(|name| builder.add_f64_field(name, FAST)),
            counts: COUNTS.map(|name| builder.add_u64_field(name, FAST)),
        }
    }

    /// Writes all figures except zeros.
    pub(crate) fn write(&self, figures: &LinkFigures, out: &mut TantivyDocument) {
        let (ranks, counts) = to_arrays(figures);
        for (field, rank) in self.ranks.into_iter().zip(ranks).filter(|(_, rank)| *rank != 0.0) {
            out.add_f64(field, rank.into());
        }
        for (field, count) in self.counts.into_iter().zip(counts).filter(|(_, count)| *count != 0) {
            out.add_u64(field, count.into());
        }
    }
}

/// The link figure columns of one segment. Columns without any value do not exist.
pub(crate) struct LinkFigureColumns {
    ranks: [Option<Column<f64>>; 3],
    counts: [Option<Column<u64>>; 7],
}

impl LinkFigureColumns {
    pub(crate) fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let fast = segment.fast_fields();
        let mut columns = Self { ranks: Default::default(), counts: Default::default() };
        for (column, name) in columns.ranks.iter_mut().zip(RANKS) {
            *column = fast.column_opt(name)?;
        }
        for (column, name) in columns.counts.iter_mut().zip(COUNTS) {
            *column = fast.column_opt(name)?;
        }
        Ok(columns)
    }

    pub(crate) fn site_rank(&self, doc: DocId) -> f32 {
        self.ranks[1].as_ref().and_then(|column| column.first(doc)).unwrap_or_default() as f32
    }

    pub(crate) fn read(&self, doc: DocId) -> LinkFigures {
        let rank = |column: &Option<Column<f64>>| column.as_ref().and_then(|column| column.first(doc));
        let count = |column: &Option<Column<u64>>| column.as_ref().and_then(|column| column.first(doc));
        from_arrays(
            self.ranks.each_ref().map(|column| rank(column).unwrap_or_default() as f32),
            self.counts
                .each_ref()
                .map(|column| count(column).unwrap_or_default().try_into().unwrap_or(u32::MAX)),
        )
    }
}
