//! Relevance judgements in TREC format (qrels).

use std::collections::HashMap;
use std::collections::btree_map::Entry;

use super::file::{CollectionReader, grade, lines};
use super::{CollectionError, TestQuery};

/// Reads `qrels.txt` into the queries. Returns the number of judgements for other queries.
///
/// Judgements often cover more queries than the collection, so these are not an error. If all judgements are for other
/// queries, the files do not belong together, and an error is returned.
pub(super) fn read(
    reader: &mut CollectionReader,
    queries: &mut [TestQuery],
) -> Result<usize, CollectionError> {
    let Some(path) = reader.find("qrels.txt") else {
        return Err(reader.missing("judgements", "qrels.txt (lines of query id, 0, document id, grade)"));
    };
    let text = reader.text(&path)?;
    let by_id: HashMap<String, usize> =
        (0..).zip(queries.iter()).map(|(at, query)| (query.id.clone(), at)).collect();
    let (mut taken, mut left_out) = (0, 0);
    for (number, line) in lines(&text) {
        let wrong = |problem| CollectionError::line(&path, number, problem);
        let (query, document, grade) = columns(line).map_err(wrong)?;
        let Some(&at) = by_id.get(query) else {
            left_out += 1;
            continue;
        };
        taken += 1;
        match queries[at].judged.entry(document.to_owned()) {
            Entry::Vacant(place) => {
                place.insert(grade);
            }
            Entry::Occupied(before) if *before.get() == grade => {}
            Entry::Occupied(before) => {
                let before = before.get();
                let problem = format!(
                    "conflicting grades for document `{document}` and query `{query}`: {before} above, {grade} here"
                );
                return Err(wrong(problem));
            }
        }
    }
    if taken == 0 {
        return Err(CollectionError::line(
            &path,
            1,
            "no judgement in this file refers to a query of the collection",
        ));
    }
    Ok(left_out)
}

/// Parses query, document and grade of a line. The second of four columns is obsolete.
fn columns(line: &str) -> Result<(&str, &str, u32), String> {
    let columns: Vec<&str> = line.split_whitespace().take(5).collect();
    match columns[..] {
        [query, _, document, given] | [query, document, given] => Ok((query, document, grade(given)?)),
        _ => {
            Err("a line has four columns (query id, 0, document id, grade), or three without the 0"
                .to_owned())
        }
    }
}
