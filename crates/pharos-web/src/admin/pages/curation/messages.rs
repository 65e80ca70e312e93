//! Texts of the curation page.

use crate::messages::messages;

messages! { CurationMessages {
    intro: "Decisions about results: pinned and hidden pages, notices, synonyms and stop words. They take effect at once. Removing an entry reverses it.",
        "对搜索结果的人工干预：置顶和隐藏网页、提示、同义词和停用词。修改立即生效，移除条目即可恢复。";
    add_title: "Add an entry", "添加条目";
    edit_title: "Change entry {}", "修改条目 {}";
    new_entry: "Add another entry instead", "改为添加新条目";
    kind: "Kind", "类型";
    pin: "pin", "置顶";
    hide: "hide", "隐藏";
    notice: "notice", "提示";
    boost: "boost", "加权";
    block: "block", "屏蔽";
    query: "Query", "查询";
    query_hint: "Compared as a whole; case, width and spaces make no difference. Leave it empty to hide a page from all queries.",
        "与整个查询比较，不区分大小写、全角半角和空格。隐藏网页时留空表示对所有查询生效。";
    url: "URL of the page (pin, hide)", "网页的网址（置顶、隐藏）";
    place: "Position (pin)", "位置（置顶）";
    text: "Text (notice)", "文字（提示）";
    link: "Link (notice, optional)", "链接（提示，可选）";
    until: "Ends at (UTC, optional)", "结束时间（UTC，可选）";
    save: "Save", "保存";
    preview: "Preview", "预览";
    preview_title: "Preview of “{}”", "“{}”的预览";
    preview_text: "Nothing is saved yet.", "尚未保存。";
    preview_none: "No results.", "没有结果。";
    pinned: "pinned", "置顶";
    entries_title: "Entries", "条目";
    no_entries: "No entries.", "没有条目。";
    all_queries: "all queries", "所有查询";
    content: "Content", "内容";
    by: "Changed by", "修改者";
    at: "Changed at", "修改时间";
    ends: "Ends", "结束";
    state: "State", "状态";
    active: "active", "生效";
    ended: "ended", "已结束";
    not_in_index: "page not in the index", "网页不在索引中";
    change: "Change", "修改";
    remove: "Remove", "移除";
    actions: "Actions", "操作";
    rules_title: "Boosts and blocks", "加权与屏蔽";
    rules_text: "From the settings rank.boost and rank.block.", "来自设置项 rank.boost 和 rank.block。";
    no_rules: "None.", "没有。";
    synonyms_title: "Synonyms", "同义词";
    synonyms_text: "One set per line, words separated by commas. A query for one word also finds pages with the others, at half the weight. Stored in models/synonyms.tsv.",
        "每行一组，词之间用逗号分隔。搜索其中一个词时，也会找到包含其他词的网页，权重减半。保存在 models/synonyms.tsv。";
    synonyms_bad: "Line {} is not used: {}", "第 {} 行未使用：{}";
    proposals_title: "Proposed synonyms", "建议的同义词";
    proposals_text: "Words that users replaced by each other, or whose queries led to the same pages. From the logs, at the last index build.",
        "用户相互替换的词，或其查询指向相同网页的词。来自最近一次构建索引时的日志。";
    proposal_words: "Words", "词";
    proposal_why: "Reason", "依据";
    proposal_reason: "replaced by {} visits, clicks agree to {} %", "{} 次访问相互替换，点击相似度 {} %";
    proposal_example: "Queries", "查询";
    accept: "Accept", "接受";
    reject: "Reject", "拒绝";
    did_accept_synonyms: "The synonyms have been added.", "已添加同义词。";
    did_reject_synonyms: "The proposal has been rejected.", "已拒绝该建议。";
    bad_few: "a set needs two different words", "一组至少需要两个不同的词";
    bad_many: "too many words", "词太多";
    bad_long: "a word is too long", "有的词太长";
    bad_full: "too many sets", "组数太多";
    stop_words_title: "Additional stop words", "附加停用词";
    stop_words_text: "Words that a query may drop if it has another word, separated by spaces or lines. Stored in models/stop_words.txt.",
        "查询中有其他词时可以忽略的词，用空格或换行分隔。保存在 models/stop_words.txt。";

    did_add: "The entry has been added.", "已添加条目。";
    did_change: "The entry has been changed.", "已修改条目。";
    did_remove: "The entry has been removed.", "已移除条目。";
    did_save: "Saved.", "已保存。";
    wrong_kind: "Unknown kind of entry.", "没有这种类型的条目。";
    wrong_until: "Invalid end: write it as 2026-01-31 or 2026-01-31T12:00.", "结束时间无效：请写成 2026-01-31 或 2026-01-31T12:00 的形式。";
    empty_query: "Enter a query.", "请填写查询。";
    long_query: "The query is too long.", "查询太长。";
    invalid_url: "“{}” is not the URL of a page: enter it in full, for example https://www.example.org/", "“{}”不是网址：请填写完整网址，例如 https://www.example.org/";
    invalid_place: "The position must be a number from 1 to {}.", "位置须为 1 至 {} 的数字。";
    empty_text: "Enter the text of the notice.", "请填写提示的文字。";
    long_text: "The text may have at most {} characters.", "文字最多 {} 个字符。";
    invalid_link: "“{}” is not a link: it must begin with http:// or https://", "“{}”不是链接：须以 http:// 或 https:// 开头";
    full: "There are too many entries: remove some first.", "条目太多：请先移除一些。";
    too_many_pins: "This query has {} pinned pages already: remove one first.", "该查询已有 {} 个置顶网页：请先移除一个。";
    exists: "Such an entry exists already: change that one.", "已有相同的条目：请修改那一条。";
    missing: "The entry no longer exists: another operator may have removed it. Save to add it again.",
        "条目已不存在，可能已被其他管理员移除。保存即可重新添加。";
    conflict: "{} has changed this entry on {}; the list below shows the current content. Your text is kept: save again to replace it.",
        "{} 已于 {} 修改此条目，当前内容见下方列表。您填写的内容已保留：再次保存即可覆盖。";
    file_conflict: "The file has been changed meanwhile. Your text is kept; the current content is shown below it. Save again to replace it.",
        "文件已被修改。您填写的内容已保留，当前内容显示在其下方。再次保存即可覆盖。";
    current_content: "Current content", "当前内容";
    not_saved: "Not saved: {}", "未保存：{}";
} }

#[cfg(test)]
mod tests {
    #[test]
    fn all_languages_have_the_same_placeholders() {
        crate::messages::assert_same_placeholders(super::TABLE);
    }
}
