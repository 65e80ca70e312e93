//! Verification of all generations that `CURRENT` lists.

use std::fmt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::IndexError;
use crate::generational::GenerationStore as _;
use crate::generations::Generations;
use crate::generations::chain::LatestGeneration;
use crate::generations::directory::CURRENT;
use crate::generations::generation::Generation;
use crate::generations::generation_directory::GenerationDirectory;
use crate::generations::manifest::{self, VerificationLevel};
use crate::panic_guard::catch_panic;

/// Pause and number of retries, to exclude transient problems alongside a running owner.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
const RETRIES: usize = 5;

/// A problem of a file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationFlaw {
    pub path: PathBuf,
    pub problem: GenerationProblem,
}

/// A kind of problem with a generation or with `CURRENT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GenerationProblem {
    /// Fails verification.
    Damaged(String),
    /// Written with the fields of an older version.
    Older,
    /// Listed, or required to exist, but not found.
    Missing,
    /// Not listed by `CURRENT`: occupies disk space only.
    Leftover,
}

impl fmt::Display for GenerationProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(detail) => write!(f, "damaged: {detail}"),
            Self::Older => write!(f, "written by an older version of pharos"),
            Self::Missing => write!(f, "missing"),
            Self::Leftover => write!(f, "left over: not listed in CURRENT"),
        }
    }
}

/// The problems of one generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationReport {
    /// Kind and number, as in `history 7`; `CURRENT` for the list itself.
    pub name: String,
    /// `true` if the generation is kept for a rollback only.
    pub previous: bool,
    pub path: PathBuf,
    /// Empty if the generation is intact.
    pub flaws: Vec<GenerationFlaw>,
}

/// Verifies every generation that `CURRENT` lists, reading each file once.
///
/// Problems that disappear on a retry, caused by a concurrent commit or switch, are not reported.
pub(crate) fn verify_generations(dir: &Path) -> Result<Vec<GenerationReport>, IndexError> {
    let mut reports = check_all(dir)?;
    for _ in 0..RETRIES {
        if reports.iter().all(|report| report.flaws.is_empty()) {
            break;
        }
        thread::sleep(RETRY_PAUSE);
        let before: Vec<GenerationFlaw> = reports.into_iter().flat_map(|report| report.flaws).collect();
        reports = check_all(dir)?;
        reports.iter_mut().for_each(|report| report.flaws.retain(|flaw| before.contains(flaw)));
    }
    Ok(reports)
}

/// Checks the chain and the checksums of all its files, reading each file once.
///
/// Alongside a running owner or build, problems may be transient: call it again to confirm them.
pub(crate) fn check_generations(dir: &Path) -> Result<Vec<GenerationFlaw>, IndexError> {
    let generations = Generations::at(dir);
    let reports = check_all(dir)?;
    let is_list = |report: &GenerationReport| report.name == CURRENT;
    let unreadable = reports.iter().any(|report| is_list(report) && !report.flaws.is_empty());
    let mut flaws: Vec<GenerationFlaw> = reports.into_iter().flat_map(|report| report.flaws).collect();
    if !unreadable && !generations.is_building() {
        let unreferenced = generations.unreferenced(&generations.current()?)?;
        let leftover = |path| GenerationFlaw { path, problem: GenerationProblem::Leftover };
        flaws.extend(unreferenced.into_iter().map(leftover));
    }
    Ok(flaws)
}

/// Verifies everything that `CURRENT` lists, once.
fn check_all(dir: &Path) -> Result<Vec<GenerationReport>, IndexError> {
    let generations = Generations::at(dir);
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
        Err(IndexError::NoCurrent { path }) => return Ok(list(path, GenerationProblem::Missing)),
        Err(error) => return Err(error),
    };
    let mut reports = Vec::new();
    let mut report =
        |name: String, previous: bool, path: PathBuf, flaws: Vec<(PathBuf, GenerationProblem)>| {
            let flaws = flaws.into_iter().map(|(path, problem)| GenerationFlaw { path, problem }).collect();
            reports.push(GenerationReport { name, previous, path, flaws });
        };
    for history in current.named_histories() {
        let path = generations.history_dir(history.number);
        let previous = current.history.as_ref() != Some(history);
        let flaws = history_damage(&path)?;
        report(format!("history {}", history.number), previous, path, flaws);
    }
    let latest: Vec<&LatestGeneration> = current.named_latest().collect();
    for (nth, generation) in latest.iter().enumerate() {
        let path = generations.latest_dir(generation.number);
        let flaws = if path.join("meta.json").exists() {
            damaged_files(&path)?
        } else if latest.get(nth + 1).is_some_and(|next| !generation.from.covers_all(&next.from)) {
            // An open generation that does not exist yet is filled by a replay.
            vec![(path.clone(), GenerationProblem::Missing)]
        } else {
            Vec::new()
        };
        report(format!("latest {}", generation.number), !current.latest.contains(generation), path, flaws);
    }
    Ok(reports)
}

fn history_damage(path: &Path) -> Result<Vec<(PathBuf, GenerationProblem)>, IndexError> {
    if !path.is_dir() {
        return Ok(vec![(path.to_path_buf(), GenerationProblem::Missing)]);
    }
    let damaged = manifest::find_damage(path, VerificationLevel::Full)?.into_iter();
    let damaged: Vec<_> = damaged.map(|(path, detail)| (path, GenerationProblem::Damaged(detail))).collect();
    // The files are intact; check that this version can read them.
    if damaged.is_empty() { open_problem(path) } else { Ok(damaged) }
}

/// Returns the files of a generation with wrong checksums. The generation is opened only if all checksums are
/// correct.
///
/// # Errors
/// Returns an error if a file cannot be read for another reason than damage, such as missing permissions.
pub(crate) fn damaged_files(path: &Path) -> Result<Vec<(PathBuf, GenerationProblem)>, IndexError> {
    let checked = catch_panic(path, || {
        GenerationDirectory::open(path)
            .and_then(tantivy::Index::open)
            .and_then(|index| index.validate_checksum())
            .map_err(IndexError::tantivy(path))
    });
    match checked {
        Ok(damaged) if damaged.is_empty() => open_problem(path),
        Ok(damaged) => {
            let detail = "wrong checksum".to_string();
            let mut files: Vec<_> = damaged
                .into_iter()
                .map(|file| (path.join(file), GenerationProblem::Damaged(detail.clone())))
                .collect();
            files.sort_by(|a, b| a.0.cmp(&b.0));
            Ok(files)
        }
        Err(IndexError::Tantivy { source, .. }) => {
            Ok(vec![(path.to_path_buf(), GenerationProblem::Damaged(source.to_string()))])
        }
        Err(error) => damage_or_error(path, error),
    }
}

fn open_problem(path: &Path) -> Result<Vec<(PathBuf, GenerationProblem)>, IndexError> {
    match Generation::open(path) {
        Ok(Some(_)) => Ok(Vec::new()),
        Ok(None) => Ok(vec![(path.to_path_buf(), GenerationProblem::Missing)]),
        Err(IndexError::OlderFormat { .. }) => Ok(vec![(path.to_path_buf(), GenerationProblem::Older)]),
        Err(error) => damage_or_error(path, error),
    }
}

/// Returns damage as a problem of the generation, and other errors as they are.
fn damage_or_error(path: &Path, error: IndexError) -> Result<Vec<(PathBuf, GenerationProblem)>, IndexError> {
    if !error.is_damage() {
        return Err(error);
    }
    Ok(vec![(path.to_path_buf(), GenerationProblem::Damaged(error.to_string()))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generational::ReplacedGenerations;
    use crate::{EmbeddedIndex, GenerationalIndex as _, Index as _, IndexChange, IndexDocument};
    use pharos_core::{LibraryPosition, PageUrl};
    use std::fs;

    fn index_with_one_page(dir: &Path) -> EmbeddedIndex {
        let index = EmbeddedIndex::open_writer(dir, 16 << 20, 1 << 20).unwrap();
        let document = IndexDocument {
            title: "Tower".into(),
            body: "It is tall.".into(),
            position: LibraryPosition::new(1, 5),
            ..IndexDocument::new(PageUrl::parse("http://example.org/").unwrap())
        };
        index.apply(vec![IndexChange::Put(Box::new(document))]).unwrap();
        index.commit(&LibraryPosition::new(1, 9).into()).unwrap();
        index
    }

    #[test]
    fn a_flipped_byte_and_a_lost_list_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let index = index_with_one_page(dir.path());
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

        let fresh = Generations::at(dir.path()).start_over(None, ReplacedGenerations::Remove).unwrap();
        assert_eq!((fresh.open().number, fresh.history), (3, None));
        assert_eq!(check_generations(dir.path()).unwrap(), []);
    }
}
