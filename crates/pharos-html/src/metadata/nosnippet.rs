//! Text that a page excludes from snippets with the attribute `data-nosnippet`. It is indexed and searchable but
//! must not appear in results.

use crate::blocks::Blocks;
use crate::dom::Element;
use crate::dom::visible_text::collapse_whitespace;
use crate::weights::summary::{has_word, sentences};

/// Maximum number of separate unquotable ranges; further ones are merged into the last.
pub(crate) const MAX_PARTS: usize = 1_000;

/// Number of characters at the beginning of a range by which it is recognised in a description.
const QUOTED_CHARS: usize = 40;

/// Returns `true` if the element excludes its text from snippets. The attribute is defined for these three elements
/// only.
pub(crate) fn is_unquotable(element: &Element) -> bool {
    matches!(element.tag(), "span" | "div" | "section") && element.attribute("data-nosnippet").is_some()
}

/// Returns `true` if the declared description repeats unquotable text: the beginning of a range or one of its
/// sentences.
pub(crate) fn repeats_unquotable(description: &str, blocks: &Blocks) -> bool {
    if blocks.unquotable.is_empty() {
        return false;
    }
    // The last sentence may be truncated.
    let described: Vec<String> = sentences(description)
        .map(|sentence| sentence.trim_end_matches(['…', '.', '。']).to_string())
        .filter(|sentence| !sentence.is_empty())
        .collect();
    blocks.unquotable.iter().map(|part| &blocks.text[part.clone()]).any(|part| {
        let beginning = collapse_whitespace(part, QUOTED_CHARS);
        (beginning.contains(char::is_alphanumeric) && has_word(description, &beginning))
            || described.iter().any(|sentence| part.contains(sentence.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use pharos_core::{PageObject, PageUrl};

    use crate::extract_page;

    fn extracted(html: &str) -> PageObject {
        extract_page(&PageUrl::parse("http://example.org/x").unwrap(), Some("text/html"), html.as_bytes())
    }

    fn unquotable(page: &PageObject) -> Vec<&str> {
        page.unquotable.iter().map(|part| &page.text[part.clone()]).collect()
    }

    const ARTICLE: &str =
        "The lighthouse on the rock was built long ago, and its lamp can be seen from far away.";

    #[test]
    fn nosnippet_text_is_indexed_but_not_quoted() {
        let page = extracted(&format!(
            "<title>Rock</title><p>{ARTICLE} <span DATA-nosnippet>The keeper\n is the <b>thief</b>.</span> So it ends.\
             <div data-nosnippet=false><p>One.<p>Two.<div data-nosnippet>Three.</div></div>\
             <section data-nosnippet>Four.</section><p data-nosnippet>Five.<p>Six."
        ));
        assert_eq!(unquotable(&page), ["The keeper is the thief.", "One.\nTwo.\nThree.\nFour."]);
        let expected = format!("{ARTICLE} So it ends.\n\n\n\n\nFive.\nSix.");
        assert_eq!(page.quotable(), Some(expected));
        assert!(page.text.contains("The keeper is the thief. So it ends."));
        assert_eq!(extracted(&format!("<p>{ARTICLE}")).quotable(), None);
    }

    #[test]
    fn ranges_outside_the_body_are_dropped() {
        let article = format!("<article><h1>Rock</h1>{}</article>", format!("<p>{ARTICLE}</p>").repeat(4));
        let page = extracted(&format!(
            "<title>Rock</title><nav><div data-nosnippet><a href=/>Home</a> <a href=/b>Boats</a></div></nav>{article}"
        ));
        assert!(!page.text.contains("Boats") && page.unquotable.is_empty(), "{page:?}");
        let page = extracted(&format!("<nav><a href=/b>Boats</a></nav><div data-nosnippet>{article}</div>"));
        let [all] = &page.unquotable[..] else { panic!("one part: {:?}", page.unquotable) };
        assert!(page.text.get(all.clone()).unwrap().matches(ARTICLE).count() == 4);
    }

    #[test]
    fn abstracts_exclude_nosnippet_text() {
        let secret = "The thief of the lamp is the keeper of the lighthouse lamp.";
        let body = format!("<p>{ARTICLE}</p><div data-nosnippet>He was tired. {secret}</div>");
        assert!(extracted(&format!("<p>{ARTICLE}</p><p>{secret}</p>")).summary.contains("thief"));
        let made = extracted(&body);
        assert!(made.text.contains("thief") && !made.summary.contains("thief"), "{}", made.summary);
        assert!(made.summary.contains("lighthouse on the rock"));
        for description in
            [secret, "He was tired. The…", "A story. The thief of the lamp is the keeper of the lighthouse…"]
        {
            let declared = extracted(&format!("<meta name=description content='{description}'>{body}"));
            assert_eq!(declared.summary, made.summary, "{description}");
        }
        let other = extracted(&format!("<meta name=description content='A story of a tired lamp'>{body}"));
        assert_eq!(other.summary, "A story of a tired lamp");
        let nothing_else = extracted(&format!("<div data-nosnippet>{secret}</div>"));
        assert_eq!((nothing_else.text.as_str(), nothing_else.summary.as_str()), (secret, ""));
    }

    #[test]
    fn picture_descriptions_can_be_unquotable() {
        let page = extracted(
            "<h1>Holiday</h1><img src=1 alt='The red tower'><div data-nosnippet><img src=2 alt='A white boat'></div>",
        );
        assert_eq!(page.text, "Holiday\nThe red tower\nA white boat");
        assert_eq!(unquotable(&page), ["A white boat"]);
    }

    #[test]
    fn number_of_ranges_is_limited() {
        let page = extracted(&"a <span data-nosnippet>b</span> ".repeat(5_000));
        assert_eq!(page.unquotable.len(), super::MAX_PARTS);
        let quotable = page.quotable().unwrap();
        assert!(!quotable.contains('b') && quotable.ends_with('a'), "{}", quotable.len());
        assert!(extracted(&"<div data-nosnippet>x ".repeat(20_000)).quotable().is_some());
    }
}
