//! The threads that read pages, and the rules they read them by.

use std::borrow::Cow;
use std::{fs, thread};

use pharos_core::config::Config;
use pharos_core::{PageObject, PageUrl};
use pharos_html::{RuleSet, Weighing, Wish};
use pharos_store::{Library, StoredRecord};
use rayon::prelude::*;

use crate::EngineError;
use crate::reading::{self, Read, Wanted};

/// Reads pages on all cores.
pub(crate) struct Readers {
    pool: rayon::ThreadPool,
    understanding: Understanding,
}

/// How pages are understood.
pub(crate) struct Understanding {
    rules: Cow<'static, RuleSet>,
    weighing: Weighing,
}

impl Readers {
    /// As many threads, and the rules, that the configuration names.
    pub(crate) fn of(config: &Config) -> Result<Self, EngineError> {
        let threads = reading_threads(config);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("read-{n}"));
        let pool = pool.build().map_err(|_| EngineError::Stage("reading"))?;
        Ok(Self { pool, understanding: Understanding::of(config)? })
    }

    /// Reads a group of records, keeping their order.
    pub(crate) fn read(
        &self,
        group: Vec<StoredRecord>,
        library: &dyn Library,
        config: &Config,
        wanted: Wanted,
    ) -> Vec<Read> {
        let read = |stored| reading::read(stored, library, config, &self.understanding, wanted);
        self.pool.install(|| group.into_par_iter().map(read).collect())
    }
}

impl Understanding {
    pub(crate) fn of(config: &Config) -> Result<Self, EngineError> {
        let rules = RuleSet::named(&config.clean.rules, |path| fs::read_to_string(path))?;
        Ok(Self { rules, weighing: Weighing::from(&config.clean) })
    }

    /// Understands a page.
    pub(crate) fn page(&self, url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> PageObject {
        let wish = Wish { rules: &self.rules, weighing: self.weighing, ..Wish::default() };
        pharos_html::understand_as(url, content_type, body, &wish)
    }
}

/// How many threads read pages.
pub(crate) fn reading_threads(config: &Config) -> usize {
    match config.engine.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_cannot_be_read_are_told_at_once() {
        let mut config = Config::default();
        for (rules, part) in [("no/such/file.toml", "clean.rules"), (file!(), "clean.rules")] {
            config.clean.rules = rules.into();
            let error = Understanding::of(&config).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(part) && error.contains(rules), "{error}");
        }
    }
}
