//! What every page of the desk shows around its content: where one can go, who is logged in, what was just done.

use std::ops::Deref;

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};

use super::session::Operator;
use super::words::DeskWords;
use crate::assets;
use crate::page::{Frame, respond};
use crate::service::Rooms;
use crate::visitor::Visitor;

/// What a page is called in the words of a language.
type Name = fn(&DeskWords) -> &'static str;

/// Every page of the desk: its path, and what it is called.
const PLACES: [(&str, Name); 13] = [
    ("/admin", |words| words.overview),
    ("/admin/crawl", |words| words.crawl),
    ("/admin/sites", |words| words.sites),
    ("/admin/page", |words| words.page_story),
    ("/admin/trouble", |words| words.trouble),
    ("/admin/submissions", |words| words.submissions),
    ("/admin/index", |words| words.index),
    ("/admin/machine", |words| words.machine),
    ("/admin/queries", |words| words.queries),
    ("/admin/settings", |words| words.settings),
    ("/admin/logs", |words| words.logs),
    ("/admin/operators", |words| words.operators),
    ("/admin/actions", |words| words.record),
];

/// The frame of a page of the desk. It is a [`Frame`] as well, which is what `base.html` asks for.
pub(crate) struct DeskFrame {
    frame: Frame,
    /// The desk's own words; `words` are those of all pages.
    pub(crate) desk: &'static DeskWords,
    /// Where the desk's style sheet is.
    pub(crate) desk_style: &'static str,
    /// Where its script is.
    pub(crate) desk_script: &'static str,
    pub(crate) nav: Vec<NavEntry>,
    /// Who is logged in; nobody at the door.
    pub(crate) operator: Option<Operator>,
    pub(crate) notice: Option<Notice>,
}

/// A page that one can go to.
pub(crate) struct NavEntry {
    pub(crate) href: &'static str,
    pub(crate) text: &'static str,
    pub(crate) is_current: bool,
}

/// Something said once, above the content of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Notice {
    pub(crate) is_good: bool,
    pub(crate) text: String,
}

impl Notice {
    /// It worked.
    pub(crate) fn good(text: impl Into<String>) -> Self {
        Self { is_good: true, text: text.into() }
    }

    /// It did not.
    pub(crate) fn bad(text: impl Into<String>) -> Self {
        Self { is_good: false, text: text.into() }
    }
}

impl Deref for DeskFrame {
    type Target = Frame;

    fn deref(&self) -> &Frame {
        &self.frame
    }
}

impl DeskFrame {
    /// The frame for somebody who is logged in. What was left to be said is said on this page.
    pub(crate) fn new(rooms: &Rooms, visitor: &Visitor, operator: &Operator) -> Self {
        let door = Self::at_the_door(rooms, visitor);
        let path = visitor.path();
        let nav = PLACES.into_iter().map(|(href, text)| NavEntry {
            href,
            text: text(door.desk),
            is_current: path == href
                || (href != "/admin" && path.strip_prefix(href).is_some_and(|rest| rest.starts_with('/'))),
        });
        let notice = rooms.desk().sessions.take(&operator.session);
        Self { nav: nav.collect(), operator: Some(operator.clone()), notice, ..door }
    }

    /// The frame for somebody who is not.
    pub(super) fn at_the_door(rooms: &Rooms, visitor: &Visitor) -> Self {
        Self {
            frame: Frame::new(visitor, rooms.config()),
            desk: DeskWords::of(visitor.lang),
            desk_style: assets::desk_style_href(),
            desk_script: assets::desk_script_href(),
            nav: Vec::new(),
            operator: None,
            notice: None,
        }
    }

    /// The same with something to be said.
    pub(crate) fn saying(self, notice: Option<Notice>) -> Self {
        Self { notice: notice.or(self.notice), ..self }
    }

    /// May whoever is logged in change anything?
    pub(crate) fn may_act(&self) -> bool {
        self.operator.as_ref().is_some_and(Operator::may_act)
    }

    /// What every form carries in its field `csrf`.
    pub(crate) fn csrf(&self) -> &str {
        self.operator.as_ref().map_or("", |operator| &operator.csrf)
    }
}

/// Goes to a page of the desk, which says what became of an action. That is kept in the session, not in the address.
pub(crate) fn done(rooms: &Rooms, operator: &Operator, to: &str, notice: Notice) -> Response {
    rooms.desk().sessions.leave(&operator.session, notice);
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

/// A page of the desk with one message, and a link (where to, and what it says) that may help.
pub(crate) fn message(
    frame: DeskFrame,
    visitor: &Visitor,
    status: StatusCode,
    title: &str,
    text: &str,
    link: Option<(&str, &str)>,
) -> Response {
    respond(visitor, status, &MessagePage { frame, title, text, link })
}
