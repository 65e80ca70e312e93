//! What the pages of the desk say; what its door and its people's pages say stands in `words.rs`.

use pharos_store::PageState;

use crate::words::words;

words! { PageWords {
    known_sites: "Sites known", "已知网站";
    known_pages: "Pages known", "已知网页";
    waiting: "Waiting", "待抓取";
    stored: "Stored", "已存储";
    searchable: "Searchable", "可搜索";
    failed: "Failed", "失败";
    refused: "Refused", "被拒";
    removed: "Removed for good", "已永久移除";
    deleted: "Gone, says a feed", "数据源称已删除";
    last_visit: "Last visit", "最近访问";
    never: "never", "从未";
    save: "Save", "保存";
    show: "Show", "查看";
    add: "Add", "添加";
    back: "Back", "上一页";
    on: "On", "下一页";
    address: "Address", "网址";
    reason: "Reason", "原因";
    kind: "Kind", "类别";
    when: "When", "时间";
    choose: "Choose", "选择";
    choose_all: "Choose all", "全选";
    sure: "Yes, I am sure", "是的，我确定";
    not_sure: "Nothing was done: tick the box to say that you are sure", "未执行：请先勾选确认框";
    nothing_chosen: "Nothing was chosen", "没有选择任何项目";
    nothing_yet: "Nothing yet", "暂无";
    now: "Now", "当前";

    live_figures: "Live figures", "实时数据";
    collection: "What is there", "现有内容";
    pages_a_second: "Pages a second", "每秒网页";
    bytes_a_second: "Bytes a second", "每秒字节";
    errors_a_second: "Errors a second", "每秒错误";
    queue: "Pages in the queue", "队列中的网页";
    active_hosts: "Hosts with work", "活跃主机";
    under_way: "Requests under way", "进行中的请求";
    latest_trouble: "Latest trouble", "最近的问题";
    all_of_it: "All of it", "查看全部";
    submissions_wait: "Submissions that wait for you: {}", "等待处理的提交：{}";
    without_script: "Without scripts the figures are those of the moment the page was opened: load it again for newer ones.",
        "未启用脚本时，显示的是打开页面那一刻的数据；重新载入即可刷新。";
    to_seeds: "Name the first pages", "添加起始网页";

    is_off: "No engine runs on this data directory. Start one with `pharos up`.", "该数据目录上没有运行中的引擎。请用 `pharos up` 启动。";
    is_idle: "The engine is starting.", "引擎正在启动。";
    is_replaying: "The engine catches up with its library; the crawl begins after that.", "引擎正在与网页库同步，随后开始抓取。";
    is_running: "The crawl is running (pharos {}).", "抓取进行中（pharos {}）。";
    is_held: "The crawl pauses: an operator said so.", "抓取已由操作员暂停。";
    is_without_room: "The crawl pauses: the disk is nearly full (engine.disk_floor).", "抓取已暂停：磁盘空间即将耗尽（engine.disk_floor）。";
    is_empty: "There is nothing to crawl yet.", "还没有可抓取的内容。";
    ended_nothing_due: "The crawl has ended: nothing more is due.", "抓取已结束：没有到期的网页。";
    ended_max_pages: "The crawl has ended: the page limit is reached (crawl.max_pages).", "抓取已结束：达到网页数上限（crawl.max_pages）。";
    ended_time: "The crawl has ended: its time is up (crawl.run_for).", "抓取已结束：时间已到（crawl.run_for）。";
    ended_disk: "The crawl has ended: there is as much on the disk as there may be (crawl.max_disk).", "抓取已结束：磁盘用量达到上限（crawl.max_disk）。";
    ended_stopped: "The crawl was stopped. Searching goes on.", "抓取已停止，搜索照常。";
    has_failed: "The crawl could not go on: {}", "抓取无法继续：{}";
    pause: "Pause", "暂停";
    resume: "Go on", "继续";
    stop: "Stop the crawl", "停止抓取";
    start: "Start the crawl", "开始抓取";
    did_pause: "The crawl pauses: requests under way end, no new ones begin", "抓取已暂停：进行中的请求会完成，不再发起新请求";
    did_resume: "The crawl goes on", "抓取继续";
    did_stop: "The crawl ends; searching goes on", "抓取即将结束，搜索照常";
    did_start: "The crawl begins", "抓取开始";

    crawl_title: "Crawl", "抓取";
    crawl_intro: "Where the crawl starts, what it follows and how fast. Changes hold within a second, while it runs.",
        "抓取从哪里开始、跟随哪些链接、速度多快。修改在一秒内生效，无需停止抓取。";
    needs_contact: "Public web sites are not asked before you say how their owners reach you: fill in the contact below.",
        "填写联系方式之前不会抓取公网网站：请在下方填写，以便站长联系您。";
    seeds: "Starting points", "起始网站";
    no_seeds: "None yet. Name a page of each site that you want to search.", "暂无。请为每个要搜索的网站填写一个网页。";
    and_more: "and {} more", "以及另外 {} 个";
    add_seeds: "Add pages to start from", "添加起始网页";
    add_seeds_hint: "One address on each line.", "每行一个网址。";
    did_add: "Added: they are fetched as soon as their sites may be asked", "已添加：在礼貌规则允许时尽快抓取";
    rules_title: "What is followed", "跟随规则";
    scope: "Links are followed", "链接范围";
    scope_host: "on the hosts of the starting points", "仅起始主机";
    scope_domain: "on their whole domains", "起始主机的整个域名";
    scope_any: "anywhere", "不限";
    max_depth: "Clicks from a starting point, at most", "距起始网页的最大点击数";
    guide_words: "Guide words", "导向词";
    guide_words_hint: "Pages about them, and what those link to, come first. One on each line.", "与之相关的网页及其链接优先抓取。每行一个。";
    include: "Only addresses like these", "仅限这些网址";
    exclude: "Never addresses like these", "排除这些网址";
    rules_hint: "Whole addresses, one on each line; * stands for any characters. Pages that the new rules leave out are refused when their turn comes.",
        "完整网址，每行一个，* 代表任意字符。新规则排除的网页在轮到时会被拒绝。";
    pace_title: "How fast", "速度";
    contact: "Contact", "联系方式";
    contact_hint: "A mail address or a page, sent with every request.", "邮箱或网页地址，随每个请求发送。";
    fetchers: "Requests under way at once", "同时进行的请求数";
    politeness: "Manners", "礼貌程度";
    gentle: "gentle", "温和";
    normal: "normal", "普通";
    own_site: "own site: no wait", "自有网站：不等待";
    day_delay: "Wait between two requests to a site, by day", "同一网站两次请求的间隔（白天）";
    night_delay: "By night", "夜间间隔";
    delay_hint: "As in 1s, 500ms or 2m. Of the manners chosen above; robots.txt may ask for more.", "例如 1s、500ms、2m。对应上面所选的礼貌程度；robots.txt 可要求更长。";
    no_delay: "This is no time to wait: write it as in 1s, 500ms or 2m", "这不是等待时间：请写成 1s、500ms 或 2m 的形式";
    decided_by: "{} is decided by the {}; change it there.", "{} 由{}决定，请在那里修改。";
    did_change: "Saved", "已保存";
    did_nothing: "Nothing was changed", "没有改动";
    no_address: "This is no address of a page: write it as in https://www.example.org/", "这不是网页地址：请写成 https://www.example.org/ 的形式";

    sites_title: "Sites", "网站";
    sites_filter: "Choose sites", "筛选网站";
    site_name: "Site", "网站";
    state_label: "State", "状态";
    all_states: "All", "全部";
    sorted_by: "Sorted by", "排序";
    sites_found: "{} sites", "{} 个网站";
    more_sites: "More sites", "更多网站";
    state_seed: "starting point", "起始";
    state_found: "found", "发现";
    state_waiting: "has pages waiting", "有待抓取网页";
    state_failing: "has failures", "有失败";
    state_refused: "refused", "被拒";
    state_patient: "asked for patience", "要求等待";
    state_copy: "copy of another", "镜像";
    state_removed: "removed", "已移除";
    no_site: "This is no site: write the host alone, as in www.example.org", "这不是网站：只写主机名，例如 www.example.org";
    unknown_site: "Nobody has heard of this site yet.", "还没有关于该网站的信息。";
    delay: "Wait between requests", "请求间隔";
    left_alone_until: "Left alone until", "暂不访问至";
    trouble_of_site: "Pages of this site that could not be had", "该网站未能获取的网页";
    recrawl: "Fetch all its pages again", "重新抓取全部网页";
    did_recrawl: "Every known page of the site is due now", "该网站的所有已知网页现已到期";
    hide: "Hide from results", "从结果中隐藏";
    show_again: "Show in results again", "恢复显示";
    did_hide: "Its pages are not shown any more (rank.block)", "其网页不再显示（rank.block）";
    did_show: "Its pages are shown again", "其网页重新显示";
    skip: "Do not crawl any more", "不再抓取";
    follow: "Crawl again", "恢复抓取";
    did_skip: "No more of its pages are fetched but for its starting points (crawl.exclude)", "除起始网页外，不再抓取其网页（crawl.exclude）";
    did_follow: "Its pages may be fetched again", "可以再次抓取其网页";
    boost: "Added to the score of its pages", "网页得分加成";
    boost_hint: "Scores lie between 0 and 1 (rank.boost).", "得分在 0 到 1 之间（rank.boost）。";
    did_boost: "Saved: the next search knows it", "已保存，下次搜索即生效";
    site_settings: "Settings of this site", "该网站的设置";
    site_settings_hint: "Any of zone=+08:00 politeness=gentle delay=5s connections=2 max_pages=1000 sorted; empty for none (crawl.site_settings).",
        "可用 zone=+08:00 politeness=gentle delay=5s connections=2 max_pages=1000 sorted；留空表示无（crawl.site_settings）。";
    remove: "Remove for good", "永久移除";
    remove_site_text: "Every page of this site goes from results, snapshots and library, and none ever comes back.", "该网站的所有网页将从结果、快照和网页库中移除，且不再收录。";
    remove_page_text: "The page goes from results, snapshots and library, and never comes back.", "该网页将从结果、快照和网页库中移除，且不再收录。";
    did_remove: "Removed", "已移除";
    robots_missing: "there is none, everything may be fetched", "不存在，可以抓取全部网页";
    robots_unreachable: "could not be had, nothing is fetched for now", "无法获取，暂不抓取";
    robots_known: "known", "已知";
    some_pages: "Some of its pages", "部分网页";

    story_title: "Why is this page not found?", "这个网页为什么搜不到？";
    story_intro: "Everything that is known of one address, in the order in which a page passes through the engine.",
        "按照网页经过引擎的顺序，列出关于一个网址的全部信息。";
    ask: "Ask", "查询";
    fetch_now: "Fetch it now", "立即抓取";
    did_fetch: "It is fetched as soon as its site may be asked", "在礼貌规则允许时立即抓取";
    live_page: "The page itself", "原网页";
    cleaned: "Before and after cleaning", "净化前后对比";
    snapshot: "Snapshot", "快照";
    step_found: "How it was found", "如何发现";
    step_rules: "What the rules say", "规则的判断";
    step_fetched: "What came of asking", "抓取情况";
    step_copies: "Copies", "重复网页";
    step_index: "In the index", "索引状态";
    never_heard: "Nobody ever heard of it: no link, sitemap or operator led there.", "从未听说：没有链接、站点地图或操作员指向它。";
    heard_of: "Heard of at {}, {} clicks from a starting point.", "发现于 {}，距起始网页 {} 次点击。";
    called: "The link there said “{}”.", "链接文字：“{}”。";
    redirected_from: "Redirected from {}", "由 {} 跳转而来";
    linked_by: "{} pages link to it.", "{} 个网页链接到它。";
    admits: "yes", "允许";
    refuses: "no", "拒绝";
    undecided: "not known yet", "尚不清楚";
    never_asked: "It was never asked for.", "从未抓取。";
    page_state: "State: {}", "状态：{}";
    visited: "Last visit {}, {} answers, {} changes.", "最近访问 {}，共 {} 次应答，{} 次变化。";
    attempts: "{} tries in a row without a good answer.", "连续 {} 次未得到有效应答。";
    due: "Due at {}.", "下次抓取：{}。";
    unchanged: "unchanged", "未变化";
    let_go: "let go", "已按保留规则删除";
    damaged: "damaged", "已损坏";
    no_copies: "No other page says the same to the byte.", "没有内容完全相同的网页。";
    copies: "{} pages are the same to the byte; one of them stands for all:", "有 {} 个网页内容完全相同，由其中一个代表：";
    not_indexed: "It is not in the index.", "不在索引中。";
    asks_noindex: "It asks not to be found (noindex).", "它要求不被收录（noindex）。";
    indexed_as: "In the index as “{}”.", "已收录，标题为“{}”。";
    indexed_at: "As it was at {}.", "内容为 {} 的版本。";
    in_language: "Language: {}", "语言：{}";
    no_archive: "It asks for no snapshot (noarchive).", "它要求不提供快照（noarchive）。";
    why_found: "It is found.", "可以搜到。";
    why_hidden: "It is in the index, and hidden from results by an operator (rank.block).", "已收录，但被操作员从结果中隐藏（rank.block）。";
    why_unknown: "Nobody ever heard of it. Fetch it now to change that.", "从未听说过这个网页。可立即抓取。";
    why_unknown_refused: "Nobody ever heard of it, and the rules of the crawl would refuse it: {}", "从未听说过这个网页，而且抓取规则会拒绝它：{}";
    why_removed: "An operator removed it for good.", "已被操作员永久移除。";
    why_deleted: "A feed said that it is gone.", "数据源称该网页已删除。";
    why_refused: "It is not fetched, because a rule forbids it: {}", "规则禁止抓取：{}";
    why_failed: "It could not be fetched: {}", "抓取失败：{}";
    why_waiting: "It is known and waits for its turn.", "已发现，正在等待抓取。";
    why_waits_for: "It is known and waits: {}", "已发现，正在等待：{}";
    why_noindex: "It was fetched, and asks not to be found (noindex).", "已抓取，但它要求不被收录（noindex）。";
    why_status: "Its server answers with status {}.", "服务器返回状态码 {}。";
    why_copy: "It is the same as {}, which stands for it.", "与 {} 内容相同，由后者代表。";
    why_nothing_to_find: "It was fetched, but there is nothing in it to be found by.", "已抓取，但没有可供搜索的内容。";
    why_soon: "It was fetched at {} and is found in a moment.", "已于 {} 抓取，稍后即可搜到。";

    trouble_intro: "Pages that gave no answer, and pages that a rule kept from being asked, the newest first.", "没有应答的网页，以及被规则禁止抓取的网页，最新的在前。";
    trouble_filter: "Choose pages", "筛选网页";
    all_trouble: "Both", "全部";
    reasons: "By reason", "按原因";
    no_trouble: "No such page.", "没有这样的网页。";
    tries: "Tries", "尝试";
    next_try: "Next try", "下次尝试";
    retry: "Try the chosen ones again now", "立即重试所选网页";
    did_retry: "{} pages are tried again", "将重试 {} 个网页";

    submissions_intro: "Pages that visitors proposed. What you accept becomes a starting point.", "访客提交的网页。接受后将成为起始网页。";
    no_submissions: "Nobody waits for a decision.", "没有待处理的提交。";
    accept: "Accept", "接受";
    refuse: "Refuse", "拒绝";
    accepted: "accepted", "已接受";
    was_refused: "refused", "已拒绝";
    decided: "Decided", "已处理";
    did_accept: "{} accepted: they are fetched soon", "已接受 {} 个，即将抓取";
    did_refuse: "{} refused", "已拒绝 {} 个";

    index_intro: "Fetched pages are in latest within seconds; a build makes a new history of everything, with links, ranks and copies worked out anew.",
        "抓取的网页几秒内进入 latest；构建会生成全新的 history，重新计算链接、排名和重复网页。";
    history: "history", "history";
    latest: "latest", "latest";
    open: "open", "写入中";
    on_disk: "On disk", "磁盘占用";
    latest_share: "Latest beside history", "latest 占 history 的比例";
    generations: "Generations", "索引代";
    generation: "Generation", "索引代";
    since: "Since", "起始时间";
    before: "Kept for going back", "保留以便回退";
    history_damaged: "The history in place is damaged: the one before answers.", "当前 history 已损坏，由上一代应答。";
    is_building: "A new history is being built:", "正在构建新的 history：";
    built_elsewhere: "Another process builds a new history.", "另一个进程正在构建新的 history。";
    build_unfinished: "A build was cut short; the next one goes on with {} pages.", "有一次构建被中断，下次将从 {} 个网页继续。";
    next_build: "The next build begins by itself at {}.", "下次自动构建：{}。";
    build_now: "Build now", "立即构建";
    stop_build: "Stop the build", "停止构建";
    builds_already: "A build is running already", "构建已在进行";
    did_build: "The build has begun", "构建已开始";
    did_stop_build: "The build stops; the next one goes on where it was", "构建即将停止，下次会接着进行";
    last_built: "The last build ended at {}: generation {}, {} pages.", "上次构建完成于 {}：第 {} 代，{} 个网页。";
    last_failed: "The last build ended at {} without a result: {}", "上次构建于 {} 结束，没有结果：{}";
    build_sealing: "waiting for the engine", "等待引擎";
    build_surveying: "looking through the library: {} records", "扫描网页库：{} 条记录";
    build_comparing: "looking for copies: {} of {} pages", "查找重复网页：{} / {}";
    build_linking: "reading links: {} of {} pages", "读取链接：{} / {}";
    build_ranking: "computing ranks", "计算排名";
    build_indexing: "indexing: {} of {} pages", "建立索引：{} / {}";
    build_verifying: "verifying", "校验";
    build_warming: "asking its first queries: {}", "预热查询：{}";
    build_switching: "putting it in place", "切换";
    roll_back: "Go back to the history before", "回退到上一代 history";
    roll_back_text: "The newest history is dropped. What came in since stays.", "将丢弃最新的 history，此后新增的内容保留。";
    did_roll_back: "The history before is in place again", "已回退到上一代 history";

    stages: "Stages of the engine", "引擎各阶段";
    stages_intro: "What each stage waits for: the slowest one decides how fast pages come in.", "每个阶段在等待什么：最慢的阶段决定整体速度。";
    stage: "Stage", "阶段";
    bound_by: "Bound by", "瓶颈";
    in_hand: "Waiting", "等待";
    threads: "Threads", "线程";
    stage_switches: "Switches a second (by itself / forced)", "每秒切换（自愿/被迫）";
    stage_fetch: "Fetch and serve", "抓取与服务";
    stage_shelve: "Shelve (library)", "入库";
    stage_read: "Read (clean, cut words)", "净化与分词";
    stage_absorb: "Absorb (catalog, index)", "编目与索引";
    stage_build: "Build", "构建";
    stage_query: "Answer queries", "查询";
    bound_idle: "nothing: it waits for work", "空闲";
    bound_processor: "processor", "处理器";
    bound_disk: "disk", "磁盘";
    bound_network: "network", "网络";
    bound_politeness: "politeness", "礼貌等待";
    bound_next: "the stage after it", "后一阶段";
    processor: "Processor", "处理器";
    processors: "Processors", "处理器数";
    load: "Load", "负载";
    memory: "Memory", "内存";
    own_memory: "Memory of this process", "本进程内存";
    disk: "Disk", "磁盘";
    disk_read: "Read from disks a second", "每秒磁盘读取";
    disk_written: "Written to disks a second", "每秒磁盘写入";
    received: "Received a second", "每秒接收";
    sent: "Sent a second", "每秒发送";
    switches: "Context switches a second", "每秒上下文切换";
    waits: "Something waits: processor, disk, memory", "等待占比：处理器、磁盘、内存";
    free_of: "{} free of {}", "{} 可用，共 {}";

    log_is_off: "Queries are not written down (log.enabled).", "未记录查询日志（log.enabled）。";
    queries_by_hour: "Queries in the last 24 hours", "最近 24 小时查询量";
    top_queries: "Asked most, last day", "一天内最多的查询";
    rising_queries: "Rising", "上升最快";
    empty_queries: "Without results", "没有结果的查询";
    empty_queries_hint: "Among the last {} queries.", "在最近 {} 次查询中。";
    system_log: "System log", "系统日志";
    until: "Until", "截至";
    from_cache: "Known before", "缓存命中";
    fetched: "Pages fetched", "抓取网页";
    lost: "Log lines lost", "丢失的日志";

    settings_intro: "Every setting with its meaning. What you change is written to", "所有设置及其含义。修改会写入";
    sections: "Sections", "分类";
    default: "default:", "默认：";
    default_again: "Default again", "恢复默认";
    effect_at_once: "Holds at once", "立即生效";
    effect_next_crawl: "Holds from the next crawl", "下次抓取开始时生效";
    effect_next_start: "Holds from the next start", "重启后生效";
    pending: "waits for the next start", "等待重启";
    no_setting: "There is no such setting", "没有这个设置";
    take_and_bring: "Take away and bring", "导出与导入";
    export: "Download pharos.toml", "下载 pharos.toml";
    import: "Replace all settings", "替换全部设置";
    import_text: "Paste the text of a settings file. It is checked first; what stands there now is replaced as a whole.",
        "粘贴设置文件的内容。会先检查，然后整体替换现有设置。";

    no_logs: "There are no logs yet.", "还没有日志。";
    file: "File", "文件";
    contains: "Contains", "包含";
    lines_shown: "The last {} lines, the newest first.", "最后 {} 行，最新的在前。";
} }

impl PageWords {
    /// Where a page stands.
    pub(crate) fn state(&self, state: PageState) -> &'static str {
        match state {
            PageState::Waiting => self.waiting,
            PageState::Stored => self.stored,
            PageState::Failed => self.failed,
            PageState::Refused => self.refused,
            PageState::Deleted => self.deleted,
            PageState::Removed => self.removed,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_languages_say_everything() {
        crate::words::assert_same_places(super::TABLE);
    }
}
