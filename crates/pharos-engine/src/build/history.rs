//! Builds a history generation from the library, also while another process owns the data directory.
//!
//! Three passes: the first finds the current record of each page (`CurrentPages`); the second analyses links and
//! duplicates (`analyse_links`), because anchors belong to their targets and copies to their originals; the third
//! indexes the pages. The result is verified and queried before it is installed.
//!
//! An interrupted build is resumed (`plan`).

use std::thread;
use std::time::{Duration, Instant};

use pharos_core::config::Config;
use pharos_core::{Clock as _, LibraryPositions, SystemClock};
use pharos_index::generations::HistoryGeneration;
use pharos_index::{BuilderRequest, GenerationStore, HistoryBuilder, IndexError, ReplacedGenerations};
use pharos_mining::clicks::days;
use pharos_mining::learnt_words::{LearningRules, update_vocabulary};
use pharos_mining::synonyms::update_proposals;
use pharos_store::interpret::is_searchable;
use pharos_store::{DataDir, StoreError};
use tokio::sync::watch;
use tracing::{info, warn};

use crate::build::current_pages::{CurrentPages, SiteTemplates};
use crate::build::link_analysis::{DocumentCompleter, analyse_links, check_rules};
use crate::build::phrase_index::write_phrase_index;
use crate::build::plan::{self, PlannedBuild};
use crate::build::warm_up::warm_up;
use crate::categories::assignment::{PageCategories, classifier_for_build};
use crate::maintenance::rebuild::catch_up;
use crate::stages::analysis_pool::analysis_threads;
use crate::stages::document::index_document;
use crate::stages::ingest::ReplayProgress;
use crate::stores::Stores;
use crate::{Engine, EngineError};

/// Name of a build in errors.
const BUILDING: &str = "building a history";

/// Time allowed for the owner to respond.
const OWNER_TIMEOUT: Duration = Duration::from_secs(60);

/// Progress of a build. Counts are pages done and total pages, unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildProgress {
    /// Analysing pages that no other run has analysed.
    Analysing(ReplayProgress),
    /// Waiting for the owner to seal the open generation.
    Sealing,
    /// Scanning the library for current versions.
    Surveying(ReplayProgress),
    /// Detecting duplicates.
    Comparing(u64, u64),
    /// Reading links.
    Linking(u64, u64),
    Ranking,
    Indexing(u64, u64),
    /// Making the generation durable and verifying it.
    Verifying,
    /// Running warm-up queries; number done.
    Warming(u64),
    /// Installing the generation.
    Switching,
}

/// The outcome of a build.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BuildSummary {
    pub generation: u64,
    pub pages: u64,
    /// Library positions up to which the generation was built.
    pub to: LibraryPositions,
    /// Pages reused from an interrupted build.
    pub saved: u64,
}

/// Receives the progress of a build; an error stops it.
pub(crate) type ProgressCheck<'a> = &'a mut dyn FnMut(BuildProgress) -> Result<(), EngineError>;

/// A finished generation that is not yet installed.
struct BuiltGeneration {
    history: HistoryGeneration,
    pages: u64,
    saved: u64,
}

impl BuiltGeneration {
    fn into_summary(self) -> BuildSummary {
        let Self { history, pages, saved } = self;
        BuildSummary { generation: history.number, pages, to: history.to, saved }
    }
}

/// Builds a history generation and installs it, resuming an interrupted build if possible.
///
/// A library that lacks records which catalog or index have applied is refused, because the new history would lack their
/// pages. With `force` the index is rebuilt from the rest of it, and the old generations are set aside.
///
/// `progress` receives the progress and returns `false` to stop.
pub fn build_history(
    data: &DataDir,
    config: &Config,
    force: bool,
    mut progress: impl FnMut(BuildProgress) -> bool,
) -> Result<BuildSummary, EngineError> {
    check_rules(config)?;
    let stores = Stores::open(data, config)?;
    let mut check = |p: BuildProgress| if progress(p) { Ok(()) } else { Err(EngineError::Stopped) };
    match stores.check_library() {
        Err(EngineError::LibraryIncomplete { .. }) if force => {
            let _owner = data.own("index build --force")?;
            return rebuild_index(data, config, ReplacedGenerations::SetAside, &mut check);
        }
        checked => checked?,
    }
    let generations = stores.require_generations(BUILDING)?;
    let _builder = generations.lock_builder()?;

    analyse_remaining(data, config, &mut check)?;
    let planned = plan::find_resumable(&stores, config, &*generations)?;
    let resumed = planned.is_some();
    // A resumed build continues with the words that it began with.
    if !resumed {
        learn_words(data, config);
        let open = generations.current()?.open().number;
        let seal = BuilderRequest::Seal(open);
        request_owner(&stores, &*generations, &seal, &mut || check(BuildProgress::Sealing))?;
    }
    let built = build_generation(data, config, &*generations, planned, &mut check)?;
    update_clicks(data, config);
    let install = BuilderRequest::Install(built.history.clone());
    request_owner(&stores, &*generations, &install, &mut || check(BuildProgress::Switching))?;
    info!(generation = built.history.number, pages = built.pages, "installed a new history generation");
    if resumed {
        apply_remaining(&stores, config, &built.history.to)?;
    }
    Ok(built.into_summary())
}

/// Analyses the pages that the derived stores lack, so that the passes of this and of later builds read the results. A
/// running owner does this itself, or leaves it to later builds if it only crawls.
pub(crate) fn analyse_remaining(
    data: &DataDir,
    config: &Config,
    check: ProgressCheck<'_>,
) -> Result<(), EngineError> {
    let owner = match data.own("index build") {
        Ok(owner) => owner,
        Err(StoreError::InUse { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    catch_up(owner, data, config, &mut |progress| check(BuildProgress::Analysing(progress)).is_ok())?;
    Ok(())
}

/// Replaces all generations by a new one built from the library, as the owner of the data directory.
///
/// The old generations serve queries until the new one is installed, if they are readable. Nothing is removed before.
pub(crate) fn rebuild_index(
    data: &DataDir,
    config: &Config,
    replaced: ReplacedGenerations,
    check: ProgressCheck<'_>,
) -> Result<BuildSummary, EngineError> {
    check_rules(config)?;
    let stores = Stores::open(data, config)?;
    let generations = stores.require_generations(BUILDING)?;
    let _builder = generations.lock_builder()?;
    generations.clear_request();
    learn_words(data, config);
    let built = build_generation(data, config, &*generations, None, check)?;
    update_clicks(data, config);
    check(BuildProgress::Switching)?;
    generations.start_over(Some(built.history.clone()), replaced)?;
    info!(generation = built.history.number, pages = built.pages, "rebuilt the index");
    Ok(built.into_summary())
}

/// Brings the click graph up to date with the logs, and proposes synonyms. Logs that cannot be read do not stop the build.
fn update_clicks(data: &DataDir, config: &Config) {
    let now = SystemClock.now();
    match days::update(data, now) {
        Ok(updated) => info!(read = updated.read, removed = updated.removed, "updated the clicks of days"),
        Err(error) => warn!(%error, "cannot update the clicks of days"),
    }
    match update_proposals(data, config, now) {
        Ok(proposals) => info!(proposals, "proposed synonyms"),
        Err(error) => warn!(%error, "cannot propose synonyms"),
    }
}

/// Brings the learnt words of the vocabulary up to date with the logs, before pages are segmented.
fn learn_words(data: &DataDir, config: &Config) {
    let learnt = days::update(data, SystemClock.now())
        .and_then(|_| update_vocabulary(data, &LearningRules::from_config(config)));
    match learnt {
        Ok(words) => info!(added = words.added.len(), removed = words.removed.len(), "learnt words"),
        Err(error) => warn!(%error, "cannot learn words from the logs"),
    }
}

/// Builds a generation up to the end of the library, or resumes one. It is not installed yet.
fn build_generation(
    data: &DataDir,
    config: &Config,
    generations: &dyn GenerationStore,
    planned: Option<PlannedBuild>,
    check: ProgressCheck<'_>,
) -> Result<BuiltGeneration, EngineError> {
    let to = planned.as_ref().map(|planned| &planned.plan.to);
    let pages = CurrentPages::find_up_to(to, data, config, &mut |n| check(BuildProgress::Surveying(n)))?;
    let (total, to) = (pages.count(), pages.to().clone());
    let mut planned = match planned {
        Some(planned) => planned,
        None => plan::start(config, data, generations, to.clone())?,
    };
    let relations = match planned.relations.take() {
        Some(relations) => relations,
        None => analyse_links(data, config, &pages, check)?.0,
    };
    plan::record_relations(generations, &mut planned, &relations)?;

    let completer = DocumentCompleter::new(&relations, &pages);
    let mut builder = open_builder(config, generations, &planned)?.with_maxima(completer.maxima())?;
    let (reached, saved) = (builder.resumed_from(), builder.pages());
    if reached.is_some() {
        info!(pages = saved, "resuming an interrupted build");
    }
    let classifier = classifier_for_build(data);
    let mut templates = SiteTemplates::new(config);
    let (mut unsaved, mut last) = (0, reached);
    let mut progress = |n| check(BuildProgress::Indexing(n, total));
    let walked = pages.for_each_with_links(&mut progress, &mut |url, at, position, page| {
        if is_searchable(page) {
            let (mut body, mut other) = (page.text.clone(), page.other.clone());
            // Templates are learnt from all pages, also from those already indexed.
            templates.strip(url, &mut body);
            templates.strip_other(url, &mut other);
            if reached.is_some_and(|reached| position.sort_key() <= reached.sort_key()) {
                return Ok(());
            }
            let mut document = index_document(url, at, position, page, body, other);
            if let Some(classifier) = &classifier {
                let assigned = classifier.assign(url, page);
                PageCategories::new(&assigned, classifier).write_to(&mut document);
            }
            if completer.complete(&mut document)? {
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
        // A deliberate stop may take time to save the pages added since the last save.
        if let (EngineError::Stopped, Some(last), 1..) = (&error, last, unsaved) {
            builder.save(last)?;
        }
        return Err(error);
    }
    check(BuildProgress::Verifying)?;
    let pages = builder.pages();
    let history = builder.finish(to)?;
    if let Err(error) = warm_up(data, config, generations, &history, &relations, check) {
        if matches!(error, EngineError::Stopped) {
            return Err(error);
        }
        warn!(%error, "warm-up queries on the new generation failed");
    }
    let written = write_phrase_index(data, config, generations, &history, &relations, &mut || {
        check(BuildProgress::Verifying)
    });
    if let Err(error) = written {
        if matches!(error, EngineError::Stopped) {
            return Err(error);
        }
        warn!(%error, "cannot write the phrase index; suggestions remain unchanged");
    }
    Ok(BuiltGeneration { history, pages, saved })
}

/// Opens the builder of the planned generation, discarding saved pages that are unusable.
fn open_builder(
    config: &Config,
    generations: &dyn GenerationStore,
    planned: &PlannedBuild,
) -> Result<HistoryBuilder, EngineError> {
    let (memory, body_limit) = (config.index.memory.bytes(), config.index.body_limit.bytes());
    let threads = analysis_threads(config);
    let build = generations.build_directory();
    match build.resume(threads, memory, body_limit) {
        Err(
            error @ (IndexError::DamagedGeneration { .. }
            | IndexError::Tantivy { .. }
            | IndexError::OlderFormat { .. }),
        ) => {
            warn!(%error, "cannot resume the interrupted build; starting over");
            build.discard()?;
            build.set_plan(&planned.plan)?;
            Ok(build.resume(threads, memory, body_limit)?)
        }
        opened => Ok(opened?),
    }
}

/// Applies the records that were stored after a resumed build began.
///
/// A running owner that indexes has already done so. Without an owner, this process takes its place temporarily. An
/// owner that only crawls leaves these records to the next build.
fn apply_remaining(stores: &Stores, config: &Config, to: &LibraryPositions) -> Result<(), EngineError> {
    let data = stores.data();
    if to.covers_all(&stores.library()?.end()?) {
        return Ok(());
    }
    let owner = match data.own("index build") {
        Ok(owner) => owner,
        Err(StoreError::InUse { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let engine = Engine::open_owned(owner, data.clone(), config.clone(), "index build", true)?;
    let (_stop, never) = watch::channel(false);
    engine.ingest(&never)?.finish()
}

/// Requests a change of the generation chain from the owner; without an owner, owns the directory temporarily.
///
/// `keep_going` is called while waiting and stops the wait by returning an error.
pub(crate) fn request_owner(
    stores: &Stores,
    generations: &dyn GenerationStore,
    request: &BuilderRequest,
    keep_going: &mut dyn FnMut() -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let deadline = Instant::now() + OWNER_TIMEOUT;
    // Without an owner there is nothing to wait for, and the open generation is sealed at once.
    if stores.data().is_owned() || !matches!(request, BuilderRequest::Seal(_)) {
        keep_going()?;
    }
    generations.leave_request(request.clone())?;
    loop {
        match stores.data().own(if matches!(request, BuilderRequest::Rollback(_)) {
            "index rollback"
        } else {
            "index build"
        }) {
            Ok(_owner) => {
                if !is_fulfilled(generations, request)?
                    && let Some(index) = stores.own_index()?.generational()
                {
                    index.serve_request()?;
                }
                generations.clear_request();
                return Ok(());
            }
            Err(StoreError::InUse { owner, .. }) => {
                // The owner removes a request once it is handled. A second request must not be filed before that, or it would be
                // removed unhandled.
                if generations.pending_request().as_ref() != Some(request) {
                    let fulfilled = is_fulfilled(generations, request)?;
                    return if fulfilled { Ok(()) } else { Err(EngineError::RequestRefused { owner }) };
                }
                if Instant::now() > deadline {
                    // The request remains: the owner installs the finished generation when it next checks.
                    return Err(EngineError::OwnerUnresponsive { owner });
                }
                if let Err(stopped) = keep_going() {
                    // A seal request is withdrawn; a finished generation may still be installed later.
                    if matches!(request, BuilderRequest::Seal(_)) {
                        generations.clear_request();
                    }
                    return Err(stopped);
                }
                thread::sleep(Duration::from_millis(50));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_fulfilled(generations: &dyn GenerationStore, request: &BuilderRequest) -> Result<bool, EngineError> {
    let current = generations.current()?;
    Ok(match request {
        BuilderRequest::Seal(number) => current.open().number > *number,
        BuilderRequest::Install(history) => current.history.as_ref() == Some(history),
        BuilderRequest::Rollback(number) => current.history.is_none_or(|history| history.number != *number),
    })
}

#[cfg(test)]
mod tests {
    use pharos_core::{PageUrl, Timestamp};
    use pharos_index::Query;
    use pharos_store::{DerivedWriter, LibraryRecord, RawResponse, RecordContent};

    use super::*;
    use crate::stores::test_stores;

    fn page(n: u64) -> LibraryRecord {
        let url = PageUrl::parse(&format!("http://www.example.org/{n}")).unwrap();
        let text = format!("Lighthouse number {n} stands on rock {} of coast {}.", n % 17, n % 5);
        let foot = "All lighthouses of this country are open on Sundays, says the ministry.";
        let body = format!(
            "<title>Lighthouse {n}</title><h1>Lighthouse {n}</h1><p>{text}</p><p>{foot}</p><a href=/{}>next</a>",
            n * 7 % 600
        );
        let response = RawResponse { status: 200, body: body.into_bytes(), ..RawResponse::default() };
        LibraryRecord::new(url, Timestamp::EPOCH, RecordContent::Response(response))
    }

    fn ingest_pages(data: &DataDir, pages: std::ops::Range<u64>, indexing: bool) {
        let engine = Engine::open(data.clone(), Config::default(), "test", indexing).unwrap();
        let (_stop, never) = watch::channel(false);
        let mut ingest = engine.ingest(&never).unwrap();
        ingest.append(pages.map(page).collect()).unwrap();
        ingest.finish().unwrap();
    }

    /// Returns URLs, scores and features of the results of some queries.
    fn answers(data: &DataDir) -> Vec<String> {
        let view = test_stores(data).index().unwrap().view().unwrap();
        let mut answers = Vec::new();
        for word in ["lighthouse", "rock", "ministry", "599"] {
            let found = view.search(&Query::Word(word.into()), 1000).unwrap();
            let figures = view.link_figures(&found.candidates).unwrap();
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
    fn a_build_stores_what_it_analyses() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let engine = Engine::open(data.clone(), Config::default(), "test", false).unwrap();
        let mut ingest = engine.ingest_deriving(false, &mut |_| true).unwrap();
        ingest.append((0..50).map(page).collect()).unwrap();
        ingest.finish().unwrap();
        drop((ingest, engine));
        let derived =
            || DerivedWriter::open(&data.library(), pharos_html::VERSION).unwrap().durable_position();
        let end = test_stores(&data).library().unwrap().end().unwrap().get(derived().log);
        assert!(derived() < end);
        let mut analysed = 0;
        let mut watch = |progress| {
            if let BuildProgress::Analysing(read) = progress {
                analysed = read.records;
            }
            true
        };
        build_history(&data, &Config::default(), false, &mut watch).unwrap();
        assert_eq!((derived(), analysed), (end, 50));
        let mut again = 0;
        let mut watch = |progress| {
            again += u64::from(matches!(progress, BuildProgress::Analysing(_)));
            true
        };
        build_history(&data, &Config::default(), false, &mut watch).unwrap();
        assert_eq!(again, 0, "the second build reads the stored results");
    }

    #[test]
    fn a_resumed_build_answers_like_an_uninterrupted_one() {
        let dir = tempfile::tempdir().unwrap();
        let [whole, interrupted] = ["whole", "interrupted"].map(|name| DataDir::at(dir.path().join(name)));
        let mut config = Config::default();
        config.index.save_every = 100;
        for data in [&whole, &interrupted] {
            ingest_pages(data, 0..600, false);
        }
        let built = build_history(&whole, &config, false, |_| true).unwrap();
        assert_eq!(built.saved, 0);

        let stopped = |data: &DataDir| {
            let stop = |progress| !matches!(progress, BuildProgress::Indexing(done, _) if done >= 256);
            assert!(matches!(build_history(data, &config, false, stop), Err(EngineError::Stopped)));
            test_stores(data).generations().unwrap().build_directory().checkpoint().unwrap().1
        };
        assert_eq!(stopped(&interrupted), 256, "a stop saves the pages added so far");
        // Links are not analysed again, and no page is added twice.
        let mut steps = Vec::new();
        let again = build_history(&interrupted, &config, false, |progress| {
            steps.push(progress);
            true
        });
        let again = again.unwrap();
        let end = test_stores(&interrupted).library().unwrap().end().unwrap();
        assert_eq!((again.saved, again.pages, again.to), (256, built.pages, end.clone()));
        assert!(
            !steps.iter().any(|step| matches!(step, BuildProgress::Comparing(..) | BuildProgress::Sealing))
        );
        assert_eq!(answers(&interrupted), answers(&whole));

        // Other settings restart the build. For a library that has grown, the build ends where it was planned to, and the
        // rest is in latest.
        stopped(&interrupted);
        config.clean.template = 0.5;
        assert_eq!(build_history(&interrupted, &config, false, |_| true).unwrap().saved, 0);
        let stop = |progress| !matches!(progress, BuildProgress::Indexing(done, _) if done >= 512);
        assert!(build_history(&interrupted, &config, false, stop).is_err());
        ingest_pages(&interrupted, 600..610, false);
        let last = build_history(&interrupted, &config, false, |_| true).unwrap();
        assert_eq!((last.to, last.saved), (end, 512));
        let view = test_stores(&interrupted).index().unwrap().view().unwrap();
        assert_eq!(view.pages().unwrap(), 610);
    }
}
