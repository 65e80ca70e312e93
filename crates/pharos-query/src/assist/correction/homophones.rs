//! Corrections of Chinese typed by sound: wrong characters with the right pinyin (同音字), or pinyin itself.
//!
//! Both are sequences of syllables. The cheapest path through a word lattice is found from left to right, as in an
//! input method: a word costs the logarithm of its rarity, a changed character costs extra, and a character outside
//! any word costs most.

use pharos_core::config::CorrectConfig;
use pharos_text::{is_han, pinyin};

use crate::assist::suggestion_sources::SuggestionSources;

/// Maximum number of characters of a run.
const MAX_RUN: usize = 32;
/// Maximum number of characters of a word.
const MAX_WORD: usize = 8;
/// Cost of a character that belongs to no word.
const UNKNOWN_CHARACTER_COST: f32 = 12.0;
/// Amount by which a correction must be cheaper than the typed text.
const MARGIN: f32 = 1.0;
/// Maximum number of phrases with the same beginning that are compared.
const MAX_COMPARED: usize = 500;
/// Minimum length of phrases for corrections by one character; in shorter ones that is a different word.
const MIN_PHRASE_LENGTH: usize = 3;

/// Commonly confused sounds (模糊音).
const INITIALS: [(&str, &str); 6] =
    [("zh", "z"), ("ch", "c"), ("sh", "s"), ("n", "l"), ("h", "f"), ("r", "l")];
const FINALS: [(&str, &str); 3] = [("ang", "an"), ("eng", "en"), ("ing", "in")];

/// A syllable and its typed character, if any.
#[derive(Clone, Copy, Debug)]
struct SyllableUnit<'t> {
    sound: &'t str,
    written: Option<char>,
}

/// Returns texts that sound like a run of Han characters or differ by one character; empty if the run is as likely as
/// any.
pub(super) fn correct_homophones(
    run: &str,
    suggestions: &SuggestionSources,
    costs: &CorrectConfig,
) -> Vec<String> {
    let units: Vec<SyllableUnit<'_>> = pinyin::pinyin(run)
        .filter_map(|syllable| {
            Some(SyllableUnit { sound: syllable.reading?, written: Some(syllable.text.chars().next()?) })
        })
        .collect();
    // The run contains a character without a reading.
    if units.len() != run.chars().count() || units.len() > MAX_RUN {
        return Vec::new();
    }
    let as_typed = Lattice { suggestions, costs, units: &units, only_typed: true }.cheapest_path();
    let best = Lattice { suggestions, costs, units: &units, only_typed: false }.cheapest_path();
    let mut found = Vec::new();
    if let (Some((typed, _)), Some((cost, text))) = (as_typed, best)
        && text != run
        && cost + MARGIN < typed
    {
        found.push(text);
    }
    found.extend(one_character_away(run, suggestions));
    found
}

/// Returns Chinese texts for pinyin, most likely first.
pub(super) fn from_pinyin(
    letters: &str,
    suggestions: &SuggestionSources,
    costs: &CorrectConfig,
) -> Vec<String> {
    let mut found: Vec<(f32, String)> = Vec::new();
    for path in pinyin::splits(letters, 4) {
        let units: Vec<SyllableUnit<'_>> =
            path.into_iter().map(|sound| SyllableUnit { sound, written: None }).collect();
        if units.len() > 1 && units.len() <= MAX_RUN {
            found.extend(Lattice { suggestions, costs, units: &units, only_typed: false }.cheapest_path());
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, text)| text).collect()
}

/// Returns phrases with the same beginning that differ by one character: wrong, missing or additional.
fn one_character_away(run: &str, suggestions: &SuggestionSources) -> Vec<String> {
    let characters: Vec<char> = run.chars().collect();
    if characters.len() < MIN_PHRASE_LENGTH {
        return Vec::new();
    }
    let half: String = characters.iter().take(characters.len() / 2).collect();
    let mut found: Vec<(bool, f32, String)> = Vec::new();
    for index in suggestions.indexes() {
        for phrase in index.with_prefix(&half).take(MAX_COMPARED) {
            if differs_by_one(&characters, phrase.text) && !found.iter().any(|(.., text)| text == phrase.text)
            {
                let is_as_long = phrase.text.chars().count() == characters.len();
                found.push((is_as_long, phrase.weight, phrase.text.to_string()));
            }
        }
    }
    // A wrong character is more likely than a missing or additional one.
    found.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    found.truncate(2);
    found.into_iter().map(|(.., text)| text).collect()
}

/// Returns `true` if the texts differ by exactly one wrong, missing or additional character.
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

/// A lattice of words over a sequence of syllables.
struct Lattice<'a> {
    suggestions: &'a SuggestionSources,
    costs: &'a CorrectConfig,
    units: &'a [SyllableUnit<'a>],
    /// Uses the typed characters only.
    only_typed: bool,
}

impl Lattice<'_> {
    /// Returns the cheapest path with its cost.
    fn cheapest_path(&self) -> Option<(f32, String)> {
        let heaviest = self.suggestions.heaviest();
        let mut paths: Vec<Option<(f32, String)>> = vec![None; self.units.len() + 1];
        paths[0] = Some((0.0, String::new()));
        for start in 0..self.units.len() {
            let Some((cost, text)) = paths[start].clone() else { continue };
            for length in 1..=MAX_WORD.max(self.units.len()).min(self.units.len() - start) {
                // Longer ones are phrases, which must cover the whole sequence.
                if length > MAX_WORD && length < self.units.len() {
                    continue;
                }
                for (word_cost, word) in self.words(&self.units[start..start + length], heaviest) {
                    let cost = cost + word_cost;
                    let path = &mut paths[start + length];
                    if path.as_ref().is_none_or(|(known, _)| cost < *known) {
                        *path = Some((cost, format!("{text}{word}")));
                    }
                }
            }
        }
        paths.pop().flatten()
    }

    /// Returns words for a range of syllables, with their costs.
    fn words(&self, units: &[SyllableUnit<'_>], heaviest: f32) -> Vec<(f32, String)> {
        let rarity = |weight: f32| heaviest.ln_1p() - weight.ln_1p() + 1.0;
        let written: Option<String> = units.iter().map(|unit| unit.written).collect();
        let mut words = Vec::new();
        if let Some(written) = &written {
            let weight = self.suggestions.weight(written);
            if weight > 0.0 {
                words.push((rarity(weight), written.clone()));
            } else if units.len() == 1 {
                words.push((UNKNOWN_CHARACTER_COST, written.clone()));
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

    /// Returns words and phrases with exactly these syllables.
    fn sounding(&self, sounds: &[&str]) -> Vec<(f32, f32, String)> {
        let key = sounds.join(" ");
        let fits = |text: &str| {
            text.chars().all(is_han)
                && text.chars().count() == sounds.len()
                && pinyin::homophone_key(text) == key
        };
        let found =
            self.suggestions.sounding(&sounds.concat()).into_iter().filter(|phrase| fits(phrase.text));
        found.map(|phrase| (0.0, phrase.weight, phrase.text.to_string())).collect()
    }

    /// Returns words and phrases with one confusable syllable.
    fn sounding_nearly(&self, sounds: &[&str]) -> Vec<(f32, f32, String)> {
        let mut found = Vec::new();
        for (nth, sound) in sounds.iter().enumerate() {
            for other in confusable_syllables(sound) {
                let mut sounds = sounds.to_vec();
                sounds[nth] = &other;
                found.extend(self.sounding(&sounds).into_iter().map(|(_, weight, text)| (2.0, weight, text)));
            }
        }
        found
    }
}

/// Returns the syllables that a syllable is commonly confused with.
fn confusable_syllables(sound: &str) -> Vec<String> {
    let mut others = Vec::new();
    for (a, b) in INITIALS {
        // `zh` also starts with `z`.
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
    fn confusable_sounds_are_found() {
        assert!(
            confusable_syllables("shan").contains(&"san".to_string())
                && confusable_syllables("shan").contains(&"shang".to_string())
        );
        assert!(
            confusable_syllables("lan").contains(&"nan".to_string())
                && confusable_syllables("zi").contains(&"zhi".to_string())
        );
        assert!(!confusable_syllables("zhi").contains(&"zhhi".to_string()));
    }
}
