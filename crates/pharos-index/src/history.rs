//! Building a history generation beside the one that serves.
//!
//! It grows in a folder of its own, `building`, and gets its name when it is finished and verified. Whoever builds saves
//! now and then how far it has come; a plan in the folder says what is being built, so that a build that was killed can
//! go on where it was.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use pharos_core::{LibraryPosition, Timestamp};
use serde::{Deserialize, Serialize};

use crate::current::History;
use crate::generations::Generations;
use crate::member::{Member, MemberWriter};
use crate::{Document, IndexError, Maxima, check, manifest};

/// The plan, in the folder of the build.
const PLAN: &str = "PLAN";

/// What is being built. A build that would make something else does not go on with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildPlan {
    /// The library is read up to here.
    pub to: LibraryPosition,
    /// The versions and settings by which pages become documents.
    pub rules: String,
    /// When it was begun.
    pub begun: Timestamp,
    /// Which relations between the pages go into it, once they are there: when those were built.
    pub relations: Option<i64>,
}

impl Generations {
    /// The build that was begun and not finished, if any.
    pub fn plan(&self) -> Option<BuildPlan> {
        serde_json::from_slice(&fs::read(self.building_dir().join(PLAN)).ok()?).ok()
    }

    /// Begins to build something, or to say more of what is being built. The caller is the one builder.
    pub fn set_plan(&self, plan: &BuildPlan) -> Result<(), IndexError> {
        let folder = self.building_dir();
        let (path, new) = (folder.join(PLAN), folder.join("PLAN.new"));
        let failed = |e| IndexError::io("write", &path)(e);
        fs::create_dir_all(&folder).map_err(failed)?;
        let text = serde_json::to_vec(plan).map_err(|e| failed(e.into()))?;
        fs::write(&new, text).and_then(|()| fs::rename(&new, &path)).map_err(failed)
    }

    /// Throws away what an unfinished build left. The caller is the one builder.
    pub fn discard_build(&self) -> Result<(), IndexError> {
        remove_folder(&self.building_dir())
    }

    /// How many pages an unfinished build has saved, and up to where of the library.
    pub fn saved(&self) -> Option<(LibraryPosition, u64)> {
        Saved::of(&Member::open(&self.building_dir()).ok()??).map(|saved| (saved.at, saved.pages))
    }
}

/// What the last save says: pages up to a point of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Saved {
    at: LibraryPosition,
    pages: u64,
}

impl Saved {
    fn of(member: &Member) -> Option<Self> {
        let payload = member.payload().ok()??;
        let (at, pages) = payload.split_once(' ')?;
        Some(Self { at: LibraryPosition::from_u64(at.parse().ok()?), pages: pages.parse().ok()? })
    }

    fn to_payload(self) -> String {
        format!("{} {}", self.at.to_u64(), self.pages)
    }
}

/// A history generation under construction. Nobody sees it until it is installed.
pub struct HistoryBuilder {
    generations: Generations,
    writer: MemberWriter,
    maxima: Maxima,
    body_limit: usize,
    pages: u64,
    reached: Option<LibraryPosition>,
}

impl HistoryBuilder {
    /// Begins a generation; the caller holds the builder's lock. What a killed builder left behind is removed.
    pub fn begin(
        generations: &Generations,
        threads: usize,
        memory: usize,
        body_limit: usize,
    ) -> Result<Self, IndexError> {
        generations.discard_build()?;
        Self::go_on(generations, threads, memory, body_limit)
    }

    /// Goes on with the generation that was begun, from where it was last saved; the caller holds the builder's lock
    /// and knows that the plan is still the same.
    pub fn go_on(
        generations: &Generations,
        threads: usize,
        memory: usize,
        body_limit: usize,
    ) -> Result<Self, IndexError> {
        let path = generations.building_dir();
        let member = Member::open_or_create_ordered(&path, &crate::words(generations).current())?;
        let there = member.searcher().num_docs();
        let saved = Saved::of(&member);
        let pages = saved.map_or(0, |saved| saved.pages);
        if pages != there {
            let detail = format!("{there} pages instead of {pages}");
            return Err(IndexError::DamagedGeneration { path, detail });
        }
        let writer = member.writer(threads.max(1), memory)?.without_merges();
        let reached = saved.map(|saved| saved.at);
        let maxima = Maxima::read(&path)?;
        Ok(Self { generations: generations.clone(), writer, maxima, body_limit, pages, reached })
    }

    /// Tells what the figures of all pages are measured by, before the first is added.
    pub fn measured_by(mut self, maxima: Maxima) -> Result<Self, IndexError> {
        maxima.write(&self.generations.building_dir())?;
        self.maxima = maxima;
        Ok(self)
    }

    /// Up to where of the library pages were saved before this builder went on with them: those are not to be added
    /// again.
    pub fn reached(&self) -> Option<LibraryPosition> {
        self.reached
    }

    /// Adds a page with its copies; each address once.
    pub fn add(&mut self, document: &Document) -> Result<(), IndexError> {
        self.pages += 1;
        self.writer.add(document, &self.maxima, self.body_limit)
    }

    /// How many pages were added, copies not counted.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Saves what was added: all pages up to `at` are there. A build that is killed goes on from here.
    pub fn save(&mut self, at: LibraryPosition) -> Result<(), IndexError> {
        self.writer.commit_with(&Saved { at, pages: self.pages }.to_payload())
    }

    /// Makes it durable, verifies it and gives it a number. It knows the library up to `to`. One that does not hold
    /// what was added, as it was written, is thrown away.
    pub fn finish(mut self, to: LibraryPosition) -> Result<History, IndexError> {
        self.writer.commit(to)?;
        self.writer.merge_all()?;
        self.writer.finish()?;
        let path = self.generations.building_dir();
        if let Err(detail) = verify(&path, self.pages) {
            self.generations.discard_build()?;
            return Err(IndexError::BadBuild { detail });
        }
        match fs::remove_file(path.join(PLAN)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(IndexError::io("remove", &path)(e)),
            _ => {}
        }
        manifest::write(&path, self.pages)?;
        let number = self.generations.next_history()?;
        let named = self.generations.history_dir(number);
        fs::rename(&path, &named)
            .and_then(|()| File::open(self.generations.dir())?.sync_all())
            .map_err(IndexError::io("name", &named))?;
        Ok(History { number, to })
    }
}

/// Is every file as it was written, and are there as many pages as were added?
fn verify(path: &Path, pages: u64) -> Result<(), String> {
    if let Some((file, problem)) = check::damaged_files(path).into_iter().next() {
        return Err(format!("{}: {problem}", file.display()));
    }
    let member = Member::open(path).map_err(|e| e.to_string())?;
    match member.map(|member| member.searcher().num_docs()) {
        Some(found) if found == pages => Ok(()),
        found => Err(format!("{} pages instead of {pages}", found.unwrap_or(0))),
    }
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
        LibraryPosition { file: 1, offset }
    }

    fn page(n: u64) -> Document {
        Document::new(PageUrl::parse(&format!("http://example.org/{n}")).unwrap())
    }

    fn go_on(generations: &Generations) -> HistoryBuilder {
        HistoryBuilder::go_on(generations, 1, 16 << 20, 1 << 20).unwrap()
    }

    #[test]
    fn a_build_that_was_killed_goes_on_from_its_last_save() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        let plan = BuildPlan { to: at(99), rules: "r".into(), begun: Timestamp::EPOCH, relations: None };
        assert_eq!(generations.plan(), None);
        generations.set_plan(&plan).unwrap();
        let mut builder = go_on(&generations);
        assert_eq!((builder.reached(), generations.saved()), (None, None));
        builder.add(&page(1)).unwrap();
        builder.add(&page(2)).unwrap();
        builder.save(at(2)).unwrap();
        builder.add(&page(3)).unwrap();
        drop(builder);

        assert_eq!((generations.plan(), generations.saved()), (Some(plan), Some((at(2), 2))));
        let mut builder = go_on(&generations);
        assert_eq!((builder.reached(), builder.pages()), (Some(at(2)), 2));
        builder.add(&page(3)).unwrap();
        let history = builder.finish(at(99)).unwrap();
        assert_eq!((history.number, generations.plan()), (1, None));
        let member = Member::open(&generations.history_dir(1)).unwrap().unwrap();
        assert_eq!((member.searcher().num_docs(), member.absorbed().unwrap()), (3, Some(at(99))));
        assert!(!generations.building_dir().exists());
        assert_eq!(manifest::read(&generations.history_dir(1)).unwrap().pages, 3);
    }

    #[test]
    fn a_generation_that_lost_a_page_or_a_byte_is_thrown_away() {
        let dir = tempfile::tempdir().unwrap();
        let generations = Generations::at(dir.path());
        let mut builder = HistoryBuilder::begin(&generations, 1, 16 << 20, 1 << 20).unwrap();
        builder.add(&page(1)).unwrap();
        builder.pages += 1;
        let error = builder.finish(at(1)).unwrap_err().to_string();
        assert!(error.contains("1 pages instead of 2") && error.contains("thrown away"), "{error}");
        assert!(generations.members().unwrap().is_empty() && !generations.building_dir().exists());
    }
}
