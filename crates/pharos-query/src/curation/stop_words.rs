//! Additional stop words of an installation: `models/stop_words.txt`.
//!
//! Words are separated by whitespace; lines that begin with `#` are comments. A query drops these words if it has
//! another one, like the stop words of the base list.

use std::collections::HashSet;
use std::path::Path;

use pharos_text::normalise;

use super::file::CurationFile;

/// Name of the file in the directory of models.
const FILE_NAME: &str = "stop_words.txt";
/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 256 << 10;
/// Maximum number of words. Further ones are ignored.
const MAX_WORDS: usize = 10_000;

/// A set of additional stop words.
pub type StopWords = HashSet<String>;

/// Returns the file in the directory of models.
pub fn stop_words_file(models: &Path) -> CurationFile {
    CurationFile::new(models.join(FILE_NAME), MAX_BYTES)
}

/// Parses the text of the file. Every text is valid.
pub fn parse_stop_words(text: &str) -> StopWords {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(str::split_whitespace).map(normalise).filter(|word| !word.is_empty());
    words.take(MAX_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_normalised_and_comments_skipped() {
        let words = parse_stop_words("# ours\nPharos ＬＡＭＰ\n灯塔\r\n\n");
        assert_eq!(words, HashSet::from(["pharos", "lamp", "灯塔"].map(String::from)));
    }
}
