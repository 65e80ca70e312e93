//! Books of what people are helped to ask with, as files beside the index.
//!
//! A build writes them once for its history, since reading all titles and words takes a while; what came since is read from
//! latest by whoever answers. A book that is missing or damaged is no loss: it is made again from the index.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use pharos_text::phrasebook::Phrasebook;

use crate::Sayings;

/// Words of a book at most.
const MAX_WORDS: usize = 500_000;

const PHRASES: &str = "phrases.book";
const WORDS: &str = "words.book";

/// What people are helped to ask with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Books {
    /// Titles and anchors.
    pub phrases: Phrasebook,
    /// Words.
    pub words: Phrasebook,
}

impl Books {
    /// The heaviest phrases and words.
    pub fn of(sayings: Sayings, phrases: usize) -> Self {
        Self { phrases: sayings.phrases.finish(phrases), words: sayings.words.finish(MAX_WORDS) }
    }

    /// Puts them into a folder.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for (name, book) in [(PHRASES, &self.phrases), (WORDS, &self.words)] {
            let unfinished = folder.join(format!("{name}.new"));
            let mut file = File::create(&unfinished)?;
            file.write_all(&book.to_image())?;
            file.sync_all()?;
            fs::rename(&unfinished, folder.join(name))?;
        }
        Ok(())
    }

    /// Those in a folder; `None` where one is missing or damaged.
    pub fn read(folder: &Path) -> Option<Self> {
        let read = |name| {
            let path = folder.join(name);
            let image = fs::read(&path).ok()?;
            Phrasebook::from_image(&image)
                .inspect_err(|error| tracing::warn!(path = %path.display(), %error, "a book cannot be used"))
                .ok()
        };
        Some(Self { phrases: read(PHRASES)?, words: read(WORDS)? })
    }

    /// When those in a folder were written; changes whenever they do.
    pub fn written(folder: &Path) -> Option<std::time::SystemTime> {
        fs::metadata(folder.join(WORDS)).and_then(|meta| meta.modified()).ok()
    }

    /// Takes them away: what they say is not to be said any more.
    pub fn remove(folder: &Path) -> io::Result<()> {
        for name in [PHRASES, WORDS] {
            match fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn books_are_read_as_they_were_written_and_damage_is_no_loss() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Books::read(folder.path()), None);
        let mut sayings = Sayings::default();
        sayings.phrases.add("灯塔的历史", 3.0);
        sayings.words.add("灯塔", 5.0);
        let books = Books::of(sayings, 10);
        books.write(folder.path()).unwrap();
        assert_eq!(Books::read(folder.path()), Some(books));
        fs::write(folder.path().join(WORDS), b"PHAROSB1 and nonsense").unwrap();
        assert_eq!(Books::read(folder.path()), None);
        Books::remove(folder.path()).unwrap();
        Books::remove(folder.path()).unwrap();
        assert_eq!(Books::written(folder.path()), None);
    }
}
