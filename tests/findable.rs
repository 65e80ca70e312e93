//! Every visible string of a page is found by a quoted search, in whatever part of the page it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Running, TestFolder, encode, get, succeed};

/// Number of strings searched on a page of a documentation package.
const STRINGS_PER_PAGE: usize = 25;

/// Number of pages taken from a documentation package.
const PAGES_PER_PACKAGE: usize = 20;

/// Share of the strings of foreign pages that must be found. A text node may begin or end inside a word.
const FOREIGN_SHARE: f64 = 0.98;

const BASE: &str = "http://docs.example.org/";

/// Folders of HTML documentation, as Debian packages install them.
const PACKAGES: [&str; 6] = [
    "/usr/share/doc/python3.11/html/library",
    "/usr/share/doc/git/html",
    "/usr/share/doc/debian-handbook/html/en-US",
    "/usr/share/doc/postgresql-doc-15/html",
    "/usr/share/doc/sqlite3/html",
    "/usr/share/gimp/2.0/help/zh_CN",
];

/// Menu of every generated page.
const MENU: [&str; 4] = ["Start here", "Complete index", "Release archive", "About this site"];

/// Returns a page in the manner of a documentation generator or blog engine.
fn generated_page(number: usize) -> String {
    let menu: String = MENU.iter().map(|item| format!("<li><a href='/{item}.html'>{item}</a>")).collect();
    let name = ["amber", "birch", "cedar", "dogwood", "elder", "fir", "ginkgo", "hazel"][number % 8];
    let prose = format!(
        "<p>The {name} module number {number} describes how trees of this kind are planted, watered and pruned. \
         It is read from the beginning to the end, because every chapter builds on the one before it.</p>"
    );
    let part = match number % 6 {
        0 => format!(
            "<dl class='py function'><dt id=x>{name}.path.isleaf{number}(<em>twig</em>)</dt><dd>Tests a twig.</dd></dl>"
        ),
        1 => format!("<dl class=glossary><dt>羽化{number}</dt><dd>使边缘逐渐变得透明</dd></dl>"),
        2 => format!(
            "<table class=memberSummary><tr><th>Modifier</th><td><code>void plant{number}(Seed seed)</code></td></table>"
        ),
        3 => format!(
            "<figure class=highlight><table><tr><td class=gutter><pre>1\n2</pre><td><pre>prune --tree {name}{number}\n\
             water --all</pre></table><figcaption>Listing {number} of {name}</figcaption></figure>"
        ),
        4 => format!(
            "<div id=comments><h3>Comments</h3><p>Reader {number} planted a {name} in winter</p></div>"
        ),
        _ => format!("<aside class=sidebar><h4>See also</h4><ul><li>Nursery of {name}{number}</ul></aside>"),
    };
    format!(
        "<!DOCTYPE html><title>Trees {number}</title><nav><ul>{menu}</ul></nav><main><h1>The {name} {number}</h1>\
         {prose}{prose}{prose}{part}</main><footer>Edited by gardener {number}</footer>"
    )
}

/// Returns the text nodes outside scripts, style sheets and the head, with whitespace collapsed.
fn visible_strings(html: &str) -> BTreeSet<String> {
    let html = html.to_ascii_lowercase().find("<body").map_or(html, |at| &html[at..]);
    let (mut strings, mut rest, mut skipped) = (BTreeSet::new(), html, None);
    while let Some(open) = rest.find('<') {
        let text = rest[..open].split_whitespace().collect::<Vec<_>>().join(" ");
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
        if skipped.is_none() && words > 0 && !text.contains(['&', '"', '“', '”']) {
            strings.insert(text);
        }
        let Some(close) = rest[open..].find('>') else { break };
        let tag = rest[open + 1..open + close].to_ascii_lowercase();
        let name = tag.split(|c: char| c.is_whitespace()).next().unwrap_or_default();
        match (&skipped, name) {
            (None, "script" | "style" | "title" | "svg" | "select" | "textarea") => {
                skipped = Some(name.to_string())
            }
            (Some(open), name) if name.strip_prefix('/') == Some(open) => skipped = None,
            _ => {}
        }
        rest = &rest[open + close + 1..];
    }
    strings
}

/// Returns the beginning of a string: up to six words, or 40 characters of a text without spaces.
fn beginning(string: &str) -> String {
    let words: Vec<&str> = string.split(' ').take(6).collect();
    match words.as_slice() {
        [word] => word.chars().take(40).collect(),
        words => words.join(" "),
    }
}

/// Imports pages, and searches for their strings before and after a build. Returns the strings that are not found.
fn missing(pages: &BTreeMap<String, String>, limit: usize) -> (usize, Vec<String>) {
    let folder = TestFolder::new();
    for (name, html) in pages {
        folder.file(&format!("pages/{name}"), html.clone());
    }
    let source = folder.path("pages");
    succeed(&mut folder.on("data", &["import", "--base-url", BASE, source.to_str().unwrap()]));
    let of_page: BTreeMap<&String, BTreeSet<String>> =
        pages.iter().map(|(name, html)| (name, visible_strings(html))).collect();
    let mut repeated: BTreeMap<&String, usize> = BTreeMap::new();
    of_page.values().flatten().for_each(|string| *repeated.entry(string).or_default() += 1);
    let (mut searched, mut missing) = (0, Vec::new());
    for generation in ["latest", "history"] {
        if generation == "history" {
            succeed(&mut folder.on("data", &["index", "build"]));
        }
        let mut serve = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
        let address = serve.address();
        for (name, strings) in &of_page {
            let own = strings.iter().filter(|string| repeated[string] == 1 && string.chars().count() > 1);
            let own: Vec<&String> = own.collect();
            let step = own.len().div_ceil(limit).max(1);
            for string in own.into_iter().step_by(step) {
                let path = format!(
                    "/api/v1/search?q={}&all=1&size=100",
                    encode(&format!("\"{}\"", beginning(string)))
                );
                let (status, body) = get(&address, &path);
                assert_eq!(status, 200, "{path}: {body}");
                let found: Value = serde_json::from_str(&body).unwrap();
                let url = format!("{BASE}{name}");
                searched += 1;
                if !found["hits"].as_array().unwrap().iter().any(|result| result["url"] == url.as_str()) {
                    missing.push(format!("{generation} {name}: {string}"));
                }
            }
        }
    }
    (searched, missing)
}

#[test]
fn every_string_of_generated_pages_is_found() {
    let pages = (0..18).map(|number| (format!("page{number}.html"), generated_page(number))).collect();
    let (searched, missing) = missing(&pages, usize::MAX);
    assert!(searched > 100, "{searched}");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn a_repeated_menu_line_is_left_out_of_history() {
    let folder = TestFolder::new();
    for number in 0..12 {
        folder.file(&format!("pages/page{number}.html"), generated_page(number));
    }
    let source = folder.path("pages");
    succeed(&mut folder.on("data", &["import", "--base-url", BASE, source.to_str().unwrap()]));
    let found = |query: &str| folder.json("data", &["search", "--all", query])["total"].as_u64().unwrap();
    assert_eq!(found("\"Release archive\""), 12, "latest does not know the site yet");
    succeed(&mut folder.on("data", &["index", "build"]));
    assert!(
        found("\"Release archive\"") <= 3,
        "the first pages of a site are indexed before its menu is known"
    );
    assert_eq!(found("\"Edited by gardener 11\""), 1);
}

/// Skipped, with a message, where no documentation package is installed.
#[test]
fn strings_of_documentation_packages_are_found() {
    let installed: Vec<PathBuf> = PACKAGES.iter().map(PathBuf::from).filter(|path| path.is_dir()).collect();
    if installed.is_empty() {
        println!("skipped: install python3.11-doc, git-doc or another of {PACKAGES:?}");
    }
    for package in installed {
        let pages = html_files(&package);
        let (searched, missing) = missing(&pages, STRINGS_PER_PAGE);
        let share = 1.0 - missing.len() as f64 / searched.max(1) as f64;
        println!("{}: {share:.4} of {searched} strings", package.display());
        assert!(share >= FOREIGN_SHARE, "{}: {missing:#?}", package.display());
    }
}

/// Returns the first HTML files of a folder by name.
fn html_files(folder: &Path) -> BTreeMap<String, String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> = names.filter(|name| name.ends_with(".html")).collect();
    let read = |name: String| Some((name.clone(), fs::read_to_string(folder.join(&name)).ok()?));
    names
        .into_iter()
        .filter_map(read)
        .filter(|(_, html)| html.len() < 500_000)
        .take(PAGES_PER_PACKAGE)
        .collect()
}
