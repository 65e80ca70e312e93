//! Texts of the calendar.

use crate::messages::messages;

messages! { CalendarMessages {
    intro: "Scheduled visits, builds and backups, and the hours in which sites may be fetched. Nothing happens while no engine is running; missed times are made up for.",
        "定时抓取、索引构建和备份，以及允许抓取各网站的时段。引擎未运行时不执行；错过的任务会在启动后补做。";
    zone: "Times in the zone {}.", "时间所用时区：{}。";
    nothing: "Nothing is scheduled.", "没有安排。";
    backup: "Backup", "备份";
    build: "Build of a new history, if pages are new", "有新网页时构建新的 history";
    recrawl_of: "Fetch again: {}", "重新抓取：{}";
    more: "and {} more", "以及另外 {} 项";
    windows: "Crawl windows", "抓取时段";
    settings: "Schedules", "安排";
    recrawl: "Scheduled visits", "定时抓取";
    recrawl_hint: "One per line: a time and a host or URL pattern. Times: 03:30, mon-fri 03:30, 6h, or once 2026-12-24T22:00.",
        "每行一项：时间，加主机名或网址模式。时间可写作 03:30、mon-fri 03:30、6h，或单次的 2026-12-24T22:00。";
    build_at: "Build times", "构建时间";
    build_at_hint: "For example 03:30 or sun 03:30; off builds by age and size only (index.build_every, index.latest_share).",
        "例如 03:30 或 sun 03:30；off 表示仅按时间间隔和大小构建（index.build_every、index.latest_share）。";
    time_zone: "Time zone", "时区";
    time_zone_hint: "For example Europe/Berlin or +08:00; empty for the zone of the machine.", "例如 Asia/Shanghai 或 +08:00；留空表示机器的时区。";
    windows_hint: "The crawl window of a site is set on its page, for example window=mon-fri/22:00-06:00.", "各网站的抓取时段在该网站的页面上设置，例如 window=mon-fri/22:00-06:00。";
    backups_hint: "Times of backups", "备份时间";
    save: "Save", "保存";
    did_save: "Saved", "已保存";
    monday: "Monday", "星期一";
    tuesday: "Tuesday", "星期二";
    wednesday: "Wednesday", "星期三";
    thursday: "Thursday", "星期四";
    friday: "Friday", "星期五";
    saturday: "Saturday", "星期六";
    sunday: "Sunday", "星期日";
} }

impl CalendarMessages {
    /// Returns the name of a day of the week, counted from Monday.
    pub(super) fn weekday(&self, day: i8) -> &'static str {
        match day.rem_euclid(7) {
            0 => self.monday,
            1 => self.tuesday,
            2 => self.wednesday,
            3 => self.thursday,
            4 => self.friday,
            5 => self.saturday,
            _ => self.sunday,
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
