//! The end of a TLS certificate (RFC 5280 §4.1.2.5), read from its PEM file.

use std::fs;
use std::path::Path;

use data_encoding::BASE64;
use pharos_core::Timestamp;

/// Maximum size of the file.
const MAX_BYTES: u64 = 1 << 20;
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Returns the end of the first certificate of a PEM file, or `None` if it cannot be read.
pub(super) fn certificate_end(path: &Path) -> Option<Timestamp> {
    if fs::metadata(path).ok()?.len() > MAX_BYTES {
        return None;
    }
    first_end(&fs::read_to_string(path).ok()?)
}

fn first_end(pem: &str) -> Option<Timestamp> {
    let (_, rest) = pem.split_once(BEGIN)?;
    let (text, _) = rest.split_once(END)?;
    let text: String = text.split_whitespace().collect();
    not_after(&BASE64.decode(text.as_bytes()).ok()?)
}

/// Returns `tbsCertificate.validity.notAfter` of a DER certificate.
fn not_after(der: &[u8]) -> Option<Timestamp> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (mut fields, _) = element(certificate, SEQUENCE)?;
    if let Some((_, rest)) = element(fields, VERSION) {
        fields = rest;
    }
    // Serial number, signature algorithm, issuer.
    for _ in 0..3 {
        (_, _, fields) = any_element(fields)?;
    }
    let (validity, _) = element(fields, SEQUENCE)?;
    let (_, _, rest) = any_element(validity)?;
    let (tag, time, _) = any_element(rest)?;
    parse_time(tag, std::str::from_utf8(time).ok()?)
}

fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = any_element(bytes)?;
    (found == tag).then_some((content, rest))
}

/// Splits the first element off: tag, content, and the bytes after it.
fn any_element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match *first {
        short @ 0..=127 => (usize::from(short), rest),
        long => {
            let count = usize::from(long & 0x7f);
            let (digits, rest) = (count <= 4).then(|| rest.split_at_checked(count)).flatten()?;
            (digits.iter().fold(0, |length, digit| (length << 8) | usize::from(*digit)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// Parses `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn parse_time(tag: u8, text: &str) -> Option<Timestamp> {
    let full = match tag {
        // Two digits mean 1950 to 2049.
        UTC_TIME => format!("{}{text}", if text.get(..2)? >= "50" { "19" } else { "20" }),
        GENERALIZED_TIME => text.to_string(),
        _ => return None,
    };
    let digits = full.strip_suffix('Z').filter(|digits| digits.len() == 14 && digits.is_ascii())?;
    let part = |from: usize, to: usize| digits.get(from..to);
    Timestamp::parse(&format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(0, 4)?,
        part(4, 6)?,
        part(6, 8)?,
        part(8, 10)?,
        part(10, 12)?,
        part(12, 14)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_certificate_is_read() {
        let mut parameters = rcgen::CertificateParams::new(vec!["search.example.org".to_string()]).unwrap();
        parameters.not_after = rcgen::date_time_ymd(2031, 7, 9);
        let key = rcgen::KeyPair::generate().unwrap();
        let pem = parameters.self_signed(&key).unwrap().pem();
        assert_eq!(first_end(&pem).unwrap().to_string(), "2031-07-09T00:00:00Z");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("certificate.pem");
        fs::write(&path, format!("{pem}{pem}")).unwrap();
        assert_eq!(certificate_end(&path).unwrap().date(), "2031-07-09");
        assert_eq!(certificate_end(&dir.path().join("none")), None);
    }

    #[test]
    fn times_have_two_forms() {
        let time = |tag, text| parse_time(tag, text).map(|time| time.to_string());
        assert_eq!(time(UTC_TIME, "491231235959Z").as_deref(), Some("2049-12-31T23:59:59Z"));
        assert_eq!(time(UTC_TIME, "500101000000Z").as_deref(), Some("1950-01-01T00:00:00Z"));
        assert_eq!(time(GENERALIZED_TIME, "20500101000000Z").as_deref(), Some("2050-01-01T00:00:00Z"));
        assert_eq!((time(UTC_TIME, ""), time(GENERALIZED_TIME, "2050Z"), time(2, "x")), (None, None, None));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), text in "\\PC{0,60}") {
            let _ = not_after(&bytes);
            let _ = first_end(&format!("{BEGIN}{}{END}", BASE64.encode(&bytes)));
            let _ = first_end(&text);
            let _ = parse_time(UTC_TIME, &text);
        }
    }
}
