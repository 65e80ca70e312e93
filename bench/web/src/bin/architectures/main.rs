//! Five server architectures with the same small task.
//!
//! `cargo run --release -p bench-web --bin architectures -- [--seconds N] [--connections N,N,…] [--only NAME,…]`
//!
//! The task is a small search engine: read an HTTP/1.1 request, compute for 100 µs, answer 7 KB, keep the connection.
//! Each architecture is a file in this folder, and runs in a separate process, so that its threads and memory are its
//! own. The clients are those of the part `spread` of `bench-web`: 10, 100, 1,000 and 10,000 connections that send one
//! request after another for N seconds (5), each with its own counters.
//!
//! | name | architecture | source |
//! |---|---|---|
//! | `threads` | a thread per connection | textbook server |
//! | `pool` | a fixed number of threads; connections wait in a queue | Apache httpd's worker processes |
//! | `events` | one thread, one event loop | Pai, Druschel & Zwaenepoel 1999 (Flash), as SPED |
//! | `staged` | an event loop for the sockets, a bounded queue, a fixed number of worker threads | Welsh, Culler & Brewer 2001 (SEDA) |
//! | `pipelines` | an event loop per core, nothing shared | N-copy; Pariag et al. 2007 |
//!
//! Pharos combines the last two: an event loop per core for the sockets, and one stage of search threads.

mod events;
mod pipelines;
mod pool;
mod staged;
mod task;
mod threads;

use std::env;
use std::io::{BufRead as _, BufReader, Write as _, stdout};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bench_web::Outcome;
use bench_web::client::{self, Plan};
use bench_web::figures::count;
use bench_web::process::{Usage, Watch, raise_open_files};
use task::Work;
use tokio::runtime::Builder;

/// An architecture and its properties.
struct Architecture {
    name: &'static str,
    /// Serves until the process is killed.
    serve: fn(TcpListener, Work) -> Outcome<()>,
    /// Order in which clients are served.
    order: &'static str,
    /// State shared between threads.
    locks: &'static str,
    /// Blocking between connections.
    blocking: &'static str,
}

const ARCHITECTURES: [Architecture; 5] = [
    Architecture {
        name: "threads",
        serve: threads::serve,
        order: "decided by the kernel's scheduler",
        locks: "only those of the scheduler, over all threads",
        blocking: "a client that waits holds a thread and its stack",
    },
    Architecture {
        name: "pool",
        serve: pool::serve,
        order: "connections in FIFO order, each until it ends",
        locks: "the queue of connections, once per connection",
        blocking: "a client that keeps its connection holds a thread: all others wait until it disconnects",
    },
    Architecture {
        name: "events",
        serve: events::serve,
        order: "requests in FIFO order",
        locks: "none",
        blocking: "no client blocks; a long computation blocks all clients, and only one core is used",
    },
    Architecture {
        name: "staged",
        serve: staged::serve,
        order: "requests in the order of the queue",
        locks: "the queue between the stages, twice per request",
        blocking: "no client blocks; sockets are served while others compute; a full queue is detected and can be answered",
    },
    Architecture {
        name: "pipelines",
        serve: pipelines::serve,
        order: "requests in the order of each pipeline, which may be of different length",
        locks: "none",
        blocking: "no client blocks; a long computation blocks the clients of its pipeline while another may idle",
    },
];

struct Options {
    seconds: u64,
    connections: Vec<usize>,
    only: Vec<String>,
}

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1).peekable();
    if arguments.next_if_eq("serve").is_some() {
        let name = arguments.next().ok_or("serve needs a name")?;
        let rounds = arguments.next().ok_or("serve needs a number of rounds")?.parse()?;
        return serve(&name, rounds);
    }
    let mut options = Options { seconds: 5, connections: vec![10, 100, 1_000, 10_000], only: Vec::new() };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--seconds" => options.seconds = value.parse::<u64>()?.clamp(1, 600),
            "--connections" => {
                options.connections = value.split(',').map(str::parse).collect::<Result<_, _>>()?;
            }
            "--only" => options.only = value.split(',').map(String::from).collect(),
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    compare(&options)
}

/// Runs in a separate process: prints its address, then serves until it is killed.
fn serve(name: &str, rounds: u64) -> Outcome<()> {
    raise_open_files();
    let architecture = ARCHITECTURES.iter().find(|architecture| architecture.name == name);
    let architecture = architecture.ok_or_else(|| format!("unknown architecture {name}"))?;
    let listener = task::listen((Ipv4Addr::LOCALHOST, 0).into())?;
    println!("{}", listener.local_addr()?);
    stdout().flush()?;
    (architecture.serve)(listener, Work { rounds })
}

fn compare(options: &Options) -> Outcome<()> {
    let limit = raise_open_files();
    let work = Work::of(Duration::from_micros(100));
    println!(
        "| architecture | connections | requests/s | p50 | p99 | Jain | threads | memory (MB) | errors |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let wanted = |architecture: &&Architecture| {
        options.only.is_empty() || options.only.iter().any(|name| name == architecture.name)
    };
    for architecture in ARCHITECTURES.iter().filter(wanted) {
        for connections in options.connections.iter().copied().filter(|count| count + 100 <= limit) {
            row(architecture, connections, options.seconds, &work)?;
        }
    }
    println!("\n| architecture | order | locks | blocking |\n|---|---|---|---|");
    for Architecture { name, order, locks, blocking, .. } in ARCHITECTURES.iter().filter(wanted) {
        println!("| {name} | {order} | {locks} | {blocking} |");
    }
    Ok(())
}

fn row(architecture: &Architecture, connections: usize, seconds: u64, work: &Work) -> Outcome<()> {
    let server = Server::start(architecture.name, work)?;
    let watch = Watch::start(server.child.id());
    let plan = Plan {
        address: server.address,
        connections,
        duration: Duration::from_secs(seconds),
        paths: ["/search?q=lighthouse".to_string()].into(),
        first: 0,
    };
    let clients = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let report = clients.block_on(client::run(plan));
    let Usage { threads, .. } = watch.end();
    let memory = Usage::of(server.child.id()).megabytes();
    println!(
        "| {} | {} | {} | {} | {} | {:.3} | {} | {memory:.0} | {} |",
        architecture.name,
        count(connections),
        count(report.per_second() as usize),
        report.time(0.5),
        report.time(0.99),
        report.fairness(),
        count(threads),
        report.trouble()
    );
    Ok(())
}

/// A server process that is killed at the end of the measurement.
struct Server {
    address: SocketAddr,
    child: Child,
}

impl Server {
    fn start(name: &str, work: &Work) -> Outcome<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["serve", name, &work.rounds.to_string()]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no stdout")?).read_line(&mut line)?;
        Ok(Self { address: line.trim().parse()?, child })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
