//! The operator's desk at `/admin`: where an operator sees how the engine does, and tells it what to do.
//!
//! ```text
//! request ─▶ gate::knock      is there a desk, does it answer to this address, can its operators be read?
//!         ─▶ gate::logged_in  a session, else to the login (login.rs) or, where nobody is named yet, the setup (setup.rs)
//!         ─▶ a page           DeskFrame around a template (frame.rs, pages/)
//!         ─▶ an action        Action: a form of ours, sent by somebody who may act (action.rs), and written down (record/)
//! ```
//!
//! What is kept: `desk/operators.json` (operators.rs; passwords are hashed in password.rs) and `desk/actions.jsonl` (record/)
//! in the data directory; sessions (session.rs) and the setup code (setup_code.rs) in memory only.
//!
//! # A page
//!
//! ```text
//! #[derive(Template)]
//! #[template(path = "admin/sites.html")] // {% extends "admin/frame.html" %}, blocks `heading` and `content`
//! struct SitesPage { frame: DeskFrame, sites: Vec<Site> }
//!
//! pub(crate) async fn sites(State(rooms): State<Rooms>, visitor: Visitor, operator: Operator)
//!     -> Result<Response, ServiceError>
//! {
//!     let sites = rooms.blocking(|service| …).await?;
//!     let page = SitesPage { frame: DeskFrame::new(&rooms, &visitor, &operator), sites };
//!     Ok(respond(&visitor, StatusCode::OK, &page))
//! }
//! ```
//!
//! # An action
//!
//! ```text
//! // In the template: <form method="post" action="/admin/sites/pause">
//! //   <input type="hidden" name="csrf" value="{{ frame.csrf() }}"> … {% if frame.may_act() %}<button>…</button>{% endif %}
//! pub(crate) async fn pause(action: Action) -> Result<Response, ServiceError> {
//!     let site = action.form.text("site");
//!     action.rooms.blocking(…).await?;
//!     action.note("site.pause", site, "", Outcome::Done).await;
//!     Ok(action.done("/admin/sites", action.words().site_paused))
//! }
//! ```
//!
//! Both go into the table of pages/mod.rs, and the page has its place in the table of frame.rs.
//!
//! # Invariants
//! * Nothing but the login and the setup is answered without a session, and nothing at all to other addresses.
//! * Nothing is changed by a GET, without the session's token, for another site, or by who may only look.
//! * Whatever is changed, and whatever is refused because of who asked or what the engine said, is in the record.

mod action;
mod folder;
mod form;
mod frame;
mod gate;
mod login;
mod operators;
mod pages;
mod password;
mod record;
mod secret;
mod session;
mod settings;
mod setup;
mod setup_code;
mod stages;
#[cfg(test)]
mod tests;
mod tries;
mod watch;
mod words;

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

use self::frame::DeskFrame;
use self::operators::{Accounts, Operators, OperatorsError};
use self::password::Hashing;
use self::record::{Deed, Record};
use self::session::{Operator, Sessions};
pub use self::settings::DeskSettingsError;
use self::settings::Settings;
pub use self::setup_code::SETUP_CODE_VARIABLE;
use self::setup_code::SetupCode;
use self::tries::Tries;
use self::watch::Watch;
use crate::service::Rooms;
use crate::visitor::Visitor;

/// An order may wait for an engine that is busy.
const TIMEOUT: Duration = Duration::from_secs(90);
/// Settings are sent whole.
const BODY_LIMIT: usize = 1 << 20;

/// All pages and actions of the desk.
pub(crate) fn routes(rooms: &Rooms) -> Router<Rooms> {
    let behind_the_login = pages::routes()
        .route("/admin/logout", post(login::log_out))
        .route("/admin/{*rest}", any(missing))
        .route_layer(from_fn_with_state(rooms.clone(), gate::logged_in));
    Router::new()
        .route(gate::LOGIN, get(login::page).post(login::log_in))
        .route(gate::SETUP, get(setup::page).post(setup::set_up))
        .merge(behind_the_login)
        .route_layer(from_fn_with_state(rooms.clone(), gate::knock))
        .layer(RequestBodyLimitLayer::new(BODY_LIMIT))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, TIMEOUT))
}

/// Where there is no page.
async fn missing(State(rooms): State<Rooms>, visitor: Visitor, operator: Operator) -> Response {
    let frame = DeskFrame::new(&rooms, &visitor, &operator);
    let words = frame.desk;
    frame::message(frame, &visitor, StatusCode::NOT_FOUND, words.missing_title, words.missing_text, None)
}

/// Does a path lead to the desk?
pub(crate) fn is_desk(path: &str) -> bool {
    path == "/admin" || path.starts_with("/admin/")
}

/// Are the settings of the desk as they must be, and the setup code of the environment?
pub fn check_desk(config: &Config) -> Result<(), DeskSettingsError> {
    Settings::of(&config.desk)?;
    setup_code::checked(given_code().as_deref()).map(|_| ())
}

fn given_code() -> Option<String> {
    std::env::var_os(SETUP_CODE_VARIABLE).map(|code| code.to_string_lossy().into_owned())
}

/// Why something at the desk did not work; the visitor sees "something went wrong", the log sees this.
#[derive(Debug, Error)]
pub(crate) enum DeskError {
    #[error(transparent)]
    Operators(#[from] OperatorsError),
    #[error("cannot hash a password: {0}")]
    Hash(#[from] argon2::password_hash::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("work stopped half-way")]
    Broken(#[from] tokio::task::JoinError),
    #[error("too many wait for their password to be looked at")]
    Busy,
}

impl IntoResponse for DeskError {
    fn into_response(self) -> Response {
        if matches!(self, Self::Busy) {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        }
        tracing::error!(error = %self, "the desk failed");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    }
}

/// What the desk keeps from one request to the next.
pub(crate) struct Desk {
    settings: Settings,
    operators: Operators,
    sessions: Sessions,
    hashing: Hashing,
    code: SetupCode,
    tries: Tries,
    record: Record,
    watch: Arc<Watch>,
}

impl Desk {
    /// Fails where the settings are not as they must be. A damaged file of operators locks the desk and nothing else.
    pub(crate) fn open(config: &Config, data: &DataDir) -> io::Result<Arc<Self>> {
        Self::with_code(config, data, given_code().as_deref())
    }

    fn with_code(config: &Config, data: &DataDir, code: Option<&str>) -> io::Result<Arc<Self>> {
        let settings =
            Settings::of(&config.desk).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let desk = Self {
            operators: Operators::of(data),
            sessions: Sessions::new(settings.idle),
            hashing: Hashing::new(),
            code: SetupCode::new(code)?,
            tries: Tries::new(),
            record: Record::of(data),
            watch: Watch::start(data.clone())?,
            settings,
        };
        Ok(Arc::new(desk))
    }

    /// Says how to name the first operator, where there is none, and what is wrong, where something is.
    pub(crate) fn announce(&self, address: SocketAddr, is_tls: bool) {
        if !self.settings.enabled {
            return;
        }
        match self.accounts() {
            Ok(accounts) if accounts.is_empty() => {
                let scheme = if is_tls { "https" } else { "http" };
                tracing::warn!(
                    "the desk has no operator yet: open {scheme}://{address}{} and enter the code {}",
                    gate::SETUP,
                    self.code.told()
                );
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the desk is locked"),
        }
    }

    /// Who may use the desk. As soon as there is anybody the setup code is dead.
    fn accounts(&self) -> Result<Arc<Accounts>, OperatorsError> {
        let accounts = self.operators.all()?;
        if !accounts.is_empty() {
            self.code.spend();
        }
        Ok(accounts)
    }

    /// Counts those who wait here as queries.
    pub(crate) fn count_queries(&self, waiting: Arc<AtomicUsize>) {
        self.watch.count_queries(waiting);
    }

    /// Does what waits for the disk where it holds nobody up.
    pub(crate) async fn aside<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, DeskError> {
        let desk = Arc::clone(self);
        Ok(tokio::task::spawn_blocking(move || work(&desk)).await?)
    }

    /// Writes down what was done.
    async fn note(self: &Arc<Self>, deed: Deed<'_>) {
        let Deed { who, from, action, what, detail, outcome } = deed;
        let [who, from, what, detail] = [who, from, what, detail].map(ToString::to_string);
        let why = match outcome {
            record::Outcome::Done => None,
            record::Outcome::Refused(why) => Some(why.to_string()),
        };
        let written = self.aside(move |desk| {
            let outcome = why.as_deref().map_or(record::Outcome::Done, record::Outcome::Refused);
            desk.record.note(&Deed { who: &who, from: &from, action, what: &what, detail: &detail, outcome });
        });
        if let Err(error) = written.await {
            tracing::warn!(%error, action, "cannot write down what was done at the desk");
        }
    }
}
