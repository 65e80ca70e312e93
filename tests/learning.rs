//! Learning through the real binary: after clicks were logged, the command line, the API and the result page return the same
//! results in the same order.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::common::{Running, TestFolder, get, succeed, until};
use serde_json::{Value, json};

const PAGES: usize = 30;

/// Pages with words of their own and slightly different lengths, so that the shorter ones come first.
fn desk() -> TestFolder {
    let desk = TestFolder::new();
    let page = |nth: usize| {
        let words: String = (0..60 + nth).map(|word| format!(" w{nth}x{word}")).collect();
        let html = format!("<title>Report {nth}</title><p>A quiet harbour and its lamp.{words}</p>");
        json!({"op": "add", "url": format!("http://s{nth}.example/page"), "html": html}).to_string() + "\n"
    };
    let file = desk.file("pages.jsonl", (0..PAGES).map(page).collect::<String>());
    succeed(&mut desk.on("data", &["load", file.to_str().unwrap()]));
    desk
}

fn serve(desk: &TestFolder) -> (Running, String) {
    let mut serving = Running::start(&mut desk.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let address = serving.address();
    (serving, address)
}

/// Sends a request as a certain browser and returns the response.
fn send(address: &str, method: &str, path: &str, agent: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: {agent}\r\n");
    write!(stream, "{head}Content-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn urls(answer: &Value) -> Vec<String> {
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["url"].as_str().unwrap().to_string()).collect()
}

fn api(address: &str, size: usize, page: usize) -> Value {
    let path = format!("/api/v1/search?q=harbour&size={size}&page={page}");
    serde_json::from_str(&get(address, &path).1).unwrap()
}

fn command_line(desk: &TestFolder, size: usize, page: usize) -> Value {
    let (size, page) = (size.to_string(), page.to_string());
    desk.json("data", &["search", "harbour", "--size", &size, "--page", &page])
}

/// Returns the impression and the results of a result page.
fn result_page(address: &str, size: usize, page: usize) -> (String, Vec<String>) {
    let (_, html) = get(address, &format!("/search?q=harbour&size={size}&page={page}"));
    let (_, list) = html.split_once("<ol class=\"hits\" data-impression=\"").unwrap();
    let links = list.split("<h2><a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_string());
    (list.split('"').next().unwrap().to_string(), links.collect())
}

/// Asserts that a result page is the same everywhere, and returns its results.
fn same_everywhere(desk: &TestFolder, address: &str, size: usize, page: usize) -> Vec<String> {
    let found = urls(&api(address, size, page));
    assert_eq!(urls(&command_line(desk, size, page)), found, "size {size}, page {page}");
    assert_eq!(result_page(address, size, page).1, found, "size {size}, page {page}");
    found
}

fn click(address: &str, impression: &str, rank: usize) {
    let path = format!("/api/v1/click?impression={impression}&rank={rank}");
    let response = send(address, "POST", &path, "Firefox");
    assert!(response.starts_with("HTTP/1.1 204"), "{response}");
}

#[test]
fn clicks_count_the_same_on_the_command_line_in_the_api_and_on_the_page() {
    let desk = desk();
    let (serving, address) = serve(&desk);
    let before = same_everywhere(&desk, &address, 20, 1);
    assert_eq!(before.len(), 20);

    // The eighth result twice, which is one vote of the visit, and the fifteenth, which is still on the first page of twenty.
    let (impression, shown) = result_page(&address, 20, 1);
    assert_eq!(shown, before);
    for rank in [8, 8, 15] {
        click(&address, &impression, rank);
    }
    until("clicks have changed the order", || urls(&api(&address, 20, 1))[0] != before[0]);
    until("all clicks are read", || {
        urls(&api(&address, 20, 1))[..2] == [before[7].clone(), before[14].clone()]
    });
    for (size, page) in [(20, 1), (20, 2), (10, 1), (10, 2), (3, 1)] {
        same_everywhere(&desk, &address, size, page);
    }

    // A click on a later page would count more.
    let explained = desk.json("data", &["search", "harbour", "--explain"]);
    let of_clicks = |nth: usize| {
        let parts = explained["hits"][nth]["explanation"]["parts"].as_array().unwrap();
        parts.iter().find(|part| part["part"] == "clicks").unwrap()["value"].as_f64().unwrap()
    };
    assert_eq!((of_clicks(0), of_clicks(1)), (1.0, 1.0), "{explained}");
    drop(serving);
}

#[test]
fn related_queries_are_the_same_on_the_command_line_and_in_the_api() {
    let desk = desk();
    let (serving, address) = serve(&desk);
    for agent in ["Firefox", "Chrome", "Safari"] {
        for query in ["harbour", "quiet%20lamp"] {
            send(&address, "GET", &format!("/search?q={query}"), agent);
        }
    }
    serving.signal("TERM");
    let mut serving = serving;
    serving.0.wait().unwrap();

    // A restart reads the same logs.
    let (_serving, address) = serve(&desk);
    until("the logs are read", || api(&address, 10, 1)["suggestions"] == json!(["quiet lamp"]));
    let (mut of_api, mut of_command) = (api(&address, 10, 1), command_line(&desk, 10, 1));
    for answer in [&mut of_api, &mut of_command] {
        answer["took_ms"] = json!(0);
        answer["cache"] = json!("miss");
    }
    assert_eq!(of_api, of_command);
}
