//! Misspelled queries: one wrong letter in an English word, or one wrong Chinese character of the same sound.

use std::collections::HashMap;
use std::sync::LazyLock;

use pharos_text::dictionary::Dictionary;
use pharos_text::pinyin;

use super::seeded_choice::SeededChoice;

/// Minimum length of an English word that is misspelled: people seldom mistype shorter ones, and a typo in them is often
/// another word.
const MIN_LETTERS: usize = 5;

/// A homophone must be about as common as the character that it replaces, as in the list of an input method.
const MIN_FREQUENCY_SHARE: u32 = 10;

/// Common characters by pinyin, with their frequency in the dictionary.
static HOMOPHONES: LazyLock<HashMap<&'static str, Vec<(char, u32)>>> = LazyLock::new(|| {
    let dictionary = Dictionary::base();
    let mut by_sound: HashMap<&'static str, Vec<(char, u32)>> = HashMap::new();
    for c in '\u{4e00}'..='\u{9fa5}' {
        let frequency = dictionary.code(&c.to_string()).map(|code| dictionary.frequency(code));
        if let (Some(frequency), Some(sound)) = (frequency, pinyin::readings(c).next()) {
            by_sound.entry(sound).or_default().push((c, frequency));
        }
    }
    by_sound
});

/// Misspells one word of a query. Returns `None` if no word is suitable.
pub(super) fn misspell(query: &str, choice: &mut SeededChoice) -> Option<String> {
    let words: Vec<&str> = query.split(' ').collect();
    let suitable: Vec<usize> = (0..words.len()).filter(|at| is_suitable(words[*at])).collect();
    let at = *choice.one_of(&suitable)?;
    let word = words[at];
    let wrong = if word.is_ascii() { mistype(word, choice) } else { replace_by_homophone(word, choice)? };
    let mut all: Vec<&str> = words.clone();
    all[at] = &wrong;
    Some(all.join(" "))
}

fn is_suitable(word: &str) -> bool {
    let is_english = word.len() >= MIN_LETTERS && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_english
        || (word.chars().nth(1).is_some() && word.chars().all(|c| pinyin::readings(c).next().is_some()))
}

/// Omits, doubles, replaces or exchanges a letter after the first one.
fn mistype(word: &str, choice: &mut SeededChoice) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = 1 + choice.below(letters.len() - 2);
    match choice.below(4) {
        0 => {
            letters.remove(at);
        }
        1 => letters.insert(at, letters[at]),
        2 if letters[at] != letters[at + 1] => letters.swap(at, at + 1),
        _ => {
            let others: Vec<char> = ('a'..='z').filter(|c| *c != letters[at].to_ascii_lowercase()).collect();
            letters[at] = *choice.one_of(&others).unwrap_or(&'x');
        }
    }
    letters.into_iter().collect()
}

/// Replaces one character by a common one of the same sound.
fn replace_by_homophone(word: &str, choice: &mut SeededChoice) -> Option<String> {
    let mut letters: Vec<char> = word.chars().collect();
    let first = choice.below(letters.len());
    for offset in 0..letters.len() {
        let at = (first + offset) % letters.len();
        let same = HOMOPHONES.get(pinyin::readings(letters[at]).next()?)?;
        let own = same.iter().find(|(c, _)| *c == letters[at]).map_or(0, |(_, frequency)| *frequency);
        let others: Vec<char> = same
            .iter()
            .filter(|(c, frequency)| {
                *c != letters[at] && *frequency > 0 && *frequency >= own / MIN_FREQUENCY_SHARE
            })
            .map(|(c, _)| *c)
            .collect();
        if let Some(other) = choice.one_of(&others) {
            letters[at] = *other;
            return Some(letters.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_misspelled() {
        for seed in 0..50 {
            let mut choice = SeededChoice::new(seed, "");
            let wrong = misspell("the lighthouse of x1", &mut choice).unwrap();
            let words: Vec<&str> = wrong.split(' ').collect();
            assert!(matches!(words[..], ["the", word, "of", "x1"] if word != "lighthouse"), "{wrong}");
            assert!((9..=11).contains(&words[1].len()) && words[1].starts_with('l'), "{wrong}");
            let wrong = misspell("灯塔", &mut choice).unwrap();
            assert_eq!(wrong.chars().zip("灯塔".chars()).filter(|(a, b)| a != b).count(), 1, "{wrong}");
            assert_eq!(pinyin::homophone_key(&wrong), pinyin::homophone_key("灯塔"));
        }
        assert_eq!(misspell("a b 12", &mut SeededChoice::new(1, "")), None);
    }
}
