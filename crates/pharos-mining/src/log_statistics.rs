//! Statistics of the recent logs: hot, rising and related queries, suggestions, clicks.
//!
//! They are computed from the log files alone, by following them. Records of this process are read like those
//! of other processes, so that all processes agree with each other, and a process agrees with its
//! predecessor.

use std::collections::VecDeque;
use std::hash::BuildHasher as _;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::FixedState;
use lru::LruCache;
use parking_lot::Mutex;
use pharos_core::Timestamp;
use pharos_core::config::HotConfig;
use pharos_store::DataDir;
use pharos_text::normalise;

use crate::clicks::learnt::LearntClicks;
use crate::clicks::votes::VoteLimit;
use crate::log::Follower;
use crate::log::records::{AnyRecord, ClickKind, ClickRecord, LogKind, QueryRecord};
use crate::queries::TimeWindow;
use crate::queries::frequency::{HotQuery, QueryFrequency, RisingQuery};
use crate::queries::hot_words::{HotWord, hot_words};
use crate::queries::related::RelatedQueries;
use crate::queries::top_k::TopK;

/// Maximum number of queries that clicks can be attributed to.
const MAX_OPEN_QUERIES: NonZeroUsize = NonZeroUsize::new(1 << 17).unwrap();
/// Maximum number of clicks waiting to be taken.
const MAX_CLICKS: usize = 1 << 17;
/// Maximum length of a query in characters. Longer queries are of interest only to their author.
const MAX_QUERY_CHARS: usize = 100;
/// Related queries taken from random walks.
const MAX_WALKED: usize = 32;

/// Statistics of the logs of the last days.
pub struct LogStatistics {
    /// Has its own lock: reading takes time, and lookups must not wait for it.
    follower: Mutex<Follower>,
    state: StatisticsState,
    now: Timestamp,
    day: String,
    config: HotConfig,
}

/// New records of the logs, read by [`LogStatistics::read`].
#[derive(Default)]
pub struct NewRecords(Vec<AnyRecord>);

/// A click on a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClickedResult {
    pub query: String,
    pub url: String,
    /// Number of the result page, from 1.
    pub page: u32,
    /// The day in UTC.
    pub day: String,
}

struct StatisticsState {
    top_k: TopK,
    frequency: QueryFrequency,
    related: RelatedQueries,
    open: OpenQueries,
    clicks: VecDeque<ClickedResult>,
    clicks_dropped: u64,
    votes: VoteLimit,
}

impl LogStatistics {
    /// Reads the logs of the last `hot.days` days, up to `hot.read_limit` bytes.
    pub fn open(data: &DataDir, hot: &HotConfig, now: Timestamp) -> io::Result<Self> {
        let kinds = [LogKind::Queries, LogKind::Clicks];
        let follower = Follower::new(data.logs(), &kinds, &first_day(now, hot), hot.read_limit.0)?;
        let state = StatisticsState {
            top_k: TopK::new(hot.k, hot.buckets, hot.interval, hot.max_queries),
            frequency: QueryFrequency::new(hot.max_queries, hot.min_visits, hot.days),
            related: RelatedQueries::new(hot.max_queries, hot.follow_within),
            open: OpenQueries::default(),
            clicks: VecDeque::new(),
            clicks_dropped: 0,
            votes: VoteLimit::default(),
        };
        let mut statistics =
            Self { follower: Mutex::new(follower), state, now, day: now.date(), config: hot.clone() };
        // The records of past days are processed one by one instead of being collected.
        let (follower, state) = (&mut statistics.follower, &mut statistics.state);
        let follower = follower.get_mut();
        follower.poll(&mut |record| state.record(record))?;
        statistics.apply(NewRecords::default(), now);
        Ok(statistics)
    }

    /// Reads the new records of the logs, for [`Self::apply`].
    pub fn read(&self, now: Timestamp) -> io::Result<NewRecords> {
        let mut follower = self.follower.lock();
        if now.date() != self.day {
            follower.forget_before(&first_day(now, &self.config));
        }
        let mut records = Vec::new();
        follower.poll(&mut |record| records.push(record))?;
        Ok(NewRecords(records))
    }

    /// Applies the records that were read.
    pub fn apply(&mut self, records: NewRecords, now: Timestamp) {
        self.now = now;
        if now.date() != self.day {
            self.day = now.date();
            self.state.related.forget_before(days_ago(now, self.config.days));
        }
        records.0.into_iter().for_each(|record| self.state.record(record));
        self.state.frequency.age(now);
        self.state.top_k.refresh(now);
    }

    /// Returns the most frequent queries of the last hour or day.
    pub fn top(&self, window: TimeWindow, n: usize) -> Vec<HotQuery> {
        self.state.frequency.top(window, self.now, n)
    }

    /// Returns the most frequent queries since midnight (UTC).
    pub fn top_today(&self, n: usize) -> Vec<HotQuery> {
        let frequency = &self.state.frequency;
        let top = self.state.top_k.top(n, |key| frequency.is_shown(key));
        let hot = |(key, count): (Arc<str>, u64)| {
            let query = frequency.text(&key).unwrap_or(&key).to_string();
            HotQuery { query, count }
        };
        top.into_iter().map(hot).collect()
    }

    /// Returns the fastest rising queries.
    pub fn rising(&self, window: TimeWindow, n: usize) -> Vec<RisingQuery> {
        self.state.frequency.rising(window, self.now, n, self.config.smoothing)
    }

    /// Returns the hottest and fastest rising words of queries from enough visits, at most `n`.
    pub fn hot_words(&self, n: usize) -> Vec<HotWord> {
        hot_words(self.state.frequency.heats(self.now, self.config.smoothing), n)
    }

    /// Returns the counts of a query in the last 24 hours, the current hour last; `None` if it came from too
    /// few visits.
    pub fn hourly(&self, query: &str) -> Option<Vec<u64>> {
        self.state.frequency.hourly(&key_of(query)?, self.now)
    }

    /// Returns the counts of all queries in the last 24 hours.
    pub fn hourly_total(&self) -> Vec<u64> {
        self.state.frequency.hourly_of_all(self.now)
    }

    /// Returns the queries related to this one, the closest first. Clicks that builds have learnt from add random walks.
    pub fn related(&self, query: &str, n: usize, learnt: &LearntClicks) -> Vec<String> {
        let Some(key) = key_of(query) else { return Vec::new() };
        let frequency = &self.state.frequency;
        let walked = learnt.related_queries(&key, MAX_WALKED);
        self.state.related.related(&key, query, n, &walked, |key| frequency.is_shown(key))
    }

    /// Returns frequent and recent queries of any number of visits, for warming caches and generations, not
    /// for display.
    pub fn frequent(&self, n: usize) -> Vec<String> {
        self.state.frequency.frequent(self.now, n)
    }

    /// Returns the queries that may be suggested to others, with their counts: from enough visits, and with
    /// results.
    pub fn phrases(&self) -> Vec<(String, u64)> {
        self.state.frequency.phrases()
    }

    /// Returns the clicks on results since the last call; the first call returns those of all days in memory.
    pub fn take_clicks(&mut self) -> Vec<ClickedResult> {
        std::mem::take(&mut self.state.clicks).into()
    }

    /// Returns the number of invalid log lines.
    pub fn broken_lines(&self) -> u64 {
        self.follower.lock().broken()
    }

    /// Returns the number of queries and clicks dropped for lack of memory.
    pub fn dropped(&self) -> u64 {
        self.state.frequency.dropped() + self.state.clicks_dropped
    }
}

impl StatisticsState {
    fn record(&mut self, record: AnyRecord) {
        match record {
            AnyRecord::Query(query) => self.query(query),
            AnyRecord::Click(click) => self.click(click),
            AnyRecord::Impression(_) | AnyRecord::System(_) | AnyRecord::Access(_) => {}
        }
    }

    fn query(&mut self, record: QueryRecord) {
        let Some(key) = key_of(&record.query) else { return };
        let text = one_space(&record.query);
        self.open.insert(&record.id, &text);
        // Further result pages are not counted as queries.
        if record.page > 1 {
            return;
        }
        let found = record.total.is_none_or(|total| total > 0);
        self.top_k.add(&key, record.at);
        self.frequency.add(&key, &text, &record.visit, found, record.at);
        self.related.add_query(&key, &text, &record.visit, record.at);
    }

    fn click(&mut self, record: ClickRecord) {
        let page = record.result_page();
        let (ClickKind::Result | ClickKind::Snapshot, Some(url)) = (record.kind, record.url) else { return };
        let searched = match record.searched.trim() {
            "" => self.open.get(&record.impression),
            searched => Some(one_space(searched)),
        };
        let Some((key, query)) = searched.and_then(|searched| Some((key_of(&searched)?, searched))) else {
            return;
        };
        let day = record.at.date();
        // Clicks without a visit count once for each result page.
        let visit = if record.visit.is_empty() { &record.impression } else { &record.visit };
        if !visit.is_empty() && !self.votes.admit(visit, &key, &url, &day) {
            return;
        }
        self.related.add_click(&key, &query, &url, record.at);
        if self.clicks.len() >= MAX_CLICKS {
            self.clicks.pop_front();
            self.clicks_dropped += 1;
        }
        self.clicks.push_back(ClickedResult { query, url, page, day });
    }
}

/// Recent queries by identifier, to attribute clicks.
struct OpenQueries(LruCache<u64, Box<str>>);

impl Default for OpenQueries {
    fn default() -> Self {
        Self(LruCache::new(MAX_OPEN_QUERIES))
    }
}

impl OpenQueries {
    fn insert(&mut self, id: &str, text: &str) {
        self.0.put(FixedState::default().hash_one(id), text.into());
    }

    fn get(&mut self, id: &str) -> Option<String> {
        self.0.get(&FixedState::default().hash_one(id)).map(|text| text.to_string())
    }
}

/// Returns the normalised form of a query, or `None` if it is empty or too long.
fn key_of(query: &str) -> Option<String> {
    let key = one_space(&normalise(query));
    (!key.is_empty() && key.chars().count() <= MAX_QUERY_CHARS).then_some(key)
}

fn one_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_day(now: Timestamp, config: &HotConfig) -> String {
    days_ago(now, config.days).date()
}

/// Returns the time `days` − 1 days ago: today is the first day.
fn days_ago(now: Timestamp, days: u32) -> Timestamp {
    now.minus(Duration::from_secs(86_400 * u64::from(days.max(1) - 1)))
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;

    use super::*;
    use crate::log::LogAppender;
    use crate::testing::{at, query_at};

    const NOW: &str = "2026-01-31T12:30:00Z";

    fn config() -> Config {
        Config::default()
    }

    fn log(data: &DataDir) -> LogAppender {
        LogAppender::open(data, &config().log)
    }

    fn click(query_id: &str, searched: &str, url: &str, rank: u32) -> ClickRecord {
        ClickRecord {
            at: at("2026-01-31T12:10:00Z"),
            impression: query_id.into(),
            visit: "v".into(),
            kind: ClickKind::Result,
            searched: searched.into(),
            rank: Some(rank),
            page_size: None,
            order: None,
            url: Some(url.into()),
            query: None,
            dwell_ms: None,
        }
    }

    fn refresh(statistics: &mut LogStatistics, now: Timestamp) -> usize {
        let records = statistics.read(now).unwrap();
        let count = records.0.len();
        statistics.apply(records, now);
        count
    }

    #[test]
    fn two_processes_and_a_restart_agree() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let mut early = LogStatistics::open(&data, &config().hot, at("2026-01-31T12:00:00Z")).unwrap();
        let mut out = log(&data);
        for (visit, when) in
            [("a", "2026-01-30T23:50:00Z"), ("b", "2026-01-31T00:10:00Z"), ("c", "2026-01-31T12:05:00Z")]
        {
            out.append(query_at("Ｔea  Pot", visit, at(when))).unwrap();
            out.append(query_at("tea", visit, at(when).plus(Duration::from_secs(60)))).unwrap();
            out.append(query_at("private", "a", at(when).plus(Duration::from_secs(120)))).unwrap();
            let turned = QueryRecord { page: 2, ..query_at("tea", "x", at(when)) };
            out.append(turned).unwrap();
        }
        out.finish().unwrap();
        assert_eq!(refresh(&mut early, at(NOW)), 12);
        assert_eq!(refresh(&mut early, at(NOW)), 0);
        let late = LogStatistics::open(&data, &config().hot, at(NOW)).unwrap();
        for statistics in [&early, &late] {
            let hot = |query: &str, count| HotQuery { query: query.into(), count };
            assert_eq!(statistics.top(TimeWindow::Hour, 10), [hot("tea", 1), hot("Ｔea Pot", 1)]);
            assert_eq!(statistics.top(TimeWindow::Day, 10), [hot("tea", 3), hot("Ｔea Pot", 3)]);
            assert_eq!(statistics.top_today(10), [hot("tea", 2), hot("Ｔea Pot", 2)]);
            assert_eq!(statistics.hourly("tea POT").unwrap().iter().sum::<u64>(), 3);
            assert_eq!(statistics.hourly("private"), None);
            assert_eq!(statistics.related("tea pot", 5, &LearntClicks::default()), ["tea"]);
            assert!(statistics.frequent(5).contains(&"private".to_string()));
            assert_eq!(statistics.phrases(), [("tea".to_string(), 3), ("Ｔea Pot".into(), 3)]);
            assert!(!statistics.rising(TimeWindow::Hour, 5).is_empty());
            assert_eq!((statistics.broken_lines(), statistics.dropped()), (0, 0));
        }
    }

    #[test]
    fn clicks_are_traced_to_their_queries_and_given_once() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let mut out = log(&data);
        let id = "0123".to_string();
        out.append(QueryRecord { id, ..query_at("tea", "v", at("2026-01-31T12:00:00Z")) }).unwrap();
        out.append(click("0123", "", "http://a/", 1)).unwrap();
        out.append(click("unknown", "", "http://b/", 1)).unwrap();
        out.append(click("unknown", "灯塔", "http://c/", 11)).unwrap();
        let of_twenty = |rank, url| ClickRecord { page_size: Some(20), ..click("0123", "", url, rank) };
        out.append(of_twenty(20, "http://e/")).unwrap();
        out.append(of_twenty(21, "http://f/")).unwrap();
        // A visit has one vote a day for a query and page.
        out.append(of_twenty(21, "http://f/")).unwrap();
        out.append(ClickRecord { kind: ClickKind::Leave, ..click("0123", "", "http://a/", 1) }).unwrap();
        out.finish().unwrap();
        let mut statistics = LogStatistics::open(&data, &config().hot, at(NOW)).unwrap();
        let clicks = statistics.take_clicks();
        let seen: Vec<_> = clicks.iter().map(|c| (c.query.as_str(), c.url.as_str(), c.page)).collect();
        let of_twenty = [("tea", "http://e/", 1), ("tea", "http://f/", 2)];
        assert_eq!(seen, [&[("tea", "http://a/", 1), ("灯塔", "http://c/", 2)][..], &of_twenty].concat());
        assert_eq!(clicks[0].day, "2026-01-31");
        let mut out = log(&data);
        out.append(click("0123", "", "http://d/", 10)).unwrap();
        out.finish().unwrap();
        refresh(&mut statistics, at(NOW));
        assert_eq!(statistics.take_clicks().len(), 1);
        assert!(statistics.take_clicks().is_empty());
    }

    #[test]
    fn records_older_than_the_configured_days_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let mut out = log(&data);
        for visit in ["a", "b", "c"] {
            out.append(query_at("tea", visit, at("2026-01-31T12:00:00Z"))).unwrap();
        }
        out.finish().unwrap();
        let mut statistics = LogStatistics::open(&data, &config().hot, at(NOW)).unwrap();
        assert_eq!(statistics.phrases().len(), 1);
        refresh(&mut statistics, at("2026-02-06T12:30:00Z"));
        assert_eq!((statistics.phrases().len(), statistics.top_today(5).len()), (1, 0));
        refresh(&mut statistics, at("2026-02-07T12:30:00Z"));
        assert!(statistics.phrases().is_empty());
        assert!(
            LogStatistics::open(&data, &config().hot, at("2026-02-07T12:30:00Z"))
                .unwrap()
                .phrases()
                .is_empty()
        );
    }
}
