//! Phrase indexes for query suggestions and corrections, stored beside the index.
//!
//! A history build writes them once, because scanning all titles and words is slow. Newer titles and words are
//! scanned from the latest generations by the serving process. A missing or damaged file is ignored and rebuilt from
//! the index.

use std::fs;
use std::io;
use std::path::Path;

use pharos_text::is_han;
use pharos_text::phrase_index::{PhraseIndex, PhraseIndexBuilder};
use pharos_text::title::title_parts;

use crate::error::IndexError;
use crate::view::{GenerationScope, IndexView};

/// Maximum number of words in a phrase index.
const MAX_WORDS: usize = 500_000;

const PHRASES_FILE: &str = "phrases.book";
const WORDS_FILE: &str = "words.book";

/// Phrase indexes of titles and words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhraseIndexes {
    /// Titles and anchor texts.
    pub phrases: PhraseIndex,
    pub words: PhraseIndex,
}

impl PhraseIndexes {
    /// Creates the indexes from the phrases and words with the largest weights.
    pub fn from_builder(builder: PhraseIndexesBuilder, phrases: usize) -> Self {
        Self { phrases: builder.phrases.finish(phrases), words: builder.words.finish(MAX_WORDS) }
    }

    /// Writes the indexes to a directory, replacing each file atomically.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        pharos_files::create_dir_all(folder)?;
        pharos_files::replace(&folder.join(PHRASES_FILE), &self.phrases.to_image())?;
        pharos_files::replace(&folder.join(WORDS_FILE), &self.words.to_image())
    }

    /// Reads the indexes of a directory. Returns `None` if a file is missing or damaged.
    pub fn read(folder: &Path) -> Option<Self> {
        let read = |name| {
            let path = folder.join(name);
            let image = fs::read(&path).ok()?;
            PhraseIndex::from_image(&image)
                .inspect_err(
                    |error| tracing::warn!(path = %path.display(), %error, "ignoring a damaged phrase index"),
                )
                .ok()
        };
        Some(Self { phrases: read(PHRASES_FILE)?, words: read(WORDS_FILE)? })
    }

    /// Returns the modification time of the indexes in a directory, which identifies their version.
    pub fn modified(folder: &Path) -> Option<std::time::SystemTime> {
        fs::metadata(folder.join(WORDS_FILE)).and_then(|meta| meta.modified()).ok()
    }

    /// Removes the indexes of a directory.
    pub fn remove(folder: &Path) -> io::Result<()> {
        for name in [PHRASES_FILE, WORDS_FILE] {
            pharos_files::remove_if_exists(&folder.join(name))?;
        }
        Ok(())
    }
}

/// Additional weight of a title at static rank 1, relative to a title at rank 0.
const RANK_BONUS: f32 = 9.0;

/// Smaller collections keep every word. In larger ones, words of a single document are mostly misspelled and are
/// dropped.
const SMALL_COLLECTION: u64 = 1_000;

/// Lengths, in characters, of words that are kept: Han words, and words of letters.
const HAN_LENGTH: std::ops::RangeInclusive<usize> = 2..=8;
const WORD_LENGTH: std::ops::RangeInclusive<usize> = 3..=32;

/// A builder of phrase indexes that collects titles and words with their weights.
#[derive(Debug, Default)]
pub struct PhraseIndexesBuilder {
    pub phrases: PhraseIndexBuilder,
    pub words: PhraseIndexBuilder,
}

impl PhraseIndexesBuilder {
    /// Collects the titles and words of all searchable pages.
    pub fn from_view(view: &dyn IndexView, scope: GenerationScope) -> Result<Self, IndexError> {
        let mut builder = Self::default();
        let mut pages = 0;
        view.for_each_title(scope, &mut |title| {
            pages += 1;
            let weight = 1.0 + RANK_BONUS * title.static_rank;
            title_parts(title.title).for_each(|part| builder.phrases.add(part, weight));
        })?;
        let min_documents = if pages < SMALL_COLLECTION { 1 } else { 2 };
        view.for_each_word(scope, &mut |word, documents| {
            if documents >= min_documents && is_word(word) {
                builder.words.add(word, documents as f32);
            }
        })?;
        Ok(builder)
    }
}

fn is_word(word: &str) -> bool {
    let letters = word.chars().count();
    if word.chars().all(is_han) {
        HAN_LENGTH.contains(&letters)
    } else {
        WORD_LENGTH.contains(&letters) && word.chars().all(char::is_alphabetic) && !word.contains(is_han)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_single_characters_are_no_words() {
        for word in ["灯塔", "lamp", "été"] {
            assert!(is_word(word), "{word}");
        }
        for none in ["灯", "of", "1890", "node.js", "4k电视", "/2国家图书馆"] {
            assert!(!is_word(none), "{none}");
        }
    }

    #[test]
    fn indexes_are_read_back_and_damage_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(PhraseIndexes::read(folder.path()), None);
        let mut builder = PhraseIndexesBuilder::default();
        builder.phrases.add("灯塔的历史", 3.0);
        builder.words.add("灯塔", 5.0);
        let indexes = PhraseIndexes::from_builder(builder, 10);
        indexes.write(folder.path()).unwrap();
        assert_eq!(PhraseIndexes::read(folder.path()), Some(indexes));
        fs::write(folder.path().join(WORDS_FILE), b"PHAROSP1 and nonsense").unwrap();
        assert_eq!(PhraseIndexes::read(folder.path()), None);
        PhraseIndexes::remove(folder.path()).unwrap();
        PhraseIndexes::remove(folder.path()).unwrap();
        assert_eq!(PhraseIndexes::modified(folder.path()), None);
    }
}
