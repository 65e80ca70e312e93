//! Streaming parser for sitemaps, RSS and Atom, without a tree.
//!
//! Only the predefined XML entities are resolved, and nothing is loaded, regardless of the document type.

use pharos_core::PageUrl;
use pharos_core::work::spend_work;
use quick_xml::Reader;
use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};
use url::Url;

use super::date::parse_feed_date;
use super::{Feed, FeedEntry, FeedKind, MAX_ENTRIES};
use crate::dom::visible_text::collapse_whitespace;

/// Maximum nesting depth; deeper documents are attacks.
const MAX_DEPTH: usize = 256;
/// Maximum length of an element's text in bytes.
const MAX_FIELD: usize = 4_096;
/// Maximum length of a title in characters.
const MAX_TITLE: usize = 300;

/// Parses a document; `None` if its root element is not that of a list.
pub(super) fn read(url: &PageUrl, text: &str) -> Option<Feed> {
    let mut reader = Reader::from_str(text);
    let settings = reader.config_mut();
    settings.check_end_names = false;
    settings.allow_unmatched_ends = true;
    settings.allow_dangling_amp = true;
    let mut parser = loop {
        match reader.read_event() {
            Ok(Event::Start(root)) => break FeedParser::below(&root, url)?,
            Ok(Event::Empty(root)) => return FeedParser::below(&root, url).map(FeedParser::end),
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => {}
        }
    };
    let mut depth = 1;
    let mut position = 0;
    // An error ends the list, because the text after it cannot be distinguished from markup.
    while let Ok(event) = reader.read_event() {
        spend_work(1 + reader.buffer_position() - position);
        position = reader.buffer_position();
        match event {
            Event::Start(element) => {
                depth += 1;
                parser.open(&element, depth);
            }
            Event::Empty(element) => {
                parser.open(&element, depth + 1);
                parser.close(depth + 1);
            }
            Event::End(_) => {
                parser.close(depth);
                depth = depth.saturating_sub(1);
            }
            Event::Text(text) => parser.text(&text.xml10_content()),
            Event::CData(text) => parser.text(&text.xml10_content()),
            Event::GeneralRef(entity) => parser.entity(&entity),
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
        if depth > MAX_DEPTH || parser.entries.len() >= MAX_ENTRIES {
            break;
        }
    }
    Some(parser.end())
}

/// State of the parser for one document.
struct FeedParser {
    kind: FeedKind,
    base: Url,
    entries: Vec<FeedEntry>,
    draft: Option<FeedEntryBuilder>,
    /// Field for which text is being collected.
    field: Option<FeedField>,
    collected: String,
}

/// An entry under construction.
#[derive(Default)]
struct FeedEntryBuilder {
    depth: usize,
    /// Namespace prefix of the entry; `<image:loc>` in a `<url>` is ignored.
    prefix: String,
    address: Option<String>,
    /// Used if there is no URL.
    other_address: Option<String>,
    title: String,
    modified: Option<String>,
    published: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum FeedField {
    Address,
    OtherAddress,
    Title,
    Modified,
    Published,
}

impl FeedParser {
    fn below(root: &BytesStart<'_>, url: &PageUrl) -> Option<Self> {
        let kind = match root.local_name().as_ref() {
            "urlset" => FeedKind::Sitemap,
            "sitemapindex" => FeedKind::SitemapIndex,
            "rss" | "RDF" => FeedKind::Rss,
            "feed" => FeedKind::Atom,
            _ => return None,
        };
        let given = attribute(root, "xml:base").and_then(|base| url.as_url().join(&base).ok());
        let base = given.unwrap_or_else(|| url.as_url().clone());
        Some(Self { kind, base, entries: Vec::new(), draft: None, field: None, collected: String::new() })
    }

    fn end(self) -> Feed {
        Feed { kind: self.kind, entries: self.entries }
    }

    fn open(&mut self, element: &BytesStart<'_>, depth: usize) {
        let prefix = element.name().prefix().map_or(String::new(), |prefix| prefix.as_ref().to_string());
        let name = element.local_name();
        match &mut self.draft {
            None if depth <= 3 && name.as_ref() == entry_name(self.kind) => {
                let other_address = attribute(element, "rdf:about");
                self.draft =
                    Some(FeedEntryBuilder { depth, prefix, other_address, ..FeedEntryBuilder::default() });
            }
            Some(draft) if depth == draft.depth + 1 => {
                let is_own = prefix == draft.prefix;
                self.field = field(self.kind, name.as_ref(), is_own);
                self.collected.clear();
                if self.field == Some(FeedField::OtherAddress)
                    && attribute(element, "isPermaLink").as_deref() == Some("false")
                {
                    self.field = None;
                }
                if self.kind == FeedKind::Atom && is_own && name.as_ref() == "link" {
                    let rel = attribute(element, "rel");
                    if rel.is_none_or(|rel| rel == "alternate") && draft.address.is_none() {
                        draft.address = attribute(element, "href");
                    }
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, depth: usize) {
        let Some(draft) = &mut self.draft else { return };
        if depth == draft.depth + 1 {
            if let Some(field) = self.field.take() {
                draft.fill(field, std::mem::take(&mut self.collected));
            }
        } else if depth <= draft.depth {
            self.entries.extend(self.draft.take().and_then(|draft| draft.entry(&self.base)));
            self.field = None;
        }
    }

    fn text(&mut self, text: &str) {
        if self.field.is_some() {
            let remaining = MAX_FIELD.saturating_sub(self.collected.len());
            self.collected.push_str(&text[..text.floor_char_boundary(remaining)]);
        }
    }

    /// Appends the character of a reference, or a space for entities that only a document type could define.
    fn entity(&mut self, entity: &BytesRef<'_>) {
        match entity.resolve_char_ref() {
            Ok(Some(character)) => self.text(character.encode_utf8(&mut [0; 4])),
            _ => self.text(resolve_xml_entity(&entity.xml10_content()).unwrap_or(" ")),
        }
    }
}

impl FeedEntryBuilder {
    /// Sets a field; the first value of each field wins.
    fn fill(&mut self, field: FeedField, text: String) {
        let slot = match field {
            FeedField::Title if self.title.is_empty() => {
                let plain = text.replace(|c: char| c.is_control() && !c.is_whitespace(), "");
                self.title = collapse_whitespace(&plain, MAX_TITLE).trim().to_string();
                return;
            }
            FeedField::Title => return,
            FeedField::Address => &mut self.address,
            FeedField::OtherAddress => &mut self.other_address,
            FeedField::Modified => &mut self.modified,
            FeedField::Published => &mut self.published,
        };
        if slot.is_none() && !text.trim().is_empty() {
            *slot = Some(text);
        }
    }

    fn entry(self, base: &Url) -> Option<FeedEntry> {
        let url = PageUrl::join_to(base, &self.address.or(self.other_address)?).ok()?;
        let modified = self.modified.or(self.published).and_then(|text| parse_feed_date(&text));
        Some(FeedEntry { url, title: self.title, modified })
    }
}

fn entry_name(kind: FeedKind) -> &'static str {
    match kind {
        FeedKind::Sitemap | FeedKind::TextSitemap => "url",
        FeedKind::SitemapIndex => "sitemap",
        FeedKind::Rss => "item",
        FeedKind::Atom => "entry",
    }
}

/// Returns the field of an element in an entry. `is_own` means that the element has the entry's prefix.
fn field(kind: FeedKind, name: &str, is_own: bool) -> Option<FeedField> {
    match (kind, name) {
        (FeedKind::Rss, "date") => Some(FeedField::Published),
        _ if !is_own => None,
        (FeedKind::Sitemap | FeedKind::SitemapIndex, "loc") => Some(FeedField::Address),
        (FeedKind::Sitemap | FeedKind::SitemapIndex, "lastmod") => Some(FeedField::Modified),
        (FeedKind::Rss, "link") => Some(FeedField::Address),
        (FeedKind::Rss, "guid") => Some(FeedField::OtherAddress),
        (FeedKind::Rss, "pubDate") => Some(FeedField::Published),
        (FeedKind::Atom, "updated") => Some(FeedField::Modified),
        (FeedKind::Atom, "published") => Some(FeedField::Published),
        (FeedKind::Rss | FeedKind::Atom, "title") => Some(FeedField::Title),
        _ => None,
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    spend_work(element.len() as u64);
    let found = element.attributes().with_checks(false).flatten().find(|a| a.key.as_ref() == name)?;
    let value = &found.value[..found.value.floor_char_boundary(MAX_FIELD)];
    Some(unescape(value).map_or_else(|_| value.to_string(), |plain| plain.into_owned()))
}
