//! Parameters that belong to a visitor and not to the page: how somebody came here, and which session it is.
//!
//! With them one page has as many addresses as it has visitors (000 part 1, C11: one page, one URL). Only names that
//! mean nothing else anywhere are listed; a name that could mean something (`sid`) counts only with a value that
//! cannot.

use url::Url;

/// How somebody came: names that advertisers and analysts add. Sorted, in lower case.
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
    "piwik_campaign",  // Matomo, as it was called
    "pk_campaign",     // Matomo, as it was called
    "pk_kwd",          // Matomo, as it was called
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

/// Beginnings of such names: Urchin and Google Analytics, Matomo, HubSpot advertisements.
const TRACKING_PREFIXES: &[&str] = &["utm_", "mtm_", "hsa_"];

/// Which session it is: names that frameworks give. Sorted, in lower case.
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

/// Classic ASP appends random letters to its name.
const SESSION_PREFIXES: &[&str] = &["aspsessionid"];

/// Names that sessions share with innocent things: the value decides. Sorted, in lower case.
const SESSION_BY_VALUE: &[&str] = &["sess", "session", "session_id", "sessionid", "sid"];

/// A shorter value may well be a number or a word that chooses the page.
const MIN_SESSION_ID: usize = 16;

/// Parameters of path segments (`/cart;jsessionid=1A2B`) that name a session. In lower case.
const SESSION_IN_PATH: &[&str] = &["jsessionid", "phpsessid"];

/// Takes out what belongs to the visitor, keeps the order of the rest, and drops a `?` behind which nothing is left.
/// Escapes are normalised already, so that each name has one spelling.
pub(super) fn strip_visitor(url: &mut Url) {
    if let Some(path) = path_without_session(url.path()) {
        url.set_path(&path);
    }
    let Some(query) = url.query() else { return };
    let kept: Vec<&str> = query.split('&').filter(|parameter| !is_visitors(parameter)).collect();
    let rest = kept.join("&");
    if kept.iter().all(|parameter| parameter.is_empty()) {
        url.set_query(None);
    } else if rest.len() < query.len() {
        url.set_query(Some(&rest));
    }
}

/// The parameters in the order of their names; those of one name keep their order, which may have a meaning.
pub(super) fn sorted(query: &str) -> String {
    let mut parameters: Vec<&str> = query.split('&').filter(|parameter| !parameter.is_empty()).collect();
    parameters.sort_by_key(|parameter| name_and_value(parameter).0);
    parameters.join("&")
}

fn name_and_value(parameter: &str) -> (&str, &str) {
    parameter.split_once('=').unwrap_or((parameter, ""))
}

fn is_visitors(parameter: &str) -> bool {
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

/// Long, of letters and digits alone, and with a digit: no word of any language.
fn looks_like_session_id(value: &str) -> bool {
    value.len() >= MIN_SESSION_ID
        && value.bytes().all(|b| b.is_ascii_alphanumeric())
        && value.bytes().any(|b| b.is_ascii_digit())
}

/// The path without its session, where it has one.
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
    fn the_lists_can_be_searched() {
        for list in [TRACKING, SESSION, SESSION_BY_VALUE] {
            assert!(list.is_sorted(), "{list:?}");
        }
        let all = [TRACKING, TRACKING_PREFIXES, SESSION, SESSION_PREFIXES, SESSION_BY_VALUE, SESSION_IN_PATH];
        assert!(all.concat().iter().all(|name| !name.bytes().any(|b| b.is_ascii_uppercase())));
    }

    #[test]
    fn a_session_id_is_told_from_a_word() {
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
