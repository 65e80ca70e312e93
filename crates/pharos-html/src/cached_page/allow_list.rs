//! The elements, attributes and styles that a cached page may contain.

use crate::dom::Element;

/// Treatment of an element.
pub(super) enum ElementAction {
    /// Written under its own name.
    Keep,
    /// Written under another name.
    Rename(&'static str),
    /// Replaced by its contents.
    Unwrap,
    /// Removed together with its contents.
    Drop,
    /// A picture, replaced by its alternative text.
    Describe,
    /// A style sheet, written if it loads nothing.
    Style,
}

pub(super) fn element_action(element: &Element) -> ElementAction {
    match element.tag() {
        "a" | "abbr" | "address" | "article" | "aside" | "b" | "bdi" | "bdo" | "big" | "blockquote"
        | "br" | "caption" | "center" | "cite" | "code" | "col" | "colgroup" | "dd" | "del" | "details"
        | "dfn" | "dir" | "div" | "dl" | "dt" | "em" | "figcaption" | "figure" | "font" | "footer" | "h1"
        | "h2" | "h3" | "h4" | "h5" | "h6" | "header" | "hgroup" | "hr" | "i" | "ins" | "kbd" | "li"
        | "main" | "mark" | "menu" | "nav" | "ol" | "p" | "pre" | "q" | "rp" | "rt" | "ruby" | "s"
        | "samp" | "section" | "small" | "span" | "strike" | "strong" | "sub" | "summary" | "sup"
        | "table" | "tbody" | "td" | "tfoot" | "th" | "thead" | "time" | "tr" | "tt" | "u" | "ul" | "var"
        | "wbr" => ElementAction::Keep,
        "form" | "fieldset" => ElementAction::Rename("div"),
        "listing" | "xmp" | "plaintext" => ElementAction::Rename("pre"),
        "img" => ElementAction::Describe,
        "style" => ElementAction::Style,
        // SVG and MathML have no tag name here: whole subtrees are removed.
        "" | "applet" | "area" | "audio" | "base" | "canvas" | "datalist" | "embed" | "frame"
        | "frameset" | "iframe" | "input" | "link" | "map" | "meta" | "noembed" | "noframes" | "noscript"
        | "object" | "option" | "param" | "script" | "select" | "source" | "template" | "textarea"
        | "title" | "track" | "video" => ElementAction::Drop,
        // `<html>`, `<body>`, buttons, labels and unknown elements: their text is safe.
        _ => ElementAction::Unwrap,
    }
}

/// Returns `true` for attributes that affect only appearance or meaning.
pub(super) fn is_allowed_attribute(attribute: &str) -> bool {
    matches!(
        attribute,
        "abbr"
            | "align"
            | "bgcolor"
            | "border"
            | "cellpadding"
            | "cellspacing"
            | "class"
            | "color"
            | "colspan"
            | "datetime"
            | "dir"
            | "face"
            | "headers"
            | "height"
            | "hidden"
            | "id"
            | "lang"
            | "noshade"
            | "nowrap"
            | "open"
            | "reversed"
            | "rowspan"
            | "rules"
            | "scope"
            | "size"
            | "span"
            | "start"
            | "title"
            | "type"
            | "valign"
            | "value"
            | "width"
    )
}

/// Returns `true` if a style sheet or style attribute loads nothing in any browser.
///
/// The check is deliberately strict. Besides `url()`, CSS loads resources by `@import` and by strings in
/// `image-set()`, old browsers run `expression()` and bindings, and escapes can spell any of these differently.
pub(super) fn is_safe_style(css: &str) -> bool {
    const SUSPICIOUS: [&str; 11] = [
        "url",
        "import",
        "expression",
        "image",
        "src",
        "behavior",
        "binding",
        "script",
        "element(",
        "charset",
        "namespace",
    ];
    let css = css.to_lowercase();
    !css.contains(['\\', '<', '\0']) && !SUSPICIOUS.iter().any(|word| css.contains(word))
}

pub(super) fn is_void(tag: &str) -> bool {
    matches!(tag, "br" | "col" | "hr" | "wbr")
}

/// Returns `true` if an element hides itself. Jump links cannot lead into hidden content.
pub(super) fn is_hidden(element: &Element) -> bool {
    element.attributes().any(|(name, value)| match name {
        "hidden" => true,
        // A style that is not written hides nothing.
        "style" if is_safe_style(value) => {
            let style: String = value.chars().filter(|c| !c.is_whitespace()).collect();
            style.to_lowercase().contains("display:none")
        }
        _ => false,
    })
}
