//! Removes content from the HTML source that the parser does not need.
//!
//! Scripts and style sheets make up nearly half of the bytes of current pages, and attributes used only by scripts
//! a tenth. None of it carries content; without it parsing takes a fifth less time. One pass over the tags finds
//! it.
//!
//! The same pass limits the number of attributes. html5ever compares each attribute with all earlier ones of its
//! tag, so a tag takes time quadratic in its attributes. Ordinary pages have no such tags.

use std::borrow::Cow;

use crate::dom::tokenizer::{HtmlToken, HtmlTokens, RawAttributes, RawTag};

/// Maximum number of attributes of one tag; further ones are dropped.
pub(crate) const MAX_ATTRIBUTES: usize = 200;

/// Returns `html` without scripts, style sheets and the attributes used only by them.
pub(crate) fn strip_scripts(html: &str) -> Cow<'_, str> {
    let mut filter = HtmlFilter::new(html);
    let mut before = None;
    for piece in HtmlTokens::new(html) {
        match piece {
            HtmlToken::Start(tag) => filter.remove_attributes(tag, is_script_attribute),
            HtmlToken::End(tag) => filter.remove_attributes(tag, |_| false),
            // The following text may still belong to it; only the parser can decide.
            HtmlToken::Raw(text) if opens_comment_and_script(text) => break,
            HtmlToken::Raw(text) => {
                let unread = before.filter(is_script_or_style);
                if let Some(tag) = unread {
                    let from = tag.at + tag.attributes.len() + 1;
                    filter.remove(from, from + text.len());
                }
            }
            HtmlToken::Text(_) => {}
        }
        before = if let HtmlToken::Start(tag) = piece { Some(tag) } else { None };
    }
    filter.finish()
}

/// Returns `html` without the attributes beyond [`MAX_ATTRIBUTES`] of each tag.
pub(crate) fn limit_attributes(html: &str) -> Cow<'_, str> {
    let mut filter = HtmlFilter::new(html);
    for piece in HtmlTokens::new(html) {
        if let HtmlToken::Start(tag) | HtmlToken::End(tag) = piece {
            filter.remove_attributes(tag, |_| false);
        }
    }
    filter.finish()
}

/// Copies a page while removing parts of it in order.
struct HtmlFilter<'a> {
    html: &'a str,
    text: String,
    /// End of the input that has been copied or removed.
    until: usize,
}

impl<'a> HtmlFilter<'a> {
    fn new(html: &'a str) -> Self {
        Self { html, text: String::new(), until: 0 }
    }

    fn remove(&mut self, from: usize, to: usize) {
        if from < to {
            self.text.push_str(&self.html[self.until..from]);
            self.until = to;
        }
    }

    /// Removes unwanted and excess attributes.
    fn remove_attributes(&mut self, tag: RawTag, is_unwanted: impl Fn(&str) -> bool) {
        // Each attribute takes at least a letter and a space.
        let may_flood = tag.attributes.len() >= 2 * MAX_ATTRIBUTES;
        let mut unwanted_from = None;
        for (number, attribute) in RawAttributes::new(tag.attributes).enumerate() {
            if (may_flood && number >= MAX_ATTRIBUTES) || is_unwanted(attribute.name) {
                unwanted_from.get_or_insert(attribute.at);
            } else if let Some(from) = unwanted_from.take() {
                self.remove(tag.at + from, tag.at + attribute.at);
            }
        }
        if let Some(from) = unwanted_from {
            // A slash closes SVG elements.
            let end = tag.attributes.len() - usize::from(tag.attributes.ends_with('/'));
            self.remove(tag.at + from, tag.at + end);
        }
    }

    fn finish(mut self) -> Cow<'a, str> {
        if self.until == 0 {
            return Cow::Borrowed(self.html);
        }
        self.text.push_str(&self.html[self.until..]);
        Cow::Owned(self.text)
    }
}

/// Returns `true` for attributes that neither readers nor search engines use.
fn is_script_attribute(name: &str) -> bool {
    let begins = |prefix: &str| name.get(..prefix.len()).is_some_and(|b| b.eq_ignore_ascii_case(prefix));
    match name.len() {
        0 => false,
        // The path data of an SVG drawing.
        1 => name == "d",
        2..=4 => begins("on"),
        _ => {
            (begins("data-") && !name.eq_ignore_ascii_case("data-nosnippet"))
                || begins("on")
                || ["srcset", "imagesrcset", "sizes"].iter().any(|unread| name.eq_ignore_ascii_case(unread))
                || (begins("aria-") && !name.eq_ignore_ascii_case("aria-label"))
        }
    }
}

/// Returns `true` for scripts and style sheets. JSON-LD, which describes the page, is neither.
fn is_script_or_style(tag: &RawTag) -> bool {
    let describes = || tag.attribute("type").is_some_and(|t| t.to_ascii_lowercase().contains("ld+json"));
    tag.name.eq_ignore_ascii_case("style") || (tag.name.eq_ignore_ascii_case("script") && !describes())
}

/// Returns `true` if a script opens a comment and a script in it. Such a script hides its apparent end tag (the
/// "double escaped" state of the standard).
fn opens_comment_and_script(text: &str) -> bool {
    let is_script = |at: usize| text.get(at + 1..at + 7).is_some_and(|n| n.eq_ignore_ascii_case("script"));
    text.find("<!--")
        .is_some_and(|comment| text[comment..].match_indices('<').any(|(at, _)| is_script(comment + at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flooded(count: usize) -> String {
        (0..count).map(|i| format!(" a{i}")).collect()
    }

    #[test]
    fn only_excess_attributes_are_removed() {
        let honest =
            r#"<p class="a > b" x='<' y=z/>t<!-- <b --><script>if (a<b c d) "</scrip"</script><br/>"#;
        assert!(matches!(limit_attributes(honest), Cow::Borrowed(_)));
        let page = format!("<p>é<div{} z='>'>text</div><i{}>", flooded(5_000), flooded(3));
        for cut in [limit_attributes(&page), strip_scripts(&page)] {
            assert!(cut.len() < 7_000 && cut.starts_with("<p>é<div a0"), "{}", cut.len());
            assert!(cut.ends_with(">text</div><i a0 a1 a2>"));
        }
    }

    #[test]
    fn raw_text_is_no_tag() {
        let page = format!("<script>a<b{}</script><p>text", flooded(5_000));
        assert_eq!(limit_attributes(&page), page);
        assert_eq!(strip_scripts(&page), "<script></script><p>text");
    }

    #[test]
    fn scripts_and_their_attributes_are_removed() {
        assert_eq!(
            strip_scripts(
                "<style>p{}</style><p onclick='a>b' id=x data-a=\"b\" data-c class=y>t<script>x</script>"
            ),
            "<style></style><p id=x class=y>t<script></script>"
        );
        assert_eq!(
            strip_scripts("<p data-nosnippet data-x><p data-a Data-NoSnippet=''>"),
            "<p data-nosnippet ><p Data-NoSnippet=''>"
        );
        assert_eq!(strip_scripts("<svg><path d='M1 1'/><g ONX=1 /></svg>"), "<svg><path /><g /></svg>");
        assert_eq!(
            strip_scripts("<img alt=dawn on=1 aria-label=a ARIA-x=b src=c>"),
            "<img alt=dawn aria-label=a src=c>"
        );
        for page in [
            "<script type='application/ld+json'>{\"a\":1}</script>",
            "<script><!--<script></script>--></script>",
            "<title>a<script>x</script></title>",
        ] {
            assert!(matches!(strip_scripts(page), Cow::Borrowed(_)), "{page}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_passes(text in "(<|>|/|=|'|\"|!|-| |a|script|é){0,60}") {
            proptest::prop_assert_eq!(&*limit_attributes(&text), &*text);
        }

        /// Removed parts do not change the visible text of the tree.
        #[test]
        fn visible_text_is_unchanged(text in "(<p|<a href=x|<style>|</style>|<script>|</script>| data-x=1| onx='>'| class=b|>|/|a |'|<!--|-->|<title>|</title>|é){0,40}") {
            use crate::blocks::Blocks;
            use crate::dom::Dom;
            let shown = |dom: Dom| Blocks::build(&dom, &crate::cleaning::voting::word_finder::WordFinder::default()).text;
            proptest::prop_assert_eq!(shown(Dom::parse(&text)), shown(Dom::parse_unfiltered(&text)));
        }
    }
}
