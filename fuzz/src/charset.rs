//! Charset decoding. The first byte selects the charset declared by the server. Any bytes decode to text, and decoding
//! UTF-8 is lossless.

use pharos_core::PageUrl;

const CHARSETS: [&str; 16] = [
    "",
    "utf-8",
    "utf-16",
    "utf-16be",
    "gb2312",
    "gb18030",
    "hz-gb-2312",
    "iso-2022-cn",
    "iso-2022-kr",
    "iso-2022-jp",
    "big5",
    "big5-hkscs",
    "euc-tw",
    "euc-kr",
    "shift_jis",
    "windows-1251",
];

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else { return };
    let Ok(url) = PageUrl::parse("http://example.tw/a.txt") else { return };
    let named = CHARSETS[usize::from(*first) % CHARSETS.len()];
    let page = pharos_html::skim(&url, Some(&format!("text/plain; charset={named}")), body);
    assert!(!page.charset.is_empty());
    let _ = pharos_html::skim(&url, Some("text/html"), body);

    let text = pharos_html::decode_body(body);
    let again = pharos_html::decode_body(format!("\u{feff}{text}").as_bytes());
    assert_eq!(again, text);
}
