//! Typed pinyin cut into syllables.
//!
//! Letters can often be cut in more than one way: xian is xian (先) and xi an (西安). Ways are ordered as a
//! reader would try them: fewest syllables first; then those in which no syllable but the first begins with a
//! vowel, since the orthography (汉语拼音正词法) asks for an apostrophe there; then longer syllables first.

use super::table::{MAX_SYLLABLE, Table};

/// Ways kept in all, over all places of the letters.
const MAX_WAYS: usize = 1 << 16;

/// Syllables of no character of GB 2312 but at most one interjection: they would make odd cuts of common
/// words.
const RARE: [&str; 13] =
    ["biang", "bong", "cei", "den", "din", "eng", "fiao", "len", "nia", "nun", "rua", "tei", "wong"];

/// How lve, nv and nve are typed too.
const VARIANTS: [&str; 6] = ["lue", "lü", "lüe", "nue", "nü", "nüe"];

/// Letters that are still being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed<'t> {
    /// The syllables that are complete.
    pub syllables: Vec<&'t str>,
    /// The beginning of one more, or nothing.
    pub rest: &'t str,
}

/// The syllables of `letters` (lower case; apostrophes and spaces are borders), cut in the likeliest way;
/// `None` if they are not pinyin.
pub fn split(letters: &str) -> Option<Vec<&str>> {
    splits(letters, 1).pop()
}

/// At most `limit` ways to cut `letters` into syllables, the likeliest first; fewer of very long letters.
pub fn splits(letters: &str, limit: usize) -> Vec<Vec<&str>> {
    if limit == 0 {
        return Vec::new();
    }
    let lattice = Lattice::of(letters, limit);
    let ways = lattice.ways_to(letters.len()).len();
    (0..ways).map(|rank| lattice.syllables(letters.len(), rank)).filter(|cut| !cut.is_empty()).collect()
}

/// [`split`] of letters whose last syllable may be incomplete: beij is bei and j.
pub fn split_typed(letters: &str) -> Option<Typed<'_>> {
    let lattice = Lattice::of(letters, 1);
    let earliest = letters.floor_char_boundary(letters.len().saturating_sub(MAX_SYLLABLE));
    (earliest..=letters.len())
        .rev()
        .filter(|&at| letters.is_char_boundary(at))
        .filter_map(|at| {
            let (way, rest) = (lattice.ways_to(at).first()?, &letters[at..]);
            let is_beginning = rest.is_empty() || Table::shared().begins_syllable(rest);
            is_beginning.then_some((way.syllables + u32::from(!rest.is_empty()), at))
        })
        // Of equals the first, which has the shorter rest.
        .min_by_key(|&(pieces, at)| (at != letters.len(), pieces))
        .map(|(_, at)| Typed { syllables: lattice.syllables(at, 0), rest: &letters[at..] })
        .filter(|typed| !(typed.syllables.is_empty() && typed.rest.is_empty()))
}

/// The best ways to cut every beginning of the letters, found from left to right: of what follows a place,
/// only the best ways to reach the place matter.
struct Lattice<'t> {
    letters: &'t str,
    ways: Vec<Way>,
    /// Where the ways of each place begin in `ways`.
    starts: Vec<usize>,
}

/// One way to reach a place.
#[derive(Clone, Copy)]
struct Way {
    /// Syllables so far, rare ones twice.
    syllables: u32,
    /// Syllables so far that begin with a vowel and have no border before them.
    vowels: u32,
    /// Bytes of the last piece.
    len: u8,
    /// Which of the ways to the beginning of the last piece.
    rank: u16,
}

impl<'t> Lattice<'t> {
    fn of(letters: &'t str, limit: usize) -> Self {
        let limit = limit.clamp(1, (MAX_WAYS / (letters.len() + 1)).max(1));
        let mut lattice = Lattice { letters, ways: Vec::new(), starts: vec![0] };
        lattice.ways.push(Way { syllables: 0, vowels: 0, len: 0, rank: 0 });
        let mut ways: Vec<Way> = Vec::new();
        for end in 1..=letters.len() {
            lattice.starts.push(lattice.ways.len());
            if !letters.is_char_boundary(end) {
                continue;
            }
            ways.clear();
            for start in end.saturating_sub(MAX_SYLLABLE)..end {
                lattice.extend(&mut ways, start, end);
            }
            // Longer pieces came first and stay first among equals.
            ways.sort_by_key(|way| (way.syllables, way.vowels));
            lattice.ways.extend(ways.iter().take(limit));
        }
        lattice
    }

    /// Adds the ways to `end` whose last piece begins at `start`.
    fn extend(&self, ways: &mut Vec<Way>, start: usize, end: usize) {
        let before = self.ways_to(start);
        if before.is_empty() {
            return;
        }
        let piece = &self.letters[start..end];
        let (syllables, vowels) = if is_border(piece) {
            (0, 0)
        } else if is_typed_syllable(piece) {
            let has_border = self.letters[..start].chars().next_back().is_none_or(is_border_char);
            let is_bare_vowel = !has_border && piece.starts_with(['a', 'e', 'o']);
            (1 + u32::from(RARE.contains(&piece)), u32::from(is_bare_vowel))
        } else {
            return;
        };
        ways.extend(before.iter().enumerate().map(|(rank, way)| Way {
            syllables: way.syllables + syllables,
            vowels: way.vowels + vowels,
            // Both fit: pieces have six bytes at most, ways of a place are fewer than MAX_WAYS.
            len: (end - start) as u8,
            rank: rank as u16,
        }));
    }

    fn ways_to(&self, place: usize) -> &[Way] {
        let end = self.starts.get(place + 1).copied().unwrap_or(self.ways.len());
        self.starts.get(place).and_then(|&start| self.ways.get(start..end)).unwrap_or_default()
    }

    fn syllables(&self, mut place: usize, mut rank: usize) -> Vec<&'t str> {
        let mut syllables = Vec::new();
        while let Some(way) = self.ways_to(place).get(rank).filter(|way| way.len > 0) {
            let start = place - usize::from(way.len);
            let piece = &self.letters[start..place];
            if !is_border(piece) {
                syllables.push(piece);
            }
            (place, rank) = (start, usize::from(way.rank));
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
    // Interjections without a vowel (n, ng, hm) would let almost any letters pass.
    let has_vowel = piece.contains(['a', 'e', 'i', 'o', 'u', 'v']);
    has_vowel && Table::shared().is_syllable(piece) || VARIANTS.contains(&piece)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_are_cut_as_a_reader_would() {
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
    fn a_megabyte_is_cut() {
        let letters = "xian".repeat(1 << 18);
        assert_eq!(split(&letters).unwrap().len(), 1 << 18);
        assert_eq!(splits(&letters, 1000).len(), 1);
        assert!(split_typed(&"n".repeat(1 << 20)).is_none());
    }

    proptest! {
        #[test]
        fn cuts_are_the_letters(
            letters in "(?s).{0,20}|[a-z']{0,20}|(bei|xi|an|xian|zh|nü|lue|'){0,8}", limit in 0usize..20
        ) {
            let wanted = letters.replace(is_border_char, "");
            let cuts = splits(&letters, limit);
            prop_assert!(cuts.len() <= limit);
            for cut in &cuts {
                prop_assert_eq!(&cut.concat(), &wanted);
                prop_assert!(cut.iter().all(|syllable| is_typed_syllable(syllable)));
            }
            prop_assert_eq!(split(&letters), splits(&letters, 1).pop());
            if let Some(typed) = split_typed(&letters) {
                prop_assert_eq!(typed.syllables.concat() + &typed.rest.replace(is_border_char, ""), wanted);
            }
        }
    }
}
