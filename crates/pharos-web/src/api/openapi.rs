//! The OpenAPI document, generated from the handlers and their types.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{ContentBuilder, OpenApi as Openapi, Ref, RefOr, ResponseBuilder, ServerBuilder};
use utoipa::{OpenApi, ToSchema};

use super::api_keys::requires_key;
use super::problem::Problem;
use super::{click, directory, page, queries, search, similar, stats, submit, suggest};
use crate::state::AppState;

pub(super) const PATH: &str = "/api/v1/openapi.json";

/// Media type of problem documents (RFC 9457).
const PROBLEM: &str = "application/problem+json";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Pharos",
        description = "Web search as JSON. Errors are problem documents (RFC 9457). Responses with status 429 or 503 \
                       give the seconds to wait in `Retry-After`.",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(
        search::search,
        similar::similar,
        suggest::suggest,
        suggest::hot,
        page::page,
        stats::stats,
        queries::queries,
        directory::directory,
        submit::submit,
        click::click,
        openapi
    ),
    components(schemas(
        Problem,
        search::Switch,
        search::Sort,
        search::AnswerForm,
        suggest::HotList,
        suggest::HotWindow,
        queries::QueryListName,
        queries::QueryLanguageName,
        click::ClickParam
    ))
)]
struct ApiDoc;

/// The document as served, and parsed for the guide.
pub(crate) struct OpenApiDocument {
    pub(super) json: serde_json::Value,
    text: Bytes,
}

impl OpenApiDocument {
    pub(super) fn new(needs_keys: bool) -> Self {
        let json = serde_json::to_value(build_document(needs_keys)).unwrap_or_default();
        Self { text: json.to_string().into(), json }
    }
}

/// OpenAPI document.
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    tag = "About",
    responses((status = 200, description = "OpenAPI 3.1 document", body = serde_json::Value, content_type = "application/json"))
)]
pub(crate) async fn openapi(State(app): State<AppState>) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "public, max-age=3600")];
    (headers, app.api().document().text.clone()).into_response()
}

/// Builds the document and adds version, servers and, if keys are needed, the security schemes.
fn build_document(needs_keys: bool) -> Openapi {
    let mut document = ApiDoc::openapi();
    document.info.version = pharos_core::VERSION.to_string();
    document.servers = Some(vec![ServerBuilder::new().url("/").build()]);
    if needs_keys {
        let components = document.components.get_or_insert_default();
        let key = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("API-Key")));
        components.add_security_scheme("key", key);
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("bearer", bearer);
    }
    for (path, item) in &mut document.paths.paths {
        for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
            complete_operation(operation, needs_keys && requires_key(path));
        }
    }
    document
}

/// Adds the responses common to all operations, and the problem document to all errors.
fn complete_operation(operation: &mut Operation, is_locked: bool) {
    let answers = &mut operation.responses.responses;
    let mut add = |status: &str, description: &str| {
        let response = || ResponseBuilder::new().description(description).build().into();
        answers.entry(status.to_string()).or_insert_with(response);
    };
    add("429", "Too many requests from this address or with this key");
    add("500", "Internal error");
    add("503", "The server is overloaded");
    if is_locked {
        add("401", "The API key is missing, wrong, ended or revoked");
        add("403", "The API key does not permit this request");
        let either = ["key", "bearer"].map(|scheme| SecurityRequirement::new(scheme, [""; 0]));
        operation.security = Some(either.into());
    }
    for (status, response) in &mut operation.responses.responses {
        let RefOr::T(response) = response else { continue };
        if !status.starts_with(['4', '5']) {
            continue;
        }
        let problem = Ref::from_schema_name(Problem::name());
        response
            .content
            .insert(PROBLEM.into(), RefOr::T(ContentBuilder::new().schema(Some(problem)).build()));
        let header = |kind, description| {
            let schema = ObjectBuilder::new().schema_type(kind).build();
            HeaderBuilder::new().schema(Some(schema)).description(Some(description)).build()
        };
        if matches!(status.as_str(), "429" | "503") {
            let after = header(Type::Integer, "Seconds to wait before the next request");
            response.headers.insert("Retry-After".into(), RefOr::T(after));
        }
        if status == "401" {
            let how = header(Type::String, "Authentication scheme");
            response.headers.insert("WWW-Authenticate".into(), RefOr::T(how));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::http::{Method, StatusCode};
    use pharos_core::{Config, PageUrl};
    use proptest::string::string_regex;
    use serde_json::{Value, json};

    use super::super::route_table;
    use super::*;
    use crate::router;
    use crate::testing::{TestPage, engine, get, send};

    const PAGES: [TestPage; 3] = [
        TestPage::new(
            "https://www.example.org/a",
            "Lighthouse",
            "The lighthouse stands on a rock by the sea.",
        ),
        TestPage::new(
            "https://www.example.org/b",
            "Lighthouses",
            "The lighthouse stands on a rock by the harbour.",
        ),
        TestPage::new("https://example.cn/c", "灯塔与航海", "灯塔为航海者指引方向。"),
    ];

    fn document() -> Value {
        OpenApiDocument::new(false).json
    }

    /// Returns path, method and description of every operation.
    fn operations(document: &Value) -> Vec<(&str, Method, &Value)> {
        let paths = document["paths"].as_object().unwrap().iter();
        let of_path = |(path, item): (&'_ String, &'_ Value)| -> Vec<(String, String)> {
            item.as_object().unwrap().keys().map(|method| (path.clone(), method.clone())).collect()
        };
        let names: Vec<(String, String)> = paths.flat_map(of_path).collect();
        let find = |(path, method): (String, String)| {
            let (path, item) = document["paths"].as_object().unwrap().get_key_value(&path).unwrap();
            (path.as_str(), Method::from_bytes(method.to_uppercase().as_bytes()).unwrap(), &item[&method])
        };
        names.into_iter().map(find).collect()
    }

    /// Validates a value against a schema. Fields that the schema does not contain are errors, too.
    fn violations(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.strip_prefix("#/components/schemas/").unwrap();
            let meant = &document["components"]["schemas"][name];
            assert!(meant.is_object(), "{name} is not in the document");
            return violations(document, meant, value, at);
        }
        if let Some(choices) = schema["oneOf"].as_array() {
            let fitting =
                choices.iter().filter(|choice| violations(document, choice, value, at).is_empty()).count();
            return if fitting == 1 { Vec::new() } else { vec![format!("{at}: fits {fitting} of {schema}")] };
        }
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
            // Any value is valid.
            _ => return Vec::new(),
        };
        let fits = kinds.contains(&kind) || (kind == "integer" && kinds.contains(&"number"));
        if !fits {
            return vec![format!("{at}: is {value}, not {schema}")];
        }
        if schema["enum"].as_array().is_some_and(|choices| !choices.contains(value)) {
            return vec![format!("{at}: {value} is none of {schema}")];
        }
        let mut wrong = Vec::new();
        if let Value::Array(items) = value {
            let each = (0..).zip(items);
            wrong.extend(
                each.flat_map(|(n, item)| violations(document, &schema["items"], item, &format!("{at}/{n}"))),
            );
        }
        if let Value::Object(fields) = value {
            let known = schema["properties"].as_object();
            let others = &schema["additionalProperties"];
            for (name, field) in fields {
                match known.and_then(|known| known.get(name)) {
                    Some(schema) => {
                        wrong.extend(violations(document, schema, field, &format!("{at}/{name}")))
                    }
                    None if others.is_object() => {
                        wrong.extend(violations(document, others, field, &format!("{at}/{name}")));
                    }
                    None => wrong.push(format!("{at}/{name}: unknown field")),
                }
            }
            for name in schema["required"].as_array().into_iter().flatten() {
                if !fields.contains_key(name.as_str().unwrap()) {
                    wrong.push(format!("{at}: {name} is missing"));
                }
            }
        }
        wrong
    }

    #[test]
    fn the_document_has_exactly_the_routes() {
        let document = document();
        assert_eq!(document["openapi"], "3.1.0");
        let documented: BTreeSet<&str> = operations(&document).iter().map(|(path, ..)| *path).collect();
        assert_eq!(documented, route_table().iter().map(|(path, _)| *path).collect());
        for (path, method, operation) in operations(&document) {
            for status in ["429", "500", "503"] {
                let response = &operation["responses"][status];
                assert_eq!(
                    response["content"]["application/problem+json"]["schema"]["$ref"],
                    "#/components/schemas/Problem",
                    "{method} {path} {status}"
                );
                assert_eq!(
                    response["headers"]["Retry-After"].is_object(),
                    status != "500",
                    "{path} {status}"
                );
            }
            assert!(!operation["summary"].as_str().unwrap().is_empty(), "{path}");
            assert!(operation["security"].is_null(), "no key is needed: {path}");
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                assert!(parameter["description"].is_string(), "{path} {parameter}");
                assert!(
                    !parameter["schema"]["type"].is_array(),
                    "null is no value of a parameter: {parameter}"
                );
            }
        }
        let locked = OpenApiDocument::new(true).json;
        for (path, _, operation) in operations(&locked) {
            assert_eq!(operation["security"].is_array(), requires_key(path), "{path}");
            assert_eq!(operation["responses"]["401"].is_object(), requires_key(path), "{path}");
        }
        assert_eq!(locked["components"]["securitySchemes"]["key"]["name"], "API-Key");
    }

    #[tokio::test]
    async fn responses_match_their_schemas() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        let document = document();
        for path in [
            "/api/v1/search?q=lighthouse",
            "/api/v1/search?q=lighthouse&explain=1&facets=true&all=1&any=0&sort=date&size=1&page=2",
            "/api/v1/search?q=ligthhouse",
            "/api/v1/search?q=%E7%81%AF%E5%A1%94&explain=1",
            "/api/v1/search",
            "/api/v1/similar?url=https://www.example.org/a&size=3",
            "/api/v1/similar?url=https://www.example.org/none",
            "/api/v1/page?url=https://www.example.org/a",
            "/api/v1/page?url=https://www.example.org/a&object=1",
            "/api/v1/page?url=https://www.example.org/none",
            "/api/v1/page?url=x",
            "/api/v1/suggest?q=light",
            "/api/v1/hot",
            "/api/v1/hot?list=today",
            "/api/v1/hot?list=rising&window=hour",
            "/api/v1/hot?list=hours",
            "/api/v1/hot?list=hours&q=lighthouse",
            "/api/v1/hot?list=none",
            "/api/v1/stats",
            "/api/v1/directory",
            "/api/v1/directory?category=sea",
            "/api/v1/openapi.json",
        ] {
            let reply = get(&router, path).await;
            let route = path.split('?').next().unwrap();
            let responses = &document["paths"][route]["get"]["responses"];
            let response = &responses[reply.status.as_str()];
            assert!(response.is_object(), "{path} {}", reply.status);
            let schema = &response["content"][reply.header("content-type")]["schema"];
            assert!(!schema.is_null(), "{path} {}", reply.header("content-type"));
            let value: Value = serde_json::from_slice(&reply.bytes).unwrap();
            assert_eq!(violations(&document, schema, &value, ""), [""; 0], "{path}");
        }
    }

    #[tokio::test]
    async fn parameters_are_checked_against_their_ranges() {
        let (_dir, service) = engine(&PAGES, Config::default());
        let router = router(service).unwrap();
        let document = document();
        let resolved = |schema: &Value| match schema["$ref"].as_str() {
            Some(name) => {
                document["components"]["schemas"][name.strip_prefix("#/components/schemas/").unwrap()].clone()
            }
            None => schema.clone(),
        };
        for (path, method, operation) in operations(&document) {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            for tried in &parameters {
                let schema = resolved(&tried["schema"]);
                let name = tried["name"].as_str().unwrap();
                let mut right: Vec<String> = Vec::new();
                let mut wrong = Vec::new();
                if let Some(choices) = schema["enum"].as_array() {
                    right.extend(choices.iter().map(|choice| choice.as_str().unwrap().to_string()));
                    wrong.extend(["other", "", "2"].map(String::from));
                } else if schema["type"] == "integer" {
                    let (from, to) =
                        (schema["minimum"].as_u64().unwrap(), schema["maximum"].as_u64().unwrap());
                    right.extend([from, to].map(|number| number.to_string()));
                    wrong.extend([format!("{}", i128::from(from) - 1), (u128::from(to) + 1).to_string()]);
                    wrong.extend(["", "x", "1.5", "null"].map(String::from));
                } else if schema["pattern"].is_string() {
                    wrong.extend(["", "%20", "%00"].map(String::from));
                }
                let given = |value: &str| {
                    let others = parameters.iter().filter(|p| p["required"] == true && p["name"] != name);
                    let others = others.map(|p| {
                        let example =
                            p["example"].as_str().unwrap_or(if p["name"] == "rank" { "1" } else { "x" });
                        format!("&{}={example}", p["name"].as_str().unwrap())
                    });
                    format!("{path}?{name}={value}{}", others.collect::<String>())
                };
                for value in right {
                    let reply = send(&router, method.clone(), &given(&value), &[], "").await;
                    assert_ne!(reply.status, StatusCode::BAD_REQUEST, "{} {}", given(&value), reply.text());
                }
                for value in wrong {
                    let reply = send(&router, method.clone(), &given(&value), &[], "").await;
                    assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{}", given(&value));
                    assert_eq!(reply.header("content-type"), PROBLEM);
                }
                let twice = format!("{}&{name}=1", given("1"));
                assert_eq!(
                    send(&router, method.clone(), &twice, &[], "").await.status,
                    StatusCode::BAD_REQUEST,
                    "{twice}"
                );
            }
            for other in [
                Method::PUT,
                Method::DELETE,
                Method::PATCH,
                Method::TRACE,
                if method == Method::GET { Method::POST } else { Method::GET },
            ] {
                let reply = send(&router, other.clone(), path, &[], "").await;
                assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED, "{other} {path}");
                assert!(reply.header("allow").contains(method.as_str()), "{other} {path}");
                assert_eq!(reply.header("content-type"), PROBLEM);
            }
        }
    }

    #[test]
    fn schema_violations_are_detected() {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": { "a": { "type": ["string", "null"] }, "b": { "type": "array", "items": { "type": "integer" } } }
        });
        for right in [json!({ "a": null }), json!({ "a": "x", "b": [1, 2] })] {
            assert_eq!(violations(&Value::Null, &schema, &right, ""), [""; 0]);
        }
        for wrong in [
            json!({}),
            json!({ "a": 1 }),
            json!({ "a": "x", "c": 1 }),
            json!({ "a": "x", "b": [1.5] }),
            json!([]),
        ] {
            assert_eq!(violations(&Value::Null, &schema, &wrong, "").len(), 1, "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_url_that_matches_the_pattern_is_valid(url in {
            let document = document();
            let schema = &document["components"]["schemas"]["Submission"]["properties"]["url"];
            let pattern = schema["pattern"].as_str().unwrap().trim_matches(['^', '$']).to_string();
            string_regex(&pattern).unwrap()
        }) {
            // A label that claims to be Punycode may be invalid.
            proptest::prop_assume!(!url.to_ascii_lowercase().contains("xn--") && url.len() < 600);
            proptest::prop_assert!(PageUrl::parse(&url).is_ok(), "{}", url);
        }
    }
}
