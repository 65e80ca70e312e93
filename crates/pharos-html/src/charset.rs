//! Which charset a page is written in, and its text.
//!
//! The order is that of the HTML standard (§13.2.3.2): byte-order mark, HTTP header, declaration in the page,
//! statistics. Two additions for a web that declares carelessly: a page that is UTF-8 beyond doubt is read as
//! such whatever it claims, and a claim that leaves holes in the text gives way to statistics that do not.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// The standard looks at 1,024 bytes; pages with long comments at the top are common enough to look further.
const DECLARATION_WITHIN: usize = 4_096;

/// Statistics are sure after much less, and dear: every charset is tried at once.
const DETECT_WITHIN: usize = 16 << 10;

/// So many multi-byte sequences, all of them right, do not happen in another charset: four characters of GBK
/// pass for UTF-8 once in a thousand times, ten once in tens of millions.
const SURELY_UTF8: usize = 10;

/// One replacement character in so many that are not ASCII is a slightly broken page, not another charset.
const TOLERATED_ERRORS_IN: usize = 50;

/// The text of `body`, and the name of the charset it was read with.
pub(crate) fn decode(body: &[u8], content_type: Option<&str>, host: &str) -> (String, &'static str) {
    if let Some((encoding, bom_len)) = Encoding::for_bom(body) {
        let (text, _) = encoding.decode_without_bom_handling(&body[bom_len..]);
        return (text.into_owned(), encoding.name());
    }
    if let Some(text) = surely_utf8(body) {
        return (text, UTF_8.name());
    }
    let head = &body[..body.len().min(DECLARATION_WITHIN)];
    let declared = content_type
        .and_then(from_content_type)
        .or_else(|| from_xml_declaration(head))
        .or_else(|| from_meta(head));
    let Some(declared) = declared else {
        return read(detect(body, host), body);
    };
    let (text, name) = read(declared, body);
    let errors = replacement_characters(&text);
    if errors > 0 && errors * TOLERATED_ERRORS_IN > text.chars().filter(|c| !c.is_ascii()).count() {
        let (other_text, other_name) = read(detect(body, host), body);
        if replacement_characters(&other_text) * 10 < errors {
            return (other_text, other_name);
        }
    }
    (text, name)
}

fn read(encoding: &'static Encoding, body: &[u8]) -> (String, &'static str) {
    let (text, _) = encoding.decode_without_bom_handling(body);
    (text.into_owned(), encoding.name())
}

fn replacement_characters(text: &str) -> usize {
    text.matches('\u{FFFD}').count()
}

/// The text if it is UTF-8 with enough multi-byte characters to be sure; a character cut off at the end (of a
/// body that was too long) does not count against it.
fn surely_utf8(body: &[u8]) -> Option<String> {
    let valid = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(e) if e.error_len().is_none() => std::str::from_utf8(&body[..e.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    let multi_byte = valid.bytes().filter(|b| *b >= 0xC0).take(SURELY_UTF8).count();
    (multi_byte == SURELY_UTF8).then(|| valid.to_string())
}

fn detect(body: &[u8], host: &str) -> &'static Encoding {
    let Some(first) = body.iter().position(|b| !b.is_ascii()) else { return UTF_8 };
    let sample = &body[first..body.len().min(first + DETECT_WITHIN)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, first + sample.len() == body.len());
    let top_level = host.rsplit('.').next().unwrap_or_default().as_bytes();
    let is_plain = top_level.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-');
    detector.guess((is_plain && !top_level.is_empty()).then_some(top_level), Utf8Detection::Allow)
}

/// `charset` of a `Content-Type` or of a `<meta http-equiv>`, by the standard's loose rules (§2.6.5).
fn from_content_type(content_type: &str) -> Option<&'static Encoding> {
    let mut rest = content_type;
    loop {
        let at = rest.as_bytes().windows(7).position(|w| w.eq_ignore_ascii_case(b"charset"))?;
        // Seven ASCII bytes end on a character boundary.
        rest = &rest[at + 7..];
        let Some(value) = rest.trim_start().strip_prefix('=') else { continue };
        let value = value.trim_start();
        let label = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split(quote).next()?,
            _ => value.split(|c: char| c.is_whitespace() || c == ';' || c == ',').next()?,
        };
        return for_label(label);
    }
}

fn for_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.trim().as_bytes())
}

/// What a page says of itself in ASCII cannot be UTF-16 (§13.2.3.2, step on `<meta>`).
fn for_label_in_page(label: &str) -> Option<&'static Encoding> {
    let encoding = for_label(label)?;
    if encoding == UTF_16BE || encoding == UTF_16LE {
        Some(UTF_8)
    } else if encoding == X_USER_DEFINED {
        Some(WINDOWS_1252)
    } else {
        Some(encoding)
    }
}

/// `<?xml version="1.0" encoding="gb2312"?>` at the very beginning.
fn from_xml_declaration(head: &[u8]) -> Option<&'static Encoding> {
    let head = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = head.iter().position(|b| *b == b'>')?;
    let declaration = String::from_utf8_lossy(&head[..end]);
    let (_, rest) = declaration.split_once("encoding")?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    for_label_in_page(value[1..].split(quote).next()?)
}

/// `<meta charset>` or `<meta http-equiv=content-type content>`.
fn from_meta(head: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let mut rest = head.as_str();
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if let Some(tag) = rest.strip_prefix("meta")
            && tag.starts_with(|c: char| c.is_ascii_whitespace() || c == '/')
        {
            let found = from_meta_tag(tag);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

fn from_meta_tag(tag: &str) -> Option<&'static Encoding> {
    let (mut charset, mut content, mut is_content_type) = (None, None, false);
    for (name, value) in tag_attributes(tag) {
        match name {
            "charset" => charset = Some(value),
            "content" => content = Some(value),
            "http-equiv" => is_content_type = value == "content-type",
            _ => {}
        }
    }
    match (charset, content) {
        (Some(charset), _) => for_label_in_page(charset),
        (None, Some(content)) if is_content_type => from_content_type(content).map(in_page),
        _ => None,
    }
}

fn in_page(encoding: &'static Encoding) -> &'static Encoding {
    for_label_in_page(encoding.name()).unwrap_or(encoding)
}

/// The attributes of a tag whose name has been read, up to its end.
fn tag_attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut attributes = Vec::new();
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let name_len = rest
            .find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/'))
            .unwrap_or(rest.len());
        if name_len == 0 {
            // An equals sign without a name: step over it as over a name.
            match rest.strip_prefix('=') {
                Some(after) => {
                    rest = after;
                    continue;
                }
                None => return attributes,
            }
        }
        let (name, after) = rest.split_at(name_len);
        rest = after.trim_start();
        let Some(value) = rest.strip_prefix('=') else {
            attributes.push((name, ""));
            continue;
        };
        let value = value.trim_start();
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            _ => value
                .split_at(value.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(value.len())),
        };
        attributes.push((name, value));
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, GBK, SHIFT_JIS, WINDOWS_1251};
    use proptest::prelude::*;

    use super::*;

    const CHINESE: &str = "灯塔是一个网络搜索引擎,它下载网页,理解网页,并回答读者的问题。";

    fn named(body: &[u8], content_type: Option<&str>) -> (String, &'static str) {
        decode(body, content_type, "www.example.org")
    }

    #[test]
    fn declarations_are_honoured_in_their_order() {
        let gbk = GBK.encode(CHINESE).0.into_owned();
        assert_eq!(named(&gbk, Some("text/html; charset=GB2312")), (CHINESE.into(), "GBK"));
        for meta in [
            "<meta charset=gb2312>",
            "<META http-equiv='Content-Type' content='text/html; charset=gbk'>",
            "<!-- <meta charset=utf-8> --><meta content=\"text/html;charset='gb2312'\" http-equiv=content-type/>",
            "<?xml version='1.0' encoding='GBK'?>",
        ] {
            let (text, name) = named(&[meta.as_bytes(), &gbk].concat(), None);
            assert!(text.ends_with(CHINESE) && name == "GBK", "{meta}");
        }
        let big5 = BIG5.encode("燈塔是一個網路搜尋引擎").0.into_owned();
        let page = [b"<meta charset=gbk>".as_slice(), &big5].concat();
        assert!(named(&page, Some("text/html; charset=big5")).0.ends_with("搜尋引擎"));
    }

    #[test]
    fn byte_order_marks_win() {
        let utf16: Vec<u8> = "\u{FEFF}灯塔".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(named(&utf16, Some("text/html; charset=gbk")), ("灯塔".into(), "UTF-16LE"));
        assert_eq!(named("\u{FEFF}hé".as_bytes(), None), ("hé".into(), "UTF-8"));
    }

    #[test]
    fn what_is_surely_utf8_is_utf8() {
        assert_eq!(named(CHINESE.as_bytes(), Some("text/html; charset=iso-8859-1")).1, "UTF-8");
        let cut_off = &CHINESE.as_bytes()[..CHINESE.len() - 2];
        assert_eq!(named(cut_off, Some("text/html; charset=gbk")).1, "UTF-8");
    }

    #[test]
    fn a_false_claim_gives_way() {
        let gbk = GBK.encode(&CHINESE.repeat(3)).0.into_owned();
        assert_eq!(named(&gbk, Some("text/html; charset=utf-8")), (CHINESE.repeat(3), "GBK"));
    }

    #[test]
    fn undeclared_pages_are_recognised() {
        for (encoding, text) in [
            (GBK, CHINESE),
            (SHIFT_JIS, "灯台は船のために夜の海を照らす建物である。世界中の海岸に見られる。"),
            (WINDOWS_1251, "Маяк освещает море ночью, чтобы корабли находили дорогу домой"),
        ] {
            assert_eq!(named(&encoding.encode(text).0, None), (text.into(), encoding.name()));
        }
        assert_eq!(named(b"plain", None).1, "UTF-8");
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
