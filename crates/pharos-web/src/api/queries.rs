//! `/api/v1/queries`: lists of queries that show where users fail.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse as _, Response};
use pharos_mining::behaviour::query_table::{QueryLanguage, QueryList, QueryRow, query_table, select};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::api_keys::KeyScope;
use super::params::{Integer, Params};
use super::problem::ApiError;
use crate::admin::read_searches;
use crate::state::AppState;

/// Days of logs that are read unless given.
const USUAL_DAYS: usize = 7;
/// Queries returned unless given.
const USUAL_COUNT: usize = 50;

/// Parameters of `/api/v1/queries`.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct QueriesParams {
    /// The list: most frequent (`top`), fastest rising (`rising`), without results (`without-results`), with few clicks
    /// (`few-clicks`), abandoned, corrected, or slow queries.
    #[serde(default)]
    #[param(default = QueryListName::default)]
    list: QueryListName,
    /// Number of days, today included (UTC).
    #[param(inline)]
    days: Option<DayCount>,
    /// Only queries in Chinese, or in other languages.
    language: Option<QueryLanguageName>,
    /// Number of queries.
    #[param(inline)]
    count: Option<QueryCount>,
}

type DayCount = Integer<1, 365>;
type QueryCount = Integer<1, 1000>;

/// A list of queries.
#[derive(Clone, Copy, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QueryListName {
    #[default]
    Top,
    Rising,
    WithoutResults,
    FewClicks,
    Abandoned,
    Corrected,
    Slow,
}

/// A language of queries.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QueryLanguageName {
    Zh,
    Others,
}

impl From<QueryListName> for QueryList {
    fn from(name: QueryListName) -> Self {
        match name {
            QueryListName::Top => Self::Top,
            QueryListName::Rising => Self::Rising,
            QueryListName::WithoutResults => Self::WithoutResults,
            QueryListName::FewClicks => Self::FewClicks,
            QueryListName::Abandoned => Self::Abandoned,
            QueryListName::Corrected => Self::Corrected,
            QueryListName::Slow => Self::Slow,
        }
    }
}

/// A query with its figures.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueryFigures {
    #[serde(flatten)]
    row: QueryRow,
    /// Share of searches with a click; missing if too few searches report clicks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    click_rate: Option<f64>,
}

/// A list of queries.
#[derive(Serialize, ToSchema)]
pub(crate) struct QueriesAnswer {
    /// Queries of enough visits, in the order of the list.
    queries: Vec<QueryFigures>,
}

/// Queries of users.
///
/// Queries of the last days with their figures, as on the desk page *Queries in detail*, but only those of at least `log.k`
/// visits. Requires an API key that is not limited to sites.
#[utoipa::path(
    get,
    path = "/api/v1/queries",
    tag = "Pages",
    params(QueriesParams),
    responses(
        (status = 200, description = "The requested list", body = QueriesAnswer),
        (status = 400, description = "A parameter is invalid"),
        (status = 403, description = "The API key does not permit this request")
    )
)]
pub(crate) async fn queries(
    State(app): State<AppState>,
    scope: KeyScope,
    Params(params): Params<QueriesParams>,
) -> Result<Response, ApiError> {
    if !app.api().keys.are_required() {
        let detail = "queries are returned to clients with an API key only: create one on the desk or with `pharos keys add`";
        return Err(ApiError::new(StatusCode::FORBIDDEN, detail));
    }
    if !scope.sites().is_empty() {
        let detail = "this API key is limited to sites, and queries are those of all sites";
        return Err(ApiError::new(StatusCode::FORBIDDEN, detail));
    }
    let days = u32::try_from(DayCount::count_or(params.days, USUAL_DAYS)).unwrap_or(u32::MAX);
    let count = QueryCount::count_or(params.count, USUAL_COUNT);
    let language = params.language.map(|language| match language {
        QueryLanguageName::Zh => QueryLanguage::Chinese,
        QueryLanguageName::Others => QueryLanguage::Other,
    });
    let k = u32::try_from(app.config().log.k).unwrap_or(u32::MAX);
    let searches = read_searches(&app, days).await?;
    let mut rows = query_table(searches.log(), language);
    rows.retain(|row| row.visits >= k);
    let queries = select(&rows, params.list.into(), count)
        .into_iter()
        .map(|row| QueryFigures { click_rate: row.click_rate(), row: row.clone() })
        .collect();
    Ok(([(CACHE_CONTROL, "private, no-cache")], Json(QueriesAnswer { queries })).into_response())
}

#[cfg(test)]
mod tests {
    use pharos_core::{Clock as _, Config, SystemClock};
    use pharos_mining::{LogAppender, QueryRecord};
    use pharos_store::DataDir;
    use serde_json::Value;

    use super::*;
    use crate::router;
    use crate::testing::{TestPage, engine, get, get_with};

    #[tokio::test]
    async fn queries_of_enough_visits_are_returned_to_key_holders() {
        let page = TestPage::new("https://www.example.org/a", "Lighthouse", "A lighthouse.");
        let (_open_dir, open) = engine(std::slice::from_ref(&page), Config::default());
        let refused = get(&router(open).unwrap(), "/api/v1/queries").await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
        assert!(refused.text().contains("pharos keys add"), "{}", refused.text());

        let mut config = Config::default();
        config.web.api_keys = vec!["key".into()];
        let (dir, service) = engine(&[page], config);
        let mut log = LogAppender::open(&DataDir::at(dir.path()), &Config::default().log);
        for (query, visits) in [("lighthouse", 4), ("灯塔", 3), ("my secret", 2)] {
            for visit in 0..visits {
                let (at, visit) = (SystemClock.now(), format!("v{visit}"));
                let (query, total) = (query.to_string(), Some(0));
                log.append(QueryRecord { at, visit, query, total, page: 1, ..QueryRecord::default() })
                    .unwrap();
            }
        }
        log.finish().unwrap();
        let router = router(service).unwrap();
        assert_eq!(get(&router, "/api/v1/queries").await.status, StatusCode::UNAUTHORIZED);
        let ask = async |parameters: &str| {
            let path = format!("/api/v1/queries{parameters}");
            let reply = get_with(&router, &path, &[("api-key", "key")]).await;
            let answer: Value = serde_json::from_slice(&reply.bytes).unwrap();
            let queries = answer["queries"].as_array().cloned().unwrap_or_default();
            let names = queries.iter().map(|row| row["query"].as_str().unwrap().to_string());
            (reply.status, names.collect::<Vec<_>>())
        };
        let ok = |names: &[&str]| (StatusCode::OK, names.iter().map(ToString::to_string).collect());
        assert_eq!(ask("").await, ok(&["lighthouse", "灯塔"]));
        assert_eq!(ask("?list=without-results&language=zh&days=1").await, ok(&["灯塔"]));
        assert_eq!(ask("?count=1").await, ok(&["lighthouse"]));
        assert_eq!(ask("?list=corrected").await, ok(&[]));
        for wrong in ["?list=best", "?days=0", "?language=en", "?count=1001"] {
            assert_eq!(ask(wrong).await.0, StatusCode::BAD_REQUEST, "{wrong}");
        }
    }
}
