//! Joins records of queries, impressions and clicks into searches.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::hash::BuildHasher as _;

use foldhash::fast::RandomState;
use pharos_core::Timestamp;
use pharos_text::normalise;

use super::{Search, SearchClick, SearchLog};
use crate::ClickRecord;
use crate::log::records::{
    AnyRecord, ClickKind, Device, ImpressionKind, ImpressionRecord, QueryRecord, QuerySource,
};

/// Maximum number of searches.
const MAX_SEARCHES: usize = 8_000_000;
/// Maximum number of results of an impression, and of clicks of a search, that are used.
const MAX_PER_SEARCH: usize = 100;
/// Maximum length of a query in characters; the rest is cut off.
const MAX_QUERY_CHARS: usize = 200;
/// Difference from which a time before that of the previous record counts as a clock jump.
const JUMP_MS: i64 = 60_000;
/// Lists of suggestions that later selections may refer to.
const OPEN_SUGGESTIONS: usize = 4096;
/// Product of result pages, whose browsers report clicks.
const PAGE_PRODUCT: &str = "web";

/// Collects records in any order within a log; queries should precede their impressions and clicks.
pub struct SearchLogBuilder {
    log: SearchLog,
    hasher: RandomState,
    by_id: HashMap<u64, u32, RandomState>,
    /// Searches that a log of clicks only implies, by visit and query.
    implied: HashMap<(Option<u32>, u32), u32, RandomState>,
    suggestions: VecDeque<(usize, Vec<u64>)>,
    last: Option<Timestamp>,
    now: Timestamp,
}

impl SearchLogBuilder {
    /// Creates a builder. Records more than a day after `now` count as records of the future.
    pub fn new(now: Timestamp) -> Self {
        Self {
            log: SearchLog::default(),
            hasher: RandomState::default(),
            by_id: HashMap::default(),
            implied: HashMap::default(),
            suggestions: VecDeque::new(),
            last: None,
            now: now.plus(std::time::Duration::from_secs(86_400)),
        }
    }

    /// Counts an invalid line or row.
    pub fn add_invalid(&mut self, lines: u64) {
        self.log.coverage.invalid += lines;
    }

    /// Adds a record. Records of the system and of requests are ignored.
    pub fn add(&mut self, record: AnyRecord) {
        match record {
            AnyRecord::Query(record) => self.query(&record),
            AnyRecord::Impression(record) => self.impression(&record),
            AnyRecord::Click(record) => self.click(&record),
            AnyRecord::System(_) | AnyRecord::Access(_) => {}
        }
    }

    fn query(&mut self, record: &QueryRecord) {
        self.log.coverage.queries += 1;
        if self.last.is_some_and(|last| last.millis().saturating_sub(record.at.millis()) > JUMP_MS) {
            self.log.coverage.clock_jumps += 1;
        }
        self.last = Some(record.at);
        self.log.coverage.future += u64::from(record.at > self.now);
        if record.source == QuerySource::Suggested {
            self.count_selected(&record.query);
        }
        let Some(search) = self.new_search(&record.query, &record.visit, record.at) else { return };
        let search = Search {
            page: record.page.max(1),
            source: record.source,
            total: record.total.map(|total| u32::try_from(total).unwrap_or(u32::MAX)),
            took_ms: record.took_ms.filter(|took| took.is_finite() && *took >= 0.0).map(|took| took as f32),
            is_program: record.device == Device::Program
                || !(record.product.is_empty() || record.product == PAGE_PRODUCT),
            ..search
        };
        self.push(search, &record.id);
    }

    fn new_search(&mut self, query: &str, visit: &str, at: Timestamp) -> Option<Search> {
        let key = query_key(query)?;
        let visit = if visit.is_empty() { Some(None) } else { self.log.visits.intern(visit).map(Some) };
        let (Some(query), Some(visit)) = (self.log.queries.intern(&key), visit) else {
            self.log.coverage.dropped += 1;
            return None;
        };
        if self.log.searches.len() >= MAX_SEARCHES {
            self.log.coverage.dropped += 1;
            return None;
        }
        Some(Search {
            at,
            visit,
            query,
            page: 1,
            source: QuerySource::Typed,
            total: None,
            took_ms: None,
            is_seen: false,
            is_program: false,
            has_notice: false,
            shown: (0, 0),
            clicks: (0, 0),
        })
    }

    fn push(&mut self, search: Search, id: &str) -> u32 {
        let number = self.log.searches.len() as u32;
        self.log.searches.push(search);
        if !id.is_empty() {
            self.by_id.insert(self.hasher.hash_one(id), number);
        }
        number
    }

    fn impression(&mut self, record: &ImpressionRecord) {
        self.log.coverage.impressions += 1;
        if record.kind == ImpressionKind::Suggestions {
            self.log.suggestions.shown += 1;
            if self.suggestions.len() >= OPEN_SUGGESTIONS {
                self.suggestions.pop_front();
            }
            let keys = record.suggestions.iter().take(MAX_PER_SEARCH).filter_map(|text| query_key(text));
            let keys = keys.map(|key| self.hasher.hash_one(key)).collect();
            self.suggestions.push_back((record.query.chars().count(), keys));
            return;
        }
        let Some(number) = self.by_id.get(&self.hasher.hash_one(record.id.as_str())).copied() else { return };
        let start = self.log.shown.len();
        if record.kind == ImpressionKind::Results && u32::try_from(start + MAX_PER_SEARCH).is_ok() {
            for result in record.results.iter().take(MAX_PER_SEARCH) {
                match self.log.urls.intern(&result.url) {
                    Some(url) => self.log.shown.push(url),
                    None => self.log.coverage.dropped += 1,
                }
            }
            let len = (self.log.shown.len() - start) as u16;
            let search = &mut self.log.searches[number as usize];
            search.shown = (start as u32, len);
            search.has_notice = record.notice.is_some();
        }
        let is_seen = record.kind == ImpressionKind::Seen;
        self.log.has_seen |= is_seen;
        self.log.searches[number as usize].is_seen |= is_seen;
    }

    /// Counts a selected suggestion: the characters typed are those of the latest list that contains it.
    fn count_selected(&mut self, query: &str) {
        self.log.suggestions.selected += 1;
        let Some(key) = query_key(query) else { return };
        let hash = self.hasher.hash_one(&key);
        if let Some((typed, _)) = self.suggestions.iter().rev().find(|(_, list)| list.contains(&hash)) {
            let characters = key.chars().count();
            self.log.suggestions.characters += characters as u64;
            self.log.suggestions.typed += (*typed).min(characters) as u64;
        }
    }

    fn click(&mut self, record: &ClickRecord) {
        let (ClickKind::Result | ClickKind::Snapshot | ClickKind::Leave, Some(url)) =
            (record.kind, &record.url)
        else {
            return;
        };
        let is_leave = record.kind == ClickKind::Leave;
        self.log.coverage.clicks += u64::from(!is_leave);
        let known = self.by_id.get(&self.hasher.hash_one(record.impression.as_str())).copied();
        let Some(search) = known.or_else(|| if is_leave { None } else { self.implied_search(record) }) else {
            self.log.coverage.orphans += u64::from(!is_leave);
            return;
        };
        let Some(url) = self.log.urls.intern(url) else {
            self.log.coverage.dropped += 1;
            return;
        };
        let dwell_ms = record.dwell_ms.map(|dwell| u32::try_from(dwell).unwrap_or(u32::MAX));
        if is_leave {
            // The click on the same result is near the end.
            let recent = self.log.clicks.iter_mut().rev().take(OPEN_SUGGESTIONS);
            if let Some(click) = recent.into_iter().find(|click| click.search == search && click.url == url) {
                click.dwell_ms = click.dwell_ms.max(dwell_ms);
            }
            return;
        }
        self.log.clicks.push(SearchClick {
            at: record.at,
            search,
            url,
            rank: record.rank.unwrap_or(0),
            dwell_ms,
        });
    }

    /// Returns the search that a click of a log without queries implies.
    fn implied_search(&mut self, record: &ClickRecord) -> Option<u32> {
        if record.searched.trim().is_empty() {
            return None;
        }
        let search = self.new_search(&record.searched, &record.visit, record.at)?;
        let key = (search.visit, search.query);
        if let Some(number) = self.implied.get(&key).filter(|_| key.0.is_some()) {
            return Some(*number);
        }
        let number = self.push(search, &record.impression);
        self.implied.insert(key, number);
        Some(number)
    }

    /// Sorts the searches and attaches their clicks.
    pub fn finish(self) -> SearchLog {
        let mut log = self.log;
        let mut order: Vec<u32> = (0..log.searches.len() as u32).collect();
        order.sort_by_key(|number| log.searches[*number as usize].at);
        let mut place = vec![0; order.len()];
        for (new, old) in (0_u32..).zip(&order) {
            place[*old as usize] = new;
        }
        let mut searches: Vec<Option<Search>> = log.searches.into_iter().map(Some).collect();
        log.searches = order.iter().filter_map(|old| searches[*old as usize].take()).collect();
        log.clicks.iter_mut().for_each(|click| click.search = place[click.search as usize]);
        log.clicks.sort_by_key(|click| (click.search, click.at));
        let mut start = 0;
        for group in log.clicks.chunk_by(|a, b| a.search == b.search) {
            let len = group.len().min(usize::from(u16::MAX));
            log.searches[group[0].search as usize].clicks = (start as u32, len as u16);
            start += group.len();
        }
        log
    }
}

/// Returns the normalised form of a query, cut to a bounded length; `None` if it is empty.
pub(crate) fn query_key(query: &str) -> Option<String> {
    // Normalisation takes time linear in the text, which may be a whole page.
    let cut: String = query.chars().take(4 * MAX_QUERY_CHARS).collect();
    let words = normalise(&cut);
    let key = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let key = match key.char_indices().nth(MAX_QUERY_CHARS) {
        Some((end, _)) => key[..end].trim_end().to_string(),
        None => key,
    };
    (!key.is_empty()).then_some(key)
}
