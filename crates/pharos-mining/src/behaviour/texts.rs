//! Titles, labels and explanations of the report, in English and Chinese.

/// Language of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportLang {
    #[default]
    En,
    Zh,
}

/// Returns the text of a key. Keys without a text, such as ranges of numbers, are their own text.
pub fn text(key: &'static str, lang: ReportLang) -> &'static str {
    find(key).map_or(key, |(_, en, zh)| match lang {
        ReportLang::En => *en,
        ReportLang::Zh => *zh,
    })
}

/// Returns the text of `key` with a suffix, such as `-about`, if it has one.
pub fn text_of(key: &str, suffix: &str, lang: ReportLang) -> Option<&'static str> {
    let (_, en, zh) = TEXTS.iter().find(|(name, ..)| name.strip_suffix(suffix) == Some(key))?;
    Some(match lang {
        ReportLang::En => en,
        ReportLang::Zh => zh,
    })
}

/// Returns the row of a key.
pub(super) fn find(key: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    TEXTS.iter().find(|(name, ..)| *name == key)
}

#[rustfmt::skip]
const TEXTS: &[(&str, &str, &str)] = &[
    ("report", "User behaviour", "用户行为报告"),
    ("period", "Period: {} – {}", "时段：{} – {}"),
    ("undated", "The log contains times of day without dates: weekdays and days are missing.", "日志只有时刻，没有日期，因此缺少星期和天数。"),
    ("source", "Source", "出处"),
    ("read", "{} queries, {} impressions and {} clicks were read.", "读取了 {} 条查询、{} 条展示和 {} 条点击。"),
    ("invalid", "{} invalid lines or incomplete rows were skipped.", "跳过了 {} 行无效或不完整的记录。"),
    ("dropped", "{} records exceed the memory limits and are missing.", "有 {} 条记录超出内存限制，未计入。"),
    ("orphans", "{} clicks belong to searches that are not in the log.", "有 {} 次点击找不到对应的查询。"),
    ("clock-jumps", "The clock went back {} times: distances and sessions may be wrong there.", "时钟倒退了 {} 次，相应位置的间隔和会话可能不准确。"),
    ("future", "{} records are dated in the future.", "有 {} 条记录的时间在未来。"),

    ("no-queries", "The log has no queries.", "日志中没有查询。"),
    ("no-clicks", "The log has no clicks.", "日志中没有点击。"),
    ("no-impressions", "The log does not record the results shown.", "日志没有记录展示的结果。"),
    ("no-suggestions", "The log has no suggestions.", "日志中没有搜索建议。"),
    ("no-page-numbers", "The log does not record result page numbers.", "日志没有记录结果页码。"),
    ("no-visits", "The log does not distinguish visits.", "日志没有区分访问。"),
    ("no-index", "A log file alone does not say this: it needs the index of a data directory.", "单独的日志文件无法得出，需要数据目录中的索引。"),
    ("no-clicks-on-pages", "No page of the index was clicked.", "索引中的网页没有被点击过。"),
    ("no-known-terms", "No query contains a term of the index.", "没有查询包含索引中的词项。"),
    ("too-short", "The log is too short.", "日志太短。"),

    ("overview", "Overview", "概况"),
    ("queries", "Queries", "查询数"),
    ("distinct-queries", "Distinct queries", "不同的查询"),
    ("result-pages", "Result pages viewed", "浏览的结果页"),
    ("visits", "Visits", "访问数"),
    ("clicks", "Clicks", "点击数"),
    ("notices", "Notices of operators shown", "展示的管理员提示"),
    ("days", "Days", "天数"),
    ("share-without-results", "Share without results", "无结果的比例"),

    ("concentration", "Concentration", "查询的集中程度"),
    ("concentration-about", "The most frequent share x of the distinct queries makes up the share y of all queries. The curve y = (a + b·x)^c is fitted.",
        "最常见的不同查询（比例 x）占全部查询的比例 y，并拟合曲线 y = (a + b·x)^c。"),
    ("share-of-top-fifth", "Share of the top 20 % of queries", "前 20 % 查询所占比例"),
    ("fit-a", "a", "a"), ("fit-b", "b", "b"), ("fit-c", "c", "c"),
    ("r-squared", "Goodness of fit, R²", "拟合优度 R²"),
    ("cumulative-share", "Cumulative share of queries", "查询的累计比例"),

    ("query-length", "Query length", "查询长度"),
    ("mean-characters", "Mean length in characters", "平均字符数"),
    ("mean-words", "Mean length in words", "平均词数"),
    ("length-characters", "Queries by characters", "按字符数"),
    ("length-words", "Queries by words", "按词数"),

    ("operators", "Operators", "查询语法"),
    ("any-operator", "Any operator", "使用任一语法"),
    ("phrase", "Phrase", "短语"), ("exclude", "Excluded word", "排除词"), ("or", "Alternative (OR)", "或（OR）"),
    ("field", "Field (site:, title: …)", "字段（site:、title: 等）"), ("required", "Required word (+)", "必含词（+）"),

    ("origin", "Origin of queries", "查询来源"),
    ("query-origin", "Queries by origin", "按来源"),
    ("typed", "typed", "输入"), ("suggested", "suggestion", "建议"), ("related", "related", "相关"),
    ("corrected", "correction", "纠错"), ("hot", "hot list", "热门"), ("link", "link", "外链"),

    ("suggestions", "Use of suggestions", "搜索建议的使用"),
    ("suggestion-lists", "Lists shown", "展示次数"),
    ("suggestions-selected", "Queries selected", "选用次数"),
    ("share-selected", "Share of all queries", "占全部查询的比例"),
    ("keystrokes-saved", "Share of characters not typed", "省去输入的字符比例"),

    ("page-turns", "Page turns", "翻页"),
    ("share-first-five-pages", "Share of result pages 1 to 5", "前 5 页所占比例"),
    ("page-views", "Share of views by result page", "各结果页的浏览比例"),

    ("clicked-ranks", "Clicked ranks", "点击的排名"),
    ("share-rank-one", "Share of rank 1", "第 1 名所占比例"),
    ("share-first-ten-ranks", "Share of ranks 1 to 10", "前 10 名所占比例"),
    ("click-ranks", "Share of clicks by rank", "各名次的点击比例"),

    ("position-bias", "Position bias", "位置偏差"),
    ("position-bias-about", "Users look at the top first, whatever is there. The compensation is the factor that makes clicks at different ranks comparable.",
        "无论内容如何，用户总是先看靠前的结果。补偿系数使不同名次的点击可以比较。"),
    ("share-of-searches-with-clicks", "Share of searches with clicks", "有点击的查询比例"),
    ("click-rate-by-rank", "Click-through rate by rank", "各名次的点击率"),
    ("first-clicks-by-rank", "Share of first clicks by rank", "各名次的首次点击比例"),
    ("position-compensation", "Compensation by rank", "各名次的补偿系数"),

    ("clicked-urls", "Clicked pages", "点击的网页"),
    ("distinct-urls", "Distinct pages", "不同的网页"),
    ("share-clicked-once", "Share clicked once", "只点击过一次的比例"),
    ("clicks-of-top-third", "Clicks on the top third", "前三分之一网页的点击比例"),
    ("cumulative-clicks", "Cumulative share of clicks", "点击的累计比例"),

    ("click-agreement", "Agreement of clicks between queries", "各查询点击的一致程度"),
    ("click-agreement-about", "Cosine between the clicks of one query and the clicks of all queries on the same pages. Above 0.8, a cache of clicks by page alone suffices.",
        "某一查询的点击与全部查询在相同网页上的点击之间的余弦。高于 0.8 时，只按网页缓存点击即可。"),
    ("mean-cosine", "Mean cosine", "平均余弦"),
    ("share-above-0.8", "Share above 0.8", "高于 0.8 的比例"),
    ("click-cosines", "Cosines of the most clicked queries, sorted", "点击最多的查询的余弦（排序后）"),

    ("repetition", "Repetition", "查询的重复"),
    ("share-repeated", "Share of repeated queries", "重复查询的比例"),
    ("first-group-without-repetition", "First group of 1,000 without a query of the first group", "不再出现第一组查询的首个千条组"),
    ("repetition-distance", "Share of repetitions by distance in queries", "按间隔查询数的重复比例"),
    ("repetition-decay", "Queries of the first 1,000 found in later groups", "前 1,000 条查询在以后各组中的出现数"),

    ("neighbour-deviation", "Deviation of neighbouring groups", "相邻组的偏差"),
    ("mean-deviation", "Mean squared deviation", "平均平方偏差"),
    ("deviations", "Deviation between neighbouring groups of 1,000", "相邻千条组之间的偏差"),

    ("autocorrelation", "Autocorrelation", "自相关"),
    ("lag-one", "At distance 1", "间隔 1"),
    ("autocorrelations", "Autocorrelation of distinct queries per group of 500", "每 500 条中不同查询数的自相关"),

    ("hurst", "Self-similarity (Hurst exponent)", "自相似性（Hurst 指数）"),
    ("hurst-about", "Slope of ln(R/S) over ln n. Between 0.5 and 1 the stream of queries is self-similar; above 0.7 strongly.",
        "ln(R/S) 对 ln n 的斜率：在 0.5 与 1 之间表示查询流自相似，高于 0.7 表示很强。"),
    ("hurst-500", "Groups of 500", "每组 500 条"), ("hurst-1000", "Groups of 1,000", "每组 1,000 条"), ("hurst-2000", "Groups of 2,000", "每组 2,000 条"),
    ("range-500", "ln(R/S) over ln n, groups of 500", "ln(R/S) 与 ln n（每组 500 条）"),
    ("range-1000", "ln(R/S) over ln n, groups of 1,000", "ln(R/S) 与 ln n（每组 1,000 条）"),
    ("range-2000", "ln(R/S) over ln n, groups of 2,000", "ln(R/S) 与 ln n（每组 2,000 条）"),

    ("visited-pages", "Visited pages", "被访问的网页"),
    ("visited-pages-about", "Share of pages that were clicked, and the squared difference between a property and the clicks: the smaller, the better the property predicts clicks.",
        "被点击过的网页比例，以及网页属性与点击之间的平方差：越小，该属性越能预测点击。"),
    ("pages", "Pages", "网页数"),
    ("share-visited", "Share visited", "被访问的比例"),
    ("difference-in-degree", "Squared difference, in-degree", "平方差：入度"),
    ("difference-copies", "Squared difference, copies", "平方差：镜像数"),
    ("difference-uniform", "Squared difference, all alike", "平方差：一律相同"),
    ("home-pages", "Home pages", "首页数"),
    ("home-difference-in-degree", "Home pages: in-degree", "首页：入度"),
    ("home-difference-copies", "Home pages: copies", "首页：镜像数"),
    ("home-difference-uniform", "Home pages: all alike", "首页：一律相同"),
    ("visited-by-in-degree", "Visited share by in-degree", "按入度的访问比例"),
    ("visited-by-copies", "Visited share by copies", "按镜像数的访问比例"),
    ("visited-by-depth", "Visited share by depth", "按深度的访问比例"),

    ("term-frequency", "Frequency of query terms", "查询词项的频率"),
    ("mean-term-share", "Mean share of documents with a query term", "含查询词项的网页的平均比例"),

    ("sessions", "Sessions", "会话"),
    ("goals", "Goals", "目标数"),
    ("searches-per-session", "Searches per session", "每次会话的查询数"),
    ("session-steps", "Steps", "查询的改写"),
    ("new", "new", "新目标"), ("specialise", "special", "收窄"), ("generalise", "general", "放宽"), ("correct", "correct", "纠错"),
    ("rephrase", "rephrase", "换词"), ("repeat", "repeat", "重复"), ("page-turn", "page turn", "翻页"),
    ("session-endings", "Endings of goals", "目标的结局"),
    ("satisfied", "satisfied", "满意"), ("unsatisfied", "unsatisfied", "不满意"), ("abandoned", "abandoned", "放弃"), ("unknown", "unknown", "未知"),

    ("times", "Times", "时间分布"),
    ("hours", "Searches by hour", "按小时"),
    ("weekdays", "Searches by weekday", "按星期"),
    ("mon", "Mon", "一"), ("tue", "Tue", "二"), ("wed", "Wed", "三"), ("thu", "Thu", "四"), ("fri", "Fri", "五"), ("sat", "Sat", "六"), ("sun", "Sun", "日"),
];
