//! A flat HTML tokenizer: tags and texts without a tree.
//!
//! It follows the tokenizer of the HTML standard (§13.2.5) closely enough for ordinary pages. Comments and
//! declarations are skipped, quotes are respected, and raw-text elements are read as one piece. Constructs that
//! depend on the open elements, such as CDATA sections in SVG, are read as HTML.

use std::borrow::Cow;

use memchr::memchr;

/// A token of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HtmlToken<'a> {
    /// Text, with its character references unresolved.
    Text(&'a str),
    /// A start tag.
    Start(RawTag<'a>),
    /// The contents of a raw-text element such as `<script>` or `<title>`.
    Raw(&'a str),
    /// An end tag.
    End(RawTag<'a>),
}

/// A start or end tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawTag<'a> {
    /// The name as written.
    pub(crate) name: &'a str,
    /// Everything between the name and the closing bracket.
    pub(crate) attributes: &'a str,
    /// Offset of the attributes in the page.
    pub(crate) at: usize,
}

impl<'a> RawTag<'a> {
    /// Returns the value of an attribute with its character references resolved. The first of several counts.
    pub(crate) fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        let found = RawAttributes::new(self.attributes).find(|a| a.name.eq_ignore_ascii_case(name))?;
        Some(htmlize::unescape_attribute(found.value))
    }

    /// Returns the value of an attribute, or an empty string.
    pub(crate) fn value(&self, name: &str) -> Cow<'a, str> {
        self.attribute(name).unwrap_or_default()
    }
}

/// An attribute as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawAttribute<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// Offset in the text of the attributes.
    pub(crate) at: usize,
}

/// Iterates over the attributes of a tag.
pub(crate) struct RawAttributes<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> RawAttributes<'a> {
    /// Iterates over the attributes in `text`, which follows a tag name. Stops at the closing bracket of the tag.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }
}

impl<'a> Iterator for RawAttributes<'a> {
    type Item = RawAttribute<'a>;

    fn next(&mut self) -> Option<RawAttribute<'a>> {
        let bytes = self.text.as_bytes();
        let start = skip(bytes, self.at, |b| b.is_ascii_whitespace() || b == b'/');
        self.at = start;
        if bytes.get(start).is_none_or(|b| *b == b'>') {
            return None;
        }
        // An equals sign in the first position belongs to the name.
        let name_end = skip(bytes, start + 1, |b| !ends_name(b) && b != b'=');
        let equals = skip(bytes, name_end, |b| b.is_ascii_whitespace());
        let mut attribute = RawAttribute { name: &self.text[start..name_end], value: "", at: start };
        self.at = name_end;
        if bytes.get(equals) == Some(&b'=') {
            let from = skip(bytes, equals + 1, |b| b.is_ascii_whitespace());
            let (from, to, end) = match bytes.get(from) {
                Some(&quote @ (b'"' | b'\'')) => {
                    let to = find(bytes, from + 1, quote);
                    (from + 1, to, (to + 1).min(bytes.len()))
                }
                _ => {
                    let to = skip(bytes, from, |b| !b.is_ascii_whitespace() && b != b'>');
                    (from, to, to)
                }
            };
            attribute.value = &self.text[from.min(to)..to];
            self.at = end;
        }
        Some(attribute)
    }
}

/// Iterates over the tokens of a page.
pub(crate) struct HtmlTokens<'a> {
    html: &'a str,
    at: usize,
    /// The raw-text element that has just been opened.
    raw: Option<&'a str>,
}

impl<'a> HtmlTokens<'a> {
    /// Iterates over the tokens of this page.
    pub(crate) fn new(html: &'a str) -> Self {
        Self { html, at: 0, raw: None }
    }

    /// Returns the end of a comment or declaration that begins at `at`.
    fn after_markup(&self, at: usize) -> usize {
        let bytes = self.html.as_bytes();
        let Some(comment) = self.html[at..].strip_prefix("!--") else {
            return (find(bytes, at, b'>') + 1).min(bytes.len());
        };
        // `<!-->` and `<!--->` are complete comments.
        if let Some(short) = [">", "->"].iter().find(|end| comment.starts_with(**end)) {
            return at + 3 + short.len();
        }
        let ends = memchr::memmem::find_iter(comment.as_bytes(), b"--").find_map(|dashes| {
            let end = ["-->", "--!>"].iter().find(|end| comment[dashes..].starts_with(**end))?;
            Some(at + 3 + dashes + end.len())
        });
        ends.unwrap_or(bytes.len())
    }

    fn raw_text(&mut self, name: &str) -> &'a str {
        let bytes = self.html.as_bytes();
        let (from, mut at) = (self.at, self.at);
        self.at = loop {
            at = find(bytes, at, b'<');
            let rest = bytes.get(at + 1..).unwrap_or_default();
            let is_end = rest.strip_prefix(b"/").is_some_and(|rest| {
                rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
                    && rest.get(name.len()).is_none_or(|b| ends_name(*b))
            });
            if is_end || at >= bytes.len() {
                break at;
            }
            at += 1;
        };
        &self.html[from..self.at]
    }

    fn tag(&mut self, name_start: usize) -> RawTag<'a> {
        let bytes = self.html.as_bytes();
        let name_end = skip(bytes, name_start, |b| !ends_name(b));
        let mut attributes = RawAttributes::new(&self.html[name_end..]);
        while attributes.next().is_some() {}
        let end = name_end + attributes.at;
        self.at = (end + 1).min(bytes.len());
        RawTag { name: &self.html[name_start..name_end], attributes: &self.html[name_end..end], at: name_end }
    }
}

impl<'a> Iterator for HtmlTokens<'a> {
    type Item = HtmlToken<'a>;

    fn next(&mut self) -> Option<HtmlToken<'a>> {
        if let Some(name) = self.raw.take() {
            return Some(HtmlToken::Raw(self.raw_text(name)));
        }
        let bytes = self.html.as_bytes();
        let mut search_from = self.at;
        loop {
            let bracket = find(bytes, search_from, b'<');
            let begins_tag = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!' | b'?');
            if bracket < bytes.len() && !bytes.get(bracket + 1).is_some_and(begins_tag) {
                // A literal bracket.
                search_from = bracket + 1;
                continue;
            }
            if bracket > self.at {
                let text = &self.html[self.at..bracket];
                self.at = bracket;
                return Some(HtmlToken::Text(text));
            }
            match (bytes.get(bracket + 1)?, bytes.get(bracket + 2)) {
                (b'/', Some(letter)) if letter.is_ascii_alphabetic() => {
                    return Some(HtmlToken::End(self.tag(bracket + 2)));
                }
                (letter, _) if letter.is_ascii_alphabetic() => {
                    let tag = self.tag(bracket + 1);
                    self.raw = has_raw_text(tag.name).then_some(tag.name);
                    return Some(HtmlToken::Start(tag));
                }
                _ => {
                    self.at = self.after_markup(bracket + 1);
                    search_from = self.at;
                }
            }
        }
    }
}

/// Returns the next position of a byte, or the end. Most of a page lies between two such positions.
fn find(bytes: &[u8], from: usize, byte: u8) -> usize {
    bytes.get(from..).and_then(|rest| memchr(byte, rest)).map_or(bytes.len(), |i| from + i)
}

/// Returns the first position from `from` on where the predicate is false, or the end.
fn skip(bytes: &[u8], from: usize, these: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).and_then(|rest| rest.iter().position(|b| !these(*b))).map_or(bytes.len(), |i| from + i)
}

fn ends_name(b: u8) -> bool {
    b.is_ascii_whitespace() || b == b'/' || b == b'>'
}

fn has_raw_text(name: &str) -> bool {
    const RAW: [&str; 9] =
        ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript"];
    matches!(name.len(), 3..=8) && RAW.iter().any(|raw| name.eq_ignore_ascii_case(raw))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints tokens as `p` for `<p>`, `/p` for `</p>`, and texts in quotes.
    fn row(html: &str) -> Vec<String> {
        let shown = |piece| match piece {
            HtmlToken::Text(text) => format!("{text:?}"),
            HtmlToken::Raw(text) => format!("raw {text:?}"),
            HtmlToken::Start(tag) => {
                let attributes =
                    RawAttributes::new(tag.attributes).map(|a| format!(" {}={}", a.name, a.value));
                format!("{}{}", tag.name, attributes.collect::<String>())
            }
            HtmlToken::End(tag) => format!("/{}", tag.name),
        };
        HtmlTokens::new(html).map(shown).collect()
    }

    #[test]
    fn tags_and_texts() {
        assert_eq!(row("a<p>b</p >c<BR/>"), ["\"a\"", "p", "\"b\"", "/p", "\"c\"", "BR"]);
        assert_eq!(row("1 < 2 <3 a<b"), ["\"1 < 2 <3 a\"", "b"]);
        assert_eq!(row("<!doctype html>a<?x?>b</>c</ x>d"), ["\"a\"", "\"b\"", "\"c\"", "\"d\""]);
        assert_eq!(row("<"), ["\"<\""]);
    }

    #[test]
    fn attributes_in_every_spelling() {
        assert_eq!(
            row(r#"<p a="x>y" b='"' c=d/e  f g = h =i=j><q"r>"#),
            [r#"p a=x>y b=" c=d/e f= g=h =i=j"#, r#"q"r"#]
        );
        assert_eq!(row("<p a='no end><b>"), ["p a=no end><b>"]);
        let Some(HtmlToken::Start(tag)) = HtmlTokens::new("<A HREF='?a&amp;b' href=c>").next() else {
            panic!("a tag")
        };
        assert_eq!((tag.name, tag.attribute("href").as_deref()), ("A", Some("?a&b")));
    }

    #[test]
    fn comments_and_raw_text() {
        assert_eq!(
            row("a<!-- <b> -- > -->c<!-->d<!--->e<!-- x --!>f<!--"),
            ["\"a\"", "\"c\"", "\"d\"", "\"e\"", "\"f\""]
        );
        assert_eq!(
            row("<script>a<b</scripty></SCRIPT x>c"),
            ["script", "raw \"a<b</scripty>\"", "/SCRIPT", "\"c\""]
        );
        assert_eq!(row("<title>a"), ["title", "raw \"a\""]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_comes_to_an_end(text in "(<|>|/|=|'|\"|!|-|\\?| |a|script|é|<!--){0,60}") {
            proptest::prop_assert!(HtmlTokens::new(&text).count() <= 2 * text.len() + 1);
        }
    }
}
