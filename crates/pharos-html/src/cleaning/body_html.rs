//! The body as clean HTML: its text with headings, lists, tables, links and emphasis.

use std::borrow::Cow;

use url::Url;

use super::CleanedPage;
use crate::dom::{Dom, Element, NodeData, NodeId, WalkStep};
use pharos_core::PageUrl;

/// Maximum size of the HTML of a body.
const MAX_BYTES: usize = 8 << 20;

impl CleanedPage {
    /// Returns the body as HTML. Elements around body text are written under their own names; the only attribute is
    /// the URL of a link. All text is escaped and nothing else is written, so the result is safe to display.
    pub(crate) fn html(&self, dom: &Dom, base: &Url) -> String {
        let is_kept = self.kept_nodes(dom);
        let mut out = String::new();
        let mut walk = dom.walk(dom.root());
        while let Some(step) = walk.next() {
            if out.len() > MAX_BYTES {
                break;
            }
            match step {
                WalkStep::Enter(id) if !is_kept[id.index()] => {
                    let is_break = dom.element(id).is_some_and(|e| e.tag() == "br");
                    if is_break && dom.parent(id).is_some_and(|parent| is_kept[parent.index()]) {
                        out.push_str("<br>");
                    }
                    walk.skip_contents(id);
                }
                WalkStep::Enter(id) => match dom.data(id) {
                    NodeData::Text(text) => out.push_str(&escaped(text)),
                    NodeData::Element(element) => write_start_tag(&mut out, element, base),
                    NodeData::Other => {}
                },
                WalkStep::Leave(id) => {
                    let element = dom.element(id).filter(|_| is_kept[id.index()]);
                    if let Some(name) = element.and_then(written_name) {
                        out.push_str(&format!("</{name}>"));
                    }
                }
            }
        }
        out
    }

    /// Marks the text nodes of the body and their ancestors.
    fn kept_nodes(&self, dom: &Dom) -> Vec<bool> {
        let mut kept = vec![false; dom.len()];
        let is_blank = |id: NodeId| matches!(dom.data(id), NodeData::Text(t) if t.trim().is_empty());
        let body = self.blocks.texts.iter().filter(|(line, _)| self.is_body(*line as usize));
        let (blank, visible): (Vec<NodeId>, Vec<NodeId>) =
            body.map(|(_, id)| *id).partition(|id| is_blank(*id));
        for text in visible {
            let mut at: Option<NodeId> = Some(text);
            while let Some(id) = at.filter(|id| !kept[id.index()]) {
                kept[id.index()] = true;
                at = dom.parent(id);
            }
        }
        // A space between two words counts; a paragraph of spaces only does not.
        for text in blank {
            kept[text.index()] = dom.parent(text).is_some_and(|parent| kept[parent.index()]);
        }
        kept
    }
}

fn write_start_tag(out: &mut String, element: &Element, base: &Url) {
    let Some(name) = written_name(element) else { return };
    let address = element.attribute("href").filter(|_| name == "a");
    match address.and_then(|href| PageUrl::join_to(base, href).ok()) {
        Some(url) => out.push_str(&format!("<a href=\"{}\">", escaped(url.as_str()))),
        None => out.push_str(&format!("<{name}>")),
    }
}

/// Returns the name under which an element is written. Most elements are replaced by their contents.
fn written_name(element: &Element) -> Option<&'static str> {
    Some(match element.tag() {
        "p" => "p",
        "h1" => "h1",
        "h2" => "h2",
        "h3" => "h3",
        "h4" | "h5" | "h6" => "h4",
        "ul" | "menu" | "dir" => "ul",
        "ol" => "ol",
        "li" => "li",
        "dl" => "dl",
        "dt" => "dt",
        "dd" => "dd",
        "table" => "table",
        "tr" => "tr",
        "td" => "td",
        "th" => "th",
        "pre" | "listing" | "xmp" | "plaintext" => "pre",
        "blockquote" => "blockquote",
        "figcaption" | "div" | "section" | "article" | "main" | "center" => "div",
        "a" => "a",
        "b" | "strong" => "b",
        "i" | "em" => "i",
        "code" => "code",
        "sub" => "sub",
        "sup" => "sup",
        _ => return None,
    })
}

fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"', '\'', '\0']) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\0' => {}
            c => safe.push(c),
        }
    }
    safe.into()
}
