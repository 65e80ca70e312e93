//! Time zones by name, by offset, or of the machine.

use std::fmt;

use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{AmbiguousOffset, TimeZone};
use toml::de::DeValue;

use crate::Timestamp;
use crate::config::SettingValue;

/// Maximum length of the name of a time zone.
const MAX_NAME: usize = 64;
/// Maximum offset in seconds: zones range from -12:00 to +14:00.
const MAX_OFFSET: i32 = 14 * 3600;

/// A time zone. As a setting it is a name such as `Europe/Berlin`, an offset such as `+08:00`, or empty for the zone
/// of the machine.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Default for Zone {
    fn default() -> Self {
        Self { name: String::new(), zone: TimeZone::system() }
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.label())
    }
}

impl Zone {
    /// Parses a name, an offset or `Z`. The empty text is the zone of the machine.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "" => Some(Self::default()),
            "Z" | "z" => Some(Self { name: text.into(), zone: TimeZone::UTC }),
            _ if text.len() > MAX_NAME => None,
            _ => {
                let zone = DateTimeParser::new().parse_time_zone(text).ok()?;
                let offset = zone.to_offset(jiff::Timestamp::UNIX_EPOCH).seconds();
                (offset.abs() <= MAX_OFFSET).then(|| Self { name: text.into(), zone })
            }
        }
    }

    /// Returns the name as it was written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a name for people, also for the zone of the machine.
    pub fn label(&self) -> &str {
        if self.name.is_empty() { self.zone.iana_name().unwrap_or("UTC") } else { &self.name }
    }

    /// Returns the minutes east of Greenwich at a point in time.
    pub fn offset_minutes(&self, at: Timestamp) -> i32 {
        self.zone.to_offset(instant(at)).seconds() / 60
    }

    /// Formats a point in time as local date and time, `2026-01-31 12:00`.
    pub fn format(&self, at: Timestamp) -> String {
        self.local(at).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Parses a local date and time, `2026-12-24T22:00`. A date alone means its midnight.
    pub fn parse_moment(&self, text: &str) -> Option<Timestamp> {
        if text.len() > MAX_NAME {
            return None;
        }
        let (date, time) = text.split_once('T').unwrap_or((text, "00:00"));
        let minutes = super::parse_time(time).filter(|minutes| *minutes < super::DAY_MINUTES)?;
        Some(self.moment(date.parse().ok()?, minutes))
    }

    /// Returns the local dates of today and the following days, `2026-01-31`, with their start and day of the week,
    /// counted from Monday.
    pub fn days(&self, from: Timestamp, count: usize) -> Vec<(String, Timestamp, i8)> {
        let mut days = Vec::new();
        let mut date = self.local(from).date();
        for _ in 0..count {
            let weekday = date.weekday().to_monday_zero_offset();
            days.push((date.strftime("%Y-%m-%d").to_string(), self.moment(date, 0), weekday));
            let Ok(next) = date.tomorrow() else { break };
            date = next;
        }
        days
    }

    pub(super) fn local(&self, at: Timestamp) -> DateTime {
        self.zone.to_datetime(instant(at))
    }

    /// Returns the moment of a local time, given as minutes since midnight.
    pub(super) fn moment(&self, date: Date, minutes: u16) -> Timestamp {
        let (date, minutes) = match date.tomorrow() {
            Ok(next) if minutes >= super::DAY_MINUTES => (next, 0),
            _ => (date, minutes.min(super::DAY_MINUTES - 1)),
        };
        // Both fit: the minutes are those of one day.
        let (hour, minute) = ((minutes / 60) as i8, (minutes % 60) as i8);
        let ambiguous = self.zone.to_ambiguous_timestamp(date.at(hour, minute, 0, 0));
        let is_skipped = matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. });
        let moment = if is_skipped { ambiguous.earlier() } else { ambiguous.compatible() };
        let moment = moment.unwrap_or(jiff::Timestamp::MAX);
        let change = || self.zone.following(moment).next().map(|change| change.timestamp());
        let moment = if is_skipped { change().unwrap_or(moment) } else { moment };
        Timestamp::from_millis(moment.as_millisecond())
    }
}

fn instant(at: Timestamp) -> jiff::Timestamp {
    let limit = if at < Timestamp::EPOCH { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX };
    jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(limit)
}

impl SettingValue for Zone {
    fn expected() -> String {
        "a time zone such as \"Europe/Berlin\" or \"+08:00\", or \"\" for that of the machine".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text.trim())
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::String(text) => Self::from_text(text),
            _ => None,
        }
    }
    fn to_toml(&self) -> String {
        self.name.to_toml()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_names_offsets_or_the_machine() {
        let summer = Timestamp::parse("2026-07-01T12:00:00Z").unwrap();
        let winter = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        for (text, at, minutes) in [
            ("Europe/Berlin", summer, 120),
            ("Europe/Berlin", winter, 60),
            ("Asia/Shanghai", summer, 480),
            ("+08:00", summer, 480),
            ("-03:30", winter, -210),
            ("UTC", winter, 0),
            ("Z", winter, 0),
        ] {
            let zone = Zone::parse(text).unwrap();
            assert_eq!((zone.offset_minutes(at), zone.name(), zone.label()), (minutes, text, text));
        }
        assert!(!Zone::default().label().is_empty());
        for bad in ["Berlin", "Europe/Atlantis", "+25:00", "8", "../../etc/passwd", &"x".repeat(65)] {
            assert_eq!(Zone::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn local_moments_are_read() {
        let zone = Zone::parse("Europe/Berlin").unwrap();
        let moment = |text: &str| zone.parse_moment(text).map(|moment| moment.to_string());
        assert_eq!(moment("2026-12-24T22:00").as_deref(), Some("2026-12-24T21:00:00Z"));
        assert_eq!(moment("2026-12-24").as_deref(), Some("2026-12-23T23:00:00Z"));
        for bad in ["", "2026-13-01", "2026-12-24T24:00", "24.12.2026", "2026-12-24T22:00:00Z", "T"] {
            assert_eq!(moment(bad), None, "{bad}");
        }
    }

    #[test]
    fn days_begin_at_local_midnight() {
        let zone = Zone::parse("Europe/Berlin").unwrap();
        let at = Timestamp::parse("2026-03-28T23:30:00Z").unwrap();
        assert_eq!(zone.format(at), "2026-03-29 00:30");
        let days = zone.days(at, 2);
        let starts: Vec<String> = days.iter().map(|(_, start, _)| start.to_string()).collect();
        assert_eq!(starts, ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"], "a day of 23 hours");
        assert_eq!((days[0].0.as_str(), days[0].2), ("2026-03-29", 6));
    }

    proptest::proptest! {
        #[test]
        fn no_text_and_no_time_panics(text in "\\PC{0,70}", millis in proptest::prelude::any::<i64>()) {
            let zone = Zone::parse(&text).unwrap_or_default();
            let at = Timestamp::from_millis(millis);
            let _ = (zone.format(at), zone.offset_minutes(at), zone.days(at, 9));
        }
    }
}
