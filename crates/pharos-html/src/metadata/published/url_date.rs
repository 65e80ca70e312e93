//! Dates in URLs.

use super::WEB_BEGINS;
use crate::metadata::date::{self, ParsedDate};

/// Returns the date in a URL: `/2008/12/22/`, `/20081222/`, `/2008-12/22/`; `/2008/12/` without the day.
pub(super) fn date_in_url(url: &str) -> Option<ParsedDate> {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest).split_once('/')?.1;
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let is_digit = |b: Option<&u8>| b.is_some_and(u8::is_ascii_digit);
    let bytes = path.as_bytes();
    let mut month_only = None;
    for at in 0..bytes.len() {
        if !is_digit(bytes.get(at)) || (at > 0 && is_digit(bytes.get(at - 1))) {
            continue;
        }
        let rest = &path[at..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let spaced = match digits {
            4 => rest.get(..10).or_else(|| rest.get(..9)).or_else(|| rest.get(..7)),
            8 => rest.get(..8),
            _ => None,
        };
        let Some(spaced) = spaced else { continue };
        let uniform = spaced.replace(['/', '_'], "-");
        let moment = [uniform.as_str(), uniform.trim_end_matches('-')]
            .into_iter()
            .find_map(date::parse_date)
            .or_else(|| compact_day(&uniform))
            .or_else(|| date::parse_date(uniform.get(..7)?))
            .filter(|moment| moment.day.year() >= WEB_BEGINS);
        match moment {
            Some(moment) if moment.has_day => return Some(moment),
            Some(moment) => month_only = month_only.or(Some(moment)),
            None => {}
        }
    }
    month_only
}

/// Parses `2008-1222`.
fn compact_day(text: &str) -> Option<ParsedDate> {
    let (year, rest) = text.split_once('-')?;
    let day = rest.get(..4).filter(|day| day.bytes().all(|b| b.is_ascii_digit()))?;
    date::parse_date(&format!("{year}{day}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_dates() {
        for (url, date) in [
            ("http://a.cn/2008/12/22/x.html", Some("2008-12-22")),
            ("http://a.cn/20081222/x.html", Some("2008-12-22")),
            ("http://a.cn/news/2008-12/22/c_1.htm", Some("2008-12-22")),
            ("http://a.cn/2008/1222/1.html", Some("2008-12-22")),
            ("http://a.cn/t20081222_5.htm", Some("2008-12-22")),
            ("http://a.cn/2008/12/x", Some("2008-12")),
            ("http://a.cn/2008/1/5/x", Some("2008-01-05")),
            ("http://a.cn/123456789/4000/99", None),
            ("http://a.cn/", None),
        ] {
            assert_eq!(date_in_url(url).map(|m| m.to_iso()).as_deref(), date, "{url}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_address_is_looked_through(url in "http://a/[0-9/_é-]{0,30}") {
            date_in_url(&url);
        }
    }
}
