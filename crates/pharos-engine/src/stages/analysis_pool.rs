//! The thread pool that analyses pages, and the content extraction rules.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, thread};

use pharos_core::config::Config;
use pharos_core::{PageObject, PageUrl};
use pharos_html::{ExtractOptions, RuleSet, TermWeighting};
use pharos_learn::categories::{CategoryStore, PageClassifier};
use pharos_store::{DataDir, Library, StoredRecord};
use rayon::prelude::*;

use crate::EngineError;
use crate::categories::watch::CategoryWatch;
use crate::stages::analyse::{AnalysedRecord, AnalysisDepth, analyse};

/// Analyses records on all cores.
pub(crate) struct AnalysisPool {
    pool: rayon::ThreadPool,
    extractor: Extractor,
    cancelled: Arc<AtomicBool>,
    /// `None` if the pages get no categories.
    categories: Option<CategoryWatch<PageClassifier>>,
}

/// Settings of content extraction.
pub(crate) struct Extractor {
    rules: Cow<'static, RuleSet>,
    term_weighting: TermWeighting,
}

impl AnalysisPool {
    /// Creates a pool with the threads and rules of the configuration.
    pub(crate) fn from_config(config: &Config) -> Result<Self, EngineError> {
        Self::cancellable(config, Arc::default())
    }

    /// Creates a pool that abandons its work once `cancelled` is `true`.
    pub(crate) fn cancellable(config: &Config, cancelled: Arc<AtomicBool>) -> Result<Self, EngineError> {
        let threads = analysis_threads(config);
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("analyse-{n}"));
        let pool = pool.build().map_err(|_| EngineError::StageFailed("reading"))?;
        Ok(Self { pool, extractor: Extractor::from_config(config)?, cancelled, categories: None })
    }

    /// Gives pages their categories, by the model that is deployed at the time.
    pub(crate) fn with_categories(self, data: &DataDir) -> Self {
        let store = CategoryStore::at(&data.models());
        Self { categories: Some(CategoryWatch::new(store, CategoryStore::classifier)), ..self }
    }

    /// Analyses a group of records, keeping their order. Returns [`EngineError::Stopped`] if the pool was cancelled.
    pub(crate) fn analyse(
        &self,
        group: Vec<StoredRecord>,
        library: &dyn Library,
        config: &Config,
        depth: AnalysisDepth,
    ) -> Result<Vec<AnalysedRecord>, EngineError> {
        let is_complete = depth == AnalysisDepth::Everything;
        let classifier = self.categories.as_ref().filter(|_| is_complete).and_then(CategoryWatch::current);
        let analyse_one = |stored| {
            let mut analysed = analyse(stored, library, config, &self.extractor, depth, &self.cancelled)?;
            if let Some(classifier) = &classifier {
                analysed.classify(classifier);
            }
            Some(analysed)
        };
        let analysed: Option<Vec<_>> = self.pool.install(|| group.into_par_iter().map(analyse_one).collect());
        analysed.ok_or(EngineError::Stopped)
    }
}

impl Extractor {
    pub(crate) fn from_config(config: &Config) -> Result<Self, EngineError> {
        let rules = RuleSet::named(&config.clean.rules, |path| fs::read_to_string(path))?;
        Ok(Self { rules, term_weighting: TermWeighting::from(&config.clean) })
    }

    /// Extracts the page object.
    pub(crate) fn extract(&self, url: &PageUrl, content_type: Option<&str>, body: &[u8]) -> PageObject {
        let options = ExtractOptions {
            rules: &self.rules,
            term_weighting: self.term_weighting,
            ..ExtractOptions::default()
        };
        pharos_html::extract_page_with(url, content_type, body, &options)
    }
}

/// Returns the number of analysis threads.
pub(crate) fn analysis_threads(config: &Config) -> usize {
    match config.engine.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_rules_are_reported_at_once() {
        let mut config = Config::default();
        for (rules, part) in [("no/such/file.toml", "clean.rules"), (file!(), "clean.rules")] {
            config.clean.rules = rules.into();
            let error =
                Extractor::from_config(&config).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(part) && error.contains(rules), "{error}");
        }
    }
}
