//! Dates as day numbers.

use jiff::Span;
use jiff::civil::{Date, date};

/// Parses a date such as `2026-01-31` into days since 1970-01-01. Returns `None` for invalid dates and for years
/// outside 1 to 9999, because pages may claim any date.
pub fn parse(text: &str) -> Option<i64> {
    let day: Date = text.get(..10)?.parse().ok()?;
    let is_date = text.as_bytes().get(10).is_none_or(|behind| *behind == b'T');
    (is_date && day.year() >= 1).then(|| day.duration_since(date(1970, 1, 1)).as_hours() / 24)
}

/// Formats a day number as `2026-01-31`.
pub fn format(day: i64) -> String {
    let date = Span::new().try_days(day).ok().and_then(|span| date(1970, 1, 1).checked_add(span).ok());
    date.map(|date| date.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_and_nonsense_is_no_day() {
        assert_eq!(parse("1970-01-01"), Some(0));
        assert_eq!(parse("2000-02-29"), Some(11_016));
        assert_eq!((format(11_016).as_str(), format(i64::MAX).as_str()), ("2000-02-29", ""));
        assert_eq!(parse("2026-11-16T21:00:00Z"), Some(20_773));
        let nonsense = [
            "",
            "0000-01-01",
            "99999-01-01",
            "2026-02-29",
            "2026-13-01",
            "2026-1-1",
            "灯塔灯塔灯塔",
            "2026-01-311",
        ];
        assert!(nonsense.iter().all(|text| parse(text).is_none()));
    }
}
