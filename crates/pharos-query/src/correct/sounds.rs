//! Chinese that was typed by its sound: the wrong characters of the right pinyin (同音字), or pinyin itself.
//!
//! Both are syllables in search of words. The cheapest way through them is found from left to right, as an input method does:
//! a word costs the logarithm of its rarity, a character other than the one typed costs extra, a character that belongs to
//! no word costs most.

use pharos_core::config::CorrectConfig;
use pharos_text::{is_han, pinyin};

use crate::help::Help;

/// Characters of a run that are looked at.
const MAX_RUN: usize = 32;
/// Characters of words that are tried.
const MAX_WORD: usize = 8;
/// What a character costs that belongs to no word.
const ALONE: f32 = 12.0;
/// A way must be so much cheaper than what was typed.
const MARGIN: f32 = 1.0;
/// Phrases with the same beginning that are compared.
const COMPARED: usize = 500;
/// Characters that may be one too many, one too few or wrong in a phrase: in shorter ones that is another word.
const LONG_ENOUGH: usize = 3;

/// Sounds that many do not tell apart (模糊音).
const INITIALS: [(&str, &str); 6] =
    [("zh", "z"), ("ch", "c"), ("sh", "s"), ("n", "l"), ("h", "f"), ("r", "l")];
const FINALS: [(&str, &str); 3] = [("ang", "an"), ("eng", "en"), ("ing", "in")];

/// A syllable and, where one was typed, its character.
#[derive(Clone, Copy, Debug)]
struct Unit<'t> {
    sound: &'t str,
    written: Option<char>,
}

/// Chinese text that sounds like a run of Han characters, or is nearly the same; `None` where the run is as good as any.
pub(super) fn homophones(run: &str, help: &Help, costs: &CorrectConfig) -> Vec<String> {
    let units: Vec<Unit<'_>> = pinyin::pinyin(run)
        .filter_map(|syllable| {
            Some(Unit { sound: syllable.reading?, written: Some(syllable.text.chars().next()?) })
        })
        .collect();
    // A character without a reading: the run cannot be told by its sound.
    if units.len() != run.chars().count() || units.len() > MAX_RUN {
        return Vec::new();
    }
    let as_typed = Lattice { help, costs, units: &units, only_typed: true }.best();
    let best = Lattice { help, costs, units: &units, only_typed: false }.best();
    let mut found = Vec::new();
    if let (Some((typed, _)), Some((cost, text))) = (as_typed, best)
        && text != run
        && cost + MARGIN < typed
    {
        found.push(text);
    }
    found.extend(nearly(run, help));
    found
}

/// Chinese text for letters that are pinyin, the likeliest first.
pub(super) fn of_pinyin(letters: &str, help: &Help, costs: &CorrectConfig) -> Vec<String> {
    let mut found: Vec<(f32, String)> = Vec::new();
    for way in pinyin::splits(letters, 4) {
        let units: Vec<Unit<'_>> = way.into_iter().map(|sound| Unit { sound, written: None }).collect();
        if units.len() > 1 && units.len() <= MAX_RUN {
            found.extend(Lattice { help, costs, units: &units, only_typed: false }.best());
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, text)| text).collect()
}

/// Phrases that begin as the run does and differ from it by one character: wrong, missing or too many.
fn nearly(run: &str, help: &Help) -> Vec<String> {
    let characters: Vec<char> = run.chars().collect();
    if characters.len() < LONG_ENOUGH {
        return Vec::new();
    }
    let half: String = characters.iter().take(characters.len() / 2).collect();
    let mut found: Vec<(bool, f32, String)> = Vec::new();
    for book in help.books() {
        for phrase in book.beginning(&half).take(COMPARED) {
            if differs_by_one(&characters, phrase.text) && !found.iter().any(|(.., text)| text == phrase.text)
            {
                let is_as_long = phrase.text.chars().count() == characters.len();
                found.push((is_as_long, phrase.weight, phrase.text.to_string()));
            }
        }
    }
    // A wrong character is likelier than one that is missing or too many.
    found.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    found.truncate(2);
    found.into_iter().map(|(.., text)| text).collect()
}

/// Is it the same text but for one character, wrong, missing or too many?
fn differs_by_one(typed: &[char], phrase: &str) -> bool {
    let phrase: Vec<char> = phrase.chars().take(typed.len() + 2).collect();
    if phrase.len().abs_diff(typed.len()) > 1 || typed == phrase {
        return false;
    }
    let same = typed.iter().zip(&phrase).take_while(|(a, b)| a == b).count();
    let (typed, phrase) = (&typed[same..], &phrase[same..]);
    match typed.len().cmp(&phrase.len()) {
        std::cmp::Ordering::Equal => typed[1..] == phrase[1..],
        std::cmp::Ordering::Less => *typed == phrase[1..],
        std::cmp::Ordering::Greater => typed[1..] == *phrase,
    }
}

/// The ways through syllables.
struct Lattice<'a> {
    help: &'a Help,
    costs: &'a CorrectConfig,
    units: &'a [Unit<'a>],
    /// Nothing but what was typed.
    only_typed: bool,
}

impl Lattice<'_> {
    /// The cheapest way, with its cost.
    fn best(&self) -> Option<(f32, String)> {
        let heaviest = self.help.heaviest();
        let mut ways: Vec<Option<(f32, String)>> = vec![None; self.units.len() + 1];
        ways[0] = Some((0.0, String::new()));
        for start in 0..self.units.len() {
            let Some((cost, text)) = ways[start].clone() else { continue };
            for length in 1..=MAX_WORD.max(self.units.len()).min(self.units.len() - start) {
                // Longer ones are phrases, which only the whole may be.
                if length > MAX_WORD && length < self.units.len() {
                    continue;
                }
                for (word_cost, word) in self.words(&self.units[start..start + length], heaviest) {
                    let cost = cost + word_cost;
                    let way = &mut ways[start + length];
                    if way.as_ref().is_none_or(|(known, _)| cost < *known) {
                        *way = Some((cost, format!("{text}{word}")));
                    }
                }
            }
        }
        ways.pop().flatten()
    }

    /// Words for a stretch of syllables, with what they cost.
    fn words(&self, units: &[Unit<'_>], heaviest: f32) -> Vec<(f32, String)> {
        let rarity = |weight: f32| heaviest.ln_1p() - weight.ln_1p() + 1.0;
        let written: Option<String> = units.iter().map(|unit| unit.written).collect();
        let mut words = Vec::new();
        if let Some(written) = &written {
            let weight = self.help.weight(written);
            if weight > 0.0 {
                words.push((rarity(weight), written.clone()));
            } else if units.len() == 1 {
                words.push((ALONE, written.clone()));
            }
        }
        if self.only_typed || units.len() < 2 {
            return words;
        }
        let sounds: Vec<&str> = units.iter().map(|unit| unit.sound).collect();
        let mut found = self.sounding(&sounds);
        if found.is_empty() {
            found = self.sounding_nearly(&sounds);
        }
        for (extra, weight, text) in found {
            let changed = units
                .iter()
                .zip(text.chars())
                .filter(|(unit, c)| unit.written.is_some_and(|typed| typed != *c));
            let changed = changed.count() as f32;
            if changed > 0.0 || written.is_none() {
                words.push((rarity(weight) + extra + changed * self.costs.homophone as f32, text));
            }
        }
        words
    }

    /// Words and phrases of just these syllables.
    fn sounding(&self, sounds: &[&str]) -> Vec<(f32, f32, String)> {
        let key = sounds.join(" ");
        let fits = |text: &str| {
            text.chars().all(is_han)
                && text.chars().count() == sounds.len()
                && pinyin::homophone_key(text) == key
        };
        let found = self.help.sounding(&sounds.concat()).into_iter().filter(|phrase| fits(phrase.text));
        found.map(|phrase| (0.0, phrase.weight, phrase.text.to_string())).collect()
    }

    /// The same where one syllable is heard as another.
    fn sounding_nearly(&self, sounds: &[&str]) -> Vec<(f32, f32, String)> {
        let mut found = Vec::new();
        for (nth, sound) in sounds.iter().enumerate() {
            for other in heard_as(sound) {
                let mut sounds = sounds.to_vec();
                sounds[nth] = &other;
                found.extend(self.sounding(&sounds).into_iter().map(|(_, weight, text)| (2.0, weight, text)));
            }
        }
        found
    }
}

/// Syllables that a syllable is taken for.
fn heard_as(sound: &str) -> Vec<String> {
    let mut others = Vec::new();
    for (a, b) in INITIALS {
        // zh begins with z, too.
        if let Some(rest) = sound.strip_prefix(a) {
            others.push(format!("{b}{rest}"));
        } else if let Some(rest) = sound.strip_prefix(b).filter(|rest| !rest.starts_with('h')) {
            others.push(format!("{a}{rest}"));
        }
    }
    for (a, b) in FINALS {
        if let Some(rest) = sound.strip_suffix(a) {
            others.push(format!("{rest}{b}"));
        } else if let Some(rest) = sound.strip_suffix(b) {
            others.push(format!("{rest}{a}"));
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_character_is_a_slip_and_two_are_another_phrase() {
        let typed: Vec<char> = "北京大字".chars().collect();
        for near in ["北京大学", "北京大", "北京大字典", "北京字"] {
            assert!(differs_by_one(&typed, near), "{near}");
        }
        for far in ["北京大字", "北京大学堂", "北京", "南京大学", ""] {
            assert!(!differs_by_one(&typed, far), "{far}");
        }
    }

    #[test]
    fn regions_hear_differently() {
        assert!(
            heard_as("shan").contains(&"san".to_string()) && heard_as("shan").contains(&"shang".to_string())
        );
        assert!(heard_as("lan").contains(&"nan".to_string()) && heard_as("zi").contains(&"zhi".to_string()));
        assert!(!heard_as("zhi").contains(&"zhhi".to_string()));
    }
}
