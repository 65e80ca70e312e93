//! SOIF (Summary Object Interchange Format): the exchange format of page descriptions of Harvest, used by Tianwang
//! between crawl components (《搜索引擎——原理、技术与系统》§6.1).
//!
//! ```text
//! SOIF      → OBJECT SOIF | OBJECT
//! OBJECT    → @TEMPLATE-TYPE{URL ATTRIBUTE-LIST}
//! ATTRIBUTE → IDENTIFIER{VALUE-SIZE}DELIMITER VALUE         DELIMITER: a colon and one tab
//! ```
//!
//! Sizes count bytes, so a value may contain any bytes. `-` replaces a missing URL, as in the requests of crawlers
//! to their master: `@GETO{-}` requests guide words, `@GETU{-}` a URL, `@GETS{-}` the watch list.
//!
//! Reading is lenient: whitespace is allowed around all parts, and one space in place of the tab. Data that is no
//! object is skipped up to the next object and reported as [`DamagedRange`].

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead};
use std::time::Duration;

use pharos_core::{LinkKind, PageObject, Timestamp};

use crate::formats::tianwang::DamagedRange;

/// Maximum size of an object in bytes.
pub const MAX_OBJECT: usize = 64 << 20;
/// Maximum number of attributes of an object. It also bounds the work per `@` in a hostile file.
const MAX_ATTRIBUTES: usize = 256;
/// Maximum length of a template type, identifier or size.
const MAX_NAME: usize = 256;
/// Maximum length of a URL.
const MAX_URL: usize = 16 << 10;

/// Attribute names.
pub mod attribute {
    /// Abstract.
    pub const ABSTRACT: &str = "Abstract";
    /// Author.
    pub const AUTHOR: &str = "Author";
    /// One-line description.
    pub const DESCRIPTION: &str = "Description";
    /// Size of the original in bytes.
    pub const FILE_SIZE: &str = "File-Size";
    /// Full text.
    pub const FULL_TEXT: &str = "Full-Text";
    /// Basic attribute name; [`KEYWORDS`] is the one written.
    pub const KEYWORD: &str = "Keyword";
    /// Keywords.
    pub const KEYWORDS: &str = "Keywords";
    /// Modification time of the original, in seconds since 1970.
    pub const LAST_MODIFICATION_TIME: &str = "Last-Modification-Time";
    /// Seconds until the description should be updated.
    pub const REFRESH_RATE: &str = "Refresh-Rate";
    /// Seconds until the description expires.
    pub const TIME_TO_LIVE: &str = "Time-to-Live";
    /// Title.
    pub const TITLE: &str = "Title";
    /// Document type: `HTML`.
    pub const TYPE: &str = "Type";
    /// Creation time of the description, in seconds since 1970.
    pub const UPDATE_TIME: &str = "Update-Time";
    /// Link targets, one per line.
    pub const URL_REFERENCES: &str = "URL-References";
    /// The common attributes, understood by all systems.
    pub const COMMON: [&str; 13] = [
        ABSTRACT,
        AUTHOR,
        DESCRIPTION,
        FILE_SIZE,
        FULL_TEXT,
        KEYWORDS,
        LAST_MODIFICATION_TIME,
        REFRESH_RATE,
        TIME_TO_LIVE,
        TITLE,
        TYPE,
        UPDATE_TIME,
        URL_REFERENCES,
    ];

    /// In `PUTO`: guide words of the crawl (导向词).
    pub const ORIENTATION_WORDS: &str = "Orientation-words";
    /// In `PUTO`: words to watch for (敏感词).
    pub const SENSITIVE_WORDS: &str = "Sensitive-words";
    /// In `PUTS`: number of watched pages found so far.
    pub const SENSITIVE_NUMBER: &str = "Sensitive-number";
    /// In `PUTR`: result of the fetch.
    pub const RESULT: &str = "Result";
    /// In `PUTR`: the document's weight, 1 to 1000.
    pub const WEIGHT: &str = "Weight";
    /// In `PUTR`: the encoding of the text.
    pub const CODE_TYPE: &str = "Code-Type";
    /// In `PUTR`: time of the next attempt.
    pub const RETRY_AFTER: &str = "Retry-After";
    /// In `PUTR`: single Chinese characters of high weight.
    pub const CHARS: &str = "Chars";
}

/// Template types.
pub mod template {
    /// A description of a page.
    pub const FILE: &str = "FILE";
    /// A crawler's request for guide words.
    pub const GETO: &str = "GETO";
    /// The response to [`GETO`].
    pub const PUTO: &str = "PUTO";
    /// A crawler's request for a URL.
    pub const GETU: &str = "GETU";
    /// The response to [`GETU`].
    pub const PUTU: &str = "PUTU";
    /// A crawler's result.
    pub const PUTR: &str = "PUTR";
    /// A subscription to watched pages.
    pub const GETS: &str = "GETS";
    /// A watched page.
    pub const PUTS: &str = "PUTS";
}

/// A SOIF object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SoifObject {
    /// Template type: `FILE`.
    pub template: String,
    /// URL of the described page, or `-`.
    pub url: String,
    /// Names and values, in order.
    pub attributes: Vec<(String, Vec<u8>)>,
}

impl SoifObject {
    /// Creates a request, which has neither URL nor attributes: `@GETO{-}`.
    pub fn request(template: &str) -> Self {
        Self { template: template.into(), url: "-".into(), attributes: Vec::new() }
    }

    /// Returns the first attribute with this name, ignoring case.
    pub fn attribute(&self, name: &str) -> Option<&[u8]> {
        self.attributes.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
    }
}

/// Encodes an object. Invalid characters in names and URL are replaced; values are written unchanged.
pub fn write_object(object: &SoifObject) -> Vec<u8> {
    let mut out = format!("@{}{{{}", clean_name(&object.template), escape_url(&object.url)).into_bytes();
    if !object.attributes.is_empty() {
        out.push(b'\n');
    }
    for (identifier, value) in &object.attributes {
        out.extend_from_slice(format!("{}{{{}}}:\t", clean_name(identifier), value.len()).as_bytes());
        out.extend_from_slice(value);
        out.push(b'\n');
    }
    out.extend_from_slice(b"}\n");
    out
}

fn clean_name(text: &str) -> Cow<'_, str> {
    if !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(is_name_byte) {
        return text.into();
    }
    let clean: String =
        text.bytes().take(MAX_NAME).map(|b| if is_name_byte(b) { char::from(b) } else { '-' }).collect();
    if clean.is_empty() { "-".into() } else { clean.into() }
}

fn escape_url(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_url_char(c) {
            out.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    if out.is_empty() { "-".into() } else { out }
}

/// Returns `true` for the characters of names. Besides letters and digits, hyphens are common, and older writers
/// used `Embed<1>`.
fn is_name_byte(b: u8) -> bool {
    b.is_ascii_graphic() && !matches!(b, b'{' | b'}' | b'@' | b':')
}

fn is_url_char(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !matches!(c, '{' | '}')
}

/// Iterator over the objects of a stream, and the damaged ranges between them. Holds one object at a time.
///
/// An I/O error is reported as damage and ends the stream.
pub struct SoifReader<R> {
    source: R,
    buffer: Vec<u8>,
    /// Number of consumed bytes in the buffer.
    start: usize,
    /// Stream offset of `buffer[start]`.
    offset: u64,
    ended: bool,
    failure: Option<String>,
    /// An object found after damage that was reported first.
    pending: Option<SoifObject>,
}

impl<R: BufRead> SoifReader<R> {
    /// Creates a reader of `source`.
    pub fn new(source: R) -> Self {
        Self { source, buffer: Vec::new(), start: 0, offset: 0, ended: false, failure: None, pending: None }
    }

    /// Returns byte `at`, counted from the first unconsumed byte.
    fn byte(&mut self, at: usize) -> Option<u8> {
        if self.has(at + 1) { Some(self.buffer[self.start + at]) } else { None }
    }

    /// Reads until `count` unconsumed bytes are buffered. Returns `false` if the stream ends before.
    fn has(&mut self, count: usize) -> bool {
        while self.buffer.len() - self.start < count {
            if self.ended {
                return false;
            }
            let taken = match self.source.fill_buf() {
                Ok(bytes) => {
                    self.buffer.extend_from_slice(bytes);
                    self.ended = bytes.is_empty();
                    bytes.len()
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => 0,
                Err(e) => {
                    self.ended = true;
                    self.failure = Some(format!("read error: {e}"));
                    0
                }
            };
            self.source.consume(taken);
        }
        true
    }

    /// Consumes `count` bytes.
    fn consume(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
        // Moving the rest takes time in proportion to its length; amortised, the cost per byte is constant.
        if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
    }

    /// Reads bytes from `at` on while they are `wanted`, at most `limit`, and advances `at`.
    fn take(&mut self, at: &mut usize, limit: usize, wanted: impl Fn(u8) -> bool) -> Option<String> {
        let begin = *at;
        while self.byte(*at).is_some_and(&wanted) {
            *at += 1;
            if *at - begin > limit {
                return None;
            }
        }
        let bytes = &self.buffer[self.start + begin..self.start + *at];
        (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
    }

    fn skip_space(&mut self, at: &mut usize) {
        let _ = self.take(at, MAX_NAME, |b| b.is_ascii_whitespace());
    }

    fn skip(&mut self, at: &mut usize, byte: u8) -> bool {
        let there = self.byte(*at) == Some(byte);
        *at += usize::from(there);
        there
    }

    /// Parses the object at the current position and returns it with its length, without consuming it.
    fn object(&mut self) -> Result<(SoifObject, usize), &'static str> {
        let mut at = 0;
        if !self.skip(&mut at, b'@') {
            return Err("no `@` at the start of an object");
        }
        let template = self.take(&mut at, MAX_NAME, is_name_byte).ok_or("no template type after `@`")?;
        self.skip_space(&mut at);
        if !self.skip(&mut at, b'{') {
            return Err("no `{` after the template type");
        }
        self.skip_space(&mut at);
        let in_url = |b: u8| !b.is_ascii_whitespace() && !b.is_ascii_control() && !matches!(b, b'{' | b'}');
        let url = self.take(&mut at, MAX_URL, in_url).ok_or("object without a URL")?;
        // Values are copied only after the object is known to be complete, because most claims of a hostile file are
        // false.
        let mut values: Vec<(String, usize, usize)> = Vec::new();
        loop {
            self.skip_space(&mut at);
            if self.skip(&mut at, b'}') {
                break;
            }
            if values.len() == MAX_ATTRIBUTES {
                return Err("too many attributes");
            }
            let identifier = self.take(&mut at, MAX_NAME, is_name_byte).ok_or("no attribute and no `}`")?;
            self.skip_space(&mut at);
            if !self.skip(&mut at, b'{') {
                return Err("no size after an attribute name");
            }
            let size =
                self.take(&mut at, 20, |b| b.is_ascii_digit()).and_then(|size| size.parse::<usize>().ok());
            let size = size.ok_or("invalid attribute size")?;
            if !self.skip(&mut at, b'}') || !self.skip(&mut at, b':') {
                return Err("no `}:` after an attribute size");
            }
            if !self.skip(&mut at, b'\t') && !self.skip(&mut at, b' ') && size > 0 {
                return Err("no tab before a value");
            }
            if size > MAX_OBJECT - at.min(MAX_OBJECT) {
                return Err("object exceeds the size limit");
            }
            if !self.has(at + size) {
                return Err("truncated value");
            }
            values.push((identifier, at, size));
            at += size;
        }
        let value = |(name, at, size): (String, usize, usize)| {
            (name, self.buffer[self.start + at..self.start + at + size].to_vec())
        };
        Ok((SoifObject { template, url, attributes: values.into_iter().map(value).collect() }, at))
    }

    /// Skips damage up to the next object or the end. Returns the length of the damage and the object.
    fn recover(&mut self) -> (u64, Option<SoifObject>) {
        let damage = self.offset;
        loop {
            self.consume(1);
            while self.byte(0).is_some_and(|b| b != b'@') {
                let next = self.buffer[self.start..].iter().position(|b| *b == b'@');
                self.consume(next.unwrap_or(self.buffer.len() - self.start));
            }
            if self.byte(0).is_none() {
                return (self.offset - damage, None);
            }
            if let Ok((object, length)) = self.object() {
                let damaged = self.offset - damage;
                self.consume(length);
                return (damaged, Some(object));
            }
        }
    }
}

impl<R: BufRead> Iterator for SoifReader<R> {
    type Item = Result<SoifObject, DamagedRange>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(object) = self.pending.take() {
            return Some(Ok(object));
        }
        while self.byte(0).is_some_and(|b| b.is_ascii_whitespace()) {
            self.consume(1);
        }
        if self.byte(0).is_none() {
            let offset = self.offset;
            return self.failure.take().map(|detail| Err(DamagedRange { offset, length: 0, detail }));
        }
        match self.object() {
            Ok((object, length)) => {
                self.consume(length);
                Some(Ok(object))
            }
            Err(detail) => {
                let offset = self.offset;
                let (length, object) = self.recover();
                self.pending = object;
                let detail = self.failure.take().unwrap_or_else(|| detail.into());
                Some(Err(DamagedRange { offset, length, detail }))
            }
        }
    }
}

/// Crawl metadata of a page description.
#[derive(Clone, Copy, Debug)]
pub struct CrawlMetadata {
    /// Size of the page in bytes.
    pub size: u64,
    /// Time of the fetch.
    pub at: Timestamp,
    /// Refresh interval.
    pub refresh: Option<Duration>,
    /// Lifetime of the description.
    pub time_to_live: Option<Duration>,
}

/// Creates the description of a page, with the common attributes as far as they are known. Times are seconds since
/// 1970.
pub fn describe_page(page: &PageObject, metadata: &CrawlMetadata) -> SoifObject {
    let modified = page.modified.as_deref().or(page.published.as_deref());
    let modified =
        modified.and_then(|m| Timestamp::parse(m).or_else(|| Timestamp::parse(&format!("{m}T00:00:00Z"))));
    let seconds = |duration: Option<Duration>| duration.map(|d| d.as_secs().to_string()).unwrap_or_default();
    let references: Vec<&str> =
        page.links.iter().filter(|l| l.kind != LinkKind::Resource).map(|l| l.url.as_str()).collect();
    let description = if page.summary.is_empty() { &page.content_title } else { &page.summary };
    let attributes = [
        (attribute::ABSTRACT, page.summary.clone()),
        (attribute::AUTHOR, page.author.clone()),
        (attribute::TITLE, page.title.clone()),
        (attribute::KEYWORDS, page.keywords.join(", ")),
        (attribute::TYPE, "HTML".into()),
        (attribute::FILE_SIZE, metadata.size.to_string()),
        (attribute::DESCRIPTION, description.clone()),
        (attribute::LAST_MODIFICATION_TIME, modified.map(|m| m.seconds().to_string()).unwrap_or_default()),
        (attribute::UPDATE_TIME, metadata.at.seconds().to_string()),
        (attribute::REFRESH_RATE, seconds(metadata.refresh)),
        (attribute::TIME_TO_LIVE, seconds(metadata.time_to_live)),
        (attribute::CODE_TYPE, "UTF-8".into()),
        (attribute::URL_REFERENCES, references.join("\n")),
        (attribute::FULL_TEXT, page.text.clone()),
    ];
    let known = attributes.into_iter().filter(|(_, value)| !value.is_empty());
    SoifObject {
        template: template::FILE.into(),
        url: page.url.clone(),
        attributes: known.map(|(name, value)| (name.to_string(), value.into_bytes())).collect(),
    }
}

/// Converts a description to a small HTML page, so that it is analysed like any other page.
///
/// The text keeps its encoding. The page declares the charset named by `Code-Type`, or UTF-8 if all values are valid
/// UTF-8. Otherwise it declares none, and the reader has to detect it.
pub fn to_html(object: &SoifObject) -> Vec<u8> {
    let value = |name: &str| object.attribute(name).unwrap_or_default().trim_ascii();
    let first = |names: [&str; 2]| names.map(value).into_iter().find(|v| !v.is_empty()).unwrap_or_default();
    let title = value(attribute::TITLE);
    let text = first([attribute::FULL_TEXT, attribute::ABSTRACT]);

    let mut out = b"<!DOCTYPE html>\n<html>\n<head>\n".to_vec();
    if let Some(charset) = charset(object) {
        out.extend_from_slice(format!("<meta charset=\"{charset}\">\n").as_bytes());
    }
    write_element(&mut out, "<title>", title, "</title>\n");
    for (name, content) in [
        ("keywords", first([attribute::KEYWORDS, attribute::KEYWORD])),
        ("description", first([attribute::DESCRIPTION, attribute::ABSTRACT])),
        ("author", value(attribute::AUTHOR)),
    ] {
        if !content.is_empty() {
            write_element(&mut out, &format!("<meta name=\"{name}\" content=\""), content, "\">\n");
        }
    }
    out.extend_from_slice(b"</head>\n<body>\n");
    if !title.is_empty() {
        write_element(&mut out, "<h1>", title, "</h1>\n");
    }
    for paragraph in lines(text) {
        write_element(&mut out, "<p>", paragraph, "</p>\n");
    }
    for line in lines(value(attribute::URL_REFERENCES)) {
        // The URL may be followed by the anchor text of the link, or by its weight.
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let (url, words) = (&line[..end], line[end..].trim_ascii());
        if is_web_url(url) {
            let words = if words.iter().all(u8::is_ascii_digit) { url } else { words };
            write_element(&mut out, "<p><a href=\"", url, "\">");
            write_element(&mut out, "", words, "</a></p>\n");
        }
    }
    out.extend_from_slice(b"</body>\n</html>\n");
    out
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| matches!(b, b'\n' | b'\r')).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

fn is_web_url(url: &[u8]) -> bool {
    let starts = |scheme: &[u8]| url.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme));
    starts(b"http://") || starts(b"https://")
}

fn charset(object: &SoifObject) -> Option<String> {
    let stated = object.attribute(attribute::CODE_TYPE).unwrap_or_default().trim_ascii();
    let is_label = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if !stated.is_empty() && stated.len() <= 40 && stated.iter().all(is_label) {
        return Some(String::from_utf8_lossy(stated).into_owned());
    }
    let is_utf8 = object.attributes.iter().all(|(_, value)| std::str::from_utf8(value).is_ok());
    is_utf8.then(|| "utf-8".into())
}

/// Writes escaped text between two tags. Escaping by byte is correct in every encoding of the web, because none uses
/// these four bytes within a longer character.
fn write_element(out: &mut Vec<u8>, before: &str, text: &[u8], after: &str) {
    out.extend_from_slice(before.as_bytes());
    for byte in text {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            _ => out.push(*byte),
        }
    }
    out.extend_from_slice(after.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SAMPLE: &str = "@FILE{http://net.cs.pku.edu.cn\n\
        Abstract{57}:\tHomePage of Computer Networks Lab of CS Peking University\n\
        Author{11}:\tLI Xiaoming\n\
        Title{12}:\tNetworks Lab\n\
        Keywords{21}:\tnetworks computer lab\n\
        Type{4}:\tHTML\n\
        File-Size{4}:\t1248\n\
        }\n";

    fn read(bytes: &[u8]) -> Vec<Result<SoifObject, DamagedRange>> {
        // A tiny buffer, to test all buffer borders.
        SoifReader::new(io::BufReader::with_capacity(3, bytes)).collect()
    }

    #[test]
    fn the_sample_is_read_and_written_byte_for_byte() {
        let read = read(SAMPLE.as_bytes());
        assert_eq!(read.len(), 1);
        let object = read[0].as_ref().unwrap();
        assert_eq!((object.template.as_str(), object.url.as_str()), ("FILE", "http://net.cs.pku.edu.cn"));
        let sizes: Vec<usize> = object.attributes.iter().map(|(_, value)| value.len()).collect();
        assert_eq!(sizes, [57, 11, 12, 21, 4, 4]);
        assert_eq!(object.attribute("AUTHOR"), Some(&b"LI Xiaoming"[..]));
        assert_eq!(object.attribute("Nothing"), None);
        assert_eq!(write_object(object), SAMPLE.as_bytes());
    }

    #[test]
    fn a_colon_and_one_tab_precede_a_value_of_any_bytes() {
        let value = b"\t \n}\n@FILE{x\0\xff".to_vec();
        let object = SoifObject {
            template: "FILE".into(),
            url: "http://example.org/".into(),
            attributes: vec![("Full-Text".into(), value.clone()), ("Title".into(), Vec::new())],
        };
        let bytes = write_object(&object);
        let expected = [&b"Full-Text{14}:\t"[..], &value, b"\nTitle{0}:\t\n}\n"].concat();
        assert!(bytes.ends_with(&expected), "{}", String::from_utf8_lossy(&bytes));
        assert_eq!(read(&bytes), [Ok(object)]);
    }

    #[test]
    fn requests_have_neither_url_nor_attributes() {
        for (template, text) in
            [(template::GETO, "@GETO{-}"), (template::GETU, "@GETU{-}"), (template::GETS, "@GETS{-}")]
        {
            let request = SoifObject::request(template);
            assert_eq!(write_object(&request), format!("{text}\n").as_bytes());
            for spelling in [text.to_string(), text.replace('}', "\n}\n"), text.replace('{', " { ")] {
                assert_eq!(read(spelling.as_bytes()), [Ok(request.clone())], "{spelling}");
            }
        }
    }

    #[test]
    fn garbage_is_skipped_and_hides_no_object() {
        let wrong_size = SAMPLE.replace("Author{11}", "Author{111}");
        let bytes = format!("hello a@b.example {wrong_size} {SAMPLE} @GETO{{-}}@FILE{{cut Title{{9}}:\tNet");
        let found = read(bytes.as_bytes());
        assert_eq!(found.len(), 4, "{found:?}");
        let first = found[0].as_ref().unwrap_err();
        assert_eq!((first.offset, first.length), (0, 19 + wrong_size.len() as u64));
        assert_eq!(found[1].as_ref().unwrap().attributes.len(), 6);
        assert_eq!(found[2].as_ref().unwrap().template, "GETO");
        let last = found[3].as_ref().unwrap_err();
        assert_eq!(last.offset + last.length, bytes.len() as u64);
        let huge = format!("@A{{u B{{{}}}:\tx}}{SAMPLE}", u64::MAX);
        assert_eq!(read(huge.as_bytes()).len(), 2);
    }

    /// Every part starts an object and none is one. A long check of each would take hours.
    #[test]
    fn a_file_made_to_be_slow_is_read_to_its_end() {
        for piece in ["@A{u B{5}:\t", "B{5}:\t@A{u ", "@A{u B{60000000}:\t", "@", "@A{", " "] {
            let bytes = piece.repeat(200_000 / piece.len());
            assert!(SoifReader::new(bytes.as_bytes()).all(|r| r.is_err()));
        }
    }

    #[test]
    fn a_page_becomes_a_description_with_the_common_attributes() {
        let page: PageObject = serde_json::from_value(serde_json::json!({
            "url": "http://example.org/", "title": "灯塔", "author": "Sostratus", "abstract": "A lighthouse",
            "keywords": ["light", "tower"], "text": "one\ntwo", "modified": "2026-01-31",
            "links": [{"url": "http://example.org/a", "anchor": "a", "kind": "page"},
                      {"url": "http://example.org/s.css", "anchor": "", "kind": "resource"}],
        }))
        .unwrap();
        let at = Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
        let day = Some(Duration::from_secs(86_400));
        let object = describe_page(&page, &CrawlMetadata { size: 1248, at, refresh: day, time_to_live: day });
        for name in attribute::COMMON {
            assert!(object.attribute(name).is_some(), "{name}");
        }
        assert_eq!(object.attribute(attribute::LAST_MODIFICATION_TIME), Some(&b"1769817600"[..]));
        assert_eq!(object.attribute(attribute::URL_REFERENCES), Some(&b"http://example.org/a"[..]));
        assert_eq!(read(&write_object(&object)), [Ok(object)]);
    }

    #[test]
    fn a_description_becomes_a_page_with_everything_escaped() {
        let evil = "</title><script>\"&";
        let object = |attributes: &[(&str, &[u8])]| SoifObject {
            attributes: attributes.iter().map(|(n, v)| (n.to_string(), v.to_vec())).collect(),
            ..SoifObject::request(template::FILE)
        };
        let references = b"http://a.example/?x&y 500\r\njavascript:alert(1)\nHTTPS://b.example/\" The words";
        let all = [attribute::TITLE, attribute::KEYWORD, attribute::ABSTRACT, attribute::AUTHOR];
        let mut attributes: Vec<(&str, &[u8])> = all.map(|name| (name, evil.as_bytes())).to_vec();
        attributes.extend([
            (attribute::FULL_TEXT, "一\n\n<二>".as_bytes()),
            (attribute::URL_REFERENCES, references),
        ]);
        let html = String::from_utf8(to_html(&object(&attributes))).unwrap();
        assert!(!html.contains("<script>") && !html.contains("javascript:"), "{html}");
        for part in [
            "<meta charset=\"utf-8\">",
            "<title>&lt;/title&gt;&lt;script&gt;&quot;&amp;</title>",
            "<meta name=\"keywords\" content=\"&lt;/title",
            "<meta name=\"description\" content=\"&lt;/title",
            "<meta name=\"author\" content=\"&lt;/title",
            "<p>一</p>\n<p>&lt;二&gt;</p>",
            "<a href=\"http://a.example/?x&amp;y\">http://a.example/?x&amp;y</a>",
            "<a href=\"HTTPS://b.example/&quot;\">The words</a>",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        // 灯塔 in GBK, declared.
        let gbk = to_html(&object(&[("Title", b"\xb5\xc6\xcb\xfe"), ("Code-Type", b"GB2312")]));
        assert!(gbk.windows(4).any(|w| w == b"\xb5\xc6\xcb\xfe"));
        assert!(String::from_utf8_lossy(&gbk).contains("<meta charset=\"GB2312\">"));
    }

    proptest! {
        #[test]
        fn objects_round_trip(
            objects in vec((
                "[A-Z]{1,8}",
                "[!-z|~灯塔]{1,30}",
                vec(("[A-Za-z0-9-]{1,12}", vec(any::<u8>(), 0..50)), 0..6),
            ), 0..5)
        ) {
            let objects: Vec<SoifObject> = objects.into_iter()
                .map(|(template, url, attributes)| SoifObject { template, url, attributes })
                .collect();
            let bytes: Vec<u8> = objects.iter().flat_map(write_object).collect();
            prop_assert_eq!(read(&bytes), objects.into_iter().map(Ok).collect::<Vec<_>>());
        }

        #[test]
        fn any_object_can_be_written(texts in any::<[String; 3]>(), value in vec(any::<u8>(), 0..50)) {
            let [template, url, name] = texts;
            let object = SoifObject { template, url, attributes: vec![(name, value.clone())] };
            let read = read(&write_object(&object));
            prop_assert_eq!(read.len(), 1);
            prop_assert_eq!(&read[0].as_ref().unwrap().attributes[0].1, &value);
        }

        #[test]
        fn any_bytes_are_read_or_reported(
            text in "(@|[A-Z]{1,3}|\\{|\\}|:|\t|\n|[0-9]|@A\\{u\n|B\\{2\\}:\t){0,60}"
        ) {
            let mut end = 0;
            for damage in read(text.as_bytes()).into_iter().filter_map(Result::err) {
                prop_assert!(damage.offset >= end && damage.length > 0);
                end = damage.offset + damage.length;
            }
            prop_assert!(end <= text.len() as u64);
        }
    }
}
