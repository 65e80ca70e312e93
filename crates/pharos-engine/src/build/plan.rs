//! Plans of history builds, which make interrupted builds resumable.
//!
//! The plan names the library position, the versions and settings, and the link-analysis results that go into a build.
//! A build with the same plan resumes from the saved pages. All pages are read again, because templates are learnt from
//! all of them, but only missing pages are added, so the result equals that of an uninterrupted build. A build with
//! another plan is discarded.

use pharos_core::config::Config;
use pharos_core::{Clock as _, LibraryPositions, SystemClock};
use pharos_graph::Relations;
use pharos_index::{BuildPlan, GenerationStore};
use pharos_store::DataDir;
use xxhash_rust::xxh3::xxh3_64;

use crate::EngineError;
use crate::categories::assignment::fingerprint;
use crate::stores::Stores;

/// A build with its plan, new or resumed.
pub(crate) struct PlannedBuild {
    pub(crate) plan: BuildPlan,
    /// Link-analysis results of this build, if already computed.
    pub(crate) relations: Option<Relations>,
}

/// Returns the interrupted build that can be resumed, if any. The caller must hold the builder lock.
pub(crate) fn find_resumable(
    stores: &Stores,
    config: &Config,
    generations: &dyn GenerationStore,
) -> Result<Option<PlannedBuild>, EngineError> {
    let Some(plan) = generations.build_directory().plan() else { return Ok(None) };
    let is_newer = generations.current()?.history.is_none_or(|history| plan.to.covers_all(&history.to));
    let is_complete = stores.library()?.end()?.covers_all(&plan.to);
    if plan.rules != settings_fingerprint(config, stores.data()) || !is_newer || !is_complete {
        return Ok(None);
    }
    let relations = Relations::open(&stores.data().graph())
        .ok()
        .filter(|relations| *relations.library_positions() == plan.to);
    match (plan.relations, relations) {
        // The saved pages were completed with link-analysis results that no longer exist.
        (Some(built), relations) if relations.as_ref().is_none_or(|r| r.built() != built) => Ok(None),
        (Some(_), relations) => Ok(Some(PlannedBuild { plan, relations })),
        (None, relations) => {
            let relations = relations.filter(|relations| relations.built() >= plan.begun.seconds());
            Ok(Some(PlannedBuild { plan, relations }))
        }
    }
}

/// Starts a build up to a library position, discarding any other.
pub(crate) fn start(
    config: &Config,
    data: &DataDir,
    generations: &dyn GenerationStore,
    to: LibraryPositions,
) -> Result<PlannedBuild, EngineError> {
    let build = generations.build_directory();
    build.discard()?;
    let plan = BuildPlan {
        to,
        rules: settings_fingerprint(config, data),
        begun: SystemClock.now(),
        relations: None,
    };
    build.set_plan(&plan)?;
    Ok(PlannedBuild { plan, relations: None })
}

/// Records in the plan which link-analysis results the build uses.
pub(crate) fn record_relations(
    generations: &dyn GenerationStore,
    planned: &mut PlannedBuild,
    relations: &Relations,
) -> Result<(), EngineError> {
    planned.plan.relations = Some(relations.built());
    Ok(generations.build_directory().set_plan(&planned.plan)?)
}

/// Returns a fingerprint of the versions and settings that affect documents. Memory and thread counts do not.
pub(crate) fn settings_fingerprint(config: &Config, data: &DataDir) -> String {
    let settings = format!(
        "{:?} {:?} {:?} {:?} {} {}",
        config.clean,
        config.graph,
        config.index.body_limit,
        config.crawl.body_limit,
        config.crawl.agent,
        fingerprint(data)
    );
    format!("{} {} {:016x}", pharos_html::VERSION, pharos_text::version(), xxh3_64(settings.as_bytes()))
}
