//! A minimal client and a minimal crawler, simple enough to be obviously correct.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;

use pharos_testweb::Server;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use url::Url;

pub(crate) struct TestResponse {
    pub(crate) status: u16,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl TestResponse {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Decodes the body as declared in the header or in its first lines.
    pub(crate) fn text(&self) -> String {
        let start = String::from_utf8_lossy(&self.body[..self.body.len().min(600)]).to_lowercase();
        let declared = format!("{} {start}", self.header("content-type").to_lowercase());
        let gbk = declared.contains("charset=gb") || declared.contains("charset=\"gbk");
        let encoding = if gbk { encoding_rs::GBK } else { encoding_rs::UTF_8 };
        let (text, _, broken) = encoding.decode(&self.body);
        assert!(!broken, "the body is not in the encoding it declares");
        text.into_owned()
    }
}

/// A keep-alive connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Client {
        Client { stream: BufReader::new(TcpStream::connect(address).await.expect("connects")) }
    }

    pub(crate) async fn get(&mut self, url: &str, headers: &[(&str, &str)]) -> TestResponse {
        let url = Url::parse(url).expect("an absolute URL");
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let mut request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: tiny/1\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        self.stream.write_all(request.as_bytes()).await.expect("writes");
        let status = self.line().await;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let mut headers = HashMap::new();
        loop {
            let line = self.line().await;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        let length = headers.get("content-length").map_or(0, |length| length.parse().expect("a number"));
        let mut body = vec![0; if status == 304 { 0 } else { length }];
        self.stream.read_exact(&mut body).await.expect("the whole body");
        TestResponse { status, headers, body }
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).await.expect("a line");
        line.trim_end().to_owned()
    }
}

/// Returns the URLs of `<a href="…">` and `<frame … src="…">`, in order, without fragments.
pub(crate) fn links(base: &str, html: &str) -> Vec<String> {
    let base = Url::parse(base).expect("an absolute URL");
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let tag = &rest[..rest.find('>').unwrap_or(rest.len())];
        let value = match tag.split(' ').next() {
            Some("a") => tag.split("href=\"").nth(1),
            Some("frame") => tag.split("src=\"").nth(1),
            _ => None,
        };
        if let Some(value) = value.and_then(|value| value.split('"').next()) {
            let mut url = base.join(&value.replace("&amp;", "&")).expect("a good link");
            url.set_fragment(None);
            found.push(url.to_string());
        }
    }
    found
}

/// Follows links, frames and redirects from the seeds, obeys robots.txt, and returns the status of each requested
/// URL.
pub(crate) async fn follow(server: &Server) -> BTreeMap<String, u16> {
    let mut client = Client::connect(server.address()).await;
    let hosts: Vec<String> = server.web().hosts().iter().map(|host| host.name.clone()).collect();
    let mut robots: HashMap<String, Vec<(bool, String)>> = HashMap::new();
    for seed in server.seeds() {
        let host = Url::parse(&seed).expect("a seed").host_str().expect("a host").to_owned();
        robots.insert(host, rules(&client.get(&format!("{seed}robots.txt"), &[]).await));
    }
    let mut seen = BTreeMap::new();
    let mut queue = server.seeds();
    while let Some(url) = queue.pop() {
        let parsed = Url::parse(&url).expect("a URL");
        let host = parsed.host_str().expect("a host").to_owned();
        let path = &parsed[url::Position::BeforePath..url::Position::AfterQuery];
        if seen.contains_key(&url) || !hosts.contains(&host) || !allowed(&robots[&host], path) {
            continue;
        }
        let answer = client.get(&url, &[]).await;
        seen.insert(url.clone(), answer.status);
        match answer.status {
            200 => queue.extend(links(&url, &answer.text())),
            301 | 302 | 308 => {
                queue.push(parsed.join(answer.header("location")).expect("a location").to_string())
            }
            _ => {}
        }
    }
    seen
}

fn rules(answer: &TestResponse) -> Vec<(bool, String)> {
    if answer.status != 200 {
        return Vec::new();
    }
    let text = answer.text();
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    lines
        .filter(|(name, _)| *name != "User-agent")
        .map(|(name, pattern)| (name == "Allow", pattern.to_owned()))
        .collect()
}

/// Returns `true` if the longest match allows the path; a pattern contains at most one `*`.
fn allowed(rules: &[(bool, String)], path: &str) -> bool {
    let matching = rules.iter().filter(|(_, pattern)| match pattern.split_once('*') {
        Some((start, middle)) => path.strip_prefix(start).is_some_and(|rest| rest.contains(middle)),
        None => path.starts_with(pattern),
    });
    matching.max_by_key(|(_, pattern)| pattern.len()).is_none_or(|(allow, _)| *allow)
}
