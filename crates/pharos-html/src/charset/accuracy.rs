//! Accuracy on real texts, encoded in one charset and declared as another.

use encoding_rs::{BIG5, Encoding, GB18030, GBK, UTF_8};

use super::decode;

const SIMPLIFIED: &str = include_str!("../../tests/samples/simplified.txt");
const TRADITIONAL: &str = include_str!("../../tests/samples/traditional.txt");
const ENGLISH: &str = "The keeper said: “You never asked me.” He’d lit the lamp — as always — at six o’clock, and wrote down \
                       which ships went by. It’s 30 °C in the lamp room; the café below isn’t open before noon…";

/// Declarations of a server; `None` declares nothing.
const LABELS: [Option<&str>; 10] = [
    None,
    Some("utf-8"),
    Some("gbk"),
    Some("gb2312"),
    Some("gb18030"),
    Some("big5"),
    Some("iso-8859-1"),
    Some("windows-1251"),
    Some("shift_jis"),
    Some("euc-kr"),
];

/// Ways to put a text into a page: as it is, as paragraphs, among English words, with parts cut by bytes.
fn pages(text: &[u8]) -> Vec<Vec<u8>> {
    let plain = text.to_vec();
    let tagged = [b"<html><body><div class=main><p>".as_slice(), text, b"</p></div></body></html>"].concat();
    let links = b"<a href=/index.html>Home</a> <a href=/about.html>About this site</a> ".repeat(8);
    vec![plain, tagged, [links.as_slice(), text].concat()]
}

/// Counts the pages decoded rightly, for windows of the text of at least `bytes` bytes.
fn count_right(text: &str, encoding: &'static Encoding, bytes: usize) -> (usize, usize) {
    let (mut right, mut all) = (0, 0);
    let chars: Vec<char> = text.chars().filter(|c| *c != '\n').collect();
    for start in (0..chars.len()).step_by(13) {
        let window: String = chars[start..].iter().take(bytes).collect();
        let encoded = encoding.encode(&window).0;
        if encoded.len() < bytes {
            break;
        }
        // The page ends within a character, too.
        for end in [bytes, bytes + 1] {
            let Some(part) = encoded.get(..end) else { continue };
            let expected: String = window.chars().take(bytes / 5).collect();
            for page in pages(part) {
                for label in LABELS {
                    let content_type = label.map(|label| format!("text/html; charset={label}"));
                    let (read, charset) = decode(&page, content_type.as_deref(), "www.example.org");
                    all += 1;
                    right += usize::from(read.contains(&expected));
                    if !read.contains(&expected) && all - right < 5 {
                        println!("{} declared {label:?} read as {charset}: {window}", encoding.name());
                    }
                }
            }
        }
    }
    (right, all)
}

#[test]
fn chinese_from_200_bytes_on_is_decoded_whatever_is_declared() {
    for (text, encoding) in [
        (SIMPLIFIED, UTF_8),
        (SIMPLIFIED, GBK),
        (SIMPLIFIED, GB18030),
        (TRADITIONAL, UTF_8),
        (TRADITIONAL, BIG5),
        (TRADITIONAL, GBK),
    ] {
        for bytes in [200, 500] {
            let (right, all) = count_right(text, encoding, bytes);
            assert!(all > 1_000, "{all} pages of {}", encoding.name());
            assert!(right * 1_000 >= all * 999, "{} of {bytes} bytes: {right} of {all}", encoding.name());
        }
    }
}

#[test]
fn english_in_utf8_is_decoded_whatever_is_declared() {
    for label in LABELS {
        let content_type = label.map(|label| format!("text/html; charset={label}"));
        assert_eq!(decode(ENGLISH.as_bytes(), content_type.as_deref(), "").0, ENGLISH, "{label:?}");
    }
}
