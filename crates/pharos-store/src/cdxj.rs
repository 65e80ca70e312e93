//! CDXJ: one line for each record of a WARC file, by which replay tools find it.
//!
//! ```text
//! com,example)/path 20260131120000 {"url": "http://www.example.com/path", "mime": "text/html", …}
//! ```
//!
//! The key is a SURT (Sort-friendly URI Reordering Transform) as pywb, cdxj-indexer and Common Crawl make it, so that
//! their lookups hit our lines. It is made to bring spellings together, not to tell them apart: `www.` (also `www2.`)
//! is dropped, everything is lower case, a slash at the end is gone, the parts of a query are sorted. Scheme and
//! default port are not in it; any other port is.
//!
//! Session numbers in queries (`jsessionid`, `phpsessid`, `sid`) are dropped as those tools do; the forms of ASP and
//! ColdFusion, which they drop too, are left in.

use std::fmt::Write as _;

use pharos_core::{PageUrl, Timestamp};

/// A record of a WARC file.
#[derive(Clone, Copy, Debug)]
pub struct Capture<'a> {
    /// The page.
    pub url: &'a PageUrl,
    /// When it was fetched.
    pub at: Timestamp,
    /// Its media type without parameters, or empty.
    pub mime: &'a str,
    /// HTTP status.
    pub status: u16,
    /// Digest of the body as in the WARC header: `sha1:…`.
    pub digest: &'a str,
    /// Bytes of the record in the file.
    pub length: u64,
    /// Where in the file it begins.
    pub offset: u64,
    /// The file.
    pub filename: &'a str,
}

/// The line of a record, line feed included. An index is these lines sorted by bytes.
pub fn line(capture: &Capture<'_>) -> String {
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
    // Numbers are texts too, as the tools write them; what is not known is left out.
    let known = fields.into_iter().filter(|(_, value)| !value.is_empty());
    let json: Vec<String> =
        known.map(|(name, value)| format!("\"{name}\": {}", serde_json::Value::from(value))).collect();
    format!("{} {} {{{}}}\n", surt(capture.url), timestamp(capture.at), json.join(", "))
}

/// `20260131120000`.
fn timestamp(at: Timestamp) -> String {
    at.to_string().chars().filter(char::is_ascii_digit).collect()
}

/// The key of a URL: `com,example)/path?a=1&b=2`.
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

/// Without a leading `www.`, `www2.` and the like.
fn without_www(host: &str) -> &str {
    let rest = host.strip_prefix("www").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(host)
}

/// Without session numbers, which have 32 letters and digits.
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

/// Unescaped, dot segments and doubled slashes gone, escaped once, lower case, no slash at the end.
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

/// Undoes percent-escapes until none is left. Each round but the last makes the text shorter.
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

/// Escapes what is not visible ASCII, and `#` and `%`.
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
    fn keys_are_those_of_other_tools() {
        // What the Python package `surt` 0.3.1 makes of the same addresses.
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
    fn a_line_is_key_moment_and_json() {
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
        assert_eq!(line(&capture), expected);
    }

    proptest! {
        #[test]
        fn keys_hold_no_space(rest in "[ -~灯塔]{0,60}", at in any::<i64>()) {
            if let Ok(url) = PageUrl::parse(&format!("http://example.com/{rest}")) {
                prop_assert!(surt(&url).bytes().all(|b| b.is_ascii_graphic()));
            }
            prop_assert!(timestamp(Timestamp::from_millis(at)).len() >= 14);
        }
    }
}
