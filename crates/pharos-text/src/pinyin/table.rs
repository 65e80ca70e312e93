//! The tables of readings: which character, which phrase is read how.
//!
//! The files under `data/` are kept in memory as they stand; what is built at the first look is an index of
//! numbers into them.

use std::sync::LazyLock;

static CHARACTERS: &str = include_str!("../../data/pinyin-characters.txt");
static PHRASES: &str = include_str!("../../data/pinyin-phrases.txt");

/// Characters are found by page and place in the page; most pages of Unicode have no Han characters.
const PAGE: usize = 256;
const PAGES: usize = (char::MAX as usize + 1) / PAGE;

/// Letters of the longest syllables: zhuang.
pub(super) const MAX_SYLLABLE: usize = 6;

/// Bits that tell 26 letters and their absence apart.
const LETTER_BITS: usize = 5;

pub(super) struct Table {
    /// Numbers of the pages in `entries`; page 0 is empty.
    pages: Vec<u16>,
    entries: Vec<Entry>,
    /// Readings with spaces between, the most usual first; each stands for the characters read alike. The
    /// first is that of characters without any.
    readings: Vec<&'static str>,
    /// Where the lines of `PHRASES` begin that are phrases, in the order of code points.
    phrases: Vec<u32>,
    /// Every syllable of any character as [`code`], in order.
    syllables: Vec<u32>,
}

/// What is known of a character.
#[derive(Clone, Copy, Default)]
struct Entry {
    readings: u16,
    first_phrase: u16,
    phrases: u16,
}

/// A phrase that settles how its characters are read.
#[derive(Clone, Copy)]
pub(super) struct Phrase {
    pub(super) text: &'static str,
    /// With spaces between; empty if each character is read as usual.
    pub(super) readings: &'static str,
}

impl Table {
    pub(super) fn shared() -> &'static Table {
        static SHARED: LazyLock<Table> = LazyLock::new(Table::load);
        &SHARED
    }

    fn load() -> Table {
        let mut table = Table {
            pages: vec![0; PAGES],
            entries: vec![Entry::default(); PAGE],
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

    fn entry_mut(&mut self, c: char) -> &mut Entry {
        let page = &mut self.pages[c as usize / PAGE];
        if *page == 0 {
            // At most as many pages as Unicode has, which are fewer than 2^16.
            *page = (self.entries.len() / PAGE) as u16;
            self.entries.resize(self.entries.len() + PAGE, Entry::default());
        }
        &mut self.entries[usize::from(*page) * PAGE + c as usize % PAGE]
    }

    fn entry(&self, c: char) -> Entry {
        self.entries[usize::from(self.pages[c as usize / PAGE]) * PAGE + c as usize % PAGE]
    }

    /// The readings of `c` with spaces between, the most usual first; empty if there is none.
    pub(super) fn readings(&self, c: char) -> &'static str {
        self.readings[usize::from(self.entry(c).readings)]
    }

    /// The longest phrase that `text` begins with.
    pub(super) fn longest_phrase(&self, text: &str) -> Option<Phrase> {
        let mut chars = text.chars();
        let entry = self.entry(chars.next()?);
        let first = usize::from(entry.first_phrase);
        // Those that have the first `len` bytes in common with the text.
        let mut alike = &self.phrases[first..first + usize::from(entry.phrases)];
        let mut longest = None;
        while let Some(&start) = alike.first() {
            let len = text.len() - chars.as_str().len();
            // What stands after those bytes: one more character, or the space or line feed that ends the
            // phrase and comes before all characters.
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

    /// Does a syllable begin with `letters`?
    pub(super) fn begins_syllable(&self, letters: &str) -> bool {
        code(letters).is_some_and(|code| {
            let at = self.syllables.partition_point(|syllable| *syllable < code);
            let room = LETTER_BITS * (MAX_SYLLABLE - letters.len());
            self.syllables.get(at).is_some_and(|syllable| syllable >> room == code >> room)
        })
    }
}

fn phrase_at(start: u32) -> Phrase {
    let line = PHRASES[start as usize..].lines().next().unwrap_or("");
    let (text, readings) = line.split_once(' ').unwrap_or((line, ""));
    Phrase { text, readings }
}

/// Letters as a number that is in order as they are, the first in the highest bits; `None` if they are too
/// many for a syllable or not all from a to z.
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
        let table = Table::shared();
        let lines = |file: &'static str| file.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(table.phrases.len(), lines(PHRASES).count());
        assert_eq!(table.readings.len(), lines(CHARACTERS).count() + 1);
        let phrases: Vec<Phrase> = table.phrases.iter().map(|start| phrase_at(*start)).collect();
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
        let longest = |text| Table::shared().longest_phrase(text).map(|phrase| phrase.text);
        assert_eq!(longest("音乐"), Some("音乐"));
        assert_eq!(longest("音乐喷泉旁"), Some("音乐喷泉"));
        assert_eq!(longest("音乐喷"), Some("音乐"));
        for nothing in ["音", "音 乐", "", "\u{10FFFF}x", "一\n丁", "#"] {
            assert_eq!(longest(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn syllables_and_their_beginnings() {
        let table = Table::shared();
        assert!(table.is_syllable("zhuang") && table.is_syllable("a") && !table.is_syllable("zhuangs"));
        assert!(["", "z", "zhua", "zhuang", "lv"].iter().all(|letters| table.begins_syllable(letters)));
        assert!(["v", "zz", "zhuangs", "ü"].iter().all(|letters| !table.begins_syllable(letters)));
    }
}
