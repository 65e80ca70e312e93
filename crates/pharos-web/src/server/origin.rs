//! The origin of this server for absolute URLs, and the check that a form comes from one of its pages.

use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use pharos_core::PageUrl;
use pharos_core::config::WebConfig;
use url::{Position, Url};

use crate::server::visitor::Visitor;

/// Returns the origin, such as `https://search.example.org`: the configured one, or else the one the request was sent to, if
/// its host is known (`RequestSource::is_known_host`). A trusted proxy decides whether that was over TLS.
pub(crate) fn origin(visitor: &Visitor, web: &WebConfig) -> Option<String> {
    let configured = configured(web);
    if !configured.is_empty() {
        return Some(configured.to_string());
    }
    let client = &visitor.client;
    if !client.source.is_known_host(&client.host, web) {
        return None;
    }
    let is_https = client.source.forwarded_https.unwrap_or(!web.certificate.is_empty());
    let origin = format!("{}://{}", if is_https { "https" } else { "http" }, client.host);
    PageUrl::parse(&format!("{origin}/")).ok().map(|_| origin)
}

/// Marks a response that would need the origin of a request whose host is unknown.
#[derive(Clone, Copy)]
pub(crate) struct UnknownHost;

impl IntoResponse for UnknownHost {
    /// Builds a bare response, which the error middleware renders.
    fn into_response(self) -> Response {
        let mut response = StatusCode::BAD_REQUEST.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Returns `true` unless a page of another site made the browser send the request. Programs send neither header and act
/// only for themselves.
pub(crate) fn is_same_site(visitor: &Visitor, headers: &HeaderMap, web: &WebConfig) -> bool {
    let header = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = header(HeaderName::from_static("sec-fetch-site")) {
        return matches!(site, "same-origin" | "none");
    }
    let Some(from) = header(ORIGIN) else { return true };
    let is_configured = !configured(web).is_empty() && from.eq_ignore_ascii_case(configured(web));
    let from = Url::parse(from).ok();
    let from = from.as_ref().map(|url| &url[Position::BeforeHost..Position::AfterPort]);
    is_configured
        || from.is_some_and(|from| !from.is_empty() && from.eq_ignore_ascii_case(&visitor.client.host))
}

fn configured(web: &WebConfig) -> &str {
    web.base_url.trim().trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use axum::http::Extensions;
    use axum::http::header::HOST;
    use pharos_core::Config;
    use pharos_core::config::TrustedProxies;

    use super::*;
    use crate::server::client_address::RequestSource;

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn origin_of_request(list: &[(&'static str, &str)], web: &WebConfig) -> Option<String> {
        let headers = headers(list);
        let mut extensions = Extensions::new();
        let local = "127.0.0.1".parse().ok();
        extensions.insert(RequestSource::new(local, &headers, &web.behind_proxy));
        origin(&Visitor::new(&"/".parse().unwrap(), &headers, &extensions), web)
    }

    fn with_hosts(hosts: &[&str]) -> WebConfig {
        WebConfig { hosts: hosts.iter().map(ToString::to_string).collect(), ..WebConfig::default() }
    }

    #[test]
    fn the_origin_is_a_known_host() {
        let web = with_hosts(&["search.example.org"]);
        let origin_of = |host: &str| origin_of_request(&[(HOST.as_str(), host)], &web);
        assert_eq!(origin_of("search.example.org:8080").as_deref(), Some("http://search.example.org:8080"));
        assert_eq!(origin_of("localhost:8080").as_deref(), Some("http://localhost:8080"));
        for other in ["evil.example", "search.example.org.evil.example", "192.0.2.1"] {
            assert_eq!(origin_of(other), None, "{other}");
        }
        assert_eq!(origin_of("[::1]:80").as_deref(), Some("http://[::1]:80"));
        for wrong in ["", "a/b", "user@host", "a b", "a?b", "a\"b", "host:port", "[::1", "<x>"] {
            assert_eq!(origin_of(wrong), None, "{wrong:?}");
        }
        assert_eq!(origin_of_request(&[], &WebConfig::default()), None);
        let uri = "https://search.example.org/x".parse().unwrap();
        let second = Visitor::new(&uri, &HeaderMap::new(), &Extensions::new());
        assert_eq!(origin(&second, &web).as_deref(), Some("http://search.example.org"), "HTTP/2");
    }

    fn proxies(list: &str) -> TrustedProxies {
        let mut config = Config::default();
        config.set("web.behind_proxy", list, "test").unwrap();
        config.web.behind_proxy
    }

    #[test]
    fn the_configured_origin_and_the_proxy_have_precedence() {
        let forwarded =
            [("host", "a.example"), ("x-forwarded-proto", "https"), ("x-forwarded-for", "192.0.2.1")];
        let mut web = with_hosts(&["a.example", "b.example"]);
        assert_eq!(origin_of_request(&forwarded, &web).as_deref(), Some("http://a.example"));
        web.behind_proxy = proxies("127.0.0.1");
        assert_eq!(origin_of_request(&forwarded, &web).as_deref(), Some("https://a.example"));
        assert_eq!(origin_of_request(&forwarded[..1], &web).as_deref(), Some("http://a.example"));
        let host = [("x-forwarded-host", "b.example"), forwarded[0], forwarded[2]];
        assert_eq!(origin_of_request(&host, &web).as_deref(), Some("http://b.example"));
        let foreign = [("x-forwarded-host", "evil.example"), forwarded[0], forwarded[2]];
        assert_eq!(origin_of_request(&foreign, &web), None);
        web.behind_proxy = proxies("");
        assert_eq!(origin_of_request(&host, &web).as_deref(), Some("http://a.example"));
        web.certificate = "chain.pem".into();
        assert_eq!(origin_of_request(&forwarded[..1], &web).as_deref(), Some("https://a.example"));
        web.base_url = "https://search.example.org/".into();
        assert_eq!(origin_of_request(&[], &web).as_deref(), Some("https://search.example.org"));
    }

    #[test]
    fn forms_of_other_sites_are_detected() {
        let web = WebConfig { base_url: "https://search.example.org".into(), ..WebConfig::default() };
        let is_ours = |list: &[(&'static str, &str)]| {
            let headers = headers(list);
            is_same_site(&Visitor::new(&"/".parse().unwrap(), &headers, &Extensions::new()), &headers, &web)
        };
        let host = ("host", "a.example:8080");
        assert!(is_ours(&[host]), "a program");
        assert!(is_ours(&[host, ("origin", "http://a.example:8080")]));
        assert!(is_ours(&[host, ("origin", "https://search.example.org")]));
        assert!(is_ours(&[host, ("sec-fetch-site", "same-origin"), ("origin", "null")]));
        for other in [
            "http://a.example",
            "http://evil.example",
            "null",
            "",
            "a.example:8080",
            "http://evil/a.example:8080",
        ] {
            assert!(!is_ours(&[host, ("origin", other)]), "{other}");
        }
        for other in ["cross-site", "same-site", "?"] {
            assert!(
                !is_ours(&[host, ("sec-fetch-site", other), ("origin", "http://a.example:8080")]),
                "{other}"
            );
        }
        assert!(!is_ours(&[("origin", "http://")]), "empty host");
    }
}
