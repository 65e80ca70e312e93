//! Recurring times: an interval, or times of day on some days of the week.

use std::fmt;
use std::time::Duration;

use jiff::ToSpan as _;
use toml::de::DeValue;

use super::{DAY_MINUTES, SEARCHED_DAYS, WeekDays, Zone, format_time, parse_time};
use crate::Timestamp;
use crate::config::SettingValue;

/// Maximum number of times of a day.
const MAX_TIMES: usize = 24;
/// Minimum interval.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// The times of a recurring task. As a setting: `off`, `6h`, `03:30`, `mon-fri 03:30,15:30`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Recurrence {
    #[default]
    Never,
    /// An interval after the last time.
    Every(Duration),
    /// Times of day in minutes since midnight, in ascending order.
    At { days: WeekDays, times: Vec<u16> },
}

impl Recurrence {
    /// Parses the text of a setting.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || text == "off" {
            return Some(Self::Never);
        }
        if !text.contains(':') {
            let every = Duration::from_text(text)?;
            return match every {
                Duration::ZERO => Some(Self::Never),
                every => (every >= MIN_INTERVAL).then_some(Self::Every(every)),
            };
        }
        let (days, times) = match text.split_once(char::is_whitespace) {
            Some((days, times)) => (WeekDays::parse(days)?, times.trim()),
            None => (WeekDays::ALL, text),
        };
        let times: Option<Vec<u16>> = times.split(',').map(|time| parse_time(time.trim())).collect();
        let mut times = times.filter(|times| times.iter().all(|time| *time < DAY_MINUTES))?;
        times.sort_unstable();
        times.dedup();
        (times.len() <= MAX_TIMES).then_some(Self::At { days, times })
    }

    /// Returns the first time after `after`: the last run, or the start of the schedule if there was none.
    pub fn next_after(&self, after: Timestamp, zone: &Zone) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            Self::Every(interval) => Some(after.plus(*interval)),
            Self::At { days, times } => {
                let today = zone.local(after).date();
                (0..=SEARCHED_DAYS).find_map(|offset| {
                    let date = today.checked_add(offset.days()).ok()?;
                    let is_due = days.contains(date.weekday().to_monday_zero_offset());
                    let mut moments = times.iter().map(|time| zone.moment(date, *time));
                    moments.find(|moment| is_due && *moment > after)
                })
            }
        }
    }

    /// Returns the times after `from` and before `until`, at most `limit`.
    pub fn times_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        zone: &Zone,
        limit: usize,
    ) -> Vec<Timestamp> {
        let next = |after: &Timestamp| self.next_after(*after, zone);
        let times = std::iter::successors(next(&from), next);
        times.take_while(|at| *at < until).take(limit).collect()
    }
}

impl fmt::Display for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("off"),
            Self::Every(interval) => f.write_str(interval.to_toml().trim_matches('"')),
            Self::At { days, times } => {
                if *days != WeekDays::ALL {
                    write!(f, "{days} ")?;
                }
                f.write_str(&times.iter().map(|time| format_time(*time)).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl SettingValue for Recurrence {
    fn expected() -> String {
        "a time such as \"03:30\" or \"mon-fri 03:30\", an interval such as \"6h\", or \"off\"".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text)
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::String(text) => Self::parse(text),
            _ => None,
        }
    }
    fn to_toml(&self) -> String {
        format!("\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn next(recurrence: &str, zone: &str, after: &str) -> String {
        let (recurrence, zone) = (Recurrence::parse(recurrence).unwrap(), Zone::parse(zone).unwrap());
        recurrence.next_after(at(after), &zone).unwrap().to_string()
    }

    #[test]
    fn settings_are_read_and_printed() {
        for (text, printed) in [
            ("off", "off"),
            ("", "off"),
            ("0", "off"),
            ("6h", "6h"),
            ("90m", "90m"),
            ("3:30", "03:30"),
            ("mon-fri 15:30, 03:30", "mon-fri 03:30,15:30"),
            ("mon-sun 00:00", "00:00"),
        ] {
            let recurrence = Recurrence::parse(text).unwrap();
            assert_eq!(recurrence.to_string(), printed);
            assert_eq!(Recurrence::parse(printed), Some(recurrence));
        }
        for bad in ["24:00", "3", "10ms", "noon", "xyz 03:30", "03:60", "3:3:3", "03:30,", "+3:30"] {
            assert_eq!(Recurrence::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_next_time_follows_the_last_one() {
        assert_eq!(next("6h", "Z", "2026-01-31T12:00:00Z"), "2026-01-31T18:00:00Z");
        assert_eq!(next("03:30", "Z", "2026-01-31T12:00:00Z"), "2026-02-01T03:30:00Z");
        assert_eq!(next("03:30", "Z", "2026-01-31T03:30:00Z"), "2026-02-01T03:30:00Z", "not twice");
        assert_eq!(next("03:30", "Asia/Shanghai", "2026-01-31T12:00:00Z"), "2026-01-31T19:30:00Z");
        assert_eq!(next("sat 03:30", "Z", "2026-01-31T12:00:00Z"), "2026-02-07T03:30:00Z", "in a week");
        assert_eq!(next("sun 03:30,23:00", "Z", "2026-01-31T12:00:00Z"), "2026-02-01T03:30:00Z");
        assert_eq!(Recurrence::Never.next_after(at("2026-01-31T12:00:00Z"), &Zone::default()), None);
    }

    #[test]
    fn changes_of_daylight_saving_time_neither_skip_nor_repeat_a_day() {
        // In Berlin, clocks went from 02:00 to 03:00 on 2026-03-29, and from 03:00 to 02:00 on 2026-10-25.
        assert_eq!(next("02:30", "Europe/Berlin", "2026-03-28T12:00:00Z"), "2026-03-29T01:00:00Z");
        assert_eq!(next("02:30", "Europe/Berlin", "2026-03-29T01:00:00Z"), "2026-03-30T00:30:00Z");
        assert_eq!(next("02:30", "Europe/Berlin", "2026-10-24T12:00:00Z"), "2026-10-25T00:30:00Z");
        assert_eq!(next("02:30", "Europe/Berlin", "2026-10-25T00:30:00Z"), "2026-10-26T01:30:00Z");
        let daily = Recurrence::parse("02:30").unwrap();
        let zone = Zone::parse("Europe/Berlin").unwrap();
        let (from, until) = (at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"));
        assert_eq!(daily.times_between(from, until, &zone, 1_000).len(), 365);
    }

    proptest::proptest! {
        #[test]
        fn no_text_and_no_time_panics(text in "[\\PC:0-9 ]{0,20}", millis in proptest::prelude::any::<i64>()) {
            let after = Timestamp::from_millis(millis);
            if let Some(recurrence) = Recurrence::parse(&text) {
                let _ = recurrence.next_after(after, &Zone::default());
            }
            let daily = Recurrence::At { days: WeekDays::ALL, times: vec![0] };
            let _ = daily.next_after(after, &Zone::default());
        }
    }
}
