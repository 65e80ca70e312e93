use std::io::Write as _;
use std::path::Path;

use super::*;
use crate::import::UtcOffset;
use crate::log::records::{AnyRecord, ClickKind, ImpressionKind, ShownResult};
use crate::testing::{at, query_at};
use crate::{ClickRecord, ImpressionRecord, QueryRecord};

const NOW: &str = "2026-02-01T00:00:00Z";

fn click(impression: &str, kind: ClickKind, rank: u32, url: &str, dwell_ms: Option<u64>) -> AnyRecord {
    AnyRecord::Click(ClickRecord {
        at: at("2026-01-31T12:01:00Z"),
        impression: impression.into(),
        visit: "v".into(),
        kind,
        searched: String::new(),
        rank: Some(rank),
        page_size: None,
        order: None,
        url: Some(url.into()),
        query: None,
        dwell_ms,
    })
}

#[test]
fn queries_impressions_and_clicks_are_joined() {
    let mut builder = SearchLogBuilder::new(at(NOW));
    let query =
        |id: &str, text: &str, time: &str| QueryRecord { id: id.into(), ..query_at(text, "v", at(time)) };
    builder.add(AnyRecord::Query(query("b", "灯塔", "2026-01-31T12:10:00Z")));
    builder.add(AnyRecord::Query(query("a", "  Tea  HOUSE ", "2026-01-31T12:00:00Z")));
    builder.add(AnyRecord::Query(query("c", " ", "2026-01-31T12:00:00Z")));
    builder.add(AnyRecord::Impression(ImpressionRecord {
        id: "a".into(),
        results: vec![
            ShownResult { rank: 1, url: "http://x/".into() },
            ShownResult { rank: 2, url: "http://y/".into() },
        ],
        ..ImpressionRecord::default()
    }));
    builder.add(AnyRecord::Impression(ImpressionRecord {
        id: "b".into(),
        kind: ImpressionKind::Seen,
        ..ImpressionRecord::default()
    }));
    builder.add(click("a", ClickKind::Result, 2, "http://y/", None));
    builder.add(click("a", ClickKind::Leave, 2, "http://y/", Some(45_000)));
    builder.add(click("unknown", ClickKind::Result, 1, "http://y/", None));
    let log = builder.finish();
    let texts: Vec<&str> = log.searches.iter().map(|search| log.queries.text(search.query)).collect();
    assert_eq!(texts, ["tea house", "灯塔"], "in order of time");
    let [tea, tower] = &log.searches[..] else { panic!("{:?}", log.searches) };
    assert_eq!(log.shown_of(tea).len(), 2);
    let [clicked] = log.clicks_of(tea) else { panic!("one click") };
    assert_eq!((log.urls.text(clicked.url), clicked.rank, clicked.is_satisfied()), ("http://y/", 2, true));
    assert!(log.clicks_of(tower).is_empty() && log.reports_clicks(tower) && log.reports_clicks(tea));
    let coverage = &log.coverage;
    assert_eq!((coverage.queries, coverage.clicks, coverage.orphans, coverage.clock_jumps), (3, 2, 1, 1));
    assert_eq!(log.visits_by_query(), [1, 1]);
}

fn read(name: &str, content: &[u8]) -> std::io::Result<SearchLog> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    read_path(&path)
}

fn read_path(path: &Path) -> std::io::Result<SearchLog> {
    read_file(path, &ReadOptions { form: None, zone: UtcOffset::UTC, date: None, now: at(NOW) })
}

#[test]
fn a_compressed_log_of_sogou_is_recognised() {
    let rows = "00:00:01\t42\t[北京大学]\t1 1\twww.pku.edu.cn/\n00:00:02\t42\t[北京大学]\t3 2\tpku.example/\nnoise\n";
    let (gbk, ..) = encoding_rs::GB18030.encode(rows);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&gbk).unwrap();
    let log = read("log.gz", &gzip.finish().unwrap()).unwrap();
    assert_eq!((log.searches.len(), log.clicks.len(), log.coverage.invalid), (1, 2, 1));
    assert_eq!(log.queries.text(0), "北京大学");
    assert!(log.coverage.is_undated);
}

#[test]
fn every_format_is_recognised() {
    let json = "{\"at\":\"2026-01-31T12:00:00Z\",\"query\":\"tea\",\"page\":1}\nnot json\n";
    let log = read("a.jsonl", json.as_bytes()).unwrap();
    assert_eq!((log.searches.len(), log.coverage.invalid), (1, 1));
    let zstd = zstd::encode_all(json.as_bytes(), 3).unwrap();
    assert_eq!(read("a.jsonl.zst", &zstd).unwrap().searches.len(), 1);
    let line = read("line", b"Wed-Apr-14-16:09:06-2004 tea\n").unwrap();
    assert_eq!(line.searches.len(), 1);
    let five = read("five", b"Fri Mar 21 00:00:02 2003\n218.24.100.77\nDatabase\ntea\n3\n").unwrap();
    assert_eq!(five.searches[0].page, 3);
    let clicks = b"Fri Mar 21 00:00:02 2003\n1.2.3.4\ntea\nhttp://x/\n16\nFri Mar 21 00:00:09 2003\n1.2.3.4\ntea\nhttp://y/\n2\n";
    let clicks = read("click5", clicks).unwrap();
    assert_eq!((clicks.searches.len(), clicks.clicks.len()), (1, 2), "both clicks belong to one search");
    assert_eq!(read("columns", b"u\t2003-03-21\t00:00:02\ttea\n").unwrap().searches.len(), 1);
    assert!(read("noise", b"\x00\x01\x02 nothing\n").is_err());
    assert!(read("empty", b"").is_err());
}

proptest::proptest! {
    #[test]
    fn no_file_causes_a_panic(content in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
        let _ = read("any", &content);
    }
}
