//! `/api/v1/click`: click reporting by browsers, with dwell times.
//!
//! `pharos.js` sends beacons with the id of the impression: that it was seen by a browser that reports clicks, each click, and
//! the time until the user returned. An impression that was never reported as seen was shown without scripts: its missing
//! clicks mean nothing.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pharos_mining::log::records::ClickKind;
use pharos_query::ReportedClick;
use utoipa::{IntoParams, ToSchema};

use super::params::ApiParams;
use super::problem::ApiError;
use crate::server::visitor::Visitor;
use crate::state::AppState;

/// The largest integer that JavaScript represents exactly.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// Parameters of `/api/v1/click`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) struct ClickParams {
    /// Id of the impression, contained in the links of a result page.
    #[param(example = "0123456789abcdef")]
    impression: String,
    /// Position of the clicked link, counted from 1 across result pages; any number with `seen`.
    #[param(minimum = 0, maximum = 4_294_967_295_u64, example = 1)]
    rank: u32,
    /// Kind of the click; `seen` reports that a browser with scripts shows the page, `leave` the return from a result.
    #[param(required = false, value_type = ClickParam, default = "result")]
    kind: String,
    /// With `leave`: dwell time on the result in milliseconds, capped at one day.
    #[param(required = false, minimum = 0, maximum = 9_007_199_254_740_991_u64)]
    dwell: u64,
}

/// Kind of a click.
#[derive(ToSchema)]
#[schema(as = ClickKind, rename_all = "lowercase")]
#[expect(dead_code, reason = "read by utoipa only")]
pub(crate) enum ClickParam {
    Result,
    Snapshot,
    Related,
    Corrected,
    Leave,
    Seen,
}

/// Report a click.
///
/// Sent by result pages in browsers. Clicks improve the ranking; they are stored without IP addresses or names.
#[utoipa::path(
    post,
    path = "/api/v1/click",
    tag = "Search",
    params(ClickParams),
    responses(
        (status = 204, description = "Recorded"),
        (status = 400, description = "A parameter is missing or invalid"),
        (status = 404, description = "Unknown or expired impression"),
        (status = 413, description = "The body is too large")
    )
)]
pub(crate) async fn click(State(app): State<AppState>, visitor: Visitor) -> Result<Response, ApiError> {
    let params = ApiParams(&visitor);
    let kinds = [
        ("result", ClickKind::Result),
        ("snapshot", ClickKind::Snapshot),
        ("related", ClickKind::Related),
        ("corrected", ClickKind::Corrected),
        ("leave", ClickKind::Leave),
    ];
    let kinds = kinds.map(|(name, kind)| (name, Some(kind))).into_iter().chain([("seen", None)]);
    let kind = params.choice("kind", &kinds.collect::<Vec<_>>())?.unwrap_or(Some(ClickKind::Result));
    let dwell_ms = params.number("dwell", 0..=MAX_SAFE_INTEGER)?;
    let (Some(impression), Some(rank)) =
        (params.text("impression")?, params.number("rank", 0..=u64::from(u32::MAX))?)
    else {
        return Err(ApiError::bad_request(
            "parameters `impression` and `rank` are required: they are contained in the links of a result page",
        ));
    };
    let search = &app.service().search;
    let rank = u32::try_from(rank).unwrap_or(u32::MAX);
    let is_logged = match kind {
        Some(kind) => search.log_click(&ReportedClick { impression, kind, rank, dwell_ms }),
        None => search.log_seen(impression),
    };
    if is_logged {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        Err(ApiError::not_found("unknown or expired impression: the click is not counted"))
    }
}
