//! JSON and CSV with the fields of SearXNG.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use pharos_query::{SearchHit, SearchRequest, SearchResponse};
use serde_json::{Value, json};
use url::Url;

/// Value of the field `engine`.
const ENGINE: &str = "pharos";

const COLUMNS: [&str; 7] = ["title", "url", "content", "host", "engine", "score", "type"];

pub(super) fn json(request: &SearchRequest, answer: &SearchResponse) -> Response {
    let first = request.page.saturating_sub(1).saturating_mul(request.size).saturating_add(1);
    let results: Vec<Value> = (first..).zip(&answer.hits).map(|(place, hit)| result(place, hit)).collect();
    let body = json!({
        "query": answer.query,
        "number_of_results": answer.matches(),
        "results": results,
        "answers": [],
        "corrections": answer.corrected.iter().collect::<Vec<_>>(),
        "infoboxes": [],
        "suggestions": answer.suggestions,
        "unresponsive_engines": [],
    });
    ([(CACHE_CONTROL, "private, no-cache")], Json(body)).into_response()
}

fn result(place: usize, hit: &SearchHit) -> Value {
    json!({
        "url": hit.url,
        "title": hit.title,
        "content": hit.snippet,
        "engine": ENGINE,
        "engines": [ENGINE],
        "score": hit.score,
        "category": "general",
        "publishedDate": hit.date.as_ref().map(|day| format!("{day}T00:00:00")),
        "positions": [place],
        "parsed_url": url_parts(&hit.url),
        "template": "default.html",
    })
}

/// Splits a URL like Python's `urlparse`: scheme, host with port, path, path parameters, query, fragment.
fn url_parts(url: &str) -> [String; 6] {
    let Ok(url) = Url::parse(url) else { return Default::default() };
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let parts = [url.scheme(), host, url.path(), "", url.query().unwrap_or_default(), ""];
    parts.map(String::from)
}

pub(super) fn csv(answer: &SearchResponse) -> Response {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut rows = vec![COLUMNS.map(String::from)];
    rows.extend(answer.hits.iter().map(|hit| {
        let score = hit.score.to_string();
        let [_, host, ..] = url_parts(&hit.url);
        [&hit.title, &hit.url, &hit.snippet, &host, ENGINE, &score, "result"].map(escape_formula)
    }));
    let named = |text: &String, kind| [text.as_str(), "", "", "", "", "", kind].map(escape_formula);
    rows.extend(answer.suggestions.iter().map(|text| named(text, "suggestion")));
    rows.extend(answer.corrected.iter().map(|text| named(text, "correction")));
    let written = rows.iter().try_for_each(|row| writer.write_record(row));
    let (Ok(()), Ok(body)) = (written, writer.into_inner()) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"results.csv\""),
        (CACHE_CONTROL, "private, no-cache"),
    ];
    (headers, body).into_response()
}

/// Escapes cells that a spreadsheet would evaluate as a formula: titles of pages are untrusted.
fn escape_formula(cell: &str) -> String {
    let is_formula = cell.trim_start().starts_with(['=', '+', '-', '@']) || cell.starts_with(['\t', '\r']);
    if is_formula { format!("'{cell}") } else { cell.to_string() }
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;

    use super::*;
    use crate::router;
    use crate::testing::{TestPage, engine, get};

    const PAGES: [TestPage; 3] = [
        TestPage::new(
            "https://www.example.org:81/a?b=c",
            "=HYPERLINK(\"http://evil.example\")",
            "A lighthouse, \"tall\".",
        ),
        TestPage::new("https://www.example.org/b", "Harbour", "A harbour with a lighthouse."),
        TestPage::new("https://example.cn/c", "灯塔与航海", "灯塔为航海者指引方向。"),
    ];

    #[tokio::test]
    async fn searxng_clients_find_their_fields() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        let reply = get(&router, "/search?q=lighthouse&format=json").await;
        assert_eq!((reply.status, reply.header("content-type")), (StatusCode::OK, "application/json"));
        let json: Value = serde_json::from_slice(&reply.bytes).unwrap();
        assert_eq!((&json["query"], &json["number_of_results"]), (&json!("lighthouse"), &json!(2)));
        for list in ["answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"] {
            assert!(json[list].is_array(), "{list}");
        }
        let results = json["results"].as_array().unwrap();
        let first = results.iter().find(|result| result["url"] == PAGES[0].url).unwrap();
        assert_eq!(first["parsed_url"], json!(["https", "www.example.org:81", "/a", "", "b=c", ""]));
        assert_eq!((&first["engine"], &first["engines"]), (&json!("pharos"), &json!(["pharos"])));
        assert_eq!((&first["category"], &first["template"]), (&json!("general"), &json!("default.html")));
        assert!(first["content"].as_str().unwrap().contains("A lighthouse, \"tall\"."));
        assert!(first["score"].is_number() && first["publishedDate"].is_null());
        let mut places: Vec<i64> = results.iter().map(|r| r["positions"][0].as_i64().unwrap()).collect();
        places.sort_unstable();
        assert_eq!(places, [1, 2]);

        let found = async |query: &str| {
            let reply = get(&router, &format!("/search?format=json&{query}")).await;
            let json: Value = serde_json::from_slice(&reply.bytes).unwrap();
            json["results"].as_array().unwrap().len()
        };
        assert_eq!(found("q=lighthouse&pageno=2").await, 0);
        assert_eq!(found("q=lighthouse&pageno=99999999").await, 0);
        assert_eq!(found("q=lighthouse&language=en-US").await, 2);
        assert_eq!(found("q=lighthouse&language=zh-CN").await, 0);
        assert_eq!(found("q=lighthouse&language=all&time_range=never").await, 2);
        assert_eq!(found("q=lighthouse&time_range=day").await, 0, "no page has a date");
        let long = format!("q=lighthouse{}&language=zh", "+".repeat(300));
        assert_eq!(found(&long).await, 0, "the language is not truncated");
        let wrong = get(&router, "/search?format=json&q=+").await;
        assert_eq!(
            (wrong.status, wrong.header("content-type")),
            (StatusCode::BAD_REQUEST, "application/problem+json")
        );
        assert!(get(&router, "/search?q=lighthouse&format=html").await.text().starts_with("<!doctype html>"));
    }

    #[tokio::test]
    async fn a_spreadsheet_evaluates_no_title() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let reply = get(&router(service).unwrap(), "/search?q=lighthouse&format=csv").await;
        assert_eq!(reply.header("content-type"), "text/csv; charset=utf-8");
        let mut lines = csv::Reader::from_reader(reply.bytes.as_slice());
        assert_eq!(lines.headers().unwrap(), COLUMNS.as_slice());
        let rows: Vec<_> = lines.records().map(Result::unwrap).collect();
        let row = rows.iter().find(|row| &row[1] == PAGES[0].url).unwrap();
        assert_eq!(&row[0], "'=HYPERLINK(\"http://evil.example\")");
        assert_eq!((&row[3], &row[4], &row[6]), ("www.example.org:81", "pharos", "result"));
        for (cell, written) in [
            ("=1", "'=1"),
            (" +1", "' +1"),
            ("-1", "'-1"),
            ("@a", "'@a"),
            ("\t=1", "'\t=1"),
            ("a=1", "a=1"),
            ("", ""),
        ] {
            assert_eq!(escape_formula(cell), written);
        }
    }
}
