//! The page object: what is left of a page once it has been understood.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::PageUrl;

/// A cleaned and understood page; what is indexed, shown, compared and classified.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PageObject {
    /// The page's normalised address.
    pub url: String,
    /// The `<title>`.
    pub title: String,
    /// The heading of the content itself, often better than the title.
    pub content_title: String,
    /// Words that stand for the page: those the author declared, or else the weightiest.
    pub keywords: Vec<String>,
    /// A short description: declared, or the weightiest sentences, or the beginning of the text.
    #[serde(rename = "abstract")]
    pub summary: String,
    /// The cleaned text (正文), paragraphs separated by line feeds: what is indexed. A page that was only skimmed has
    /// all of its visible text here.
    pub text: String,
    /// The cleaned content as HTML; empty unless asked for.
    pub html: String,
    /// Every link, in the order of the page.
    pub links: Vec<Link>,
    /// Links to pages on the same subject (相关链接): those of the body, and of link blocks that are about the same.
    pub related_links: Vec<Link>,
    /// What kind of page it is.
    #[serde(rename = "type")]
    pub page_type: PageType,
    /// ISO 639-1 language code, or empty where it cannot be told.
    pub lang: String,
    /// The charset that the bytes were read with.
    pub charset: String,
    /// When the author says it was published, ISO 8601.
    pub published: Option<String>,
    /// When the author says it was last changed, ISO 8601.
    pub modified: Option<String>,
    /// Who wrote it.
    pub author: String,
    /// The name of the site, in its own words.
    pub site_name: String,
    /// Address of the picture that stands for the page.
    pub image: String,
    /// The address the page itself calls the right one.
    pub canonical: Option<String>,
    /// Directives for robots, as found: `noindex, nofollow`.
    pub robots: String,
    /// Subject class.
    pub category: String,
    /// The blocks the page is made of, with what each is for; empty unless asked for.
    pub blocks: Vec<serde_json::Value>,
    /// The page in other languages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternates: Vec<Alternate>,
    /// Addresses of the feeds that the page names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<String>,
    /// The headings, in the order of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// What the author emphasised by bold, italic or other type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub emphasised: Vec<String>,
    /// The words that matter most in the page, the weightiest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<WeightedTerm>,
    /// A fingerprint of the layout, of which few bits differ between pages of one template; 0 where there is none.
    #[serde(skip_serializing_if = "is_zero")]
    pub layout: u32,
    /// What kind of file it is, by the usual ending of its name: `html`, `pdf`, `docx`; empty where nobody can tell.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub format: String,
    /// The parts of the text, in bytes and in their order, that must not be quoted (`data-nosnippet`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unquotable: Vec<Range<usize>>,
    /// Why there is no text, where the document could not be read: `no reader for image/png`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl PageObject {
    /// Does the page ask not to be indexed?
    pub fn no_index(&self) -> bool {
        self.has_directive("noindex")
    }

    /// Does the page ask that its links are not followed?
    pub fn no_follow(&self) -> bool {
        self.has_directive("nofollow")
    }

    /// Does the page ask that no copy of it is shown?
    pub fn no_archive(&self) -> bool {
        self.has_directive("noarchive")
    }

    fn has_directive(&self, name: &str) -> bool {
        self.robots
            .split(|c: char| c == ',' || c == ';' || c.is_whitespace())
            .any(|d| d.eq_ignore_ascii_case(name) || d.eq_ignore_ascii_case("none"))
    }

    /// The links a crawler follows: search links, not archive links, none that say `nofollow`.
    pub fn followed_links(&self) -> impl Iterator<Item = &Link> {
        let follow = !self.no_follow();
        self.links.iter().filter(move |l| follow && l.kind != LinkKind::Resource && !l.is_nofollow())
    }
}

/// The same page in another language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternate {
    /// The language tag as given, lower case: `zh-hant`, `x-default`.
    pub lang: String,
    /// Its address.
    pub url: String,
}

/// A word of a page with its importance there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightedTerm {
    /// The word, normalised as in the index.
    pub term: String,
    /// Between 0 and 1; the squares of all words of a page add up to 1.
    pub weight: f32,
}

/// What kind of page it is (网页类型).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageType {
    /// A page about something: prose (主题型网页).
    #[default]
    Topic,
    /// A page that leads elsewhere: mostly links (Hub 型网页).
    Hub,
    /// A page that shows pictures (图片型网页).
    Picture,
}

/// A link out of a page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Where it leads.
    pub url: PageUrl,
    /// The words one clicks on (锚文本).
    pub anchor: String,
    /// What kind of link.
    pub kind: LinkKind,
    /// The `rel` attribute, lower case.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rel: String,
}

impl Link {
    /// Does the author not vouch for it?
    pub fn is_nofollow(&self) -> bool {
        self.rel.split_ascii_whitespace().any(|r| matches!(r, "nofollow" | "ugc" | "sponsored"))
    }
}

/// What kind of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// An ordinary link that a reader follows.
    Page,
    /// A frame or inline frame: part of what the reader sees.
    Frame,
    /// A picture, style or script: needed to show the page, not to search it.
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
