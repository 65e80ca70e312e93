//! Measures the accuracy of title, author and publication date:
//! `cargo run --release -p pharos-html --example metadata -- DIR [-v]`, where DIR holds `gold.json` and
//! `html/*.html.gz`; `-v` prints the errors. Also measures the share of the gold text's letters in the decoded
//! page, which is low if the charset is wrong.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::io::Read;
use std::{env, fs};

use flate2::read::GzDecoder;
use pharos_core::PageUrl;
use serde_json::Value;

#[derive(Default)]
struct Accuracy {
    right: usize,
    total: usize,
}

impl Accuracy {
    fn count(&mut self, is_right: bool) {
        self.total += 1;
        self.right += usize::from(is_right);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args().nth(1).ok_or("missing argument: a directory with gold.json and html/")?;
    let is_verbose = env::args().any(|a| a == "-v");
    let gold: BTreeMap<String, Value> = serde_json::from_slice(&fs::read(format!("{directory}/gold.json"))?)?;
    let mut scores: BTreeMap<(String, &str), Accuracy> = BTreeMap::new();
    for (id, gold) in &gold {
        let mut body = Vec::new();
        GzDecoder::new(fs::File::open(format!("{directory}/html/{id}.html.gz"))?).read_to_end(&mut body)?;
        let text = |name: &str| gold[name].as_str().unwrap_or_default();
        let url = PageUrl::parse(text("url")).or_else(|_| PageUrl::parse("http://example.org/"))?;
        let page = pharos_html::extract_page(&url, None, &body);
        let set = gold["set"].as_str().unwrap_or("all").to_string();
        let mut judge = |what: &'static str, expected: &str, found: &str, is_right: bool| {
            scores.entry((set.clone(), what)).or_default().count(is_right);
            if is_verbose && !is_right {
                println!("{what:<10} {id} {} | {expected} | {found}", text("url"));
            }
        };
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<HashSet<char>>();
        let (wanted, had) =
            (letters(text("text")), letters(&pharos_html::skim(&url, Some("text/html"), &body).text));
        let share = wanted.intersection(&had).count() as f64 / wanted.len().max(1) as f64;
        judge("charset", &format!("{share:.3}"), &page.charset, share > 0.95);
        let found = page.published.unwrap_or_default();
        let expected = date(text("published"));
        if expected.len() >= 7 {
            judge("published", &expected, &found, found.starts_with(&expected));
        } else if set == "wcxb" {
            judge("no date", "", &found, found.is_empty());
        }
        let author = text("author");
        if !author.is_empty() && author != "UNKNOWN" {
            let is_right = plain(author) == plain(&page.author);
            judge("author", author, &page.author, is_right);
        }
        let title = text("title");
        if !title.is_empty() {
            let is_right = plain(title) == plain(&page.content_title) || plain(title) == plain(&page.title);
            judge("title", title, &page.content_title, is_right);
        }
    }
    for ((set, what), score) in scores {
        println!(
            "{set:<6} {what:<10} {:>4} of {:<4} {:.3}",
            score.right,
            score.total,
            score.right as f64 / score.total as f64
        );
    }
    Ok(())
}

/// Converts `2005-5-7 21:23:57` to `2005-05-07`.
fn date(text: &str) -> String {
    let day = text.split([' ', 'T']).next().unwrap_or_default();
    let parts: Vec<&str> = day.split('-').collect();
    if parts.iter().all(|part| part.parse::<u32>().is_ok()) {
        parts.iter().map(|part| format!("{part:0>2}")).collect::<Vec<_>>().join("-")
    } else {
        String::new()
    }
}

fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
