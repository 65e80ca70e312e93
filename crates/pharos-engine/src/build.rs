//! Building a history generation from the library, beside whoever owns the data directory.
//!
//! Three steps: over the library, which record of each page is the current one ([`Pages`]); what pages say about each
//! other ([`relate`]: an anchor belongs to its target, a copy to its original, so all pages must be read before the first
//! is indexed); the pages themselves. What came of it is verified, and asked some queries, before it is put in place.
//!
//! A build that was killed goes on where it was ([`build_plan`](crate::build_plan)).

use std::thread;
use std::time::{Duration, Instant};

use pharos_core::LibraryPosition;
use pharos_core::config::Config;
use pharos_index::{Generations, History, HistoryBuilder, IndexError, Wish};
use pharos_store::{DataDir, DiskLibrary, Library as _, StoreError};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::absorb::open_index;
use crate::books::write_books;
use crate::build_plan::{self, Begun};
use crate::documents::document;
use crate::pages::{Pages, Templates};
use crate::readers::reading_threads;
use crate::reading::is_searchable;
use crate::relate::{Related, check_rules, relate};
use crate::warm::warm;
use crate::{Engine, EngineError};

/// How long the owner may take to react.
const OWNER_PATIENCE: Duration = Duration::from_secs(60);

/// How far a build has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Having the open generation sealed.
    Sealing,
    /// Looking for the newest record of each page; so many records seen.
    Surveying(u64),
    /// Looking for copies; so many of so many pages.
    Comparing(u64, u64),
    /// Reading links; so many of so many pages.
    Linking(u64, u64),
    /// Computing ranks.
    Ranking,
    /// Indexing; so many of so many pages.
    Indexing(u64, u64),
    /// Being made durable and verified.
    Verifying,
    /// Answering its first queries; so many.
    Warming(u64),
    /// Being put in place.
    Switching,
}

/// What was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BuildSummary {
    /// Number of the generation.
    pub generation: u64,
    /// Pages in it.
    pub pages: u64,
    /// Library position it was built up to.
    pub to: LibraryPosition,
    /// Pages that a build before, which was cut short, had saved.
    pub saved: u64,
}

/// Is told how far a build is, and says whether to go on.
pub(crate) type Check<'a> = &'a mut dyn FnMut(Progress) -> Result<(), EngineError>;

/// What came of building a generation.
struct Built {
    history: History,
    pages: u64,
    saved: u64,
}

impl Built {
    fn summary(&self) -> BuildSummary {
        let Self { history, pages, saved } = *self;
        BuildSummary { generation: history.number, pages, to: history.to, saved }
    }
}

/// Builds a history generation and puts it in place, or goes on with one that was begun. `progress` is told how far it is
/// and says whether to go on.
pub fn build_history(
    data: &DataDir,
    config: &Config,
    mut progress: impl FnMut(Progress) -> bool,
) -> Result<BuildSummary, EngineError> {
    check_rules(config)?;
    let generations = Generations::at(data.index());
    let _builder = generations.lock_builder()?;
    let mut check = |p: Progress| if progress(p) { Ok(()) } else { Err(EngineError::Stopped) };

    let begun = build_plan::begun(data, config, &generations)?;
    let goes_on = begun.is_some();
    if !goes_on {
        let open = generations.current()?.open().number;
        let seal = Wish::Seal(open);
        ask_owner(data, config, &generations, seal, &mut || check(Progress::Sealing))?;
    }
    let built = build_generation(data, config, &generations, begun, &mut check)?;
    let install = Wish::Install(built.history);
    ask_owner(data, config, &generations, install, &mut || check(Progress::Switching))?;
    info!(generation = built.history.number, pages = built.pages, "a new history generation is in place");
    if goes_on {
        absorb_the_rest(data, config, built.history.to)?;
    }
    Ok(built.summary())
}

/// Drops every generation but a new one, built from the library alone, for whoever owns the data directory. The old
/// ones answer until it is done, where they can be read at all.
pub(crate) fn rebuild_index(
    data: &DataDir,
    config: &Config,
    check: Check<'_>,
) -> Result<BuildSummary, EngineError> {
    check_rules(config)?;
    let generations = Generations::at(data.index());
    let _builder = generations.lock_builder()?;
    generations.wish_done();
    match generations.current() {
        Ok(_) => {}
        Err(IndexError::Damaged { .. } | IndexError::OlderFormat { .. }) => {
            generations.start_over(None)?;
        }
        Err(error) => return Err(error.into()),
    }
    let built = build_generation(data, config, &generations, None, check)?;
    check(Progress::Switching)?;
    generations.start_over(Some(built.history))?;
    info!(generation = built.history.number, pages = built.pages, "the index was made again");
    Ok(built.summary())
}

/// Builds a generation up to the end of the library, or goes on with one. Nobody sees it yet.
fn build_generation(
    data: &DataDir,
    config: &Config,
    generations: &Generations,
    begun: Option<Begun>,
    check: Check<'_>,
) -> Result<Built, EngineError> {
    let to = begun.as_ref().map(|begun| begun.plan.to);
    let pages = Pages::up_to(to, data, config, &mut |n| check(Progress::Surveying(n)))?;
    let (total, to) = (pages.count(), pages.to());
    let mut begun = match begun {
        Some(begun) => begun,
        None => build_plan::begin(config, generations, to)?,
    };
    let relations = match begun.relations.take() {
        Some(relations) => relations,
        None => relate(data, config, &pages, check)?.0,
    };
    build_plan::related(generations, &mut begun, &relations)?;

    let related = Related::new(&relations, &pages);
    let mut builder = open_builder(config, generations, &begun)?.measured_by(related.maxima())?;
    let (reached, saved) = (builder.reached(), builder.pages());
    if reached.is_some() {
        info!(pages = saved, "going on with a build that was cut short");
    }
    let mut templates = Templates::new(config);
    let (mut unsaved, mut last) = (0, reached);
    let mut progress = |n| check(Progress::Indexing(n, total));
    let walked = pages.each_with_links(&mut progress, &mut |url, at, position, page| {
        if is_searchable(page) {
            let mut body = page.text.clone();
            // What pages have in common is learnt from those that are there already, too.
            templates.strip(url, &mut body);
            if reached.is_some_and(|reached| position <= reached) {
                return Ok(());
            }
            let mut document = document(url, at, position, page, body);
            if related.complete(&mut document)? {
                builder.add(&document)?;
                (unsaved, last) = (unsaved + 1, Some(position));
                if unsaved >= config.index.save_every.max(1) {
                    builder.save(position)?;
                    unsaved = 0;
                }
            }
        }
        Ok(())
    });
    if let Err(error) = walked {
        // Whoever stops it on purpose may wait a moment for what is not saved yet.
        if let (EngineError::Stopped, Some(last), 1..) = (&error, last, unsaved) {
            builder.save(last)?;
        }
        return Err(error);
    }
    check(Progress::Verifying)?;
    let pages = builder.pages();
    let history = builder.finish(to)?;
    if let Err(error) = warm(data, config, generations, history, &relations, check) {
        if matches!(error, EngineError::Stopped) {
            return Err(error);
        }
        warn!(%error, "the new generation could not be asked anything before it is put in place");
    }
    let books =
        write_books(data, config, generations, history, &relations, &mut || check(Progress::Verifying));
    if let Err(error) = books {
        if matches!(error, EngineError::Stopped) {
            return Err(error);
        }
        warn!(%error, "suggestions stay as they were: the books of the new generation could not be written");
    }
    Ok(Built { history, pages, saved })
}

/// Goes on with what is there, or begins where that cannot be used.
fn open_builder(
    config: &Config,
    generations: &Generations,
    begun: &Begun,
) -> Result<HistoryBuilder, EngineError> {
    let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
    let threads = reading_threads(config);
    match HistoryBuilder::go_on(generations, threads, memory, body_limit) {
        Err(
            error @ (IndexError::DamagedGeneration { .. }
            | IndexError::Tantivy { .. }
            | IndexError::OlderFormat { .. }),
        ) => {
            warn!(%error, "what a build before left cannot be used: building from the beginning");
            generations.discard_build()?;
            generations.set_plan(&begun.plan)?;
            Ok(HistoryBuilder::go_on(generations, threads, memory, body_limit)?)
        }
        opened => Ok(opened?),
    }
}

/// What came after a build that was cut short is in latest, where an owner indexes. Where there is none, this takes its
/// place for the moment; one that crawls only leaves it to the next build.
fn absorb_the_rest(data: &DataDir, config: &Config, to: LibraryPosition) -> Result<(), EngineError> {
    if DiskLibrary::open_reader(&data.library())?.end()? <= to {
        return Ok(());
    }
    let owner = match data.own("index build") {
        Ok(owner) => owner,
        Err(StoreError::InUse { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let engine = Engine::open_owned(owner, data.clone(), config.clone(), "index build", true)?;
    let (_stop, never) = watch::channel(false);
    engine.intake(&never)?.finish()
}

/// Has the owner change the chain of generations; without an owner, owns the directory for that moment. `go_on` is asked
/// while the owner is waited for.
pub(crate) fn ask_owner(
    data: &DataDir,
    config: &Config,
    generations: &Generations,
    wish: Wish,
    go_on: &mut dyn FnMut() -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let patience = Instant::now() + OWNER_PATIENCE;
    go_on()?;
    generations.wish(wish)?;
    loop {
        match data.own(if matches!(wish, Wish::Rollback(_)) { "index rollback" } else { "index build" }) {
            Ok(_owner) => {
                if !is_fulfilled(generations, wish)? {
                    open_index(generations, config)?.fulfil_wish()?;
                }
                generations.wish_done();
                return Ok(());
            }
            Err(StoreError::InUse { owner, .. }) => {
                // The owner takes a wish away once it has done with it. Until then another must not be left: it would
                // be taken away too.
                if generations.waiting() != Some(wish) {
                    let fulfilled = is_fulfilled(generations, wish)?;
                    return if fulfilled { Ok(()) } else { Err(EngineError::WishRefused { owner }) };
                }
                if Instant::now() > patience {
                    // The wish stays: a finished generation is put in place as soon as the owner looks.
                    return Err(EngineError::OwnerSilent { owner });
                }
                if let Err(stopped) = go_on() {
                    // Nobody waits for a seal any more; what is finished may still be put in place.
                    if matches!(wish, Wish::Seal(_)) {
                        generations.wish_done();
                    }
                    return Err(stopped);
                }
                thread::sleep(Duration::from_millis(50));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_fulfilled(generations: &Generations, wish: Wish) -> Result<bool, EngineError> {
    let current = generations.current()?;
    Ok(match wish {
        Wish::Seal(number) => current.open().number > number,
        Wish::Install(history) => current.history == Some(history),
        Wish::Rollback(number) => current.history.is_none_or(|history| history.number != number),
    })
}

#[cfg(test)]
mod tests {
    use pharos_core::{PageUrl, Timestamp};
    use pharos_index::{EmbeddedIndex, Index as _, Query};
    use pharos_store::{Content, Record, Response};

    use super::*;

    fn page(n: u64) -> Record {
        let url = PageUrl::parse(&format!("http://www.example.org/{n}")).unwrap();
        let text = format!("Lighthouse number {n} stands on rock {} of coast {}.", n % 17, n % 5);
        let foot = "All lighthouses of this country are open on Sundays, says the ministry.";
        let body = format!(
            "<title>Lighthouse {n}</title><h1>Lighthouse {n}</h1><p>{text}</p><p>{foot}</p><a href=/{}>next</a>",
            n * 7 % 600
        );
        let response = Response { status: 200, body: body.into_bytes(), ..Response::default() };
        Record::new(url, Timestamp::EPOCH, Content::Response(response))
    }

    fn take_in(data: &DataDir, pages: std::ops::Range<u64>, indexing: bool) {
        let engine = Engine::open(data.clone(), Config::default(), "test", indexing).unwrap();
        let (_stop, never) = watch::channel(false);
        let mut intake = engine.intake(&never).unwrap();
        intake.take(pages.map(page).collect()).unwrap();
        intake.finish().unwrap();
    }

    /// Addresses, scores and figures.
    fn answers(data: &DataDir) -> Vec<String> {
        let snapshot = EmbeddedIndex::open_reader(&data.index()).unwrap().snapshot().unwrap();
        let mut answers = Vec::new();
        for word in ["lighthouse", "rock", "ministry", "599"] {
            let found = snapshot.search(&Query::Word(word.into()), 1000).unwrap();
            let figures = snapshot.figures(&found.candidates).unwrap();
            answers.push(format!("{word} {}", found.total));
            let mut lines: Vec<String> = found
                .candidates
                .iter()
                .zip(figures)
                .map(|(found, web)| format!("{:?} {} {:.5} {web:?}", found.page, found.copies, found.score))
                .collect();
            lines.sort();
            answers.extend(lines);
        }
        answers
    }

    #[test]
    fn a_build_that_was_stopped_goes_on_and_answers_as_if_it_had_not_been() {
        let dir = tempfile::tempdir().unwrap();
        let [whole, cut] = ["whole", "cut"].map(|name| DataDir::at(dir.path().join(name)));
        let mut config = Config::default();
        config.index.save_every = 100;
        for data in [&whole, &cut] {
            take_in(data, 0..600, false);
        }
        let built = build_history(&whole, &config, |_| true).unwrap();
        assert_eq!(built.saved, 0);

        let stopped = |data: &DataDir| {
            let stop = |progress| !matches!(progress, Progress::Indexing(done, _) if done >= 256);
            assert!(matches!(build_history(data, &config, stop), Err(EngineError::Stopped)));
            Generations::at(data.index()).saved().unwrap().1
        };
        assert_eq!(stopped(&cut), 256, "what was not saved yet is saved when it stops");
        // Nothing is related again, and nothing added twice.
        let mut steps = Vec::new();
        let again = build_history(&cut, &config, |progress| {
            steps.push(progress);
            true
        });
        let again = again.unwrap();
        let end = DiskLibrary::open_reader(&cut.library()).unwrap().end().unwrap();
        assert_eq!((again.saved, again.pages, again.to), (256, built.pages, end));
        assert!(!steps.iter().any(|step| matches!(step, Progress::Comparing(..) | Progress::Sealing)));
        assert_eq!(answers(&cut), answers(&whole));

        // Other settings: from the beginning. A library that has grown: up to where it was, and the rest in latest.
        stopped(&cut);
        config.clean.template = 0.5;
        assert_eq!(build_history(&cut, &config, |_| true).unwrap().saved, 0);
        let stop = |progress| !matches!(progress, Progress::Indexing(done, _) if done >= 512);
        assert!(build_history(&cut, &config, stop).is_err());
        take_in(&cut, 600..610, false);
        let last = build_history(&cut, &config, |_| true).unwrap();
        assert_eq!((last.to, last.saved), (end, 512));
        let snapshot = EmbeddedIndex::open_reader(&cut.index()).unwrap().snapshot().unwrap();
        assert_eq!(snapshot.pages().unwrap(), 610);
    }
}
