//! The feed: how a system that has pages already hands them over, and tells what became of them.
//!
//! JSON lines, one operation a line, carried out in their order:
//!
//! ```text
//! {"op": "add", "url": "https://www.example.org/a", "html": "<title>A</title><p>…"}
//! {"op": "modify", "url": "https://www.example.org/a", "date": "2026-01-31T12:00:00Z", "title": "A", "text": "…"}
//! {"op": "resend", …}       the same as modify
//! {"op": "delete", "url": "https://www.example.org/a", "date": "2026-02-01"}
//! ```
//!
//! | field          | meaning                                                                                      |
//! |----------------|----------------------------------------------------------------------------------------------|
//! | `op`           | `add`, `modify`, `resend` or `delete`                                                          |
//! | `url`          | the address of the page                                                                      |
//! | `date`         | when that happened (ISO 8601; UTC where it names no zone); now where it is missing              |
//! | `html`         | the page as HTML                                                                             |
//! | `text`,`title` | or else its text, and its title                                                              |
//! | `content_type` | the media type of `html` or `text`, where it is not the usual one; the charset is always UTF-8 |
//! | `status`       | the HTTP status, 200 where it is missing; only a page of status 2xx must have content           |
//!
//! Other fields are passed over, and so are empty lines.
//!
//! *Modify* and *resend* are a deletion and an addition, both dated by the record, so that the deletion reaches the
//! version in whichever generation it stands, and the addition goes to latest. A *delete* looks first at what waits to
//! be loaded: that is taken off the list and never loaded. Only then does it go to the stores, where it counts until
//! something newer comes. Operations on one page with one date happen in the order of the feed: the catalog lets a
//! deletion win at equal times, so what is added after it is dated a millisecond later.

use std::io::{self, BufRead, Read as _};
use std::sync::Arc;
use std::time::Duration;

use pharos_core::config::Config;
use pharos_core::{Clock as _, PageUrl, SystemClock, Timestamp};
use pharos_crawl::robots::is_robots_txt;
use pharos_store::{Catalog, Content, DataDir, Event, PageState, Record, Response};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tracing::warn;
use xxhash_rust::xxh3::xxh3_64;

use crate::import::is_writable;
use crate::{Engine, EngineError, Intake};

/// Longest line.
const MAX_LINE: usize = 64 << 20;
/// Records, and bytes of their bodies, that wait to be loaded, at most.
const LIST: usize = 1024;
const LIST_BYTES: usize = 32 << 20;
/// Records, and bytes of their bodies, that are taken in together, at most.
const GROUP: usize = 64;
const GROUP_BYTES: usize = 8 << 20;
/// Bad lines that the summary describes; all are counted.
const MAX_DESCRIBED: usize = 100;
/// How far operations of one date on one page may be moved apart, to keep their order.
const SAME_DATE: Duration = Duration::from_millis(100);
const MOMENT: Duration = Duration::from_millis(1);

/// What came of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoadSummary {
    /// Lines read.
    pub lines: u64,
    /// Pages taken in: added, modified or sent again.
    pub added: u64,
    /// Pages that are there already, just so.
    pub known: u64,
    /// Deletions recorded, those of modified pages included.
    pub deleted: u64,
    /// Pages taken off the list before they were loaded.
    pub dropped: u64,
    /// Operations on pages that were removed for good.
    pub removed: u64,
    /// Lines that cannot be read.
    pub bad: u64,
    /// The first of those.
    pub problems: Vec<BadLine>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong.
    pub detail: String,
}

/// Loads a feed. `progress` hears how far it is; once `stop` is true, what was read so far is loaded and the summary
/// says so.
pub fn load(
    data: &DataDir,
    config: &Config,
    input: &mut dyn BufRead,
    stop: &watch::Receiver<bool>,
    mut progress: impl FnMut(&LoadSummary),
) -> Result<LoadSummary, EngineError> {
    let engine = Engine::open(data.clone(), config.clone(), "load", true)?;
    let intake = match engine.intake(stop) {
        Err(EngineError::Stopped) => return Ok(LoadSummary { stopped: true, ..LoadSummary::default() }),
        intake => intake?,
    };
    let mut list = LoadList::new(intake, engine.catalog());
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

/// Reads a line. `Some(false)` is one that was too long and passed over; `None` is the end.
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

/// A line of the feed.
#[derive(Debug, Deserialize)]
struct Line {
    op: Op,
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
enum Op {
    Add,
    Modify,
    Resend,
    Delete,
}

impl Line {
    fn date(&self) -> Result<Timestamp, String> {
        let Some(text) = &self.date else { return Ok(SystemClock.now()) };
        let text = text.trim();
        parse_moment(text)
            .filter(|at| is_writable(*at))
            .ok_or_else(|| format!("`{text}` is no date: write 2026-01-31T12:00:00Z"))
    }

    fn response(self) -> Result<Response, String> {
        let status = self.status.unwrap_or(200);
        if !(200..600).contains(&status) || status == 304 {
            return Err(format!("{status} is no status that a page can have"));
        }
        let (media, body) = match (self.html, self.text, self.title) {
            (Some(html), None, None) => ("text/html", html),
            (None, Some(text), None) => ("text/plain", text),
            (None, text, Some(title)) => ("text/html", as_html(&title, &text.unwrap_or_default())),
            (Some(_), ..) => return Err("`html` beside `text` or `title`: give one of them".into()),
            (None, None, None) if (200..300).contains(&status) => {
                return Err("no content: give `html` or `text`".into());
            }
            (None, None, None) => ("text/html", String::new()),
        };
        let media = self.content_type.as_deref().map_or(media, str::trim);
        let media = media.split(';').next().unwrap_or_default().trim();
        let headers = vec![("Content-Type".to_string(), format!("{media}; charset=utf-8"))];
        Ok(Response { status, headers, body: body.into_bytes(), ..Response::default() })
    }
}

/// A moment in ISO 8601: with its zone, or in UTC, or a whole day.
pub fn parse_moment(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text)
        .or_else(|| Timestamp::parse(&format!("{text}Z")))
        .or_else(|| Timestamp::parse(&format!("{text}T00:00:00Z")))
}

/// A small page with a title and a text.
fn as_html(title: &str, text: &str) -> String {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut html = format!("<!DOCTYPE html>\n<title>{}</title>\n", escaped(title));
    for paragraph in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        html.extend(["<p>", &escaped(paragraph), "</p>\n"]);
    }
    html
}

/// What waits to be loaded (加载列表).
struct LoadList {
    intake: Intake,
    catalog: Arc<dyn Catalog>,
    waiting: Vec<Record>,
    bytes: usize,
    summary: LoadSummary,
}

impl LoadList {
    fn new(intake: Intake, catalog: Arc<dyn Catalog>) -> Self {
        Self { intake, catalog, waiting: Vec::new(), bytes: 0, summary: LoadSummary::default() }
    }

    /// Carries out a line; an error is one that was too long.
    fn line(&mut self, line: Result<&[u8], ()>) -> Result<(), EngineError> {
        self.summary.lines += 1;
        let done = match line {
            Err(()) => Err(format!("longer than {MAX_LINE} bytes")),
            Ok(line) if line.trim_ascii().is_empty() => return Ok(()),
            Ok(line) => match serde_json::from_slice::<Line>(line) {
                Err(error) => Err(error.to_string()),
                Ok(line) => self.carry_out(line)?,
            },
        };
        if let Err(detail) = done {
            self.bad(detail);
        }
        if self.waiting.len() >= LIST || self.bytes >= LIST_BYTES {
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
            warn!("more bad lines are only counted");
        }
    }

    /// The inner error says what is wrong with the line.
    fn carry_out(&mut self, line: Line) -> Result<Result<(), String>, EngineError> {
        let url = match PageUrl::parse(&line.url) {
            Ok(url) if is_robots_txt(&url) => return Ok(Err("a robots.txt is no page".into())),
            Ok(url) => url,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let date = match line.date() {
            Ok(date) => date,
            Err(detail) => return Ok(Err(detail)),
        };
        if self.catalog.is_removed(&url)? {
            self.summary.removed += 1;
            return Ok(Ok(()));
        }
        let op = line.op;
        if op == Op::Delete {
            self.delete(&url, date, true)?;
            return Ok(Ok(()));
        }
        match line.response() {
            Ok(response) if self.is_current(&url, date, &response)? => self.summary.known += 1,
            Ok(response) => {
                if op != Op::Add {
                    self.delete(&url, date, false)?;
                }
                self.add(url, date, response)?;
            }
            Err(detail) => return Ok(Err(detail)),
        }
        Ok(Ok(()))
    }

    /// Takes a page off the list, and has the stores forget it. A page that nobody knows is deleted only where that
    /// was `asked` for in so many words: captures from before that come later stay hidden then.
    fn delete(&mut self, url: &PageUrl, date: Timestamp, asked: bool) -> Result<(), EngineError> {
        let at = self.last_of_date(url, date)?.unwrap_or(date);
        let (before, mut freed) = (self.waiting.len(), 0);
        self.waiting.retain(|record| {
            let goes = record.url == *url && record.at <= at && record.status().is_some();
            freed += if goes { record.body_size() } else { 0 };
            !goes
        });
        self.bytes -= freed;
        let dropped = before - self.waiting.len();
        self.summary.dropped += dropped as u64;
        if self.catalog.page(url.id())?.is_some() || (asked && dropped == 0) {
            self.summary.deleted += 1;
            self.waiting.push(Record::new(url.clone(), at, Content::Event(Event::Deleted)));
        }
        Ok(())
    }

    fn add(&mut self, url: PageUrl, date: Timestamp, response: Response) -> Result<(), EngineError> {
        let at = match self.last_of_date(&url, date)? {
            Some(last) => last.plus(MOMENT),
            None if self.is_deleted(&url)? => date.plus(MOMENT),
            None => date,
        };
        let record = Record::new(url, at, Content::Response(response));
        self.bytes += record.body_size();
        self.waiting.push(record);
        Ok(())
    }

    /// The last thing that happened to a page on this very date.
    fn last_of_date(&self, url: &PageUrl, date: Timestamp) -> Result<Option<Timestamp>, EngineError> {
        let of_date = |at: &Timestamp| *at >= date && at.since(date) < SAME_DATE;
        let waiting = self.waiting.iter().filter(|record| record.url == *url).map(|record| record.at);
        let versions = self.catalog.versions(url.id())?;
        Ok(waiting.chain(versions.iter().map(|version| version.at)).filter(of_date).max())
    }

    fn is_deleted(&self, url: &PageUrl) -> Result<bool, EngineError> {
        Ok(self.catalog.page(url.id())?.is_some_and(|page| page.state == PageState::Deleted))
    }

    /// Is this what the page is already? Then the feed is being loaded again.
    fn is_current(&self, url: &PageUrl, date: Timestamp, response: &Response) -> Result<bool, EngineError> {
        if self.waiting.iter().any(|record| record.url == *url) {
            return Ok(false);
        }
        let Some(page) = self.catalog.page(url.id())? else { return Ok(false) };
        let same = page.state == PageState::Stored
            && page.status == Some(response.status)
            && page.digest == Some(xxh3_64(&response.body));
        let visited = page.visited_at.filter(|at| *at >= date && at.since(date) < SAME_DATE);
        Ok(same && visited.is_some())
    }

    /// Loads what waits.
    fn flush(&mut self) -> Result<(), EngineError> {
        self.bytes = 0;
        let (mut group, mut bytes) = (Vec::new(), 0);
        for record in std::mem::take(&mut self.waiting) {
            bytes += record.body_size();
            self.summary.added += u64::from(record.status().is_some());
            group.push(record);
            if group.len() == GROUP || bytes >= GROUP_BYTES {
                self.intake.take(std::mem::take(&mut group))?;
                bytes = 0;
            }
        }
        if !group.is_empty() {
            self.intake.take(group)?;
        }
        self.intake.attend()
    }

    fn finish(&mut self) -> Result<(), EngineError> {
        self.flush()?;
        self.intake.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pharos_index::{EmbeddedIndex, Index as _, Query};
    use pharos_store::{DiskLibrary, Library as _, LibraryPosition, SqliteCatalog, StoredRecord};
    use proptest::prelude::*;
    use tempfile::TempDir;

    const PAGE: &str = "http://example.org/a";

    struct Site(TempDir);

    impl Site {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn data(&self) -> DataDir {
            DataDir::at(self.0.path())
        }

        fn load(&self, feed: &str) -> LoadSummary {
            let (_stop, never) = watch::channel(false);
            load(&self.data(), &Config::default(), &mut feed.as_bytes(), &never, |_| {}).unwrap()
        }

        fn records(&self) -> Vec<StoredRecord> {
            let library = DiskLibrary::open_reader(&self.data().library()).unwrap();
            library.scan(LibraryPosition::START, None).unwrap().map(Result::unwrap).collect()
        }

        fn state(&self) -> Option<PageState> {
            let catalog = SqliteCatalog::open_reader(&self.data().catalog()).unwrap().unwrap();
            catalog.page(PageUrl::parse(PAGE).unwrap().id()).unwrap().map(|page| page.state)
        }

        fn finds(&self, word: &str) -> bool {
            let index = EmbeddedIndex::open_reader(&self.data().index()).unwrap();
            index.snapshot().unwrap().search(&Query::Word(word.into()), 10).unwrap().total > 0
        }
    }

    fn line(op: &str, date: &str, text: &str) -> String {
        serde_json::json!({"op": op, "url": PAGE, "date": date, "title": text, "text": text}).to_string()
            + "\n"
    }

    #[test]
    fn a_modified_page_is_deleted_by_its_date_and_added_to_latest() {
        let site = Site::new();
        site.load(&line("add", "2020-01-01", "lighthouse"));
        assert!(site.finds("lighthouse"));
        let summary = site.load(&line("modify", "2021-05-05", "windmill"));
        assert_eq!((summary.deleted, summary.added), (1, 1));
        let records = site.records();
        let [_, deleted, added] = records.as_slice() else { panic!("{records:?}") };
        assert_eq!(deleted.record.content, Content::Event(Event::Deleted));
        assert_eq!(deleted.record.at, Timestamp::parse("2021-05-05T00:00:00Z").unwrap());
        assert_eq!(added.record.at, deleted.record.at.plus(MOMENT));
        assert!(site.finds("windmill") && !site.finds("lighthouse"));
        assert_eq!(site.load(&line("resend", "2021-05-05", "windmill")).known, 1);
        // One that is older than what is known changes nothing.
        site.load(&line("modify", "2019-01-01", "ruin"));
        assert!(site.finds("windmill") && !site.finds("ruin"));
    }

    #[test]
    fn a_deletion_of_what_waits_takes_it_off_the_list() {
        let site = Site::new();
        let summary =
            site.load(&[line("add", "2020-01-01", "lighthouse"), line("delete", "2020-01-02", "")].concat());
        assert_eq!((summary.added, summary.dropped, summary.deleted), (0, 1, 0));
        assert_eq!(site.records(), [], "it was never loaded");
        // A deletion that is older than what waits leaves that alone.
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
            // In one load, and in one load each.
            let site = Site::new();
            site.load(&lines.clone().cloned().collect::<String>());
            let each = Site::new();
            lines.for_each(|line| drop(each.load(line)));
            for site in [site, each] {
                assert_eq!(site.finds("lighthouse"), there, "{ops}");
                let state = site.state();
                assert_eq!(state == Some(PageState::Stored), there, "{ops} {state:?}");
            }
        }
    }

    #[test]
    fn a_bad_line_is_told_and_the_rest_is_loaded() {
        let site = Site::new();
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
    fn a_line_beyond_measure_is_passed_over() {
        let mut feed = io::BufReader::new(io::repeat(b'x').take(MAX_LINE as u64 + 5).chain(&b"\nnext"[..]));
        let mut line = Vec::new();
        assert_eq!(next_line(&mut feed, &mut line).unwrap(), Some(false));
        assert_eq!((next_line(&mut feed, &mut line).unwrap(), line.as_slice()), (Some(true), &b"next"[..]));
        assert_eq!(next_line(&mut feed, &mut line).unwrap(), None);
    }

    proptest! {
        /// Whatever a feed says, it is a page that says so, or a bad line.
        #[test]
        fn any_line_is_read_or_refused(
            date in "[0-9T:Z. +-]{0,25}", status in 190..320u16, title in ".{0,30}", text in "[ -~灯塔é\\n]{0,60}",
        ) {
            let line = json(&date, status, &title, &text);
            let line: Line = serde_json::from_str(&line).unwrap();
            if let Ok(at) = line.date() {
                prop_assert_eq!(Timestamp::parse(&at.to_precise()), Some(at));
            }
            if let Ok(response) = line.response() {
                let url = PageUrl::parse(PAGE).unwrap();
                let page = pharos_html::understand(&url, response.header("Content-Type"), &response.body);
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
