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
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::params::{Integer, Params};
use super::problem::ApiError;
use crate::state::AppState;

/// Rank of a result, as logged.
type Rank = Integer<0, { u32::MAX as u64 }>;

/// An integer that JavaScript represents exactly.
type SafeInteger = Integer<0, { (1 << 53) - 1 }>;

/// Parameters of `/api/v1/click`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ClickParams {
    /// Id of the impression, contained in the links of a result page.
    #[param(required, example = "0123456789abcdef")]
    impression: Option<String>,
    /// Position of the clicked link, counted from 1 across result pages; any number with `seen`.
    #[param(inline, required, example = 1)]
    rank: Option<Rank>,
    /// Kind of the click; `seen` reports that a browser with scripts shows the page, `leave` the return from a result.
    #[serde(default)]
    #[param(default = ClickParam::default)]
    kind: ClickParam,
    /// With `leave`: dwell time on the result in milliseconds, capped at one day.
    #[param(inline)]
    dwell: Option<SafeInteger>,
}

/// Kind of a click.
#[derive(Clone, Copy, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ClickKind)]
pub(crate) enum ClickParam {
    #[default]
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
pub(crate) async fn click(
    State(app): State<AppState>,
    Params(params): Params<ClickParams>,
) -> Result<Response, ApiError> {
    let (Some(impression), Some(rank)) = (params.impression.as_deref(), params.rank) else {
        return Err(ApiError::bad_request(
            "parameters `impression` and `rank` are required: they are contained in the links of a result page",
        ));
    };
    let search = &app.service().search;
    let rank = u32::try_from(rank.get()).unwrap_or(u32::MAX);
    let dwell_ms = params.dwell.map(SafeInteger::get);
    let is_logged = match params.kind.logged() {
        Some(kind) => search.log_click(&ReportedClick { impression, kind, rank, dwell_ms }),
        None => search.log_seen(impression),
    };
    if is_logged {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        Err(ApiError::not_found("unknown or expired impression: the click is not counted"))
    }
}

impl ClickParam {
    /// Returns the kind under which a click is logged, or `None` for an impression that was seen.
    fn logged(self) -> Option<ClickKind> {
        match self {
            Self::Result => Some(ClickKind::Result),
            Self::Snapshot => Some(ClickKind::Snapshot),
            Self::Related => Some(ClickKind::Related),
            Self::Corrected => Some(ClickKind::Corrected),
            Self::Leave => Some(ClickKind::Leave),
            Self::Seen => None,
        }
    }
}
