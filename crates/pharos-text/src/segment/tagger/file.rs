//! The model file format. Compact; all content is validated.
//!
//! ```text
//! magic (8 bytes) · format (u32) · xxh3 of the rest (u64)
//! numbers of characters, bigrams, trigrams, long words (u32 each)
//! characters (u16 each)
//! rows of symbols, classes, repetitions, words, transitions (i16 each)
//! n-grams of each type, sorted: difference to the previous key with three flags below it (LEB128),
//!     bit set of the non-zero weights (u16, if there are any), these weights (i8 each)
//! ```
//! Numbers are little-endian.

use xxhash_rust::xxh3::xxh3_64;

use super::atoms::{FIRST_CHARACTER, MAX_SYMBOLS, SYMBOL_BITS};
use super::features::{BIGRAM, TAGS, TRIGRAM, UNIGRAM};
use super::model::{MAX_WEIGHT, TagWeights, TaggerModel, TaggerModelError, WeightedNgram};

const MAGIC: &[u8; 8] = b"PHAROSTG";
const FORMAT: u32 = 1;
const HEADER_BYTES: usize = MAGIC.len() + 4 + 8;

impl TaggerModel {
    /// Serialises the model.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        for count in [self.characters.len(), self.bigrams.len(), self.trigrams.len(), self.long_words.len()] {
            payload.extend((count as u32).to_le_bytes());
        }
        for &c in &self.characters {
            payload.extend((c as u32 as u16).to_le_bytes());
        }
        let tables = [
            self.unigrams.as_flattened(),
            self.classes.as_flattened(),
            self.repetitions.as_flattened(),
            self.words.as_flattened(),
            self.transitions.as_flattened(),
        ];
        for weight in tables.into_iter().flatten() {
            payload.extend(weight.to_le_bytes());
        }
        write_grams(&self.bigrams, &mut payload);
        write_grams(&self.trigrams, &mut payload);
        write_grams(&self.long_words, &mut payload);

        let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(xxh3_64(&payload).to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    /// Parses a model file. Memory use is a small multiple of the length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TaggerModelError> {
        let mut header = ModelReader { rest: bytes.strip_prefix(MAGIC).ok_or(TaggerModelError::NotAModel)? };
        let found = u32::from_le_bytes(header.array()?);
        if found != FORMAT {
            return Err(TaggerModelError::Version { found, expected: FORMAT });
        }
        let checksum = u64::from_le_bytes(header.array()?);
        if xxh3_64(header.rest) != checksum {
            return Err(TaggerModelError::Checksum);
        }
        header.model()
    }
}

fn write_grams<const WEIGHTS: usize>(grams: &[WeightedNgram<WEIGHTS>], out: &mut Vec<u8>) {
    let mut last = 0;
    for gram in grams {
        let mut number = (gram.key - last) << 3 | u64::from(gram.flags);
        last = gram.key;
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
        if WEIGHTS > 0 {
            let present = gram.weights.iter().rev().fold(0_u16, |all, &w| all << 1 | u16::from(w != 0));
            out.extend(present.to_le_bytes());
            out.extend(gram.weights.iter().filter(|&&w| w != 0).map(|&w| w as u8));
        }
    }
}

struct ModelReader<'b> {
    rest: &'b [u8],
}

impl ModelReader<'_> {
    fn model(&mut self) -> Result<TaggerModel, TaggerModelError> {
        let [characters, bigrams, trigrams, long_words] = self.counts()?;
        if characters > MAX_SYMBOLS - usize::from(FIRST_CHARACTER) {
            return Err(TaggerModelError::Corrupt("too many characters"));
        }
        let model = TaggerModel {
            characters: self.characters(characters)?,
            unigrams: self.rows::<UNIGRAM>(usize::from(FIRST_CHARACTER) + characters)?,
            classes: Box::new(self.table()?),
            repetitions: Box::new(self.table()?),
            words: Box::new(self.table()?),
            transitions: self.table()?,
            bigrams: self.grams::<BIGRAM>(bigrams, 2)?,
            trigrams: self.grams::<TRIGRAM>(trigrams, 3)?,
            long_words: self.grams::<0>(long_words, 4)?,
        };
        if self.rest.is_empty() { Ok(model) } else { Err(TaggerModelError::Corrupt("bytes after the end")) }
    }

    fn counts(&mut self) -> Result<[usize; 4], TaggerModelError> {
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = u32::from_le_bytes(self.array()?) as usize;
        }
        Ok(counts)
    }

    fn characters(&mut self, count: usize) -> Result<Vec<char>, TaggerModelError> {
        let codes = self.take(count * 2)?.as_chunks::<2>().0;
        let character = |code: &[u8; 2]| char::from_u32(u32::from(u16::from_le_bytes(*code)));
        codes.iter().map(character).collect::<Option<_>>().ok_or(TaggerModelError::Corrupt("not a character"))
    }

    fn rows<const WIDTH: usize>(&mut self, count: usize) -> Result<Vec<[i16; WIDTH]>, TaggerModelError> {
        let weights = self.take(count * WIDTH * 2)?.as_chunks::<2>().0;
        let mut rows = vec![[0; WIDTH]; count];
        for (weight, bytes) in rows.as_flattened_mut().iter_mut().zip(weights) {
            *weight = i16::from_le_bytes(*bytes);
            if !(-MAX_WEIGHT..=MAX_WEIGHT).contains(weight) {
                return Err(TaggerModelError::Corrupt("a weight is out of bounds"));
            }
        }
        Ok(rows)
    }

    fn table<const ROWS: usize>(&mut self) -> Result<[TagWeights; ROWS], TaggerModelError> {
        let rows = self.rows::<TAGS>(ROWS)?;
        rows.try_into().map_err(|_| TaggerModelError::Corrupt("a table is too short"))
    }

    fn grams<const WEIGHTS: usize>(
        &mut self,
        count: usize,
        length: u32,
    ) -> Result<Vec<WeightedNgram<WEIGHTS>>, TaggerModelError> {
        let least_bytes = if WEIGHTS > 0 { 3 } else { 1 };
        if count > self.rest.len() / least_bytes {
            return Err(TaggerModelError::Corrupt("more sequences than bytes"));
        }
        let mut grams = Vec::with_capacity(count);
        let mut key = 0;
        for place in 0..count {
            let number = self.number()?;
            let distance = number >> 3;
            if distance == 0 && place > 0 {
                return Err(TaggerModelError::Corrupt("a sequence occurs twice"));
            }
            // No overflow: the difference has 61 bits, the previous key at most 56.
            key += distance;
            if key >> (length * SYMBOL_BITS) != 0 {
                return Err(TaggerModelError::Corrupt("a sequence is too long"));
            }
            let mut weights = [0; WEIGHTS];
            if WEIGHTS > 0 {
                let mut present = u16::from_le_bytes(self.array()?);
                for &weight in self.take(present.count_ones() as usize)? {
                    let place = present.trailing_zeros() as usize;
                    present &= present - 1;
                    let too_many = TaggerModelError::Corrupt("more weights than a sequence has");
                    *weights.get_mut(place).ok_or(too_many)? = weight as i8;
                }
            }
            grams.push(WeightedNgram { key, flags: (number & 7) as u8, weights });
        }
        Ok(grams)
    }

    fn number(&mut self) -> Result<u64, TaggerModelError> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(TaggerModelError::Corrupt("a number is too long"))
    }

    fn take(&mut self, count: usize) -> Result<&[u8], TaggerModelError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(TaggerModelError::Corrupt(TOO_SHORT))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], TaggerModelError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(TaggerModelError::Corrupt(TOO_SHORT))?;
        self.rest = rest;
        Ok(*taken)
    }
}

const TOO_SHORT: &str = "it ends too early";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Corpus, Tagger, Training};
    use super::*;
    use crate::segment::Segmenter;

    fn small_model() -> TaggerModel {
        let mut corpus = Corpus::default();
        for line in ["他 研究 生命 的 起源 。", "研究生 在 1998年 命题 。", "干干净净 的 abc"]
        {
            corpus.add_line(line).unwrap();
            corpus.add_line(line).unwrap();
        }
        Training { min_weight: 0.01, ..Training::default() }
            .run(&corpus, ["起源", "研究生", "干干净净", "龘龘"], |_| true)
            .unwrap()
    }

    #[test]
    fn a_model_round_trips() {
        let model = small_model();
        let bytes = model.to_bytes();
        assert_eq!(TaggerModel::from_bytes(&bytes).as_ref(), Ok(&model));
        assert!(Tagger::load(&bytes).is_ok());
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let bytes = small_model().to_bytes();
        assert_eq!(TaggerModel::from_bytes(b""), Err(TaggerModelError::NotAModel));
        assert_eq!(TaggerModel::from_bytes(b"PK\x03\x04 and so on"), Err(TaggerModelError::NotAModel));
        let mut newer = bytes.clone();
        newer[8] = 9;
        assert_eq!(
            TaggerModel::from_bytes(&newer),
            Err(TaggerModelError::Version { found: 9, expected: FORMAT })
        );
        let mut damaged = bytes.clone();
        damaged[bytes.len() / 2] ^= 1;
        assert_eq!(TaggerModel::from_bytes(&damaged), Err(TaggerModelError::Checksum));
        assert_eq!(TaggerModel::from_bytes(&bytes[..bytes.len() - 1]), Err(TaggerModelError::Checksum));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Even if the checksum is valid, as in a file made on purpose.
        #[test]
        fn hostile_files_are_refused_or_harmless(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
            in_head in any::<bool>(),
            truncated in prop::option::of(any::<prop::sample::Index>()),
            text in "[他研究生命的起源干净龘 1a。]{0,40}",
        ) {
            thread_local!(static MODEL: Vec<u8> = small_model().to_bytes());
            let mut bytes = MODEL.with(Vec::clone);
            for (place, value) in changes {
                let range = if in_head { 64 } else { bytes.len() - HEADER_BYTES };
                bytes[HEADER_BYTES + place.index(range)] = value;
            }
            if let Some(truncated) = truncated {
                bytes.truncate(HEADER_BYTES + truncated.index(bytes.len() - HEADER_BYTES));
            }
            let checksum = xxh3_64(&bytes[HEADER_BYTES..]).to_le_bytes();
            bytes[HEADER_BYTES - 8..HEADER_BYTES].copy_from_slice(&checksum);
            if let Ok(tagger) = Tagger::load(&bytes) {
                prop_assert_eq!(tagger.words(&text).concat(), text);
            }
        }
    }
}
