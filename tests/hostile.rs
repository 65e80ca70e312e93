//! Every misbehaving host at once, beside well-behaved ones: the crawl ends, the good hosts are complete, each bad URL
//! has a reason, memory stays bounded, and only loopback is contacted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::common::{Rig, Running, succeed};
use pharos_testweb::hostile::{Expectation, ExpectedOutcome, HostileLogEntry, HostileOptions, HostileWeb};
use pharos_testweb::{ServeOptions, WebSpec};
use serde_json::Value;

/// Memory limit of the crawler in KiB.
const MEMORY: u64 = 512 << 10;
/// Time limit: a longer crawl hangs.
const HANGS: Duration = Duration::from_secs(600);

#[test]
fn every_misbehaviour_at_once() {
    let rig =
        Rig::new(WebSpec { seed: 41, hosts: 5, pages: 150, ..WebSpec::default() }, ServeOptions::default());
    let web = rig.runtime.block_on(HostileWeb::start(HostileOptions::default())).unwrap();
    let watched = watch(&mut crawl(&rig, &web), &rig);
    let log = fs::read_to_string(rig.dir.path().join("log")).unwrap();
    assert!(watched.status.success(), "{}\n{log}", watched.status);
    println!("{}peak of memory: {} MB", log, watched.peak >> 10);

    let strangers: Vec<_> = watched.peers.iter().filter(|peer| !peer.is_loopback()).collect();
    assert!(strangers.is_empty(), "contacted {strangers:?}");
    assert!(watched.peers.len() > 20, "the watch saw only {:?}", watched.peers);
    assert!(watched.peak <= MEMORY, "{} MB at the peak", watched.peak >> 10);

    let requests = web.requests();
    let wrong = complaints(&rig, &requests, web.expectations());
    let over_http_2 =
        |request: &&HostileLogEntry| &*request.host == "tls-http-2.test" && !request.path.is_empty();
    for request in requests.iter().filter(over_http_2) {
        assert_eq!(request.version, "HTTP/2", "{} supports HTTP/2", request.host);
    }
    assert!(wrong.is_empty(), "{} expectations are not met: {wrong:#?}", wrong.len());
    rig.runtime.block_on(web.stop());
}

/// After repeated kills, the crawl continues. Requests in flight at a kill are repeated, so their number is not
/// checked.
#[test]
fn killed_among_misbehaving_hosts() {
    let rig =
        Rig::new(WebSpec { seed: 43, hosts: 5, pages: 150, ..WebSpec::default() }, ServeOptions::default());
    let web = rig.runtime.block_on(HostileWeb::start(HostileOptions::default())).unwrap();
    for moment in [400, 900, 1_700, 2_600] {
        let log = File::create(rig.dir.path().join("log")).unwrap();
        let mut command = crawl(&rig, &web);
        let mut running = Running::start(command.stdout(log.try_clone().unwrap()).stderr(log));
        std::thread::sleep(Duration::from_millis(moment));
        running.0.kill().unwrap();
        running.0.wait().unwrap();
    }
    let watched = watch(&mut crawl(&rig, &web), &rig);
    let log = fs::read_to_string(rig.dir.path().join("log")).unwrap();
    assert!(watched.status.success(), "{}\n{log}", watched.status);
    let counts = |e: &Expectation| {
        matches!(e.outcome, ExpectedOutcome::AtMost(1..) | ExpectedOutcome::AtMostTogether { .. })
    };
    let expectations = web.expectations().into_iter().filter(|e| !counts(e)).collect();
    let wrong = complaints(&rig, &web.requests(), expectations);
    assert!(wrong.is_empty(), "{} expectations are not met: {wrong:#?}", wrong.len());
    let doctor = rig.pharos(&["doctor"]).output().unwrap();
    assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stdout));
    rig.runtime.block_on(web.stop());
}

/// Sitemaps list 80,000 pages of a site whose budget is 20 pages.
#[test]
fn sitemaps_cannot_fill_the_catalog() {
    let rig =
        Rig::new(WebSpec { seed: 44, hosts: 1, pages: 3, ..WebSpec::default() }, ServeOptions::default());
    let web = rig.runtime.block_on(HostileWeb::start(HostileOptions::default())).unwrap();
    let flood = web.expectations().into_iter().find(|e| host_and_path(&e.url).0 == "sitemap-flood.test");
    let mut command = rig.crawl("crawl");
    for value in web.resolve_args() {
        command.arg("--resolve").arg(value);
    }
    succeed(command.arg(flood.unwrap().url).env("PHAROS_CRAWL_SITE_BUDGET", "20"));
    let stats: Value = serde_json::from_str(&succeed(&mut rig.pharos(&["--json", "stats"]))).unwrap();
    let count = |name: &str| stats["catalog"][name].as_u64().unwrap();
    assert!(count("pages") > 500, "{stats}");
    assert!(count("pages") <= 50 * 20 + 10 * count("stored"), "{stats}");
    rig.runtime.block_on(web.stop());
}

/// Returns the missing good pages and the unmet expectations.
fn complaints(rig: &Rig, requests: &[HostileLogEntry], expectations: Vec<Expectation>) -> Vec<String> {
    let (stored, truth) = (rig.stored(), rig.truth());
    let missing = truth.stored().filter(|page| stored.get(&page.url) != Some(&1));
    let missing = missing.map(|page| format!("{} is not stored once", page.url));
    let unmet = expectations.iter().filter_map(|expectation| {
        let complaint = complaint(rig, requests, expectation)?;
        Some(format!("{}: {complaint} ({})", key(expectation), expectation.note))
    });
    missing.chain(unmet).collect()
}

/// Returns a crawl of both webs, with limits short enough for a test.
fn crawl(rig: &Rig, web: &HostileWeb) -> Command {
    let mut command = rig.crawl("crawl");
    command.args(["--scope", "domain", "--max-depth", "8"]);
    for (option, values) in [("--resolve", web.resolve_args()), ("--connect-to", web.connect_to_args())] {
        for value in values {
            command.arg(option).arg(value);
        }
    }
    command.args(web.seeds());
    command.env("PHAROS_CRAWL_CONNECT_TIMEOUT", "3s");
    command.env("PHAROS_CRAWL_FIRST_BYTE_TIMEOUT", "3s");
    command.env("PHAROS_CRAWL_TOTAL_TIMEOUT", "6s");
    let authority = rig.dir.path().join("authority.pem");
    fs::write(&authority, web.ca_pem()).unwrap();
    command.env("PHAROS_CRAWL_EXTRA_CA", authority);
    command
}

/// Observations of a running process.
struct Watched {
    status: ExitStatus,
    /// Peak memory in KiB.
    peak: u64,
    /// Addresses that it connected to, or tried to.
    peers: BTreeSet<IpAddr>,
}

/// Runs a command to its end and observes it.
fn watch(command: &mut Command, rig: &Rig) -> Watched {
    let log = File::create(rig.dir.path().join("log")).unwrap();
    let mut running = Running::start(command.stdout(log.try_clone().unwrap()).stderr(log));
    let began = Instant::now();
    let (mut peak, mut peers) = (0, BTreeSet::new());
    loop {
        if let Some(status) = running.0.try_wait().unwrap() {
            return Watched { status, peak, peers };
        }
        assert!(began.elapsed() < HANGS, "the crawl does not end");
        peak = peak.max(peak_memory(&running.0).unwrap_or(0));
        peers.extend(peers_of(&running.0));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the peak resident memory in KiB.
fn peak_memory(process: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// Returns the current peers of a process's sockets.
fn peers_of(process: &Child) -> Vec<IpAddr> {
    let Ok(files) = fs::read_dir(format!("/proc/{}/fd", process.id())) else { return Vec::new() };
    let sockets: BTreeSet<String> = files
        .filter_map(|file| fs::read_link(file.ok()?.path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_string()))
        .collect();
    let mut peers = Vec::new();
    for table in ["tcp", "tcp6", "udp", "udp6"] {
        let table = fs::read_to_string(format!("/proc/{}/net/{table}", process.id())).unwrap_or_default();
        for line in table.lines().skip(1) {
            let columns: Vec<&str> = line.split_whitespace().collect();
            if let [_, _, remote, _, _, _, _, _, _, socket, ..] = columns[..]
                && sockets.contains(socket)
                && let Some(peer) = peer_of(remote)
                && !peer.is_unspecified()
            {
                peers.push(peer);
            }
        }
    }
    peers
}

/// Parses `0100007F:1F90` as 127.0.0.1: words of 32 bits in native byte order.
fn peer_of(remote: &str) -> Option<IpAddr> {
    let (address, _port) = remote.split_once(':')?;
    let words = address
        .as_bytes()
        .chunks(8)
        .map(|word| u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok());
    let bytes: Vec<u8> =
        words.collect::<Option<Vec<u32>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => Some(Ipv4Addr::from(four).into()),
        Err(_) => <[u8; 16]>::try_from(bytes).ok().map(|bytes| Ipv6Addr::from(bytes).to_canonical()),
    }
}

/// Returns for example `stored robots-huge.test/late`: the outcome and the URL without scheme and port.
fn key(expectation: &Expectation) -> String {
    let outcome = match expectation.outcome {
        ExpectedOutcome::Stored { .. } => "stored",
        ExpectedOutcome::Failed { .. } => "failed",
        ExpectedOutcome::Refused { .. } => "refused",
        ExpectedOutcome::Settled => "settled",
        ExpectedOutcome::NeverRequested => "never-asked",
        ExpectedOutcome::AtMost(_) | ExpectedOutcome::AtMostTogether { .. } => "at-most",
    };
    let (host, path) = host_and_path(&expectation.url);
    format!("{outcome} {host}{path}")
}

fn host_and_path(url: &str) -> (&str, &str) {
    let (_, rest) = url.split_once("://").unwrap();
    let (authority, path) = rest.split_at(rest.find('/').unwrap());
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    (host, path)
}

fn too_many(count: usize, most: usize) -> Option<String> {
    (count > most).then(|| format!("{count} requests instead of at most {most}"))
}

/// Returns the error of a URL, if there is one.
fn complaint(rig: &Rig, requests: &[HostileLogEntry], expectation: &Expectation) -> Option<String> {
    let url = &expectation.url;
    let (host, path) = host_and_path(url);
    let is_to_host = |request: &&HostileLogEntry| &*request.host == host;
    match expectation.outcome {
        ExpectedOutcome::AtMost(most) => return too_many(requests.iter().filter(is_to_host).count(), most),
        ExpectedOutcome::AtMostTogether { hosts, requests: most } => {
            let count = requests.iter().filter(|request| hosts.contains(&&*request.host)).count();
            return too_many(count, most);
        }
        ExpectedOutcome::NeverRequested => {
            let count = requests.iter().filter(is_to_host).filter(|request| &*request.path == path).count();
            return (count > 0).then(|| format!("{count} requests"));
        }
        _ => {}
    }
    let output = rig.pharos(&["--json", "page", url]).output().unwrap();
    let Ok(page_report) = serde_json::from_slice::<Value>(&output.stdout) else {
        return Some("the crawler does not know it".to_string());
    };
    let (state, reason) = (page_report["state"].as_str().unwrap_or_default(), page_report["reason"].as_str());
    let has_reason = |wanted: &str| reason.is_some_and(|reason| reason.contains(wanted));
    let is_met = match expectation.outcome {
        ExpectedOutcome::Stored { status } => state == "stored" && page_report["status"] == status,
        ExpectedOutcome::Failed { reason } => state != "stored" && has_reason(reason),
        ExpectedOutcome::Refused { reason } => state == "refused" && has_reason(reason),
        _ => state == "stored" || has_reason(""),
    };
    if !is_met {
        let status = &page_report["status"];
        return Some(format!("{:?}, but it is {state}, status {status}, {reason:?}", expectation.outcome));
    }
    let wanted = expectation.text?;
    let text = succeed(&mut rig.pharos(&["page", url, "--show", "1", "--text"]));
    (!text.contains(wanted)).then(|| format!("{wanted:?} is not in the page: {:?}", &text.get(..200)))
}
