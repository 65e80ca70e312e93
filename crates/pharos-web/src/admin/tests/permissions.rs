//! Every route of the desk with every role.

use axum::http::Method;

use super::*;
use crate::admin::operators::Role;
use crate::admin::permissions::{RULES, required};

/// Routes without a session.
const OPEN: [&str; 2] = ["/admin/login", "/admin/setup"];

#[tokio::test(flavor = "multi_thread")]
async fn every_route_obeys_the_role() {
    let running = start();
    let mut keeper = running.keeper().await;
    for role in Role::ALL {
        let fields = [("name", role.code()), ("role", role.code()), ("password", PASSWORD)];
        assert_eq!(keeper.act("/admin/operators/add", &fields).await.header("location"), "/admin/operators");
        let mut browser = running.browser();
        browser.log_in(role.code(), PASSWORD).await;
        for (route, ..) in RULES.iter().filter(|(route, ..)| !OPEN.contains(route)) {
            let path = route.replace("{what}", "nothing").replace("{*rest}", "no/such/page");
            for method in [Method::GET, Method::POST] {
                let body = if method == Method::POST { "csrf=wrong" } else { "" };
                if path == "/admin/live" && method == Method::GET {
                    // An endless stream; the other checks apply to it as well.
                    continue;
                }
                let reply = browser.send(method.clone(), &path, body).await;
                if reply.status == StatusCode::METHOD_NOT_ALLOWED {
                    continue;
                }
                let is_refused = reply.text().contains("Your role does not permit this");
                let is_permitted = role.allows(required(route, &method));
                // A permitted form fails later, because it has no token.
                assert_eq!(is_refused, !is_permitted, "{} {method} {path}: {}", role.code(), reply.status);
                if is_refused {
                    assert_eq!(reply.status, StatusCode::FORBIDDEN);
                }
            }
        }
    }
    assert_eq!(running.desk.operators.load().unwrap().len(), 1 + Role::ALL.len(), "nothing was changed");
}

#[tokio::test(flavor = "multi_thread")]
async fn editors_curate_and_see_what_they_may_use() {
    let running = start();
    let mut keeper = running.keeper().await;
    for role in ["editor", "viewer"] {
        let fields = [("name", role), ("role", role), ("password", PASSWORD)];
        keeper.act("/admin/operators/add", &fields).await;
    }
    let mut editor = running.browser();
    editor.log_in("editor", PASSWORD).await;
    let page = editor.get("/admin/curation?lang=en").await;
    assert!(page.text().contains("action=\"/admin/curation/save\"") && page.text().contains(">Editor<"));
    for (link, is_there) in [("/admin/queries", true), ("/admin/settings", false), ("/admin/keys", false)] {
        assert_eq!(page.text().contains(&format!("<a href=\"{link}\"")), is_there, "{link}");
    }
    let hide = [("kind", "hide"), ("url", "https://a.example/")];
    assert_eq!(editor.act("/admin/curation/save", &hide).await.header("location"), "/admin/curation");
    assert_eq!(editor.act("/admin/crawl/pause", &[]).await.status, StatusCode::FORBIDDEN);
    let mut viewer = running.browser();
    viewer.log_in("viewer", PASSWORD).await;
    let page = viewer.get("/admin/curation?lang=en").await;
    assert!(page.text().contains("https://a.example/") && !page.text().contains("curation/save"));
    assert!(!page.text().contains("<button class=\"small\" type=\"submit\">Remove"));
    assert_eq!(viewer.get("/admin/logs").await.status, StatusCode::FORBIDDEN);
    assert!(running.action_log().contains("\"action\":\"desk.forbidden\",\"what\":\"/admin/logs\""));
}
