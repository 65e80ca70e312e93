//! Measures extraction speed on one core: `cargo run --release -p pharos-html --example speed -- DIR`, where DIR
//! holds `*.html` or `*.html.gz`.

use std::error::Error;
use std::io::Read;
use std::time::Instant;
use std::{env, fs};

use flate2::read::GzDecoder;
use pharos_core::PageUrl;
use pharos_html::cached_page::{HighlightOptions, sanitise_page};
use pharos_html::extract_page;
use pharos_text::Analyser;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = env::args().nth(1).ok_or("missing argument: a directory of *.html or *.html.gz")?;
    let mut pages = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".html.gz") {
            let mut page = Vec::new();
            GzDecoder::new(fs::File::open(&path)?).read_to_end(&mut page)?;
            pages.push(page);
        } else if name.ends_with(".html") {
            pages.push(fs::read(&path)?);
        }
    }
    let megabytes = pages.iter().map(Vec::len).sum::<usize>() as f64 / 1e6;
    let url = PageUrl::parse("http://example.org/")?;
    let terms = ["time".to_string(), "时间".to_string()];
    let texts: Vec<String> = pages.iter().map(|p| extract_page(&url, Some("text/html"), p).text).collect();
    let text_megabytes = texts.iter().map(String::len).sum::<usize>() as f64 / 1e6;
    // The first call loads the dictionary.
    Analyser::shared();

    println!("{} pages, {megabytes:.1} MB, {text_megabytes:.1} MB of text", pages.len());
    println!("{:<14} {:>9} {:>8} {:>11}", "step", "pages/s", "MB/s", "slowest ms");
    measure("extract page", &pages, megabytes, |page| {
        extract_page(&url, Some("text/html"), page);
    });
    measure("cached page", &pages, megabytes, |page| {
        sanitise_page(&url, Some("text/html"), page, &HighlightOptions { terms: &terms, next_label: "next" });
    });
    measure("tokens", &texts, text_megabytes, |text| {
        Analyser::shared().for_each_token(text, |_, _, _, _| {});
    });
    measure("index tokens", &texts, text_megabytes, |text| {
        Analyser::shared().for_each_index_token(text, |_, _, _, _| {});
    });
    Ok(())
}

fn measure<T>(step: &str, items: &[T], megabytes: f64, work: impl Fn(&T)) {
    const ROUNDS: u32 = 3;
    let mut slowest = 0.0f64;
    let begin = Instant::now();
    for _ in 0..ROUNDS {
        for item in items {
            let one = Instant::now();
            work(item);
            slowest = slowest.max(one.elapsed().as_secs_f64());
        }
    }
    let seconds = begin.elapsed().as_secs_f64() / f64::from(ROUNDS);
    println!(
        "{step:<14} {:>9.0} {:>8.1} {:>11.1}",
        items.len() as f64 / seconds,
        megabytes / seconds,
        slowest * 1e3
    );
}
