//! Texts of the desk pages. Those of login, setup, operators and action log are in `admin/messages.rs`.

use pharos_store::PageState;

use crate::messages::messages;

messages! { PageMessages {
    known_sites: "Known sites", "已知网站";
    known_pages: "Known pages", "已知网页";
    waiting: "Waiting", "待抓取";
    stored: "Stored", "已存储";
    searchable: "Searchable", "可搜索";
    failed: "Failed", "失败";
    refused: "Refused", "被拒绝";
    quarantined: "Quarantined", "已隔离";
    removed: "Permanently removed", "已永久移除";
    deleted: "Reported as deleted by a feed", "数据源已删除";
    last_visit: "Last visit", "最近访问";
    never: "never", "从未";
    save: "Save", "保存";
    show: "Show", "查看";
    add: "Add", "添加";
    previous_page: "Previous", "上一页";
    next_page: "Next", "下一页";
    address: "URL", "网址";
    reason: "Reason", "原因";
    kind: "Kind", "类别";
    when: "Time", "时间";
    choose: "Select", "选择";
    choose_all: "Select all", "全选";
    sure: "Yes, I am sure", "是的，我确定";
    not_sure: "Nothing was changed: tick the confirmation box first", "未执行：请先勾选确认框";
    nothing_chosen: "Nothing is selected", "没有选择任何项目";
    nothing_yet: "Nothing yet", "暂无";
    now: "Now", "当前";
    five_minutes_ago: "5 minutes ago", "5 分钟前";

    live_figures: "Live metrics", "实时数据";
    glossary_intro: "The terms of the desk. The mark ? beside a label shows the meaning.", "控制台使用的术语。标签旁的 ? 显示其含义。";
    collection: "Collection", "数据概况";
    pages_a_second: "Pages per second", "每秒网页数";
    bytes_a_second: "Bytes per second", "每秒字节数";
    errors_a_second: "Errors per second", "每秒错误数";
    queue: "Queued pages", "队列中的网页";
    active_hosts: "Active hosts", "活跃主机";
    under_way: "Requests in flight", "进行中的请求";
    latest_problems: "Latest problems", "最近的问题";
    show_all: "Show all", "查看全部";
    submissions_wait: "Submissions awaiting a decision: {}", "等待处理的提交：{}";
    without_script: "Without JavaScript the metrics show the state when the page was loaded. Reload the page to update them.",
        "未启用 JavaScript 时，显示的是页面加载时的数据；重新加载页面即可更新。";
    to_seeds: "Add seed pages", "添加种子网页";

    is_off: "No engine is running on this data directory. Start one with `pharos up`.", "该数据目录上没有运行中的引擎。请用 `pharos up` 启动。";
    is_idle: "The engine is starting.", "引擎正在启动。";
    is_replaying: "The engine is catching up with the library; the crawl starts afterwards.", "引擎正在与网页库同步，随后开始抓取。";
    is_running: "The crawl is running (pharos {}).", "抓取进行中（pharos {}）。";
    is_up_to_date: "Idle: every known page is fetched, and none is due.", "空闲：所有已知网页均已抓取，没有到期的网页。";
    is_up_to_date_until: "Idle: every known page is fetched. The next visit is due on {}.", "空闲：所有已知网页均已抓取。下次抓取时间：{}。";
    is_held: "The crawl is paused by an operator.", "抓取已由管理员暂停。";
    is_disk_full: "The crawl is paused: the disk is nearly full (engine.disk_floor).", "抓取已暂停：磁盘空间即将耗尽（engine.disk_floor）。";
    is_empty: "There is nothing to crawl yet.", "还没有可抓取的内容。";
    ended_nothing_due: "The crawl has finished: no page is due.", "抓取已结束：没有到期的网页。";
    ended_max_pages: "The crawl has finished: the page limit is reached (crawl.max_pages).", "抓取已结束：达到网页数上限（crawl.max_pages）。";
    ended_time: "The crawl has finished: the time limit is reached (crawl.run_for).", "抓取已结束：达到时间上限（crawl.run_for）。";
    ended_disk: "The crawl has finished: the disk limit is reached (crawl.max_disk).", "抓取已结束：磁盘用量达到上限（crawl.max_disk）。";
    ended_stopped: "The crawl was stopped. Searching continues.", "抓取已停止，搜索照常。";
    has_failed: "The crawl failed: {}", "抓取失败：{}";
    pause: "Pause", "暂停";
    resume: "Resume", "继续";
    stop: "Stop the crawl", "停止抓取";
    start: "Start the crawl", "开始抓取";
    did_pause: "The crawl is paused: requests in flight finish, no new ones start", "抓取已暂停：进行中的请求会完成，不再发起新请求";
    did_resume: "The crawl continues", "抓取已继续";
    did_stop: "The crawl is stopping; searching continues", "抓取即将停止，搜索照常";
    did_start: "The crawl is starting", "抓取已开始";

    crawl_title: "Crawl", "抓取";
    crawl_intro: "Seeds, crawl rules and speed. Changes take effect within a second, without stopping the crawl.",
        "种子网页、抓取规则和速度。修改在一秒内生效，无需停止抓取。";
    needs_contact: "Public web sites are not crawled until you say how their owners can reach you: fill in the contact below.",
        "填写联系方式之前不会抓取公网网站：请在下方填写，以便站长联系您。";
    seeds: "Seeds", "种子网站";
    no_seeds: "None yet. Enter one page of each site that you want to search.", "暂无。请为每个要搜索的网站填写一个网页。";
    and_more: "and {} more", "以及另外 {} 个";
    add_seeds: "Add seeds", "添加种子网页";
    add_seeds_hint: "One URL per line.", "每行一个网址。";
    seeds_not_added: "{} added. Not valid URLs: {}", "已添加 {} 个。无效的网址：{}";
    did_add: "Added: the pages are fetched as soon as politeness allows", "已添加：在礼貌规则允许时尽快抓取";
    rules_title: "Crawl rules", "抓取规则";
    scope: "Follow links", "跟踪链接的范围";
    scope_host: "on the hosts of the seeds", "仅种子网页所在主机";
    scope_domain: "on the domains of the seeds", "种子网页所在的整个域名";
    scope_any: "anywhere", "不限";
    max_depth: "Maximum depth in clicks from a seed", "距种子网页的最大点击数";
    guide_words: "Guide words", "引导词";
    guide_words_hint: "Pages about these topics, and the pages they link to, are fetched first. One word per line. Used by the strategies importance, hot-queue and alternate only (crawl.strategy).", "与这些主题相关的网页及其链接优先抓取。每行一个词。仅在 importance、hot-queue、alternate 策略下生效（crawl.strategy）。";
    include: "Only URLs that match", "仅抓取匹配的网址";
    exclude: "Exclude URLs that match", "排除匹配的网址";
    rules_hint: "Patterns for whole URLs, one per line; * matches any characters. Queued pages that the new rules exclude are refused when they are due.",
        "匹配完整网址的模式，每行一个，* 代表任意字符。队列中被新规则排除的网页在轮到时会被拒绝。";
    pace_title: "Speed", "速度";
    contact: "Contact", "联系方式";
    contact_hint: "An email address or a URL, sent with every request.", "邮箱或网页地址，随每个请求发送。";
    fetchers: "Concurrent requests", "并发请求数";
    politeness: "Politeness", "礼貌程度";
    gentle: "gentle", "温和";
    normal: "normal", "普通";
    own_site: "own site: no delay", "自有网站：不等待";
    day_delay: "Delay between two requests to a site, by day", "同一网站两次请求的间隔（白天）";
    night_delay: "By night", "同一网站两次请求的间隔（夜间）";
    delay_hint: "For example 1s, 500ms or 2m. Applies to the politeness level selected above; robots.txt may require more.", "例如 1s、500ms、2m。适用于上面所选的礼貌程度；robots.txt 可要求更长。";
    no_delay: "Invalid delay: use a form such as 1s, 500ms or 2m", "等待时间无效：请写成 1s、500ms 或 2m 的形式";
    decided_by: "{} is set by the {}; change it there.", "{} 由 {} 设定，请在那里修改。";
    did_change: "Saved", "已保存";
    did_nothing: "No changes", "没有改动";
    no_address: "Not a valid URL: enter it in full, for example https://www.example.org/", "网址无效：请填写完整网址，例如 https://www.example.org/";

    sites_title: "Sites", "网站";
    sites_filter: "Filter sites", "筛选网站";
    site_name: "Site", "网站";
    state_label: "State", "状态";
    all_states: "All", "全部";
    sorted_by: "Sort by", "排序";
    sites_found: "{} sites", "{} 个网站";
    more_sites: "More sites", "更多网站";
    state_seed: "seed", "种子";
    state_found: "discovered", "已发现";
    state_waiting: "has queued pages", "有待抓取网页";
    state_failing: "has failed pages", "有失败网页";
    state_refused: "refused", "被拒绝";
    state_backoff: "asked us to wait", "要求等待";
    state_copy: "mirror", "镜像";
    state_removed: "removed", "已移除";
    no_site: "Not a valid host name: enter the host only, for example www.example.org", "主机名无效：只填写主机名，例如 www.example.org";
    unknown_site: "Nothing is known about this site yet.", "还没有关于该网站的信息。";
    delay: "Delay between requests", "请求间隔";
    crawl_window: "Crawl window", "抓取时段";
    window_closed: "{}; closed, opens {}", "{}；现已关闭，{} 开始";
    left_alone_until: "Not visited before", "暂不访问，直到";
    problems_of_site: "Problems with pages of this site", "该网站有问题的网页";
    recrawl: "Fetch all pages again", "重新抓取全部网页";
    did_recrawl: "All known pages of the site are due now", "该网站的所有已知网页现已到期";
    hide: "Hide from results", "从结果中隐藏";
    show_again: "Show in results again", "恢复显示";
    did_hide: "The site is hidden from results (rank.block)", "该网站已从结果中隐藏（rank.block）";
    did_show: "The site is shown in results again", "该网站已恢复显示";
    skip: "Stop crawling", "停止抓取";
    follow: "Resume crawling", "恢复抓取";
    did_skip: "Only the seeds of the site are still fetched; its other pages leave the index (crawl.exclude)", "除种子网页外，不再抓取该网站，其他网页将移出索引（crawl.exclude）";
    did_follow: "The pages of the site may be fetched again", "可以再次抓取该网站的网页";
    boost: "Score boost of its pages", "网页得分加成";
    boost_hint: "Scores range from 0 to 1 (rank.boost).", "得分在 0 到 1 之间（rank.boost）。";
    did_boost: "Saved; the next search uses it", "已保存，下次搜索即生效";
    site_settings: "Settings of this site", "该网站的设置";
    site_settings_hint: "Any of zone=+08:00 politeness=gentle delay=5s connections=2 max_pages=1000 sorted window=mon-fri/22:00-06:00; leave empty for none (crawl.site_settings). The site is fetched only within its windows.",
        "可用 zone=+08:00 politeness=gentle delay=5s connections=2 max_pages=1000 sorted window=mon-fri/22:00-06:00；留空表示无（crawl.site_settings）。设置抓取时段后，只在时段内抓取该网站。";
    remove: "Remove permanently", "永久移除";
    remove_site_text: "All pages of this site are removed from results, snapshots and the library, and are never fetched again.", "该网站的所有网页将从结果、快照和网页库中移除，且不再收录。";
    remove_page_text: "The page is removed from results, snapshots and the library, and is never fetched again.", "该网页将从结果、快照和网页库中移除，且不再收录。";
    did_remove: "Removed", "已移除";
    robots_missing: "not present, everything may be fetched", "不存在，可以抓取全部网页";
    robots_unreachable: "unreachable, nothing is fetched for now", "无法获取，暂不抓取";
    robots_known: "fetched", "已获取";
    some_pages: "Some pages", "部分网页";

    report_title: "Why is this page not found?", "这个网页为什么搜不到？";
    report_intro: "Everything known about one URL, in the order in which a page passes through the engine.",
        "按照网页经过引擎的顺序，列出关于一个网址的全部信息。";
    ask: "Look up", "查询";
    fetch_now: "Fetch it now", "立即抓取";
    did_fetch: "The page is fetched as soon as politeness allows", "在礼貌规则允许时立即抓取";
    live_page: "Live page", "原网页";
    cleaned: "Before and after cleaning", "净化前后对比";
    snapshot: "Snapshot", "快照";
    step_found: "Discovery", "发现";
    step_rules: "Crawl rules", "抓取规则";
    step_fetched: "Fetching", "抓取情况";
    step_copies: "Duplicates", "重复网页";
    step_index: "Index", "索引状态";
    never_discovered: "Unknown: no link, sitemap or operator refers to it.", "未知网页：没有链接、站点地图或管理员指向它。";
    discovered: "Discovered on {}, {} clicks from a seed.", "发现于 {}，距种子网页 {} 次点击。";
    called: "Link text: “{}”.", "链接文字：“{}”。";
    redirected_from: "Redirected from {}", "由 {} 重定向而来";
    linked_by: "{} pages link to it.", "{} 个网页链接到它。";
    admits: "allowed", "允许";
    refuses: "refused", "拒绝";
    undecided: "not decided yet", "尚未确定";
    never_fetched: "Never fetched.", "从未抓取。";
    page_state: "State: {}", "状态：{}";
    visited: "Last visit {}, {} responses, {} changes.", "最近访问 {}，共 {} 次响应，{} 次变化。";
    attempts: "{} consecutive attempts without a valid response.", "连续 {} 次未得到有效响应。";
    due: "Next fetch: {}.", "下次抓取：{}。";
    refresh_reason: "Refresh policy {}: a change about every {} days, weight {}, of which a factor of {} by queries, clicks, links and operators.",
        "刷新策略 {}：约每 {} 天变化一次，权重 {}，其中查询、点击、链接和管理员设置的系数为 {}。";
    change_announced: "A sitemap, feed or notice announced a change since the last visit.", "上次访问之后，站点地图、新闻源或通知公布了变化。";
    unchanged: "unchanged", "未变化";
    dropped: "deleted by the retention policy", "已按保留策略删除";
    damaged: "damaged", "已损坏";
    no_copies: "No other page has the same content.", "没有内容完全相同的网页。";
    copies: "{} pages have exactly the same content; one of them represents all:", "有 {} 个网页内容完全相同，由其中一个代表：";
    not_indexed: "Not in the index.", "不在索引中。";
    asks_noindex: "The page asks not to be indexed (noindex).", "网页要求不被收录（noindex）。";
    indexed_as: "Indexed with the title “{}”.", "已收录，标题为“{}”。";
    indexed_at: "Indexed version: {}.", "收录的版本：{}。";
    in_language: "Language: {}", "语言：{}";
    no_archive: "The page does not allow a snapshot (noarchive).", "网页要求不提供快照（noarchive）。";
    why_found: "The page can be found.", "可以搜到。";
    why_hidden: "The page is indexed, but an operator has hidden it from results (rank.block).", "已收录，但被管理员从结果中隐藏（rank.block）。";
    why_curated: "The page is indexed, but {} has hidden it from results (see Curation).", "已收录，但被 {} 从结果中隐藏（见“结果干预”）。";
    curate: "Pin or hide", "置顶或隐藏";
    why_unknown: "The page is unknown. Use the button to fetch it now.", "尚不知道这个网页。可点击按钮立即抓取。";
    why_unknown_refused: "The page is unknown, and the crawl rules would refuse it: {}", "尚不知道这个网页，而且抓取规则会拒绝它：{}";
    why_removed: "An operator removed the page permanently.", "已被管理员永久移除。";
    why_deleted: "A feed reported the page as deleted.", "数据源报告该网页已删除。";
    why_refused: "The page is not fetched, because a rule forbids it: {}", "规则禁止抓取：{}";
    why_failed: "The page could not be fetched: {}", "抓取失败：{}";
    why_quarantined: "The page was fetched, but could not be analysed: {}", "已抓取，但无法解析：{}";
    why_waiting: "The page is known and queued.", "已发现，正在排队等待抓取。";
    why_waits_for: "The page is known and waiting: {}", "已发现，正在等待：{}";
    why_robots: "The page is known and waits for the robots.txt of its server, which was unreachable on {}: {}. The next try is on {}.",
        "已发现，正在等待该服务器的 robots.txt：{} 时无法访问（{}）。下次尝试时间：{}。";
    why_robots_later: "The page is known and waits for the robots.txt of its server, which was unreachable on {}: {}. It is tried again while a crawl is running.",
        "已发现，正在等待该服务器的 robots.txt：{} 时无法访问（{}）。抓取运行时会再次尝试。";
    why_other_scheme: "The page is not fetched: its site shows the same pages at {}, and those are fetched.",
        "不抓取该网页：该网站在 {} 下有相同的网页，只抓取那些网页。";
    page_mirrored: "fetched from another address", "从另一地址抓取";
    why_window: "The page is known and waits for the crawl window of its site, which opens at {}.", "已发现，正在等待该网站的抓取时段，将于 {} 开始。";
    why_noindex: "The page was fetched, but asks not to be indexed (noindex).", "已抓取，但网页要求不被收录（noindex）。";
    why_status: "The server returns status {}.", "服务器返回状态码 {}。";
    why_copy: "The page has the same content as {}, which represents it.", "与 {} 内容相同，由后者代表。";
    why_nothing_to_find: "The page was fetched, but has no searchable content.", "已抓取，但没有可供搜索的内容。";
    why_soon: "The page was fetched on {} and will be searchable in a moment.", "已于 {} 抓取，稍后即可搜到。";

    problems_intro: "Pages whose last visit failed, got an error response, or was forbidden by a rule, newest first.", "最近一次访问失败、返回错误，或被规则禁止的网页，最新的在前。";
    problems_filter: "Filter pages", "筛选网页";
    all_problems: "All", "全部";
    reasons: "By reason", "按原因";
    no_problems: "No matching page.", "没有符合条件的网页。";
    tries: "Attempts", "尝试次数";
    next_try: "Next attempt", "下次尝试";
    retry: "Retry selected pages now", "立即重试所选网页";
    did_retry: "{} pages will be fetched again", "将重试 {} 个网页";

    submissions_intro: "Pages proposed by visitors. Accepted pages become seeds.", "访客提交的网页。接受后将成为种子网页。";
    no_submissions: "No submission is awaiting a decision.", "没有待处理的提交。";
    accept: "Accept", "接受";
    refuse: "Refuse", "拒绝";
    decision: "Decision", "处理";
    accept_selected: "Accept selected", "接受所选";
    refuse_selected: "Refuse selected", "拒绝所选";
    accepted: "accepted", "已接受";
    was_refused: "refused", "已拒绝";
    decided: "Decided", "已处理";
    did_accept: "{} accepted: they will be fetched soon", "已接受 {} 个，即将抓取";
    did_refuse: "{} refused", "已拒绝 {} 个";

    words_intro: "Words of this installation that the general dictionary lacks. Queries use them immediately; the next index build segments all pages with them.",
        "通用词典之外、本站自有的词。查询立即使用；下次构建索引时，所有网页都按它们重新分词。";
    add_words: "Add words, one per line", "添加词，每行一个";
    word: "Word", "词";
    word_base: "word", "基本词";
    word_extension: "name composed of words", "由词组成的名称";
    word_automatic: "automatic", "自动判断";
    word_kinds_hint: "A word is never split. A name, such as 国家图书馆, is found as a whole and by its parts.",
        "基本词不会再被切分；由词组成的名称（如国家图书馆）既可整体搜索，也可按组成部分搜索。";
    frequency: "Frequency", "频率";
    word_source: "Source", "来源";
    word_learnt: "learnt from queries", "从查询中学到";
    word_learnt_hint: "Builds learn words that many visits ask for (clicks.learn_words). A learnt word that is removed here is not learnt again.",
        "构建索引时会学习许多访问都查询过的词（clicks.learn_words）。在这里移除的词不会再次学习。";
    words_found: "{} words", "{} 个词";
    words_changed: "{} words changed", "已修改 {} 个词";
    remove_words: "Remove selected words", "移除所选的词";

    index_intro: "Fetched pages enter “latest” within seconds. A build creates a new “history” of all pages and recomputes links, ranks and duplicates.",
        "抓取的网页几秒内进入最新库（latest）。构建会生成新的历史库（history），并重新计算链接、排名和重复网页。";
    history: "history", "history";
    latest: "latest", "latest";
    open: "open", "写入中";
    on_disk: "On disk", "磁盘占用";
    latest_share: "Size of latest relative to history", "latest 相对 history 的大小";
    generations: "Generations", "索引代";
    generation: "Generation", "索引代";
    since: "Created", "创建时间";
    before: "Kept for rollback", "保留用于回滚";
    history_damaged: "The current history is damaged: the previous one is in use.", "当前 history 已损坏，正在使用上一代。";
    is_building: "A new history is being built:", "正在构建新的 history：";
    built_elsewhere: "Another process is building a new history.", "另一个进程正在构建新的 history。";
    build_unfinished: "A build was interrupted; the next one continues with {} pages done.", "有一次构建被中断，下次将从已完成的 {} 个网页继续。";
    next_build: "Next automatic build: {}.", "下次自动构建：{}。";
    outdated: "The index was made by an earlier release and lacks the text outside the main content of pages. Build a new history.",
        "索引由较早的版本生成，缺少网页正文以外的文字。请构建新的 history。";
    first_build: "Ranking improves with the first build, which adds link ranks, anchor texts and duplicate groups. It starts when the crawl pauses, or at {} pages (index.first_build).",
        "首次构建后排序会更好：构建会加入链接排名、锚文本和重复网页分组。抓取暂停时，或达到 {} 个网页时（index.first_build）自动开始。";
    build_now: "Build now", "立即构建";
    stop_build: "Stop the build", "停止构建";
    already_building: "A build is already running", "构建已在进行";
    did_build: "The build has started", "构建已开始";
    did_stop_build: "The build is stopping; the next one continues where it stopped", "构建即将停止，下次会接着进行";
    last_built: "Last build: {}, generation {}, {} pages.", "上次构建：{}，第 {} 代，{} 个网页。";
    last_failed: "Last build: {}, failed: {}", "上次构建：{}，失败：{}";
    build_sealing: "waiting for the engine", "等待引擎";
    build_analysing: "analysing new pages: {} records", "分析新网页：{} 条记录";
    build_surveying: "scanning the library: {} records", "扫描网页库：{} 条记录";
    build_comparing: "finding duplicates: {} of {} pages", "查找重复网页：{} / {}";
    build_linking: "reading links: {} of {} pages", "读取链接：{} / {}";
    build_ranking: "computing ranks", "计算排名";
    build_indexing: "indexing: {} of {} pages", "建立索引：{} / {}";
    build_verifying: "verifying", "校验";
    build_warming: "warming up: {} queries", "预热：{} 个查询";
    build_switching: "installing", "切换";
    roll_back: "Roll back to the previous history", "回滚到上一代 history";
    roll_back_text: "The current history is dropped. Pages fetched since then are kept.", "将丢弃当前的 history，此后抓取的网页会保留。";
    did_roll_back: "Rolled back to the previous history", "已回滚到上一代 history";

    stages: "Engine stages", "引擎各阶段";
    stages_intro: "The bottleneck of each stage. The slowest stage determines the overall speed.", "各阶段的瓶颈。最慢的阶段决定整体速度。";
    stage: "Stage", "阶段";
    bound_by: "Bottleneck", "瓶颈";
    stage_queue: "Waiting", "等待";
    threads: "Threads", "线程";
    stage_switches: "Context switches per second (voluntary / involuntary)", "每秒上下文切换（自愿/非自愿）";
    stage_fetch: "Fetch and serve", "抓取与服务";
    stage_append: "Append (library)", "写入网页库";
    stage_analyse: "Analyse (clean, segment)", "净化与分词";
    stage_apply: "Apply (catalog, index)", "写入目录库与索引";
    stage_build: "Build", "构建";
    stage_query: "Queries", "查询";
    bound_idle: "idle", "空闲";
    bound_processor: "CPU", "处理器";
    bound_disk: "disk", "磁盘";
    bound_network: "network", "网络";
    bound_politeness: "politeness", "礼貌等待";
    bound_next: "next stage", "后一阶段";
    processor: "CPU", "处理器";
    processors: "CPUs", "处理器数";
    load: "Load", "负载";
    memory: "Memory", "内存";
    own_memory: "Memory of this process", "本进程内存";
    disk: "Free disk space", "磁盘可用空间";
    disk_read: "Disk reads per second", "每秒磁盘读取";
    disk_written: "Disk writes per second", "每秒磁盘写入";
    received: "Received per second", "每秒接收";
    sent: "Sent per second", "每秒发送";
    switches: "Context switches per second", "每秒上下文切换";
    waits: "Pressure (CPU, disk, memory)", "资源压力（处理器、磁盘、内存）";
    free_of: "{} free of {}", "{} 可用，共 {}";

    log_is_off: "The query log is switched off (log.enabled).", "未启用查询日志（log.enabled）。";
    queries_by_hour: "Queries in the last 24 hours", "最近 24 小时查询量";
    top_queries: "Top queries, last 24 hours", "最近 24 小时热门查询";
    rising_queries: "Rising queries", "上升最快的查询";
    empty_queries: "Queries without results", "没有结果的查询";
    empty_queries_hint: "Among the last {} queries.", "最近 {} 次查询中。";
    system_log: "System log", "系统日志";
    until: "Until", "截至";
    from_cache: "Cache hits", "缓存命中率";
    fetched: "Fetched pages", "抓取网页数";
    lost: "Lost log records", "丢失的日志记录";

    settings_intro: "All settings with their meaning. Changes are written to", "所有设置及其含义。修改会写入";
    sections: "Sections", "分类";
    find_settings: "Find settings", "查找设置";
    changed_settings: "changed", "已修改";
    no_settings_found: "No setting matches.", "没有符合条件的设置。";
    default: "default:", "默认：";
    reset_default: "Reset to default", "恢复默认";
    effect_at_once: "Takes effect immediately", "立即生效";
    effect_next_crawl: "Takes effect with the next crawl", "下次抓取时生效";
    effect_next_start: "Takes effect after a restart", "重启后生效";
    pending: "restart required", "需要重启";
    no_setting: "No such setting", "没有这个设置";
    unkept: "Set by the command line of this start only: {}", "仅由本次启动的命令行设定：{}";
    keep: "Keep for the next start", "保留到下次启动";
    export_import: "Export and import", "导出与导入";
    export: "Download pharos.toml", "下载 pharos.toml";
    import: "Replace all settings", "替换全部设置";
    import_text: "Paste the content of a configuration file. It is validated first, then it replaces the current settings completely.",
        "粘贴设置文件的内容。系统会先检查，然后整体替换现有设置。";

    no_logs: "There are no logs yet.", "还没有日志。";
    file: "File", "文件";
    contains: "Contains", "包含";
    level: "Level", "级别";
    all_levels: "All lines", "全部";
    warnings: "Warnings and errors", "警告和错误";
    errors: "Errors", "错误";
    lines_shown: "The last {} lines, newest first.", "最后 {} 行，最新的在前。";
} }

impl PageMessages {
    /// Returns the name of a page state.
    pub(crate) fn state(&self, state: PageState) -> &'static str {
        match state {
            PageState::Waiting => self.waiting,
            PageState::Stored => self.stored,
            PageState::Failed => self.failed,
            PageState::Refused => self.refused,
            PageState::Deleted => self.deleted,
            PageState::Removed => self.removed,
            PageState::Quarantined => self.quarantined,
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
