//! `/help`: query syntax and keyboard shortcuts.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::messages::Lang;
use crate::pages::frame::{PageFrame, respond};
use crate::server::visitor::Visitor;
use crate::state::AppState;

/// Query syntax with its meaning in English and Chinese.
const QUERY_SYNTAX: [(&str, &str, &str); 13] = [
    ("red lamp", "pages that contain both words, in any inflection", "同时包含两个词的网页"),
    ("\"red lamp\"", "the exact phrase; “ ” 「 」 《 》 also work", "完全匹配的短语；“ ” 「 」 《 》 也可以"),
    ("lamp -desk", "excludes a word, phrase or site", "排除某个词、短语或网站"),
    ("lamp OR lantern", "either word; also written a | b", "包含其中任意一个；也可以写作 a | b"),
    ("(a OR b) c", "grouping", "用括号分组"),
    (
        "site:example.org/news",
        "pages of a site, its subdomains, or a directory",
        "某个网站（含子域名）或目录中的网页",
    ),
    (
        "intitle:lamp",
        "in the title; similarly inurl:, inbody: and inanchor:",
        "标题中；inurl:、inbody:、inanchor: 用法相同",
    ),
    ("filetype:pdf", "files of a type", "某种类型的文件"),
    ("lang:zh", "pages in a language", "某种语言的网页"),
    ("after:2025 before:2026-06-30", "pages from a period", "某段时间内的网页"),
    ("link:example.org", "pages that link to a site or page", "链接到某个网站或网页的网页"),
    ("related:https://example.org/", "pages similar to a page", "与某个网页相似的网页"),
    ("url:https://example.org/", "one specific page", "指定的网页"),
];

const SHORTCUTS: [(&str, &str, &str); 7] = [
    ("/", "focus the search box", "转到搜索框"),
    ("j", "next result", "下一条结果"),
    ("k", "previous result", "上一条结果"),
    ("o", "open result", "打开结果"),
    ("n", "next page", "下一页"),
    ("p", "previous page", "上一页"),
    ("?", "show this list", "显示此列表"),
];

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage {
    frame: PageFrame,
    query: &'static str,
    focus: bool,
    operators: Vec<(&'static str, &'static str)>,
    keys: Vec<(&'static str, &'static str)>,
    /// Link that switches the shortcuts on or off.
    keys_switch: String,
}

/// `GET /help`.
pub(crate) async fn help(State(app): State<AppState>, visitor: Visitor) -> Response {
    let localized = |(written, en, zh): &(&'static str, &'static str, &'static str)| match visitor.lang {
        Lang::En => (*written, *en),
        Lang::Zh => (*written, *zh),
    };
    let page = HelpPage {
        frame: PageFrame::new(&visitor, app.config()),
        query: "",
        focus: false,
        operators: QUERY_SYNTAX.iter().map(localized).collect(),
        keys: SHORTCUTS.iter().map(localized).collect(),
        keys_switch: visitor.href_with("keys", if visitor.has_keys { "off" } else { "on" }),
    };
    respond(&visitor, StatusCode::OK, &page)
}
