//! Are the generations that `CURRENT` names there, and as they were written?

use std::fmt;
use std::path::{Path, PathBuf};

use tantivy::directory::MmapDirectory;

use crate::IndexError;
use crate::generations::{Current, Generations};

/// Something a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationFlaw {
    /// The file or directory.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: GenerationProblem,
}

/// What can be wrong with a generation, or with the file that names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenerationProblem {
    /// It is not as it was written.
    Damaged(String),
    /// It has other fields than this pharos reads.
    Older,
    /// It is named, or must have been, and is not there.
    Missing,
    /// Nobody names it: it takes room and nothing else.
    Leftover,
}

impl fmt::Display for GenerationProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(detail) => write!(f, "damaged: {detail}"),
            Self::Older => write!(f, "written by an older pharos"),
            Self::Missing => write!(f, "missing"),
            Self::Leftover => write!(f, "left over: no list of generations names it"),
        }
    }
}

/// Checks the chain and the checksums of all its files, reading each once. Beside an owner that commits, or a build
/// that switches, a second look tells what is only passing.
pub fn check_generations(dir: &Path) -> Result<Vec<GenerationFlaw>, IndexError> {
    let generations = Generations::at(dir);
    let named = dir.join("CURRENT");
    let current = match generations.current() {
        Ok(current) => current,
        Err(IndexError::Damaged { path, detail }) => {
            return Ok(vec![GenerationFlaw { path, problem: GenerationProblem::Damaged(detail) }]);
        }
        Err(IndexError::OlderFormat { path }) => {
            return Ok(vec![GenerationFlaw { path, problem: GenerationProblem::Older }]);
        }
        Err(error) => return Err(error),
    };
    // Before the first build there is no list, and one generation.
    if !named.exists() && !generations.unnamed(&Current::default())?.is_empty() {
        return Ok(vec![GenerationFlaw { path: named, problem: GenerationProblem::Missing }]);
    }
    let mut flaws = Vec::new();
    let mut flaw = |path: PathBuf, problem| flaws.push(GenerationFlaw { path, problem });
    if let Some(history) = current.history {
        let path = generations.history_dir(history.number);
        if path.join("meta.json").exists() {
            damaged_files(&path).into_iter().for_each(|(path, problem)| flaw(path, problem));
        } else {
            flaw(path, GenerationProblem::Missing);
        }
    }
    for (place, latest) in current.latest.iter().enumerate() {
        let path = generations.latest_dir(latest.number);
        let next = current.latest.get(place + 1);
        if path.join("meta.json").exists() {
            damaged_files(&path).into_iter().for_each(|(path, problem)| flaw(path, problem));
        } else if next.is_some_and(|next| next.from > latest.from) {
            // One that is open and not there yet is filled by replaying.
            flaw(path, GenerationProblem::Missing);
        }
    }
    if !generations.is_building() {
        for path in generations.unnamed(&current)? {
            flaw(path, GenerationProblem::Leftover);
        }
    }
    Ok(flaws)
}

/// The files of a generation whose checksums are wrong. No reader is opened before they are known to be right.
fn damaged_files(path: &Path) -> Vec<(PathBuf, GenerationProblem)> {
    let checked = MmapDirectory::open(path)
        .map_err(tantivy::TantivyError::from)
        .and_then(tantivy::Index::open)
        .and_then(|index| index.validate_checksum());
    match checked {
        Ok(damaged) => {
            let detail = "its checksum is wrong".to_string();
            let mut files: Vec<_> = damaged
                .into_iter()
                .map(|file| (path.join(file), GenerationProblem::Damaged(detail.clone())))
                .collect();
            files.sort_by(|a, b| a.0.cmp(&b.0));
            files
        }
        Err(error) => vec![(path.to_path_buf(), GenerationProblem::Damaged(error.to_string()))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Change, Document, EmbeddedIndex, Index as _};
    use pharos_core::{LibraryPosition, PageUrl};
    use std::fs;

    fn filled(dir: &Path) -> EmbeddedIndex {
        let index = EmbeddedIndex::open_writer(dir, 16 << 20, 1 << 20).unwrap();
        let document = Document {
            title: "Tower".into(),
            body: "It stands.".into(),
            position: LibraryPosition { file: 1, offset: 5 },
            ..Document::new(PageUrl::parse("http://example.org/").unwrap())
        };
        index.apply(vec![Change::Put(Box::new(document))]).unwrap();
        index.commit(LibraryPosition { file: 1, offset: 9 }).unwrap();
        index
    }

    #[test]
    fn a_flipped_byte_and_a_lost_list_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let index = filled(dir.path());
        assert_eq!(check_generations(dir.path()).unwrap(), []);
        index.seal().unwrap();
        drop(index);
        assert_eq!(check_generations(dir.path()).unwrap(), []);

        let store = fs::read_dir(dir.path().join("latest-1")).unwrap().flatten().map(|e| e.path());
        let store = store.into_iter().find(|p| p.extension().is_some_and(|e| e == "store")).unwrap();
        let whole = fs::read(&store).unwrap();
        let mut bytes = whole.clone();
        bytes[3] ^= 1;
        fs::write(&store, bytes).unwrap();
        let flaws = check_generations(dir.path()).unwrap();
        assert!(matches!(&flaws[..], [flaw] if flaw.path == store), "{flaws:?}");
        fs::write(&store, whole).unwrap();

        fs::create_dir(dir.path().join("history-7")).unwrap();
        let flaws = check_generations(dir.path()).unwrap();
        assert!(matches!(&flaws[..], [flaw] if flaw.problem == GenerationProblem::Leftover), "{flaws:?}");
        fs::remove_file(dir.path().join("CURRENT")).unwrap();
        let flaws = check_generations(dir.path()).unwrap();
        assert!(matches!(&flaws[..], [flaw] if flaw.problem == GenerationProblem::Missing), "{flaws:?}");

        let fresh = Generations::at(dir.path()).start_over(None).unwrap();
        assert_eq!((fresh.history, fresh.open().number), (None, 3));
        assert_eq!(check_generations(dir.path()).unwrap(), []);
    }
}
