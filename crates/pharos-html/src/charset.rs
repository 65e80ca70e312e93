//! Charset detection and decoding.
//!
//! The order follows the HTML standard (§13.2.3.2): byte order mark, HTTP header, declaration in the page,
//! statistics. There are two additions for carelessly declared pages. A page that is certainly UTF-8 is decoded as
//! UTF-8 regardless of its declaration. A declaration that cannot be true is replaced by the statistical result;
//! statistics run only in this case because they cost as much as parsing:
//!
//! * the text is fluent Chinese in another charset ([`fluency`]);
//! * the declared charset leaves replacement characters in the text;
//! * the common characters of an East Asian charset hardly occur;
//! * a charset of an alphabetic script yields no plausible words.
//!
//! A page assembled from parts in UTF-8 and in a Chinese charset is decoded part by part.
//!
//! Charsets that browsers refuse (HZ, ISO-2022-CN, ISO-2022-KR, EUC-TW) are decoded as well. In old archives they
//! are legitimate text.

#[cfg(test)]
mod accuracy;
mod declared;
mod euc_tw;
mod fluency;
mod seven_bit;
mod statistics;

use encoding_rs::{Encoding, UTF_8};
use pharos_core::work::spend_work;

use statistics::{count_replacements, detect, is_plausible};

/// Bytes searched for a declaration. The standard uses 1,024 bytes; pages with long comments at the top need more.
const MAX_DECLARATION_OFFSET: usize = 4_096;

/// At most one replacement character in this many non-ASCII characters is tolerated as a slightly broken page.
const CHARS_PER_REPLACEMENT: usize = 50;

/// Decoder for a body.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Charset {
    /// A charset that browsers support.
    Known(&'static Encoding),
    Hz,
    /// The name of the variant; both are decoded alike.
    Iso2022(&'static str),
    EucTw,
}

impl Charset {
    fn name(self) -> &'static str {
        match self {
            Charset::Known(encoding) => encoding.name(),
            Charset::Hz => "HZ-GB-2312",
            Charset::Iso2022(name) => name,
            Charset::EucTw => "EUC-TW",
        }
    }

    fn decode(self, body: &[u8]) -> String {
        spend_work(body.len() as u64);
        match self {
            Charset::Known(encoding) => encoding.decode_without_bom_handling(body).0.into_owned(),
            Charset::Hz => seven_bit::decode_hz(body),
            Charset::Iso2022(_) => seven_bit::decode_iso_2022(body),
            Charset::EucTw => euc_tw::decode(body),
        }
    }
}

/// Decodes `body`. Returns the text and the name of the charset used.
pub(crate) fn decode(body: &[u8], content_type: Option<&str>, host: &str) -> (String, &'static str) {
    spend_work(body.len() as u64);
    if let Some((encoding, bom_len)) = Encoding::for_bom(body) {
        let (text, _) = encoding.decode_without_bom_handling(&body[bom_len..]);
        return (text.into_owned(), encoding.name());
    }
    if let Some(text) = statistics::decode_if_utf8(body) {
        return (text, UTF_8.name());
    }
    if !body.is_ascii()
        && let Some((text, encoding)) = fluency::decode_mixed(body)
    {
        return (text, encoding.name());
    }
    if let Some(encoding) = statistics::utf16_without_mark(body) {
        return (encoding.decode_without_bom_handling(body).0.into_owned(), encoding.name());
    }
    let (mut text, charset) = choose_charset(body, content_type, host);
    // A body truncated at the size limit may end within a character.
    if text.ends_with('\u{FFFD}') {
        text.pop();
    }
    (text, charset.name())
}

fn choose_charset(body: &[u8], content_type: Option<&str>, host: &str) -> (String, Charset) {
    let head = &body[..body.len().min(MAX_DECLARATION_OFFSET)];
    let declared = content_type
        .and_then(declared::from_content_type)
        .or_else(|| declared::from_xml_declaration(head))
        .or_else(|| declared::from_meta(head))
        .filter(|declared| !statistics::cannot_be_utf16(*declared));
    let Some(declared) = declared else {
        let detected = detect(body, host);
        return (detected.decode(body), detected);
    };
    if statistics::is_utf8_declared_otherwise(body, declared) {
        return (String::from_utf8_lossy(body).into_owned(), Charset::Known(UTF_8));
    }
    let fluent = fluency::fluent_chinese(body);
    if let Some(found) = fluent
        && (found.is_certain() || found.is_in(declared))
    {
        // Templates that shorten texts by bytes leave broken characters, so errors do not matter here.
        let charset = if found.is_in(declared) { declared } else { Charset::Known(found.encoding) };
        return (charset.decode(body), charset);
    }
    let text = declared.decode(body);
    let has_errors = has_decoding_errors(&text);
    if !has_errors && is_plausible(declared, body, &text) {
        return (text, declared);
    }
    let detected = detect(body, host);
    let other = detected.decode(body);
    let is_better = if has_errors {
        count_replacements(&other) * 10 < count_replacements(&text)
    } else {
        !has_decoding_errors(&other)
    };
    if detected != declared && is_better && is_plausible(detected, body, &other) {
        (other, detected)
    } else {
        (text, declared)
    }
}

/// Returns `true` if the text has more replacement characters than a slightly broken page.
fn has_decoding_errors(text: &str) -> bool {
    let holes = count_replacements(text);
    // The last one may come from a truncated body.
    holes > 1 && holes * CHARS_PER_REPLACEMENT > text.chars().filter(|c| !c.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_KR, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::*;

    /// At most five steps per byte: the test for UTF-8, the detection of HZ, and two attempts.
    #[test]
    fn the_work_of_decoding_is_linear() {
        let units: [&[u8]; 11] = [
            b"~{",
            b"~{~}",
            b"~{<:~{",
            b"~",
            b"\x1B$)A\x0E",
            b"\x8E\xA1\xA1\xA1",
            b"\xC3",
            b"\xFF\xE4\xB8\xAD",
            b"a\xE9",
            b"\0a",
            b"<meta charset=",
        ];
        let types =
            [None, Some("text/html; charset=gb2312"), Some("text/html; charset=euc-tw"), Some("charset=hz")];
        for length in [20_000, 160_000] {
            for (unit, content_type) in units.iter().flat_map(|unit| types.map(|kind| (unit, kind))) {
                let mut body = unit.repeat(length / unit.len());
                body.extend(b"~}");
                let steps = measure_work(|| decode_named(&body, content_type)).1;
                assert!(steps <= 5 * body.len() as u64, "{unit:?}: {steps} steps for {} bytes", body.len());
            }
        }
    }

    const CHINESE: &str = "灯塔是一个网络搜索引擎,它下载网页,理解网页,并回答读者的问题。";

    fn decode_named(body: &[u8], content_type: Option<&str>) -> (String, &'static str) {
        decode(body, content_type, "www.example.org")
    }

    #[test]
    fn declarations_are_honoured_in_their_order() {
        let gbk = GBK.encode(CHINESE).0.into_owned();
        assert_eq!(decode_named(&gbk, Some("text/html; charset=GB2312")), (CHINESE.into(), "GBK"));
        for meta in [
            "<meta charset=gb2312>",
            "<META http-equiv='Content-Type' content='text/html; charset=gbk'>",
            "<!-- <meta charset=utf-8> --><meta content=\"text/html;charset='gb2312'\" http-equiv=content-type/>",
            "<?xml version='1.0' encoding='GBK'?>",
        ] {
            let (text, name) = decode_named(&[meta.as_bytes(), &gbk].concat(), None);
            assert!(text.ends_with(CHINESE) && name == "GBK", "{meta}");
        }
        let big5 = BIG5.encode("燈塔是一個網路搜尋引擎").0.into_owned();
        let page = [b"<meta charset=gbk>".as_slice(), &big5].concat();
        assert!(decode_named(&page, Some("text/html; charset=big5")).0.ends_with("搜尋引擎"));
    }

    #[test]
    fn byte_order_marks_win() {
        let utf16: Vec<u8> = "\u{FEFF}灯塔".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode_named(&utf16, Some("text/html; charset=gbk")), ("灯塔".into(), "UTF-16LE"));
        assert_eq!(decode_named("\u{FEFF}hé".as_bytes(), None), ("hé".into(), "UTF-8"));
    }

    #[test]
    fn certain_utf8_overrides_declarations() {
        assert_eq!(decode_named(CHINESE.as_bytes(), Some("text/html; charset=iso-8859-1")).1, "UTF-8");
        let cut_off = &CHINESE.as_bytes()[..CHINESE.len() - 2];
        assert_eq!(decode_named(cut_off, Some("text/html; charset=gbk")).1, "UTF-8");
    }

    #[test]
    fn a_false_claim_gives_way() {
        let gbk = GBK.encode(&CHINESE.repeat(3)).0.into_owned();
        assert_eq!(decode_named(&gbk, Some("text/html; charset=utf-8")), (CHINESE.repeat(3), "GBK"));
    }

    /// Statistics need some text, and so does the rejection of a declaration.
    const TRADITIONAL: &str =
        "燈塔是一個網路搜尋引擎，它下載網頁，理解網頁，並回答讀者的問題。我們都在海邊。";

    #[test]
    fn a_claim_that_cannot_be_true_gives_way() {
        let (gbk, big5) = (GBK.encode(CHINESE).0, BIG5.encode(TRADITIONAL).0);
        let russian = "Маяк освещает море ночью, чтобы корабли находили дорогу домой";
        for (body, claim, text, name) in [
            (&gbk, "iso-8859-1", CHINESE, "GBK"),
            (&gbk, "big5", CHINESE, "GBK"),
            (&gbk, "utf-16", CHINESE, "GBK"),
            (&gbk, "euc-kr", CHINESE, "GBK"),
            (&gbk, "shift_jis", CHINESE, "GBK"),
            (&gbk, "windows-1251", CHINESE, "GBK"),
            (&big5, "gb2312", TRADITIONAL, "Big5"),
            (&big5, "utf-8", TRADITIONAL, "Big5"),
            (&WINDOWS_1251.encode(russian).0, "windows-1252", russian, "windows-1251"),
        ] {
            assert_eq!(
                decode_named(body, Some(&format!("text/html; charset={claim}"))),
                (text.into(), name),
                "{claim}"
            );
        }
        let french = "Un phare éclaire la mer, où les bateaux passent très près des côtes.".repeat(9);
        let latin = WINDOWS_1252.encode(&french).0;
        assert_eq!(decode_named(&latin, Some("text/html; charset=iso-8859-1")), (french, "windows-1252"));
    }

    #[test]
    fn truncated_and_slightly_broken_bodies_are_decoded() {
        let gbk = GBK.encode(CHINESE).0;
        let cut = &gbk[..gbk.len() - 3];
        let kept = CHINESE.strip_suffix("题。").unwrap();
        assert_eq!(decode_named(cut, Some("text/html; charset=gbk")), (kept.into(), "GBK"));
        assert_eq!(decode_named(cut, None), (kept.into(), "GBK"));
        let utf16: Vec<u8> = "<p>灯塔 ok</p>".repeat(9).encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode_named(&utf16[..utf16.len() - 1], None).1, "UTF-16BE");
        let mut broken = CHINESE.repeat(10).into_bytes();
        broken.splice(300..301, *b"\xFF");
        assert_eq!(decode_named(&broken, Some("text/html; charset=gbk")).1, "UTF-8");
    }

    #[test]
    fn charsets_that_browsers_refuse_are_read() {
        for (body, claim, text) in [
            (&b"~{5FKy~} ok"[..], "hz-gb-2312", "灯所 ok"),
            (b"\x1B$)A\x0E=;;;\x0F ok", "iso-2022-cn", "交换 ok"),
            (b"\x1B$)C\x0EGQ1[\x0F ok", "iso-2022-kr", "한글 ok"),
            (b"\xC4\xE3 ok", "x-euc-tw", "中 ok"),
        ] {
            let (read, name) = decode_named(body, Some(&format!("text/html; charset={claim}")));
            assert!(read == text && claim.to_uppercase().ends_with(name), "{claim}: {read} as {name}");
        }
        assert_eq!(decode_named(b"\x1B$)A\x0E=;;;\x0F", None), ("交换".into(), "ISO-2022-CN"));
        assert_eq!(decode_named(b"~{<:Ky2;S{#,NpJ)l6HK!#~}", None).1, "HZ-GB-2312");
    }

    #[test]
    fn undeclared_pages_are_recognised() {
        for (encoding, text) in [
            (GBK, CHINESE),
            (BIG5, TRADITIONAL),
            (EUC_KR, "등대는 바다를 비추어 배들이 집으로 가는 길을 찾게 해 준다. 세계 어디에나 있다."),
            (SHIFT_JIS, "灯台は船のために夜の海を照らす建物である。世界中の海岸に見られる。"),
            (WINDOWS_1251, "Маяк освещает море ночью, чтобы корабли находили дорогу домой"),
        ] {
            assert_eq!(decode_named(&encoding.encode(text).0, None), (text.into(), encoding.name()));
        }
        assert_eq!(decode_named(b"plain", None).1, "UTF-8");
    }

    proptest! {
        #[test]
        fn any_bytes_decode(body in prop::collection::vec(any::<u8>(), 0..300), header in "\\PC{0,30}", host in "\\PC{0,12}") {
            decode(&body, Some(&header), &host);
            decode(&body, Some(&format!("text/html; charset={header}")), &host);
        }

        #[test]
        fn any_declaration_is_read(inside in "(<meta|<!--|-->|charset|=|'|\"| |/|>|gbk|http-equiv|content|content-type|é|<\\?xml|encoding){0,30}") {
            decode(format!("{inside}\u{e9}").as_bytes(), Some(&inside), "a.cn");
        }
    }
}
