//! Metadata of a page: title, author, dates, description and robots directives.
//!
//! One walk over the elements collects the declarations ([`DeclaredMetadata`]): `<meta>`, `<link>`, `<time>`, JSON-LD. If a
//! declaration is missing, or the declared title is that of the site, the visible lines are searched.
//!
//! ```text
//! elements ─▶ Declared ─┬─▶ title      the page title and the heading of its content
//!             json_ld   ├─▶ published  dates, chosen among candidates
//! lines ────────────────┴─▶ author
//! ```

mod author;
mod breadcrumbs;
mod date;
mod json_ld;
pub(crate) mod nosnippet;
mod published;
pub(crate) mod robots_tag;
mod title;
mod visible_lines;

pub(crate) use date::iso_date;
pub(crate) use title::is_page_title;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use pharos_core::{AlternateLanguage, PageObject, PageUrl};
use url::Url;

use crate::dom::visible_text::{collapse_whitespace, text_inside};
use crate::dom::{Dom, Element, NodeData, NodeId, WalkStep};
use crate::links::has_rel;
use published::{DateCandidates, DateTrust};
use title::TitleClues;

/// Maximum length of a title, name or description.
pub(crate) const MAX_CHARS: usize = 500;

/// Maximum number of declared keywords; longer lists are not meaningful.
const MAX_KEYWORDS: usize = 50;

/// Maximum number of robots declarations read. All of them count, so their number is limited.
pub(crate) const MAX_DIRECTIVES: usize = 10;

/// Maximum number of translations of a page, and of feeds that a page names.
const MAX_ALTERNATES: usize = 100;

/// Maximum number of elements whose text is read for metadata.
const MAX_TEXTS_READ: usize = 1_000;

/// Maximum number of main headings compared with the title.
const MAX_HEADINGS: usize = 8;

/// Maximum number of scripts that may hold JSON-LD.
const MAX_SCRIPTS: usize = 20;

/// Fills the metadata of `page`; the first declaration of each kind wins.
pub(crate) fn fill(page: &mut PageObject, dom: &Dom, base: &Url) {
    fill_as_of(page, dom, base, jiff::Timestamp::now().to_zoned(TimeZone::UTC).date());
}

/// Fills the metadata as of a given day; dates after it cannot be publication dates.
fn fill_as_of(page: &mut PageObject, dom: &Dom, base: &Url, today: Date) {
    let mut declared = DeclaredMetadata::default();
    for (id, element) in dom.elements(dom.root()) {
        declared.element(page, dom, id, element, base);
    }
    let DeclaredMetadata { mut dates, robots, mut clues, scripts, .. } = declared;
    let described = json_ld::read(&scripts);
    page.robots = robots.join(", ");
    if page.breadcrumbs.is_empty() {
        page.breadcrumbs = described.breadcrumbs;
    }
    if let Some(text) = &described.published {
        dates.published(DateTrust::JsonLd, text);
    }
    if let Some(text) = &described.modified {
        dates.modified(DateTrust::JsonLd, text);
    }
    // `<meta>` wins over JSON-LD because people see it when a page is shared.
    let shortened =
        |text: Option<String>| text.map(|text| collapse_whitespace(&text, MAX_CHARS)).unwrap_or_default();
    set_if_empty(&mut page.author, || {
        described.author.as_deref().map(author::clean_name).unwrap_or_default()
    });
    set_if_empty(&mut page.site_name, || shortened(described.site_name));
    set_if_empty(&mut page.summary, || shortened(described.summary));
    set_if_empty(&mut page.image, || {
        described.image.and_then(|image| absolute(base, &image)).unwrap_or_default()
    });
    if page.keywords.is_empty() {
        page.keywords = keywords(&described.keywords.unwrap_or_default());
    }
    clues.title.clone_from(&page.title);
    clues.site_name.clone_from(&page.site_name);
    clues.declared.extend(described.headline);

    let lines = visible_lines::visible_lines(dom);
    let (content_title, heading_at) = title::content_title(&clues, &lines, MAX_CHARS);
    page.content_title = content_title;
    if title::is_meaningless(&page.title) {
        page.title.clone_from(&page.content_title);
    }
    page.author =
        author::labelled_author(&lines, heading_at).unwrap_or_else(|| std::mem::take(&mut page.author));
    set_if_empty(&mut page.author, || author::visible_author(&lines, heading_at));
    (page.published, page.modified) = dates.choose(&page.url, &lines, heading_at, today);
}

/// Declarations of the page's elements, besides those stored in the page object directly.
#[derive(Default)]
struct DeclaredMetadata {
    dates: DateCandidates,
    robots: Vec<String>,
    clues: TitleClues,
    /// JSON-LD, parsed after all elements have been visited.
    scripts: Vec<String>,
    /// Number of elements whose text has been read.
    read: usize,
}

impl DeclaredMetadata {
    /// Counts an element whose text is read. Nested elements must not have the same text read repeatedly.
    fn may_read_text(&mut self) -> bool {
        self.read += 1;
        self.read <= MAX_TEXTS_READ
    }

    fn element(&mut self, page: &mut PageObject, dom: &Dom, id: NodeId, element: &Element, base: &Url) {
        match element.tag() {
            "title" => set_if_empty(&mut page.title, || raw_text(dom, id)),
            "h1" if self.may_read_text() && self.clues.headings.len() < MAX_HEADINGS => {
                let heading = text_inside(dom, id, MAX_CHARS);
                self.clues.headings.extend((!heading.is_empty()).then_some(heading));
            }
            "html" => set_if_empty(&mut page.lang, || {
                primary_language(element.attribute("lang").unwrap_or_default())
            }),
            "link" => link(page, element, base),
            "meta" => self.meta(page, element, base),
            "script" if self.scripts.len() < MAX_SCRIPTS && is_json_ld(element) => {
                self.scripts.extend(script(dom, id));
            }
            "time" => self.time(element),
            _ => {}
        }
        if page.breadcrumbs.is_empty() && element.attribute("itemtype").is_some() && self.may_read_text() {
            page.breadcrumbs = breadcrumbs::from_microdata(dom, id, element);
        }
        if let Some(property) = element.attribute("itemprop")
            && element.tag() != "meta"
            && self.may_read_text()
        {
            self.property(page, dom, id, element, property);
        }
    }

    fn meta(&mut self, page: &mut PageObject, element: &Element, base: &Url) {
        let Some(content) = element.attribute("content") else { return };
        for naming in ["name", "property", "itemprop", "http-equiv"] {
            let Some(name) = element.attribute(naming) else { continue };
            let value = || collapse_whitespace(content, MAX_CHARS);
            match name.trim().to_ascii_lowercase().as_str() {
                // Directives for Pharos and for all robots are both kept, since the stricter one applies.
                "robots" | "pharos" if naming == "name" && self.robots.len() < MAX_DIRECTIVES => {
                    self.robots.push(value());
                }
                "keywords" | "news_keywords" if page.keywords.is_empty() => page.keywords = keywords(content),
                "description" | "og:description" | "dc.description" | "twitter:description" => {
                    set_if_empty(&mut page.summary, value);
                }
                "og:title" | "twitter:title" | "dc.title" | "headline"
                    if self.clues.declared.len() < MAX_HEADINGS =>
                {
                    self.clues.declared.push(value());
                }
                "author" | "article:author" | "dc.creator" | "dcterms.creator" | "byl" | "parsely-author"
                | "sailthru.author" => set_if_empty(&mut page.author, || author::clean_name(content)),
                // There is one declaration per author, so all count.
                "citation_author" => {
                    let name = author::clean_name(content);
                    if !name.is_empty() && page.author.len() + name.len() < MAX_CHARS {
                        let separator = if page.author.is_empty() { "" } else { ", " };
                        page.author.push_str(&format!("{separator}{name}"));
                    }
                }
                "og:site_name" | "application-name" => set_if_empty(&mut page.site_name, value),
                "og:image" | "og:image:url" | "twitter:image" | "twitter:image:src" => {
                    set_if_empty(&mut page.image, || absolute(base, content).unwrap_or_default());
                }
                "content-language" | "og:locale" => {
                    set_if_empty(&mut page.lang, || primary_language(content))
                }
                name => self.meta_date(name, content),
            }
        }
    }

    fn meta_date(&mut self, name: &str, content: &str) {
        match name {
            "article:published_time"
            | "article:published"
            | "datepublished"
            | "dc.date.issued"
            | "dc.date.created"
            | "dcterms.issued"
            | "dcterms.created"
            | "dcterms.date"
            | "pubdate"
            | "publishdate"
            | "publish-date"
            | "publish_date"
            | "publication_date"
            | "citation_publication_date"
            | "citation_date"
            | "citation_online_date"
            | "og:published_time"
            | "og:article:published_time"
            | "parsely-pub-date"
            | "sailthru.date"
            | "bt:pubdate"
            | "rnews:datepublished"
            | "originalpublicationdate"
            | "article_date_original"
            | "cxenseparse:recs:publishtime"
            | "cxenseparse:publishtime"
            | "datecreated"
            | "weibo: article:create_at" => self.dates.published(DateTrust::Named, content),
            "date" | "dc.date" | "article.created" | "created" | "displaydate" | "release_date" => {
                self.dates.published(DateTrust::Unclear, content);
            }
            "article:modified_time"
            | "datemodified"
            | "og:updated_time"
            | "last-modified"
            | "dcterms.modified"
            | "dc.date.modified"
            | "lastmod"
            | "revised"
            | "weibo: article:update_at" => self.dates.modified(DateTrust::Named, content),
            _ => {}
        }
    }

    fn time(&mut self, element: &Element) {
        let Some(datetime) = element.attribute("datetime") else { return };
        let class = element.attribute("class").unwrap_or_default();
        let has_class = |names: [&str; 2]| class.split_ascii_whitespace().any(|word| names.contains(&word));
        if element.attribute("pubdate").is_some() || has_class(["published", "dt-published"]) {
            self.dates.published(DateTrust::Microdata, datetime);
        } else if has_class(["updated", "dt-updated"]) {
            self.dates.modified(DateTrust::Microdata, datetime);
        }
    }

    /// Reads microdata in the body: `<span itemprop=datePublished content=…>`.
    fn property(&mut self, page: &mut PageObject, dom: &Dom, id: NodeId, element: &Element, property: &str) {
        let value = || {
            let given = element.attribute("datetime").or_else(|| element.attribute("content"));
            given.map_or_else(|| text_inside(dom, id, MAX_CHARS), str::to_string)
        };
        match property.trim().to_ascii_lowercase().as_str() {
            "datepublished" | "datecreated" => self.dates.published(DateTrust::Microdata, &value()),
            "datemodified" => self.dates.modified(DateTrust::Microdata, &value()),
            "author" | "creator" => set_if_empty(&mut page.author, || {
                author::clean_name(&self::name(dom, id).unwrap_or_else(value))
            }),
            _ => {}
        }
    }
}

fn link(page: &mut PageObject, element: &Element, base: &Url) {
    let address = || element.attribute("href").and_then(|href| absolute(base, href));
    if has_rel(element, "canonical") && page.canonical.is_none() {
        page.canonical = address();
    }
    if has_rel(element, "image_src") {
        set_if_empty(&mut page.image, || address().unwrap_or_default());
    }
    if !has_rel(element, "alternate") {
        return;
    }
    if let Some(lang) = element.attribute("hreflang")
        && page.alternates.len() < MAX_ALTERNATES
        && let Some(url) = address()
    {
        page.alternates
            .push(AlternateLanguage { lang: collapse_whitespace(lang, MAX_CHARS).to_ascii_lowercase(), url });
    } else if element.attribute("type").is_some_and(is_feed_type)
        && page.feeds.len() < MAX_ALTERNATES
        && let Some(url) = address()
    {
        page.feeds.push(url);
    }
}

/// Returns `true` for the media type of a news feed.
pub(crate) fn is_feed_type(media_type: &str) -> bool {
    ["application/rss+xml", "application/atom+xml", "application/feed+json"]
        .iter()
        .any(|feed| media_type.trim().eq_ignore_ascii_case(feed))
}

/// Returns the `itemprop=name` inside the description of a person.
fn name(dom: &Dom, id: NodeId) -> Option<String> {
    /// Names come near the beginning.
    const MAX_ELEMENTS: usize = 30;
    let is_name =
        |element: &Element| element.attribute("itemprop").is_some_and(|p| p.eq_ignore_ascii_case("name"));
    let (id, element) = dom.elements(id).take(MAX_ELEMENTS).find(|(_, element)| is_name(element))?;
    Some(element.attribute("content").map_or_else(|| text_inside(dom, id, MAX_CHARS), str::to_string))
}

fn is_json_ld(element: &Element) -> bool {
    let kind = element.attribute("type").unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/ld+json")
}

fn script(dom: &Dom, id: NodeId) -> Option<String> {
    dom.walk(id).find_map(|step| match step {
        WalkStep::Enter(id) => match dom.data(id) {
            NodeData::Text(text) => Some(text.to_string()),
            _ => None,
        },
        WalkStep::Leave(_) => None,
    })
}

fn set_if_empty(field: &mut String, value: impl FnOnce() -> String) {
    if field.is_empty() {
        *field = value();
    }
}

fn absolute(base: &Url, reference: &str) -> Option<String> {
    PageUrl::join_to(base, reference).ok().map(|url| url.as_str().to_string())
}

/// Returns the text of a `<title>`, which lies in the invisible head.
fn raw_text(dom: &Dom, id: NodeId) -> String {
    let texts = dom.walk(id).filter_map(|step| match step {
        WalkStep::Enter(id) => match dom.data(id) {
            NodeData::Text(text) => Some(&**text),
            _ => None,
        },
        WalkStep::Leave(_) => None,
    });
    collapse_whitespace(&texts.collect::<String>(), MAX_CHARS)
}

/// Returns `zh` for `zh-Hant-TW`.
fn primary_language(tag: &str) -> String {
    let primary = tag.trim().split(['-', '_']).next().unwrap_or_default();
    let is_code = primary.len() == 2 && primary.bytes().all(|b| b.is_ascii_alphabetic());
    if is_code { primary.to_ascii_lowercase() } else { String::new() }
}

fn keywords(content: &str) -> Vec<String> {
    content
        .split([',', ';', '|', '，', '、', '；'])
        .map(|word| collapse_whitespace(word, MAX_CHARS))
        .filter(|word| !word.is_empty())
        .take(MAX_KEYWORDS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(html: &str) -> PageObject {
        let mut page = PageObject::default();
        let base = Url::parse("http://example.org/a/").unwrap();
        fill_as_of(&mut page, &Dom::parse(html), &base, jiff::civil::date(2026, 6, 1));
        page
    }

    #[test]
    fn declarations_are_read() {
        let page = filled(
            "<html lang=zh-CN><title> The\n title </title><meta name=Keywords content='a, b，c;;d'>\
             <meta name=description content=' about  it '><meta property=og:description content=second>\
             <meta name=author content=Ann><meta property=og:site_name content=Site><meta property=og:image content=/i.png>\
             <meta name=robots content=NOINDEX><meta name=pharos content='noarchive'><link rel=canonical href=../c>\
             <meta property=article:published_time content='2026-01-31T08:00:00+0800'><h1>Head<br>ing</h1><h1>2</h1>",
        );
        assert_eq!(page.title, "The title");
        assert_eq!(page.content_title, "Head ing");
        assert_eq!(page.keywords, ["a", "b", "c", "d"]);
        assert_eq!(
            (page.summary.as_str(), page.author.as_str(), page.site_name.as_str()),
            ("about it", "Ann", "Site")
        );
        assert_eq!(page.image, "http://example.org/i.png");
        assert_eq!(page.canonical.as_deref(), Some("http://example.org/c"));
        assert!(page.no_index() && page.no_archive() && !page.no_follow());
        assert_eq!(page.published.as_deref(), Some("2026-01-31T08:00:00+08:00"));
        assert_eq!(page.lang, "zh");
    }

    #[test]
    fn other_forms_of_the_page_are_named() {
        let page = filled(
            "<link rel=alternate hreflang=zh-Hant href=/tw><link rel=alternate type=application/atom+xml href=/feed>\
             <link rel='alternate stylesheet' href=/s.css><link rel=image_src href=/i.png><meta property=og:locale content=de_AT>",
        );
        assert_eq!(
            page.alternates,
            [AlternateLanguage { lang: "zh-hant".into(), url: "http://example.org/tw".into() }]
        );
        assert_eq!(page.feeds, ["http://example.org/feed"]);
        assert_eq!((page.image.as_str(), page.lang.as_str()), ("http://example.org/i.png", "de"));
    }

    #[test]
    fn scripts_and_attributes_describe_the_page() {
        let page = filled(
            r#"<script type="application/ld+json">{"@type":"NewsArticle","headline":"The lamp is lit",
               "datePublished":"2024-05-06T07:08:09Z","author":{"name":"Ann Lee"},"keywords":["lamp","rock"]}</script>
               <title>Pharos News</title><p>x"#,
        );
        assert_eq!((page.content_title.as_str(), page.author.as_str()), ("The lamp is lit", "Ann Lee"));
        assert_eq!(page.published.as_deref(), Some("2024-05-06T07:08:09Z"));
        assert_eq!(page.keywords, ["lamp", "rock"]);
        let page = filled(
            "<div itemprop=author><span itemprop=name>Ann</span> 5 posts</div><span itemprop=datePublished content=2024-05-06>",
        );
        assert_eq!((page.author.as_str(), page.published.as_deref()), ("Ann", Some("2024-05-06")));
    }

    #[test]
    fn time_elements_replace_missing_declarations() {
        let page = filled(
            "<time datetime=2025-02-03>x</time><time itemprop=dateModified datetime='2026-01-01 10:30'>",
        );
        assert_eq!(page.published.as_deref(), Some("2025-02-03"));
        assert_eq!(page.modified.as_deref(), Some("2026-01-01T10:30:00"));
        let page = filled("<time datetime=2025-02-03>x</time><time pubdate datetime='2024-05-06'>");
        assert_eq!(page.published.as_deref(), Some("2024-05-06"));
    }

    #[test]
    fn an_svg_title_is_not_the_pages() {
        assert_eq!(filled("<svg><title>icon</title></svg>").title, "");
    }
}
