//! Encodings that are declared wrongly, twice or not at all.

use crate::gbk;
use crate::hostile::ExpectedOutcome::Stored;
use crate::hostile::host::{CannedResponse, HostBehaviour, HostileHost, HostileRequest};

/// Long enough for the encoding to be detected.
const TEXT: &str = "灯塔照亮了海面。渔船在夜里回到港口，灯塔的光一直在转动，告诉水手们礁石在哪里，岸在哪里。\
                    每天晚上，守塔的老人都要爬上一百多级台阶，擦亮玻璃，再点亮那盏灯。";

pub(super) fn hosts() -> Vec<HostileHost> {
    let host = |label: &str, answer: fn(&HostileRequest) -> CannedResponse, note: &'static str| {
        HostileHost::new(label, HostBehaviour::Http(answer))
            .expect("/", Stored { status: 200 }, note)
            .with_text("守塔的老人")
    };
    const HTML: &str = "text/html";
    const UTF_8: &str = "text/html; charset=utf-8";
    const GBK: &str = "text/html; charset=gbk";
    vec![
        host(
            "gbk-called-utf-8",
            |request| home(request, UTF_8, gbk::encode(&page(""))),
            "GBK declared as UTF-8",
        ),
        host(
            "gbk-meta-utf-8",
            |request| home(request, HTML, gbk::encode(&page("utf-8"))),
            "GBK declared as UTF-8 in its head",
        ),
        host(
            "gbk-undeclared",
            |request| home(request, HTML, gbk::encode(&page(""))),
            "GBK without a declaration",
        ),
        host("utf-8-called-gbk", |request| home(request, GBK, page("")), "UTF-8 declared as GBK"),
        host("utf-8-undeclared", |request| home(request, HTML, page("")), "UTF-8 without a declaration"),
        host(
            "charsets-contradict",
            |request| home(request, UTF_8, page("gbk")),
            "the header says UTF-8, the page GBK: the header is right",
        ),
        host(
            "charset-unknown",
            |request| home(request, "text/html; charset=x-nobody-knows", page("")),
            "an unknown encoding",
        ),
        host(
            "utf-16",
            |request| home(request, HTML, utf_16(&page(""))),
            "UTF-16, declared by its byte order mark alone",
        ),
        host(
            "utf-16-called-utf-8",
            |request| home(request, UTF_8, utf_16(&page(""))),
            "UTF-16 declared as UTF-8",
        ),
    ]
}

fn home(request: &HostileRequest, content_type: &str, body: impl Into<bytes::Bytes>) -> CannedResponse {
    if request.path == "/" {
        CannedResponse::new(200, content_type, body)
    } else {
        CannedResponse::not_found()
    }
}

/// Returns a page that declares this encoding, or none.
fn page(declared: &str) -> String {
    let meta = if declared.is_empty() { String::new() } else { format!("<meta charset=\"{declared}\">") };
    format!(
        "<!DOCTYPE html><html lang=\"zh-CN\"><head>{meta}<title>灯塔</title></head><body><p>{TEXT}</p></body></html>"
    )
}

fn utf_16(text: &str) -> Vec<u8> {
    let mark = [0xFF, 0xFE].into_iter();
    mark.chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}
