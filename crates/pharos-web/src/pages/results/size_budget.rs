//! Size budget of a result page: on a new connection it must arrive within two round trips (initial congestion window of 3
//! segments). In 《走进搜索引擎》§8.6.1, 87 % of result pages are smaller than 10.5 KB, most of them about 7 KB.

use std::iter;

use pharos_core::Config;

use crate::router;
use crate::testing::{Reply, TestPage, engine, get_with};

/// Maximum size of a result page with its header.
const PAGE: usize = 10_752;

/// Maximum size of a first visit, including style sheet, script and icon.
const FIRST_VISIT: usize = 30 << 10;

/// Parts of the header added by the server: status, length, date.
const SERVER_HEADER: usize =
    "HTTP/1.1 200 OK\r\ncontent-length: 10000\r\ndate: Sat, 31 Jan 2026 12:00:00 GMT\r\n\r\n".len();

fn transfer_size(reply: &Reply) -> usize {
    let head: usize = reply.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    SERVER_HEADER + head + reply.bytes.len()
}

/// Pseudo-random numbers, so that generated text compresses no better than natural text.
fn numbers(seed: u32) -> impl Iterator<Item = usize> {
    iter::successors(Some(seed), |n| Some(n.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)))
        .skip(1)
        .map(|n| (n >> 8) as usize)
}

fn chinese(seed: u32, length: usize) -> String {
    numbers(seed).take(length).filter_map(|n| char::from_u32(0x4e00 + n as u32 % 3_000)).collect()
}

fn english(seed: u32, words: usize) -> String {
    let mut numbers = numbers(seed);
    let word = |numbers: &mut dyn Iterator<Item = usize>| {
        let length = 3 + numbers.next().unwrap_or_default() % 7;
        numbers.take(length).map(|n| char::from(b'a' + (n % 26) as u8)).collect::<String>()
    };
    (0..words).map(|_| word(&mut numbers)).collect::<Vec<_>>().join(" ")
}

/// Thirty pages of as many sites that contain the same word.
fn pages(word: &str, text: impl Fn(u32, usize) -> String, title: usize, body: usize) -> Vec<TestPage> {
    let page = |n: u32| {
        let name = english(n + 1_000, 2).replace(' ', "-");
        let url = format!(
            "https://www.{name}.example/{}/{}.html",
            english(n + 2_000, 1),
            english(n + 3_000, 3).replace(' ', "/")
        );
        let title = format!("{word} {}", text(n, title));
        let body = format!("{} {word} {}", text(n + 4_000, body), text(n + 5_000, body));
        TestPage::new(url.leak(), title.leak(), body.leak())
    };
    (1..=30).map(page).collect()
}

#[tokio::test]
async fn a_full_page_of_results_keeps_to_its_budget() {
    let kinds = [
        ("/search?q=lighthouse&lang=en", pages("lighthouse", english, 8, 60)),
        ("/search?q=%E7%81%AF%E5%A1%94&lang=zh", pages("灯塔", chinese, 25, 300)),
    ];
    for (path, pages) in kinds {
        let (_dir, service) = engine(&pages, Config::default());
        let router = router(service).unwrap();
        let headers = [("accept-encoding", "gzip")];
        let plain = get_with(&router, path, &[]).await;
        assert_eq!(plain.text().matches("<li lang=").count(), 10, "{}", plain.text());
        let page = transfer_size(&get_with(&router, path, &headers).await);
        assert!(page <= PAGE, "{path} takes {page} bytes");
        let mut all = page;
        let quoted: Vec<_> = plain.text().split('"').collect();
        for asset in ["/static/style.css", "/static/pharos.js", "/favicon.svg"] {
            let named = quoted.iter().find(|text| text.starts_with(asset)).expect(asset);
            all += transfer_size(&get_with(&router, named, &headers).await);
        }
        assert!(all <= FIRST_VISIT, "a first visit to {path} takes {all} bytes");
    }
}
