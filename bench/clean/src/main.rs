//! Quality and speed of page cleaning, compared with other libraries on the same pages in the same run.
//!
//! `cargo run --release -p bench-clean -- DIR [ROUNDS]`
//!
//! DIR contains `html/*.html.gz` and `gold.json` (id → `text`, `set`, `type`). Pages are passed as UTF-8 text, because
//! the other libraries accept nothing else; charset detection is not measured. Every page goes through all libraries,
//! in rotating order, before the next page, and processor time counts, so that background load affects all alike.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;
use std::{env, fs, panic};

use flate2::read::MultiGzDecoder;
use pharos_core::PageUrl;
use pharos_html::cleaning::evaluation::{Metric, ExtractionScore};
use rustix::time::ClockId;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Extracts the main content from the text of a page.
type Cleaner = fn(&str) -> String;

/// Pharos twice: main content only, and the complete [`pharos_html::extract_page`].
const CLEANERS: [(&str, Cleaner); 5] = [
    ("pharos, body", |html| pharos_html::body_text(html)),
    ("pharos, page object", |html| match PageUrl::parse("http://localhost/") {
        Ok(url) => pharos_html::extract_page(&url, Some("text/html; charset=utf-8"), html.as_bytes()).text,
        Err(_) => String::new(),
    }),
    ("dom_smoothie", |html| {
        let article = dom_smoothie::Readability::new(html, None, None).and_then(|mut r| r.parse());
        article.map(|a| a.text_content.to_string()).unwrap_or_default()
    }),
    ("trafilatura", |html| {
        trafilatura::extract(html, &trafilatura::Options::default())
            .map(|r| r.content_text)
            .unwrap_or_default()
    }),
    ("rs-trafilatura", |html| rs_trafilatura::extract(html).map(|r| r.content_text).unwrap_or_default()),
];

/// A page with a manually marked main content.
struct Page {
    html: String,
    gold: String,
    set: String,
}

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let dir = arguments.next().ok_or("give a directory with html/ and gold.json")?;
    let rounds: usize = arguments.next().map_or(Ok(3), |n| n.parse())?;
    let pages = read(Path::new(&dir))?;
    let bytes: usize = pages.iter().map(|p| p.html.len()).sum();
    println!("{} pages, {:.1} MB, {rounds} rounds", pages.len(), bytes as f64 / 1e6);
    // A library that panics on a page returns nothing for it; the message is suppressed.
    panic::set_hook(Box::new(|_| {}));

    // Loads dictionaries, which are not part of the time per page.
    for (_, clean) in CLEANERS {
        panic::catch_unwind(|| clean("<title>灯塔</title><p>灯塔在夜里为船只指路。")).unwrap_or_default();
    }
    let mut times = [Duration::ZERO; CLEANERS.len()];
    let mut scores: Vec<BTreeMap<&str, (Metric, Vec<ExtractionScore>)>> = vec![BTreeMap::new(); CLEANERS.len()];
    for round in 0..rounds {
        for (number, page) in pages.iter().enumerate() {
            for turn in 0..CLEANERS.len() {
                let which = (turn + number + round) % CLEANERS.len();
                let clean = CLEANERS[which].1;
                let before = processor_time();
                let text = panic::catch_unwind(|| clean(&page.html)).unwrap_or_default();
                times[which] += processor_time() - before;
                if round == 0 {
                    let metric = metric(&page.set);
                    let score = metric.score(&text, &page.gold);
                    scores[which].entry(&page.set).or_insert((metric, Vec::new())).1.push(score);
                }
            }
        }
    }
    print(&times, &scores, pages.len() * rounds);
    Ok(())
}

fn print(times: &[Duration], scores: &[BTreeMap<&str, (Metric, Vec<ExtractionScore>)>], pages: usize) {
    let smoothie = times[2].as_secs_f64();
    for (((name, _), time), sets) in CLEANERS.iter().zip(times).zip(scores) {
        let time = time.as_secs_f64();
        print!("{name:<20} {:>6.0} pages/s  {:>5.2} × dom_smoothie", pages as f64 / time, smoothie / time);
        for (set, (metric, scores)) in sets {
            let (low, high) = metric.interval(scores);
            print!("   {set} F1 {:.4} [{low:.3}, {high:.3}]", metric.mean(scores));
        }
        println!();
    }
}

/// Returns the metric given in the README of the data; Chinese pages have no set.
fn metric(set: &str) -> Metric {
    match set {
        "aeb" => Metric::WordShingles,
        _ if set.starts_with("wcxb") => Metric::Words,
        _ => Metric::CharShingles,
    }
}

fn read(dir: &Path) -> Outcome<Vec<Page>> {
    let gold: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("gold.json"))?)?;
    let mut pages = Vec::new();
    for (id, truth) in gold.as_object().into_iter().flatten() {
        let mut bytes = Vec::new();
        let file = fs::File::open(dir.join("html").join(format!("{id}.html.gz")))?;
        MultiGzDecoder::new(file).read_to_end(&mut bytes)?;
        pages.push(Page {
            html: pharos_html::decode_body(&bytes),
            gold: truth["text"].as_str().unwrap_or_default().to_string(),
            set: truth["set"].as_str().unwrap_or("zh").to_string(),
        });
    }
    Ok(pages)
}

/// Returns the processor time of this thread.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}
