//! `/api`: the OpenAPI document as a page, in the language of the visitor.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;

use super::api_keys::requires_key;
use super::translations::chinese;
use crate::messages::{Lang, Messages, fill, grouped};
use crate::pages::frame::{PageFrame, respond};
use crate::server::origin::origin;
use crate::server::visitor::{Visitor, link};
use crate::state::AppState;

#[derive(Template)]
#[template(path = "api.html")]
struct GuidePage<'a> {
    frame: PageFrame,
    query: &'static str,
    focus: bool,
    document: &'static str,
    needs_keys: bool,
    cors: String,
    limits: String,
    formats: Vec<String>,
    operations: Vec<OperationView<'a>>,
}

/// An operation of the API.
struct OperationView<'a> {
    /// HTML id of its section.
    id: &'a str,
    method: String,
    path: &'a str,
    title: &'a str,
    text: Vec<TextSpan<'a>>,
    parameters: Vec<ParameterView<'a>>,
    answers: Vec<ResponseView<'a>>,
    curl: String,
    /// Link that sends the example request from a browser.
    example: Option<String>,
}

struct ParameterView<'a> {
    name: &'a str,
    is_required: bool,
    kind: String,
    text: Vec<TextSpan<'a>>,
}

struct ResponseView<'a> {
    status: &'a str,
    text: &'a str,
}

/// A part of a text: plain, or code between backticks.
struct TextSpan<'a> {
    text: &'a str,
    is_code: bool,
}

/// `GET /api`.
pub(crate) async fn guide(State(app): State<AppState>, visitor: Visitor) -> Response {
    let (messages, web) = (visitor.messages(), &app.config().web);
    let needs_keys = app.api().keys.are_required();
    let origin = origin(&visitor, web).unwrap_or_default();
    let cors = match web.cors.iter().map(|site| site.trim()).collect::<Vec<_>>().as_slice() {
        [] => messages.api_cors_none.to_string(),
        sites if sites.contains(&"*") => messages.api_cors_all.to_string(),
        sites => fill(messages.api_cors_some, &[&sites.join(", ")]),
    };
    let rate = if needs_keys { web.key_rate } else { web.rate };
    let limits = match (rate, needs_keys) {
        (0, _) => messages.api_limits_none.to_string(),
        (rate, true) => fill(messages.api_limits_key, &[&grouped(rate.into())]),
        (rate, false) => fill(messages.api_limits, &[&grouped(rate.into())]),
    };
    let document = &app.api().document().json;
    let page = GuidePage {
        frame: PageFrame::new(&visitor, app.config()),
        query: "",
        focus: false,
        document: super::openapi::PATH,
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

fn operations<'a>(document: &'a Value, lang: Lang, origin: &str, needs_keys: bool) -> Vec<OperationView<'a>> {
    let messages = lang.messages();
    let translate = |id: &str, part: &str, english: &'a str| match lang {
        Lang::En => english,
        Lang::Zh => chinese(id, part).unwrap_or(english),
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
        let example = link(path, given.iter().map(|(name, value)| (*name, value.as_str())));
        let key = if needs_keys && requires_key(path) { " -H 'API-Key: KEY'" } else { "" };
        let body = &operation["requestBody"]["content"]["application/json"];
        let curl = if method == "get" {
            format!("curl{key} '{origin}{example}'")
        } else if body.is_object() {
            let json = r#"{"url":"https://www.example.org/"}"#;
            format!("curl{key} -H 'Content-Type: application/json' -d '{json}' '{origin}{path}'")
        } else {
            format!("curl{key} -X POST '{origin}{example}'")
        };
        let id = text(&operation["operationId"]);
        let answers = operation["responses"].as_object().into_iter().flatten();
        OperationView {
            id,
            method: method.to_uppercase(),
            path,
            title: translate(id, "summary", text(&operation["summary"]).trim_end_matches('.')),
            text: spans(translate(id, "description", text(&operation["description"]))),
            parameters: parameters
                .iter()
                .map(|p| ParameterView {
                    name: text(&p["name"]),
                    is_required: p["required"] == true,
                    kind: kind(document, &p["schema"], messages),
                    text: spans(translate(
                        id,
                        &format!("param.{}", text(&p["name"])),
                        text(&p["description"]),
                    )),
                })
                .collect(),
            answers: answers
                .map(|(status, answer)| ResponseView {
                    status,
                    text: translate(id, &format!("response.{status}"), text(&answer["description"])),
                })
                .collect(),
            example: (method == "get" && key.is_empty()).then_some(example),
            curl,
        }
    };
    operations.map(view).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Describes the values of a parameter in a few words.
fn kind(document: &Value, schema: &Value, messages: &Messages) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|at| at.strip_prefix("#/components/schemas/")) {
        return kind(document, &document["components"]["schemas"][name], messages);
    }
    if let Some(all) = schema["allOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return all.first().map(|first| kind(document, first, messages)).unwrap_or_default();
    }
    if let Some(choices) = schema["enum"].as_array() {
        return choices.iter().map(text).collect::<Vec<_>>().join(" · ");
    }
    match (schema["type"].as_str(), schema["minimum"].as_u64(), schema["maximum"].as_u64()) {
        (Some("integer"), Some(from), Some(to)) => fill(messages.api_number, &[&grouped(from), &grouped(to)]),
        _ => messages.api_text.to_string(),
    }
}

fn spans(text: &str) -> Vec<TextSpan<'_>> {
    let parts = text.split('`').enumerate();
    parts
        .filter(|(_, text)| !text.is_empty())
        .map(|(n, text)| TextSpan { text, is_code: n % 2 == 1 })
        .collect()
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
        assert!(chinese.text().contains("<b>提交网址。</b>") && !chinese.text().contains("Submit a URL"));
        assert!(
            chinese.text().contains("curl -H &#39;API-Key: KEY&#39; &#39;http://localhost/api/v1/stats&#39;")
        );
        assert!(chinese.text().contains("https://www.example.org") && !chinese.text().contains("secret"));
    }
}
