//! Normalisation of percent-escapes (RFC 3986 §6.2.2).

use crate::work::spend_work;

/// Decodes escapes of unreserved characters and writes the others in upper case.
///
/// A decoded character may complete another escape: `%%341` becomes `%41`, which is `A`. The last three bytes of the
/// result are therefore examined after every byte and after every decoded one, so that time is linear.
pub(super) fn normalise_escapes(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for byte in part.bytes() {
        // `Url` returns ASCII, so a byte is a character.
        out.push(char::from(byte));
        let mut steps = 1;
        while let Some(decoded) = last_escape(&out) {
            out.truncate(out.len() - ESCAPE_LENGTH);
            steps += 1;
            if decoded.is_ascii_alphanumeric() || matches!(decoded, b'-' | b'.' | b'_' | b'~') {
                out.push(char::from(decoded));
            } else {
                out.push_str(&format!("%{decoded:02X}"));
                break;
            }
        }
        spend_work(steps);
    }
    out
}

/// Length of `%41`.
const ESCAPE_LENGTH: usize = 3;

/// Returns the byte of the escape that a text ends with.
fn last_escape(text: &str) -> Option<u8> {
    let [.., b'%', high, low] = *text.as_bytes() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::work::measure_work;

    /// Decodes every escape once, from left to right.
    fn decode_once(text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(first) = rest.chars().next() {
            match rest.get(..3).filter(|escape| last_escape(escape).is_some()) {
                Some(escape) => {
                    out.push_str(&normalise_escapes(escape));
                    rest = &rest[3..];
                }
                None => {
                    out.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        out
    }

    #[test]
    fn decoded_characters_complete_escapes() {
        for (written, expected) in [
            ("%%341", "A"),
            ("%7e%2f%", "~%2F%"),
            ("%4%31", "A"),
            ("%2541", "%2541"),
            ("%%32%35", "%25"),
            ("%c3%A9", "%C3%A9"),
        ] {
            assert_eq!(normalise_escapes(written), expected, "{written}");
        }
    }

    /// At most three steps per byte, also if every decoded character completes another escape.
    #[test]
    fn the_work_on_escapes_is_linear() {
        for length in [500, 4_000] {
            let nested = "%".repeat(length) + &"33".repeat(length);
            for part in [nested, "%41".repeat(length), "%2f".repeat(length), "%".repeat(length)] {
                let steps = measure_work(|| normalise_escapes(&part)).1;
                assert!(steps <= 3 * part.len() as u64, "{steps} steps for {} bytes", part.len());
            }
        }
    }

    proptest! {
        #[test]
        fn the_result_is_that_of_repeated_decoding(text in "[%%%%0-9A-Fa-fx/]{0,40}") {
            let mut expected = text.clone();
            for _ in 0..text.len() {
                expected = decode_once(&expected);
            }
            prop_assert_eq!(normalise_escapes(&text), expected);
        }
    }
}
