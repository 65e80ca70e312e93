//! Hard cases of segmentation through the real binary, from pages to results: no segmentation hides a page.

use std::time::{Duration, Instant};

use crate::common::{Running, TestFolder, encode, fail, get, succeed};
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

/// Replaces escapes such as `\u{301}`.
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

fn serve(desk: &TestFolder) -> (Running, String) {
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
    let desk = TestFolder::new();
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

    // Words that do not occur are not found.
    for absent in
        ["\"生命研究\"", "\"引擎搜索\"", "缺席", "\"run lighthouse\"", "D++", "\"三千里\"", "rtx-4091"]
    {
        assert_eq!(finds(&address, absent), [""; 0], "{absent}");
    }
}

fn understood(address: &str, query: &str) -> String {
    let (_, body) = get(address, &format!("/api/v1/search?q={}", encode(query)));
    serde_json::from_str::<Value>(&body).unwrap()["understood"].as_str().unwrap().to_string()
}

#[test]
fn user_words_take_effect_immediately_and_hide_nothing() {
    let desk = TestFolder::new();
    let pages = [
        ("http://a.example/1", "爱心社的活动", "爱心社每周三在灯塔图书馆门口集合。"),
        ("http://a.example/2", "别的社", "爱心是好的，合作社也是好的，图书馆旁边有一座灯塔。"),
    ];
    let feed: String = pages
        .iter()
        .map(|(url, title, text)| {
            json!({"op": "add", "url": url, "title": title, "text": text}).to_string() + "\n"
        })
        .collect();
    desk.file("feed.jsonl", feed);
    succeed(&mut desk.on("data", &["load", "feed.jsonl"]));
    let (_serving, address) = serve(&desk);
    assert_eq!(understood(&address, "爱心社活动"), "爱心 社 活动");

    succeed(&mut desk.on("data", &["words", "add", "爱心社", "灯塔图书馆", "--source", "test"]));
    let listed = desk.json("data", &["words", "list"]);
    let kinds: Vec<(&str, &str, bool)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w["word"].as_str().unwrap(), w["kind"].as_str().unwrap(), w["indexed"].as_bool().unwrap()))
        .collect();
    assert_eq!(kinds, [("灯塔图书馆", "extension", false), ("爱心社", "base", false)]);

    // The running server reloads the file within about a second.
    let start = Instant::now();
    while understood(&address, "爱心社活动") != "爱心社 活动" {
        assert!(start.elapsed() < Duration::from_secs(30), "{}", understood(&address, "爱心社活动"));
        std::thread::sleep(Duration::from_millis(100));
    }
    let check = |address: &str| {
        for query in
            ["爱心社", "\"爱心社\"", "灯塔图书馆", "\"灯塔图书馆门口\"", "图书馆 集合", "心社", "\"塔图书\""]
        {
            assert_eq!(finds(address, query)[0], pages[0].0, "{query}");
        }
        assert_eq!(finds(address, "\"爱心社\"").len(), 1);
        assert_eq!(finds(address, "\"灯塔图书馆\"").len(), 1);
        assert_eq!(finds(address, "图书馆").len(), 2);
    };
    check(&address);

    // A new generation is segmented with them; pages added to the open generation later are found as well.
    succeed(&mut desk.on("data", &["index", "build"]));
    let listed = desk.json("data", &["words", "list"]);
    assert!(listed.as_array().unwrap().iter().all(|w| w["indexed"] == true), "{listed}");
    check(&address);
    let exported = succeed(&mut desk.on("data", &["words", "export"]));
    assert!(exported.contains("爱心社\tbase") && exported.contains("灯塔图书馆\textension"), "{exported}");

    succeed(&mut desk.on("data", &["words", "remove", "爱心社"]));
    let refused = |arguments: &[&str]| {
        let output = desk.on("data", arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["words", "remove", "没有的词"]).contains("not in the vocabulary"));
    let message = refused(&["words", "add", "北京", "a b"]);
    assert!(
        message.contains("already a word of the base dictionary") && message.contains("whitespace"),
        "{message}"
    );
    assert_eq!(desk.json("data", &["words", "list"]).as_array().unwrap().len(), 1);
    succeed(&mut desk.on("data", &["words", "add", "国家图书馆", "--kind", "extension"]));
    check(&address);
}

#[test]
fn new_words_are_found_in_pages_and_queries() {
    let desk = TestFolder::new();
    let befores = ["参观", "介绍", "建设", "新的", "关于", "喜欢", "我们", "访问"];
    let afters = ["开放", "说明", "历史", "怎么走", "门票", "照片", "在哪里", "欢迎您"];
    let others =
        ["天气预报", "交通信息", "学校教育", "电影音乐", "体育新闻", "经济观察", "旅游地图", "健康生活"];
    let feed: String = (0..80)
        .map(|n| {
            let title = match (befores.get(n), afters.get(n)) {
                (Some(before), Some(after)) => format!("{before}微澜阁{after}"),
                _ => format!("{}第{n}期{}", others[n % 8], others[n / 8 % 8]),
            };
            json!({"op": "add", "url": format!("http://b.example/{n}"), "title": title, "text": "正文。"})
                .to_string()
                + "\n"
        })
        .collect();
    desk.file("feed.jsonl", feed);
    succeed(&mut desk.on("data", &["load", "feed.jsonl"]));
    let found = succeed(&mut desk.on("data", &["words", "discover"]));
    assert!(found.contains("微澜阁\tbase\t8\t8 pages"), "{found}");

    let days: String = (1..=9)
        .map(|day| format!("2026-01-0{day}\t微澜阁 OR garden\t3\n2026-01-0{day}\t计算机网络\t2\n"))
        .collect();
    desk.file("queries.tsv", days);
    let found = desk.json("data", &["words", "discover", "--queries", "queries.tsv", "--add"]);
    let words: Vec<(&str, &str)> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w["word"].as_str().unwrap(), w["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(words[0].0, "微澜阁");
    assert!(succeed(&mut desk.on("data", &["words", "list"])).contains("微澜阁"));
    desk.file("queries.tsv", "a\tb\tc\td\n");
    let message = fail(&mut desk.on("data", &["words", "discover", "--queries", "queries.tsv"]));
    assert!(message.contains("queries.tsv line 1"), "{message}");
}

#[test]
fn methods_are_shown_trained_and_measured() {
    let desk = TestFolder::new();
    desk.file("text", "学历史知识\n走进搜索引擎。Node.js 很好\n");
    let cut = |arguments: &[&str]| succeed(&mut desk.on("data", &[&["segment", "text"], arguments].concat()));
    assert_eq!(cut(&["--mode", "forward"]).lines().next(), Some("学历  史  知识"));
    assert_eq!(cut(&["--mode", "bidirectional"]).lines().next(), Some("学  历史  知识"));
    assert!(cut(&["--mode", "bidirectional", "--explain"]).contains("differences"));
    assert!(cut(&["--mode", "unigram", "--explain"]).contains("segmentations"));
    assert!(cut(&[]).contains("Node.js"));
    assert_eq!(cut(&["--pinyin"]).lines().next(), Some("xue li shi zhi shi"));
    assert!(cut(&["--keywords", "3"]).contains("搜索引擎\t"));
    for (mode, message) in
        [("magic", "bidirectional"), ("tagger", "pharos segment train"), ("bigram", "pharos segment train")]
    {
        let printed = fail(&mut desk.on("data", &["segment", "text", "--mode", mode]));
        assert!(printed.contains(message), "{mode}: {printed}");
    }

    let corpus = "我  喜欢  灯塔  。\n灯塔  照亮  大海  。\n大海  很  宽  。\n";
    desk.file("corpus", corpus.repeat(20));
    for method in ["tagger", "bigram", "hmm"] {
        succeed(&mut desk.on("data", &["segment", "train", "corpus", "--out", method, "--method", method]));
        let printed =
            succeed(&mut desk.on("data", &["segment", "corpus", "--mode", method, "--model", method]));
        assert!(printed.contains("灯塔  照亮  大海"), "{method}: {printed}");
    }
    let report = desk.json("data", &["eval", "segment", "corpus", "--model", "tagger", "--model", "bigram"]);
    let methods = report["methods"].as_array().unwrap();
    assert!(methods.len() >= 9, "{report}");
    let tagger = methods.iter().find(|line| line["method"] == "tagger").unwrap();
    assert_eq!(tagger["f1"], 1.0);

    desk.file("broken", b"PHAROS \xFF\x00 not a model");
    let printed = fail(&mut desk.on("data", &["segment", "text", "--mode", "tagger", "--model", "broken"]));
    assert!(printed.contains("broken"), "{printed}");
    let printed = fail(&mut desk.on("data", &["segment", "train", "text/none", "--out", "x"]));
    assert!(printed.contains("text/none"), "{printed}");
}
