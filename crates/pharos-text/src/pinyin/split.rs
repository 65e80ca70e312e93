//! Splits typed pinyin into syllables.
//!
//! Letters can often be split in several ways: xian is xian (先) or xi an (西安). The order is: fewest syllables
//! first; then splits in which no syllable but the first begins with a vowel, since the orthography (汉语拼音正词法)
//! requires an apostrophe there; then longer syllables first.

use super::table::{MAX_SYLLABLE, PinyinTable};

/// Maximum number of paths over all positions of the letters.
const MAX_PATHS: usize = 1 << 16;

/// Syllables that no character of GB 2312 has, except for at most one interjection. They would produce odd
/// splits of common words.
const RARE_SYLLABLES: [&str; 13] =
    ["biang", "bong", "cei", "den", "din", "eng", "fiao", "len", "nia", "nun", "rua", "tei", "wong"];

/// Alternative spellings of lve, nv and nve.
const ALTERNATIVE_SPELLINGS: [&str; 6] = ["lue", "lü", "lüe", "nue", "nü", "nüe"];

/// Pinyin whose last syllable may be incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedPinyin<'t> {
    /// Complete syllables.
    pub syllables: Vec<&'t str>,
    /// Beginning of one more syllable; may be empty.
    pub rest: &'t str,
}

/// Returns the most likely split of `letters` (lower case; apostrophes and spaces are boundaries), or `None`
/// if they are not pinyin.
pub fn split(letters: &str) -> Option<Vec<&str>> {
    splits(letters, 1).pop()
}

/// Returns at most `limit` splits of `letters` into syllables, the most likely first; fewer for very long
/// input.
pub fn splits(letters: &str, limit: usize) -> Vec<Vec<&str>> {
    if limit == 0 {
        return Vec::new();
    }
    let lattice = SyllableLattice::new(letters, limit);
    let paths = lattice.paths_to(letters.len()).len();
    (0..paths).map(|rank| lattice.syllables(letters.len(), rank)).filter(|split| !split.is_empty()).collect()
}

/// Returns the [`split`] of letters whose last syllable may be incomplete: beij is bei and j.
pub fn split_typed(letters: &str) -> Option<TypedPinyin<'_>> {
    let lattice = SyllableLattice::new(letters, 1);
    let earliest = letters.floor_char_boundary(letters.len().saturating_sub(MAX_SYLLABLE));
    (earliest..=letters.len())
        .rev()
        .filter(|&at| letters.is_char_boundary(at))
        .filter_map(|at| {
            let (path, rest) = (lattice.paths_to(at).first()?, &letters[at..]);
            let is_beginning = rest.is_empty() || PinyinTable::shared().begins_syllable(rest);
            is_beginning.then_some((path.syllables + u32::from(!rest.is_empty()), at))
        })
        // The first of equals has the shorter rest.
        .min_by_key(|&(pieces, at)| (at != letters.len(), pieces))
        .map(|(_, at)| TypedPinyin { syllables: lattice.syllables(at, 0), rest: &letters[at..] })
        .filter(|typed| !(typed.syllables.is_empty() && typed.rest.is_empty()))
}

/// The best splits of every prefix, found by dynamic programming from left to right: only the best paths to a
/// position matter for the letters after it.
struct SyllableLattice<'t> {
    letters: &'t str,
    paths: Vec<SplitPath>,
    /// Index in `paths` of the first path of each position.
    starts: Vec<usize>,
}

/// One path to a position.
#[derive(Clone, Copy)]
struct SplitPath {
    /// Number of syllables; rare ones count twice.
    syllables: u32,
    /// Number of syllables that begin with a vowel without a boundary before them.
    vowels: u32,
    /// Length of the last piece in bytes.
    len: u8,
    /// Rank of the path to the beginning of the last piece.
    rank: u16,
}

impl<'t> SyllableLattice<'t> {
    fn new(letters: &'t str, limit: usize) -> Self {
        let limit = limit.clamp(1, (MAX_PATHS / (letters.len() + 1)).max(1));
        let mut lattice = SyllableLattice { letters, paths: Vec::new(), starts: vec![0] };
        lattice.paths.push(SplitPath { syllables: 0, vowels: 0, len: 0, rank: 0 });
        let mut paths: Vec<SplitPath> = Vec::new();
        for end in 1..=letters.len() {
            lattice.starts.push(lattice.paths.len());
            if !letters.is_char_boundary(end) {
                continue;
            }
            paths.clear();
            for start in end.saturating_sub(MAX_SYLLABLE)..end {
                lattice.extend(&mut paths, start, end);
            }
            // Longer pieces come first and stay first among equals.
            paths.sort_by_key(|path| (path.syllables, path.vowels));
            lattice.paths.extend(paths.iter().take(limit));
        }
        lattice
    }

    /// Adds the paths to `end` whose last piece begins at `start`.
    fn extend(&self, paths: &mut Vec<SplitPath>, start: usize, end: usize) {
        let before = self.paths_to(start);
        if before.is_empty() {
            return;
        }
        let piece = &self.letters[start..end];
        let (syllables, vowels) = if is_border(piece) {
            (0, 0)
        } else if is_typed_syllable(piece) {
            let has_border = self.letters[..start].chars().next_back().is_none_or(is_border_char);
            let is_bare_vowel = !has_border && piece.starts_with(['a', 'e', 'o']);
            (1 + u32::from(RARE_SYLLABLES.contains(&piece)), u32::from(is_bare_vowel))
        } else {
            return;
        };
        paths.extend(before.iter().enumerate().map(|(rank, path)| SplitPath {
            syllables: path.syllables + syllables,
            vowels: path.vowels + vowels,
            // Both fit: a piece has at most six bytes, and a position has fewer than MAX_PATHS paths.
            len: (end - start) as u8,
            rank: rank as u16,
        }));
    }

    fn paths_to(&self, place: usize) -> &[SplitPath] {
        let end = self.starts.get(place + 1).copied().unwrap_or(self.paths.len());
        self.starts.get(place).and_then(|&start| self.paths.get(start..end)).unwrap_or_default()
    }

    fn syllables(&self, mut place: usize, mut rank: usize) -> Vec<&'t str> {
        let mut syllables = Vec::new();
        while let Some(path) = self.paths_to(place).get(rank).filter(|path| path.len > 0) {
            let start = place - usize::from(path.len);
            let piece = &self.letters[start..place];
            if !is_border(piece) {
                syllables.push(piece);
            }
            (place, rank) = (start, usize::from(path.rank));
        }
        syllables.reverse();
        syllables
    }
}

fn is_border_char(c: char) -> bool {
    matches!(c, '\'' | '’' | ' ')
}

fn is_border(piece: &str) -> bool {
    let mut chars = piece.chars();
    chars.next().is_some_and(is_border_char) && chars.next().is_none()
}

fn is_typed_syllable(piece: &str) -> bool {
    // Interjections without a vowel (n, ng, hm) would accept almost any letters.
    let has_vowel = piece.contains(['a', 'e', 'i', 'o', 'u', 'v']);
    has_vowel && PinyinTable::shared().is_syllable(piece) || ALTERNATIVE_SPELLINGS.contains(&piece)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_most_likely_split_comes_first() {
        assert_eq!(split("beijing").unwrap(), ["bei", "jing"]);
        assert_eq!(split("zhonghuarenmingongheguo").unwrap().join(" "), "zhong hua ren min gong he guo");
        assert_eq!(split("henan").unwrap(), ["he", "nan"]);
        assert_eq!(split("tiane").unwrap(), ["tian", "e"]);
        assert_eq!(split("xi'an").unwrap(), ["xi", "an"]);
        assert_eq!(split("bei jing").unwrap(), ["bei", "jing"]);
        assert_eq!(split("nühai").unwrap(), ["nü", "hai"]);
        assert_eq!(split("lüelue").unwrap(), ["lüe", "lue"]);
        assert_eq!(split("dina").unwrap(), ["di", "na"]);
        for not_pinyin in ["", "'", "bj", "hello", "ng", "Beijing", "bei1", "北京", "beijingx"] {
            assert_eq!(split(not_pinyin), None, "{not_pinyin}");
        }
    }

    #[test]
    fn all_ways_come_in_order_and_as_many_as_wanted() {
        assert_eq!(splits("xian", 9), [vec!["xian"], vec!["xi", "an"]]);
        assert_eq!(splits("fangan", 9), [vec!["fan", "gan"], vec!["fang", "an"]]);
        assert_eq!(splits("xian", 1), [vec!["xian"]]);
        assert!(splits("xian", 0).is_empty());
        assert!(splits("xyz", 9).is_empty());
        let many = splits(&"xian".repeat(20), 100).len();
        assert_eq!(many, 100);
    }

    #[test]
    fn the_last_syllable_may_be_unfinished() {
        let typed = |letters| split_typed(letters).map(|t| (t.syllables.join(" "), t.rest));
        assert_eq!(typed("beij"), Some(("bei".into(), "j")));
        assert_eq!(typed("beijing"), Some(("bei jing".into(), "")));
        assert_eq!(typed("zhongg"), Some(("zhong".into(), "g")));
        assert_eq!(typed("beizh"), Some(("bei".into(), "zh")));
        assert_eq!(typed("sho"), Some((String::new(), "sho")));
        assert_eq!(typed("xi'a"), Some(("xi a".into(), "")));
        assert_eq!(typed("bjx"), None);
        assert_eq!(typed(""), None);
        assert_eq!(typed("北京"), None);
    }

    #[test]
    fn a_megabyte_is_split() {
        let letters = "xian".repeat(1 << 18);
        assert_eq!(split(&letters).unwrap().len(), 1 << 18);
        assert_eq!(splits(&letters, 1000).len(), 1);
        assert!(split_typed(&"n".repeat(1 << 20)).is_none());
    }

    proptest! {
        #[test]
        fn splits_concatenated_are_the_letters(
            letters in "(?s).{0,20}|[a-z']{0,20}|(bei|xi|an|xian|zh|nü|lue|'){0,8}", limit in 0usize..20
        ) {
            let wanted = letters.replace(is_border_char, "");
            let found = splits(&letters, limit);
            prop_assert!(found.len() <= limit);
            for split in &found {
                prop_assert_eq!(&split.concat(), &wanted);
                prop_assert!(split.iter().all(|syllable| is_typed_syllable(syllable)));
            }
            prop_assert_eq!(split(&letters), splits(&letters, 1).pop());
            if let Some(typed) = split_typed(&letters) {
                prop_assert_eq!(typed.syllables.concat() + &typed.rest.replace(is_border_char, ""), wanted);
            }
        }
    }
}
