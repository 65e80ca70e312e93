//! Documents in JSON lines or TREC text.

use std::collections::HashSet;

use serde::Deserialize;

use super::file::{CollectionReader, check_id, count_lines, lines};
use super::{CollectionError, TestDocument};

/// A line of `docs.jsonl`; other keys are ignored.
#[derive(Deserialize)]
struct JsonDocument {
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    body: String,
    url: Option<String>,
}

/// A document and the line at which it begins, or an invalid line and the error.
type ParsedDocument = Result<(usize, TestDocument), (usize, String)>;

pub(super) fn read(reader: &mut CollectionReader) -> Result<Vec<TestDocument>, CollectionError> {
    let (files, parse): (_, fn(&str) -> Vec<ParsedDocument>) = match reader.find("docs.jsonl") {
        Some(file) => (vec![file], json_lines),
        None => (reader.find_ending(".trec"), trec_text),
    };
    let mut documents = Vec::new();
    let mut ids = HashSet::new();
    for path in &files {
        for found in parse(&reader.text(path)?) {
            let checked = found.and_then(|(line, document)| {
                check_id(&document.id).map_err(|problem| (line, problem))?;
                if !ids.insert(document.id.clone()) {
                    return Err((line, format!("duplicate document id `{}`", document.id)));
                }
                Ok(document)
            });
            documents.push(checked.map_err(|(line, problem)| CollectionError::line(path, line, problem))?);
        }
    }
    if documents.is_empty() {
        let advice = "docs.jsonl (a line {\"id\", \"title\", \"body\"} for each) or TREC text (*.trec)";
        return Err(reader.missing("documents", advice));
    }
    Ok(documents)
}

fn json_lines(text: &str) -> Vec<ParsedDocument> {
    let parse = |line| serde_json::from_str::<JsonDocument>(line).map_err(|error| error.to_string());
    lines(text)
        .map(|(number, line)| match parse(line) {
            Ok(JsonDocument { id, title, body, url }) => Ok((number, TestDocument { id, title, body, url })),
            Err(problem) => Err((number, problem)),
        })
        .collect()
}

/// Parses `<DOC> <DOCNO>id</DOCNO> <TITLE>…</TITLE> <TEXT>…</TEXT> </DOC>` repeatedly. Some TREC collections use
/// `<HEADLINE>` for the title; `<URL>` is read if present.
fn trec_text(text: &str) -> Vec<ParsedDocument> {
    // ASCII lower-casing preserves byte offsets, so offsets are valid in both texts.
    let lower = text.to_ascii_lowercase();
    let mut found = Vec::new();
    let (mut place, mut line) = (0, 1);
    while let Some(start) = lower[place..].find("<doc>").map(|start| place + start) {
        line += count_lines(&text.as_bytes()[place..start]);
        let Some(end) = lower[start..].find("</doc>").map(|end| start + end) else {
            found.push(Err((line, "<DOC> is not closed by </DOC>".to_owned())));
            break;
        };
        found.push(trec_document(&text[start..end], &lower[start..end], line));
        line += count_lines(&text.as_bytes()[start..end]);
        place = end;
    }
    found
}

fn trec_document(text: &str, lower: &str, line: usize) -> ParsedDocument {
    let first = |name| elements(text, lower, name).into_iter().next();
    let id = first("docno").ok_or_else(|| (line, "no <DOCNO>id</DOCNO> in this document".to_owned()))?;
    let title = first("title").or_else(|| first("headline")).unwrap_or_default();
    let body = elements(text, lower, "text").join("\n");
    let document = TestDocument {
        id: id.trim().to_owned(),
        title: without_tags(title).split_whitespace().collect::<Vec<_>>().join(" "),
        body: without_tags(&body).trim().to_owned(),
        url: first("url").map(|url| url.trim().to_owned()).filter(|url| !url.is_empty()),
    };
    Ok((line, document))
}

/// Returns the contents of the elements of this name, in order.
fn elements<'a>(text: &'a str, lower: &str, name: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut found = Vec::new();
    let mut place = 0;
    while let Some(start) = lower[place..].find(&open).map(|start| place + start + open.len()) {
        let Some(end) = lower[start..].find(&close).map(|end| start + end) else { break };
        found.push(&text[start..end]);
        place = end;
    }
    found
}

/// Replaces every tag such as `<P>` or `</F>` by a space; a lone `<` stays.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        plain.push_str(before);
        let is_tag = tag[1..].trim_start_matches('/').starts_with(|first: char| first.is_ascii_alphabetic());
        // Tags are short and not nested. Without this check, a text of `<a<a<a` would take quadratic time.
        match tag[1..].find(['<', '>']) {
            Some(end) if is_tag && tag.as_bytes()[1 + end] == b'>' => {
                plain.push(' ');
                rest = &tag[end + 2..];
            }
            _ => {
                plain.push('<');
                rest = &tag[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trec_text_with_all_its_elements() {
        let text = "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<headline>The\n <F>Light</F></headline>\n<TEXT>\n<P>one < two</P>\n\
                    </TEXT><TEXT>灯塔</TEXT>\n</DOC>\n\n<DOC><DOCNO>2</DOCNO><URL>http://a/</URL></DOC>";
        let found: Vec<_> = trec_text(text).into_iter().map(Result::unwrap).collect();
        let (line, document) = &found[0];
        assert_eq!((*line, document.id.as_str(), document.title.as_str()), (1, "FT-1", "The Light"));
        assert_eq!(document.body.split_whitespace().collect::<Vec<_>>(), ["one", "<", "two", "灯塔"]);
        let (line, document) = &found[1];
        assert_eq!((*line, document.id.as_str(), document.url.as_deref()), (10, "2", Some("http://a/")));
        assert!(document.title.is_empty() && document.body.is_empty());
    }

    #[test]
    fn broken_trec_text_is_reported_with_its_line() {
        let no_id = trec_text("\n<DOC>\n<TEXT>x</TEXT></DOC>");
        assert_eq!(no_id, [Err((2, "no <DOCNO>id</DOCNO> in this document".to_owned()))]);
        let open = trec_text("<DOC><DOCNO>1</DOCNO></DOC>\n<DOC>");
        assert_eq!(open[1], Err((2, "<DOC> is not closed by </DOC>".to_owned())));
    }

    #[test]
    fn tags_go_and_signs_stay() {
        assert_eq!(without_tags("a<P>b</P>c"), "a b c");
        assert_eq!(without_tags("1 < 2 > 0 <- <灯> <"), "1 < 2 > 0 <- <灯> <");
        assert_eq!(without_tags("<a<b>"), "<a ");
    }
}
