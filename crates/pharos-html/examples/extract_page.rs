//! Extracts a page object from the bytes of an HTML file and prints its title, metadata, text and links.
//!
//! Run it with the built-in page, or with a file and the URL it was fetched from:
//!
//! ```text
//! cargo run -p pharos-html --example extract_page
//! cargo run -p pharos-html --example extract_page -- page.html https://www.example.org/news/
//! ```

use std::error::Error;
use std::{env, fs};

use pharos_core::PageUrl;

const SAMPLE_URL: &str = "https://www.example.org/news/lighthouse.html";

const SAMPLE: &str = "<!DOCTYPE html>
<html lang=en><head><meta charset=utf-8><title>Lighthouse lit again - Example News</title>
<meta name=author content='A. Keeper'></head><body>
<nav><a href=/>Home</a> <a href=/news/>News</a> <a href=/contact rel=nofollow>Contact</a></nav>
<h1>Lighthouse lit again</h1>
<p>After two years of repairs, the lighthouse at the harbour entrance was lit again on Friday evening.</p>
<p>Its lamp is visible for twenty miles. The <a href=history.html>history of the tower</a> began in 1802.</p>
<footer>Copyright Example News. All rights reserved.</footer></body></html>";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let url = arguments.get(1).map_or(SAMPLE_URL, String::as_str);
    let body = match arguments.first() {
        Some(file) => fs::read(file).map_err(|error| format!("cannot read {file}: {error}"))?,
        None => SAMPLE.into(),
    };
    // Without a Content-Type header, media type and charset are detected from the bytes.
    let page = pharos_html::extract_page(&PageUrl::parse(url)?, None, &body);

    println!("url       {}", page.url);
    println!("title     {}", page.title);
    println!("heading   {}", page.content_title);
    println!("author    {}", page.author);
    println!(
        "type      {:?}, {}, charset {}, language {}",
        page.page_type, page.format, page.charset, page.lang
    );
    println!("keywords  {}", page.keywords.join(", "));
    if let Some(reason) = &page.unread_reason {
        println!("no text   {reason}");
    }
    println!("\n{}\n", page.text);
    for link in page.followed_links() {
        println!("link      {} \"{}\"", link.url, link.anchor);
    }
    Ok(())
}
