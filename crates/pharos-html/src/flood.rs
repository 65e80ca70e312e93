//! Tags with thousands of attributes, cut down before the parser sees them.
//!
//! html5ever compares each attribute with all earlier ones of its tag, so that the time of a tag grows with the
//! square of its attributes. No honest page has such tags: nearly always this is one pass that changes nothing.

use std::borrow::Cow;

use crate::tags::{Attributes, Piece, Pieces};

/// Attributes of one tag beyond this many are dropped.
pub(crate) const MAX_ATTRIBUTES: usize = 1_000;

/// `html` without the attributes beyond [`MAX_ATTRIBUTES`] of each tag.
pub(crate) fn limit_attributes(html: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut kept_until = 0;
    for piece in Pieces::of(html) {
        let (Piece::Start(tag) | Piece::End(tag)) = piece else { continue };
        // Each takes a letter and a space at least.
        if tag.attributes.len() < 2 * MAX_ATTRIBUTES {
            continue;
        }
        if let Some(excess) = Attributes::of(tag.attributes).nth(MAX_ATTRIBUTES) {
            kept.push_str(&html[kept_until..tag.at + excess.at]);
            kept_until = tag.at + tag.attributes.len();
        }
    }
    if kept_until == 0 {
        return Cow::Borrowed(html);
    }
    kept.push_str(&html[kept_until..]);
    Cow::Owned(kept)
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
