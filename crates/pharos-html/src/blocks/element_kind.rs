//! Classification of elements by their effect on blocks.

use html5ever::{LocalName, local_name};

use crate::dom::Element;

/// Class of an element by its effect on the surrounding text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum ElementKind {
    /// A container without a meaning of its own.
    Plain,
    Article,
    Main,
    Section,
    Aside,
    Nav,
    Header,
    Footer,
    Form,
    Table,
    Row,
    Cell,
    List,
    Item,
    Definition,
    Paragraph,
    Heading1,
    Heading2,
    Heading3,
    Heading4,
    Preformatted,
    Quote,
    Figure,
    Caption,
    Details,
    Address,
    // The classes below are inline or end a line without containing text.
    Break,
    Rule,
    Link,
    Picture,
    Strong,
    Control,
    Field,
    Inline,
    /// Contents are not visible.
    Invisible,
}

impl ElementKind {
    /// Returns `true` if the element contains lines.
    pub(crate) fn is_container(self) -> bool {
        self < ElementKind::Break
    }

    /// Returns `true` for `h1` to `h6`.
    pub(crate) fn is_heading(self) -> bool {
        (ElementKind::Heading1..=ElementKind::Heading4).contains(&self)
    }

    /// Classifies an element by its name or its `role` attribute.
    pub(crate) fn from_element(element: &Element) -> ElementKind {
        let Some(name) = element.html_name() else {
            return if element.local_name() == "svg" { ElementKind::Invisible } else { ElementKind::Inline };
        };
        let tag = by_name(name);
        if *name == local_name!("dialog") && element.attribute("open").is_none() {
            return ElementKind::Invisible;
        }
        if matches!(tag, ElementKind::Plain | ElementKind::Section | ElementKind::List)
            && let Some(role) = element.attribute("role")
        {
            return by_role(role).unwrap_or(tag);
        }
        tag
    }
}

/// Returns the emphasis factor of an important tag (重要信息标签), 0 for other elements. 《搜索引擎——原理、技术与系统》§7.1 lists the
/// tags without factors. The factors here decrease with the heading size that browsers use.
pub(crate) fn emphasis(element: &Element) -> f32 {
    let Some(name) = element.html_name() else { return 0.0 };
    match *name {
        local_name!("h1") => 5.0,
        local_name!("h2") => 4.0,
        local_name!("h3") => 3.0,
        local_name!("h4") => 2.5,
        local_name!("h5")
        | local_name!("h6")
        | local_name!("strong")
        | local_name!("b")
        | local_name!("big")
        | local_name!("mark")
        | local_name!("caption") => 2.0,
        local_name!("em")
        | local_name!("i")
        | local_name!("u")
        | local_name!("th")
        | local_name!("dt")
        | local_name!("legend") => 1.5,
        _ => 0.0,
    }
}

fn by_role(role: &str) -> Option<ElementKind> {
    Some(match role {
        "main" => ElementKind::Main,
        "article" => ElementKind::Article,
        "navigation" | "menu" | "menubar" | "tablist" => ElementKind::Nav,
        "complementary" => ElementKind::Aside,
        "banner" => ElementKind::Header,
        "contentinfo" => ElementKind::Footer,
        "form" | "search" => ElementKind::Form,
        _ => return None,
    })
}

fn by_name(name: &LocalName) -> ElementKind {
    match *name {
        local_name!("div") => ElementKind::Plain,
        local_name!("a") => ElementKind::Link,
        local_name!("span") => ElementKind::Inline,
        local_name!("li") => ElementKind::Item,
        local_name!("ul") | local_name!("ol") | local_name!("menu") | local_name!("dir") => ElementKind::List,
        local_name!("p") => ElementKind::Paragraph,
        local_name!("br") => ElementKind::Break,
        local_name!("hr") => ElementKind::Rule,
        local_name!("img") => ElementKind::Picture,
        local_name!("b") | local_name!("strong") | local_name!("em") | local_name!("i") => {
            ElementKind::Strong
        }
        local_name!("button") | local_name!("label") => ElementKind::Control,
        local_name!("input") => ElementKind::Field,
        local_name!("td") | local_name!("th") => ElementKind::Cell,
        local_name!("tr") => ElementKind::Row,
        local_name!("table") => ElementKind::Table,
        local_name!("h1") => ElementKind::Heading1,
        local_name!("h2") => ElementKind::Heading2,
        local_name!("h3") => ElementKind::Heading3,
        local_name!("h4") | local_name!("h5") | local_name!("h6") => ElementKind::Heading4,
        local_name!("article") => ElementKind::Article,
        local_name!("main") => ElementKind::Main,
        local_name!("section") => ElementKind::Section,
        local_name!("aside") => ElementKind::Aside,
        local_name!("nav") => ElementKind::Nav,
        local_name!("header") => ElementKind::Header,
        local_name!("footer") => ElementKind::Footer,
        local_name!("form") | local_name!("fieldset") => ElementKind::Form,
        local_name!("dl") => ElementKind::List,
        local_name!("dt") | local_name!("dd") => ElementKind::Definition,
        local_name!("pre") | local_name!("listing") | local_name!("xmp") | local_name!("plaintext") => {
            ElementKind::Preformatted
        }
        local_name!("blockquote") => ElementKind::Quote,
        local_name!("figure") => ElementKind::Figure,
        local_name!("figcaption") | local_name!("caption") | local_name!("legend") => ElementKind::Caption,
        local_name!("details") => ElementKind::Details,
        local_name!("address") => ElementKind::Address,
        local_name!("body")
        | local_name!("center")
        | local_name!("dialog")
        | local_name!("hgroup")
        | local_name!("optgroup")
        | local_name!("search")
        | local_name!("summary")
        | local_name!("tbody")
        | local_name!("tfoot")
        | local_name!("thead") => ElementKind::Plain,
        local_name!("head")
        | local_name!("title")
        | local_name!("script")
        | local_name!("style")
        | local_name!("noscript")
        | local_name!("template")
        | local_name!("textarea")
        | local_name!("select")
        | local_name!("datalist")
        | local_name!("option")
        | local_name!("iframe")
        | local_name!("noframes")
        | local_name!("noembed")
        | local_name!("object")
        | local_name!("audio")
        | local_name!("video")
        | local_name!("canvas") => ElementKind::Invisible,
        _ => ElementKind::Inline,
    }
}
