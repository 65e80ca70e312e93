//! GBK encoding by table.
//!
//! `encoding_rs` keeps its tables small and searches them when it encodes, which takes longer than the rest of
//! rendering a page. One table of 128 KiB, filled by its decoder, makes encoding a lookup.

use std::fmt::Write;
use std::sync::LazyLock;

/// The two bytes of every character of the basic plane; 0 if GBK has none.
static TABLE: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut table = vec![0; 0x1_0000];
    for lead in 0x81..=0xFE_u8 {
        for trail in 0x40..=0xFE_u8 {
            let bytes = [lead, trail];
            let decoded = encoding_rs::GBK.decode_without_bom_handling_and_without_replacement(&bytes);
            let mut letters = decoded.as_deref().unwrap_or("").chars();
            if let (Some(letter), None) = (letters.next(), letters.next())
                && let Some(place) = table.get_mut(letter as usize)
                && *place == 0
            {
                *place = u16::from_be_bytes(bytes);
            }
        }
    }
    table
});

/// Encodes a text in GBK; unmappable characters become numeric character references, as in browsers.
pub(crate) fn encode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for letter in text.chars() {
        match TABLE.get(letter as usize) {
            _ if letter.is_ascii() => out.push(letter as u8),
            Some(&code) if code != 0 => out.extend(code.to_be_bytes()),
            _ => {
                let mut reference = String::new();
                // Writing to a string cannot fail.
                let _ = write!(reference, "&#{};", letter as u32);
                out.extend(reference.into_bytes());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_comes_back() {
        let text: String = ('\u{20}'..'\u{FFFF}')
            .filter(|letter| letter.is_ascii() || TABLE[*letter as usize] != 0)
            .collect();
        assert!(text.chars().count() > 21_000);
        assert_eq!(encoding_rs::GBK.decode(&encode(&text)).0, text);
        assert_eq!(encode("灯塔 é 🗼"), encoding_rs::GBK.encode("灯塔 é 🗼").0.as_ref());
    }
}
