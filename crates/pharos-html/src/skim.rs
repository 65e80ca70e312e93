//! Fast extraction of links and text from the tags alone.
//!
//! Building a tree is half the work of a full extraction. The crawler does not need it: links do not depend on how
//! elements nest, and texts can be compared without cleaning.

use std::borrow::Cow;

use pharos_core::{Link, LinkKind, PageObject, PageType, PageUrl};
use url::Url;

use crate::dom::tokenizer::{HtmlToken, HtmlTokens, RawTag};
use crate::dom::visible_text::collapse_whitespace;
use crate::links::{MAX_ANCHOR_CHARS, MAX_LINKS, link_target, web_base};
use crate::metadata::{MAX_CHARS, MAX_DIRECTIVES};

/// Minimum length of the linked text of a hub.
const HUB_LINK_CHARS: usize = 100;

/// Fills the fields that the crawler needs: title, text, links to follow, directives and page type.
pub(crate) fn skim(page: &mut PageObject, url: &PageUrl, html: &str) {
    let mut skimmer = Skimmer::default();
    for piece in HtmlTokens::new(html) {
        match piece {
            HtmlToken::Text(text) => skimmer.text(text),
            HtmlToken::Start(tag) => skimmer.start(&tag),
            HtmlToken::Raw(text) => skimmer.raw(text),
            HtmlToken::End(tag) => skimmer.end(&tag),
        }
    }
    skimmer.end_link();
    let base = web_base(url, skimmer.base.as_deref());
    page.links = skimmer.links.into_iter().filter_map(|link| link.resolve(&base)).take(MAX_LINKS).collect();
    page.robots = skimmer.robots.join(", ");
    page.title = skimmer.title.unwrap_or_default();
    let prose = skimmer.text.len() - skimmer.link_bytes;
    let is_hub = skimmer.link_bytes > prose.max(HUB_LINK_CHARS);
    page.page_type = if is_hub { PageType::Hub } else { PageType::Topic };
    page.text = skimmer.text;
}

/// A link with its URL as written.
struct RawLink {
    address: String,
    anchor: String,
    kind: LinkKind,
    rel: String,
}

impl RawLink {
    fn resolve(self, base: &Url) -> Option<Link> {
        let RawLink { address, anchor, kind, rel } = self;
        // `mailto:`, `javascript:` and other URLs that are not http or https are dropped here.
        PageUrl::join_to(base, &address).ok().map(|url| Link { url, anchor, kind, rel })
    }
}

#[derive(Default)]
struct Skimmer {
    /// The text; whitespace between elements becomes one space, written before the next word.
    text: String,
    gap: bool,
    /// Number of bytes of the text inside links.
    link_bytes: usize,
    title: Option<String>,
    is_title: bool,
    base: Option<String>,
    robots: Vec<String>,
    links: Vec<RawLink>,
    open_link: Option<OpenLink>,
    /// The outermost invisible element, and the number of open elements of that name.
    unseen: Option<(TagName, usize)>,
}

struct OpenLink {
    /// Index in `links`.
    index: usize,
    /// Offset in the text at which the link begins.
    from: usize,
    /// Anchor used if the link has no text.
    fallback: String,
}

impl Skimmer {
    fn text(&mut self, written: &str) {
        if self.unseen.is_some() {
            return;
        }
        let text = htmlize::unescape(written);
        let words = text.trim_ascii();
        self.gap |= text.starts_with(|c: char| c.is_ascii_whitespace());
        if !words.is_empty() {
            if self.gap && !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(words);
            self.gap = text.ends_with(|c: char| c.is_ascii_whitespace());
        }
    }

    fn raw(&mut self, text: &str) {
        if std::mem::take(&mut self.is_title) {
            self.title.get_or_insert_with(|| collapse_whitespace(&htmlize::unescape(text), MAX_CHARS));
        }
    }

    fn start(&mut self, tag: &RawTag<'_>) {
        let name = TagName::from_tag(tag);
        self.gap |= !name.is_inline();
        match name.as_str() {
            "a" => {
                self.end_link();
                if let Some(index) = self.record_link(tag, &name) {
                    let fallback = tag.value("title").into_owned();
                    self.open_link = Some(OpenLink { index, from: self.text.len(), fallback });
                }
            }
            "img" => {
                if let Some(link) = &mut self.open_link
                    && let Some(alt) = tag.attribute("alt").filter(|alt| !alt.trim().is_empty())
                {
                    link.fallback = alt.into_owned();
                }
            }
            "base" if self.base.is_none() => self.base = tag.attribute("href").map(Cow::into_owned),
            "title" => self.is_title = true,
            "meta" if self.directive(tag) => {}
            _ => {
                self.record_link(tag, &name);
            }
        }
        if name.is_invisible() {
            match &mut self.unseen {
                None => self.unseen = Some((name, 1)),
                Some((outermost, open)) if *outermost == name => *open += 1,
                Some(_) => {}
            }
        }
    }

    fn end(&mut self, tag: &RawTag<'_>) {
        let name = TagName::from_tag(tag);
        self.gap |= !name.is_inline();
        if name.as_str() == "a" {
            self.end_link();
        }
        if let Some((outermost, open)) = &mut self.unseen
            && *outermost == name
        {
            *open -= 1;
            if *open == 0 {
                self.unseen = None;
            }
        }
    }

    /// Reads robots directives. Returns `true` if the tag contains any.
    fn directive(&mut self, tag: &RawTag<'_>) -> bool {
        let name = tag.value("name");
        let is_ours = ["robots", "pharos"].iter().any(|known| name.trim().eq_ignore_ascii_case(known));
        if is_ours && self.robots.len() < MAX_DIRECTIVES {
            self.robots.push(collapse_whitespace(&tag.value("content"), MAX_CHARS));
        }
        is_ours
    }

    /// Records the link of a tag. Returns its index, if the tag is a link.
    fn record_link(&mut self, tag: &RawTag<'_>, name: &TagName) -> Option<usize> {
        if self.links.len() > 2 * MAX_LINKS {
            return None;
        }
        let found = link_target(name.as_str(), &|attribute| tag.attribute(attribute));
        let (address, kind) = found.filter(|(_, kind)| *kind != LinkKind::Resource)?;
        let named_by = match name.as_str() {
            "area" => "alt",
            "frame" | "iframe" => "title",
            _ => "",
        };
        self.links.push(RawLink {
            address: address.into_owned(),
            anchor: collapse_whitespace(&tag.value(named_by), MAX_ANCHOR_CHARS),
            kind,
            rel: collapse_whitespace(&tag.value("rel"), MAX_ANCHOR_CHARS).to_lowercase(),
        });
        Some(self.links.len() - 1)
    }

    fn end_link(&mut self) {
        let Some(OpenLink { index, from, fallback }) = self.open_link.take() else { return };
        let words = self.text.get(from..).unwrap_or_default();
        self.link_bytes += words.len();
        let words = if words.trim().is_empty() { &fallback } else { words };
        self.links[index].anchor = collapse_whitespace(words, MAX_ANCHOR_CHARS);
    }
}

/// The lower-case name of an element; all relevant names are short.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TagName {
    bytes: [u8; 8],
    length: usize,
}

impl TagName {
    fn from_tag(tag: &RawTag<'_>) -> Self {
        let mut bytes = [0; 8];
        let name = tag.name.as_bytes();
        let length = if name.len() > bytes.len() { 0 } else { name.len() };
        bytes[..length].copy_from_slice(&name[..length]);
        bytes.make_ascii_lowercase();
        Self { bytes, length }
    }

    fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// Returns `true` if the contents are not visible as text.
    fn is_invisible(&self) -> bool {
        let unseen = ["select", "datalist", "template", "svg", "object", "canvas", "audio", "video"];
        unseen.contains(&self.as_str())
    }

    /// Returns `true` if the element does not separate words.
    fn is_inline(&self) -> bool {
        matches!(
            self.as_str(),
            "a" | "abbr"
                | "b"
                | "bdi"
                | "bdo"
                | "big"
                | "cite"
                | "code"
                | "del"
                | "dfn"
                | "em"
                | "font"
                | "i"
                | "ins"
                | "kbd"
                | "mark"
                | "q"
                | "s"
                | "samp"
                | "small"
                | "span"
                | "strike"
                | "strong"
                | "sub"
                | "sup"
                | "tt"
                | "u"
                | "var"
                | "wbr"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract_page;

    fn skimmed(html: &str) -> PageObject {
        let mut page = PageObject::default();
        skim(&mut page, &PageUrl::parse("http://example.org/dir/page.html").unwrap(), html);
        page
    }

    #[test]
    fn title_text_links_and_directives_are_read() {
        let page = skimmed(
            "<base href=/other/><title>A &amp; B</title><meta name=ROBOTS content=noarchive>\
             <p>One<b>word</b> and<br>lines &copy;<script>no</script><select><option>no</select>\
             <a href='x?a&amp;b' rel='NoFollow'>the  <i>next</i></a><a href=y><img alt=picture></a>\
             <a href='#here'>here</a><a href='mailto:a@b.example'>mail</a><iframe src=z title=Z></iframe>",
        );
        assert_eq!((page.title.as_str(), page.robots.as_str()), ("A & B", "noarchive"));
        assert_eq!(page.text, "Oneword and lines © the next heremail");
        let links: Vec<_> =
            page.links.iter().map(|l| (l.url.as_str(), l.anchor.as_str(), l.rel.as_str())).collect();
        assert_eq!(
            links,
            [
                ("http://example.org/other/x?a&b", "the next", "nofollow"),
                ("http://example.org/other/y", "picture", ""),
                ("http://example.org/other/z", "Z", ""),
            ]
        );
    }

    /// The tokenizer finds the same links as the tree.
    #[test]
    fn the_same_links_as_by_the_tree() {
        let html = "<html><head><link rel=alternate type=application/rss+xml href=feed><meta http-equiv=refresh \
                    content='1; url=next'></head><body><table><tr><td><a href=1>one<td><a href=2>two</table>\
                    <map><area href=3 alt=three></map><div><a href='4'><b>fo</b>ur</div><p><a href=5 title=five>\
                    </a><a name=x>x</a><frameset><frame src=6></frameset><!-- <a href=no> --><a href=7>sev&#101;n";
        let url = PageUrl::parse("http://example.org/").unwrap();
        let close = extract_page(&url, Some("text/html"), html.as_bytes());
        let mut passing = PageObject::default();
        skim(&mut passing, &url, html);
        // By the rules of the tree, a frameset after a body is ignored.
        passing.links.retain(|link| link.kind != LinkKind::Frame);
        assert_eq!(passing.links, close.links);
    }

    #[test]
    fn hubs_are_distinguished_from_topic_pages() {
        let hub: String = (0..40).map(|i| format!("<li><a href={i}>headline number {i}</a>")).collect();
        assert_eq!(skimmed(&format!("<p>News of today<ul>{hub}")).page_type, PageType::Hub);
        assert_eq!(skimmed("<p>Words and words. <a href=x>x</a>").page_type, PageType::Topic);
    }

    proptest::proptest! {
        #[test]
        fn any_soup_is_skimmed(soup in "(<(/?)(p|a|a href=x|svg|select|base href=//b|title|meta name=robots content=x|iframe src=y)>|text |<!--|-->|&amp;|&#0;|é|\0){0,40}") {
            skimmed(&soup);
        }
    }
}
