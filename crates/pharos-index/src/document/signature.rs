//! Near-duplicate group and signature of a page, as columns.

use pharos_core::{PageId, SiteId};
use tantivy::columnar::Column;
use tantivy::schema::{FAST, Field, SchemaBuilder, TantivyDocument};
use tantivy::{DocId, SegmentReader};

use crate::document::{DuplicateSignature, packed_column};

/// Columns with the two halves of the representative's id.
const GROUP: [&str; 2] = ["group_site_half", "group_page_half"];
const SIGNATURE: &str = "signature";

/// The schema fields of group and signature.
#[derive(Clone, Debug)]
pub(crate) struct SignatureFields {
    group: [Field; 2],
    signature: Field,
}

impl SignatureFields {
    pub(crate) fn add_to(builder: &mut SchemaBuilder) -> Self {
        Self {
            group: GROUP.map(|name| builder.add_u64_field(name, FAST)),
            signature: builder.add_u64_field(SIGNATURE, FAST),
        }
    }

    pub(crate) fn write(&self, group: Option<PageId>, signature: Option<&[u8]>, out: &mut TantivyDocument) {
        if let Some(group) = group {
            out.add_u64(self.group[0], group.site().0);
            out.add_u64(self.group[1], group.page());
        }
        if let Some(signature) = signature {
            packed_column::write(self.signature, signature, out);
        }
    }
}

/// The group and signature columns of one segment. Columns without any value do not exist.
pub(crate) struct SignatureColumns {
    group: [Option<Column<u64>>; 2],
    signature: Option<Column<u64>>,
}

impl SignatureColumns {
    pub(crate) fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let fast = segment.fast_fields();
        let [site, page] = GROUP.map(|name| fast.column_opt(name));
        Ok(Self { group: [site?, page?], signature: fast.column_opt(SIGNATURE)? })
    }

    pub(crate) fn read(&self, doc: DocId) -> DuplicateSignature {
        let [site, page] =
            self.group.each_ref().map(|column| column.as_ref().and_then(|column| column.first(doc)));
        let group = site.zip(page).map(|(site, page)| PageId::from_parts(SiteId(site), page));
        let signature = self.signature.as_ref().and_then(|column| packed_column::read(column, doc));
        DuplicateSignature { group, signature: signature.map(Vec::into_boxed_slice) }
    }
}
