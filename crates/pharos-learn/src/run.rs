//! Rankings of an engine, and their output as a TREC run file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::CollectionError;

/// Query id → document ids, best first.
pub type Rankings = BTreeMap<String, Vec<String>>;

/// Writes rankings as a TREC run (`query Q0 document rank score tag`) for `trec_eval` and similar tools.
///
/// Other tools sort by score and break ties arbitrarily. The score is therefore derived from the rank and preserves
/// the order. Whitespace in the tag becomes `_`.
pub fn write_run(path: &Path, rankings: &Rankings, tag: &str) -> Result<(), CollectionError> {
    let file = File::create(path).map_err(CollectionError::io("write", path))?;
    write(BufWriter::new(file), rankings, tag).map_err(CollectionError::io("write", path))
}

fn write(mut out: impl Write, rankings: &Rankings, tag: &str) -> io::Result<()> {
    let tag = if tag.is_empty() { "pharos".to_owned() } else { tag.replace(char::is_whitespace, "_") };
    for (query, documents) in rankings {
        for (before, document) in documents.iter().enumerate() {
            writeln!(out, "{query} Q0 {document} {} {} {tag}", before + 1, documents.len() - before)?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_six_columns_and_falling_scores() {
        let rankings = Rankings::from([
            ("1".to_owned(), vec!["b".to_owned(), "a".to_owned()]),
            ("2".to_owned(), vec!["c".to_owned()]),
        ]);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.txt");
        write_run(&path, &rankings, "our bm25").unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, "1 Q0 b 1 2 our_bm25\n1 Q0 a 2 1 our_bm25\n2 Q0 c 1 1 our_bm25\n");
    }

    #[test]
    fn write_errors_name_the_path() {
        let error = write_run("no/such/place/run".as_ref(), &Rankings::new(), "x").unwrap_err().to_string();
        assert!(error.starts_with("cannot write no/such/place/run: "), "{error}");
    }
}
