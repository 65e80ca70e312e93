//! Tests of the server over real sockets.

use crate::visitor::Client;
use pharos_testweb::{PageKind, ServeOptions, Server, Web, WebSpec};

fn spec() -> WebSpec {
    WebSpec { seed: 3, hosts: 4, pages: 120, ..WebSpec::default() }
}

#[tokio::test]
async fn a_page_that_has_not_changed_is_not_sent_again() {
    let server = Server::start(Web::generate(&spec()), ServeOptions::default()).await.expect("starts");
    let mut client = Client::connect(server.address()).await;
    let url = &server.seeds()[0];
    let first = client.get(url, &[]).await;
    assert_eq!(first.status, 200);
    assert_eq!(first.header("date"), "Thu, 01 Jan 2026 00:00:00 GMT");
    for (name, value, status) in [
        ("If-None-Match", first.header("etag"), 304),
        ("If-None-Match", "\"other\"", 200),
        ("If-None-Match", "*", 304),
        ("If-Modified-Since", first.header("last-modified"), 304),
        ("If-Modified-Since", "Thu, 01 Jan 1998 00:00:00 GMT", 200),
        ("If-Modified-Since", "nonsense", 200),
    ] {
        let answer = client.get(url, &[(name, value)]).await;
        assert_eq!(answer.status, status, "{name}: {value}");
        assert_eq!(answer.header("etag"), first.header("etag"));
    }
    assert_eq!(server.counters().not_modified, 3);
    server.stop().await;
}

#[tokio::test]
async fn gzip_holds_the_same_bytes() {
    let server = Server::start(Web::generate(&spec()), ServeOptions::default()).await.expect("starts");
    let mut client = Client::connect(server.address()).await;
    for url in server.seeds() {
        let plain = client.get(&url, &[]).await;
        let zipped = client.get(&url, &[("Accept-Encoding", "gzip, br")]).await;
        assert_eq!(plain.header("content-encoding"), "");
        assert_eq!(zipped.header("content-encoding"), "gzip");
        let mut unzipped = vec![0; plain.body.len()];
        let length =
            libdeflater::Decompressor::new().gzip_decompress(&zipped.body, &mut unzipped).expect("gzip");
        assert_eq!((length, unzipped), (plain.body.len(), plain.body));
        assert!(zipped.body.len() < length);
    }
    server.stop().await;
}

#[tokio::test]
async fn hosts_can_have_their_own_addresses() {
    for addresses_as_names in [false, true] {
        let web = Web::generate(&WebSpec { addresses_as_names, ..spec() });
        let options = ServeOptions { own_addresses: true, ..ServeOptions::default() };
        let server = Server::start(web, options).await.expect("starts");
        let (seeds, arguments) = (server.seeds(), server.resolve_args());
        for ((host, url), argument) in server.web().hosts().iter().zip(seeds).zip(arguments) {
            let mut client = Client::connect((host.address, server.port()).into()).await;
            assert_eq!(client.get(&url, &[]).await.status, 200);
            assert_eq!(argument, format!("{}:{}:{}", host.name, server.port(), host.address));
            assert_eq!(host.name == host.address.to_string(), addresses_as_names);
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn the_log_contains_requests_and_clients() {
    let server = Server::start(Web::generate(&spec()), ServeOptions::default()).await.expect("starts");
    let mut client = Client::connect(server.address()).await;
    let url = &server.seeds()[1];
    client.get(url, &[]).await;
    client.get(&format!("{url}nowhere?x=1"), &[]).await;
    let stranger = format!("http://stranger.test:{}/", server.port());
    assert_eq!(Client::connect(server.address()).await.get(&stranger, &[]).await.status, 421);
    let log = server.log();
    let seen: Vec<(&str, &str, u16)> =
        log.iter().map(|request| (&*request.host, &*request.path, request.status)).collect();
    let host = server.web().hosts()[1].name.as_str();
    assert_eq!(seen, [(host, "/", 200), (host, "/nowhere?x=1", 404), ("stranger.test", "/", 421)]);
    assert_eq!(log[0].connection, log[1].connection);
    assert_ne!(log[1].connection, log[2].connection);
    assert_eq!((&*log[0].user_agent, log[0].in_flight), ("tiny/1", 1));
    assert_eq!((server.counters().requests, server.counters().connections), (3, 2));
    server.clear_log();
    assert!(server.log().is_empty());
    server.stop().await;
}

#[tokio::test]
async fn pictures_and_style_sheets_are_there() {
    let server = Server::start(Web::generate(&spec()), ServeOptions::default()).await.expect("starts");
    let mut client = Client::connect(server.address()).await;
    let truth = server.truth();
    let picture = truth.pages.iter().find(|page| page.kind == PageKind::Picture).expect("a picture page");
    let html = client.get(&picture.url, &[]).await.text();
    let source = html.split("<img src=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a picture");
    for path in [source, "/style.css"] {
        let url = format!("http://{}:{}{path}", picture.host, server.port());
        assert_eq!(client.get(&url, &[]).await.status, 200);
    }
    server.stop().await;
}
