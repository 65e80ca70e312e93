//! Robustness of the web server against hostile clients: the real binary over raw sockets.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Running, TestFolder, get, succeed};

/// Long enough for a busy machine; reached only if something is broken.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Larger than any head or body of a legitimate client.
const OVERSIZED: usize = 4 << 20;

/// One page in SOIF format.
const PAGE: &str = "@FILE{http://example.org/tower\nTitle{16}:\tThe old windmill\n\
                    Full-Text{33}:\tIts sails turn\nin the west wind.\n\n}\n";

#[test]
fn no_path_leads_to_files() {
    let server = Server::start(&[]);
    let paths = [
        "/static/../../etc/passwd",
        "/static/../../../../../../etc/passwd",
        "/static/..%2f..%2f..%2fetc%2fpasswd",
        "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/static/%252e%252e%252f%252e%252e%252fetc%252fpasswd",
        "/static/..%5c..%5cetc%5cpasswd",
        "/static/..\\..\\etc\\passwd",
        "/static/....//....//etc/passwd",
        "/static/%c0%ae%c0%ae/etc/passwd",
        "/static//etc/passwd",
        "/static/style.css%00.png",
        "/static/%00/etc/passwd",
        "/static/\0/etc/passwd",
        "/static/style.css/../../etc/passwd",
        "/../../../../etc/passwd",
        "//etc/passwd",
        "/etc/passwd",
        "/snapshot/..%2f..%2f..%2fetc%2fpasswd",
        "/snapshot/..%2f..%2fcatalog/content",
        "/snapshot/../../library/content",
        "/library",
        "/pharos.toml",
        "file:///etc/passwd",
    ];
    for path in paths {
        let answer = server.get(path);
        assert!(matches!(answer.status, Some(400 | 404)), "{path:?}: {answer}");
        server.leaks_nothing(path, &answer);
    }
    // File addresses in a parameter are rejected as well.
    for path in
        ["/clean?url=file:///etc/passwd", "/snapshot?url=file:///etc/passwd", "/api/v1/page?url=/etc/passwd"]
    {
        let answer = server.get(path);
        assert!(answer.status.is_some_and(|status| status < 500), "{path}: {answer}");
        server.leaks_nothing(path, &answer);
    }
    server.is_well();
}

#[test]
fn clients_cannot_inject_headers() {
    let server = Server::start(&[]);
    let attempts = [
        "%0d%0aX-Injected:%20yes",
        "x%0d%0aSet-Cookie:%20stolen=1;%20X-Injected=yes",
        "%0d%0a%0d%0a%3Cscript%3EX-Injected%3C/script%3E",
        "%0aX-Injected:%20yes",
        "%0dX-Injected:%20yes",
        "%00%0d%0aX-Injected:%20yes",
        "%250d%250aX-Injected:%20yes",
        "%E5%98%8D%E5%98%8AX-Injected:%20yes",
        "%c0%8d%c0%8aX-Injected:%20yes",
    ];
    let places = [
        "/?lang=",
        "/search?q=",
        "/search?q=sails&lang=",
        "/search?q=sails&page=",
        "/search?q=sails&sort=",
        "/search?q=&lang=en&x=",
        "/snapshot?url=",
        "/snapshot/",
        "/clean?url=",
        "/suggest?q=",
        "/opensearch.xml?lang=",
        "/api/v1/search?q=",
        "/api/v1/page?url=",
        "/api/v1/suggest?q=",
        "/api/v1/hot?q=",
        "/no/such/page/",
    ];
    for place in places {
        for attempt in attempts {
            let path = format!("{place}{attempt}");
            let answer = server.get(&path);
            assert!(answer.status.is_some_and(|status| status < 500), "{path}: {answer}");
            for (name, value) in answer.headers() {
                assert_ne!(name, "x-injected", "{path}: {answer}");
                assert!(!value.contains("stolen") || name == "location", "{path}: {answer}");
            }
            assert!(
                answer.headers().iter().any(|(name, _)| name == "x-content-type-options"),
                "{path}: the head was truncated: {answer}"
            );
        }
    }
    server.is_well();
}

#[test]
fn heads_have_a_limit() {
    let server = Server::start(&[("HEAD_LIMIT", "16KB")]);
    let much = "x".repeat(OVERSIZED);
    let many: String = (0..OVERSIZED / 16).map(|n| format!("X-{n}: {n}\r\n")).collect();
    let heads = [
        format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Long: {much}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{many}\r\n"),
        format!("GET /search?q={much} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
        // Just over the limit, so that all of it may have been read before it is rejected.
        format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Long: {}\r\n\r\n", "x".repeat(17 << 10)),
        // An endless head.
        much,
    ];
    for (number, head) in heads.iter().enumerate() {
        let answer = server.ask(head.as_bytes());
        assert!(
            matches!(answer.status, None | Some(400 | 414 | 431)),
            "head {number}, {} bytes: {answer}",
            head.len()
        );
        server.is_well();
    }
    let fits =
        format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Long: {}\r\n\r\n", "x".repeat(8 << 10));
    assert_eq!(server.ask(fits.as_bytes()).status, Some(200));
}

#[test]
fn bodies_have_a_limit() {
    let server = Server::start(&[]);
    let body = vec![b'x'; OVERSIZED];
    for path in ["/api/v1/click", "/search", "/"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
        let sized = format!("{head}Content-Length: {OVERSIZED}\r\n\r\n");
        // With `Expect: 100-continue`, as curl does.
        let announced = format!("{head}Content-Length: {OVERSIZED}\r\nExpect: 100-continue\r\n\r\n");
        assert_eq!(server.ask(announced.as_bytes()).status, Some(413), "{path}");
        let answer = server.ask(&[sized.as_bytes(), &body].concat());
        // A client that is still sending may not receive the response.
        assert!(matches!(answer.status, None | Some(413)), "{path}: {answer}");

        let chunk = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
        let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
        let answer = server.ask(&[chunked.as_bytes(), &chunk].concat());
        assert!(answer.status.is_none_or(|status| (400..500).contains(&status)), "{path}: {answer}");
        server.is_well();
    }
}

#[test]
fn slow_senders_are_disconnected_and_others_are_served() {
    let server = Server::start(&[("HEAD_TIMEOUT", "1s"), ("IDLE_TIMEOUT", "60s")]);
    let mut slow: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ").unwrap();
    }
    let deadline = Instant::now() + TIMEOUT;
    while !slow.is_empty() {
        assert!(Instant::now() < deadline, "{} slow clients are still listened to", slow.len());
        server.is_well();
        slow.retain_mut(|stream| stream.write_all(b"x").is_ok() && !has_ended(stream));
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn silent_connections_are_closed() {
    let server = Server::start(&[("HEAD_TIMEOUT", "1s"), ("IDLE_TIMEOUT", "1s")]);
    let mut silent = server.connect();
    let mut served = server.connect();
    served.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut all = String::new();
    served.read_to_string(&mut all).expect("an answer, and the end");
    assert!(all.starts_with("HTTP/1.1 200 ") && all.ends_with("ok\n"), "{all}");
    let deadline = Instant::now() + TIMEOUT;
    while !has_ended(&mut silent) {
        assert!(Instant::now() < deadline, "it is still listened to");
    }
}

#[test]
fn a_connection_stays_open_while_requests_arrive() {
    let server = Server::start(&[("HEAD_TIMEOUT", "2s"), ("IDLE_TIMEOUT", "2s")]);
    let mut stream = server.connect();
    for _ in 0..8 {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"ok\n") {
            let mut part = [0; 4096];
            let length = stream.read(&mut part).unwrap();
            assert!(length > 0, "it was closed under way: {}", String::from_utf8_lossy(&answer));
            answer.extend(&part[..length]);
        }
        thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn idle_connections_do_not_block_new_ones() {
    let server = Server::start(&[]);
    let idle: Vec<TcpStream> = (0..400).map(|_| server.connect()).collect();
    for _ in 0..20 {
        server.is_well();
    }
    drop(idle);

    // If slow clients occupy every connection, their timeout ends them.
    let server = Server::start(&[("CONNECTIONS", "40"), ("HEAD_TIMEOUT", "1s"), ("IDLE_TIMEOUT", "1s")]);
    let idle: Vec<TcpStream> = (0..60).map(|_| server.connect()).collect();
    server.is_well();
    drop(idle);
}

#[test]
fn invalid_requests_do_no_harm() {
    // Some inputs are incomplete heads, which wait for more bytes.
    let server = Server::start(&[("HEAD_TIMEOUT", "1s"), ("IDLE_TIMEOUT", "1s")]);
    // The first bytes of a TLS handshake, from a browser that used https.
    let tls = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\xd1\x91\x07\x1f\x00\x13\x02\x13\x03".repeat(20);
    let noise: Vec<u8> = (0..10_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let refused: [&[u8]; 17] = [
        b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1.1\r\nHost: a\r\n\r\n",
        b"GET / FTP/1.0\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET\r\n\r\n",
        b"G\x00T / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\r\n\r\n\r\n\x00\x00\x00\x00",
        b"{\"json\": true}\r\n\r\n",
        &tls,
        &noise,
    ];
    for bytes in refused {
        let answer = server.ask(bytes);
        assert!(
            answer.status.is_none_or(|status| (400..500).contains(&status) || status == 505),
            "{:?}: {answer}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
        );
    }
    // Unusual, but may be answered.
    let odd: [&[u8]; 5] = [
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\nCookie: \xff\r\nAccept-Language: \xff\r\nConnection: close\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    ];
    for bytes in odd {
        let answer = server.ask(bytes);
        assert!(
            answer.status.is_none_or(|status| status < 500),
            "{:?}: {answer}",
            String::from_utf8_lossy(bytes)
        );
    }
    // Two lengths: the bytes after the first body are not a second request.
    let smuggled = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let length = smuggled.len();
    let two = format!(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\nContent-Length: 0\r\n\r\n{smuggled}"
    );
    let answer = server.ask(two.as_bytes());
    assert!(!answer.text.contains("\r\n\r\nok\n"), "{answer}");
    server.is_well();
}

#[test]
fn heads_must_have_one_host_and_whole_line_endings() {
    let server = Server::start(&[]);
    let refused = [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a, b@c\r\n\r\n",
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: y\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\n",
        "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    ];
    for head in refused {
        // Requests without `Connection: close` would keep the connection open.
        let closed = head.replacen("HTTP/1.1\r\n", "HTTP/1.1\r\nConnection: close\r\n", 1);
        let answer = server.ask(closed.as_bytes());
        assert_eq!(answer.status, Some(400), "{head:?}: {answer}");
        assert_eq!(answer.text.matches("HTTP/1.1 ").count(), 1, "{head:?}: {answer}");
    }
    // A bare line feed in the second request, and in a body, where it is allowed.
    let good = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    let second = server.ask(format!("{good}GET /healthz HTTP/1.1\nHost: a\r\n\r\n").as_bytes());
    assert!(
        second.text.contains("HTTP/1.1 400 ") && second.text.matches("\r\n\r\nok\n").count() <= 1,
        "{second}"
    );
    let body = "POST /api/v1/click HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na=1\n\n\n&b=";
    let after =
        server.ask(format!("{body}GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes());
    assert!(after.text.ends_with("\r\n\r\nok\n"), "{after}");
    // The end of a chunked body is not followed, so no request may come after it.
    let chunked = "POST /api/v1/click HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let answer = server.ask(format!("{chunked}{good}").as_bytes());
    assert!(answer.status.is_some() && !answer.text.contains("\r\n\r\nok\n"), "{answer}");
    server.is_well();
}

#[test]
fn http_2_works_without_tls() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    // The preface and empty settings (RFC 9113 §3.4, §6.5).
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00").unwrap();
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).unwrap();
    assert_eq!(frame[3], 4, "the first frame is settings: {frame:?}");

    // A whole request, if curl supports HTTP/2.
    let has_http_2 = Command::new("curl").arg("--version").output();
    if !has_http_2.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("HTTP2")) {
        return;
    }
    let url = format!("http://{}/search?q=sails", server.address);
    let curl = Command::new("curl")
        .args(["--silent", "--noproxy", "*", "--max-time", "20", "--http2-prior-knowledge"])
        .args(["--write-out", "\n%{http_version} %{http_code}", &url])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let page = String::from_utf8_lossy(&curl.stdout);
    assert!(page.ends_with("\n2 200") && page.contains("example.org"), "{page}");
}

#[test]
fn a_signal_ends_it_during_requests() {
    for signal in ["TERM", "INT"] {
        let mut server = Server::start(&[]);
        let idle = server.connect();
        let mut half = server.connect();
        half.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n").unwrap();
        let address = server.address.clone();
        let is_over = AtomicBool::new(false);
        let status = thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        let Ok(answer) = exchange(
                            &address,
                            b"GET /search?q=sails HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
                        ) else {
                            break;
                        };
                        // Started responses are completed.
                        assert!(answer.status.is_none() || answer.text.contains("</html>"), "{answer}");
                    }
                });
            }
            thread::sleep(Duration::from_millis(300));
            server.running.signal(signal);
            let status = server.end();
            is_over.store(true, Ordering::Relaxed);
            status
        });
        assert!(status.is_some_and(|status| status.success()), "{signal}: {status:?} after {TIMEOUT:?}");
        drop((idle, half));
    }
}

/// `pharos serve` with one page.
struct Server {
    address: String,
    running: Running,
    desk: TestFolder,
}

impl Server {
    /// Starts the server with settings of `[web]`.
    fn start(settings: &[(&str, &str)]) -> Self {
        let desk = TestFolder::new();
        desk.file("page.soif", PAGE);
        succeed(&mut desk.on("data", &["-q", "import", "page.soif"]));
        let mut command = desk.on("data", &["serve", "--listen", "127.0.0.1:0"]);
        for (name, value) in settings {
            command.env(format!("PHAROS_WEB_{name}"), value);
        }
        let mut running = Running::start(&mut command);
        let address = running.address();
        Self { address, running, desk }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    #[track_caller]
    fn ask(&self, bytes: &[u8]) -> Answer {
        exchange(&self.address, bytes).unwrap_or_else(|error| panic!("it cannot be reached: {error}"))
    }

    /// Sends the path unchanged.
    #[track_caller]
    fn get(&self, path: &str) -> Answer {
        self.ask(format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes())
    }

    /// Checks that the server still answers other clients.
    #[track_caller]
    fn is_well(&self) {
        let (status, page) = get(&self.address, "/search?q=sails");
        assert!(status == 200 && page.contains("example.org"), "{status}: {page}");
    }

    /// Checks that a response contains nothing from files of this machine.
    #[track_caller]
    fn leaks_nothing(&self, path: &str, answer: &Answer) {
        let folder = self.desk.path("data");
        let secrets = ["root:", "/bin/", "[package]", "[web]", folder.to_str().unwrap()];
        for secret in secrets {
            assert!(!answer.text.contains(secret), "{path:?} leaks {secret:?}: {answer}");
        }
    }

    /// Returns the exit status, if the server exited in time.
    fn end(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline {
            if let Some(status) = self.running.0.try_wait().unwrap() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(50));
        }
        None
    }
}

/// Everything received until the connection closed.
struct Answer {
    /// `None` if it was closed without a response.
    status: Option<u16>,
    text: String,
}

impl Answer {
    /// Returns the headers, with names in lower case.
    fn headers(&self) -> Vec<(String, &str)> {
        let head = self.text.split("\r\n\r\n").next().unwrap_or_default();
        // Many clients accept a bare line feed as the end of a line.
        let lines = head.split(['\r', '\n']).skip(1).filter_map(|line| line.split_once(':'));
        lines.map(|(name, value)| (name.trim().to_lowercase(), value.trim())).collect()
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let beginning: String = self.text.chars().take(2000).collect();
        write!(f, "{beginning:?}")
    }
}

/// Sends bytes and reads until the server closes. A server that rejects early may close while the client still sends.
fn exchange(address: &str, bytes: &[u8]) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let sent = stream.write_all(bytes);
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        assert!(!is_timeout(&error), "no end after {TIMEOUT:?}: {:?}", String::from_utf8_lossy(&answer));
    }
    if let Err(error) = sent {
        assert!(!is_timeout(&error), "the server did not read for {TIMEOUT:?}");
    }
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    assert!(status.is_some() || text.is_empty(), "no answer of HTTP/1: {text:?}");
    Ok(Answer { status, text })
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Returns `true` if the server has closed this connection, after waiting briefly.
fn has_ended(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    loop {
        match stream.read(&mut [0; 1000]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return !is_timeout(&error),
        }
    }
}
