//! The generations of the chain, open for reading, with a fallback to the previous chain if the history is damaged.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pharos_text::vocabulary::Vocabulary;
use tracing::warn;

use crate::document::addresses::HiddenPages;
use crate::document::schema;
use crate::generational::GenerationStore as _;
use crate::generations::Generations;
use crate::generations::chain::{GenerationChain, HistoryGeneration};
use crate::generations::generation::Generation;
use crate::generations::manifest::{self, VerificationLevel};
use crate::read::chain_view::{ChainView, GenerationView};
use crate::{IndexError, IndexView, LinkMaxima};

/// Maximum number of attempts to open the chain if a generation disappears while it is being opened.
const MAX_ATTEMPTS: usize = 10;

/// The generations listed in `CURRENT`, open for reading.
///
/// A damaged history is refused: the chain before the last build is used instead, together with all later
/// generations. `CURRENT` is not changed; the owner may roll back permanently.
pub(crate) struct OpenChain {
    current: GenerationChain,
    /// Number of the current history if it is refused.
    refused: Option<u64>,
    /// History first, then latest generations, oldest first; `None` for a generation without a commit.
    generations: Vec<Option<Generation>>,
}

impl OpenChain {
    /// Opens the generations listed in `CURRENT`. Generations of `old` that are still listed are reused. A history
    /// with the number `refused` is known to be damaged.
    pub(crate) fn open(
        directory: &Generations,
        mut old: Vec<Generation>,
        refused: Option<u64>,
    ) -> Result<Self, IndexError> {
        let mut attempts = 0;
        loop {
            let current = directory.current()?;
            let opened = Self::from_chain(directory, &current, &mut old, refused);
            // If a generation was removed between reading its name and opening it, `CURRENT` has changed.
            attempts += 1;
            if attempts < MAX_ATTEMPTS && directory.current()? != current {
                continue;
            }
            let (chain, refusal) = opened?;
            if let Some(refusal) = refusal {
                log_refusal(&refusal, &current);
            }
            return Ok(chain);
        }
    }

    /// Opens the chain of this `CURRENT`. Also returns the reason if its history is newly refused.
    fn from_chain(
        directory: &Generations,
        current: &GenerationChain,
        old: &mut Vec<Generation>,
        refused: Option<u64>,
    ) -> Result<(Self, Option<IndexError>), IndexError> {
        let mut take = |path: &Path| {
            old.iter().position(|generation| generation.path() == path).map(|at| old.swap_remove(at))
        };
        let mut open_history = |history: &HistoryGeneration| {
            let path = directory.history_dir(history.number);
            take(&path).map_or_else(|| Generation::open_history(&path, VerificationLevel::Quick), Ok)
        };
        let mut refused =
            current.history.as_ref().map(|h| h.number).filter(|number| Some(*number) == refused);
        if current.previous.is_none() {
            refused = None;
        }
        let (mut generations, mut refusal) = (Vec::new(), None);
        if refused.is_none()
            && let Some(history) = &current.history
        {
            match open_history(history) {
                Ok(generation) => generations.push(Some(generation)),
                Err(error) if current.previous.is_some() && error.is_damage() && !is_older_format(&error) => {
                    refused = Some(history.number);
                    refusal = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        let mut latest = current.latest.clone();
        if refused.is_some()
            && let Some(before) = current.rolled_back()
        {
            if let Some(history) = &before.history {
                generations.push(Some(open_history(history)?));
            }
            latest = before.latest;
        }
        for latest_generation in latest {
            let path = directory.latest_dir(latest_generation.number);
            generations.push(match take(&path) {
                Some(generation) => Some(generation),
                None => Generation::open(&path)?,
            });
        }
        Ok((Self { current: current.clone(), refused, generations }, refusal))
    }

    /// Returns the number of the current history if it is refused.
    pub(crate) fn refused(&self) -> Option<u64> {
        self.refused
    }

    /// Returns `true` if this history is open or refused.
    pub(crate) fn contains_history(&self, history: &HistoryGeneration) -> bool {
        !self.generations.is_empty()
            && self.current.history.as_ref().is_some_and(|h| h.number == history.number)
    }

    /// Returns the open generations, so that they can be reused when the chain is opened again.
    pub(crate) fn take_generations(&mut self) -> Vec<Generation> {
        std::mem::take(&mut self.generations).into_iter().flatten().collect()
    }

    /// Returns the number of documents in history and in the latest generations, tombstones included.
    pub(crate) fn documents(&self) -> (u64, u64) {
        let has_history = self.current.history.is_some();
        let mut counts = self.generations.iter().map(|m| m.as_ref().map_or(0, |m| m.searcher().num_docs()));
        let history = if has_history { counts.next().unwrap_or(0) } else { 0 };
        (history, counts.sum())
    }

    /// Applies changes by other processes or by the writer of this process. `ready` is a generation that is already
    /// open. Returns `true` if anything changed.
    pub(crate) fn refresh(
        &mut self,
        directory: &Generations,
        ready: Option<Generation>,
    ) -> Result<bool, IndexError> {
        let current = directory.current()?;
        let mut changed = false;
        // The list is empty after an earlier error in this function.
        let incomplete = self.generations.is_empty() || self.generations.iter().any(Option::is_none);
        if current != self.current || incomplete {
            let mut old = self.take_generations();
            let known = old.len();
            changed = current != self.current;
            old.extend(ready);
            *self = Self::open(directory, old, self.refused)?;
            changed |= self.generations.iter().flatten().count() != known;
        }
        Ok(changed | self.reload()?)
    }

    /// Reads new commits of all generations. Returns `true` if there were any.
    pub(crate) fn reload(&mut self) -> Result<bool, IndexError> {
        let mut changed = false;
        for generation in self.generations.iter_mut().flatten() {
            changed |= generation.reload()?;
        }
        Ok(changed)
    }

    /// Returns the history in use.
    fn history(&self) -> Option<&HistoryGeneration> {
        match self.refused {
            Some(_) => self.current.previous.as_ref().map(|previous| &previous.history),
            None => self.current.history.as_ref(),
        }
    }

    /// Creates a view of the generations, each with the pages that newer ones hide.
    pub(crate) fn build_view(&mut self, dir: PathBuf) -> Result<ChainView, IndexError> {
        let vocabularies: Vec<Arc<Vocabulary>> =
            self.generations.iter().flatten().map(|generation| Arc::clone(generation.vocabulary())).collect();
        let mut hidden = HiddenPages::new();
        let mut views = Vec::new();
        let mut generations = self.generations.iter_mut().flatten().rev().peekable();
        while let Some(generation) = generations.next() {
            let (path, searcher) = (generation.path().to_path_buf(), generation.searcher());
            let is_ordered = generation.is_ordered();
            views.push(GenerationView::new(path, searcher, hidden.clone(), is_ordered));
            // The oldest generation hides nothing and may be large.
            if generations.peek().is_some() {
                hidden.extend(generation.page_ids()?);
            }
        }
        views.reverse();
        let history = self.history();
        let state_id = state_id(&self.current, history, &views);
        let (_, fields) = schema::schema();
        let maxima = match views.first() {
            Some(oldest) if self.current.history.is_some() => LinkMaxima::read(&oldest.path)?,
            _ => LinkMaxima::default(),
        };
        Ok(ChainView {
            dir,
            state_id,
            history: history.map(|history| history.number.to_string()),
            fields,
            generations: views,
            vocabularies,
            maxima,
            pages: OnceLock::new(),
        })
    }
}

/// Opens a finished history generation that is not yet installed, for testing and warming it.
pub(crate) fn preview(
    directory: &Generations,
    history: &HistoryGeneration,
) -> Result<Arc<dyn IndexView>, IndexError> {
    let path = directory.history_dir(history.number);
    let generations = vec![Some(Generation::open_history(&path, VerificationLevel::Quick)?)];
    let current = GenerationChain::new(Some(history.clone()), 0, 0);
    Ok(Arc::new(OpenChain { current, refused: None, generations }.build_view(path)?))
}

/// Returns `true` if the generation is intact but has an older format. Then the previous one does not help either.
fn is_older_format(error: &IndexError) -> bool {
    matches!(error, IndexError::OlderFormat { path } if path.is_file() || manifest::exists(path))
}

/// Logs which generation is refused, the reason and the remedy.
pub(crate) fn log_refusal(refusal: &IndexError, current: &GenerationChain) {
    let before = current.previous.as_ref().map_or(0, |previous| previous.history.number);
    let missing = current.gap().map(|(from, to)| format!(", without the library range from {from} to {to}"));
    warn!(
        "{refusal}; until then the history before the last build is used (generation {before}{})",
        missing.unwrap_or_default()
    );
}

/// Returns an identifier of the state, computed from the generations, their segments and their deletions.
fn state_id(
    current: &GenerationChain,
    history: Option<&HistoryGeneration>,
    views: &[GenerationView],
) -> String {
    let mut hasher = DefaultHasher::new();
    for segment in views.iter().flat_map(|view| view.searcher.segment_readers()) {
        segment.segment_id().uuid_string().hash(&mut hasher);
        segment.num_deleted_docs().hash(&mut hasher);
    }
    format!("{}.{}.{:016x}", history.map_or(0, |h| h.number), current.open().number, hasher.finish())
}
