//! `/api`: the OpenAPI document as a page, in the language of the visitor.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;

use super::chinese::chinese;
use super::keys::is_locked;
use crate::origin::origin;
use crate::page::{Frame, respond};
use crate::service::Rooms;
use crate::visitor::{Visitor, link};
use crate::words::{Lang, Words, fill, grouped};

#[derive(Template)]
#[template(path = "api.html")]
struct GuidePage<'a> {
    frame: Frame,
    query: &'static str,
    focus: bool,
    document: &'static str,
    needs_keys: bool,
    cors: String,
    limits: String,
    formats: Vec<String>,
    operations: Vec<Operation<'a>>,
}

/// An operation of the API.
struct Operation<'a> {
    /// HTML id of its section.
    id: &'a str,
    method: String,
    path: &'a str,
    title: &'a str,
    text: Vec<Piece<'a>>,
    parameters: Vec<Parameter<'a>>,
    answers: Vec<Answer<'a>>,
    curl: String,
    /// Link that sends the example request from a browser.
    example: Option<String>,
}

struct Parameter<'a> {
    name: &'a str,
    is_required: bool,
    kind: String,
    text: Vec<Piece<'a>>,
}

struct Answer<'a> {
    status: &'a str,
    text: &'a str,
}

/// A part of a text: plain, or code between backticks.
struct Piece<'a> {
    text: &'a str,
    is_code: bool,
}

/// `GET /api`.
pub(crate) async fn guide(State(rooms): State<Rooms>, visitor: Visitor) -> Response {
    let (words, web) = (visitor.words(), &rooms.config().web);
    let needs_keys = !web.api_keys.is_empty();
    let origin = origin(&visitor, web).unwrap_or_default();
    let cors = match web.cors.iter().map(|site| site.trim()).collect::<Vec<_>>().as_slice() {
        [] => words.api_cors_none.to_string(),
        sites if sites.contains(&"*") => words.api_cors_all.to_string(),
        sites => fill(words.api_cors_some, &[&sites.join(", ")]),
    };
    let rate = if needs_keys { web.key_rate } else { web.rate };
    let limits = match (rate, needs_keys) {
        (0, _) => words.api_limits_none.to_string(),
        (rate, true) => fill(words.api_limits_key, &[&grouped(rate.into())]),
        (rate, false) => fill(words.api_limits, &[&grouped(rate.into())]),
    };
    let document = &rooms.api().document.json;
    let page = GuidePage {
        frame: Frame::new(&visitor, rooms.config()),
        query: "",
        focus: false,
        document: super::document::PATH,
        needs_keys,
        cors,
        limits,
        formats: ["json", "csv", "rss"]
            .map(|format| link("/search", [("q", "lighthouse"), ("format", format)]))
            .into(),
        operations: operations(document, visitor.lang, &origin, needs_keys),
    };
    respond(&visitor, StatusCode::OK, &page)
}

fn operations<'a>(document: &'a Value, lang: Lang, origin: &str, needs_keys: bool) -> Vec<Operation<'a>> {
    let words = lang.words();
    let told = |english: &'a str| match lang {
        Lang::En => english,
        Lang::Zh => chinese(english),
    };
    let paths = document["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, item)| {
        item.as_object().into_iter().flatten().map(move |(method, operation)| (path, method, operation))
    });
    let view = |(path, method, operation): (&'a String, &'a String, &'a Value)| {
        let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
        let has_example = |p: &&Value| p["example"].is_string() || p["example"].is_number();
        let given: Vec<(&str, String)> = parameters
            .iter()
            .filter(|p| has_example(p) || p["required"] == true)
            .map(|p| {
                (
                    text(&p["name"]),
                    p["example"].as_str().map_or_else(|| p["example"].to_string(), String::from),
                )
            })
            .collect();
        let asked = link(path, given.iter().map(|(name, value)| (*name, value.as_str())));
        let key = if needs_keys && is_locked(path) { " -H 'API-Key: KEY'" } else { "" };
        let body = &operation["requestBody"]["content"]["application/json"];
        let curl = if method == "get" {
            format!("curl{key} '{origin}{asked}'")
        } else if body.is_object() {
            let json = r#"{"url":"https://www.example.org/"}"#;
            format!("curl{key} -H 'Content-Type: application/json' -d '{json}' '{origin}{path}'")
        } else {
            format!("curl{key} -X POST '{origin}{asked}'")
        };
        let answers = operation["responses"].as_object().into_iter().flatten();
        Operation {
            id: text(&operation["operationId"]),
            method: method.to_uppercase(),
            path,
            title: told(text(&operation["summary"]).trim_end_matches('.')),
            text: pieces(told(text(&operation["description"]))),
            parameters: parameters
                .iter()
                .map(|p| Parameter {
                    name: text(&p["name"]),
                    is_required: p["required"] == true,
                    kind: kind(document, &p["schema"], words),
                    text: pieces(told(text(&p["description"]))),
                })
                .collect(),
            answers: answers
                .map(|(status, answer)| Answer { status, text: told(text(&answer["description"])) })
                .collect(),
            example: (method == "get" && key.is_empty()).then_some(asked),
            curl,
        }
    };
    operations.map(view).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Describes the values of a parameter in a few words.
fn kind(document: &Value, schema: &Value, words: &Words) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|at| at.strip_prefix("#/components/schemas/")) {
        return kind(document, &document["components"]["schemas"][name], words);
    }
    if let Some(all) = schema["allOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return all.first().map(|first| kind(document, first, words)).unwrap_or_default();
    }
    if let Some(choices) = schema["enum"].as_array() {
        return choices.iter().map(text).collect::<Vec<_>>().join(" · ");
    }
    match (schema["type"].as_str(), schema["minimum"].as_u64(), schema["maximum"].as_u64()) {
        (Some("integer"), Some(from), Some(to)) => fill(words.api_number, &[&grouped(from), &grouped(to)]),
        _ => words.api_text.to_string(),
    }
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let parts = text.split('`').enumerate();
    parts.filter(|(_, text)| !text.is_empty()).map(|(n, text)| Piece { text, is_code: n % 2 == 1 }).collect()
}

#[cfg(test)]
mod tests {
    use pharos_core::Config;

    use crate::router;
    use crate::testing::{engine, get};

    #[tokio::test]
    async fn the_guide_shows_the_document() {
        let mut config = Config::default();
        let (_dir, service) = engine(&[], config.clone());
        let english = get(&router(service).unwrap(), "/api").await;
        for part in [
            "<h2 id=\"search\">",
            "<code>GET</code> <code>/api/v1/search</code>",
            "curl &#39;http://localhost/api/v1/search?q=lighthouse&#38;size=3&#39;",
            "<a href=\"/api/v1/search?q=lighthouse&#38;size=3\"",
            "1 to 100",
            "relevance · date",
            "/api/v1/openapi.json",
            "/search?q=lighthouse&#38;format=rss",
            "application/problem+json",
        ] {
            assert!(english.text().contains(part), "{part} is missing in {}", english.text());
        }
        assert!(!english.text().contains("API-Key: KEY"), "{}", english.text());
        config.web.api_keys = vec!["secret".into()];
        config.web.cors = vec!["https://www.example.org".into()];
        let (_dir, service) = engine(&[], config);
        let chinese = get(&router(service).unwrap(), "/api?lang=zh").await;
        assert!(chinese.text().contains("<html lang=\"zh-Hans\""));
        assert!(
            chinese.text().contains("<b>提交网址。</b>") && !chinese.text().contains("Submit a URL")
        );
        assert!(
            chinese.text().contains("curl -H &#39;API-Key: KEY&#39; &#39;http://localhost/api/v1/stats&#39;")
        );
        assert!(chinese.text().contains("https://www.example.org") && !chinese.text().contains("secret"));
    }
}
