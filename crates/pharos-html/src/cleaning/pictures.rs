//! The main picture of a page that declares none, and the picture descriptions of a picture page.

use pharos_core::{PageObject, PageUrl};
use url::Url;

use super::{CleanedPage, central_region, is_edge_tag};
use crate::blocks::ElementKind;
use crate::dom::visible_text::{collapse_whitespace, is_invisible};
use crate::dom::{Dom, Element, NodeId};
use crate::metadata::nosnippet::is_unquotable;

/// Minimum side length in pixels; smaller pictures are ornaments.
const MIN_SIDE: u32 = 100;

/// Maximum number of pictures examined.
const MAX_PICTURES: usize = 200;

/// Maximum number of characters of a description.
const MAX_DESCRIPTION: usize = 200;

/// Maximum number of ancestors examined to find out whether a picture lies at the edge of the page.
const MAX_LEVELS: usize = 50;

impl CleanedPage {
    /// Returns the first picture of the central region that is not an ornament.
    pub(crate) fn main_picture(&self, dom: &Dom, base: &Url) -> Option<String> {
        let region = central_region(&self.blocks, &self.body).element;
        let pictures = dom.elements(region).filter(|(_, element)| element.tag() == "img").take(MAX_PICTURES);
        let mut main = pictures.filter(|(id, element)| is_large(element) && !is_at_edge(dom, *id));
        main.find_map(|(_, element)| {
            let source = element.attribute("src").filter(|source| !is_ornament(source))?;
            PageUrl::join_to(base, source).ok().map(|url| url.as_str().to_string())
        })
    }
}

/// Appends the descriptions of a page's pictures to its text; on a picture page they are the body.
pub(crate) fn describe(page: &mut PageObject, dom: &Dom) {
    for ImageDescription { text, is_quotable } in descriptions(dom) {
        if !page.text.is_empty() {
            page.text.push('\n');
        }
        let start = page.text.len();
        page.text.push_str(&text);
        if !is_quotable {
            page.unquotable.push(start..page.text.len());
        }
    }
}

/// The alternative text of a picture.
struct ImageDescription {
    text: String,
    is_quotable: bool,
}

/// Returns the descriptions of the pictures without duplicates.
fn descriptions(dom: &Dom) -> Vec<ImageDescription> {
    let pictures = dom.elements(dom.root()).filter(|(_, element)| element.tag() == "img").take(MAX_PICTURES);
    let mut found: Vec<ImageDescription> = Vec::new();
    for (id, element) in pictures.filter(|(id, _)| !is_at_edge(dom, *id)) {
        let text = element.attribute("alt").or_else(|| element.attribute("title")).unwrap_or_default();
        let text = collapse_whitespace(text, MAX_DESCRIPTION);
        let is_known = || found.iter().any(|known| known.text == text);
        if text.chars().any(char::is_alphabetic) && !is_known() && !is_hidden(dom, id) {
            let is_quotable = !ancestors(dom, id).any(is_unquotable);
            found.push(ImageDescription { text, is_quotable });
        }
    }
    found
}

/// Returns `true` unless the picture declares a small size.
fn is_large(picture: &Element) -> bool {
    ["width", "height"].iter().all(|side| {
        let pixels = picture.attribute(side).and_then(|value| value.trim().parse::<u32>().ok());
        pixels.is_none_or(|pixels| pixels >= MIN_SIDE)
    })
}

fn is_at_edge(dom: &Dom, picture: NodeId) -> bool {
    ancestors(dom, picture).any(|element| is_edge_tag(ElementKind::from_element(element)))
}

fn is_hidden(dom: &Dom, picture: NodeId) -> bool {
    ancestors(dom, picture).any(is_invisible)
}

fn ancestors(dom: &Dom, picture: NodeId) -> impl Iterator<Item = &Element> {
    let above = std::iter::successors(dom.parent(picture), |id| dom.parent(*id)).take(MAX_LEVELS);
    above.filter_map(|id| dom.element(id))
}

/// Returns `true` for drawings and animations, which are hardly ever the content of a page.
fn is_ornament(source: &str) -> bool {
    let path = source.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    path.starts_with("data:") || path.ends_with(".svg") || path.ends_with(".gif")
}

#[cfg(test)]
mod tests {
    use crate::extract_page;
    use pharos_core::{PageType, PageUrl};

    #[test]
    fn a_picture_page_is_about_what_its_pictures_show() {
        let html = "<nav><a href=/>Home</a><img src=l alt=Logo></nav><h1>Holiday</h1><img src=1 alt='The red tower'>\
                    <img src=2 alt='A white boat'><img src=3 alt='The red tower'><img src=4 alt='-'>\
                    <div hidden><img src=5 alt=Secret></div>";
        let page = extract_page(&PageUrl::parse("http://example.org/").unwrap(), None, html.as_bytes());
        assert_eq!(page.page_type, PageType::Picture);
        assert_eq!(page.text, "Holiday\nThe red tower\nA white boat");
    }

    #[test]
    fn the_first_picture_that_is_no_ornament() {
        let text =
            "<p>The lighthouse on the rock was built long ago, and its lamp can be seen from far away.</p>";
        let page = |pictures: &str| {
            let html = format!(
                "<header><img src=logo.png></header><nav><a href=/>Home</a></nav><article>{text}{pictures}{text}</article>"
            );
            extract_page(
                &PageUrl::parse("http://example.org/a/b").unwrap(),
                Some("text/html"),
                html.as_bytes(),
            )
            .image
        };
        assert_eq!(
            page(
                "<img src=dot.png width=1><img src=x.gif><img src='data:image/png;base64,x'><img src=tower.jpg><img src=c>"
            ),
            "http://example.org/a/tower.jpg"
        );
        assert_eq!(page(""), "");
        assert_eq!(
            page("<meta property=og:image content=/og.png><img src=tower.jpg>"),
            "http://example.org/og.png"
        );
    }
}
