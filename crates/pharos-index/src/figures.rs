//! What the web says of a page, as columns: read for a few hundred candidates of a query without touching the pages.

use serde::{Deserialize, Serialize};
use tantivy::columnar::Column;
use tantivy::schema::{FAST, Field, SchemaBuilder, TantivyDocument};
use tantivy::{DocId, SegmentReader};

/// What the web says of a page. All zero where nothing is known yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WebFigures {
    /// PageRank, un-normalised: 1 on average.
    pub page_rank: f32,
    /// The same of its site.
    pub site_rank: f32,
    /// In-links from elsewhere with compensation for new pages, from 0 to 1 (链接权重).
    pub link_weight: f32,
    /// Pages that link to it (入度).
    pub in_degree: u32,
    /// Pages it links to (出度).
    pub out_degree: u32,
    /// Links from other registrable domains.
    pub link_hits: u32,
    /// Registrable domains with such links.
    pub linking_domains: u32,
    /// Copies of it, exact or nearly so (镜像度).
    pub mirror_degree: u32,
    /// Steps from its host up to the top-level domain.
    pub domain_depth: u32,
    /// Directories in its path.
    pub directory_depth: u32,
}

/// Columns of fractions and of counts, in the order of [`parts`].
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

fn parts(figures: &WebFigures) -> ([f32; 3], [u32; 7]) {
    let WebFigures {
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

fn of_parts(ranks: [f32; 3], counts: [u32; 7]) -> WebFigures {
    let [page_rank, site_rank, link_weight] = ranks;
    let [in_degree, out_degree, link_hits, linking_domains, mirror_degree, domain_depth, directory_depth] =
        counts;
    WebFigures {
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

impl WebFigures {
    /// The larger of each figure.
    pub(crate) fn max(&self, other: &Self) -> Self {
        let ((mut ranks, mut counts), (other_ranks, other_counts)) = (parts(self), parts(other));
        ranks.iter_mut().zip(other_ranks).for_each(|(rank, other)| *rank = rank.max(other));
        counts.iter_mut().zip(other_counts).for_each(|(count, other)| *count = other.max(*count));
        of_parts(ranks, counts)
    }
}

/// The fields of the figures.
#[derive(Clone, Debug)]
pub(crate) struct FigureFields {
    ranks: [Field; 3],
    counts: [Field; 7],
}

impl FigureFields {
    pub(crate) fn add_to(builder: &mut SchemaBuilder) -> Self {
        Self {
            ranks: RANKS.map(|name| builder.add_f64_field(name, FAST)),
            counts: COUNTS.map(|name| builder.add_u64_field(name, FAST)),
        }
    }

    /// Nothing is written where nothing is known.
    pub(crate) fn write(&self, figures: &WebFigures, out: &mut TantivyDocument) {
        let (ranks, counts) = parts(figures);
        for (field, rank) in self.ranks.into_iter().zip(ranks).filter(|(_, rank)| *rank != 0.0) {
            out.add_f64(field, rank.into());
        }
        for (field, count) in self.counts.into_iter().zip(counts).filter(|(_, count)| *count != 0) {
            out.add_u64(field, count.into());
        }
    }
}

/// The columns of the figures of one segment; those that no page of it has are not there.
pub(crate) struct FigureColumns {
    ranks: [Option<Column<f64>>; 3],
    counts: [Option<Column<u64>>; 7],
}

impl FigureColumns {
    pub(crate) fn of(segment: &SegmentReader) -> tantivy::Result<Self> {
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

    pub(crate) fn read(&self, doc: DocId) -> WebFigures {
        let rank = |column: &Option<Column<f64>>| column.as_ref().and_then(|column| column.first(doc));
        let count = |column: &Option<Column<u64>>| column.as_ref().and_then(|column| column.first(doc));
        of_parts(
            self.ranks.each_ref().map(|column| rank(column).unwrap_or_default() as f32),
            self.counts
                .each_ref()
                .map(|column| count(column).unwrap_or_default().try_into().unwrap_or(u32::MAX)),
        )
    }
}
