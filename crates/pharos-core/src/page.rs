//! The page object: content and metadata extracted from one page version.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::PageUrl;

/// Content and metadata extracted from a page. It is the input of indexing, display, duplicate detection and
/// classification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageObject {
    /// Normalised URL.
    pub url: String,
    /// Text of the `<title>` element.
    pub title: String,
    /// Heading of the main content, often more specific than the title.
    pub content_title: String,
    /// Keywords declared by the author, or else the terms with the highest weight.
    pub keywords: Vec<String>,
    /// Declared description, or the sentences with the highest weight, or the beginning of the text.
    #[serde(rename = "abstract")]
    pub summary: String,
    /// Cleaned text (正文) for indexing, with paragraphs separated by line feeds. For a page that was only skimmed, all
    /// of its visible text.
    pub text: String,
    /// All other visible text: menus, captions, comments, code and whatever cleaning removes from the text. It is
    /// searchable, and no part of summaries and of duplicate detection by similarity.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub other: String,
    /// Cleaned content as HTML; empty unless requested.
    pub html: String,
    /// All links, in page order.
    pub links: Vec<Link>,
    /// Links to pages on the same subject (相关链接), from the main content and from link blocks on that subject.
    pub related_links: Vec<Link>,
    #[serde(rename = "type")]
    pub page_type: PageType,
    /// ISO 639-1 language code; empty if unknown.
    pub lang: String,
    /// Charset used to decode the bytes.
    pub charset: String,
    /// Publication date declared by the author, ISO 8601.
    pub published: Option<String>,
    /// Modification date declared by the author, ISO 8601.
    pub modified: Option<String>,
    pub author: String,
    /// Name of the site as declared by the page.
    pub site_name: String,
    /// URL of the representative image.
    pub image: String,
    /// Canonical URL declared by the page.
    pub canonical: Option<String>,
    /// Robots directives as found: `noindex, nofollow`.
    pub robots: String,
    /// Subject class.
    pub category: String,
    /// Content blocks with their roles; empty unless requested.
    pub blocks: Vec<serde_json::Value>,
    /// Names of the places above the page within its site, from the top, as declared by the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub breadcrumbs: Vec<String>,
    /// The page in other languages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternates: Vec<AlternateLanguage>,
    /// URLs of the feeds that the page declares.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<String>,
    /// Headings, in page order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Text emphasised by bold, italic or other type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub emphasised: Vec<String>,
    /// Terms with the highest weight, in descending order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<WeightedTerm>,
    /// Fingerprint of the layout; pages of one template differ in few bits. 0 if there is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub layout: u32,
    /// File type by its usual extension: `html`, `pdf`, `docx`; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub format: String,
    /// Byte ranges of the text that must not appear in snippets (`data-nosnippet`), in ascending order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unquotable: Vec<Range<usize>>,
    /// Byte ranges of the other text that must not appear in snippets, in ascending order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unquotable_other: Vec<Range<usize>>,
    /// Reason why the document has no text, if it could not be read: `no reader for image/png`.
    #[serde(rename = "unread", skip_serializing_if = "Option::is_none")]
    pub unread_reason: Option<String>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl PageObject {
    /// Returns `true` if the page has the robots directive `noindex`.
    pub fn no_index(&self) -> bool {
        self.has_directive("noindex")
    }

    /// Returns `true` if the page has the robots directive `nofollow`.
    pub fn no_follow(&self) -> bool {
        self.has_directive("nofollow")
    }

    /// Returns `true` if the page has the robots directive `noarchive`, which forbids showing a cached page.
    pub fn no_archive(&self) -> bool {
        self.has_directive("noarchive")
    }

    fn has_directive(&self, name: &str) -> bool {
        self.robots
            .split(|c: char| c == ',' || c == ';' || c.is_whitespace())
            .any(|d| d.eq_ignore_ascii_case(name) || d.eq_ignore_ascii_case("none"))
    }

    /// Returns the links a crawler follows: no embedded resources and no `nofollow` links.
    pub fn followed_links(&self) -> impl Iterator<Item = &Link> {
        let follow = !self.no_follow();
        self.links.iter().filter(move |l| follow && l.kind != LinkKind::Resource && !l.is_nofollow())
    }
}

/// Another language version of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlternateLanguage {
    /// Declared language tag in lower case: `zh-hant`, `x-default`.
    pub lang: String,
    pub url: String,
}

/// A term of a page with its weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightedTerm {
    /// Term, normalised as in the index.
    pub term: String,
    /// Weight between 0 and 1; the squared weights of all terms of a page sum to 1.
    pub weight: f32,
}

/// Page type (网页类型).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageType {
    /// A page of prose on one subject (主题型网页).
    #[default]
    Topic,
    /// A page that consists mostly of links (Hub 型网页).
    Hub,
    /// A page that consists mostly of images (图片型网页).
    Picture,
}

/// An outgoing link of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Target of the link.
    pub url: PageUrl,
    /// Anchor text (锚文本).
    pub anchor: String,
    pub kind: LinkKind,
    /// The `rel` attribute, in lower case.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rel: String,
}

impl Link {
    /// Returns `true` if the author does not endorse the target: `nofollow`, `ugc` or `sponsored`.
    pub fn is_nofollow(&self) -> bool {
        self.rel.split_ascii_whitespace().any(|r| matches!(r, "nofollow" | "ugc" | "sponsored"))
    }
}

/// The kind of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// An ordinary hyperlink.
    Page,
    /// A frame or inline frame, displayed as part of the page.
    Frame,
    /// An image, style sheet or script: needed to render the page, not to search it.
    Resource,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_words_not_substrings() {
        let page = |robots: &str| PageObject { robots: robots.into(), ..Default::default() };
        assert!(page("NOINDEX, follow").no_index());
        assert!(!page("NOINDEX, follow").no_follow());
        assert!(page("noindex nofollow").no_follow() && page("index;NOINDEX").no_index());
        assert!(page("none").no_index() && page("none").no_follow());
        assert!(!page("index-noindexer").no_index());
    }

    #[test]
    fn json_uses_the_documented_names() {
        let json = serde_json::to_value(PageObject { summary: "s".into(), ..Default::default() }).unwrap();
        assert_eq!(json["abstract"], "s");
        assert_eq!(json["type"], "topic");
    }
}
