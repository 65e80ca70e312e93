//! Texts of the user interface in all languages.

mod language_names;

use std::time::Duration;

use pharos_core::Timestamp;

/// A language of the user interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lang {
    En,
    Zh,
}

impl Lang {
    /// All languages in the order of the switch.
    pub(crate) const ALL: [Lang; 2] = [Lang::En, Lang::Zh];

    /// Parses a language tag such as `zh-CN`; `None` if the language is not supported.
    pub(crate) fn from_tag(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next()?.trim().to_ascii_lowercase().as_str() {
            "en" => Some(Self::En),
            "zh" => Some(Self::Zh),
            _ => None,
        }
    }

    /// Returns the value used in links and cookies.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Returns the value of `<html lang>`.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-Hans",
        }
    }

    /// Returns the name of the language in that language.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Zh => "简体中文",
        }
    }

    /// Returns the messages in this language.
    pub(crate) fn messages(self) -> &'static Messages {
        Messages::for_lang(self)
    }

    /// Formats a date such as `2026-01-31`; anything else is returned unchanged.
    pub(crate) fn date(self, iso: &str) -> String {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let mut parts = iso.split('-').map(str::parse::<usize>);
        let (Some(Ok(year)), Some(Ok(month @ 1..=12)), Some(Ok(day @ 1..=31)), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return iso.to_string();
        };
        match self {
            Self::En => format!("{day} {} {year}", MONTHS[month - 1]),
            Self::Zh => format!("{year}年{month}月{day}日"),
        }
    }

    /// Formats a time to the minute.
    pub(crate) fn date_time(self, at: Timestamp) -> String {
        let iso = at.to_string();
        let time = iso.split_once('T').and_then(|(_, time)| time.get(..5)).unwrap_or_default();
        match self {
            Self::En => format!("{}, {time} UTC", self.date(&at.date())),
            Self::Zh => format!("{} {time} UTC", self.date(&at.date())),
        }
    }
}

/// Declares a table of messages: one line per message, one column per language. `{}` are placeholders.
macro_rules! messages {
    ($Messages:ident { $( $key:ident: $en:literal, $zh:literal; )+ }) => {
        /// The messages in one language.
        pub(crate) struct $Messages { $( pub(crate) $key: &'static str, )+ }
        const EN: $Messages = $Messages { $( $key: $en, )+ };
        const ZH: $Messages = $Messages { $( $key: $zh, )+ };
        #[cfg(test)]
        pub(crate) const TABLE: &[(&str, &str, &str)] = &[ $( (stringify!($key), $en, $zh), )+ ];

        impl $Messages {
            /// Returns the messages in a language.
            pub(crate) fn for_lang(lang: $crate::messages::Lang) -> &'static Self {
                match lang {
                    $crate::messages::Lang::En => &EN,
                    $crate::messages::Lang::Zh => &ZH,
                }
            }
        }
    };
}
pub(crate) use messages;

messages! { Messages {
    name: "Pharos", "灯塔";
    description: "Search with Pharos", "用灯塔搜索";
    language: "Language", "语言";
    theme: "Theme", "配色";
    theme_auto: "Auto", "自动";
    theme_light: "Light", "浅色";
    theme_dark: "Dark", "深色";
    about: "About this search engine", "关于本搜索引擎";
    hot: "Trending", "热搜榜";
    help: "Help", "帮助";
    privacy: "Privacy", "隐私";
    webmasters: "For webmasters", "站长须知";
    search: "Search", "搜索";
    search_label: "Search query", "搜索词";
    to_home: "Home page", "返回首页";
    to_search: "Back to results", "返回搜索结果";

    pages_one: "1 searchable page", "可搜索 1 个网页";
    pages_many: "{} searchable pages", "可搜索 {} 个网页";
    empty_index_title: "Nothing to search yet", "还没有可以搜索的网页";
    empty_index_text: "Pages become searchable seconds after they are fetched. Start by crawling a site:",
        "网页抓取后几秒即可搜索。请先抓取一个网站：";

    found_one: "1 result", "1 条结果";
    found_exact: "{} results", "{} 条结果";
    found_about: "About {} results", "约 {} 条结果";
    found_some: "{} + {} with some of the words", "{}，另有 {} 条只包含部分词";
    found_only_some: "{} with some of the words", "{} 条结果只包含部分词";
    missing_words: "Without:", "不含：";
    exact_query: "Require all words", "必须包含所有词";
    found_page: "page {} of {}", "第 {} 页，共 {} 页";
    milliseconds: "{} ms", "{} 毫秒";
    under_a_millisecond: "under 1 ms", "不到 1 毫秒";
    seconds: "{} s", "{} 秒";
    understood: "Interpretation of the query", "对查询的理解";
    results: "Results", "搜索结果";
    notice: "Notice", "提示";
    more: "More", "详情";
    pinned: "Pinned", "置顶";
    pinned_by: "Pinned by {} on {}", "由 {} 于 {} 置顶";
    hidden_by: "A page is hidden by {} since {}", "有一个网页由 {} 于 {} 隐藏";
    synonym_of: "{}: synonym of {}", "{}：{} 的同义词";
    filters: "Filters", "筛选";
    any_time: "Any time", "时间不限";
    time_day: "Past day", "一天内";
    time_week: "Past week", "一周内";
    time_month: "Past month", "一个月内";
    time_year: "Past year", "一年内";
    any_language: "Any language", "语言不限";
    any_site: "Any site", "网站不限";
    any_type: "Any type", "类型不限";
    any_category: "Any category", "类别不限";
    type_html: "Web pages", "网页";
    sort_newest: "Newest first", "按时间排序";
    sort_best: "Most relevant first", "按相关性排序";
    no_filters: "Search without filters", "取消筛选后重新搜索";
    similar: "Similar pages", "相似网页";
    related: "Related searches", "相关搜索";
    corrected: "Did you mean", "您是不是要找";
    shown_for: "Showing results for", "以下是相关结果：";
    search_instead: "Search instead for", "仍然搜索：";
    relaxed: "No page contains all of these words. These pages contain some of them.",
        "没有同时包含所有词的网页，以下网页包含其中一部分。";
    partial: "The search ran out of time: there may be more results.", "搜索超时，可能还有更多结果没有列出。";
    snapshot: "Snapshot", "网页快照";
    more_from_site: "{} more from this site", "该网站还有 {} 条结果";
    duplicates_one: "1 duplicate not shown", "1 个相同网页未显示";
    duplicates_many: "{} duplicates not shown", "{} 个相同网页未显示";
    result_pages: "Result pages", "结果分页";
    previous: "Previous", "上一页";
    next: "Next", "下一页";

    nothing_title: "No results for: {}", "没有找到与“{}”相符的网页";
    tip_fewer: "Use fewer words, or more general ones.", "减少搜索词，或使用更常见的词。";
    tip_other: "Try different words, and check the spelling.", "换一种说法，并检查是否有错别字。";
    tip_language: "Try another language: Chinese words find Chinese pages.", "换一种语言：用英文词可以找到英文网页。";
    tip_submit: "Is a page missing? Submit its URL.", "缺少某个网页？请提交它的网址。";
    beyond_title: "There is no result page {}", "没有第 {} 页结果";
    beyond_text: "There are fewer results.", "结果没有那么多。";
    first_page: "First page", "第一页";
    last_page: "Last page", "最后一页";

    snapshot_stored: "This is a snapshot of the page, stored on {}. The live page may have changed since.",
        "这是网页在 {} 的快照，网页现在的内容可能已有变化。";
    snapshot_unchanged: "It was last seen unchanged on {}.", "截至 {} 没有变化。";
    snapshot_gone: "This page no longer exists on its site: it was not found on {}.", "该网页在原网站上已不存在：{} 访问时未找到。";
    snapshot_live: "Live page:", "原网页：";
    snapshot_view: "View", "查看方式";
    snapshot_layout: "Layout", "原版式";
    snapshot_text: "Text", "纯文本";
    snapshot_versions: "Versions", "历史版本";
    snapshot_all_versions: "All {} versions", "全部 {} 个版本";
    snapshot_more_versions: "and {} older versions", "另有 {} 个更早的版本";
    snapshot_dropped: "no longer stored", "已不再保存";
    snapshot_same_until: "unchanged until {}", "至 {} 无变化";
    snapshot_next: "next occurrence", "下一处";
    no_version_title: "Version not found", "没有这个版本";
    no_version_text: "The page was not stored at that time, or the version is no longer stored. The newest version is here:",
        "当时还没有保存这个网页，或者该版本已不再保存。最新的版本在这里：";
    snapshot_words: "Search words:", "搜索词：";
    snapshot_absent: "Not in the page:", "网页中没有：";
    snapshot_empty: "This file has no content that can be displayed here.", "这个文件没有可以在此显示的内容。";
    stored_page: "Stored page", "网页快照内容";
    not_in_library_title: "This page is not in the library", "网页库中没有这个网页";
    not_in_library_text: "It was never stored, or it has been removed.", "它没有被保存过，或者已经被移除。";
    metrics_refused: "Metrics are available on the local machine, with an API key, and to the networks in web.metrics_allow.",
        "指标只提供给本机、持有 API 密钥的客户端和 web.metrics_allow 中的网络。";
    unknown_host_title: "Unknown host name", "未知的主机名";
    unknown_host_text: "This server does not know the host name of the request. Its operator can add it to web.hosts, or set web.base_url.",
        "服务器不认识请求中的主机名。管理员可以把它加入 web.hosts，或设置 web.base_url。";
    too_complex_title: "This page cannot be displayed", "无法显示这个网页";
    too_complex_text: "The stored page causes too much work. Please visit the live page.",
        "处理这份网页快照的计算量过大，请直接访问原网页。";
    withheld_title: "This page does not allow snapshots", "这个网页不允许显示快照";
    withheld_text: "Please visit the live page:", "请直接访问原网页：";

    clean: "Cleaned view", "净化视图";
    clean_label: "URL of a stored page", "已保存网页的网址";
    clean_show: "Show", "查看";
    clean_ask_title: "Page cleaning, before and after", "网页净化前后对比";
    clean_ask_text: "Enter the URL of a page in the library. The left side shows the original page with every line coloured by its \
        kind, the right side the main content, which is what gets searched.",
        "请输入网页库中某个网页的网址。左边是原网页，每一行按类别着色；右边是净化后的正文，也就是用于搜索的内容。";
    clean_missing_text: "This command makes the current or next crawl fetch it:", "用下面的命令，让当前或下一次抓取取回它：";
    clean_no_html_title: "This file cannot be cleaned", "这个文件不需要净化";
    clean_no_html_text: "It is not an HTML page.", "它不是 HTML 网页。";
    clean_original: "Original page", "原网页";
    clean_cleaned: "After cleaning", "净化后";
    clean_empty: "No content is left.", "净化后没有剩余内容。";
    clean_kept: "Kept lines", "保留的行";
    clean_removed: "Removed lines", "去除的行";
    clean_lines_truncated: "Long page, showing the first {} of {} lines.", "网页较长，这里显示前 {} 行，共 {} 行。";
    clean_unexplained: "The page is too large to explain every line.", "网页太大，不逐行说明去留的原因。";
    kind_body: "Main content", "正文";
    kind_related: "Related links", "相关链接";
    kind_navigation: "Navigation", "导航";
    kind_advertisement: "Advertisement", "广告";
    kind_copyright: "Copyright", "版权";
    kind_form: "Form", "表单";
    kind_comment: "Comment", "评论";
    kind_other: "Other", "其他";
    why: "The sum of the rules’ scores decides: lines with {} or more are main content.", "由各规则得分之和决定：达到 {} 的行是正文。";
    why_rule: "rule {}: {}", "规则 {}：{}";
    why_more: "and {} more lines", "另有 {} 行";
    fact_type: "Type", "类型";
    type_topic: "topic page", "主题型网页";
    type_hub: "hub page", "枢纽型网页";
    type_picture: "picture page", "图片型网页";
    fact_charset: "Charset", "字符集";
    fact_published: "Published", "发布日期";
    fact_author: "Author", "作者";
    fact_keywords: "Keywords", "关键词";
    fact_bytes: "Size in bytes", "字节数";
    bytes_before_after: "{} before, {} after", "净化前 {}，净化后 {}";
    fact_errors: "HTML errors", "HTML 错误";
    fact_stored: "Stored", "保存日期";

    hot_day: "Top queries today", "今日热搜";
    hot_rising: "Rising", "上升最快";
    hot_hour: "Last hour", "最近一小时";
    hot_empty_title: "Nothing to show yet", "暂时没有内容";
    hot_empty_text: "Queries that several people search for appear here: the most frequent ones, the rising ones, and the number \
        of searches per hour.", "当多位用户搜索相同的内容时，这里会列出最热门的、上升最快的查询，以及每小时的搜索量。";
    hot_rule: "Only queries from at least {} visits are shown.", "只显示至少 {} 次访问搜索过的内容。";
    hours: "Searches per hour", "每小时搜索量";
    hours_ago: "{} hours ago: {}", "{} 小时前：{}";
    now: "now", "现在";
    hours_summary: "{} searches in the last 24 hours, {} in the busiest hour", "最近 24 小时共 {} 次搜索，最多的一小时有 {} 次";

    directory: "Directory", "分类目录";
    directory_all: "All pages of this category", "该类别的全部网页";
    directory_above: "Categories above", "上级类别";
    directory_below: "Categories", "类别";
    directory_best: "Best pages", "优秀网页";
    directory_sites: "Sites with the most pages", "网页最多的网站";
    directory_search: "Search in this category", "在该类别中搜索";
    directory_empty: "This category has no pages yet.", "该类别暂时没有网页。";
    directory_page: "1 page", "1 个网页";
    directory_pages: "{} pages", "{} 个网页";

    help_title: "How to search", "搜索方法";
    keys_title: "Keyboard shortcuts", "快捷键";
    keys_off: "Turn shortcuts off", "关闭快捷键";
    keys_on: "Turn shortcuts on", "开启快捷键";

    privacy_title: "Data stored about your visit", "我们记录的访问数据";
    privacy_written: "Queries, the results shown and clicks are logged to improve results and suggestions. Your address is not \
        logged.", "我们记录搜索词、显示的结果和点击，用于改进搜索结果和建议；不记录您的网络地址。";
    privacy_visit: "The searches of one visit are linked by a number derived with a secret key, which is deleted after {}. They \
        cannot be linked afterwards.", "同一次访问的搜索用密钥生成的编号关联，密钥在 {} 后删除，此后无法再关联。";
    privacy_digits: "Sequences of {} or more digits (phone numbers, identity numbers) are removed from queries before they are \
        logged.", "搜索词中连续 {} 位以上的数字（电话、证件号）在记录前会被删除。";
    privacy_clicks: "A small script reports clicks, with the id of the result page and the position of the link. Links lead \
        directly to their pages. Without JavaScript no click is reported.", "点击由一小段脚本上报，只包含结果页编号和链接位置；链接直接指向原网页，不经过跳转。关闭 JavaScript 则不记录点击。";
    privacy_hot: "Trending queries and suggestions only contain queries from at least {} visits.",
        "热搜榜和搜索建议只显示至少 {} 次访问搜索过的内容。";
    privacy_access: "For each request, the time, the type of page and the response status are logged.",
        "每个请求会记录时间、页面类型和响应状态。";
    privacy_kept: "All logs are deleted after {}.", "所有记录在 {} 后删除。";
    privacy_kept_indefinitely: "Logs are kept until the operator deletes them.", "记录保留到管理员删除为止。";
    privacy_nothing: "Nothing: logging is switched off on this server.", "不记录任何数据：本搜索引擎已关闭日志。";
    privacy_cookies: "Cookies store only your choice of language, theme and shortcuts, once you make one.",
        "Cookie 只保存您选择的语言、配色和快捷键设置；不作选择就没有 Cookie。";
    privacy_others: "The pages load nothing from third parties, and the sites you visit from here do not learn your \
        query.", "页面不从第三方加载任何内容；您从这里访问的网站不会得知您搜索了什么。";

    not_found_title: "Page not found", "页面不存在";
    not_found_text: "Please check the URL.", "请检查网址是否正确。";
    refused_title: "Invalid request", "请求无效";
    refused_text: "The server cannot process this request.", "服务器无法处理这个请求。";
    failed_title: "Something went wrong", "出错了";
    failed_text: "The request failed because of an internal error. Please try again; details are in the server log.",
        "由于内部错误，请求没有完成，请再试一次。详细原因见服务器日志。";
    too_many_title: "Too many requests", "请求过于频繁";
    too_many_text: "There were too many requests from your address. Please try again later.",
        "来自您所在地址的请求过多，请稍后再试。";
    busy_title: "The server is busy", "服务繁忙";
    busy_text: "Please try again in a few seconds.", "请过几秒再试。";

    feed_description: "Search results for: {}", "搜索结果：{}";

    api_title: "API", "API";
    api_intro: "All functions of the pages are available to programs. The complete reference is this document:",
        "网页上的功能都可供程序调用。完整的说明见这份文档：";
    api_list: "Operations", "接口列表";
    api_stop: ".", "。";
    api_keys_title: "API keys", "密钥";
    api_keys_needed: "A key is required, except for suggestions, hot queries, clicks and the document. Send it in a header:",
        "除搜索建议、热门查询、点击上报和本文档之外，都需要密钥，请放在请求头中：";
    api_keys_none: "No key is required.", "不需要密钥。";
    api_cors_title: "Other sites (CORS)", "其他网站（CORS）";
    api_cors_none: "Pages of other sites cannot read the responses in a browser; programs can.",
        "其他网站的网页不能在浏览器中读取结果；程序可以。";
    api_cors_all: "Pages of all sites may read the responses in a browser, without cookies.",
        "所有网站的网页都可以在浏览器中读取结果，不带 Cookie。";
    api_cors_some: "Pages of these sites may read the responses in a browser, without cookies: {}",
        "以下网站的网页可以在浏览器中读取结果，不带 Cookie：{}";
    api_errors_title: "Errors", "错误";
    api_errors: "Errors are problem documents (RFC 9457), which describe the cause and what to do:",
        "错误以问题文档（RFC 9457）的形式返回，说明原因和处理办法：";
    api_limits_title: "Limits", "限制";
    api_limits: "{} requests per second and address on average. Requests beyond the limit get status 429, requests to a busy \
        server 503; Retry-After contains the seconds to wait.",
        "每个地址平均每秒 {} 次请求。超过时返回 429，服务器繁忙时返回 503；Retry-After 给出需要等待的秒数。";
    api_limits_key: "{} requests per second and key on average. Requests beyond the limit get status 429, requests to a busy \
        server 503; Retry-After contains the seconds to wait.",
        "每个密钥平均每秒 {} 次请求。超过时返回 429，服务器繁忙时返回 503；Retry-After 给出需要等待的秒数。";
    api_limits_none: "No fixed limit. A busy server responds with status 503, and Retry-After contains the seconds to \
        wait.",
        "没有固定限制；服务器繁忙时返回 503，Retry-After 给出需要等待的秒数。";
    api_formats_title: "Formats", "格式";
    api_formats: "Results are also available in other formats, with the fields of SearXNG:",
        "搜索结果还提供其他格式，字段与 SearXNG 相同：";
    api_parameters: "Parameters", "参数";
    api_required: "required", "必填";
    api_number: "integer, {} to {}", "整数，{} 到 {}";
    api_text: "text", "文本";
    api_answers: "Responses", "响应";
    api_try: "Try it", "试一试";

    bot_title: "Our crawler", "我们的爬虫";
    bot_intro: "Information for webmasters: how the crawler behaves, how to block it, and the status of a page.",
        "写给网站管理员：爬虫如何抓取、如何拒绝抓取，以及如何查询网页的状态。";
    bot_agent: "User agent", "名称（User-Agent）";
    bot_token: "In robots.txt", "在 robots.txt 中";
    bot_contact: "Contact", "联系方式";
    bot_no_contact: "The operator of this search engine has not provided one.", "本搜索引擎的管理员没有提供。";
    bot_manners_title: "Crawling behaviour", "抓取方式";
    bot_robots: "The crawler reads robots.txt first, obeys it (RFC 9309), and reads it again after {} at the latest. If the server \
        fails to deliver robots.txt, no pages are fetched.",
        "爬虫先读取 robots.txt 并遵守其规定（RFC 9309），最迟 {} 后重新读取。服务器故障、无法读取 robots.txt 时，不抓取网页。";
    bot_wait: "Between two requests to a site it waits {} by day and {} by night, or {} times the duration of the last response, \
        whichever is longer.",
        "对同一网站的两次请求之间，白天至少等待 {}，夜间至少等待 {}，或者等待上次响应时间的 {} 倍，取其中较长者。";
    bot_no_wait: "It does not wait between requests: this search engine is configured for its own servers.",
        "两次请求之间不等待：本搜索引擎只抓取自己的服务器。";
    bot_at_once: "Maximum number of concurrent requests to a server: {}", "对同一服务器的最大并发请求数：{}";
    bot_delay: "Crawl-delay is honoured up to {}.", "遵守 Crawl-delay，最长 {}。";
    bot_per_day: "Maximum number of pages per site and day: {}", "每个网站每天最多抓取的网页数：{}";
    bot_retry_after: "When a server responds with 429 or 503, the crawler pauses for the time given in Retry-After.",
        "服务器返回 429 或 503 时，按 Retry-After 的要求暂停抓取。";
    bot_again: "A page is visited at most once every {}.", "同一网页的访问间隔不短于 {}。";
    bot_block_title: "How to block the crawler", "如何拒绝抓取";
    bot_block_all: "All or some pages, in robots.txt:", "在 robots.txt 中拒绝抓取全部或部分网页：";
    bot_block_page: "A single page, in the page or in a response header:", "在网页中或响应头中针对单个网页声明：";
    bot_block_rules: "The crawler obeys noindex, nofollow, none, noarchive (no snapshot), nosnippet, max-snippet and data-nosnippet, \
        and rel=nofollow on links.",
        "爬虫遵守 noindex、nofollow、none、noarchive（不提供快照）、nosnippet、max-snippet、data-nosnippet，以及链接上的 rel=nofollow。";
    bot_remove_title: "How to remove a page", "如何移除网页";
    bot_remove: "Let your server respond with 404 or 410, or add noindex to the page: it is removed from the index with the next \
        visit. In all other or urgent cases please use the contact above.",
        "让服务器对该网页返回 404 或 410，或在网页中声明 noindex，下次访问后它就会从索引中移除。其他情况或需要尽快处理时，请通过上面的联系方式与我们联系。";
    bot_ask_title: "Is my page in the index?", "我的网页在索引中吗？";
    bot_ask_label: "URL of the page", "网页地址";
    bot_ask: "Look up", "查询";
    bot_submit: "Submit page", "提交这个网页";
    bot_no_address: "This is not a valid URL. Please enter it in full, for example https://www.example.org/",
        "网址无效，请完整填写，例如 https://www.example.org/";
    bot_found: "Yes, the page can be found.", "在，可以搜到。";
    bot_since: "The page has been known since {}; our copy was fetched on {}.", "我们于 {} 发现这个网页，保存的副本抓取于 {}。";
    bot_fetched: "Our copy was fetched on {}.", "保存的副本抓取于 {}。";
    bot_same: "Other pages have exactly the same content. The results show only one of them.", "有内容完全相同的其他网页，搜索结果只显示其中一个。";
    bot_waiting: "Not yet: the page is known and queued for fetching.", "还没有：我们已发现这个网页，正在排队等待抓取。";
    bot_waiting_robots: "Not yet: your robots.txt could not be fetched on {}, and without it no page is \
        fetched.",
        "还没有：我们于 {} 未能读取您的 robots.txt；读不到它，就不抓取任何网页。";
    bot_waiting_until: "Not yet: your server asked us to wait until {}.", "还没有：您的服务器要求我们等到 {} 之后。";
    bot_copy: "No: the site is a mirror of another one, whose pages are indexed instead.",
        "不在：这个网站是另一个网站的镜像，收录的是那个网站的网页。";
    bot_robots_refused: "No: your robots.txt forbids it.", "不在：您的 robots.txt 禁止抓取。";
    bot_rule: "Rule:", "规则：";
    bot_refused: "No: the rules of this search engine exclude the page.", "不在：按照本搜索引擎的规则，不抓取这个网页。";
    bot_status: "No: your server returned status {} on {}.", "不在：您的服务器返回了状态码 {}（{}）。";
    bot_redirect: "No: your server redirected us to another URL on {}. That page can be found instead.",
        "不在：您的服务器于 {} 将请求重定向到另一个网址，可以搜到的是那个网页。";
    bot_quarantined: "No: the page was fetched on {}, but is too complex to be analysed.", "不在：我们于 {} 抓取了这个网页，但它过于复杂，无法解析。";
    bot_noindex: "No: the page asks not to be indexed (noindex). It was last read on {}.", "不在：网页要求不被收录（noindex）。上次读取时间：{}。";
    bot_nothing: "No: the page had no searchable content on {}.", "不在：我们于 {} 读取时，网页没有可供搜索的内容。";
    bot_soon: "Not yet: the page was fetched on {} and will be indexed shortly.", "还没有：我们已于 {} 抓取，即将编入索引。";
    bot_no_name: "No: the host name of the server could not be resolved on {}.", "不在：我们于 {} 无法解析该服务器的域名。";
    bot_too_slow: "No: your server took too long to respond on {}.", "不在：您的服务器于 {} 响应超时。";
    bot_no_tls: "No: no secure connection to your server could be established on {}; please check its certificate.",
        "不在：我们于 {} 未能与您的服务器建立安全连接，请检查证书。";
    bot_no_answer: "No: your server did not respond on {}.", "不在：您的服务器于 {} 没有响应。";
    bot_gone: "No: the page was reported as deleted.", "不在：这个网页已被删除。";
    bot_unknown: "No: the page is unknown to us.", "不在：我们还不知道这个网页。";
    bot_again_soon: "We will try again automatically.", "我们之后会自动重试。";

    submit_proposed: "Thank you. An operator will decide whether the page is fetched.", "谢谢。管理员会决定是否抓取这个网页。";
    submit_queued: "Thank you. The page will be fetched soon, if robots.txt allows it.",
        "谢谢。如果 robots.txt 允许，我们会尽快抓取。";
    submit_before: "The page was submitted before and awaits a decision.", "这个网页之前已经提交过，正在等待处理。";
    submit_known: "The page is already known. Look up its status above.", "我们已经知道这个网页，可在上面查询它的状态。";
    submit_declined: "This URL is not accepted here.", "这里不接受这个网址。";
    submit_off: "Submissions are disabled.", "这里不接受提交网址。";
    submit_out_of_reach: "This URL is not fetched: it is not a page, or not on the public internet.",
        "不抓取这个网址：它不是网页，或者不在公共互联网上。";
    submit_too_often: "You have submitted too many URLs. Please try again later.", "您提交的网址过多，请过一段时间再试。";
    submit_full: "Too many submissions await a decision. Please try again later.", "等待处理的提交过多，请稍后再试。";
    submit_other_site: "The form was sent by a page of another site and was not accepted.", "这个表单来自其他网站的网页，没有受理。";

    time_seconds: "{} s", "{} 秒";
    time_minutes: "{} min", "{} 分钟";
    time_hours: "{} h", "{} 小时";
    time_days: "{} days", "{} 天";
} }

impl Messages {
    /// Returns tips for a search without results. A single word cannot become fewer.
    pub(crate) fn tips(&self, query: &str) -> Vec<&'static str> {
        let several = query.split_whitespace().nth(1).is_some();
        let fewer = several.then_some(self.tip_fewer);
        fewer.into_iter().chain([self.tip_other, self.tip_language]).collect()
    }

    /// Formats the number of searchable pages.
    pub(crate) fn page_count(&self, count: u64) -> String {
        if count == 1 { self.pages_one.to_string() } else { fill(self.pages_many, &[&grouped(count)]) }
    }

    /// Formats the number of results, and of those with only some of the words.
    pub(crate) fn result_count(&self, count: u64, exact: bool, partial: u64) -> String {
        let full = match (count, exact) {
            (1, true) => self.found_one.to_string(),
            (_, true) => fill(self.found_exact, &[&grouped(count)]),
            (_, false) => fill(self.found_about, &[&grouped(count)]),
        };
        match partial {
            0 => full,
            partial if count == 0 => fill(self.found_only_some, &[&grouped(partial)]),
            partial => fill(self.found_some, &[&full, &grouped(partial)]),
        }
    }

    /// Formats the number of duplicates that are not shown.
    pub(crate) fn duplicate_count(&self, count: u64) -> String {
        if count == 1 {
            self.duplicates_one.to_string()
        } else {
            fill(self.duplicates_many, &[&grouped(count)])
        }
    }

    /// Formats a duration in the largest unit that divides it.
    pub(crate) fn duration(&self, span: Duration) -> String {
        let seconds = span.as_secs();
        let (phrase, number) = match seconds {
            _ if span.subsec_nanos() > 0 => {
                return fill(self.time_seconds, &[&format!("{:.1}", span.as_secs_f64())]);
            }
            s if s >= 2 * 86_400 && s % 86_400 == 0 => (self.time_days, s / 86_400),
            s if s >= 3600 && s % 3600 == 0 => (self.time_hours, s / 3600),
            s if s >= 60 && s % 60 == 0 => (self.time_minutes, s / 60),
            s => (self.time_seconds, s),
        };
        fill(phrase, &[&grouped(number)])
    }

    /// Formats a search time.
    pub(crate) fn search_time(&self, millis: f64) -> String {
        match millis {
            m if m >= 1000.0 => fill(self.seconds, &[&format!("{:.1}", m / 1000.0)]),
            m if m >= 10.0 => fill(self.milliseconds, &[&format!("{m:.0}")]),
            m if m >= 1.0 => fill(self.milliseconds, &[&format!("{m:.1}")]),
            _ => self.under_a_millisecond.to_string(),
        }
    }
}

/// Replaces the placeholders `{}` of a message by values. Values are not scanned for placeholders.
pub(crate) fn fill(phrase: &str, values: &[&str]) -> String {
    let mut values = values.iter();
    let mut parts = phrase.split("{}");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        text.push_str(values.next().copied().unwrap_or_default());
        text.push_str(part);
    }
    text
}

/// Formats a number with thousands separators: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Asserts that every message has all languages, with the same number of placeholders.
#[cfg(test)]
pub(crate) fn assert_same_placeholders(table: &[(&str, &str, &str)]) {
    for (key, en, zh) in table {
        assert!(!en.is_empty() && !zh.is_empty(), "{key}");
        assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{key}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_languages_have_the_same_placeholders() {
        assert_same_placeholders(TABLE);
    }

    #[test]
    fn numbers_dates_and_times_are_formatted() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(Lang::En.date("2026-01-31"), "31 Jan 2026");
        assert_eq!(Lang::Zh.date("2026-01-31"), "2026年1月31日");
        let moment = Timestamp::parse("2026-01-31T08:05:59Z").unwrap();
        assert_eq!(Lang::En.date_time(moment), "31 Jan 2026, 08:05 UTC");
        assert_eq!(Lang::Zh.date_time(moment), "2026年1月31日 08:05 UTC");
        for odd in ["", "yesterday", "2026-13-01", "2026-01-31T00:00", "2026-01-31-5"] {
            assert_eq!(Lang::En.date(odd), odd);
        }
        assert_eq!(EN.result_count(1, true, 0), "1 result");
        assert_eq!(EN.result_count(12_345, false, 0), "About 12,345 results");
        assert_eq!(EN.result_count(2, true, 40), "2 results + 40 with some of the words");
        assert_eq!(EN.result_count(0, true, 40), "40 with some of the words");
        assert_eq!(ZH.result_count(3, true, 2), "3 条结果，另有 2 条只包含部分词");
        assert_eq!(
            [0.42, 3.25, f64::NAN].map(|ms| EN.search_time(ms)),
            ["under 1 ms", "3.2 ms", "under 1 ms"]
        );
        assert_eq!(ZH.search_time(1234.0), "1.2 秒");
        let spans = [0, 1, 59, 60, 90, 3600, 86_400, 7 * 86_400].map(|s| EN.duration(Duration::from_secs(s)));
        assert_eq!(spans, ["0 s", "1 s", "59 s", "1 min", "90 s", "1 h", "24 h", "7 days"]);
        assert_eq!(ZH.duration(Duration::from_millis(1500)), "1.5 秒");
    }

    #[test]
    fn values_are_not_scanned() {
        assert_eq!(fill("a {} b {}", &["{}", "x"]), "a {} b x");
        assert_eq!(fill("a {} b {}", &[]), "a  b ");
    }
}
