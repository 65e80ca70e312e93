//! Every word the pages say, in every language they say it in.

use std::time::Duration;

use pharos_core::Timestamp;

/// A language of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lang {
    /// English.
    En,
    /// 简体中文.
    Zh,
}

impl Lang {
    /// All of them, in the order of the switch.
    pub(crate) const ALL: [Lang; 2] = [Lang::En, Lang::Zh];

    /// From a language tag such as `zh-CN`, as far as we speak it.
    pub(crate) fn from_tag(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next()?.trim().to_ascii_lowercase().as_str() {
            "en" => Some(Self::En),
            "zh" => Some(Self::Zh),
            _ => None,
        }
    }

    /// In links and in the cookie.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// As in `<html lang>`.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh-Hans",
        }
    }

    /// What its speakers call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Zh => "简体中文",
        }
    }

    /// Its words.
    pub(crate) fn words(self) -> &'static Words {
        Words::of(self)
    }

    /// A day such as `2026-01-31` as people write it; anything else stays as it is.
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

    /// A moment to the minute, as people write it.
    pub(crate) fn moment(self, at: Timestamp) -> String {
        let iso = at.to_string();
        let time = iso.split_once('T').and_then(|(_, time)| time.get(..5)).unwrap_or_default();
        match self {
            Self::En => format!("{}, {time} UTC", self.date(&at.date())),
            Self::Zh => format!("{} {time} UTC", self.date(&at.date())),
        }
    }
}

/// Declares a table of phrases: one line per phrase, one column per language. `{}` is where values go.
macro_rules! words {
    ($Words:ident { $( $key:ident: $en:literal, $zh:literal; )+ }) => {
        /// The phrases of one language.
        pub(crate) struct $Words { $( pub(crate) $key: &'static str, )+ }
        const EN: $Words = $Words { $( $key: $en, )+ };
        const ZH: $Words = $Words { $( $key: $zh, )+ };
        #[cfg(test)]
        const TABLE: &[(&str, &str, &str)] = &[ $( (stringify!($key), $en, $zh), )+ ];

        impl $Words {
            /// The phrases of a language.
            pub(crate) fn of(lang: $crate::words::Lang) -> &'static Self {
                match lang {
                    $crate::words::Lang::En => &EN,
                    $crate::words::Lang::Zh => &ZH,
                }
            }
        }
    };
}
pub(crate) use words;

words! { Words {
    name: "Pharos", "灯塔";
    description: "Search with Pharos", "用灯塔搜索";
    language: "Language", "语言";
    theme: "Colours", "配色";
    theme_auto: "Auto", "自动";
    theme_light: "Light", "浅色";
    theme_dark: "Dark", "深色";
    about: "About this engine", "关于本引擎";
    hot: "Hot searches", "热搜榜";
    help: "Help", "帮助";
    privacy: "Privacy", "隐私";
    webmasters: "For webmasters", "站长";
    search: "Search", "搜索";
    search_label: "Words to search for", "要搜索的词";
    to_home: "To the search page", "回到首页";
    to_search: "Back to the results", "返回搜索结果";

    pages_one: "1 page to search", "可搜索 1 个网页";
    pages_many: "{} pages to search", "可搜索 {} 个网页";
    empty_index_title: "Nothing to search yet", "还没有可以搜索的网页";
    empty_index_text: "Pages can be found seconds after they are fetched. Begin with a site of yours:",
        "网页抓取几秒之后就能搜到。先抓取一个网站：";

    found_one: "1 result", "1 条结果";
    found_exact: "{} results", "{} 条结果";
    found_about: "About {} results", "约 {} 条结果";
    found_page: "page {} of {}", "第 {} 页，共 {} 页";
    milliseconds: "{} ms", "{} 毫秒";
    seconds: "{} s", "{} 秒";
    understood: "How the query was understood", "对查询的理解";
    results: "Results", "搜索结果";
    filters: "Filters", "筛选";
    any_time: "Any time", "时间不限";
    time_day: "Past day", "一天内";
    time_week: "Past week", "一周内";
    time_month: "Past month", "一个月内";
    time_year: "Past year", "一年内";
    any_language: "Any language", "语言不限";
    any_site: "Any site", "网站不限";
    any_type: "Any type", "类型不限";
    any_category: "Any subject", "类别不限";
    type_html: "Web pages", "网页";
    sort_newest: "Newest first", "最新在前";
    sort_best: "Best first", "最相关在前";
    no_filters: "Search without filters", "取消筛选再搜索";
    similar: "Similar pages", "相似网页";
    related: "Related searches", "相关搜索";
    corrected: "Did you mean", "您是不是要找";
    relaxed: "No page has all of these words. These have some of them.",
        "没有同时包含所有词的网页，以下网页包含其中一部分。";
    partial: "Time ran out: there may be more than is shown.", "时间有限，可能还有更多结果没有列出。";
    snapshot: "Snapshot", "网页快照";
    more_from_site: "{} more from this site", "该网站还有 {} 条结果";
    duplicates_one: "1 copy not shown", "1 个相同页面未显示";
    duplicates_many: "{} copies not shown", "{} 个相同页面未显示";
    result_pages: "Result pages", "结果分页";
    previous: "Previous", "上一页";
    next: "Next", "下一页";

    nothing_title: "No page matches: {}", "没有找到相符的网页：{}";
    tip_fewer: "Use fewer words: every one of them has to be on the page.", "减少词的数量：网页须包含每一个词。";
    tip_other: "Try other words for the same thing, and look at the spelling.", "换一种说法，并检查有没有错别字。";
    tip_language: "Try another language: Chinese words find Chinese pages.", "换一种语言：用英文词可以找到英文网页。";
    tip_submit: "Is a page missing? Submit its address.", "缺少某个网页？提交它的地址。";
    beyond_title: "There is no page {} of results", "结果没有第 {} 页";
    beyond_text: "The results end before that.", "结果在此之前就结束了。";
    first_page: "First page", "第一页";
    last_page: "Last page", "最后一页";

    snapshot_stored: "This is our copy of the page, stored on {}. The page itself may have changed since.",
        "这是我们在 {} 保存的网页副本，网页现在的内容可能已有变化。";
    snapshot_unchanged: "It was still the same on {}.", "到 {} 仍无变化。";
    snapshot_live: "The page itself:", "原网页：";
    snapshot_view: "View", "查看方式";
    snapshot_layout: "Layout", "原版式";
    snapshot_text: "Text", "纯文本";
    snapshot_versions: "Versions", "历史版本";
    snapshot_all_versions: "All {} versions", "全部 {} 个版本";
    snapshot_more_versions: "and {} older ones", "另有 {} 个更早的版本";
    snapshot_let_go: "no longer kept", "已不再保存";
    snapshot_same_until: "the same until {}", "至 {} 无变化";
    snapshot_next: "next occurrence", "下一处";
    no_version_title: "There is no such version of this page", "没有这个网页的这个版本";
    no_version_text: "Nothing was stored of it by then, or it is no longer kept. The newest one is here:",
        "当时还没有保存它，或者那个版本已不再保存。最新的版本在这里：";
    snapshot_words: "Your words:", "查询词：";
    snapshot_absent: "not on the page itself", "网页正文中没有这个词";
    snapshot_empty: "There is nothing in this file that can be shown here.", "这个文件没有可以在此显示的内容。";
    stored_page: "The stored page", "保存的网页";
    not_in_library_title: "This page is not in the library", "网页库中没有这个网页";
    not_in_library_text: "It was never stored, or it has been taken out.", "它没有被保存过，或者已经被移除。";
    withheld_title: "This page asks that no copy of it is shown", "这个网页要求不显示其副本";
    withheld_text: "Please look at the page itself:", "请直接查看原网页：";

    clean: "Cleaned view", "净化视图";
    clean_label: "Address of a stored page", "已保存网页的地址";
    clean_show: "Show", "查看";
    clean_ask_title: "A page before and after cleaning", "网页净化前后";
    clean_ask_text: "Give the address of a page in the library. On the left you see the page as it was, each line in the \
        colour of what it is for; on the right, what is left of it: that is what is searched.",
        "请输入网页库中一个网页的地址。左边是原网页，每一行按用途着色；右边是净化后留下的内容，也就是用来搜索的内容。";
    clean_missing_text: "This has the next crawl, or the one that runs, fetch it:", "用下面的命令，让正在运行或下一次的抓取取回它：";
    clean_no_html_title: "There is nothing to clean in this file", "这个文件不需要净化";
    clean_no_html_text: "It is no HTML page.", "它不是 HTML 网页。";
    clean_original: "The page as it was", "原网页";
    clean_cleaned: "After cleaning", "净化后";
    clean_empty: "Nothing is left of it.", "没有留下任何内容。";
    clean_kept: "Lines kept", "保留的行";
    clean_removed: "Lines removed", "去除的行";
    clean_lines_cut: "The page goes on; these are its first {} of {} lines.", "网页较长，这里是前 {} 行，共 {} 行。";
    clean_unexplained: "The page is too large to say why each line stayed or went.", "网页太大，不逐行说明去留的原因。";
    kind_body: "Body", "正文";
    kind_related: "Related links", "相关链接";
    kind_navigation: "Navigation", "导航";
    kind_advertisement: "Advertisement", "广告";
    kind_copyright: "Copyright", "版权";
    kind_form: "Form", "表单";
    kind_comment: "Comment", "评论";
    kind_other: "Other", "其他";
    why: "The sum of the rules’ scores decides: from {} on a line is body.", "由各规则得分之和决定：达到 {} 的行是正文。";
    why_rule: "rule {}: {}", "规则 {}：{}";
    why_more: "and {} more lines", "另有 {} 行";
    fact_type: "Type", "类型";
    type_topic: "topic page", "主题型网页";
    type_hub: "hub page", "枢纽型网页";
    type_picture: "picture page", "图片型网页";
    in_english: "English", "英文";
    in_chinese: "Chinese", "中文";
    fact_charset: "Charset", "字符集";
    fact_published: "Published", "发布日期";
    fact_author: "Author", "作者";
    fact_keywords: "Keywords", "关键词";
    fact_bytes: "Bytes", "字节数";
    bytes_before_after: "{} before, {} after", "净化前 {}，净化后 {}";
    fact_errors: "HTML errors", "HTML 错误";
    fact_stored: "Stored", "保存日期";

    hot_day: "Most searched today", "今日热搜";
    hot_rising: "Rising", "上升最快";
    hot_hour: "In the last hour", "最近一小时";
    hot_empty_title: "Nothing to show yet", "暂时没有内容";
    hot_empty_text: "When several people search for the same thing, it appears here: what is searched most, what rises, and \
        how busy each hour was.", "当几位访问者搜索了相同的内容，这里就会列出：最热的、上升最快的，以及每小时的搜索量。";
    hot_rule: "Only what at least {} visits searched for is shown.", "只显示至少 {} 次访问搜索过的内容。";
    hours: "Searches by hour", "每小时搜索量";
    hours_ago: "{} hours ago: {}", "{} 小时前：{}";
    now: "now", "现在";
    hours_told: "{} searches in the last 24 hours, {} in the busiest one", "最近 24 小时共 {} 次搜索，最多的一小时有 {} 次";

    help_title: "How to search", "怎样搜索";
    keys_title: "Keys", "快捷键";
    keys_off: "Turn keys off", "关闭快捷键";
    keys_on: "Turn keys on", "开启快捷键";

    privacy_title: "What is written down about your visit", "关于您的访问记录了什么";
    privacy_written: "What is searched for, what was shown for it and what was clicked is written down, to improve results and \
        suggestions. Your address is not.", "我们记录搜索的词、显示的结果和点击，用来改进结果和建议；不记录您的网络地址。";
    privacy_visit: "Searches of one visit are told apart from others by a number made with a secret key, which is thrown away \
        after {}. Nobody can link them afterwards.", "同一次访问的搜索用密钥生成的编号区分，密钥在 {} 后丢弃，此后无法再关联。";
    privacy_digits: "{} digits or more in a row (telephones, identity cards) are deleted from what you typed before it is \
        written.", "输入内容中连续 {} 位以上的数字（电话、证件号）在记录前删除。";
    privacy_clicks: "Clicks are told by a small script, with the name of the result page and the place of the link, without \
        any detour of the link. Turn scripts off and no click is told.", "点击由一小段脚本告知：只含结果页编号和位置，链接不经过跳转。关闭脚本则不记录点击。";
    privacy_hot: "Lists of hot searches and suggestions show only what at least {} visits searched for.",
        "热搜榜和搜索建议只显示至少 {} 次访问搜索过的内容。";
    privacy_access: "Of each request the time, the kind of page and how it was answered are written down.",
        "每个请求记录时间、页面种类和应答情况。";
    privacy_kept: "All of this is removed after {}.", "所有记录在 {} 后删除。";
    privacy_for_ever: "This engine keeps it until its operator removes it.", "记录保留到管理员删除为止。";
    privacy_nothing: "Nothing: this engine is set up to write nothing down.", "什么都不记录：本引擎设置为不写日志。";
    privacy_cookies: "Cookies hold your choice of language, colours and keys, once you choose, and nothing else.",
        "Cookie 只保存您选择的语言、配色和快捷键，不选择就没有。";
    privacy_others: "Pages of this engine load nothing from anybody else, and sites that you visit from here are not told what \
        you searched for.", "本引擎的页面不从其他网站加载任何内容；您从这里访问的网站不会得知您搜索了什么。";

    not_found_title: "There is no such page here", "这里没有这个页面";
    not_found_text: "The address may be mistyped.", "地址可能有误。";
    refused_title: "This request cannot be answered", "无法回应这个请求";
    refused_text: "It asks in a way that is not understood here.", "请求的方式不正确。";
    failed_title: "Something went wrong on our side", "我们这边出了问题";
    failed_text: "The request could not be finished. Please try again; the log says what happened.",
        "请求没有完成，请再试一次。具体原因记录在日志中。";
    too_many_title: "Too many requests", "请求过于频繁";
    too_many_text: "So many requests came from your address that this one has to wait. Please try again in a while.",
        "来自您所在地址的请求过多，请稍后再试。";
    busy_title: "This took too long", "用时过长";
    busy_text: "The engine is busy at the moment. Please try again in a few seconds.", "引擎正忙，请过几秒再试。";

    feed_description: "Search results for: {}", "搜索结果：{}";

    api_title: "API", "API";
    api_intro: "Everything that the pages show, for programs. All of it, with every field, stands in one document:",
        "网页上能看到的一切，都可供程序使用。完整的说明在这份文档里：";
    api_list: "What can be asked", "接口列表";
    api_stop: ".", "。";
    api_keys_title: "Keys", "密钥";
    api_keys_needed: "A key is needed, except for suggestions, hot queries, clicks and the document. Send it in a header:",
        "除提示词、热门查询、点击和文档之外，都需要密钥，请放在请求头中：";
    api_keys_none: "None is needed.", "不需要密钥。";
    api_cors_title: "Other sites (CORS)", "其他网站（CORS）";
    api_cors_none: "Pages of other sites cannot read the answers in a browser; programs can.",
        "其他网站的网页不能在浏览器中读取结果；程序可以。";
    api_cors_all: "Pages of all sites may read the answers in a browser, without cookies.",
        "所有网站的网页都可以在浏览器中读取结果，不带 Cookie。";
    api_cors_some: "Pages of these sites may read the answers in a browser, without cookies: {}",
        "以下网站的网页可以在浏览器中读取结果，不带 Cookie：{}";
    api_errors_title: "Errors", "错误";
    api_errors: "What did not work, and what to do, comes as a problem document (RFC 9457):",
        "出错的原因和处理办法以问题文档（RFC 9457）给出：";
    api_limits_title: "Limits", "限制";
    api_limits: "{} requests a second for each address on average. Who asks more is told with 429, and with 503 when the \
        engine is busy; Retry-After says after how many seconds to come back.",
        "每个地址平均每秒 {} 次请求。超过时返回 429，引擎繁忙时返回 503；Retry-After 给出多少秒后再试。";
    api_limits_key: "{} requests a second for each key on average. Who asks more is told with 429, and with 503 when the \
        engine is busy; Retry-After says after how many seconds to come back.",
        "每个密钥平均每秒 {} 次请求。超过时返回 429，引擎繁忙时返回 503；Retry-After 给出多少秒后再试。";
    api_limits_none: "None but what the machine can do: when it is busy it says so with 503, and Retry-After says after how \
        many seconds to come back.",
        "没有固定限制；引擎繁忙时返回 503，Retry-After 给出多少秒后再试。";
    api_formats_title: "Formats", "格式";
    api_formats: "Result pages come in other forms, too, with the fields that SearXNG gives them:",
        "结果页还有其他格式，字段与 SearXNG 相同：";
    api_parameters: "Parameters", "参数";
    api_required: "needed", "必需";
    api_number: "whole number, {} to {}", "整数，{} 到 {}";
    api_text: "text", "文本";
    api_answers: "Answers", "返回";
    api_try: "Try it", "试一试";

    bot_title: "Our crawler", "我们的爬虫";
    bot_intro: "For those whose pages it reads: how it behaves, how to keep it away, and what it knows of a page.",
        "写给网站管理员：爬虫如何抓取、如何拒绝抓取，以及它对某个网页知道些什么。";
    bot_agent: "Name (User-Agent)", "名称（User-Agent）";
    bot_token: "In robots.txt", "在 robots.txt 中";
    bot_contact: "Contact", "联系方式";
    bot_no_contact: "Whoever runs this engine has not said.", "本引擎的运营者没有提供。";
    bot_manners_title: "How it behaves", "抓取方式";
    bot_robots: "It reads robots.txt before anything else, does what it says (RFC 9309), and reads it again after {} at the \
        latest. Where robots.txt cannot be had because the server is in trouble, it does not ask for pages.",
        "先读取 robots.txt 并遵守其规定（RFC 9309），最迟 {} 后重新读取。服务器故障、读不到 robots.txt 时，不抓取网页。";
    bot_wait: "Between two requests to a site it waits for {} by day and {} by night, or {} times as long as the last \
        answer took, whichever is longer.",
        "对同一网站的两次请求之间，白天至少等待 {}，夜间至少等待 {}，或者等待上次响应时间的 {} 倍，取其中较长者。";
    bot_no_wait: "It does not wait between requests: this engine is set up for servers of its own.",
        "两次请求之间不等待：本引擎只为自己的服务器而设置。";
    bot_at_once: "Requests to one server at the same time: {}", "对同一服务器同时进行的请求数：{}";
    bot_delay: "It honours Crawl-delay up to {}.", "遵守 Crawl-delay，最长 {}。";
    bot_per_day: "Pages of one site in a day, at most: {}", "每个网站每天最多抓取的网页数：{}";
    bot_patience: "When a server answers 429 or 503 it leaves it alone for as long as Retry-After says.",
        "服务器返回 429 或 503 时，按 Retry-After 的要求暂停抓取。";
    bot_again: "It visits no page more often than every {}.", "同一网页的访问间隔不短于 {}。";
    bot_block_title: "How to keep it away", "如何拒绝抓取";
    bot_block_all: "From all pages, or some, in robots.txt:", "在 robots.txt 中拒绝抓取全部或部分网页：";
    bot_block_page: "From one page, in the page or in a header of the answer:", "在网页中或响应头中针对单个网页声明：";
    bot_block_rules: "It obeys noindex, nofollow, none, noarchive (no snapshot), nosnippet, max-snippet and data-nosnippet, \
        and rel=nofollow on links.",
        "遵守 noindex、nofollow、none、noarchive（不提供快照）、nosnippet、max-snippet、data-nosnippet，以及链接上的 rel=nofollow。";
    bot_remove_title: "How to have a page removed", "如何移除网页";
    bot_remove: "Have your server answer 404 or 410 for it, or let it say noindex: it leaves the index when it is visited \
        next. For everything else, and when there is no time for that, please write to the address above.",
        "让服务器对该网页返回 404 或 410，或在网页中声明 noindex，下次访问后它就会从索引中移除。其他情况，或者需要尽快处理时，请与上面的联系人联系。";
    bot_ask_title: "Is my page in the index?", "我的网页在索引中吗？";
    bot_ask_label: "Address of the page", "网页地址";
    bot_ask: "Look", "查询";
    bot_submit: "Submit it", "提交这个网页";
    bot_no_address: "This is no address of a page. Please write it in full, as in https://www.example.org/",
        "这不是网页地址，请完整填写，例如 https://www.example.org/";
    bot_found: "Yes, it can be found.", "在，可以搜到。";
    bot_since: "We have known of it since {}; our copy is from {}.", "我们从 {} 起知道这个网页，保存的副本来自 {}。";
    bot_fetched: "Our copy is from {}.", "保存的副本来自 {}。";
    bot_same: "Other pages say exactly the same. A search shows one of them.", "有内容完全相同的其他网页，搜索时只显示其中一个。";
    bot_waiting: "Not yet: we know of it, and it waits for its turn.", "还没有：我们知道这个网页，正在排队等待抓取。";
    bot_waiting_robots: "Not yet: your server’s robots.txt could not be had when we asked for it on {}, and without it no page \
        is asked for.",
        "还没有：我们在 {} 请求 robots.txt 时没有成功；读不到它，就不抓取任何网页。";
    bot_waiting_patience: "Not yet: your server asked for patience until {}.", "还没有：您的服务器要求我们等到 {} 之后。";
    bot_copy: "No: its site shows the same pages as another that we know. They are fetched and found there.",
        "不在：这个网站与我们已知的另一个网站内容相同，网页在那里抓取和搜索。";
    bot_robots_refused: "No: your robots.txt forbids it.", "不在：您的 robots.txt 禁止抓取。";
    bot_rule: "The rule is:", "规则是：";
    bot_refused: "No: by the rules of this engine it is not fetched.", "不在：按照本引擎的规则，不抓取这个网页。";
    bot_status: "No: your server answered {} when we asked for it on {}.", "不在：您的服务器返回了 {}，那是在 {}。";
    bot_redirect: "No: your server sent us to another address when we asked for it on {}. That page is found instead.",
        "不在：我们在 {} 请求时，您的服务器转向了另一个地址，可以搜到的是那个网页。";
    bot_noindex: "No: it asks not to be found (noindex). We last read it on {}.", "不在：网页要求不被收录（noindex）。我们上次读取是在 {}。";
    bot_nothing: "No: when we read it on {} there was nothing in it to be found by.", "不在：我们在 {} 读取时，其中没有可供搜索的内容。";
    bot_soon: "Not yet: we fetched it on {}, and it is about to be indexed.", "还没有：我们在 {} 抓取了它，即将编入索引。";
    bot_no_name: "No: the name of its server could not be found on {}.", "不在：{} 时没有找到该服务器的域名。";
    bot_too_slow: "No: your server took too long to answer on {}.", "不在：{} 时您的服务器响应过慢。";
    bot_no_tls: "No: no secure connection to your server came about on {}; its certificate may be at fault.",
        "不在：{} 时未能与您的服务器建立安全连接，可能是证书有问题。";
    bot_no_answer: "No: your server did not answer on {}.", "不在：{} 时您的服务器没有响应。";
    bot_gone: "No: it is gone, as far as we were told.", "不在：据我们所知，它已经不存在了。";
    bot_unknown: "No: we never heard of it.", "不在：我们没有听说过这个网页。";
    bot_again_soon: "It will be tried again by itself.", "我们之后会自动再试。";

    submit_proposed: "Thank you. Somebody will look at it and decide whether it is fetched.", "谢谢。我们会有人查看并决定是否抓取。";
    submit_queued: "Thank you. It is fetched when its turn comes, if robots.txt allows it.",
        "谢谢。如果 robots.txt 允许，轮到时就会抓取。";
    submit_before: "It was submitted before and waits for a decision.", "这个网页之前已经提交过，正在等待处理。";
    submit_known: "It is known already: ask above how it stands.", "这个网页已经收录在案，可在上面查询它的状况。";
    submit_declined: "This address is not taken here.", "这里不接受这个地址。";
    submit_off: "Addresses cannot be submitted here.", "这里不接受提交网址。";
    submit_out_of_reach: "This address is not fetched: it is no page, or not on the public internet.",
        "不抓取这个地址：它不是网页，或者不在公共互联网上。";
    submit_too_often: "You have submitted many addresses. Please wait a while.", "您提交的网址较多，请过一段时间再试。";
    submit_full: "Many submissions wait for a decision. Please try again later.", "等待处理的提交较多，请稍后再试。";
    submit_other_site: "This form was sent by a page of another site, and was not taken.", "这个表单来自其他网站的网页，没有受理。";

    time_seconds: "{} s", "{} 秒";
    time_minutes: "{} min", "{} 分钟";
    time_hours: "{} h", "{} 小时";
    time_days: "{} days", "{} 天";
} }

impl Words {
    /// What to do when nothing was found.
    /// One word cannot become fewer.
    pub(crate) fn tips(&self, query: &str) -> Vec<&'static str> {
        let several = query.split_whitespace().nth(1).is_some();
        let fewer = several.then_some(self.tip_fewer);
        fewer.into_iter().chain([self.tip_other, self.tip_language]).collect()
    }

    /// How many pages there are.
    pub(crate) fn pages(&self, count: u64) -> String {
        if count == 1 { self.pages_one.to_string() } else { fill(self.pages_many, &[&grouped(count)]) }
    }

    /// How many results there are.
    pub(crate) fn found(&self, count: u64, exact: bool) -> String {
        match (count, exact) {
            (1, true) => self.found_one.to_string(),
            (_, true) => fill(self.found_exact, &[&grouped(count)]),
            (_, false) => fill(self.found_about, &[&grouped(count)]),
        }
    }

    /// How many copies are hidden.
    pub(crate) fn duplicates(&self, count: u64) -> String {
        if count == 1 {
            self.duplicates_one.to_string()
        } else {
            fill(self.duplicates_many, &[&grouped(count)])
        }
    }

    /// A length of time in the largest unit that it is a whole number of.
    pub(crate) fn span(&self, span: Duration) -> String {
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

    /// How long it took.
    pub(crate) fn time(&self, millis: f64) -> String {
        match millis {
            m if m >= 1000.0 => fill(self.seconds, &[&format!("{:.1}", m / 1000.0)]),
            m if m >= 10.0 => fill(self.milliseconds, &[&format!("{m:.0}")]),
            m => fill(self.milliseconds, &[&format!("{:.1}", m.max(0.0))]),
        }
    }
}

/// Puts values where the phrase has `{}`. Values are not searched for further `{}`.
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

/// `1234567` as `1,234,567`.
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

/// Every phrase of a table is there in every language, with as many places for values.
#[cfg(test)]
pub(crate) fn assert_same_places(table: &[(&str, &str, &str)]) {
    for (key, en, zh) in table {
        assert!(!en.is_empty() && !zh.is_empty(), "{key}");
        assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{key}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_has_the_same_places_for_values_in_every_language() {
        assert_same_places(TABLE);
    }

    #[test]
    fn numbers_dates_and_times_are_written_for_people() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(Lang::En.date("2026-01-31"), "31 Jan 2026");
        assert_eq!(Lang::Zh.date("2026-01-31"), "2026年1月31日");
        let moment = Timestamp::parse("2026-01-31T08:05:59Z").unwrap();
        assert_eq!(Lang::En.moment(moment), "31 Jan 2026, 08:05 UTC");
        assert_eq!(Lang::Zh.moment(moment), "2026年1月31日 08:05 UTC");
        for odd in ["", "yesterday", "2026-13-01", "2026-01-31T00:00", "2026-01-31-5"] {
            assert_eq!(Lang::En.date(odd), odd);
        }
        assert_eq!(EN.found(1, true), "1 result");
        assert_eq!(EN.found(12_345, false), "About 12,345 results");
        assert_eq!(ZH.found(3, true), "3 条结果");
        assert_eq!(EN.time(0.42), "0.4 ms");
        assert_eq!(EN.time(f64::NAN), "0.0 ms");
        assert_eq!(ZH.time(1234.0), "1.2 秒");
        let spans = [0, 1, 59, 60, 90, 3600, 86_400, 7 * 86_400].map(|s| EN.span(Duration::from_secs(s)));
        assert_eq!(spans, ["0 s", "1 s", "59 s", "1 min", "90 s", "1 h", "24 h", "7 days"]);
        assert_eq!(ZH.span(Duration::from_millis(1500)), "1.5 秒");
    }

    #[test]
    fn values_are_taken_as_they_are() {
        assert_eq!(fill("a {} b {}", &["{}", "x"]), "a {} b x");
        assert_eq!(fill("a {} b {}", &[]), "a  b ");
    }
}
