//! Fast extraction of links and text from the tags alone.
//!
//! Building a tree is half the work of a full extraction. The crawler does not need it: links do not depend on how
//! elements nest, and texts can be compared without cleaning.

use std::borrow::Cow;

use pharos_core::{Link, LinkKind, PageObject, PageType, PageUrl};
use url::Url;

use crate::links::{MAX_ANCHOR_CHARS, MAX_LINKS, address, web_base};
use crate::metadata::{MAX_CHARS, MAX_DIRECTIVES};
use crate::tags::{Piece, Pieces, Tag};
use crate::text::collapse;

/// Minimum length of the linked text of a hub.
const HUB_LINK_CHARS: usize = 100;

/// Fills the fields that the crawler needs: title, text, links to follow, directives and page type.
pub(crate) fn skim(page: &mut PageObject, url: &PageUrl, html: &str) {
    let mut skimmer = Skimmer::default();
    for piece in Pieces::of(html) {
        match piece {
            Piece::Text(text) => skimmer.text(text),
            Piece::Start(tag) => skimmer.start(&tag),
            Piece::Raw(text) => skimmer.raw(text),
            Piece::End(tag) => skimmer.end(&tag),
        }
    }
    skimmer.end_link();
    let base = web_base(url, skimmer.base.as_deref());
    page.links = skimmer.leads.into_iter().filter_map(|lead| lead.link(&base)).take(MAX_LINKS).collect();
    page.robots = skimmer.robots.join(", ");
    page.title = skimmer.title.unwrap_or_default();
    let prose = skimmer.text.len() - skimmer.link_bytes;
    let is_hub = skimmer.link_bytes > prose.max(HUB_LINK_CHARS);
    page.page_type = if is_hub { PageType::Hub } else { PageType::Topic };
    page.text = skimmer.text;
}

/// A link with its address as written.
struct Lead {
    address: String,
    anchor: String,
    kind: LinkKind,
    rel: String,
}

impl Lead {
    fn link(self, base: &Url) -> Option<Link> {
        let Lead { address, anchor, kind, rel } = self;
        // Mail addresses, scripts and other non-web addresses are dropped here.
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
    leads: Vec<Lead>,
    open_link: Option<OpenLink>,
    /// The outermost invisible element, and the number of open elements of that name.
    unseen: Option<(Name, usize)>,
}

struct OpenLink {
    /// Index in `leads`.
    lead: usize,
    /// Offset in the text at which the link begins.
    from: usize,
    /// Anchor used if the link has no text.
    instead: String,
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
            self.title.get_or_insert_with(|| collapse(&htmlize::unescape(text), MAX_CHARS));
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        let name = Name::of(tag);
        self.gap |= !name.is_inline();
        match name.as_str() {
            "a" => {
                self.end_link();
                if let Some(lead) = self.lead(tag, &name) {
                    let instead = tag.value("title").into_owned();
                    self.open_link = Some(OpenLink { lead, from: self.text.len(), instead });
                }
            }
            "img" => {
                if let Some(link) = &mut self.open_link
                    && let Some(alt) = tag.attribute("alt").filter(|alt| !alt.trim().is_empty())
                {
                    link.instead = alt.into_owned();
                }
            }
            "base" if self.base.is_none() => self.base = tag.attribute("href").map(Cow::into_owned),
            "title" => self.is_title = true,
            "meta" if self.directive(tag) => {}
            _ => {
                self.lead(tag, &name);
            }
        }
        if name.is_unseen() {
            match &mut self.unseen {
                None => self.unseen = Some((name, 1)),
                Some((outermost, open)) if *outermost == name => *open += 1,
                Some(_) => {}
            }
        }
    }

    fn end(&mut self, tag: &Tag<'_>) {
        let name = Name::of(tag);
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
    fn directive(&mut self, tag: &Tag<'_>) -> bool {
        let name = tag.value("name");
        let is_ours = ["robots", "pharos"].iter().any(|known| name.trim().eq_ignore_ascii_case(known));
        if is_ours && self.robots.len() < MAX_DIRECTIVES {
            self.robots.push(collapse(&tag.value("content"), MAX_CHARS));
        }
        is_ours
    }

    /// Records the link of a tag. Returns its index, if the tag is a link.
    fn lead(&mut self, tag: &Tag<'_>, name: &Name) -> Option<usize> {
        if self.leads.len() > 2 * MAX_LINKS {
            return None;
        }
        let found = address(name.as_str(), &|attribute| tag.attribute(attribute));
        let (address, kind) = found.filter(|(_, kind)| *kind != LinkKind::Resource)?;
        let named_by = match name.as_str() {
            "area" => "alt",
            "frame" | "iframe" => "title",
            _ => "",
        };
        self.leads.push(Lead {
            address: address.into_owned(),
            anchor: collapse(&tag.value(named_by), MAX_ANCHOR_CHARS),
            kind,
            rel: collapse(&tag.value("rel"), MAX_ANCHOR_CHARS).to_lowercase(),
        });
        Some(self.leads.len() - 1)
    }

    fn end_link(&mut self) {
        let Some(OpenLink { lead, from, instead }) = self.open_link.take() else { return };
        let words = self.text.get(from..).unwrap_or_default();
        self.link_bytes += words.len();
        let words = if words.trim().is_empty() { &instead } else { words };
        self.leads[lead].anchor = collapse(words, MAX_ANCHOR_CHARS);
    }
}

/// The lower-case name of an element; all relevant names are short.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Name {
    bytes: [u8; 8],
    length: usize,
}

impl Name {
    fn of(tag: &Tag<'_>) -> Self {
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
    fn is_unseen(&self) -> bool {
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
    use crate::understand;

    fn skimmed(html: &str) -> PageObject {
        let mut page = PageObject::default();
        skim(&mut page, &PageUrl::parse("http://example.org/dir/page.html").unwrap(), html);
        page
    }

    #[test]
    fn what_a_crawl_wants_to_know() {
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
        let close = understand(&url, Some("text/html"), html.as_bytes());
        let mut passing = PageObject::default();
        skim(&mut passing, &url, html);
        // By the rules of the tree, a frameset after a body is ignored.
        passing.links.retain(|link| link.kind != LinkKind::Frame);
        assert_eq!(passing.links, close.links);
    }

    #[test]
    fn hubs_are_told_from_prose() {
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
