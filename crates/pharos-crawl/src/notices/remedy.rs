//! Remedies of an operator for pages that yield nothing.

use std::fmt;

use pharos_store::catalog::PageProblem;

/// A remedy for a problem. The text is that of the command line; the desk has its own in each language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    AllowPrivate,
    AddressRanges,
    Contact,
    HostName,
    Server,
    Network,
    Certificate,
    NotHttp,
    Robots,
    Rule,
    MediaType,
    Path,
    Access,
    Later,
    Empty,
    Limit,
    Quarantine,
}

/// Beginnings or parts of the reasons of failures, in the wording of [`FetchError`](crate::FetchError).
const FAILURES: [(&str, Remedy); 16] = [
    ("private address", Remedy::AllowPrivate),
    ("crawl.allow_addresses", Remedy::AddressRanges),
    ("crawl.forbid_addresses", Remedy::AddressRanges),
    ("is a public address", Remedy::Contact),
    ("name not found", Remedy::HostName),
    ("name server", Remedy::Network),
    ("connection refused", Remedy::Server),
    ("connection reset", Remedy::Server),
    ("connection closed", Remedy::Server),
    ("timed out", Remedy::Network),
    ("unreachable", Remedy::Network),
    ("tls", Remedy::Certificate),
    ("not HTTP", Remedy::NotHttp),
    ("response header exceeds", Remedy::NotHttp),
    ("status", Remedy::Later),
    ("crawl.types", Remedy::MediaType),
];

impl Remedy {
    /// Returns the remedy for a problem with this reason.
    pub fn for_problem(problem: PageProblem, reason: &str) -> Option<Self> {
        match problem {
            PageProblem::Failed => {
                FAILURES.iter().find(|(part, _)| reason.contains(part)).map(|(_, remedy)| *remedy)
            }
            PageProblem::Refused if reason.contains("crawl.types") => Some(Self::MediaType),
            PageProblem::Refused if reason.starts_with("robots.txt") => Some(Self::Robots),
            PageProblem::Refused => Some(Self::Rule),
            PageProblem::Quarantined => Some(Self::Quarantine),
            PageProblem::NotFound => Some(Self::Path),
            PageProblem::Denied => Some(Self::Access),
            PageProblem::ServerError => Some(Self::Later),
            PageProblem::Empty => Some(Self::Empty),
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AllowPrivate => "start with --allow-private, or set crawl.allow_private = true",
            Self::AddressRanges => "change crawl.allow_addresses or crawl.forbid_addresses",
            Self::Contact => "start with --contact you@example.org, or set crawl.contact",
            Self::HostName => "check the spelling of the host name",
            Self::Server => "check that the server is running, and the host and port of the URL",
            Self::Network => "check the URL, the network and the firewall; it is tried again later",
            Self::Certificate => "check the certificate of the server and the clock of this machine",
            Self::NotHttp => "check that the port of the URL is that of a web server",
            Self::Robots => "the owner of the site forbids this page to crawlers: ask the owner, or add another page",
            Self::Rule => "change the rule if you want the page",
            Self::MediaType => "add the media type to crawl.types if you want the page",
            Self::Path => "check the path of the URL",
            Self::Access => "the server denies access to the crawler: ask its owner",
            Self::Later => "the server fails or is overloaded; it is tried again later",
            Self::Empty => {
                "add a page with text or links; pages that only JavaScript fills and pages with noindex cannot be searched"
            }
            Self::Limit => "raise the limit if you want more pages",
            Self::Quarantine => "see the page report; the page is stored and can be fetched again",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::FetchError;

    #[test]
    fn every_failure_of_a_fetch_has_a_remedy() {
        let address = "10.0.0.1".parse().unwrap();
        for (error, remedy) in [
            (FetchError::NameNotFound, Remedy::HostName),
            (FetchError::NameServer("refused".into()), Remedy::Network),
            (FetchError::PrivateAddress(address), Remedy::AllowPrivate),
            (FetchError::NoContact { address, site: "http://a/".into() }, Remedy::Contact),
            (FetchError::Connection("connection refused".into()), Remedy::Server),
            (FetchError::Connection("host unreachable".into()), Remedy::Network),
            (FetchError::TimedOut { after: Duration::from_secs(1), doing: "connecting" }, Remedy::Network),
            (FetchError::Tls("certificate expired".into()), Remedy::Certificate),
            (FetchError::NotHttp("response is not HTTP".into()), Remedy::NotHttp),
        ] {
            let reason = format!("robots.txt could not be fetched: {error}");
            assert_eq!(Remedy::for_problem(PageProblem::Failed, &reason), Some(remedy), "{reason}");
        }
        let remedy = |problem, reason| Remedy::for_problem(problem, reason);
        assert_eq!(remedy(PageProblem::Refused, "robots.txt: Disallow: /"), Some(Remedy::Robots));
        assert_eq!(remedy(PageProblem::Refused, "matches `*` of crawl.exclude"), Some(Remedy::Rule));
        assert_eq!(remedy(PageProblem::Failed, "a new kind of failure"), None);
    }
}
