//! Damage is detected and repaired; derived data is rebuilt from the library; a backup of a running engine can be
//! restored.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::{Rig, Running, describe, fail, pharos, stores, succeed, until};
use pharos_core::config::Config;
use pharos_core::{LibraryPosition, PageUrl};
use pharos_index::{IndexChange, IndexDocument, Query};
use pharos_query::{QueryProcessor, SearchRequest};
use pharos_store::{RecordContent, StoredRecord};
use pharos_testweb::{ServeOptions, WebSpec};
use rusqlite::Connection;
use serde_json::Value;

/// A small web in a library of several files.
fn small_web(seed: u64) -> Rig {
    let spec = WebSpec { seed, hosts: 3, pages: 70, ..WebSpec::default() };
    let rig = Rig::new(spec, ServeOptions::default());
    fs::create_dir_all(rig.data()).unwrap();
    fs::write(rig.data().join("pharos.toml"), "[library]\nfile_size = \"32KB\"\n").unwrap();
    rig
}

fn on(data: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = pharos();
    command.arg("--data").arg(data).args(arguments);
    command
}

/// Returns the exit code of the doctor and the findings that are faults.
fn doctor(data: &Path, arguments: &[&str]) -> (i32, Vec<Value>) {
    let output = on(data, &[&["--json", "doctor"], arguments].concat()).output().unwrap();
    let code = output.status.code().unwrap();
    assert!(code < 2, "{}", describe(&output));
    let diagnosis: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = diagnosis["findings"].as_array().unwrap().iter();
    (code, findings.filter(|finding| finding["grade"] == "fault").cloned().collect())
}

#[track_caller]
fn assert_healthy(data: &Path) {
    let (code, findings) = doctor(data, &[]);
    assert_eq!((code, findings), (0, Vec::new()));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}

/// Returns queries made of words of the pages.
fn queries(data: &Path, count: usize) -> Vec<String> {
    let index = stores(data).index().unwrap();
    let view = index.view().unwrap();
    let all = view.search(&Query::All, 10_000).unwrap();
    let pages = view.stored(&all.candidates).unwrap();
    assert!(pages.len() > 20);
    (0..count)
        .map(|n| {
            let page = &pages[n * 7 % pages.len()];
            let text = if n % 3 == 0 { &page.fields.title } else { &page.text.body };
            // Chinese has no spaces: a word is a few characters of the text.
            let words: Vec<String> = text
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(|word| if word.is_ascii() { word.into() } else { word.chars().take(4).collect() })
                .collect();
            let first = (n * 13) % words.len().max(1);
            words.into_iter().skip(first).take(1 + n % 3).collect::<Vec<_>>().join(" ")
        })
        .collect()
}

type Top = (u64, Vec<(String, f32)>);

/// Returns the first ten results of each query with their scores.
fn answers(data: &Path, queries: &[String]) -> Vec<Top> {
    let search = QueryProcessor::new(stores(data).index().unwrap(), &Config::default());
    let answers = queries.iter().map(|query| search.run(&SearchRequest::new(query)).unwrap());
    answers.map(|a| (a.total, a.hits.into_iter().map(|hit| (hit.url, hit.score)).collect())).collect()
}

/// Returns the first query with different results. Sums in another order differ in the last digit, so results with
/// nearly equal scores may swap places.
fn difference(queries: &[String], before: &[Top], after: &[Top]) -> Option<String> {
    let close = |a: f32, b: f32| (a - b).abs() <= 1e-5 * a.abs().max(1.0);
    let same = |before: &Top, after: &Top| {
        let known = |url: &str, score: f32| match before.1.iter().find(|(known, _)| known == url) {
            Some((_, known)) => close(*known, score),
            None => before.1.last().is_some_and(|(_, last)| close(*last, score)),
        };
        before.0 == after.0
            && before.1.len() == after.1.len()
            && before.1.iter().zip(&after.1).all(|((_, a), (url, b))| close(*a, *b) && known(url, *b))
    };
    let mut answers = queries.iter().zip(before).zip(after);
    let other = answers.find(|((_, before), after)| !same(before, after));
    other.map(|((query, before), after)| format!("{query:?}: {before:?}\nbecame {after:?}"))
}

fn records(data: &Path) -> Vec<StoredRecord> {
    let library = stores(data).library().unwrap();
    library.scan(LibraryPosition::START, None).unwrap().map(|record| record.unwrap()).collect()
}

fn is_page(stored: &StoredRecord) -> bool {
    stored.record.url.path_and_query() != "/robots.txt"
        && matches!(&stored.record.content, RecordContent::Response(r) if r.status == 200 && r.body.len() > 500)
}

fn library_file(data: &Path, number: u32) -> PathBuf {
    data.join(format!("library/{number:08}.warc.gz"))
}

fn overwrite(path: &Path, offset: u64, bytes: &[u8]) {
    File::options().write(true).open(path).unwrap().write_all_at(bytes, offset).unwrap();
}

fn flip(path: &Path, offset: u64) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 0x55], offset).unwrap();
}

fn sql(data: &Path, statements: &str) {
    let catalog = Connection::open(data.join("catalog.db")).unwrap();
    catalog.execute_batch(statements).unwrap();
}

/// Changes the index without the engine.
fn change_index(data: &Path, change: IndexChange) {
    let index = stores(data).own_index().unwrap();
    let at = index.applied_positions().unwrap();
    index.apply(vec![change]).unwrap();
    index.commit(&at).unwrap();
}

/// Returns a file in a folder or below it whose name has this ending.
fn find(folder: &Path, ending: &str) -> Option<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().find_map(|path| {
        if path.is_dir() {
            find(path, ending)
        } else {
            path.to_str().unwrap().ends_with(ending).then(|| path.clone())
        }
    })
}

/// A kind of damage to a data directory, and the expected finding.
struct Damage<'a> {
    name: &'a str,
    store: &'a str,
    /// Text that occurs in the location or description of a finding about that store.
    expected: String,
    repairable: bool,
    /// `true` if searches give the same results after the repair; `false` if the library lost a record.
    same_answers: bool,
    /// `true` if the repair discards what the library has lost, and must be forced.
    needs_force: bool,
    plant: Box<dyn Fn(&Path) + 'a>,
}

#[test]
fn every_planted_damage_is_found_and_repaired_if_possible() {
    let rig = small_web(31);
    let data = rig.data();
    succeed(rig.crawl("crawl").args(["--max-pages", "40"]));
    assert_healthy(&data);
    succeed(&mut rig.pharos(&["index", "build"]));
    assert_healthy(&data);
    succeed(&mut rig.crawl("crawl"));
    assert_healthy(&data);
    // A crawl alone writes no page objects; applying a submission does.
    succeed(&mut rig.pharos(&["add", "--propose", "http://proposed.test/"]));
    assert_healthy(&data);
    succeed(&mut rig.pharos(&["index", "build"]));
    assert!(succeed(&mut rig.pharos(&["doctor"])).starts_with("healthy: "));
    let queries = queries(&data, 40);
    let before = answers(&data, &queries);

    let all = records(&data);
    let last = all.last().unwrap().position.volume;
    assert!(last >= 3, "the library must have several files, not {last}");
    let pages: Vec<&StoredRecord> = all.iter().filter(|stored| is_page(stored)).collect();
    let victim = pages.iter().find(|stored| stored.position.volume == 1).unwrap();
    let other = pages.iter().find(|stored| stored.position.volume == 2).unwrap();
    let (url, position) = (victim.record.url.clone(), victim.position);
    let packed = |stored: &StoredRecord| stored.position.to_u64();
    let in_last: Vec<&StoredRecord> = all.iter().filter(|stored| stored.position.volume == last).collect();
    let cut = in_last[in_last.len() / 2].position;
    let path_of = |stored: &StoredRecord| stored.record.url.path_and_query().to_string();
    let checkpoint = |data: &Path| sql(data, "PRAGMA wal_checkpoint(TRUNCATE)");

    fn damage<'a>(
        name: &'a str,
        store: &'a str,
        expected: impl ToString,
        plant: impl Fn(&Path) + 'a,
    ) -> Damage<'a> {
        let (expected, plant) = (expected.to_string(), Box::new(plant));
        Damage { name, store, expected, repairable: true, same_answers: true, needs_force: false, plant }
    }
    let damages = [
        Damage {
            repairable: false,
            ..damage("a flipped byte in a record", "library", &url, |data| {
                flip(&library_file(data, 1), position.offset + 60);
            })
        },
        Damage {
            repairable: false,
            ..damage("a zero-filled stretch", "library", position, |data| {
                overwrite(&library_file(data, 1), position.offset, &[0; 3000]);
            })
        },
        Damage {
            repairable: false,
            ..damage("a library file is missing", "library", "00000002", |data| {
                fs::remove_file(library_file(data, 2)).unwrap();
            })
        },
        damage("a torn tail", "library", format!("{last:08}.warc.gz at byte"), |data| {
            let half = fs::read(library_file(data, 1)).unwrap()[..100].to_vec();
            File::options().append(true).open(library_file(data, last)).unwrap().write_all(&half).unwrap();
        }),
        damage("leftovers of a compaction", "library", "00000001-1.warc.new", |data| {
            fs::write(data.join("library/00000001-1.warc.new"), "half").unwrap();
        }),
        damage("a catalog row is deleted", "catalog", &url, |data| {
            let path = path_of(victim);
            sql(
                data,
                &format!(
                    "DELETE FROM versions WHERE position = {0}; DELETE FROM visits WHERE position = {0};
                     UPDATE pages SET state = 0 WHERE path = '{path}';
                     UPDATE sites SET stored = stored - 1, indexable = indexable - 1
                     WHERE site IN (SELECT site FROM pages WHERE path = '{path}')",
                    packed(victim)
                ),
            );
        }),
        damage("a catalog position points to another page", "catalog", &url, |data| {
            let (from, to) = (packed(victim), packed(other));
            sql(
                data,
                &format!(
                    "UPDATE versions SET position = {to} WHERE position = {from};
                     UPDATE visits SET position = {to} WHERE position = {from}"
                ),
            );
        }),
        damage("the catalog file is overwritten", "catalog", "catalog.db", |data| {
            checkpoint(data);
            overwrite(&data.join("catalog.db"), 0, &[0xa5; 4096]);
        }),
        damage("the catalog file is damaged inside", "catalog", "catalog.db", |data| {
            checkpoint(data);
            overwrite(&data.join("catalog.db"), 3 * 4096, &[0xa5; 8192]);
        }),
        Damage {
            same_answers: false,
            needs_force: true,
            ..damage("the library has lost its end", "catalog", "is lost", |data| {
                let file = File::options().write(true).open(library_file(data, last)).unwrap();
                file.set_len(cut.offset + 10).unwrap();
            })
        },
        damage("a page is gone from the index", "index", &url, |data| {
            change_index(data, IndexChange::Gone(url.id()));
        }),
        damage("a foreign page is in the index", "index", "http://foreign.example/page", |data| {
            change_index(
                data,
                IndexChange::Put(Box::new(IndexDocument {
                    title: "Nobody fetched this".into(),
                    body: "And yet it is found.".into(),
                    position,
                    ..IndexDocument::new(PageUrl::parse("http://foreign.example/page").unwrap())
                })),
            );
        }),
        damage("an index segment is damaged", "index", ".store", |data| {
            flip(&find(&data.join("index"), ".store").unwrap(), 20);
        }),
        damage("an index term file is damaged", "index", ".term", |data| {
            flip(&find(&data.join("index"), ".term").unwrap(), 40);
        }),
        damage("CURRENT is missing", "index", "CURRENT", |data| {
            fs::remove_file(data.join("index/CURRENT")).unwrap();
        }),
        damage("CURRENT is garbled", "index", "CURRENT", |data| {
            fs::write(data.join("index/CURRENT"), "{\"format\":1,\"hist").unwrap();
        }),
        damage("a generation was left over", "index", "history-99", |data| {
            fs::create_dir(data.join("index/history-99")).unwrap();
        }),
        damage("a block of links is damaged", "derived", "00000001.links.zst", |data| {
            flip(&data.join("library/links/00000001.links.zst"), 200);
        }),
        damage("a file of page objects is missing", "derived", "pages", |data| {
            fs::remove_file(data.join("library/pages/00000002.pages.zst")).unwrap();
        }),
        damage("a byte of the anchors is flipped", "graph", "anchors", |data| {
            flip(&find(&data.join("graph"), "anchors").unwrap(), 9);
        }),
        damage("a byte of the link rows is flipped", "graph", "rows", |data| {
            flip(&find(&data.join("graph"), "rows").unwrap(), 30);
        }),
        damage("the last file of page objects is missing", "derived", "pages", |data| {
            fs::remove_file(data.join(format!("library/pages/{last:08}.pages.zst"))).unwrap();
        }),
    ];

    let mut failures = Vec::new();
    for damage in &damages {
        let dir = tempfile::tempdir().unwrap();
        let copied = dir.path().join("data");
        copy(&data, &copied);
        (damage.plant)(&copied);
        let mut failed = |what: String| failures.push(format!("{}: {what}", damage.name));
        let (code, findings) = doctor(&copied, &[]);
        let is_told = |finding: &Value| {
            let text = format!("{} {}", finding["place"], finding["what"]);
            finding["store"] == damage.store && text.contains(&damage.expected)
        };
        if code != 1 || !findings.iter().any(is_told) {
            failed(format!("not found: {code} {findings:#?}"));
            continue;
        }
        let (mut code, mut findings) = doctor(&copied, &["--repair"]);
        if damage.needs_force {
            if code != 1 || findings.iter().any(|finding| finding["mended"] == true) {
                failed(format!("it must not be repaired: {code} {findings:#?}"));
            }
            (code, findings) = doctor(&copied, &["--repair", "--force"]);
        }
        if !damage.repairable {
            if code != 1 || !findings.iter().any(is_told) {
                failed(format!("unrepairable damage must still be reported: {code} {findings:#?}"));
            }
        } else if code != 0 {
            failed(format!("not repaired: {findings:#?}"));
        } else {
            let (code, findings) = doctor(&copied, &[]);
            if code != 0 || !findings.is_empty() {
                failed(format!("not healthy after the repair: {findings:#?}"));
            }
        }
        if damage.same_answers
            && let Some(difference) = difference(&queries, &before, &answers(&copied, &queries))
        {
            failed(difference);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));

    // A page whose record is lost is due again, and the next crawl fetches it.
    flip(&library_file(&data, 1), position.offset + 60);
    assert_eq!(doctor(&data, &["--repair"]).0, 1);
    let page_report: Value =
        serde_json::from_str(&succeed(&mut rig.pharos(&["--json", "page", url.as_str()]))).unwrap();
    assert!(page_report["due"].is_i64() || page_report["due"].is_string(), "{page_report}");
    let again = succeed(&mut rig.pharos(&["--json", "page", url.as_str()]));
    doctor(&data, &["--repair"]);
    assert_eq!(again, succeed(&mut rig.pharos(&["--json", "page", url.as_str()])), "it is due once");

    // Once the page has a new version, the data directory is healthy; a placeholder replaces the damaged record.
    let feed = rig.dir.path().join("feed.jsonl");
    let line = serde_json::json!({ "op": "add", "url": url.as_str(), "text": "The page was restored." });
    fs::write(&feed, format!("{line}\n")).unwrap();
    succeed(rig.pharos(&["load"]).arg(&feed));
    assert_healthy(&data);
    assert!(!data.join("library/00000001-1.warc.gz").exists());
    assert_eq!(doctor(&data, &["--repair"]), (0, Vec::new()));
    assert!(data.join("library/00000001-1.warc.gz").exists());
    assert_healthy(&data);
    assert_eq!(records(&data).iter().filter(|stored| stored.position == position).count(), 1);
    succeed(&mut rig.pharos(&["index", "build"]));
    assert_healthy(&data);
}

#[test]
fn a_compacted_library_is_healthy_and_its_tables_are_rebuilt() {
    let rig = small_web(32);
    let data = rig.data();
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let all = records(&data);
    let gone = all.iter().find(|stored| is_page(stored) && stored.position.volume == 1).unwrap();
    succeed(&mut rig.pharos(&["remove", gone.record.url.as_str()]));
    assert_healthy(&data);
    succeed(&mut rig.pharos(&["compact"]));
    assert!(data.join("library/00000001-1.warc.gz").exists());
    assert_healthy(&data);
    let queries = queries(&data, 40);
    let before = answers(&data, &queries);
    for (name, plant) in [
        ("flipped", Box::new(|path: &Path| flip(path, 30)) as Box<dyn Fn(&Path)>),
        ("missing", Box::new(|path: &Path| fs::remove_file(path).unwrap())),
        ("of another file", Box::new(|path: &Path| fs::write(path, b"PHAROSO1").unwrap())),
    ] {
        plant(&data.join("library/00000001-1.offsets"));
        let (code, findings) = doctor(&data, &[]);
        assert_eq!(code, 1, "{name}");
        assert!(findings[0]["place"].as_str().unwrap().ends_with("00000001-1.offsets"), "{findings:?}");
        assert_eq!(doctor(&data, &["--repair"]).0, 0, "{name}");
        assert_healthy(&data);
    }
    assert_eq!(difference(&queries, &before, &answers(&data, &queries)), None);
    succeed(&mut rig.pharos(&["rebuild"]));
    assert_healthy(&data);
    let page_report: Value = serde_json::from_slice(
        &rig.pharos(&["--json", "page", gone.record.url.as_str()]).output().unwrap().stdout,
    )
    .unwrap();
    assert_eq!(page_report["state"], "removed");
}

/// Everything except the library and the settings is deleted and rebuilt without a request.
#[test]
fn data_rebuilt_from_the_library_gives_the_same_results() {
    let rig = small_web(33);
    let data = rig.data();
    succeed(rig.crawl("crawl").args(["--max-pages", "40"]));
    succeed(&mut rig.pharos(&["index", "build"]));
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let queries = queries(&data, 200);
    let before = answers(&data, &queries);
    assert!(before.iter().filter(|(total, _)| *total > 0).count() > 150);
    let counts = |data: &Path| {
        let stats: Value = serde_json::from_str(&succeed(&mut on(data, &["--json", "stats"]))).unwrap();
        stats["catalog"].clone()
    };
    let known = counts(&data);
    for name in ["catalog.db", "catalog.db-wal", "catalog.db-shm", "LOCK"] {
        let _ = fs::remove_file(data.join(name));
    }
    for name in ["index", "library/pages", "library/links"] {
        fs::remove_dir_all(data.join(name)).unwrap();
    }
    rig.server.clear_log();
    let output = succeed(&mut rig.pharos(&["rebuild"]));
    assert!(output.contains("searchable"), "{output}");
    assert!(rig.server.log().is_empty(), "nothing is fetched");
    assert_eq!(difference(&queries, &before, &answers(&data, &queries)), None);
    assert_eq!(counts(&data), known);
    assert_healthy(&data);
    for part in ["catalog", "links", "index"] {
        succeed(&mut rig.pharos(&["rebuild", part]));
        assert_healthy(&data);
        assert_eq!(difference(&queries, &before, &answers(&data, &queries)), None, "{part}");
    }
    fs::rename(data.join("library"), data.join("elsewhere")).unwrap();
    let error = fail(&mut rig.pharos(&["rebuild"]));
    assert!(error.contains("no library in"), "{error}");
}

/// After a kill at any moment, the next start continues the rebuild, and all stores agree.
#[test]
fn a_killed_rebuild_leaves_consistent_stores() {
    let rig = small_web(34);
    let data = rig.data();
    succeed(&mut rig.crawl("crawl"));
    succeed(&mut rig.pharos(&["index", "build"]));
    let queries = queries(&data, 40);
    let before = answers(&data, &queries);
    for delay in [10, 40, 80, 150, 250] {
        let rebuild = Running::start(&mut rig.pharos(&["rebuild"]));
        std::thread::sleep(Duration::from_millis(delay));
        drop(rebuild);
        assert_eq!(difference(&queries, &before, &answers(&data, &queries)), None, "after {delay} ms");
    }
    succeed(&mut rig.crawl("crawl"));
    let (_, findings) = doctor(&data, &["--repair"]);
    assert!(findings.iter().all(|finding| finding["mended"] == true), "{findings:?}");
    assert_healthy(&data);
    assert_eq!(difference(&queries, &before, &answers(&data, &queries)), None);
}

/// Beside a running engine the doctor reports no false faults, and a backup is complete.
#[test]
fn a_running_engine_is_checked_and_backed_up() {
    let options = ServeOptions { latency: Duration::from_millis(40), ..ServeOptions::default() };
    let rig = Rig::new(WebSpec { seed: 35, hosts: 5, pages: 400, ..WebSpec::default() }, options);
    let data = rig.data();
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("pharos.toml"), "[library]\nfile_size = \"64KB\"\n").unwrap();
    let mut up = Running::start(rig.crawl("up").args(["--listen", "127.0.0.1:0"]));
    up.address();
    until("pages are stored", || data.join("library").is_dir() && rig.stored().len() > 60);
    let backup = rig.dir.path().join("backup");
    let json = |text: String| serde_json::from_str::<Value>(&text).unwrap();
    let take = || json(succeed(on(&data, &["--json", "backup"]).arg(&backup)));
    let first = take();
    for round in 0..4 {
        let (code, findings) = doctor(&data, &[]);
        assert_eq!((code, findings), (0, Vec::new()), "round {round}");
        if round == 1 {
            succeed(&mut rig.pharos(&["index", "build"]));
        }
    }
    take();
    assert!(up.0.try_wait().unwrap().is_none(), "it goes on");
    // A backup of a busy engine opens elsewhere, and its stores agree.
    let early = rig.dir.path().join("early");
    succeed(on(&early, &["restore"]).arg(&backup));
    assert_healthy(&early);
    assert_eq!(fs::read(early.join("pharos.toml")).unwrap(), fs::read(data.join("pharos.toml")).unwrap());

    let all = rig.truth().stored().count();
    until("everything is stored", || rig.stored().len() >= all);
    up.signal("TERM");
    assert!(up.0.wait().unwrap().success());
    assert_healthy(&data);
    succeed(&mut rig.pharos(&["index", "build"]));
    let last = take();
    assert!(first["copied"] == first["bytes"]);
    assert!(last["copied"].as_u64().unwrap() < last["bytes"].as_u64().unwrap(), "{last}");

    let queries = queries(&data, 100);
    let elsewhere = rig.dir.path().join("elsewhere");
    succeed(on(&elsewhere, &["restore"]).arg(&backup));
    assert_healthy(&elsewhere);
    let (there, here) = (answers(&elsewhere, &queries), answers(&data, &queries));
    assert_eq!(difference(&queries, &here, &there), None);
    let error = fail(on(&elsewhere, &["restore"]).arg(&backup));
    assert!(error.contains("is not empty"), "{error}");

    flip(&backup.join("library/00000002.warc.gz"), 500);
    let error = fail(on(&rig.dir.path().join("third"), &["restore"]).arg(&backup));
    assert!(error.contains("00000002.warc.gz is damaged"), "{error}");
    fs::remove_file(backup.join("MANIFEST.json")).unwrap();
    let error = fail(on(&rig.dir.path().join("third"), &["restore"]).arg(&backup));
    assert!(error.contains("not a backup"), "{error}");
}
