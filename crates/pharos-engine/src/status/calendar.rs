//! The calendar: scheduled visits, builds and backups, and crawl windows of the coming days.

use pharos_core::Timestamp;
use pharos_core::config::Config;
use pharos_core::schedule::{Recurrence, Zone};
use pharos_crawl::politeness::site_settings::SiteSettingsTable;
use pharos_store::DataDir;

use crate::control::recrawls::{RecrawlRule, ScheduleState, VisitTime};
use crate::maintenance::backup::last::read_last_backup;
use crate::maintenance::backup::schedule::next_backup_at;
use crate::{EngineError, index_status};

/// Number of days in the calendar.
const DAYS: usize = 7;
/// Maximum number of times shown of one schedule.
const MAX_TIMES: usize = 24 * DAYS;

/// One day of the calendar, in the time zone of the schedules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalendarDay {
    /// `2026-01-31`.
    pub date: String,
    /// Counted from Monday.
    pub weekday: i8,
    /// In order of their times.
    pub tasks: Vec<CalendarTask>,
    /// Crawl windows that begin on this day.
    pub windows: Vec<CalendarWindow>,
}

/// A scheduled task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarTask {
    pub at: Timestamp,
    /// Local time, `03:30`.
    pub time: String,
    pub kind: TaskKind,
}

/// A kind of scheduled task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskKind {
    Backup,
    Build,
    /// A visit, with its target.
    Recrawl(String),
}

/// A crawl window of one host, in the time zone of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarWindow {
    pub host: String,
    pub from: String,
    pub until: String,
    /// Name of the zone, if it is not that of the schedules.
    pub zone: Option<String>,
}

/// Returns the calendar of the coming week. `started` is the time since which the engine runs.
pub fn calendar(
    data: &DataDir,
    config: &Config,
    started: Timestamp,
    now: Timestamp,
) -> Result<Vec<CalendarDay>, EngineError> {
    let zone = &config.crawl.time_zone;
    let mut days = zone.days(now, DAYS + 1);
    let Some((_, until, _)) = days.pop() else { return Ok(Vec::new()) };
    let mut tasks = recrawls(data, config, now, until)?;
    tasks.extend(backups(data, config, started, now, until));
    tasks.extend(builds(data, config, now, until)?);
    tasks.sort_by_key(|(at, _)| *at);
    let table = SiteSettingsTable::parse(&config.crawl.site_settings).unwrap_or_default();
    let ends: Vec<Timestamp> = days.iter().skip(1).map(|(_, start, _)| *start).chain([until]).collect();
    let calendar = days.into_iter().zip(ends).map(|((date, start, weekday), end)| CalendarDay {
        tasks: tasks
            .iter()
            .filter(|(at, _)| (start..end).contains(at))
            .map(|(at, kind)| CalendarTask { at: *at, time: local_time(zone, *at), kind: kind.clone() })
            .collect(),
        windows: windows(&table, zone, weekday),
        date,
        weekday,
    });
    Ok(calendar.collect())
}

/// Returns the time of day of a moment, `03:30`.
fn local_time(zone: &Zone, at: Timestamp) -> String {
    zone.format(at).split(' ').next_back().unwrap_or_default().to_string()
}

/// Returns `first`, and the later times of a recurrence, before `until`.
fn times(first: Timestamp, recurrence: &Recurrence, until: Timestamp, zone: &Zone) -> Vec<Timestamp> {
    let mut times = vec![first];
    times.extend(recurrence.times_between(first, until, zone, MAX_TIMES));
    times.retain(|at| *at < until);
    times
}

fn recrawls(
    data: &DataDir,
    config: &Config,
    now: Timestamp,
    until: Timestamp,
) -> Result<Vec<(Timestamp, TaskKind)>, EngineError> {
    let (zone, state) = (&config.crawl.time_zone, ScheduleState::read(data));
    let mut tasks = Vec::new();
    for (line, rule) in RecrawlRule::parse_all(&config.crawl)? {
        let Some(first) = rule.next_after(state.of(line, now), zone) else { continue };
        let first = first.max(now);
        let target = line.trim().rsplit(char::is_whitespace).next().unwrap_or_default();
        let at = match &rule.when {
            VisitTime::Once(_) => times(first, &Recurrence::Never, until, zone),
            VisitTime::Recurring(recurrence) => times(first, recurrence, until, zone),
        };
        tasks.extend(at.into_iter().map(|at| (at, TaskKind::Recrawl(target.to_string()))));
    }
    Ok(tasks)
}

fn backups(
    data: &DataDir,
    config: &Config,
    started: Timestamp,
    now: Timestamp,
    until: Timestamp,
) -> Vec<(Timestamp, TaskKind)> {
    let Some(first) = next_backup_at(config, &read_last_backup(data), started) else { return Vec::new() };
    let at = times(first.max(now), &config.backup.schedule, until, &config.crawl.time_zone);
    at.into_iter().map(|at| (at, TaskKind::Backup)).collect()
}

/// Returns the next build and the later times of `index.build_at`. Builds without new pages are skipped then.
fn builds(
    data: &DataDir,
    config: &Config,
    now: Timestamp,
    until: Timestamp,
) -> Result<Vec<(Timestamp, TaskKind)>, EngineError> {
    let next = index_status(data, config)?.next_build.and_then(|at| Timestamp::parse(&at));
    let zone = &config.crawl.time_zone;
    let mut at = match next {
        Some(first) => times(first.max(now), &config.index.build_at, until, zone),
        None => config.index.build_at.times_between(now, until, zone, MAX_TIMES),
    };
    at.sort_unstable();
    at.dedup();
    Ok(at.into_iter().map(|at| (at, TaskKind::Build)).collect())
}

fn windows(table: &SiteSettingsTable, zone: &Zone, weekday: i8) -> Vec<CalendarWindow> {
    let mut windows = Vec::new();
    for (host, settings) in table.with_windows() {
        let own = settings.zone.as_ref().filter(|own| *own != zone).map(|own| own.label().to_string());
        let begin = settings.windows.iter().filter_map(|window| window.begins_on(weekday));
        windows.extend(begin.map(|(from, until)| CalendarWindow {
            host: host.to_string(),
            from,
            until,
            zone: own.clone(),
        }));
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_week_shows_tasks_and_windows() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path());
        let mut config = Config::default();
        config.crawl.time_zone = Zone::parse("Europe/Berlin").unwrap();
        config.crawl.recrawl =
            vec!["sun 04:00 a.example".into(), "2026-03-30T01:00 http://b.example/*".into()];
        config.crawl.site_settings = vec![
            "a.example window=mon-fri/22:00-06:00".into(),
            "c.example zone=Z window=sat/01:00-02:00".into(),
        ];
        config.backup.directory = "/mnt/backup".into();
        config.backup.schedule = Recurrence::parse("02:30").unwrap();
        config.index.build_at = Recurrence::parse("mon 05:00").unwrap();
        // The night in which clocks go from 02:00 to 03:00.
        let now = Timestamp::parse("2026-03-28T12:00:00Z").unwrap();
        let days = calendar(&data, &config, now, now).unwrap();
        assert_eq!(days.len(), 7);
        assert_eq!((days[0].date.as_str(), days[0].weekday), ("2026-03-28", 5));
        let shown = |day: usize| {
            let tasks = days[day].tasks.iter().map(|task| match &task.kind {
                TaskKind::Backup => format!("{} backup", task.time),
                TaskKind::Build => format!("{} build", task.time),
                TaskKind::Recrawl(target) => format!("{} {target}", task.time),
            });
            tasks.collect::<Vec<_>>()
        };
        assert_eq!(shown(0), Vec::<String>::new());
        assert_eq!(shown(1), ["03:00 backup", "04:00 a.example"], "02:30 does not exist on this day");
        assert_eq!(shown(2), ["01:00 http://b.example/*", "02:30 backup", "05:00 build"]);
        assert_eq!(days[0].windows.len(), 1);
        assert_eq!(days[0].windows[0].zone.as_deref(), Some("Z"));
        assert_eq!((days[1].windows.len(), days[2].windows[0].from.as_str()), (0, "22:00"));
    }
}
