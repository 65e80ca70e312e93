//! Texts of the backup page.

use crate::messages::messages;

messages! { BackupMessages {
    intro: "A backup contains everything that is needed to continue on another machine. It is made while the engine runs, and unchanged files take no space again.",
        "备份包含在另一台机器上继续运行所需的全部数据。备份在引擎运行时进行，未变化的文件不再占用空间。";
    is_running: "A backup is being made:", "正在备份：";
    progress: "{} of {} done, {} copied", "已完成 {}，共约 {}，已复制 {}";
    stop: "Stop the backup", "停止备份";
    now: "Back up now", "立即备份";
    needs_directory: "Choose a directory for backups first.", "请先设置备份目录。";
    never: "There is no backup of this data directory yet.", "该数据目录还没有备份。";
    last: "Last backup: {} in {}, {}, of which {} were copied.", "上次备份：{}，位于 {}，共 {}，其中复制 {}。";
    failed: "The backup of {} failed: {}", "{} 的备份失败：{}";
    next: "Next scheduled backup: {}.", "下次定时备份：{}。";
    needs_engine: "Scheduled backups are made while an engine is running (`pharos up`).", "定时备份只在引擎运行时进行（`pharos up`）。";
    settings: "Schedule and retention", "定时与保留";
    directory: "Directory", "目录";
    directory_hint: "An absolute path, best on another disk. Each backup gets a directory of its own there.", "绝对路径，最好位于另一块磁盘。每次备份在其中单独建立一个目录。";
    schedule: "Times", "时间";
    schedule_hint: "A time of day (03:30), with days (sat,sun 03:30), or an interval (6h); off for none. The time zone is set by crawl.time_zone.",
        "每天的时间（03:30）、指定星期几的时间（sat,sun 03:30）或间隔（6h）；off 表示不定时备份。时区由 crawl.time_zone 设定。";
    keep: "Number of backups to keep", "保留的备份数";
    keep_hint: "Older ones are deleted; 0 keeps all. Only backups of this data directory are counted and deleted.", "更早的备份会被删除；0 表示全部保留。只计算和删除该数据目录的备份。";
    save: "Save", "保存";
    backups: "Backups", "现有备份";
    name: "Directory", "目录";
    taken: "Begun", "开始时间";
    files: "Files", "文件数";
    size: "Size", "大小";
    restore: "Restore", "恢复";
    restore_text: "A restore needs a new or empty data directory and verifies the backup first. The running engine is not affected:",
        "恢复需要新的或空的数据目录，并会先校验备份。正在运行的引擎不受影响：";
    already_running: "A backup is already running", "备份已在进行";
    did_start: "The backup has started", "备份已开始";
    did_stop: "The backup is stopping; earlier backups are unchanged", "备份即将停止，之前的备份不受影响";
    did_save: "Saved", "已保存";
    age: "Last backup: {} ago.", "上次备份：{}前。";
    age_never: "There is no backup yet.", "还没有备份。";
    age_failed: "The last attempt failed: {}", "最近一次备份失败：{}";
} }

#[cfg(test)]
mod tests {
    #[test]
    fn all_languages_have_the_same_placeholders() {
        crate::messages::assert_same_placeholders(super::TABLE);
    }
}
