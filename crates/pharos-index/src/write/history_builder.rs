//! Building of a history generation beside the one in use.
//!
//! The generation grows in the directory `building` and gets its number when it is finished and verified. The builder
//! saves checkpoints, and a plan in the directory describes the build, so that a killed build can be resumed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pharos_core::{LibraryPosition, LibraryPositions, Timestamp};
use serde::{Deserialize, Serialize};

use crate::generational::GenerationStore as _;
use crate::generations::Generations;
use crate::generations::chain::HistoryGeneration;
use crate::generations::generation::{Generation, PageOrder};
use crate::generations::{manifest, verify};
use crate::write::generation_writer::GenerationWriter;
use crate::{IndexDocument, IndexError, LinkMaxima};

/// File with the build plan.
const PLAN_FILE: &str = "PLAN";

/// The parameters of a build. A build with different parameters does not resume it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildPlan {
    /// End of the library range.
    pub to: LibraryPositions,
    /// Versions and settings that determine the documents.
    pub rules: String,
    pub begun: Timestamp,
    /// Build time of the link relations that are included, once they are known.
    pub relations: Option<i64>,
}

/// The directory of the history under construction: its plan, its checkpoint and its builder. Changes require the
/// builder's lock.
pub struct BuildDirectory {
    generations: Generations,
    path: PathBuf,
}

impl BuildDirectory {
    pub(crate) fn of(generations: &Generations) -> Self {
        Self { path: generations.building_dir(), generations: generations.clone() }
    }

    /// Returns the plan of the unfinished build, if any.
    pub fn plan(&self) -> Option<BuildPlan> {
        serde_json::from_slice(&fs::read(self.path.join(PLAN_FILE)).ok()?).ok()
    }

    /// Writes the build plan.
    pub fn set_plan(&self, plan: &BuildPlan) -> Result<(), IndexError> {
        let path = self.path.join(PLAN_FILE);
        let failed = |e| IndexError::io("write", &path)(e);
        let text = serde_json::to_vec(plan).map_err(|e| failed(e.into()))?;
        pharos_files::create_dir_all(&self.path)
            .and_then(|()| pharos_files::replace(&path, &text))
            .map_err(failed)
    }

    /// Returns the library position and the number of pages of the last checkpoint of the unfinished build.
    pub fn checkpoint(&self) -> Option<(LibraryPosition, u64)> {
        BuildCheckpoint::read(&Generation::open(&self.path).ok()??).map(|saved| (saved.at, saved.pages))
    }

    /// Removes an unfinished build.
    pub fn discard(&self) -> Result<(), IndexError> {
        remove_folder(&self.path)
    }

    /// Starts a new build and removes an unfinished one.
    pub fn begin(
        &self,
        threads: usize,
        memory: usize,
        body_limit: usize,
    ) -> Result<HistoryBuilder, IndexError> {
        self.discard()?;
        self.resume(threads, memory, body_limit)
    }

    /// Resumes the unfinished build from its last checkpoint. The caller must have compared the plan.
    pub fn resume(
        &self,
        threads: usize,
        memory: usize,
        body_limit: usize,
    ) -> Result<HistoryBuilder, IndexError> {
        let path = self.path.clone();
        let generation = Generation::open_or_create(
            &path,
            &crate::generations::watch_vocabulary(&self.generations).current(),
            PageOrder::StaticRank,
        )?;
        let found = generation.searcher().num_docs();
        let saved = BuildCheckpoint::read(&generation);
        let pages = saved.map_or(0, |saved| saved.pages);
        if pages != found {
            let detail = format!("{found} pages instead of {pages}");
            return Err(IndexError::DamagedGeneration { path, detail });
        }
        let writer = generation.writer(threads.max(1), memory)?.without_merges();
        let reached = saved.map(|saved| saved.at);
        let maxima = LinkMaxima::read(&path)?;
        let generations = self.generations.clone();
        Ok(HistoryBuilder { generations, writer, maxima, body_limit, pages, reached })
    }
}

/// A checkpoint: the pages up to a library position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BuildCheckpoint {
    at: LibraryPosition,
    pages: u64,
}

impl BuildCheckpoint {
    fn read(generation: &Generation) -> Option<Self> {
        let payload = generation.commit_payload().ok()??;
        let (at, pages) = payload.split_once(' ')?;
        Some(Self { at: LibraryPosition::from_u64(at.parse().ok()?), pages: pages.parse().ok()? })
    }

    fn to_payload(self) -> String {
        format!("{} {}", self.at.to_u64(), self.pages)
    }
}

/// A history generation under construction. It is not visible until it is installed.
pub struct HistoryBuilder {
    generations: Generations,
    writer: GenerationWriter,
    maxima: LinkMaxima,
    body_limit: usize,
    pages: u64,
    reached: Option<LibraryPosition>,
}

impl HistoryBuilder {
    /// Sets the maxima that normalise link figures. Must be called before the first page is added.
    pub fn with_maxima(mut self, maxima: LinkMaxima) -> Result<Self, IndexError> {
        maxima.write(&self.generations.building_dir())?;
        self.maxima = maxima;
        Ok(self)
    }

    /// Returns the library position of the checkpoint that the build was resumed from. Pages up to it must not be
    /// added again.
    pub fn resumed_from(&self) -> Option<LibraryPosition> {
        self.reached
    }

    /// Adds a page with its copies. Each URL must be added only once.
    pub fn add(&mut self, document: &IndexDocument) -> Result<(), IndexError> {
        self.pages += 1;
        self.writer.add(document, &self.maxima, self.body_limit)
    }

    /// Returns the number of pages added, without copies.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Saves a checkpoint: all pages up to `at`, in the order of [`LibraryPosition::sort_key`], have been added. A killed build resumes from here.
    pub fn save(&mut self, at: LibraryPosition) -> Result<(), IndexError> {
        self.writer.commit_with_payload(&BuildCheckpoint { at, pages: self.pages }.to_payload())
    }

    /// Commits, verifies and numbers the generation, which covers the library up to `to`. A generation that fails
    /// verification is discarded.
    pub fn finish(mut self, to: LibraryPositions) -> Result<HistoryGeneration, IndexError> {
        self.writer.commit(&to)?;
        self.writer.merge_all()?;
        self.writer.finish()?;
        let path = self.generations.building_dir();
        if let Some(detail) = find_fault(&path, self.pages)? {
            BuildDirectory::of(&self.generations).discard()?;
            return Err(IndexError::BadBuild { detail });
        }
        let number = name_build(&self.generations, self.pages)?;
        Ok(HistoryGeneration { number, to })
    }
}

/// Completes the directory of a build and gives it the next number.
pub(crate) fn name_build(generations: &Generations, pages: u64) -> Result<u64, IndexError> {
    let path = generations.building_dir();
    pharos_files::remove_if_exists(&path.join(PLAN_FILE)).map_err(IndexError::io("remove", &path))?;
    manifest::write(&path, pages)?;
    generations.ensure_chain()?;
    let number = generations.next_history()?;
    let named = generations.history_dir(number);
    pharos_files::install_directory(&path, &named).map_err(IndexError::io("name", &named))?;
    Ok(number)
}

/// Verifies all files and the number of pages. Returns what is wrong.
fn find_fault(path: &Path, pages: u64) -> Result<Option<String>, IndexError> {
    if let Some((file, problem)) = verify::damaged_files(path)?.into_iter().next() {
        return Ok(Some(format!("{}: {problem}", file.display())));
    }
    let generation = match Generation::open(path) {
        Err(error) if error.is_damage() => return Ok(Some(error.to_string())),
        opened => opened?,
    };
    Ok(match generation.map(|generation| generation.searcher().num_docs()) {
        Some(found) if found == pages => None,
        found => Some(format!("{} pages instead of {pages}", found.unwrap_or(0))),
    })
}

fn remove_folder(path: &PathBuf) -> Result<(), IndexError> {
    match fs::remove_dir_all(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(IndexError::io("remove", path)(e)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_core::PageUrl;

    fn at(offset: u64) -> LibraryPosition {
        LibraryPosition::new(1, offset)
    }

    fn page(n: u64) -> IndexDocument {
        IndexDocument::new(PageUrl::parse(&format!("http://example.org/{n}")).unwrap())
    }

    fn resume(generations: &Generations) -> HistoryBuilder {
        BuildDirectory::of(generations).resume(1, 16 << 20, 1 << 20).unwrap()
    }

    #[test]
    fn a_killed_build_resumes_from_its_last_checkpoint() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        let build = BuildDirectory::of(&generations);
        let plan =
            BuildPlan { to: at(99).into(), rules: "r".into(), begun: Timestamp::EPOCH, relations: None };
        assert_eq!(build.plan(), None);
        build.set_plan(&plan).unwrap();
        let mut builder = resume(&generations);
        assert_eq!((builder.resumed_from(), build.checkpoint()), (None, None));
        builder.add(&page(1)).unwrap();
        builder.add(&page(2)).unwrap();
        builder.save(at(2)).unwrap();
        builder.add(&page(3)).unwrap();
        drop(builder);

        assert_eq!((build.plan(), build.checkpoint()), (Some(plan), Some((at(2), 2))));
        let mut builder = resume(&generations);
        assert_eq!((builder.resumed_from(), builder.pages()), (Some(at(2)), 2));
        builder.add(&page(3)).unwrap();
        let history = builder.finish(at(99).into()).unwrap();
        assert_eq!((history.number, build.plan()), (1, None));
        let generation = Generation::open(&generations.history_dir(1)).unwrap().unwrap();
        assert_eq!(
            (generation.searcher().num_docs(), generation.applied_positions().unwrap()),
            (3, Some(at(99).into()))
        );
        assert!(!generations.building_dir().exists());
        assert_eq!(manifest::read(&generations.history_dir(1)).unwrap().pages, 3);
    }

    #[test]
    fn a_build_that_lost_a_page_is_discarded() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        let mut builder = BuildDirectory::of(&generations).begin(1, 16 << 20, 1 << 20).unwrap();
        builder.add(&page(1)).unwrap();
        builder.pages += 1;
        let error = builder.finish(at(1).into()).unwrap_err().to_string();
        assert!(error.contains("1 pages instead of 2") && error.contains("discarded"), "{error}");
        assert!(generations.list_directories().unwrap().is_empty() && !generations.building_dir().exists());
    }
}
