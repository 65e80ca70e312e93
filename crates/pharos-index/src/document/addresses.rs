//! URLs of a document, its own and those of its exact copies, and their visibility.
//!
//! Newer generations hide URLs, not documents: a page or tombstone in a newer generation hides that URL in
//! older ones. A document is visible at its first URL that is not hidden. A query for a site shows it at its
//! first URL on that site.

use std::collections::HashSet;
use std::io;
use std::ops::{Bound, RangeBounds as _};
use std::sync::Arc;

use foldhash::fast::FixedState;
use pharos_core::{PageId, SiteId, SiteName};
use tantivy::columnar::{Column, ColumnValues, StrColumn};
use tantivy::{DocId, SegmentReader};

/// Columns with the two halves of the id of a document.
pub(crate) const OWN_ID_COLUMNS: [&str; 2] = ["site_half", "page_half"];
/// Columns with the two halves of the ids of its copies, in their order.
pub(crate) const COPY_ID_COLUMNS: [&str; 2] = ["copy_site_half", "copy_page_half"];
/// Column with the site of each URL, the document's own first; only for documents with copies.
pub(crate) const SITE_COLUMN: &str = "address_site";

/// The id columns of a segment.
pub(crate) struct AddressColumns {
    own: [Arc<dyn ColumnValues<u64>>; 2],
    copies: Option<[Column<u64>; 2]>,
}

impl AddressColumns {
    pub(crate) fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let fast = segment.fast_fields();
        let own = |name| Ok::<_, tantivy::TantivyError>(fast.u64(name)?.first_or_default_col(0));
        let [site, page] = COPY_ID_COLUMNS.map(|name| fast.column_opt::<u64>(name));
        Ok(Self {
            own: [own(OWN_ID_COLUMNS[0])?, own(OWN_ID_COLUMNS[1])?],
            copies: site?.zip(page?).map(|(s, p)| [s, p]),
        })
    }

    /// Returns the document's own id.
    pub(crate) fn own_id(&self, doc: DocId) -> PageId {
        page_id(self.own[0].get_val(doc), self.own[1].get_val(doc))
    }

    /// Returns the number of a URL among those of the document.
    pub(crate) fn address_number(&self, doc: DocId, page: PageId) -> Option<u32> {
        self.all_ids(doc).find(|(_, address)| *address == page).map(|(number, _)| number)
    }

    /// Returns the document's own id and those of its copies, with their numbers.
    fn all_ids(&self, doc: DocId) -> impl Iterator<Item = (u32, PageId)> + '_ {
        let copies = self.copies.iter().flat_map(move |[site, page]| {
            site.values_for_doc(doc).zip(page.values_for_doc(doc)).map(|(site, page)| page_id(site, page))
        });
        (0..).zip(std::iter::once(self.own_id(doc)).chain(copies))
    }
}

fn page_id(site_half: u64, page_half: u64) -> PageId {
    PageId::from_parts(SiteId(site_half), page_half)
}

/// Ids of the pages in newer generations, tombstones included.
pub(crate) type HiddenPages = Vec<Arc<PageSet>>;

/// A set of page ids. Ids are already hashes, so a fast hash function suffices.
pub(crate) type PageSet = HashSet<PageId, FixedState>;

/// The site conditions of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SiteFilter {
    pub(crate) included: Vec<String>,
    pub(crate) excluded: Vec<String>,
}

/// The visible URLs of the documents of one segment.
pub(crate) struct VisibleAddresses<'a> {
    addresses: &'a AddressColumns,
    hidden: &'a HiddenPages,
    sites: Option<SegmentSiteFilter>,
}

impl<'a> VisibleAddresses<'a> {
    pub(crate) fn new(
        segment: &SegmentReader,
        addresses: &'a AddressColumns,
        hidden: &'a HiddenPages,
        rules: &SiteFilter,
    ) -> tantivy::Result<Self> {
        let column =
            if rules == &SiteFilter::default() { None } else { segment.fast_fields().str(SITE_COLUMN)? };
        let sites = column.map(|column| SegmentSiteFilter::new(&column, rules)).transpose()?;
        Ok(Self { addresses, hidden, sites })
    }

    /// Returns `true` if every document is visible at its first URL.
    pub(crate) fn is_unrestricted(&self) -> bool {
        self.hidden.is_empty() && self.sites.is_none()
    }

    /// Returns the visible URLs of a document with their numbers, preferred ones first.
    pub(crate) fn addresses(&self, doc: DocId) -> impl Iterator<Item = (u32, PageId)> + '_ {
        let mut matches = self.sites.as_ref().map(|sites| sites.matches(doc));
        self.addresses.all_ids(doc).filter(move |(_, page)| {
            // The column is empty for documents without copies: the query has already checked their site.
            let matches = matches.as_mut().and_then(Iterator::next).unwrap_or(true);
            matches && !self.hidden.iter().any(|set| set.contains(page))
        })
    }
}

/// A range of site ordinals of a segment.
type OrdinalRange = (Bound<u64>, Bound<u64>);

/// Site conditions translated to ordinals of one segment.
struct SegmentSiteFilter {
    column: Column<u64>,
    rules: Vec<(bool, [OrdinalRange; 3])>,
}

impl SegmentSiteFilter {
    fn new(column: &StrColumn, rules: &SiteFilter) -> io::Result<Self> {
        let included = rules.included.iter().map(|site| (true, site));
        let excluded = rules.excluded.iter().map(|site| (false, site));
        let rules =
            included.chain(excluded).map(|(included, site)| Ok((included, site_ordinals(column, site)?)));
        Ok(Self { column: column.ords().clone(), rules: rules.collect::<io::Result<_>>()? })
    }

    /// Returns for each URL of a document, in order, whether it fulfils the conditions.
    fn matches(&self, doc: DocId) -> impl Iterator<Item = bool> + '_ {
        self.column.values_for_doc(doc).map(|site| {
            self.rules
                .iter()
                .all(|(included, site_ordinals)| site_ordinals.iter().any(|n| n.contains(&site)) == *included)
        })
    }
}

/// Returns the column form of a site, `org.example.www:8080`, which sorts a host next to its subdomains.
pub(crate) fn reversed_site(site: &SiteName) -> String {
    let labels: Vec<&str> = site.host().rsplit('.').collect();
    labels.join(".") + &site.as_str()[site.host().len()..]
}

/// Returns the ordinals of the site, of its subdomains and of its other ports.
fn site_ordinals(column: &StrColumn, site: &str) -> io::Result<[OrdinalRange; 3]> {
    let site = reversed_site(&SiteName::from_stored(site.to_string()));
    let from_to = |from: &str, to: &str| {
        let (from, to) = (format!("{site}{from}"), format!("{site}{to}"));
        column.dictionary().term_bounds_to_ord(Bound::Included(from), Bound::Excluded(to))
    };
    // The exclusive end of each range is the next character: NUL is the first of all, `/` follows `.`, and `;`
    // follows `:`.
    Ok([from_to("", "\0")?, from_to(".", "/")?, from_to(":", ";")?])
}
