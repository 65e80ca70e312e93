//! All that is remembered of the logs, in one place.
//!
//! It is filled from the files alone, by following them: what this process logs comes back the same way as what others
//! log, so that processes agree with each other and a process with the one it replaces.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foldhash::fast::FixedState;
use pharos_core::config::HotConfig;
use pharos_core::{Config, Timestamp};
use pharos_store::DataDir;
use pharos_text::normalise;

use crate::follower::Follower;
use crate::frequency::{Frequency, HotQuery, RisingQuery};
use crate::record::{AnyRecord, ClickRecord, Clicked, Kind, QueryRecord};
use crate::related::Related;
use crate::slots::Window;
use crate::top_k::TopK;

/// Results on a page, by which ranks become page numbers.
const RESULTS_PER_PAGE: u32 = 10;
/// Queries that clicks are traced to by name.
const MAX_OPEN: usize = 1 << 17;
/// Clicks that wait to be taken.
const MAX_CLICKS: usize = 1 << 17;
/// Longer queries are nobody's interest but their author's.
const MAX_QUERY_CHARS: usize = 100;

/// What the logs of the last days say.
pub struct Memory {
    /// With a lock of its own: reading takes time, and who recalls something need not wait for it.
    follower: Mutex<Follower>,
    learnt: Learnt,
    now: Timestamp,
    day: String,
    config: HotConfig,
}

/// What is new in the logs.
#[derive(Default)]
pub struct News(Vec<AnyRecord>);

/// A result that was clicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClickedResult {
    /// The words that were asked.
    pub query: String,
    /// What was clicked.
    pub url: String,
    /// The page of results that it stood on, from 1.
    pub page: u32,
    /// The day, in UTC.
    pub day: String,
}

struct Learnt {
    top_k: TopK,
    frequency: Frequency,
    related: Related,
    open: OpenQueries,
    clicks: VecDeque<ClickedResult>,
    clicks_dropped: u64,
}

impl Memory {
    /// Reads the logs of the last `hot.days` days, as far as `hot.read_limit` goes.
    pub fn open(data: &DataDir, config: &Config, now: Timestamp) -> io::Result<Self> {
        let hot = config.hot.clone();
        let kinds = [Kind::Queries, Kind::Clicks];
        let follower = Follower::new(data.logs(), &kinds, &first_day(now, &hot), hot.read_limit.0)?;
        let learnt = Learnt {
            top_k: TopK::new(hot.k, hot.buckets, hot.interval, hot.max_queries),
            frequency: Frequency::new(hot.max_queries, hot.min_visits, hot.days),
            related: Related::new(hot.max_queries, hot.follow_within),
            open: OpenQueries::default(),
            clicks: VecDeque::new(),
            clicks_dropped: 0,
        };
        let mut memory = Self { follower: Mutex::new(follower), learnt, now, day: now.date(), config: hot };
        // Days of logs are not gathered before they are learnt.
        let (follower, learnt) = (&mut memory.follower, &mut memory.learnt);
        let follower = follower.get_mut().unwrap_or_else(PoisonError::into_inner);
        follower.poll(&mut |record| learnt.record(record))?;
        memory.learn(News::default(), now);
        Ok(memory)
    }

    /// Reads what is new in the logs, for [`Self::learn`].
    pub fn read(&self, now: Timestamp) -> io::Result<News> {
        let mut follower = self.follower.lock().unwrap_or_else(PoisonError::into_inner);
        if now.date() != self.day {
            follower.forget_before(&first_day(now, &self.config));
        }
        let mut records = Vec::new();
        follower.poll(&mut |record| records.push(record))?;
        Ok(News(records))
    }

    /// Learns what was read.
    pub fn learn(&mut self, news: News, now: Timestamp) {
        self.now = now;
        if now.date() != self.day {
            self.day = now.date();
            self.learnt.related.forget_before(days_ago(now, self.config.days));
        }
        news.0.into_iter().for_each(|record| self.learnt.record(record));
        self.learnt.frequency.age(now);
        self.learnt.top_k.refresh(now);
    }

    /// The most asked queries of the last hour or day.
    pub fn top(&self, window: Window, n: usize) -> Vec<HotQuery> {
        self.learnt.frequency.top(window, self.now, n)
    }

    /// The most asked queries since midnight (UTC).
    pub fn top_today(&self, n: usize) -> Vec<HotQuery> {
        let frequency = &self.learnt.frequency;
        let top = self.learnt.top_k.top(n, |key| frequency.is_shown(key));
        let hot = |(key, count): (Arc<str>, u64)| {
            let query = frequency.text(&key).unwrap_or(&key).to_string();
            HotQuery { query, count }
        };
        top.into_iter().map(hot).collect()
    }

    /// The queries that rise fastest.
    pub fn rising(&self, window: Window, n: usize) -> Vec<RisingQuery> {
        self.learnt.frequency.rising(window, self.now, n, self.config.smoothing)
    }

    /// How often a query was asked in each of the last 24 hours, the present one last; nothing where too few did.
    pub fn hourly(&self, query: &str) -> Option<Vec<u64>> {
        self.learnt.frequency.hourly(&key_of(query)?, self.now)
    }

    /// All queries of each of the last 24 hours.
    pub fn hourly_of_all(&self) -> Vec<u64> {
        self.learnt.frequency.hourly_of_all(self.now)
    }

    /// The queries related to this one, the closest first.
    pub fn related(&self, query: &str, n: usize) -> Vec<String> {
        let Some(key) = key_of(query) else { return Vec::new() };
        let frequency = &self.learnt.frequency;
        self.learnt.related.related(&key, query, n, |key| frequency.is_shown(key))
    }

    /// Often and lately asked, whoever asked: for warming caches and generations, not for eyes.
    pub fn frequent(&self, n: usize) -> Vec<String> {
        self.learnt.frequency.frequent(self.now, n)
    }

    /// Queries that may be proposed to others, with their counts: asked by enough visits, and there were results.
    pub fn phrases(&self) -> Vec<(String, u64)> {
        self.learnt.frequency.phrases()
    }

    /// Clicks on results since the last call, at first all of the days that are remembered.
    pub fn take_clicks(&mut self) -> Vec<ClickedResult> {
        std::mem::take(&mut self.learnt.clicks).into()
    }

    /// Lines of the logs that were no records.
    pub fn broken_lines(&self) -> u64 {
        self.follower.lock().unwrap_or_else(PoisonError::into_inner).broken()
    }

    /// Queries and clicks that were forgotten because there were too many.
    pub fn dropped(&self) -> u64 {
        self.learnt.frequency.dropped() + self.learnt.clicks_dropped
    }
}

impl Learnt {
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
        // Turning pages is not asking again.
        if record.page > 1 {
            return;
        }
        let found = record.total.is_none_or(|total| total > 0);
        self.top_k.add(&key, record.at);
        self.frequency.add(&key, &text, &record.visit, found, record.at);
        self.related.asked(&key, &text, &record.visit, record.at);
    }

    fn click(&mut self, record: ClickRecord) {
        let (Clicked::Result | Clicked::Snapshot, Some(url)) = (record.kind, record.url) else { return };
        let asked = match record.asked.trim() {
            "" => self.open.get(&record.impression),
            asked => Some(one_space(asked)),
        };
        let Some((key, query)) = asked.and_then(|asked| Some((key_of(&asked)?, asked))) else { return };
        self.related.clicked(&key, &query, &url, record.at);
        if self.clicks.len() >= MAX_CLICKS {
            self.clicks.pop_front();
            self.clicks_dropped += 1;
        }
        let page = (record.rank.unwrap_or(1).max(1) - 1) / RESULTS_PER_PAGE + 1;
        self.clicks.push_back(ClickedResult { query, url, page, day: record.at.date() });
    }
}

/// The queries of late, by the names that clicks know them by.
#[derive(Default)]
struct OpenQueries {
    texts: HashMap<u64, Box<str>>,
    order: VecDeque<u64>,
}

impl OpenQueries {
    fn insert(&mut self, id: &str, text: &str) {
        let id = FixedState::default().hash_one(id);
        if self.texts.insert(id, text.into()).is_none() {
            self.order.push_back(id);
        }
        if self.order.len() > MAX_OPEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.texts.remove(&oldest);
        }
    }

    fn get(&self, id: &str) -> Option<String> {
        self.texts.get(&FixedState::default().hash_one(id)).map(|text| text.to_string())
    }
}

/// What spellings of a query have in common. None where it has no words, or too many.
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

/// The same moment so many days ago less one: today is the first.
fn days_ago(now: Timestamp, days: u32) -> Timestamp {
    now.minus(Duration::from_secs(86_400 * u64::from(days.max(1) - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_appender::LogAppender;
    use crate::testing::{asked_at, at};

    const NOW: &str = "2026-01-31T12:30:00Z";

    fn config() -> Config {
        Config::default()
    }

    fn log(data: &DataDir) -> LogAppender {
        LogAppender::open(data, &config().log)
    }

    fn click(query_id: &str, asked: &str, url: &str, rank: u32) -> ClickRecord {
        ClickRecord {
            at: at("2026-01-31T12:10:00Z"),
            impression: query_id.into(),
            visit: "v".into(),
            kind: Clicked::Result,
            asked: asked.into(),
            rank: Some(rank),
            order: None,
            url: Some(url.into()),
            query: None,
            dwell_ms: None,
        }
    }

    fn refresh(memory: &mut Memory, now: Timestamp) -> usize {
        let news = memory.read(now).unwrap();
        let records = news.0.len();
        memory.learn(news, now);
        records
    }

    #[test]
    fn two_processes_and_a_restart_agree() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let mut early = Memory::open(&data, &config(), at("2026-01-31T12:00:00Z")).unwrap();
        let mut out = log(&data);
        for (visit, when) in
            [("a", "2026-01-30T23:50:00Z"), ("b", "2026-01-31T00:10:00Z"), ("c", "2026-01-31T12:05:00Z")]
        {
            out.append(asked_at("Ｔea  Pot", visit, at(when))).unwrap();
            out.append(asked_at("tea", visit, at(when).plus(Duration::from_secs(60)))).unwrap();
            out.append(asked_at("private", "a", at(when).plus(Duration::from_secs(120)))).unwrap();
            let turned = QueryRecord { page: 2, ..asked_at("tea", "x", at(when)) };
            out.append(turned).unwrap();
        }
        out.finish().unwrap();
        assert_eq!(refresh(&mut early, at(NOW)), 12);
        assert_eq!(refresh(&mut early, at(NOW)), 0);
        let late = Memory::open(&data, &config(), at(NOW)).unwrap();
        for memory in [&early, &late] {
            let hot = |query: &str, count| HotQuery { query: query.into(), count };
            assert_eq!(memory.top(Window::Hour, 10), [hot("tea", 1), hot("Ｔea Pot", 1)]);
            assert_eq!(memory.top(Window::Day, 10), [hot("tea", 3), hot("Ｔea Pot", 3)]);
            assert_eq!(memory.top_today(10), [hot("tea", 2), hot("Ｔea Pot", 2)]);
            assert_eq!(memory.hourly("tea POT").unwrap().iter().sum::<u64>(), 3);
            assert_eq!(memory.hourly("private"), None);
            assert_eq!(memory.related("tea pot", 5), ["tea"]);
            assert!(memory.frequent(5).contains(&"private".to_string()));
            assert_eq!(memory.phrases(), [("tea".to_string(), 3), ("Ｔea Pot".into(), 3)]);
            assert!(!memory.rising(Window::Hour, 5).is_empty());
            assert_eq!((memory.broken_lines(), memory.dropped()), (0, 0));
        }
    }

    #[test]
    fn clicks_are_traced_to_their_queries_and_given_once() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let mut out = log(&data);
        let id = "0123".to_string();
        out.append(QueryRecord { id, ..asked_at("tea", "v", at("2026-01-31T12:00:00Z")) }).unwrap();
        out.append(click("0123", "", "http://a/", 1)).unwrap();
        out.append(click("unknown", "", "http://b/", 1)).unwrap();
        out.append(click("unknown", "灯塔", "http://c/", 11)).unwrap();
        out.append(ClickRecord { kind: Clicked::Leave, ..click("0123", "", "http://a/", 1) }).unwrap();
        out.finish().unwrap();
        let mut memory = Memory::open(&data, &config(), at(NOW)).unwrap();
        let clicks = memory.take_clicks();
        let seen: Vec<_> = clicks.iter().map(|c| (c.query.as_str(), c.url.as_str(), c.page)).collect();
        assert_eq!(seen, [("tea", "http://a/", 1), ("灯塔", "http://c/", 2)]);
        assert_eq!(clicks[0].day, "2026-01-31");
        let mut out = log(&data);
        out.append(click("0123", "", "http://d/", 10)).unwrap();
        out.finish().unwrap();
        refresh(&mut memory, at(NOW));
        assert_eq!(memory.take_clicks().len(), 1);
        assert!(memory.take_clicks().is_empty());
    }

    #[test]
    fn what_is_older_than_the_days_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let mut out = log(&data);
        for visit in ["a", "b", "c"] {
            out.append(asked_at("tea", visit, at("2026-01-31T12:00:00Z"))).unwrap();
        }
        out.finish().unwrap();
        let mut memory = Memory::open(&data, &config(), at(NOW)).unwrap();
        assert_eq!(memory.phrases().len(), 1);
        refresh(&mut memory, at("2026-02-06T12:30:00Z"));
        assert_eq!((memory.phrases().len(), memory.top_today(5).len()), (1, 0));
        refresh(&mut memory, at("2026-02-07T12:30:00Z"));
        assert!(memory.phrases().is_empty());
        assert!(Memory::open(&data, &config(), at("2026-02-07T12:30:00Z")).unwrap().phrases().is_empty());
    }
}
