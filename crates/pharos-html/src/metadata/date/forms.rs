//! Parsers for the written forms of dates.

use pharos_core::work::spend_work;

use super::scanner::{DateScanner, chinese_digit};
use super::{DateOrder, ParsedDate};

/// Context from which a date is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DateContext {
    /// A text that is a date.
    Declared,
    /// A text that contains dates.
    Running(DateOrder),
}

/// Parses a date in any of the forms with separators or names.
pub(super) fn written(rest: &mut DateScanner<'_>, reading: DateContext) -> Option<ParsedDate> {
    let forms = [year_first, month_name_first, day_then_month_name, numeric_year_last, chinese_numerals];
    for form in forms {
        spend_work(1);
        let mut trial = DateScanner(rest.0);
        if let Some(moment) = form(&mut trial, reading) {
            rest.0 = trial.0;
            return Some(moment);
        }
    }
    None
}

/// Parses `20260131`, which in running text could be any number.
pub(super) fn compact(rest: &mut DateScanner<'_>) -> Option<ParsedDate> {
    let digits = rest.0.bytes().take_while(u8::is_ascii_digit).count();
    spend_work(1 + digits as u64);
    if digits != 8 && digits != 14 {
        return None;
    }
    let mut trial = DateScanner(rest.0);
    let (year, month, day) = (trial.number(4, 4)?, trial.number(2, 2)?, trial.number(2, 2)?);
    let moment = ParsedDate::new(year, small(month)?, Some(small(day)?))?;
    *rest = trial;
    Some(moment)
}

/// Parses `2026-1-31`, `2026/01/31`, `2026年1月31日`; `2026年1月` and declared `2026-01` without the day.
pub(super) fn year_first(rest: &mut DateScanner<'_>, reading: DateContext) -> Option<ParsedDate> {
    let year = rest.number(4, 4)?;
    let separator = rest.any_of(&["-", "/", ".", " 年 ", "年 ", " 年", "年", " - ", "－", " "])?;
    if separator == " " {
        return year_then_month_name(year, rest);
    }
    let month = small(rest.number(1, 2)?)?;
    if separator.contains('年') {
        rest.any_of(&[" 月 ", "月 ", " 月", "月"])?;
    } else if rest.any_of(&[separator]).is_none() {
        let is_whole = reading == DateContext::Declared && rest.0.is_empty();
        return is_whole.then(|| ParsedDate::new(year, month, None)).flatten();
    }
    match rest.number(1, 2) {
        Some(day) => {
            rest.any_of(&[" 日", "日", "号"]);
            ParsedDate::new(year, month, Some(small(day)?))
        }
        None if separator.contains('年') => ParsedDate::new(year, month, None),
        None => None,
    }
}

/// Parses `2026 Jan 31`, as used by journals.
fn year_then_month_name(year: i16, rest: &mut DateScanner<'_>) -> Option<ParsedDate> {
    let month = rest.month_name()?;
    rest.any_of(&[". ", " "])?;
    ParsedDate::new(year, month, Some(small(rest.number(1, 2)?)?))
}

/// Parses `January 31, 2026`, `Jan. 31st 2026`; `January 2026` without the day.
fn month_name_first(rest: &mut DateScanner<'_>, _: DateContext) -> Option<ParsedDate> {
    let month = rest.month_name()?;
    rest.any_of(&[". ", ".", " ", "-", "/"])?;
    rest.blanks();
    if let Some(year) = rest.number(4, 4) {
        return ParsedDate::new(year, month, None);
    }
    let day = small(rest.number(1, 2)?)?;
    rest.ordinal_ending();
    rest.any_of(&[", ", ",", " ,", " ", "-", "/"])?;
    rest.blanks();
    ParsedDate::new(rest.number(4, 4)?, month, Some(day))
}

/// Parses `31 January 2026`, `31st of Jan., 2026`, `31-Jan-2026`.
fn day_then_month_name(rest: &mut DateScanner<'_>, _: DateContext) -> Option<ParsedDate> {
    let day = small(rest.number(1, 2)?)?;
    rest.ordinal_ending();
    rest.any_of(&[" of ", ". ", " ", "-", "/", ""])?;
    let month = rest.month_name()?;
    rest.any_of(&["., ", ". ", ", ", ".", ",", " ", "-", "/"])?;
    rest.blanks();
    ParsedDate::new(rest.number(4, 4)?, month, Some(day))
}

/// Parses `31.01.2026`, `31/1/2026`, `1/31/2026`.
fn numeric_year_last(rest: &mut DateScanner<'_>, reading: DateContext) -> Option<ParsedDate> {
    let first = small(rest.number(1, 2)?)?;
    let separator = rest.any_of(&["/", ".", "-"])?;
    let second = small(rest.number(1, 2)?)?;
    rest.any_of(&[separator])?;
    let year = rest.number(4, 4)?;
    let is_american = match reading {
        DateContext::Running(DateOrder::DayFirst) => false,
        DateContext::Running(DateOrder::MonthFirst) => true,
        _ => separator == "/",
    };
    let is_month_first = second > 12 || (is_american && first <= 12);
    let (month, day) = if is_month_first { (first, second) } else { (second, first) };
    ParsedDate::new(year, month, Some(day))
}

/// Parses `二〇〇八年十二月二十二日`.
fn chinese_numerals(rest: &mut DateScanner<'_>, _: DateContext) -> Option<ParsedDate> {
    let mut year = 0;
    for _ in 0..4 {
        year = year * 10 + i16::from(chinese_digit(rest.character()?)?);
    }
    rest.any_of(&["年"])?;
    let month = rest.chinese_number()?;
    rest.any_of(&["月"])?;
    let day = rest.chinese_number();
    if day.is_some() {
        rest.any_of(&["日", "号"])?;
    }
    ParsedDate::new(year, month, day)
}

fn small(number: i16) -> Option<i8> {
    i8::try_from(number).ok()
}
