//! Taxonomies (分类体系): categories with stable ids, names in English and Chinese, and places in a tree.
//!
//! 《搜索引擎——原理、技术与系统》§11.4 uses three levels below twelve top categories. Ids never change: pages, examples and
//! overrides refer to them, while names and places may be edited. Taxonomies are exchanged as JSON and as CSV.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Maximum number of categories.
pub const MAX_CATEGORIES: usize = 10_000;

/// Maximum number of levels.
pub const MAX_DEPTH: usize = 8;

/// Maximum length of an id in bytes.
pub const MAX_ID: usize = 64;

/// Maximum length of a name in characters.
pub const MAX_NAME: usize = 100;

/// Maximum number of synonyms of a category.
pub const MAX_SYNONYMS: usize = 50;

/// Columns of the CSV form. Synonyms are separated by `|`.
const COLUMNS: [&str; 5] = ["id", "parent", "en", "zh", "synonyms"];

/// A category.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// Lower-case letters, digits and hyphens.
    pub id: String,
    /// Category above; `None` for a top category.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Name in English.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub en: String,
    /// Name in Chinese.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub zh: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<String>,
}

impl Category {
    /// Returns the name in Chinese or English, or else in the other language.
    pub fn name(&self, in_chinese: bool) -> &str {
        let (first, second) = if in_chinese { (&self.zh, &self.en) } else { (&self.en, &self.zh) };
        if first.is_empty() { second } else { first }
    }
}

/// Defect of a taxonomy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaxonomyError {
    #[error("there are more than {MAX_CATEGORIES} categories")]
    TooMany,
    #[error("`{0}` is not an id: use up to {MAX_ID} lower-case letters, digits and hyphens")]
    InvalidId(String),
    #[error("the id `{0}` occurs twice")]
    Duplicate(String),
    #[error("`{id}` is below `{parent}`, which does not exist")]
    UnknownParent { id: String, parent: String },
    #[error("`{0}` is below itself")]
    Cycle(String),
    #[error("`{0}` is below more than {MAX_DEPTH} levels")]
    TooDeep(String),
    #[error("`{0}` has no name")]
    NoName(String),
    #[error("`{0}` has a name of more than {MAX_NAME} characters, or more than {MAX_SYNONYMS} synonyms")]
    LongName(String),
    #[error("`{0}` has categories below it: move or remove them first")]
    HasChildren(String),
    #[error("there is no category `{0}`")]
    Missing(String),
    #[error("it is neither JSON nor CSV of a taxonomy: {0}")]
    Format(String),
}

/// Categories in a tree. The order of the categories is the order in which they are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taxonomy {
    categories: Vec<Category>,
    places: HashMap<String, usize>,
}

/// The JSON form.
#[derive(Serialize, Deserialize)]
struct TaxonomyFile {
    categories: Vec<Category>,
}

impl Taxonomy {
    /// Checks categories and puts them in a tree.
    pub fn new(categories: Vec<Category>) -> Result<Self, TaxonomyError> {
        if categories.len() > MAX_CATEGORIES {
            return Err(TaxonomyError::TooMany);
        }
        let mut places = HashMap::with_capacity(categories.len());
        for (place, category) in categories.iter().enumerate() {
            check(category)?;
            if places.insert(category.id.clone(), place).is_some() {
                return Err(TaxonomyError::Duplicate(category.id.clone()));
            }
        }
        let taxonomy = Self { categories, places };
        for category in &taxonomy.categories {
            taxonomy.check_place(category)?;
        }
        Ok(taxonomy)
    }

    fn check_place(&self, category: &Category) -> Result<(), TaxonomyError> {
        let (mut at, mut depth) = (category, 1);
        while let Some(parent) = &at.parent {
            let unknown = || TaxonomyError::UnknownParent { id: at.id.clone(), parent: parent.clone() };
            at = self.get(parent).ok_or_else(unknown)?;
            depth += 1;
            if at.id == category.id {
                return Err(TaxonomyError::Cycle(category.id.clone()));
            }
            // A chain without end leads into a cycle that does not contain this category.
            if depth > self.categories.len() {
                return Err(TaxonomyError::Cycle(at.id.clone()));
            }
        }
        if depth > MAX_DEPTH { Err(TaxonomyError::TooDeep(category.id.clone())) } else { Ok(()) }
    }

    /// Reads the JSON or the CSV form.
    pub fn parse(text: &str) -> Result<Self, TaxonomyError> {
        let text = text.trim_start_matches('\u{FEFF}').trim_start();
        if text.starts_with('{') {
            let file: TaxonomyFile =
                serde_json::from_str(text).map_err(|error| TaxonomyError::Format(error.to_string()))?;
            return Self::new(file.categories);
        }
        Self::new(read_csv(text)?)
    }

    /// Returns the JSON form.
    pub fn to_json(&self) -> String {
        let file = TaxonomyFile { categories: self.categories.clone() };
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns the CSV form.
    pub fn to_csv(&self) -> String {
        let mut text = COLUMNS.join(",");
        text.push('\n');
        for category in &self.categories {
            let synonyms = category.synonyms.join("|");
            let parent = category.parent.as_deref().unwrap_or_default();
            let fields = [&category.id, parent, &category.en, &category.zh, &synonyms].map(quoted);
            let _ = writeln!(text, "{}", fields.join(","));
        }
        text
    }

    /// Returns all categories in their order.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// Returns `true` if there are no categories.
    pub fn is_empty(&self) -> bool {
        self.categories.is_empty()
    }

    /// Returns a category.
    pub fn get(&self, id: &str) -> Option<&Category> {
        self.places.get(id).map(|place| &self.categories[*place])
    }

    /// Returns the categories directly below one, or the top categories.
    pub fn children<'a>(&'a self, parent: Option<&'a str>) -> impl Iterator<Item = &'a Category> {
        self.categories.iter().filter(move |category| category.parent.as_deref() == parent)
    }

    /// Returns a category and those above it, from the top; nothing for an unknown one.
    pub fn path(&self, id: &str) -> Vec<&Category> {
        let mut path: Vec<&Category> = Vec::new();
        let mut next = self.get(id);
        while let Some(category) = next {
            path.push(category);
            next = category.parent.as_deref().and_then(|parent| self.get(parent));
        }
        path.reverse();
        path
    }

    /// Returns all categories in the order of the tree, each with its level from 0.
    pub fn tree(&self) -> Vec<(usize, &Category)> {
        let mut below: HashMap<Option<&str>, Vec<&Category>> = HashMap::new();
        for category in &self.categories {
            below.entry(category.parent.as_deref()).or_default().push(category);
        }
        let mut tree = Vec::with_capacity(self.categories.len());
        let mut open: Vec<(usize, &Category)> = Vec::new();
        let push = |open: &mut Vec<_>, level, parent: Option<&str>| {
            let children = below.get(&parent).into_iter().flatten().rev();
            open.extend(children.map(|category| (level, *category)));
        };
        push(&mut open, 0, None);
        while let Some((level, category)) = open.pop() {
            tree.push((level, category));
            push(&mut open, level + 1, Some(&category.id));
        }
        tree
    }

    /// Returns the category with this id, name or synonym. Case does not matter.
    pub fn find(&self, name: &str) -> Option<&Category> {
        let name = name.trim().to_lowercase();
        let is_named = |category: &&Category| {
            let mut names = [&category.en, &category.zh].into_iter().chain(&category.synonyms);
            names.any(|other| other.to_lowercase() == name)
        };
        self.get(&name).or_else(|| self.categories.iter().find(is_named).filter(|_| !name.is_empty()))
    }

    /// Adds counts of categories to those above them.
    pub fn roll_up(&self, counts: &HashMap<String, u64>) -> HashMap<String, u64> {
        let mut sums: HashMap<String, u64> = HashMap::new();
        for (id, count) in counts {
            for category in self.path(id) {
                *sums.entry(category.id.clone()).or_default() += count;
            }
        }
        sums
    }

    /// Adds a category, or replaces the one with its id.
    pub fn put(&self, category: Category) -> Result<Self, TaxonomyError> {
        let mut categories = self.categories.clone();
        match self.places.get(&category.id) {
            Some(place) => categories[*place] = category,
            None => categories.push(category),
        }
        Self::new(categories)
    }

    /// Removes a category without others below it.
    pub fn remove(&self, id: &str) -> Result<Self, TaxonomyError> {
        if self.get(id).is_none() {
            return Err(TaxonomyError::Missing(id.to_string()));
        }
        if self.children(Some(id)).next().is_some() {
            return Err(TaxonomyError::HasChildren(id.to_string()));
        }
        Self::new(self.categories.iter().filter(|category| category.id != id).cloned().collect())
    }
}

fn check(category: &Category) -> Result<(), TaxonomyError> {
    let id = || category.id.clone();
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if category.id.is_empty() || category.id.len() > MAX_ID || !category.id.chars().all(is_allowed) {
        return Err(TaxonomyError::InvalidId(id().chars().take(2 * MAX_ID).collect()));
    }
    if category.name(false).trim().is_empty() {
        return Err(TaxonomyError::NoName(id()));
    }
    let mut names = [&category.en, &category.zh].into_iter().chain(&category.synonyms);
    let is_long = names.any(|name| name.chars().count() > MAX_NAME);
    if is_long || category.synonyms.len() > MAX_SYNONYMS {
        return Err(TaxonomyError::LongName(id()));
    }
    Ok(())
}

fn read_csv(text: &str) -> Result<Vec<Category>, TaxonomyError> {
    let format = |error: csv::Error| TaxonomyError::Format(error.to_string());
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(format)?.clone();
    let column = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
    let places = COLUMNS.map(column);
    if places[0].is_none() {
        return Err(TaxonomyError::Format(format!(
            "the first line must name columns: {}",
            COLUMNS.join(",")
        )));
    }
    let mut categories = Vec::new();
    for record in reader.records() {
        let record = record.map_err(format)?;
        let [id, parent, en, zh, synonyms] =
            places.map(|place| place.and_then(|place| record.get(place)).unwrap_or_default());
        if categories.len() > MAX_CATEGORIES {
            return Err(TaxonomyError::TooMany);
        }
        categories.push(Category {
            id: id.to_string(),
            parent: (!parent.is_empty()).then(|| parent.to_string()),
            en: en.to_string(),
            zh: zh.to_string(),
            synonyms: synonyms
                .split('|')
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .map(Into::into)
                .collect(),
        });
    }
    Ok(categories)
}

/// Quotes a CSV field if needed.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_string()
    }
}

#[cfg(test)]
mod tests;
