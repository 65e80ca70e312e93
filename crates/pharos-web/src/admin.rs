//! The operator's desk at `/admin`: status of the engine and controls for it.
//!
//! ```text
//! request ─▶ gate::check_client   desk enabled, address allowed, operator file readable
//!         ─▶ gate::require_login  a session; otherwise redirect to login (login.rs) or, without operators, setup (setup.rs)
//!         ─▶ permissions::permits a role that permits the route (permissions.rs)
//!         ─▶ a page               DeskFrame around a template (frame.rs, pages/)
//!         ─▶ an action            Action: a form with CSRF token from an operator (action.rs),
//!                                 written to the action log (action_log/)
//! ```
//!
//! Stored in the data directory: `desk/operators.json` (operators.rs; passwords are hashed in password.rs) and
//! `desk/actions.jsonl` (action_log/). Sessions (session.rs) and the setup code (setup_code.rs) are held in memory only.
//!
//! # Adding a page
//!
//! ```text
//! #[derive(Template)]
//! #[template(path = "admin/sites.html")] // {% extends "admin/frame.html" %}, blocks `heading` and `content`
//! struct SitesPage { frame: DeskFrame, sites: Vec<SiteLine> }
//!
//! pub(crate) async fn sites(State(app): State<AppState>, visitor: Visitor, operator: Operator)
//!     -> Result<Response, ServiceError>
//! {
//!     let sites = app.run_blocking(|service| …).await?;
//!     let page = SitesPage { frame: DeskFrame::new(&app, &visitor, &operator), sites };
//!     Ok(respond(&visitor, StatusCode::OK, &page))
//! }
//! ```
//!
//! # Adding an action
//!
//! ```text
//! // In the template: <form method="post" action="/admin/sites/pause">
//! //   <input type="hidden" name="csrf" value="{{ frame.csrf() }}"> … {% if frame.may_act() %}<button>…</button>{% endif %}
//! pub(crate) async fn pause(action: Action) -> Result<Response, ServiceError> {
//!     let site = action.form.text("site");
//!     action.app.run_blocking(…).await?;
//!     action.record("site.pause", site, "", ActionOutcome::Done).await;
//!     Ok(action.succeed("/admin/sites", action.messages().site_paused))
//! }
//! ```
//!
//! Both are added to the route table in `pages.rs` and to the rules in `permissions.rs`, and the page to the navigation in
//! `frame.rs`.
//!
//! # Invariants
//! * Without a session only the login and setup pages are served; all other URLs return 403.
//! * Nothing is changed by a GET, without the session's token, for another site, or by an operator whose role does not permit it.
//! * Every change, and every refusal by access control or by the engine, is written to the action log.

mod action;
mod action_log;
pub(crate) mod desk_dir;
mod form;
mod frame;
mod gate;
mod glossary;
mod login;
mod login_limits;
mod messages;
pub(crate) mod operators;
mod pages;
mod password;
mod permissions;
mod sampler;
pub(crate) mod secret;
mod session;
mod settings;
mod setup;
mod setup_code;
mod stages;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use pharos_core::Config;
use pharos_store::DataDir;
use thiserror::Error;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::timeout::TimeoutLayer;

use self::action_log::{ActionEntry, ActionLog};
use self::frame::DeskFrame;
use self::login_limits::LoginLimits;
use self::operators::{Accounts, OperatorStore, OperatorsError};
pub(crate) use self::pages::read_searches;
use self::password::PasswordHasher;
use self::sampler::Sampler;
use self::session::{DeskSessions, Operator};
use self::settings::DeskSettings;
pub use self::settings::DeskSettingsError;
pub use self::setup_code::SETUP_CODE_VARIABLE;
use self::setup_code::SetupCode;
use crate::server::visitor::Visitor;
use crate::state::AppState;

/// An order may have to wait for a busy engine.
const TIMEOUT: Duration = Duration::from_secs(90);
/// A configuration file is sent as a whole.
const BODY_LIMIT: usize = 1 << 20;

/// Returns the routes of the desk.
pub(crate) fn routes(app: &AppState) -> Router<AppState> {
    let protected = pages::routes()
        .route("/admin/logout", post(login::log_out))
        .route("/admin/{*rest}", any(not_found))
        .route_layer(from_fn_with_state(app.clone(), gate::require_login));
    Router::new()
        .route(gate::LOGIN, get(login::page).post(login::log_in))
        .route(gate::SETUP, get(setup::page).post(setup::set_up))
        .merge(protected)
        .route_layer(from_fn_with_state(app.clone(), gate::check_client))
        .layer(RequestBodyLimitLayer::new(BODY_LIMIT))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, TIMEOUT))
}

/// Returns the 404 page for paths below `/admin`.
async fn not_found(State(app): State<AppState>, visitor: Visitor, operator: Operator) -> Response {
    let frame = DeskFrame::new(&app, &visitor, &operator);
    let messages = frame.desk;
    frame::message_page(
        frame,
        &visitor,
        StatusCode::NOT_FOUND,
        messages.missing_title,
        messages.missing_text,
        None,
    )
}

/// Returns `true` if the path belongs to the desk.
pub(crate) fn is_desk(path: &str) -> bool {
    path == "/admin" || path.starts_with("/admin/")
}

/// Checks the settings of the desk and the setup code from the environment.
///
/// # Errors
/// Returns the first invalid setting.
pub fn check_desk(config: &Config) -> Result<(), DeskSettingsError> {
    DeskSettings::from_config(&config.desk)?;
    setup_code::check(code_from_environment().as_deref()).map(|_| ())
}

fn code_from_environment() -> Option<String> {
    std::env::var_os(SETUP_CODE_VARIABLE).map(|code| code.to_string_lossy().into_owned())
}

/// Errors of the desk. The client gets a generic message, the log the error.
#[derive(Debug, Error)]
pub(crate) enum DeskError {
    #[error(transparent)]
    Operators(#[from] OperatorsError),
    #[error("cannot hash a password: {0}")]
    Hash(#[from] argon2::password_hash::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("background task panicked or was cancelled")]
    Broken(#[from] tokio::task::JoinError),
    #[error("too many password checks are waiting")]
    Busy,
}

impl IntoResponse for DeskError {
    fn into_response(self) -> Response {
        if matches!(self, Self::Busy) {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        tracing::error!(error = %self, "request to the desk failed");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    }
}

/// State of the desk that is shared between requests.
pub(crate) struct Desk {
    settings: DeskSettings,
    operators: OperatorStore,
    sessions: DeskSessions,
    hashing: PasswordHasher,
    code: SetupCode,
    login_limits: LoginLimits,
    action_log: ActionLog,
    sampler: Arc<Sampler>,
    searches: pages::SearchCache,
    refresh: pages::RefreshCache,
}

impl Desk {
    /// Opens the desk. A damaged operator file locks the desk and nothing else.
    ///
    /// # Errors
    /// Fails if the settings of the desk are invalid.
    pub(crate) fn open(config: &Config, data: &DataDir) -> io::Result<Arc<Self>> {
        Self::with_code(config, data, code_from_environment().as_deref())
    }

    fn with_code(config: &Config, data: &DataDir, code: Option<&str>) -> io::Result<Arc<Self>> {
        let settings = DeskSettings::from_config(&config.desk)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let desk = Self {
            operators: OperatorStore::open(data),
            sessions: DeskSessions::new(settings.idle_timeout),
            hashing: PasswordHasher::new(),
            code: SetupCode::new(code)?,
            login_limits: LoginLimits::new(),
            action_log: ActionLog::open(data),
            sampler: Sampler::start(data.clone())?,
            searches: pages::SearchCache::default(),
            refresh: pages::RefreshCache::default(),
            settings,
        };
        Ok(Arc::new(desk))
    }

    /// Returns the searches of the last days that were read last.
    fn searches(&self) -> &pages::SearchCache {
        &self.searches
    }

    /// Logs how to create the first operator if there is none, or why the desk is locked.
    pub(crate) fn announce(&self, address: SocketAddr, is_tls: bool) {
        if !self.settings.enabled {
            return;
        }
        match self.accounts() {
            Ok(accounts) if accounts.is_empty() => {
                let scheme = if is_tls { "https" } else { "http" };
                tracing::warn!(
                    "the desk has no operator yet: open {scheme}://{address}{} and enter the setup code {}",
                    gate::SETUP,
                    self.code.display()
                );
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the desk is locked"),
        }
    }

    /// Returns the operator accounts. The setup code expires as soon as one exists.
    fn accounts(&self) -> Result<Arc<Accounts>, OperatorsError> {
        let accounts = self.operators.load()?;
        if !accounts.is_empty() {
            self.code.expire();
        }
        Ok(accounts)
    }

    /// Reports the length of the query queue as the load of the stage `query`.
    pub(crate) fn count_queries(&self, waiting: Arc<AtomicUsize>) {
        self.sampler.count_queries(waiting);
    }

    /// Runs blocking work on tokio's blocking threads, apart from the query queue.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, DeskError> {
        let desk = Arc::clone(self);
        Ok(tokio::task::spawn_blocking(move || work(&desk)).await?)
    }

    /// Writes an entry to the action log.
    async fn record(self: &Arc<Self>, entry: ActionEntry<'_>) {
        let ActionEntry { who, from, action, what, detail, outcome } = entry;
        let [who, from, what, detail] = [who, from, what, detail].map(ToString::to_string);
        let why = match outcome {
            action_log::ActionOutcome::Done => None,
            action_log::ActionOutcome::Refused(why) => Some(why.to_string()),
        };
        let written = self.run_blocking(move |desk| {
            let outcome =
                why.as_deref().map_or(action_log::ActionOutcome::Done, action_log::ActionOutcome::Refused);
            desk.action_log.append(&ActionEntry {
                who: &who,
                from: &from,
                action,
                what: &what,
                detail: &detail,
                outcome,
            });
        });
        if let Err(error) = written.await {
            tracing::warn!(%error, action, "cannot write to the action log");
        }
    }
}
