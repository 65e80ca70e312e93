//! Mail messages about alerts (RFC 5322), and the addresses of their envelopes.

use std::time::{Duration, SystemTime};

use data_encoding::BASE64;
use pharos_core::Timestamp;

/// Maximum length of an address (RFC 5321 §4.5.3.1.3).
const MAX_ADDRESS: usize = 254;
/// Length of a line of an encoded body.
const LINE: usize = 76;

/// Returns `true` if an address is safe in an envelope and a header: one `@`, no spaces, brackets or control characters.
pub(super) fn is_address(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_graphic() && !"<>(),;:\\\"[]".contains(c);
    let parts = text
        .split_once('@')
        .is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty() && !domain.contains('@'));
    text.len() <= MAX_ADDRESS && parts && text.chars().all(is_plain)
}

/// Formats a message. Subject and body may contain any text.
pub(super) fn format_message(from: &str, to: &[String], subject: &str, body: &str, at: Timestamp) -> String {
    let encoded = BASE64.encode(body.as_bytes());
    let lines = encoded.as_bytes().chunks(LINE).map(|line| String::from_utf8_lossy(line).into_owned());
    let domain = from.split_once('@').map_or("pharos", |(_, domain)| domain);
    format!(
        "From: {from}\r\nTo: {}\r\nSubject: {}\r\nDate: {}\r\nMessage-ID: <pharos-{}-{}@{domain}>\r\n\
         Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}\r\n",
        to.join(",\r\n "),
        encode_header(subject),
        format_date(at),
        at.millis(),
        std::process::id(),
        lines.collect::<Vec<_>>().join("\r\n")
    )
}

/// Encodes a header as RFC 2047 words, so that it can contain neither line breaks nor foreign characters.
fn encode_header(text: &str) -> String {
    /// Characters per word: even of four bytes each, an encoded word stays below 75 characters.
    const WORD: usize = 10;
    let characters: Vec<char> = text.chars().collect();
    let words = characters.chunks(WORD).map(|word| {
        let word: String = word.iter().collect();
        format!("=?utf-8?B?{}?=", BASE64.encode(word.as_bytes()))
    });
    words.collect::<Vec<_>>().join("\r\n ")
}

fn format_date(at: Timestamp) -> String {
    let since = Duration::from_secs(u64::try_from(at.seconds()).unwrap_or_default());
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since.min(Duration::from_secs(u64::from(u32::MAX))))
        .replace("GMT", "+0000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_cannot_leave_their_header() {
        for good in ["ada@example.org", "ops+pharos@mail.example.org"] {
            assert!(is_address(good), "{good}");
        }
        for bad in ["", "ada", "a@b@c", "@b", "a@", "a b@c", "a@b\r\nBcc: c@d", "<a@b>", "灯塔@example.org"]
        {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn any_text_is_encoded() {
        let at = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let to = ["a@example.org".to_string(), "b@example.org".to_string()];
        let subject = "disk\r\nBcc: evil@example.org 灯塔";
        let body = format!(".\r\n{}", "灯塔 ".repeat(100));
        let mail = format_message("pharos@example.org", &to, subject, &body, at);
        assert!(!mail.contains("evil") && mail.is_ascii(), "{mail}");
        assert!(mail.lines().all(|line| line.len() <= 78 && line != "."), "{mail}");
        assert!(mail.contains("Date: Sat, 31 Jan 2026 12:00:00 +0000\r\n"), "{mail}");
        assert!(mail.contains("To: a@example.org,\r\n b@example.org\r\n"), "{mail}");
        let (_, content) = mail.split_once("\r\n\r\n").unwrap();
        let content: String = content.split_whitespace().collect();
        assert_eq!(BASE64.decode(content.as_bytes()).unwrap(), body.as_bytes());
    }
}
