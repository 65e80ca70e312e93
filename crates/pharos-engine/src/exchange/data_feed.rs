//! The data feed: loads pages, changes and deletions from a system that has pages already.
//!
//! JSON lines, one operation per line, executed in order:
//!
//! ```text
//! {"op": "add", "url": "https://www.example.org/a", "html": "<title>A</title><p>…"}
//! {"op": "modify", "url": "https://www.example.org/a", "date": "2026-01-31T12:00:00Z", "title": "A", "text": "…"}
//! {"op": "resend", …}       same as modify
//! {"op": "delete", "url": "https://www.example.org/a", "date": "2026-02-01"}
//! ```
//!
//! | field          | meaning                                                                                      |
//! |----------------|----------------------------------------------------------------------------------------------|
//! | `op`           | `add`, `modify`, `resend` or `delete`                                                          |
//! | `url`          | URL of the page                                                                              |
//! | `date`         | time of the operation (ISO 8601, UTC unless it names a zone); default: now                     |
//! | `html`         | the page as HTML                                                                             |
//! | `text`,`title` | alternatively its text and title                                                             |
//! | `content_type` | media type of `html` or `text` if not the default; the charset is always UTF-8                |
//! | `status`       | HTTP status, default 200; only status 2xx requires content                                      |
//!
//! Other fields and empty lines are ignored.
//!
//! *Modify* and *resend* are a deletion followed by an addition, both with the date of the line. The deletion reaches the
//! version in whichever generation it is; the addition goes to latest. A *delete* first cancels pending additions of the
//! page in the load list, which are then never loaded, and otherwise is recorded in the stores. It applies until a newer
//! version arrives. Operations on one page with one date keep their order: because the catalog lets a deletion win at
//! equal times, an addition after it is dated one millisecond later (PageClean thesis, §3.2.2).

use std::io::{self, BufRead, Read as _};
use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::Config;
use pharos_core::{Clock as _, PageUrl, SystemClock, Timestamp};
use pharos_store::interpret::scope::check_page_url;
use pharos_store::interpret::status::{is_page_status, is_success};
use pharos_store::{Catalog, DataDir, LibraryEvent, LibraryRecord, PageState, RawResponse, RecordContent};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tracing::warn;
use xxhash_rust::xxh3::xxh3_64;

use crate::exchange::import::is_writable;
use crate::stages::ingest::IngestPipeline;
use crate::{Engine, EngineError};

/// Maximum length of a line in bytes.
const MAX_LINE: usize = 64 << 20;
/// Maximum number of pending records, and of bytes of their bodies.
const MAX_LIST_RECORDS: usize = 1024;
const LIST_BYTES: usize = 32 << 20;
/// Maximum number of records in a group, and of bytes of their bodies.
const MAX_GROUP_RECORDS: usize = 64;
const GROUP_BYTES: usize = 8 << 20;
/// Number of invalid lines that the summary describes; all are counted.
const MAX_DESCRIBED: usize = 100;
/// Maximum shift of operations with the same date on one page, to keep their order.
const SAME_DATE_WINDOW: Duration = Duration::from_millis(100);
const ONE_MILLISECOND: Duration = Duration::from_millis(1);

/// The outcome of loading a data feed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoadSummary {
    pub lines: u64,
    /// Pages added, modified or sent again.
    pub added: u64,
    /// Pages that were already stored with the same content and date.
    pub known: u64,
    /// Deletions recorded, including those of modified pages.
    pub deleted: u64,
    /// Pending pages cancelled by a deletion before they were loaded.
    pub dropped: u64,
    /// Operations on pages that operators removed permanently.
    pub removed: u64,
    /// Invalid lines.
    pub bad: u64,
    /// The first invalid lines.
    pub problems: Vec<BadLine>,
    /// `true` if loading was stopped before the end.
    pub stopped: bool,
}

/// An invalid line of a data feed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// Line number, from 1.
    pub line: u64,
    pub detail: String,
}

/// Loads a data feed.
///
/// `progress` receives intermediate summaries. Once `stop` is `true`, the lines read so far are loaded and the summary is
/// marked as stopped.
pub fn load_feed(
    data: &DataDir,
    config: &Config,
    input: &mut dyn BufRead,
    stop: &watch::Receiver<bool>,
    mut progress: impl FnMut(&LoadSummary),
) -> Result<LoadSummary, EngineError> {
    let engine = Engine::open(data.clone(), config.clone(), "load", true)?;
    let ingest = match engine.ingest(stop) {
        Err(EngineError::Stopped) => return Ok(LoadSummary { stopped: true, ..LoadSummary::default() }),
        ingest => ingest?,
    };
    let mut list = LoadList::new(ingest, engine.catalog());
    let mut line = Vec::new();
    loop {
        if *stop.borrow() {
            list.summary.stopped = true;
            break;
        }
        if list.summary.lines.is_multiple_of(64) {
            progress(&list.summary);
        }
        match next_line(input, &mut line) {
            Ok(None) => break,
            Ok(Some(whole)) => list.line(if whole { Ok(&line) } else { Err(()) })?,
            Err(error) => {
                list.finish()?;
                let problem = format!("cannot read the feed after line {}: {error}", list.summary.lines);
                return Err(EngineError::Input { place: "feed".into(), problem });
            }
        }
    }
    list.finish()?;
    Ok(list.summary)
}

/// Reads a line. Returns `Some(false)` for a line that was too long and skipped, `None` at the end.
fn next_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    line.shrink_to(1 << 20);
    if (&mut *input).take(MAX_LINE as u64).read_until(b'\n', line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") || line.len() < MAX_LINE {
        return Ok(Some(true));
    }
    line.clear();
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let end = bytes.iter().position(|b| *b == b'\n');
        let passed = end.map_or(bytes.len(), |end| end + 1);
        let ended = end.is_some() || bytes.is_empty();
        input.consume(passed);
        if ended {
            return Ok(Some(false));
        }
    }
}

/// A line of the data feed.
#[derive(Debug, Deserialize)]
struct FeedLine {
    op: FeedOp,
    url: String,
    date: Option<String>,
    content_type: Option<String>,
    html: Option<String>,
    text: Option<String>,
    title: Option<String>,
    status: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FeedOp {
    Add,
    Modify,
    Resend,
    Delete,
}

impl FeedLine {
    fn date(&self) -> Result<Timestamp, String> {
        let Some(text) = &self.date else { return Ok(SystemClock.now()) };
        let text = text.trim();
        parse_time(text)
            .filter(|at| is_writable(*at))
            .ok_or_else(|| format!("invalid date `{text}`: expected a form such as 2026-01-31T12:00:00Z"))
    }

    fn response(self) -> Result<RawResponse, String> {
        let status = self.status.unwrap_or(200);
        if !is_page_status(status) {
            return Err(format!("invalid page status {status}"));
        }
        let (media, body) = match (self.html, self.text, self.title) {
            (Some(html), None, None) => ("text/html", html),
            (None, Some(text), None) => ("text/plain", text),
            (None, text, Some(title)) => ("text/html", as_html(&title, &text.unwrap_or_default())),
            (Some(_), ..) => return Err("`html` cannot be combined with `text` or `title`".into()),
            (None, None, None) if is_success(status) => {
                return Err("no content: `html` or `text` is required".into());
            }
            (None, None, None) => ("text/html", String::new()),
        };
        let media = self.content_type.as_deref().map_or(media, str::trim);
        let media = media.split(';').next().unwrap_or_default().trim();
        let headers = vec![("Content-Type".to_string(), format!("{media}; charset=utf-8"))];
        Ok(RawResponse { status, headers, body: body.into_bytes(), ..RawResponse::default() })
    }
}

/// Parses an ISO 8601 time: with a zone, without one (UTC), or a date.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text)
        .or_else(|| Timestamp::parse(&format!("{text}Z")))
        .or_else(|| Timestamp::parse(&format!("{text}T00:00:00Z")))
}

/// Builds a minimal HTML page from title and text.
fn as_html(title: &str, text: &str) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut html = format!("<!DOCTYPE html>\n<title>{}</title>\n", escaped(title));
    for paragraph in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        html.extend(["<p>", &escaped(paragraph), "</p>\n"]);
    }
    html
}

/// Records pending to be loaded (加载列表).
struct LoadList {
    ingest: IngestPipeline,
    catalog: Arc<dyn Catalog>,
    waiting: Vec<LibraryRecord>,
    bytes: usize,
    summary: LoadSummary,
}

impl LoadList {
    fn new(ingest: IngestPipeline, catalog: Arc<dyn Catalog>) -> Self {
        Self { ingest, catalog, waiting: Vec::new(), bytes: 0, summary: LoadSummary::default() }
    }

    /// Executes a line; `Err` is a line that was too long.
    fn line(&mut self, line: Result<&[u8], ()>) -> Result<(), EngineError> {
        self.summary.lines += 1;
        let done = match line {
            Err(()) => Err(format!("longer than {MAX_LINE} bytes")),
            Ok(line) if line.trim_ascii().is_empty() => return Ok(()),
            Ok(line) => match serde_json::from_slice::<FeedLine>(line) {
                Err(error) => Err(error.to_string()),
                Ok(line) => self.execute(line)?,
            },
        };
        if let Err(detail) = done {
            self.bad(detail);
        }
        if self.waiting.len() >= MAX_LIST_RECORDS || self.bytes >= LIST_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn bad(&mut self, detail: String) {
        self.summary.bad += 1;
        let line = self.summary.lines;
        if self.summary.problems.len() < MAX_DESCRIBED {
            warn!("line {line}: {detail}");
            self.summary.problems.push(BadLine { line, detail });
        } else if self.summary.bad == MAX_DESCRIBED as u64 + 1 {
            warn!("further invalid lines are counted but not listed");
        }
    }

    /// Executes an operation. The inner error describes an invalid line.
    fn execute(&mut self, line: FeedLine) -> Result<Result<(), String>, EngineError> {
        let url = match PageUrl::parse(&line.url) {
            Ok(url) => url,
            Err(error) => return Ok(Err(error.to_string())),
        };
        if let Err(refusal) = check_page_url(&url) {
            return Ok(Err(refusal.to_string()));
        }
        let date = match line.date() {
            Ok(date) => date,
            Err(detail) => return Ok(Err(detail)),
        };
        if self.catalog.is_removed(&url)? {
            self.summary.removed += 1;
            return Ok(Ok(()));
        }
        let op = line.op;
        if op == FeedOp::Delete {
            self.delete(&url, date, true)?;
            return Ok(Ok(()));
        }
        match line.response() {
            Ok(response) if self.is_current(&url, date, &response)? => self.summary.known += 1,
            Ok(response) => {
                if op != FeedOp::Add {
                    self.delete(&url, date, false)?;
                }
                self.add(url, date, response)?;
            }
            Err(detail) => return Ok(Err(detail)),
        }
        Ok(Ok(()))
    }

    /// Cancels pending additions of a page and records its deletion.
    ///
    /// A page that is not in the catalog is deleted only if `explicit`: older captures imported later then stay hidden.
    fn delete(&mut self, url: &PageUrl, date: Timestamp, explicit: bool) -> Result<(), EngineError> {
        let at = self.last_operation_on(url, date)?.unwrap_or(date);
        let (before, mut freed) = (self.waiting.len(), 0);
        self.waiting.retain(|record| {
            let goes = record.url == *url && record.at <= at && record.status().is_some();
            freed += if goes { record.body_size() } else { 0 };
            !goes
        });
        self.bytes -= freed;
        let dropped = before - self.waiting.len();
        self.summary.dropped += dropped as u64;
        if self.catalog.page(url.id())?.is_some() || (explicit && dropped == 0) {
            self.summary.deleted += 1;
            self.waiting.push(LibraryRecord::new(
                url.clone(),
                at,
                RecordContent::Event(LibraryEvent::Deleted),
            ));
        }
        Ok(())
    }

    fn add(&mut self, url: PageUrl, date: Timestamp, response: RawResponse) -> Result<(), EngineError> {
        let at = match self.last_operation_on(&url, date)? {
            Some(last) => last.plus(ONE_MILLISECOND),
            None if self.is_deleted(&url)? => date.plus(ONE_MILLISECOND),
            None => date,
        };
        let record = LibraryRecord::new(url, at, RecordContent::Response(response));
        self.bytes += record.body_size();
        self.waiting.push(record);
        Ok(())
    }

    /// Returns the time of the last operation on a page within this date.
    fn last_operation_on(&self, url: &PageUrl, date: Timestamp) -> Result<Option<Timestamp>, EngineError> {
        let of_date = |at: &Timestamp| *at >= date && at.since(date) < SAME_DATE_WINDOW;
        let waiting = self.waiting.iter().filter(|record| record.url == *url).map(|record| record.at);
        let versions = self.catalog.versions(url.id())?;
        Ok(waiting.chain(versions.iter().map(|version| version.at)).filter(of_date).max())
    }

    fn is_deleted(&self, url: &PageUrl) -> Result<bool, EngineError> {
        Ok(self.catalog.page(url.id())?.is_some_and(|page| page.state == PageState::Deleted))
    }

    /// Returns `true` if the page already has this content and date, because the feed is being loaded again.
    fn is_current(
        &self,
        url: &PageUrl,
        date: Timestamp,
        response: &RawResponse,
    ) -> Result<bool, EngineError> {
        if self.waiting.iter().any(|record| record.url == *url) {
            return Ok(false);
        }
        let Some(page) = self.catalog.page(url.id())? else { return Ok(false) };
        let same = page.state == PageState::Stored
            && page.status == Some(response.status)
            && page.digest == Some(xxh3_64(&response.body));
        let visited = page.visited_at.filter(|at| *at >= date && at.since(date) < SAME_DATE_WINDOW);
        Ok(same && visited.is_some())
    }

    /// Loads all pending records.
    fn flush(&mut self) -> Result<(), EngineError> {
        self.bytes = 0;
        let (mut group, mut bytes) = (Vec::new(), 0);
        for record in std::mem::take(&mut self.waiting) {
            bytes += record.body_size();
            self.summary.added += u64::from(record.status().is_some());
            group.push(record);
            if group.len() == MAX_GROUP_RECORDS || bytes >= GROUP_BYTES {
                self.ingest.append(std::mem::take(&mut group))?;
                bytes = 0;
            }
        }
        if !group.is_empty() {
            self.ingest.append(group)?;
        }
        self.ingest.execute_pending_orders()
    }

    fn finish(&mut self) -> Result<(), EngineError> {
        self.flush()?;
        self.ingest.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::test_stores;
    use pharos_index::Query;
    use pharos_store::{LibraryPosition, StoredRecord};
    use proptest::prelude::*;
    use tempfile::TempDir;

    const PAGE: &str = "http://example.org/a";

    struct TestSite(TempDir);

    impl TestSite {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn data(&self) -> DataDir {
            DataDir::at(self.0.path())
        }

        fn load(&self, feed: &str) -> LoadSummary {
            let (_stop, never) = watch::channel(false);
            load_feed(&self.data(), &Config::default(), &mut feed.as_bytes(), &never, |_| {}).unwrap()
        }

        fn records(&self) -> Vec<StoredRecord> {
            let library = test_stores(&self.data()).library().unwrap();
            library.scan(LibraryPosition::START, None).unwrap().map(Result::unwrap).collect()
        }

        fn state(&self) -> Option<PageState> {
            let catalog = test_stores(&self.data()).catalog().unwrap().unwrap();
            catalog.page(PageUrl::parse(PAGE).unwrap().id()).unwrap().map(|page| page.state)
        }

        fn finds(&self, word: &str) -> bool {
            let index = test_stores(&self.data()).index().unwrap();
            index.view().unwrap().search(&Query::Word(word.into()), 10).unwrap().total > 0
        }
    }

    fn line(op: &str, date: &str, text: &str) -> String {
        serde_json::json!({"op": op, "url": PAGE, "date": date, "title": text, "text": text}).to_string()
            + "\n"
    }

    #[test]
    fn a_modified_page_is_deleted_by_its_date_and_added_to_latest() {
        let site = TestSite::new();
        site.load(&line("add", "2020-01-01", "lighthouse"));
        assert!(site.finds("lighthouse"));
        let summary = site.load(&line("modify", "2021-05-05", "windmill"));
        assert_eq!((summary.deleted, summary.added), (1, 1));
        let records = site.records();
        let [_, deleted, added] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!(deleted.record.content, RecordContent::Event(LibraryEvent::Deleted));
        assert_eq!(deleted.record.at, Timestamp::parse("2021-05-05T00:00:00Z").unwrap());
        assert_eq!(added.record.at, deleted.record.at.plus(ONE_MILLISECOND));
        assert!(site.finds("windmill") && !site.finds("lighthouse"));
        assert_eq!(site.load(&line("resend", "2021-05-05", "windmill")).known, 1);
        // An older modification changes nothing.
        site.load(&line("modify", "2019-01-01", "ruin"));
        assert!(site.finds("windmill") && !site.finds("ruin"));
    }

    #[test]
    fn a_deletion_of_what_waits_takes_it_off_the_list() {
        let site = TestSite::new();
        let summary =
            site.load(&[line("add", "2020-01-01", "lighthouse"), line("delete", "2020-01-02", "")].concat());
        assert_eq!((summary.added, summary.dropped, summary.deleted), (0, 1, 0));
        assert_eq!(site.records(), [], "it was never loaded");
        // A deletion older than the pending page does not cancel it.
        let summary =
            site.load(&[line("add", "2020-01-03", "lighthouse"), line("delete", "2020-01-02", "")].concat());
        assert_eq!((summary.added, summary.dropped), (1, 0));
        assert!(site.finds("lighthouse"));
    }

    #[test]
    fn of_one_date_the_order_of_the_feed_counts() {
        let (add, delete) = (line("add", "2020-01-01", "lighthouse"), line("delete", "2020-01-01", ""));
        for (ops, there) in [("ad", false), ("dad", false), ("adada", true), ("dada", true), ("aad", false)] {
            let lines = ops.chars().map(|op| if op == 'a' { &add } else { &delete });
            // In one load, and in one load per operation.
            let site = TestSite::new();
            site.load(&lines.clone().cloned().collect::<String>());
            let each = TestSite::new();
            lines.for_each(|line| drop(each.load(line)));
            for site in [site, each] {
                assert_eq!(site.finds("lighthouse"), there, "{ops}");
                let state = site.state();
                assert_eq!(state == Some(PageState::Stored), there, "{ops} {state:?}");
            }
        }
    }

    #[test]
    fn a_bad_line_is_reported_and_the_rest_is_loaded() {
        let site = TestSite::new();
        let bad = [
            "rubbish",
            r#"{"op": "burn", "url": "http://example.org/"}"#,
            r#"{"op": "add", "url": "ftp://example.org/", "text": "x"}"#,
            r#"{"op": "add", "url": "http://example.org/"}"#,
            r#"{"op": "add", "url": "http://example.org/", "html": "x", "text": "x"}"#,
            r#"{"op": "add", "url": "http://example.org/", "text": "x", "date": "tomorrow"}"#,
            r#"{"op": "add", "url": "http://example.org/robots.txt", "text": "x"}"#,
            r#"{"op": "add", "url": "http://example.org/", "text": "x", "status": 304}"#,
            r#"{"op": "delete", "url": "http://example.org/", "date": "-000300-01-01T00:00:00Z"}"#,
        ];
        let feed = format!("{}\n\n{}", bad.join("\n"), line("add", "2020-01-01T01:02:03", "lighthouse"));
        let summary = site.load(&feed);
        assert_eq!((summary.bad, summary.added, summary.lines), (9, 1, 11));
        let lines: Vec<u64> = summary.problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn an_overlong_line_is_skipped() {
        let mut feed = io::BufReader::new(io::repeat(b'x').take(MAX_LINE as u64 + 5).chain(&b"\nnext"[..]));
        let mut line = Vec::new();
        assert_eq!(next_line(&mut feed, &mut line).unwrap(), Some(false));
        assert_eq!((next_line(&mut feed, &mut line).unwrap(), line.as_slice()), (Some(true), &b"next"[..]));
        assert_eq!(next_line(&mut feed, &mut line).unwrap(), None);
    }

    proptest! {
        /// Every line yields a page with its text, or is rejected.
        #[test]
        fn any_line_is_read_or_refused(
            date in "[0-9T:Z. +-]{0,25}", status in 190..320u16, title in ".{0,30}", text in "[ -~灯塔é\\n]{0,60}",
        ) {
            let line = json(&date, status, &title, &text);
            let line: FeedLine = serde_json::from_str(&line).unwrap();
            if let Ok(at) = line.date() {
                prop_assert_eq!(Timestamp::parse(&at.to_precise()), Some(at));
            }
            if let Ok(response) = line.response() {
                let url = PageUrl::parse(PAGE).unwrap();
                let page = pharos_html::extract_page(&url, response.header("Content-Type"), &response.body);
                let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
                prop_assert_eq!(words(&page.text), words(&text));
            }
        }
    }

    fn json(date: &str, status: u16, title: &str, text: &str) -> String {
        serde_json::json!({
            "op": "add", "url": PAGE, "date": date, "status": status, "title": title, "text": text, "x": [1]
        })
        .to_string()
    }
}
