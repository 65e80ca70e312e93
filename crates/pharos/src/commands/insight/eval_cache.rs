//! `pharos eval cache`: simulates caches of several policies and sizes on a query log.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use pharos_query::cache::replay::{LogStatistics, ReplayLog, ReplayResult};
use serde::{Deserialize, Serialize};

use crate::cli::{EvalCacheArgs, Global};
use crate::{CommandOutcome, console, settings};

/// Maximum length of a line in bytes.
const MAX_LINE: u64 = 1 << 20;

/// Magic number of zstd.
const ZSTD: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// A line of a Pharos query log.
#[derive(Deserialize)]
struct LogLine {
    query: String,
}

#[derive(Serialize)]
struct CacheReport {
    #[serde(flatten)]
    log: LogStatistics,
    /// Number of lines that are not queries.
    skipped: usize,
    caches: Vec<ReplayResult>,
}

pub(crate) fn run(global: &Global, args: &EvalCacheArgs) -> anyhow::Result<CommandOutcome> {
    if let Some(size) = args.sizes.iter().find(|size| **size == 0) {
        bail!("--sizes: invalid cache size {size}");
    }
    if !(0.0..=1.0).contains(&args.decay) {
        bail!("--decay must be between 0 and 1, not {}", args.decay);
    }
    let files = if args.logs.is_empty() { own_logs(global)? } else { args.logs.clone() };
    let (mut log, mut skipped) = (ReplayLog::default(), 0);
    for file in &files {
        let read = if file.as_os_str() == "-" {
            read(Box::new(io::stdin().lock()), &mut log)
        } else {
            File::open(file).and_then(|file| read(Box::new(BufReader::new(file)), &mut log))
        };
        skipped += read.with_context(|| format!("cannot read {}", file.display()))?;
    }
    let figures = log.statistics();
    if figures.queries == 0 {
        bail!("the log contains no query ({skipped} lines skipped)");
    }
    let report = CacheReport { log: figures, skipped, caches: log.replay(&args.sizes, args.decay) };
    if global.json {
        console::print_json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(CommandOutcome::Good)
}

/// Returns the query logs of the data directory, compressed or not, sorted by day.
fn own_logs(global: &Global) -> anyhow::Result<Vec<PathBuf>> {
    let folder = settings::data_dir(global).root().join("logs");
    let is_log = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("queries-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
    };
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        entries => Some(entries.with_context(|| format!("cannot read {}", folder.display()))?),
    };
    let paths = entries.into_iter().flatten().map(|entry| entry.map(|entry| entry.path()));
    let mut logs: Vec<PathBuf> = paths.collect::<io::Result<_>>()?;
    logs.retain(|path| is_log(path));
    logs.sort();
    if logs.is_empty() {
        bail!("no query log in {}: specify one with `pharos eval cache FILE`", folder.display());
    }
    Ok(logs)
}

/// Reads a log of queries or JSON objects. Returns the number of lines skipped.
fn read(mut input: Box<dyn BufRead + '_>, log: &mut ReplayLog) -> io::Result<usize> {
    if input.fill_buf()?.starts_with(&ZSTD) {
        input = Box::new(BufReader::new(zstd::Decoder::with_buffer(input)?));
    }
    let (mut skipped, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let length = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(skipped);
        }
        if length as u64 == MAX_LINE && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            skipped += 1;
            continue;
        }
        let Ok(text) = str::from_utf8(&line) else {
            skipped += 1;
            continue;
        };
        let text = text.trim();
        if text.starts_with('{') {
            match serde_json::from_str::<LogLine>(text) {
                Ok(line) => log.push(&line.query),
                Err(_) => skipped += 1,
            }
        } else {
            log.push(text);
        }
    }
}

fn print(report: &CacheReport) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let LogStatistics { queries, different, top_share, most_hits } = report.log;
    writeln!(
        out,
        "{queries} queries, {different} distinct; the most frequent fifth accounts for {:.1} %; maximum hit rate {most_hits:.4}",
        100.0 * top_share
    )?;
    if report.skipped > 0 {
        writeln!(out, "{} lines skipped", report.skipped)?;
    }
    writeln!(
        out,
        "{:<14} {:>8} {:>9} {:>9} {:>9} {:>14}",
        "policy", "results", "hits (p)", "η", "1 − p", "queries/s"
    )?;
    for row in &report.caches {
        writeln!(
            out,
            "{:<14} {:>8} {:>9.6} {:>9.6} {:>9.6} {:>14.0}",
            row.policy, row.size, row.hit_rate, row.eta, row.missed, row.queries_per_second
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(bytes: &[u8]) -> (usize, usize, usize) {
        let mut log = ReplayLog::default();
        let skipped = read(Box::new(bytes), &mut log).unwrap();
        (log.statistics().queries, log.statistics().different, skipped)
    }

    #[test]
    fn lines_are_queries_or_objects_and_broken_ones_are_counted() {
        let text = "lamp\n{\"query\":\"lamp\",\"page\":1}\r\n{\"query\":3}\n{broken\n\n灯塔".as_bytes();
        assert_eq!(figures(text), (3, 2, 2));
        assert_eq!(figures(b"\xFF\xFE\nrock\n"), (1, 1, 1));
        let mut long = vec![b'x'; 3 << 20];
        long.extend(b"\nrock\n");
        assert_eq!(figures(&long), (1, 1, 1));
        assert_eq!(figures(b""), (0, 0, 0));
    }

    #[test]
    fn logs_may_be_compressed() {
        let packed = zstd::encode_all(&b"lamp\nrock\nlamp\n"[..], 1).unwrap();
        assert_eq!(figures(&packed), (3, 2, 0));
        let mut log = ReplayLog::default();
        assert!(read(Box::new(&packed[..packed.len() - 4]), &mut log).is_err(), "it ends too early");
    }
}
