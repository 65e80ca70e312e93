//! Removal of parameters that identify a visitor and not the page: tracking and session parameters.
//!
//! They would give one page as many URLs as it has visitors. Only names without any other use are listed. An ambiguous
//! name (`sid`) is removed only if its value looks like a session id.

use url::Url;

/// Parameters added by advertising and analytics tools. Sorted, in lower case.
const TRACKING: &[&str] = &[
    "__hsfp",          // HubSpot
    "__hssc",          // HubSpot
    "__hstc",          // HubSpot
    "_ga",             // Google Analytics across domains
    "_gl",             // Google Analytics across domains
    "_hsenc",          // HubSpot mail
    "_hsmi",           // HubSpot mail
    "_openstat",       // Openstat
    "bd_vid",          // Baidu advertisements
    "dclid",           // Google Display
    "fbclid",          // Facebook
    "gad_campaignid",  // Google Ads
    "gad_source",      // Google Ads
    "gbraid",          // Google Ads, applications
    "gclid",           // Google Ads
    "gclsrc",          // Google Ads
    "igsh",            // Instagram
    "igshid",          // Instagram
    "li_fat_id",       // LinkedIn
    "matomo_campaign", // Matomo
    "mc_cid",          // Mailchimp
    "mc_eid",          // Mailchimp
    "mkt_tok",         // Marketo
    "msclkid",         // Microsoft Advertising
    "oly_anon_id",     // Omeda
    "oly_enc_id",      // Omeda
    "piwik_campaign",  // Matomo, formerly Piwik
    "pk_campaign",     // Matomo, formerly Piwik
    "pk_kwd",          // Matomo, formerly Piwik
    "qhclickid",       // Qihoo 360
    "rb_clickid",      // RedTrack
    "spm",             // Alibaba
    "srsltid",         // Google Merchant
    "ttclid",          // TikTok
    "twclid",          // Twitter
    "vero_conv",       // Vero
    "vero_id",         // Vero
    "wbraid",          // Google Ads, the web
    "wickedid",        // Wicked Reports
    "yclid",           // Yandex Direct
    "ysclid",          // Yandex search
];

/// Prefixes of tracking parameters: Urchin and Google Analytics, Matomo, HubSpot advertisements.
const TRACKING_PREFIXES: &[&str] = &["utm_", "mtm_", "hsa_"];

/// Session parameters of web frameworks. Sorted, in lower case.
const SESSION: &[&str] = &[
    "asp.net_sessionid", // ASP.NET
    "cfid",              // ColdFusion
    "cftoken",           // ColdFusion
    "jsessionid",        // Java servlets
    "oscsid",            // osCommerce
    "phpsessid",         // PHP
    "xtcsid",            // xt:Commerce
    "zenid",             // Zen Cart
];

/// Prefixes of session parameters. Classic ASP appends random letters to the name.
const SESSION_PREFIXES: &[&str] = &["aspsessionid"];

/// Ambiguous names that are removed only if the value looks like a session id. Sorted, in lower case.
const SESSION_BY_VALUE: &[&str] = &["sess", "session", "session_id", "sessionid", "sid"];

/// Minimum length of a session id. A shorter value may be a number or word that selects the page.
const MIN_SESSION_ID: usize = 16;

/// Session parameters in path segments (`/cart;jsessionid=1A2B`). In lower case.
const SESSION_IN_PATH: &[&str] = &["jsessionid", "phpsessid"];

/// Removes visitor parameters from path and query, keeps the order of the others and drops an empty query.
///
/// Percent-escapes must be normalised already, so that each name has one spelling.
pub(super) fn strip_visitor_parameters(url: &mut Url) {
    if let Some(path) = path_without_session(url.path()) {
        url.set_path(&path);
    }
    let Some(query) = url.query() else { return };
    let kept: Vec<&str> = query.split('&').filter(|parameter| !is_visitor_parameter(parameter)).collect();
    let rest = kept.join("&");
    if kept.iter().all(|parameter| parameter.is_empty()) {
        url.set_query(None);
    } else if rest.len() < query.len() {
        url.set_query(Some(&rest));
    }
}

/// Sorts parameters by name. The sort is stable, because the order of parameters with the same name may matter.
pub(super) fn sort_by_name(query: &str) -> String {
    let mut parameters: Vec<&str> = query.split('&').filter(|parameter| !parameter.is_empty()).collect();
    parameters.sort_by_key(|parameter| name_and_value(parameter).0);
    parameters.join("&")
}

fn name_and_value(parameter: &str) -> (&str, &str) {
    parameter.split_once('=').unwrap_or((parameter, ""))
}

fn is_visitor_parameter(parameter: &str) -> bool {
    let (name, value) = name_and_value(parameter);
    let name = name.to_ascii_lowercase();
    let listed = |names: &[&str]| names.binary_search(&name.as_str()).is_ok();
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    listed(TRACKING)
        || listed(SESSION)
        || begins(TRACKING_PREFIXES)
        || begins(SESSION_PREFIXES)
        || (listed(SESSION_BY_VALUE) && looks_like_session_id(value))
}

/// Returns `true` for a long value of letters and digits with at least one digit, which cannot be a word.
fn looks_like_session_id(value: &str) -> bool {
    value.len() >= MIN_SESSION_ID
        && value.bytes().all(|b| b.is_ascii_alphanumeric())
        && value.bytes().any(|b| b.is_ascii_digit())
}

/// Returns the path without its session parameters, or `None` if it has none.
fn path_without_session(path: &str) -> Option<String> {
    if !path.contains(';') {
        return None;
    }
    let names_session = |parameter: &str| {
        let (name, _) = name_and_value(parameter);
        SESSION_IN_PATH.iter().any(|session| name.eq_ignore_ascii_case(session))
    };
    let without_session = |segment: &str| {
        let mut parts = segment.split(';');
        let first = parts.next().unwrap_or_default();
        parts.filter(|part| !names_session(part)).fold(first.to_string(), |kept, part| kept + ";" + part)
    };
    let stripped = path.split('/').map(without_session).collect::<Vec<_>>().join("/");
    (stripped.len() < path.len()).then_some(stripped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_lower_case() {
        for list in [TRACKING, SESSION, SESSION_BY_VALUE] {
            assert!(list.is_sorted(), "{list:?}");
        }
        let all = [TRACKING, TRACKING_PREFIXES, SESSION, SESSION_PREFIXES, SESSION_BY_VALUE, SESSION_IN_PATH];
        assert!(all.concat().iter().all(|name| !name.bytes().any(|b| b.is_ascii_uppercase())));
    }

    #[test]
    fn session_ids_differ_from_words() {
        for (value, is_session) in [
            ("0123456789abcdef", true),
            ("k3jd9f8s7d6f5g4h3j2k1l", true),
            ("0123456789abcde", false),
            ("internationalisation", false),
            ("a-long-title-of-2026-with-hyphens", false),
            ("", false),
        ] {
            assert_eq!(looks_like_session_id(value), is_session, "{value}");
        }
    }
}
