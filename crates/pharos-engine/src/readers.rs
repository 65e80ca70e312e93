//! The threads that read pages, and the rules they read them by.

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
    /// Rules of the operator's own.
    rules: Option<RuleSet>,
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
        let clean = &config.clean;
        let rules = match clean.rules.as_str() {
            "pharos" => None,
            "thesis" => Some(RuleSet::thesis().clone()),
            path => Some(own_rules(path)?),
        };
        let weighing = Weighing {
            levels: clean.levels,
            cap: clean.cap,
            keywords: clean.keywords,
            keyword_factor: clean.keyword_factor,
        };
        Ok(Self { rules, weighing })
    }

    /// Understands a page.
    pub(crate) fn page(&self, url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> PageObject {
        let wish = Wish {
            rules: self.rules.as_ref().unwrap_or_else(|| RuleSet::pharos()),
            weighing: self.weighing,
            ..Wish::default()
        };
        pharos_html::understand_as(url, content_type, body, &wish)
    }
}

fn own_rules(path: &str) -> Result<RuleSet, EngineError> {
    let failed = |problem: String| EngineError::Input {
        place: format!("the rules of `clean.rules`, {path}"),
        problem,
    };
    let text = fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    RuleSet::from_toml(&text).map_err(|error| failed(error.to_string()))
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
