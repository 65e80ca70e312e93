//! Resource usage of the threads of each stage.

use std::collections::BTreeMap;

use pharos_mining::machine::{ThreadReading, thread_readings};

/// Returns the resource usage of the threads of this process, by stage.
pub fn stage_threads() -> BTreeMap<&'static str, ThreadReading> {
    thread_readings(stage_of)
}

/// Returns the stage of a thread by its name. The kernel truncates thread names to 15 bytes.
fn stage_of(thread: &str) -> &'static str {
    match thread {
        "append" => "append",
        "apply" => "apply",
        "build" => "build",
        "query" => "query",
        _ if thread == "analyse" || thread.starts_with("analyse-") => "analyse",
        // Threads of tantivy belong to the apply stage.
        _ if thread.starts_with("thrd-tantivy") || thread.contains("merge") || thread.contains("segment") => {
            "apply"
        }
        _ if thread.starts_with("tokio") => "fetch",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_assigned_to_stages_by_name() {
        for (name, stage) in [
            ("analyse-3", "analyse"),
            ("tokio-rt-worker", "fetch"),
            ("merge_thread_0", "apply"),
            ("thrd-tantivy-in", "apply"),
            ("index-look", "other"),
        ] {
            assert_eq!(stage_of(name), stage, "{name}");
        }
        let worked = std::thread::Builder::new().name("append".into()).spawn(|| stage_threads()["append"]);
        assert!(worked.unwrap().join().unwrap().threads >= 1);
    }
}
