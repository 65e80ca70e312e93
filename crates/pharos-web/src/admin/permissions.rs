//! Roles and permissions: the one place that decides who may use which route of the desk.
//!
//! | role | may |
//! |---|---|
//! | viewer | see the state of crawl, sites, pages, index, machine, curation and categories |
//! | editor | also see queries, and change curation and categories |
//! | analyst | see everything except secrets, and change nothing |
//! | admin | everything |
//!
//! Every operator may change the own password. A route that is not in [`RULES`] is reserved for admins.

use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::response::Response;

use super::action_log::{ActionEntry, ActionOutcome};
use super::frame::{DeskFrame, message_page};
use super::messages::DeskMessages;
use super::operators::Role;
use super::session::Operator;
use crate::messages::fill;
use crate::server::visitor::Visitor;
use crate::state::AppState;

/// A permission that a route needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// The own account.
    Own,
    /// The state of the engine.
    View,
    Queries,
    /// Logs, settings, operators and keys, without secrets.
    Logs,
    Curate,
    Administer,
}

use Permission::{Administer, Curate, Logs, Own, Queries, View};

/// Permissions of every route: to read it, and to submit a form to it.
pub(super) const RULES: [(&str, Permission, Permission); 55] = [
    ("/admin", View, Administer),
    ("/admin/live", View, Administer),
    ("/admin/news", View, Administer),
    ("/admin/crawl", View, Administer),
    ("/admin/crawl/seeds", Administer, Administer),
    ("/admin/crawl/rules", Administer, Administer),
    ("/admin/crawl/pace", Administer, Administer),
    ("/admin/crawl/{what}", Administer, Administer),
    ("/admin/sites", View, Administer),
    ("/admin/site", View, Administer),
    ("/admin/site/{what}", Administer, Administer),
    ("/admin/page", View, Administer),
    ("/admin/page/{what}", Administer, Administer),
    ("/admin/glossary", View, Administer),
    ("/admin/trouble", View, Administer),
    ("/admin/trouble/retry", Administer, Administer),
    ("/admin/submissions", View, Administer),
    ("/admin/submissions/decide", Administer, Administer),
    ("/admin/refresh", View, Administer),
    ("/admin/index", View, Administer),
    ("/admin/index/{what}", Administer, Administer),
    ("/admin/words", View, Administer),
    ("/admin/words/{what}", Administer, Administer),
    ("/admin/backup", View, Administer),
    ("/admin/backup/{what}", Administer, Administer),
    ("/admin/calendar", View, Administer),
    ("/admin/alerts", View, Administer),
    ("/admin/alerts/acknowledge", Administer, Administer),
    ("/admin/alerts/test", Administer, Administer),
    ("/admin/machine", View, Administer),
    ("/admin/queries", Queries, Administer),
    ("/admin/insight", Queries, Administer),
    ("/admin/insight/queries", Queries, Administer),
    ("/admin/insight/query", Queries, Administer),
    ("/admin/curation", View, Curate),
    ("/admin/curation/{what}", Curate, Curate),
    ("/admin/categories", View, Curate),
    ("/admin/categories/{what}", Curate, Curate),
    ("/admin/keys", Logs, Administer),
    ("/admin/keys/{what}", Administer, Administer),
    ("/admin/settings", Logs, Administer),
    ("/admin/settings/export", Administer, Administer),
    ("/admin/settings/{what}", Administer, Administer),
    ("/admin/logs", Logs, Administer),
    ("/admin/operators", Logs, Administer),
    ("/admin/operators/add", Administer, Administer),
    ("/admin/operators/remove", Administer, Administer),
    ("/admin/operators/role", Administer, Administer),
    ("/admin/operators/password", Administer, Administer),
    ("/admin/actions", Logs, Administer),
    ("/admin/account", Own, Own),
    ("/admin/logout", Own, Own),
    ("/admin/{*rest}", View, Administer),
    // Without a session.
    ("/admin/login", Own, Own),
    ("/admin/setup", Own, Own),
];

impl Role {
    /// Returns `true` if the role has a permission.
    pub(crate) fn allows(self, permission: Permission) -> bool {
        match permission {
            Own | View => true,
            Queries => self != Self::Viewer,
            Logs => matches!(self, Self::Admin | Self::Analyst),
            Curate => matches!(self, Self::Admin | Self::Editor),
            Administer => self == Self::Admin,
        }
    }
}

/// Returns the permission that a request to a route needs.
pub(super) fn required(route: &str, method: &Method) -> Permission {
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    let rule = RULES.iter().find(|(path, ..)| *path == route);
    rule.map_or(Administer, |(_, read, write)| if is_read { *read } else { *write })
}

/// Returns `true` if the role of the operator permits a request.
pub(super) fn permits(operator: &Operator, request: &Request) -> bool {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    operator.role().allows(required(route, request.method()))
}

/// Refuses a request that the role does not permit, and logs the refusal.
pub(super) async fn refuse(app: &AppState, visitor: &Visitor, operator: &Operator) -> Response {
    let messages = DeskMessages::for_lang(visitor.lang);
    let entry = ActionEntry {
        who: &operator.name,
        from: &operator.from,
        action: "desk.forbidden",
        what: visitor.path(),
        detail: "",
        outcome: ActionOutcome::Refused("the role of the operator does not permit it"),
    };
    app.desk().record(entry).await;
    let text = fill(messages.no_permission, &[messages.role(operator.role())]);
    let frame = DeskFrame::new(app, visitor, operator);
    message_page(frame, visitor, StatusCode::FORBIDDEN, messages.no_title, &text, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_has_a_rule() {
        let sources = [include_str!("pages.rs"), include_str!("../admin.rs")];
        let routes = sources.iter().flat_map(|source| source.split(".route(\"").skip(1));
        let routes: Vec<&str> = routes.filter_map(|rest| rest.split('"').next()).collect();
        assert!(routes.len() > 30, "{routes:?}");
        for route in routes {
            assert!(RULES.iter().any(|(path, ..)| *path == route), "{route} has no rule in permissions.rs");
        }
    }

    #[test]
    fn each_role_has_its_permissions() {
        let permitted = |role: Role| {
            [Own, View, Queries, Logs, Curate, Administer].map(|permission| u8::from(role.allows(permission)))
        };
        assert_eq!(permitted(Role::Viewer), [1, 1, 0, 0, 0, 0]);
        assert_eq!(permitted(Role::Editor), [1, 1, 1, 0, 1, 0]);
        assert_eq!(permitted(Role::Analyst), [1, 1, 1, 1, 0, 0]);
        assert_eq!(permitted(Role::Admin), [1, 1, 1, 1, 1, 1]);
        assert_eq!(required("/admin/unknown", &Method::GET), Administer);
    }
}
