//! Where a page leads: its links with their anchors.

use std::borrow::Cow;

use pharos_core::{Link, LinkKind, PageUrl};
use url::Url;

use crate::dom::{Dom, Element, NodeId};
use crate::text::{collapse, text_inside};

/// More links than this are a trap or a dump.
pub(crate) const MAX_LINKS: usize = 5_000;

/// Of these, pictures, styles and scripts.
const MAX_RESOURCES: usize = 1_000;

/// Longer anchors are whole paragraphs.
pub(crate) const MAX_ANCHOR_CHARS: usize = 200;

/// What relative addresses are relative to: the page, or its first `<base href>` if that is a web address.
pub(crate) fn base_url(dom: &Dom, url: &PageUrl) -> Url {
    let bases = dom.elements(dom.root()).filter(|(_, element)| element.tag() == "base");
    web_base(url, bases.filter_map(|(_, element)| element.attribute("href")).next())
}

/// The declared base if it is a web address, else the page.
pub(crate) fn web_base(url: &PageUrl, declared: Option<&str>) -> Url {
    declared
        .and_then(|base| url.as_url().join(base).ok())
        .filter(|base| matches!(base.scheme(), "http" | "https"))
        .unwrap_or_else(|| url.as_url().clone())
}

/// Every link, in the order of the page.
pub(crate) fn links(dom: &Dom, base: &Url) -> Vec<Link> {
    let mut links = Vec::new();
    let mut resources = 0;
    for (id, element) in dom.elements(dom.root()) {
        let Some((address, kind)) = address(element) else { continue };
        if links.len() >= MAX_LINKS {
            break;
        }
        if kind == LinkKind::Resource && resources >= MAX_RESOURCES {
            continue;
        }
        // A place on the same page is not another page.
        if address.trim_start().starts_with('#') {
            continue;
        }
        // Mail addresses, scripts and whatever else is no web page ends here.
        let Ok(url) = PageUrl::join_to(base, &address) else { continue };
        resources += usize::from(kind == LinkKind::Resource);
        let rel = element.attribute("rel").unwrap_or_default();
        links.push(Link {
            url,
            anchor: anchor(dom, id, element),
            kind,
            rel: collapse(rel, MAX_ANCHOR_CHARS).to_lowercase(),
        });
    }
    links
}

fn address(element: &Element) -> Option<(Cow<'_, str>, LinkKind)> {
    let (address, kind) = match element.tag() {
        "a" | "area" => (element.attribute("href")?, LinkKind::Page),
        "frame" | "iframe" => (element.attribute("src")?, LinkKind::Frame),
        "img" | "script" => (element.attribute("src")?, LinkKind::Resource),
        "link" if has_rel(element, "stylesheet") => (element.attribute("href")?, LinkKind::Resource),
        // News feeds name pages before anything else links to them.
        "link" if has_rel(element, "alternate") && is_feed(element.attribute("type")?) => {
            (element.attribute("href")?, LinkKind::Page)
        }
        "meta" => {
            let is_refresh = element.attribute("http-equiv")?.trim().eq_ignore_ascii_case("refresh");
            let target = refresh_target(element.attribute("content")?);
            return target.filter(|_| is_refresh).map(|target| (target.into(), LinkKind::Page));
        }
        _ => return None,
    };
    // An empty `src` or `href` names the page itself.
    (!address.trim().is_empty()).then_some((address.into(), kind))
}

pub(crate) fn is_feed(media_type: &str) -> bool {
    ["application/rss+xml", "application/atom+xml"]
        .iter()
        .any(|feed| media_type.trim().eq_ignore_ascii_case(feed))
}

/// Does the element's `rel` contain the word?
pub(crate) fn has_rel(element: &Element, word: &str) -> bool {
    element
        .attribute("rel")
        .is_some_and(|rel| rel.split_ascii_whitespace().any(|r| r.eq_ignore_ascii_case(word)))
}

/// The address in `5; url='next.html'` (HTML standard §4.2.5.3, loosely).
pub(crate) fn refresh_target(content: &str) -> Option<&str> {
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

/// The words one clicks on; for a picture, what it is said to show.
fn anchor(dom: &Dom, id: NodeId, element: &Element) -> String {
    match element.tag() {
        "a" => {
            let text = text_inside(dom, id, MAX_ANCHOR_CHARS);
            if !text.is_empty() {
                return text;
            }
            /// Enough to find the picture in a link that is one.
            const LOOK_AT: usize = 20;
            let alt = dom
                .elements(id)
                .take(LOOK_AT)
                .filter(|(_, e)| e.tag() == "img")
                .find_map(|(_, e)| e.attribute("alt").filter(|alt| !alt.trim().is_empty()));
            collapse(alt.or(element.attribute("title")).unwrap_or_default(), MAX_ANCHOR_CHARS)
        }
        "area" | "img" => collapse(element.attribute("alt").unwrap_or_default(), MAX_ANCHOR_CHARS),
        "frame" | "iframe" => collapse(element.attribute("title").unwrap_or_default(), MAX_ANCHOR_CHARS),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(html: &str) -> Vec<(String, String, LinkKind, String)> {
        let dom = Dom::parse(html);
        let url = PageUrl::parse("http://example.org/dir/page.html").unwrap();
        links(&dom, &base_url(&dom, &url))
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

    /// The anchor speaks of the page it leads to, also in words that page does not use itself.
    #[test]
    fn an_anchor_is_recorded_for_its_target() {
        let page = "<p>期刊：<a href='http://www.xuebao.example/'>北大学报</a>";
        assert_eq!(found(page), [link("http://www.xuebao.example/", "北大学报", LinkKind::Page)]);
    }

    #[test]
    fn what_leads_nowhere_is_no_link() {
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
