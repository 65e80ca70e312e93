//! Classification of elements by their effect on blocks.

use html5ever::{LocalName, local_name};

use crate::dom::Element;

/// Class of an element by its effect on the surrounding text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Tag {
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
    Unseen,
}

impl Tag {
    /// Returns `true` if the element contains lines.
    pub(crate) fn is_container(self) -> bool {
        self < Tag::Break
    }

    /// Returns `true` for `h1` to `h6`.
    pub(crate) fn is_heading(self) -> bool {
        (Tag::Heading1..=Tag::Heading4).contains(&self)
    }

    /// Classifies an element by its name or its `role` attribute.
    pub(crate) fn of(element: &Element) -> Tag {
        let Some(name) = element.html_name() else {
            return if element.local_name() == "svg" { Tag::Unseen } else { Tag::Inline };
        };
        let tag = by_name(name);
        if *name == local_name!("dialog") && element.attribute("open").is_none() {
            return Tag::Unseen;
        }
        if matches!(tag, Tag::Plain | Tag::Section | Tag::List)
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

fn by_role(role: &str) -> Option<Tag> {
    Some(match role {
        "main" => Tag::Main,
        "article" => Tag::Article,
        "navigation" | "menu" | "menubar" | "tablist" => Tag::Nav,
        "complementary" => Tag::Aside,
        "banner" => Tag::Header,
        "contentinfo" => Tag::Footer,
        "form" | "search" => Tag::Form,
        _ => return None,
    })
}

fn by_name(name: &LocalName) -> Tag {
    match *name {
        local_name!("div") => Tag::Plain,
        local_name!("a") => Tag::Link,
        local_name!("span") => Tag::Inline,
        local_name!("li") => Tag::Item,
        local_name!("ul") | local_name!("ol") | local_name!("menu") | local_name!("dir") => Tag::List,
        local_name!("p") => Tag::Paragraph,
        local_name!("br") => Tag::Break,
        local_name!("hr") => Tag::Rule,
        local_name!("img") => Tag::Picture,
        local_name!("b") | local_name!("strong") | local_name!("em") | local_name!("i") => Tag::Strong,
        local_name!("button") | local_name!("label") => Tag::Control,
        local_name!("input") => Tag::Field,
        local_name!("td") | local_name!("th") => Tag::Cell,
        local_name!("tr") => Tag::Row,
        local_name!("table") => Tag::Table,
        local_name!("h1") => Tag::Heading1,
        local_name!("h2") => Tag::Heading2,
        local_name!("h3") => Tag::Heading3,
        local_name!("h4") | local_name!("h5") | local_name!("h6") => Tag::Heading4,
        local_name!("article") => Tag::Article,
        local_name!("main") => Tag::Main,
        local_name!("section") => Tag::Section,
        local_name!("aside") => Tag::Aside,
        local_name!("nav") => Tag::Nav,
        local_name!("header") => Tag::Header,
        local_name!("footer") => Tag::Footer,
        local_name!("form") | local_name!("fieldset") => Tag::Form,
        local_name!("dl") => Tag::List,
        local_name!("dt") | local_name!("dd") => Tag::Definition,
        local_name!("pre") | local_name!("listing") | local_name!("xmp") | local_name!("plaintext") => {
            Tag::Preformatted
        }
        local_name!("blockquote") => Tag::Quote,
        local_name!("figure") => Tag::Figure,
        local_name!("figcaption") | local_name!("caption") | local_name!("legend") => Tag::Caption,
        local_name!("details") => Tag::Details,
        local_name!("address") => Tag::Address,
        local_name!("body")
        | local_name!("center")
        | local_name!("dialog")
        | local_name!("hgroup")
        | local_name!("optgroup")
        | local_name!("search")
        | local_name!("summary")
        | local_name!("tbody")
        | local_name!("tfoot")
        | local_name!("thead") => Tag::Plain,
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
        | local_name!("canvas") => Tag::Unseen,
        _ => Tag::Inline,
    }
}
