//! Texts of alerts.

use pharos_engine::alerts::AlertKind;

use crate::messages::{fill, messages};

messages! { AlertMessages {
    intro: "Conditions that need attention, evaluated while `pharos up` runs. An alert is sent once and ends by itself when its cause is gone for a while.",
        "需要关注的情况，由运行中的 `pharos up` 检查。每个警报只发送一次，原因消失一段时间后自动解除。";
    none: "There is no alert.", "没有警报。";
    since: "Since {}.", "始于 {}。";
    acknowledge: "Acknowledge", "确认";
    acknowledged: "Acknowledged by {}", "已由 {} 确认";
    undelivered: "Not delivered:", "未送达：";
    is_local: "Alerts are shown on the desk only. They can also be sent to a webhook or by mail:", "警报目前只在控制台显示，也可以通过 webhook 或邮件发送：";
    settings: "Settings of alerts", "警报设置";
    did_acknowledge: "Acknowledged", "已确认";
    no_such_alert: "No such alert is raised", "没有这个警报";
    test: "Send a test message", "发送测试消息";
    did_test: "Test message sent: {}", "已发送测试消息：{}";
    test_failed: "Test message not sent: {}", "测试消息未能发送：{}";
    no_endpoint: "Neither a webhook nor a mail address is set", "未设置 webhook 或邮件地址";
    crawl_stalled: "The crawl is stalled: pages are queued, but none was fetched for {}.", "抓取停滞：有待抓取的网页，但已有 {} 没有抓取任何网页。";
    crawl_failed: "The crawl failed: {}", "抓取失败：{}";
    disk_nearly_full: "The disk is nearly full: {} free.", "磁盘空间即将耗尽：剩余 {}。";
    error_rate: "Many requests fail: {} of the last ten minutes.", "大量请求失败：最近十分钟的失败率为 {}。";
    certificate_ends: "The TLS certificate ends on {}: renew it (web.certificate).", "TLS 证书将于 {} 到期，请更新（web.certificate）。";
    build_failed: "Building the index failed: {}", "索引构建失败：{}";
    no_results_rising: "More and more queries have no results: {} of the last hour.", "没有结果的查询增多：占最近一小时的 {}。";
    backup_overdue: "The scheduled backup is overdue since {}.", "定时备份自 {} 起逾期。";
} }

impl AlertMessages {
    /// Describes an alert.
    pub(super) fn describe(&self, kind: AlertKind, value: &str) -> String {
        let text = match kind {
            AlertKind::CrawlStalled => self.crawl_stalled,
            AlertKind::CrawlFailed => self.crawl_failed,
            AlertKind::DiskNearlyFull => self.disk_nearly_full,
            AlertKind::ErrorRate => self.error_rate,
            AlertKind::CertificateEnds => self.certificate_ends,
            AlertKind::BuildFailed => self.build_failed,
            AlertKind::NoResultsRising => self.no_results_rising,
            AlertKind::BackupOverdue => self.backup_overdue,
        };
        fill(text, &[value])
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_languages_have_the_same_placeholders() {
        crate::messages::assert_same_placeholders(super::TABLE);
    }
}
