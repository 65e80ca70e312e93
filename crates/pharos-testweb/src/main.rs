//! Serves a test web until interrupted.
//!
//! Writes one `seed URL` line per host to stdout, then one `resolve HOST:PORT:ADDR` line per host, then (for the
//! hostile web) `connect-to HOST1:PORT1:HOST2:PORT2` lines. All other output goes to stderr.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use pharos_testweb::hostile::{HostileOptions, HostileWeb};
use pharos_testweb::{CopySpec, ServeOptions, Server, TestClock, Truth, Web, WebSpec};

/// A loopback web with known truth
#[derive(Parser)]
#[command(name = "pharos-testweb", version, about)]
struct Args {
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of hosts
    #[arg(long, default_value_t = 10)]
    hosts: usize,
    /// Number of pages and redirects, over all hosts
    #[arg(long, default_value_t = 1000)]
    pages: usize,
    /// Serve the demo web instead of a generated one
    #[arg(long)]
    demo: bool,
    /// Serve the hostile web instead: every misbehaviour of servers, each on its own host and 127.x.y.z address
    #[arg(long, conflicts_with = "demo")]
    hostile: bool,
    /// Write the certificate authority of the hostile web's TLS hosts to this file
    #[arg(long, value_name = "FILE.pem", requires = "hostile")]
    ca: Option<PathBuf>,
    /// Address to listen on; port 0 selects a free port
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Give every host its own 127.x.y.z address
    #[arg(long)]
    own_addresses: bool,
    /// Use addresses instead of host names (implies --own-addresses)
    #[arg(long)]
    addresses_as_names: bool,
    /// Average number of modifications per page and day
    #[arg(long, default_value_t = 0.0)]
    rate: f64,
    /// New pages per day, over the whole web
    #[arg(long, default_value_t = 0.0)]
    births: f64,
    /// Rate per day at which an article is deleted
    #[arg(long, default_value_t = 0.0)]
    deaths: f64,
    /// Seconds of simulated time per real second; 0 stops the clock
    #[arg(long, default_value_t = 0.0)]
    speed: f64,
    /// Days after the start in which changes happen
    #[arg(long, default_value_t = 30)]
    days: u64,
    /// Plant copies: reprints=20,excerpts=10,twins=15,mirrors=1,variants=10 (twins share only boilerplate)
    #[arg(long, value_name = "KIND=N,…", conflicts_with_all = ["demo", "hostile"])]
    copies: Option<CopySpec>,
    /// Delay of every response, in milliseconds
    #[arg(long, default_value_t = 0)]
    latency: u64,
    /// Write the truth at the start to this file, as JSON; one page per line if its name ends in .jsonl
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let args = Args::parse();
    if args.hostile {
        return serve_hostile(&args).await;
    }
    let web = if args.demo { Web::demo() } else { Web::generate(&spec_of(&args)) };
    let clock = if args.speed > 0.0 { TestClock::running(args.speed) } else { TestClock::at_start() };
    let options = ServeOptions {
        listen: args.listen,
        own_addresses: args.own_addresses || args.addresses_as_names,
        clock,
        latency: Duration::from_millis(args.latency),
        ..ServeOptions::default()
    };
    let server = Server::start(web, options).await?;
    if let Some(path) = &args.truth {
        write_truth(&server.web().truth(server.port()), path)?;
    }
    print_directions(&server.seeds(), &server.resolve_args(), &[])?;
    eprintln!("serving {} hosts on {}; Ctrl-C stops", server.web().hosts().len(), server.address());
    tokio::signal::ctrl_c().await?;
    let counters = server.counters();
    eprintln!("{} requests on {} connections", counters.requests, counters.connections);
    server.stop().await;
    Ok(())
}

fn spec_of(args: &Args) -> WebSpec {
    WebSpec {
        seed: args.seed,
        hosts: args.hosts,
        pages: args.pages,
        addresses_as_names: args.addresses_as_names,
        change_rate: args.rate,
        birth_rate: args.births,
        death_rate: args.deaths,
        horizon: Duration::from_secs(args.days * 24 * 3600),
        copies: args.copies.unwrap_or_default(),
        ..WebSpec::default()
    }
}

fn write_truth(truth: &Truth, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        for page in &truth.pages {
            serde_json::to_writer(&mut file, page)?;
            file.write_all(b"\n")?;
        }
    } else {
        serde_json::to_writer(&mut file, truth)?;
    }
    file.flush()
}

async fn serve_hostile(args: &Args) -> io::Result<()> {
    let web = HostileWeb::start(HostileOptions::default()).await?;
    if let Some(path) = &args.ca {
        std::fs::write(path, web.ca_pem())?;
    }
    print_directions(&web.seeds(), &web.resolve_args(), &web.connect_to_args())?;
    eprintln!("serving the hostile web; Ctrl-C stops");
    tokio::signal::ctrl_c().await?;
    eprintln!("{} requests", web.requests().len());
    web.stop().await;
    Ok(())
}

fn print_directions(seeds: &[String], resolve: &[String], connect_to: &[String]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (word, lines) in [("seed", seeds), ("resolve", resolve), ("connect-to", connect_to)] {
        for line in lines {
            writeln!(out, "{word} {line}")?;
        }
    }
    out.flush()
}
