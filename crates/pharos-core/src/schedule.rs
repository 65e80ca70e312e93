//! Times of day and days of the week in a time zone: recurring times and weekly windows.
//!
//! Local times follow the clock on the wall. A time that a change to daylight saving time skips is taken at the moment
//! of the change, and a time that occurs twice is taken once, at its first occurrence.

mod recurrence;
mod week_days;
mod window;
mod zone;

pub use recurrence::Recurrence;
pub use week_days::WeekDays;
pub use window::TimeWindow;
pub use zone::Zone;

/// Minutes of a day, the end of the last window of a day.
const DAY_MINUTES: u16 = 24 * 60;
/// Number of days searched for the next time: a week, and a day more because today's time may be over.
const SEARCHED_DAYS: i32 = 8;

/// Parses a time of day, `03:30`, as minutes since midnight. `24:00` is the end of the day.
fn parse_time(text: &str) -> Option<u16> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |text: &str| {
        let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|_| is_number)
    };
    let (hours, minutes) = (number(hours)?, number(minutes).filter(|minutes| *minutes < 60)?);
    Some(hours * 60 + minutes).filter(|time| *time <= DAY_MINUTES)
}

/// Formats minutes since midnight as `03:30`.
fn format_time(minutes: u16) -> String {
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}
