//! The members of the chain, open for reading; and what answers where one of them is damaged.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pharos_text::vocabulary::Vocabulary;
use tracing::warn;

use crate::address::Hidden;
use crate::current::{Current, History};
use crate::generations::Generations;
use crate::guard::Shielded;
use crate::manifest::{self, Proof};
use crate::member::Member;
use crate::schema;
use crate::snapshot::{ChainSnapshot, MemberView};
use crate::{IndexError, Maxima, Snapshot};

/// How often the chain is read anew when a generation vanishes while it is being opened.
const TRIES: usize = 10;

/// The members that a `CURRENT` names, open for reading.
///
/// A history that is damaged is refused: the chain before the last build answers instead, with all that came since.
/// `CURRENT` stays as it is; the owner may go back for good.
pub(crate) struct Chain {
    current: Current,
    /// The number of the history in place, where it is refused.
    refused: Option<u64>,
    /// History first, then latest, oldest first; `None` where a generation has no commit yet.
    members: Vec<Option<Member>>,
}

impl Chain {
    /// Opens what `CURRENT` names; members of `old` that are still named are taken over. A history of the number
    /// `refused` is known to be damaged.
    pub(crate) fn open(
        generations: &Generations,
        mut old: Vec<Member>,
        refused: Option<u64>,
    ) -> Result<Self, IndexError> {
        let mut tries = 0;
        loop {
            let current = generations.current()?;
            let opened = Self::open_as(generations, &current, &mut old, refused);
            // A generation may be dropped between reading its name and opening it: then `CURRENT` has changed.
            tries += 1;
            if tries < TRIES && generations.current()? != current {
                continue;
            }
            let (chain, trouble) = opened?;
            if let Some(trouble) = trouble {
                tell(&trouble, &current);
            }
            return Ok(chain);
        }
    }

    /// The chain of this `CURRENT`, and why its history is refused, where it was not before.
    fn open_as(
        generations: &Generations,
        current: &Current,
        old: &mut Vec<Member>,
        refused: Option<u64>,
    ) -> Result<(Self, Option<IndexError>), IndexError> {
        let mut take =
            |path: &Path| old.iter().position(|member| member.path() == path).map(|at| old.swap_remove(at));
        let mut open_history = |history: History| {
            let path = generations.history_dir(history.number);
            take(&path).map_or_else(|| Member::open_history(&path, Proof::Quick), Ok)
        };
        let mut refused = current.history.map(|h| h.number).filter(|number| Some(*number) == refused);
        if current.previous.is_none() {
            refused = None;
        }
        let (mut members, mut trouble) = (Vec::new(), None);
        if refused.is_none()
            && let Some(history) = current.history
        {
            match open_history(history) {
                Ok(member) => members.push(Some(member)),
                Err(error) if current.previous.is_some() && !is_older(&error) => {
                    refused = Some(history.number);
                    trouble = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        let mut latest = current.latest.clone();
        if refused.is_some()
            && let Some(before) = current.rolled_back()
        {
            if let Some(history) = before.history {
                members.push(Some(open_history(history)?));
            }
            latest = before.latest;
        }
        for one in latest {
            let path = generations.latest_dir(one.number);
            members.push(match take(&path) {
                Some(member) => Some(member),
                None => Member::open(&path)?,
            });
        }
        Ok((Self { current: current.clone(), refused, members }, trouble))
    }

    /// The number of the history in place, where it is refused.
    pub(crate) fn refused(&self) -> Option<u64> {
        self.refused
    }

    /// Is this history open here, or refused?
    pub(crate) fn holds(&self, history: History) -> bool {
        !self.members.is_empty() && self.current.history.is_some_and(|h| h.number == history.number)
    }

    /// Gives the members up, for opening the chain anew with them.
    pub(crate) fn take_members(&mut self) -> Vec<Member> {
        std::mem::take(&mut self.members).into_iter().flatten().collect()
    }

    /// How many documents history has, and how many the latest generations have, with marks of pages that are gone.
    pub(crate) fn documents(&self) -> (u64, u64) {
        let has_history = self.current.history.is_some();
        let mut counts = self.members.iter().map(|m| m.as_ref().map_or(0, |m| m.searcher().num_docs()));
        let history = if has_history { counts.next().unwrap_or(0) } else { 0 };
        (history, counts.sum())
    }

    /// Sees what other processes, or our own writer, did since; `ready` is a member that is open already. Gives whether
    /// anything changed.
    pub(crate) fn refresh(
        &mut self,
        generations: &Generations,
        ready: Option<Member>,
    ) -> Result<bool, IndexError> {
        let current = generations.current()?;
        let mut changed = false;
        // Empty after an error that came in the middle of this.
        let incomplete = self.members.is_empty() || self.members.iter().any(Option::is_none);
        if current != self.current || incomplete {
            let mut old = self.take_members();
            let known = old.len();
            changed = current != self.current;
            old.extend(ready);
            *self = Self::open(generations, old, self.refused)?;
            changed |= self.members.iter().flatten().count() != known;
        }
        Ok(changed | self.reload()?)
    }

    /// Sees what was committed to the members. Gives whether anything was.
    pub(crate) fn reload(&mut self) -> Result<bool, IndexError> {
        let mut changed = false;
        for member in self.members.iter_mut().flatten() {
            changed |= member.reload()?;
        }
        Ok(changed)
    }

    /// The history that answers.
    fn history(&self) -> Option<History> {
        match self.refused {
            Some(_) => self.current.previous.as_ref().map(|previous| previous.history),
            None => self.current.history,
        }
    }

    /// The members as they are, each with what the newer ones hide of it.
    pub(crate) fn view(&mut self, dir: PathBuf) -> Result<Shielded, IndexError> {
        let words: Vec<Arc<Vocabulary>> =
            self.members.iter().flatten().map(|member| Arc::clone(member.vocabulary())).collect();
        let mut hidden = Hidden::new();
        let mut views = Vec::new();
        let mut members = self.members.iter_mut().flatten().rev().peekable();
        while let Some(member) = members.next() {
            let (path, searcher) = (member.path().to_path_buf(), member.searcher());
            let is_ordered = member.is_ordered();
            views.push(MemberView::new(path, searcher, hidden.clone(), is_ordered));
            // The oldest member hides nothing, and may be large.
            if members.peek().is_some() {
                hidden.extend(member.pages()?);
            }
        }
        views.reverse();
        let history = self.history();
        let generation = name(&self.current, history, &views);
        let (_, fields) = schema::schema();
        let maxima = match views.first() {
            Some(oldest) if self.current.history.is_some() => Maxima::read(&oldest.path)?,
            _ => Maxima::default(),
        };
        let chain = ChainSnapshot {
            generation,
            history: history.map(|history| history.number.to_string()),
            fields,
            members: views,
            words,
            maxima,
            pages: OnceLock::new(),
        };
        Ok(Shielded { dir, chain })
    }
}

/// A finished history generation by itself, before anybody sees it: for trying and warming it.
pub(crate) fn preview(generations: &Generations, history: History) -> Result<Arc<dyn Snapshot>, IndexError> {
    let path = generations.history_dir(history.number);
    let members = vec![Some(Member::open_history(&path, Proof::Quick)?)];
    let current = Current::beginning(Some(history), 0, 0);
    Ok(Arc::new(Chain { current, refused: None, members }.view(path)?))
}

/// Is a generation whole, and only written by rules that are not ours any more? Then the one before is no better.
fn is_older(error: &IndexError) -> bool {
    matches!(error, IndexError::OlderFormat { path } if path.is_file() || manifest::exists(path))
}

/// Says which generation is refused, why, and what to do.
pub(crate) fn tell(trouble: &IndexError, current: &Current) {
    let before = current.previous.as_ref().map_or(0, |previous| previous.history.number);
    let missing = current.gap().map(|(from, to)| format!("; the library from {from} to {to} is not in it"));
    warn!(
        "{trouble}; until then the history before the last build answers (generation {before}{})",
        missing.unwrap_or_default()
    );
}

/// Names a state by what it consists of: the generations, their segments and what is deleted in them.
fn name(current: &Current, history: Option<History>, views: &[MemberView]) -> String {
    let mut hasher = DefaultHasher::new();
    for segment in views.iter().flat_map(|view| view.searcher.segment_readers()) {
        segment.segment_id().uuid_string().hash(&mut hasher);
        segment.num_deleted_docs().hash(&mut hasher);
    }
    format!("{}.{}.{:016x}", history.map_or(0, |h| h.number), current.open().number, hasher.finish())
}
