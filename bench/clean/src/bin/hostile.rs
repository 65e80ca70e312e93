//! Time of page extraction on adversarial pages.
//!
//! `cargo run --release -p bench-clean --bin hostile [-- KIND]`
//!
//! Each kind of page has two sizes: milliseconds per megabyte must not grow with the size.

use std::time::Instant;

use pharos_core::PageUrl;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const MB: usize = 1_000_000;

/// Creates a page of about this many bytes.
type Make = fn(usize) -> Vec<u8>;

const PAGES: [(&str, Make); 16] = [
    ("nested div", |size| repeat("<div>", size)),
    ("nested table", |size| repeat("<table><tr><td>", size)),
    ("unclosed everything", |size| repeat("<p><b><i><a href=x><ul><li>word ", size)),
    ("misnested formatting", |size| repeat("<b><i><p>x</b>", size)),
    ("one tag, many attributes", |size| {
        let mut page = b"<p".to_vec();
        (0..size / 8).for_each(|number| page.extend(format!(" a{number}=x").bytes()));
        page.extend(b">text");
        page
    }),
    ("many lines", |size| repeat("a<br>", size)),
    ("many paragraphs", |size| repeat("<p>A lamp was lit, and then another one.", size)),
    ("many links", |size| repeat("<a href=/some/page?x=1>one more link</a> ", size)),
    ("many class names", |size| repeat("<div class='content nav-menu footer comment related'>x</div>", size)),
    ("one long line", |size| repeat("word ", size)),
    ("one Chinese line", |size| repeat("灯塔在夜里为船只指路", size)),
    ("dates", |size| repeat("<p>On 3.4.2005 and 2005年3月4日. ", size)),
    ("NULs", |size| repeat("\0", size)),
    ("entities without end", |size| repeat("&amp&#x10FFFF&nbsp", size)),
    ("broken comments", |size| repeat("<!-- <!doctype <![CDATA[", size)),
    ("noise", |size| {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u8
        };
        (0..size).map(|_| next()).collect()
    }),
];

fn repeat(part: &str, size: usize) -> Vec<u8> {
    part.repeat(size / part.len()).into_bytes()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = PageUrl::parse("http://localhost/")?;
    // Loads the dictionary.
    pharos_html::extract_page(&url, None, "<p>灯塔".as_bytes());
    println!("{:<26} {:>12} {:>12}", "ms per MB", "1 MB", "10 MB");
    let wanted = std::env::args().nth(1).unwrap_or_default();
    for (name, make) in PAGES.into_iter().filter(|(name, _)| name.contains(&wanted)) {
        print!("{name:<26}");
        for size in [MB, 10 * MB] {
            let page = make(size);
            let started = Instant::now();
            pharos_html::extract_page(&url, Some("text/html"), &page);
            print!(" {:>12.0}", started.elapsed().as_secs_f64() * 1e3 / (size / MB) as f64);
        }
        println!();
    }
    Ok(())
}
