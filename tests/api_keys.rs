//! API keys through the real binary: the command line changes what a running server accepts.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use crate::common::{Running, TestFolder, fail, succeed};
use serde_json::json;

/// Sends a request with a key and returns status and body.
fn ask(address: &str, path: &str, key: &str) -> (u16, String) {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let key = if key.is_empty() { String::new() } else { format!("API-Key: {key}\r\n") };
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{key}Connection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_string())
}

/// Waits until the server answers with this status.
fn until(address: &str, path: &str, key: &str, status: u16) -> String {
    let start = Instant::now();
    loop {
        let (now, body) = ask(address, path, key);
        if now == status {
            return body;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{now} instead of {status}: {body}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn keys_are_issued_limited_rotated_and_revoked_without_a_restart() {
    let folder = TestFolder::new();
    let feed = ["a.example", "b.example"].map(|site| {
        json!({"op": "add", "url": format!("http://{site}/"), "title": site, "text": "A lamp."}).to_string()
            + "\n"
    });
    folder.file("feed.jsonl", feed.concat());
    succeed(&mut folder.on("data", &["load", "feed.jsonl"]));
    folder.file("data/pharos.toml", "[web]\napi_keys = [\"of the settings\"]\n");
    let mut serving = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let address = serving.address();
    let search = "/api/v1/search?q=lamp";
    assert!(ask(&address, search, "").1.contains("an API key is required"));
    assert!(ask(&address, search, "guessed").1.contains("the API key is wrong"));
    assert!(ask(&address, search, "of the settings").1.contains("\"total\":2"));

    let add = ["keys", "add", "Shop", "--endpoint", "search", "--site", "a.example"];
    let first = succeed(&mut folder.on("data", &add));
    let first = first.trim();
    let found = until(&address, search, first, 200);
    assert!(found.contains("http://a.example/") && !found.contains("http://b.example/"), "{found}");
    assert!(ask(&address, "/api/v1/stats", first).1.contains("does not permit `stats`"));
    let stored = std::fs::read_to_string(folder.path("data/desk/api_keys.json")).unwrap();
    assert!(!stored.contains(first), "only a digest is stored");
    assert!(fail(&mut folder.on("data", &add)).contains("exists already"));

    succeed(
        &mut folder.on(
            "data",
            &["keys", "change", "SHOP", "--site", "all", "--rate", "100", "--until", "2100-01-01"],
        ),
    );
    let start = Instant::now();
    while !ask(&address, search, first).1.contains("http://b.example/") {
        assert!(start.elapsed() < Duration::from_secs(30), "the changed key still permits one site only");
        std::thread::sleep(Duration::from_millis(50));
    }
    let changed = folder.json("data", &["keys", "list"]);
    assert_eq!(changed[0]["endpoints"], json!(["search"]), "what is not given stays");
    assert_eq!((&changed[0]["rate"], &changed[0]["until"]), (&json!(100), &json!("2100-01-01T00:00:00Z")));
    assert!(
        fail(&mut folder.on("data", &["keys", "change", "shop", "--endpoint", "hot"]))
            .contains("not an endpoint")
    );
    let nobody = folder.on("data", &["keys", "change", "Nobody"]).output().unwrap();
    assert_eq!(nobody.status.code(), Some(1));

    let second = succeed(&mut folder.on("data", &["keys", "rotate", "shop"]));
    let second = second.trim();
    until(&address, search, second, 200);
    assert!(until(&address, search, first, 401).contains("the API key is wrong"));
    succeed(&mut folder.on("data", &["keys", "revoke", "shop"]));
    assert!(until(&address, search, second, 401).contains("was revoked"));
    let ended = succeed(&mut folder.on("data", &["keys", "add", "Old", "--until", "2020-01-01"]));
    assert!(until(&address, search, ended.trim(), 401).contains("the API key"));

    // The counters are written when the server stops.
    serving.signal("TERM");
    assert!(serving.0.wait().unwrap().success());
    let list = folder.json("data", &["keys", "list"]);
    let states = [&list[0]["state"], &list[1]["state"]];
    assert_eq!(states, ["revoked", "ended"], "{list}");
    assert!(list[0]["requests"].as_u64().unwrap() >= 2, "{list}");
    succeed(&mut folder.on("data", &["keys", "remove", "Old"]));
    let nothing = folder.on("data", &["keys", "revoke", "Old"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(1));
    assert!(fail(&mut folder.on("data", &["keys", "add", "x", "--site", "a/b"])).contains("is not a site"));
}

/// Reads one response from a connection that stays open; returns its status.
fn next_status(stream: &mut std::net::TcpStream) -> u16 {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&head));
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_key_that_is_revoked_during_a_request_does_not_finish_it() {
    let folder = TestFolder::new();
    folder.file(
        "feed.jsonl",
        json!({"op": "add", "url": "http://a.example/", "title": "A", "text": "A lamp."}).to_string(),
    );
    succeed(&mut folder.on("data", &["load", "feed.jsonl"]));
    let key = succeed(&mut folder.on("data", &["keys", "add", "Shop"]));
    let key = key.trim();
    let mut serving = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let address = serving.address();
    let search = "/api/v1/search?q=lamp";
    until(&address, search, key, 200);
    let request = format!("GET {search} HTTP/1.1\r\nHost: {address}\r\nAPI-Key: {key}\r\n");
    // One connection has had an answer, the other has sent all but the end of its request.
    let mut kept = std::net::TcpStream::connect(&address).unwrap();
    write!(kept, "{request}\r\n").unwrap();
    assert_eq!(next_status(&mut kept), 200);
    let mut open = std::net::TcpStream::connect(&address).unwrap();
    write!(open, "{request}").unwrap();
    succeed(&mut folder.on("data", &["keys", "revoke", "Shop"]));
    until(&address, search, key, 401);
    write!(open, "\r\n").unwrap();
    assert_eq!(next_status(&mut open), 401);
    write!(kept, "{request}\r\n").unwrap();
    assert_eq!(next_status(&mut kept), 401);
}
