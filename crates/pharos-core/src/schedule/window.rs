//! Weekly windows: from a time of day until another, on some days of the week.

use std::fmt;

use jiff::ToSpan as _;

use super::{DAY_MINUTES, SEARCHED_DAYS, WeekDays, Zone, format_time, parse_time};
use crate::Timestamp;

/// A window of time that repeats weekly, written as `22:00-06:00` or `mon-fri/22:00-06:00`.
///
/// A window that passes midnight belongs to the day on which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    days: WeekDays,
    /// Start and end in minutes since midnight.
    from: u16,
    until: u16,
}

impl TimeWindow {
    /// Parses a window. A window without duration is rejected.
    pub fn parse(text: &str) -> Option<Self> {
        let (days, times) = match text.split_once('/') {
            Some((days, times)) => (WeekDays::parse(days)?, times),
            None => (WeekDays::ALL, text),
        };
        let (from, until) = times.split_once('-')?;
        let (from, until) = (parse_time(from)?, parse_time(until)?);
        (from < DAY_MINUTES && from != until).then_some(Self { days, from, until })
    }

    /// Returns `true` if the window is open.
    pub fn is_open(self, at: Timestamp, zone: &Zone) -> bool {
        let local = zone.local(at);
        let today = local.weekday().to_monday_zero_offset();
        let minutes = u16::try_from(i32::from(local.hour()) * 60 + i32::from(local.minute())).unwrap_or(0);
        if self.from < self.until {
            return self.days.contains(today) && (self.from..self.until).contains(&minutes);
        }
        (self.days.contains(today) && minutes >= self.from)
            || (self.days.contains(today - 1) && minutes < self.until)
    }

    /// Returns the next time at which the window opens.
    pub fn next_opening(self, after: Timestamp, zone: &Zone) -> Option<Timestamp> {
        let today = zone.local(after).date();
        (0..=SEARCHED_DAYS).find_map(|offset| {
            let date = today.checked_add(offset.days()).ok()?;
            let moment = zone.moment(date, self.from);
            let begins = self.days.contains(date.weekday().to_monday_zero_offset()) && moment > after;
            // A window that a change of the clock skips as a whole does not open.
            (begins && self.is_open(moment, zone)).then_some(moment)
        })
    }

    /// Returns start and end of the window if it begins on a day, counted from Monday.
    pub fn begins_on(self, day: i8) -> Option<(String, String)> {
        self.days.contains(day).then(|| (format_time(self.from), format_time(self.until)))
    }
}

impl fmt::Display for TimeWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.days != WeekDays::ALL {
            write!(f, "{}/", self.days)?;
        }
        write!(f, "{}-{}", format_time(self.from), format_time(self.until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn window(text: &str) -> TimeWindow {
        TimeWindow::parse(text).unwrap()
    }

    #[test]
    fn windows_are_read_and_printed() {
        for text in ["22:00-06:00", "mon-fri/22:00-06:00", "sat,sun/00:00-24:00"] {
            assert_eq!(window(text).to_string(), text);
        }
        for bad in
            ["", "22:00", "22:00-22:00", "24:00-06:00", "mon/", "mon 22:00-06:00", "22-06", "/1:00-2:00"]
        {
            assert_eq!(TimeWindow::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_window_is_open_between_its_times() {
        let zone = Zone::parse("Asia/Shanghai").unwrap();
        let open = |text: &str, moment: &str| window(text).is_open(at(moment), &zone);
        // 2026-01-30 is a Friday.
        assert!(!open("22:00-06:00", "2026-01-30T13:59:59Z") && open("22:00-06:00", "2026-01-30T14:00:00Z"));
        assert!(open("22:00-06:00", "2026-01-30T21:59:59Z") && !open("22:00-06:00", "2026-01-30T22:00:00Z"));
        assert!(open("fri/22:00-06:00", "2026-01-30T21:00:00Z"), "the night belongs to Friday");
        assert!(
            !open("fri/22:00-06:00", "2026-01-29T21:00:00Z")
                && !open("sat/22:00-06:00", "2026-01-30T15:00:00Z")
        );
        assert!(open("sat,sun/00:00-24:00", "2026-01-30T16:00:00Z"));
    }

    #[test]
    fn the_next_opening_is_found_within_a_week() {
        let zone = Zone::parse("Z").unwrap();
        let next = |text: &str, after: &str| window(text).next_opening(at(after), &zone).unwrap().to_string();
        assert_eq!(next("22:00-06:00", "2026-01-30T12:00:00Z"), "2026-01-30T22:00:00Z");
        assert_eq!(next("22:00-06:00", "2026-01-30T23:00:00Z"), "2026-01-31T22:00:00Z");
        assert_eq!(next("fri/22:00-06:00", "2026-01-30T22:00:00Z"), "2026-02-06T22:00:00Z");
    }

    #[test]
    fn changes_of_daylight_saving_time_shift_windows() {
        let zone = Zone::parse("Europe/Berlin").unwrap();
        let next = |text: &str, after: &str| window(text).next_opening(at(after), &zone).unwrap().to_string();
        let night = window("02:30-05:00");
        // Spring: 02:00 is followed by 03:00, when the window is open already.
        assert_eq!(next("02:30-05:00", "2026-03-28T22:00:00Z"), "2026-03-29T01:00:00Z");
        assert!(night.is_open(at("2026-03-29T01:00:00Z"), &zone));
        assert!(!night.is_open(at("2026-03-29T00:59:59Z"), &zone));
        assert_eq!(
            next("02:10-02:50", "2026-03-28T22:00:00Z"),
            "2026-03-30T00:10:00Z",
            "it never opens then"
        );
        // Autumn: the hour from 02:00 to 03:00 occurs twice.
        assert_eq!(next("02:30-05:00", "2026-10-24T22:00:00Z"), "2026-10-25T00:30:00Z");
        assert!(night.is_open(at("2026-10-25T01:30:00Z"), &zone), "the second 02:30");
        assert!(!night.is_open(at("2026-10-25T04:00:00Z"), &zone));
    }

    proptest::proptest! {
        #[test]
        fn no_text_and_no_time_panics(text in "[\\PC:0-9/-]{0,20}", millis in proptest::prelude::any::<i64>()) {
            let (zone, at) = (Zone::parse("Europe/Berlin").unwrap(), Timestamp::from_millis(millis));
            let window = TimeWindow::parse(&text).unwrap_or(TimeWindow { days: WeekDays::ALL, from: 60, until: 30 });
            let _ = (window.is_open(at, &zone), window.next_opening(at, &zone));
        }
    }
}
