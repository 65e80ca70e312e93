//! Access control of the desk: allowed client addresses and the login check.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{HeaderName, VIA};
use axum::http::{Extensions, HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use pharos_core::config::WebConfig;
use url::{Host, Url};

use super::frame::{DeskFrame, message_page};
use super::messages::DeskMessages;
use super::operators::Accounts;
use super::session::session_token;
use crate::server::rate_limit::{client_address, forwarded_address};
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

/// Headers that a proxy adds.
const PROXY_HEADERS: [HeaderName; 5] = [
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("forwarded"),
    HeaderName::from_static("x-real-ip"),
    HeaderName::from_static("x-forwarded-host"),
    VIA,
];

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
    /// The request came through a proxy, but `web.behind_proxy` is off: the address is that of the proxy.
    UndeclaredProxy,
    /// The configured proxy sends no usable `X-Forwarded-For`.
    UnclearProxy,
    /// A loopback connection with a foreign host name: a page of another site may have made the browser send it
    /// (DNS rebinding).
    ForeignHost,
    /// The address of the client is unknown.
    UnknownAddress,
}

/// Middleware in front of the whole desk: checks that it is enabled and that the client's address is allowed.
pub(super) async fn check_client(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    let desk = app.desk();
    if !desk.settings.enabled {
        return StatusCode::NOT_FOUND.into_response();
    }
    let visitor = Visitor::new(request.uri(), request.headers());
    let web = &app.config().web;
    let address =
        trusted_address(request.extensions(), request.headers(), &visitor, web).and_then(|address| {
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

/// Middleware in front of all pages but login and setup: requires a session.
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
        request.extensions_mut().insert(operator);
        if *request.method() == Method::POST {
            // The action and its log entry complete even if the client disconnects meanwhile.
            let done = tokio::spawn(next.run(request)).await;
            return done.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response());
        }
        return next.run(request).await;
    }
    let visitor = Visitor::new(request.uri(), request.headers());
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
    let to_login = Some((LOGIN, messages.log_in));
    message_page(
        frame,
        &visitor,
        StatusCode::FORBIDDEN,
        messages.session_over_title,
        messages.session_over_text,
        to_login,
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
    is_page.then(|| url[url::Position::BeforePath..url::Position::AfterQuery].to_string())
}

/// Determines the address of the client, if it can be trusted.
fn trusted_address(
    extensions: &Extensions,
    headers: &HeaderMap,
    visitor: &Visitor,
    web: &WebConfig,
) -> Result<IpAddr, AccessDenied> {
    let is_proxied = PROXY_HEADERS.iter().any(|name| headers.contains_key(name));
    if is_proxied && !web.behind_proxy {
        return Err(AccessDenied::UndeclaredProxy);
    }
    if is_proxied && forwarded_address(headers).is_none() {
        return Err(AccessDenied::UnclearProxy);
    }
    let address = client_address(extensions, headers, web.behind_proxy)
        .ok_or(AccessDenied::UnknownAddress)?
        .to_canonical();
    if !is_proxied && address.is_loopback() && !is_own_host(&visitor.client.host, web) {
        return Err(AccessDenied::ForeignHost);
    }
    Ok(address)
}

/// Returns `true` if `host` is a loopback name, an IP address or the host of `web.base_url`.
fn is_own_host(host: &str, web: &WebConfig) -> bool {
    let url = Url::parse(&format!("http://{host}/")).ok();
    let configured = Url::parse(web.base_url.trim()).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost"
                || name.ends_with(".localhost")
                || configured.as_ref().and_then(Url::host_str) == Some(name)
        }
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => true,
        None => false,
    }
}

fn deny_access(app: &AppState, visitor: &Visitor, denied: AccessDenied) -> Response {
    let messages = DeskMessages::for_lang(visitor.lang);
    let text = match denied {
        AccessDenied::NotAllowed(address) => {
            crate::messages::fill(messages.denied_not_allowed, &[&address.to_string()])
        }
        AccessDenied::UndeclaredProxy => messages.denied_undeclared_proxy.into(),
        AccessDenied::UnclearProxy => messages.denied_unclear_proxy.into(),
        AccessDenied::ForeignHost => messages.denied_foreign_host.into(),
        AccessDenied::UnknownAddress => messages.denied_unknown_address.into(),
    };
    tracing::debug!(?denied, "access to the desk denied");
    let frame = DeskFrame::logged_out(app, visitor);
    message_page(frame, visitor, StatusCode::FORBIDDEN, messages.denied_title, &text, None)
}
