//! Encodings that are declared wrongly, twice or not at all.

use super::Outcome::Stored;
use super::host::{Ask, Host, Reply, Speech};
use crate::gbk;

/// Long enough for the encoding to be detected.
const TEXT: &str = "灯塔照亮了海面。渔船在夜里回到港口，灯塔的光一直在转动，告诉水手们礁石在哪里，岸在哪里。\
                    每天晚上，守塔的老人都要爬上一百多级台阶，擦亮玻璃，再点亮那盏灯。";

pub(super) fn hosts() -> Vec<Host> {
    let host = |label: &str, answer: fn(&Ask) -> Reply, note: &'static str| {
        Host::new(label, Speech::Http(answer)).expect("/", Stored { status: 200 }, note).saying("守塔的老人")
    };
    const HTML: &str = "text/html";
    const UTF_8: &str = "text/html; charset=utf-8";
    const GBK: &str = "text/html; charset=gbk";
    vec![
        host("gbk-called-utf-8", |ask| home(ask, UTF_8, gbk::encode(&page(""))), "GBK that is called UTF-8"),
        host(
            "gbk-meta-utf-8",
            |ask| home(ask, HTML, gbk::encode(&page("utf-8"))),
            "GBK that calls itself UTF-8 in its own head",
        ),
        host("gbk-undeclared", |ask| home(ask, HTML, gbk::encode(&page(""))), "GBK and not a word about it"),
        host("utf-8-called-gbk", |ask| home(ask, GBK, page("")), "UTF-8 that is called GBK"),
        host("utf-8-undeclared", |ask| home(ask, HTML, page("")), "UTF-8 and not a word about it"),
        host(
            "charsets-contradict",
            |ask| home(ask, UTF_8, page("gbk")),
            "the header says UTF-8, the page GBK: the header is right",
        ),
        host(
            "charset-unknown",
            |ask| home(ask, "text/html; charset=x-nobody-knows", page("")),
            "an encoding that nobody knows",
        ),
        host("utf-16", |ask| home(ask, HTML, utf_16(&page(""))), "UTF-16, told by its first two bytes alone"),
        host("utf-16-called-utf-8", |ask| home(ask, UTF_8, utf_16(&page(""))), "UTF-16 that is called UTF-8"),
    ]
}

fn home(ask: &Ask, content_type: &str, body: impl Into<bytes::Bytes>) -> Reply {
    if ask.path == "/" { Reply::new(200, content_type, body) } else { Reply::not_found() }
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
