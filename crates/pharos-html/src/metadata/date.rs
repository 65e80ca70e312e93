//! Dates in the forms used by people and programs, in Chinese and in English.
//!
//! [`parse_date`] parses a text that begins with a date; [`find_dates`] searches running text for dates.

mod forms;
mod scanner;
mod time;

use jiff::civil::Date;
use pharos_core::work::spend_work;

use forms::{DateContext, compact, written, year_first};
use scanner::{DateScanner, chinese_digit};

/// Range of plausible years of a page.
const YEARS: std::ops::RangeInclusive<i16> = 1900..=2100;

/// Numbers of digits of a Unix time in seconds and in milliseconds.
const UNIX_DIGITS: [usize; 2] = [10, 13];

/// A date, with the time of day if given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedDate {
    /// The day; the first of the month if no day is given.
    pub(crate) day: Date,
    pub(crate) has_day: bool,
    /// `10:20:00`, with the zone if given: `10:20:00+08:00`.
    pub(crate) time: Option<String>,
}

impl ParsedDate {
    fn new(year: i16, month: i8, day: Option<i8>) -> Option<Self> {
        if !YEARS.contains(&year) {
            return None;
        }
        let has_day = day.is_some();
        Some(Self { day: Date::new(year, month, day.unwrap_or(1)).ok()?, has_day, time: None })
    }

    /// Returns `true` if the time is in UTC.
    pub(crate) fn is_universal(&self) -> bool {
        self.time.as_deref().is_some_and(|time| time.ends_with('Z') || time.ends_with("+00:00"))
    }

    /// Formats the date as ISO 8601; `2008-12` if the day is unknown.
    pub(crate) fn to_iso(&self) -> String {
        match &self.time {
            _ if !self.has_day => self.day.strftime("%Y-%m").to_string(),
            Some(time) => format!("{}T{time}", self.day),
            None => self.day.to_string(),
        }
    }
}

/// Parses a text that begins with year, month and day in this order, and returns ISO 8601: `2026/1/31`, `20260131`,
/// `2026年1月31日 12:05`, `2026-01-31T12:05:00+08:00`.
pub(crate) fn iso_date(text: &str) -> Option<String> {
    let mut rest = DateScanner(text.trim());
    let moment = compact(&mut rest).or_else(|| year_first(&mut rest, DateContext::Declared))?;
    moment.has_day.then(|| with_time(moment, rest).to_iso())
}

/// Parses a text that begins with a date in any form, possibly without the day: the forms of [`iso_date`], and
/// `Sat, 31 Jan 2026 12:05:00 GMT`, `January 31st, 2026`, `31/1/2026`, `1769832000`.
pub(crate) fn parse_date(text: &str) -> Option<ParsedDate> {
    let text = without_weekday(text.trim());
    let mut rest = DateScanner(text);
    match compact(&mut rest).or_else(|| written(&mut rest, DateContext::Declared)) {
        Some(moment) => Some(with_time(moment, rest)),
        None => parse_unix_time(text),
    }
}

/// A date found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundDate {
    /// Byte offset of its beginning.
    pub(crate) start: usize,
    /// Byte offset of its end, without the time of day.
    pub(crate) end: usize,
    pub(crate) moment: ParsedDate,
}

/// Order of day and month in dates such as `3/4/2008`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DateOrder {
    /// March 4th with slashes, as in the United States, otherwise 3 April.
    #[default]
    Unknown,
    /// 3 April.
    DayFirst,
    /// March 4th.
    MonthFirst,
}

/// Returns the first `max` dates in a text.
pub(crate) fn find_dates(text: &str, max: usize, order: DateOrder) -> Vec<FoundDate> {
    spend_work(text.len() as u64);
    let mut found = Vec::new();
    let mut before = None;
    let mut resume_at = 0;
    for (at, c) in text.char_indices() {
        let previous = before.replace(c);
        if at < resume_at || !may_begin_date(c, previous) {
            continue;
        }
        if found.len() >= max {
            break;
        }
        let mut rest = DateScanner(&text[at..]);
        let Some(moment) = written(&mut rest, DateContext::Running(order)) else { continue };
        let end = text.len() - rest.0.len();
        // A number that continues is not a date.
        let ends_in_digit = text[..end].ends_with(|c: char| c.is_ascii_digit());
        let after = rest.0.strip_prefix('.').unwrap_or(rest.0);
        if ends_in_digit && after.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        resume_at = end;
        found.push(FoundDate { start: at, end, moment: with_time(moment, rest) });
    }
    found
}

/// Returns `false` if a text cannot contain a date, which rules out nearly all lines of a page.
pub(crate) fn may_have_date(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit()) || text.contains('年')
}

fn may_begin_date(c: char, previous: Option<char>) -> bool {
    match c {
        '0'..='9' => {
            !previous.is_some_and(|p| p.is_ascii_alphanumeric() || matches!(p, '.' | '/' | '-' | ':' | '$'))
        }
        // First letters of the months.
        'A' | 'D' | 'F' | 'J' | 'M' | 'N' | 'O' | 'S' | 'a' | 'd' | 'f' | 'j' | 'm' | 'n' | 'o' | 's' => {
            !previous.is_some_and(char::is_alphanumeric)
        }
        '一' | '二' | '○' | '〇' => previous.is_none_or(|p| chinese_digit(p).is_none()),
        _ => false,
    }
}

/// Returns the order of day and month, if the text contains a date that is valid in one order only: `31/1/2026`.
pub(crate) fn detect_order(text: &str) -> DateOrder {
    spend_work(text.len() as u64);
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices(['/', '.', '-']) {
        let digits_before = bytes[..at].iter().rev().take(3).take_while(|b| b.is_ascii_digit()).count();
        let mut rest = DateScanner(&text[at - digits_before..]);
        let (Some(first), 1..=2) = (rest.number(1, 2), digits_before) else { continue };
        let Some(separator) = rest.any_of(&["/", ".", "-"]) else { continue };
        let Some(second) = rest.number(1, 2) else { continue };
        if rest.any_of(&[separator]).is_none() || rest.number(4, 4).is_none() {
            continue;
        }
        match (first, second) {
            (13..=31, 1..=12) => return DateOrder::DayFirst,
            (1..=12, 13..=31) => return DateOrder::MonthFirst,
            _ => {}
        }
    }
    DateOrder::Unknown
}

/// Parses seconds or milliseconds since 1970.
fn parse_unix_time(text: &str) -> Option<ParsedDate> {
    if !UNIX_DIGITS.contains(&text.len()) {
        return None;
    }
    let number: i64 = text.parse().ok()?;
    let seconds = if text.len() == UNIX_DIGITS[0] { number } else { number / 1000 };
    let at = jiff::Timestamp::from_second(seconds).ok()?.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    parse_date(&at)
}

/// Removes the weekday from `Sat, 31 Jan 2026` and `Saturday 31 January 2026`.
fn without_weekday(text: &str) -> &str {
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let is_weekday =
        text.get(..3).is_some_and(|start| DAYS.iter().any(|day| start.eq_ignore_ascii_case(day)));
    if !is_weekday {
        return text;
    }
    text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start_matches([',', '.']).trim_start()
}

fn with_time(mut moment: ParsedDate, rest: DateScanner<'_>) -> ParsedDate {
    moment.time = if moment.has_day { time::time_of_day(rest) } else { None };
    moment
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_of_many_shapes() {
        for (text, iso) in [
            ("2026-1-5", "2026-01-05"),
            ("20260131", "2026-01-31"),
            ("20260131120500", "2026-01-31"),
            (" 2026年1月31日 12:05 ", "2026-01-31T12:05:00"),
            ("2026/01/31 9:08:07", "2026-01-31T09:08:07"),
            ("2026-01-31T12:00:00.123Z", "2026-01-31T12:00:00Z"),
            ("2026-01-31T12:00:00-0530", "2026-01-31T12:00:00-05:30"),
            ("2026-01-31T99:99", "2026-01-31"),
            ("2024-02-29", "2024-02-29"),
            ("December 22, 2008", "2008-12-22"),
            ("Dec. 22nd 2008 at 10:20 pm", "2008-12-22T22:20:00"),
            ("22 Dec 2008", "2008-12-22"),
            ("Monday, 22nd of December, 2008", "2008-12-22"),
            ("Mon, 22 Dec 2008 10:20:00 GMT", "2008-12-22T10:20:00Z"),
            ("Mon Dec 22 2008 10:20:00 GMT+0800 (CST)", "2008-12-22T10:20:00+08:00"),
            ("2008 Dec 22", "2008-12-22"),
            ("12/22/2008", "2008-12-22"),
            ("22/12/2008", "2008-12-22"),
            ("05.03.2008", "2008-03-05"),
            ("03/05/2008", "2008-03-05"),
            ("二〇〇八年十二月二十二日", "2008-12-22"),
            ("一九九八年三月十日", "1998-03-10"),
            ("1229941200", "2008-12-22T10:20:00Z"),
            ("1229941200000", "2008-12-22T10:20:00Z"),
        ] {
            assert_eq!(parse_date(text).map(|m| m.to_iso()).as_deref(), Some(iso), "{text}");
        }
        for nonsense in ["", "yesterday", "2026", "2026-13-01", "2026-02-29", "0001-01-01", "２０２６", "May"]
        {
            assert_eq!(parse_date(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn months_are_dates_of_less_precision() {
        for (text, iso) in [("2008-12", "2008-12"), ("2008年12月", "2008-12"), ("March 1998", "1998-03")] {
            assert_eq!(parse_date(text).map(|m| m.to_iso()).as_deref(), Some(iso), "{text}");
        }
    }

    #[test]
    fn dates_are_found_in_running_text() {
        let found = |text: &str| {
            find_dates(text, 9, DateOrder::Unknown).into_iter().map(|f| f.moment.to_iso()).collect::<Vec<_>>()
        };
        assert_eq!(
            found("发布时间：2008年12月22日10:20 来源：新华网 (2008-12-23)"),
            ["2008-12-22T10:20:00", "2008-12-23"]
        );
        assert_eq!(found("新华网2008年12月22日电"), ["2008-12-22"]);
        assert_eq!(found("By Ann | Posted on May 3, 2020 | 14 comments"), ["2020-05-03"]);
        assert_eq!(found("May I ask? 1.2.2008.33, v2008.12.22, 3/4, 555-2008-12-22, 12008-12-22"), [""; 0]);
        assert_eq!(found("二○○五年三月一日于北京"), ["2005-03-01"]);
        let places = find_dates("on 22 Dec 2008.", 1, DateOrder::Unknown);
        assert_eq!((places[0].start, places[0].end), (3, 14));
    }

    #[test]
    fn day_month_order_is_detected() {
        assert_eq!(detect_order("on 23/12/2025 by"), DateOrder::DayFirst);
        assert_eq!(detect_order("é11.24.2025"), DateOrder::MonthFirst);
        assert_eq!(detect_order("23/45, http://a/2008/23/12, 3/4/2025"), DateOrder::Unknown);
        assert_eq!(find_dates("3/4/2025", 1, DateOrder::DayFirst)[0].moment.to_iso(), "2025-04-03");
    }

    /// At most ten steps per byte, whatever looks like the beginning of a date.
    #[test]
    fn the_work_of_finding_dates_is_linear() {
        for length in [4_000, 32_000] {
            for unit in [
                "1",
                "1 ",
                "1.",
                "2008-",
                "2008-12-22",
                "May ",
                "may",
                "1 may ",
                "1st of May, ",
                "Mon ",
                "二",
                "二〇〇八年",
                "2008年1月",
                "1/2/",
                "12/22/2008 10:20:30.",
                "May   ",
                "   ",
                "2008 ",
                "10:20",
                "20260131",
                "a 1-",
            ] {
                let text = unit.repeat(length / unit.len());
                let steps = measure_work(|| {
                    find_dates(&text, usize::MAX, detect_order(&text));
                    (parse_date(&text), iso_date(&text))
                });
                assert!(
                    steps.1 <= 10 * text.len() as u64,
                    "{unit}: {} steps for {} bytes",
                    steps.1,
                    text.len()
                );
            }
        }
    }

    proptest! {
        #[test]
        fn any_date_is_read_or_refused(text in "[0-9年月日T:./+Z -]{0,30}|\\PC{0,20}|(Mon|May|Dec|22|2008|[ ,.th一二十〇○年月日-]){0,12}") {
            iso_date(&text);
            parse_date(&text);
            detect_order(&text);
            for found in find_dates(&text, 100, DateOrder::DayFirst) {
                prop_assert!(text[found.start..found.end].len() >= 6);
            }
        }
    }
}
