//! Link extraction with anchor texts.
//!
//! Links come from `a`, `area`, `frame`, `iframe`, `object`, `embed`, `link` and `<meta http-equiv=refresh>`.
//! Pictures, styles and scripts are distinguished by their kind.

use std::borrow::Cow;

use pharos_core::{Link, LinkKind, PageUrl};
use url::Url;

use crate::dom::visible_text::{collapse_whitespace, text_inside};
use crate::dom::{Dom, Element, NodeId};
use crate::metadata::is_feed_type;

/// Maximum number of links of a page; more are a trap or a dump.
pub(crate) const MAX_LINKS: usize = 5_000;

/// Maximum number of these that are pictures, styles and scripts.
const MAX_RESOURCES: usize = 1_000;

/// Maximum length of an anchor; longer anchors are whole paragraphs.
pub(crate) const MAX_ANCHOR_CHARS: usize = 200;

/// Returns the base of relative URLs: the page, or its first `<base href>` if that is an http or https URL.
pub(crate) fn base_url(dom: &Dom, url: &PageUrl) -> Url {
    let bases = dom.elements(dom.root()).filter(|(_, element)| element.tag() == "base");
    web_base(url, bases.filter_map(|(_, element)| element.attribute("href")).next())
}

/// Returns the declared base if it is an http or https URL, otherwise the page.
pub(crate) fn web_base(url: &PageUrl, declared: Option<&str>) -> Url {
    declared
        .and_then(|base| url.as_url().join(base).ok())
        .filter(|base| matches!(base.scheme(), "http" | "https"))
        .unwrap_or_else(|| url.as_url().clone())
}

/// Returns all links in document order.
pub(crate) fn extract_links(dom: &Dom, base: &Url) -> Vec<Link> {
    let mut links = Vec::new();
    let mut resources = 0;
    for (id, element) in dom.elements(dom.root()) {
        let attribute = |name: &str| element.attribute(name).map(Cow::Borrowed);
        let Some((address, kind)) = link_target(element.tag(), &attribute) else { continue };
        if links.len() >= MAX_LINKS {
            break;
        }
        if kind == LinkKind::Resource && resources >= MAX_RESOURCES {
            continue;
        }
        // `mailto:`, `javascript:` and other URLs that are not http or https are dropped here.
        let Ok(url) = PageUrl::join_to(base, &address) else { continue };
        resources += usize::from(kind == LinkKind::Resource);
        let rel = element.attribute("rel").unwrap_or_default();
        links.push(Link {
            url,
            anchor: anchor(dom, id, element),
            kind,
            rel: collapse_whitespace(rel, MAX_ANCHOR_CHARS).to_lowercase(),
        });
    }
    links
}

/// Returns the target URL and kind of a tag. `attribute` returns the value of an attribute. Shared by the
/// tree-based extraction and the tokenizer-based one.
pub(crate) fn link_target<'a>(
    tag: &str,
    attribute: &dyn Fn(&str) -> Option<Cow<'a, str>>,
) -> Option<(Cow<'a, str>, LinkKind)> {
    let (address, kind) = match tag {
        "a" | "area" => (attribute("href")?, LinkKind::Page),
        "frame" | "iframe" => (attribute("src")?, LinkKind::Frame),
        "object" => (attribute("data")?, embedded_kind(attribute("type"))),
        "embed" => (attribute("src")?, embedded_kind(attribute("type"))),
        "img" | "script" | "input" => (attribute("src")?, LinkKind::Resource),
        "link" => (attribute("href")?, link_kind(attribute)?),
        "meta" => {
            let is_refresh = attribute("http-equiv")?.trim().eq_ignore_ascii_case("refresh");
            let content = attribute("content").filter(|_| is_refresh)?;
            (Cow::Owned(refresh_target(&content)?.to_string()), LinkKind::Page)
        }
        _ => return None,
    };
    // An empty URL means the page itself, and a fragment is not another page.
    let is_elsewhere = !matches!(address.trim_start().as_bytes().first(), None | Some(b'#'));
    is_elsewhere.then_some((address, kind))
}

/// Returns the kind of a `<link>`. Preloads and the like, which only browsers use, give `None`.
fn link_kind<'a>(attribute: &dyn Fn(&str) -> Option<Cow<'a, str>>) -> Option<LinkKind> {
    let rel = attribute("rel")?;
    let is = |word: &str| has_word(&rel, word);
    let is_page = ["next", "prev", "index", "contents", "chapter", "section", "help"].into_iter().any(is);
    // News feeds list pages before other pages link to them.
    let is_alternate = is("alternate")
        && !is("stylesheet")
        && (attribute("hreflang").is_some() || attribute("type").is_some_and(|kind| is_feed_type(&kind)));
    if is_page || is_alternate {
        Some(LinkKind::Page)
    } else {
        (is("stylesheet") || is("icon")).then_some(LinkKind::Resource)
    }
}

/// Returns the kind of an embedded object: a document shown inside this page, or a resource such as a film, a sound
/// or a program.
fn embedded_kind(media_type: Option<Cow<'_, str>>) -> LinkKind {
    const READ: [&str; 4] = ["text/html", "application/xhtml+xml", "text/plain", "application/pdf"];
    let media_type = media_type.unwrap_or_default();
    let is_read = READ.iter().any(|read| media_type.trim().eq_ignore_ascii_case(read));
    if is_read { LinkKind::Frame } else { LinkKind::Resource }
}

fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|w| w.eq_ignore_ascii_case(word))
}

/// Returns `true` if the element's `rel` contains the word.
pub(crate) fn has_rel(element: &Element, word: &str) -> bool {
    element.attribute("rel").is_some_and(|rel| has_word(rel, word))
}

/// Parses the URL in `5; url='next.html'` (HTML standard §4.2.5.3, lenient).
fn refresh_target(content: &str) -> Option<&str> {
    let (_, after) = content.split_once([';', ',']).unwrap_or(("", content));
    let after = after.trim_start();
    let is_named = after.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("url"));
    let target = after.get(3..).filter(|_| is_named)?.trim_start().strip_prefix('=')?.trim();
    let target = match target.chars().next()? {
        quote @ ('"' | '\'') => target[1..].split(quote).next()?,
        _ => target,
    };
    (!target.is_empty()).then_some(target)
}

/// Returns the anchor text of a link; for a picture, its alternative text.
fn anchor(dom: &Dom, id: NodeId, element: &Element) -> String {
    match element.tag() {
        "a" => {
            let text = text_inside(dom, id, MAX_ANCHOR_CHARS);
            if !text.is_empty() {
                return text;
            }
            /// Number of elements searched for the picture in a link.
            const MAX_ELEMENTS: usize = 20;
            let alt = dom
                .elements(id)
                .take(MAX_ELEMENTS)
                .filter(|(_, e)| e.tag() == "img")
                .find_map(|(_, e)| e.attribute("alt").filter(|alt| !alt.trim().is_empty()));
            let named = alt.or(element.attribute("title")).or(element.attribute("aria-label"));
            collapse_whitespace(named.unwrap_or_default(), MAX_ANCHOR_CHARS)
        }
        "object" => text_inside(dom, id, MAX_ANCHOR_CHARS),
        "link" | "embed" => {
            collapse_whitespace(element.attribute("title").unwrap_or_default(), MAX_ANCHOR_CHARS)
        }
        "area" | "img" => collapse_whitespace(element.attribute("alt").unwrap_or_default(), MAX_ANCHOR_CHARS),
        "frame" | "iframe" => {
            collapse_whitespace(element.attribute("title").unwrap_or_default(), MAX_ANCHOR_CHARS)
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> Vec<(String, String, LinkKind, String)> {
        let dom = Dom::parse(html);
        let url = PageUrl::parse("http://example.org/dir/page.html").unwrap();
        extract_links(&dom, &base_url(&dom, &url))
            .into_iter()
            .map(|l| (l.url.as_str().to_string(), l.anchor, l.kind, l.rel))
            .collect()
    }

    fn link(url: &str, anchor: &str, kind: LinkKind) -> (String, String, LinkKind, String) {
        (url.into(), anchor.into(), kind, String::new())
    }

    #[test]
    fn anchors_and_kinds() {
        assert_eq!(
            found(
                "<a href=' b.html#x '>The  <b>next</b>\npage</a><a href=/><img src=i.png alt='Home'></a>\
                   <area href=c alt=C><iframe src=d title=D></iframe><link rel='StyleSheet' href=s.css>"
            ),
            [
                link("http://example.org/dir/b.html", "The next page", LinkKind::Page),
                link("http://example.org/", "Home", LinkKind::Page),
                link("http://example.org/dir/i.png", "Home", LinkKind::Resource),
                link("http://example.org/dir/c", "C", LinkKind::Page),
                link("http://example.org/dir/d", "D", LinkKind::Frame),
                (
                    "http://example.org/dir/s.css".into(),
                    String::new(),
                    LinkKind::Resource,
                    "stylesheet".into()
                ),
            ]
        );
    }

    #[test]
    fn embedded_objects_and_head_links() {
        assert_eq!(
            found(
                "<link rel='shortcut icon' href=i.ico><link rel=preload href=p><link rel=next href=2 title=Two>\
                 <link rel=alternate hreflang=de href=de><link rel=alternate type=application/rss+xml href=f>\
                 <object data=o.pdf type=application/pdf>The plan</object><embed src=e.swf><object>none</object>"
            )
            .into_iter()
            .map(|(url, anchor, kind, _)| (url.rsplit('/').next().unwrap().to_string(), anchor, kind))
            .collect::<Vec<_>>(),
            [
                ("i.ico".into(), String::new(), LinkKind::Resource),
                ("2".into(), "Two".into(), LinkKind::Page),
                ("de".into(), String::new(), LinkKind::Page),
                ("f".into(), String::new(), LinkKind::Page),
                ("o.pdf".into(), "The plan".into(), LinkKind::Frame),
                ("e.swf".into(), String::new(), LinkKind::Resource),
            ]
        );
    }

    /// The anchor describes the target page, possibly in words that page does not contain.
    #[test]
    fn an_anchor_is_recorded_for_its_target() {
        let page = "<p>期刊：<a href='http://www.xuebao.example/'>北大学报</a>";
        assert_eq!(found(page), [link("http://www.xuebao.example/", "北大学报", LinkKind::Page)]);
    }

    #[test]
    fn non_web_addresses_are_no_links() {
        assert_eq!(
            found(
                "<a href='mailto:a@b.c'>m</a><a href='JavaScript:x()'>j</a><a href='#top'>t</a><a>n</a>\
                   <a href=''>e</a><a href='http://'>h</a><a href='data:text/html,x'>d</a>"
            ),
            []
        );
    }

    #[test]
    fn base_rel_and_refresh() {
        assert_eq!(
            found(
                "<base href=//other.example/b/><meta http-equiv=Refresh content=\"0; URL='r'\"><a href=x rel='NoFollow  UGC'>x</a>"
            ),
            [
                link("http://other.example/b/r", "", LinkKind::Page),
                ("http://other.example/b/x".into(), "x".into(), LinkKind::Page, "nofollow ugc".into()),
            ]
        );
        assert_eq!(found("<base href='javascript:1'><a href=x>x</a>")[0].0, "http://example.org/dir/x");
        assert_eq!(refresh_target("5"), None);
        assert_eq!(refresh_target("5;url=a b"), Some("a b"));
        assert_eq!(refresh_target("5;üb"), None);
    }

    #[test]
    fn numbers_and_lengths_are_bounded() {
        let many: String =
            (0..MAX_LINKS + 100).map(|i| format!("<a href={i}>{}</a>", "w ".repeat(300))).collect();
        let found = found(&many);
        assert_eq!(found.len(), MAX_LINKS);
        assert!(found.iter().all(|(_, anchor, ..)| anchor.chars().count() <= MAX_ANCHOR_CHARS));
    }
}
