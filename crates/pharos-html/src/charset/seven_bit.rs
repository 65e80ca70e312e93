//! Seven-bit East Asian charsets that switch between ASCII and two-byte characters: HZ (RFC 1843), ISO-2022-CN (RFC
//! 1922) and ISO-2022-KR (RFC 1557).
//!
//! With the high bits set, their two-byte characters are GB 2312 and KS X 1001, which standard decoders support.

use encoding_rs::{BIG5, EUC_KR, GBK};
use memchr::memmem;
use pharos_core::work::spend_work;

use super::euc_tw;

/// Decodes HZ: `~{` begins GB 2312 characters, `~}` ends them, `~~` is a tilde.
pub(super) fn decode_hz(body: &[u8]) -> String {
    let mut gbk = Vec::with_capacity(body.len());
    let mut is_chinese = false;
    let mut rest = body;
    while let Some((&first, after)) = rest.split_first() {
        let second = after.first().copied();
        let taken = match (is_chinese, first, second) {
            (false, b'~', Some(b'{')) => {
                is_chinese = true;
                2
            }
            (true, b'~', Some(b'}')) => {
                is_chinese = false;
                2
            }
            (false, b'~', Some(b'~')) => {
                gbk.push(b'~');
                2
            }
            // Line continuation.
            (false, b'~', Some(b'\n')) => 2,
            (true, 0x21..=0x77, Some(second @ 0x21..=0x7E)) => {
                gbk.extend([first | 0x80, second | 0x80]);
                2
            }
            // A two-byte run ends at the end of the line at the latest.
            (_, b'\n', _) => {
                is_chinese = false;
                gbk.push(first);
                1
            }
            (true, 0x21.., _) => 1,
            _ => {
                gbk.push(first);
                1
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    GBK.decode_without_bom_handling(&gbk).0.into_owned()
}

/// Returns `true` if an ASCII body contains HZ sequences: `~{`, pairs of printable bytes, `~}`.
pub(super) fn looks_like_hz(body: &[u8]) -> bool {
    /// A single short sequence may occur by chance.
    const ENOUGH: usize = 2;
    let mut found = 0;
    let mut rest = body;
    while let Some(start) = memmem::find(rest, b"~{") {
        let Some(end) = memmem::find(&rest[start..], b"~}").map(|len| start + len) else { break };
        spend_work(end as u64);
        // Only the last `~{` counts: the bytes of another one are no character.
        let last = memmem::rfind(&rest[start..end], b"~{").map_or(start, |at| start + at);
        let inside = &rest[last + 2..end];
        rest = &rest[end..];
        let is_chinese = !inside.is_empty()
            && inside.len().is_multiple_of(2)
            && inside
                .chunks(2)
                .all(|pair| (0x21..=0x77).contains(&pair[0]) && (0x21..=0x7E).contains(&pair[1]));
        found += usize::from(is_chinese);
        if found >= ENOUGH || (is_chinese && inside.len() >= 8) {
            return true;
        }
    }
    false
}

/// Two-byte character set of ISO 2022.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Iso2022Set {
    Gb2312,
    CnsPlane1,
    CnsPlane2,
    Korean,
}

/// Decodes ISO-2022-CN and ISO-2022-KR. Escape sequences designate a set, shift-out and shift-in switch to it and
/// back, and `ESC N` switches for one character. Characters of unsupported sets are dropped.
pub(super) fn decode_iso_2022(body: &[u8]) -> String {
    let mut text = String::with_capacity(body.len());
    let (mut shifted, mut single, mut is_shifted) = (None, None, false);
    let mut rest = body;
    while let Some((&first, after)) = rest.split_first() {
        let taken = match (first, after) {
            (0x1B, [b'$', b')', b'A', ..]) => {
                shifted = Some(Iso2022Set::Gb2312);
                4
            }
            (0x1B, [b'$', b')', b'G', ..]) => {
                shifted = Some(Iso2022Set::CnsPlane1);
                4
            }
            (0x1B, [b'$', b')', b'C', ..]) => {
                shifted = Some(Iso2022Set::Korean);
                4
            }
            (0x1B, [b'$', b'*', b'H', ..]) => {
                single = Some(Iso2022Set::CnsPlane2);
                4
            }
            (0x1B, [b'$', b')' | b'*' | b'+', _, ..]) => {
                shifted = None;
                4
            }
            (0x1B, [b'N', row, cell, ..]) => {
                push_character(&mut text, single, *row, *cell);
                4
            }
            (0x0E, _) => {
                is_shifted = true;
                1
            }
            (0x0F, _) => {
                is_shifted = false;
                1
            }
            (0x21..=0x7E, [cell @ 0x21..=0x7E, ..]) if is_shifted => {
                push_character(&mut text, shifted, first, *cell);
                2
            }
            (0x21..=0x7E, _) if is_shifted => 1,
            (b'\n', _) => {
                // Both standards begin each line in ASCII.
                is_shifted = false;
                text.push('\n');
                1
            }
            (0x00..=0x7F, _) => {
                text.push(char::from(first));
                1
            }
            _ => 1,
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    text
}

fn push_character(text: &mut String, set: Option<Iso2022Set>, row: u8, cell: u8) {
    let high = [row | 0x80, cell | 0x80];
    let (bytes, encoding) = match set {
        Some(Iso2022Set::Gb2312) => (high, GBK),
        Some(Iso2022Set::Korean) => (high, EUC_KR),
        Some(Iso2022Set::CnsPlane1) => (euc_tw::to_big5(1, row, cell), BIG5),
        Some(Iso2022Set::CnsPlane2) => (euc_tw::to_big5(2, row, cell), BIG5),
        None => return,
    };
    text.push_str(&encoding.decode_without_bom_handling(&bytes).0);
}

/// Returns the charset name if an ASCII body designates a Chinese or Korean set of ISO 2022.
pub(super) fn looks_like_iso_2022(body: &[u8]) -> Option<&'static str> {
    let escape = memmem::find(body, b"\x1B$)")?;
    match body.get(escape + 3)? {
        b'A' | b'G' => Some("ISO-2022-CN"),
        b'C' => Some("ISO-2022-KR"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hz_is_read() {
        assert_eq!(
            decode_hz(b"This is ~{<:Ky2;S{#,NpJ)l6HK!#~}Bye ~~."),
            "This is 己所不欲，勿施於人。Bye ~."
        );
        assert_eq!(decode_hz(b"~{<:Ky\nASCII ~{<:K"), "己所\nASCII 己", "unclosed and truncated");
        assert!(looks_like_hz(b"This is ~{<:Ky2;S{#,~}.") && !looks_like_hz(b"a ~{b~} css~{}~}"));
        assert!(looks_like_hz(b"~{ and ~{<:~} or ~{<:~}") && !looks_like_hz(b"~{<:~{<:~}"));
    }

    #[test]
    fn iso_2022_is_read() {
        let gb = b"\x1B$)A\x0E=;;;\x1B$)GG(_P\x0F ok";
        assert_eq!(decode_iso_2022(gb), "交换交換 ok");
        assert_eq!(looks_like_iso_2022(gb), Some("ISO-2022-CN"));
        assert_eq!(decode_iso_2022(b"\x1B$)C\x0EGQ1[\x0F."), "한글.");
        assert_eq!(decode_iso_2022(b"\x1B$)A\x0E=;;"), "交", "truncated within a character");
    }

    proptest! {
        #[test]
        fn any_bytes_decode(body in prop::collection::vec(prop_oneof![Just(0x1Bu8), Just(b'$'), Just(b')'), Just(b'A'), Just(0x0E), Just(b'~'), Just(b'{'), any::<u8>()], 0..60)) {
            decode_hz(&body);
            decode_iso_2022(&body);
            looks_like_hz(&body);
        }
    }
}
