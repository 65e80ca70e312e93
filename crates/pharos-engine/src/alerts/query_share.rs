//! The share of queries without results, from the end of the query log.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use pharos_core::Timestamp;
use pharos_mining::log::files::list_files;
use pharos_mining::{LogFile, LogKind, QueryRecord};

use super::conditions::QueryShare;

/// Bytes read from the end of each of the last two files.
const MAX_READ: u64 = 2 << 20;
/// Period of recent queries.
const RECENT: Duration = Duration::from_secs(3600);

/// Counts the queries of the last hour and the logged ones before it, on first result pages.
pub(super) fn query_share(logs: &Path, now: Timestamp) -> QueryShare {
    let files = list_files(logs).unwrap_or_default().into_iter();
    let open: Vec<LogFile> = files.filter(|file| file.kind == LogKind::Queries && !file.compressed).collect();
    let mut share = QueryShare::default();
    for file in &open[open.len().saturating_sub(2)..] {
        for line in tail(&file.path).unwrap_or_default().lines() {
            if let Ok(record) = serde_json::from_str(line) {
                count(&mut share, &record, now);
            }
        }
    }
    share
}

fn count(share: &mut QueryShare, record: &QueryRecord, now: Timestamp) {
    let Some(total) = record.total.filter(|_| record.page <= 1) else { return };
    let counts = if now.since(record.at) < RECENT { &mut share.recent } else { &mut share.earlier };
    counts.0 += 1;
    counts.1 += u64::from(total == 0);
}

fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(MAX_READ);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MAX_READ).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_and_earlier_queries_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp::parse("2026-01-31T12:00:00Z").unwrap();
        let line = |at: &str, total: &str, page: u32| {
            format!("{{\"at\":\"{at}\",\"query\":\"q\",\"page\":{page}{total}}}\n")
        };
        let text = [
            line("2026-01-31T10:00:00Z", ",\"total\":0", 1),
            line("2026-01-31T11:30:00Z", ",\"total\":0", 1),
            line("2026-01-31T11:31:00Z", ",\"total\":9", 1),
            line("2026-01-31T11:32:00Z", ",\"total\":0", 2),
            line("2026-01-31T11:33:00Z", "", 1),
            "damaged\n".to_string(),
        ];
        std::fs::write(dir.path().join("queries-2026-01-31.jsonl"), text.concat()).unwrap();
        let share = query_share(dir.path(), now);
        assert_eq!(share, QueryShare { recent: (2, 1), earlier: (1, 1) });
        assert_eq!(query_share(&dir.path().join("none"), now), QueryShare::default());
    }
}
