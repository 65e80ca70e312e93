//! The file of a bigram model: magic, counts, words, pairs, checksum. Numbers are little-endian.

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::bigram_model::{Counts, MAX_PAIRS, MAX_WORD_BYTES, MAX_WORDS, Word};

const MAGIC: [u8; 8] = *b"PHAROSB1";
const CHECKSUM: usize = 8;

/// Why bytes are no bigram model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not a bigram model of this version: {0}")]
pub struct ModelError(&'static str);

pub(crate) fn write(counts: &Counts) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for count in [counts.words.len(), counts.pairs.len()] {
        out.extend((count as u32).to_le_bytes());
    }
    for (word, count) in &counts.words {
        out.push(word.len() as u8);
        out.extend(word.as_bytes());
        out.extend(count.to_le_bytes());
    }
    for (first, second, count) in &counts.pairs {
        for number in [first.0, second.0, *count] {
            out.extend(number.to_le_bytes());
        }
    }
    out.extend(xxh3_64(&out).to_le_bytes());
    out
}

/// Whatever the bytes are, no more is allocated than they hold.
pub(crate) fn read(bytes: &[u8]) -> Result<Counts, ModelError> {
    let (bytes, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or(ModelError("too short"))?;
    if !bytes.starts_with(&MAGIC) {
        return Err(ModelError("other magic number"));
    }
    if xxh3_64(bytes) != u64::from_le_bytes(*checksum) {
        return Err(ModelError("damaged: the checksum differs"));
    }
    let mut rest = Reader(&bytes[MAGIC.len()..]);
    let (words, pairs) = (rest.number()? as usize, rest.number()? as usize);
    if words > MAX_WORDS || pairs > MAX_PAIRS {
        return Err(ModelError("too large"));
    }
    let mut counts = Counts::default();
    for _ in 0..words {
        let [len] = rest.array::<1>()?;
        let word = std::str::from_utf8(rest.bytes(len.into())?).map_err(|_| ModelError("not utf-8"))?;
        if word.is_empty() || word.len() > MAX_WORD_BYTES {
            return Err(ModelError("a word of wrong length"));
        }
        counts.words.push((word.to_string(), rest.number()?));
    }
    if words <= Word::LETTERS.0 as usize || !counts.words.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(ModelError("words are not in order"));
    }
    for _ in 0..pairs {
        let (first, second, count) = (rest.number()?, rest.number()?, rest.number()?);
        if first as usize >= words || second as usize >= words || count == 0 {
            return Err(ModelError("a pair of words that are not there"));
        }
        counts.pairs.push((Word(first), Word(second), count));
    }
    if !rest.0.is_empty() || !counts.pairs.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)) {
        return Err(ModelError("pairs are not in order"));
    }
    Ok(counts)
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn bytes(&mut self, len: usize) -> Result<&'b [u8], ModelError> {
        let (part, rest) = self.0.split_at_checked(len).ok_or(ModelError("too short"))?;
        self.0 = rest;
        Ok(part)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        self.bytes(N)?.try_into().map_err(|_| ModelError("too short"))
    }

    fn number(&mut self) -> Result<u32, ModelError> {
        Ok(u32::from_le_bytes(self.array()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> Vec<u8> {
        let words = ["\u{1}", "\u{2}", "\u{3}", "灯", "灯塔"].map(|w| (w.to_string(), 2)).to_vec();
        write(&Counts { words, pairs: vec![(Word(0), Word(4), 2), (Word(4), Word(0), 1)] })
    }

    fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(at in 0usize..200, value in any::<u8>(), cut in 0usize..200, junk in prop::collection::vec(any::<u8>(), 0..60)) {
            let sample = sample();
            prop_assert!(read(&sample).is_ok());
            prop_assert!(read(&sample[..cut.min(sample.len() - 1)]).is_err());
            prop_assert!(read(&junk).is_err());
            let mut changed = sample.clone();
            let place = at % changed.len();
            changed[place] ^= value;
            prop_assert_eq!(read(&changed).is_ok(), value == 0);
            // The same with a checksum that fits: refused or read, never a panic.
            changed.truncate(changed.len() - CHECKSUM);
            let _ = read(&with_checksum(changed));
        }
    }
}
