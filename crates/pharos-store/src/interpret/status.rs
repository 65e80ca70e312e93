//! The meaning of HTTP statuses for a page. No other code compares status numbers.

/// The meaning of the HTTP status of a response for its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusMeaning {
    /// The response contains the page (2xx).
    Content,
    /// The page is the same as at the last visit (304).
    NotModified,
    /// The page is at another URL (other 3xx).
    Moved,
    /// There is no page; this may be temporary (404).
    Missing,
    /// There is no page any more (410).
    Gone,
    /// The client sent too many requests (429).
    RateLimited,
    /// The server is overloaded or being maintained (503).
    Unavailable,
    /// The server failed (other 5xx).
    ServerError,
    /// The server refuses the request (other 4xx).
    Denied,
}

impl StatusMeaning {
    /// Returns the meaning of a status. Numbers outside the standard are treated like server errors.
    pub fn from_status(status: u16) -> Self {
        match status {
            200..=299 => Self::Content,
            304 => Self::NotModified,
            300..=399 => Self::Moved,
            404 => Self::Missing,
            410 => Self::Gone,
            429 => Self::RateLimited,
            503 => Self::Unavailable,
            400..=499 => Self::Denied,
            _ => Self::ServerError,
        }
    }

    /// Returns `true` if a response determines what the page is from now on.
    ///
    /// Server errors and refused requests do not, nor does the first 404 of a page that existed (`is_refetch`), which
    /// is fetched once more.
    pub fn settles(self, is_refetch: bool) -> bool {
        match self {
            Self::Content | Self::NotModified | Self::Moved | Self::Gone => true,
            Self::Missing => !is_refetch,
            Self::RateLimited | Self::Unavailable | Self::ServerError | Self::Denied => false,
        }
    }

    /// Returns `true` if the page has content: its own, or that of the last visit.
    pub fn has_content(self) -> bool {
        matches!(self, Self::Content | Self::NotModified)
    }

    /// Returns `true` if there is no page.
    pub fn is_absent(self) -> bool {
        matches!(self, Self::Missing | Self::Gone)
    }

    /// Returns `true` if another attempt may succeed soon.
    pub fn is_temporary(self) -> bool {
        self.is_overload() || self == Self::ServerError
    }

    /// Returns `true` if the server asks for fewer requests.
    pub fn is_overload(self) -> bool {
        matches!(self, Self::RateLimited | Self::Unavailable)
    }

    /// Returns `true` for an error of any kind.
    pub fn is_error(self) -> bool {
        self.is_absent() || self.is_temporary() || self == Self::Denied
    }
}

/// Returns `true` if a response with this status contains a page, whole or in part.
pub fn is_success(status: u16) -> bool {
    StatusMeaning::from_status(status) == StatusMeaning::Content
}

/// Returns `true` if a response with this status contains the whole page. Only such a response can be revisited by a
/// conditional request, or be referred to by a later record.
pub fn is_whole_page(status: u16) -> bool {
    status == 200
}

/// Returns `true` if a response with this status contains a part of the content, although no range was requested.
pub fn is_partial(status: u16) -> bool {
    status == 206
}

/// Returns `true` if a page can be reported with this status: a final response with its own content.
pub fn is_page_status(status: u16) -> bool {
    (200..600).contains(&status) && StatusMeaning::from_status(status) != StatusMeaning::NotModified
}

/// Returns `true` if the server denies access to the client.
pub fn is_forbidden(status: u16) -> bool {
    matches!(status, 401 | 403)
}

/// Returns `true` if a response with this status names the URL to request instead.
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_one_meaning() {
        let all = |statuses: &[u16]| {
            let mut meanings: Vec<_> = statuses.iter().map(|s| StatusMeaning::from_status(*s)).collect();
            meanings.dedup();
            assert_eq!(meanings.len(), 1, "{statuses:?}");
            meanings[0]
        };
        assert_eq!(all(&[200, 203, 299]), StatusMeaning::Content);
        assert_eq!(all(&[300, 301, 302, 303, 307, 308, 399]), StatusMeaning::Moved);
        assert_eq!(all(&[400, 401, 403, 405, 451]), StatusMeaning::Denied);
        assert_eq!(all(&[0, 100, 500, 502, 504, 599, 999, u16::MAX]), StatusMeaning::ServerError);
    }

    #[test]
    fn errors_that_may_pass_settle_nothing() {
        let settles = |status, is_refetch| StatusMeaning::from_status(status).settles(is_refetch);
        assert!([200, 301, 304, 410].iter().all(|s| settles(*s, true) && settles(*s, false)));
        assert!([403, 429, 500, 503].iter().all(|s| !settles(*s, true) && !settles(*s, false)));
        assert!(settles(404, false) && !settles(404, true), "a known page is fetched once more");
    }
}
