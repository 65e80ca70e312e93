//! Categories of pages through the real binary: taxonomy, examples, training, deployment, filter, directory and decisions.

use crate::common::{Running, TestFolder, encode, fail, get, succeed};
use serde_json::{Value, json};

const TAXONOMY: &str = "id,parent,en,zh\nworld,,World,世界\nsea,world,Sea,海洋\nsky,world,Sky,天空\n";

fn folder() -> TestFolder {
    let folder = TestFolder::new();
    let ships = ["sailors", "captains", "anchors", "harbours", "lighthouses"];
    let stars = ["planets", "comets", "telescopes", "eclipses", "galaxies"];
    let page = |section: &str, word: &str, text: &str| {
        let url = format!("http://a.example/{section}/{word}");
        json!({"op": "add", "url": url, "title": word, "text": text}).to_string() + "\n"
    };
    let sea = ships
        .map(|word| page("sea", word, &format!("Old stories about {word}, ships and the waves of the sea.")));
    let sky = stars
        .map(|word| page("sky", word, &format!("Long nights with {word}, stars and the dark of the sky.")));
    folder.file("feed.jsonl", [sea.concat(), sky.concat()].concat());
    succeed(&mut folder.on("data", &["load", "feed.jsonl"]));
    folder
}

#[test]
fn pages_get_categories_that_filters_and_the_directory_show() {
    let folder = folder();
    let classify = |arguments: &[&str]| folder.on("data", &[&["classify"], arguments].concat());
    // A taxonomy with a cycle is refused as a whole.
    folder.file("cycle.csv", "id,parent,en\na,b,A\nb,a,B\n");
    assert!(fail(&mut classify(&["taxonomy", "import", "cycle.csv"])).contains("`a` is below itself"));
    folder.file("taxonomy.csv", TAXONOMY);
    succeed(&mut classify(&["taxonomy", "import", "taxonomy.csv"]));
    assert!(succeed(&mut classify(&["taxonomy", "show"])).contains("  sea  Sea  海洋"));
    assert_eq!(succeed(&mut classify(&["taxonomy", "export", "--csv"])).lines().count(), 4);

    assert!(fail(&mut classify(&["train"])).contains("no text with a class"));
    succeed(&mut classify(&["examples", "add", "sea", "section", "http://a.example/sea/"]));
    succeed(&mut classify(&["examples", "add", "sky", "search", "stars telescopes", "comets"]));
    let trained = folder.json("data", &["classify", "train", "--deploy"]);
    assert_eq!((trained["version"].as_u64(), trained["categories"].as_u64()), (Some(1), Some(2)));

    // Pages that are stored already get their categories with a build, later ones when they are read.
    assert!(folder.finds("data", "category:sea").is_empty());
    succeed(&mut classify(&["apply"]));
    assert_eq!(folder.finds("data", "category:sea").len(), 5);
    assert_eq!(folder.finds("data", "category:world").len(), 10);
    let new = json!({"op": "add", "url": "http://b.example/new", "title": "A ship", "text": "Ships and waves of the sea."});
    folder.file("new.jsonl", new.to_string());
    succeed(&mut folder.on("data", &["load", "new.jsonl"]));
    assert_eq!(folder.finds("data", "category:sea").len(), 6);
    let explained = folder.json("data", &["classify", "explain", "http://b.example/new"]);
    assert_eq!((&explained["indexed"], &explained["assigned"][0]["id"]), (&json!("sea"), &json!("sea")));
    assert_eq!(succeed(&mut classify(&["export"])).lines().count(), 11);

    let mut serving = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let address = serving.address();
    let directory: Value =
        serde_json::from_str(&get(&address, "/api/v1/directory?category=world").1).unwrap();
    assert_eq!(directory["categories"][0]["pages"], 6, "{directory}");
    assert_eq!(directory["categories"][1]["zh"], "天空");
    let page = get(&address, "/directory/sea?lang=en").1;
    for part in [
        "<h1>Sea</h1>",
        "6 pages",
        "<a href=\"/directory/world\">World</a>",
        "b.example",
        "name=\"category\" value=\"sea\"",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    assert!(get(&address, "/directory?lang=zh").1.contains("世界"));
    assert_eq!(get(&address, "/directory/none").0, 404);
    let results = get(&address, &format!("/search?lang=en&q={}", encode("the of"))).1;
    assert!(results.contains("category=sea"), "{results}");
    let filtered = get(&address, "/api/v1/search?q=stories&category=sky&facets=1").1;
    assert_eq!(serde_json::from_str::<Value>(&filtered).unwrap()["total"], 0);
    drop(serving);

    // Decisions win, and a rollback removes the directory.
    succeed(&mut classify(&["decide", "http://b.example/new", "sky"]));
    succeed(&mut classify(&["decide", "a.example", "none"]));
    assert!(fail(&mut classify(&["decide", "a.example", "unknown"])).contains("no category `unknown`"));
    succeed(&mut classify(&["apply"]));
    assert_eq!(folder.finds("data", "category:world"), ["http://b.example/new"]);
    assert_eq!(folder.finds("data", "category:sky"), ["http://b.example/new"]);
    succeed(&mut classify(&["rollback"]));
    assert!(fail(&mut classify(&["explain", "http://b.example/new"])).contains("no model is deployed"));
    let mut serving = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    assert_eq!(get(&serving.address(), "/directory").0, 404);
}
