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
