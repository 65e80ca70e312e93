//! CDXJ: an index of WARC files for replay tools, one line per record.
//!
//! ```text
//! com,example)/path 20260131120000 {"url": "http://www.example.com/path", "mime": "text/html", …}
//! ```
//!
//! The key is a SURT (Sort-friendly URI Reordering Transform) as produced by pywb, cdxj-indexer and Common Crawl, so
//! that their lookups match these lines. It unifies spellings: `www.` (also `www2.`) is dropped, everything is lower
//! case, a trailing slash is removed, and query parameters are sorted. It contains no scheme and no default port,
//! but any other port.
//!
//! Session ids in queries (`jsessionid`, `phpsessid`, `sid`) are dropped as in those tools. The forms of ASP and
//! ColdFusion, which they also drop, are kept.

use std::fmt::Write as _;

use pharos_core::{PageUrl, Timestamp};

/// A record of a WARC file, as indexed.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    pub url: &'a PageUrl,
    /// Time of the fetch.
    pub at: Timestamp,
    /// Media type without parameters; empty if unknown.
    pub mime: &'a str,
    pub status: u16,
    /// Digest of the body as in the WARC header: `sha1:…`.
    pub digest: &'a str,
    /// Length of the record in the file.
    pub length: u64,
    /// Offset of the record in the file.
    pub offset: u64,
    pub filename: &'a str,
}

/// Formats the line of a record, including its line feed. An index consists of these lines, sorted by bytes.
pub fn format_line(capture: &Capture<'_>) -> String {
    let (status, length, offset) =
        (capture.status.to_string(), capture.length.to_string(), capture.offset.to_string());
    let fields = [
        ("url", capture.url.as_str()),
        ("mime", capture.mime),
        ("status", &status),
        ("digest", capture.digest),
        ("length", &length),
        ("offset", &offset),
        ("filename", capture.filename),
    ];
    // Numbers are strings, as written by the tools; unknown values are omitted.
    let known = fields.into_iter().filter(|(_, value)| !value.is_empty());
    let json: Vec<String> =
        known.map(|(name, value)| format!("\"{name}\": {}", serde_json::Value::from(value))).collect();
    format!("{} {} {{{}}}\n", surt(capture.url), format_timestamp(capture.at), json.join(", "))
}

/// Formats a timestamp as `20260131120000`.
fn format_timestamp(at: Timestamp) -> String {
    at.to_string().chars().filter(char::is_ascii_digit).collect()
}

/// Returns the SURT key of a URL: `com,example)/path?a=1&b=2`.
pub fn surt(url: &PageUrl) -> String {
    let host = url.host().trim_matches(['[', ']']).trim_matches('.');
    let host = without_www(host);
    let mut key = host.rsplit('.').collect::<Vec<_>>().join(",");
    if let Some(port) = url.as_url().port() {
        let _ = write!(key, ":{port}");
    }
    key.push(')');
    key.push_str(&path_key(url.as_url().path()));
    let query = url.as_url().query().unwrap_or_default();
    let query = without_session(escape(&unescape(query)).to_ascii_lowercase());
    if !query.is_empty() {
        let mut parts: Vec<(&str, Option<&str>)> = query
            .split('&')
            .map(|part| part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value))))
            .collect();
        parts.sort_unstable();
        for (i, (name, value)) in parts.into_iter().enumerate() {
            key.push(if i == 0 { '?' } else { '&' });
            key.push_str(name);
            if let Some(value) = value {
                let _ = write!(key, "={value}");
            }
        }
    }
    key
}

/// Removes a leading `www.`, `www2.` and similar.
fn without_www(host: &str) -> &str {
    let rest = host.strip_prefix("www").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(host)
}

/// Removes session ids, which have 32 letters and digits.
fn without_session(mut query: String) -> String {
    for name in ["jsessionid=", "phpsessid=", "sid="] {
        let parts = query.rmatch_indices(name).find_map(|(at, _)| {
            let rest = &query[at + name.len()..];
            let (value, after) = rest.split_once('&').unwrap_or((rest, ""));
            let is_session = value.len() == 32 && value.bytes().all(|b| b.is_ascii_alphanumeric());
            is_session.then(|| [&query[..at], after].concat())
        });
        query = parts.unwrap_or(query);
    }
    query
}

/// Normalises a path: unescaped, without dot segments and double slashes, escaped once, in lower case, without a
/// trailing slash.
fn path_key(path: &str) -> String {
    let path = unescape(path);
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in path.split(|b| *b == b'/').filter(|s| !s.is_empty()) {
        match segment {
            b"." => {}
            b".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    format!("/{}", escape(&segments.join(&b'/')).to_ascii_lowercase())
}

/// Decodes percent-escapes until none is left. Every repetition but the last shortens the text.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    loop {
        let mut out = Vec::with_capacity(bytes.len());
        let mut i = 0;
        while i < bytes.len() {
            let hex = |j: usize| bytes.get(j).and_then(|b| char::from(*b).to_digit(16));
            match (bytes[i], hex(i + 1), hex(i + 2)) {
                (b'%', Some(high), Some(low)) => {
                    out.push((high * 16 + low) as u8);
                    i += 3;
                }
                (byte, ..) => {
                    out.push(byte);
                    i += 1;
                }
            }
        }
        if out.len() == bytes.len() {
            return out;
        }
        bytes = out;
    }
}

/// Escapes everything but visible ASCII, and `#` and `%`.
fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%') {
            out.push(char::from(*byte));
        } else {
            let _ = write!(out, "%{byte:02x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_match_other_tools() {
        // Expected keys are those of the Python package `surt` 0.3.1.
        for (url, key) in [
            ("http://www.example.com/path", "com,example)/path"),
            ("http://www2.example.com/", "com,example)/"),
            ("http://wwwx.example.com/", "com,example,wwwx)/"),
            ("https://WWW.Example.com:8443/Path/A?b=2&a=1#x", "com,example:8443)/path/a?a=1&b=2"),
            ("http://example.com:443/", "com,example:443)/"),
            ("http://127.0.0.1:8080/x", "1,0,0,127:8080)/x"),
            ("http://[::1]/x", "::1)/x"),
            ("http://example.com./", "com,example)/"),
            ("http://example.com/a%2Fb%20c/%7eX/", "com,example)/a/b%20c/~x"),
            ("http://example.com//a//b", "com,example)/a/b"),
            ("http://example.com/?", "com,example)/"),
            ("http://example.com/?a&b=", "com,example)/?a&b="),
            ("http://example.com/?a=1&&b=2", "com,example)/?&a=1&b=2"),
            ("http://example.com/?b=1&a=%41+c&B=0", "com,example)/?a=a+c&b=0&b=1"),
            ("http://example.com/a?q=灯塔", "com,example)/a?q=%e7%81%af%e5%a1%94"),
            ("http://例子.cn/路", "cn,xn--fsqu00a)/%e8%b7%af"),
            ("http://example.com/%zz", "com,example)/%25zz"),
            ("http://example.com/?sid=0123456789abcdef0123456789ABCDEF&x=1", "com,example)/?x=1"),
        ] {
            assert_eq!(surt(&PageUrl::parse(url).unwrap()), key, "{url}");
        }
    }

    #[test]
    fn a_line_is_key_timestamp_and_json() {
        let url = PageUrl::parse("http://www.example.com/path").unwrap();
        let capture = Capture {
            url: &url,
            at: Timestamp::parse("2026-01-31T12:00:00Z").unwrap(),
            mime: "",
            status: 200,
            digest: "sha1:AAAA",
            length: 1234,
            offset: 567,
            filename: "a \"quoted\" name\n.warc.gz",
        };
        let expected = concat!(
            r#"com,example)/path 20260131120000 {"url": "http://www.example.com/path", "status": "200", "#,
            r#""digest": "sha1:AAAA", "length": "1234", "offset": "567", "#,
            r#""filename": "a \"quoted\" name\n.warc.gz"}"#,
            "\n"
        );
        assert_eq!(format_line(&capture), expected);
    }

    proptest! {
        #[test]
        fn keys_contain_no_space(rest in "[ -~灯塔]{0,60}", at in any::<i64>()) {
            if let Ok(url) = PageUrl::parse(&format!("http://example.com/{rest}")) {
                prop_assert!(surt(&url).bytes().all(|b| b.is_ascii_graphic()));
            }
            prop_assert!(format_timestamp(Timestamp::from_millis(at)).len() >= 14);
        }
    }
}
