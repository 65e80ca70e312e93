//! `/api/v1/click`: browsers tell what was clicked, and how long it was looked at.
//!
//! `pharos.js` says it by a beacon with the name of what was shown: that it was seen by a browser that tells clicks, each
//! click, and the time until the visitor came back. What was never said to be seen was shown to somebody without scripts: that
//! nothing of it was clicked means nothing.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use pharos_mining::record::{ClickRecord, Clicked, ImpressionRecord, Shown};

use crate::api::problem;
use crate::impressions::Target;
use crate::service::Rooms;
use crate::visitor::Visitor;

/// Nobody looks longer at a page, in milliseconds.
const MAX_DWELL: u64 = 24 * 3600 * 1000;

/// `POST /api/v1/click?impression=…&kind=result&rank=3`, `&dwell=…` in milliseconds with `kind=leave`.
pub(crate) async fn click(State(rooms): State<Rooms>, visitor: Visitor) -> Response {
    let number = |name: &str| visitor.param(name).and_then(|text| text.parse::<u64>().ok());
    let kind = match visitor.param("kind") {
        None | Some("result") => Clicked::Result,
        Some("snapshot") => Clicked::Snapshot,
        Some("related") => Clicked::Related,
        Some("corrected") => Clicked::Corrected,
        Some("leave") => Clicked::Leave,
        Some("seen") => return seen(&rooms, visitor.param("impression").unwrap_or_default()),
        Some(_) => {
            return bad("the parameter `kind` must be result, snapshot, related, corrected, leave or seen");
        }
    };
    let (Some(impression), Some(rank)) = (visitor.param("impression"), number("rank")) else {
        return bad(
            "the parameters `impression` and `rank` are needed: they stand in the links of a result page",
        );
    };
    let rank = u32::try_from(rank).unwrap_or(u32::MAX);
    let target = match kind {
        Clicked::Related => Target::Related,
        Clicked::Corrected => Target::Corrected,
        _ => Target::Result,
    };
    let learning = rooms.learning();
    let Some(click) = learning.impressions.click(impression, target, rank) else {
        return unknown();
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
        dwell_ms: number("dwell").map(|dwell| dwell.min(MAX_DWELL)),
    });
    StatusCode::NO_CONTENT.into_response()
}

/// A page of results is looked at by a browser that tells clicks.
fn seen(rooms: &Rooms, impression: &str) -> Response {
    let learning = rooms.learning();
    let Some(query) = learning.impressions.see(impression) else { return unknown() };
    learning.log.impression(ImpressionRecord {
        id: impression.to_string(),
        at: learning.clock.now(),
        kind: Shown::Seen,
        query,
        ..ImpressionRecord::default()
    });
    StatusCode::NO_CONTENT.into_response()
}

fn unknown() -> Response {
    let detail = "nothing like this was shown, or it is too long ago: it does not count";
    problem(StatusCode::NOT_FOUND, "Not Found", detail)
}

fn bad(detail: &str) -> Response {
    problem(StatusCode::BAD_REQUEST, "Bad Request", detail)
}
