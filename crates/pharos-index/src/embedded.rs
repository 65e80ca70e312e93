//! The chain of generations as an [`Index`], on local disk.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pharos_core::LibraryPosition;
use pharos_text::vocabulary::{Vocabulary, Watched};

use crate::address::Hidden;
use crate::generations::{Current, Generations, Wish};
use crate::member::{Member, MemberWriter};
use crate::schema;
use crate::snapshot::{ChainSnapshot, MemberView};
use crate::{Change, Index, IndexError, Snapshot};

/// A reader looks for changes of other processes at most this often.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How often the chain is read anew when a generation vanishes while it is being opened.
const TRIES: usize = 10;

/// The index on local disk.
///
/// Writing and reading have a lock each: a query never waits for a commit or a merge. Where both are taken, the
/// writer's comes first.
pub struct EmbeddedIndex {
    generations: Generations,
    /// The words of the installation, as their file says now.
    words: Watched,
    /// The open generation, for whoever owns the data directory; `None` for readers.
    writing: Option<Mutex<Writing>>,
    reading: Mutex<Reading>,
}

struct Writing {
    writer: MemberWriter,
    memory: usize,
    body_limit: usize,
}

struct Reading {
    chain: Chain,
    snapshot: Option<Arc<ChainSnapshot>>,
    looked: Instant,
}

/// The members that a `CURRENT` names, open for reading.
struct Chain {
    current: Current,
    /// History first, then latest, oldest first; `None` where a generation has no commit yet.
    members: Vec<Option<Member>>,
}

impl EmbeddedIndex {
    /// Opens for reading, beside whoever writes.
    pub fn open_reader(dir: &Path) -> Result<Self, IndexError> {
        let generations = Generations::at(dir);
        let chain = Chain::open(&generations, Vec::new())?;
        Ok(Self::over(generations, chain, None))
    }

    /// Opens for writing; the caller owns the data directory.
    pub fn open_writer(dir: &Path, memory: usize, body_limit: usize) -> Result<Self, IndexError> {
        let generations = Generations::at(dir);
        let number = generations.current()?.open().number;
        let writer = open_generation(&generations, &crate::words(&generations), number, memory)?;
        let chain = Chain::open(&generations, Vec::new())?;
        Ok(Self::over(generations, chain, Some(Writing { writer, memory, body_limit })))
    }

    fn over(generations: Generations, chain: Chain, writing: Option<Writing>) -> Self {
        let reading = Reading { chain, snapshot: None, looked: Instant::now() };
        let words = crate::words(&generations);
        Self { generations, words, writing: writing.map(Mutex::new), reading: Mutex::new(reading) }
    }

    /// Where the generations are.
    pub fn generations(&self) -> &Generations {
        &self.generations
    }

    /// Fulfils what a builder asked for, if it did. The owner calls this now and then, with everything committed.
    /// A wish that cannot be fulfilled is taken away, so that it is not tried for ever; the builder notices.
    pub fn fulfil_wish(&self) -> Result<Option<Wish>, IndexError> {
        let Some(wish) = self.generations.waiting() else { return Ok(None) };
        let fulfilled = match wish {
            Wish::Seal(number) if self.generations.current()?.open().number == number => {
                self.seal().map(|_| ())
            }
            Wish::Seal(_) => Ok(()),
            Wish::Install(history) => self.generations.install(history).map(|_| ()),
        };
        self.generations.wish_done();
        fulfilled?;
        // Looked at anew by the next query.
        self.reading().snapshot = None;
        Ok(Some(wish))
    }

    fn writing(&self) -> Result<MutexGuard<'_, Writing>, IndexError> {
        let writing = self.writing.as_ref().ok_or(IndexError::ReadOnly)?;
        Ok(writing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens a latest generation for writing, creating it.
fn open_generation(
    generations: &Generations,
    words: &Watched,
    number: u64,
    memory: usize,
) -> Result<MemberWriter, IndexError> {
    let path = generations.latest_dir(number);
    Member::open_or_create(&path, &words.current())?.writer(1, memory)
}

impl Chain {
    /// Opens what `CURRENT` names; members of `old` that are still named are taken over.
    fn open(generations: &Generations, old: Vec<Option<Member>>) -> Result<Self, IndexError> {
        let mut old: Vec<Member> = old.into_iter().flatten().collect();
        let mut tries = 0;
        loop {
            let current = generations.current()?;
            let mut paths: Vec<PathBuf> =
                current.history.iter().map(|h| generations.history_dir(h.number)).collect();
            paths.extend(current.latest.iter().map(|l| generations.latest_dir(l.number)));
            let opened: Result<Vec<_>, IndexError> = paths
                .iter()
                .map(|path| match old.iter().position(|member| member.path() == path) {
                    Some(at) => Ok(Some(old.swap_remove(at))),
                    None => Member::open(path),
                })
                .collect();
            // A generation may be dropped between reading its name and opening it: then `CURRENT` has changed.
            tries += 1;
            if generations.current()? != current && tries < TRIES {
                continue;
            }
            let members = opened?;
            if current.history.is_some() && members.first().is_some_and(Option::is_none) {
                return Err(IndexError::Damaged {
                    path: generations.dir().join("CURRENT"),
                    detail: "the history generation it names is not there".into(),
                });
            }
            return Ok(Self { current, members });
        }
    }

    /// Sees what other processes, or our own writer, did since. Gives whether anything changed.
    fn refresh(&mut self, generations: &Generations) -> Result<bool, IndexError> {
        let current = generations.current()?;
        let mut changed = false;
        // Empty after an error that came in the middle of this.
        let incomplete = self.members.is_empty() || self.members.iter().any(Option::is_none);
        if current != self.current || incomplete {
            let old = std::mem::take(&mut self.members);
            let known = old.iter().flatten().count();
            changed = current != self.current;
            *self = Self::open(generations, old)?;
            changed |= self.members.iter().flatten().count() != known;
        }
        for member in self.members.iter_mut().flatten() {
            changed |= member.reload()?;
        }
        Ok(changed)
    }

    /// The members as they are, each with what the newer ones hide of it.
    fn view(&mut self) -> Result<ChainSnapshot, IndexError> {
        let words: Vec<Arc<Vocabulary>> =
            self.members.iter().flatten().map(|member| Arc::clone(member.vocabulary())).collect();
        let mut hidden = Hidden::new();
        let mut views = Vec::new();
        let mut members = self.members.iter_mut().flatten().rev().peekable();
        while let Some(member) = members.next() {
            let (path, searcher) = (member.path().to_path_buf(), member.searcher());
            views.push(MemberView { path, searcher, hidden: hidden.clone() });
            // The oldest member hides nothing, and may be large.
            if members.peek().is_some() {
                hidden.extend(member.pages()?);
            }
        }
        views.reverse();
        let generation = name(&self.current, &views);
        let (_, fields) = schema::schema();
        Ok(ChainSnapshot { generation, fields, members: views, words, pages: OnceLock::new() })
    }
}

/// Names a state by what it consists of: the generations, their segments and what is deleted in them.
fn name(current: &Current, views: &[MemberView]) -> String {
    let mut hasher = DefaultHasher::new();
    for segment in views.iter().flat_map(|view| view.searcher.segment_readers()) {
        segment.segment_id().uuid_string().hash(&mut hasher);
        segment.num_deleted_docs().hash(&mut hasher);
    }
    let history = current.history.map_or(0, |h| h.number);
    format!("{history}.{}.{:016x}", current.open().number, hasher.finish())
}

impl Index for EmbeddedIndex {
    /// What the open generation has absorbed. While it has committed nothing, what the members before it know: a
    /// history may reach further than the point at which the generation was opened.
    fn absorbed(&self) -> Result<LibraryPosition, IndexError> {
        let current = self.generations.current()?;
        let open = current.open();
        let committed = match Member::open(&self.generations.latest_dir(open.number))? {
            Some(member) => member.absorbed()?,
            None => None,
        };
        let before = current.history.map_or(LibraryPosition::START, |h| h.to);
        Ok(committed.unwrap_or(before.max(open.from)))
    }

    fn apply(&self, changes: Vec<Change>) -> Result<(), IndexError> {
        let writing = self.writing()?;
        changes.iter().try_for_each(|change| writing.writer.apply(change, writing.body_limit))
    }

    fn commit(&self, absorbed: LibraryPosition) -> Result<(), IndexError> {
        self.writing()?.writer.commit(absorbed)?;
        self.reading().snapshot = None;
        Ok(())
    }

    fn vocabulary(&self) -> Arc<Vocabulary> {
        self.words.current()
    }

    fn seal(&self) -> Result<LibraryPosition, IndexError> {
        let mut writing = self.writing()?;
        let at = self.absorbed()?;
        let number = self.generations.seal(at)?.open().number;
        let next = open_generation(&self.generations, &self.words, number, writing.memory)?;
        // Merges under way in the sealed generation may end by themselves: it is dropped soon.
        std::mem::replace(&mut writing.writer, next).finish_in_background();
        self.reading().snapshot = None;
        Ok(at)
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, IndexError> {
        Ok(self.at_rest()?)
    }
}

impl EmbeddedIndex {
    /// The chain as it is now.
    pub(crate) fn at_rest(&self) -> Result<Arc<ChainSnapshot>, IndexError> {
        let mut reading = self.reading();
        if let Some(snapshot) = &reading.snapshot
            && reading.looked.elapsed() < LOOK_EVERY
        {
            return Ok(Arc::clone(snapshot));
        }
        let mut tries = 0;
        let changed = loop {
            tries += 1;
            match reading.chain.refresh(&self.generations) {
                Ok(changed) => break changed,
                // A generation that vanished under our hands: `CURRENT` names its successor.
                Err(_) if tries < TRIES => reading.chain.members.clear(),
                Err(error) => return Err(error),
            }
            if reading.chain.members.is_empty() {
                reading.chain = Chain::open(&self.generations, Vec::new())?;
                reading.snapshot = None;
            }
        };
        reading.looked = Instant::now();
        let snapshot = match &reading.snapshot {
            Some(snapshot) if !changed => Arc::clone(snapshot),
            _ => Arc::new(reading.chain.view()?),
        };
        reading.snapshot = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }
}
