//! Texts of the pages about user behaviour.

use pharos_mining::sessions::Ending;

use crate::messages::messages;

messages! { InsightMessages {
    intro: "How users search, computed from the logs of this installation. Each statistic names its source.",
        "用户的搜索行为，根据本系统的日志统计。每项统计都注明出处。";
    log_is_off: "Logging is off (log.enabled).", "日志已关闭（log.enabled）。";
    period: "Period", "时段";
    one_day: "1 day", "1 天";
    seven_days: "7 days", "7 天";
    thirty_days: "30 days", "30 天";
    ninety_days: "90 days", "90 天";
    show: "Show", "显示";
    to_queries: "Queries in detail", "查询明细";
    to_report: "Report", "报告";
    list: "List", "列表";
    language: "Language", "语言";
    all_languages: "All", "全部";
    chinese: "Chinese", "中文";
    other_languages: "Others", "其他";
    top: "Top", "最常见";
    rising: "Rising", "上升最快";
    without_results: "Without results", "没有结果";
    few_clicks: "Few clicks", "点击少";
    abandoned_queries: "Abandoned", "被放弃";
    corrected_queries: "Corrected", "被纠正";
    slow: "Slow", "响应慢";
    query: "Query", "查询";
    searches: "Searches", "搜索次数";
    visits: "Visits", "访问数";
    empty: "No results", "无结果";
    click_rate: "With clicks", "有点击";
    abandoned: "Abandoned", "放弃";
    corrected: "Corrected", "纠正";
    time: "Mean time", "平均用时";
    nothing: "No query belongs to this list in the period.", "该时段内没有属于此列表的查询。";
    export: "Download:", "下载：";
    back: "All queries", "全部查询";
    try_query: "Search", "搜索";
    add_synonym: "Add a synonym", "添加同义词";
    results: "Results as shown last", "最近一次展示的结果";
    no_results: "No results were shown or logged in the period.", "该时段内没有展示或记录结果。";
    rank: "Rank", "名次";
    page: "Page", "网页";
    clicks: "Clicks", "点击";
    pin: "Pin", "置顶";
    explain: "Explain", "诊断";
    actions: "Actions", "操作";
    sessions: "Latest sessions", "最近的会话";
    no_sessions: "No session contains the query.", "没有会话包含该查询。";
    started: "Started", "开始";
    steps: "Searches", "搜索过程";
    ending: "Ending", "结局";
    satisfied: "satisfied", "满意";
    unsatisfied: "short click", "短暂点击";
    was_abandoned: "no click", "无点击";
    unknown: "unknown", "未知";
} }

impl InsightMessages {
    /// Returns the name of an ending.
    pub(super) fn ending(&self, ending: Ending) -> &'static str {
        match ending {
            Ending::Satisfied => self.satisfied,
            Ending::Unsatisfied => self.unsatisfied,
            Ending::Abandoned => self.was_abandoned,
            Ending::Unknown => self.unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_languages_have_the_same_placeholders() {
        crate::messages::assert_same_placeholders(super::TABLE);
    }
}
