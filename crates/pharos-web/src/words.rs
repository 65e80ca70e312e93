//! Every word the pages say, in every language they say it in.

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
        match self {
            Self::En => &EN,
            Self::Zh => &ZH,
        }
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

/// Declares the table: one line per phrase, one column per language. `{}` is where values go.
macro_rules! words {
    ($( $key:ident: $en:literal, $zh:literal; )+) => {
        /// The phrases of one language.
        pub(crate) struct Words { $( pub(crate) $key: &'static str, )+ }
        const EN: Words = Words { $( $key: $en, )+ };
        const ZH: Words = Words { $( $key: $zh, )+ };
        #[cfg(test)]
        const TABLE: &[(&str, &str, &str)] = &[ $( (stringify!($key), $en, $zh), )+ ];
    };
}

words! {
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
    days: "{} days", "{} 天";
    hours_long: "{} hours", "{} 小时";

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
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_has_the_same_places_for_values_in_every_language() {
        for (key, en, zh) in TABLE {
            assert!(!en.is_empty() && !zh.is_empty(), "{key}");
            assert_eq!(en.matches("{}").count(), zh.matches("{}").count(), "{key}");
        }
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
    }

    #[test]
    fn values_are_taken_as_they_are() {
        assert_eq!(fill("a {} b {}", &["{}", "x"]), "a {} b x");
        assert_eq!(fill("a {} b {}", &[]), "a  b ");
    }
}
