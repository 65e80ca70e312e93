//! Serves a test web until it is interrupted. On stdout: one `seed URL` line per host, then one
//! `resolve HOST:PORT:ADDR` line per host; everything else goes to stderr.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use pharos_testweb::{ServeOptions, Server, TestClock, Web, WebSpec};

/// A loopback web with known truth.
#[derive(Parser)]
#[command(name = "pharos-testweb", version, about)]
struct Args {
    /// Everything that is left to chance follows from this number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many hosts
    #[arg(long, default_value_t = 10)]
    hosts: usize,
    /// How many pages and redirects, over all hosts
    #[arg(long, default_value_t = 1000)]
    pages: usize,
    /// Serve the demo web instead of a generated one
    #[arg(long)]
    demo: bool,
    /// Where to listen; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Give every host its own 127.x.y.z
    #[arg(long)]
    own_addresses: bool,
    /// Call hosts by their own address instead of a name (implies --own-addresses)
    #[arg(long)]
    addresses_as_names: bool,
    /// Modifications per page and day, on average
    #[arg(long, default_value_t = 0.0)]
    rate: f64,
    /// New pages per day, over the whole web
    #[arg(long, default_value_t = 0.0)]
    births: f64,
    /// The rate per day at which an article is deleted
    #[arg(long, default_value_t = 0.0)]
    deaths: f64,
    /// Seconds of the web that pass in each real second; 0 lets the web stand still
    #[arg(long, default_value_t = 0.0)]
    speed: f64,
    /// Days after the start in which changes happen
    #[arg(long, default_value_t = 30)]
    days: u64,
    /// Milliseconds by which every answer is held back
    #[arg(long, default_value_t = 0)]
    latency: u64,
    /// Write what is true at the start to this file, as JSON
    #[arg(long, value_name = "FILE.json")]
    truth: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let args = Args::parse();
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
        let mut file = BufWriter::new(File::create(path)?);
        serde_json::to_writer(&mut file, &server.web().truth(server.port()))?;
        file.flush()?;
    }
    print_directions(&server)?;
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
        ..WebSpec::default()
    }
}

fn print_directions(server: &Server) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for seed in server.seeds() {
        writeln!(out, "seed {seed}")?;
    }
    for argument in server.resolve_args() {
        writeln!(out, "resolve {argument}")?;
    }
    out.flush()
}
