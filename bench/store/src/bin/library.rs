//! Speed of the library, compared with the bare codec and with `warcio`.
//!
//! ```text
//! cargo run --release --bin library -- [DIR] [MB]
//! ```
//!
//! DIR contains pages (`*.html`, `*.html.gz`, recursively), which are repeated up to MB (default 300) megabytes.
//! Python with `warcio` is the peer for reading WARC (`PYTHON` names the interpreter); without it that row is skipped.
//! `PHAROS` names a `pharos` binary whose complete import is measured as well.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use flate2::read::GzDecoder;
use libdeflater::{CompressionLvl, Compressor};
use pharos_core::config::LibraryFormat;
use pharos_core::{LibraryPosition, PageUrl, Timestamp};
use pharos_store::{RecordContent, DiskLibrary, Library, LibraryRecord, RawResponse, LibraryWriteOptions};
use pharos_store::formats::warc_file::open_warc;

/// Bytes of a write group, as in the engine under load.
const GROUP: usize = 8 << 20;

/// The allocator of the `pharos` binary.
#[global_allocator]
static ALLOC: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().unwrap_or_else(|| "../../shared/data".into()));
    let megabytes: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(300);
    let records = load(&dir, megabytes << 20);
    assert!(!records.is_empty(), "no *.html or *.html.gz below {}: pass a folder of pages", dir.display());
    let raw: Vec<Vec<u8>> = records.iter().map(as_bytes).collect();
    let bytes: usize = raw.iter().map(Vec::len).sum();
    println!(
        "{} records, {:.0} MB, {:.0} KB each",
        records.len(),
        mb(bytes),
        mb(bytes) * 1e3 / records.len() as f64
    );

    println!("\ncodec in memory, one core     ratio      MB/s");
    for level in [1, 3, 6, 9, 12] {
        row("libdeflate", level, &raw, &mut |bytes, out| {
            let mut codec = Compressor::new(CompressionLvl::new(level).unwrap());
            let mut total = 0;
            for record in bytes {
                out.resize(codec.gzip_compress_bound(record.len()), 0);
                total += codec.gzip_compress(record, out).unwrap();
            }
            total
        });
    }
    for level in [1, 3, 6, 9] {
        row("zstd", level, &raw, &mut |bytes, out| {
            let mut codec = zstd::bulk::Compressor::new(level).unwrap();
            let mut total = 0;
            for record in bytes {
                out.resize(zstd::zstd_safe::compress_bound(record.len()), 0);
                total += codec.compress_to_buffer(record, out).unwrap();
            }
            total
        });
    }

    let sha1 = cpu(|| raw.iter().for_each(|r| drop(pharos_store::library::payload_digest(r))));
    println!("\ndigest only: {:.0} MB/s", mb(bytes) / sha1.1);
    println!("\nappend, synced in groups    MB/s   codec only  ratio   MB/cpu s   codec only  ratio");
    for (format, level) in [(LibraryFormat::Gzip, 1), (LibraryFormat::Gzip, 6), (LibraryFormat::Zstd, 1)] {
        for threads in [1, 2, 4] {
            let folder = tempfile::tempdir_in(".").unwrap();
            // Alternating and twice, so that background load is shared; the better result counts.
            let better = |(wall, cpu): (f64, f64), (w, c): (f64, f64)| (wall.min(w), cpu.min(c));
            let (mut ours, mut bare) = ((f64::MAX, f64::MAX), (f64::MAX, f64::MAX));
            for turn in 0..2 {
                let folder = folder.path().join(turn.to_string());
                ours = better(ours, cpu(|| append(&folder, format, level, threads, &records)));
                bare = better(bare, cpu(|| compress(format, level, threads, &raw)));
            }
            println!(
                "{format} {level}, {threads} writers       {:>8.0}     {:>8.0}  {:>4.0} %   {:>8.0}     {:>8.0}  {:>4.0} %",
                mb(bytes) / ours.0,
                mb(bytes) / bare.0,
                100.0 * bare.0 / ours.0,
                mb(bytes) / ours.1,
                mb(bytes) / bare.1,
                100.0 * bare.1 / ours.1,
            );
        }
    }

    let folder = tempfile::tempdir_in(".").unwrap();
    append(folder.path(), LibraryFormat::Gzip, 1, 1, &records);
    let library = DiskLibrary::open_reader(folder.path()).unwrap();
    println!("\nreading, warm, one core");
    let started = Instant::now();
    let positions: Vec<_> =
        library.scan(LibraryPosition::START, None).unwrap().map(|s| s.unwrap().position).collect();
    println!("sequential scan        {:>8.0} MB/s uncompressed", mb(bytes) / started.elapsed().as_secs_f64());
    let mut times: Vec<f64> = (0..10_000)
        .map(|n| {
            let position = positions[n * 7919 % positions.len()];
            let started = Instant::now();
            library.read(position).unwrap();
            started.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("random read            {:>8.3} ms median, {:.3} ms p99", times[5000], times[9900]);

    println!("\nreading WARC files            MB/s");
    let files = [("Pharos .warc.gz", library.local().unwrap().files().unwrap()[0].1.clone()), foreign(folder.path(), &raw)];
    for (name, path) in files {
        let started = Instant::now();
        let read: usize = open_warc(&path).unwrap().read_ahead().map(|r| r.unwrap().block.len()).sum();
        let ours = mb(read) / started.elapsed().as_secs_f64();
        let started = Instant::now();
        let taken =
            open_warc(&path).unwrap().read_ahead().filter_map(|r| r.unwrap().to_record().unwrap()).count();
        let as_records = mb(read) / started.elapsed().as_secs_f64();
        println!("{name}: pharos {ours:>8.0}, converted to {taken} records {as_records:.0}");
        for (does, check) in [("reads", "False"), ("reads and verifies digests, like Pharos", "True")] {
            match warcio(&path, check) {
                Some(seconds) => {
                    let peer = mb(read) / seconds;
                    let faster = ours / peer;
                    println!(
                        "{name}: warcio {peer:>8.0}   Pharos is {faster:.1} times as fast (warcio {does})"
                    );
                }
                None => println!("{name}: warcio is not installed"),
            }
        }
        if let Some(pharos) = std::env::var_os("PHAROS") {
            let data = tempfile::tempdir_in(".").unwrap();
            let started = Instant::now();
            let status = Command::new(pharos)
                .arg("--data")
                .arg(data.path())
                .arg("import")
                .arg(&path)
                .status()
                .unwrap();
            assert!(status.success());
            println!(
                "{name}: complete import with analysis and indexing {:.0}",
                mb(read) / started.elapsed().as_secs_f64()
            );
        }
    }
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn row(name: &str, level: i32, raw: &[Vec<u8>], run: &mut dyn FnMut(&[Vec<u8>], &mut Vec<u8>) -> usize) {
    // A tenth of the pages is enough for the slow levels.
    let part = &raw[..raw.len() / 10 + 1];
    let size: usize = part.iter().map(Vec::len).sum();
    let started = Instant::now();
    let packed = run(part, &mut Vec::new());
    println!(
        "{name:<12} level {level:>2}          {:>5.2}  {:>8.0}",
        size as f64 / packed as f64,
        mb(size) / started.elapsed().as_secs_f64()
    );
}

/// Returns wall-clock and processor seconds of some work.
fn cpu(work: impl FnOnce()) -> (f64, f64) {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let (started, used) = (Instant::now(), now());
    work();
    (started.elapsed().as_secs_f64(), now() - used)
}

/// Measures the codec alone on several threads.
fn compress(format: LibraryFormat, level: u32, threads: usize, raw: &[Vec<u8>]) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let level = level as i32;
                let mut gzip = Compressor::new(CompressionLvl::new(level).unwrap());
                let mut zstd = zstd::bulk::Compressor::new(level).unwrap();
                let mut out = Vec::new();
                while let Some(record) = raw.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match format {
                        LibraryFormat::Gzip => {
                            out.resize(gzip.gzip_compress_bound(record.len()), 0);
                            gzip.gzip_compress(record, &mut out).unwrap();
                        }
                        LibraryFormat::Zstd => {
                            out.resize(zstd::zstd_safe::compress_bound(record.len()), 0);
                            zstd.compress_to_buffer(record, &mut out).unwrap();
                        }
                    }
                }
            });
        }
    });
}

/// Measures threads that append groups, each waiting until its group is synced.
fn append(dir: &Path, format: LibraryFormat, level: u32, threads: usize, records: &[LibraryRecord]) {
    let writing = LibraryWriteOptions { format, level, ..LibraryWriteOptions::default() };
    let library = DiskLibrary::open_writer(dir, writing, LibraryPosition::START, Timestamp::EPOCH).unwrap();
    let each = records.iter().map(size).sum::<usize>() / records.len();
    let groups: Vec<&[LibraryRecord]> = records.chunks((GROUP / each).clamp(1, 256)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                    library.append(group).unwrap();
                }
            });
        }
    });
}

fn size(record: &LibraryRecord) -> usize {
    match &record.content {
        RecordContent::Response(response) => response.body.len(),
        _ => 0,
    }
}

/// Writes the file as other programs do: one plain gzip member per record.
fn foreign(dir: &Path, raw: &[Vec<u8>]) -> (&'static str, PathBuf) {
    let path = dir.join("foreign.warc.gz");
    let mut codec = Compressor::new(CompressionLvl::new(6).unwrap());
    let mut file = Vec::new();
    for record in raw {
        let start = file.len();
        file.resize(start + codec.gzip_compress_bound(record.len()), 0);
        let packed = codec.gzip_compress(record, &mut file[start..]).unwrap();
        file.truncate(start + packed);
    }
    fs::write(&path, file).unwrap();
    ("foreign .warc.gz", path)
}

/// Returns the seconds that warcio needs to read every record and its content.
fn warcio(path: &Path, check: &str) -> Option<f64> {
    let script = "import sys,time\nfrom warcio.archiveiterator import ArchiveIterator\n\
        s=time.time()\nn=0\nfor r in ArchiveIterator(open(sys.argv[1],'rb'),check_digests=sys.argv[2]=='True'): n+=len(r.content_stream().read())\n\
        print(time.time()-s)";
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let out = Command::new(python).args(["-c", script]).arg(path).arg(check).output().ok()?;
    String::from_utf8(out.stdout).ok()?.trim().parse().ok()
}

fn load(dir: &Path, limit: usize) -> Vec<LibraryRecord> {
    let mut pages = Vec::new();
    collect(dir, &mut pages);
    let mut records = Vec::new();
    let mut bytes = 0;
    while bytes < limit && !pages.is_empty() {
        for page in &pages {
            let url = PageUrl::parse(&format!("http://www.example.org/{}", records.len())).unwrap();
            let headers = vec![
                ("Content-Type".to_string(), "text/html; charset=utf-8".to_string()),
                ("Server".to_string(), "bench".to_string()),
            ];
            let response = RawResponse { status: 200, headers, body: page.clone(), ..RawResponse::default() };
            let at = Timestamp::from_millis(1_700_000_000_000 + records.len() as i64);
            bytes += page.len();
            records.push(LibraryRecord::new(url, at, RecordContent::Response(response)));
            if bytes >= limit {
                break;
            }
        }
    }
    records
}

fn collect(dir: &Path, pages: &mut Vec<Vec<u8>>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        let name = path.to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, pages);
        } else if name.ends_with(".html.gz") {
            let mut page = Vec::new();
            if GzDecoder::new(fs::File::open(&path).unwrap()).read_to_end(&mut page).is_ok() {
                pages.push(page);
            }
        } else if name.ends_with(".html") {
            pages.push(fs::read(&path).unwrap());
        }
    }
}

/// Returns the uncompressed WARC form of a record.
fn as_bytes(record: &LibraryRecord) -> Vec<u8> {
    let RecordContent::Response(response) = &record.content else { unreachable!() };
    let http = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: bench\r\nContent-Length: {}\r\n\r\n",
        response.body.len()
    );
    let head = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: {}\r\nWARC-Target-URI: {}\r\n\
         WARC-Payload-Digest: {}\r\nContent-Type: application/http;msgtype=response\r\n\
         WARC-Record-ID: <urn:uuid:12345678-0000-8000-8000-000000000000>\r\nContent-Length: {}\r\n\r\n",
        record.at,
        record.url,
        pharos_store::library::payload_digest(&response.body),
        http.len() + response.body.len()
    );
    [head.as_bytes(), http.as_bytes(), &response.body, b"\r\n\r\n"].concat()
}
