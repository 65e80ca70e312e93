use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::ranking::RankingError;

fn parse(text: &str) -> RankingData {
    RankingData::parse(text.as_bytes()).unwrap()
}

#[track_caller]
fn message(text: &str) -> String {
    RankingData::parse(text.as_bytes()).unwrap_err().to_string()
}

fn read_files(files: &[(&str, &[u8])], labels: Labels) -> Result<RankingData, RankingError> {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(directory.path().join(name), bytes).unwrap();
    }
    RankingData::read(&[directory.path().join(files[0].0)], ReadOptions { labels })
}

#[test]
fn a_line_has_grade_query_features_and_comment() {
    let data = parse("2 qid:10 1:0.5 2:0.25 # docid = GX00-1 inc = 1\n");
    assert_eq!((data.grades(), data.row(0)), (&[2][..], &[0.0, 0.5, 0.25][..]));
    assert_eq!((&*data.queries()[0].id, data.document(0).as_str()), ("10", "GX00-1"));
    let mut written = Vec::new();
    letor::write(&data, &mut written).unwrap();
    assert_eq!(written, b"2 qid:10 1:0.5 2:0.25 # GX00-1\n");
}

#[test]
fn rows_of_a_query_need_not_be_contiguous() {
    let data = parse("1 qid:a 1:1\n0 qid:b 1:2 # x\n# comment\n\n2 qid:a 3:3\n");
    assert_eq!((data.len(), data.features()), (3, 4));
    assert_eq!(data.queries()[0], QueryRows { id: "a".into(), rows: 0..2 });
    assert_eq!(data.grades(), [1, 2, 0]);
    assert_eq!(data.row(1), [0.0, 0.0, 0.0, 3.0]);
    assert_eq!(data.document(2), "x");
    assert_eq!(data.document(0), "1", "unnamed documents have the number of the row");
}

#[test]
fn missing_values_differ_from_zero() {
    let data = parse("0 qid:1 1:NULL 2:nan 3:? 4:0\n");
    let row = data.row(0);
    assert!(row[1].is_nan() && row[2].is_nan() && row[3].is_nan());
    assert_eq!((row[0], row[4]), (0.0, 0.0));
}

#[test]
fn tables_of_yandex_have_fractions_as_grades() {
    let text = "10\t0.41\thttp://a/ b\t7\t0.5\t1\r\n11\t0\thttp://c/\t8\t\t0\r\n10\t0.61\tu\t9\t1\t1\r\n10\t0.035\tu\t9\t1\t1\r\n";
    let data = parse(text);
    assert_eq!(data.grades(), [3, 4, 0, 0]);
    assert_eq!(data.row(0), [0.0, 0.5, 1.0]);
    assert!(data.row(3)[1].is_nan());
    assert_eq!(data.document(0), "http://a/");
}

#[test]
fn query_files_list_numbers_of_rows() {
    let rows = b"1 1:1\n0 1:2\n2 1:3\n";
    let data = read_files(&[("t", rows), ("t.query", b"2\n1\n")], Labels::Grades).unwrap();
    let sizes: Vec<usize> = data.queries().iter().map(|query| query.rows.len()).collect();
    assert_eq!(sizes, [2, 1]);
    let problem = |groups: &[u8]| {
        read_files(&[("t", rows), ("t.query", groups)], Labels::Grades).unwrap_err().to_string()
    };
    assert!(problem(b"2\n").ends_with("line 3: the query file has fewer rows than this file"));
    assert!(problem(b"2\n5\n").ends_with("line 3: the file has 3 rows, its query file 7"));
    assert!(problem(b"2\nx\n").ends_with("t.query, line 2: `x` is not a number of rows"));
    let none = read_files(&[("t", rows)], Labels::Grades).unwrap_err().to_string();
    assert!(none.contains("line 1: the row has no query"), "{none}");
}

#[test]
fn compressed_files_are_read() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(b"1 qid:1 1:1\n").unwrap();
    let bytes = gzip.finish().unwrap();
    assert_eq!(read_files(&[("t.gz", &bytes)], Labels::Grades).unwrap().len(), 1);
    let cut = read_files(&[("t.gz", &bytes[..bytes.len() - 9])], Labels::Grades);
    assert!(cut.unwrap_err().to_string().starts_with("cannot read "));
}

#[test]
fn other_kinds_of_labels() {
    let semi = read_files(&[("t", b"-1 qid:1 1:1\n2 qid:1 1:2\n")], Labels::SemiSupervised).unwrap();
    assert_eq!(semi.grades(), [2]);
    assert_eq!(parse("-1 qid:1 1:1\n+1 qid:1 1:2\n1.0 qid:1 1:2\n").grades(), [0, 1, 1]);
    let order: String = (0..16).map(|place| format!("{} qid:1 1:1\n", 1000 + place * 3)).collect();
    let order = read_files(&[("t", order.as_bytes())], Labels::TotalOrder).unwrap();
    assert_eq!(order.grades(), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 4]);
}

#[test]
fn errors_name_the_line() {
    assert_eq!(message("1 qid:1 1:1\n1 qid:1 1:x\n"), "input, line 2: value `x` is not a number");
    assert!(message("qid:1 1:1").contains("line 1: `qid:1` at the place of the grade"));
    assert!(message("good qid:1 1:1").contains("grade `good` is not a whole number up to 30"));
    assert!(message("31 qid:1 1:1").contains("grade `31`"));
    assert!(message("1.5 qid:1 1:1").contains("grade `1.5`"));
    assert!(message("nan qid:1 1:1").contains("grade `nan`"));
    assert!(message("1 qid:1 1:1e99").contains("value `1e99` is out of range"));
    assert!(message("1 qid:1 1:inf").contains("value `inf` is out of range"));
    assert!(message("1 qid:1 99999:1").contains("feature number `99999` is not in 0 to 65535"));
    assert!(message("1 qid:1 -3:1").contains("feature number `-3`"));
    assert!(message("1 qid:1 2:1 1:1 2:3").contains("feature 2 is given twice"));
    assert!(message("1 qid:1 word").contains("`word` is not a feature"));
    assert!(message("1 qid: 1:1").contains("query id `` is empty"));
    assert!(message("1\t2\t3\t4\tx").contains("value `x` is not a number"));
    let long = format!("1 qid:1 1:1 # {}", "x".repeat(2 << 20));
    assert!(message(&long).contains("line 1: longer than"));
    let empty = read_files(&[("t", b"")], Labels::Grades).unwrap_err().to_string();
    assert!(empty.starts_with("no rows in "), "{empty}");
}

#[test]
fn five_folds_rotate() {
    let folds = standard_folds();
    assert_eq!(folds[0], Fold { train: vec![0, 1, 2], valid: 3, test: 4 });
    assert_eq!(folds[1], Fold { train: vec![1, 2, 3], valid: 4, test: 0 });
    assert_eq!(folds[4], Fold { train: vec![4, 0, 1], valid: 2, test: 3 });
    let mut tests: Vec<usize> = folds.iter().map(|fold| fold.test).collect();
    tests.sort_unstable();
    assert_eq!(tests, [0, 1, 2, 3, 4], "each part is tested once");
}

#[test]
fn queries_are_divided_evenly() {
    let text: String = (0..23).map(|query| format!("1 qid:{query} 1:1\n")).collect();
    let parts = split_queries(&parse(&text), 5, 1);
    let mut sizes: Vec<usize> = parts.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [4, 4, 5, 5, 5]);
    let mut all = parts.concat();
    all.sort_unstable();
    assert_eq!(all, (0..23).collect::<Vec<_>>());
}

#[test]
fn features_are_normalised_within_each_query() {
    use super::normalise::Normalisation;
    let mut data = parse("1 qid:1 1:2 2:5\n0 qid:1 1:6 2:5\n0 qid:1 1:3 2:NULL\n0 qid:2 1:9\n");
    Normalisation::Query.apply(&mut data);
    let column: Vec<f32> = data.column(1).collect();
    assert_eq!(column, [0.0, 1.0, 0.25, 0.0]);
    assert_eq!(data.row(0)[2], 0.0);
    assert!(data.row(2)[2].is_nan());
    let mut counts = parse("1 qid:1 1:0 2:-1\n");
    Normalisation::Log.apply(&mut counts);
    assert!((counts.row(0)[2] + 2.0_f32.ln()).abs() < 1e-6);
}

#[test]
fn selected_queries_keep_their_rows() {
    let data = parse("1 qid:a 1:1\n2 qid:b 1:2\n3 qid:c 1:3\n");
    let selected = data.select([2, 0]);
    assert_eq!(selected.grades(), [3, 1]);
    assert_eq!(&*selected.queries()[0].id, "c");
}

proptest! {
    #[test]
    fn garbage_never_panics(text in "([0-9]|qid:|:|#|\t| |\n|\\.|-|e|NULL|灯|x){0,60}") {
        let _ = RankingData::parse(text.as_bytes());
    }

    #[test]
    fn written_data_is_read_again(
        rows in proptest::collection::vec(
            (0..5_u32, 0..4_u32, proptest::collection::vec(prop_oneof![Just(f32::NAN), -1e6..1e6_f32], 3)),
            1..30,
        ),
    ) {
        let mut text = String::new();
        for (grade, query, values) in &rows {
            text.push_str(&format!("{grade} qid:{query} 1:{} 2:{} 3:{} # d\n", values[0], values[1], values[2]));
        }
        let data = parse(&text);
        let mut written = Vec::new();
        letor::write(&data, &mut written).unwrap();
        let again = RankingData::parse(&written[..]).unwrap();
        prop_assert_eq!(data.grades(), again.grades());
        prop_assert_eq!(data.queries(), again.queries());
        for row in 0..data.len() {
            for (feature, value) in data.row(row).iter().enumerate() {
                let read = again.row(row).get(feature).copied().unwrap_or(0.0);
                prop_assert!(read == *value || read.is_nan() && value.is_nan());
            }
        }
    }
}
