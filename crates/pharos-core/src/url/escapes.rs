//! Normalisation of percent-escapes (RFC 3986 §6.2.2).

/// Decodes escapes of unreserved characters and writes the others in upper case.
///
/// The step is repeated until nothing changes, because decoding `%%341` produces a new escape. Every repetition but
/// the last shortens the text.
pub(super) fn normalise_escapes(part: &str) -> String {
    let mut text = decode_unreserved(part);
    loop {
        let again = decode_unreserved(&text);
        if again == text {
            return text;
        }
        text = again;
    }
}

fn decode_unreserved(part: &str) -> String {
    let bytes = part.as_bytes();
    let mut out = String::with_capacity(part.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = |j: usize| bytes.get(j).and_then(|b| char::from(*b).to_digit(16));
        match (bytes[i], hex(i + 1), hex(i + 2)) {
            (b'%', Some(high), Some(low)) => {
                let byte = (high * 16 + low) as u8;
                if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
                    out.push(char::from(byte));
                } else {
                    out.push_str(&format!("%{byte:02X}"));
                }
                i += 3;
            }
            (byte, ..) => {
                // `Url` returns ASCII, so a byte is a character.
                out.push(char::from(byte));
                i += 1;
            }
        }
    }
    out
}
