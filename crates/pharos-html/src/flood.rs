//! Tags with thousands of attributes, cut down before the parser sees them.
//!
//! html5ever compares each attribute with all earlier ones of its tag, so that the time of a tag grows with the
//! square of its attributes. No honest page has such tags: nearly always this is one pass that changes nothing.

use std::borrow::Cow;

/// Attributes of one tag beyond this many are dropped.
pub(crate) const MAX_ATTRIBUTES: usize = 1_000;

/// `html` without the attributes beyond [`MAX_ATTRIBUTES`] of each tag.
///
/// Follows the tokenizer of the HTML standard (§13.2.5) as far as tags go: comments and elements with raw text
/// are passed over.
pub(crate) fn limit_attributes(html: &str) -> Cow<'_, str> {
    let bytes = html.as_bytes();
    let mut kept = String::new();
    let mut kept_until = 0;
    let mut at = 0;
    while let Some(tag) = find(bytes, at, b'<') {
        at = tag + 1;
        if bytes[at..].starts_with(b"!--") {
            at = html[at..].find("-->").map_or(html.len(), |i| at + i);
            continue;
        }
        let is_end_tag = bytes.get(at) == Some(&b'/');
        let name_start = at + usize::from(is_end_tag);
        if !bytes.get(name_start).is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let name_end = position(bytes, name_start, ends_name).unwrap_or(html.len());
        let end = tag_end(bytes, name_end);
        if let Some(excess) = end.excess {
            kept.push_str(&html[kept_until..excess]);
            kept_until = end.at;
        }
        at = end.at;
        let name = &bytes[name_start..name_end];
        if !is_end_tag && has_raw_text(name) {
            at = raw_text_end(bytes, at, name);
        }
    }
    if kept_until == 0 {
        return Cow::Borrowed(html);
    }
    kept.push_str(&html[kept_until..]);
    Cow::Owned(kept)
}

struct TagEnd {
    /// Where the closing `>` is.
    at: usize,
    /// Where the first attribute too many begins.
    excess: Option<usize>,
}

fn tag_end(bytes: &[u8], mut at: usize) -> TagEnd {
    let mut excess = None;
    let mut attributes = 0;
    loop {
        at = position(bytes, at, |b| !b.is_ascii_whitespace() && b != b'/').unwrap_or(bytes.len());
        if at >= bytes.len() || bytes[at] == b'>' {
            return TagEnd { at, excess };
        }
        if attributes == MAX_ATTRIBUTES {
            excess = Some(at);
        }
        attributes += 1;
        // An equals sign in the first place belongs to the name.
        at = position(bytes, at + 1, |b| ends_name(b) || b == b'=').unwrap_or(bytes.len());
        let value = position(bytes, at, |b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
        if bytes.get(value) != Some(&b'=') {
            continue;
        }
        at = position(bytes, value + 1, |b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
        at = match bytes.get(at) {
            Some(&quote @ (b'"' | b'\'')) => find(bytes, at + 1, quote).map_or(bytes.len(), |i| i + 1),
            _ => position(bytes, at, |b| b.is_ascii_whitespace() || b == b'>').unwrap_or(bytes.len()),
        };
    }
}

/// Where the byte stands next; most of a page lies between two of those asked for.
fn find(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    memchr::memchr(byte, bytes.get(from..)?).map(|i| from + i)
}

fn position(bytes: &[u8], from: usize, predicate: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.get(from..)?.iter().position(|&b| predicate(b)).map(|i| from + i)
}

fn ends_name(b: u8) -> bool {
    b.is_ascii_whitespace() || b == b'/' || b == b'>'
}

fn has_raw_text(name: &[u8]) -> bool {
    const RAW: [&str; 9] =
        ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript"];
    RAW.iter().any(|raw| name.eq_ignore_ascii_case(raw.as_bytes()))
}

/// Where `</name` stands, or the end.
fn raw_text_end(bytes: &[u8], mut at: usize, name: &[u8]) -> usize {
    while let Some(tag) = find(bytes, at, b'<') {
        let is_end = bytes[tag + 1..]
            .strip_prefix(b"/")
            .and_then(|rest| rest.get(..name.len()))
            .is_some_and(|found| found.eq_ignore_ascii_case(name));
        if is_end {
            return tag;
        }
        at = tag + 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flooded(count: usize) -> String {
        (0..count).map(|i| format!(" a{i}")).collect()
    }

    #[test]
    fn only_floods_are_cut() {
        let honest =
            r#"<p class="a > b" x='<' y=z/>t<!-- <b --><script>if (a<b c d) "</scrip"</script><br/>"#;
        assert!(matches!(limit_attributes(honest), Cow::Borrowed(_)));
        let page = format!("<p>é<div{} z='>'>text</div><i{}>", flooded(5_000), flooded(3));
        let cut = limit_attributes(&page);
        assert!(cut.len() < 7_000 && cut.starts_with("<p>é<div a0"), "{}", cut.len());
        assert!(cut.ends_with(">text</div><i a0 a1 a2>"));
    }

    #[test]
    fn raw_text_is_no_tag() {
        let page = format!("<script>a<b{}</script><p>text", flooded(5_000));
        assert_eq!(limit_attributes(&page), page);
    }

    proptest::proptest! {
        #[test]
        fn any_text_passes(text in "(<|>|/|=|'|\"|!|-| |a|script|é){0,60}") {
            proptest::prop_assert_eq!(&*limit_attributes(&text), &*text);
        }
    }
}
