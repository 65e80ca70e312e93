//! `/admin/insight`: the report of user behaviour. `/admin/insight/queries`: lists of queries that users fail with, also as
//! CSV and JSON. `/admin/insight/query`: the results, clicks and sessions of one query.

mod messages;
mod searches;

use askama::Template;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use pharos_mining::behaviour::html::{render_notes, render_statistic};
use pharos_mining::behaviour::query_table::{
    QueryLanguage, QueryList, QueryRow, query_table, select, to_csv,
};
use pharos_mining::behaviour::texts::ReportLang;
use pharos_mining::search_log::SearchLog;
use pharos_mining::sessions::{SessionRules, sessions};

use self::messages::InsightMessages;
pub(crate) use self::searches::{SearchCache, read_searches};
use super::params;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

/// Periods that can be chosen, in days.
const PERIODS: [(&str, u32); 4] = [("1", 1), ("7", 7), ("30", 30), ("90", 90)];
const USUAL_PERIOD: (&str, u32) = PERIODS[1];
/// Languages of queries that can be chosen.
const LANGUAGES: [(&str, Option<QueryLanguage>); 3] =
    [("all", None), ("zh", Some(QueryLanguage::Chinese)), ("other", Some(QueryLanguage::Other))];
/// Rows of a list, and of an exported one.
const MAX_SHOWN: usize = 50;
const MAX_EXPORTED: usize = 10_000;
/// Results and searches shown for a query.
const MAX_RESULTS: usize = 10;
const MAX_SESSIONS: usize = 10;
const MAX_QUERY_CHARS: usize = 200;

fn report_lang(lang: Lang) -> ReportLang {
    match lang {
        Lang::En => ReportLang::En,
        Lang::Zh => ReportLang::Zh,
    }
}

/// An option of a menu.
struct Choice {
    value: &'static str,
    text: &'static str,
    is_chosen: bool,
}

fn periods(m: &'static InsightMessages, chosen: &str) -> Vec<Choice> {
    let texts = [m.one_day, m.seven_days, m.thirty_days, m.ninety_days];
    let choice = |((value, _), text): (&(&'static str, u32), &'static str)| Choice {
        value,
        text,
        is_chosen: *value == chosen,
    };
    PERIODS.iter().zip(texts).map(choice).collect()
}

#[derive(Template)]
#[template(path = "admin/insight.html")]
struct InsightPage {
    frame: DeskFrame,
    m: &'static InsightMessages,
    is_off: bool,
    periods: Vec<Choice>,
    notes_html: String,
    sections_html: Vec<String>,
}

/// `GET /admin/insight?days=…`.
pub(crate) async fn insight(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = InsightMessages::for_lang(visitor.lang);
    let (chosen, days) = params::choice(&visitor, "days", &PERIODS).unwrap_or(USUAL_PERIOD);
    let searches = read_searches(&app, days).await?;
    let report = &searches.report;
    let lang = report_lang(visitor.lang);
    let page = InsightPage {
        is_off: !app.config().log.enabled,
        periods: periods(m, chosen),
        notes_html: render_notes(report, lang),
        sections_html: report.statistics.iter().map(|statistic| render_statistic(statistic, lang)).collect(),
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

#[derive(Template)]
#[template(path = "admin/insight_queries.html")]
struct QueryListsPage {
    frame: DeskFrame,
    m: &'static InsightMessages,
    lists: Vec<Choice>,
    periods: Vec<Choice>,
    languages: Vec<Choice>,
    rows: Vec<RowLine>,
    csv: String,
    json: String,
}

/// A row of a list as shown.
struct RowLine {
    href: String,
    query: String,
    searches: String,
    visits: String,
    empty: String,
    click_rate: String,
    abandoned: String,
    corrected: String,
    time: String,
}

impl RowLine {
    fn new(row: &QueryRow, days: &str) -> Self {
        let count = |count: u64| if count == 0 { "–".into() } else { grouped(count) };
        Self {
            href: link("/admin/insight/query", [("q", row.query.as_str()), ("days", days)]),
            query: row.query.clone(),
            searches: grouped(row.searches),
            visits: grouped(u64::from(row.visits)),
            empty: count(row.without_results),
            click_rate: row.click_rate().map_or_else(|| "–".into(), |rate| format!("{:.0} %", 100.0 * rate)),
            abandoned: count(row.abandoned),
            corrected: count(row.corrected),
            time: row.mean_ms.map_or_else(|| "–".into(), |ms| format!("{ms:.0} ms")),
        }
    }
}

/// `GET /admin/insight/queries?list=…&days=…&language=…&form=csv|json`.
pub(crate) async fn query_lists(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = InsightMessages::for_lang(visitor.lang);
    let (period, days) = params::choice(&visitor, "days", &PERIODS).unwrap_or(USUAL_PERIOD);
    let (language_name, language) = params::choice(&visitor, "language", &LANGUAGES).unwrap_or(LANGUAGES[0]);
    let list = visitor.param("list").and_then(QueryList::from_name).unwrap_or(QueryList::Top);
    let searches = read_searches(&app, days).await?;
    let rows = query_table(&searches.log, language);
    match visitor.param("form") {
        Some("csv") => {
            let csv = to_csv(&select(&rows, list, MAX_EXPORTED));
            let name = format!("attachment; filename=\"queries-{}.csv\"", list.name());
            let headers =
                [(CONTENT_TYPE, "text/csv; charset=utf-8".to_string()), (CONTENT_DISPOSITION, name)];
            return Ok((headers, csv).into_response());
        }
        Some("json") => return Ok(Json(select(&rows, list, MAX_EXPORTED)).into_response()),
        _ => {}
    }
    let texts =
        [m.top, m.rising, m.without_results, m.few_clicks, m.abandoned_queries, m.corrected_queries, m.slow];
    let lists = QueryList::ALL.iter().zip(texts);
    let lists = lists.map(|(of, text)| Choice { value: of.name(), text, is_chosen: *of == list });
    let languages = LANGUAGES.iter().zip([m.all_languages, m.chinese, m.other_languages]);
    let languages =
        languages.map(|((value, _), text)| Choice { value, text, is_chosen: *value == language_name });
    let exported = |form| {
        let parameters =
            [("list", list.name()), ("days", period), ("language", language_name), ("form", form)];
        link("/admin/insight/queries", parameters)
    };
    let page = QueryListsPage {
        lists: lists.collect(),
        periods: periods(m, period),
        languages: languages.collect(),
        rows: select(&rows, list, MAX_SHOWN).into_iter().map(|row| RowLine::new(row, period)).collect(),
        csv: exported("csv"),
        json: exported("json"),
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

#[derive(Template)]
#[template(path = "admin/insight_query.html")]
struct QueryPage {
    frame: DeskFrame,
    m: &'static InsightMessages,
    query: String,
    back: String,
    search: String,
    synonym: String,
    line: Option<RowLine>,
    results: Vec<ResultLine>,
    sessions: Vec<SessionLine>,
}

/// A result as shown last, with its clicks in the period.
struct ResultLine {
    rank: usize,
    url: String,
    clicks: String,
    pin: String,
    report: String,
}

/// A session that contains the query.
struct SessionLine {
    at: String,
    steps: Vec<(String, String)>,
    ending: &'static str,
}

/// `GET /admin/insight/query?q=…&days=…`.
pub(crate) async fn query(
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = InsightMessages::for_lang(visitor.lang);
    let (period, days) = params::choice(&visitor, "days", &PERIODS).unwrap_or(USUAL_PERIOD);
    let text = params::text(&visitor, "q", MAX_QUERY_CHARS);
    let searches = read_searches(&app, days).await?;
    let log = &searches.log;
    let key = pharos_text::normalise(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    let number = log.queries.number(&key);
    let row = query_table(log, None).into_iter().find(|row| Some(row.number) == number);
    let page = QueryPage {
        back: link("/admin/insight/queries", [("days", period)]),
        search: link("/search", [("q", text.as_str())]),
        synonym: link("/admin/curation", [("q", text.as_str())]),
        line: row.map(|row| RowLine::new(&row, period)),
        results: number.map(|number| results(log, number, &text)).unwrap_or_default(),
        sessions: number.map(|number| query_sessions(log, number, m, visitor.lang)).unwrap_or_default(),
        query: text,
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

/// Returns the results as they were shown last.
fn results(log: &SearchLog, query: u32, text: &str) -> Vec<ResultLine> {
    let of_query = || log.asked().filter(|search| search.query == query);
    let last = of_query().filter(|search| !log.shown_of(search).is_empty()).last();
    let clicks = |url: u32| {
        of_query().flat_map(|search| log.clicks_of(search)).filter(|click| click.url == url).count()
    };
    let shown = last.map(|search| log.shown_of(search)).unwrap_or_default();
    (1..)
        .zip(shown.iter().take(MAX_RESULTS))
        .map(|(rank, url)| {
            let address = log.urls.text(*url).to_string();
            ResultLine {
                rank,
                clicks: grouped(clicks(*url) as u64),
                pin: link("/admin/curation", [("kind", "pin"), ("q", text), ("url", address.as_str())]),
                report: link("/admin/page", [("url", address.as_str()), ("q", text)]),
                url: address,
            }
        })
        .collect()
}

/// Returns the latest sessions with the query.
fn query_sessions(log: &SearchLog, query: u32, m: &'static InsightMessages, lang: Lang) -> Vec<SessionLine> {
    let all = sessions(log, &SessionRules::default());
    let goals = all.iter().rev().flat_map(|session| session.goals.iter().map(move |goal| (session, goal)));
    let with_query = goals
        .filter(|(_, goal)| goal.steps.iter().any(|step| log.searches[step.search as usize].query == query));
    with_query
        .take(MAX_SESSIONS)
        .map(|(session, goal)| SessionLine {
            at: lang.date_time(session.from),
            steps: goal
                .steps
                .iter()
                .take(20)
                .map(|step| {
                    let text = log.queries.text(log.searches[step.search as usize].query);
                    (link("/search", [("q", text)]), text.to_string())
                })
                .collect(),
            ending: m.ending(goal.ending),
        })
        .collect()
}
