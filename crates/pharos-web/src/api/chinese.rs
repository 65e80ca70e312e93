//! What the OpenAPI document says, in 简体中文. Programs read it in English; people read either at `/api`.

/// The Chinese for a text of the document, or the text itself.
pub(super) fn chinese(english: &str) -> &str {
    let is_it = |text: &str| text.split_whitespace().eq(english.split_whitespace());
    TEXTS.iter().find(|(text, _)| is_it(text)).map_or(english, |(_, chinese)| chinese)
}

const TEXTS: [(&str, &str); 66] = [
    ("A key is needed", "需要密钥"),
    ("A page of results", "一页结果"),
    ("A parameter is missing or wrong", "缺少参数或参数有误"),
    ("A parameter is wrong", "参数有误"),
    ("An OpenAPI 3.1 document", "OpenAPI 3.1 文档"),
    ("An operator does not want this address", "管理员不收录这个网址"),
    (
        "Copies and near-duplicates, too, each as a result of its own, and any number of a site.",
        "也列出副本和近似网页，各算一条结果；同一网站的条数不限。",
    ),
    ("Counts by site, language, type, category and time.", "按网站、语言、类型、分类和时间计数。"),
    ("Files of this kind alone: `html`, `pdf`.", "只要这种类型的文件：`html`、`pdf`。"),
    (
        "How many pages are wanted; as many as on the search page where it is not given.",
        "要多少个网页；不给出时与搜索页相同。",
    ),
    ("How many queries are wanted.", "要多少个查询。"),
    ("How many suggestions are wanted.", "要多少条建议。"),
    ("How much there is", "有多少内容"),
    ("It counts", "已计入"),
    (
        "It is put before an operator, or fetched when its turn comes, as this engine is set up. Forms are taken from pages of \
         this site and from programs only.",
        "按本引擎的设置，由管理员审核，或轮到时抓取。表单只接受来自本站网页和程序的提交。",
    ),
    ("It was taken", "已收下"),
    (
        "Nobody may submit here, or a page of another site tried to",
        "这里不接受提交，或者是别的网站的网页在提交",
    ),
    ("Nothing is known of such a page", "不知道这样的网页"),
    ("Nothing like this was shown, or it is too long ago", "没有展示过这样的结果，或者时间太久"),
    ("Numbers, a few seconds old at most", "数字，最多是几秒之前的"),
    ("Pages in this language alone: `en`, `zh`.", "只要这种语言的网页：`en`、`zh`。"),
    ("Pages like one", "与一个网页相似的网页"),
    ("Pages like that one, the most similar first", "与它相似的网页，最相似的在前"),
    ("Pages of this site, or of a folder of it, alone.", "只要这个网站或其中一个目录的网页。"),
    ("Pages of this subject alone.", "只要这个分类的网页。"),
    ("Pages that are no older, by their own account.", "只要不早于此的网页，以网页自己标明的时间为准。"),
    ("Pages that have some of the words, from the beginning.", "一开始就列出只含部分词的网页。"),
    (
        "Result pages do this for who searches in a browser. It helps the ranking; no address and no name is kept with it.",
        "在浏览器中搜索时由结果页发送。它有助于排序；不随之保存地址和姓名。",
    ),
    (
        "Results a page; as many as on the search page where it is not given.",
        "每页结果数；不给出时与搜索页相同。",
    ),
    ("Search", "搜索"),
    ("Something went wrong on our side", "我们这边出了错"),
    ("Submit an address", "提交网址"),
    ("Suggestions, the best first", "建议，最好的在前"),
    ("Tell what was clicked", "告知点击"),
    (
        "The `generation` of the answer with the first page: further pages follow on it though the index changes.",
        "第一页答案中的 `generation`：索引变化时，后面的页仍接着它。",
    ),
    ("The address of a page that can be searched, written in full.", "可搜索到的网页的完整网址。"),
    ("The address of the page, written in full.", "网页的完整网址。"),
    (
        "The answer as JSON, or as an RSS feed with OpenSearch elements.",
        "答案的格式：JSON，或带 OpenSearch 元素的 RSS。",
    ),
    ("The best first or the newest.", "最相关的在前，或最新的在前。"),
    ("The body is neither JSON nor a form", "正文既不是 JSON 也不是表单"),
    ("The body is too long", "正文太长"),
    ("The engine is busy", "引擎正忙"),
    ("The list that was asked for", "所要的列表"),
    (
        "The name of what was shown; it stands in the links of a result page.",
        "所展示结果的名称；写在结果页的链接中。",
    ),
    ("The page cannot be searched", "这个网页搜索不到"),
    ("The page object, too: text, links and more.", "也给出网页对象：正文、链接等。"),
    (
        "The place of what was clicked, from 1 over all pages of results; any number with `seen`.",
        "被点击者的位置，从 1 起，跨页连续计数；用 `seen` 时可为任意数。",
    ),
    ("The same as a search for `related:` and the address.", "与搜索 `related:` 加网址相同。"),
    ("The time that is looked at by `top` and `rising`.", "`top` 和 `rising` 所看的时间范围。"),
    (
        "The words to search for, in the query language of the search page: `\"phrase\"`, `-word`, `a OR b`, `site:`, \
         `intitle:`, `lang:`, `filetype:`, `before:`, `after:`, `link:`, `related:` and more. What is longer than the longest \
         query is cut.",
        "要搜索的词，用搜索页的查询语言：`\"phrase\"`、`-word`、`a OR b`、`site:`、`intitle:`、`lang:`、`filetype:`、`before:`、\
         `after:`、`link:`、`related:` 等。超过最大长度的部分会被截去。",
    ),
    ("There is a body, and it is too long", "带有正文，而且太长"),
    ("There is nothing to do: it is known", "不必再做什么：已经收录"),
    ("This document", "本文档"),
    ("This is no address of a page, or one that is not fetched", "这不是网页的网址，或者不抓取这样的网址"),
    ("Too many requests came from your address or with your key", "来自您的地址或使用您的密钥的请求太多"),
    ("What a query may become", "查询建议"),
    ("What is known of a page", "关于一个网页所知道的"),
    ("What is known of it", "关于它所知道的"),
    (
        "What is wanted: the most asked of a window or since midnight (UTC), those that rise fastest, or how many queries \
         came in each of the last 24 hours.",
        "要什么：一段时间内或零点（UTC）以来查询最多的，上升最快的，或过去 24 小时中每小时的查询数。",
    ),
    ("What many ask, or ask more than before", "热门和上升的查询"),
    ("What the score of each result is made of.", "每条结果的得分由什么组成。"),
    (
        "What was clicked; `seen` says that a browser that tells clicks shows it, `leave` is the way back from a result.",
        "点击了什么；`seen` 表示由会告知点击的浏览器展示，`leave` 是从结果返回。",
    ),
    (
        "What was typed so far; a space at the end says that the last word is complete.",
        "到目前为止输入的文字；末尾的空格表示最后一个词已完整。",
    ),
    ("Which page of results.", "第几页结果。"),
    (
        "With `leave`: for how many milliseconds the result was looked at; nobody looks longer than a day.",
        "用于 `leave`：看结果用了多少毫秒；最长一天。",
    ),
    ("With `hours`: of this query only.", "用于 `hours`：只看这个查询。"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pharos_core::Config;

    use super::super::document::Document;
    use super::*;

    #[test]
    fn everything_that_people_read_is_there_in_chinese() {
        let mut config = Config::default();
        config.web.api_keys = vec!["key".into()];
        let document = Document::new(&config);
        let mut said = BTreeSet::new();
        let operations = document.json["paths"].as_object().unwrap().values();
        for operation in operations.flat_map(|item| item.as_object().unwrap().values()) {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let answers = operation["responses"].as_object().into_iter().flatten().map(|(_, answer)| answer);
            let texts = parameters.chain(answers).map(|part| &part["description"]);
            let texts = texts.chain([&operation["description"]]).filter_map(|text| text.as_str());
            said.extend(
                texts
                    .chain(operation["summary"].as_str().map(|title| title.trim_end_matches('.')))
                    .map(one_line)
                    .filter(|text| !text.is_empty()),
            );
        }
        let known: BTreeSet<_> = TEXTS.iter().map(|(english, _)| one_line(english)).collect();
        assert_eq!(said, known);
    }

    fn one_line(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
