//! Parameters of the API. Invalid values are errors, unlike on the pages.

use std::ops::RangeInclusive;

use pharos_core::PageUrl;

use super::problem::ApiError;
use crate::server::visitor::Visitor;

/// The query parameters of a request.
#[derive(Clone, Copy)]
pub(crate) struct ApiParams<'v>(pub(crate) &'v Visitor);

impl<'v> ApiParams<'v> {
    /// Returns a text that may be given at most once.
    pub(crate) fn text(self, name: &'v str) -> Result<Option<&'v str>, ApiError> {
        let mut given = self.0.values(name);
        let first = given.next();
        match given.next() {
            None => Ok(first),
            Some(_) => Err(ApiError::bad_request(format!("parameter `{name}` is given more than once"))),
        }
    }

    /// Returns an integer within a range.
    pub(crate) fn number(self, name: &'v str, range: RangeInclusive<u64>) -> Result<Option<u64>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let all_digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse().ok().filter(|number| all_digits && range.contains(number));
        let (from, to) = range.into_inner();
        let wrong =
            || ApiError::bad_request(format!("parameter `{name}` must be an integer from {from} to {to}"));
        number.map(Some).ok_or_else(wrong)
    }

    /// Returns a count between 1 and `max`.
    pub(crate) fn count(self, name: &'v str, default: usize, max: u64) -> Result<usize, ApiError> {
        let given = self.number(name, 1..=max)?.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        Ok(given.unwrap_or_else(|| default.clamp(1, usize::try_from(max).unwrap_or(usize::MAX))))
    }

    /// Returns a flag; `false` if it is not given.
    pub(crate) fn flag(self, name: &'v str) -> Result<bool, ApiError> {
        match self.text(name)? {
            None | Some("0" | "false") => Ok(false),
            Some("1" | "true") => Ok(true),
            Some(_) => Err(ApiError::bad_request(format!("parameter `{name}` must be `1` or `0`"))),
        }
    }

    /// Returns one of the given choices.
    pub(crate) fn choice<T: Copy>(self, name: &'v str, choices: &[(&str, T)]) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let chosen = choices.iter().find(|(word, _)| *word == text).map(|(_, choice)| Some(*choice));
        chosen.ok_or_else(|| {
            let words: Vec<String> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
            ApiError::bad_request(format!("parameter `{name}` must be {}", words.join(" or ")))
        })
    }

    /// Returns the URL of a page.
    pub(crate) fn url(self, name: &'v str) -> Result<PageUrl, ApiError> {
        url(self.text(name)?.unwrap_or_default()).ok_or_else(|| {
            ApiError::bad_request(format!(
                "parameter `{name}` is missing or not a valid URL: use ?{name}=https://www.example.org/"
            ))
        })
    }
}

/// Parses a full URL.
pub(crate) fn url(text: &str) -> Option<PageUrl> {
    PageUrl::parse(text).ok()
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, StatusCode};

    use super::*;

    fn visitor(query: &str) -> Visitor {
        Visitor::new(&format!("/api/v1/search?{query}").parse().unwrap(), &HeaderMap::new())
    }

    fn is_bad<T>(outcome: &Result<T, ApiError>) -> bool {
        matches!(outcome, Err(ApiError::Client { status: StatusCode::BAD_REQUEST, .. }))
    }

    #[test]
    fn numbers_are_checked_and_bounded() {
        let number = |text: &str| ApiParams(&visitor(text)).number("n", 1..=100);
        assert_eq!(number("").unwrap(), None);
        assert_eq!(number("n=7").unwrap(), Some(7));
        assert_eq!(number("n=100").unwrap(), Some(100));
        for wrong in ["", "0", "101", "-1", "abc", "1.5", "%201", "+1", "99999999999999999999999"] {
            assert!(is_bad(&number(&format!("n={wrong}"))), "{wrong:?}");
        }
        assert_eq!(ApiParams(&visitor("")).count("n", 500, 100).unwrap(), 100);
    }

    #[test]
    fn everything_else_is_checked_too() {
        let given = visitor("a=1&b=false&c=x&d=1&d=1&u=https://a.example/");
        let params = ApiParams(&given);
        assert!(params.flag("a").unwrap() && !params.flag("b").unwrap() && !params.flag("e").unwrap());
        assert!(is_bad(&params.flag("c")) && is_bad(&params.flag("d")) && is_bad(&params.text("d")));
        assert_eq!(params.choice("c", &[("w", 1), ("x", 2)]).unwrap(), Some(2));
        assert!(is_bad(&params.choice("c", &[("w", 1), ("y", 2), ("z", 3)])));
        assert_eq!(params.url("u").unwrap().as_str(), "https://a.example/");
        assert!(is_bad(&params.url("a")) && is_bad(&params.url("v")));
    }
}
