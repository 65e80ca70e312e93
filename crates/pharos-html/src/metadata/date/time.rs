//! The time of day after a date, and its zone.

use super::scanner::DateScanner;

/// Parses `10:20`, `10:20:30 pm`, `T10:20:30.5+08:00`, `10时20分`; `None` if no time follows.
pub(super) fn time_of_day(mut rest: DateScanner<'_>) -> Option<String> {
    rest.any_of(&["T", "t", ""])?;
    rest.blanks();
    rest.any_of(&["at ", ", at ", ", ", ",", "- ", "| ", ""]);
    rest.blanks();
    let mut hour = rest.number(1, 2)?;
    rest.any_of(&[":", "：", "时", "点"])?;
    let minute = rest.number(2, 2)?;
    let second = match rest.any_of(&[":", "：", "分"]) {
        Some(_) => rest.number(2, 2).unwrap_or(0),
        None => 0,
    };
    if let Some(fraction) = rest.0.strip_prefix(['.', ',']) {
        rest.0 = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    let half = rest.0.trim_start().get(..2).unwrap_or_default().to_ascii_lowercase();
    match half.as_str() {
        "pm" | "p." if hour < 12 => hour += 12,
        "am" | "a." if hour == 12 => hour = 0,
        _ => {}
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(format!("{hour:02}:{minute:02}:{second:02}{}", zone(rest).unwrap_or_default()))
}

fn zone(mut rest: DateScanner<'_>) -> Option<String> {
    rest.blanks();
    // Browsers write `GMT+0800`.
    let is_universal = rest.any_of(&["Z", "z", "UTC", "GMT"]).is_some();
    let Some(sign) = rest.any_of(&["+", "-"]) else { return is_universal.then(|| "Z".into()) };
    let hours = rest.number(2, 2)?;
    rest.any_of(&[":", ""])?;
    let minutes = rest.number(2, 2).unwrap_or(0);
    (hours <= 15 && minutes <= 59).then(|| format!("{sign}{hours:02}:{minutes:02}"))
}
