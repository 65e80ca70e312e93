//! Charset declared by a response or a page.

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use super::Charset;

/// Parses `charset` of a `Content-Type` header or of `<meta http-equiv>` by the lenient rules of the HTML standard
/// (§2.6.5).
pub(super) fn from_content_type(content_type: &str) -> Option<Charset> {
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

/// Returns the charset of a label, including those that browsers refuse.
fn for_label(label: &str) -> Option<Charset> {
    let label = label.trim();
    let encoding = match label.to_ascii_lowercase().as_str() {
        "hz-gb-2312" | "hz-gb2312" | "hz" => return Some(Charset::Hz),
        "iso-2022-cn" | "iso-2022-cn-ext" | "iso2022cn" | "csiso2022cn" => {
            return Some(Charset::Iso2022("ISO-2022-CN"));
        }
        "iso-2022-kr" | "csiso2022kr" => return Some(Charset::Iso2022("ISO-2022-KR")),
        "euc-tw" | "x-euc-tw" | "euctw" | "cns11643" => return Some(Charset::EucTw),
        // Labels used by servers but absent from the standard.
        "gb18030-2000" | "gb18030-2005" | "cp936" | "ms936" | "gb_2312" | "euc-cn" | "euccn" => {
            Encoding::for_label(b"gbk")
        }
        "cp950" | "ms950" | "big5hkscs" | "big-5" => Encoding::for_label(b"big5"),
        "utf8mb4" | "utf_8" => Some(UTF_8),
        "cp932" | "ms932" | "windows-932" => Encoding::for_label(b"shift_jis"),
        "cp949" | "ms949" | "uhc" => Encoding::for_label(b"euc-kr"),
        _ => Encoding::for_label(label.as_bytes()),
    };
    // The remaining charsets that browsers refuse would decode to nothing.
    encoding.filter(|encoding| *encoding != REPLACEMENT).map(Charset::Known)
}

/// Maps a charset declared inside the page: a declaration readable as ASCII cannot be UTF-16 (§13.2.3.2, step on
/// `<meta>`).
fn in_page(charset: Charset) -> Charset {
    match charset {
        Charset::Known(encoding) if encoding == UTF_16BE || encoding == UTF_16LE => Charset::Known(UTF_8),
        Charset::Known(encoding) if encoding == X_USER_DEFINED => Charset::Known(WINDOWS_1252),
        other => other,
    }
}

/// Parses `<?xml version="1.0" encoding="gb2312"?>` at the very beginning.
pub(super) fn from_xml_declaration(head: &[u8]) -> Option<Charset> {
    let head = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let end = head.iter().position(|b| *b == b'>')?;
    let declaration = String::from_utf8_lossy(&head[..end]);
    let (_, rest) = declaration.split_once("encoding")?;
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    for_label(value[1..].split(quote).next()?).map(in_page)
}

/// Parses `<meta charset>` or `<meta http-equiv=content-type content>`.
pub(super) fn from_meta(head: &[u8]) -> Option<Charset> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let mut rest = head.as_str();
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if let Some(tag) = rest.strip_prefix("meta")
            && tag.starts_with(|c: char| c.is_ascii_whitespace() || c == '/')
        {
            let (attributes, after) = tag_attributes(tag);
            let found = from_meta_attributes(&attributes);
            if found.is_some() {
                return found;
            }
            rest = after;
        }
    }
    None
}

fn from_meta_attributes(attributes: &[(&str, &str)]) -> Option<Charset> {
    let (mut charset, mut content, mut is_content_type) = (None, None, false);
    for (name, value) in attributes {
        match *name {
            "charset" => charset = Some(*value),
            "content" => content = Some(*value),
            "http-equiv" => is_content_type = *value == "content-type",
            _ => {}
        }
    }
    match (charset, content) {
        (Some(charset), _) => for_label(charset).map(in_page),
        (None, Some(content)) if is_content_type => from_content_type(content).map(in_page),
        _ => None,
    }
}

/// Parses the attributes of a tag after its name, up to its end. Returns them and the rest of the input.
fn tag_attributes(tag: &str) -> (Vec<(&str, &str)>, &str) {
    let mut attributes = Vec::new();
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let name_len = rest
            .find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/'))
            .unwrap_or(rest.len());
        if name_len == 0 {
            // An equals sign without a name is skipped like a name.
            match rest.strip_prefix('=') {
                Some(after) => {
                    rest = after;
                    continue;
                }
                None => return (attributes, rest),
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
