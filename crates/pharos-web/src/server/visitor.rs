//! The visitor of a page: language, theme and parameters of a request. Parsing is lenient and never fails.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Request};
use axum::http::header::{ACCEPT_LANGUAGE, COOKIE, HOST, REFERER, USER_AGENT};
use axum::http::{Extensions, HeaderMap, HeaderName, Uri, request::Parts};
use pharos_mining::log::records::QuerySource;
use pharos_query::RequestClient;
use url::form_urlencoded;

use crate::messages::{Lang, Messages};
use crate::server::client_address::RequestSource;

/// Prefix of the cookies that store choices.
const COOKIE_PREFIX: &str = "pharos_";

/// Longer headers are truncated, in characters.
const MAX_HEADER: usize = 512;

/// Maximum number of parameters read.
pub(crate) const MAX_PARAMS: usize = 32;

/// The client of a request, with its choices and parameters.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) lang: Lang,
    pub(crate) theme: Theme,
    /// Keyboard shortcuts are on.
    pub(crate) has_keys: bool,
    /// Choices made by this request, to be stored in cookies: name and value.
    chosen: Vec<(&'static str, &'static str)>,
    /// Path of the request, safe to link to.
    path: String,
    params: Vec<(String, String)>,
    pub(crate) client: Client,
}

/// A colour theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Follows the browser.
    #[default]
    Auto,
    Light,
    Dark,
}

impl Theme {
    /// All themes in the order of the switch.
    pub(crate) const ALL: [Theme; 3] = [Theme::Auto, Theme::Light, Theme::Dark];

    /// Returns the value used in links, cookies and HTML.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn from_code(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.code() == name)
    }

    /// Returns the value of `<meta name="color-scheme">`.
    pub(crate) const fn schemes(self) -> &'static str {
        match self {
            Self::Auto => "light dark",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// Values of switches in links and cookies.
const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

/// Client information from the connection and the headers, which may be false.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client {
    pub(crate) source: RequestSource,
    /// Address of the client; may be empty.
    pub(crate) address: String,
    pub(crate) agent: String,
    pub(crate) referrer: String,
    /// The referrer is a page of this server.
    pub(crate) is_from_here: bool,
    /// Host and port that the client requested; may be empty.
    pub(crate) host: String,
}

impl Client {
    fn new(uri: &Uri, headers: &HeaderMap, source: RequestSource) -> Self {
        let text = |name: HeaderName| {
            let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
            value.chars().take(MAX_HEADER).collect::<String>()
        };
        // HTTP/2 sends the host as part of the URI.
        let requested = || uri.authority().map_or_else(|| text(HOST), ToString::to_string);
        let host = source.forwarded_host.clone().unwrap_or_else(requested);
        let referrer = text(REFERER);
        let from = url::Url::parse(&referrer).ok();
        let from = from.as_ref().map(|url| &url[url::Position::BeforeHost..url::Position::AfterPort]);
        let is_from_here = from.is_some_and(|from| from.eq_ignore_ascii_case(&host));
        let address = source.address.map(|address| address.to_string()).unwrap_or_default();
        Self { source, address, agent: text(USER_AGENT), referrer, is_from_here, host }
    }
}

impl Visitor {
    /// Parses a request.
    pub(crate) fn from_request(request: &Request) -> Self {
        Self::new(request.uri(), request.headers(), request.extensions())
    }

    /// Parses the URI and the headers of a request, whose source is an extension.
    pub(crate) fn new(uri: &Uri, headers: &HeaderMap, extensions: &Extensions) -> Self {
        let source = extensions.get::<RequestSource>().cloned().unwrap_or_default();
        let params: Vec<_> = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
            .take(MAX_PARAMS)
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        let mut chosen = Vec::new();
        let lang = choice(&params, headers, "lang", &mut chosen, |text| {
            Lang::from_tag(text).map(|lang| (lang, lang.code()))
        });
        let theme = choice(&params, headers, "theme", &mut chosen, |text| {
            Theme::from_code(text).map(|theme| (theme, theme.code()))
        });
        let keys = choice(&params, headers, "keys", &mut chosen, |text| {
            SWITCH.into_iter().find(|(name, _)| *name == text).map(|(name, is_on)| (is_on, name))
        });
        // A path that begins with two slashes would be a link to another host.
        let path = if uri.path().starts_with("//") { "/" } else { uri.path() };
        Self {
            lang: lang.or_else(|| from_accept_language(headers)).unwrap_or(Lang::En),
            theme: theme.unwrap_or_default(),
            has_keys: keys.unwrap_or(true),
            chosen,
            path: path.to_string(),
            params,
            client: Client::new(uri, headers, source),
        }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns path and parameters of the request.
    pub(crate) fn address(&self) -> String {
        link(&self.path, self.params.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Returns the messages in the visitor's language.
    pub(crate) fn messages(&self) -> &'static Messages {
        self.lang.messages()
    }

    /// Returns the first parameter with this name.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        find(&self.params, name)
    }

    /// Returns the client as the query log knows it.
    pub(crate) fn request_client(&self) -> RequestClient<'_> {
        let client = &self.client;
        let referrer = if client.is_from_here { "" } else { &client.referrer };
        RequestClient { address: &client.address, agent: &client.agent, referrer, path: &self.path }
    }

    /// Returns the origin of a query, from the parameter `from` of links on result pages, or from the referrer.
    pub(crate) fn query_source(&self) -> QuerySource {
        match self.param("from") {
            Some("suggested") => QuerySource::Suggested,
            Some("related") => QuerySource::Related,
            Some("corrected") => QuerySource::Corrected,
            Some("hot") => QuerySource::Hot,
            _ if self.client.referrer.is_empty() || self.client.is_from_here => QuerySource::Typed,
            _ => QuerySource::Link,
        }
    }

    /// Returns the query as one line without control characters, truncated to `limit` characters.
    pub(crate) fn query(&self, limit: usize) -> String {
        query_text(self.param("q").unwrap_or_default(), limit)
    }

    /// Returns `true` if duplicates should be shown.
    pub(crate) fn wants_all(&self) -> bool {
        self.wants("all")
    }

    /// Returns `true` if a switch is on.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.param(name) == Some("1")
    }

    /// Returns `true` if results are sorted by date; `None` for an unknown order.
    pub(crate) fn newest_first(&self) -> Option<bool> {
        match self.param("sort") {
            None | Some("" | "relevance") => Some(false),
            Some("date") => Some(true),
            Some(_) => None,
        }
    }

    /// Returns the link to the same request with another value of a parameter.
    pub(crate) fn href_with(&self, name: &str, value: &str) -> String {
        let kept = self.params.iter().filter(|(n, _)| n != name).map(|(n, v)| (n.as_str(), v.as_str()));
        link(&self.path, kept.chain([(name, value)]))
    }

    /// Returns the `Set-Cookie` values for the choices of this request.
    pub(crate) fn cookies(&self) -> impl Iterator<Item = String> {
        self.chosen.iter().map(|(name, value)| {
            format!("{COOKIE_PREFIX}{name}={value}; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly")
        })
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Self::new(&parts.uri, &parts.headers, &parts.extensions))
    }
}

/// Builds a link within the site.
pub(crate) fn link<'a>(path: &str, params: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(params).finish();
    if query.is_empty() { path.to_string() } else { format!("{path}?{query}") }
}

/// Returns a query as one line without control characters, truncated to `limit` characters.
pub(crate) fn query_text(typed: &str, limit: usize) -> String {
    let text: String = typed
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .skip_while(|c| c.is_whitespace())
        .take(limit)
        .collect();
    text.trim_end().to_string()
}

fn find<'a>(params: &'a [(String, String)], name: &str) -> Option<&'a str> {
    params.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// Reads a choice from a parameter, or else from a cookie. A choice made by a parameter is added to `chosen`.
fn choice<T>(
    params: &[(String, String)],
    headers: &HeaderMap,
    name: &'static str,
    chosen: &mut Vec<(&'static str, &'static str)>,
    read: impl Fn(&str) -> Option<(T, &'static str)>,
) -> Option<T> {
    if let Some((value, code)) = find(params, name).and_then(&read) {
        chosen.push((name, code));
        return Some(value);
    }
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookie = cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find(|(cookie, _)| cookie.strip_prefix(COOKIE_PREFIX) == Some(name));
    cookie.and_then(|(_, value)| read(value)).map(|(value, _)| value)
}

/// Returns the preferred language of the browser (RFC 9110 §12.5.4).
fn from_accept_language(headers: &HeaderMap) -> Option<Lang> {
    let tags = headers.get(ACCEPT_LANGUAGE)?.to_str().ok()?;
    let mut best: Option<(Lang, f32)> = None;
    for tag_and_weight in tags.split(',') {
        let (tag, parameters) = tag_and_weight.split_once(';').unwrap_or((tag_and_weight, ""));
        let quality = parameters.trim().strip_prefix("q=").map_or(1.0, |q| q.parse().unwrap_or(0.0));
        if let Some(lang) = Lang::from_tag(tag.trim())
            && quality > best.map_or(0.0, |(_, quality)| quality)
        {
            best = Some((lang, quality));
        }
    }
    best.map(|(lang, _)| lang)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(uri: &str, headers: &[(&'static str, &str)]) -> Visitor {
        let headers = headers
            .iter()
            .map(|(name, value)| (axum::http::HeaderName::from_static(name), value.parse().unwrap()))
            .collect();
        Visitor::new(&uri.parse().unwrap(), &headers, &Extensions::new())
    }

    #[test]
    fn the_language_is_taken_from_parameter_cookie_or_browser() {
        let zh_browser = ("accept-language", "zh-CN,zh;q=0.9,en;q=0.8");
        let en_cookie = ("cookie", "a=b; pharos_lang=en");
        assert_eq!(visitor("/", &[]).lang, Lang::En);
        assert_eq!(visitor("/", &[zh_browser]).lang, Lang::Zh);
        assert_eq!(visitor("/", &[zh_browser, en_cookie]).lang, Lang::En);
        assert_eq!(visitor("/?lang=zh-Hans", &[en_cookie]).lang, Lang::Zh);
        assert_eq!(visitor("/?lang=xx", &[zh_browser]).lang, Lang::Zh);
        assert_eq!(visitor("/", &[("accept-language", "fr, en;q=0.3, zh;q=0.7")]).lang, Lang::Zh);
        assert_eq!(visitor("/", &[("accept-language", "zh;q=0, en;q=bad, *")]).lang, Lang::En);
    }

    #[test]
    fn a_chosen_language_is_remembered_and_the_switch_keeps_the_request() {
        assert_eq!(visitor("/", &[]).cookies().count(), 0);
        let chosen = visitor("/search?q=a%26b&lang=zh&page=2", &[]);
        assert!(chosen.cookies().next().unwrap().starts_with("pharos_lang=zh; Path=/;"));
        assert_eq!(chosen.href_with("lang", "en"), "/search?q=a%26b&page=2&lang=en");
        assert_eq!(visitor("//evil.example/x", &[]).href_with("lang", "zh"), "/?lang=zh");
    }

    #[test]
    fn theme_and_keys_are_chosen_and_remembered() {
        let new = visitor("/", &[]);
        assert_eq!((new.theme, new.has_keys), (Theme::Auto, true));
        let chosen = visitor("/?theme=dark&keys=off&lang=zh", &[("cookie", "pharos_theme=light")]);
        assert_eq!((chosen.theme, chosen.has_keys), (Theme::Dark, false));
        assert_eq!(chosen.cookies().count(), 3);
        let again = visitor("/", &[("cookie", "pharos_keys=off; pharos_theme=light; pharos_lang=zh")]);
        assert_eq!((again.theme, again.has_keys, again.lang), (Theme::Light, false, Lang::Zh));
        let odd = visitor("/?theme=%22%3E&keys=2", &[("cookie", "pharos_theme=\"><script>")]);
        assert_eq!((odd.theme, odd.has_keys, odd.cookies().count()), (Theme::Auto, true, 0));
    }

    #[test]
    fn client_information_is_taken_from_headers() {
        let client = |headers| visitor("/search?q=x", headers).client;
        let from = client(&[("host", "a.example:8080"), ("referer", "http://a.example:8080/search?q=tea")]);
        assert!(from.is_from_here);
        let from = client(&[
            ("host", "a.example"),
            ("referer", "https://b.example/?q=a.example"),
            ("x-forwarded-for", "192.0.2.7"),
        ]);
        assert!(!from.is_from_here && from.address.is_empty());
        assert!(!client(&[("referer", "not an address")]).is_from_here);
    }

    #[test]
    fn a_form_is_read_field_by_field() {
        let visitor = visitor("/search?word=mp4&mem=99", &[]);
        assert_eq!((visitor.param("word"), visitor.param("mem")), (Some("mp4"), Some("99")));
        assert_eq!(visitor.param("wor"), None);
    }

    #[test]
    fn any_query_is_one_line_within_the_limit() {
        assert_eq!(visitor("/search?q=%20%09a%00b%0a", &[]).query(10), "a b");
        assert_eq!(
            visitor("/search?q=%ED%A0%80%ff%zz%", &[]).query(20),
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}%zz%"
        );
        assert_eq!(visitor("/search?q=灯塔搜索", &[]).query(2), "灯塔");
        assert_eq!(visitor("/search?q=one&q=two", &[]).query(9), "one");
        assert_eq!(visitor("/search?", &[]).query(9), "");
    }

    proptest::proptest! {
        #[test]
        fn any_request_is_parsed(query in proptest::collection::vec(proptest::num::u8::ANY, 0..200), header in "[ -~]{0,80}") {
            let query: String = query.iter().map(|byte| format!("%{byte:02x}")).collect();
            let headers = [("accept-language", header.as_str()), ("cookie", header.as_str())];
            let visitor = visitor(&format!("/search?q={query}&{query}=1"), &headers);
            proptest::prop_assert!(visitor.query(40).chars().count() <= 40);
            proptest::prop_assert!(!visitor.query(40).chars().any(char::is_control));
            proptest::prop_assert!(visitor.href_with("lang", "zh").starts_with("/search?"));
        }
    }
}
