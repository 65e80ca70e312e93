//! PDF and Office files are read in child processes with limits; breadcrumbs of pages reach the results.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::Stdio;

use pharos_testweb::hostile::{HostileOptions, HostileWeb};
use pharos_testweb::{ServeOptions, WebSpec};

use crate::common::{Rig, Running, TestFolder, get, pharos, succeed, until};

const PDF: &[u8] = include_bytes!("../crates/pharos-html/tests/samples/lighthouse.pdf");

#[test]
fn a_reader_process_is_limited() {
    let mut command = pharos();
    command.args(["--read-document", "pdf"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut reader = command.spawn().unwrap();
    let mut input = reader.stdin.take().unwrap();
    // A process that has consumed more than a pipe holds has limited itself before.
    input.write_all(&vec![b' '; 1 << 20]).unwrap();
    let limits = fs::read_to_string(format!("/proc/{}/limits", reader.id())).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap().to_string()
    };
    assert_eq!(limit("Max data size"), (512_u64 << 20).to_string());
    assert_eq!(limit("Max cpu time"), "20");
    assert_eq!(limit("Max open files"), "3");
    assert_eq!(limit("Max file size"), "0");
    input.write_all(PDF).unwrap();
    drop(input);
    let mut output = String::new();
    reader.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    assert!(reader.wait().unwrap().success());
    assert!(output.contains("The History of Lighthouses"), "{output}");
}

#[test]
fn invalid_requests_of_a_reader_fail() {
    for arguments in [&["--read-document"][..], &["--read-document", "html"]] {
        let output = pharos().args(arguments).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn documents_are_found_by_their_text() {
    let folder = TestFolder::new();
    let mut http = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n".to_vec();
    http.extend(PDF);
    let header = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://docs.example/history.pdf\r\n\
         WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:uuid:0b1f0d43-4a2c-4b4e-9a57-5d6c1c1e0001>\r\n\
         Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n",
        http.len()
    );
    folder.file("docs.warc", [header.as_bytes(), &http, b"\r\n\r\n"].concat());
    succeed(&mut folder.on("data", &["import", "docs.warc"]));
    assert_eq!(folder.finds("data", "lamp paragraph"), ["http://docs.example/history.pdf"]);

    folder.file("files/books/history.pdf", PDF);
    succeed(&mut folder.on("more", &["import", "--base-url", "http://files.example", "files"]));
    assert_eq!(folder.finds("more", "lamp paragraph"), ["http://files.example/books/history.pdf"]);
}

/// A signal ends the engine while a document is read. The document is neither lost nor given up.
#[test]
fn a_signal_does_not_wait_for_a_document() {
    let spec = WebSpec { seed: 46, hosts: 1, pages: 3, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions::default());
    let web = rig.runtime.block_on(HostileWeb::start(HostileOptions::default())).unwrap();
    let bomb = web.expectations().into_iter().find(|e| e.url.contains("//bomb-pdf.test")).unwrap().url;
    let start = || {
        let mut command = rig.crawl("up");
        command.args(["--listen", "127.0.0.1:0"]).arg(&bomb);
        for value in web.resolve_args() {
            command.arg("--resolve").arg(value);
        }
        Running::start(&mut command)
    };
    // The second time, the document is read from the library, because it was not read to its end.
    for _ in 0..2 {
        let mut up = start();
        let mut reader = None;
        until("a reader was started", || {
            reader = reader_of(up.0.id());
            reader.is_some()
        });
        up.signal("INT");
        assert!(up.0.wait().unwrap().success());
        assert!(!reads_a_document(reader.unwrap()), "the reader ends with its parent");
    }
    rig.runtime.block_on(web.stop());
}

/// Returns the process that reads a document for this one.
fn reader_of(parent: u32) -> Option<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.find(|id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(')').map_or("", |(_, after)| after);
        after_name.split_whitespace().nth(1) == Some(&parent.to_string()) && reads_a_document(*id)
    })
}

fn reads_a_document(process: u32) -> bool {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|argument| argument == b"--read-document")
}

/// The breadcrumbs of schema.org replace the path of the URL, in the open generation and in a built history.
#[test]
fn breadcrumbs_are_shown_with_results() {
    let folder = TestFolder::new();
    let crumbs = r#"{"@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": [
        {"@type": "ListItem", "position": 2, "name": "Manuals <b>"},
        {"@type": "ListItem", "position": 1, "item": {"@id": "https://a.example/", "name": "Home"}}]}"#;
    let page = format!(
        "<title>Lamp oil</title><script type=\"application/ld+json\">{crumbs}</script><p>How to fill the lamp with oil.</p>"
    );
    folder.file("site/m/oil.html", page);
    folder.file("site/plain.html", "<title>Wicks</title><p>How to trim the wick of a lamp.</p>");
    succeed(&mut folder.on("data", &["import", "site", "--base-url", "https://a.example/"]));
    let check = || {
        let found = folder.json("data", &["search", "oil"]);
        assert_eq!(found["hits"][0]["breadcrumbs"], serde_json::json!(["Home", "Manuals <b>"]), "{found}");
        let plain = folder.json("data", &["search", "wick"]);
        assert!(plain["hits"][0].get("breadcrumbs").is_none(), "{plain}");
    };
    check();
    succeed(&mut folder.on("data", &["index", "build"]));
    check();
    let mut serving = Running::start(&mut folder.on("data", &["serve", "--listen", "127.0.0.1:0"]));
    let address = serving.address();
    let (_, shown) = get(&address, "/search?q=oil&lang=en");
    assert!(
        shown.contains("<span><bdi>Home</bdi></span><span><bdi>Manuals &#60;b&#62;</bdi></span>"),
        "{shown}"
    );
    let (_, plain) = get(&address, "/search?q=wick&lang=en");
    assert!(plain.contains("<span><bdi>plain.html</bdi></span>"), "{plain}");
}
