//! The chain of generations as an [`Index`], on local disk.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use pharos_core::LibraryPosition;
use pharos_text::vocabulary::{Vocabulary, Watched};
use tracing::warn;

use crate::chain::{self, Chain};
use crate::current::{Current, History, Wish};
use crate::generations::Generations;
use crate::guard::Shielded;
use crate::manifest::{self, Proof};
use crate::member::{Member, MemberWriter};
use crate::{Change, Index, IndexError, Maxima, Snapshot};

/// A reader looks for changes of other processes at most this often.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How often a process that stays looks by itself, so that a generation that was replaced is let go although nobody
/// asks anything.
const LOOK_WHEN_IDLE: Duration = Duration::from_millis(500);
/// How often the chain is read anew when a generation vanishes while it is being opened.
const TRIES: usize = 10;

/// The index on local disk.
///
/// Writing and reading have a lock each: a query never waits for a commit or a merge. Where both are taken, the
/// writer's comes first.
///
/// Opening takes no time: of a large history only sizes are compared, and what is small is read. A process that stays
/// calls [`EmbeddedIndex::serve`], which reads it wholly, and each one that takes its place before it answers.
pub struct EmbeddedIndex {
    generations: Generations,
    /// The words of the installation, as their file says now.
    words: Watched,
    /// The open generation, for whoever owns the data directory; `None` for readers.
    writing: Option<Mutex<Writing>>,
    reading: Mutex<Reading>,
    /// What was read last, for who does not wait for `reading`.
    at_hand: RwLock<Option<Arc<Shielded>>>,
    /// A new history is read by the thread that looks, never by a query.
    in_service: AtomicBool,
}

struct Writing {
    writer: MemberWriter,
    /// What the figures of its pages are measured by: those of the history.
    maxima: Maxima,
    memory: usize,
    body_limit: usize,
}

struct Reading {
    chain: Chain,
    /// A new history that was read and is to be put in its place.
    prepared: Option<(History, Member)>,
    /// A new history that is damaged, with none before it on disk: what is open goes on answering.
    unusable: Option<u64>,
    snapshot: Option<Arc<Shielded>>,
    looked: Instant,
}

impl Reading {
    /// Is there nothing to be read before this history can answer?
    fn is_ready_for(&self, history: History) -> bool {
        self.chain.holds(history) || self.prepared.as_ref().is_some_and(|(ready, _)| *ready == history)
    }

    /// Sees what others did since. Gives whether anything changed.
    fn refresh(&mut self, generations: &Generations, in_service: bool) -> Result<bool, IndexError> {
        if in_service
            && let Some(history) = generations.current()?.history
            && !self.is_ready_for(history)
        {
            return self.chain.reload();
        }
        let ready = self.prepared.take().map(|(_, member)| member);
        self.chain.refresh(generations, ready)
    }
}

impl EmbeddedIndex {
    /// Opens for reading, beside whoever writes.
    pub fn open_reader(dir: &Path) -> Result<Self, IndexError> {
        let generations = Generations::at(dir);
        let chain = Chain::open(&generations, Vec::new(), None)?;
        Ok(Self::over(generations, chain, None))
    }

    /// Opens for writing; the caller owns the data directory.
    pub fn open_writer(dir: &Path, memory: usize, body_limit: usize) -> Result<Self, IndexError> {
        let generations = Generations::at(dir);
        let number = generations.current()?.open().number;
        let (writer, absorbed) = open_generation(&generations, &crate::words(&generations), number, memory)?;
        if absorbed.is_none() {
            generations.catch_up()?;
        }
        let chain = Chain::open(&generations, Vec::new(), None)?;
        let maxima = generations.maxima()?;
        Ok(Self::over(generations, chain, Some(Writing { writer, maxima, memory, body_limit })))
    }

    fn over(generations: Generations, chain: Chain, writing: Option<Writing>) -> Self {
        let reading =
            Reading { chain, prepared: None, unusable: None, snapshot: None, looked: Instant::now() };
        let words = crate::words(&generations);
        let (writing, reading) = (writing.map(Mutex::new), Mutex::new(reading));
        Self {
            generations,
            words,
            writing,
            reading,
            at_hand: RwLock::default(),
            in_service: AtomicBool::new(false),
        }
    }

    /// Where the generations are.
    pub fn generations(&self) -> &Generations {
        &self.generations
    }

    /// For a process that stays and answers queries: proves the checksums of the history in place, by reading all of
    /// it, which also brings it into memory, so that the first queries need not wait for the disk. From now on, the same
    /// is done beside the queries with each history that takes its place, and the one before is let go although nobody
    /// asks anything.
    ///
    /// A history that is damaged is refused with a message, and the one before the last build answers; an error where
    /// there is none.
    pub fn serve(self: &Arc<Self>) -> Result<(), IndexError> {
        self.prove()?;
        if self.in_service.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let index = Arc::downgrade(self);
        let looking = move || {
            let mut told = String::new();
            loop {
                thread::sleep(LOOK_WHEN_IDLE);
                let Some(index) = index.upgrade() else { return };
                match index.look() {
                    Ok(()) => told.clear(),
                    Err(error) if told == error.to_string() => {}
                    Err(error) => {
                        told = error.to_string();
                        warn!("{error}; what is open goes on answering");
                    }
                }
            }
        };
        let thread = thread::Builder::new().name("index-look".into()).spawn(looking);
        thread.map(|_| ()).map_err(IndexError::io("watch", self.generations.dir()))
    }

    /// Reads the history in place, and refuses it where it is damaged.
    fn prove(&self) -> Result<(), IndexError> {
        loop {
            let Some(history) = self.generations.current()?.history else { return Ok(()) };
            if self.reading().chain.refused() == Some(history.number) {
                return Ok(());
            }
            let path = self.generations.history_dir(history.number);
            let damage = manifest::damage(&path, Proof::Whole).into_iter().next();
            // What is replaced in the middle of this is removed.
            if self.generations.current()?.history != Some(history) {
                continue;
            }
            let Some((file, problem)) = damage else { return Ok(()) };
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let detail = format!("{name}: {problem}");
            return self.refuse(history, IndexError::DamagedGeneration { path, detail });
        }
    }

    /// Has the chain before the last build answer, as the history in place is damaged.
    fn refuse(&self, history: History, trouble: IndexError) -> Result<(), IndexError> {
        let current = self.generations.current()?;
        let mut reading = self.reading();
        if current.previous.is_none() {
            reading.unusable = Some(history.number);
            return Err(trouble);
        }
        chain::tell(&trouble, &current);
        let old = reading.chain.take_members();
        reading.chain = Chain::open(&self.generations, old, Some(history.number))?;
        reading.snapshot = None;
        Ok(())
    }

    /// The history in place, where it is damaged and another answers for it.
    pub fn refused(&self) -> Result<Option<History>, IndexError> {
        let refused = self.reading().chain.refused();
        Ok(self.generations.current()?.history.filter(|history| Some(history.number) == refused))
    }

    /// Sees what others did, without a query: a new history is read before it answers, and the old one let go.
    fn look(&self) -> Result<(), IndexError> {
        let current = self.generations.current()?;
        let unknown = current.history.filter(|history| {
            let reading = self.reading();
            !reading.is_ready_for(*history) && reading.unusable != Some(history.number)
        });
        if let Some(history) = unknown {
            let path = self.generations.history_dir(history.number);
            match Member::open_history(&path, Proof::Whole) {
                Ok(member) => self.reading().prepared = Some((history, member)),
                Err(_) if self.generations.current()? != current => return Ok(()),
                Err(error) => self.refuse(history, error)?,
            }
        }
        self.snapshot().map(|_| ())
    }

    /// How many documents history has, and how many the latest generations have, with marks of pages that are gone.
    pub fn documents(&self) -> Result<(u64, u64), IndexError> {
        self.snapshot()?;
        Ok(self.reading().chain.documents())
    }

    /// Fulfils what a builder or an operator asked for, if they did. The owner calls this now and then, with everything
    /// committed. A wish that cannot be fulfilled is taken away, so that it is not tried for ever; whoever had it
    /// notices.
    pub fn fulfil_wish(&self) -> Result<Option<Wish>, IndexError> {
        let Some(wish) = self.generations.waiting() else { return Ok(None) };
        let current = self.generations.current()?;
        let fulfilled = match wish {
            Wish::Seal(number) if current.open().number == number => self.seal().map(|_| ()),
            Wish::Seal(_) => Ok(()),
            Wish::Install(history) => self.generations.install(history).map(|_| ()),
            Wish::Rollback(number) if current.history.is_some_and(|h| h.number == number) => {
                self.generations.roll_back().map(|_| ())
            }
            Wish::Rollback(_) => Ok(()),
        };
        self.generations.done_with(wish);
        fulfilled?;
        if let Ok(mut writing) = self.writing() {
            writing.maxima = self.generations.maxima()?;
        }
        // Looked at anew by the next query.
        self.reading().snapshot = None;
        Ok(Some(wish))
    }

    /// Makes it possible to go back to the history before the last build, for an owner that has not begun to absorb:
    /// where something would be missing, the open generation says that it has absorbed the library only up to there, and
    /// whoever replays the library brings it. Gives whether that has to be done.
    pub fn close_gap(&self) -> Result<bool, IndexError> {
        let Some((from, _)) = self.generations.current()?.gap() else { return Ok(false) };
        self.commit(from)?;
        self.generations.close_gap(from)?;
        Ok(true)
    }

    /// Goes back to the history before the last build. The caller owns the data directory.
    pub fn roll_back(&self) -> Result<Current, IndexError> {
        let back = self.generations.roll_back()?;
        self.reading().snapshot = None;
        Ok(back)
    }

    fn writing(&self) -> Result<MutexGuard<'_, Writing>, IndexError> {
        let writing = self.writing.as_ref().ok_or(IndexError::ReadOnly)?;
        Ok(writing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    /// A finished history generation by itself, before anybody sees it: for trying and warming it.
    pub fn preview(&self, history: History) -> Result<Arc<dyn Snapshot>, IndexError> {
        chain::preview(self, history)
    }
}

/// Opens a latest generation for writing, creating it. Gives what it has absorbed, too.
fn open_generation(
    generations: &Generations,
    words: &Watched,
    number: u64,
    memory: usize,
) -> Result<(MemberWriter, Option<LibraryPosition>), IndexError> {
    let path = generations.latest_dir(number);
    let member = Member::open_or_create(&path, &words.current())?;
    Ok((member.writer(1, memory)?, member.absorbed()?))
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
        let Writing { writer, maxima, body_limit, .. } = &*writing;
        changes.iter().try_for_each(|change| writer.apply(change, maxima, *body_limit))
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
        let (next, _) = open_generation(&self.generations, &self.words, number, writing.memory)?;
        // Merges under way in the sealed generation may end by themselves: it changes no more.
        std::mem::replace(&mut writing.writer, next).finish_in_background();
        self.reading().snapshot = None;
        Ok(at)
    }

    fn snapshot(&self) -> Result<Arc<dyn Snapshot>, IndexError> {
        Ok(self.at_rest()?)
    }

    fn at_hand(&self) -> Result<Arc<dyn Snapshot>, IndexError> {
        // Only where somebody looks again and again is what was seen last new enough.
        let at_hand = self.at_hand.read().unwrap_or_else(PoisonError::into_inner).clone();
        match at_hand.filter(|_| self.in_service.load(Ordering::SeqCst)) {
            Some(snapshot) => Ok(snapshot),
            None => self.snapshot(),
        }
    }
}

impl EmbeddedIndex {
    /// The chain as it is now.
    pub(crate) fn at_rest(&self) -> Result<Arc<Shielded>, IndexError> {
        let mut reading = self.reading();
        if let Some(snapshot) = &reading.snapshot
            && reading.looked.elapsed() < LOOK_EVERY
        {
            return Ok(Arc::clone(snapshot));
        }
        let in_service = self.in_service.load(Ordering::SeqCst);
        let mut tries = 0;
        let changed = loop {
            tries += 1;
            match reading.refresh(&self.generations, in_service) {
                Ok(changed) => break changed,
                // A generation that vanished under our hands: `CURRENT` names its successor.
                Err(_) if tries < TRIES => {}
                Err(error) => return Err(error),
            }
            let refused = reading.chain.refused();
            reading.chain = Chain::open(&self.generations, Vec::new(), refused)?;
            reading.snapshot = None;
        };
        reading.looked = Instant::now();
        let snapshot = match &reading.snapshot {
            Some(snapshot) if !changed => Arc::clone(snapshot),
            _ => Arc::new(reading.chain.view(self.generations.dir().to_path_buf())?),
        };
        reading.snapshot = Some(Arc::clone(&snapshot));
        *self.at_hand.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }
}
