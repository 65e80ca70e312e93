//! Who asks: the language to answer in and the parameters, read so leniently that nothing can be wrong with them.

use std::convert::Infallible;
use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::header::{ACCEPT_LANGUAGE, COOKIE, HOST, REFERER, USER_AGENT};
use axum::http::{HeaderMap, HeaderName, Uri, request::Parts};
use url::form_urlencoded;

use crate::rate;
use crate::words::{Lang, Words};

/// How the cookies are called that remember what was chosen: this and the name of the choice.
const COOKIE_PREFIX: &str = "pharos_";

/// Longer headers, in characters, are cut.
const MAX_HEADER: usize = 512;

/// Parameters beyond this many are not looked at.
const MAX_PARAMS: usize = 32;

/// Someone with a request.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    /// The language of the page.
    pub(crate) lang: Lang,
    /// Light, dark, or as the browser likes it.
    pub(crate) theme: Theme,
    /// Do single keys mean something?
    pub(crate) has_keys: bool,
    /// What was chosen just now, to be remembered: the name of the choice and its value.
    chosen: Vec<(&'static str, &'static str)>,
    /// The path asked for, safe to link to.
    path: String,
    params: Vec<(String, String)>,
    /// With what and from where.
    pub(crate) client: Client,
}

/// How pages look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// As the browser likes it.
    #[default]
    Auto,
    Light,
    Dark,
}

impl Theme {
    /// All of them, in the order of the switch.
    pub(crate) const ALL: [Theme; 3] = [Theme::Auto, Theme::Light, Theme::Dark];

    /// In links, in the cookie and in the page.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.code() == name)
    }

    /// What browsers are told to draw their own parts in.
    pub(crate) const fn schemes(self) -> &'static str {
        match self {
            Self::Auto => "light dark",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// On or off, in links and in the cookie.
const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

/// With what a visitor comes and from where, as the browser says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client {
    /// The address that the connection comes from; may be empty.
    pub(crate) address: String,
    /// The address that a proxy in front of us was asked from, if it is one.
    pub(crate) forwarded: Option<String>,
    pub(crate) agent: String,
    pub(crate) referrer: String,
    /// Does it lead back to us?
    pub(crate) is_from_here: bool,
    /// The host that the request is for, with its port, as it says itself; may be empty.
    pub(crate) host: String,
    /// A proxy in front of us, if it is one, was asked over TLS.
    pub(crate) forwarded_https: bool,
}

impl Client {
    fn new(uri: &Uri, headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| {
            let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
            value.chars().take(MAX_HEADER).collect::<String>()
        };
        // HTTP/2 names the host beside the path.
        let host = uri.authority().map_or_else(|| text(HOST), ToString::to_string);
        let referrer = text(REFERER);
        let from = url::Url::parse(&referrer).ok();
        let from = from.as_ref().map(|url| &url[url::Position::BeforeHost..url::Position::AfterPort]);
        let is_from_here = from.is_some_and(|from| from.eq_ignore_ascii_case(&host));
        let forwarded = rate::forwarded(headers).map(|address| address.to_string());
        Self {
            address: String::new(),
            forwarded,
            agent: text(USER_AGENT),
            referrer,
            is_from_here,
            host,
            forwarded_https: text(HeaderName::from_static("x-forwarded-proto")).eq_ignore_ascii_case("https"),
        }
    }
}

impl Visitor {
    /// From the request line and the headers.
    pub(crate) fn new(uri: &Uri, headers: &HeaderMap) -> Self {
        let params: Vec<_> = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
            .take(MAX_PARAMS)
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        let mut chosen = Vec::new();
        let lang = choice(&params, headers, "lang", &mut chosen, |text| {
            Lang::from_tag(text).map(|lang| (lang, lang.code()))
        });
        let theme = choice(&params, headers, "theme", &mut chosen, |text| {
            Theme::named(text).map(|theme| (theme, theme.code()))
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
            client: Client::new(uri, headers),
        }
    }

    /// The path asked for.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Path and parameters, as they were asked for.
    pub(crate) fn address(&self) -> String {
        link(&self.path, self.params.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// The words to speak with.
    pub(crate) fn words(&self) -> &'static Words {
        self.lang.words()
    }

    /// The first parameter of that name.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        find(&self.params, name)
    }

    /// All parameters of that name.
    pub(crate) fn all<'v>(&'v self, name: &'v str) -> impl Iterator<Item = &'v str> {
        self.params.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The query: one line, no control characters, at most `limit` characters.
    pub(crate) fn query(&self, limit: usize) -> String {
        let text: String = self
            .param("q")
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .skip_while(|c| c.is_whitespace())
            .take(limit)
            .collect();
        text.trim_end().to_string()
    }

    /// Are copies to be shown, too?
    pub(crate) fn wants_all(&self) -> bool {
        self.wants("all")
    }

    /// Is this switched on?
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.param(name) == Some("1")
    }

    /// Do the newest results come first? Nothing where the order has no such name.
    pub(crate) fn newest_first(&self) -> Option<bool> {
        match self.param("sort") {
            None | Some("" | "relevance") => Some(false),
            Some("date") => Some(true),
            Some(_) => None,
        }
    }

    /// The same request with something else chosen.
    pub(crate) fn href_with(&self, name: &str, value: &str) -> String {
        let kept = self.params.iter().filter(|(n, _)| n != name).map(|(n, v)| (n.as_str(), v.as_str()));
        link(&self.path, kept.chain([(name, value)]))
    }

    /// The cookies to set, for what was chosen just now.
    pub(crate) fn cookies(&self) -> impl Iterator<Item = String> {
        self.chosen.iter().map(|(name, value)| {
            format!("{COOKIE_PREFIX}{name}={value}; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly")
        })
    }
}

impl<S: Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        let mut visitor = Self::new(&parts.uri, &parts.headers);
        if let Some(ConnectInfo(address)) = parts.extensions.get::<ConnectInfo<SocketAddr>>() {
            visitor.client.address = address.ip().to_string();
        }
        Ok(visitor)
    }
}

/// A link within the site.
pub(crate) fn link<'a>(path: &str, params: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(params).finish();
    if query.is_empty() { path.to_string() } else { format!("{path}?{query}") }
}

fn find<'a>(params: &'a [(String, String)], name: &str) -> Option<&'a str> {
    params.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
}

/// What a visitor chose: now, by a parameter, or before, by a cookie. What was chosen now is noted.
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

/// The best of the languages that the browser asks for (RFC 9110 §12.5.4).
fn from_accept_language(headers: &HeaderMap) -> Option<Lang> {
    let wishes = headers.get(ACCEPT_LANGUAGE)?.to_str().ok()?;
    let mut best: Option<(Lang, f32)> = None;
    for wish in wishes.split(',') {
        let (tag, parameters) = wish.split_once(';').unwrap_or((wish, ""));
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
        Visitor::new(&uri.parse().unwrap(), &headers)
    }

    #[test]
    fn the_language_is_the_parameter_else_the_cookie_else_what_the_browser_asks_for() {
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
    fn where_a_visitor_comes_from_is_told_by_headers_that_need_not_be_true() {
        let client = |headers| visitor("/search?q=x", headers).client;
        let from = client(&[("host", "a.example:8080"), ("referer", "http://a.example:8080/search?q=tea")]);
        assert!(from.is_from_here);
        let from = client(&[
            ("host", "a.example"),
            ("referer", "https://b.example/?q=a.example"),
            ("x-forwarded-for", "evil, 192.0.2.1, 192.0.2.7"),
        ]);
        assert!(!from.is_from_here && from.forwarded.as_deref() == Some("192.0.2.7"));
        let from = client(&[("referer", "not an address"), ("x-forwarded-for", "unknown")]);
        assert!(!from.is_from_here && from.forwarded.is_none());
    }

    #[test]
    fn a_form_is_read_field_by_field() {
        let visitor = Visitor::new(&"/search?word=mp4&mem=99".parse().unwrap(), &HeaderMap::new());
        assert_eq!((visitor.param("word"), visitor.param("mem")), (Some("mp4"), Some("99")));
        assert_eq!(visitor.param("wor"), None);
    }

    #[test]
    fn any_query_is_a_line_of_text_within_the_limit() {
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
        fn nobody_is_too_odd(query in proptest::collection::vec(proptest::num::u8::ANY, 0..200), header in "[ -~]{0,80}") {
            let query: String = query.iter().map(|byte| format!("%{byte:02x}")).collect();
            let headers = [("accept-language", header.as_str()), ("cookie", header.as_str())];
            let visitor = visitor(&format!("/search?q={query}&{query}=1"), &headers);
            proptest::prop_assert!(visitor.query(40).chars().count() <= 40);
            proptest::prop_assert!(!visitor.query(40).chars().any(char::is_control));
            proptest::prop_assert!(visitor.href_with("lang", "zh").starts_with("/search?"));
        }
    }
}
