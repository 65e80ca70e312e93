//! Dates in feeds: W3C format in sitemaps and Atom, RFC 2822 in RSS, and common deviations.

use jiff::civil::DateTime;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::TimeZone;
use pharos_core::Timestamp;

use crate::metadata::iso_date;

/// Weekdays are often wrong and redundant.
static RFC_2822: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// Parses a date. An imprecise date means the beginning of the day, month or year; without a time zone, UTC is
/// assumed.
pub(super) fn parse_feed_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(at) = RFC_2822.parse_timestamp(text) {
        return Some(Timestamp::from_millis(at.as_millisecond()));
    }
    let whole = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => iso_date(text)?,
    };
    Timestamp::parse(&whole).or_else(|| {
        let at = whole.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?;
        Some(Timestamp::from_millis(at.timestamp().as_millisecond()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_feeds_write_them() {
        for (text, expected) in [
            ("2005", "2005-01-01T00:00:00Z"),
            ("2005-02", "2005-02-01T00:00:00Z"),
            ("2005-02-03", "2005-02-03T00:00:00Z"),
            ("2005-02-03T04:05Z", "2005-02-03T04:05:00Z"),
            ("2005-02-03T04:05:06.789+08:00", "2005-02-02T20:05:06Z"),
            ("2005-02-03 04:05:06", "2005-02-03T04:05:06Z"),
            ("Thu, 03 Feb 2005 04:05:06 GMT", "2005-02-03T04:05:06Z"),
            ("Mon, 3 Feb 2005 04:05 +0100", "2005-02-03T03:05:00Z"),
            ("2005/2/3", "2005-02-03T00:00:00Z"),
        ] {
            assert_eq!(parse_feed_date(text).map(|at| at.to_string()).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "soon", "20-01-2005", "2005-13-01", "9999999999", "年年年年", "2005-99"] {
            assert_eq!(parse_feed_date(text), None, "{text}");
        }
    }
}
