//! Metadata of a page in JSON-LD (schema.org).

use std::collections::HashMap;

use pharos_core::work::spend_work;
use serde_json::Value;

use super::breadcrumbs;

/// Maximum size of a script; longer ones are data for scripts and no description of the page.
const MAX_BYTES: usize = 1 << 20;

/// Maximum number of nodes examined per page.
const MAX_NODES: usize = 500;

/// Metadata found by [`read`]; the most specific node wins.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct JsonLdMetadata {
    pub(super) headline: Option<String>,
    pub(super) published: Option<String>,
    pub(super) modified: Option<String>,
    pub(super) author: Option<String>,
    pub(super) site_name: Option<String>,
    pub(super) image: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) keywords: Option<String>,
    pub(super) breadcrumbs: Vec<String>,
}

/// Class of a node by how specifically it describes the page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SubjectClass {
    Article,
    Post,
    Page,
}

/// Merges the metadata of all scripts of a page. `serde_json` limits the depth to 128.
pub(super) fn read(scripts: &[String]) -> JsonLdMetadata {
    let documents: Vec<Value> = scripts.iter().filter_map(|script| parse(script)).collect();
    let mut nodes = Vec::new();
    for document in &documents {
        gather(document, &mut nodes);
    }
    let mut subjects: Vec<(SubjectClass, &Value)> =
        nodes.iter().filter_map(|node| Some((subject(node)?, *node))).collect();
    subjects.sort_by_key(|(subject, _)| *subject);
    let named = named_nodes(&nodes);
    let mut lists = nodes.iter().map(|node| breadcrumbs::from_json_ld(node));
    let breadcrumbs = lists.find(|crumbs| !crumbs.is_empty()).unwrap_or_default();
    let mut described = JsonLdMetadata { breadcrumbs, ..JsonLdMetadata::default() };
    for (subject, node) in subjects {
        spend_work(1);
        described.add(subject, node, &named);
    }
    described
}

/// The nodes with a name, by their `@id`.
type NamedNodes<'a> = HashMap<&'a str, &'a Value>;

/// Returns the nodes with a name; of several with the same `@id`, the first.
fn named_nodes<'a>(nodes: &[&'a Value]) -> NamedNodes<'a> {
    let mut named = NamedNodes::new();
    for node in nodes.iter().filter(|node| node.get("name").is_some()) {
        if let Some(id) = node.get("@id").and_then(Value::as_str) {
            named.entry(id).or_insert(node);
        }
    }
    named
}

fn parse(script: &str) -> Option<Value> {
    if script.len() > MAX_BYTES {
        return None;
    }
    spend_work(script.len() as u64);
    let trimmed = script.trim().trim_start_matches("<!--").trim_start_matches("//<![CDATA[");
    let trimmed = trimmed.trim_end_matches("-->").trim_end_matches("//]]>").trim().trim_end_matches(';');
    serde_json::from_str(trimmed)
        .or_else(|_| {
            // Line feeds inside strings are the usual mistake.
            let plain = trimmed.replace(|c: char| c.is_control(), " ");
            serde_json::from_str(&plain)
        })
        .ok()
}

/// Collects the nodes of a document: in lists, in `@graph`, as main entity, and as breadcrumbs.
fn gather<'a>(document: &'a Value, nodes: &mut Vec<&'a Value>) {
    let mut waiting = vec![document];
    while let Some(value) = waiting.pop() {
        if nodes.len() >= MAX_NODES {
            return;
        }
        spend_work(1);
        match value {
            // Reversed so that the first is examined first.
            Value::Array(values) => waiting.extend(values.iter().take(MAX_NODES).rev()),
            Value::Object(members) => {
                nodes.push(value);
                let inner = ["mainEntity", "mainEntityOfPage", "@graph", "breadcrumb"];
                waiting.extend(inner.iter().filter_map(|name| members.get(*name)));
            }
            _ => {}
        }
    }
}

fn subject(node: &Value) -> Option<SubjectClass> {
    let kinds = match node.get("@type")? {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let of_kind = |kind: &str| {
        let kind = kind.rsplit(['/', ':']).next().unwrap_or(kind);
        match kind {
            "DiscussionForumPosting"
            | "Question"
            | "QAPage"
            | "SocialMediaPosting"
            | "VideoObject"
            | "Recipe"
            | "PodcastEpisode"
            | "Product"
            | "Event"
            | "Dataset"
            | "SoftwareApplication" => Some(SubjectClass::Post),
            _ if kind.ends_with("Article") || kind.ends_with("BlogPosting") || kind == "Report" => {
                Some(SubjectClass::Article)
            }
            "Review" | "HowTo" | "Course" => Some(SubjectClass::Post),
            _ if kind.ends_with("Page") || kind == "CreativeWork" => Some(SubjectClass::Page),
            _ => None,
        }
    };
    kinds.into_iter().filter_map(of_kind).min()
}

impl JsonLdMetadata {
    fn add(&mut self, subject: SubjectClass, node: &Value, named: &NamedNodes<'_>) {
        let text = |name: &str| node.get(name).and_then(Value::as_str).map(str::to_string);
        set_if_none(&mut self.published, || text("datePublished").or_else(|| text("dateCreated")));
        set_if_none(&mut self.modified, || text("dateModified"));
        set_if_none(&mut self.headline, || {
            text("headline").or_else(|| text("name").filter(|_| subject != SubjectClass::Page))
        });
        set_if_none(&mut self.summary, || text("description"));
        if subject != SubjectClass::Page {
            let writer = node.get("author").or_else(|| node.get("creator"));
            set_if_none(&mut self.author, || names(writer?, named));
        }
        let site = node.get("isPartOf").filter(|whole| whole.get("@type").is_some_and(|t| t == "WebSite"));
        set_if_none(&mut self.site_name, || names(node.get("publisher").or(site)?, named));
        set_if_none(&mut self.image, || address(node.get("image")?, named));
        set_if_none(&mut self.keywords, || match node.get("keywords")? {
            Value::String(words) => Some(words.clone()),
            Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")),
            _ => None,
        });
    }
}

fn set_if_none(slot: &mut Option<String>, value: impl FnOnce() -> Option<String>) {
    if slot.is_none() {
        *slot = value().filter(|text| !text.trim().is_empty());
    }
}

/// Returns the name of one or more persons or organisations: a text, an object, or an `{"@id": …}` reference.
fn names(value: &Value, named: &NamedNodes<'_>) -> Option<String> {
    const MOST: usize = 10;
    let single = std::slice::from_ref(value);
    let values = value.as_array().map_or(single, Vec::as_slice);
    let names: Vec<&str> = values.iter().take(MOST).filter_map(|value| name(value, named)).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn name<'a>(value: &'a Value, named: &NamedNodes<'a>) -> Option<&'a str> {
    spend_work(1);
    let name = match value {
        Value::String(name) => Some(name.as_str()),
        Value::Object(_) => {
            let own = value.get("name").or_else(|| resolved(value, named)?.get("name"))?;
            own.as_str().or_else(|| own.get(0)?.as_str())
        }
        _ => None,
    };
    name.map(str::trim).filter(|name| !name.is_empty() && !name.contains("://"))
}

fn resolved<'a>(value: &Value, named: &NamedNodes<'a>) -> Option<&'a Value> {
    named.get(value.get("@id")?.as_str()?).copied()
}

fn address(value: &Value, named: &NamedNodes<'_>) -> Option<String> {
    let first = value.get(0).unwrap_or(value);
    match first {
        Value::String(address) => Some(address.clone()),
        Value::Object(_) => {
            let url = first.get("url").or_else(|| resolved(first, named)?.get("url"))?;
            url.as_str().map(str::to_string)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::work::measure_work;
    use proptest::prelude::*;

    use super::*;

    fn described(script: &str) -> JsonLdMetadata {
        read(&[script.to_string()])
    }

    #[test]
    fn graphs_lists_and_references() {
        let found = described(
            r##"{"@context":"https://schema.org","@graph":[
              {"@type":"WebPage","datePublished":"2020-01-01","name":"Page"},
              {"@type":["NewsArticle","Thing"],"headline":"Lit","datePublished":"2021-02-03T04:05:06Z",
               "author":{"@id":"#ann"},"publisher":{"@type":"Organization","name":"Pharos News"},
               "image":[{"url":"/a.png"}]},
              {"@type":"Person","@id":"#ann","name":"Ann"}]}"##,
        );
        assert_eq!(found.published.as_deref(), Some("2021-02-03T04:05:06Z"));
        assert_eq!(found.headline.as_deref(), Some("Lit"));
        assert_eq!((found.author.as_deref(), found.site_name.as_deref()), (Some("Ann"), Some("Pharos News")));
        assert_eq!(found.image.as_deref(), Some("/a.png"));
        let listed = described(r#"[{"@type":"BlogPosting","author":["A","B"],"keywords":["x","y"]}];"#);
        assert_eq!((listed.author.as_deref(), listed.keywords.as_deref()), (Some("A, B"), Some("x,y")));
    }

    #[test]
    fn mistakes_are_forgiven_and_depth_is_not() {
        let broken = "<!-- {\"@type\":\"Article\",\"headline\":\"two\nlines\"} -->";
        assert_eq!(described(broken).headline.as_deref(), Some("two lines"));
        assert_eq!(described(&"[".repeat(100_000)), JsonLdMetadata::default());
        assert_eq!(described(&"{\"@graph\":".repeat(100_000)), JsonLdMetadata::default());
    }

    /// At most three steps per byte, whatever the nesting and the number of nodes and references.
    #[test]
    fn the_work_on_scripts_is_linear() {
        let node =
            r##"{"@type":"Article","@id":"#","author":[{"@id":"#"},{"@id":"#"}],"image":{"@id":"#"}},"##;
        for count in [500, 4_000] {
            let list = |unit: &str| {
                let units: String =
                    (0..count).map(|number| unit.replace('#', &format!("{number:030}"))).collect();
                format!("{{\"@graph\":[{units}null]}}")
            };
            let nested = format!("{}{}", "[".repeat(count), "]".repeat(count));
            let graphs = r#"{"@graph":{"mainEntity":["#.repeat(count);
            for script in [list(node), list("[[[]]],"), list("[[{}],[{}]],"), list("{},"), nested, graphs] {
                let scripts = [script.clone(), script];
                let bytes: usize = scripts.iter().map(String::len).sum();
                let steps = measure_work(|| read(&scripts)).1;
                assert!(steps <= 3 * bytes as u64, "{}: {steps} steps for {bytes} bytes", &scripts[0][..20]);
            }
        }
    }

    proptest! {
        #[test]
        fn any_script_is_read(script in "(\\{|\\}|\\[|\\]|:|,|\"@type\"|\"@graph\"|\"@id\"|\"Article\"|\"author\"|\"name\"|\"x\"|1|null){0,40}") {
            described(&script);
        }
    }
}
