//! `/hot`: hot queries (热搜榜): most frequent, rising, and query volume by hour.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_mining::Window;

use crate::page::{Frame, respond};
use crate::service::{Rooms, ServiceError};
use crate::visitor::{Visitor, link};
use crate::words::{fill, grouped};

/// Height of the chart, and width per hour, in SVG units.
const HEIGHT: u64 = 120;
const STEP: u64 = 30;

#[derive(Template)]
#[template(path = "hot.html")]
struct HotPage {
    frame: Frame,
    query: &'static str,
    focus: bool,
    lists: Vec<List>,
    /// `None` if there were no queries in the last day.
    hours: Option<Hours>,
    /// Note on the minimum number of visits.
    rule: String,
}

/// A list of queries.
struct List {
    title: &'static str,
    entries: Vec<Entry>,
}

struct Entry {
    href: String,
    text: String,
    /// Number of queries, or its increase.
    figure: String,
}

/// Chart of the queries in the last 24 hours, latest hour on the right.
struct Hours {
    bars: Vec<Bar>,
    width: u64,
    height: u64,
    /// Text alternative.
    told: String,
}

struct Bar {
    x: u64,
    y: u64,
    height: u64,
    title: String,
    /// Hours ago, below every sixth bar.
    label: Option<String>,
}

/// `GET /hot`.
pub(crate) async fn hot(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, ServiceError> {
    let (config, words) = (rooms.config(), visitor.words());
    let shown = config.hot.shown;
    let (top, latest, rising, hours) = rooms
        .recall(move |memory| {
            let hours = memory.hourly_of_all();
            (
                memory.top(Window::Day, shown),
                memory.top(Window::Hour, shown),
                memory.rising(Window::Day, shown),
                hours,
            )
        })
        .await?;
    let entry = |query: &str, figure: String| Entry {
        href: link("/search", [("q", query), ("from", "hot")]),
        text: query.to_string(),
        figure,
    };
    let counted = |list: Vec<pharos_mining::frequency::HotQuery>| {
        list.iter().map(|hot| entry(&hot.query, grouped(hot.count))).collect()
    };
    let rising = rising
        .iter()
        .map(|hot| entry(&hot.query, format!("+{}", grouped(hot.count.saturating_sub(hot.before)))));
    let lists = [
        List { title: words.hot_day, entries: counted(top) },
        List { title: words.hot_rising, entries: rising.collect() },
        List { title: words.hot_hour, entries: counted(latest) },
    ];
    let page = HotPage {
        frame: Frame::new(&visitor, config),
        query: "",
        focus: false,
        lists: lists.into_iter().filter(|list| !list.entries.is_empty()).collect(),
        hours: Hours::of(&hours, &visitor),
        rule: fill(words.hot_rule, &[&grouped(config.hot.min_visits as u64)]),
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl Hours {
    fn of(counts: &[u64], visitor: &Visitor) -> Option<Self> {
        let words = visitor.words();
        let most = counts.iter().copied().max().filter(|most| *most > 0)?;
        let hours = counts.len() as u64;
        let bar = |(nth, count): (u64, &u64)| {
            let height = (count * HEIGHT).div_ceil(most);
            let ago = hours - 1 - nth;
            Bar {
                x: nth * STEP + 3,
                y: HEIGHT - height,
                height,
                title: fill(words.hours_ago, &[&ago.to_string(), &grouped(*count)]),
                label: ago
                    .is_multiple_of(6)
                    .then(|| if ago == 0 { words.now.into() } else { format!("−{ago}") }),
            }
        };
        let told = fill(words.hours_told, &[&grouped(counts.iter().sum()), &grouped(most)]);
        Some(Self {
            bars: (0..).zip(counts).map(bar).collect(),
            width: hours * STEP,
            height: HEIGHT + 18,
            told,
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
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
        let visitor = Visitor::new(&"/hot".parse().unwrap(), &HeaderMap::new());
        let hours = Hours::of(&[0, 5, 10], &visitor).unwrap();
        let heights: Vec<u64> = hours.bars.iter().map(|bar| bar.height).collect();
        assert_eq!(heights, [0, HEIGHT / 2, HEIGHT]);
        assert_eq!(hours.bars[2].label.as_deref(), Some("now"));
        assert!(hours.told.contains("15"), "{}", hours.told);
        assert!(Hours::of(&[0; 24], &visitor).is_none() && Hours::of(&[], &visitor).is_none());
    }
}
