//! Removes personal data from records before they are written (隐私).
//!
//! Queries are unlinked from identities, and digit strings are deleted (《走进搜索引擎》§6.5.2): numbers of identity
//! cards, telephones and bank cards are deleted from every text that a user typed. Records never contain IP
//! addresses ([`VisitHasher`](crate::visits::VisitHasher)). Of the referrer only the site is kept, of the entry page
//! only the path.

use std::borrow::Cow;

use crate::log::records::LogRecord;

/// Number of additional digits that a number with separators must have.
const SEPARATED_EXTRA: usize = 2;
/// Digits of an identity card number before its check character, which may be an X.
const IDENTITY_DIGITS: usize = 17;
const YEARS: std::ops::RangeInclusive<u32> = 1900..=2099;

/// Deletes long digit strings: `min_digits` or more in a row, or two more than that with single spaces, dots
/// or hyphens between them. Full-width digits, digits of other scripts, circled digits and plain Han digits
/// are included. Dates such as 2026-01-31 and lists of years are kept. 0 deletes nothing.
pub fn scrub(text: &str, min_digits: usize) -> Cow<'_, str> {
    if min_digits == 0 || !text.chars().any(is_digit) {
        return Cow::Borrowed(text);
    }
    let chars: Vec<char> = text.chars().collect();
    let mut keep = vec![true; chars.len()];
    let mut at = 0;
    while at < chars.len() {
        if is_digit(chars[at]) {
            let groups = digit_groups(&chars, at);
            at = groups.last().map_or(at, |group| group.1);
            delete(&chars, &groups, min_digits, &mut keep);
        }
        at += 1;
    }
    if keep.iter().all(|keep| *keep) {
        return Cow::Borrowed(text);
    }
    let kept: String = chars.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(c, _)| *c).collect();
    Cow::Owned(kept.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Marks the parts of a digit string to delete.
fn delete(chars: &[char], groups: &[(usize, usize)], min_digits: usize, keep: &mut [bool]) {
    let undated: Vec<&(usize, usize)> = groups
        .iter()
        .enumerate()
        .filter(|(n, _)| !in_date(chars, groups, *n))
        .map(|(_, group)| group)
        .collect();
    let digits: usize = undated.iter().map(|(start, end)| end - start).sum();
    let only_years = undated.iter().all(|group| is_year(chars, **group));
    if digits >= min_digits + SEPARATED_EXTRA && !only_years {
        // Dates inside it are deleted too: an identity card number contains the date of birth.
        let (start, mut end) = (groups[0].0, groups[groups.len() - 1].1);
        end += usize::from(digits == IDENTITY_DIGITS && is_check_character(&chars[end..]));
        keep[start..end].fill(false);
        return;
    }
    for &&(start, end) in undated.iter().filter(|(start, end)| end - start >= min_digits) {
        keep[start..end].fill(false);
    }
}

/// Returns the groups of digits from `start` on that are joined by single separators.
fn digit_groups(chars: &[char], start: usize) -> Vec<(usize, usize)> {
    let mut groups = Vec::new();
    let mut at = start;
    loop {
        let end = at + chars[at..].iter().take_while(|c| is_digit(**c)).count();
        groups.push((at, end));
        match chars.get(end..) {
            Some([separator, next, ..]) if is_separator(*separator) && is_digit(*next) => at = end + 1,
            _ => return groups,
        }
    }
}

/// Returns `true` if group `n` belongs to a date, three groups between spaces.
fn in_date(chars: &[char], groups: &[(usize, usize)], n: usize) -> bool {
    (n.saturating_sub(2)..=n).any(|first| {
        let Some(&[year, month, day]) = groups.get(first..first + 3) else { return false };
        let dashes = [chars[year.1], chars[month.1]];
        let alone = |separator: Option<&char>| separator.is_none_or(|c| *c == ' ' || !is_separator(*c));
        matches!(dashes, ['-', '-'] | ['.', '.'])
            && is_year(chars, year)
            && matches!(number(chars, month), Some(1..=12))
            && matches!(number(chars, day), Some(1..=31))
            && alone(year.0.checked_sub(1).and_then(|before| chars.get(before)))
            && alone(chars.get(day.1))
    })
}

fn is_year(chars: &[char], group: (usize, usize)) -> bool {
    group.1 - group.0 == 4 && number(chars, group).is_some_and(|year| YEARS.contains(&year))
}

/// Returns the value of a group of at most four ASCII digits.
fn number(chars: &[char], (start, end): (usize, usize)) -> Option<u32> {
    let digits = chars.get(start..end).filter(|digits| digits.len() <= 4)?;
    digits.iter().try_fold(0, |value, c| Some(10 * value + c.to_digit(10)?))
}

fn is_digit(c: char) -> bool {
    c.is_numeric() || matches!(c, '零' | '一' | '二' | '三' | '四' | '五' | '六' | '七' | '八' | '九' | '幺')
}

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '.' | '-' | '\u{3000}' | '．' | '－' | '·' | '‐' | '–' | '\u{a0}')
}

fn is_check_character(rest: &[char]) -> bool {
    matches!(rest, ['x' | 'X' | 'ｘ' | 'Ｘ', after @ ..] if !after.first().is_some_and(|c| c.is_ascii_alphanumeric()))
}

/// Scrubs the user-typed texts of a record. Called for every record before it is written.
pub(crate) fn scrub_record<R: LogRecord>(record: &mut R, min_digits: usize) {
    for text in record.user_texts() {
        if let Cow::Owned(scrubbed) = scrub(text, min_digits) {
            *text = scrubbed;
        }
    }
    record.truncate_addresses();
}

/// Returns the site of a referrer.
pub fn site_of(referrer: &str) -> &str {
    let rest = referrer.split_once("://").map_or(referrer, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}

/// Returns the path of an entry page, without the query string.
pub(crate) fn path_of(entry: &str) -> &str {
    entry.split(['?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::records::QueryRecord;

    #[test]
    fn digit_strings_of_queries_are_deleted() {
        let cases = [
            ("身份证 110101199001011237 查询", "身份证 查询"),
            ("11010119900101123X", ""),
            ("110101 1990-01-01 1237", ""),
            ("电话 13800138000 是谁", "电话 是谁"),
            ("电话１３８００１３８０００是谁", "电话是谁"),
            ("٠١٢٣٤٥٦٧ who", "who"),
            ("①③⑧⓪⓪①③⑧⓪⓪⓪", ""),
            ("一三八零零一三八零零零", ""),
            ("138 0013 8000", ""),
            ("138-0013-8000 王", "王"),
            ("010-62751234", ""),
            ("1234567", ""),
            ("card 6222.0200.1111.2222 x", "card x"),
            ("192.168.100.200", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(scrub(text, 7), expected, "{text}");
        }
    }

    #[test]
    fn dates_years_and_short_numbers_stay() {
        let cases = [
            "2026-01-31",
            "weather 2026-01-31 2026-02-01",
            "iphone 12 2024-09-10",
            "1998 1999 2000 2001",
            "123456",
            "windows 10",
            "北京 2008 奥运",
            "a  b",
            "",
            "3.14159",
        ];
        for text in cases {
            assert_eq!(scrub(text, 7), text);
        }
        assert_eq!(scrub("13800138000", 0), "13800138000");
        assert_eq!(scrub("123", 3), "");
    }

    #[test]
    fn addresses_are_reduced_to_site_and_path() {
        assert_eq!(site_of("https://me:secret@www.example.org:80/a?q=13800138000"), "www.example.org:80");
        assert_eq!(site_of("www.example.org"), "www.example.org");
        let mut record = QueryRecord {
            referrer: "https://other.example/search?q=me".into(),
            entry: "/search?q=13800138000".into(),
            query: "tel 13800138000".into(),
            filters: [("site".to_string(), "13800138000".to_string())].into(),
            ..QueryRecord::default()
        };
        scrub_record(&mut record, 7);
        assert_eq!((record.referrer.as_str(), record.entry.as_str()), ("other.example", "/search"));
        assert_eq!((record.query.as_str(), record.filters["site"].as_str()), ("tel", ""));
    }

    proptest::proptest! {
        #[test]
        fn no_long_run_survives_and_nothing_panics(text in "[0-9０-９ .\\-x一a]{0,40}|\\PC{0,40}", min in 1_usize..9) {
            let scrubbed = scrub(&text, min);
            let runs = scrubbed.split(|c| !is_digit(c));
            proptest::prop_assert!(runs.into_iter().all(|run| run.chars().count() < min.max(5)), "{scrubbed}");
        }
    }
}
