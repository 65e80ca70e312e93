//! Clues about a page outside its visible text: title, declared type, address.

use memchr::memmem;

use super::title_similarity::TitleWords;
use crate::dom::visible_text::text_inside;
use crate::dom::{Dom, Element, NodeData, NodeId, WalkStep};
use crate::links::has_rel;

/// Names of the features `declared.…`. The first ones come from `og:type` and schema.org types, the others from words
/// in the path of the canonical address.
pub(crate) const DECLARATIONS: [&str; 17] = [
    "og_article",
    "og_product",
    "og_website",
    "article",
    "product",
    "forum",
    "list",
    "organization",
    "manual",
    "path_depth",
    "path_words",
    "path_digits",
    "path_forum",
    "path_shop",
    "path_list",
    "path_docs",
    "path_blog",
];

/// Types of schema.org, by the ends of their names, in the order of [`DECLARATIONS`] from `article` on.
const TYPES: [&[&str]; 6] = [
    &["Article", "BlogPosting", "Report"],
    &["Product", "Offer", "ProductGroup"],
    &["DiscussionForumPosting", "QAPage", "Question", "Comment"],
    &["CollectionPage", "ItemList", "SearchResultsPage", "OfferCatalog"],
    &["Organization", "LocalBusiness", "Service", "ProfessionalService", "Corporation"],
    &["HowTo", "APIReference", "SoftwareApplication", "Course"],
];

/// Words of paths, in the order of [`DECLARATIONS`] from `path_forum` on.
const PATH_WORDS: [&[&str]; 5] = [
    &["forum", "thread", "topic", "viewtopic", "discussion", "question", "community", "/t/", "bbs", "tid"],
    &["product", "/p/", "/dp/", "item", "shop", "store"],
    &["categor", "collection", "/tag", "archive", "list", "search", "/c/", "catalog", "jobs", "events"],
    &["docs", "documentation", "manual", "guide", "reference", "/api", "wiki", "help", "tutorial", "support"],
    &["blog", "news", "article", "/20", "story", "post"],
];

/// Maximum sizes of what is searched.
const MAX_TITLE_CHARS: usize = 500;
const MAX_SCRIPT_BYTES: usize = 1 << 20;
const MAX_SCRIPTS: usize = 20;
const MAX_TYPES: usize = 500;
const MAX_PATH_CHARS: usize = 500;

/// Clues from the head of a page.
#[derive(Debug, Default)]
pub(crate) struct PageClues {
    pub(crate) title: TitleWords,
    /// Values of [`DECLARATIONS`].
    pub(crate) declared: [f32; DECLARATIONS.len()],
}

impl PageClues {
    /// Collects the clues in one walk.
    pub(crate) fn from_dom(dom: &Dom) -> Self {
        let (mut clues, mut title, mut address) = (PageClues::default(), None, None);
        let mut scripts = 0;
        for (id, element) in dom.elements(dom.root()) {
            match element.tag() {
                "title" if title.is_none() => title = Some(text_inside(dom, id, MAX_TITLE_CHARS)),
                "link" if address.is_none() && has_rel(element, "canonical") => {
                    address = element.attribute("href");
                }
                "meta" => clues.meta(element, &mut address),
                "script" if scripts < MAX_SCRIPTS => {
                    if let Some(text) = json_ld(dom, id, element) {
                        scripts += 1;
                        clues.types(text);
                    }
                }
                _ => {}
            }
        }
        clues.title = TitleWords::from_title(&title.unwrap_or_default());
        clues.path(address.unwrap_or_default());
        clues
    }

    fn meta<'a>(&mut self, element: &'a Element, address: &mut Option<&'a str>) {
        let Some(content) = element.attribute("content") else { return };
        match element.attribute("property").or_else(|| element.attribute("name")) {
            Some("og:type") => {
                let kind = content.trim().to_ascii_lowercase();
                let at = ["article", "product", "website"].iter().position(|known| kind.contains(known));
                if let Some(at) = at {
                    self.declared[at] = 1.0;
                }
            }
            Some("og:url") => *address = address.or(Some(content)),
            _ => {}
        }
    }

    /// Finds the values of `"@type"` without parsing the script.
    fn types(&mut self, script: &str) {
        let script = &script[..script.floor_char_boundary(MAX_SCRIPT_BYTES)];
        for at in memmem::find_iter(script.as_bytes(), "\"@type\"").take(MAX_TYPES) {
            let value = script[at + "\"@type\"".len()..].trim_start_matches([' ', ':', '[', '\n', '\t']);
            let Some(name) = value.strip_prefix('"').and_then(|rest| rest.split('"').next()) else {
                continue;
            };
            for (kind, names) in TYPES.iter().enumerate() {
                if names.iter().any(|known| name.ends_with(known)) {
                    self.declared[3 + kind] += 1.0;
                }
            }
        }
    }

    fn path(&mut self, address: &str) {
        let address = &address[..address.floor_char_boundary(MAX_PATH_CHARS)];
        let after_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
        let Some(at) = after_scheme.find('/') else { return };
        let path = after_scheme[at..].to_ascii_lowercase();
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        self.declared[9] = path.trim_end_matches('/').matches('/').count() as f32;
        self.declared[10] = last.split(['-', '_']).count() as f32;
        self.declared[11] = path.bytes().filter(u8::is_ascii_digit).count() as f32;
        for (kind, words) in PATH_WORDS.iter().enumerate() {
            self.declared[12 + kind] = f32::from(u8::from(words.iter().any(|word| path.contains(word))));
        }
    }
}

/// Returns the text of a script with JSON-LD.
fn json_ld<'a>(dom: &'a Dom, id: NodeId, element: &Element) -> Option<&'a str> {
    let kind = element.attribute("type")?;
    if !kind.trim().to_ascii_lowercase().starts_with("application/ld+json") {
        return None;
    }
    dom.walk(id).find_map(|step| match step {
        WalkStep::Enter(id) => match dom.data(id) {
            NodeData::Text(text) => Some(&**text),
            _ => None,
        },
        WalkStep::Leave(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_collected() {
        let clues = PageClues::from_dom(&Dom::parse(
            "<title>Lamp</title><meta property=og:type content=product><link rel=canonical \
             href=https://example.org/shop/lamps/brass-lamp-12><script type=application/ld+json>\
             {\"@graph\":[{\"@type\": \"Product\"},{\"@type\":[\"NewsArticle\"]},{\"@type\":\"Offer\"}]}</script>",
        ));
        let value = |name: &str| clues.declared[DECLARATIONS.iter().position(|n| *n == name).unwrap()];
        assert_eq!(
            [value("og_product"), value("og_article"), value("product"), value("article")],
            [1.0, 0.0, 2.0, 1.0]
        );
        assert_eq!([value("path_depth"), value("path_words"), value("path_digits")], [3.0, 3.0, 2.0]);
        assert_eq!([value("path_shop"), value("path_forum")], [1.0, 0.0]);
        assert_eq!(PageClues::from_dom(&Dom::parse("<p>x")).declared, [0.0; DECLARATIONS.len()]);
    }
}
