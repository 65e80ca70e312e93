use std::fs;

use super::k_anonymity::measure;
use super::purge::{PurgeReport, purge_visit};
use super::*;
use crate::log::files::{DayRange, LogFile, list_files};
use crate::log::reader::read;
use crate::log::records::LogKind;
use crate::search_log::SearchLogBuilder;
use crate::testing::{at, click_at, query_at};
use crate::{ClickRecord, ImpressionRecord};

const NOON: &str = "2026-01-31T12:34:56Z";

fn rules() -> AnonymiseRules {
    let kinds = [SensitiveKind::Names, SensitiveKind::Addresses, SensitiveKind::Health, SensitiveKind::Money];
    AnonymiseRules {
        visits: IdentifierRule::Hash,
        hash_queries: false,
        min_visits: 2,
        times: TimePrecision::Hour,
        digits: 7,
        sensitive: SensitiveRule::Scrub,
        words: SensitiveWords::new(&kinds, ["projectx"]),
    }
}

fn query(id: &str, text: &str, visit: &str) -> AnyRecord {
    AnyRecord::Query(QueryRecord {
        id: id.into(),
        referrer: "from.example".into(),
        ..query_at(text, visit, at(NOON))
    })
}

fn anonymise(records: &[AnyRecord], rules: &AnonymiseRules) -> (Vec<AnyRecord>, AnonymiseReport) {
    let mut visits = QueryVisits::default();
    records.iter().for_each(|record| visits.add(record, rules));
    let mut anonymiser = Anonymiser::new(rules.clone(), &visits, b"secret");
    let kept = records.iter().filter_map(|record| anonymiser.anonymise(record.clone())).collect();
    (kept, anonymiser.report)
}

#[test]
fn rare_queries_go_with_their_clicks_and_the_rest_is_generalised() {
    let records = [
        query("1", "tea", "a"),
        query("2", "Tea", "b"),
        query("3", "my own name", "a"),
        AnyRecord::Click(ClickRecord { visit: "a".into(), ..click_at("1", "tea", "http://x/", at(NOON)) }),
        AnyRecord::Click(click_at("3", "my own name", "http://y/", at(NOON))),
        AnyRecord::Impression(ImpressionRecord {
            id: "3".into(),
            query: "my own name".into(),
            ..Default::default()
        }),
    ];
    let (kept, report) = anonymise(&records, &rules());
    assert_eq!((report.read, report.written, report.rare), (6, 3, 1));
    let [AnyRecord::Query(first), AnyRecord::Query(_), AnyRecord::Click(click)] = &kept[..] else {
        panic!("{kept:?}")
    };
    assert_eq!((first.at.to_string().as_str(), first.referrer.as_str()), ("2026-01-31T12:00:00Z", ""));
    assert!(first.visit != "a" && first.visit.len() == 16 && first.visit == click.visit);
    let written = format!("{kept:?}");
    assert!(!written.contains("own name") && !written.contains("http://y/"));
}

#[test]
fn hashed_queries_can_be_counted_but_not_read() {
    let rules =
        AnonymiseRules { hash_queries: true, visits: IdentifierRule::Remove, min_visits: 0, ..rules() };
    let (kept, _) = anonymise(&[query("1", "Tea", "a"), query("2", "tea", "b")], &rules);
    let texts: Vec<String> = kept.iter().filter_map(|record| Some(record.query()?.to_string())).collect();
    assert!(texts[0] == texts[1] && texts[0].len() == 16 && texts[0] != "tea");
}

#[test]
fn sensitive_words_are_removed_or_their_records_dropped() {
    let words = rules().words;
    let removed = [
        ("diabetes diet", "diet"),
        ("治疗糖尿病的食物", "治疗的食物"),
        ("john smith berlin", "berlin"),
        ("mortgage rates", "rates"),
        ("lighthouse street", "lighthouse"),
        ("灯塔", "灯塔"),
        ("stdio", "stdio"),
        ("北京大学", "北京大学"),
        ("", ""),
    ];
    for (text, expected) in removed {
        assert_eq!(words.remove(text), expected, "{text}");
    }
    assert!(!words.remove("王小丫 新闻").contains("王小丫"));
    let records = [query("1", "hiv test", "a"), query("2", "电话 13800138000", "a")];
    let dropping = AnonymiseRules { sensitive: SensitiveRule::Drop, min_visits: 0, ..rules() };
    let (kept, report) = anonymise(&records, &dropping);
    assert_eq!((kept.len(), report.sensitive), (1, 1));
    assert_eq!(kept[0].query(), Some("电话"));
}

#[test]
fn anonymity_is_measured_by_queries_and_by_visits() {
    let mut builder = SearchLogBuilder::new(at("2026-02-01T00:00:00Z"));
    for visit in ["a", "b", "c"] {
        builder.add(query("", "tea", visit));
    }
    builder.add(query("", "secret", "c"));
    let log = builder.finish();
    let measured = measure(&log, 2, 10);
    assert_eq!((measured.rare_queries, measured.least_visits), (1, 1));
    assert_eq!((measured.visits, measured.distinct_visits, measured.least_group), (3, 1, 1));
    assert_eq!(measured.rarest[0].query, "secret");
    assert!(!measured.is_fulfilled() && measure(&log, 1, 0).is_fulfilled());
    assert!(measure(&crate::search_log::SearchLog::default(), 3, 1).is_fulfilled());
}

#[test]
fn a_purged_visit_leaves_no_line_in_any_file() {
    let dir = tempfile::tempdir().unwrap();
    let line = |record: &QueryRecord| serde_json::to_string(record).unwrap() + "\n";
    let of = |id: &str, visit: &str| QueryRecord { id: id.into(), ..query_at("tea", visit, at(NOON)) };
    let text = line(&of("1", "bad")) + &line(&of("2", "good")) + "garbage\n" + &line(&of("3", "bad"));
    let plain = LogFile::new(dir.path(), LogKind::Queries, "2026-01-31", 1, false).path;
    fs::write(&plain, &text).unwrap();
    let packed = LogFile::new(dir.path(), LogKind::Queries, "2026-01-30", 1, true).path;
    fs::write(&packed, zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
    let click = serde_json::to_string(&click_at("3", "tea", "http://x/", at(NOON))).unwrap() + "\n";
    fs::write(LogFile::new(dir.path(), LogKind::Clicks, "2026-01-31", 1, false).path, click).unwrap();

    let report = purge_visit(dir.path(), "bad").unwrap();
    assert_eq!(report, PurgeReport { queries: 4, clicks: 1, ..PurgeReport::default() });
    assert_eq!(fs::metadata(&plain).unwrap().len(), text.len() as u64, "positions of followers stay valid");
    let left: Vec<String> =
        read::<QueryRecord>(dir.path(), &DayRange::default()).unwrap().flatten().map(|r| r.id).collect();
    assert_eq!(left, ["2", "2"]);
    assert_eq!(list_files(dir.path()).unwrap().len(), 3);
    assert_eq!(purge_visit(dir.path(), "bad").unwrap().total(), 0);
    assert_eq!(purge_visit(&dir.path().join("none"), "bad").unwrap().total(), 0);
}

#[test]
fn records_have_the_field_names_of_ubi() {
    let found = ubi::document(&query("7", "tea", "a"), None).unwrap();
    assert_eq!(
        (found.index, &found.document["user_query"], &found.document["client_id"]),
        ("ubi_queries", &"tea".into(), &"a".into())
    );
    let click = AnyRecord::Click(click_at("7", "tea", "http://x/", at(NOON)));
    let found = ubi::document(&click, None).unwrap();
    assert_eq!((found.index, &found.document["action_name"]), ("ubi_events", &"click".into()));
    assert_eq!(found.document["event_attributes"]["object"]["object_id"], "http://x/");
    assert_eq!(found.document["event_attributes"]["position"]["ordinal"], 1);
}

proptest::proptest! {
    #[test]
    fn no_text_causes_a_panic(text in "(?s).{0,80}") {
        let words = rules().words;
        let removed = words.remove(&text);
        proptest::prop_assert!(removed.chars().count() <= text.chars().count());
    }
}
