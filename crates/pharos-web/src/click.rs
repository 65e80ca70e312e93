//! `/api/v1/click`: browsers tell what was clicked, and how long it was looked at.
//!
//! `pharos.js` says it by a beacon with the name of what was shown: that it was seen by a browser that tells clicks, each
//! click, and the time until the visitor came back. What was never said to be seen was shown to somebody without scripts: that
//! nothing of it was clicked means nothing.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pharos_mining::record::{ClickRecord, Clicked, ImpressionRecord, Shown};
use utoipa::{IntoParams, ToSchema};

use crate::api::{Params, Refusal};
use crate::impressions::Target;
use crate::service::Rooms;
use crate::visitor::Visitor;

/// Nobody looks longer at a page, in milliseconds.
const MAX_DWELL: u64 = 24 * 3600 * 1000;

/// The largest number that a script can tell.
const MOST: u64 = (1 << 53) - 1;

/// What a click says of itself.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) struct ClickParams {
    /// The name of what was shown; it stands in the links of a result page.
    #[param(example = "0123456789abcdef")]
    impression: String,
    /// The place of what was clicked, from 1 over all pages of results; any number with `seen`.
    #[param(minimum = 0, maximum = 4_294_967_295_u64, example = 1)]
    rank: u32,
    /// What was clicked; `seen` says that a browser that tells clicks shows it, `leave` is the way back from a result.
    #[param(required = false, value_type = ClickKind, default = "result")]
    kind: String,
    /// With `leave`: for how many milliseconds the result was looked at; nobody looks longer than a day.
    #[param(required = false, minimum = 0, maximum = 9_007_199_254_740_991_u64)]
    dwell: u64,
}

/// What was clicked.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "these are words of the document")]
pub(crate) enum ClickKind {
    Result,
    Snapshot,
    Related,
    Corrected,
    Leave,
    Seen,
}

/// Tell what was clicked.
///
/// Result pages do this for who searches in a browser. It helps the ranking; no address and no name is kept with it.
#[utoipa::path(
    post,
    path = "/api/v1/click",
    tag = "Search",
    params(ClickParams),
    responses(
        (status = 204, description = "It counts"),
        (status = 400, description = "A parameter is missing or wrong"),
        (status = 404, description = "Nothing like this was shown, or it is too long ago"),
        (status = 413, description = "There is a body, and it is too long")
    )
)]
pub(crate) async fn click(State(rooms): State<Rooms>, visitor: Visitor) -> Result<Response, Refusal> {
    let params = Params(&visitor);
    let kinds = [
        ("result", Clicked::Result),
        ("snapshot", Clicked::Snapshot),
        ("related", Clicked::Related),
        ("corrected", Clicked::Corrected),
        ("leave", Clicked::Leave),
    ];
    let kinds = kinds.map(|(name, kind)| (name, Some(kind))).into_iter().chain([("seen", None)]);
    let kind = params.choice("kind", &kinds.collect::<Vec<_>>())?.unwrap_or(Some(Clicked::Result));
    let dwell = params.number("dwell", 0..=MOST)?;
    let (Some(impression), Some(rank)) =
        (params.text("impression")?, params.number("rank", 0..=u64::from(u32::MAX))?)
    else {
        return Err(Refusal::bad(
            "the parameters `impression` and `rank` are needed: they stand in the links of a result page",
        ));
    };
    let Some(kind) = kind else { return seen(&rooms, impression) };
    let rank = u32::try_from(rank).unwrap_or(u32::MAX);
    let target = match kind {
        Clicked::Related => Target::Related,
        Clicked::Corrected => Target::Corrected,
        Clicked::Leave => Target::Left,
        _ => Target::Result,
    };
    let learning = rooms.learning();
    let Some(click) = learning.impressions.click(impression, target, rank) else {
        return Err(unknown());
    };
    let is_query = matches!(target, Target::Related | Target::Corrected);
    learning.log.click(ClickRecord {
        at: learning.clock.now(),
        impression: impression.to_string(),
        visit: click.visit,
        kind,
        asked: click.query,
        rank: Some(rank),
        order: (kind != Clicked::Leave).then_some(click.order),
        url: (!is_query).then(|| click.target.clone()),
        query: is_query.then_some(click.target),
        dwell_ms: dwell.map(|dwell| dwell.min(MAX_DWELL)),
    });
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// A page of results is looked at by a browser that tells clicks.
fn seen(rooms: &Rooms, impression: &str) -> Result<Response, Refusal> {
    let learning = rooms.learning();
    let query = learning.impressions.see(impression).ok_or_else(unknown)?;
    learning.log.impression(ImpressionRecord {
        id: impression.to_string(),
        at: learning.clock.now(),
        kind: Shown::Seen,
        query,
        ..ImpressionRecord::default()
    });
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn unknown() -> Refusal {
    Refusal::not_found("nothing like this was shown, or it is too long ago: it does not count")
}
