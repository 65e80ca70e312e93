//! Atoms, the units that are tagged. A Han character or a sign is one atom, and so is a run of letters and
//! digits.

use unicode_normalization::char::is_combining_mark;

use crate::is_han;

/// The number of a symbol, the model's representation of an atom.
pub(super) type Symbol = u16;

/// Beyond the ends of the text.
pub(super) const BORDER: Symbol = 0;
/// A Han character that is not in the alphabet.
pub(super) const UNKNOWN_HAN: Symbol = 1;
/// Any other character that is not in the alphabet: a sign.
pub(super) const UNKNOWN: Symbol = 2;
/// Runs are represented by their shape only: see [`LetterRun::symbol`].
const FIRST_RUN: Symbol = 3;
const LETTER_RUNS: Symbol = FIRST_RUN + 8;
/// Symbols from here on are the characters of the alphabet, most frequent first.
pub(super) const FIRST_CHARACTER: Symbol = FIRST_RUN + 11;
/// Fourteen bits per symbol: four of them fit into a key.
pub(super) const SYMBOL_BITS: u32 = 14;
pub(super) const MAX_SYMBOLS: usize = 1 << SYMBOL_BITS;

/// Number of borders before and after the symbols: the widest window never leaves the text.
pub(super) const PADDING: usize = 3;

// Entries of the character table that are not symbols.
const SPACE: u16 = u16::MAX;
const DIGIT: u16 = u16::MAX - 1;
const LETTER: u16 = u16::MAX - 2;
const MARK: u16 = u16::MAX - 3;

/// Bits of a character class.
pub(super) const CLASS_BITS: u32 = 3;

/// The characters of a model.
pub(super) struct Alphabet {
    /// Symbol or type of every character of the basic plane.
    table: Vec<u16>,
    /// Class of every symbol.
    pub(super) classes: Vec<u8>,
}

/// A text without whitespace, as atoms.
#[derive(Default)]
pub(super) struct Atoms {
    /// With [`PADDING`] borders on both sides.
    pub(super) symbols: Vec<Symbol>,
    /// End of each atom in bytes of the whole text.
    pub(super) ends: Vec<usize>,
}

impl Atoms {
    /// Returns the symbols without the borders.
    pub(super) fn inner(&self) -> &[Symbol] {
        self.symbols.get(PADDING..self.symbols.len().saturating_sub(PADDING)).unwrap_or_default()
    }
}

impl Alphabet {
    /// Creates an alphabet of `characters`, numbered in this order. They must be in the basic plane and be
    /// neither whitespace nor part of runs; others are ignored.
    pub(super) fn new(characters: &[char]) -> Self {
        let mut table: Vec<u16> =
            (0..=u32::from(u16::MAX)).map(|code| char::from_u32(code).map_or(UNKNOWN, kind)).collect();
        let mut classes = vec![0; usize::from(FIRST_CHARACTER)];
        classes[usize::from(UNKNOWN_HAN)] = 6;
        classes[usize::from(FIRST_RUN)..usize::from(LETTER_RUNS)].fill(1);
        classes[usize::from(LETTER_RUNS)..].fill(2);
        for &c in characters.iter().take(MAX_SYMBOLS - usize::from(FIRST_CHARACTER)) {
            if let Some(entry) = table.get_mut(c as usize).filter(|_| is_nameable(c)) {
                *entry = classes.len() as Symbol;
            }
            classes.push(class(c));
        }
        Alphabet { table, classes }
    }

    /// Returns the number of symbols.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Reads `text` from the byte `start` up to the next whitespace, and returns its position.
    pub(super) fn read(&self, text: &str, start: usize, atoms: &mut Atoms) -> usize {
        let Atoms { symbols, ends } = atoms;
        symbols.clear();
        ends.clear();
        symbols.extend([BORDER; PADDING]);
        let mut chars = text[start..].char_indices();
        let mut next = chars.next();
        let mut stop = text.len();
        while let Some((offset, c)) = next {
            let entry = self.entry(c);
            if usize::from(entry) < MAX_SYMBOLS {
                symbols.push(entry);
                ends.push(start + offset + c.len_utf8());
                next = chars.next();
            } else if entry == DIGIT || entry == LETTER {
                let mut run = LetterRun::default();
                while let Some((_, c)) = next.filter(|&(_, c)| self.entry(c) >= MARK && self.entry(c) < SPACE)
                {
                    run.add(c);
                    next = chars.next();
                }
                symbols.push(run.symbol());
                ends.push(next.map_or(text.len(), |(offset, _)| start + offset));
            } else if entry == MARK {
                // A combining mark belongs to the preceding atom.
                let end = start + offset + c.len_utf8();
                match ends.last_mut() {
                    Some(last) => *last = end,
                    None => {
                        symbols.push(UNKNOWN);
                        ends.push(end);
                    }
                }
                next = chars.next();
            } else {
                stop = start + offset;
                break;
            }
        }
        symbols.extend([BORDER; PADDING]);
        stop
    }

    fn entry(&self, c: char) -> u16 {
        match self.table.get(c as usize) {
            Some(&entry) => entry,
            None => kind(c),
        }
    }
}

/// Returns `true` if `c` may be in an alphabet.
pub(super) fn is_nameable(c: char) -> bool {
    (c as usize) <= usize::from(u16::MAX) && kind(c) <= UNKNOWN
}

/// Returns the type of `c` without any alphabet.
fn kind(c: char) -> u16 {
    if is_han(c) || c == '〇' {
        UNKNOWN_HAN
    } else if c.is_ascii_digit() {
        DIGIT
    } else if c.is_alphanumeric() {
        LETTER
    } else if c.is_whitespace() {
        SPACE
    } else if !c.is_ascii() && is_combining_mark(c) {
        MARK
    } else {
        UNKNOWN
    }
}

/// Returns the class of a character that is one atom.
fn class(c: char) -> u8 {
    match c {
        '一' | '二' | '三' | '四' | '五' | '六' | '七' | '八' | '九' | '零' | '〇' | '○' => 3,
        '十' | '百' | '千' | '万' | '亿' | '两' | '半' | '几' | '数' | '多' => 4,
        '年' | '月' | '日' | '时' | '分' | '秒' | '点' => 5,
        '.' | '%' | '·' | '・' | '/' | '-' | ':' => 7,
        _ if kind(c) == UNKNOWN_HAN => 6,
        _ => 0,
    }
}

/// A run of letters and digits while it is read.
#[derive(Default)]
struct LetterRun {
    chars: usize,
    digits: usize,
    /// Value of the first two digits.
    value: u32,
}

impl LetterRun {
    fn add(&mut self, c: char) {
        self.chars += 1;
        if let Some(digit) = c.to_digit(10) {
            self.digits += 1;
            if self.digits <= 2 {
                self.value = self.value * 10 + digit;
            }
        }
    }

    /// Returns the symbol of the shape. The shapes distinguish the numbers that precede 年, 月 and 日 in dates.
    fn symbol(&self) -> Symbol {
        let shape = if self.digits < self.chars {
            match (self.digits, self.chars) {
                (0, 1) => 8,
                (0, _) => 9,
                _ => 10,
            }
        } else {
            match (self.chars, self.value) {
                (1, _) => 0,
                (2, ..=12) => 1,
                (2, 13..=31) => 2,
                (2, _) => 3,
                (3, _) => 4,
                (4, 19 | 20) => 5,
                (4, _) => 6,
                _ => 7,
            }
        };
        FIRST_RUN + shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms(text: &str) -> (Vec<Symbol>, Vec<&str>, usize) {
        let mut atoms = Atoms::default();
        let stop = Alphabet::new(&['年', '的']).read(text, 0, &mut atoms);
        let starts = std::iter::once(0).chain(atoms.ends.iter().copied());
        let spans = starts.zip(&atoms.ends).map(|(start, &end)| &text[start..end]).collect();
        (atoms.inner().to_vec(), spans, stop)
    }

    #[test]
    fn runs_are_one_atom_and_everything_else_is_one_each() {
        let (symbols, spans, stop) = atoms("1998年的mp3、x\u{301}y龘 后");
        assert_eq!(spans, ["1998", "年", "的", "mp3", "、", "x\u{301}y", "龘"]);
        let year = FIRST_RUN + 5;
        assert_eq!(symbols[..4], [year, FIRST_CHARACTER, FIRST_CHARACTER + 1, FIRST_RUN + 10]);
        assert_eq!(symbols[4..], [UNKNOWN, FIRST_RUN + 9, UNKNOWN_HAN]);
        assert_eq!(stop, "1998年的mp3、x\u{301}y龘".len());
    }

    #[test]
    fn an_alphabet_ignores_invalid_characters() {
        let alphabet = Alphabet::new(&['a', ' ', '\u{20000}', '的']);
        assert_eq!(alphabet.entry('a'), LETTER);
        assert_eq!(alphabet.entry(' '), SPACE);
        assert_eq!(alphabet.entry('\u{20000}'), UNKNOWN_HAN);
        assert_eq!(alphabet.entry('的'), FIRST_CHARACTER + 3);
    }
}
