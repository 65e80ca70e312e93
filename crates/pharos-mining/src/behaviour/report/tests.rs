use super::super::html::render_page;
use super::super::texts::{ReportLang, find, text};
use super::*;
use crate::QueryRecord;
use crate::log::records::{AnyRecord, ImpressionKind, QuerySource, ShownResult};
use crate::search_log::SearchLogBuilder;
use crate::testing::{at, click_at, query_at};
use crate::{ClickRecord, ImpressionRecord};

/// Builds a log in which all statistics have figures.
fn full_log() -> SearchLog {
    let mut builder = SearchLogBuilder::new(at("2026-02-01T00:00:00Z"));
    let start = at("2026-01-30T00:00:00Z").millis();
    let mut state = 1_u64;
    for n in 0..40_000_i64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let query = format!("query {}", ((state >> 40) % 1000).isqrt());
        let (id, when) = (n.to_string(), Timestamp::from_millis(start + n * 1000));
        let record = query_at(&query, &format!("v{}", n / 3), when);
        let source = if n % 10 == 0 { QuerySource::Suggested } else { QuerySource::Typed };
        builder.add(AnyRecord::Impression(ImpressionRecord {
            kind: ImpressionKind::Suggestions,
            query: "qu".into(),
            suggestions: vec![query.clone()],
            ..ImpressionRecord::default()
        }));
        let page = 1 + u32::from(n % 7 == 0);
        builder.add(AnyRecord::Query(QueryRecord { id: id.clone(), total: Some(1), page, source, ..record }));
        let results =
            (1..=10).map(|rank| ShownResult { rank, url: format!("http://x/{}", n as u32 % 50 + rank) });
        builder.add(AnyRecord::Impression(ImpressionRecord {
            id: id.clone(),
            results: results.collect(),
            ..ImpressionRecord::default()
        }));
        if n % 2 == 0 {
            let rank = 1 + (state >> 20) as u32 % 4;
            let url = format!("http://x/{}", n as u32 % 50 + rank);
            let click = click_at(&id, "", &url, when);
            builder.add(AnyRecord::Click(ClickRecord { rank: Some(rank), ..click }));
        }
    }
    builder.finish()
}

fn full_report() -> BehaviourReport {
    let page = |n: u32| PageProperties { in_degree: n, copies: 1, depth: n % 3, clicks: u64::from(n % 4) };
    let inputs = ReportInputs {
        pages: Some((0..100).map(page).collect()),
        term_share: Some(Box::new(|_| Some(0.01))),
        zone: None,
    };
    build_report(&full_log(), inputs)
}

#[test]
fn every_statistic_has_figures_texts_and_a_source() {
    let report = full_report();
    for statistic in &report.statistics {
        assert_eq!(statistic.missing, None, "{}", statistic.name);
        assert!(!statistic.figures.is_empty() || !statistic.plots.is_empty(), "{}", statistic.name);
        assert!(!statistic.source.is_empty());
        let plots = statistic.plots.iter().flat_map(|plot| plot.labels.iter().copied().chain([plot.name]));
        let keys = statistic.figures.iter().map(|(name, _)| *name).chain(plots).chain([statistic.name]);
        for key in keys.filter(|key| !key.starts_with('1')) {
            assert!(find(key).is_some(), "{key} of {} has no text", statistic.name);
        }
    }
    for lang in [ReportLang::En, ReportLang::Zh] {
        let page = render_page(&report, lang);
        assert!(page.contains(text("concentration", lang)) && !page.contains("{}") && !page.contains("NaN"));
    }
    let value = |name: &str, figure: &str| {
        let statistic = report.statistics.iter().find(|statistic| statistic.name == name).unwrap();
        statistic.figures.iter().find(|(of, _)| *of == figure).unwrap().1
    };
    assert!((value("suggestions", "keystrokes-saved") - 0.73).abs() < 0.05);
    assert_eq!(value("overview", "clicks"), 20_000.0);
}

#[test]
fn an_empty_log_says_what_is_missing_and_draws_nothing() {
    let report = build_report(&SearchLog::default(), ReportInputs::default());
    assert_eq!(report.statistics.len(), full_report().statistics.len());
    for statistic in &report.statistics {
        assert_eq!((statistic.missing, statistic.plots.len()), (Some("no-queries"), 0), "{}", statistic.name);
    }
    assert!(!render_page(&report, ReportLang::En).contains("<svg"));
    assert_eq!((report.from, report.to), (None, None));
}

#[test]
fn a_log_of_one_query_has_no_empty_plot() {
    let mut builder = SearchLogBuilder::new(at("2026-02-01T00:00:00Z"));
    builder.add(AnyRecord::Query(query_at("tea", "", at("2026-01-31T12:00:00Z"))));
    let report = build_report(&builder.finish(), ReportInputs::default());
    for plot in report.statistics.iter().flat_map(|statistic| &statistic.plots) {
        assert!(!plot.values.is_empty(), "{}", plot.name);
    }
    let missing =
        |name: &str| report.statistics.iter().find(|statistic| statistic.name == name).unwrap().missing;
    let names = ["concentration", "clicked-ranks", "hurst", "visited-pages", "sessions"];
    let reasons = ["too-short", "no-clicks", "too-short", "no-index", "no-visits"];
    assert_eq!(names.map(missing), reasons.map(Some));
}
