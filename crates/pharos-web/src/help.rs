//! `/help`: how to ask, and what the keys do.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::page::{Frame, respond};
use crate::service::Rooms;
use crate::visitor::Visitor;
use crate::words::Lang;

/// What can be written, and what it means in English and in Chinese.
const OPERATORS: [(&str, &str, &str); 13] = [
    ("red lamp", "pages with both words, in any form", "同时包含两个词的网页"),
    (
        "\"red lamp\"",
        "these words together, as they are; “ ” 「 」 《 》 do the same",
        "连在一起的词，照原样；“ ” 「 」 《 》 也可以",
    ),
    ("lamp -desk", "pages without a word, a phrase or a site", "不含某个词、短语或网站"),
    ("lamp OR lantern", "one of them; so does a | b", "其中之一；也可以写 a | b"),
    ("(a OR b) c", "what belongs together", "括号里的是一组"),
    (
        "site:example.org/news",
        "pages of a site and of those below it, or of a folder",
        "某个网站（及其下级）或目录中的网页",
    ),
    (
        "intitle:lamp",
        "in the title; inurl:, inbody: and inanchor: likewise",
        "标题中；inurl:、inbody:、inanchor: 同理",
    ),
    ("filetype:pdf", "files of a kind", "某种类型的文件"),
    ("lang:zh", "pages in a language", "某种语言的网页"),
    ("after:2025 before:2026-06-30", "pages of that time", "某段时间的网页"),
    ("link:example.org", "pages that link there", "链接到那里的网页"),
    ("related:https://example.org/", "pages like that one", "与那个网页相似的网页"),
    ("url:https://example.org/", "that very page", "就是那个网页"),
];

const KEYS: [(&str, &str, &str); 7] = [
    ("/", "to the search box", "到搜索框"),
    ("j", "next result", "下一条结果"),
    ("k", "previous result", "上一条结果"),
    ("o", "open the result", "打开这条结果"),
    ("n", "next page", "下一页"),
    ("p", "previous page", "上一页"),
    ("?", "this list", "显示这张表"),
];

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage {
    frame: Frame,
    query: &'static str,
    focus: bool,
    operators: Vec<(&'static str, &'static str)>,
    keys: Vec<(&'static str, &'static str)>,
    /// Leads to the same page with keys on or off.
    keys_switch: String,
}

/// `/help`.
pub(crate) async fn help(State(rooms): State<Rooms>, visitor: Visitor) -> Response {
    let told = |(written, en, zh): &(&'static str, &'static str, &'static str)| match visitor.lang {
        Lang::En => (*written, *en),
        Lang::Zh => (*written, *zh),
    };
    let page = HelpPage {
        frame: Frame::new(&visitor, rooms.config()),
        query: "",
        focus: false,
        operators: OPERATORS.iter().map(told).collect(),
        keys: KEYS.iter().map(told).collect(),
        keys_switch: visitor.href_with("keys", if visitor.has_keys { "off" } else { "on" }),
    };
    respond(&visitor, StatusCode::OK, &page)
}
