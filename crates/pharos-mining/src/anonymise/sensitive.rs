//! Sensitive words in queries: names, addresses, health and money, by lists (《走进搜索引擎》§6.5.1).
//!
//! Lists find what they contain and no more: they are one of several means. Han words match anywhere in a text, others
//! as whole words. A Chinese surname with one or two characters counts as a name, unless they are a known word together.

use std::collections::{HashMap, HashSet};

use pharos_text::dictionary::Dictionary;
use pharos_text::{Analyser, is_han, normalise};

const NAMES: &str = include_str!("sensitive/names.txt");
const ADDRESSES: &str = include_str!("sensitive/addresses.txt");
const HEALTH: &str = include_str!("sensitive/health.txt");
const MONEY: &str = include_str!("sensitive/money.txt");
const SURNAMES: &str = include_str!("sensitive/surnames.txt");

/// Maximum length of a word of a list in characters.
const MAX_WORD: usize = 32;

/// A list of sensitive words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensitiveKind {
    Names,
    Addresses,
    Health,
    Money,
}

/// Words to find in queries.
#[derive(Clone, Debug, Default)]
pub struct SensitiveWords {
    /// Han words by their first character.
    han: HashMap<char, Vec<Vec<char>>>,
    words: HashSet<String>,
    surnames: HashSet<char>,
}

impl SensitiveWords {
    /// Combines lists that ship with Pharos and further words.
    pub fn new<'w>(kinds: &[SensitiveKind], further: impl IntoIterator<Item = &'w str>) -> Self {
        let mut words = Self::default();
        for kind in kinds {
            let list = match kind {
                SensitiveKind::Names => NAMES,
                SensitiveKind::Addresses => ADDRESSES,
                SensitiveKind::Health => HEALTH,
                SensitiveKind::Money => MONEY,
            };
            list.lines().for_each(|word| words.add(word));
            if *kind == SensitiveKind::Names {
                words.surnames = SURNAMES.chars().filter(|c| is_han(*c)).collect();
            }
        }
        further.into_iter().for_each(|word| words.add(word));
        words
    }

    fn add(&mut self, word: &str) {
        let word = normalise(word.split('#').next().unwrap_or_default());
        let chars: Vec<char> = word.trim().chars().collect();
        if chars.len() > MAX_WORD {
            return;
        }
        match chars.first() {
            Some(first) if is_han(*first) => self.han.entry(*first).or_default().push(chars),
            Some(_) => {
                self.words.insert(word.trim().to_string());
            }
            None => {}
        }
    }

    /// Returns `true` if a text contains a sensitive word.
    pub fn matches(&self, text: &str) -> bool {
        self.remove(text) != text
    }

    /// Removes the sensitive words of a text. Other texts are returned unchanged.
    pub fn remove(&self, text: &str) -> String {
        if self.han.is_empty() && self.words.is_empty() {
            return text.to_string();
        }
        let chars: Vec<char> = text.chars().collect();
        let mut keep = vec![true; chars.len()];
        self.mark_han(&chars, &mut keep);
        self.mark_words(&chars, &mut keep);
        if !self.surnames.is_empty() {
            self.mark_names(text, &mut keep);
        }
        if keep.iter().all(|keep| *keep) {
            return text.to_string();
        }
        let kept: String = chars.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(c, _)| *c).collect();
        kept.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn mark_han(&self, chars: &[char], keep: &mut [bool]) {
        for start in 0..chars.len() {
            for word in self.han.get(&chars[start]).into_iter().flatten() {
                if chars[start..].starts_with(word) {
                    keep[start..start + word.len()].fill(false);
                }
            }
        }
    }

    fn mark_words(&self, chars: &[char], keep: &mut [bool]) {
        let mut start = 0;
        while start < chars.len() {
            let end =
                start + chars[start..].iter().take_while(|c| c.is_alphanumeric() && !is_han(**c)).count();
            if end > start {
                let word: String = chars[start..end].iter().collect();
                if self.words.contains(&normalise(&word)) {
                    keep[start..end].fill(false);
                }
            }
            start = end.max(start + 1);
        }
    }

    /// Marks words of two or three characters that begin with a surname and are in no dictionary.
    fn mark_names(&self, text: &str, keep: &mut [bool]) {
        let mut position = 0;
        let mut byte = 0;
        let mut run: Vec<(usize, String)> = Vec::new();
        for word in Analyser::shared().segment(text) {
            let Some(found) = text.get(byte..).and_then(|rest| rest.find(word)) else { break };
            position += text[byte..byte + found].chars().count();
            run.push((position, word.to_string()));
            position += word.chars().count();
            byte += found + word.len();
        }
        // The segmenter leaves an unknown name as a surname and one or two characters.
        for (nth, (start, word)) in run.iter().enumerate() {
            let mut name: Vec<char> = word.chars().collect();
            if !name.first().is_some_and(|c| self.surnames.contains(c)) {
                continue;
            }
            if name.len() == 1 {
                let mut next = start + 1;
                for (at, word) in &run[nth + 1..] {
                    let given: Vec<char> = word.chars().collect();
                    // The given name follows without a gap.
                    if *at != next || name.len() + given.len() > 3 || !given.iter().all(|c| is_han(*c)) {
                        break;
                    }
                    next += given.len();
                    name.extend(given);
                }
            } else if is_known_word(word) {
                continue;
            }
            if (2..=3).contains(&name.len()) {
                let end = (start + name.len()).min(keep.len());
                keep[*start..end].fill(false);
            }
        }
    }
}

/// Returns `true` if a word is in the base dictionary, and not as the name of a person.
fn is_known_word(word: &str) -> bool {
    let dictionary = Dictionary::base();
    dictionary.code(word).is_some_and(|code| !dictionary.tag(code).starts_with("nr"))
}
