//! Conversion of foreign records. `None` means that a record is not a web page; the error describes a defect.

use std::time::{Duration, UNIX_EPOCH};

use pharos_core::{PageUrl, Timestamp, UrlError};
use pharos_store::formats::soif;
use pharos_store::formats::soif::{SoifObject, attribute};
use pharos_store::formats::tianwang::TianwangRecord;
use pharos_store::formats::warc_file::WarcRecord;
use pharos_store::{LibraryRecord, RawResponse, RecordContent};

/// A converted record, `None` if it is not a web page, or an error message.
pub(crate) type Conversion = Result<Option<LibraryRecord>, String>;

/// Converts a WARC response. Fields that Pharos wrote itself are restored.
pub(super) fn warc(record: &WarcRecord) -> Conversion {
    let Some(mut ours) = record.to_record()? else { return Ok(None) };
    ours.origin = record.field("Pharos-Origin").map(str::to_string);
    ours.spelling = record
        .field("Pharos-Spelling")
        .or_else(|| record.target().filter(|target| *target != ours.url.as_str()))
        .map(str::to_string);
    if let RecordContent::Response(response) = &mut ours.content
        && record.kind() == "response"
    {
        keep_head(response, &record.block);
    }
    Ok(Some(ours))
}

/// Keeps status line and headers byte for byte, if they are followed by the unmodified body.
fn keep_head(response: &mut RawResponse, block: &[u8]) {
    let head = block.strip_suffix(response.body.as_slice()).filter(|head| head.starts_with(b"HTTP/"));
    // A header that announces chunked encoding would not match the joined body.
    let lower = |head: &[u8]| head.to_ascii_lowercase();
    response.head = head
        .filter(|head| !lower(head).windows(18).any(|part| part == b"transfer-encoding:"))
        .map(<[u8]>::to_vec);
}

/// A `revisit` record of another library: a response without content and a reference to its original.
pub(super) struct ForeignRevisit {
    /// The response, with an empty body.
    pub(super) record: LibraryRecord,
    /// URL of the original, usually the same.
    pub(super) of: PageUrl,
    /// Time of the original.
    pub(super) of_at: Option<Timestamp>,
    /// Payload digest in WARC notation.
    pub(super) digest: Option<String>,
}

/// Returns a copy of a revisit record as a response record.
pub(crate) fn as_response(revisit: &WarcRecord) -> WarcRecord {
    let mut answer = revisit.clone();
    for (_, value) in answer.fields.iter_mut().filter(|(name, _)| name.eq_ignore_ascii_case("WARC-Type")) {
        *value = "response".into();
    }
    answer
}

/// Converts a revisit record.
pub(super) fn revisit(record: &WarcRecord) -> Result<Option<ForeignRevisit>, String> {
    let Some(mut ours) = as_response(record).to_record()? else { return Ok(None) };
    if let RecordContent::Response(response) = &mut ours.content {
        response.body = Vec::new();
        response.truncated = None;
    }
    let of = match record.field("WARC-Refers-To-Target-URI") {
        Some(uri) => PageUrl::parse(uri.trim_matches(['<', '>'])).map_err(|e| e.to_string())?,
        None => ours.url.clone(),
    };
    Ok(Some(ForeignRevisit {
        record: ours,
        of,
        of_at: record.field("WARC-Refers-To-Date").and_then(Timestamp::parse),
        digest: record.field("WARC-Payload-Digest").map(str::to_string),
    }))
}

/// Converts a page of a Tianwang file. The header is kept byte for byte for export; chunked bodies are joined.
pub(crate) fn tianwang(record: TianwangRecord) -> Conversion {
    let url = match PageUrl::parse(&record.url) {
        Ok(url) => url,
        Err(UrlError::NotWeb(_)) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let response = if record.head.is_empty() {
        // HTTP/0.9 servers sent only the body.
        RawResponse { status: 200, body: record.body, address: record.ip, ..RawResponse::default() }
    } else {
        parse_http(record.head, record.body, &url, record.date)
            .map(|response| RawResponse { address: record.ip, ..response })?
    };
    let spelling = (record.url != url.as_str()).then_some(record.url);
    let ours = LibraryRecord::new(url, record.date, RecordContent::Response(response));
    Ok(Some(LibraryRecord { origin: record.origin, spelling, ..ours }))
}

/// Parses an HTTP response like that of a WARC record.
fn parse_http(head: Vec<u8>, body: Vec<u8>, url: &PageUrl, at: Timestamp) -> Result<RawResponse, String> {
    let at = at.to_precise();
    let fields = [
        ("WARC-Type", "response"),
        ("WARC-Target-URI", url.as_str()),
        ("WARC-Date", &at),
        ("Content-Type", "application/http"),
    ];
    let fields = fields.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
    let mut block = head;
    block.extend_from_slice(&body);
    drop(body);
    let record = WarcRecord { offset: 0, version: "1.1".into(), fields, block };
    match record.to_record()?.map(|record| record.content) {
        Some(RecordContent::Response(mut response)) => {
            keep_head(&mut response, &record.block);
            Ok(response)
        }
        _ => Err("not an HTTP response".into()),
    }
}

/// Converts a SOIF summary into a small page, dated by its `Update-Time` or else by `gathered`.
pub(super) fn soif(object: &SoifObject, gathered: Timestamp) -> Conversion {
    let says_something = [
        attribute::TITLE,
        attribute::FULL_TEXT,
        attribute::ABSTRACT,
        attribute::DESCRIPTION,
        attribute::KEYWORDS,
        attribute::KEYWORD,
    ]
    .iter()
    .any(|name| object.attribute(name).is_some_and(|value| !value.trim_ascii().is_empty()));
    let Ok(url) = PageUrl::parse(&object.url) else { return Ok(None) };
    if !says_something {
        return Ok(None);
    }
    let mut headers = vec![("Content-Type".to_string(), "text/html".to_string())];
    if let Some(modified) = seconds(object, attribute::LAST_MODIFICATION_TIME) {
        let date = UNIX_EPOCH + Duration::from_secs(modified);
        headers.push(("Last-Modified".into(), httpdate::fmt_http_date(date)));
    }
    let at = seconds(object, attribute::UPDATE_TIME)
        .map_or(gathered, |seconds| Timestamp::EPOCH.plus(Duration::from_secs(seconds)));
    let spelling = (object.url != url.as_str()).then(|| object.url.clone());
    let response =
        RawResponse { status: 200, headers, body: soif::to_html(object), ..RawResponse::default() };
    Ok(Some(LibraryRecord { spelling, ..LibraryRecord::new(url, at, RecordContent::Response(response)) }))
}

/// Returns an attribute in seconds since 1970, if it is before the year 10000.
fn seconds(object: &SoifObject, name: &str) -> Option<u64> {
    const YEAR_9999: u64 = 253_402_300_799;
    let text = std::str::from_utf8(object.attribute(name)?).ok()?;
    text.trim().parse().ok().filter(|seconds| (1..=YEAR_9999).contains(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tianwang_page(url: &str, head: &[u8], body: &[u8]) -> TianwangRecord {
        TianwangRecord {
            url: url.into(),
            origin: Some("http://net.pku.cn/~cnds".into()),
            date: Timestamp::EPOCH,
            ip: Some("162.105.203.25".parse().unwrap()),
            compressed: false,
            head: head.to_vec(),
            body: body.to_vec(),
        }
    }

    fn response(record: &LibraryRecord) -> &RawResponse {
        let RecordContent::Response(response) = &record.content else { panic!("an answer") };
        response
    }

    #[test]
    fn a_tianwang_page_keeps_head_origin_and_spelling() {
        let head = b"HTTP/1.1 200 OK\r\nX-Name: \xb5\xc6\xcb\xfe\r\nContent-Type: text/html\r\n\r\n";
        let record = tianwang(tianwang_page("http://net.pku.cn", head, b"<p>x")).unwrap().unwrap();
        assert_eq!(record.url.as_str(), "http://net.pku.cn/");
        assert_eq!(record.spelling.as_deref(), Some("http://net.pku.cn"));
        assert_eq!(record.origin.as_deref(), Some("http://net.pku.cn/~cnds"));
        let answer = response(&record);
        assert_eq!((answer.status, answer.head.as_deref()), (200, Some(&head[..])));
        assert_eq!(answer.header("Content-Type"), Some("text/html"));
        assert_eq!((answer.body.as_slice(), answer.address.is_some()), (&b"<p>x"[..], true));
    }

    #[test]
    fn chunks_are_joined_and_the_header_is_rewritten() {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let record = tianwang(tianwang_page("http://a.example/", head, b"2\r\nhi\r\n0\r\n\r\n")).unwrap();
        let answer = response(record.as_ref().unwrap());
        assert_eq!((answer.body.as_slice(), &answer.head), (&b"hi"[..], &None));
    }

    #[test]
    fn non_pages_and_broken_records_are_distinguished() {
        assert_eq!(tianwang(tianwang_page("ftp://a.example/", b"", b"")), Ok(None));
        assert!(tianwang(tianwang_page("no address", b"", b"")).is_err());
        assert!(tianwang(tianwang_page("http://a.example/", b"HTTP/1.0 none\r\n\r\n", b"")).is_err());
        assert_eq!(soif(&SoifObject::request("GETO"), Timestamp::EPOCH), Ok(None));
    }

    #[test]
    fn a_summary_is_dated_by_its_update_time() {
        let mut object = SoifObject {
            template: "FILE".into(),
            url: "http://example.org/".into(),
            attributes: vec![
                ("Title".into(), b"Tower".to_vec()),
                ("Update-Time".into(), b"1000000000".to_vec()),
                ("Last-Modification-Time".into(), b"784111777".to_vec()),
            ],
        };
        let record = soif(&object, Timestamp::EPOCH).unwrap().unwrap();
        assert_eq!(record.at.to_string(), "2001-09-09T01:46:40Z");
        assert_eq!(response(&record).header("last-modified"), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
        object.attributes[1].1 = b"99999999999999999".to_vec();
        assert_eq!(soif(&object, Timestamp::EPOCH).unwrap().unwrap().at, Timestamp::EPOCH);
    }
}
