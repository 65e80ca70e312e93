//! The server process.

use std::fs;
use std::io::{BufRead as _, BufReader, copy, sink};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use bench_web::Outcome;

/// A `pharos serve` process that is killed at the end of the benchmark.
pub struct Server {
    pub address: SocketAddr,
    child: Child,
}

impl Server {
    /// Starts the server on a data directory with empty logs, so that queries of an earlier run have no effect.
    pub fn start(binary: &Path, data: &Path) -> Outcome<Self> {
        let logs = data.join("logs");
        if logs.exists() {
            fs::remove_dir_all(logs)?;
        }
        let mut command = Command::new(binary);
        command.arg("--data").arg(data).args(["serve", "--listen", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            format!("cannot start {}: {error}; build it with `cargo build --release`", binary.display())
        })?;
        let mut said = BufReader::new(child.stderr.take().ok_or("no stderr")?);
        let mut all = String::new();
        let address = loop {
            let mut line = String::new();
            if said.read_line(&mut line)? == 0 {
                return Err(format!("{} ended without an address: {all}", binary.display()).into());
            }
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split('/').next().unwrap_or_default().parse()?;
            }
            all.push_str(&line);
        };
        // Later output must not fill the pipe.
        thread::spawn(move || copy(&mut said, &mut sink()));
        Ok(Self { address, child })
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns `true` if the server is still running; otherwise its measurements are invalid.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
