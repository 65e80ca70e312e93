//! The embedded implementation of [`Index`]: a chain of generations on local disk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use parking_lot::{Mutex, MutexGuard};
use pharos_core::LibraryPositions;
use pharos_text::Analyser;
use pharos_text::vocabulary::{Vocabulary, WatchedVocabulary};
use tracing::warn;

use crate::generational::{GenerationStore, GenerationalIndex};
use crate::generations::generation::{Generation, PageOrder};
use crate::generations::manifest::{self, VerificationLevel};
use crate::generations::{BuilderRequest, GenerationChain, Generations, HistoryGeneration};
use crate::read::chain_view::ChainView;
use crate::read::open_chain::{self, OpenChain};
use crate::statistics::{CountingProgress, IndexStatistics, StatisticsOptions, TermReport};
use crate::write::generation_writer::GenerationWriter;
use crate::{Index, IndexChange, IndexError, IndexView, LinkMaxima};

/// Minimum interval between two checks for changes made by other processes.
const MIN_REFRESH_INTERVAL: Duration = Duration::from_millis(200);
/// Interval of the background refresh. It closes replaced generations even when no queries arrive.
const BACKGROUND_REFRESH_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of attempts to open the chain if a generation disappears while it is being opened.
const MAX_ATTEMPTS: usize = 10;

/// The index on local disk.
///
/// Writer and reader state have separate locks, so a query never waits for a commit or a merge. If both locks are
/// needed, the writer's lock is taken first.
///
/// Opening is fast: for a large history only file sizes are compared and small files read. A long-running process
/// calls [`Index::serve`], which verifies every byte of a history before it is used.
pub struct EmbeddedIndex {
    generations: Generations,
    /// Vocabulary of the installation, reloaded when its file changes.
    vocabulary: WatchedVocabulary,
    /// The open latest generation of the owner; `None` for readers.
    writing: Option<Mutex<WriterState>>,
    reading: Mutex<ReaderState>,
    /// Most recent view, readable without the lock of `reading`.
    cached_view: ArcSwapOption<ChainView>,
    /// Set once a background thread refreshes the view. New histories are then verified by that thread, never by a
    /// query.
    in_service: AtomicBool,
}

struct WriterState {
    writer: GenerationWriter,
    /// Maxima of the history generation, used to normalise link figures of new pages.
    maxima: LinkMaxima,
    memory: usize,
    body_limit: usize,
}

struct ReaderState {
    chain: OpenChain,
    /// A new history that has been verified and opened, but is not yet in use.
    prepared: Option<(HistoryGeneration, Generation)>,
    /// Number of a new history that is damaged while no previous one exists. The open chain stays in use.
    unusable: Option<u64>,
    view: Option<Arc<ChainView>>,
    refreshed_at: Instant,
}

impl ReaderState {
    /// Returns `true` if this history can be used without reading it first.
    fn is_ready_for(&self, history: &HistoryGeneration) -> bool {
        self.chain.contains_history(history)
            || self.prepared.as_ref().is_some_and(|(ready, _)| ready == history)
    }

    /// Applies changes made by other processes. Returns `true` if anything changed.
    fn refresh(&mut self, generations: &Generations, in_service: bool) -> Result<bool, IndexError> {
        if in_service
            && let Some(history) = generations.current()?.history
            && !self.is_ready_for(&history)
        {
            return self.chain.reload();
        }
        let ready = self.prepared.take().map(|(_, generation)| generation);
        self.chain.refresh(generations, ready)
    }
}

impl EmbeddedIndex {
    /// Opens the index for reading, alongside a writing process.
    pub fn open_reader(dir: &Path) -> Result<Self, IndexError> {
        let generations = Generations::at(dir);
        let chain = OpenChain::open(&generations, Vec::new(), None)?;
        Ok(Self::with_chain(generations, chain, None))
    }

    /// Opens the index for writing. The caller must own the data directory.
    pub fn open_writer(dir: &Path, memory: usize, body_limit: usize) -> Result<Self, IndexError> {
        let generations = Generations::at(dir);
        let number = generations.current()?.open().number;
        let (writer, applied) = open_generation(
            &generations,
            &crate::generations::watch_vocabulary(&generations),
            number,
            memory,
        )?;
        if applied.is_none() {
            generations.catch_up()?;
        }
        let chain = OpenChain::open(&generations, Vec::new(), None)?;
        let maxima = generations.maxima()?;
        Ok(Self::with_chain(generations, chain, Some(WriterState { writer, maxima, memory, body_limit })))
    }

    fn with_chain(generations: Generations, chain: OpenChain, writing: Option<WriterState>) -> Self {
        let reading =
            ReaderState { chain, prepared: None, unusable: None, view: None, refreshed_at: Instant::now() };
        let vocabulary = crate::generations::watch_vocabulary(&generations);
        let (writing, reading) = (writing.map(Mutex::new), Mutex::new(reading));
        Self {
            generations,
            vocabulary,
            writing,
            reading,
            cached_view: ArcSwapOption::empty(),
            in_service: AtomicBool::new(false),
        }
    }

    /// Verifies the current history and refuses it if it is damaged.
    fn verify_history(&self) -> Result<(), IndexError> {
        loop {
            let Some(history) = self.generations.current()?.history else { return Ok(()) };
            if self.reader_state().chain.refused() == Some(history.number) {
                return Ok(());
            }
            let path = self.generations.history_dir(history.number);
            let damage = manifest::find_damage(&path, VerificationLevel::Full)?.into_iter().next();
            // A history that was replaced during verification may already be removed.
            if self.generations.current()?.history.as_ref() != Some(&history) {
                continue;
            }
            let Some((file, problem)) = damage else { return Ok(()) };
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let detail = format!("{name}: {problem}");
            return self.refuse_history(history, IndexError::DamagedGeneration { path, detail });
        }
    }

    /// Switches to the chain before the last build because the current history is damaged.
    fn refuse_history(&self, history: HistoryGeneration, reason: IndexError) -> Result<(), IndexError> {
        let current = self.generations.current()?;
        let mut reading = self.reader_state();
        if current.previous.is_none() {
            reading.unusable = Some(history.number);
            return Err(reason);
        }
        open_chain::log_refusal(&reason, &current);
        let old = reading.chain.take_generations();
        reading.chain = OpenChain::open(&self.generations, old, Some(history.number))?;
        reading.view = None;
        Ok(())
    }

    /// Refreshes the view without a query: opens and verifies a new history, and closes the replaced one.
    fn poll_changes(&self) -> Result<(), IndexError> {
        let current = self.generations.current()?;
        let unopened = current.history.clone().filter(|history| {
            let reading = self.reader_state();
            !reading.is_ready_for(history) && reading.unusable != Some(history.number)
        });
        if let Some(history) = unopened {
            let path = self.generations.history_dir(history.number);
            match Generation::open_history(&path, VerificationLevel::Full) {
                Ok(generation) => self.reader_state().prepared = Some((history, generation)),
                Err(_) if self.generations.current()? != current => return Ok(()),
                Err(error) => self.refuse_history(history, error)?,
            }
        }
        self.view().map(|_| ())
    }

    fn writer_state(&self) -> Result<MutexGuard<'_, WriterState>, IndexError> {
        let writing = self.writing.as_ref().ok_or(IndexError::ReadOnly)?;
        Ok(writing.lock())
    }

    fn reader_state(&self) -> MutexGuard<'_, ReaderState> {
        self.reading.lock()
    }
}

/// Opens or creates a latest generation for writing. Returns its writer and its applied position.
fn open_generation(
    generations: &Generations,
    words: &WatchedVocabulary,
    number: u64,
    memory: usize,
) -> Result<(GenerationWriter, Option<LibraryPositions>), IndexError> {
    let path = generations.latest_dir(number);
    let generation = Generation::open_or_create(&path, &words.current(), PageOrder::Arrival)?;
    Ok((generation.writer(1, memory)?, generation.applied_positions()?))
}

impl Index for EmbeddedIndex {
    fn applied_positions(&self) -> Result<LibraryPositions, IndexError> {
        self.generations.applied_positions()
    }

    fn apply(&self, changes: Vec<IndexChange>) -> Result<(), IndexError> {
        let mut writing = self.writer_state()?;
        let WriterState { writer, maxima, body_limit, .. } = &mut *writing;
        changes.iter().try_for_each(|change| writer.apply(change, maxima, *body_limit))
    }

    fn commit(&self, applied: &LibraryPositions) -> Result<(), IndexError> {
        self.writer_state()?.writer.commit(applied)?;
        self.reader_state().view = None;
        Ok(())
    }

    fn vocabulary(&self) -> Arc<Vocabulary> {
        self.vocabulary.current()
    }

    fn view(&self) -> Result<Arc<dyn IndexView>, IndexError> {
        Ok(self.current_view()?)
    }

    fn cached_view(&self) -> Result<Arc<dyn IndexView>, IndexError> {
        // The cached view is recent enough only if the background thread refreshes it.
        let cached_view = self.cached_view.load_full();
        match cached_view.filter(|_| self.in_service.load(Ordering::SeqCst)) {
            Some(view) => Ok(view),
            None => self.view(),
        }
    }

    /// Prepares a long-running process for answering queries.
    ///
    /// Verifies the checksums of the current history by reading all of it, which also loads it into the page cache. A
    /// background thread then verifies each new history before it is used, and closes replaced ones.
    ///
    /// A damaged history is refused with a warning, and the chain before the last build is used instead.
    ///
    /// # Errors
    /// Returns an error if the history is damaged and no previous one exists.
    fn serve(self: Arc<Self>) -> Result<(), IndexError> {
        self.verify_history()?;
        if self.in_service.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let index = Arc::downgrade(&self);
        let poll = move || {
            let mut reported = String::new();
            loop {
                thread::sleep(BACKGROUND_REFRESH_INTERVAL);
                let Some(index) = index.upgrade() else { return };
                match index.poll_changes() {
                    Ok(()) => reported.clear(),
                    Err(error) if reported == error.to_string() => {}
                    Err(error) => {
                        reported = error.to_string();
                        warn!("{error}; the open generations stay in use");
                    }
                }
            }
        };
        let thread = thread::Builder::new().name("index-look".into()).spawn(poll);
        thread.map(|_| ()).map_err(IndexError::io("watch", self.generations.dir()))
    }

    fn generational(&self) -> Option<&dyn GenerationalIndex> {
        Some(self)
    }
}

impl GenerationalIndex for EmbeddedIndex {
    fn generations(&self) -> &dyn GenerationStore {
        &self.generations
    }

    fn seal(&self) -> Result<LibraryPositions, IndexError> {
        let mut writing = self.writer_state()?;
        let at = self.applied_positions()?;
        let number = self.generations.seal(at.clone())?.open().number;
        let (next, _) = open_generation(&self.generations, &self.vocabulary, number, writing.memory)?;
        // Running merges of the sealed generation finish in the background: it receives no more changes.
        std::mem::replace(&mut writing.writer, next).finish_in_background();
        self.reader_state().view = None;
        Ok(at)
    }

    fn documents(&self) -> Result<(u64, u64), IndexError> {
        self.view()?;
        Ok(self.reader_state().chain.documents())
    }

    fn serve_request(&self) -> Result<Option<BuilderRequest>, IndexError> {
        let Some(request) = self.generations.pending_request() else { return Ok(None) };
        let current = self.generations.current()?;
        let result = match request {
            BuilderRequest::Seal(number) if current.open().number == number => self.seal().map(|_| ()),
            BuilderRequest::Seal(_) => Ok(()),
            BuilderRequest::Install(ref history) => self.generations.install(history.clone()).map(|_| ()),
            BuilderRequest::Rollback(number)
                if current.history.as_ref().is_some_and(|h| h.number == number) =>
            {
                self.generations.roll_back().map(|_| ())
            }
            BuilderRequest::Rollback(_) => Ok(()),
        };
        self.generations.complete_request(&request);
        result?;
        if let Ok(mut writing) = self.writer_state() {
            writing.maxima = self.generations.maxima()?;
        }
        // The next query opens a new view.
        self.reader_state().view = None;
        Ok(Some(request))
    }

    fn close_gap(&self) -> Result<bool, IndexError> {
        let Some((from, _)) = self.generations.current()?.gap() else { return Ok(false) };
        self.commit(&from)?;
        self.generations.close_gap(&from)?;
        Ok(true)
    }

    fn roll_back(&self) -> Result<GenerationChain, IndexError> {
        let back = self.generations.roll_back()?;
        self.reader_state().view = None;
        Ok(back)
    }

    fn refused_history(&self) -> Result<Option<HistoryGeneration>, IndexError> {
        let refused = self.reader_state().chain.refused();
        Ok(self.generations.current()?.history.filter(|history| Some(history.number) == refused))
    }

    fn statistics(
        &self,
        options: &StatisticsOptions,
        progress: &mut dyn FnMut(CountingProgress<'_>) -> bool,
    ) -> Result<IndexStatistics, IndexError> {
        let view = self.current_view()?;
        view.guard(|| view.statistics(options, progress))
    }

    fn explain(&self, text: &str, field: Option<&str>, pages: usize) -> Result<TermReport, IndexError> {
        let analyser = Analyser::with_vocabulary(self.vocabulary());
        let view = self.current_view()?;
        view.guard(|| view.explain(&analyser, text, field, pages))
    }
}

impl EmbeddedIndex {
    /// Returns a view of the current chain, refreshed if the last check is too old.
    pub(crate) fn current_view(&self) -> Result<Arc<ChainView>, IndexError> {
        let mut reading = self.reader_state();
        if let Some(view) = &reading.view
            && reading.refreshed_at.elapsed() < MIN_REFRESH_INTERVAL
        {
            return Ok(Arc::clone(view));
        }
        let in_service = self.in_service.load(Ordering::SeqCst);
        let mut attempts = 0;
        let changed = loop {
            attempts += 1;
            match reading.refresh(&self.generations, in_service) {
                Ok(changed) => break changed,
                // A generation disappeared while it was being opened: `CURRENT` lists its successor.
                Err(_) if attempts < MAX_ATTEMPTS => {}
                Err(error) => return Err(error),
            }
            let refused = reading.chain.refused();
            reading.chain = OpenChain::open(&self.generations, Vec::new(), refused)?;
            reading.view = None;
        };
        reading.refreshed_at = Instant::now();
        let view = match &reading.view {
            Some(view) if !changed => Arc::clone(view),
            _ => Arc::new(reading.chain.build_view(self.generations.dir().to_path_buf())?),
        };
        reading.view = Some(Arc::clone(&view));
        self.cached_view.store(Some(Arc::clone(&view)));
        Ok(view)
    }
}
