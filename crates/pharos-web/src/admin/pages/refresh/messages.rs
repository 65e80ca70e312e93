//! Texts of the page about refresh.

use crate::messages::messages;

messages! { RefreshMessages {
    intro: "When known pages are fetched again. The change rate of each page is learned from its visits. Under all policies except uniform and paper, pages that change or matter more are visited more often.",
        "已知网页何时重新抓取。每个网页的变化率从对它的访问中学到。除 uniform 和 paper 外，变化较快或较重要的网页访问得更频繁。";
    to_settings: "Settings", "设置";
    site: "Host", "主机";
    site_hint: "empty for all sites", "留空表示所有网站";
    show: "Show", "显示";
    nothing: "No stored page has a next visit.", "没有需要再次抓取的网页。";
    policy: "Policy", "策略";
    pages: "Pages with a next visit", "将再次抓取的网页";
    learned: "Pages with a learned change rate", "已学到变化率的网页";
    budget: "Planned visits per day", "每天计划的访问次数";
    scheduled: "Scheduled visits per day", "按当前间隔每天的访问次数";
    lag: "Expected wait of a change", "变化的预计等待时间";
    useless: "Visits that found no change", "未发现变化的访问";
    raised: "Pages that weigh more because of queries, clicks, links or operators", "因查询、点击、链接或管理员设置而提高权重的网页";
    due: "Due now", "已到期";
    oldest: "Longest unvisited", "最久未访问";
    intervals: "Pages by interval between visits", "按访问间隔统计的网页数";
    change_times: "Pages by time between changes", "按变化间隔统计的网页数";
    hours: "{} h", "{} 小时";
    days: "{} days", "{} 天";
    more: "more", "更长";
    words: "Words of popular queries", "热门查询词";
    words_hint: "Pages that contain them are visited more often, the more so if they contain them in the title.",
        "包含这些词的网页访问得更频繁，标题中包含的更是如此。";
    signals: "Sitemaps, feeds and notices", "站点地图、新闻源和通知";
    signals_hint: "Dates that a site announces bring visits forward as far as they proved right.", "网站公布的修改日期会使访问提前，提前多少取决于这些日期以往是否准确。";
    right: "Right", "准确";
    announced: "Changes announced", "已公布的变化";
    visits: "Visits", "访问次数";
    dead: "Dead links", "死链";
    dead_hint: "Known URLs that return 404 or 410.", "返回 404 或 410 的已知网址。";
    gone: "Gone", "已失效";
    share: "Share of visited pages", "占已访问网页的比例";
} }

#[cfg(test)]
mod tests {
    #[test]
    fn all_languages_have_the_same_placeholders() {
        crate::messages::assert_same_placeholders(super::TABLE);
    }
}
