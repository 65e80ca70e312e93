//! Measures charset detection on texts re-encoded and declared wrongly:
//! `cargo run --release -p pharos-html --example charset_accuracy -- DIR [BYTES]`, where DIR holds HTML files in UTF-8.
//!
//! The visible text of each file is divided into parts of BYTES bytes (200) in each charset that can represent it.
//! A part counts as right if the decoded text contains its first half.

use std::collections::BTreeMap;
use std::error::Error;
use std::{env, fs};

use encoding_rs::{BIG5, EUC_KR, GB18030, GBK, SHIFT_JIS, UTF_8, WINDOWS_1251, WINDOWS_1252};
use pharos_core::PageUrl;

const MAX_PARTS: usize = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let directory = arguments.next().ok_or("missing argument: a directory of HTML files")?;
    let bytes: usize = arguments.next().map_or(Ok(200), |n| n.parse())?;
    let url = PageUrl::parse("http://example.org/")?;
    let labels = ["", "utf-8", "gbk", "big5", "iso-8859-1", "windows-1251", "shift_jis", "euc-kr"];
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let mut waiting = vec![directory.into()];
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        if fs::metadata(&path)?.is_dir() {
            waiting.extend(fs::read_dir(&path)?.filter_map(|entry| Some(entry.ok()?.path())));
        } else if path.extension().is_some_and(|e| e == "html" || e == "htm") {
            files.push(path);
        }
    }
    files.sort();
    for file in &files {
        let text = pharos_html::skim(&url, Some("text/html; charset=utf-8"), &fs::read(file)?).text;
        let chars: Vec<char> = text.chars().collect();
        for encoding in [UTF_8, GBK, GB18030, BIG5, EUC_KR, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252] {
            for window in chars.chunks(bytes).take(MAX_PARTS) {
                let window: String = window.iter().collect();
                let (encoded, _, has_unmappable) = encoding.encode(&window);
                let wide = encoded.iter().filter(|b| !b.is_ascii()).count();
                if has_unmappable || encoded.len() < bytes || wide * 4 < bytes {
                    continue;
                }
                let half: String =
                    window.chars().take(window.chars().count() / 2 * bytes / encoded.len()).collect();
                for label in labels {
                    let content_type = match label {
                        "" => "text/plain".to_string(),
                        label => format!("text/plain; charset={label}"),
                    };
                    let read = pharos_html::skim(&url, Some(&content_type), &encoded[..bytes]).text;
                    let count = counts.entry((encoding.name(), label)).or_default();
                    *count = (count.0 + usize::from(read.contains(half.trim())), count.1 + 1);
                }
            }
        }
    }
    for ((charset, label), (right, all)) in counts {
        println!(
            "{charset:<14} declared {label:<14} {right:>7} of {all:<7} {:.4}",
            right as f64 / all as f64
        );
    }
    Ok(())
}
