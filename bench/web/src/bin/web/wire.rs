//! Bytes on the wire, including heads.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bench_web::figures::count;
use bench_web::response::{self, Response};

use crate::{Bench, Outcome};

/// Queries of each language.
const QUERIES: usize = 10;

const CODINGS: [(&str, &str); 3] = [("as it is", "identity"), ("gzip", "gzip"), ("br", "gzip, deflate, br")];

const TIMEOUT: Duration = Duration::from_secs(30);

pub fn print(bench: &Bench) -> Outcome<()> {
    let address = bench.server.address;
    let all = bench.questions.known.iter().chain(bench.questions.fresh.iter());
    // In a path, non-ASCII text is a percent sign and a digit from 8 on.
    let is_chinese = |path: &&String| path.contains("%E");
    let chinese: Vec<_> = all.clone().filter(is_chinese).take(QUERIES).collect();
    let english: Vec<_> = all.filter(|path| !is_chinese(path)).take(QUERIES).collect();
    println!("| bytes on the wire | coding | mean | max | head | first visit, max |");
    println!("|---|---|---|---|---|---|");
    for (name, paths) in [("result page, English", english), ("result page, Chinese", chinese)] {
        for (coding_name, coding) in CODINGS {
            let (mut sum, mut most, mut head, mut first_visit) = (0, 0, 0, 0);
            for path in &paths {
                let (page, _) = fetch(address, path, coding)?;
                (sum, most, head) = (sum + page.length, most.max(page.length), head.max(page.head));
                first_visit = first_visit.max(page.length + assets(address, path, coding)?);
            }
            println!(
                "| {name} | {coding_name} | {} | {} | {} | {} |",
                count(sum / paths.len().max(1)),
                count(most),
                count(head),
                count(first_visit)
            );
        }
    }
    let (home, _) = fetch(address, "/", "gzip, deflate, br")?;
    println!(
        "| home page | br | {0} | {0} | {1} | {2} |",
        count(home.length),
        count(home.head),
        count(home.length + assets(address, "/", "gzip, deflate, br")?)
    );
    Ok(())
}

/// Returns the bytes that a browser loads with a page: style, script, icon.
fn assets(address: SocketAddr, path: &str, coding: &str) -> Outcome<usize> {
    let (page, bytes) = fetch(address, path, "identity")?;
    let html = String::from_utf8_lossy(&bytes[page.head..]).into_owned();
    let mut length = 0;
    for asset in asset_paths(&html) {
        let (answer, _) = fetch(address, asset, coding)?;
        if answer.status != 200 {
            return Err(format!("{asset} gives {}", answer.status).into());
        }
        length += answer.length;
    }
    Ok(length)
}

fn asset_paths(html: &str) -> Vec<&str> {
    let tags = html.split('<').filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag);
    let attribute = |tag: &'_ str, name: &str| -> Option<(usize, usize)> {
        let begin = tag.find(&format!(" {name}=\""))? + name.len() + 3;
        Some((begin, begin + tag[begin..].find('"')?))
    };
    let loaded = tags.filter_map(|tag| {
        let is_loaded = attribute(tag, "rel")
            .is_some_and(|(begin, end)| matches!(&tag[begin..end], "stylesheet" | "icon"));
        let (begin, end) = match tag {
            tag if tag.starts_with("script") => attribute(tag, "src")?,
            tag if tag.starts_with("link") && is_loaded => attribute(tag, "href")?,
            _ => return None,
        };
        Some(&tag[begin..end])
    });
    loaded.filter(|path| path.starts_with('/')).collect()
}

/// Sends one request and returns the raw response.
pub fn fetch(address: SocketAddr, path: &str, coding: &str) -> Outcome<(Response, Vec<u8>)> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/html\r\nAccept-Encoding: {coding}\r\n\r\n"
    )?;
    let (mut bytes, mut part) = (Vec::new(), [0; 16 << 10]);
    loop {
        if let Some(answer) = response::parse(&bytes)? {
            return Ok((answer, bytes));
        }
        let length = stream.read(&mut part)?;
        if length == 0 {
            return Err(format!("{path}: closed under way").into());
        }
        bytes.extend(&part[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_names_what_is_loaded_with_it() {
        let html = "<!doctype html><html><head><link rel=\"icon\" href=\"/favicon.svg\" type=\"image/svg+xml\">\
                    <link rel=\"search\" href=\"/opensearch.xml\"><link rel=\"stylesheet\" href=\"/static/style.css?v=1\">\
                    <script src=\"/static/learn.js?v=2\" defer></script></head><a href=\"/x\">x</a>";
        assert_eq!(asset_paths(html), ["/favicon.svg", "/static/style.css?v=1", "/static/learn.js?v=2"]);
    }
}
