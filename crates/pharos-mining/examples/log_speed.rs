//! Measures the reading and the report of a generated log of a million queries with impressions and clicks.
//!
//! ```text
//! cargo run --release -p pharos-mining --example log_speed [QUERIES]
//! ```

use std::fs;
use std::io::{BufWriter, Write as _};
use std::time::Instant;

use pharos_core::Timestamp;
use pharos_mining::DayRange;
use pharos_mining::behaviour::{ReportInputs, build_report};
use pharos_mining::search_log::read_data_dir;
use pharos_mining::sessions::{SessionRules, count_sessions, sessions};

fn main() -> std::io::Result<()> {
    let queries = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1_000_000_u64);
    let dir = tempfile::tempdir()?;
    write_log(dir.path(), queries)?;
    let now = Timestamp::parse("2026-02-01T00:00:00Z").unwrap_or(Timestamp::EPOCH);
    let started = Instant::now();
    let log = read_data_dir(dir.path(), &DayRange::default(), now)?;
    let read = started.elapsed();
    let counts = count_sessions(&sessions(&log, &SessionRules::default()));
    let cut = started.elapsed();
    let report = build_report(&log, ReportInputs::default());
    let all = started.elapsed();
    let missing = report.statistics.iter().filter(|statistic| statistic.missing.is_some()).count();
    println!(
        "{} searches, {} clicks, {} sessions, {missing} statistics missing",
        log.searches.len(),
        log.clicks.len(),
        counts.sessions
    );
    println!(
        "read {:.1} s, sessions {:.1} s, report {:.1} s",
        read.as_secs_f64(),
        (cut - read).as_secs_f64(),
        (all - cut).as_secs_f64()
    );
    let status = fs::read_to_string("/proc/self/status")?;
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("memory unknown"));
    Ok(())
}

/// Writes queries of ten thousand visits a day with ten results each; every second one has a click.
fn write_log(dir: &std::path::Path, queries: u64) -> std::io::Result<()> {
    let open =
        |kind: &str| fs::File::create(dir.join(format!("{kind}-2026-01-31.jsonl"))).map(BufWriter::new);
    let (mut queried, mut shown, mut clicked) = (open("queries")?, open("impressions")?, open("clicks")?);
    let mut state = 42_u64;
    for n in 0..queries {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let query = (300_000.0 * uniform.powi(3)) as u64;
        let seconds = 86_400 * n / queries;
        let at =
            format!("2026-01-31T{:02}:{:02}:{:02}.000Z", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let visit = (n / 4) % 250_000;
        writeln!(
            queried,
            r#"{{"id":"{n:024x}","at":"{at}","visit":"{visit:016x}","device":"desktop","query":"灯塔 query {query}","product":"web","page":1,"total":{},"took_ms":3.5}}"#,
            query % 50
        )?;
        let results: Vec<String> = (1..=10)
            .map(|rank| {
                format!(
                    r#"{{"rank":{rank},"url":"http://site{}.example/page/{}"}}"#,
                    query % 500,
                    (query * 3 + rank) % 200_000
                )
            })
            .collect();
        writeln!(
            shown,
            r#"{{"id":"{n:024x}","at":"{at}","query":"灯塔 query {query}","page_size":10,"results":[{}]}}"#,
            results.join(",")
        )?;
        if n % 2 == 0 {
            let rank = 1 + (state >> 20) % 5;
            let url = format!("http://site{}.example/page/{}", query % 500, (query * 3 + rank) % 200_000);
            writeln!(
                clicked,
                r#"{{"at":"{at}","impression":"{n:024x}","visit":"{visit:016x}","kind":"result","rank":{rank},"url":"{url}"}}"#
            )?;
        }
    }
    queried.flush()?;
    shown.flush()?;
    clicked.flush()
}
