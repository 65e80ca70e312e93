//! One request against servers of every kind.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Reply, Server, answer, config, page, redirect, url};
use pharos_core::config::{CrawlConfig, Size};
use pharos_crawl::{FetchError, Fetcher};
use pharos_store::{Response, Truncated};

async fn get(config: &CrawlConfig, address: &str) -> Result<Response, FetchError> {
    Fetcher::new(config).unwrap().get(&url(address)).await
}

async fn reason(config: &CrawlConfig, address: &str) -> String {
    get(config, address).await.unwrap_err().to_string()
}

#[tokio::test]
async fn an_answer_comes_as_it_was_sent() {
    let server = Server::start(|_, _| {
        Reply::Bytes(
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
    assert!(head.contains(&agent) && head.contains("accept-encoding: gzip, br, deflate"), "{head}");
    assert!(head.contains(&format!("host: 127.0.0.1:{}", server.port)), "{head}");
}

#[tokio::test]
async fn a_redirect_is_an_answer() {
    let server = Server::start(|_, _| redirect("/elsewhere")).await;
    let response = Fetcher::new(&config()).unwrap().get(&server.url("/")).await.unwrap();
    assert_eq!((response.status, response.header("Location")), (302, Some("/elsewhere")));
    assert_eq!(server.paths(), ["/"]);
}

#[tokio::test]
async fn a_long_body_is_cut() {
    let server = Server::start(|_, path| match path {
        "/exact" => page(&"x".repeat(1000)),
        _ => page(&"x".repeat(100_000)),
    })
    .await;
    let fetcher = Fetcher::new(&CrawlConfig { body_limit: Size(1000), ..config() }).unwrap();
    let long = fetcher.get(&server.url("/long")).await.unwrap();
    assert_eq!((long.body.len(), long.truncated), (1000, Some(Truncated::Length)));
    let exact = fetcher.get(&server.url("/exact")).await.unwrap();
    assert_eq!((exact.body.len(), exact.truncated), (1000, None));
}

#[tokio::test]
async fn what_came_before_a_break_is_kept() {
    let server = Server::start(|_, path| match path {
        "/break" => Reply::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbeginning".to_vec()),
        "/chunk" => {
            Reply::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbeginning\r\n".to_vec())
        }
        _ => Reply::Hang(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbeginning".to_vec()),
    })
    .await;
    let short = CrawlConfig { total_timeout: Duration::from_millis(300), ..config() };
    let fetcher = Fetcher::new(&short).unwrap();
    for (path, truncated) in
        [("/break", Truncated::Disconnect), ("/chunk", Truncated::Disconnect), ("/hang", Truncated::Time)]
    {
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
    let server = Server::start(|_, path| match path {
        "/silent" => Reply::Hang(Vec::new()),
        _ => Reply::Hang(b"HTTP/1.1 200 OK\r\nX-Half: he".to_vec()),
    })
    .await;
    let short = CrawlConfig { first_byte_timeout: Duration::from_millis(200), ..config() };
    for path in ["/silent", "/half"] {
        let reason = reason(&short, server.url(path).as_str()).await;
        assert_eq!(reason, "timed out after 0.2 s waiting for an answer", "{path}");
    }
    let short = CrawlConfig { total_timeout: Duration::from_millis(200), ..config() };
    assert_eq!(reason(&short, server.url("/silent").as_str()).await, "timed out after 0.2 s in all");
}

#[tokio::test]
async fn what_is_no_answer_is_told() {
    let server = Server::start(|_, path| match path {
        "/close" => Reply::Close(Vec::new()),
        "/huge" => answer(200, &format!("X-Huge: {}\r\n", "x".repeat(1 << 20)), ""),
        "/many" => answer(200, &"X-Many: x\r\n".repeat(10_000), ""),
        _ => Reply::Close(b"SSH-2.0-OpenSSH_9.9\r\n\r\n".to_vec()),
    })
    .await;
    let told = async |path: &str| reason(&config(), server.url(path).as_str()).await;
    assert_eq!(told("/close").await, "the connection closed before an answer came");
    assert_eq!(told("/huge").await, "the header is longer than 128 KB");
    assert_eq!(told("/many").await, "the header is longer than 128 KB");
    assert_eq!(told("/ssh").await, "the answer is not HTTP");
    let unused = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(reason(&config(), &format!("http://{unused}/")).await, "connection refused");
}

#[tokio::test]
async fn a_server_without_tls_is_told() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ =
                tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    assert_eq!(reason(&config(), &format!("https://{address}/")).await, "tls: the server does not speak it");
}

#[tokio::test]
async fn connections_are_kept_and_a_stale_one_is_replaced() {
    let asked = AtomicUsize::new(0);
    let server = Server::start(move |_, _| match asked.fetch_add(1, Ordering::SeqCst) {
        // The server closes the connection just when it is used again.
        2 => Reply::Close(Vec::new()),
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

/// Every spelling of an address that is not public, and every way an operator or a name could lead there.
#[tokio::test]
async fn private_addresses_are_refused() {
    let server = Server::start(|_, _| page("secret")).await;
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
    let told = reason(&careful, &format!("http://0x7f.1:{port}/")).await;
    assert_eq!(told, "private address 127.0.0.1 (allow with --allow-private)");
    assert!(server.log().is_empty(), "nothing was asked");
}

#[tokio::test]
async fn public_addresses_need_a_contact() {
    let nobody =
        CrawlConfig { contact: String::new(), resolve: vec!["a.example:80:8.8.8.8".into()], ..config() };
    for address in ["http://8.8.8.8/", "http://a.example/", "https://[2001:4860:4860::8888]/"] {
        let error = get(&nobody, address).await.unwrap_err();
        assert!(matches!(error, FetchError::NoContact(_)), "{error}");
        assert!(error.to_string().contains("--contact you@example.org"), "{error}");
    }
}

#[tokio::test]
async fn connections_go_where_the_operator_says() {
    let server = Server::start(|host, _| page(host)).await;
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
        assert_eq!(response.body, host.as_bytes(), "the name in the URL is the one that is asked for");
        assert_eq!(response.address, Some("127.0.0.1".parse().unwrap()));
    }
    assert_eq!(fetcher.get(&url("http://[::9]/")).await.unwrap().status, 200);
    let bad = CrawlConfig { resolve: vec!["nonsense".into()], ..config() };
    assert!(Fetcher::new(&bad).err().unwrap().to_string().contains("--resolve nonsense"));
}
