//! Mending: what was derived from the library is made again from it; what the library lost is fetched again.

use std::fs;

use pharos_core::config::Config;
use pharos_core::{Clock as _, LibraryPosition, SystemClock};
use pharos_crawl::Scoping;
use pharos_graph::relations::{newest, unfinished};
use pharos_index::Generations;
use pharos_store::{
    Catalog, Content, DataDir, DerivedWriter, DiskLibrary, Event, Owner, PageState, Record, StoreError,
    Writing,
};

use super::{Check, Exam, Examining, Lost, Store};
use crate::build::rebuild_index;
use crate::rebuild::rebuild_catalog;
use crate::{Engine, EngineError};

/// Mends what an examination found, as the owner.
pub(super) fn mend(
    owner: Owner,
    data: &DataDir,
    config: &Config,
    exam: &Exam,
    check: Check<'_>,
) -> Result<Owner, EngineError> {
    let needs = &exam.needs;
    let mut owner = owner;
    if needs.library {
        check(Examining::Mending(Store::Library))?;
        let (writing, now) = (Writing::from(&config.library), SystemClock.now());
        // Opening it sets a torn end aside.
        DiskLibrary::open_writer(&data.library(), writing, LibraryPosition::START, now)?.mend_files()?;
    }
    if !needs.derived.is_empty() {
        check(Examining::Mending(Store::Derived))?;
        let mut derived = DerivedWriter::open(&data.library(), pharos_html::VERSION)?;
        needs.derived.iter().try_for_each(|number| derived.drop_file(*number))?;
    }
    if needs.catalog {
        let damaged = data.root().join("catalog.db.damaged");
        owner = rebuild_catalog(owner, data, config, Some(&damaged), &mut |_| {
            check(Examining::Mending(Store::Catalog)).is_ok()
        })?;
    }
    let engine = Engine::open_owned(owner, data.clone(), config.clone(), "doctor --repair", false)?;
    let mut intake = engine.intake_telling(&mut |_| check(Examining::Mending(Store::Derived)).is_ok())?;
    let again = to_fetch_again(&*engine.catalog(), config, &exam.lost)?;
    if !again.is_empty() {
        intake.take(again)?;
    }
    intake.finish()?;
    drop(intake);
    owner = engine.close();
    if needs.graph || needs.unfinished_graph {
        check(Examining::Mending(Store::Graph))?;
        let _builder = Generations::at(data.index()).lock_builder()?;
        let folder = data.graph();
        let mut left = unfinished(&folder).map_err(StoreError::io("read", &folder))?;
        if needs.graph {
            left.extend(newest(&folder).map_err(StoreError::io("read", &folder))?);
        }
        for path in left {
            fs::remove_dir_all(&path).map_err(StoreError::io("remove", &path))?;
        }
    }
    if needs.index {
        rebuild_index(data, config, &mut |_| check(Examining::Mending(Store::Index)))?;
    } else if needs.sweep {
        let generations = Generations::at(data.index());
        let _builder = generations.lock_builder()?;
        generations.remove_unnamed(&generations.current()?)?;
    }
    Ok(owner)
}

/// Pages of the crawl whose current version is lost are put back into the schedule. The record that says so is a try
/// that failed, which it is: asked for the page, the library has no answer.
fn to_fetch_again(catalog: &dyn Catalog, config: &Config, lost: &[Lost]) -> Result<Vec<Record>, EngineError> {
    if catalog.rules()?.is_none() {
        return Ok(Vec::new());
    }
    let scoping = Scoping::load(catalog, &config.crawl)?;
    let now = SystemClock.now();
    let mut records = Vec::new();
    for (lost, page) in lost.iter().flat_map(|lost| lost.pages.iter().map(move |page| (lost, page))) {
        let is_due = catalog.page(page.url.id())?.is_some_and(|story| {
            let stood_there = story.position.is_none_or(|position| lost.contains(position));
            story.due.is_some() || story.state == PageState::Removed || !stood_there
        });
        if is_due || !scoping.contains(&page.url) {
            continue;
        }
        let reason = "the stored answer is damaged".to_string();
        records.push(Record {
            depth: page.depth,
            hops: page.hops,
            origin: page.origin.clone(),
            ..Record::new(page.url.clone(), now, Content::Event(Event::Failed { reason }))
        });
    }
    Ok(records)
}
