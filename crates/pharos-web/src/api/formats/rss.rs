//! Results as an RSS 2.0 feed with OpenSearch elements.

use std::io;

use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use pharos_core::{Config, Timestamp};
use pharos_query::{SearchHit, SearchRequest, SearchResponse};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::messages::fill;
use crate::server::origin::{UnknownHost, origin};
use crate::server::visitor::{Visitor, link};

/// Returns a search response as an RSS feed.
pub(crate) fn feed(
    visitor: &Visitor,
    config: &Config,
    request: &SearchRequest,
    answer: &SearchResponse,
) -> Response {
    let Some(origin) = origin(visitor, &config.web) else { return UnknownHost.into_response() };
    match write_feed(visitor, &origin, request, answer) {
        Ok(xml) => {
            let headers =
                [(CONTENT_TYPE, "application/rss+xml; charset=utf-8"), (CACHE_CONTROL, "private, no-cache")];
            (headers, xml).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "cannot write a feed");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn write_feed(
    visitor: &Visitor,
    origin: &str,
    request: &SearchRequest,
    answer: &SearchResponse,
) -> io::Result<Vec<u8>> {
    let messages = visitor.messages();
    let place = request.page.max(1).saturating_sub(1).saturating_mul(request.size).saturating_add(1);
    let page = format!("{origin}{}", link("/search", [("q", answer.query.as_str())]));
    let itself = format!("{origin}{}", visitor.address());
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 1);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let rss = writer.create_element("rss").with_attributes([
        ("version", "2.0"),
        ("xmlns:atom", "http://www.w3.org/2005/Atom"),
        ("xmlns:opensearch", "http://a9.com/-/spec/opensearch/1.1/"),
    ]);
    rss.write_inner_content(|writer| {
        writer.create_element("channel").write_inner_content(|writer| {
            text(writer, "title", &format!("{} – {}", answer.query, messages.name))?;
            text(writer, "link", &page)?;
            text(writer, "description", &fill(messages.feed_description, &[&answer.query]))?;
            text(writer, "opensearch:totalResults", &answer.matches().to_string())?;
            text(writer, "opensearch:startIndex", &place.to_string())?;
            text(writer, "opensearch:itemsPerPage", &request.size.to_string())?;
            let itself = strip_invalid(&itself);
            let atom = writer.create_element("atom:link");
            let atom = atom.with_attribute(("href", itself.as_str())).with_attribute(("rel", "self"));
            atom.with_attribute(("type", "application/rss+xml")).write_empty()?;
            let (query, number) = (strip_invalid(&answer.query), request.page.max(1).to_string());
            let element = writer.create_element("opensearch:Query");
            let element =
                element.with_attribute(("role", "request")).with_attribute(("searchTerms", query.as_str()));
            element.with_attribute(("startPage", number.as_str())).write_empty()?;
            answer.hits.iter().try_for_each(|hit| item(writer, hit))
        })?;
        Ok(())
    })?;
    Ok(writer.into_inner())
}

fn item(writer: &mut Writer<Vec<u8>>, hit: &SearchHit) -> io::Result<()> {
    writer.create_element("item").write_inner_content(|writer| {
        text(writer, "title", &hit.title)?;
        text(writer, "link", &hit.url)?;
        text(writer, "guid", &hit.url)?;
        text(writer, "description", &hit.snippet)?;
        hit.date.as_deref().and_then(rfc822_date).map_or(Ok(()), |day| text(writer, "pubDate", &day))
    })?;
    Ok(())
}

fn text(writer: &mut Writer<Vec<u8>>, name: &str, text: &str) -> io::Result<()> {
    writer.create_element(name).write_text_content(BytesText::new(&strip_invalid(text)))?;
    Ok(())
}

/// Removes characters that are not allowed in XML documents (XML 1.0 §2.2).
fn strip_invalid(text: &str) -> String {
    let may_be = |c: &char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    text.chars().filter(may_be).collect()
}

/// Formats a date such as `2026-01-31` for feeds (RFC 822).
fn rfc822_date(iso: &str) -> Option<String> {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let at = Timestamp::parse(&format!("{iso}T00:00:00Z"))?;
    let mut parts = iso.split('-');
    let (year, month, of_month) = (parts.next()?, parts.next()?, parts.next()?);
    let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
    // 1 January 1970 was a Thursday.
    let of_week = usize::try_from(at.seconds().div_euclid(86_400).rem_euclid(7)).ok()?;
    Some(format!("{}, {of_month} {month} {year} 00:00:00 GMT", DAYS[of_week]))
}

#[cfg(test)]
mod tests {
    use quick_xml::Reader;

    use super::*;
    use crate::router;
    use crate::testing::{TestPage, engine, get};

    const PAGES: [TestPage; 2] = [
        TestPage::new(
            "https://www.example.org/a?b=c&d='e'",
            "</title><script>x()</script> ]]> &",
            "A lighthouse.",
        ),
        TestPage::new(
            "https://www.example.org/b",
            "Harbour\u{1}\u{b}",
            "A harbour with a <lighthouse> & more.",
        ),
    ];

    /// Returns the texts of all elements with this name; panics on invalid XML.
    fn texts(xml: &str, name: &str) -> Vec<String> {
        let mut reader = Reader::from_str(xml);
        let (mut open, mut texts) = (Vec::new(), Vec::new());
        loop {
            match reader.read_event().unwrap() {
                Event::Start(start) => {
                    open.push(start.name().as_ref().to_string());
                    if open.last().unwrap() == name {
                        texts.push(String::new());
                    }
                }
                Event::End(_) => {
                    open.pop();
                }
                Event::Text(text) if open.last().is_some_and(|open| open == name) => {
                    texts.last_mut().unwrap().push_str(&text);
                }
                Event::GeneralRef(name_of) if open.last().is_some_and(|open| open == name) => {
                    texts.last_mut().unwrap().push_str(&format!("&{};", &*name_of));
                }
                Event::Eof => return texts,
                _ => {}
            }
        }
    }

    #[tokio::test]
    async fn any_result_gives_a_valid_feed() {
        let mut config = Config::default();
        config.web.base_url = "https://search.example.org/".into();
        let (_dir, service) = engine(&PAGES, config);
        let router = router(service).unwrap();
        for path in [
            "/search?q=lighthouse+%3C%26%22%27%3E&format=rss",
            "/api/v1/search?q=lighthouse+%3C%26%22%27%3E&format=rss",
        ] {
            let reply = get(&router, path).await;
            assert_eq!(
                (reply.status, reply.header("content-type")),
                (StatusCode::OK, "application/rss+xml; charset=utf-8")
            );
            let xml = reply.text();
            assert_eq!(texts(xml, "opensearch:totalResults"), ["2"]);
            assert_eq!(
                (texts(xml, "opensearch:startIndex"), texts(xml, "opensearch:itemsPerPage")),
                (vec!["1".into()], vec!["10".into()])
            );
            assert_eq!(texts(xml, "item").len(), 2);
            assert!(
                texts(xml, "link").contains(&"https://www.example.org/a?b=c&amp;d=%27e%27".to_string()),
                "{xml}"
            );
            assert!(
                texts(xml, "link")[0].starts_with("https://search.example.org/search?q=lighthouse+%3C"),
                "{xml}"
            );
            assert!(xml.contains("<atom:link href=\"https://search.example.org/"), "{xml}");
            assert!(xml.contains("&amp;format=rss\" rel=\"self\" type=\"application/rss+xml\"/>"), "{xml}");
            assert!(!xml.contains("<script") && !xml.contains(['\u{1}', '\u{b}']), "{xml}");
            let titles = texts(xml, "title");
            assert!(titles.iter().any(|title| title.contains("&lt;script")), "{titles:?}");
        }
    }

    #[test]
    fn dates_are_formatted_for_feeds() {
        assert_eq!(rfc822_date("2026-01-31").as_deref(), Some("Sat, 31 Jan 2026 00:00:00 GMT"));
        assert_eq!(rfc822_date("1969-12-31").as_deref(), Some("Wed, 31 Dec 1969 00:00:00 GMT"));
        for odd in ["", "2026", "2026-13-01", "yesterday", "2026-01-31-1"] {
            assert_eq!(rfc822_date(odd), None, "{odd}");
        }
        assert_eq!(strip_invalid("a\u{0}\u{b}\u{fffe}\u{ffff}b\n灯\u{1f4a1}"), "ab\n灯\u{1f4a1}");
    }
}
