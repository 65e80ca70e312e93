//! Normalised URLs, site names and their ids.
//!
//! Normalisation follows the WHATWG URL standard, RFC 3986 §6.2.2 and 《搜索引擎——原理、技术与系统》§6.1 (one page,
//! one URL).

mod escapes;
mod page_id;
mod query_parameters;
mod site;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;

pub use page_id::PageId;
pub use site::{SiteId, SiteName};

/// Version of the normalisation performed by [`PageUrl::parse`], recorded by every store that keeps ids. Version 2
/// removes visitor parameters, an empty `?` and the trailing dot of a host.
pub const NORMALISER_VERSION: u32 = 2;

/// Maximum length of a URL. Browsers and sitemaps agree on about 2,000.
const MAX_LENGTH: usize = 2_048;

/// An invalid page URL.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UrlError {
    /// The WHATWG parser rejected the text.
    #[error("invalid URL `{0}`: {1}; write it in full, as in https://www.example.org/")]
    Malformed(String, url::ParseError),
    /// The scheme is not http or https.
    #[error("unsupported URL `{0}`: only http and https can be fetched")]
    NotWeb(String),
    #[error("invalid URL `{0}`: it has no host")]
    NoHost(String),
    #[error("URL too long: {0} bytes, the maximum is {MAX_LENGTH}")]
    TooLong(usize),
}

/// The URL of a page, normalised by construction.
///
/// Normalisation is WHATWG parsing (lower-case host, punycode, no default port, no dot segments), followed by the
/// removal of the fragment, credentials, the trailing dot of the host, tracking and session parameters and an empty
/// query. Percent-escapes are written in upper case and only where needed. The order of the remaining parameters is
/// kept because it matters to some servers; see [`with_sorted_query`](Self::with_sorted_query).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PageUrl(Url);

impl PageUrl {
    /// Parses and normalises an absolute URL.
    ///
    /// # Errors
    /// Returns an error if the text is not a valid http or https URL of at most 2,048 bytes.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        check_length(text)?;
        Self::normalise(Url::parse(text.trim()).map_err(|e| UrlError::Malformed(shorten(text), e))?)
    }

    /// Parses a relative or absolute reference found on this page.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        join(&self.0, reference)
    }

    /// Parses a reference relative to `base`, which need not be the URL of a page (`<base href>`).
    pub fn join_to(base: &Url, reference: &str) -> Result<Self, UrlError> {
        join(base, reference)
    }

    fn normalise(mut url: Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::NotWeb(shorten(url.as_str())));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(UrlError::NoHost(shorten(url.as_str())));
        }
        url.set_fragment(None);
        // Neither can fail on http(s) URLs with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        drop_final_dot(&mut url)?;
        if url.as_str().contains('%') {
            let path = escapes::normalise_escapes(url.path());
            url.set_path(&path);
            if let Some(query) = url.query().map(escapes::normalise_escapes) {
                url.set_query(Some(&query));
            }
        }
        query_parameters::strip_visitor_parameters(&mut url);
        check_length(url.as_str())?;
        Ok(Self(url))
    }

    /// Returns the normalised URL.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the parsed URL.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// Returns `true` if the scheme is `https`.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Returns the host, without port.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Returns the port, explicit or default.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(80)
    }

    /// Returns path and query, as sent in a request line and matched by robots.txt rules.
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..]
    }

    /// Returns the site of this page.
    pub fn site(&self) -> SiteName {
        SiteName::from_stored(self.0[url::Position::BeforeHost..url::Position::AfterPort].to_string())
    }

    /// Returns the id of this page.
    pub fn id(&self) -> PageId {
        PageId::from_url(self)
    }

    /// Returns the home page (`/`) of the same server.
    pub fn home(&self) -> PageUrl {
        let mut url = self.0.clone();
        url.set_path("/");
        url.set_query(None);
        PageUrl(url)
    }

    /// Returns the URL with its query parameters sorted by name, for sites that ignore the order of parameters.
    #[must_use]
    pub fn with_sorted_query(&self) -> PageUrl {
        let mut url = self.0.clone();
        if let Some(query) = self.0.query() {
            url.set_query(Some(&query_parameters::sort_by_name(query)));
        }
        PageUrl(url)
    }

    /// Returns the directory depth (目录深度): the number of path segments. It is 0 for `http://www.pku.edu.cn` and 1
    /// for `http://www.pku.edu.cn/cs` (《搜索引擎——原理、技术与系统》§3.5).
    pub fn directory_depth(&self) -> usize {
        self.0.path().split('/').filter(|segment| !segment.is_empty()).count()
    }

    /// Returns the domain depth (域名深度): the number of host labels below the registrable domain
    /// (《搜索引擎——原理、技术与系统》, appendix A).
    pub fn domain_depth(&self) -> usize {
        let site = self.site();
        let below = &site.host()[..site.host().len() - site.domain().len()];
        below.bytes().filter(|b| *b == b'.').count()
    }

    /// Returns `true` if the URL is that of a home page (主页): `/`, `/index.html` and similar.
    pub fn is_home(&self) -> bool {
        let path = self.0.path().trim_start_matches('/');
        let name = path.split_once('.').map_or(path, |(name, _)| name);
        let is_usual = || ["index", "default", "home", "main"].iter().any(|n| name.eq_ignore_ascii_case(n));
        self.0.query().is_none() && (path.is_empty() || (!path.contains('/') && is_usual()))
    }

    /// Returns the directories above this page, from the nearest to the home page. Crawlers try them as likely URLs:
    /// `/a/` suggests `/` (《搜索引擎——原理、技术与系统》§6.1).
    pub fn parents(&self) -> impl Iterator<Item = PageUrl> + '_ {
        let path = self.0.path();
        // A directory is not its own parent, but it is the parent of its URLs with a query.
        let below = if self.0.query().is_none() { path.strip_suffix('/').unwrap_or(path) } else { path };
        below.rmatch_indices('/').map(move |(slash, _)| {
            let mut url = self.0.clone();
            url.set_path(&path[..=slash]);
            url.set_query(None);
            PageUrl(url)
        })
    }

    /// Returns the URL of `/robots.txt` on the same server.
    pub fn robots_txt(&self) -> PageUrl {
        self.on_same_server("/robots.txt")
    }

    /// Returns the URL of the icon of the same server, `/favicon.ico`.
    pub fn site_icon(&self) -> PageUrl {
        self.on_same_server("/favicon.ico")
    }

    fn on_same_server(&self, path: &str) -> PageUrl {
        let mut url = self.0.clone();
        url.set_path(path);
        url.set_query(None);
        PageUrl(url)
    }
}

fn join(base: &Url, reference: &str) -> Result<PageUrl, UrlError> {
    check_length(reference)?;
    PageUrl::normalise(base.join(reference.trim()).map_err(|e| UrlError::Malformed(shorten(reference), e))?)
}

/// Removes the trailing dot of a fully qualified host: `example.org.` is `example.org`.
fn drop_final_dot(url: &mut Url) -> Result<(), UrlError> {
    let Some(host) = url.host_str().filter(|host| host.ends_with('.')) else { return Ok(()) };
    let host = host.trim_end_matches('.').to_string();
    if host.is_empty() || url.set_host(Some(&host)).is_err() {
        return Err(UrlError::NoHost(shorten(url.as_str())));
    }
    Ok(())
}

fn check_length(text: &str) -> Result<(), UrlError> {
    if text.len() > MAX_LENGTH { Err(UrlError::TooLong(text.len())) } else { Ok(()) }
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.as_str())
    }
}

impl FromStr for PageUrl {
    type Err = UrlError;
    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for PageUrl {
    type Error = UrlError;
    fn try_from(text: String) -> Result<Self, UrlError> {
        Self::parse(&text)
    }
}

impl From<PageUrl> for String {
    fn from(url: PageUrl) -> String {
        url.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        PageUrl::parse(text).unwrap().as_str().to_string()
    }

    #[test]
    fn spellings_of_one_page_are_one_url() {
        for spelling in [
            "http://example.org/a%20b/~x?q=%C3%A9",
            "HTTP://EXAMPLE.org:80/c/../a%20b/%7ex?q=%c3%a9#part",
            "http://me:secret@example.org/a b/%7Ex?q=é",
            "  http://example.org/./a%20b/~x?q=%C3%a9 ",
        ] {
            assert_eq!(normal(spelling), "http://example.org/a%20b/~x?q=%C3%A9");
        }
        assert_eq!(normal("http://灯塔.example"), "http://xn--omsv47c.example/");
        assert_eq!(normal("http://example.org/foo/bar/../baz.html"), "http://example.org/foo/baz.html");
        assert_eq!(normal("http://example.org/%zz%4"), "http://example.org/%zz%4");
    }

    #[test]
    fn invalid_urls_are_rejected_with_a_reason() {
        for bad in [
            "",
            "no url",
            "ftp://example.org/",
            "mailto:a@b.c",
            "javascript:alert(1)",
            "http://",
            "file:///etc/passwd",
        ] {
            let error = PageUrl::parse(bad).unwrap_err().to_string();
            assert!(!error.is_empty() && !error.ends_with('.'), "{bad}: {error}");
        }
        assert_eq!(PageUrl::parse(&format!("http://a/{}", "x".repeat(3000))), Err(UrlError::TooLong(3009)));
    }

    #[test]
    fn ids_cluster_by_site_and_survive_bytes() {
        let a = PageUrl::parse("http://example.org/a").unwrap();
        let b = PageUrl::parse("https://example.org/b").unwrap();
        let other = PageUrl::parse("http://example.org:8080/a").unwrap();
        assert_eq!(a.id().site(), b.id().site());
        assert_ne!(a.id(), b.id());
        assert_ne!(a.id().site(), other.id().site());
        assert_eq!(PageId::from_bytes(a.id().to_bytes()), a.id());
        assert_eq!(a.id().to_string().parse::<PageId>().unwrap(), a.id());
    }

    /// Ids are written to every store, so the function must never change.
    #[test]
    fn ids_never_change() {
        assert_eq!(PageUrl::parse("http://example.org/").unwrap().id().to_string(), PINNED);
    }
    const PINNED: &str = "4037554f7ebcbf45b73dc5b066f53581";

    #[test]
    fn sites_know_host_and_domain() {
        let site = |u: &str| PageUrl::parse(u).unwrap().site();
        assert_eq!(site("https://news.example.com.cn/x").domain(), "example.com.cn");
        assert_eq!(site("http://127.0.0.1:8080/").domain(), "127.0.0.1");
        assert_eq!(site("http://[::1]:8080/").host(), "[::1]");
        assert_eq!(site("http://localhost/").domain(), "localhost");
        assert_eq!(site("http://a.b:99/x").as_str(), "a.b:99");
    }

    #[test]
    fn visitor_parameters_are_removed() {
        for (written, normalised) in [
            ("http://a.b/?utm_source=x&id=7&UTM_Medium=y&fbclid=Iw&b=1&gclid=", "http://a.b/?id=7&b=1"),
            ("http://a.b/x?spm=a2c6h.1&_ga=2.1&yclid=1&msclkid=2&mc_cid=3", "http://a.b/x"),
            ("http://a.b/x;jsessionid=1A2B.node1?q=1", "http://a.b/x?q=1"),
            ("http://a.b/x;v=2;JSESSIONID=1/y;jsession%69d=3", "http://a.b/x;v=2/y"),
            ("http://a.b/..;jsessionid=1/x", "http://a.b/x"),
            ("http://a.b/i.php?PHPSESSID=0&p=2", "http://a.b/i.php?p=2"),
            ("http://a.b/i.asp?ASPSESSIONIDQQABCDEF=X&CFID=1&CFTOKEN=2", "http://a.b/i.asp"),
            ("http://a.b/?sid=0123456789abcdef0", "http://a.b/"),
            ("http://a.b/?sid=17&session=morning", "http://a.b/?sid=17&session=morning"),
            ("http://a.b/?gclid_like=1&z=utm_source", "http://a.b/?gclid_like=1&z=utm_source"),
            ("http://a.b/?", "http://a.b/"),
            ("http://a.b/?&utm_id=1&", "http://a.b/"),
            ("http://a.b/?b=2&&a=1&", "http://a.b/?b=2&&a=1&"),
            ("http://example.org./x", "http://example.org/x"),
            ("http://127.0.0.1./", "http://127.0.0.1/"),
            ("http://0x7f.1../", "http://127.0.0.1/"),
        ] {
            assert_eq!(normal(written), normalised, "{written}");
        }
        assert!(matches!(PageUrl::parse("http://../x"), Err(UrlError::NoHost(_) | UrlError::Malformed(..))));
    }

    #[test]
    fn sorting_keeps_the_order_of_one_name() {
        let sorted = |text: &str| PageUrl::parse(text).unwrap().with_sorted_query().to_string();
        assert_eq!(sorted("http://a.b/?b=2&a=9&b=1&&a"), "http://a.b/?a=9&a&b=2&b=1");
        assert_eq!(sorted("http://a.b/x"), "http://a.b/x");
    }

    #[test]
    fn depths_of_the_literature() {
        let depths = |text: &str| {
            let url = PageUrl::parse(text).unwrap();
            (url.directory_depth(), url.domain_depth())
        };
        assert_eq!(depths("http://www.pku.edu.cn"), (0, 1));
        assert_eq!(depths("http://www.pku.edu.cn/cs"), (1, 1));
        assert_eq!(depths("http://pku.edu.cn/cs/"), (1, 0));
        assert_eq!(depths("http://a.b.pku.edu.cn:8080/a//b.html?c=/d"), (2, 2));
        assert_eq!(depths("http://127.0.0.1/a"), (1, 0));
        assert_eq!(depths("http://[::1]:81/"), (0, 0));
        assert_eq!(depths("http://localhost/"), (0, 0));
    }

    #[test]
    fn a_page_suggests_the_directories_above_it() {
        let parents = |text: &str| {
            let url = PageUrl::parse(text).unwrap();
            url.parents().map(|parent| parent.path_and_query().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(parents("http://www.pku.edu.cn/a/"), ["/"]);
        assert_eq!(parents("http://www.pku.edu.cn/a/b/c.html?d=/e"), ["/a/b/", "/a/", "/"]);
        assert_eq!(parents("http://www.pku.edu.cn/?q"), ["/"]);
        assert_eq!(parents("http://www.pku.edu.cn/"), [""; 0]);
    }

    #[test]
    fn www_variant_adds_or_removes_the_prefix() {
        let variant = |u: &str| PageUrl::parse(u).unwrap().site().www_variant().map(|site| site.to_string());
        assert_eq!(variant("https://www.example.org/").as_deref(), Some("example.org"));
        assert_eq!(variant("http://example.org:8080/").as_deref(), Some("www.example.org:8080"));
        assert_eq!(variant("http://news.example.co.uk/").as_deref(), Some("www.news.example.co.uk"));
        // A public suffix, an IP address and a name without a domain have none.
        for alone in [
            "http://www.co.uk/",
            "http://www.com/",
            "http://127.0.0.1/",
            "http://[::1]/",
            "http://localhost/",
        ] {
            assert_eq!(variant(alone), None, "{alone}");
        }
    }

    #[test]
    fn robots_txt_is_the_servers_own() {
        assert_eq!(
            PageUrl::parse("https://a.b:444/x?y").unwrap().robots_txt().as_str(),
            "https://a.b:444/robots.txt"
        );
        assert_eq!(
            PageUrl::parse("https://a.b:444/x?y").unwrap().site_icon().as_str(),
            "https://a.b:444/favicon.ico"
        );
    }

    proptest::proptest! {
        #[test]
        fn normalising_nested_escapes_is_idempotent(text in "[%0-9a-f]{0,16}") {
            let url = PageUrl::parse(&format!("http://example.org/{text}?{text}")).unwrap();
            proptest::prop_assert_eq!(PageUrl::parse(url.as_str()).unwrap(), url);
        }

        #[test]
        fn removing_parameters_is_idempotent(
            path in "[/;.%a2jsesionid=]{0,24}",
            query in "((utm_|sid|PHPSESSID|a|%75tm_)(=[a-f0-9%]{0,20})?[&;=]{0,2}){0,4}",
        ) {
            let url = PageUrl::parse(&format!("http://example.org./{path};jsessionid=1?{query}")).unwrap();
            proptest::prop_assert_eq!(PageUrl::parse(url.as_str()).unwrap(), url.clone());
            let sorted = url.with_sorted_query();
            proptest::prop_assert_eq!(PageUrl::parse(sorted.as_str()).unwrap(), sorted);
            for parent in url.parents() {
                proptest::prop_assert_eq!(PageUrl::parse(parent.as_str()).unwrap(), parent);
            }
        }

        #[test]
        fn normalising_any_text_is_idempotent(text in ".{0,200}") {
            for candidate in [text.clone(), format!("http://example.org/{text}")] {
                if let Ok(url) = PageUrl::parse(&candidate) {
                    proptest::prop_assert_eq!(PageUrl::parse(url.as_str()).unwrap(), url);
                }
            }
        }
    }
}
