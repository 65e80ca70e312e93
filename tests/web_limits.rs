//! What strangers may do to the web server, and what not: the real binary over raw sockets.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{Desk, Running, get, succeed};

/// Long enough for a busy machine; nobody waits for it unless something is broken.
const PATIENCE: Duration = Duration::from_secs(20);

/// More than any head or body of an honest client.
const TOO_MUCH: usize = 4 << 20;

/// One page, as another engine describes it.
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
        server.tells_nothing(path, &answer);
    }
    // Addresses of files in a parameter are no better.
    for path in
        ["/clean?url=file:///etc/passwd", "/snapshot?url=file:///etc/passwd", "/api/v1/page?url=/etc/passwd"]
    {
        let answer = server.get(path);
        assert!(answer.status.is_some_and(|status| status < 500), "{path}: {answer}");
        server.tells_nothing(path, &answer);
    }
    server.is_well();
}

#[test]
fn nobody_writes_into_our_headers() {
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
                "{path}: the head was cut short: {answer}"
            );
        }
    }
    server.is_well();
}

#[test]
fn heads_have_a_limit() {
    let server = Server::start(&[("HEAD_LIMIT", "16KB")]);
    let much = "x".repeat(TOO_MUCH);
    let many: String = (0..TOO_MUCH / 16).map(|n| format!("X-{n}: {n}\r\n")).collect();
    let heads = [
        format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Long: {much}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{many}\r\n"),
        format!("GET /search?q={much} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
        // Just over the limit, so that all of it may have been read before it is refused.
        format!("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Long: {}\r\n\r\n", "x".repeat(17 << 10)),
        // Never an end.
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
    let body = vec![b'x'; TOO_MUCH];
    for path in ["/api/v1/click", "/search", "/"] {
        let head = format!("POST {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
        let sized = format!("{head}Content-Length: {TOO_MUCH}\r\n\r\n");
        // Asked first whether it may come, as curl does.
        let announced = format!("{head}Content-Length: {TOO_MUCH}\r\nExpect: 100-continue\r\n\r\n");
        assert_eq!(server.ask(announced.as_bytes()).status, Some(413), "{path}");
        let answer = server.ask(&[sized.as_bytes(), &body].concat());
        // Whoever still sends when the answer comes may not get to see it.
        assert!(matches!(answer.status, None | Some(413)), "{path}: {answer}");

        let chunk = [format!("{:x}\r\n", body.len()).as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
        let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
        let answer = server.ask(&[chunked.as_bytes(), &chunk].concat());
        assert!(answer.status.is_none_or(|status| (400..500).contains(&status)), "{path}: {answer}");
        server.is_well();
    }
}

#[test]
fn who_sends_a_byte_now_and_then_is_cut_off_and_others_are_served() {
    let server = Server::start(&[("HEAD_TIMEOUT", "1s"), ("IDLE_TIMEOUT", "60s")]);
    let mut slow: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ").unwrap();
    }
    let deadline = Instant::now() + PATIENCE;
    while !slow.is_empty() {
        assert!(Instant::now() < deadline, "{} slow clients are still listened to", slow.len());
        server.is_well();
        slow.retain_mut(|stream| stream.write_all(b"x").is_ok() && !has_ended(stream));
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn who_says_nothing_is_let_go() {
    let server = Server::start(&[("HEAD_TIMEOUT", "1s"), ("IDLE_TIMEOUT", "1s")]);
    let mut silent = server.connect();
    let mut served = server.connect();
    served.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let mut all = String::new();
    served.read_to_string(&mut all).expect("an answer, and the end");
    assert!(all.starts_with("HTTP/1.1 200 ") && all.ends_with("ok\n"), "{all}");
    let deadline = Instant::now() + PATIENCE;
    while !has_ended(&mut silent) {
        assert!(Instant::now() < deadline, "it is still listened to");
    }
}

#[test]
fn a_connection_serves_as_long_as_something_is_asked() {
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
fn idle_connections_keep_nobody_out() {
    let server = Server::start(&[]);
    let idle: Vec<TcpStream> = (0..400).map(|_| server.connect()).collect();
    for _ in 0..20 {
        server.is_well();
    }
    drop(idle);

    // Where they have taken every place there is, their time runs out.
    let server = Server::start(&[("CONNECTIONS", "40"), ("HEAD_TIMEOUT", "1s"), ("IDLE_TIMEOUT", "1s")]);
    let idle: Vec<TcpStream> = (0..60).map(|_| server.connect()).collect();
    server.is_well();
    drop(idle);
}

#[test]
fn what_is_no_request_breaks_nothing() {
    // Some of it is no whole head, and waits for more.
    let server = Server::start(&[("HEAD_TIMEOUT", "1s"), ("IDLE_TIMEOUT", "1s")]);
    // The first bytes of a TLS handshake: a browser that was told https.
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
    // Odd, but it may be answered.
    let odd: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
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
    // Two lengths: what stands behind the first is no second request.
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
fn http_2_is_spoken_in_the_clear() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    // The preface, and settings that change nothing (RFC 9113 §3.4, §6.5).
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00").unwrap();
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).unwrap();
    assert_eq!(frame[3], 4, "the first frame is settings: {frame:?}");

    // A whole request, where there is a curl that can.
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
fn a_signal_ends_it_while_requests_run() {
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
                        // What was begun is finished.
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
        assert!(status.is_some_and(|status| status.success()), "{signal}: {status:?} after {PATIENCE:?}");
        drop((idle, half));
    }
}

/// `pharos serve` over one page.
struct Server {
    address: String,
    running: Running,
    desk: Desk,
}

impl Server {
    /// With settings of `[web]`.
    fn start(settings: &[(&str, &str)]) -> Self {
        let desk = Desk::new();
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
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    #[track_caller]
    fn ask(&self, bytes: &[u8]) -> Answer {
        exchange(&self.address, bytes).unwrap_or_else(|error| panic!("it cannot be reached: {error}"))
    }

    /// The path goes out as it is, whatever is in it.
    #[track_caller]
    fn get(&self, path: &str) -> Answer {
        self.ask(format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes())
    }

    /// It still answers others.
    #[track_caller]
    fn is_well(&self) {
        let (status, page) = get(&self.address, "/search?q=sails");
        assert!(status == 200 && page.contains("example.org"), "{status}: {page}");
    }

    /// Nothing of this machine's files is in an answer.
    #[track_caller]
    fn tells_nothing(&self, path: &str, answer: &Answer) {
        let folder = self.desk.path("data");
        let secrets = ["root:", "/bin/", "[package]", "[web]", folder.to_str().unwrap()];
        for secret in secrets {
            assert!(!answer.text.contains(secret), "{path:?} tells {secret:?}: {answer}");
        }
    }

    /// How it ended, if it did in time.
    fn end(&mut self) -> Option<ExitStatus> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.running.0.try_wait().unwrap() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(50));
        }
        None
    }
}

/// What came back until the end of the connection.
struct Answer {
    /// None where it was closed without a word.
    status: Option<u16>,
    text: String,
}

impl Answer {
    /// Names in lower case.
    fn headers(&self) -> Vec<(String, &str)> {
        let head = self.text.split("\r\n\r\n").next().unwrap_or_default();
        // A bare line feed ends a line for many a client.
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

/// Sends bytes, and reads until the server closes. Who refuses early may close while we still send.
fn exchange(address: &str, bytes: &[u8]) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let sent = stream.write_all(bytes);
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        assert!(!is_timeout(&error), "no end after {PATIENCE:?}: {:?}", String::from_utf8_lossy(&answer));
    }
    if let Err(error) = sent {
        assert!(!is_timeout(&error), "nobody reads for {PATIENCE:?}");
    }
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    assert!(status.is_some() || text.is_empty(), "no answer of HTTP/1: {text:?}");
    Ok(Answer { status, text })
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Has the server closed this connection? Looks for a moment.
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
