//! Runs wrk with a script of requests, and parses its results.

use std::fs;
use std::io::Read as _;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use bench_web::Outcome;
use serde_json::Value;
use tempfile::TempDir;

/// With 10,000 connections in a closed loop every request waits; that alone is not an error.
const TIMEOUT: &str = "60s";

/// Connections take a while to open; wrk is killed after this time.
const GRACE: Duration = Duration::from_secs(120);

/// Each thread of wrk has its own Lua state: `setup` numbers them, so that they share the list of paths.
const SCRIPT: &str = r#"
local threads = 0
function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end

local paths, at, step = {}, 0, 1
function init(arguments)
    for line in io.lines(arguments[1]) do
        paths[#paths + 1] = line
    end
    at, step = tonumber(arguments[2]) + number, tonumber(arguments[3])
    wrk.headers["Accept"] = "text/html"
    wrk.headers["Accept-Encoding"] = "gzip, deflate, br"
    if #paths <= 1000 then
        for place, path in ipairs(paths) do
            paths[place] = wrk.format("GET", path)
        end
        function request()
            at = at + step
            return paths[at % #paths + 1]
        end
    end
end

function request()
    at = at + step
    return wrk.format("GET", paths[at % #paths + 1])
end

function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format(
        '\nFIGURES {"requests": %d, "micros": %d, "bytes": %d, "p50": %.1f, "p99": %.1f, "max": %.1f, '
            .. '"connect": %d, "read": %d, "write": %d, "timeout": %d, "status": %d}\n',
        summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99), latency.max,
        errors.connect, errors.read, errors.write, errors.timeout, errors.status))
end
"#;

/// Number of cores of the reference machine.
const THREADS: usize = 2;

pub struct Wrk {
    dir: TempDir,
}

/// Results of wrk; times in µs.
pub struct Figures {
    pub requests: usize,
    pub per_second: f64,
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
    /// By kind: connect, read, write, timeout, status other than 2xx and 3xx.
    pub errors: Vec<(&'static str, u64)>,
}

impl Figures {
    /// Returns all errors by kind.
    pub fn trouble(&self) -> String {
        let bad: Vec<_> =
            self.errors.iter().filter(|(_, n)| *n > 0).map(|(kind, n)| format!("{n} {kind}")).collect();
        if bad.is_empty() { "none".into() } else { bad.join(", ") }
    }
}

impl Wrk {
    /// Returns `None` if wrk is not installed.
    pub fn find() -> Outcome<Option<Self>> {
        let version =
            Command::new("wrk").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if version.is_err() {
            return Ok(None);
        }
        let dir = tempfile::tempdir()?;
        fs::write(dir.path().join("script.lua"), SCRIPT)?;
        Ok(Some(Self { dir }))
    }

    /// Runs wrk: all connections together request the paths in turn, from `first` on.
    pub fn run(
        &self,
        address: SocketAddr,
        paths: &[String],
        first: usize,
        connections: usize,
        duration: Duration,
    ) -> Outcome<Figures> {
        let list = self.dir.path().join("paths");
        fs::write(&list, paths.join("\n"))?;
        let mut command = Command::new("wrk");
        command
            .args(["--latency", "--timeout", TIMEOUT])
            .args(["--threads", &THREADS.to_string(), "--connections", &connections.to_string()])
            .args(["--duration", &format!("{}s", duration.as_secs())])
            .arg("--script")
            .arg(self.dir.path().join("script.lua"))
            .arg(format!("http://{address}/"))
            .arg("--")
            .arg(&list)
            .args([&first.to_string(), &THREADS.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let deadline = Instant::now() + duration + GRACE;
        while child.try_wait()?.is_none() {
            if Instant::now() > deadline {
                child.kill()?;
                child.wait()?;
                return Err(format!("wrk did not end within {} s", (duration + GRACE).as_secs()).into());
            }
            thread::sleep(Duration::from_millis(50));
        }
        let (mut said, mut complained) = (String::new(), String::new());
        child.stdout.take().ok_or("no stdout")?.read_to_string(&mut said)?;
        child.stderr.take().ok_or("no stderr")?.read_to_string(&mut complained)?;
        figures(&said).ok_or_else(|| format!("wrk gave no figures: {said}{complained}").into())
    }
}

fn figures(said: &str) -> Option<Figures> {
    let line = said.lines().find_map(|line| line.strip_prefix("FIGURES "))?;
    let value: Value = serde_json::from_str(line).ok()?;
    let number = |name: &str| value[name].as_f64();
    let requests = number("requests")?;
    let kinds = ["connect", "read", "write", "timeout", "status"];
    let errors: Option<Vec<_>> = kinds.iter().map(|kind| Some((*kind, value[*kind].as_u64()?))).collect();
    Some(Figures {
        requests: requests as usize,
        per_second: requests / (number("micros")? / 1e6),
        p50: number("p50")?,
        p99: number("p99")?,
        max: number("max")?,
        errors: errors?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_between_other_lines() {
        let said = "Running 1s test\n\nFIGURES {\"requests\": 20, \"micros\": 2000000, \"bytes\": 1, \"p50\": 1.5, \
                    \"p99\": 2.5, \"max\": 3.0, \"connect\": 0, \"read\": 2, \"write\": 0, \"timeout\": 0, \"status\": 1}\n";
        let figures = figures(said).unwrap();
        assert_eq!((figures.requests, figures.per_second, figures.p99), (20, 10.0, 2.5));
        assert_eq!(figures.trouble(), "2 read, 1 status");
    }
}
