//! Removes content from the HTML source that the parser does not need.
//!
//! Scripts and style sheets make up nearly half of the bytes of current pages, and attributes used only by scripts
//! a tenth. None of it carries content; without it parsing takes a fifth less time. One pass over the tags finds
//! it.
//!
//! The same pass limits the number of attributes. html5ever compares each attribute with all earlier ones of its
//! tag, so a tag takes time quadratic in its attributes. Ordinary pages have no such tags.

use std::borrow::Cow;

use crate::tags::{Attributes, Piece, Pieces, Tag};

/// Maximum number of attributes of one tag; further ones are dropped.
pub(crate) const MAX_ATTRIBUTES: usize = 1_000;

/// Returns `html` without scripts, style sheets and the attributes used only by them.
pub(crate) fn trim(html: &str) -> Cow<'_, str> {
    let mut kept = Kept::of(html);
    let mut before = None;
    for piece in Pieces::of(html) {
        match piece {
            Piece::Start(tag) => kept.cut_attributes(tag, is_for_programs),
            Piece::End(tag) => kept.cut_attributes(tag, |_| false),
            // The following text may still belong to it; only the parser can decide.
            Piece::Raw(text) if opens_comment_and_script(text) => break,
            Piece::Raw(text) => {
                let unread = before.filter(is_unread);
                if let Some(tag) = unread {
                    let from = tag.at + tag.attributes.len() + 1;
                    kept.cut(from, from + text.len());
                }
            }
            Piece::Text(_) => {}
        }
        before = if let Piece::Start(tag) = piece { Some(tag) } else { None };
    }
    kept.finish()
}

/// Returns `html` without the attributes beyond [`MAX_ATTRIBUTES`] of each tag.
pub(crate) fn limit_attributes(html: &str) -> Cow<'_, str> {
    let mut kept = Kept::of(html);
    for piece in Pieces::of(html) {
        if let Piece::Start(tag) | Piece::End(tag) = piece {
            kept.cut_attributes(tag, |_| false);
        }
    }
    kept.finish()
}

/// Copies a page while removing parts of it in order.
struct Kept<'a> {
    html: &'a str,
    text: String,
    /// End of the input that has been copied or removed.
    until: usize,
}

impl<'a> Kept<'a> {
    fn of(html: &'a str) -> Self {
        Self { html, text: String::new(), until: 0 }
    }

    fn cut(&mut self, from: usize, to: usize) {
        if from < to {
            self.text.push_str(&self.html[self.until..from]);
            self.until = to;
        }
    }

    /// Removes unwanted and excess attributes.
    fn cut_attributes(&mut self, tag: Tag, is_unwanted: impl Fn(&str) -> bool) {
        // Each attribute takes at least a letter and a space.
        let may_flood = tag.attributes.len() >= 2 * MAX_ATTRIBUTES;
        let mut unwanted_from = None;
        for (number, attribute) in Attributes::of(tag.attributes).enumerate() {
            if (may_flood && number >= MAX_ATTRIBUTES) || is_unwanted(attribute.name) {
                unwanted_from.get_or_insert(attribute.at);
            } else if let Some(from) = unwanted_from.take() {
                self.cut(tag.at + from, tag.at + attribute.at);
            }
        }
        if let Some(from) = unwanted_from {
            // A slash closes SVG elements.
            let end = tag.attributes.len() - usize::from(tag.attributes.ends_with('/'));
            self.cut(tag.at + from, tag.at + end);
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
fn is_for_programs(name: &str) -> bool {
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
fn is_unread(tag: &Tag) -> bool {
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
    fn only_floods_are_cut() {
        let honest =
            r#"<p class="a > b" x='<' y=z/>t<!-- <b --><script>if (a<b c d) "</scrip"</script><br/>"#;
        assert!(matches!(limit_attributes(honest), Cow::Borrowed(_)));
        let page = format!("<p>é<div{} z='>'>text</div><i{}>", flooded(5_000), flooded(3));
        for cut in [limit_attributes(&page), trim(&page)] {
            assert!(cut.len() < 7_000 && cut.starts_with("<p>é<div a0"), "{}", cut.len());
            assert!(cut.ends_with(">text</div><i a0 a1 a2>"));
        }
    }

    #[test]
    fn raw_text_is_no_tag() {
        let page = format!("<script>a<b{}</script><p>text", flooded(5_000));
        assert_eq!(limit_attributes(&page), page);
        assert_eq!(trim(&page), "<script></script><p>text");
    }

    #[test]
    fn programs_and_what_they_read_are_cut() {
        assert_eq!(
            trim("<style>p{}</style><p onclick='a>b' id=x data-a=\"b\" data-c class=y>t<script>x</script>"),
            "<style></style><p id=x class=y>t<script></script>"
        );
        assert_eq!(
            trim("<p data-nosnippet data-x><p data-a Data-NoSnippet=''>"),
            "<p data-nosnippet ><p Data-NoSnippet=''>"
        );
        assert_eq!(trim("<svg><path d='M1 1'/><g ONX=1 /></svg>"), "<svg><path /><g /></svg>");
        assert_eq!(
            trim("<img alt=dawn on=1 aria-label=a ARIA-x=b src=c>"),
            "<img alt=dawn aria-label=a src=c>"
        );
        for page in [
            "<script type='application/ld+json'>{\"a\":1}</script>",
            "<script><!--<script></script>--></script>",
            "<title>a<script>x</script></title>",
        ] {
            assert!(matches!(trim(page), Cow::Borrowed(_)), "{page}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_passes(text in "(<|>|/|=|'|\"|!|-| |a|script|é){0,60}") {
            proptest::prop_assert_eq!(&*limit_attributes(&text), &*text);
        }

        /// Removed parts do not change the visible text of the tree.
        #[test]
        fn readers_see_the_same(text in "(<p|<a href=x|<style>|</style>|<script>|</script>| data-x=1| onx='>'| class=b|>|/|a |'|<!--|-->|<title>|</title>|é){0,40}") {
            use crate::blocks::Blocks;
            use crate::dom::Dom;
            let shown = |dom: Dom| Blocks::of(&dom, &crate::voting::words::Finder::default()).text;
            proptest::prop_assert_eq!(shown(Dom::parse(&text)), shown(Dom::parse_whole(&text)));
        }
    }
}
