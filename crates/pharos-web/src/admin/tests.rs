//! Login, sessions and access control through the router, with cookies and forms as browsers and attackers send them.

mod categories;
mod curation;
mod keys;
mod pages;
mod permissions;

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{Method, StatusCode};
use pharos_core::Config;
use pharos_store::DataDir;
use tempfile::TempDir;
use url::form_urlencoded::Serializer;

use super::Desk;
use crate::server::router;
use crate::state::AppState;
use crate::testing::{Reply, engine, send_from};

const PASSWORD: &str = "correct horse battery";

/// A desk with its router.
struct Running {
    dir: TempDir,
    router: Router,
    app: AppState,
    desk: Arc<Desk>,
}

/// A client with cookies.
struct Browser<'r> {
    running: &'r Running,
    address: IpAddr,
    cookie: String,
    /// Headers sent with every request.
    headers: Vec<(&'static str, &'static str)>,
}

fn start_with(config: Config) -> Running {
    let (dir, service) = engine(&[], config);
    let app = AppState::new(service).unwrap();
    let desk = Arc::clone(app.desk());
    Running { dir, router: router::build(app.clone()), app, desk }
}

fn start() -> Running {
    start_with(Config::default())
}

impl Running {
    fn browser(&self) -> Browser<'_> {
        // Each client has its own address, so that their rate limits are independent.
        static NEXT: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(1);
        let last = NEXT.fetch_add(1, Ordering::Relaxed);
        let address = IpAddr::from([127, 0, 1, last]);
        Browser { running: self, address, cookie: String::new(), headers: Vec::new() }
    }

    /// Sets up the desk as operator "Keeper".
    async fn keeper(&self) -> Browser<'_> {
        let mut browser = self.browser();
        let code = self.desk.code.display();
        let form = [("code", code.as_str()), ("name", "Keeper"), ("password", PASSWORD), ("again", PASSWORD)];
        let reply = browser.post("/admin/setup", &form).await;
        assert_eq!(
            (reply.status, reply.header("location")),
            (StatusCode::SEE_OTHER, "/admin"),
            "{}",
            reply.text()
        );
        browser
    }

    fn action_log(&self) -> String {
        fs::read_to_string(self.dir.path().join("desk/actions.jsonl")).unwrap_or_default()
    }
}

impl Browser<'_> {
    async fn send(&mut self, method: Method, path: &str, body: &str) -> Reply {
        let mut headers: Vec<(&str, &str)> = self.headers.clone();
        if !body.is_empty() {
            headers.push(("content-type", "application/x-www-form-urlencoded"));
        }
        let cookie = self.cookie.clone();
        if !cookie.is_empty() {
            headers.push(("cookie", &cookie));
        }
        let from = ConnectInfo(SocketAddr::new(self.address, 50_000));
        let reply = send_from(&self.running.router, Some(from), method, path, &headers, body).await;
        for set in reply.headers.get_all("set-cookie").iter().filter_map(|cookie| cookie.to_str().ok()) {
            if let Some(cookie) = set.split(';').next().filter(|cookie| cookie.starts_with("pharos_desk=")) {
                self.cookie = cookie.to_string();
            }
        }
        assert_eq!(reply.header("cache-control"), "no-store", "{path}");
        assert_eq!(reply.header("x-robots-tag"), "noindex", "{path}");
        assert!(reply.header("content-security-policy").contains("script-src 'self'"), "{path}");
        reply
    }

    async fn get(&mut self, path: &str) -> Reply {
        self.send(Method::GET, path, "").await
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let body = Serializer::new(String::new()).extend_pairs(fields).finish();
        self.send(Method::POST, path, &body).await
    }

    /// Returns the CSRF token of the session.
    async fn csrf(&mut self) -> String {
        let page = self.get("/admin/account").await;
        let (_, rest) = page.text().split_once("name=\"csrf\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_string()
    }

    /// Submits a form with the CSRF token.
    async fn act(&mut self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let csrf = self.csrf().await;
        let fields = [&[("csrf", csrf.as_str())], fields].concat();
        self.post(path, &fields).await
    }

    async fn log_in(&mut self, name: &str, password: &str) -> Reply {
        self.post("/admin/login", &[("name", name), ("password", password)]).await
    }

    async fn is_in(&mut self) -> bool {
        self.get("/admin/operators").await.status == StatusCode::OK
    }
}

#[tokio::test]
async fn the_first_operator_is_named_once_with_the_code() {
    let running = start();
    let mut browser = running.browser();
    assert_eq!(browser.get("/admin").await.header("location"), "/admin/setup");
    let page = browser.get("/admin/setup").await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(page.text().contains("name=\"code\"") && !page.text().contains(&running.desk.code.display()));
    let code = running.desk.code.display();
    let form = |code, password, again| {
        [("code", code), ("name", "Keeper"), ("password", password), ("again", again)]
    };
    let wrong = browser.post("/admin/setup", &form("AAAA-BBBB-CCCC-DDDD-EEEE", PASSWORD, PASSWORD)).await;
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    assert!(wrong.text().contains("Wrong setup code.") && wrong.text().contains("value=\"Keeper\""));
    for (password, again) in [("short", "short"), (PASSWORD, "another one 123"), ("keeperkeeper", "")] {
        let reply = browser.post("/admin/setup", &form(&code, password, again)).await;
        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY, "{password}");
    }
    assert!(!running.dir.path().join("desk/operators.json").exists());
    let mut keeper = running.keeper().await;
    assert!(keeper.is_in().await, "setup logs the operator in");
    let mut thief = running.browser();
    assert_eq!(thief.get("/admin/setup").await.header("location"), "/admin/login");
    let late = thief.post("/admin/setup", &form(&code, PASSWORD, PASSWORD)).await;
    assert_eq!((late.header("location"), late.header("set-cookie")), ("/admin/login", ""));
    let log = running.action_log();
    for part in
        ["\"refused: wrong code\"", "\"action\":\"desk.setup\"", "\"outcome\":\"done\"", "an operator exists"]
    {
        assert!(log.contains(part), "{part} is missing in {log}");
    }
    assert!(!log.contains(PASSWORD) && !log.contains(&code));

    fs::remove_file(running.dir.path().join("desk/operators.json")).unwrap();
    let again = thief.post("/admin/setup", &form(&code, PASSWORD, PASSWORD)).await;
    assert_eq!(again.status, StatusCode::FORBIDDEN, "an expired code stays expired");
    assert!(thief.get("/admin/setup").await.text().contains("Restart Pharos"));
}

#[tokio::test]
async fn the_setup_code_cannot_be_guessed_by_brute_force() {
    let running = start();
    let mut browser = running.browser();
    let mut tries = 0;
    let refused = loop {
        let reply = browser.post("/admin/setup", &[("code", "AAAA-BBBB-CCCC-DDDD-EEEE")]).await;
        if reply.status != StatusCode::FORBIDDEN {
            break reply;
        }
        tries += 1;
        assert!(tries < 20);
    };
    assert_eq!((refused.status, tries), (StatusCode::TOO_MANY_REQUESTS, 5));
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0));
    assert!(refused.text().contains("Too many attempts"));
}

#[tokio::test]
async fn operators_log_in_and_out() {
    let running = start();
    drop(running.keeper().await);
    let mut browser = running.browser();
    let sent = browser.get("/admin/operators?lang=en").await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER);
    assert_eq!(sent.header("location"), "/admin/login?next=%2Fadmin%2Foperators%3Flang%3Den");
    let page = browser.get("/admin/login?next=/admin/operators").await;
    assert!(page.text().contains("name=\"next\" value=\"/admin/operators\""), "{}", page.text());
    let wrong = browser.log_in("Keeper", "not the password").await;
    assert!(wrong.status == StatusCode::FORBIDDEN && wrong.header("set-cookie").is_empty());
    assert!(wrong.text().contains("Wrong name or password."));
    let fields = [("name", " ｋｅｅｐｅｒ "), ("password", PASSWORD), ("next", "/admin/operators")];
    let reply = browser.post("/admin/login", &fields).await;
    assert_eq!((reply.status, reply.header("location")), (StatusCode::SEE_OTHER, "/admin/operators"));
    let cookie = reply.header("set-cookie");
    assert!(cookie.ends_with("; Path=/admin; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(browser.is_in().await);

    let old = browser.cookie.clone();
    browser.log_in("Keeper", PASSWORD).await;
    assert_ne!(browser.cookie, old, "every login has a new token");
    let new = std::mem::replace(&mut browser.cookie, old);
    assert!(!browser.is_in().await, "and ends the previous session");
    browser.cookie = new.clone();
    assert_eq!(browser.get("/admin/logout").await.status, StatusCode::METHOD_NOT_ALLOWED);
    let out = browser.act("/admin/logout", &[]).await;
    assert_eq!(out.header("location"), "/admin/login");
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    browser.cookie = new;
    assert!(!browser.is_in().await);
    let log = running.action_log();
    assert_eq!(log.matches("\"desk.login\"").count(), 3, "{log}");
    assert!(log.contains("\"desk.logout\"") && log.contains("refused: wrong name or password"));
}

#[tokio::test]
async fn unknown_names_get_the_same_answer_in_the_same_time() {
    let running = start();
    drop(running.keeper().await);
    let mut browser = running.browser();
    let computed = || running.desk.hashing.computed.load(Ordering::Relaxed);
    let before = computed();
    let unknown = browser.log_in("my secret password", "whatever it is").await;
    assert_eq!(computed(), before + 1, "a hash is computed for an unknown name");
    let known = browser.log_in("Keeper", "whatever it is").await;
    assert_eq!(computed(), before + 2);
    let shown = |reply: &Reply, name: &str| reply.text().replace(name, "NAME");
    assert_eq!(unknown.status, known.status);
    assert_eq!(shown(&unknown, "my secret password"), shown(&known, "Keeper"));
    assert!(!running.action_log().contains("my secret password"), "a possible password is not logged");
}

#[tokio::test]
async fn passwords_cannot_be_guessed_by_brute_force() {
    let running = start();
    drop(running.keeper().await);
    let mut attacker = running.browser();
    for _ in 0..5 {
        assert_eq!(attacker.log_in("Keeper", "guess guess").await.status, StatusCode::FORBIDDEN);
    }
    let computed = running.desk.hashing.computed.load(Ordering::Relaxed);
    let refused = attacker.log_in("Keeper", PASSWORD).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "even with the right one");
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| (1..=31).contains(&seconds)));
    assert_eq!(running.desk.hashing.computed.load(Ordering::Relaxed), computed, "and costs nothing");
    let mut keeper = running.browser();
    assert_eq!(
        keeper.log_in("Keeper", PASSWORD).await.status,
        StatusCode::SEE_OTHER,
        "other addresses are not affected"
    );
    assert!(running.action_log().contains("refused: too many tries"));
}

#[tokio::test]
async fn forms_of_another_site_or_without_the_token_are_denied() {
    let running = start();
    let mut keeper = running.keeper().await;
    let fields = [("name", "Thief"), ("role", "admin"), ("password", "0123456789ab")];
    let csrf = keeper.csrf().await;
    let others = running.desk.operators.load().unwrap().len();
    let forged = "0".repeat(64);
    let twice = [&fields[..], &[("csrf", csrf.as_str()), ("csrf", forged.as_str())]].concat();
    let bad: [Vec<(&str, &str)>; 4] = [
        fields.to_vec(),
        [&fields[..], &[("csrf", "")]].concat(),
        [&fields[..], &[("csrf", forged.as_str())]].concat(),
        twice,
    ];
    for fields in bad {
        let reply = keeper.post("/admin/operators/add", &fields).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN);
        assert!(reply.text().contains("does not belong to your session"), "{}", reply.text());
    }
    let right = [&fields[..], &[("csrf", csrf.as_str())]].concat();
    for header in
        [("origin", "http://evil.example"), ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site")]
    {
        keeper.headers = vec![header];
        let reply = keeper.post("/admin/operators/add", &right).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN);
        assert!(reply.text().contains("a page of another site"));
        keeper.headers.clear();
    }
    assert_eq!(running.desk.operators.load().unwrap().len(), others);
    assert_eq!(running.action_log().matches("\"desk.forged\"").count(), 7, "{}", running.action_log());
    keeper.headers = vec![("origin", "http://localhost"), ("sec-fetch-site", "same-origin")];
    assert_eq!(keeper.post("/admin/operators/add", &right).await.status, StatusCode::SEE_OTHER);
    assert_eq!(running.desk.operators.load().unwrap().len(), others + 1);
    for path in ["/admin/login", "/admin/setup"] {
        let mut other = running.browser();
        other.headers = vec![("origin", "http://evil.example")];
        let reply = other.post(path, &[("name", "Keeper"), ("password", PASSWORD)]).await;
        assert!(reply.status == StatusCode::FORBIDDEN && reply.header("set-cookie").is_empty(), "{path}");
    }
}

#[tokio::test]
async fn the_token_of_another_session_is_denied() {
    let running = start();
    let mut keeper = running.keeper().await;
    let mut other = running.browser();
    other.log_in("Keeper", PASSWORD).await;
    let csrf = other.csrf().await;
    let reply = keeper.post("/admin/logout", &[("csrf", &csrf)]).await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
    assert!(keeper.is_in().await && other.is_in().await);
}

#[tokio::test]
async fn analysts_cannot_change_anything() {
    let running = start();
    let mut keeper = running.keeper().await;
    let added = keeper
        .act("/admin/operators/add", &[("name", "Mate"), ("role", "analyst"), ("password", PASSWORD)])
        .await;
    assert_eq!(added.header("location"), "/admin/operators");
    assert!(keeper.get("/admin/operators").await.text().contains("Mate is now an operator."));
    assert!(!keeper.get("/admin/operators").await.text().contains("Mate is now an operator."), "shown once");
    let mut mate = running.browser();
    mate.log_in("Mate", PASSWORD).await;
    for path in ["/admin/operators", "/admin/actions", "/admin/account"] {
        let page = mate.get(path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        assert!(page.text().contains("Analyst"), "{path}");
        assert!(!page.text().contains("action=\"/admin/operators/"), "{path}");
    }
    for (path, fields) in [
        ("/admin/operators/add", [("name", "X"), ("role", "admin"), ("password", PASSWORD)].as_slice()),
        ("/admin/operators/remove", &[("name", "Keeper")]),
        ("/admin/operators/role", &[("name", "Mate"), ("role", "admin")]),
        ("/admin/operators/password", &[("name", "Keeper"), ("password", "0123456789ab")]),
    ] {
        let reply = mate.act(path, fields).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
        assert!(reply.text().contains("Your role does not permit this: Analyst."), "{path}");
        assert!(
            running.action_log().contains(&format!("\"action\":\"desk.forbidden\",\"what\":\"{path}\"")),
            "{path}"
        );
    }
    assert_eq!(running.desk.operators.load().unwrap().len(), 2);

    let own = [("current", PASSWORD), ("password", "another password"), ("again", "another password")];
    let before = mate.cookie.clone();
    let reply = mate.act("/admin/account", &own).await;
    assert_eq!(reply.header("location"), "/admin/account", "{}", reply.text());
    assert!(mate.get("/admin/account").await.text().contains("Your password has been changed."));
    let mut elsewhere = running.browser();
    elsewhere.cookie = before;
    assert!(!elsewhere.is_in().await, "the previous session has ended");
    let wrong = mate.act("/admin/account", &own).await;
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    assert!(wrong.text().contains("The current password is wrong."));
    assert_eq!(mate.act("/admin/logout", &[]).await.header("location"), "/admin/login");
}

#[tokio::test]
async fn a_session_ends_with_any_change_of_role_or_password_or_by_removal() {
    let running = start();
    let mut keeper = running.keeper().await;
    keeper
        .act("/admin/operators/add", &[("name", "Mate"), ("role", "analyst"), ("password", PASSWORD)])
        .await;
    for (path, fields) in [
        ("/admin/operators/role", [("name", "Mate"), ("role", "admin")].as_slice()),
        ("/admin/operators/password", &[("name", "mate"), ("password", PASSWORD)]),
        ("/admin/operators/remove", &[("name", "MATE")]),
    ] {
        let mut mate = running.browser();
        mate.log_in("Mate", PASSWORD).await;
        assert!(mate.is_in().await, "{path}");
        assert_eq!(keeper.act(path, fields).await.header("location"), "/admin/operators", "{path}");
        assert!(!mate.is_in().await, "{path}");
        let late = mate.post("/admin/logout", &[("csrf", "x")]).await;
        assert_eq!(late.status, StatusCode::FORBIDDEN);
        assert!(late.text().contains("Nothing was changed."));
    }
    let mut mate = running.browser();
    assert_eq!(mate.log_in("Mate", PASSWORD).await.status, StatusCode::FORBIDDEN);
    for (path, fields) in [
        ("/admin/operators/remove", [("name", "Keeper")].as_slice()),
        ("/admin/operators/role", &[("name", "Keeper"), ("role", "analyst")]),
    ] {
        keeper.act(path, fields).await;
        assert!(keeper.get("/admin/operators").await.text().contains("the last operator with full access"));
    }
    let log = running.action_log();
    for part in [
        "operator.add",
        "operator.role",
        "operator.password",
        "operator.remove",
        "refused: the last operator",
    ] {
        assert!(log.contains(part), "{part} is missing in {log}");
    }
}

#[tokio::test]
async fn changes_by_another_process_apply_at_once() {
    let running = start();
    let mut keeper = running.keeper().await;
    let other = Desk::with_code(&Config::default(), &DataDir::at(running.dir.path()), None).unwrap();
    let hash = other.hashing.hash("another password").await.unwrap();
    let changed = other.operators.change(|all| super::operators::set_password(all, "Keeper", hash));
    assert_eq!(changed.unwrap(), Ok(()));
    assert!(!keeper.is_in().await);
    assert_eq!(keeper.log_in("Keeper", "another password").await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_damaged_file_of_operators_locks_the_desk() {
    let running = start();
    let mut keeper = running.keeper().await;
    let path = running.dir.path().join("desk/operators.json");
    let good = fs::read(&path).unwrap();
    let code = running.desk.code.display();
    for damage in ["", "{\"operators\":[]}", "not json"] {
        fs::write(&path, damage).unwrap();
        for page in ["/admin", "/admin/login", "/admin/setup", "/admin/operators"] {
            let reply = keeper.get(page).await;
            assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE, "{page} with {damage:?}");
            assert!(reply.text().contains("The desk is locked"), "{page}");
        }
        let form = [("code", code.as_str()), ("name", "Thief"), ("password", PASSWORD), ("again", PASSWORD)];
        assert_eq!(keeper.post("/admin/setup", &form).await.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(keeper.log_in("Keeper", PASSWORD).await.status, StatusCode::SERVICE_UNAVAILABLE);
    }
    fs::write(&path, good).unwrap();
    assert_eq!(keeper.get("/admin/setup").await.header("location"), "/admin/login");
}

#[tokio::test]
async fn only_allowed_addresses_reach_the_desk() {
    let running = start();
    let mut browser = running.browser();
    browser.address = "192.0.2.7".parse().unwrap();
    for path in ["/admin", "/admin/login", "/admin/setup", "/admin/nothing"] {
        let reply = browser.get(path).await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{path}");
        assert!(reply.text().contains("desk.allow") && reply.text().contains("192.0.2.7"), "{path}");
    }
    browser.address = "::ffff:127.0.0.1".parse().unwrap();
    assert_eq!(browser.get("/admin/setup").await.status, StatusCode::OK);
    for header in [("x-forwarded-for", "127.0.0.1"), ("forwarded", "for=127.0.0.1"), ("via", "1.1 proxy")] {
        browser.headers = vec![header];
        let reply = browser.get("/admin/setup").await;
        assert_eq!(reply.status, StatusCode::FORBIDDEN, "{header:?}");
        assert!(reply.text().contains("web.behind_proxy"), "{header:?}");
    }
    let unknown = send_from(&running.router, None, Method::GET, "/admin/login", &[], "").await;
    assert_eq!(unknown.status, StatusCode::FORBIDDEN, "unknown address");
}

#[tokio::test]
async fn the_configured_proxy_is_trusted() {
    let mut config = Config::default();
    config.set("web.behind_proxy", "127.0.0.0/8", "test").unwrap();
    config.desk.allow = vec!["203.0.113.0/24".into()];
    let running = start_with(config);
    let mut browser = running.browser();
    for (header, status) in [
        (("x-forwarded-for", "127.0.0.1, 203.0.113.9"), StatusCode::OK),
        (("x-forwarded-for", "203.0.113.9, 192.0.2.1"), StatusCode::FORBIDDEN),
        (("x-forwarded-for", "unknown"), StatusCode::FORBIDDEN),
        (("x-forwarded-for", "_hidden"), StatusCode::FORBIDDEN),
        (("x-forwarded-for", "203.0.113.9:5001"), StatusCode::OK),
        (("via", "1.1 proxy"), StatusCode::FORBIDDEN),
        (("forwarded", "for=203.0.113.9"), StatusCode::OK),
        (("forwarded", "for=127.0.0.1, for=192.0.2.1"), StatusCode::FORBIDDEN),
    ] {
        browser.headers = vec![header];
        assert_eq!(browser.get("/admin/setup").await.status, status, "{header:?}");
    }
    browser.address = "192.0.2.2".parse().unwrap();
    browser.headers = vec![("x-forwarded-for", "203.0.113.9")];
    assert_eq!(browser.get("/admin/setup").await.status, StatusCode::FORBIDDEN, "not a proxy");
    browser.address = "127.0.0.1".parse().unwrap();
    let code = running.desk.code.display();
    let form = [("code", code.as_str()), ("name", "Keeper"), ("password", PASSWORD), ("again", PASSWORD)];
    browser.headers = vec![("x-forwarded-for", "203.0.113.9"), ("x-forwarded-proto", "https")];
    let reply = browser.post("/admin/setup", &form).await;
    assert!(reply.header("set-cookie").ends_with("; Secure"), "{}", reply.header("set-cookie"));
    assert!(running.action_log().contains("\"from\":\"203.0.113.9\""));
}

#[tokio::test]
async fn foreign_host_names_are_rejected_on_loopback() {
    let mut config = Config::default();
    config.web.base_url = "https://search.example.org".into();
    let running = start_with(config);
    let from = || Some(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 50_000))));
    for (host, status) in [
        ("evil.example", StatusCode::FORBIDDEN),
        ("localhost.evil.example:8080", StatusCode::FORBIDDEN),
        ("", StatusCode::FORBIDDEN),
        ("search.example.org", StatusCode::OK),
        ("desk.localhost:8080", StatusCode::OK),
        ("127.0.0.1:8080", StatusCode::OK),
        ("[::1]:8080", StatusCode::OK),
    ] {
        let request = axum::http::Request::builder().uri("/admin/setup").header("host", host);
        let mut request = request.body(axum::body::Body::empty()).unwrap();
        request.extensions_mut().insert(from().unwrap());
        let reply = tower::ServiceExt::oneshot(running.router.clone(), request).await.unwrap();
        assert_eq!(reply.status(), status, "{host}");
    }
}

#[tokio::test]
async fn a_disabled_desk_has_no_pages() {
    let mut config = Config::default();
    config.desk.enabled = false;
    let running = start_with(config);
    let mut browser = running.browser();
    for path in ["/admin", "/admin/login", "/admin/setup", "/admin/x"] {
        assert_eq!(browser.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert!(!running.dir.path().join("desk").exists());
}

#[test]
fn wrong_settings_stop_the_start() {
    for (allow, session) in [("nonsense", 3600), ("::1", 1)] {
        let mut config = Config::default();
        config.desk.allow = vec![allow.into()];
        config.desk.session = std::time::Duration::from_secs(session);
        let (_dir, service) = engine(&[], config);
        let error = AppState::new(service).err().unwrap().to_string();
        assert!(error.contains("`desk."), "{error}");
    }
    let dir = tempfile::tempdir().unwrap();
    let short = Desk::with_code(&Config::default(), &DataDir::at(dir.path()), Some("too short"));
    assert!(short.err().unwrap().to_string().contains("PHAROS_DESK_SETUP_CODE"));
}

#[tokio::test]
async fn a_login_redirects_to_desk_pages_only() {
    let running = start();
    drop(running.keeper().await);
    for (next, to) in [
        ("/admin/operators", "/admin/operators"),
        ("/admin/actions?who=a%26b&page=2", "/admin/actions?who=a%26b&page=2"),
        ("/admin", "/admin"),
        ("//evil.example/admin", "/admin"),
        ("https://evil.example/admin", "/admin"),
        ("/\\evil.example/admin", "/admin"),
        ("/admin/../search", "/admin"),
        ("/admin/%2e%2e/search", "/admin"),
        ("/administration", "/admin"),
        ("/admin/logout", "/admin"),
        ("/search?q=x", "/admin"),
        ("javascript:alert(1)", "/admin"),
        ("/admin/a\r\nSet-Cookie: x=y", "/admin"),
        ("", "/admin"),
    ] {
        assert_eq!(super::gate::next_page(next).unwrap_or_else(|| "/admin".into()), to, "{next:?}");
    }
    let mut browser = running.browser();
    let fields = [("name", "Keeper"), ("password", PASSWORD), ("next", "//evil.example/")];
    assert_eq!(browser.post("/admin/login", &fields).await.header("location"), "/admin");
    let page = running.browser().get("/admin/login?next=//evil.example/%22%3E%3Cscript%3E").await;
    assert!(!page.text().contains("evil.example\""), "{}", page.text());
}

#[tokio::test]
async fn user_input_is_escaped() {
    let running = start();
    let mut keeper = running.keeper().await;
    let evil = "\"><script>alert(1)</script>&amp;";
    let reply = keeper
        .act("/admin/operators/add", &[("name", evil), ("role", "admin"), ("password", PASSWORD)])
        .await;
    assert_eq!(reply.status, StatusCode::SEE_OTHER);
    running.desk.action_log.append(&super::action_log::ActionEntry {
        who: evil,
        from: evil,
        action: "test.evil",
        what: evil,
        detail: evil,
        outcome: super::action_log::ActionOutcome::Refused(evil),
    });
    let mut evil_one = running.browser();
    assert_eq!(evil_one.log_in(evil, PASSWORD).await.status, StatusCode::SEE_OTHER);
    for lang in ["en", "zh"] {
        for path in
            ["/admin/operators", "/admin/actions", "/admin/actions?text=%22%3E%3Cscript%3E", "/admin/account"]
        {
            let glue = if path.contains('?') { '&' } else { '?' };
            let page = evil_one.get(&format!("{path}{glue}lang={lang}")).await;
            assert_eq!(page.status, StatusCode::OK, "{path}");
            let scripts = page.text().matches("<script").count();
            assert_eq!(scripts, page.text().matches("<script src=\"/static/desk.js?v=").count(), "{path}");
            assert_eq!(scripts, 1, "{path}");
        }
    }
    let wrong = running.browser().log_in(evil, "wrong password").await;
    assert_eq!(wrong.text().matches("<script").count(), 1);
}

#[tokio::test]
async fn the_record_is_shown_page_by_page_and_filtered() {
    let running = start();
    let mut keeper = running.keeper().await;
    for n in 0..120 {
        running.desk.action_log.append(&super::action_log::ActionEntry {
            who: "Keeper",
            from: "127.0.0.1",
            action: "crawl.pause",
            what: &format!("site-{n}.example"),
            detail: "",
            outcome: super::action_log::ActionOutcome::Done,
        });
    }
    let first = keeper.get("/admin/actions").await;
    assert!(first.text().contains("site-119.example") && !first.text().contains("site-69.example"));
    assert!(
        first.text().contains("href=\"/admin/actions?page=2\"") && !first.text().contains("rel=\"prev\"")
    );
    let last = keeper.get("/admin/actions?page=3&action=crawl.").await;
    assert!(last.text().contains("site-19.example") && last.text().contains("site-0.example"));
    assert!(last.text().contains("/admin/actions?action=crawl.") && !last.text().contains("rel=\"next\""));
    let one = keeper.get("/admin/actions?text=SITE-77.&who=keep").await;
    assert_eq!(one.text().matches(".example</bdi>").count(), 1);
    assert!(keeper.get("/admin/actions?text=nothing+such").await.text().contains("No entries."));
    for odd in ["page=0", "page=-1", "page=99999999999999999999", "page=x", "who=%ff%00", "text=%F0%9F"] {
        assert_eq!(keeper.get(&format!("/admin/actions?{odd}")).await.status, StatusCode::OK, "{odd}");
    }
}

#[tokio::test]
async fn pages_have_titles_in_both_languages_and_mark_the_current_one() {
    let running = start();
    let mut browser = running.browser();
    for (path, en, zh) in [
        ("/admin/setup", "<title>Set up the operator’s desk –", "<title>设置控制台 –"),
        (
            "/admin/login",
            "<title>Log in – Operator’s desk – Pharos</title>",
            "<title>登录 – 控制台 – 灯塔</title>",
        ),
    ] {
        assert!(browser.get(path).await.text().contains(en), "{path}");
        assert!(browser.get(&format!("{path}?lang=zh")).await.text().contains(zh), "{path}");
    }
    let mut keeper = running.keeper().await;
    for (path, en, zh) in [
        ("/admin/operators", "Operators", "管理员"),
        ("/admin/actions", "Action log", "操作日志"),
        ("/admin/account", "My account", "我的账户"),
        ("/admin/nothing", "Page not found", "页面不存在"),
    ] {
        let page = keeper.get(path).await;
        assert!(
            page.text().contains(&format!("<title>{en} – Operator’s desk – Pharos</title>")),
            "{}",
            page.text()
        );
        let page = keeper.get(&format!("{path}?lang=zh")).await;
        assert!(page.text().contains(&format!("<title>{zh} – 控制台 – 灯塔</title>")), "{}", page.text());
        let current = format!("<a href=\"{path}\" aria-current=\"page\">");
        assert_eq!(
            page.text().contains(&current),
            !path.contains("account") && !path.contains("nothing"),
            "{path}"
        );
        assert_eq!(page.text().matches("<h1>").count(), 1, "{path}");
    }
    assert_eq!(keeper.get("/admin/nothing").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn large_forms_are_read_and_larger_ones_refused() {
    let running = start();
    let mut keeper = running.keeper().await;
    let csrf = keeper.csrf().await;
    let long = "x".repeat(500 << 10);
    let reply =
        keeper.post("/admin/operators/role", &[("csrf", &csrf), ("name", &long), ("role", "admin")]).await;
    assert_eq!(reply.status, StatusCode::SEE_OTHER);
    let longer = "x".repeat(2 << 20);
    let reply = keeper.post("/admin/operators/role", &[("csrf", &csrf), ("name", &longer)]).await;
    assert_eq!(reply.status, StatusCode::PAYLOAD_TOO_LARGE);
    keeper.headers = vec![("content-type", "text/plain")];
    let reply = keeper.send(Method::POST, "/admin/logout", "").await;
    assert_eq!(reply.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}
