//! What a page says about itself: title, description, dates, directives.

use pharos_core::{PageObject, PageUrl};
use url::Url;

use crate::dom::{Dom, Element, NodeData, NodeId, Step};
use crate::links::has_rel;
use crate::text::{collapse, text_inside};

/// No title, name or description that a person wrote is longer.
pub(crate) const MAX_CHARS: usize = 500;

/// Authors who declare more keywords than this do not mean them.
const MAX_KEYWORDS: usize = 50;

/// Declarations for robots that are read; all of them count, so there must be an end.
pub(crate) const MAX_DIRECTIVES: usize = 10;

/// Fills everything of `page` that the page's own declarations tell; the first declaration of each kind counts.
pub(crate) fn fill(page: &mut PageObject, dom: &Dom, base: &Url) {
    let mut dates = Dates::default();
    let mut robots: Vec<String> = Vec::new();
    for (id, element) in dom.elements(dom.root()) {
        match element.tag() {
            "title" => set(&mut page.title, || raw_text(dom, id)),
            "h1" => set(&mut page.content_title, || text_inside(dom, id, MAX_CHARS)),
            "html" => set(&mut page.lang, || primary_language(element.attribute("lang").unwrap_or_default())),
            "link" if page.canonical.is_none() && has_rel(element, "canonical") => {
                page.canonical = element.attribute("href").and_then(|href| absolute(base, href));
            }
            "time" => dates.time_element(element),
            "meta" => meta(page, &mut dates, &mut robots, element, base),
            _ => {}
        }
    }
    page.robots = robots.join(", ");
    page.published = dates.published.or(dates.unnamed);
    page.modified = dates.modified;
}

fn meta(page: &mut PageObject, dates: &mut Dates, robots: &mut Vec<String>, element: &Element, base: &Url) {
    let Some(content) = element.attribute("content") else { return };
    for naming in ["name", "property", "itemprop", "http-equiv"] {
        let Some(name) = element.attribute(naming) else { continue };
        let value = || collapse(content, MAX_CHARS);
        match name.trim().to_ascii_lowercase().as_str() {
            // Ours and everybody's: whichever is stricter holds, so all are kept.
            "robots" | "pharos" if naming == "name" && robots.len() < MAX_DIRECTIVES => robots.push(value()),
            "keywords" | "news_keywords" if page.keywords.is_empty() => page.keywords = keywords(content),
            "description" | "og:description" | "dc.description" | "twitter:description" => {
                set(&mut page.summary, value);
            }
            // Some name the author by an address on a social network; that is no name.
            "author" | "article:author" | "dc.creator" | "byl" if !content.contains("://") => {
                set(&mut page.author, value);
            }
            "og:site_name" | "application-name" => set(&mut page.site_name, value),
            "og:image" | "og:image:url" | "twitter:image" => {
                set(&mut page.image, || absolute(base, content).unwrap_or_default());
            }
            "article:published_time"
            | "datepublished"
            | "date"
            | "dc.date"
            | "dc.date.issued"
            | "dcterms.issued"
            | "dcterms.created"
            | "pubdate"
            | "publishdate"
            | "publish-date"
            | "publish_date"
            | "og:published_time"
            | "parsely-pub-date"
            | "sailthru.date"
            | "weibo: article:create_at" => {
                set_date(&mut dates.published, content);
            }
            "article:modified_time"
            | "datemodified"
            | "og:updated_time"
            | "last-modified"
            | "dcterms.modified"
            | "lastmod"
            | "weibo: article:update_at" => set_date(&mut dates.modified, content),
            _ => {}
        }
    }
}

fn set(field: &mut String, value: impl FnOnce() -> String) {
    if field.is_empty() {
        *field = value();
    }
}

fn absolute(base: &Url, reference: &str) -> Option<String> {
    PageUrl::join_to(base, reference).ok().map(|url| url.as_str().to_string())
}

/// The content of a `<title>`, which lies in the unseen head.
fn raw_text(dom: &Dom, id: NodeId) -> String {
    let texts = dom.walk(id).filter_map(|step| match step {
        Step::Enter(id) => match dom.data(id) {
            NodeData::Text(text) => Some(&**text),
            _ => None,
        },
        Step::Leave(_) => None,
    });
    collapse(&texts.collect::<String>(), MAX_CHARS)
}

/// `zh` of `zh-Hant-TW`.
fn primary_language(tag: &str) -> String {
    let primary = tag.trim().split(['-', '_']).next().unwrap_or_default();
    let is_code = primary.len() == 2 && primary.bytes().all(|b| b.is_ascii_alphabetic());
    if is_code { primary.to_ascii_lowercase() } else { String::new() }
}

fn keywords(content: &str) -> Vec<String> {
    content
        .split([',', ';', '|', '，', '、', '；'])
        .map(|word| collapse(word, MAX_CHARS))
        .filter(|word| !word.is_empty())
        .take(MAX_KEYWORDS)
        .collect()
}

/// The dates a page gives.
#[derive(Default)]
struct Dates {
    published: Option<String>,
    modified: Option<String>,
    /// The first `<time>` that does not say what it is the time of; usually the publication.
    unnamed: Option<String>,
}

impl Dates {
    fn time_element(&mut self, element: &Element) {
        let Some(datetime) = element.attribute("datetime") else { return };
        let is_publication = element.attribute("pubdate").is_some();
        match element.attribute("itemprop").unwrap_or_default().to_ascii_lowercase().as_str() {
            "datepublished" | "datecreated" => set_date(&mut self.published, datetime),
            "datemodified" => set_date(&mut self.modified, datetime),
            _ if is_publication => set_date(&mut self.published, datetime),
            _ => set_date(&mut self.unnamed, datetime),
        }
    }
}

fn set_date(field: &mut Option<String>, text: &str) {
    if field.is_none() {
        *field = iso_date(text);
    }
}

/// A date as ISO 8601, from anything that reads year, month, day, in that order: `2026/1/31`, `20260131`,
/// `2026年1月31日 12:05`, `2026-01-31T12:05:00+08:00`. The time is kept where there is one, the zone where it is given.
pub(crate) fn iso_date(text: &str) -> Option<String> {
    let mut rest = Digits(text.trim());
    let year = rest.number(4, 4)?;
    rest.separator(&["-", "/", ".", "年", ""])?;
    let month = rest.number(1, 2)?;
    rest.separator(&["-", "/", ".", "月", ""])?;
    let day = rest.number(1, 2)?;
    if !(1900..=2100).contains(&year)
        || !(1..=12).contains(&month)
        || !(1..=days_in(year, month)).contains(&day)
    {
        return None;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(match time_of_day(rest) {
        Some(time) => format!("{date}T{time}"),
        None => date,
    })
}

fn time_of_day(mut rest: Digits<'_>) -> Option<String> {
    rest.separator(&["日", ""])?;
    rest.0 = rest.0.trim_start();
    rest.separator(&["T", "t", ""])?;
    let hour = rest.number(1, 2)?;
    rest.separator(&[":", "时"])?;
    let minute = rest.number(1, 2)?;
    let second = match rest.separator(&[":", "分"]) {
        Some(()) => rest.number(1, 2).unwrap_or(0),
        None => 0,
    };
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    if let Some(fraction) = rest.0.strip_prefix(['.', ',']) {
        rest.0 = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    Some(format!("{hour:02}:{minute:02}:{second:02}{}", zone(rest).unwrap_or_default()))
}

fn zone(mut rest: Digits<'_>) -> Option<String> {
    rest.0 = rest.0.trim_start();
    if rest.0.starts_with(['Z', 'z']) || rest.0.starts_with("UTC") || rest.0.starts_with("GMT") {
        return Some("Z".into());
    }
    let sign = rest.0.chars().next().filter(|c| matches!(c, '+' | '-'))?;
    rest.0 = &rest.0[1..];
    let hours = rest.number(2, 2)?;
    rest.separator(&[":", ""])?;
    let minutes = rest.number(2, 2).unwrap_or(0);
    (hours <= 15 && minutes <= 59).then(|| format!("{sign}{hours:02}:{minutes:02}"))
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A text that is read number by number.
struct Digits<'a>(&'a str);

impl Digits<'_> {
    /// A number of at least `min` and at most `max` digits.
    fn number(&mut self, min: usize, max: usize) -> Option<u32> {
        let len = self.0.bytes().take(max).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(len);
        let number = if len >= min { digits.parse().ok() } else { None };
        if number.is_some() {
            self.0 = rest;
        }
        number
    }

    /// The first of `candidates` that comes next; an empty one always does.
    fn separator(&mut self, candidates: &[&str]) -> Option<()> {
        let rest = candidates.iter().find_map(|c| self.0.strip_prefix(c))?;
        self.0 = rest;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(html: &str) -> PageObject {
        let mut page = PageObject::default();
        fill(&mut page, &Dom::parse(html), &Url::parse("http://example.org/a/").unwrap());
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
    fn times_in_the_text_stand_in_for_declarations() {
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

    #[test]
    fn dates_of_many_shapes() {
        for (text, iso) in [
            ("2026-1-5", "2026-01-05"),
            ("20260131", "2026-01-31"),
            (" 2026年1月31日 12:05 ", "2026-01-31T12:05:00"),
            ("2026/01/31 9:08:07", "2026-01-31T09:08:07"),
            ("2026-01-31T12:00:00.123Z", "2026-01-31T12:00:00Z"),
            ("2026-01-31T12:00:00-0530", "2026-01-31T12:00:00-05:30"),
            ("2026-01-31T99:99", "2026-01-31"),
            ("2024-02-29", "2024-02-29"),
        ] {
            assert_eq!(iso_date(text).as_deref(), Some(iso), "{text}");
        }
        for nonsense in
            ["", "yesterday", "2026", "2026-13-01", "2026-02-29", "0001-01-01", "31.01.2026", "２０２６"]
        {
            assert_eq!(iso_date(nonsense), None, "{nonsense}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_date_is_read_or_refused(text in "[0-9年月日T:./+Z -]{0,30}|\\PC{0,20}") {
            iso_date(&text);
        }
    }
}
