//! The file of words, changed by a command while people edit it and engines read it.
//!
//! Only lines are added and taken out: comments, order and lines that could not be understood stay as somebody
//! wrote them.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use super::file::{HEAD, write_line};
use super::{Kind, MAX_FILE_BYTES, Problem, Vocabulary, WordError};
use crate::dictionary::Dictionary;

/// The file in the hands of one who changes it. Who comes second waits.
pub struct Editor {
    path: PathBuf,
    normalise: fn(&str) -> String,
    text: String,
    words: Vocabulary,
    problems: Vec<Problem>,
    /// Held until the file is saved or let go.
    _lock: File,
}

impl Editor {
    /// Takes the file, which need not be there yet.
    pub fn open(
        path: impl Into<PathBuf>,
        base: &'static Dictionary,
        normalise: fn(&str) -> String,
    ) -> io::Result<Self> {
        let path = path.into();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let lock = File::create(path.with_extension("lock"))?;
        lock.lock()?;
        let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "not in UTF-8: convert it first");
        let mut text = String::from_utf8(read_bytes(&path)?.unwrap_or_default()).map_err(not_text)?;
        if text.is_empty() {
            text.push_str(HEAD);
        }
        let (words, problems) = Vocabulary::parse(&text, base, &normalise);
        Ok(Self { path, normalise, text, words, problems, _lock: lock })
    }

    /// The words as they are now.
    pub fn words(&self) -> &Vocabulary {
        &self.words
    }

    /// The lines that could not be taken.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Adds a word as [`Vocabulary::add`] does.
    pub fn add(
        &mut self,
        word: &str,
        kind: Option<Kind>,
        frequency: Option<u32>,
        source: &str,
    ) -> Result<Kind, WordError> {
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

    /// Takes a word out; tells whether it was there.
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

    /// Puts the file in place whole, so that nobody ever reads half of it.
    pub fn save(self) -> io::Result<()> {
        if self.text.len() > MAX_FILE_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("longer than {MAX_FILE_BYTES} bytes"),
            ));
        }
        let new = self.path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(self.text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }
}

/// What a file of words holds, or a byte more than it may; nothing where there is none.
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
    use super::*;

    fn open(path: &Path) -> io::Result<Editor> {
        Editor::open(path, Dictionary::base(), crate::normalise)
    }

    #[test]
    fn what_others_wrote_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models/words.tsv");
        let mut editor = open(&path).unwrap();
        assert_eq!(editor.add("愛心社", None, None, "club").unwrap(), Kind::Base);
        editor.save().unwrap();
        let by_hand = "# ours\n爱心社\tbase\n坏\tnoun\n  微澜阁";
        fs::write(&path, by_hand).unwrap();

        let mut editor = open(&path).unwrap();
        assert_eq!((editor.words().len(), editor.problems().len()), (2, 1));
        assert_eq!(editor.add("爱心社", None, None, ""), Err(WordError::Twice));
        editor.add("灯塔图书馆", None, None, "").unwrap();
        assert!(editor.remove("愛心社") && !editor.remove("没有"));
        editor.save().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "# ours\n坏\tnoun\n  微澜阁\n灯塔图书馆\textension\t1\n");

        fs::write(&path, b"\xb0\xae").unwrap();
        assert!(open(&path).is_err(), "another encoding is not overwritten");
    }

    #[test]
    fn who_comes_second_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words.tsv");
        std::thread::scope(|threads| {
            for name in ["甲甲乙社", "乙乙丙社", "丙丙丁社", "丁丁甲社"] {
                let path = &path;
                threads.spawn(move || {
                    let mut editor = open(path).unwrap();
                    editor.add(name, Some(Kind::Base), None, "").unwrap();
                    editor.save().unwrap();
                });
            }
        });
        assert_eq!(open(&path).unwrap().words().len(), 4);
    }
}
