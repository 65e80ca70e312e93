//! Tables of readings of characters and phrases.
//!
//! The files of `data/` are used in place. At first use an index of offsets into them is built.

use std::sync::LazyLock;

static CHARACTERS: &str = include_str!("../../data/pinyin-characters.txt");
static PHRASES: &str = include_str!("../../data/pinyin-phrases.txt");

/// Number of characters per page. Most pages of Unicode have no Han characters.
const PAGE: usize = 256;
const PAGES: usize = (char::MAX as usize + 1) / PAGE;

/// Length of the longest syllables: zhuang.
pub(super) const MAX_SYLLABLE: usize = 6;

/// Bits per letter: 26 letters and the absence of one.
const LETTER_BITS: usize = 5;

pub(super) struct PinyinTable {
    /// Page numbers in `entries`; page 0 is empty.
    pages: Vec<u16>,
    entries: Vec<CharacterEntry>,
    /// Readings separated by spaces, the most common first; shared by all characters with the same readings.
    /// The first is empty, for characters without readings.
    readings: Vec<&'static str>,
    /// Offsets of the phrases in `PHRASES`, sorted by code points.
    phrases: Vec<u32>,
    /// Syllables of all characters, encoded by [`code`] and sorted.
    syllables: Vec<u32>,
}

/// Readings and phrases of a character.
#[derive(Clone, Copy, Default)]
struct CharacterEntry {
    readings: u16,
    first_phrase: u16,
    phrases: u16,
}

/// A phrase that determines the readings of its characters.
#[derive(Clone, Copy)]
pub(super) struct ReadingPhrase {
    pub(super) text: &'static str,
    /// Separated by spaces; empty if each character has its most common reading.
    pub(super) readings: &'static str,
}

impl PinyinTable {
    pub(super) fn shared() -> &'static PinyinTable {
        static SHARED: LazyLock<PinyinTable> = LazyLock::new(PinyinTable::load);
        &SHARED
    }

    fn load() -> PinyinTable {
        let mut table = PinyinTable {
            pages: vec![0; PAGES],
            entries: vec![CharacterEntry::default(); PAGE],
            readings: vec![""],
            phrases: Vec::new(),
            syllables: Vec::new(),
        };
        for line in CHARACTERS.lines() {
            let Some((readings, members)) = line.split_once('\t') else { continue };
            let Ok(number) = u16::try_from(table.readings.len()) else { break };
            table.readings.push(readings);
            table.syllables.extend(readings.split(' ').filter_map(code));
            for c in members.chars() {
                table.entry_mut(c).readings = number;
            }
        }
        table.syllables.sort_unstable();
        table.syllables.dedup();
        let mut start = 0;
        for line in PHRASES.split_inclusive('\n') {
            let first = line.chars().next().filter(|c| *c != '#');
            if let (Some(first), Ok(number)) = (first, u16::try_from(table.phrases.len())) {
                // The file is far smaller than 2^32 bytes.
                table.phrases.push(start as u32);
                let entry = table.entry_mut(first);
                if entry.phrases == 0 {
                    entry.first_phrase = number;
                }
                entry.phrases += 1;
            }
            start += line.len();
        }
        table
    }

    fn entry_mut(&mut self, c: char) -> &mut CharacterEntry {
        let page = &mut self.pages[c as usize / PAGE];
        if *page == 0 {
            // Unicode has fewer than 2^16 pages.
            *page = (self.entries.len() / PAGE) as u16;
            self.entries.resize(self.entries.len() + PAGE, CharacterEntry::default());
        }
        &mut self.entries[usize::from(*page) * PAGE + c as usize % PAGE]
    }

    fn entry(&self, c: char) -> CharacterEntry {
        self.entries[usize::from(self.pages[c as usize / PAGE]) * PAGE + c as usize % PAGE]
    }

    /// Returns the readings of `c` separated by spaces, the most common first; empty if there are none.
    pub(super) fn readings(&self, c: char) -> &'static str {
        self.readings[usize::from(self.entry(c).readings)]
    }

    /// Returns the longest phrase that `text` begins with.
    pub(super) fn longest_phrase(&self, text: &str) -> Option<ReadingPhrase> {
        let mut chars = text.chars();
        let entry = self.entry(chars.next()?);
        let first = usize::from(entry.first_phrase);
        // Phrases that share the first `len` bytes with the text.
        let mut alike = &self.phrases[first..first + usize::from(entry.phrases)];
        let mut longest = None;
        while let Some(&start) = alike.first() {
            let len = text.len() - chars.as_str().len();
            // The next character of the phrase, or the space or line feed that ends it and sorts before all
            // characters.
            let following = |start: &u32| PHRASES[*start as usize + len..].chars().next();
            if following(&start).is_none_or(|c| c.is_ascii()) {
                longest = Some(start);
                alike = &alike[1..];
            }
            let Some(next) = chars.next() else { break };
            let from = alike.partition_point(|start| following(start) < Some(next));
            alike = &alike[from..];
            let to = alike.partition_point(|start| following(start) == Some(next));
            alike = &alike[..to];
        }
        longest.map(phrase_at)
    }

    pub(super) fn is_syllable(&self, letters: &str) -> bool {
        code(letters).is_some_and(|code| self.syllables.binary_search(&code).is_ok())
    }

    /// Returns `true` if some syllable begins with `letters`.
    pub(super) fn begins_syllable(&self, letters: &str) -> bool {
        code(letters).is_some_and(|code| {
            let at = self.syllables.partition_point(|syllable| *syllable < code);
            let unused_bits = LETTER_BITS * (MAX_SYLLABLE - letters.len());
            self.syllables.get(at).is_some_and(|syllable| syllable >> unused_bits == code >> unused_bits)
        })
    }
}

fn phrase_at(start: u32) -> ReadingPhrase {
    let line = PHRASES[start as usize..].lines().next().unwrap_or("");
    let (text, readings) = line.split_once(' ').unwrap_or((line, ""));
    ReadingPhrase { text, readings }
}

/// Encodes letters as a number with the same order, the first letter in the highest bits. Returns `None` if
/// they are too long for a syllable or not all from a to z.
fn code(letters: &str) -> Option<u32> {
    if letters.len() > MAX_SYLLABLE || !letters.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    let number = letters.bytes().fold(0, |code, b| code << LETTER_BITS | u32::from(b - b'a' + 1));
    Some(number << (LETTER_BITS * (MAX_SYLLABLE - letters.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_as_the_index_needs_them() {
        let table = PinyinTable::shared();
        let lines = |file: &'static str| file.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(table.phrases.len(), lines(PHRASES).count());
        assert_eq!(table.readings.len(), lines(CHARACTERS).count() + 1);
        let phrases: Vec<ReadingPhrase> = table.phrases.iter().map(|start| phrase_at(*start)).collect();
        assert!(phrases.windows(2).all(|pair| pair[0].text < pair[1].text));
        for phrase in phrases {
            let readings: Vec<&str> = phrase.readings.split_ascii_whitespace().collect();
            assert!(readings.is_empty() || readings.len() == phrase.text.chars().count(), "{}", phrase.text);
            assert!(readings.iter().all(|reading| table.is_syllable(reading)), "{}", phrase.text);
            assert!(phrase.text.chars().all(|c| !table.readings(c).is_empty()), "{}", phrase.text);
        }
        for readings in &table.readings {
            assert!(
                readings.split_ascii_whitespace().all(|reading| table.is_syllable(reading)),
                "{readings}"
            );
        }
    }

    #[test]
    fn the_longest_phrase_wins() {
        let longest = |text| PinyinTable::shared().longest_phrase(text).map(|phrase| phrase.text);
        assert_eq!(longest("音乐"), Some("音乐"));
        assert_eq!(longest("音乐喷泉旁"), Some("音乐喷泉"));
        assert_eq!(longest("音乐喷"), Some("音乐"));
        for nothing in ["音", "音 乐", "", "\u{10FFFF}x", "一\n丁", "#"] {
            assert_eq!(longest(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn syllables_and_their_beginnings() {
        let table = PinyinTable::shared();
        assert!(table.is_syllable("zhuang") && table.is_syllable("a") && !table.is_syllable("zhuangs"));
        assert!(["", "z", "zhua", "zhuang", "lv"].iter().all(|letters| table.begins_syllable(letters)));
        assert!(["v", "zz", "zhuangs", "ü"].iter().all(|letters| !table.begins_syllable(letters)));
    }
}
