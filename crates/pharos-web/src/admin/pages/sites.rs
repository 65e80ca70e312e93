//! `/admin/sites`: all known sites with their counts.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::Timestamp;
use pharos_store::{SiteList, SiteOrder, SiteQuery, SiteRow, SiteState};

use super::words::PageWords;
use super::work::with_catalog;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::{Visitor, link};
use crate::words::{Lang, fill, grouped};

/// Rows per page.
const ROWS: usize = 50;
/// Maximum length of a host name.
const LONGEST: usize = 253;

/// The states of the filter, by their name in links.
const STATES: [(&str, SiteState); 8] = [
    ("seed", SiteState::Seed),
    ("found", SiteState::Found),
    ("waiting", SiteState::Waiting),
    ("failing", SiteState::Failing),
    ("refused", SiteState::Refused),
    ("patient", SiteState::Patient),
    ("copy", SiteState::Copy),
    ("removed", SiteState::Removed),
];

/// The sort orders, by their name in links.
const ORDERS: [(&str, SiteOrder); 6] = [
    ("pages", SiteOrder::Pages),
    ("stored", SiteOrder::Stored),
    ("waiting", SiteOrder::Waiting),
    ("failed", SiteOrder::Failed),
    ("visited", SiteOrder::Visited),
    ("name", SiteOrder::Name),
];

#[derive(Template)]
#[template(path = "admin/sites.html")]
struct SitesPage {
    frame: DeskFrame,
    w: &'static PageWords,
    contains: String,
    states: Vec<Chosen>,
    orders: Vec<Chosen>,
    found: String,
    rows: Vec<Row>,
    earlier: Option<String>,
    later: Option<String>,
}

/// An option of a menu.
pub(super) struct Chosen {
    pub(super) value: &'static str,
    pub(super) text: &'static str,
    pub(super) is_chosen: bool,
}

struct Row {
    name: String,
    href: String,
    marks: Vec<&'static str>,
    pages: String,
    waiting: String,
    stored: String,
    indexable: String,
    failed: String,
    refused: String,
    visited: String,
}

/// `GET /admin/sites`.
pub(crate) async fn sites(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let w = PageWords::of(visitor.lang);
    let contains: String = visitor.param("q").unwrap_or_default().trim().chars().take(LONGEST).collect();
    let state = STATES.into_iter().find(|(name, _)| Some(*name) == visitor.param("state"));
    let order =
        ORDERS.into_iter().find(|(name, _)| Some(*name) == visitor.param("order")).unwrap_or(ORDERS[0]);
    let page: usize =
        visitor.param("page").and_then(|page| page.parse().ok()).unwrap_or(1).clamp(1, 1_000_000);
    let wanted = SiteQuery {
        contains: contains.clone(),
        state: state.map(|(_, state)| state),
        order: order.1,
        offset: (page - 1) * ROWS,
        limit: ROWS,
    };
    let SiteList { rows, total } =
        with_catalog(&rooms, move |_, catalog| Ok(catalog.list_sites(&wanted)?)).await?;
    let to = |page: usize| {
        let page = page.to_string();
        let state = state.map_or("", |(name, _)| name);
        link(
            "/admin/sites",
            [("q", contains.as_str()), ("state", state), ("order", order.0), ("page", &page)],
        )
    };
    let texts = [
        w.state_seed,
        w.state_found,
        w.state_waiting,
        w.state_failing,
        w.state_refused,
        w.state_patient,
        w.state_copy,
        w.state_removed,
    ];
    let orders = [w.known_pages, w.stored, w.waiting, w.failed, w.last_visit, w.site_name];
    let page = SitesPage {
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        w,
        states: STATES
            .into_iter()
            .zip(texts)
            .map(|((value, one), text)| Chosen {
                value,
                text,
                is_chosen: state.is_some_and(|(_, of)| of == one),
            })
            .collect(),
        orders: ORDERS
            .into_iter()
            .zip(orders)
            .map(|((value, one), text)| Chosen { value, text, is_chosen: one == order.1 })
            .collect(),
        found: fill(w.sites_found, &[&grouped(total)]),
        earlier: (page > 1).then(|| to(page - 1)),
        later: ((page * ROWS) as u64).lt(&total).then(|| to(page + 1)),
        rows: rows.iter().map(|row| Row::of(row, w, visitor.lang)).collect(),
        contains,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl Row {
    fn of(row: &SiteRow, w: &'static PageWords, lang: Lang) -> Self {
        Self {
            name: row.site.to_string(),
            href: site_link(row.site.as_str()),
            marks: marks(row, w),
            pages: grouped(row.pages),
            waiting: grouped(row.waiting),
            stored: grouped(row.stored),
            indexable: grouped(row.indexable),
            failed: grouped(row.failed),
            refused: grouped(row.refused),
            visited: moment(row.visited_at, w, lang),
        }
    }
}

/// Returns the link to the page of a site.
pub(crate) fn site_link(name: &str) -> String {
    link("/admin/site", [("name", name)])
}

/// Returns the link to the report on a page.
pub(super) fn story_link(url: &str) -> String {
    link("/admin/page", [("url", url)])
}

/// Returns the badges of a site.
pub(super) fn marks(row: &SiteRow, w: &'static PageWords) -> Vec<&'static str> {
    let marks = [
        (row.removed, w.state_removed),
        (row.seed, w.state_seed),
        (row.copy, w.state_copy),
        (row.not_before.is_some(), w.state_patient),
    ];
    marks.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect()
}

/// Formats a time, or "never".
pub(super) fn moment(at: Option<Timestamp>, w: &'static PageWords, lang: Lang) -> String {
    at.map_or_else(|| w.never.to_string(), |at| lang.moment(at))
}
