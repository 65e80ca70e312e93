//! The file format of a bigram model: magic, counts, words, pairs, checksum. Numbers are little-endian.

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64;

use super::bigram_model::{BigramCounts, MAX_PAIRS, MAX_WORD_BYTES, MAX_WORDS, ModelWord};

const MAGIC: [u8; 8] = *b"PHAROSB1";
const CHECKSUM: usize = 8;

/// Error: the bytes are not a valid bigram model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid bigram model or unsupported version: {0}")]
pub struct BigramModelError(&'static str);

pub(crate) fn write(counts: &BigramCounts) -> Vec<u8> {
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

/// Parses a model. Allocates no more than the bytes contain.
pub(crate) fn read(bytes: &[u8]) -> Result<BigramCounts, BigramModelError> {
    let (bytes, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or(BigramModelError("too short"))?;
    if !bytes.starts_with(&MAGIC) {
        return Err(BigramModelError("wrong magic number"));
    }
    if xxh3_64(bytes) != u64::from_le_bytes(*checksum) {
        return Err(BigramModelError("wrong checksum"));
    }
    let mut rest = BigramReader(&bytes[MAGIC.len()..]);
    let (words, pairs) = (rest.number()? as usize, rest.number()? as usize);
    if words > MAX_WORDS || pairs > MAX_PAIRS {
        return Err(BigramModelError("too large"));
    }
    let mut counts = BigramCounts::default();
    for _ in 0..words {
        let [len] = rest.array::<1>()?;
        let word =
            std::str::from_utf8(rest.bytes(len.into())?).map_err(|_| BigramModelError("invalid UTF-8"))?;
        if word.is_empty() || word.len() > MAX_WORD_BYTES {
            return Err(BigramModelError("invalid word length"));
        }
        counts.words.push((word.to_string(), rest.number()?));
    }
    if words <= ModelWord::LETTERS.0 as usize || !counts.words.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(BigramModelError("words are not sorted"));
    }
    for _ in 0..pairs {
        let (first, second, count) = (rest.number()?, rest.number()?, rest.number()?);
        if first as usize >= words || second as usize >= words || count == 0 {
            return Err(BigramModelError("pair of unknown words"));
        }
        counts.pairs.push((ModelWord(first), ModelWord(second), count));
    }
    if !rest.0.is_empty() || !counts.pairs.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)) {
        return Err(BigramModelError("pairs are not sorted"));
    }
    Ok(counts)
}

struct BigramReader<'b>(&'b [u8]);

impl<'b> BigramReader<'b> {
    fn bytes(&mut self, len: usize) -> Result<&'b [u8], BigramModelError> {
        let (part, rest) = self.0.split_at_checked(len).ok_or(BigramModelError("too short"))?;
        self.0 = rest;
        Ok(part)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], BigramModelError> {
        self.bytes(N)?.try_into().map_err(|_| BigramModelError("too short"))
    }

    fn number(&mut self) -> Result<u32, BigramModelError> {
        Ok(u32::from_le_bytes(self.array()?))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> Vec<u8> {
        let words = ["\u{1}", "\u{2}", "\u{3}", "灯", "灯塔"].map(|w| (w.to_string(), 2)).to_vec();
        write(&BigramCounts {
            words,
            pairs: vec![(ModelWord(0), ModelWord(4), 2), (ModelWord(4), ModelWord(0), 1)],
        })
    }

    fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(at in 0usize..200, value in any::<u8>(), truncated in 0usize..200, junk in prop::collection::vec(any::<u8>(), 0..60)) {
            let sample = sample();
            prop_assert!(read(&sample).is_ok());
            prop_assert!(read(&sample[..truncated.min(sample.len() - 1)]).is_err());
            prop_assert!(read(&junk).is_err());
            let mut changed = sample.clone();
            let place = at % changed.len();
            changed[place] ^= value;
            prop_assert_eq!(read(&changed).is_ok(), value == 0);
            // The same with a valid checksum: rejected or parsed, without a panic.
            changed.truncate(changed.len() - CHECKSUM);
            let _ = read(&with_checksum(changed));
        }
    }
}
