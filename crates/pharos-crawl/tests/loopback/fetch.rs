//! Single requests to servers of every kind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{ServerAction, TestEngine, TestServer, answer, config, not_found, page, redirect, url};
use pharos_core::config::{ByteSize, CrawlConfig};
use pharos_core::{Clock, SystemClock, Timestamp};
use pharos_crawl::{EndReason, FetchError, FetchRequest, Fetcher};
use pharos_store::catalog::{RobotsState, Validators};
use pharos_store::library::TruncationReason;
use pharos_store::{PageState, RawResponse};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn get(config: &CrawlConfig, address: &str) -> Result<RawResponse, FetchError> {
    Fetcher::new(config).unwrap().get(&url(address)).await
}

async fn reason(config: &CrawlConfig, address: &str) -> String {
    get(config, address).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_response_is_returned_unchanged() {
    let server = TestServer::start(|_, _| {
        ServerAction::Bytes(
            b"HTTP/1.1 203 Fine\r\nX-Second: caf\xe9\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n\
              4\r\nnot \r\n6\r\nzipped\r\n0\r\n\r\n"
                .to_vec(),
        )
    })
    .await;
    let own = CrawlConfig { contact: "me@example.org".into(), ..config() };
    let response = Fetcher::new(&own).unwrap().get(&server.url("/a?b=c")).await.unwrap();
    assert_eq!(
        (response.status, response.body.as_slice(), response.truncated),
        (203, b"not zipped".as_slice(), None)
    );
    assert_eq!(response.headers[0], ("x-second".into(), "café".into()));
    assert_eq!(response.header("content-encoding"), Some("gzip"), "nothing is decoded on the way");
    assert_eq!(response.address, Some("127.0.0.1".parse().unwrap()));
    let seen = &server.log()[0];
    assert_eq!(seen.path, "/a?b=c");
    let head = seen.head.to_lowercase();
    let agent =
        format!("user-agent: mozilla/5.0 (compatible; pharos/{}; +me@example.org)", pharos_core::VERSION);
    assert!(head.contains(&agent) && head.contains("accept-encoding: gzip, br, zstd, deflate"), "{head}");
    assert!(head.contains(&format!("host: 127.0.0.1:{}", server.port)), "{head}");
}

#[tokio::test]
async fn a_redirect_is_a_response() {
    let server = TestServer::start(|_, _| redirect("/elsewhere")).await;
    let response = Fetcher::new(&config()).unwrap().get(&server.url("/")).await.unwrap();
    assert_eq!((response.status, response.header("Location")), (302, Some("/elsewhere")));
    assert_eq!(server.paths(), ["/"]);
}

#[tokio::test]
async fn a_long_body_is_truncated() {
    let server = TestServer::start(|_, path| match path {
        "/exact" => page(&"x".repeat(1000)),
        _ => page(&"x".repeat(100_000)),
    })
    .await;
    let fetcher = Fetcher::new(&CrawlConfig { body_limit: ByteSize(1000), ..config() }).unwrap();
    let long = fetcher.get(&server.url("/long")).await.unwrap();
    assert_eq!((long.body.len(), long.truncated), (1000, Some(TruncationReason::Length)));
    let exact = fetcher.get(&server.url("/exact")).await.unwrap();
    assert_eq!((exact.body.len(), exact.truncated), (1000, None));
}

#[tokio::test]
async fn the_received_part_of_a_broken_body_is_kept() {
    let server = TestServer::start(|_, path| match path {
        "/break" => ServerAction::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbeginning".to_vec()),
        "/chunk" => ServerAction::Close(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbeginning\r\n".to_vec(),
        ),
        "/nonsense" => ServerAction::Bytes(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbeginning\r\nzz\r\nend\r\n".to_vec(),
        ),
        _ => ServerAction::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbeginning".to_vec()),
    })
    .await;
    let short = CrawlConfig { total_timeout: Duration::from_millis(300), ..config() };
    let fetcher = Fetcher::new(&short).unwrap();
    for (path, truncated) in [
        ("/break", TruncationReason::Disconnect),
        ("/chunk", TruncationReason::Disconnect),
        ("/nonsense", TruncationReason::Disconnect),
        ("/hang", TruncationReason::Time),
    ] {
        let response = fetcher.get(&server.url(path)).await.unwrap();
        assert_eq!(
            (response.body.as_slice(), response.truncated),
            (b"beginning".as_slice(), Some(truncated)),
            "{path}"
        );
    }
}

#[tokio::test]
async fn silence_times_out() {
    let server = TestServer::start(|_, path| match path {
        "/silent" => ServerAction::Hang(Vec::new()),
        _ => ServerAction::Hang(b"HTTP/1.1 200 OK\r\nX-Half: he".to_vec()),
    })
    .await;
    let short = CrawlConfig { first_byte_timeout: Duration::from_millis(200), ..config() };
    for path in ["/silent", "/half"] {
        let reason = reason(&short, server.url(path).as_str()).await;
        assert_eq!(reason, "timed out after 0.2 s waiting for a response", "{path}");
    }
    let short = CrawlConfig { total_timeout: Duration::from_millis(200), ..config() };
    assert_eq!(reason(&short, server.url("/silent").as_str()).await, "timed out after 0.2 s in total");
}

#[tokio::test]
async fn non_http_responses_are_reported() {
    let server = TestServer::start(|_, path| match path {
        "/close" => ServerAction::Close(Vec::new()),
        "/huge" => answer(200, &format!("X-Huge: {}\r\n", "x".repeat(1 << 20)), ""),
        "/many" => answer(200, &"X-Many: x\r\n".repeat(10_000), ""),
        _ => ServerAction::Close(b"SSH-2.0-OpenSSH_9.9\r\n\r\n".to_vec()),
    })
    .await;
    let error_of = async |path: &str| reason(&config(), server.url(path).as_str()).await;
    assert_eq!(error_of("/close").await, "connection closed before a response");
    assert_eq!(error_of("/huge").await, "response header exceeds 128 KB");
    assert_eq!(error_of("/many").await, "response header exceeds 128 KB");
    assert_eq!(error_of("/ssh").await, "response is not HTTP");
    let unused = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(reason(&config(), &format!("http://{unused}/")).await, "connection refused");
}

#[tokio::test]
async fn a_server_without_tls_is_reported() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ =
                tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    assert_eq!(
        reason(&config(), &format!("https://{address}/")).await,
        "tls: the server does not support TLS"
    );
}

#[tokio::test]
async fn absurd_status_codes_are_not_http() {
    let server = TestServer::start(|_, path| {
        let status = path.trim_start_matches('/');
        ServerAction::Close(format!("HTTP/1.1 {status} X\r\nContent-Length: 1\r\n\r\nx").into_bytes())
    })
    .await;
    for status in ["-200", "-1", "0", "000", "099", "20", "1000", "65736", "99999999999", "2e2", "ok"] {
        let error = reason(&config(), server.url(&format!("/{status}")).as_str()).await;
        assert_eq!(error, "response is not HTTP", "{status}");
    }
    for status in [299, 600, 999] {
        let response = get(&config(), server.url(&format!("/{status}")).as_str()).await.unwrap();
        assert_eq!((response.status, response.body.as_slice()), (status, b"x".as_slice()));
    }
}

/// Starts a server that reads the beginning of a request, sends `first` once and `then` without end, with a pause
/// before each.
async fn endless(first: &'static [u8], then: &'static [u8], pause: Duration) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(first).await;
                while !then.is_empty() && stream.write_all(then).await.is_ok() {
                    tokio::time::sleep(pause).await;
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn endless_headers_and_interim_responses_end() {
    let hasty = CrawlConfig { first_byte_timeout: Duration::from_millis(300), ..config() };
    for interim in [
        &b"HTTP/1.1 100 Continue\r\n\r\n"[..],
        b"HTTP/1.1 102 Processing\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n",
    ] {
        for pause in [Duration::ZERO, Duration::from_millis(5)] {
            let address = endless(b"", interim, pause).await;
            let error = reason(&hasty, &format!("http://{address}/")).await;
            assert_eq!(error, "timed out after 0.3 s waiting for a response");
        }
    }
    for field in [&b"X-Again: again\r\n"[..], b"again and again "] {
        let address = endless(b"HTTP/1.1 200 OK\r\nX: ", field, Duration::ZERO).await;
        let error = reason(&config(), &format!("http://{address}/")).await;
        assert_eq!(error, "response header exceeds 128 KB");
    }
}

#[tokio::test]
async fn broken_tls_handshakes_are_reported() {
    /// The beginning of a record with a ServerHello of 118 bytes.
    const SERVER_HELLO: &[u8] = &[0x16, 3, 3, 0, 122, 2, 0, 0, 118, 3, 3];
    let hasty = CrawlConfig { connect_timeout: Duration::from_millis(300), ..config() };
    let cut = endless(SERVER_HELLO, b"", Duration::ZERO).await;
    let error = reason(&hasty, &format!("https://{cut}/")).await;
    assert!(error.starts_with("connection "), "{error}");
    let slow = endless(SERVER_HELLO, &[0], Duration::from_millis(50)).await;
    assert_eq!(reason(&hasty, &format!("https://{slow}/")).await, "timed out after 0.3 s connecting");
    let refusing = endless(&[0x15, 3, 3, 0, 2, 2, 40], b"", Duration::ZERO).await;
    let error = reason(&hasty, &format!("https://{refusing}/")).await;
    assert!(error.starts_with("tls: ") && error.contains("alert"), "{error}");
    let flood = endless(SERVER_HELLO, &[0xff; 4096], Duration::ZERO).await;
    let error = reason(&hasty, &format!("https://{flood}/")).await;
    assert!(error.starts_with("tls: "), "{error}");
}

#[tokio::test]
async fn connections_are_kept_and_a_stale_one_is_replaced() {
    let requested = AtomicUsize::new(0);
    let server = TestServer::start(move |_, _| match requested.fetch_add(1, Ordering::SeqCst) {
        // The server closes the connection just when it is reused.
        2 => ServerAction::Close(Vec::new()),
        _ => page("x"),
    })
    .await;
    let fetcher = Fetcher::new(&config()).unwrap();
    for _ in 0..3 {
        let response = fetcher.get(&server.url("/")).await.unwrap();
        assert_eq!(response.address, Some("127.0.0.1".parse().unwrap()));
    }
    let connections: Vec<usize> = server.log().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [0, 0, 0, 1]);
}

#[tokio::test]
async fn a_body_shorter_than_what_follows_it_is_whole() {
    let server = TestServer::start(|_, path| match path {
        "/long" => ServerAction::Bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole and more".to_vec()),
        "/until-closed" => ServerAction::Close(b"HTTP/1.1 200 OK\r\n\r\nwhole".to_vec()),
        "/chunked" => ServerAction::Bytes(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nwhole\r\n0\r\n\r\n".to_vec(),
        ),
        _ => page("next"),
    })
    .await;
    let fetcher = Fetcher::new(&config()).unwrap();
    for path in ["/long", "/until-closed", "/chunked"] {
        let response = fetcher.get(&server.url(path)).await.unwrap();
        assert_eq!((response.body.as_slice(), response.truncated), (b"whole".as_slice(), None), "{path}");
        assert_eq!(fetcher.get(&server.url("/next")).await.unwrap().body, b"next", "after {path}");
    }
}

/// Sends a byte now and then, without end.
#[tokio::test]
async fn a_trickle_is_truncated() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 1024]).await;
                let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nxxxx";
                let _ = stream.write_all(head).await;
                while stream.write_all(b"x").await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            });
        }
    });
    let address = format!("http://{address}/");
    let patient = CrawlConfig { total_timeout: Duration::from_secs(600), ..config() };
    let strict = CrawlConfig {
        low_speed: ByteSize(10_000),
        low_speed_time: Duration::from_millis(200),
        ..patient.clone()
    };
    let response = get(&strict, &address).await.unwrap();
    assert_eq!(response.truncated, Some(TruncationReason::Time));
    assert!(response.body.starts_with(b"xxxx") && response.body.len() < 2000);
    let careless =
        CrawlConfig { low_speed: ByteSize(0), total_timeout: Duration::from_millis(500), ..strict };
    assert!(get(&careless, &address).await.unwrap().body.len() > 4, "only the total time limit applies");
}

#[tokio::test]
async fn validators_avoid_a_second_transfer() {
    let server = TestServer::start(|_, _| answer(304, "ETag: \"a\"\r\n", "")).await;
    let validators = Validators {
        etag: Some("W/\"a\"".into()),
        last_modified: Some("Thu, 01 Jan 2026 00:00:00 GMT".into()),
    };
    let address = server.url("/");
    let fetcher = Fetcher::new(&config()).unwrap();
    let response = fetcher
        .fetch(FetchRequest { validators: Some(&validators), ..FetchRequest::new(&address) })
        .await
        .unwrap();
    assert_eq!((response.status, response.body.len(), response.truncated), (304, 0, None));
    let head = &server.log()[0].head;
    assert!(head.contains("if-none-match: W/\"a\"\r\n"), "{head}");
    assert!(head.contains("if-modified-since: Thu, 01 Jan 2026 00:00:00 GMT\r\n"), "{head}");
    let request = response.request.unwrap();
    assert!(request.contains("if-none-match: W/\"a\"\r\n"), "the record says so too: {request}");
    let hostile = Validators { etag: Some("a\r\nHost: b".into()), last_modified: None };
    fetcher.fetch(FetchRequest { validators: Some(&hostile), ..FetchRequest::new(&address) }).await.unwrap();
    assert!(!server.log()[1].head.contains("if-none-match"));
}

#[tokio::test]
async fn unwanted_types_are_not_read() {
    let server = TestServer::start(|_, path| match path {
        "/picture" => {
            ServerAction::Hang(b"HTTP/1.1 200 OK\r\nContent-Type: image/png; x=y\r\n\r\nPNG".to_vec())
        }
        "/missing" => answer(404, "Content-Type: image/png\r\n", "none"),
        "/unnamed" => answer(200, "", "x"),
        _ => answer(200, "Content-Type: TEXT/HTML; charset=utf-8\r\n", "x"),
    })
    .await;
    let fetcher = Fetcher::new(&config()).unwrap();
    let types = ["text/html".to_string()];
    let fetch = async |fetcher: &Fetcher, path: &str| {
        fetcher.fetch(FetchRequest { types: Some(&types), ..FetchRequest::new(&server.url(path)) }).await
    };
    let refused = fetch(&fetcher, "/picture").await.unwrap_err();
    assert_eq!(refused.to_string(), "media type image/png is not accepted (crawl.types)");
    for wanted in ["/page", "/missing", "/unnamed"] {
        assert!(fetch(&fetcher, wanted).await.is_ok(), "{wanted}");
    }
}

#[tokio::test]
async fn address_ranges_limit_the_requested_hosts() {
    let server = TestServer::start(|_, _| page("x")).await;
    let ranges = |allowed: &[&str], forbidden: &[&str]| CrawlConfig {
        allow_addresses: allowed.iter().map(|a| a.to_string()).collect(),
        forbid_addresses: forbidden.iter().map(|a| a.to_string()).collect(),
        resolve: vec![server.resolve("named.example")],
        ..config()
    };
    let requested = server.named("named.example", "/");
    assert_eq!(get(&ranges(&["127.0.0.0/8"], &[]), requested.as_str()).await.unwrap().status, 200);
    let error = reason(&ranges(&["162.105.0.0/16"], &[]), requested.as_str()).await;
    assert_eq!(error, "address 127.0.0.1 is outside crawl.allow_addresses");
    let error = reason(&ranges(&[], &["127.0.0.1"]), server.url("/").as_str()).await;
    assert_eq!(error, "address 127.0.0.1 is in a range of crawl.forbid_addresses");
    assert_eq!(server.log().len(), 1, "no request was sent");
    let error = Fetcher::new(&ranges(&["162.105"], &[])).err().unwrap().to_string();
    assert!(error.contains("`162.105` in `crawl.allow_addresses`"), "{error}");
}

#[tokio::test]
async fn forbidden_robots_files_forbid_everything_if_configured() {
    let server = TestServer::start(|_, path| match path {
        "/robots.txt" => answer(403, "", "go away"),
        _ => page("x"),
    })
    .await;
    let lenient = TestEngine::new(config(), &[server.url("/")]).crawl().await.unwrap();
    assert_eq!((lenient.pages, lenient.refused), (1, 0));
    let strict = CrawlConfig { robots_forbidden_is_allowed: false, ..config() };
    let strict = TestEngine::new(strict, &[server.url("/")]).crawl().await.unwrap();
    assert_eq!((strict.pages, strict.refused), (0, 1));
}

#[tokio::test]
async fn a_cached_robots_txt_stays_in_force_while_unreachable() {
    let requested = AtomicUsize::new(0);
    let server = TestServer::start(move |_, path| match path {
        "/robots.txt" if requested.fetch_add(1, Ordering::SeqCst) == 0 => {
            answer(200, "", "user-agent: *\ndisallow: /private")
        }
        "/robots.txt" => answer(503, "", ""),
        "/" => match page("<a href=\"/open\"><a href=\"/private\">") {
            ServerAction::Bytes(bytes) => ServerAction::Late(Duration::from_millis(50), bytes),
            other => other,
        },
        _ => page("x"),
    })
    .await;
    let fleeting = CrawlConfig { robots_lifetime: Duration::from_millis(10), ..config() };
    let engine = TestEngine::new(fleeting, &[server.url("/")]);
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.refused), (2, 1), "{:?}", server.paths());
    assert_eq!(engine.reason(&server.url("/private")), "robots.txt: Disallow: /private");
    assert!(server.paths().iter().filter(|path| *path == "/robots.txt").count() >= 2);
}

/// RFC 9309 §2.3.1.4: the part that was not received may forbid everything.
#[tokio::test]
async fn a_robots_txt_that_breaks_off_is_unreachable() {
    let begun = "user-agent: *\ndisallow: /private\n";
    let cut = |head: &str, body: &str| {
        ServerAction::Close(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}").into_bytes())
    };
    for kind in ["short", "chunk", "gzip", "slow"] {
        let requested = AtomicUsize::new(0);
        let server = TestServer::start(move |_, path| match (path, kind) {
            ("/robots.txt", _) if requested.fetch_add(1, Ordering::SeqCst) == 1 => answer(200, "", begun),
            ("/robots.txt", "short") => cut("Content-Length: 100", begun),
            ("/robots.txt", "chunk") => cut("Transfer-Encoding: chunked", "1f\r\nuser-agent: *\n"),
            ("/robots.txt", "gzip") => cut("Content-Encoding: gzip", "\u{1f}"),
            ("/robots.txt", _) => {
                ServerAction::Hang(format!("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{begun}").into())
            }
            _ => page("<a href=\"/open\"><a href=\"/private\">"),
        })
        .await;
        let hasty = CrawlConfig { total_timeout: Duration::from_millis(200), ..config() };
        let hasty = CrawlConfig { robots_lifetime: Duration::from_millis(10), ..hasty };
        let engine = TestEngine::new(hasty, &[server.url("/")]);
        let summary = engine.crawl().await.unwrap();
        assert_eq!((summary.pages, summary.failed), (0, 1), "{kind}: {:?}", server.paths());
        let robots = engine.catalog.robots(&server.url("/robots.txt")).unwrap().unwrap();
        assert_eq!(robots.state, RobotsState::Unreachable, "{kind}");
        assert!(robots.reason.is_some(), "{kind}");
        // The second crawl reads the file; when it breaks off again, the last good copy stays in force.
        let summary = engine.crawl().await.unwrap();
        assert_eq!((summary.pages, summary.refused), (2, 1), "{kind}: {:?}", server.paths());
        assert_eq!(engine.reason(&server.url("/private")), "robots.txt: Disallow: /private", "{kind}");
    }
}

/// A clock that panics once, inside the request for `/panic`.
struct BreakingClock(Arc<AtomicBool>);

impl Clock for BreakingClock {
    fn now(&self) -> Timestamp {
        // Only requests run in tasks; the crawl loop does not.
        if tokio::task::try_id().is_some() && self.0.swap(false, Ordering::SeqCst) {
            panic!("the clock broke");
        }
        SystemClock.now()
    }
}

#[tokio::test]
async fn a_request_that_panics_is_a_failure_of_its_page_alone() {
    let broken = Arc::new(AtomicBool::new(false));
    let breaks = broken.clone();
    let server = TestServer::start(move |_, path| match path {
        "/robots.txt" => not_found(),
        "/" => page("<a href=\"/panic\"><a href=\"/long\"><a href=\"/other\">"),
        "/panic" => {
            breaks.store(true, Ordering::SeqCst);
            page("x")
        }
        "/long" => page(&"x".repeat(100_000)),
        _ => page("x"),
    })
    .await;
    let limited = CrawlConfig { body_limit: ByteSize(1000), ..config() };
    let mut engine = TestEngine::new(limited, &[server.url("/")]);
    engine.clock = Arc::new(BreakingClock(broken));
    let summary = engine.crawl().await.unwrap();
    assert_eq!((summary.pages, summary.failed, summary.ended), (3, 1, EndReason::NothingDue));
    assert_eq!(engine.page_details(&server.url("/panic")).unwrap().state, PageState::Failed);
    assert_eq!(engine.reason(&server.url("/panic")), "internal error: the clock broke");
    assert_eq!(engine.page_details(&server.url("/other")).unwrap().state, PageState::Stored);
    assert!(summary.bytes < 1100, "no answer takes more than its share of memory: {}", summary.bytes);
}

/// Every spelling of a non-public address, and every way an operator or a name could lead there.
#[tokio::test]
async fn private_addresses_are_refused() {
    let server = TestServer::start(|_, _| page("secret")).await;
    let port = server.port;
    let careful = CrawlConfig {
        allow_private: false,
        contact: "me@example.org".into(),
        resolve: vec![
            format!("given.example:{port}:127.0.0.1"),
            format!("metadata.example:{port}:169.254.169.254"),
        ],
        connect_to: vec![
            format!("sent.example::127.0.0.1:{port}"),
            format!("named.example::localhost:{port}"),
        ],
        ..config()
    };
    for host in [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "127.1",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "localhost",
        "given.example",
        "metadata.example",
        "sent.example",
        "named.example",
        "10.0.0.1",
        "169.254.169.254",
        "[fe80::1]",
        "[fd00:ec2::254]",
    ] {
        let error = get(&careful, &format!("http://{host}:{port}/")).await.unwrap_err();
        assert!(matches!(error, FetchError::PrivateAddress(_)), "{host}: {error}");
    }
    let error = reason(&careful, &format!("http://0x7f.1:{port}/")).await;
    assert_eq!(error, "private address 127.0.0.1 (allow with --allow-private)");
    assert!(server.log().is_empty(), "no request was sent");
}

#[tokio::test]
async fn public_addresses_need_a_contact() {
    let no_contact =
        CrawlConfig { contact: String::new(), resolve: vec!["a.example:80:8.8.8.8".into()], ..config() };
    for address in ["http://8.8.8.8/", "http://a.example/", "https://[2001:4860:4860::8888]/"] {
        let error = get(&no_contact, address).await.unwrap_err();
        assert!(matches!(error, FetchError::NoContact { .. }), "{error}");
        let command = format!("pharos crawl --contact you@example.org {address}");
        assert!(error.to_string().ends_with(&command), "{error}");
    }
}

#[tokio::test]
async fn connections_go_where_the_operator_says() {
    let server = TestServer::start(|host, _| page(host)).await;
    let port = server.port;
    let sent = CrawlConfig {
        resolve: vec![format!("a.example:{port}:127.0.0.1"), format!("c.example:{port}:127.0.0.1")],
        connect_to: vec![
            format!("b.example:80:c.example:{port}"),
            format!("d.example:::{port}"),
            format!("[::9]::127.0.0.1:{port}"),
        ],
        ..config()
    };
    let fetcher = Fetcher::new(&sent).unwrap();
    for (address, host) in
        [(format!("http://a.example:{port}/"), "a.example"), ("http://b.example/".into(), "b.example")]
    {
        let response = fetcher.get(&url(&address)).await.unwrap();
        assert_eq!(response.body, host.as_bytes(), "the name in the URL is requested");
        assert_eq!(response.address, Some("127.0.0.1".parse().unwrap()));
    }
    assert_eq!(fetcher.get(&url("http://[::9]/")).await.unwrap().status, 200);
    let bad = CrawlConfig { resolve: vec!["nonsense".into()], ..config() };
    assert!(Fetcher::new(&bad).err().unwrap().to_string().contains("--resolve nonsense"));
}
