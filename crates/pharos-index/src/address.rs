//! The addresses of a document, its own and those of its exact copies, and which of them may be shown.
//!
//! A newer member speaks of addresses, not of documents: where it has a page of its own, or a mark that the page is
//! gone, that address of older documents is hidden. A document is hidden when all its addresses are; else it is shown
//! at the first that is not, and a query for a site shows it at the first of that site.

use std::collections::HashSet;
use std::io;
use std::ops::{Bound, RangeBounds as _};
use std::sync::Arc;

use foldhash::fast::FixedState;
use pharos_core::{PageId, SiteId, SiteName};
use tantivy::columnar::{Column, ColumnValues, StrColumn};
use tantivy::{DocId, SegmentReader};

/// Columns with the id of a document, its halves apart.
pub(crate) const OWN: [&str; 2] = ["site_half", "page_half"];
/// … and with the ids of its copies, in their order.
pub(crate) const COPIES: [&str; 2] = ["copy_site_half", "copy_page_half"];
/// The site of each address, the document's own first; only where there are copies.
pub(crate) const SITES: &str = "address_site";

/// The ids of documents and of their copies.
pub(crate) struct Addresses {
    own: [Arc<dyn ColumnValues<u64>>; 2],
    copies: Option<[Column<u64>; 2]>,
}

impl Addresses {
    pub(crate) fn of(segment: &SegmentReader) -> tantivy::Result<Self> {
        let fast = segment.fast_fields();
        let own = |name| Ok::<_, tantivy::TantivyError>(fast.u64(name)?.first_or_default_col(0));
        let [site, page] = COPIES.map(|name| fast.column_opt::<u64>(name));
        Ok(Self { own: [own(OWN[0])?, own(OWN[1])?], copies: site?.zip(page?).map(|(s, p)| [s, p]) })
    }

    /// The document's own id.
    pub(crate) fn own(&self, doc: DocId) -> PageId {
        page_id(self.own[0].get_val(doc), self.own[1].get_val(doc))
    }

    /// Which of a document's addresses this is.
    pub(crate) fn number(&self, doc: DocId, page: PageId) -> Option<u32> {
        self.all(doc).find(|(_, address)| *address == page).map(|(number, _)| number)
    }

    /// Its own id and those of its copies, with their numbers.
    fn all(&self, doc: DocId) -> impl Iterator<Item = (u32, PageId)> + '_ {
        let copies = self.copies.iter().flat_map(move |[site, page]| {
            site.values_for_doc(doc).zip(page.values_for_doc(doc)).map(|(site, page)| page_id(site, page))
        });
        (0..).zip(std::iter::once(self.own(doc)).chain(copies))
    }
}

fn page_id(site_half: u64, page_half: u64) -> PageId {
    PageId::from_parts(SiteId(site_half), page_half)
}

/// What newer members speak of, gone pages too.
pub(crate) type Hidden = Vec<Arc<PageSet>>;

/// Ids are hashes already: hashing them must be quick, not hard to foresee.
pub(crate) type PageSet = HashSet<PageId, FixedState>;

/// The sites that a query wants addresses of, and those it wants none of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SiteRules {
    pub(crate) wanted: Vec<String>,
    pub(crate) unwanted: Vec<String>,
}

/// The addresses of the documents of one segment that may be shown.
pub(crate) struct Shown<'a> {
    addresses: &'a Addresses,
    hidden: &'a Hidden,
    sites: Option<SegmentSites>,
}

impl<'a> Shown<'a> {
    pub(crate) fn of(
        segment: &SegmentReader,
        addresses: &'a Addresses,
        hidden: &'a Hidden,
        rules: &SiteRules,
    ) -> tantivy::Result<Self> {
        let column = if rules == &SiteRules::default() { None } else { segment.fast_fields().str(SITES)? };
        let sites = column.map(|column| SegmentSites::of(&column, rules)).transpose()?;
        Ok(Self { addresses, hidden, sites })
    }

    /// May every document be shown, at its first address?
    pub(crate) fn all(&self) -> bool {
        self.hidden.is_empty() && self.sites.is_none()
    }

    /// The addresses of a document that may be shown, with their numbers, the best first.
    pub(crate) fn addresses(&self, doc: DocId) -> impl Iterator<Item = (u32, PageId)> + '_ {
        let mut fits = self.sites.as_ref().map(|sites| sites.fit(doc));
        self.addresses.all(doc).filter(move |(_, page)| {
            // Where there are no copies the column is empty: the query itself has looked at the one site there is.
            let fits = fits.as_mut().and_then(Iterator::next).unwrap_or(true);
            fits && !self.hidden.iter().any(|set| set.contains(page))
        })
    }
}

/// Numbers of sites in a segment.
type Numbers = (Bound<u64>, Bound<u64>);

/// Rules about sites, as numbers of one segment.
struct SegmentSites {
    column: Column<u64>,
    rules: Vec<(bool, [Numbers; 3])>,
}

impl SegmentSites {
    fn of(column: &StrColumn, rules: &SiteRules) -> io::Result<Self> {
        let wanted = rules.wanted.iter().map(|site| (true, site));
        let unwanted = rules.unwanted.iter().map(|site| (false, site));
        let rules = wanted.chain(unwanted).map(|(wanted, site)| Ok((wanted, numbers(column, site)?)));
        Ok(Self { column: column.ords().clone(), rules: rules.collect::<io::Result<_>>()? })
    }

    /// Do the addresses of a document, in their order, fit the rules?
    fn fit(&self, doc: DocId) -> impl Iterator<Item = bool> + '_ {
        self.column.values_for_doc(doc).map(|site| {
            self.rules.iter().all(|(wanted, numbers)| numbers.iter().any(|n| n.contains(&site)) == *wanted)
        })
    }
}

/// A site as it stands in the column: `org.example.www:8080`. The sites of one host stand together, and so do those
/// below it.
pub(crate) fn reversed(site: &SiteName) -> String {
    let labels: Vec<&str> = site.host().rsplit('.').collect();
    labels.join(".") + &site.as_str()[site.host().len()..]
}

/// The site itself, the hosts below it, and its other ports.
fn numbers(column: &StrColumn, site: &str) -> io::Result<[Numbers; 3]> {
    let site = reversed(&SiteName::from_stored(site.to_string()));
    let from_to = |from: &str, to: &str| {
        let (from, to) = (format!("{site}{from}"), format!("{site}{to}"));
        column.dictionary().term_bounds_to_ord(Bound::Included(from), Bound::Excluded(to))
    };
    // The next character after each decides where the range ends: NUL is the first of all, / follows on . and ; on :
    Ok([from_to("", "\0")?, from_to(".", "/")?, from_to(":", ";")?])
}
