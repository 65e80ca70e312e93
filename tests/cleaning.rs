//! Page cleaning through the real binary, from files to results.

use std::fs;

use crate::common::{TestFolder, fail, succeed};
use serde_json::Value;

/// Returns a typical page: menu, advertisement and footer around an article.
fn article(title: &str, text: &str) -> String {
    format!(
        "<!doctype html><html lang=en><title>{title}</title>\
         <nav class=menu><ul><li><a href=/a>Zebrafish</a><li><a href=/b>Boats</a><li><a href=/c>Coast</a></ul></nav>\
         <div class='banner ad'><a href=/buy>Buy the wombat now!</a></div>\
         <article><h1>{title}</h1>{}</article>\
         <footer class=footer><p>© 2026 Platypus Press. All rights reserved. <a href=/imprint>Imprint</a></p></footer>",
        text.split('|').map(|paragraph| format!("<p>{paragraph}</p>")).collect::<String>()
    )
}

const LIGHTHOUSE: &str = "The lighthouse on the rock was built long ago, and its lamp can be seen from far away. Ships \
    that pass at night, in fog or in snow, steer by it; no ship has been lost since the lamp was lit.|\
    It has a keeper, who lights the lamp every evening, and who writes down which ships went by, and when. In winter \
    the rock is covered with ice, and no boat can land there for weeks.|\
    Last year the old lens was taken down and cleaned. It took four people two months to put every prism back into \
    its place, and when the lamp was lit again it was seen two miles further out than before.";

#[test]
fn words_around_the_body_are_no_part_of_it() {
    let desk = TestFolder::new();
    desk.file("site/lighthouse.html", article("The lighthouse on the rock", LIGHTHOUSE));
    let headlines: String = (0..40)
        .map(|n| format!("<li><a href=/news/{n}>Harbour news number {n} from the coast of today</a>"))
        .collect();
    desk.file("site/news.html", format!("<title>News</title><h1>News</h1><ul>{headlines}</ul>"));
    succeed(&mut desk.on("data", &["import", "site", "--base-url", "http://www.example.org/"]));
    succeed(&mut desk.on("data", &["index", "build"]));
    let page = "http://www.example.org/lighthouse.html";
    for word in ["prism", "keeper", "\"lighthouse on the rock\""] {
        assert_eq!(desk.finds("data", word), [page], "{word}");
    }
    // Other text is found, too, unless the site repeats it, but it is no part of the snippet.
    for word in ["zebrafish", "wombat", "platypus", "imprint"] {
        assert_eq!(desk.finds("data", word), [page], "{word}");
    }
    let found: Value =
        serde_json::from_str(&succeed(&mut desk.on("data", &["--json", "search", "keeper imprint"])))
            .unwrap();
    let snippet = found["hits"][0]["snippet"].to_string();
    assert!(snippet.contains("keeper") && !snippet.contains("Imprint"), "{snippet}");
    assert_eq!(
        desk.finds("data", "harbour"),
        ["http://www.example.org/news.html"],
        "a hub is found by its links"
    );
    let hub: Value =
        serde_json::from_str(&succeed(&mut desk.on("data", &["--json", "clean", "site/news.html"]))).unwrap();
    assert_eq!(hub["type"], "hub");
    assert_eq!(hub["related_links"].as_array().unwrap().len(), 40);
}

#[test]
fn an_index_of_an_earlier_format_is_rebuilt() {
    let desk = TestFolder::new();
    desk.file("site/lighthouse.html", article("The lighthouse on the rock", LIGHTHOUSE));
    succeed(&mut desk.on("data", &["import", "site", "--base-url", "http://www.example.org/"]));
    desk.file("data/index/CURRENT", "{\"format\":1,\"history\":null,\"latest\":[{\"number\":1,\"from\":0}]}");
    let refusal = fail(&mut desk.on("data", &["search", "prism"]));
    assert!(refusal.contains("pharos rebuild index"), "{refusal}");
    succeed(&mut desk.on("data", &["rebuild", "index"]));
    assert_eq!(desk.finds("data", "prism").len(), 1);
}

#[test]
fn one_page_in_every_way() {
    let desk = TestFolder::new();
    desk.file("page.html", article("The lighthouse on the rock", LIGHTHOUSE));
    let clean = |arguments: &[&str]| succeed(desk.on("data", &["clean", "page.html"]).args(arguments));
    let text = clean(&["--text"]);
    assert!(text.contains("keeper") && !text.contains("Zebrafish"), "{text}");
    let view = clean(&["--view"]);
    assert!(view.contains("<p>It has a keeper") && !view.contains("Platypus"), "{view}");
    let explanation = clean(&["--explain"]);
    assert!(
        explanation.starts_with("topic page")
            && explanation.contains("navigation")
            && explanation.contains("by rule"),
        "{explanation}"
    );
    clean(&["--blocks", "blocks"]);
    let block = |name: &str| fs::read_to_string(desk.path("blocks").join(name)).unwrap();
    let numbers = 1..=fs::read_dir(desk.path("blocks")).unwrap().count() / 2;
    assert!(numbers.clone().any(|n| block(&format!("block{n}")).contains("keeper")));
    assert!(numbers.into_iter().any(|n| block(&format!("block{n}a")).contains("/imprint")));

    desk.file("pages/a.html", article("A", LIGHTHOUSE));
    desk.file("pages/b.html", article("B", LIGHTHOUSE));
    succeed(&mut desk.on("data", &["clean", "--batch", "pages", "out.jsonl"]));
    let lines = fs::read_to_string(desk.path("out.jsonl")).unwrap();
    let files: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((files.len(), &files[1]["file"]), (2, &Value::from("b.html")));
}

#[test]
fn rules_are_data() {
    let desk = TestFolder::new();
    desk.file("page.html", article("The lighthouse on the rock", LIGHTHOUSE));
    // Everything except links is main content.
    desk.file("own.toml", "cut = { fixed = 0.5 }\nrules = [\"link_share < 0.5 ? 1 : 0\"]\n");
    let text = succeed(&mut desk.on("data", &["clean", "page.html", "--text", "--rules", "own.toml"]));
    assert!(text.contains("Platypus") && !text.contains("Zebrafish"), "{text}");
    desk.file("bad.toml", "cut = { fixed = 0.5 }\nrules = [\"moon_phase < 0.5 ? 1 : 0\"]\n");
    let refusal = fail(&mut desk.on("data", &["clean", "page.html", "--rules", "bad.toml"]));
    assert!(refusal.contains("bad.toml") && refusal.contains("moon_phase"), "{refusal}");
    let refusal = fail(&mut desk.on("data", &["clean", "page.html", "--rules", "none.toml"]));
    assert!(refusal.contains("none.toml"), "{refusal}");
    desk.file("data/pharos.toml", "[clean]\nrules = \"none.toml\"\n");
    desk.file("site/page.html", article("The lighthouse on the rock", LIGHTHOUSE));
    let refusal = fail(&mut desk.on("data", &["import", "site", "--base-url", "http://www.example.org/"]));
    assert!(refusal.contains("clean.rules"), "{refusal}");
}

#[test]
fn cleaning_is_measured_against_what_people_marked() {
    let desk = TestFolder::new();
    let page = article("The lighthouse on the rock", LIGHTHOUSE);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, page.as_bytes()).unwrap();
    desk.file("gold/html/one.html.gz", packed.finish().unwrap());
    let text = LIGHTHOUSE.replace('|', "\n");
    desk.file("gold/gold.json", serde_json::json!({"one": {"text": text, "set": "aeb"}}).to_string());
    let report: Value =
        serde_json::from_str(&succeed(&mut desk.on("data", &["--json", "eval", "clean", "gold"]))).unwrap();
    let set = &report["sets"][0];
    assert!(set["f1"].as_f64().unwrap() > 0.9 && set["verdicts"].as_f64().unwrap() > 0.7, "{set}");
    assert_eq!(set["correct"], 1);
    let refusal = fail(&mut desk.on("data", &["eval", "clean", "nowhere"]));
    assert!(refusal.contains("gold.json"), "{refusal}");
}
