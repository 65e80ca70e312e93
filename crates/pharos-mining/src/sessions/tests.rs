use super::*;
use crate::log::records::{AnyRecord, ClickKind};
use crate::search_log::SearchLogBuilder;
use crate::testing::{at, query_at};
use crate::{ClickRecord, QueryRecord};

/// Builds a log from visits, minutes and queries, and clicks with a dwell time on some of them.
fn log(searches: &[(&str, i64, &str)], clicks: &[(usize, Option<u64>)]) -> SearchLog {
    let start = at("2026-01-31T12:00:00Z");
    let when = |minute: i64| Timestamp::from_millis(start.millis() + minute * 60_000);
    let mut builder = SearchLogBuilder::new(at("2026-02-01T00:00:00Z"));
    for (nth, (visit, minute, query)) in searches.iter().enumerate() {
        let page = 1 + searches[..nth].iter().rev().take_while(|before| before.2 == *query).count() as u32;
        let record = query_at(query, visit, when(*minute));
        builder.add(AnyRecord::Query(QueryRecord { id: nth.to_string(), page, ..record }));
    }
    for (nth, dwell_ms) in clicks {
        let (visit, minute, query) = searches[*nth];
        builder.add(AnyRecord::Click(ClickRecord {
            at: when(minute).plus(Duration::from_secs(5)),
            impression: nth.to_string(),
            visit: visit.into(),
            kind: ClickKind::Result,
            searched: query.into(),
            rank: Some(1),
            page_size: None,
            order: None,
            url: Some(format!("http://x/{nth}")),
            query: None,
            dwell_ms: *dwell_ms,
        }));
    }
    builder.finish()
}

#[test]
fn steps_of_the_literature_are_classified() {
    use Reformulation::*;
    let steps = [
        ("apple", "apple tree", Specialise),
        ("apple tree", "apple", Generalise),
        ("recieve mail", "receive mail", Correct),
        ("周结伦", "周杰伦", Correct),
        ("olympics 2004", "olympics 2008", Rephrase),
        ("cheap hotel paris", "cheap hostel paris", Correct),
        ("python list sort", "python list order", Rephrase),
        ("tree apple", "apple tree", Repeat),
    ];
    for (before, after, kind) in steps {
        assert_eq!(classify(before, after), kind, "{before} → {after}");
    }
}

#[test]
fn a_long_pause_begins_a_session_and_another_subject_a_goal() {
    let log = log(
        &[
            ("a", 0, "lighthouse"),
            ("a", 1, "weather tomorrow"),
            ("a", 2, "lighthouse height"),
            ("a", 3, "lighthouse height"),
            ("b", 2, "tea"),
            ("a", 60, "lighthouse"),
        ],
        &[(2, Some(90_000)), (4, Some(2_000))],
    );
    let sessions = sessions(&log, &SessionRules::default());
    let shape: Vec<Vec<Vec<Reformulation>>> = sessions
        .iter()
        .map(|s| s.goals.iter().map(|g| g.steps.iter().map(|step| step.kind).collect()).collect())
        .collect();
    use Reformulation::*;
    let first = vec![vec![New, Specialise, PageTurn], vec![New]];
    assert_eq!(shape, [first, vec![vec![New]], vec![vec![New]]]);
    let endings: Vec<Ending> = sessions.iter().flat_map(|s| &s.goals).map(|goal| goal.ending).collect();
    assert_eq!(endings, [Ending::Satisfied, Ending::Abandoned, Ending::Unsatisfied, Ending::Abandoned]);
    let counts = count_sessions(&sessions);
    assert_eq!((counts.sessions, counts.goals, counts.searches, counts.searches_per_session), (3, 4, 6, 2.0));
}

#[test]
fn without_reported_clicks_the_ending_is_unknown() {
    let silent = log(&[("a", 0, "tea")], &[]);
    let sessions_of = |log: &SearchLog| sessions(log, &SessionRules::default());
    assert_eq!(sessions_of(&silent)[0].goals[0].ending, Ending::Unknown);
    let last = log(&[("a", 0, "tea"), ("a", 1, "tea shop")], &[(1, None)]);
    assert_eq!(sessions_of(&last)[0].goals[0].ending, Ending::Satisfied);
    let followed = log(&[("a", 0, "tea"), ("a", 1, "tea shop")], &[(0, None)]);
    assert_eq!(sessions_of(&followed)[0].goals[0].ending, Ending::Unsatisfied);
    assert_eq!(sessions_of(&SearchLog::default()), []);
}

#[test]
fn a_visit_without_a_name_is_not_joined() {
    let log = log(&[("", 0, "tea"), ("", 0, "tea")], &[]);
    assert_eq!(sessions(&log, &SessionRules::default()).len(), 2);
}
