//! No cut hides a page: hard cases of words through the real binary, from pages to results.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Desk, Running, encode, get, succeed};
use serde_json::{Value, json};

/// A page of `words/pairs.txt`.
struct Page {
    url: String,
    title: String,
    body: String,
    queries: Vec<String>,
}

fn pages() -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    for line in
        include_str!("words/pairs.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let line = unescape(line);
        if let Some(page) = line.strip_prefix("= ") {
            let (title, body) = page.split_once(" | ").unwrap();
            let url = format!("http://words.example/{}", pages.len());
            pages.push(Page { url, title: title.into(), body: body.into(), queries: Vec::new() });
        } else {
            pages.last_mut().unwrap().queries.push(line);
        }
    }
    pages
}

/// `\u{301}` is what it stands for.
fn unescape(line: &str) -> String {
    let mut parts = line.split("\\u{");
    let mut out = parts.next().unwrap().to_string();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        out.push_str(rest);
    }
    out
}

fn serve(desk: &Desk) -> (Running, String) {
    let mut serving = Running::start(&mut desk.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let address = serving.address();
    (serving, address)
}

fn finds(address: &str, query: &str) -> Vec<String> {
    let (status, body) = get(address, &format!("/api/v1/search?q={}&size=50", encode(query)));
    assert_eq!(status, 200, "{query}: {body}");
    let answer: Value = serde_json::from_str(&body).unwrap();
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["url"].as_str().unwrap().to_string()).collect()
}

#[test]
fn every_hard_case_is_found() {
    let desk = Desk::new();
    let pages = pages();
    let feed: String = pages
        .iter()
        .map(|page| {
            json!({"op": "add", "url": page.url, "title": page.title, "text": page.body}).to_string() + "\n"
        })
        .collect();
    desk.file("feed.jsonl", feed);
    succeed(&mut desk.on("data", &["load", "feed.jsonl"]));
    let (_serving, address) = serve(&desk);

    let pairs: Vec<(&str, &str)> = pages
        .iter()
        .flat_map(|page| page.queries.iter().map(|query| (page.url.as_str(), query.as_str())))
        .collect();
    assert!(pairs.len() >= 300, "only {} pairs", pairs.len());
    let missed: Vec<&(&str, &str)> = pairs
        .iter()
        .filter(|(url, query)| !finds(&address, query).iter().any(|found| found == url))
        .collect();
    assert!(missed.is_empty(), "{} of {} are not found: {missed:#?}", missed.len(), pairs.len());

    // The net is no sieve without wires: what is not there is not found.
    for absent in
        ["\"生命研究\"", "\"引擎搜索\"", "缺席", "\"run lighthouse\"", "D++", "\"三千里\"", "rtx-4091"]
    {
        assert_eq!(finds(&address, absent), [""; 0], "{absent}");
    }
}
