//! `/admin/trouble`: pages that failed or were refused, with the reason and a retry button.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use pharos_core::{PageId, PageUrl, Timestamp};
use pharos_engine::Order;
use pharos_store::{PageState, Trouble, TroubleQuery};

use super::site::site_of;
use super::sites::{Chosen, story_link};
use super::words::PageWords;
use super::work::{finish, order, with_catalog};
use crate::admin::action::Action;
use crate::admin::frame::DeskFrame;
use crate::admin::session::Operator;
use crate::page::respond;
use crate::service::{Rooms, ServiceError};
use crate::visitor::{Visitor, link};
use crate::words::{Lang, fill};

/// Rows per page.
const ROWS: usize = 50;
/// Number of latest failures whose reasons are counted, and number of reasons shown.
const COUNTED: usize = 10_000;
const REASONS: usize = 12;
/// Maximum length of the filter on the reason.
const LONGEST: usize = 300;

#[derive(Template)]
#[template(path = "admin/trouble.html")]
struct TroublePage {
    frame: DeskFrame,
    w: &'static PageWords,
    site: String,
    contains: String,
    kinds: Vec<Chosen>,
    reasons: Vec<(String, u64, String)>,
    rows: Vec<Row>,
    here: String,
    later: Option<String>,
}

struct Row {
    url: String,
    href: String,
    is_failed: bool,
    reason: String,
    at: String,
    attempts: u32,
    due: String,
}

/// `GET /admin/trouble`.
pub(crate) async fn trouble(
    State(rooms): State<Rooms>,
    visitor: Visitor,
    operator: Operator,
) -> Result<Response, ServiceError> {
    let w = PageWords::of(visitor.lang);
    let contains: String = visitor.param("q").unwrap_or_default().trim().chars().take(LONGEST).collect();
    let site = visitor.param("site").unwrap_or_default().trim().to_string();
    let named = site_of(&site);
    let kind = visitor.param("kind").unwrap_or_default();
    let state = match kind {
        "failed" => Some(PageState::Failed),
        "refused" => Some(PageState::Refused),
        _ => None,
    };
    let wanted = TroubleQuery {
        site: named.as_ref().map(|site| site.id()),
        state,
        contains: contains.clone(),
        before: visitor.param("before").and_then(place),
        limit: ROWS + 1,
    };
    // An invalid host name matches nothing.
    let is_none = !site.is_empty() && named.is_none();
    let (mut troubles, reasons) = with_catalog(&rooms, move |_, catalog| {
        let troubles = if is_none { Vec::new() } else { catalog.troubles(&wanted)? };
        Ok((troubles, catalog.trouble_reasons(COUNTED)?))
    })
    .await?;
    let is_more = troubles.len() > ROWS;
    troubles.truncate(ROWS);
    let to = |before: &str, contains: &str| {
        let params = [("site", site.as_str()), ("kind", kind), ("q", contains), ("before", before)];
        link("/admin/trouble", params.into_iter().filter(|(_, value)| !value.is_empty()))
    };
    let kinds = [("", w.all_trouble), ("failed", w.failed), ("refused", w.refused)];
    let page = TroublePage {
        frame: DeskFrame::new(&rooms, &visitor, &operator),
        w,
        kinds: kinds.map(|(value, text)| Chosen { value, text, is_chosen: value == kind }).into(),
        reasons: reasons
            .into_iter()
            .take(REASONS)
            .map(|(reason, count)| {
                let href = to("", plain_part(&reason));
                (reason, count, href)
            })
            .collect(),
        later: troubles.last().filter(|_| is_more).map(|last| to(&named_place(last), &contains)),
        here: visitor.address(),
        rows: troubles.iter().map(|one| Row::of(one, w, visitor.lang)).collect(),
        site,
        contains,
    };
    Ok(respond(&visitor, StatusCode::OK, &page))
}

impl Row {
    fn of(trouble: &Trouble, w: &'static PageWords, lang: Lang) -> Self {
        Self {
            url: trouble.url.to_string(),
            href: story_link(trouble.url.as_str()),
            is_failed: trouble.state == PageState::Failed,
            reason: trouble.reason.clone(),
            at: lang.moment(trouble.at),
            attempts: trouble.attempts,
            due: super::sites::moment(trouble.due, w, lang),
        }
    }
}

/// Returns the longest literal part of a reason: numbers and URLs may be folded to `#` and `…`.
fn plain_part(reason: &str) -> &str {
    reason.split(['…', '#']).map(str::trim).max_by_key(|part| part.len()).unwrap_or(reason)
}

/// Encodes the position after a row: its time and page id.
fn named_place(last: &Trouble) -> String {
    format!("{}.{}", last.at.millis(), last.url.id())
}

fn place(text: &str) -> Option<(Timestamp, PageId)> {
    let (at, page) = text.split_once('.')?;
    Some((Timestamp::from_millis(at.parse().ok()?), page.parse().ok()?))
}

/// `POST /admin/trouble/retry`: fetches the selected pages again.
pub(crate) async fn retry(action: Action) -> Response {
    let w = PageWords::of(action.visitor.lang);
    let urls: Vec<PageUrl> = action.form.all("url").take(ROWS).flat_map(PageUrl::parse).collect();
    let back = action.form.text("back");
    let back = if back.starts_with("/admin/trouble") { back.to_string() } else { "/admin/trouble".into() };
    if urls.is_empty() {
        return action.failed(&back, w.nothing_chosen);
    }
    let (first, detail) =
        (urls[0].to_string(), urls.iter().map(PageUrl::as_str).collect::<Vec<_>>().join(" "));
    let good = fill(w.did_retry, &[&urls.len().to_string()]);
    let done = order(&action.rooms, Order::Recrawl(urls)).await;
    finish(&action, "page.retry", &first, &detail, done, &back, &good).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_goes_on_behind_its_last_row() {
        let url = PageUrl::parse("http://a.example/").unwrap();
        let last = Trouble {
            url: url.clone(),
            state: PageState::Failed,
            reason: String::new(),
            attempts: 1,
            at: Timestamp::from_millis(12_345),
            due: None,
        };
        assert_eq!(place(&named_place(&last)), Some((Timestamp::from_millis(12_345), url.id())));
        for wrong in ["", "1", "x.y", "1.zz", "."] {
            assert_eq!(place(wrong), None, "{wrong}");
        }
    }
}
