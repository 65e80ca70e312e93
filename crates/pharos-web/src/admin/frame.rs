//! Frame of every desk page: navigation, the logged-in operator, and the notice about the last action.

use std::ops::Deref;

use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};

use super::glossary;
use super::messages::DeskMessages;
use super::permissions::{Permission, required};
use super::session::Operator;
use crate::pages::assets;
use crate::pages::frame::{PageFrame, respond};
use crate::server::visitor::Visitor;
use crate::state::AppState;

/// Selects the name of a page from the messages of a language.
type PageName = fn(&DeskMessages) -> &'static str;

/// Path and name of every page in the navigation.
const NAV_PAGES: [(&str, PageName); 23] = [
    ("/admin", |messages| messages.overview),
    ("/admin/crawl", |messages| messages.crawl),
    ("/admin/sites", |messages| messages.sites),
    ("/admin/page", |messages| messages.page_report),
    ("/admin/trouble", |messages| messages.trouble),
    ("/admin/submissions", |messages| messages.submissions),
    ("/admin/refresh", |messages| messages.refresh),
    ("/admin/index", |messages| messages.index),
    ("/admin/words", |messages| messages.words),
    ("/admin/calendar", |messages| messages.calendar),
    ("/admin/backup", |messages| messages.backup),
    ("/admin/alerts", |messages| messages.alerts),
    ("/admin/machine", |messages| messages.machine),
    ("/admin/queries", |messages| messages.queries),
    ("/admin/insight", |messages| messages.insight),
    ("/admin/curation", |messages| messages.curation),
    ("/admin/categories", |messages| messages.categories),
    ("/admin/settings", |messages| messages.settings),
    ("/admin/logs", |messages| messages.logs),
    ("/admin/keys", |messages| messages.keys),
    ("/admin/operators", |messages| messages.operators),
    ("/admin/actions", |messages| messages.record),
    ("/admin/glossary", |messages| messages.glossary),
];

/// The frame of a desk page. It dereferences to the `PageFrame` that `base.html` needs.
pub(crate) struct DeskFrame {
    frame: PageFrame,
    /// Messages of the desk; those of all pages are in `messages`.
    pub(crate) desk: &'static DeskMessages,
    pub(crate) desk_style: &'static str,
    pub(crate) desk_script: &'static str,
    pub(crate) nav: Vec<NavEntry>,
    /// `None` on the login and setup pages.
    pub(crate) operator: Option<Operator>,
    pub(crate) notice: Option<Notice>,
}

/// An entry of the navigation.
pub(crate) struct NavEntry {
    pub(crate) href: &'static str,
    pub(crate) text: &'static str,
    pub(crate) is_current: bool,
}

/// A notice shown once above the content of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) is_success: bool,
    pub(crate) text: String,
}

impl Notice {
    /// Creates a success notice.
    pub(crate) fn success(text: impl Into<String>) -> Self {
        Self { is_success: true, text: text.into() }
    }

    /// Creates an error notice.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { is_success: false, text: text.into() }
    }
}

impl Deref for DeskFrame {
    type Target = PageFrame;

    fn deref(&self) -> &PageFrame {
        &self.frame
    }
}

impl DeskFrame {
    /// Builds the frame for a logged-in operator, and takes the notice pending in the session.
    pub(crate) fn new(app: &AppState, visitor: &Visitor, operator: &Operator) -> Self {
        let base = Self::logged_out(app, visitor);
        let path = visitor.path();
        let permitted = |(href, _): &(&str, PageName)| operator.role().allows(required(href, &Method::GET));
        let nav = NAV_PAGES.into_iter().filter(permitted).map(|(href, text)| NavEntry {
            href,
            text: text(base.desk),
            is_current: path == href
                || (href != "/admin" && path.strip_prefix(href).is_some_and(|rest| rest.starts_with('/'))),
        });
        let notice = app.desk().sessions.take_notice(&operator.session);
        Self { nav: nav.collect(), operator: Some(operator.clone()), notice, ..base }
    }

    /// Builds the frame for a client that is not logged in.
    pub(super) fn logged_out(app: &AppState, visitor: &Visitor) -> Self {
        Self {
            frame: PageFrame::new(visitor, app.config()),
            desk: DeskMessages::for_lang(visitor.lang),
            desk_style: assets::desk_style_href(),
            desk_script: assets::desk_script_href(),
            nav: Vec::new(),
            operator: None,
            notice: None,
        }
    }

    /// Adds a notice, if there is one.
    pub(crate) fn with_notice(self, notice: Option<Notice>) -> Self {
        Self { notice: notice.or(self.notice), ..self }
    }

    /// Returns `true` if the operator has write permission.
    pub(crate) fn may_act(&self) -> bool {
        self.operator.as_ref().is_some_and(Operator::may_act)
    }

    /// Returns `true` if the operator may change curation.
    pub(crate) fn may_curate(&self) -> bool {
        self.operator.as_ref().is_some_and(|operator| operator.role().allows(Permission::Curate))
    }

    /// Returns a label as HTML, with its meaning if it is a term of the glossary.
    pub(crate) fn label(&self, text: &str) -> String {
        glossary::label(text, self.lang)
    }

    /// Returns the name of the operator's role.
    pub(crate) fn role(&self) -> &'static str {
        self.operator.as_ref().map_or("", |operator| self.desk.role(operator.role()))
    }

    /// Returns the token for the field `csrf` of every form.
    pub(crate) fn csrf(&self) -> &str {
        self.operator.as_ref().map_or("", |operator| &operator.csrf)
    }
}

/// Redirects to a page of the desk and leaves a notice for it in the session, not in the URL.
pub(crate) fn redirect_with_notice(
    app: &AppState,
    operator: &Operator,
    to: &str,
    notice: Notice,
) -> Response {
    app.desk().sessions.set_notice(&operator.session, notice);
    Redirect::to(to).into_response()
}

#[derive(askama::Template)]
#[template(path = "admin/message.html")]
struct MessagePage<'a> {
    frame: DeskFrame,
    title: &'a str,
    text: &'a str,
    link: Option<(&'a str, &'a str)>,
}

/// Renders a desk page with one message and an optional link (target and text).
pub(crate) fn message_page(
    frame: DeskFrame,
    visitor: &Visitor,
    status: StatusCode,
    title: &str,
    text: &str,
    link: Option<(&str, &str)>,
) -> Response {
    respond(visitor, status, &MessagePage { frame, title, text, link })
}
