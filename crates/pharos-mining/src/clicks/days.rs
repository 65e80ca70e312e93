//! Clicks of each day, from which the click graph is merged: an update reads only days whose logs have changed.
//!
//! ```text
//! logs of a day ─▶ DayClicks ─▶ graph/clicks/2026-01-31.zst ─┐
//!                               graph/clicks/2026-02-01.zst ─┴▶ decay, at least k visits ─▶ ClickGraph
//! ```
//!
//! A visit has at most one vote a day for a query and page, so that one client cannot outvote others by clicking. The file
//! of a day names the log files it was made from: when lines are purged or a file is removed for its age, the next build
//! makes it again or removes it. Files are written by builds only.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use foldhash::fast::RandomState;
use pharos_core::{Config, Timestamp};
use pharos_files::NewFile;
use pharos_store::DataDir;
use serde::{Deserialize, Serialize};

use super::click_graph::{ClickGraph, ClickGraphBuilder};
use crate::log::files::{DayRange, LogFile, list_files};
use crate::log::records::LogKind;
use crate::search_log::{SearchLog, read_data_dir};
use crate::sessions::{Reformulation, SessionRules, sessions};

/// Votes that a click with a long dwell time adds to its own.
const SATISFIED_VOTES: f32 = 1.0;
/// Maximum size of a line of a day's file.
const MAX_LINE: u64 = 16 << 20;
const COMPRESSION_LEVEL: i32 = 3;
/// Version of the format of the files. Older ones are read until the next build replaces them.
const FORMAT: u32 = 2;

/// Parameters of the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphRules {
    /// Least number of visits that asked a query (k).
    pub min_visits: u32,
    /// Days after which a click counts half.
    pub half_life_days: f64,
}

impl GraphRules {
    /// Returns the rules of the settings.
    pub fn from_config(config: &Config) -> Self {
        let min_visits = u32::try_from(config.log.k).unwrap_or(u32::MAX);
        Self { min_visits, half_life_days: config.clicks.half_life.as_secs_f64() / 86_400.0 }
    }
}

impl Default for GraphRules {
    fn default() -> Self {
        Self { min_visits: 3, half_life_days: 30.0 }
    }
}

/// A query of a day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DayQuery {
    #[serde(rename = "q")]
    pub query: String,
    /// Number of visits that asked the query.
    #[serde(rename = "v")]
    pub visits: u32,
    /// Clicked pages: URL, votes, and votes with a long dwell time.
    #[serde(rename = "p", default)]
    pub pages: Vec<(String, u32, u32)>,
    /// Queries with other words that followed for the same goal, with the numbers of visits.
    #[serde(rename = "r", default, skip_serializing_if = "Vec::is_empty")]
    pub rephrased: Vec<(String, u32)>,
}

/// Success of the searches for a query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryOutcome {
    /// Number of visits that asked the query.
    pub visits: u32,
    /// Share of satisfied visits, estimated from clicks: 0.5 without any evidence.
    pub success: f32,
}

/// The queries of days, merged.
#[derive(Debug, Default)]
pub struct MergedDays {
    pub graph: ClickGraph,
    /// Outcomes of the queries of the graph, and of those without clicks.
    pub outcomes: HashMap<Box<str>, QueryOutcome, RandomState>,
}

/// The first line of a day's file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    format: u32,
    /// Log files with their sizes and modification times in milliseconds.
    made_from: Vec<(String, u64, u64)>,
}

/// Result of an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UpdateReport {
    /// Days that were read from the logs.
    pub read: u64,
    /// Days that were up to date.
    pub kept: u64,
    /// Days without logs, which were removed.
    pub removed: u64,
}

/// Aggregates the searches of a day.
pub fn aggregate_day(log: &SearchLog) -> Vec<DayQuery> {
    let visits = log.visits_by_query();
    let mut votes: HashMap<(u32, u32), (u32, u32), RandomState> = HashMap::default();
    // One vote for a visit, query and page; searches without a visit count as one visit.
    let mut voted: HashSet<(Option<u32>, u32, u32), RandomState> = HashSet::default();
    let mut satisfied: HashSet<(Option<u32>, u32, u32), RandomState> = HashSet::default();
    for click in &log.clicks {
        let search = &log.searches[click.search as usize];
        let vote = (search.visit, search.query, click.url);
        let entry = votes.entry((search.query, click.url)).or_default();
        entry.0 += u32::from(voted.insert(vote));
        entry.1 += u32::from(click.is_satisfied() && satisfied.insert(vote));
    }
    let mut queries: BTreeMap<u32, DayQuery> = (0..)
        .zip(&visits)
        .map(|(query, visits)| {
            (
                query,
                DayQuery { query: log.queries.text(query).into(), visits: *visits, ..DayQuery::default() },
            )
        })
        .collect();
    for ((query, url), (votes, satisfied)) in votes {
        if let Some(query) = queries.get_mut(&query) {
            query.pages.push((log.urls.text(url).to_string(), votes, satisfied));
        }
    }
    for ((query, next), visits) in rephrasings(log) {
        if let Some(query) = queries.get_mut(&query) {
            query.rephrased.push((log.queries.text(next).to_string(), visits));
        }
    }
    queries.values_mut().for_each(|query| {
        query.pages.sort_unstable();
        query.rephrased.sort_unstable();
    });
    queries.into_values().collect()
}

/// Counts the visits that replaced words of one query by others, for the same goal. Further votes of a visit do not count.
fn rephrasings(log: &SearchLog) -> HashMap<(u32, u32), u32, RandomState> {
    let mut voted: HashSet<(Option<u32>, u32, u32), RandomState> = HashSet::default();
    let mut visits: HashMap<(u32, u32), u32, RandomState> = HashMap::default();
    for session in sessions(log, &SessionRules::default()).iter().filter(|session| session.visit.is_some()) {
        for steps in session.goals.iter().flat_map(|goal| goal.steps.windows(2)) {
            let [before, after] = [0, 1].map(|nth| log.searches[steps[nth].search as usize].query);
            if steps[1].kind == Reformulation::Rephrase
                && before != after
                && voted.insert((session.visit, before, after))
            {
                *visits.entry((before, after)).or_default() += 1;
            }
        }
    }
    visits
}

/// Returns the directory of the files of days.
fn directory(data: &DataDir) -> PathBuf {
    data.graph().join("clicks")
}

/// Brings the files of all days up to date with the logs. Called by builds.
///
/// # Errors
/// Fails if logs cannot be listed or files cannot be written.
pub fn update(data: &DataDir, now: Timestamp) -> io::Result<UpdateReport> {
    let mut report = UpdateReport::default();
    let dir = directory(data);
    let days = logged_days(&data.logs())?;
    if days.is_empty() && !dir.is_dir() {
        return Ok(report);
    }
    pharos_files::create_dir_all(&dir)?;
    for entry in fs::read_dir(&dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.strip_suffix(".zst").is_none_or(|day| !days.contains_key(day)) {
            report.removed += u64::from(pharos_files::remove_if_exists(&dir.join(name))?);
        }
    }
    for (day, made_from) in days {
        let path = dir.join(format!("{day}.zst"));
        if read_day(&path, Some(&made_from), &mut |_| ()).is_ok_and(|is_current| is_current) {
            report.kept += 1;
            continue;
        }
        let range = DayRange { from: Some(day.clone()), to: Some(day) };
        let queries = aggregate_day(&read_data_dir(&data.logs(), &range, now)?);
        write_day(&path, &Header { format: FORMAT, made_from }, &queries)?;
        report.read += 1;
    }
    Ok(report)
}

type MadeFrom = Vec<(String, u64, u64)>;

/// Returns the log files of each day that has queries, with their sizes and times.
fn logged_days(logs: &Path) -> io::Result<BTreeMap<String, MadeFrom>> {
    let mut days: BTreeMap<String, MadeFrom> = BTreeMap::new();
    let used = |file: &LogFile| matches!(file.kind, LogKind::Queries | LogKind::Clicks);
    for file in list_files(logs)?.into_iter().filter(used) {
        // Removed meanwhile.
        let Ok(data) = fs::metadata(&file.path) else { continue };
        let changed = data.modified()?.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let changed = u64::try_from(changed.as_millis()).unwrap_or(u64::MAX);
        days.entry(file.day.clone()).or_default().push((file.name(), data.len(), changed));
    }
    Ok(days)
}

fn write_day(path: &Path, header: &Header, queries: &[DayQuery]) -> io::Result<()> {
    let mut file = zstd::Encoder::new(NewFile::create_private(path)?, COMPRESSION_LEVEL)?;
    file.include_checksum(true)?;
    serde_json::to_writer(&mut file, header)?;
    for query in queries {
        file.write_all(b"\n")?;
        serde_json::to_writer(&mut file, query)?;
    }
    file.write_all(b"\n")?;
    file.finish()?.install()
}

/// Reads the file of a day. With `made_from`, returns `false` without reading further if it was made from other files.
fn read_day(path: &Path, made_from: Option<&MadeFrom>, take: &mut dyn FnMut(DayQuery)) -> io::Result<bool> {
    let mut lines = io::BufReader::new(zstd::Decoder::new(fs::File::open(path)?)?);
    let mut line = Vec::new();
    let mut next = |line: &mut Vec<u8>| -> io::Result<bool> {
        line.clear();
        io::Read::take(&mut lines, MAX_LINE).read_until(b'\n', line)?;
        Ok(!line.is_empty())
    };
    next(&mut line)?;
    let header: Header = serde_json::from_slice(&line)?;
    if header.format > FORMAT {
        return Ok(false);
    }
    if made_from.is_some_and(|made_from| header.format < FORMAT || *made_from != header.made_from) {
        return Ok(false);
    }
    if made_from.is_none() {
        while next(&mut line)? {
            take(serde_json::from_slice(&line)?);
        }
    }
    Ok(true)
}

/// Merges the files of days, as the last build left them. Damaged files are skipped.
///
/// # Errors
/// Fails if the directory cannot be read.
pub fn load(data: &DataDir, rules: &GraphRules, now: Timestamp) -> io::Result<MergedDays> {
    let days = StoredDays::list(data)?;
    Ok(merge(&|take| days.for_each(take), rules, now))
}

/// The files of days, as the last build left them.
pub(crate) struct StoredDays {
    dir: PathBuf,
    days: Vec<String>,
}

impl StoredDays {
    /// Lists the files.
    pub(crate) fn list(data: &DataDir) -> io::Result<Self> {
        let dir = directory(data);
        let mut days = Vec::new();
        if dir.is_dir() {
            for entry in fs::read_dir(&dir)? {
                let name = entry?.file_name().to_string_lossy().into_owned();
                days.extend(name.strip_suffix(".zst").map(str::to_string));
            }
        }
        days.sort();
        Ok(Self { dir, days })
    }

    /// Passes the queries of all days in order. Damaged files are skipped.
    pub(crate) fn for_each(&self, take: TakeQuery<'_>) {
        for day in &self.days {
            let path = self.dir.join(format!("{day}.zst"));
            if let Err(error) = read_day(&path, None, &mut |query| take(day, query)) {
                tracing::warn!(%error, path = %path.display(), "skipping damaged clicks of a day");
            }
        }
    }

    /// Counts the visits of every query over all days. Visits of different days have different names, so that their numbers
    /// add up.
    pub(crate) fn visits(&self) -> HashMap<Box<str>, u32, RandomState> {
        count_visits(&|take| self.for_each(take))
    }
}

/// Builds the graph from the logs without writing anything, for commands.
pub fn graph_of(log: &SearchLog, rules: &GraphRules, now: Timestamp) -> ClickGraph {
    let day = log.period().map_or_else(|| now.date(), |(_, last)| last.date());
    let queries = aggregate_day(log);
    merge(&|take| queries.iter().for_each(|query| take(&day, query.clone())), rules, now).graph
}

/// Receives the queries of days.
pub(crate) type TakeQuery<'a> = &'a mut dyn FnMut(&str, DayQuery);

fn count_visits(each: &dyn Fn(TakeQuery<'_>)) -> HashMap<Box<str>, u32, RandomState> {
    let mut visits: HashMap<Box<str>, u32, RandomState> = HashMap::default();
    each(&mut |_, query| {
        let count = visits.entry(query.query.into()).or_default();
        *count = count.saturating_add(query.visits);
    });
    visits
}

/// Merges days: `each` passes every query of every day.
fn merge(each: &dyn Fn(TakeQuery<'_>), rules: &GraphRules, now: Timestamp) -> MergedDays {
    let mut visits = count_visits(each);
    visits.retain(|_, visits| *visits >= rules.min_visits);
    let mut outcomes: HashMap<Box<str>, QueryOutcome, RandomState> =
        visits.into_iter().map(|(query, visits)| (query, QueryOutcome { visits, success: 0.0 })).collect();
    // Decayed visits and clicks of each query.
    let mut evidence: HashMap<Box<str>, (f32, f32), RandomState> = HashMap::default();
    let mut builder = ClickGraphBuilder::default();
    each(&mut |day, query| {
        if !outcomes.contains_key(query.query.as_str()) {
            return;
        }
        let decay = decay(day, now, rules.half_life_days);
        let mut clicks = 0.0;
        for (url, votes, satisfied) in &query.pages {
            let weight = decay * (*votes as f32 + SATISFIED_VOTES * *satisfied as f32);
            builder.add(&query.query, url, weight);
            clicks += weight;
        }
        let (visits, clicked) = evidence.entry(query.query.into()).or_default();
        *visits += decay * query.visits as f32;
        *clicked += clicks;
    });
    for (query, outcome) in &mut outcomes {
        let (visits, clicks) = evidence.get(query).copied().unwrap_or_default();
        // Laplace's rule of succession: one success and one failure were seen before.
        outcome.success = ((clicks / (1.0 + SATISFIED_VOTES) + 1.0) / (visits + 2.0)).min(1.0);
    }
    MergedDays { graph: builder.finish(), outcomes }
}

/// Returns the weight of a click of a day: it halves every half-life. Days of the future count fully.
fn decay(day: &str, now: Timestamp, half_life_days: f64) -> f32 {
    let Some(day) = Timestamp::parse(&format!("{day}T00:00:00Z")) else { return 1.0 };
    let age = now.since(day).as_secs_f64() / 86_400.0;
    if half_life_days > 0.0 { 0.5_f64.powf(age.floor() / half_life_days) as f32 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anonymise::purge::purge_visit;
    use crate::testing::{at, click_at, query_at};
    use crate::{ClickRecord, LogAppender, QueryRecord};
    use pharos_core::config::LogConfig;

    const NOW: &str = "2026-02-01T12:00:00Z";

    /// Writes a search and `clicks` clicks on a page.
    fn write(data: &DataDir, query: &str, visit: &str, day: &str, url: &str, clicks: usize) {
        let mut log = LogAppender::open(data, &LogConfig::default());
        let when = at(&format!("{day}T12:00:00Z"));
        let id = crate::new_id();
        log.append(QueryRecord { id: id.clone(), ..query_at(query, visit, when) }).unwrap();
        for _ in 0..clicks {
            log.append(ClickRecord {
                visit: visit.into(),
                dwell_ms: Some(60_000),
                ..click_at(&id, query, url, when)
            })
            .unwrap();
        }
        log.finish().unwrap();
    }

    #[test]
    fn only_changed_days_are_read_and_a_visit_has_one_vote() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let rules = GraphRules { min_visits: 3, half_life_days: 1.0 };
        assert_eq!(update(&data, at(NOW)).unwrap(), UpdateReport::default());
        for visit in ["a", "b"] {
            write(&data, "Tea", visit, "2026-01-31", "http://x/", 100);
        }
        assert_eq!(update(&data, at(NOW)).unwrap(), UpdateReport { read: 1, kept: 0, removed: 0 });
        assert_eq!(load(&data, &rules, at(NOW)).unwrap().graph.sizes().edges, 0, "too few visits");
        write(&data, "tea", "c", "2026-02-01", "http://x/", 1);
        assert_eq!(update(&data, at(NOW)).unwrap(), UpdateReport { read: 1, kept: 1, removed: 0 });
        let MergedDays { graph, outcomes } = load(&data, &rules, at(NOW)).unwrap();
        // Two satisfied votes of yesterday count half, one of today fully, twice each.
        assert_eq!((graph.sizes().edges, graph.sizes().weight), (1, 4.0));
        assert_eq!(graph.queries.text(0), "tea");
        // Two visits as of today, all satisfied: (2 + 1) / (2 + 2).
        assert_eq!(outcomes["tea"], QueryOutcome { visits: 3, success: 0.75 });

        purge_visit(&data.logs(), "a").unwrap();
        assert_eq!(update(&data, at(NOW)).unwrap().read, 1);
        assert_eq!(load(&data, &rules, at(NOW)).unwrap().graph.sizes().edges, 0);
        fs::remove_dir_all(data.logs()).unwrap();
        assert_eq!(update(&data, at(NOW)).unwrap(), UpdateReport { read: 0, kept: 0, removed: 2 });
    }

    #[test]
    fn a_power_cut_leaves_the_old_or_the_new_clicks_of_a_day() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        write(&data, "tea", "a", "2026-01-31", "http://x/", 1);
        update(&data, at(NOW)).unwrap();
        write(&data, "tea", "b", "2026-01-31", "http://x/", 1);
        let update = || assert_eq!(update(&data, at(NOW)).unwrap().read, 1);
        pharos_files::power_cut::check(dir.path(), update).unwrap();
    }

    #[test]
    fn damaged_files_are_skipped_and_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let rules = GraphRules { min_visits: 1, ..GraphRules::default() };
        write(&data, "tea", "a", "2026-01-31", "http://x/", 1);
        update(&data, at(NOW)).unwrap();
        for content in [&b""[..], b"garbage", b"\x28\xb5\x2f\xfd"] {
            fs::write(directory(&data).join("2026-01-31.zst"), content).unwrap();
            assert_eq!(load(&data, &rules, at(NOW)).unwrap().graph.sizes().edges, 0);
            assert_eq!(update(&data, at(NOW)).unwrap().read, 1);
            assert_eq!(load(&data, &rules, at(NOW)).unwrap().graph.sizes().edges, 1);
        }
    }
}
