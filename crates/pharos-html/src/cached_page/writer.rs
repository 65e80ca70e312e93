//! Writes a cached page from a tree: allowed markup, escaped text, highlighted terms.

use pharos_core::PageUrl;
use url::Url;

use super::CachedPage;
use super::allow_list::{
    ElementAction, element_action, is_allowed_attribute, is_hidden, is_safe_style, is_void,
};
use super::highlights::{self, HighlightOptions, Highlighter};
use crate::dom::{Dom, Element, NodeData, NodeId, WalkStep};

/// Maximum size of a cached page; the tree of a page can be much larger than its text.
pub(super) const MAX_BYTES: usize = 8 << 20;

/// Writes a page from the elements and attributes on the allow-list.
pub(super) struct CachedPageWriter<'a> {
    out: String,
    highlights: Highlighter<'a>,
    /// True inside a link of the page.
    in_link: bool,
    /// Number of open hidden elements.
    hidden: usize,
}

/// An element that must be closed.
struct OpenElement<'d> {
    id: NodeId,
    tag: &'d str,
    is_link: bool,
    is_hidden: bool,
}

impl<'a> CachedPageWriter<'a> {
    pub(super) fn new(options: &HighlightOptions<'a>) -> Self {
        Self { out: String::new(), highlights: Highlighter::new(options), in_link: false, hidden: 0 }
    }

    pub(super) fn finish(mut self) -> CachedPage {
        let counts = self.highlights.finish(&mut self.out);
        CachedPage { html: self.out, counts }
    }

    /// Writes plain text in its lines.
    pub(super) fn preformatted(&mut self, text: &str) {
        self.out.push_str("<pre>\n");
        self.text(&text[..text.floor_char_boundary(MAX_BYTES)]);
        self.out.push_str("</pre>");
    }

    /// Writes an element that contains only text.
    pub(super) fn element(&mut self, tag: &str, text: &str) {
        if self.out.len() > MAX_BYTES {
            return;
        }
        self.out.push('<');
        self.out.push_str(tag);
        self.out.push('>');
        self.text(text);
        self.close(tag);
    }

    pub(super) fn document(&mut self, dom: &Dom, base: &Url) {
        let mut opened: Vec<OpenElement> = Vec::new();
        let mut walk = dom.walk(dom.root());
        while let Some(step) = walk.next() {
            if self.out.len() > MAX_BYTES {
                break;
            }
            match step {
                WalkStep::Enter(id) => match dom.data(id) {
                    NodeData::Text(text) => self.text(text),
                    NodeData::Element(element) => match element_action(element) {
                        ElementAction::Keep => opened.extend(self.open(id, element.tag(), element, base)),
                        ElementAction::Rename(name) => opened.extend(self.open(id, name, element, base)),
                        ElementAction::Unwrap => {}
                        ElementAction::Drop => walk.skip_contents(id),
                        ElementAction::Describe => {
                            self.description(element);
                            walk.skip_contents(id);
                        }
                        ElementAction::Style => {
                            self.style(dom, id);
                            walk.skip_contents(id);
                        }
                    },
                    NodeData::Other => {}
                },
                WalkStep::Leave(id) => {
                    if let Some(open) = opened.pop_if(|open| open.id == id) {
                        self.leave(&open);
                    }
                }
            }
        }
        while let Some(open) = opened.pop() {
            self.leave(&open);
        }
    }

    /// Opens an element. Returns the element to close.
    fn open<'d>(
        &mut self,
        id: NodeId,
        tag: &'d str,
        element: &Element,
        base: &Url,
    ) -> Option<OpenElement<'d>> {
        // A link in a link, which table cells allow, would be separated by the next parser. An anchor without a
        // target is no link and must not prevent jump links inside it.
        let target = match element.attribute("href").filter(|_| tag == "a" && !self.in_link) {
            Some(href) => PageUrl::join_to(base, href).ok(),
            None => None,
        };
        let is_link = target.is_some();
        let tag = if tag == "a" && !is_link { "span" } else { tag };
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in element.attributes() {
            match name {
                "class" => self.classes(value),
                "id" if highlights::is_reserved_id(value) => {
                    self.attribute("id", &format!("page-{}", value.trim()))
                }
                "style" if !is_safe_style(value) => {}
                "style" => self.attribute(name, value),
                _ if is_allowed_attribute(name) => self.attribute(name, value),
                _ => {}
            }
        }
        if let Some(url) = target {
            self.attribute("href", url.as_str());
            self.attribute("rel", "noopener noreferrer nofollow");
            self.attribute("target", "_blank");
        }
        self.out.push('>');
        if tag == "pre" {
            // The parser drops one line feed after the tag; this is the one.
            self.out.push('\n');
        }
        if is_void(tag) {
            return None;
        }
        let is_hidden = is_hidden(element);
        self.in_link |= is_link;
        self.hidden += usize::from(is_hidden);
        Some(OpenElement { id, tag, is_link, is_hidden })
    }

    fn leave(&mut self, open: &OpenElement) {
        self.close(open.tag);
        self.hidden -= usize::from(open.is_hidden);
        if open.is_link {
            self.in_link = false;
            self.highlights.write_arrows(&mut self.out, escape);
        }
    }

    /// Writes the classes of the page without those reserved for highlighting.
    fn classes(&mut self, value: &str) {
        let others: Vec<_> =
            value.split_ascii_whitespace().filter(|class| !highlights::is_reserved_class(class)).collect();
        if !others.is_empty() {
            self.attribute("class", &others.join(" "));
        }
    }

    fn close(&mut self, tag: &str) {
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push_str("=\"");
        escape(&mut self.out, value);
        self.out.push('"');
    }

    fn description(&mut self, image: &Element) {
        if let Some(alt) = image.attribute("alt").filter(|alt| !alt.trim().is_empty()) {
            self.out.push_str("<span class=\"img\">");
            self.text(alt);
            self.out.push_str("</span>");
        }
    }

    fn style(&mut self, dom: &Dom, id: NodeId) {
        let css: String = dom
            .walk(id)
            .filter_map(|step| match step {
                WalkStep::Enter(id) => match dom.data(id) {
                    NodeData::Text(text) => Some(&**text),
                    _ => None,
                },
                WalkStep::Leave(_) => None,
            })
            .collect();
        if is_safe_style(&css) && !css.trim().is_empty() {
            self.out.push_str("<style>");
            self.out.push_str(&css);
            self.out.push_str("</style>");
        }
    }

    /// Writes text with its query terms highlighted.
    fn text(&mut self, text: &str) {
        let mut written = 0;
        let spans = if self.hidden == 0 { self.highlights.spans(text) } else { Vec::new() };
        for (start, end, colour) in spans {
            if self.out.len() > MAX_BYTES {
                return;
            }
            escape(&mut self.out, &text[written..start]);
            self.highlights
                .write_occurrence(&mut self.out, colour, self.in_link, |out| escape(out, &text[start..end]));
            written = end;
        }
        escape(&mut self.out, &text[written..]);
    }
}

fn escape(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\0']) {
        let (before, special) = rest.split_at(at);
        out.push_str(before);
        out.push_str(match special.as_bytes()[0] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => "\u{FFFD}",
        });
        rest = &special[1..];
    }
    out.push_str(rest);
}
