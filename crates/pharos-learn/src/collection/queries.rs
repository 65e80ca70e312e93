//! Queries in a table or as TREC topics.

use std::collections::HashSet;

use super::file::{CollectionReader, check_id, count_lines, lines};
use super::{CollectionError, TestQuery};

/// A line number, and the id and text of the query that begins there, or an error.
type ParsedQuery = (usize, Result<(String, String), String>);

pub(super) fn read(reader: &mut CollectionReader) -> Result<Vec<TestQuery>, CollectionError> {
    let table = reader.find("queries.tsv").map(|path| (path, table as fn(&str) -> Vec<ParsedQuery>));
    let Some((path, parse)) = table.or_else(|| reader.find("topics.txt").map(|path| (path, topics as _)))
    else {
        return Err(reader.missing("queries", "queries.tsv (id, tab, text) or TREC topics (topics.txt)"));
    };
    let mut queries = Vec::new();
    let mut ids = HashSet::new();
    for (line, found) in parse(&reader.text(&path)?) {
        let query = found.and_then(|(id, text)| {
            check_id(&id)?;
            if text.is_empty() {
                return Err(format!("query `{id}` has no text"));
            }
            if !ids.insert(id.clone()) {
                return Err(format!("duplicate query id `{id}`"));
            }
            Ok(TestQuery { id, text, ..TestQuery::default() })
        });
        queries.push(query.map_err(|problem| CollectionError::line(&path, line, problem))?);
    }
    if queries.is_empty() {
        return Err(CollectionError::line(&path, 1, "the file contains no queries"));
    }
    Ok(queries)
}

fn table(text: &str) -> Vec<ParsedQuery> {
    let parse = |line: &str| match line.split_once('\t') {
        Some((id, text)) => Ok((id.trim().to_owned(), text.trim().to_owned())),
        None => Err("missing tab; a line is the id of a query, a tab, and its text".to_owned()),
    };
    lines(text).map(|(number, line)| (number, parse(line))).collect()
}

/// Parses `<top> <num> Number: 301 <title> … <desc> Description: … <narr> … </top>` repeatedly. The title is the
/// query; a topic without a title uses its description.
fn topics(text: &str) -> Vec<ParsedQuery> {
    // ASCII lower-casing preserves byte offsets, so offsets are valid in both texts.
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let (mut place, mut line) = (0, 1);
    while let Some(start) = lower[place..].find("<top>").map(|start| place + start) {
        line += count_lines(&text.as_bytes()[place..start]);
        let Some(end) = lower[start..].find("</top>").map(|end| start + end) else {
            found.push((line, Err("<top> is not closed by </top>".to_owned())));
            break;
        };
        let (topic, lower_topic) = (&text[start..end], &lower[start..end]);
        let id = field(topic, lower_topic, "<num>", "number:");
        let title = field(topic, lower_topic, "<title>", "topic:").filter(|title| !title.is_empty());
        let query = title.or_else(|| field(topic, lower_topic, "<desc>", "description:")).unwrap_or_default();
        found.push((line, id.map(|id| (id, query)).ok_or_else(|| "no <num> in this topic".to_owned())));
        line += count_lines(topic.as_bytes());
        place = end;
    }
    found
}

/// Returns the text from a tag to the next one, without the label that some topics put in front.
fn field(topic: &str, lower: &str, tag: &str, label: &str) -> Option<String> {
    let start = lower.find(tag)? + tag.len();
    let end = lower[start..].find('<').map_or(lower.len(), |end| start + end);
    let text = topic[start..end].trim();
    let is_labelled = text.get(..label.len()).is_some_and(|front| front.eq_ignore_ascii_case(label));
    let text = if is_labelled { &text[label.len()..] } else { text };
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_of_several_years() {
        let text = "<top>\n<num> Number: 301\n<title> International\nOrganized Crime\n\n<desc> Description:\nIdentify \
                    it.\n<narr> Narrative: long\n</top>\n\n<top><num>Number: 2 <title> Topic: 灯塔</title></top>\n\
                    <top>\n<NUM> 3\n<title>\n<desc> Description: who keeps the light\n</top>";
        let found: Vec<_> = topics(text).into_iter().map(|(line, query)| (line, query.unwrap())).collect();
        let expected = [
            (1, "301", "International Organized Crime"),
            (11, "2", "灯塔"),
            (12, "3", "who keeps the light"),
        ];
        assert_eq!(found, expected.map(|(line, id, text)| (line, (id.to_owned(), text.to_owned()))));
    }

    #[test]
    fn broken_topics_are_reported_with_their_line() {
        assert_eq!(topics("\n<top><title> x </top>"), [(2, Err("no <num> in this topic".to_owned()))]);
        assert_eq!(topics("<top>"), [(1, Err("<top> is not closed by </top>".to_owned()))]);
    }
}
