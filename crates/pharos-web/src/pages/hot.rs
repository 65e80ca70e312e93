//! `/hot`: hot queries (热搜榜): most frequent, rising, and query volume by hour.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_mining::TimeWindow;

use crate::messages::{fill, grouped};
use crate::pages::frame::{PageFrame, respond};
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

/// Height of the chart, and width per hour, in SVG units.
const HEIGHT: u64 = 120;
const STEP: u64 = 30;

#[derive(Template)]
#[template(path = "hot.html")]
struct HotPage {
    frame: PageFrame,
    query: &'static str,
    focus: bool,
    lists: Vec<QueryList>,
    /// `None` if there were no queries in the last day.
    hours: Option<HourlyChart>,
    /// Note on the minimum number of visits.
    rule: String,
}

/// A list of queries.
struct QueryList {
    title: &'static str,
    entries: Vec<QueryEntry>,
}

struct QueryEntry {
    href: String,
    text: String,
    /// Number of queries, or its increase.
    figure: String,
}

/// Chart of the queries in the last 24 hours, latest hour on the right.
struct HourlyChart {
    bars: Vec<HourBar>,
    width: u64,
    height: u64,
    /// Text alternative.
    summary: String,
}

struct HourBar {
    x: u64,
    y: u64,
    height: u64,
    title: String,
    /// Hours ago, below every sixth bar.
    label: Option<String>,
}

/// `GET /hot`.
pub(crate) async fn hot(State(app): State<AppState>, visitor: Visitor) -> Result<Response, ServiceError> {
    let (config, messages) = (app.config(), visitor.messages());
    let shown = config.hot.shown;
    let (top, latest, rising, hours) = app
        .with_statistics(move |memory| {
            let hours = memory.hourly_total();
            (
                memory.top(TimeWindow::Day, shown),
                memory.top(TimeWindow::Hour, shown),
                memory.rising(TimeWindow::Day, shown),
                hours,
            )
        })
        .await?;
    let entry = |query: &str, figure: String| QueryEntry {
        href: link("/search", [("q", query), ("from", "hot")]),
        text: query.to_string(),
        figure,
    };
    let counted = |list: Vec<pharos_mining::queries::frequency::HotQuery>| {
        list.iter().map(|hot| entry(&hot.query, grouped(hot.count))).collect()
    };
    let rising = rising
        .iter()
        .map(|hot| entry(&hot.query, format!("+{}", grouped(hot.count.saturating_sub(hot.before)))));
    let lists = [
        QueryList { title: messages.hot_day, entries: counted(top) },
        QueryList { title: messages.hot_rising, entries: rising.collect() },
        QueryList { title: messages.hot_hour, entries: counted(latest) },
    ];
    let page = HotPage {
        frame: PageFrame::new(&visitor, config),
        query: "",
        focus: false,
        lists: lists.into_iter().filter(|list| !list.entries.is_empty()).collect(),
        hours: HourlyChart::new(&hours, &visitor),
        rule: fill(messages.hot_rule, &[&grouped(config.hot.min_visits as u64)]),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl HourlyChart {
    fn new(counts: &[u64], visitor: &Visitor) -> Option<Self> {
        let messages = visitor.messages();
        let most = counts.iter().copied().max().filter(|most| *most > 0)?;
        let hours = counts.len() as u64;
        let bar = |(nth, count): (u64, &u64)| {
            let height = (count * HEIGHT).div_ceil(most);
            let ago = hours - 1 - nth;
            HourBar {
                x: nth * STEP + 3,
                y: HEIGHT - height,
                height,
                title: fill(messages.hours_ago, &[&ago.to_string(), &grouped(*count)]),
                label: ago
                    .is_multiple_of(6)
                    .then(|| if ago == 0 { messages.now.into() } else { format!("−{ago}") }),
            }
        };
        let summary = fill(messages.hours_summary, &[&grouped(counts.iter().sum()), &grouped(most)]);
        Some(Self {
            bars: (0..).zip(counts).map(bar).collect(),
            width: hours * STEP,
            height: HEIGHT + 18,
            summary,
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{Extensions, HeaderMap};
    use pharos_core::Config;

    use super::*;
    use crate::router;
    use crate::testing::{engine, get};

    #[tokio::test]
    async fn without_queries_an_explanation_is_shown() {
        let (_dir, service) = engine(&[], Config::default());
        let router = router(service).unwrap();
        let reply = get(&router, "/hot").await;
        assert_eq!(reply.status, StatusCode::OK);
        assert!(reply.text().contains("Nothing to show yet"), "{}", reply.text());
        assert!(get(&router, "/hot?lang=zh").await.text().contains("热搜榜"));
    }

    #[test]
    fn the_highest_bar_fills_the_chart() {
        let visitor = Visitor::new(&"/hot".parse().unwrap(), &HeaderMap::new(), &Extensions::new());
        let hours = HourlyChart::new(&[0, 5, 10], &visitor).unwrap();
        let heights: Vec<u64> = hours.bars.iter().map(|bar| bar.height).collect();
        assert_eq!(heights, [0, HEIGHT / 2, HEIGHT]);
        assert_eq!(hours.bars[2].label.as_deref(), Some("now"));
        assert!(hours.summary.contains("15"), "{}", hours.summary);
        assert!(HourlyChart::new(&[0; 24], &visitor).is_none() && HourlyChart::new(&[], &visitor).is_none());
    }
}
