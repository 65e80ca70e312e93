//! Learnt words and proposed synonyms that operators have rejected: `models/refused.tsv`.
//!
//! A line is `word` and a word, or `synonyms` and two words, separated by tabs. Lines may be removed by hand; others are
//! ignored. Builds do not learn or propose again what the file contains.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

const FILE_NAME: &str = "refused.tsv";
/// Maximum size of the file in bytes; the rest is ignored.
const MAX_BYTES: u64 = 16 << 20;
const WORD: &str = "word";
const SYNONYMS: &str = "synonyms";

/// Something learnt that an operator has rejected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// A word of the vocabulary, normalised.
    Word(String),
    /// Two synonyms in either order.
    Synonyms(String, String),
}

impl Refusal {
    /// Creates the rejection of a pair, whose order has no meaning.
    pub fn synonyms(a: &str, b: &str) -> Self {
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        Self::Synonyms(first.to_string(), second.to_string())
    }

    fn parse(line: &str) -> Option<Self> {
        let columns: Vec<&str> = line.split('\t').map(str::trim).collect();
        match columns[..] {
            [WORD, word] if !word.is_empty() => Some(Self::Word(word.to_string())),
            [SYNONYMS, a, b] if !a.is_empty() && !b.is_empty() => Some(Self::synonyms(a, b)),
            _ => None,
        }
    }

    fn to_line(&self) -> String {
        let clean = |text: &str| text.replace(['\t', '\n', '\r'], " ");
        match self {
            Self::Word(word) => format!("{WORD}\t{}\n", clean(word)),
            Self::Synonyms(a, b) => format!("{SYNONYMS}\t{}\t{}\n", clean(a), clean(b)),
        }
    }
}

/// Everything that operators have rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals(BTreeSet<Refusal>);

impl Refusals {
    /// Reads the file in the directory of models; nothing is rejected if it does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn load(models: &Path) -> io::Result<Self> {
        let mut bytes = Vec::new();
        match File::open(file(models)) {
            Ok(file) => file.take(MAX_BYTES).read_to_end(&mut bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        Ok(Self(String::from_utf8_lossy(&bytes).lines().filter_map(Refusal::parse).collect()))
    }

    /// Adds rejections to the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written.
    pub fn add(models: &Path, refused: impl IntoIterator<Item = Refusal>) -> io::Result<()> {
        pharos_files::create_dir_all(models)?;
        let path = file(models);
        // Other processes wait until the file is replaced.
        let lock = File::options().create(true).append(true).open(path.with_extension("lock"))?;
        lock.lock()?;
        let mut all = Self::load(models)?;
        all.0.extend(refused);
        let text: String = all.0.iter().map(Refusal::to_line).collect();
        pharos_files::replace(&path, text.as_bytes())
    }

    /// Returns `true` if this was rejected.
    pub fn contains(&self, refusal: &Refusal) -> bool {
        self.0.contains(refusal)
    }
}

fn file(models: &Path) -> PathBuf {
    models.join(FILE_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_cut_leaves_the_old_or_the_new_rejections() {
        let dir = tempfile::tempdir().unwrap();
        Refusals::add(dir.path(), [Refusal::Word("a".into())]).unwrap();
        let add = || Refusals::add(dir.path(), [Refusal::Word("b".into())]).unwrap();
        pharos_files::power_cut::check(dir.path(), add).unwrap();
    }

    #[test]
    fn rejections_are_kept_and_other_lines_ignored() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Refusals::load(dir.path()).unwrap(), Refusals::default());
        Refusals::add(dir.path(), [Refusal::Word("搜虎".into()), Refusal::synonyms("b", "a")]).unwrap();
        Refusals::add(dir.path(), [Refusal::synonyms("a", "b"), Refusal::Word("a\tb".into())]).unwrap();
        let refused = Refusals::load(dir.path()).unwrap();
        assert_eq!(refused.0.len(), 3);
        assert!(
            refused.contains(&Refusal::Word("搜虎".into())) && refused.contains(&Refusal::synonyms("b", "a"))
        );
        std::fs::write(dir.path().join(FILE_NAME), b"word\nword\t\nother\tx\nsynonyms\tx\n\xff\nword\tx\r\n")
            .unwrap();
        assert_eq!(Refusals::load(dir.path()).unwrap().0.len(), 1);
    }
}
