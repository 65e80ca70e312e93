//! The search service: query processing, with everything that is logged and learnt from the logs.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pharos_core::Config;
use pharos_index::Index;
use pharos_mining::{LogStatistics, Logs};

use crate::assist::suggestion_sources::{Suggestion, SuggestionSources};
use crate::learning::{Learner, LearningState, LearningThread, SuggestionModels};
use crate::processor::{CacheLookup, PendingQuery, QueryError, QueryProcessor};
use crate::request::SearchRequest;
use crate::response::SearchResponse;

/// A search engine over an index, with its logs.
///
/// The result page, the API and the commands use this service, so that a query has the same results everywhere.
/// Dropping it stops the learning thread and writes the logs.
pub struct SearchService {
    pub(crate) processor: Arc<QueryProcessor>,
    pub(crate) learning: Arc<LearningState>,
    /// Only in a server.
    thread: Option<LearningThread>,
}

impl SearchService {
    /// Opens the service. `models` is the directory of the phrase indexes written by builds, and of the decisions of
    /// operators.
    ///
    /// With logs for a server, a thread reads and follows the logs; until it has read them, queries are answered
    /// without clicks and related queries. With logs for a command, the logs are read at once, and suggestions are loaded
    /// when they are first needed.
    ///
    /// # Errors
    /// Fails if the thread cannot be started. Logs that cannot be read are reported and ignored.
    pub fn open(index: Arc<dyn Index>, logs: Logs, models: &Path, config: &Config) -> io::Result<Self> {
        let is_server = logs.is_server();
        let models = SuggestionModels { dir: models.to_path_buf(), config: config.suggest.clone() };
        let learning = Arc::new(LearningState::new(logs));
        let mut processor = QueryProcessor::new(index, config).with_curation(&models.dir);
        if !is_server {
            let (models, learning) = (models.clone(), Arc::clone(&learning));
            processor = processor.with_suggestions_on_demand(Box::new(move |view| {
                models.collect(view, learning.suggested_queries(), &SuggestionSources::default())
            }));
        }
        let processor = Arc::new(processor);
        let mut learner = Learner::new(Arc::clone(&learning), Arc::clone(&processor));
        let thread = if is_server {
            Some(LearningThread::start(learner, models)?)
        } else {
            learner.learn();
            learner.load_learnt_clicks();
            None
        };
        Ok(Self { processor, learning, thread })
    }

    /// Returns the query processor.
    pub fn processor(&self) -> &QueryProcessor {
        &self.processor
    }

    /// Returns the logs.
    pub fn logs(&self) -> &Logs {
        &self.learning.logs
    }

    /// Runs a search. Every text is a valid query.
    pub fn run(&self, request: &SearchRequest) -> Result<SearchResponse, QueryError> {
        let started = Instant::now();
        self.finish(self.processor.run(request), started)
    }

    /// Looks up the cached response to a request. Takes microseconds and never waits.
    pub fn lookup(&self, request: SearchRequest) -> Result<CacheLookup, QueryError> {
        let started = Instant::now();
        Ok(match self.processor.lookup(request)? {
            CacheLookup::Cached(response) => {
                CacheLookup::Cached(Box::new(self.finish(Ok(*response), started)?))
            }
            missing => missing,
        })
    }

    /// Runs a search whose response was not cached.
    pub fn complete(&self, pending: PendingQuery) -> Result<SearchResponse, QueryError> {
        let since = pending.since;
        self.finish(self.processor.complete(pending), since)
    }

    /// Counts a query, and adds related queries to its response.
    fn finish(
        &self,
        response: Result<SearchResponse, QueryError>,
        started: Instant,
    ) -> Result<SearchResponse, QueryError> {
        let system = &self.learning.logs.system;
        match response {
            Ok(mut response) => {
                system.observe_query(started.elapsed(), response.cache);
                response.suggestions = self.learning.related_queries(&response.query);
                Ok(response)
            }
            Err(error) => {
                system.observe_failure();
                Err(error)
            }
        }
    }

    /// Completes a partial query. Never waits in a server.
    pub fn suggest(&self, typed: &str, count: usize) -> Result<Vec<Suggestion>, QueryError> {
        let sources = match &self.thread {
            Some(_) => self.processor.suggestion_sources(),
            None => self.processor.load_suggestion_sources(&*self.processor.view()?)?,
        };
        Ok(sources.suggest(typed, count))
    }

    /// Reads from the log statistics; returns the default value until the logs are read. May wait while new records are
    /// applied.
    pub fn with_statistics<T: Default>(&self, read: impl FnOnce(&LogStatistics) -> T) -> T {
        self.learning.with_statistics(read)
    }

    /// Stops learning and writes the logs. References held by slow queries do not delay this.
    pub fn stop(&self) {
        if self.thread.as_ref().is_some_and(LearningThread::stop) {
            self.learning.logs.finish();
        }
    }
}

impl Drop for SearchService {
    fn drop(&mut self) {
        self.stop();
    }
}
