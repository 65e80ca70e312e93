//! Synonyms (同义词) of an installation: `models/synonyms.tsv`.
//!
//! One set per line, its words separated by tabs or commas; lines that begin with `#` are comments. A word of a query also
//! finds pages with another word of its set, at a lower weight. A word may be several words, such as `new york`.
//!
//! Sets are symmetric, and expansion takes one step: a word in two sets has the synonyms of both, and these do not become
//! synonyms of each other. Circular sets therefore need no special treatment.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use pharos_text::analyser::stem::stem_term;
use pharos_text::{Analyser, is_han, normalise};

use super::file::CurationFile;
use super::records::CurationError;
use crate::language::term::QueryTerm;
use crate::request::collapse_whitespace;

/// Name of the file in the directory of models.
const FILE_NAME: &str = "synonyms.tsv";
/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 2 << 20;
/// Maximum number of sets.
const MAX_SETS: usize = 10_000;
/// Maximum number of words in a set.
const MAX_WORDS: usize = 16;
/// Maximum length of a word in characters.
const MAX_WORD_CHARS: usize = 64;
/// Maximum number of synonyms of a word in a query, because each one is a part of the index query.
const MAX_SYNONYMS: usize = 8;
/// Maximum number of query terms that form one word of a set.
const MAX_TERMS: usize = 6;
/// Maximum number of lines that are reported.
const MAX_PROBLEMS: usize = 100;

/// Characters between the words of a set.
const SEPARATORS: [char; 4] = ['\t', ',', '，', '、'];

/// Returns the file in the directory of models.
pub fn synonyms_file(models: &Path) -> CurationFile {
    CurationFile::new(models.join(FILE_NAME), MAX_BYTES)
}

/// Adds a set of two words to the file in the directory of models. Returns `false` if they are no valid set.
///
/// # Errors
/// Fails if the file cannot be read or written, or would be too long.
pub fn add_synonyms(models: &Path, a: &str, b: &str) -> Result<bool, CurationError> {
    let line = format!("{}\t{}", a.trim(), b.trim());
    if line.contains(['\n', '\r', '#']) || parse_set(&line).is_err() {
        return Ok(false);
    }
    let file = synonyms_file(models);
    let _lock = file.lock()?;
    let mut text = file.read_text()?;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&line);
    text.push('\n');
    file.replace(text.as_bytes())?;
    Ok(true)
}

/// The sets of synonyms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SynonymSets {
    sets: Vec<Vec<String>>,
    /// Sets by the key of each of their words.
    by_key: HashMap<String, Vec<usize>>,
}

/// A line that is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynonymProblem {
    /// Number of the line, from 1.
    pub line: usize,
    pub why: SynonymDefect,
}

/// The reason why a line is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SynonymDefect {
    /// Fewer than two different words.
    TooFew,
    TooMany,
    TooLong,
    /// The line is beyond the maximum number of sets.
    Full,
}

impl fmt::Display for SynonymProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match self.why {
            SynonymDefect::TooFew => {
                write!(f, "a set needs two different words, separated by commas or tabs")
            }
            SynonymDefect::TooMany => write!(f, "more than {MAX_WORDS} words in a set"),
            SynonymDefect::TooLong => write!(f, "a word is longer than {MAX_WORD_CHARS} characters"),
            SynonymDefect::Full => write!(f, "more than {MAX_SETS} sets"),
        }
    }
}

impl SynonymSets {
    /// Parses the text of the file. Invalid lines are skipped and reported.
    pub fn parse(text: &str) -> (Self, Vec<SynonymProblem>) {
        let (mut sets, mut problems) = (Self::default(), Vec::new());
        for (line, text) in (1..).zip(text.lines()) {
            if text.starts_with('#') || text.trim().is_empty() {
                continue;
            }
            let added = if sets.sets.len() < MAX_SETS { parse_set(text) } else { Err(SynonymDefect::Full) };
            match added {
                Ok(set) => sets.add(set),
                Err(why) if problems.len() < MAX_PROBLEMS => problems.push(SynonymProblem { line, why }),
                Err(_) => {}
            }
        }
        (sets, problems)
    }

    /// Returns the sets, each word normalised.
    pub fn iter(&self) -> impl Iterator<Item = &[String]> {
        self.sets.iter().map(Vec::as_slice)
    }

    /// Returns `true` if there are no sets.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Returns `true` if a set contains both words.
    pub fn are_synonyms(&self, a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(|word| collapse_whitespace(&normalise(word)));
        self.sets.iter().any(|set| set.contains(&a) && set.contains(&b))
    }

    fn add(&mut self, set: Vec<String>) {
        let nth = self.sets.len();
        for word in &set {
            let terms = QueryTerm::parse_all(word, Analyser::shared());
            let sets = self.by_key.entry(key_of(&terms)).or_default();
            if sets.last() != Some(&nth) {
                sets.push(nth);
            }
        }
        self.sets.push(set);
    }

    /// Finds the longest word of a set at the beginning of `terms`. Returns the number of its terms, and its synonyms.
    pub(crate) fn find(&self, terms: &[&QueryTerm]) -> Option<(usize, Vec<&str>)> {
        (1..=terms.len().min(MAX_TERMS)).rev().find_map(|length| {
            let key = key_of(terms[..length].iter().copied());
            let synonyms = self.synonyms(&key);
            (!synonyms.is_empty()).then_some((length, synonyms))
        })
    }

    /// Returns the other words of all sets that contain a word.
    fn synonyms(&self, key: &str) -> Vec<&str> {
        let mut synonyms: Vec<&str> = Vec::new();
        for word in self.by_key.get(key).into_iter().flatten().flat_map(|set| &self.sets[*set]) {
            let terms = QueryTerm::parse_all(word, Analyser::shared());
            if key_of(&terms) != key && !synonyms.contains(&word.as_str()) && synonyms.len() < MAX_SYNONYMS {
                synonyms.push(word);
            }
        }
        synonyms
    }
}

fn parse_set(line: &str) -> Result<Vec<String>, SynonymDefect> {
    let mut set: Vec<String> = Vec::new();
    for word in line.split(SEPARATORS).map(|word| collapse_whitespace(&normalise(word))) {
        if word.chars().count() > MAX_WORD_CHARS {
            return Err(SynonymDefect::TooLong);
        }
        let is_word = word.contains(char::is_alphanumeric);
        if is_word && !set.contains(&word) {
            set.push(word);
        }
        if set.len() > MAX_WORDS {
            return Err(SynonymDefect::TooMany);
        }
    }
    if set.len() < 2 { Err(SynonymDefect::TooFew) } else { Ok(set) }
}

/// Returns the form by which words are compared: English words by their stems, Chinese ones whatever their segmentation.
fn key_of<'t>(terms: impl IntoIterator<Item = &'t QueryTerm>) -> String {
    let mut key = String::new();
    for term in terms {
        let is_joined = key.ends_with(is_han) && term.word.starts_with(is_han);
        if !key.is_empty() && !is_joined {
            key.push(' ');
        }
        match stem_term(&term.word) {
            Some(stem) => key.push_str(&stem),
            None => key.push_str(&term.word),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(sets: &SynonymSets, query: &str) -> Option<(usize, Vec<String>)> {
        let terms = QueryTerm::parse_all(query, Analyser::shared());
        let terms: Vec<&QueryTerm> = terms.iter().collect();
        let (length, synonyms) = sets.find(&terms)?;
        Some((length, synonyms.into_iter().map(String::from).collect()))
    }

    #[test]
    fn words_are_found_in_any_form_and_segmentation() {
        let (sets, problems) =
            SynonymSets::parse("# ours\nlighthouse, Pharos，灯塔\nnew york\tnyc\n信息检索、IR\n");
        assert_eq!((problems.len(), sets.iter().count()), (0, 3));
        assert_eq!(found(&sets, "lighthouses at sea").unwrap(), (1, vec!["pharos".into(), "灯塔".into()]));
        assert_eq!(found(&sets, "New York hotels").unwrap(), (2, vec!["nyc".into()]));
        assert_eq!(found(&sets, "new").map(|(length, _)| length), None);
        assert_eq!(found(&sets, "信息检索导论").unwrap().1, ["ir"]);
        assert!(sets.are_synonyms("NYC", "new  york") && !sets.are_synonyms("nyc", "pharos"));
    }

    #[test]
    fn a_set_is_added_to_what_an_operator_has_written() {
        let dir = tempfile::tempdir().unwrap();
        let file = synonyms_file(dir.path());
        std::fs::write(file.path(), "# ours").unwrap();
        assert!(add_synonyms(dir.path(), "new york", "nyc").unwrap());
        for (a, b) in [("same", "Same"), ("", "b"), ("a\nb", "c"), ("#a", "b")] {
            assert!(!add_synonyms(dir.path(), a, b).unwrap(), "{a} / {b}");
        }
        assert_eq!(file.read_text().unwrap(), "# ours\nnew york\tnyc\n");
    }

    #[test]
    fn circular_and_overlapping_sets_expand_one_step() {
        let (sets, problems) = SynonymSets::parse("a1, b1\nb1, c1\nc1, a1\nb1, a1\n");
        assert_eq!(problems, []);
        assert_eq!(found(&sets, "a1").unwrap().1, ["b1", "c1"]);
        let (sets, _) = SynonymSets::parse("bank, shore\nbank, lender\n");
        assert_eq!(found(&sets, "shore").unwrap().1, ["bank"], "a lender is no shore");
        assert_eq!(found(&sets, "bank").unwrap().1, ["shore", "lender"]);
    }

    #[test]
    fn invalid_lines_are_reported_and_the_rest_is_used() {
        let many: Vec<String> = (0..17).map(|nth| format!("w{nth}")).collect();
        let text = format!("alone\n{}\nsame, SAME\n{}, b\ngood, fine\n,,\n", many.join(","), "x".repeat(65));
        let (sets, problems) = SynonymSets::parse(&text);
        assert_eq!(sets.iter().count(), 1);
        let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 6]);
        assert_eq!(problems[1].to_string(), "line 2: more than 16 words in a set");
        let text: String = (0..=MAX_SETS).map(|nth| format!("a{nth},b{nth}\n")).collect();
        let (sets, problems) = SynonymSets::parse(&text);
        assert_eq!((sets.iter().count(), problems[0].why), (MAX_SETS, SynonymDefect::Full));
        let wide: String = (0..40).map(|nth| format!("hub,s{nth}\n")).collect();
        assert_eq!(found(&SynonymSets::parse(&wide).0, "hub").unwrap().1.len(), MAX_SYNONYMS);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[a-c灯塔,\\t\\n 、½#]{0,60}|\\PC{0,60}", query in "\\PC{0,20}") {
            let (sets, _) = SynonymSets::parse(&text);
            let _ = found(&sets, &query);
        }
    }
}
