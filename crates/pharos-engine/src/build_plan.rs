//! Going on with a build that was cut short.
//!
//! A build says in its folder what it makes: up to where of the library, by which versions and settings, with which
//! relations between the pages. One that would make the same goes on from what was saved: pages are read again, because
//! what they have in common is learnt from all of them, but only those that are missing are added, so that the result
//! answers as if nothing had happened. Anything else is thrown away.

use pharos_core::config::Config;
use pharos_core::{Clock as _, LibraryPosition, SystemClock};
use pharos_graph::Relations;
use pharos_index::{BuildPlan, Generations};
use pharos_store::{DataDir, DiskLibrary, Library as _};
use xxhash_rust::xxh3::xxh3_64;

use crate::EngineError;

/// A build that was begun.
pub(crate) struct Begun {
    pub(crate) plan: BuildPlan,
    /// The relations that go into it, where they are there already.
    pub(crate) relations: Option<Relations>,
}

/// The build that can be gone on with, if there is one. The caller is the one builder.
pub(crate) fn begun(
    data: &DataDir,
    config: &Config,
    generations: &Generations,
) -> Result<Option<Begun>, EngineError> {
    let Some(plan) = generations.plan() else { return Ok(None) };
    let is_newer = generations.current()?.history.is_none_or(|history| history.to <= plan.to);
    if plan.rules != rules(config) || !is_newer || DiskLibrary::open_reader(&data.library())?.end()? < plan.to
    {
        return Ok(None);
    }
    let relations = Relations::open(&data.graph()).ok().filter(|relations| relations.to() == plan.to);
    match (plan.relations, relations) {
        // What was saved was completed by relations that are gone.
        (Some(built), relations) if relations.as_ref().is_none_or(|r| r.built() != built) => Ok(None),
        (Some(_), relations) => Ok(Some(Begun { plan, relations })),
        (None, relations) => {
            let relations = relations.filter(|relations| relations.built() >= plan.begun.seconds());
            Ok(Some(Begun { plan, relations }))
        }
    }
}

/// Begins a build up to a point of the library. What another left is thrown away.
pub(crate) fn begin(
    config: &Config,
    generations: &Generations,
    to: LibraryPosition,
) -> Result<Begun, EngineError> {
    generations.discard_build()?;
    let plan = BuildPlan { to, rules: rules(config), begun: SystemClock.now(), relations: None };
    generations.set_plan(&plan)?;
    Ok(Begun { plan, relations: None })
}

/// Writes down which relations go into the build.
pub(crate) fn related(
    generations: &Generations,
    begun: &mut Begun,
    relations: &Relations,
) -> Result<(), EngineError> {
    begun.plan.relations = Some(relations.built());
    Ok(generations.set_plan(&begun.plan)?)
}

/// The versions and settings by which pages become documents. Memory, threads and the like change nothing.
pub(crate) fn rules(config: &Config) -> String {
    let settings = format!(
        "{:?} {:?} {:?} {:?} {}",
        config.clean, config.graph, config.index.body_limit, config.crawl.body_limit, config.crawl.agent
    );
    format!("{} {} {:016x}", pharos_html::VERSION, pharos_text::version(), xxh3_64(settings.as_bytes()))
}
