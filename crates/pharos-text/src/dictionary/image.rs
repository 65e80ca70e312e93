//! The compiled dictionary image: numbers in native byte order, used in place.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use thiserror::Error;

use super::double_array::{self, Symbol};
use super::word_cost::segmentation_cost;
use super::{Dictionary, DictionaryEntry, cost};

const MAGIC: [u8; 8] = *b"PHAROSD2";
/// Header: magic, five counts, the sum of frequencies, the longest word, two halves of the set of joined
/// characters.
const HEADER: usize = 8 + 8 * NUMBERS;
const NUMBERS: usize = 9;
/// Number of code points in the basic plane.
const BASIC: usize = 0x1_0000;
/// Codes must not collide with the flags of the double array.
pub(crate) const MAX_WORDS: usize = 1 << 30;

/// Error: the bytes are not a valid dictionary image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid dictionary image or unsupported version: {0}")]
pub struct DictionaryImageError(&'static str);

/// Compiles a list of words.
pub(crate) fn compile(entries: &[DictionaryEntry<'_>]) -> Dictionary {
    let entries = &entries[..entries.len().min(MAX_WORDS)];
    let living = || entries.iter().filter(|e| e.frequency > 0 && !e.word.is_empty());
    let (basic, supplementary) = name_characters(living());
    let total = living().map(|e| u64::from(e.frequency)).sum();
    let mut dictionary = Dictionary {
        basic: basic.into(),
        supplementary: supplementary.into(),
        units: Cow::Borrowed(&[]),
        frequencies: entries.iter().map(|e| e.frequency).collect(),
        tags: entries.iter().map(|e| tag_number(e.tag)).collect(),
        costs: entries.iter().map(|e| segmentation_cost(e, total)).collect(),
        unit_costs: Cow::Borrowed(&[]),
        unknown: cost(1, total).into(),
        joined_ascii: living().map(|e| joined_ascii(e.word)).fold(0, |all, one| all | one),
        total,
        longest: living().map(|e| e.word.chars().count()).max().unwrap_or_default(),
    };
    let mut words: Vec<(Vec<Symbol>, u32)> = Vec::new();
    let mut seen = HashSet::new();
    for (code, entry) in entries.iter().enumerate() {
        let symbols: Vec<Symbol> = entry.word.chars().map(|c| dictionary.symbol(c)).collect();
        let can_be_found =
            entry.frequency > 0 && !symbols.is_empty() && !symbols.contains(&double_array::NONE);
        if can_be_found && seen.insert(entry.word) {
            words.push((symbols, code as u32));
        }
    }
    words.sort_unstable();
    dictionary.units = double_array::build(&words).into();
    let mut unit_costs = vec![0; dictionary.units.len() / 2];
    for (symbols, code) in &words {
        let state = double_array::find(&dictionary.units, symbols).unwrap_or_default();
        unit_costs[state as usize] = dictionary.costs[*code as usize].max(1);
    }
    dictionary.unit_costs = unit_costs.into();
    dictionary
}

/// Assigns symbols to characters. Characters of many words get small numbers, which packs the units densely.
fn name_characters<'a>(entries: impl Iterator<Item = &'a DictionaryEntry<'a>>) -> (Vec<u16>, Vec<u32>) {
    let mut uses: HashMap<char, usize> = HashMap::new();
    for entry in entries {
        for c in entry.word.chars() {
            *uses.entry(c).or_default() += 1;
        }
    }
    let (mut by_use, mut supplementary) = (Vec::new(), Vec::new());
    for (c, n) in uses {
        if (c as usize) < BASIC {
            by_use.push((Reverse(n), c));
        } else {
            supplementary.push(c as u32);
        }
    }
    by_use.sort_unstable();
    supplementary.sort_unstable();
    // The basic plane uses as many symbols as it needs; the rest is left for supplementary characters.
    supplementary.truncate(usize::from(Symbol::MAX) - by_use.len().min(usize::from(Symbol::MAX)));
    let mut basic = vec![double_array::NONE; if by_use.is_empty() { 0 } else { BASIC }];
    for (name, (_, c)) in by_use.into_iter().enumerate() {
        basic[c as usize] = (name + 1).min(usize::from(Symbol::MAX)) as Symbol;
    }
    (basic, supplementary)
}

fn joined_ascii(word: &str) -> u128 {
    let pairs = word.as_bytes().windows(2);
    pairs.filter(|pair| !pair[0].is_ascii() && pair[1].is_ascii()).fold(0, |set, pair| set | 1 << pair[1])
}

fn tag_number(tag: &str) -> u16 {
    let letter = |nth| tag.as_bytes().get(nth).copied().filter(u8::is_ascii).unwrap_or_default();
    u16::from_le_bytes([letter(0), letter(1)])
}

impl Dictionary {
    /// Returns the compiled image.
    pub fn to_image(&self) -> Vec<u8> {
        let counts = [
            self.basic.len(),
            self.supplementary.len(),
            self.units.len(),
            self.frequencies.len(),
            self.tags.len(),
            self.total as usize,
            self.longest,
            self.joined_ascii as u64 as usize,
            (self.joined_ascii >> 64) as usize,
        ];
        let mut out = MAGIC.to_vec();
        for count in counts {
            out.extend((count as u64).to_ne_bytes());
        }
        for part in [&self.units, &self.frequencies, &self.supplementary] {
            out.extend(part.iter().flat_map(|n| n.to_ne_bytes()));
        }
        for part in [&self.basic, &self.tags, &self.costs, &self.unit_costs] {
            out.extend(part.iter().flat_map(|n| n.to_ne_bytes()));
        }
        out
    }

    /// Opens a compiled image in place. Lookups are bounds-checked, so that invalid numbers cannot cause
    /// out-of-range access.
    ///
    /// # Errors
    /// Fails if the magic number, alignment or length is wrong.
    pub fn from_image(image: &'static [u8]) -> Result<Self, DictionaryImageError> {
        let header = image.get(..HEADER).ok_or(DictionaryImageError("too short"))?;
        if header[..8] != MAGIC {
            return Err(DictionaryImageError("wrong magic number"));
        }
        let mut counts = [0usize; NUMBERS];
        for (count, bytes) in counts.iter_mut().zip(header[8..].chunks_exact(8)) {
            let number = u64::from_ne_bytes(bytes.try_into().map_err(|_| DictionaryImageError("too short"))?);
            *count = usize::try_from(number).map_err(|_| DictionaryImageError("too long"))?;
        }
        let [basic, supplementary, units, frequencies, tags, total, longest, joined_low, joined_high] =
            counts;
        let mut rest = &image[HEADER..];
        let mut words = |count: usize| -> Result<&'static [u32], DictionaryImageError> {
            let part = count.checked_mul(4).and_then(|len| rest.split_at_checked(len));
            let (part, after) = part.ok_or(DictionaryImageError("too short"))?;
            rest = after;
            bytemuck::try_cast_slice(part).map_err(|_| DictionaryImageError("not aligned"))
        };
        let (units, frequencies, supplementary) = (words(units)?, words(frequencies)?, words(supplementary)?);
        let mut halves = |count: usize| -> Result<&'static [u16], DictionaryImageError> {
            let part = count.checked_mul(2).and_then(|len| rest.split_at_checked(len));
            let (part, after) = part.ok_or(DictionaryImageError("too short"))?;
            rest = after;
            bytemuck::try_cast_slice(part).map_err(|_| DictionaryImageError("not aligned"))
        };
        let (basic, tags) = (halves(basic)?, halves(tags)?);
        let (costs, unit_costs) = (halves(frequencies.len())?, halves(units.len() / 2)?);
        if !rest.is_empty() || supplementary.len() > usize::from(Symbol::MAX) {
            return Err(DictionaryImageError("wrong length"));
        }
        Ok(Self {
            basic: basic.into(),
            supplementary: supplementary.into(),
            units: units.into(),
            frequencies: frequencies.into(),
            tags: tags.into(),
            costs: costs.into(),
            unit_costs: unit_costs.into(),
            unknown: cost(1, total as u64).into(),
            joined_ascii: joined_low as u128 | (joined_high as u128) << 64,
            total: total as u64,
            longest,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_image_round_trips() {
        let entries = [
            DictionaryEntry { word: "灯塔", frequency: 7, tag: "n" },
            DictionaryEntry { word: "灯", frequency: 3, tag: "nr" },
            DictionaryEntry { word: "𠮷", frequency: 1, tag: "" },
        ];
        let image = Dictionary::new(&entries).to_image();
        // Leaked: images live as long as the process.
        let copy: &'static mut [u64] = vec![0u64; image.len().div_ceil(8)].leak();
        let bytes: &'static mut [u8] = bytemuck::cast_slice_mut(copy);
        bytes[..image.len()].copy_from_slice(&image);
        let bytes: &'static [u8] = bytes;
        let again = Dictionary::from_image(&bytes[..image.len()]).unwrap();
        for (code, entry) in entries.iter().enumerate() {
            let found = again.code(entry.word).unwrap();
            assert_eq!((found.0 as usize, again.frequency(found)), (code, entry.frequency));
            assert_eq!(again.tag(found), entry.tag);
            assert_eq!(again.cost(found), u32::from(segmentation_cost(entry, 11)));
        }
        assert_eq!((again.total(), again.longest()), (11, 2));
        for len in 0..image.len().min(4096) {
            assert!(Dictionary::from_image(&bytes[..len]).is_err(), "{len}");
        }
    }

    proptest! {
        #[test]
        fn any_list_is_found_again(words in prop::collection::vec("[一-十a-c𠀀-𠀂]{0,4}", 0..30), text in "[一-十a-d𠀀-𠀂 ]{0,12}") {
            let entries: Vec<_> = words.iter().map(|word| DictionaryEntry { word, frequency: 1, tag: "" }).collect();
            let dictionary = Dictionary::new(&entries);
            for word in words.iter().filter(|w| !w.is_empty()) {
                let first = words.iter().position(|w| w == word).unwrap();
                prop_assert_eq!(dictionary.code(word).map(|c| c.0 as usize), Some(first));
            }
            let mut costs = Vec::new();
            let symbols: Vec<_> = text.chars().map(|c| dictionary.symbol(c)).collect();
            dictionary.walk_costs(&symbols, |_, cost| costs.push(cost));
            for (end, code) in dictionary.words_at(&text) {
                prop_assert_eq!(&words[code.0 as usize], &text[..end]);
                prop_assert_eq!(costs.remove(0), dictionary.cost(code).max(1));
            }
            prop_assert!(costs.is_empty());
        }
    }
}
