//! The file format of a phrase index: counts, texts, ends, weights, sorted lists, checksum. Numbers are
//! little-endian.

use std::sync::OnceLock;

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::{PhraseIndex, PhrasePosition, PhraseTable, SortedPositions};

const MAGIC: &[u8; 8] = b"PHAROSP1";
/// Magic number of release 0.1, which is also that of bigram models. The content is the same.
const OLD_MAGIC: &[u8; 8] = b"PHAROSB1";
const CHECKSUM_BYTES: usize = 8;

/// Error: the bytes are not a valid phrase index.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid phrase index or unsupported version: {0}")]
pub struct PhraseIndexError(&'static str);

impl PhraseIndex {
    /// Serialises the index.
    pub fn to_image(&self) -> Vec<u8> {
        let PhraseTable { texts, ends, weights } = &self.table;
        let orders = self.orders().map(|(order, _)| order.positions());
        let mut out = MAGIC.to_vec();
        let counts =
            [texts.len(), ends.len()].into_iter().chain(orders.iter().map(|positions| positions.len()));
        counts.for_each(|count| out.extend((count as u64).to_le_bytes()));
        out.extend(texts.as_bytes());
        ends.iter().for_each(|end| out.extend(end.to_le_bytes()));
        weights.iter().for_each(|weight| out.extend(weight.to_le_bytes()));
        orders
            .iter()
            .for_each(|positions| positions.iter().for_each(|position| out.extend(position.0.to_le_bytes())));
        out.extend(xxh3_64(&out).to_le_bytes());
        out
    }

    /// Deserialises an index. All positions are validated, so that lookups cannot fail.
    ///
    /// # Errors
    /// Fails if the checksum, magic number, length or content is invalid.
    pub fn from_image(image: &[u8]) -> Result<Self, PhraseIndexError> {
        let (body, sum) = image.split_last_chunk::<CHECKSUM_BYTES>().ok_or(PhraseIndexError("too short"))?;
        if xxh3_64(body) != u64::from_le_bytes(*sum) {
            return Err(PhraseIndexError("wrong checksum"));
        }
        let mut rest = ImageReader(body);
        if ![MAGIC, OLD_MAGIC].iter().any(|magic| rest.0.starts_with(*magic)) {
            return Err(PhraseIndexError("wrong magic number"));
        }
        rest.take(MAGIC.len())?;
        let mut counts = [0; 7];
        for count in &mut counts {
            *count = rest.count()?;
        }
        let [texts, phrases, orders @ ..] = counts;
        let texts =
            String::from_utf8(rest.take(texts)?.to_vec()).map_err(|_| PhraseIndexError("invalid UTF-8"))?;
        let ends = rest.numbers(phrases)?;
        let weights = rest.numbers(phrases)?.into_iter().map(f32::from_bits).collect();
        let table = PhraseTable { texts, ends, weights };
        check(&table)?;
        let [written, written_middles, sounds, sound_middles, initials] = orders;
        let mut order = |count| order(&table, rest.numbers(count)?);
        let (written, written_middles) = (order(written)?, order(written_middles)?);
        let (sounds, sound_middles, initials) = (order(sounds)?, order(sound_middles)?, order(initials)?);
        if !rest.0.is_empty() {
            return Err(PhraseIndexError("trailing bytes"));
        }
        let filters = OnceLock::new();
        Ok(Self { table, written, written_middles, sounds, sound_middles, initials, filters })
    }
}

fn check(table: &PhraseTable) -> Result<(), PhraseIndexError> {
    let mut start = 0;
    for end in &table.ends {
        let is_text = *end >= start && table.texts.is_char_boundary(*end as usize);
        if !is_text {
            return Err(PhraseIndexError("invalid phrase boundary"));
        }
        start = *end;
    }
    Ok(())
}

fn order(table: &PhraseTable, positions: Vec<u32>) -> Result<SortedPositions, PhraseIndexError> {
    let positions: Vec<PhrasePosition> = positions.into_iter().map(PhrasePosition).collect();
    let is_there = |position: &PhrasePosition| {
        (position.phrase() as usize) < table.ends.len()
            && table.text(position.phrase()).is_char_boundary(position.offset())
    };
    if !positions.iter().all(is_there) {
        return Err(PhraseIndexError("position outside of its phrase"));
    }
    Ok(SortedPositions::from_sorted(positions))
}

/// The bytes that have not been read yet.
struct ImageReader<'i>(&'i [u8]);

impl<'i> ImageReader<'i> {
    fn take(&mut self, bytes: usize) -> Result<&'i [u8], PhraseIndexError> {
        let (taken, rest) =
            self.0.split_at_checked(bytes).ok_or(PhraseIndexError("unexpected end of file"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn count(&mut self) -> Result<usize, PhraseIndexError> {
        let bytes = self.take(8)?.try_into().map_err(|_| PhraseIndexError("unexpected end of file"))?;
        usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| PhraseIndexError("too large"))
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<u32>, PhraseIndexError> {
        let bytes = self.take(count.checked_mul(4).ok_or(PhraseIndexError("too large"))?)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
    }
}
