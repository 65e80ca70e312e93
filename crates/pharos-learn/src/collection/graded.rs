//! Collections for re-ranking: `graded.tsv` with query, title and grade on each line.

use std::collections::HashMap;
use std::path::Path;

use super::file::{CollectionReader, grade, lines};
use super::{Collection, CollectionError, TestDocument, TestQuery};

/// Reads `graded.tsv`. A document is named by its line number, since a title may occur twice; a query by its number
/// among the queries.
pub(super) fn read(reader: &mut CollectionReader, path: &Path) -> Result<Collection, CollectionError> {
    let text = reader.text(path)?;
    let mut collection = Collection::default();
    let mut by_text: HashMap<&str, usize> = HashMap::new();
    for (number, line) in lines(&text) {
        let wrong = |problem| CollectionError::line(path, number, problem);
        let (text, title, grade) = columns(line).map_err(wrong)?;
        let at = *by_text.entry(text).or_insert(collection.queries.len());
        if at == collection.queries.len() {
            let id = (at + 1).to_string();
            collection.queries.push(TestQuery { id, text: text.to_owned(), ..TestQuery::default() });
        }
        let id = number.to_string();
        let query = &mut collection.queries[at];
        query.judged.insert(id.clone(), grade);
        query.candidates.get_or_insert_default().push(id.clone());
        collection.documents.push(TestDocument { id, title: title.to_owned(), ..TestDocument::default() });
    }
    if collection.queries.is_empty() {
        return Err(CollectionError::line(path, 1, "the file contains no queries"));
    }
    Ok(collection)
}

fn columns(line: &str) -> Result<(&str, &str, u32), String> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [query, title, given] = columns[..] else {
        return Err(format!(
            "{} columns, but a line is query, title and grade separated by tabs",
            columns.len()
        ));
    };
    if query.trim().is_empty() {
        return Err("the first column has no query".to_owned());
    }
    Ok((query.trim(), title.trim(), grade(given)?))
}
