//! The tab-separated form of the Yandex sets: query, grade, URL, group, and one column per feature.

use super::letor::{MAX_FEATURE, parse_value, shorten};

/// Columns before the features.
const BEFORE: usize = 4;

/// A parsed line. `features` are written to a buffer of the caller.
pub(super) struct TableLine<'a> {
    pub(super) query: &'a str,
    pub(super) label: &'a str,
    pub(super) document: &'a str,
}

/// Returns `true` if a line has this form and not the LETOR form.
pub(super) fn has_form(line: &str) -> bool {
    let mut columns = line.split('\t');
    let before = columns.by_ref().take(BEFORE).count();
    before == BEFORE && columns.next().is_some_and(|first| !first.contains(':'))
}

/// Parses a line into `features`, numbered from one.
pub(super) fn parse_line<'a>(line: &'a str, features: &mut Vec<(u32, f32)>) -> Result<TableLine<'a>, String> {
    features.clear();
    let mut columns = line.split('\t').map(str::trim);
    let (Some(query), Some(label), Some(document), Some(_group)) =
        (columns.next(), columns.next(), columns.next(), columns.next())
    else {
        return Err(format!(
            "`{}` has too few columns: expected query, grade, URL, group and features, separated by tabs",
            shorten(line)
        ));
    };
    for (number, text) in (1..).zip(columns) {
        if number > MAX_FEATURE {
            return Err(format!("more than {MAX_FEATURE} features"));
        }
        let value = if text.is_empty() { f32::NAN } else { parse_value(text)? };
        features.push((number, value));
    }
    Ok(TableLine { query, label, document: document.split_ascii_whitespace().next().unwrap_or("") })
}
