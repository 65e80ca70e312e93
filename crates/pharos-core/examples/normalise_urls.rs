//! Normalises URLs and prints the identity of each page: normalised URL, page id, host, registrable domain and depth.
//!
//! Run it with the built-in sample, or with URLs of your own:
//!
//! ```text
//! cargo run -p pharos-core --example normalise_urls
//! cargo run -p pharos-core --example normalise_urls -- 'HTTP://Example.ORG:80/a/../b#top'
//! ```
//!
//! Different spellings of one page have the same normalised URL and therefore the same id.

use std::env;

use pharos_core::PageUrl;

const SAMPLE: [&str; 6] = [
    "https://www.example.org/docs/guide.html",
    "HTTPS://WWW.Example.ORG:443/docs/./old/../guide.html#chapter-2",
    "https://www.example.org/docs/guide.html?utm_source=newsletter",
    "http://news.pku.edu.cn/2026/灯塔.html",
    "http://news.pku.edu.cn/",
    "ftp://example.org/file",
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let urls: Vec<&str> = match &arguments[..] {
        [] => SAMPLE.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    };
    for text in urls {
        println!("{text}");
        match PageUrl::parse(text) {
            Ok(url) => print_url(&url),
            Err(error) => println!("  {error}"),
        }
    }
}

fn print_url(url: &PageUrl) {
    let site = url.site();
    println!("  normalised  {url}");
    println!("  page id     {}", url.id());
    println!("  host        {}, port {}, domain {}", url.host(), url.port(), site.domain());
    println!("  depth       {} in the path, {} in the host name", url.directory_depth(), url.domain_depth());
    println!("  home page   {}", if url.is_home() { "yes" } else { "no" });
}
