//! Converts a page object into an index document, both for fetched pages and for pages read from the derived stores.

use std::collections::HashSet;

use pharos_core::{LibraryPosition, PageObject, PageType, PageUrl, Timestamp};
use pharos_index::document::MAX_LINKS;
use pharos_index::{Anchor, IndexDocument};

use crate::stages::listing_url::is_listing_url;

/// Maximum length of a declared name of a site; longer ones are slogans.
const MAX_NAME_CHARS: usize = 60;

/// Returns the document of a page without the anchors of other pages. `body` is its text and `other` its other text, with or without the
/// template lines of the site.
pub(crate) fn index_document(
    url: &PageUrl,
    at: Timestamp,
    position: LibraryPosition,
    page: &PageObject,
    body: String,
    other: String,
) -> IndexDocument {
    let title = if page.title.trim().is_empty() { &page.content_title } else { &page.title };
    let date = page.published.as_ref().or(page.modified.as_ref());
    let max_snippet = page.max_snippet();
    let summary = if max_snippet == Some(0) { "" } else { &page.summary };
    IndexDocument {
        title: title.clone(),
        headings: headings(page).cloned().collect(),
        emphasised: page.emphasised.clone(),
        quotable: page.quotable().map(|allowed| lines_left(&page.text, &allowed, &body)),
        body,
        quotable_other: page.quotable_other().map(|allowed| lines_left(&page.other, &allowed, &other)),
        other,
        max_snippet,
        summary: summary.to_string(),
        links: links(url, page),
        lang: page.lang.clone(),
        page_type: if is_listing_url(url) { PageType::Hub } else { page.page_type },
        format: page.format.clone(),
        category: page.category.clone(),
        breadcrumbs: page.breadcrumbs.clone(),
        date: date.map(|d| d.chars().take(10).collect()),
        fetched: at,
        position,
        archive: !page.no_archive(),
        anchors: declared_names(url, page),
        ..IndexDocument::new(url.clone())
    }
}

/// Returns the names that a home page declares for its site: the site name and the author. They count like the texts of
/// links to it.
fn declared_names(url: &PageUrl, page: &PageObject) -> Vec<Anchor> {
    let names = [&page.site_name, &page.author].map(|name| name.trim());
    let is_name = |name: &&str| url.is_home() && !name.is_empty() && name.chars().count() <= MAX_NAME_CHARS;
    names.into_iter().filter(is_name).map(Anchor::from).collect()
}

/// Returns the headings of a page. The content title may lie outside the body.
fn headings(page: &PageObject) -> impl Iterator<Item = &String> {
    let content_title = Some(&page.content_title).filter(|title| !title.is_empty());
    content_title.into_iter().chain(page.headings.iter().filter(|heading| **heading != page.content_title))
}

/// Returns the lines of `allowed`, the quotable part of a text, that are left in `stripped`, the text without template
/// lines.
fn lines_left(text: &str, allowed: &str, stripped: &str) -> String {
    let mut own = stripped.lines().peekable();
    let mut quotable = String::with_capacity(stripped.len());
    // Template stripping removes all lines with equal text or none, so the next line left is the first equal one.
    for (line, allowed) in text.split('\n').zip(allowed.split('\n')) {
        if own.next_if_eq(&line).is_some() && !allowed.is_empty() {
            if !quotable.is_empty() {
                quotable.push('\n');
            }
            quotable.push_str(allowed);
        }
    }
    quotable
}

/// Returns the distinct link targets of a page in order, those of other sites first.
///
/// The number is limited, and navigation links must not crowd out external ones.
fn links(url: &PageUrl, page: &PageObject) -> Vec<PageUrl> {
    let own = url.id();
    let mut seen = HashSet::from([own]);
    let (mut elsewhere, mut here) = (Vec::new(), Vec::new());
    for link in page.followed_links() {
        let target = link.url.id();
        let links = if target.site() == own.site() { &mut here } else { &mut elsewhere };
        if links.len() < MAX_LINKS && seen.insert(target) {
            links.push(link.url.clone());
        }
    }
    elsewhere.append(&mut here);
    elsewhere.truncate(MAX_LINKS);
    elsewhere
}

#[cfg(test)]
mod tests {
    use pharos_core::config::Config;
    use pharos_index::document::StoredText;
    use pharos_index::{PageLabel, Query, ResultFields};
    use pharos_store::{DataDir, LibraryRecord, RawResponse, RecordContent};
    use tokio::sync::watch;

    use super::*;
    use crate::stores::test_stores;
    use crate::{Engine, build_history};

    const ADDRESS: &str = "http://www.example.org/dir/page";

    fn url(address: &str) -> PageUrl {
        PageUrl::parse(ADDRESS).unwrap().join(address).unwrap()
    }

    fn document_of(page: &PageObject, body: &str) -> IndexDocument {
        index_document(
            &url(ADDRESS),
            Timestamp::EPOCH,
            LibraryPosition::START,
            page,
            body.into(),
            page.other.clone(),
        )
    }

    fn with_links(links: impl Iterator<Item = (String, &'static str)>) -> PageObject {
        let html: String = links.map(|(to, rel)| format!("<a href='{to}' rel='{rel}'>x</a>")).collect();
        pharos_html::extract_page(&url(ADDRESS), Some("text/html"), format!("<img src=i>{html}").as_bytes())
    }

    fn addresses(document: &IndexDocument) -> Vec<&str> {
        document.links.iter().map(PageUrl::as_str).collect()
    }

    #[test]
    fn links_to_others_come_first_and_each_once() {
        let links = [
            ("next", ""),
            ("//other.example/", ""),
            (ADDRESS, ""),
            ("next#here", ""),
            ("/paid", "nofollow"),
            ("//third.example/a", ""),
            ("//other.example/", ""),
        ];
        let mut page = with_links(links.into_iter().map(|(to, rel)| (to.to_string(), rel)));
        assert_eq!(
            addresses(&document_of(&page, "")),
            ["http://other.example/", "http://third.example/a", "http://www.example.org/dir/next"]
        );
        page.robots = "nofollow".into();
        assert!(document_of(&page, "").links.is_empty());

        let crowd = (0..300).map(|n| (format!("/{n}"), "")).chain([("//other.example/".to_string(), "")]);
        let links = document_of(&with_links(crowd), "").links;
        assert_eq!((links.len(), links[0].host()), (MAX_LINKS, "other.example"));
        assert_eq!(links[1].as_str(), "http://www.example.org/0");
    }

    #[test]
    fn what_may_be_quoted_follows_the_lines_of_the_body() {
        let text = "menu\nthe butler did it\nmenu\nthe end\nsecret";
        let part = |words: &str| text.find(words).map(|at| at..at + words.len()).unwrap();
        let mut page = PageObject { text: text.into(), summary: "About it.".into(), ..Default::default() };
        assert_eq!(document_of(&page, text).quotable, None);
        page.unquotable = vec![part("butler"), part("secret")];
        let quotable = |body: &str| document_of(&page, body).quotable.unwrap();
        assert_eq!(quotable(text), "menu\nthe did it\nmenu\nthe end");
        assert_eq!(quotable("the butler did it\nthe end\nsecret"), "the did it\nthe end");
        assert_eq!(quotable("secret"), "");
        page.robots = "max-snippet:9".into();
        let document = document_of(&page, text);
        assert_eq!((document.max_snippet, document.summary.as_str()), (Some(9), "About it."));
        page.robots = "nosnippet".into();
        let document = document_of(&page, text);
        assert_eq!((document.max_snippet, document.summary.as_str()), (Some(0), ""));
    }

    fn record(address: &str, content_type: &str, robots: &str, body: &[u8]) -> LibraryRecord {
        let headers = [("Content-Type", content_type), ("X-Robots-Tag", robots)];
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
        let response = RawResponse { status: 200, headers, body: body.to_vec(), ..RawResponse::default() };
        LibraryRecord::new(url(address), Timestamp::EPOCH, RecordContent::Response(response))
    }

    fn ingest(data: &DataDir, records: Vec<LibraryRecord>) {
        let engine = Engine::open(data.clone(), Config::default(), "test", true).unwrap();
        let (_stop, never) = watch::channel(false);
        let mut ingest = engine.ingest(&never).unwrap();
        ingest.append(records).unwrap();
        ingest.finish().unwrap();
    }

    /// Returns stored fields, texts and the URLs that match some queries.
    fn indexed(data: &DataDir) -> (Vec<(ResultFields, StoredText)>, Vec<Vec<String>>) {
        let view = test_stores(data).index().unwrap().view().unwrap();
        let find = |query: Query| {
            let found = view.search_addresses(&query, 10).unwrap().candidates;
            let fields = view.result_fields(&found).unwrap();
            let mut indexed: Vec<(ResultFields, StoredText)> =
                fields.into_iter().zip(view.texts(&found).unwrap()).collect();
            indexed.sort_by(|(one, _), (other, _)| one.url.cmp(&other.url));
            indexed
        };
        let paths = |query: Query| {
            find(query).into_iter().map(|(card, _)| PageUrl::parse(&card.url).unwrap().as_url().path().into())
        };
        let queries = [
            Query::LinksTo(url("http://other.example/").id()),
            Query::LinksTo(url("/paid").id()),
            Query::LinksToSite(url("/").id().site()),
            Query::Label(PageLabel::Format, "html".into()),
            Query::Label(PageLabel::Format, "pdf".into()),
            Query::Label(PageLabel::Format, "txt".into()),
            Query::Word("thief".into()),
        ];
        (find(Query::All), queries.into_iter().map(|query| paths(query).collect()).collect())
    }

    #[test]
    fn latest_and_history_index_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let data = DataDir::at(dir.path().join("data"));
        let tower = "<title>Rock</title><p>The lighthouse on the rock was built long ago, and can be seen from far away. \
                     <span data-nosnippet>The keeper is the thief.</span> That is all.</p>\
                     <a href=//other.example/>other</a> <a href=/silent>silent</a> <a rel=nofollow href=/paid>paid</a>";
        let same = "<title>Same</title><p>The same words appear on two pages, and one of them must not be quoted at all.";
        let pdf = include_bytes!("../../../pharos-html/tests/samples/lighthouse.pdf");
        let records = vec![
            record("/tower", "text/html", "", tower.as_bytes()),
            record("/paper", "application/pdf", "max-snippet:40", pdf),
            record("/plain", "text/plain", "noarchive", b"Plain words about lamps and ships."),
            record("/same", "text/html", "", same.as_bytes()),
            record("/silent", "text/html", "nosnippet", same.as_bytes()),
        ];
        ingest(&data, records);

        let (pages, found) = indexed(&data);
        let limits: Vec<_> = pages.iter().map(|(card, _)| (card.format.as_str(), card.max_snippet)).collect();
        let expected = [("pdf", Some(40)), ("txt", None), ("html", None), ("html", Some(0)), ("html", None)];
        assert_eq!(limits, expected, "paper, plain, same, silent, tower");
        let (_, tower) = &pages[4];
        assert!(tower.body.contains("far away. That is all.") && !tower.body.contains("thief"), "{tower:?}");
        assert!(!tower.summary.is_empty() && !tower.summary.contains("thief"));
        assert_eq!(pages[3].1.summary, "");
        let lists: [&[&str]; 7] = [
            &["/tower"],
            &[],
            &["/tower"],
            &["/same", "/silent", "/tower"],
            &["/paper"],
            &["/plain"],
            &["/tower"],
        ];
        assert_eq!(found, lists);

        build_history(&data, &Config::default(), false, |_| true).unwrap();
        let chain = test_stores(&data).generations().unwrap().current().unwrap();
        assert!(chain.history.is_some());
        assert_eq!(indexed(&data), (pages.clone(), found.clone()));
        // Without derived data, the raw pages are parsed again.
        for folder in ["links", "pages"] {
            std::fs::remove_dir_all(data.library().join(folder)).unwrap();
            build_history(&data, &Config::default(), false, |_| true).unwrap();
            assert_eq!(indexed(&data), (pages.clone(), found.clone()), "{folder}");
        }
    }
}
