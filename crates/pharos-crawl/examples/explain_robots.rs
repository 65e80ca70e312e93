//! Explains which rule of a robots.txt file allows or forbids a URL. It accesses no network.
//!
//! Run it with the built-in file and URLs, or with a file and URLs of your own:
//!
//! ```text
//! cargo run -p pharos-crawl --example explain_robots
//! cargo run -p pharos-crawl --example explain_robots -- robots.txt https://www.example.org/private/
//! ```

use std::error::Error;
use std::{env, fs};

use pharos_core::PageUrl;
use pharos_store::interpret::robots::RobotsRules;

const SAMPLE_FILE: &str = "\
User-agent: *
Disallow: /private/
Disallow: /*.pdf$
Allow: /private/press/
Crawl-delay: 2

User-agent: BadBot
Disallow: /

Sitemap: https://www.example.org/sitemap.xml
";

const SAMPLE_URLS: [&str; 4] = [
    "https://www.example.org/",
    "https://www.example.org/private/salaries.html",
    "https://www.example.org/private/press/2026.html",
    "https://www.example.org/report.pdf",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (file, urls) = match &arguments[..] {
        [] => (SAMPLE_FILE.as_bytes().to_vec(), SAMPLE_URLS.map(String::from).to_vec()),
        [path, urls @ ..] => {
            (fs::read(path).map_err(|error| format!("cannot read {path}: {error}"))?, urls.to_vec())
        }
    };
    for agent in ["Pharos", "BadBot"] {
        let rules = RobotsRules::parse(&file, agent);
        println!("{agent}: crawl delay {:?}, sitemaps {:?}", rules.crawl_delay(), rules.sitemaps());
        for text in &urls {
            let url = PageUrl::parse(text)?;
            match rules.deciding_rule(&url) {
                None => println!("  allowed    {url}: no rule matches"),
                Some(decision) => {
                    let verdict = if decision.allows { "allowed" } else { "forbidden" };
                    println!("  {verdict:<10} {url}: `{}` for `{}`", decision.rule, decision.agent);
                }
            }
        }
    }
    Ok(())
}
