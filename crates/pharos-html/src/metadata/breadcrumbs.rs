//! Breadcrumbs: the place of a page within its site, as declared with schema.org's `BreadcrumbList` in JSON-LD or microdata.

use pharos_core::work::spend_work;
use serde_json::Value;

use crate::dom::visible_text::{collapse_whitespace, text_inside};
use crate::dom::{Dom, Element, NodeId};

/// Maximum number of breadcrumbs of a page.
const MAX_CRUMBS: usize = 8;

/// Maximum length of a breadcrumb in characters.
const MAX_CHARS: usize = 60;

/// Maximum number of elements of a list that are examined.
const MAX_ELEMENTS: usize = 100;

const TYPE: &str = "BreadcrumbList";

/// Returns the breadcrumbs of a node of JSON-LD; empty if it is not a list of breadcrumbs.
pub(super) fn from_json_ld(node: &Value) -> Vec<String> {
    let is_list = |kind: &Value| kind.as_str().is_some_and(is_breadcrumb_list);
    let kind = node.get("@type");
    if !kind
        .is_some_and(|kind| is_list(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_list)))
    {
        return Vec::new();
    }
    let Some(items) = node.get("itemListElement").and_then(Value::as_array) else { return Vec::new() };
    let mut crumbs: Vec<(u64, &str)> = Vec::new();
    for item in items.iter().take(MAX_ELEMENTS) {
        spend_work(1);
        let name = item.get("name").or_else(|| item.get("item")?.get("name")).and_then(Value::as_str);
        // Positions are numbers, or texts by mistake.
        let position = item.get("position");
        let position = position.and_then(|at| at.as_u64().or_else(|| at.as_str()?.trim().parse().ok()));
        crumbs.extend(name.map(|name| (position.unwrap_or(u64::MAX), name)));
    }
    // The sort is stable: without positions, the order of the list counts.
    crumbs.sort_by_key(|(position, _)| *position);
    shortened(crumbs.into_iter().map(|(_, name)| name))
}

/// Returns the breadcrumbs of an element with `itemtype`; empty if it is not a list of breadcrumbs.
pub(super) fn from_microdata(dom: &Dom, id: NodeId, element: &Element) -> Vec<String> {
    if !element.attribute("itemtype").is_some_and(is_breadcrumb_list) {
        return Vec::new();
    }
    let is_name = |element: &Element| {
        element.attribute("itemprop").is_some_and(|p| p.trim().eq_ignore_ascii_case("name"))
    };
    let names = dom.elements(id).take(MAX_ELEMENTS).filter(|(_, element)| is_name(element));
    let names: Vec<String> = names
        .take(MAX_CRUMBS)
        .map(|(id, element)| {
            element.attribute("content").map_or_else(|| text_inside(dom, id, MAX_CHARS), str::to_string)
        })
        .collect();
    shortened(names.iter().map(String::as_str))
}

/// Returns `true` for the type of a list of breadcrumbs, with or without the address of the vocabulary.
fn is_breadcrumb_list(kind: &str) -> bool {
    kind.trim().rsplit(['/', ':', '#']).next() == Some(TYPE)
}

fn shortened<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names = names.map(|name| collapse_whitespace(name, MAX_CHARS));
    names.filter(|name| !name.is_empty()).take(MAX_CRUMBS).collect()
}

#[cfg(test)]
mod tests {
    use pharos_core::PageUrl;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn crumbs(html: &str) -> Vec<String> {
        let url = PageUrl::parse("https://a.example/docs/install").unwrap();
        crate::extract_page(&url, Some("text/html"), html.as_bytes()).breadcrumbs
    }

    #[test]
    fn lists_in_json_ld_are_ordered_by_position() {
        let item =
            |position: Value, name: &str| json!({"@type": "ListItem", "position": position, "name": name});
        let nested = json!({"@type": "ListItem", "position": 1, "item": {"@id": "https://a.example/", "name": " Home\n"}});
        let list = json!({"@type": "BreadcrumbList", "itemListElement": [item(json!("3"), "Install"), item(json!(2), "Docs"), nested]});
        let page = json!({"@context": "https://schema.org", "@type": "WebPage", "breadcrumb": list});
        let html = format!("<title>x</title><script type=application/ld+json>{page}</script><p>text");
        assert_eq!(crumbs(&html), ["Home", "Docs", "Install"]);
        let graph = json!({"@graph": [{"@type": ["Thing", "https://schema.org/BreadcrumbList"],
            "itemListElement": [{"name": "A"}, {"name": ""}, {"name": "B"}, 7, null]}]});
        assert_eq!(crumbs(&format!("<script type=application/ld+json>{graph}</script>")), ["A", "B"]);
    }

    #[test]
    fn lists_in_microdata_are_read() {
        let html = "<ol itemscope itemtype='https://schema.org/BreadcrumbList'>
            <li itemprop=itemListElement itemscope itemtype='https://schema.org/ListItem'>
            <a itemprop=item href=/><span itemprop=name>Home</span></a><meta itemprop=position content=1></li>
            <li itemprop=itemListElement itemscope><span itemprop=name> Two
            words</span></li></ol><span itemprop=name>Outside</span>";
        assert_eq!(crumbs(html), ["Home", "Two words"]);
        assert_eq!(
            crumbs("<ol itemscope itemtype='https://schema.org/ItemList'><li itemprop=name>x</ol>"),
            [""; 0]
        );
    }

    #[test]
    fn number_and_length_are_limited() {
        let items: Vec<Value> = (0..500).map(|n| json!({"position": n, "name": "x".repeat(1000)})).collect();
        let list = json!({"@type": "BreadcrumbList", "itemListElement": items});
        let found = from_json_ld(&list);
        assert_eq!(found.len(), MAX_CRUMBS);
        assert!(found.iter().all(|crumb| crumb.chars().count() <= MAX_CHARS));
    }

    proptest! {
        #[test]
        fn any_markup_is_read(text in "(<ol itemtype=BreadcrumbList>|<li itemprop=name>|</ol>|</li>|x|<meta itemprop=name content=y>){0,30}") {
            prop_assert!(crumbs(&text).len() <= MAX_CRUMBS);
        }
    }
}
