//! Short byte strings packed into a numeric column: the length, then eight bytes per number.
//!
//! A bytes column would use a dictionary, of which a block must be decoded for each value, and the document store
//! keeps values next to the page texts. The packed column needs only a few memory reads.

use tantivy::DocId;
use tantivy::columnar::Column;
use tantivy::schema::{Field, TantivyDocument};

pub(crate) fn write(field: Field, bytes: &[u8], out: &mut TantivyDocument) {
    out.add_u64(field, bytes.len() as u64);
    for piece in bytes.chunks(8) {
        let mut number = [0; 8];
        number[..piece.len()].copy_from_slice(piece);
        out.add_u64(field, u64::from_le_bytes(number));
    }
}

pub(crate) fn read(column: &Column<u64>, doc: DocId) -> Option<Vec<u8>> {
    let mut numbers = column.values_for_doc(doc);
    let length = usize::try_from(numbers.next()?).ok()?;
    let mut bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
    (length <= bytes.len()).then(|| {
        bytes.truncate(length);
        bytes
    })
}
