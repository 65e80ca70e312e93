//! Access control of the desk: allowed client addresses and the login check.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use url::{Position, Url};

use super::frame::{DeskFrame, message_page};
use super::messages::DeskMessages;
use super::operators::Accounts;
use super::permissions;
use super::session::session_token;
use crate::server::client_address::Unverified;
use crate::server::visitor::{Visitor, link};
use crate::state::AppState;

/// Path of the login page.
pub(super) const LOGIN: &str = "/admin/login";
/// Path of the page that creates the first operator.
pub(super) const SETUP: &str = "/admin/setup";
/// Path of the overview, the default page after login.
pub(super) const HOME: &str = "/admin";

/// Maximum length of the URL that a login returns to.
const MAX_NEXT_LENGTH: usize = 2_000;

/// A client whose address may use the desk, with the current operator accounts.
#[derive(Clone)]
pub(super) struct AllowedClient {
    pub(super) address: IpAddr,
    pub(super) accounts: Arc<Accounts>,
}

/// The reason why a client may not use the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccessDenied {
    /// The address is not in `desk.allow`.
    NotAllowed(IpAddr),
    /// The address of the client cannot be relied on.
    Unverified(Unverified),
}

/// Middleware in front of the whole desk: checks that it is enabled and that the client's address is allowed.
pub(super) async fn check_client(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    let desk = app.desk();
    if !desk.settings.enabled {
        return StatusCode::NOT_FOUND.into_response();
    }
    let visitor = Visitor::from_request(&request);
    let client = &visitor.client;
    let address = client.source.verified_address(&client.host, &app.config().web);
    let address = address.map_err(AccessDenied::Unverified).and_then(|address| {
        if desk.settings.allows(address) { Ok(address) } else { Err(AccessDenied::NotAllowed(address)) }
    });
    let address = match address {
        Ok(address) => address,
        Err(denied) => return deny_access(&app, &visitor, denied),
    };
    match desk.run_blocking(|desk| desk.accounts()).await {
        Ok(Ok(accounts)) => {
            request.extensions_mut().insert(AllowedClient { address, accounts });
            next.run(request).await
        }
        Ok(Err(error)) => {
            tracing::error!(%error, "the desk is locked");
            let messages = DeskMessages::for_lang(visitor.lang);
            let frame = DeskFrame::logged_out(&app, &visitor);
            let status = StatusCode::SERVICE_UNAVAILABLE;
            message_page(frame, &visitor, status, messages.locked_title, messages.locked_text, None)
        }
        Err(error) => error.into_response(),
    }
}

/// Middleware in front of all pages but login and setup: requires a session, and a role that permits the request.
pub(super) async fn require_login(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    let Some(client) = request.extensions().get::<AllowedClient>().cloned() else {
        return StatusCode::FORBIDDEN.into_response();
    };
    let operator = session_token(request.headers()).and_then(|token| {
        // Set by browsers for requests of scripts; navigations have another destination.
        let is_script = request.headers().get("sec-fetch-dest").is_some_and(|dest| dest == "empty");
        let from = client.address.to_string();
        app.desk().sessions.authenticate(token, &client.accounts, &from, Instant::now(), !is_script)
    });
    if let Some(operator) = operator {
        if !permissions::permits(&operator, &request) {
            let visitor = Visitor::from_request(&request);
            return permissions::refuse(&app, &visitor, &operator).await;
        }
        request.extensions_mut().insert(operator);
        if *request.method() == Method::POST {
            // The action and its log entry complete even if the client disconnects meanwhile.
            let done = tokio::spawn(next.run(request)).await;
            return done.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response());
        }
        return next.run(request).await;
    }
    let visitor = Visitor::from_request(&request);
    if client.accounts.is_empty() {
        return Redirect::to(SETUP).into_response();
    }
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        let address = visitor.address();
        let next = Some(address.as_str()).filter(|address| *address != HOME).map(|address| ("next", address));
        return Redirect::to(&link(LOGIN, next)).into_response();
    }
    let messages = DeskMessages::for_lang(visitor.lang);
    let frame = DeskFrame::logged_out(&app, &visitor);
    // Back to the page with the form, which restores what was typed.
    let from = Some(&visitor.client.referrer).filter(|_| visitor.client.is_from_here);
    let from = from.and_then(|url| Url::parse(url).ok());
    let next = from.and_then(|url| next_page(&url[Position::BeforePath..Position::AfterQuery]));
    let to_login = link(LOGIN, next.as_deref().map(|next| ("next", next)));
    message_page(
        frame,
        &visitor,
        StatusCode::FORBIDDEN,
        messages.session_over_title,
        messages.session_over_text,
        Some((&to_login, messages.log_in)),
    )
}

/// Returns the desk page to go to after login. Rejects other sites and the pages that log in or out.
pub(super) fn next_page(requested: &str) -> Option<String> {
    if requested.len() > MAX_NEXT_LENGTH
        || requested.contains('\\')
        || requested.chars().any(char::is_control)
    {
        return None;
    }
    let base = Url::parse("http://desk.invalid/").ok()?;
    let url = base
        .join(requested.strip_prefix('/').filter(|rest| !rest.starts_with('/')).map(|_| requested)?)
        .ok()?;
    let path = url.path();
    let is_page = (path == HOME || path.starts_with("/admin/"))
        && ![LOGIN, SETUP, "/admin/logout"].contains(&path)
        && url.host_str() == base.host_str();
    is_page.then(|| url[Position::BeforePath..Position::AfterQuery].to_string())
}

fn deny_access(app: &AppState, visitor: &Visitor, denied: AccessDenied) -> Response {
    let messages = DeskMessages::for_lang(visitor.lang);
    let text = match denied {
        AccessDenied::NotAllowed(address) => {
            crate::messages::fill(messages.denied_not_allowed, &[&address.to_string()])
        }
        AccessDenied::Unverified(Unverified::UndeclaredProxy) => messages.denied_undeclared_proxy.into(),
        AccessDenied::Unverified(Unverified::UnclearProxy) => messages.denied_unclear_proxy.into(),
        AccessDenied::Unverified(Unverified::ForeignHost) => messages.denied_foreign_host.into(),
        AccessDenied::Unverified(Unverified::UnknownAddress) => messages.denied_unknown_address.into(),
    };
    tracing::debug!(?denied, "access to the desk denied");
    let frame = DeskFrame::logged_out(app, visitor);
    message_page(frame, visitor, StatusCode::FORBIDDEN, messages.denied_title, &text, None)
}
