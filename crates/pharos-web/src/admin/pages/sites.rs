//! `/admin/sites`: all known sites with their counts.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::Timestamp;
use pharos_store::catalog::{SiteList, SiteOrder, SiteQuery, SiteRow, SiteState};

use super::commands::with_catalog;
use super::messages::PageMessages;
use super::params::{self, PAGE_SIZE};
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::messages::{Lang, fill, grouped};
use crate::pages::frame::respond;
use crate::server::visitor::{Visitor, link};
use crate::state::{AppState, ServiceError};

/// Maximum length of a host name.
const MAX_HOST_LENGTH: usize = 253;

/// The states of the filter, by their name in links.
const STATES: [(&str, SiteState); 8] = [
    ("seed", SiteState::Seed),
    ("found", SiteState::Found),
    ("waiting", SiteState::Waiting),
    ("failing", SiteState::Failing),
    ("refused", SiteState::Refused),
    ("patient", SiteState::BackingOff),
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
    m: &'static PageMessages,
    contains: String,
    states: Vec<MenuOption>,
    orders: Vec<MenuOption>,
    found: String,
    rows: Vec<SiteLine>,
    earlier: Option<String>,
    later: Option<String>,
}

/// An option of a menu.
pub(super) struct MenuOption {
    pub(super) value: &'static str,
    pub(super) text: &'static str,
    pub(super) is_chosen: bool,
}

struct SiteLine {
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
    State(app): State<AppState>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let m = PageMessages::for_lang(visitor.lang);
    let contains = params::text(&visitor, "q", MAX_HOST_LENGTH);
    let state = params::choice(&visitor, "state", &STATES);
    let order = params::choice(&visitor, "order", &ORDERS).unwrap_or(ORDERS[0]);
    let (page, offset) = params::page(&visitor);
    let query = SiteQuery {
        contains: contains.clone(),
        state: state.map(|(_, state)| state),
        order: order.1,
        offset,
        limit: PAGE_SIZE,
    };
    let SiteList { rows, total } =
        with_catalog(&app, move |_, catalog| Ok(catalog.list_sites(&query)?)).await?;
    let to = |page: usize| {
        let page = page.to_string();
        let state = state.map_or("", |(name, _)| name);
        link(
            "/admin/sites",
            [("q", contains.as_str()), ("state", state), ("order", order.0), ("page", &page)],
        )
    };
    let texts = [
        m.state_seed,
        m.state_found,
        m.state_waiting,
        m.state_failing,
        m.state_refused,
        m.state_backoff,
        m.state_copy,
        m.state_removed,
    ];
    let orders = [m.known_pages, m.stored, m.waiting, m.failed, m.last_visit, m.site_name];
    let page = SitesPage {
        frame: DeskFrame::new(&app, &visitor, &operator),
        m,
        states: STATES
            .into_iter()
            .zip(texts)
            .map(|((value, one), text)| MenuOption {
                value,
                text,
                is_chosen: state.is_some_and(|(_, of)| of == one),
            })
            .collect(),
        orders: ORDERS
            .into_iter()
            .zip(orders)
            .map(|((value, one), text)| MenuOption { value, text, is_chosen: one == order.1 })
            .collect(),
        found: fill(m.sites_found, &[&grouped(total)]),
        earlier: (page > 1).then(|| to(page - 1)),
        later: ((page * PAGE_SIZE) as u64).lt(&total).then(|| to(page + 1)),
        rows: rows.iter().map(|row| SiteLine::new(row, m, visitor.lang)).collect(),
        contains,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl SiteLine {
    fn new(row: &SiteRow, m: &'static PageMessages, lang: Lang) -> Self {
        Self {
            name: row.site.to_string(),
            href: site_link(row.site.as_str()),
            marks: badges(row, m),
            pages: grouped(row.pages),
            waiting: grouped(row.waiting),
            stored: grouped(row.stored),
            indexable: grouped(row.indexable),
            failed: grouped(row.failed),
            refused: grouped(row.refused),
            visited: format_time(row.visited_at, m, lang),
        }
    }
}

/// Returns the link to the page of a site.
pub(crate) fn site_link(name: &str) -> String {
    link("/admin/site", [("name", name)])
}

/// Returns the link to the report on a page.
pub(super) fn report_link(url: &str) -> String {
    link("/admin/page", [("url", url)])
}

/// Returns the badges of a site.
pub(super) fn badges(row: &SiteRow, m: &'static PageMessages) -> Vec<&'static str> {
    let marks = [
        (row.removed, m.state_removed),
        (row.seed, m.state_seed),
        (row.copy, m.state_copy),
        (row.not_before.is_some(), m.state_backoff),
    ];
    marks.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect()
}

/// Formats a time, or "never".
pub(super) fn format_time(at: Option<Timestamp>, m: &'static PageMessages, lang: Lang) -> String {
    at.map_or_else(|| m.never.to_string(), |at| lang.date_time(at))
}
