//! The chain of generations as an [`Index`], on local disk.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pharos_core::{LibraryPosition, PageId};

use crate::generations::{Current, Generations, Wish};
use crate::member::{Member, MemberWriter};
use crate::schema;
use crate::snapshot::{ChainSnapshot, MemberView};
use crate::{Change, Index, IndexError, Snapshot};

/// A reader looks for changes of other processes at most this often.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The index on local disk.
pub struct EmbeddedIndex {
    generations: Generations,
    owner: Option<OwnerSettings>,
    state: Mutex<State>,
}

#[derive(Clone, Copy)]
struct OwnerSettings {
    memory: usize,
    body_limit: usize,
}

struct State {
    current: Current,
    /// History first, then latest, oldest first; `None` where a generation is still empty.
    members: Vec<Option<Member>>,
    writer: Option<MemberWriter>,
    snapshot: Option<Arc<ChainSnapshot>>,
    looked: Instant,
}

impl EmbeddedIndex {
    /// Opens for reading, beside whoever writes.
    pub fn open_reader(dir: &Path) -> Result<Self, IndexError> {
        Self::open(dir, None)
    }

    /// Opens for writing; the caller owns the data directory.
    pub fn open_writer(dir: &Path, memory: usize, body_limit: usize) -> Result<Self, IndexError> {
        Self::open(dir, Some(OwnerSettings { memory, body_limit }))
    }

    fn open(dir: &Path, owner: Option<OwnerSettings>) -> Result<Self, IndexError> {
        let generations = Generations::at(dir);
        let mut state = State {
            current: Current::default(),
            members: Vec::new(),
            writer: None,
            snapshot: None,
            looked: Instant::now(),
        };
        load(&generations, owner, &mut state)?;
        Ok(Self { generations, owner, state: Mutex::new(state) })
    }

    /// Where the generations are.
    pub fn generations(&self) -> &Generations {
        &self.generations
    }

    /// Fulfils what a builder asked for, if it did. The owner calls this now and then, with everything committed.
    pub fn fulfil_wish(&self) -> Result<Option<Wish>, IndexError> {
        let Some(wish) = self.generations.waiting() else { return Ok(None) };
        match wish {
            Wish::Seal(number) if self.generations.current()?.open().number == number => {
                self.seal()?;
            }
            Wish::Seal(_) => {}
            Wish::Install(history) => {
                self.generations.install(history)?;
                load(&self.generations, self.owner, &mut self.state())?;
            }
        }
        self.generations.wish_done();
        Ok(Some(wish))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the members that `CURRENT` names; those already open stay.
fn load(generations: &Generations, owner: Option<OwnerSettings>, state: &mut State) -> Result<(), IndexError> {
    // A generation may be dropped between reading its name and opening it: then CURRENT has changed.
    for _ in 0..5 {
        let current = generations.current()?;
        let mut paths: Vec<_> = current.history.iter().map(|h| generations.history_dir(h.number)).collect();
        paths.extend(current.latest.iter().map(|l| generations.latest_dir(l.number)));
        let mut old: Vec<Option<Member>> = std::mem::take(&mut state.members);
        let mut members = Vec::with_capacity(paths.len());
        let last = paths.len().saturating_sub(1);
        for (i, path) in paths.iter().enumerate() {
            let open = old.iter_mut().find(|m| m.as_ref().is_some_and(|m| m.path() == path)).and_then(Option::take);
            members.push(match open {
                Some(member) => Some(member),
                None => Member::open(path, owner.is_some() && i == last)?,
            });
        }
        let changed = state.current != current;
        state.members = members;
        state.snapshot = None;
        let missing_history = current.history.is_some() && state.members.first().is_some_and(Option::is_none);
        if !missing_history || generations.current()? == current {
            if let Some(settings) = owner
                && (changed || state.writer.is_none())
            {
                // The old writer must let go before the next generation's begins.
                if let Some(writer) = state.writer.take() {
                    writer.finish()?;
                }
                if let Some(Some(member)) = state.members.last() {
                    state.writer = Some(member.writer(1, settings.memory)?);
                }
            }
            state.current = current;
            if missing_history {
                return Err(IndexError::Damaged {
                    path: generations.dir().join("CURRENT"),
                    detail: "the history generation it names is not there".into(),
                });
            }
            return Ok(());
        }
    }
    Err(IndexError::Damaged { path: generations.dir().join("CURRENT"), detail: "it keeps changing".into() })
}

impl State {
    /// What the open generation has absorbed. While it has committed nothing, what the members before it know: a
    /// history may reach further than the point at which the generation was opened.
    fn absorbed(&self) -> Result<LibraryPosition, IndexError> {
        let committed = match self.members.last() {
            Some(Some(member)) => member.absorbed()?,
            _ => None,
        };
        let before = self.current.history.map_or(LibraryPosition::START, |h| h.to);
        Ok(committed.unwrap_or(before.max(self.current.open().from)))
    }
}

impl Index for EmbeddedIndex {
    fn absorbed(&self) -> Result<LibraryPosition, IndexError> {
        self.state().absorbed()
    }

    fn apply(&self, changes: Vec<Change>) -> Result<(), IndexError> {
        let Some(settings) = self.owner else { return Err(IndexError::ReadOnly) };
        let state = self.state();
        let writer = state.writer.as_ref().ok_or(IndexError::ReadOnly)?;
        changes.iter().try_for_each(|change| writer.apply(change, settings.body_limit))
    }

    fn commit(&self, absorbed: LibraryPosition) -> Result<(), IndexError> {
        let mut state = self.state();
        state.writer.as_mut().ok_or(IndexError::ReadOnly)?.commit(absorbed)?;
        state.looked = Instant::now() - LOOK_EVERY;
        Ok(())
    }

    fn seal(&self) -> Result<LibraryPosition, IndexError> {
        if self.owner.is_none() {
            return Err(IndexError::ReadOnly);
        }
        let mut state = self.state();
        let at = state.absorbed()?;
        self.generations.seal(at)?;
        load(&self.generations, self.owner, &mut state)?;
        Ok(at)
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, IndexError> {
        let mut state = self.state();
        if let Some(snapshot) = &state.snapshot
            && state.looked.elapsed() < LOOK_EVERY
        {
            return Ok(Arc::clone(snapshot) as Arc<dyn Snapshot>);
        }
        let current = self.generations.current()?;
        if current != state.current || state.members.iter().any(Option::is_none) {
            load(&self.generations, self.owner, &mut state)?;
        }
        let mut changed = state.snapshot.is_none();
        for member in state.members.iter_mut().flatten() {
            changed |= member.reload()?;
        }
        state.looked = Instant::now();
        if changed || state.snapshot.is_none() {
            state.snapshot = Some(Arc::new(view(&mut state)?));
        }
        match &state.snapshot {
            Some(snapshot) => Ok(Arc::clone(snapshot) as Arc<dyn Snapshot>),
            None => Err(IndexError::ReadOnly),
        }
    }
}

/// The members as they are, each with what the newer ones hide of it.
fn view(state: &mut State) -> Result<ChainSnapshot, IndexError> {
    let mut hidden: Vec<Arc<HashSet<PageId>>> = Vec::new();
    let mut members = Vec::new();
    for member in state.members.iter_mut().rev().flatten() {
        let view = MemberView { path: member.path().to_path_buf(), searcher: member.searcher(), hidden: hidden.clone() };
        members.push(view);
        hidden.extend(member.pages()?);
    }
    members.reverse();
    let (_, fields) = schema::schema();
    let history = state.current.history.map_or(0, |h| h.number);
    let generation = format!("{history}.{}.{}", state.current.open().number, state.absorbed()?.to_u64());
    Ok(ChainSnapshot { generation, fields, members, pages: OnceLock::new() })
}
