//! Changes the vocabulary file while operators edit it and engines read it.
//!
//! Only whole lines are added and removed. Comments, order and invalid lines are preserved.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::file::{HEADER, write_line};
use super::{MAX_FILE_BYTES, Vocabulary, VocabularyProblem, WordError, WordKind};
use crate::dictionary::Dictionary;

/// Exclusive access to the vocabulary file. A second editor waits.
pub struct VocabularyEditor {
    path: PathBuf,
    normalise: fn(&str) -> String,
    text: String,
    words: Vocabulary,
    problems: Vec<VocabularyProblem>,
    /// Held until the editor is saved or dropped.
    _lock: File,
}

impl VocabularyEditor {
    /// Opens and locks the file, which need not exist yet.
    ///
    /// # Errors
    /// Fails on I/O errors and if the file is not UTF-8.
    pub fn open(
        path: impl Into<PathBuf>,
        base: &'static Dictionary,
        normalise: fn(&str) -> String,
    ) -> io::Result<Self> {
        let path = path.into();
        if let Some(folder) = path.parent() {
            pharos_files::create_dir_all(folder)?;
        }
        let lock = File::create(path.with_extension("lock"))?;
        lock.lock()?;
        let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8: convert the file first");
        let mut text = String::from_utf8(read_bytes(&path)?.unwrap_or_default()).map_err(not_text)?;
        if text.is_empty() {
            text.push_str(HEADER);
        }
        let (words, problems) = Vocabulary::parse(&text, base, &normalise);
        Ok(Self { path, normalise, text, words, problems, _lock: lock })
    }

    /// Returns the current words.
    pub fn words(&self) -> &Vocabulary {
        &self.words
    }

    /// Returns the invalid lines.
    pub fn problems(&self) -> &[VocabularyProblem] {
        &self.problems
    }

    /// Adds a word like [`Vocabulary::add`].
    pub fn add(
        &mut self,
        word: &str,
        kind: Option<WordKind>,
        frequency: Option<u32>,
        source: &str,
    ) -> Result<WordKind, WordError> {
        let word = (self.normalise)(word);
        let kind = self.words.add(&word, kind, frequency, source)?;
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        if let Some(known) = self.words.get(&word) {
            write_line(&mut self.text, &word, known);
        }
        Ok(kind)
    }

    /// Removes a word. Returns `false` if it was not in the file.
    pub fn remove(&mut self, word: &str) -> bool {
        let word = (self.normalise)(word);
        if self.words.remove(&word).is_none() {
            return false;
        }
        let is_it = |line: &str| {
            let written = line.split('\t').next().unwrap_or_default().trim();
            !line.starts_with('#') && (self.normalise)(written) == word
        };
        self.text = self.text.split_inclusive('\n').filter(|line| !is_it(line)).collect();
        true
    }

    /// Replaces the file durably, so that no reader sees a partial file.
    pub fn save(self) -> io::Result<()> {
        if self.text.len() > MAX_FILE_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("vocabulary file larger than {MAX_FILE_BYTES} bytes"),
            ));
        }
        pharos_files::replace(&self.path, self.text.as_bytes())
    }
}

/// Returns the content of a vocabulary file, truncated one byte after the size limit, or `None` if it does
/// not exist.
pub(super) fn read_bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn open(path: &Path) -> io::Result<VocabularyEditor> {
        VocabularyEditor::open(path, Dictionary::base(), crate::normalise)
    }

    #[test]
    fn comments_and_invalid_lines_are_preserved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models/words.tsv");
        let mut editor = open(&path).unwrap();
        assert_eq!(editor.add("愛心社", None, None, "club").unwrap(), WordKind::Base);
        editor.save().unwrap();
        let by_hand = "# ours\n爱心社\tbase\n坏\tnoun\n  微澜阁";
        fs::write(&path, by_hand).unwrap();

        let mut editor = open(&path).unwrap();
        assert_eq!((editor.words().len(), editor.problems().len()), (2, 1));
        assert_eq!(editor.add("爱心社", None, None, ""), Err(WordError::Duplicate));
        editor.add("灯塔图书馆", None, None, "").unwrap();
        assert!(editor.remove("愛心社") && !editor.remove("没有"));
        editor.save().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "# ours\n坏\tnoun\n  微澜阁\n灯塔图书馆\textension\t1\n");

        fs::write(&path, b"\xb0\xae").unwrap();
        assert!(open(&path).is_err(), "another encoding is not overwritten");
    }

    #[test]
    fn the_file_survives_a_power_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models/words.tsv");
        for word in ["甲甲乙社", "乙乙丙社"] {
            let save = || {
                let mut editor = open(&path).unwrap();
                editor.add(word, None, None, "").unwrap();
                editor.save().unwrap();
            };
            pharos_files::power_cut::check(folder.path(), save).unwrap();
        }
    }

    #[test]
    fn concurrent_editors_lose_no_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words.tsv");
        std::thread::scope(|threads| {
            for name in ["甲甲乙社", "乙乙丙社", "丙丙丁社", "丁丁甲社"] {
                let path = &path;
                threads.spawn(move || {
                    let mut editor = open(path).unwrap();
                    editor.add(name, Some(WordKind::Base), None, "").unwrap();
                    editor.save().unwrap();
                });
            }
        });
        assert_eq!(open(&path).unwrap().words().len(), 4);
    }
}
