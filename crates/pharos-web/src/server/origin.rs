//! The origin of this server for absolute URLs, and the check that a form comes from one of its pages.

use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, HeaderName};
use pharos_core::PageUrl;
use pharos_core::config::WebConfig;
use url::{Position, Url};

use crate::server::visitor::Visitor;

/// Returns the origin, such as `https://search.example.org`: the configured one, or else the one the request was sent to, if
/// that is a plain host. Behind a proxy, its headers decide whether that was over TLS.
pub(crate) fn origin(visitor: &Visitor, web: &WebConfig) -> Option<String> {
    let configured = configured(web);
    if !configured.is_empty() {
        return Some(configured.to_string());
    }
    let client = &visitor.client;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    if client.host.is_empty() || client.host.len() > 255 || !client.host.bytes().all(is_plain) {
        return None;
    }
    let is_https = if web.behind_proxy { client.forwarded_https } else { !web.certificate.is_empty() };
    let origin = format!("{}://{}", if is_https { "https" } else { "http" }, client.host);
    PageUrl::parse(&format!("{origin}/")).ok().map(|_| origin)
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
    use axum::http::header::HOST;

    use super::*;

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn origin_of_request(list: &[(&'static str, &str)], web: &WebConfig) -> Option<String> {
        origin(&Visitor::new(&"/".parse().unwrap(), &headers(list)), web)
    }

    #[test]
    fn the_origin_is_a_plain_host() {
        let origin_of = |host: &str| origin_of_request(&[(HOST.as_str(), host)], &WebConfig::default());
        assert_eq!(origin_of("search.example.org:8080").as_deref(), Some("http://search.example.org:8080"));
        assert_eq!(origin_of("[::1]:80").as_deref(), Some("http://[::1]:80"));
        for wrong in ["", "a/b", "user@host", "a b", "a?b", "a\"b", "host:port", "[::1", "<x>"] {
            assert_eq!(origin_of(wrong), None, "{wrong:?}");
        }
        assert_eq!(origin_of_request(&[], &WebConfig::default()), None);
        let second = Visitor::new(&"https://b.example/x".parse().unwrap(), &HeaderMap::new());
        assert_eq!(origin(&second, &WebConfig::default()).as_deref(), Some("http://b.example"), "HTTP/2");
    }

    #[test]
    fn the_configured_origin_and_the_proxy_have_precedence() {
        let forwarded = [("host", "a.example"), ("x-forwarded-proto", "https")];
        let mut web = WebConfig::default();
        assert_eq!(origin_of_request(&forwarded, &web).as_deref(), Some("http://a.example"));
        web.behind_proxy = true;
        assert_eq!(origin_of_request(&forwarded, &web).as_deref(), Some("https://a.example"));
        assert_eq!(origin_of_request(&forwarded[..1], &web).as_deref(), Some("http://a.example"));
        web.behind_proxy = false;
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
            is_same_site(&Visitor::new(&"/".parse().unwrap(), &headers), &headers, &web)
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
