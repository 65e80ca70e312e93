//! Test rig for end-to-end tests: a test web in this process, the real binary, and a temporary data directory.

pub mod axe;
pub mod browser;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use pharos_core::Config;
use pharos_engine::Stores;
use pharos_store::{DataDir, LibraryPosition, RecordContent, StoredRecord};
use pharos_testweb::{ServeOptions, Server, Truth, Web, WebSpec};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Returns `true` if loops run with their full counts.
pub fn long() -> bool {
    std::env::var_os("PHAROS_LONG").is_some()
}

/// Polls until the condition is true. The time limit only ends a test that would never end.
#[track_caller]
pub fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_true() {
        assert!(Instant::now() < deadline, "it never came true: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub struct Rig {
    pub runtime: Runtime,
    pub server: Server,
    pub dir: TempDir,
}

impl Rig {
    pub fn new(spec: WebSpec, options: ServeOptions) -> Self {
        Self::over(Web::generate(&spec), options)
    }

    pub fn over(web: Web, options: ServeOptions) -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(Server::start(web, options)).unwrap();
        Self { runtime, server, dir: tempfile::tempdir().unwrap() }
    }

    pub fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub fn truth(&self) -> Truth {
        self.server.truth()
    }

    /// Returns a command of the binary on this rig's data directory.
    pub fn pharos(&self, arguments: &[&str]) -> Command {
        let mut command = pharos();
        command.arg("--data").arg(self.data()).args(arguments);
        command
    }

    /// Returns `crawl` or `up` over the whole test web. Tests start builds themselves.
    pub fn crawl(&self, command: &str) -> Command {
        let mut command = self.pharos(&[command, "--allow-private", "--politeness", "own-site"]);
        command.env("PHAROS_INDEX_FIRST_BUILD", "0");
        for resolve in self.server.resolve_args() {
            command.arg("--resolve").arg(resolve);
        }
        command.args(self.server.seeds());
        command
    }

    /// Returns all records of the library.
    pub fn records(&self) -> Vec<StoredRecord> {
        let library = stores(&self.data()).library().unwrap();
        library.scan(LibraryPosition::START, None).unwrap().map(|record| record.unwrap()).collect()
    }

    /// Returns how often each page is stored, by URL, without robots.txt files.
    pub fn stored(&self) -> BTreeMap<String, usize> {
        let mut stored = BTreeMap::new();
        for record in self.records() {
            let url = &record.record.url;
            if matches!(record.record.content, RecordContent::Response(_))
                && url.path_and_query() != "/robots.txt"
            {
                *stored.entry(url.to_string()).or_default() += 1;
            }
        }
        stored
    }
}

/// Opens the stores of a data directory with default settings.
pub fn stores(data: &Path) -> Stores {
    Stores::open(&DataDir::at(data), &Config::default()).unwrap()
}

/// Returns the binary, without settings from the environment.
pub fn pharos() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pharos"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PHAROS_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns a command whose permissions count: the superuser may otherwise read and write everything. It stays
/// the same user, who can reach the directory wherever the tests run.
pub fn bound_by_permissions(command: &Command) -> Command {
    let mut bound = if fs::metadata("/proc/self").unwrap().uid() == 0 {
        let mut setpriv = Command::new("setpriv");
        setpriv.arg("--bounding-set=-dac_override,-dac_read_search").arg(command.get_program());
        setpriv
    } else {
        Command::new(command.get_program())
    };
    bound.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => bound.env(name, value),
            None => bound.env_remove(name),
        };
    }
    bound.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    bound
}

/// Runs a command to its end and asserts success.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", describe(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command to its end and asserts exit code 2 with one line on stderr, which is returned.
pub fn fail(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{command:?}\n{}", describe(&output));
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.trim_end().lines().count(), 1, "one line, not: {error}");
    error
}

pub fn describe(output: &Output) -> String {
    format!(
        "{}\n--- stdout\n{}\n--- stderr\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// A child process that is killed when the test ends.
pub struct Running(pub Child);

impl Running {
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}")))
    }

    pub fn signal(&self, name: &str) {
        let status =
            Command::new("kill").arg(format!("-{name}")).arg(self.0.id().to_string()).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the line on stderr that contains the address, and returns the address.
    pub fn address(&mut self) -> String {
        use std::io::{BufRead, BufReader};
        let mut stderr = BufReader::new(self.0.stderr.take().unwrap());
        let mut all = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it ended without an address: {all}");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split('/').next().unwrap().to_string();
            }
            all.push_str(&line);
        };
        // Later output must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        address
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a GET request to the engine and returns status and body.
pub fn get(address: &str, path: &str) -> (u16, String) {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    (status, if chunked { unchunk(body) } else { body.to_string() })
}

fn unchunk(mut body: &str) -> String {
    let mut out = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        out.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    out
}

/// Percent-encodes a query.
pub fn encode(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// A temporary folder with data directories and files.
pub struct TestFolder(TempDir);

impl TestFolder {
    /// Creates an empty folder.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Returns the path of a file or directory in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Returns a command on one of the data directories.
    pub fn on(&self, data: &str, arguments: &[&str]) -> Command {
        let mut command = pharos();
        command.current_dir(self.0.path()).args(["--data", data]).args(arguments);
        command
    }

    /// Returns the JSON output of a command.
    pub fn json(&self, data: &str, arguments: &[&str]) -> Value {
        serde_json::from_str(&succeed(self.on(data, arguments).arg("--json"))).unwrap()
    }

    /// Returns the addresses that a query finds.
    pub fn finds(&self, data: &str, query: &str) -> Vec<String> {
        let output = self.on(data, &["--json", "search", "--all", query]).output().unwrap();
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", describe(&output)));
        let hits = answer["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["url"].as_str().unwrap().to_string()).collect()
    }
}
