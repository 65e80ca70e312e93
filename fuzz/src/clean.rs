//! Page cleaning with all options. The first byte selects the content type declared by the server.

use pharos_core::PageUrl;
use pharos_html::cleaning::BlockKind;
use pharos_html::{ExtractOptions, RuleSet};

const TYPES: [&str; 4] =
    ["text/html", "text/html; charset=utf-8", "text/html; charset=gb2312", "application/xhtml+xml"];

/// Tags that the cleaned HTML may contain.
const TAGS: [&str; 25] = [
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "table",
    "tr",
    "td",
    "th",
    "pre",
    "blockquote",
    "div",
    "a",
    "b",
    "i",
    "code",
    "sub",
    "sup",
    "br",
];

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    let Some((first, body)) = bytes.split_first() else { return };
    let Ok(url) = PageUrl::parse("http://example.org/a/b.html") else { return };
    let content_type = Some(TYPES[usize::from(*first) % TYPES.len()]);

    let options = ExtractOptions { html: true, blocks: true, ..ExtractOptions::default() };
    let page = pharos_html::extract_page_with(&url, content_type, body, &options);
    for tag in page.html.split('<').skip(1) {
        let name = tag.trim_start_matches('/').split(['>', ' ']).next().unwrap_or_default();
        assert!(TAGS.contains(&name), "<{name} in {}", page.html);
    }

    let explanation = pharos_html::explain_cleaning(&url, content_type, body, RuleSet::pharos());
    assert_eq!(explanation.page_type, page.page_type);
    for line in explanation.lines.iter().filter(|line| line.kind == BlockKind::Body) {
        assert!(
            page.text.contains(&line.text),
            "{:?} is body text, but missing in {:?}",
            line.text,
            page.text
        );
    }
    let _ = pharos_html::explain_cleaning(&url, content_type, body, RuleSet::score_tables());
    let _ = pharos_html::split_text_blocks(&url, content_type, body);
    let _ = pharos_html::topic_by_tables(
        &pharos_html::decode_body(body),
        &pharos_html::cleaning::TableLimits::default(),
    );
}
