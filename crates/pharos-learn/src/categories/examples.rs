//! Examples of categories: texts, pages, sections of sites, and searches.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Maximum number of examples.
pub const MAX_EXAMPLES: usize = 200_000;

/// Maximum length of an example in bytes.
pub const MAX_EXAMPLE: usize = 4_000;

/// Kind of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExampleKind {
    /// A text.
    Text,
    /// The URL of a page.
    Url,
    /// A site, or the beginning of URLs: every page there is an example.
    Section,
    /// A query: its best results are examples.
    Search,
}

impl ExampleKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Text, Self::Url, Self::Section, Self::Search];

    /// Returns the name in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Url => "url",
            Self::Section => "section",
            Self::Search => "search",
        }
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// An example of a category.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CategoryExample {
    pub category: String,
    pub kind: ExampleKind,
    pub value: String,
}

impl CategoryExample {
    /// Creates an example. Returns `None` if the value is empty or too long.
    pub fn new(category: &str, kind: ExampleKind, value: &str) -> Option<Self> {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let value = if kind == ExampleKind::Section { without_scheme(&value).to_string() } else { value };
        let is_usable = !value.is_empty() && value.len() <= MAX_EXAMPLE;
        is_usable.then(|| Self { category: category.to_string(), kind, value })
    }
}

/// Returns a URL without its scheme.
pub fn without_scheme(url: &str) -> &str {
    url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url)
}

/// Returns `true` if a URL without scheme lies in a section: the section ends there or at a division of the URL.
pub fn is_in_section(url: &str, section: &str) -> bool {
    let Some(rest) = url.strip_prefix(section) else { return false };
    section.ends_with(['/', '?', '-', '_', '=']) || rest.is_empty() || rest.starts_with(['/', '?', '#'])
}

/// Reads examples from CSV with the columns `category,kind,value`, or from lines `category<TAB>value` whose values are URLs
/// or texts. Returns the examples and the number of lines that cannot be used.
pub fn parse(text: &str) -> (Vec<CategoryExample>, usize) {
    let text = text.trim_start_matches('\u{FEFF}');
    let is_list = text.lines().next().is_some_and(|first| first.contains('\t'));
    let read: Vec<Option<CategoryExample>> = if is_list { parse_list(text) } else { parse_csv(text) };
    let lines = read.len();
    let mut examples: Vec<CategoryExample> = read.into_iter().flatten().collect();
    examples.retain(|example| !example.category.is_empty());
    examples.truncate(MAX_EXAMPLES);
    let unusable = lines - examples.len();
    (examples, unusable)
}

/// Reads lines of a category, a tab, and a URL or a text.
fn parse_list(text: &str) -> Vec<Option<CategoryExample>> {
    let example = |line: &str| {
        let (category, value) = line.split_once('\t')?;
        CategoryExample::new(category.trim(), kind_of(value.trim()), value)
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(example).collect()
}

/// Reads CSV with the columns category, kind and value; names of the columns are recognised.
fn parse_csv(text: &str) -> Vec<Option<CategoryExample>> {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut examples = Vec::new();
    for (nth, record) in reader.records().enumerate() {
        let record = record.unwrap_or_default();
        let field = |nth| record.get(nth).unwrap_or_default();
        if !(nth == 0 && field(0).eq_ignore_ascii_case("category")) {
            let kind = ExampleKind::named(field(1));
            examples.push(kind.and_then(|kind| CategoryExample::new(field(0), kind, field(2))));
        }
    }
    examples
}

/// Returns the kind of an example without a declared one.
fn kind_of(value: &str) -> ExampleKind {
    if value.starts_with("http://") || value.starts_with("https://") {
        ExampleKind::Url
    } else {
        ExampleKind::Text
    }
}

/// Returns the CSV form.
pub fn to_csv(examples: &[CategoryExample]) -> String {
    let mut text = String::from("category,kind,value\n");
    for example in examples {
        let value = example.value.replace('"', "\"\"");
        let _ = writeln!(text, "{},{},\"{value}\"", example.category, example.kind.name());
    }
    text
}

/// Adds examples that are new. Returns their number.
pub fn merge(examples: &mut Vec<CategoryExample>, new: Vec<CategoryExample>) -> usize {
    let before = examples.len();
    let mut known: BTreeSet<CategoryExample> = examples.iter().cloned().collect();
    for example in new {
        if examples.len() < MAX_EXAMPLES && known.insert(example.clone()) {
            examples.push(example);
        }
    }
    examples.len() - before
}

#[cfg(test)]
mod tests;
