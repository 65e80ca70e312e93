//! Are the generations that `CURRENT` names there, and as they were written?

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tantivy::directory::MmapDirectory;

use crate::IndexError;
use crate::current::{Current, Latest};
use crate::generations::Generations;
use crate::guard::shielded;
use crate::manifest::{self, Proof};
use crate::member::Member;

const CURRENT: &str = "CURRENT";
/// How long and how often a second look is taken.
const PAUSE: Duration = Duration::from_millis(200);
const LOOKS: usize = 5;

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

/// What a check found about one generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationReport {
    /// Its kind and number, as in `history 7`; `CURRENT` for the list of all.
    pub name: String,
    /// Is it kept for going back only?
    pub previous: bool,
    /// Its folder.
    pub path: PathBuf,
    /// What is wrong with it; nothing, where it is good.
    pub flaws: Vec<GenerationFlaw>,
}

/// Checks every generation that `CURRENT` names, one by one, reading each file once. What is only passing, beside an
/// owner that commits or a build that switches, is not told: it is looked at again.
pub fn verify_generations(dir: &Path) -> Result<Vec<GenerationReport>, IndexError> {
    let mut reports = reports(dir)?;
    for _ in 0..LOOKS {
        if reports.iter().all(|report| report.flaws.is_empty()) {
            break;
        }
        thread::sleep(PAUSE);
        let before: Vec<GenerationFlaw> = reports.into_iter().flat_map(|report| report.flaws).collect();
        reports = self::reports(dir)?;
        reports.iter_mut().for_each(|report| report.flaws.retain(|flaw| before.contains(flaw)));
    }
    Ok(reports)
}

/// Checks the chain and the checksums of all its files, reading each once. Beside an owner that commits, or a build
/// that switches, a second look tells what is only passing.
pub fn check_generations(dir: &Path) -> Result<Vec<GenerationFlaw>, IndexError> {
    let generations = Generations::at(dir);
    let reports = reports(dir)?;
    let is_list = |report: &GenerationReport| report.name == CURRENT;
    let unreadable = reports.iter().any(|report| is_list(report) && !report.flaws.is_empty());
    let mut flaws: Vec<GenerationFlaw> = reports.into_iter().flat_map(|report| report.flaws).collect();
    if !unreadable && !generations.is_building() {
        let unnamed = generations.unnamed(&generations.current()?)?;
        let leftover = |path| GenerationFlaw { path, problem: GenerationProblem::Leftover };
        flaws.extend(unnamed.into_iter().map(leftover));
    }
    Ok(flaws)
}

/// One look at everything that `CURRENT` names.
fn reports(dir: &Path) -> Result<Vec<GenerationReport>, IndexError> {
    let generations = Generations::at(dir);
    let named = dir.join(CURRENT);
    let list = |path: PathBuf, problem| {
        let flaws = vec![GenerationFlaw { path: path.clone(), problem }];
        vec![GenerationReport { name: CURRENT.into(), previous: false, path, flaws }]
    };
    let current = match generations.current() {
        Ok(current) => current,
        Err(IndexError::Damaged { path, detail }) => {
            return Ok(list(path, GenerationProblem::Damaged(detail)));
        }
        Err(IndexError::OlderFormat { path }) => return Ok(list(path, GenerationProblem::Older)),
        Err(error) => return Err(error),
    };
    // Before the first build there is no list, and one generation.
    if !named.exists() && !generations.unnamed(&Current::default())?.is_empty() {
        return Ok(list(named, GenerationProblem::Missing));
    }
    let mut reports = Vec::new();
    let mut report =
        |name: String, previous: bool, path: PathBuf, flaws: Vec<(PathBuf, GenerationProblem)>| {
            let flaws = flaws.into_iter().map(|(path, problem)| GenerationFlaw { path, problem }).collect();
            reports.push(GenerationReport { name, previous, path, flaws });
        };
    for history in current.named_histories() {
        let path = generations.history_dir(history.number);
        let previous = current.history != Some(history);
        report(format!("history {}", history.number), previous, path.clone(), damage_of_history(&path));
    }
    let latest: Vec<Latest> = current.named_latest().collect();
    for (place, one) in latest.iter().enumerate() {
        let path = generations.latest_dir(one.number);
        let flaws = if path.join("meta.json").exists() {
            damaged_files(&path)
        } else if latest.get(place + 1).is_some_and(|next| next.from > one.from) {
            // One that is open and not there yet is filled by replaying.
            vec![(path.clone(), GenerationProblem::Missing)]
        } else {
            Vec::new()
        };
        report(format!("latest {}", one.number), !current.latest.contains(one), path, flaws);
    }
    Ok(reports)
}

fn damage_of_history(path: &Path) -> Vec<(PathBuf, GenerationProblem)> {
    if !path.is_dir() {
        return vec![(path.to_path_buf(), GenerationProblem::Missing)];
    }
    let damaged = manifest::damage(path, Proof::Whole).into_iter();
    let damaged: Vec<_> = damaged.map(|(path, detail)| (path, GenerationProblem::Damaged(detail))).collect();
    // All is as it was written; was it written so that we can read it?
    if damaged.is_empty() { unreadable(path) } else { damaged }
}

/// The files of a generation whose checksums are wrong. No reader is opened before they are known to be right.
pub(crate) fn damaged_files(path: &Path) -> Vec<(PathBuf, GenerationProblem)> {
    let checked = shielded(path, || {
        MmapDirectory::open(path)
            .map_err(tantivy::TantivyError::from)
            .and_then(tantivy::Index::open)
            .and_then(|index| index.validate_checksum())
            .map_err(IndexError::tantivy(path))
    });
    match checked {
        Ok(damaged) if damaged.is_empty() => unreadable(path),
        Ok(damaged) => {
            let detail = "its checksum is wrong".to_string();
            let mut files: Vec<_> = damaged
                .into_iter()
                .map(|file| (path.join(file), GenerationProblem::Damaged(detail.clone())))
                .collect();
            files.sort_by(|a, b| a.0.cmp(&b.0));
            files
        }
        Err(IndexError::Tantivy { source, .. }) => {
            vec![(path.to_path_buf(), GenerationProblem::Damaged(source.to_string()))]
        }
        Err(error) => vec![(path.to_path_buf(), GenerationProblem::Damaged(error.to_string()))],
    }
}

fn unreadable(path: &Path) -> Vec<(PathBuf, GenerationProblem)> {
    let problem = match Member::open(path) {
        Ok(Some(_)) => return Vec::new(),
        Ok(None) => GenerationProblem::Missing,
        Err(IndexError::OlderFormat { .. }) => GenerationProblem::Older,
        Err(error) => GenerationProblem::Damaged(error.to_string()),
    };
    vec![(path.to_path_buf(), problem)]
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
