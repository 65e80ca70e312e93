//! The refresh of known pages follows users and webmasters: popular queries raise weights, and notices bring visits forward.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::common::browser::Site;
use crate::common::{Running, TestFolder, get, until};

const KEY: &str = "0123456789abcdef";

fn page(title: &str, links: &str) -> String {
    format!("<title>{title}</title><p>The keeper of the {title} lights the lamp every evening. {links}")
}

fn site() -> Site {
    Site::start(|path| match path {
        "/" => Some(page("Harbour", "<a href=/tower>tower</a> <a href=/quay>quay</a>")),
        "/tower" => Some(page("Lighthouse", "")),
        "/quay" => Some(page("Quay", "")),
        "/0123456789abcdef.txt" => Some(KEY.to_string()),
        _ => None,
    })
}

/// Sends a request and returns the status.
fn send(address: &str, request: &str) -> u16 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default()
}

/// Searches as a visitor with this user agent.
fn search_as(address: &str, agent: &str) -> u16 {
    let request = format!(
        "GET /search?q=lighthouse HTTP/1.1\r\nHost: {address}\r\nUser-Agent: {agent}\r\nConnection: close\r\n\r\n"
    );
    send(address, &request)
}

fn notify(address: &str, body: &Value) -> u16 {
    let body = body.to_string();
    let request = format!(
        "POST /indexnow HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    send(address, &request)
}

#[test]
fn popular_queries_raise_weights_and_notices_bring_visits_forward() {
    let (folder, site) = (TestFolder::new(), site());
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", site.port);
    let mut command = folder.on("data", &["up", "--listen", "127.0.0.1:0", "--politeness", "own-site"]);
    command.args(["--allow-private", &url("/")]);
    command.env("PHAROS_REFRESH_INTEREST_EVERY", "1s").env("PHAROS_WEB_INDEXNOW", "true");
    command.env("PHAROS_CRAWL_REFRESH_AT_MOST_EVERY", "1s");
    let mut up = Running::start(&mut command);
    let address = up.address();
    until("the catalog exists", || folder.path("data/catalog.db").exists());
    until("all pages are searchable", || folder.json("data", &["stats"])["searchable"] == 3);

    let report = |path: &str| folder.json("data", &["page", &url(path)]);
    assert_eq!(report("/tower")["next_visit"]["policy"], "lag");
    for visitor in 0..5 {
        assert_eq!(search_as(&address, &format!("Visitor/{visitor}")), 200);
    }
    let interest = |path: &str| report(path)["next_visit"]["interest"].as_f64().unwrap_or_default();
    until("the page with the popular word weighs more", || interest("/tower") > 1.5);
    assert_eq!(interest("/quay"), 1.0);
    let status = folder.json("data", &["refresh", "status"]);
    assert_eq!((&status["policy"], &status["raised"]), (&"lag".into(), &1.into()), "{status}");

    assert_eq!(report("/quay")["visits"], 1);
    let notice = |key: &str| json!({ "host": "127.0.0.1", "key": key, "urlList": [url("/quay")] });
    assert_eq!(notify(&address, &notice("wrong-key-0123")), 403);
    assert_eq!(notify(&address, &notice(KEY)), 202);
    until("the announced page is visited", || report("/quay")["visits"].as_u64() > Some(1));
    assert_eq!(report("/tower")["visits"], 1);
    until("the unchanged page counts as a false alarm", || {
        folder.json("data", &["refresh", "status"])["signals"][0]["visits"].as_f64() > Some(0.9)
    });
    let (status, _) = get(&address, "/indexnow");
    assert_eq!(status, 400, "a notice without a URL");
}
