//! URLs, sites and their ids.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// Version of the function that [`PageUrl::parse`] is; recorded by every store that keeps ids.
pub const NORMALISER_VERSION: u32 = 1;

/// Longer addresses are refused; what browsers and sitemaps agree on is about 2,000.
const MAX_LENGTH: usize = 2_048;

/// Why a text is not the address of a page.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UrlError {
    /// The WHATWG parser refused it.
    #[error("`{0}` is not a URL: {1}; write it in full, as in https://www.example.org/")]
    Malformed(String, url::ParseError),
    /// Something other than the web.
    #[error("`{0}` is not a web page: only http and https can be fetched")]
    NotWeb(String),
    /// No host name.
    #[error("`{0}` names no host")]
    NoHost(String),
    /// Too long to be one a person made.
    #[error("a URL of {0} bytes is too long: at most {MAX_LENGTH} are accepted")]
    TooLong(usize),
}

/// The address of a page, normalised by construction: WHATWG parsing (lower-case host, punycode, default port and
/// dot segments gone), no fragment, no credentials, percent-escapes in upper case and only where they are needed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PageUrl(Url);

impl PageUrl {
    /// Parses an absolute address.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        check_length(text)?;
        Self::normalise(Url::parse(text.trim()).map_err(|e| UrlError::Malformed(shorten(text), e))?)
    }

    /// Parses an address found on this page, relative or absolute.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        join(&self.0, reference)
    }

    /// Parses an address relative to `base`, where `base` need not be a page (`<base href>`).
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
        if url.as_str().contains('%') {
            let path = normalise_escapes(url.path());
            url.set_path(&path);
            if let Some(query) = url.query().map(normalise_escapes) {
                url.set_query(Some(&query));
            }
        }
        check_length(url.as_str())?;
        Ok(Self(url))
    }

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The parsed form.
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// `https`?
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The host, without port.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port that a connection goes to.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(80)
    }

    /// Path and query, as they stand in a request line and as robots.txt rules see them.
    pub fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..]
    }

    /// The site this page belongs to.
    pub fn site(&self) -> SiteName {
        SiteName(self.0[url::Position::BeforeHost..url::Position::AfterPort].to_string())
    }

    /// The page's id.
    pub fn id(&self) -> PageId {
        PageId::of(self)
    }

    /// The same server's `/robots.txt`.
    pub fn robots_txt(&self) -> PageUrl {
        let mut url = self.0.clone();
        url.set_path("/robots.txt");
        url.set_query(None);
        PageUrl(url)
    }
}

fn join(base: &Url, reference: &str) -> Result<PageUrl, UrlError> {
    check_length(reference)?;
    PageUrl::normalise(base.join(reference.trim()).map_err(|e| UrlError::Malformed(shorten(reference), e))?)
}

fn check_length(text: &str) -> Result<(), UrlError> {
    if text.len() > MAX_LENGTH { Err(UrlError::TooLong(text.len())) } else { Ok(()) }
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

/// RFC 3986 §6.2.2: escapes of unreserved characters are decoded, the others written in upper case. Repeated until
/// nothing changes, because decoding `%%341` makes a new escape; each round but the last makes the text shorter.
fn normalise_escapes(part: &str) -> String {
    let mut text = decode_unreserved(part);
    loop {
        let again = decode_unreserved(&text);
        if again == text {
            return text;
        }
        text = again;
    }
}

fn decode_unreserved(part: &str) -> String {
    let bytes = part.as_bytes();
    let mut out = String::with_capacity(part.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = |j: usize| bytes.get(j).and_then(|b| char::from(*b).to_digit(16));
        match (bytes[i], hex(i + 1), hex(i + 2)) {
            (b'%', Some(high), Some(low)) => {
                let byte = (high * 16 + low) as u8;
                if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
                    out.push(char::from(byte));
                } else {
                    out.push_str(&format!("%{byte:02X}"));
                }
                i += 3;
            }
            (byte, ..) => {
                // What `Url` hands out is ASCII, so a byte is a character.
                out.push(char::from(byte));
                i += 1;
            }
        }
    }
    out
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

/// A site: a host without scheme, with its port where that is not the usual one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteName(String);

impl SiteName {
    /// From a stored name, which came from [`PageUrl::site`].
    pub fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// `www.example.org` or `localhost:8080`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host, without port.
    pub fn host(&self) -> &str {
        match self.0.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
            _ => &self.0,
        }
    }

    /// The registrable domain (`example.org`), or the host itself where there is none (an address, `localhost`).
    pub fn domain(&self) -> &str {
        let host = self.host();
        if host.parse::<std::net::Ipv4Addr>().is_ok() || host.starts_with('[') {
            return host;
        }
        psl::domain_str(host).unwrap_or(host)
    }

    /// The site's id.
    pub fn id(&self) -> SiteId {
        SiteId(xxh3_64(self.0.as_bytes()))
    }
}

impl fmt::Display for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A site's id: the hash of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u64);

/// A page's id: 64 bits of its site and 64 of its URL, so that pages of a site lie together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(u128);

impl PageId {
    /// The id of a page.
    pub fn of(url: &PageUrl) -> Self {
        Self::from_parts(url.site().id(), xxh3_64(url.as_str().as_bytes()))
    }

    /// From its two halves.
    pub fn from_parts(site: SiteId, page: u64) -> Self {
        Self((u128::from(site.0) << 64) | u128::from(page))
    }

    /// The half that stands for the site.
    pub fn site(self) -> SiteId {
        SiteId((self.0 >> 64) as u64)
    }

    /// The half that stands for the URL.
    pub fn page(self) -> u64 {
        self.0 as u64
    }

    /// Big-endian bytes, which sort as the ids do.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Back from [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }
}

/// 32 hexadecimal digits, as in the address of a snapshot.
impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageId({self})")
    }
}

impl FromStr for PageId {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Self)
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
    fn what_is_no_web_page_is_refused_with_a_reason() {
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

    /// Ids are written into every store: this pins the function.
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
    fn robots_txt_is_the_servers_own() {
        assert_eq!(
            PageUrl::parse("https://a.b:444/x?y").unwrap().robots_txt().as_str(),
            "https://a.b:444/robots.txt"
        );
    }

    proptest::proptest! {
        #[test]
        fn escapes_within_escapes_come_to_rest(text in "[%0-9a-f]{0,16}") {
            let url = PageUrl::parse(&format!("http://example.org/{text}?{text}")).unwrap();
            proptest::prop_assert_eq!(PageUrl::parse(url.as_str()).unwrap(), url);
        }

        #[test]
        fn any_text_parses_or_is_refused_and_normalising_twice_changes_nothing(text in ".{0,200}") {
            for candidate in [text.clone(), format!("http://example.org/{text}")] {
                if let Ok(url) = PageUrl::parse(&candidate) {
                    proptest::prop_assert_eq!(PageUrl::parse(url.as_str()).unwrap(), url);
                }
            }
        }
    }
}
