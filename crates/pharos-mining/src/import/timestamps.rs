//! Timestamps of old logs: `Fri Mar 21 00:00:02 2003`, as written by C's `ctime`, and `2003-03-21 00:00:02`.
//!
//! They contain no time zone, which the caller must supply.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use pharos_core::Timestamp;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The UTC offset of the times in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtcOffset(Offset);

impl UtcOffset {
    /// No offset.
    pub const UTC: UtcOffset = UtcOffset(Offset::UTC);

    /// Parses `+08:00`, `-05:30`, `+8`.
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+')?),
        };
        let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
        let number = |text: &str| text.parse::<u8>().ok().map(i32::from);
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        if hours > 14 || minutes > 59 {
            return None;
        }
        Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok().map(UtcOffset)
    }

    pub(crate) fn to_timestamp(self, civil: DateTime) -> Option<Timestamp> {
        let zoned = civil.to_zoned(TimeZone::fixed(self.0)).ok()?;
        Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
    }

    /// Returns the hour of the day and the weekday, Monday being 0.
    pub(crate) fn hour_and_weekday(self, at: Timestamp) -> (usize, usize) {
        let civil = self.civil(at);
        let weekday = civil.weekday().to_monday_zero_offset();
        (usize::try_from(civil.hour()).unwrap_or(0), usize::try_from(weekday).unwrap_or(0))
    }

    fn civil(self, at: Timestamp) -> DateTime {
        let at = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or_default();
        self.0.to_datetime(at)
    }
}

/// Parses `Fri Mar 21 00:00:02 2003`, optionally with another separator.
pub(crate) fn parse_ctime(text: &str, separator: char, zone: UtcOffset) -> Option<Timestamp> {
    let mut parts = text.trim().split(separator).filter(|part| !part.is_empty());
    let weekday = parts.next()?;
    WEEKDAYS.contains(&weekday).then_some(())?;
    let month = parts.next()?;
    let month = i8::try_from(MONTHS.iter().position(|name| *name == month)? + 1).ok()?;
    let day = parts.next()?.parse().ok()?;
    let time = parse_time(parts.next()?)?;
    let year = parts.next()?;
    let year = (year.len() == 4).then(|| year.parse().ok())??;
    if parts.next().is_some() {
        return None;
    }
    zone.to_timestamp(Date::new(year, month, day).ok()?.to_datetime(time))
}

/// Formats a timestamp as [`parse_ctime`] reads it.
pub(crate) fn write_ctime(at: Timestamp, separator: char, zone: UtcOffset) -> String {
    let civil = zone.civil(at);
    let weekday = WEEKDAYS[usize::try_from(civil.weekday().to_monday_zero_offset()).unwrap_or(0) % 7];
    let month = MONTHS[usize::try_from(civil.month() - 1).unwrap_or(0) % 12];
    let (day, time, year) = (civil.day(), civil.strftime("%H:%M:%S"), civil.year());
    format!("{weekday}{separator}{month}{separator}{day:02}{separator}{time}{separator}{year}")
}

/// Parses `00:00:02`, with or without a fraction.
pub(crate) fn parse_time(text: &str) -> Option<Time> {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.')).then(|| text.parse().ok())?
}

/// Parses `2003-03-21`, `2003/3/21` or `20030321`.
pub fn parse_date(text: &str) -> Option<Date> {
    let text = text.trim();
    if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Date::new(text[..4].parse().ok()?, text[4..6].parse().ok()?, text[6..].parse().ok()?).ok();
    }
    let mut parts = text.split(['-', '/']);
    let mut next = || parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let date = Date::new(next()?.parse().ok()?, next()?.parse().ok()?, next()?.parse().ok()?).ok();
    if parts.next().is_some() { None } else { date }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::at;

    #[test]
    fn times_of_both_books_are_read_and_written() {
        let beijing = UtcOffset::parse("+08:00").unwrap();
        for (text, separator, zone, moment) in [
            ("Fri Mar 21 00:00:02 2003", ' ', UtcOffset::UTC, "2003-03-21T00:00:02Z"),
            ("Wed-Apr-14-16:09:06-2004", '-', beijing, "2004-04-14T08:09:06Z"),
        ] {
            assert_eq!(parse_ctime(text, separator, zone), Some(at(moment)));
            assert_eq!(write_ctime(at(moment), separator, zone), text);
        }
        // C pads days with a space.
        assert_eq!(
            parse_ctime("Sat Mar  1 00:00:02 2003", ' ', UtcOffset::UTC),
            Some(at("2003-03-01T00:00:02Z"))
        );
        for wrong in [
            "",
            "Fri Mar 32 00:00:02 2003",
            "Fri Mar 21 25:00:02 2003",
            "Fri Mar 21 00:00:02 2003 x",
            "北 Mar 21",
        ] {
            assert_eq!(parse_ctime(wrong, ' ', UtcOffset::UTC), None, "{wrong}");
        }
    }

    #[test]
    fn dates_and_zones_in_every_spelling() {
        for text in ["2003-03-21", "2003/3/21", "20030321"] {
            assert_eq!(parse_date(text), Date::new(2003, 3, 21).ok());
        }
        assert_eq!([parse_date("21.3.2003"), parse_date("2003-3-2-1"), parse_date("二〇〇三")], [None; 3]);
        assert_eq!(UtcOffset::parse("-05:30").map(|zone| zone.0.seconds()), Some(-19_800));
        assert_eq!([UtcOffset::parse("8"), UtcOffset::parse("+99"), UtcOffset::parse("+-8")], [None; 3]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_panics(text in "\\PC{0,40}", millis: i64) {
            let _ = (parse_ctime(&text, ' ', UtcOffset::UTC), parse_date(&text), parse_time(&text), UtcOffset::parse(&text));
            let _ = write_ctime(Timestamp::from_millis(millis), ' ', UtcOffset::UTC);
        }
    }
}
