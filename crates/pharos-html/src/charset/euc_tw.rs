//! EUC-TW (CNS 11643), the encoding of Traditional Chinese on Unix systems in Taiwan.
//!
//! Planes 1 and 2 hold the characters of Big5 in nearly the same order. A few runs of constant offset map them onto
//! Big5, and the Big5 decoder does the rest. Other planes become replacement characters.

use encoding_rs::BIG5;

/// Characters per row in CNS 11643 and in Big5.
const CNS_ROW: usize = 94;
const BIG5_ROW: usize = 157;

/// Runs of plane 1: index in the plane, index in Big5, length. Both indexes count without gaps from the first row.
const PLANE_1: &[(u16, u16, u16)] = &[
    (0, 0, 5),
    (6, 6, 8),
    (15, 15, 6),
    (21, 23, 2),
    (24, 22, 1),
    (29, 29, 44),
    (73, 74, 1),
    (74, 73, 1),
    (75, 75, 22),
    (98, 98, 1),
    (100, 100, 27),
    (127, 128, 1),
    (128, 127, 1),
    (129, 129, 19),
    (148, 149, 1),
    (149, 148, 1),
    (150, 150, 4),
    (155, 21, 1),
    (156, 158, 2),
    (160, 160, 1),
    (162, 162, 1),
    (165, 165, 54),
    (219, 13968, 4),
    (223, 13967, 1),
    (224, 13951, 3),
    (227, 227, 7),
    (282, 234, 29),
    (312, 264, 1),
    (314, 266, 142),
    (470, 5872, 30),
    (571, 5905, 1),
    (578, 5908, 1),
    (583, 5909, 1),
    (3290, 471, 1412),
    (4702, 1884, 424),
    (5126, 1883, 1),
    (5127, 2308, 1876),
    (7003, 4571, 1),
    (7004, 4184, 387),
    (7391, 4572, 525),
    (7916, 5286, 1),
    (7917, 5097, 105),
    (8023, 5203, 83),
    (8106, 5287, 84),
    (8190, 5517, 1),
    (8191, 5371, 54),
    (8245, 5426, 1),
    (8246, 5425, 1),
    (8247, 5427, 90),
    (8337, 5518, 354),
];

/// Runs of plane 2, in the same form.
const PLANE_2: &[(u16, u16, u16)] = &[
    (0, 6280, 10),
    (10, 6291, 33),
    (43, 6372, 1),
    (44, 6324, 48),
    (92, 6373, 46),
    (138, 6586, 1),
    (139, 6419, 167),
    (306, 6587, 1840),
    (2146, 9074, 1),
    (2147, 8428, 108),
    (2255, 8537, 537),
    (2792, 8427, 1),
    (2793, 9075, 100),
    (2893, 8536, 1),
    (2894, 9175, 399),
    (3293, 9575, 1637),
    (4930, 11761, 1),
    (4931, 11212, 146),
    (5077, 11899, 1),
    (5078, 11358, 287),
    (5365, 12508, 1),
    (5366, 11645, 116),
    (5482, 11762, 137),
    (5619, 11900, 104),
    (5723, 12425, 1),
    (5724, 12004, 222),
    (5946, 12227, 198),
    (6144, 12426, 82),
    (6226, 12509, 86),
    (6312, 12226, 1),
    (6313, 12595, 8),
    (6321, 12604, 153),
    (6474, 12758, 56),
    (6530, 13114, 1),
    (6531, 12814, 113),
    (6644, 12603, 1),
    (6645, 12927, 142),
    (6787, 12757, 1),
    (6788, 13069, 45),
    (6833, 13115, 71),
    (6904, 13380, 1),
    (6905, 13186, 194),
    (7099, 13381, 490),
    (7589, 13914, 1),
    (7590, 13871, 43),
    (7633, 13915, 1),
    (7634, 13917, 11),
    (7645, 13916, 1),
    (7646, 13928, 4),
];

/// Decodes an EUC-TW body.
pub(super) fn decode(body: &[u8]) -> String {
    let mut big5 = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((&first, after)) = rest.split_first() {
        let taken = match first {
            0x00..=0x7F => {
                big5.push(first);
                1
            }
            // Single shift two: the plane, then the character.
            0x8E => match after {
                [plane @ 0xA1..=0xB0, row, cell, ..] => {
                    big5.extend(to_big5(plane - 0xA0, *row, *cell));
                    4
                }
                // Truncated within a character.
                _ => rest.len().min(4),
            },
            _ => {
                if let Some(cell) = after.first() {
                    big5.extend(to_big5(1, first, *cell));
                }
                2
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    BIG5.decode_without_bom_handling(&big5).0.into_owned()
}

/// Converts a character of CNS 11643, with or without the high bits, to Big5. Returns an invalid Big5 sequence for
/// unmapped characters.
pub(super) fn to_big5(plane: u8, row: u8, cell: u8) -> [u8; 2] {
    const NONE: [u8; 2] = [0xFF, b' '];
    let (row, cell) = (row & 0x7F, cell & 0x7F);
    if !(0x21..=0x7E).contains(&row) || !(0x21..=0x7E).contains(&cell) {
        return NONE;
    }
    let runs = match plane {
        1 => PLANE_1,
        2 => PLANE_2,
        _ => return NONE,
    };
    let place = (row as usize - 0x21) * CNS_ROW + cell as usize - 0x21;
    let run = runs.partition_point(|(start, ..)| usize::from(*start) <= place).checked_sub(1);
    let Some(&(start, big5, length)) = run.and_then(|run| runs.get(run)) else { return NONE };
    let offset = place - usize::from(start);
    if offset >= usize::from(length) {
        return NONE;
    }
    let place = usize::from(big5) + offset;
    let (row, cell) = (place / BIG5_ROW, place % BIG5_ROW);
    let cell = if cell < 63 { cell + 0x40 } else { cell - 63 + 0xA1 };
    match (u8::try_from(row + 0xA1), u8::try_from(cell)) {
        (Ok(row), Ok(cell)) => [row, cell],
        _ => NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_of_cns_are_read() {
        assert_eq!(
            decode(b"\xF1\xB9\xE3\xD7 is \xC4\xA1\xD4\xB6\xEA\xBD\xE6\xFB\xE4\xB2\xDE\xF2\xC5\xBF\xF3\xE3"),
            "燈塔 is 一個網路搜尋引擎"
        );
        assert_eq!(
            decode(b"\x8E\xA2\xA1\xA1\x8E\xA2\xA1\xA2\x8E\xA2\xA1\xA3\x8E\xA2\xA1\xA4\x8E\xA2\xA1\xA5"),
            "乂乜凵匚厂"
        );
        assert_eq!(decode(b"\x8E\xA2\xF2\xC4\xF3\xBE\xFD\xCA"), "龘龍鸞");
        assert_eq!(decode(b"a\xC4\xE3\x8E\xA2"), decode(b"a\xC4\xE3"), "truncated within a character");
        assert!(decode(b"\x8E\xAF\xA1\xA1z").ends_with(" z"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_decode(body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60)) {
            decode(&body);
        }
    }
}
