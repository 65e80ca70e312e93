//! Chinese texts of the OpenAPI document for the page `/api`. Programs read the document in English.
//!
//! The keys are stable identifiers: `<operation id>.summary`, `.description`, `.param.<name>` and `.response.<status>`, with
//! the operation id `any` for responses that several operations have in common.

/// Returns the Chinese text for a part of an operation.
pub(super) fn chinese(operation: &str, part: &str) -> Option<&'static str> {
    find(operation, part).or_else(|| find("any", part)).map(|(_, text)| *text)
}

fn find(operation: &str, part: &str) -> Option<&'static (&'static str, &'static str)> {
    TEXTS.iter().find(|(key, _)| {
        key.strip_prefix(operation).and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| rest == part)
    })
}

const TEXTS: [(&str, &str); 81] = [
    ("any.response.400", "缺少参数或参数无效"),
    ("any.response.401", "API 密钥缺失、错误、已过期或已撤销"),
    ("any.response.403", "API 密钥不允许此请求"),
    ("any.response.413", "请求正文过长"),
    ("any.response.429", "来自该地址或使用该密钥的请求过多"),
    ("any.response.500", "服务器内部错误"),
    ("any.response.503", "服务器过载"),
    ("click.summary", "上报点击"),
    ("click.description", "由浏览器中的结果页发送。点击用于改进排序；保存时不含地址和姓名。"),
    ("click.param.impression", "展示的编号，包含在结果页的链接中。"),
    ("click.param.rank", "被点击链接的位置，从 1 起跨页连续计数；用 `seen` 时可为任意数。"),
    ("click.param.kind", "点击的种类；`seen` 表示启用脚本的浏览器显示了该页，`leave` 表示从结果返回。"),
    ("click.param.dwell", "用于 `leave`：在结果上停留的毫秒数，最长一天。"),
    ("click.response.204", "已记录"),
    ("click.response.404", "展示不存在或已过期"),
    ("directory.summary", "分类目录"),
    ("directory.param.category", "类别的标识；不给出时返回顶层类别。"),
    ("directory.response.200", "该类别、下级类别，以及优秀的网站和网页"),
    ("directory.response.400", "参数无效"),
    ("directory.response.404", "没有分类目录，或没有这个类别"),
    ("hot.summary", "热门查询"),
    (
        "hot.param.list",
        "列表：时间窗口内（`top`）或 UTC 零点以来（`today`）最多的查询，上升最快的查询（`rising`），当前查询的热词（`words`），或最近 24 小时每小时的查询数（`hours`）。",
    ),
    ("hot.param.window", "`top` 和 `rising` 的时间窗口。"),
    ("hot.param.count", "查询的数量。"),
    ("hot.param.q", "用于 `hours`：只统计这个查询。"),
    ("hot.response.200", "所请求的列表"),
    ("hot.response.400", "参数无效"),
    ("openapi.summary", "OpenAPI 文档"),
    ("openapi.response.200", "OpenAPI 3.1 文档"),
    ("page.summary", "网页的状态"),
    ("page.param.url", "网页的完整网址。"),
    ("page.param.object", "同时返回网页对象：正文、链接和元数据。"),
    ("page.response.200", "网页的状态"),
    ("page.response.404", "未知网页"),
    ("page.response.422", "处理保存的网页的计算量过大"),
    ("queries.summary", "用户的查询"),
    (
        "queries.description",
        "最近若干天的查询及其统计，与控制台的“查询明细”相同，但只包含至少 `log.k` 次访问的查询。需要不限网站的 API 密钥。",
    ),
    (
        "queries.param.list",
        "列表：最常见（`top`）、上升最快（`rising`）、没有结果（`without-results`）、点击少（`few-clicks`）、被放弃（`abandoned`）、\
         被纠正（`corrected`）或响应慢（`slow`）。",
    ),
    ("queries.param.days", "天数，包括今天（UTC）。"),
    ("queries.param.language", "只返回中文或其他语言的查询。"),
    ("queries.param.count", "查询的数量。"),
    ("queries.response.200", "所请求的列表"),
    ("search.summary", "搜索"),
    (
        "search.param.q",
        "查询，使用搜索页的查询语法：`\"phrase\"`、`-word`、`a OR b`、`site:`、`intitle:`、`lang:`、`filetype:`、`before:`、\
         `after:`、`link:`、`related:` 等。超过最大长度的部分会被截断。",
    ),
    ("search.param.page", "结果页的页码。"),
    ("search.param.size", "每页结果数；默认与搜索页相同。"),
    ("search.param.sort", "结果的顺序：按相关性，或最新的在前。"),
    ("search.param.all", "将重复和近似重复的网页列为单独的结果，同一网站的结果数不限。"),
    ("search.param.any", "同时返回只包含部分词的网页。"),
    ("search.param.as_typed", "按输入的词搜索，不自动改用纠正后的查询。"),
    ("search.param.explain", "返回每条结果的得分构成。"),
    ("search.param.facets", "返回按网站、语言、文件类型、类别和时间的计数。"),
    ("search.param.generation", "第一页结果中的 `generation`：后续页使用同一状态的索引。"),
    ("search.param.format", "返回格式：JSON，或带 OpenSearch 元素的 RSS。"),
    ("search.param.site", "只返回该网站或目录的网页。"),
    ("search.param.in", "只返回该语言的网页：`en`、`zh`。"),
    ("search.param.type", "只返回该类型的文件：`html`、`pdf`。"),
    ("search.param.category", "只返回该类别的网页。"),
    ("search.param.time", "只返回日期在该时间段内的网页。"),
    ("search.response.200", "一页结果"),
    ("similar.summary", "相似网页"),
    ("similar.description", "等同于搜索 `related:` 加网址。"),
    ("similar.param.url", "可搜索的网页的完整网址。"),
    ("similar.param.size", "网页的数量；默认与搜索页相同。"),
    ("similar.response.200", "相似的网页，最相似的在前"),
    ("similar.response.404", "该网页不可搜索"),
    ("stats.summary", "收录规模"),
    ("stats.response.200", "统计数字，最多是几秒之前的"),
    ("submit.summary", "提交网址"),
    (
        "submit.description",
        "根据设置，由管理员决定是否抓取，或直接排队等待抓取。表单只接受来自本站网页和程序的提交。",
    ),
    ("submit.response.200", "无需处理：网址已知"),
    ("submit.response.202", "已接受"),
    ("submit.response.400", "网址无效，或不抓取该网址"),
    ("submit.response.403", "未开放提交，或表单来自其他网站"),
    ("submit.response.409", "管理员已拒绝该网址"),
    ("submit.response.415", "请求正文既不是 JSON 也不是表单"),
    ("suggest.summary", "查询建议"),
    ("suggest.param.q", "已输入的文字；末尾的空格表示最后一个词已完整。"),
    ("suggest.param.count", "建议的数量。"),
    ("suggest.response.200", "建议，最好的在前"),
    ("suggest.response.400", "参数无效"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::openapi::OpenApiDocument;
    use super::*;

    /// Returns operation id and key of every text that the page shows.
    fn shown_parts() -> Vec<(String, String)> {
        let document = OpenApiDocument::new(true);
        let operations = document.json["paths"].as_object().unwrap().values();
        let mut parts = Vec::new();
        for operation in operations.flat_map(|item| item.as_object().unwrap().values()) {
            let id = operation["operationId"].as_str().unwrap();
            let mut add = |part: String| parts.push((id.to_string(), part));
            for text in ["summary", "description"] {
                if operation[text].as_str().is_some_and(|text| !text.is_empty()) {
                    add(text.to_string());
                }
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                add(format!("param.{}", parameter["name"].as_str().unwrap()));
            }
            for status in operation["responses"].as_object().unwrap().keys() {
                add(format!("response.{status}"));
            }
        }
        parts
    }

    #[test]
    fn every_text_of_the_document_has_a_chinese_text() {
        let missing: Vec<String> = shown_parts()
            .into_iter()
            .filter(|(id, part)| chinese(id, part).is_none())
            .map(|(id, part)| format!("{id}.{part}"))
            .collect();
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn every_key_is_used_once() {
        let keys: BTreeSet<&str> = TEXTS.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys.len(), TEXTS.len(), "duplicate keys");
        let used: BTreeSet<&str> = shown_parts()
            .iter()
            .filter_map(|(id, part)| find(id, part).or_else(|| find("any", part)))
            .map(|(key, _)| *key)
            .collect();
        assert_eq!(used, keys);
        assert!(TEXTS.iter().all(|(_, text)| !text.trim().is_empty()));
    }
}
