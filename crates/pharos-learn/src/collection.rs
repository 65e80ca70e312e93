//! A test collection: documents, queries and human relevance judgements.
//!
//! One directory holds one collection, in one of two forms:
//!
//! | form | documents | queries | judgements |
//! |---|---|---|---|
//! | search | `docs.jsonl` (`id`, `title`, `body`, optional `url`), or TREC text `*.trec` | `queries.tsv` (id, tab, text), or TREC topics `topics.txt` | `qrels.txt` (query, 0, document, grade) |
//! | re-rank | `graded.tsv`: query, title and grade on a line; the titles of a query are re-ranked | | |
//!
//! If both file names of a part exist, the first one is read.
//!
//! ```no_run
//! use pharos_learn::collection::Collection;
//!
//! let collection = Collection::read("cranfield".as_ref())?;
//! println!("{} documents, {} queries", collection.documents.len(), collection.queries.len());
//! # Ok::<(), pharos_learn::CollectionError>(())
//! ```

mod documents;
mod file;
mod graded;
mod judgements;
mod queries;

use std::collections::BTreeMap;
use std::path::Path;

pub use crate::error::CollectionError;

/// A test collection in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// Documents in file order, with unique ids.
    pub documents: Vec<TestDocument>,
    /// Queries in file order, with unique ids.
    pub queries: Vec<TestQuery>,
    /// Number of judgements ignored because their query is not in the collection.
    pub judgements_left_out: usize,
}

/// A document to be retrieved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestDocument {
    /// Id used in judgements and runs; one word.
    pub id: String,
    /// Title; may be empty.
    pub title: String,
    /// Text; may be empty.
    pub body: String,
    pub url: Option<String>,
}

/// A query with its relevance judgements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestQuery {
    /// Id used in judgements and runs; one word.
    pub id: String,
    pub text: String,
    /// Document id → grade, 0 for irrelevant. May contain documents missing from the collection.
    pub judged: BTreeMap<String, u32>,
    /// Documents to re-rank, in the given order; `None` if the whole collection is searched.
    pub candidates: Option<Vec<String>>,
}

impl TestQuery {
    /// Returns `true` if there is a document with at least this grade. Without one, all rankings are equal.
    pub fn has_relevant(&self, relevant_from: u32) -> bool {
        self.judged.values().any(|&grade| grade >= relevant_from.max(1))
    }
}

impl Collection {
    /// Reads the collection in a directory.
    pub fn read(directory: &Path) -> Result<Self, CollectionError> {
        let mut reader = file::CollectionReader::new(directory)?;
        if let Some(graded) = reader.find("graded.tsv") {
            return graded::read(&mut reader, &graded);
        }
        let documents = documents::read(&mut reader)?;
        let mut queries = queries::read(&mut reader)?;
        let judgements_left_out = judgements::read(&mut reader, &mut queries)?;
        Ok(Self { documents, queries, judgements_left_out })
    }

    /// Reads only the queries and judgements of a directory: the documents are elsewhere.
    pub fn read_queries(directory: &Path) -> Result<Self, CollectionError> {
        let mut reader = file::CollectionReader::new(directory)?;
        let mut queries = queries::read(&mut reader)?;
        let judgements_left_out = judgements::read(&mut reader, &mut queries)?;
        Ok(Self { documents: Vec::new(), queries, judgements_left_out })
    }

    /// Returns the highest grade; 0 without judgements.
    pub fn max_grade(&self) -> u32 {
        self.queries.iter().flat_map(|query| query.judged.values()).copied().max().unwrap_or(0)
    }

    /// Iterates over the queries that distinguish rankings: those with a document of at least this grade.
    pub fn queries_with_relevant(&self, relevant_from: u32) -> impl Iterator<Item = &TestQuery> {
        self.queries.iter().filter(move |query| query.has_relevant(relevant_from))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    /// Creates a directory with these files.
    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        directory
    }

    fn read(files: &[(&str, &str)]) -> Result<Collection, CollectionError> {
        Collection::read(directory(files).path())
    }

    /// Returns the error message without the directory, which varies.
    #[track_caller]
    fn message(files: &[(&str, &str)]) -> String {
        let directory = directory(files);
        let path = directory.path().display().to_string();
        Collection::read(directory.path()).unwrap_err().to_string().replace(&path, "DIR")
    }

    const DOCS: (&str, &str) =
        ("docs.jsonl", "{\"id\":\"a\",\"title\":\"灯塔\",\"body\":\"light\"}\n{\"id\":\"b\"}\n");
    const QUERIES: (&str, &str) = ("queries.tsv", "1\t灯塔\r\n\n2\twho keeps\tthe light\n");

    #[test]
    fn documents_queries_and_judgements() {
        let qrels = ("qrels.txt", "1 0 a 2\n1 b 0\n2\t0\tz\t-1\n9 0 a 1\n");
        let collection = read(&[DOCS, QUERIES, qrels]).unwrap();
        assert_eq!(collection.documents[0].title, "灯塔");
        assert_eq!(collection.documents[1], TestDocument { id: "b".into(), ..TestDocument::default() });
        let [first, second] = &collection.queries[..] else { panic!("two queries") };
        assert_eq!((first.text.as_str(), second.text.as_str()), ("灯塔", "who keeps\tthe light"));
        assert_eq!(first.judged, BTreeMap::from([("a".into(), 2), ("b".into(), 0)]));
        assert_eq!(second.judged, BTreeMap::from([("z".into(), 0)]), "below zero is irrelevant");
        assert_eq!((collection.max_grade(), collection.judgements_left_out), (2, 1));
        let without_documents = Collection::read_queries(directory(&[QUERIES, qrels]).path()).unwrap();
        assert_eq!(without_documents.queries, collection.queries);
        let telling: Vec<_> = collection.queries_with_relevant(1).map(|query| query.id.as_str()).collect();
        assert_eq!(telling, ["1"]);
        assert!(!first.has_relevant(3) && first.candidates.is_none());
    }

    #[test]
    fn titles_to_put_in_order() {
        let collection =
            read(&[("graded.tsv", "灯塔\tA\t3\n灯塔\tB\t0\nother\tA\t1\n灯塔\tB\t2\n")]).unwrap();
        assert_eq!(collection.queries.len(), 2);
        let query = &collection.queries[0];
        assert_eq!((query.id.as_str(), query.text.as_str()), ("1", "灯塔"));
        assert_eq!(query.candidates.as_deref(), Some(&["1".into(), "2".into(), "4".into()][..]));
        assert_eq!(query.judged["4"], 2, "the same title twice is two candidates");
        assert_eq!((collection.documents[3].id.as_str(), collection.documents[3].title.as_str()), ("4", "B"));
    }

    #[test]
    fn missing_files_are_named_with_advice() {
        let advice =
            "put docs.jsonl (a line {\"id\", \"title\", \"body\"} for each) or TREC text (*.trec) there";
        assert_eq!(message(&[]), format!("no documents in DIR: {advice}"));
        let advice = "put queries.tsv (id, tab, text) or TREC topics (topics.txt) there";
        assert_eq!(message(&[DOCS]), format!("no queries in DIR: {advice}"));
        let advice = "put qrels.txt (lines of query id, 0, document id, grade) there";
        assert_eq!(message(&[DOCS, QUERIES]), format!("no judgements in DIR: {advice}"));
        let nowhere = Collection::read("no/such/place".as_ref()).unwrap_err().to_string();
        assert!(nowhere.starts_with("cannot read no/such/place: "), "{nowhere}");
    }

    #[test]
    fn errors_name_file_and_line() {
        let qrels = |text| message(&[DOCS, QUERIES, ("qrels.txt", text)]);
        assert!(qrels("1 0 a 1\n1 0\n").starts_with("DIR/qrels.txt, line 2: "));
        assert!(qrels("1 0 a much\n").contains("line 1: grade `much` is not a whole number up to 30"));
        assert!(qrels("1 0 a 31\n").contains("line 1: grade `31` is not"));
        assert!(
            qrels("1 0 a 1\n1 0 a 1\n1 0 a 2\n")
                .contains("line 3: conflicting grades for document `a` and query `1`: 1 above, 2 here")
        );
        assert!(
            qrels("8 0 a 1\n")
                .contains("line 1: no judgement in this file refers to a query of the collection")
        );
        assert!(qrels("").contains("line 1: no judgement"));
        let queries = |text| message(&[DOCS, ("queries.tsv", text)]);
        assert!(queries("1\tx\n2 y\n").contains("queries.tsv, line 2: missing tab"));
        assert!(queries("1\tx\n1\ty\n").contains("line 2: duplicate query id `1`"));
        assert!(queries("1\t \n").contains("line 1: query `1` has no text"));
        assert!(queries("\n").contains("line 1: the file contains no queries"));
        let docs = |text| message(&[("docs.jsonl", text)]);
        assert!(docs("{\"id\":\"a\"}\n{\"id\":\"a b\"}").contains("docs.jsonl, line 2: invalid id `a b`"));
        assert!(docs("{\"id\":\"a\"}\n{\"id\":\"a\"}").contains("line 2: duplicate document id `a`"));
        assert!(docs("\n{\"title\":\"a\"}").contains("line 2: missing field `id`"));
        let graded = |text| message(&[("graded.tsv", text)]);
        assert!(graded("q\tt\t1\nq\tt\n").contains("graded.tsv, line 2: 2 columns"));
        assert!(graded("q\tt\tgood").contains("line 1: grade `good`"));
        assert!(graded("\tt\t1").contains("line 1: the first column has no query"));
    }

    #[test]
    fn invalid_utf8_is_reported_with_its_line() {
        let directory = directory(&[]);
        fs::write(directory.path().join("docs.jsonl"), b"{\"id\":\"a\"}\n\xff").unwrap();
        let error = Collection::read(directory.path()).unwrap_err().to_string();
        assert!(error.contains("line 2: not UTF-8"), "{error}");
    }

    proptest! {
        #[test]
        fn no_input_panics(
            docs in "(<DOC>|</DOC>|<DOCNO>|</DOCNO>|<TITLE>|</TEXT>|<text>|<|>|a|灯|\n| ){0,40}",
            topics in "(<top>|</top>|<num>|Number:|<title>|<desc>|<|>|a|灯|\n| ){0,40}",
            qrels in "(1|a|0|-|灯| |\t|\n){0,40}",
            tsv in "(1|a|灯|\t|\n){0,40}",
        ) {
            for files in [
                &[("docs.trec", docs.as_str())][..],
                &[DOCS, ("topics.txt", topics.as_str())],
                &[DOCS, QUERIES, ("qrels.txt", qrels.as_str())],
                &[DOCS, ("queries.tsv", tsv.as_str())],
                &[("graded.tsv", tsv.as_str())],
                &[("docs.jsonl", tsv.as_str())],
            ] {
                if let Err(error) = read(files) {
                    prop_assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}
