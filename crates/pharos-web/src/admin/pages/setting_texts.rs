//! Chinese texts about sections and settings. The English ones are in `pharos_core::config`.

use pharos_core::config::{ConfigKey, KEYS, SECTIONS};

use crate::messages::Lang;

/// Returns the meaning of a setting.
pub(crate) fn meaning(key: &ConfigKey, lang: Lang) -> &'static str {
    translated(key, lang, MEANINGS)
}

/// Returns the subject of a section.
pub(crate) fn section_meaning(section: &ConfigKey, lang: Lang) -> &'static str {
    translated(section, lang, &SECTION_MEANINGS)
}

/// Returns the Chinese text of a name, if it has one.
fn translated(key: &ConfigKey, lang: Lang, texts: &[(&str, &'static str)]) -> &'static str {
    let chinese = || texts.iter().find(|(name, _)| *name == key.name).map(|(_, text)| *text);
    match lang {
        Lang::En => key.meaning.trim(),
        Lang::Zh => chinese().unwrap_or(key.meaning.trim()),
    }
}

/// Returns the sections of all settings with the settings in them.
pub(crate) fn sections() -> impl Iterator<Item = (&'static ConfigKey, Vec<&'static ConfigKey>)> {
    SECTIONS.iter().map(|section| {
        let of_section =
            |key: &&ConfigKey| key.name.split_once('.').is_some_and(|(name, _)| name == section.name);
        (section, KEYS.iter().filter(of_section).collect())
    })
}

const SECTION_MEANINGS: [(&str, &str); 19] = [
    ("crawl", "抓取：范围、礼貌规则、限制、重试和刷新。"),
    ("refresh", "已知网页的刷新：决定何时再次抓取网页的策略。"),
    ("library", "保存原始网页的网页库。"),
    ("clean", "网页净化和关键词提取。"),
    ("graph", "链接分析和重复网页检测。"),
    ("index", "索引。"),
    ("query", "查询处理。"),
    ("cache", "查询缓存。"),
    ("suggest", "输入时的搜索建议。"),
    ("correct", "拼写纠正（“您是不是要找”）。"),
    ("rank", "排序。得分的每个因素都在 0 到 1 之间。"),
    ("web", "网页服务器。"),
    ("desk", "位于 /admin 的控制台。"),
    ("engine", "运行中的引擎。"),
    ("alerts", "运行中的引擎发出的警报，显示在控制台上，也可发送到网络钩子或邮箱。"),
    ("backup", "运行中的引擎所做的备份。"),
    ("log", "查询日志、访问日志和系统日志。"),
    ("clicks", "点击图：点击所反映的查询与网页之间的关系。"),
    ("hot", "热门查询和相关查询。"),
];

const MEANINGS: &[(&str, &str)] = &[
    ("crawl.contact", "站长联系管理员的邮箱或网页地址；抓取公网网站时必填。"),
    ("crawl.agent", "爬虫的名称，即 robots.txt 规则所匹配的 User-Agent。"),
    ("crawl.scope", "从种子网页出发跟踪哪些链接：同一主机（host）、同一注册域名（domain）或全部（any）。"),
    ("crawl.mode", "新的抓取如何对待已知网页：incremental 到期才抓取，batch 从种子网页开始全部重新抓取。"),
    ("crawl.max_pages", "存储的网页达到多少后停止抓取；0 表示不限。"),
    ("crawl.max_depth", "距种子网页的最大链接数（中国网页调查：17 足以到达人们能找到的所有网页）。"),
    ("crawl.include", "只跟踪匹配这些模式的网址；模式匹配整个网址，* 代表任意字符；留空表示全部跟踪。"),
    ("crawl.exclude", "从不跟踪匹配这些模式的网址，写法同 include。"),
    ("crawl.filter", "从不跟踪包含这些字符串的网址，不区分大小写；写 tse 则加入天网 TSE 的 25 条过滤规则。"),
    ("crawl.types", "存储哪些媒体类型，例如 text/html 或 text/*；留空则存储所有可读的文档类型。"),
    ("crawl.sorted_sites", "查询参数顺序没有意义的网站或域名：参数会被排序。"),
    (
        "crawl.guide_words",
        "主题抓取的引导词：优先抓取与它们相关的网页及其链接的网页。仅用于 importance、hot-queue 和 alternate 策略。",
    ),
    ("crawl.parent_directories", "同时尝试每个已发现网页的上级目录：由 /a/ 得到 /。"),
    ("crawl.sitemaps", "读取网站提供的站点地图。"),
    (
        "crawl.icons",
        "抓取各网站的图标（/favicon.ico）并显示在搜索结果旁；图标由 Pharos 提供，用户不会向该网站发送请求。",
    ),
    ("crawl.allow_addresses", "只从这些 IP 网段抓取，例如 162.105.0.0/16；留空表示不限。"),
    ("crawl.forbid_addresses", "从不抓取这些 IP 网段，例如 162.105.0.0/16。"),
    ("crawl.max_pages_per_site", "每个网站最多存储的网页数；0 表示不限。"),
    ("crawl.run_for", "一次抓取的最长时间；0 表示不限。"),
    ("crawl.max_disk", "数据目录超过该大小时停止抓取；0 表示不限。"),
    (
        "crawl.strategy",
        "抓取顺序：breadth-first（广度优先）、depth-first（深度优先）、importance（重要度优先）、alternate（交替）、\
         hot-queue（热队列）、site-first（网站优先）或 worm。",
    ),
    (
        "crawl.restart",
        "恢复抓取时的起点：所有尚未抓取的已知网页（known），或仅种子网页（seeds，RBSE 的做法）。",
    ),
    ("crawl.alpha", "网页重要度：链接得分（alpha）与网址得分（beta）的权重。"),
    ("crawl.beta", "网页重要度：网址得分的权重，见 alpha。"),
    ("crawl.alternate", "交替策略：轮流按权重取若干网页，再随机取若干网页（TSE）。"),
    ("crawl.queue_ratio", "热队列策略：每轮从各队列取出的网页数，最热的队列在前。"),
    ("crawl.important_sites", "其网页权重较高的主机或域名。仅用于 importance、hot-queue 和 alternate 策略。"),
    (
        "crawl.wanted",
        "其网页权重较高的语言和字符集，例如 zh 和 gb18030。仅用于 importance、hot-queue 和 alternate 策略。",
    ),
    ("crawl.seen_memory", "已见链接过滤器占用的内存，它省去大部分目录库查询。"),
    ("crawl.politeness", "礼貌程度：gentle、normal 或 own-site；由随后三项设置定义。"),
    (
        "crawl.gentle",
        "温和：两次请求间隔白天 10 秒、夜间 1 秒（或始终 30 秒），或上次抓取耗时的 100 倍（最长 5 分钟），每个网站每天 20,000 个网页。",
    ),
    ("crawl.normal", "普通：两次请求间隔 1 秒，或上次抓取耗时的 10 倍（最长 5 分钟）。"),
    ("crawl.own_site", "自有网站：不等待、不限量，用于您自己运营的服务器。"),
    ("crawl.sites_per_domain", "拥有众多网站的域名的最大请求速率，以单个网站速率的倍数表示。"),
    (
        "crawl.site_settings",
        "各主机的设置：主机名后加 zone=+08:00 politeness=gentle delay=5s connections=2 max_pages=1000 sorted \
         window=mon-fri/22:00-06:00 中的任意几项；主机名可以写成 *.example.org。设有抓取时段（window）的主机只在时段内抓取；\
         zone 也可以是 Europe/Berlin 这样的名称。",
    ),
    (
        "crawl.robots_forbidden_is_allowed",
        "robots.txt 返回 401 或 403 时视为允许抓取全部网页（RFC 9309）；设为 false 则视为全部禁止。",
    ),
    ("crawl.robots_stale", "服务器不再返回 robots.txt 时，过期的旧文件继续有效的时间。"),
    ("crawl.http2", "对支持 HTTP/2 的服务器使用 HTTP/2。"),
    ("crawl.extra_ca", "除公共机构之外还信任的证书颁发机构的 PEM 文件。"),
    (
        "crawl.low_speed",
        "响应正文的最低传输速率（字节/秒，按 low_speed_time 平均）；更慢的正文会被截断。0 表示不检查。",
    ),
    ("crawl.low_speed_time", "计算 low_speed 的时间窗口。"),
    ("crawl.max_crawl_delay", "robots.txt 中 Crawl-delay 的上限；更长的间隔按此值处理。"),
    ("crawl.fetchers", "所有主机的并发请求总数上限。运行中的抓取收到 SIGHUP 时重新读取。"),
    ("crawl.connections_per_host", "对同一主机的最大并发请求数。"),
    ("crawl.body_limit", "响应正文的最大长度；更长的正文会被截断。"),
    ("crawl.connect_timeout", "建立连接的时限，包括域名解析和 TLS 握手。"),
    ("crawl.first_byte_timeout", "等待响应首字节的时限。"),
    ("crawl.total_timeout", "接收完整响应的时限。"),
    ("crawl.max_redirects", "重定向链的最大长度。"),
    ("crawl.max_attempts", "没有响应的网页最多尝试的次数。"),
    ("crawl.retry_delay", "第二次尝试前的等待时间；此后每次为前一次的四倍。"),
    ("crawl.site_budget", "网站没有新内容时仍允许抓取的网页数；每个有新内容的网页增加十个。0 表示不限。"),
    ("crawl.refresh", "网页的刷新间隔；0 表示不刷新。"),
    ("crawl.refresh_home", "网站首页的刷新间隔。"),
    ("crawl.refresh_hub", "目录型网页的刷新间隔，网站的新网页最先出现在这里。"),
    ("crawl.refresh_feed", "站点地图和新闻源的刷新间隔。"),
    ("crawl.refresh_at_most_every", "任何网页的最短刷新间隔（刷新过于频繁反而有害：Cho 2003）。"),
    (
        "crawl.gone_after",
        "网页不存在（404）时再次抓取前的等待时间；仍不存在则从索引中移除，之后以逐次加倍的间隔（最长为该时间的 32 倍）再检查几次，最后放弃。",
    ),
    ("crawl.robots_lifetime", "已获取的 robots.txt 的有效期（RFC 9309：最长 24 小时）。"),
    ("crawl.allow_private", "允许抓取私有地址和本机地址。"),
    ("crawl.resolve", "HOST:PORT:ADDR：访问该主机和端口时使用这个地址，与 curl 相同。"),
    ("crawl.connect_to", "HOST1:PORT1:HOST2:PORT2：连接后者以代替前者，与 curl 相同。"),
    (
        "crawl.recrawl",
        "定时抓取，每项写成“时间 目标”：时间可以是一天中的时刻（03:30）、带星期的时刻（mon-fri 03:30）、间隔（6h）或某个日期时间\
         （2026-12-24T22:00）；目标是主机名或带 * 的网址模式。",
    ),
    ("crawl.time_zone", "抓取时段和其他日程所用的时区，例如 Europe/Berlin 或 +08:00；留空则使用本机时区。"),
    (
        "refresh.policy",
        "刷新策略：lag（根据学到的变化率，使变化等待的时间最短）、uniform（固定间隔 crawl.refresh*）、proportional、paper、freshness 或 harmonic。",
    ),
    ("refresh.budget", "策略每天计划访问已知网页的次数；0 表示与固定间隔 crawl.refresh* 的次数相同。"),
    ("refresh.longest", "最长刷新间隔：任何网页都不会超过这一时间不被访问。"),
    (
        "refresh.weights",
        "按网站或网址模式设置的权重，每行一项：`www.example.org 4`、`https://www.example.org/news/* 8`。第一条匹配的有效。\
         在 lag 策略下，权重为 4 的网页访问频率加倍。",
    ),
    ("refresh.interest_every", "根据热门查询、点击和链接计算网页权重的间隔；0 表示三者都不考虑。"),
    (
        "refresh.inserted_visit",
        "paper 策略：发现变化后插入的访问的位置，midpoint（中点）或 golden-section（黄金分割点）。",
    ),
    ("library.file_size", "网页库的卷达到该大小时关闭并新建一卷。"),
    ("library.format", "记录的压缩格式：gzip（.warc.gz，所有工具都能读取）或 zstd（.warc.zst）。"),
    ("library.level", "记录的压缩级别：gzip 为 1（快）到 12（小），zstd 为 1 到 19。"),
    ("library.requests", "随响应一起保存请求头。"),
    ("library.keep_versions", "压缩整理时每个网页保留的最新版本数；0 表示全部保留。"),
    ("library.keep_for", "压缩整理时保留多久以内的旧版本；0 表示不限。"),
    ("clean.rules", "定位正文的规则：pharos、score-tables（《走进搜索引擎》§3.2.3）或一个文件。"),
    (
        "clean.template",
        "某行文字在同一网站其他网页中出现的比例达到此值时，历史库构建会把它当作模板去除；0 保留所有行。",
    ),
    ("clean.levels", "强调的传播距离（层数）：先是相邻的块，再是外层块的相邻块。"),
    ("clean.cap", "权重高于此值的块不再传播强调。"),
    ("clean.keywords", "每个网页的关键词数（α，绝对选取）。"),
    ("clean.keyword_factor", "关键词的最小权重，以平均权重的倍数表示（β，相对选取）。"),
    ("clean.delta1", "表格算法（eval clean --rules tables）：主题块的最小宽度，像素（δ1）。"),
    ("clean.delta2", "表格算法：主题块的最小宽度，占网页的百分比（δ2）。"),
    ("clean.delta3", "表格算法：主题块的最小高度，占网页的百分比（δ3）。"),
    ("graph.damping", "PageRank：读者沿链接前进而不是随机跳转的概率（阻尼系数）。"),
    ("graph.epsilon", "PageRank：一次迭代中所有概率的总变化小于此值时结束。"),
    ("graph.max_rounds", "PageRank：最大迭代次数。"),
    (
        "graph.memory",
        "链接排序使用的内存，锚文本排序另用同样多；其余写入磁盘。链接图本身不受此限，每条链接约 8 字节，每个网页约 400 字节。",
    ),
    ("graph.max_anchors", "每个网页保留的锚文本数上限；更多的锚文本不再增加信息。"),
    ("graph.new_page", "网页在此时间内视为新网页，对其尚未获得的链接给予补偿。"),
    ("index.memory", "索引写入器的内存。"),
    ("index.commit_every", "抓取的网页每隔多久变为可搜索。"),
    ("index.body_limit", "每个网页编入索引的文字长度上限；更长的会被截断。"),
    (
        "index.build_every",
        "历史库存在多久后 up 构建新的历史库，这也限定了最新库的时间跨度；0 表示不按时间触发。",
    ),
    (
        "index.latest_share",
        "最新库的网页数达到历史库的这个比例（且至少 10,000 个网页）时，up 构建新的历史库；0 表示不按大小触发。",
    ),
    (
        "index.first_build",
        "可搜索的网页达到此数量时，up 构建第一个历史库，加入链接排名、锚文本和重复网页分组；已知网页全部抓取后会提前构建。0 表示不触发。",
    ),
    ("index.save_every", "构建时每处理多少网页保存一次进度；中断的构建从那里继续。保存一次约需一秒。"),
    (
        "index.build_at",
        "有新网页时 up 构建新历史库的时间：一天中的时刻（03:30）、带星期的时刻（sun 03:30）或间隔（12h）；off 表示没有。\
         其他触发条件不为 0 时仍然有效。",
    ),
    ("query.page_size", "每页显示的结果数。"),
    ("query.max_results", "最多可以翻看的结果数（每页十条，共 26 页）。"),
    ("query.max_length", "查询的最大字符数；更长的会被截断。"),
    ("query.candidates", "参与完整排序的候选网页数，按词得分和静态排名选出。"),
    ("query.time", "一次查询的时间预算；用完时返回已有结果，并标记为不完整。"),
    ("query.partial_below", "包含所有词的网页少于此数时，也列出只包含部分词的网页；0 表示必须包含所有词。"),
    ("query.min_coverage", "这类网页至少要包含的词的比例（按词的稀有程度加权，相对于最好的匹配）。"),
    (
        "query.feedback_words",
        "查询至少有多少个词时，最好结果中的常见词也计入得分（伪相关反馈，RM3）；0 表示不用。",
    ),
    ("query.per_site", "在其他网站也有结果时，一页中同一网站最多显示的结果数。"),
    ("query.rank_weight", "静态排名对候选选取得分的最大贡献。"),
    ("cache.memory", "缓存使用的内存：一半用于结果页，一半用于结果列表；0 表示不用缓存。"),
    ("suggest.count", "搜索建议的条数。"),
    ("suggest.phrases", "作为搜索建议保留的标题和锚文本数，最常见、最重要的优先；一百万条约占 100 MB。"),
    ("suggest.block", "包含这些字符串的搜索建议不显示。"),
    ("suggest.refresh", "根据新网页和新查询更新建议的最短间隔；更新最多占用二十分之一的时间。"),
    ("correct.below", "结果数低于此值时提供纠正；0 表示不提供。"),
    ("correct.edit", "修改一个词的代价（对数频率）；代价越高，纠正越少、越可靠。"),
    ("correct.homophone", "把一个汉字换成同音字的代价。"),
    ("rank.model", "词得分模型：bm25、basic-weight（标签、稀有度、长度），或 binary、tf、tfidf 向量的余弦。"),
    ("rank.combine", "词得分、链接得分和点击得分的组合方式：sum（求和，各自有上限）或 product（乘积）。"),
    ("rank.ordinary", "普通查询的各因素权重。"),
    ("rank.site", "以网站名为目标的查询的各因素权重。"),
    ("rank.news", "有关近期事件的查询的各因素权重。"),
    ("rank.k1", "BM25：词频饱和参数。"),
    ("rank.b", "BM25：文档长度归一化参数。"),
    ("rank.k2", "BM25：文档长度修正项的权重。"),
    ("rank.k3", "BM25：查询中词频的饱和参数。"),
    ("rank.title", "标题中的词的权重，以正文为 1。"),
    ("rank.address", "网址中的词的权重。"),
    ("rank.anchor", "其他网页的锚文本中的词的权重。"),
    ("rank.heading", "各级小标题中的词的权重。"),
    ("rank.emphasis", "强调文字中的词的权重。"),
    ("rank.longest", "基本权重：计入的最大网页长度（词数，Smax）。"),
    ("rank.half_life", "新鲜度得分的半衰期。"),
    ("rank.click_decay", "点击权重每天衰减的系数。"),
    ("rank.click_start", "没有点击的网页的初始点击得分，占最高得分的比例。"),
    (
        "rank.click_words",
        "对自身没有点击的查询，曾为网页带来点击的查询词所占的权重，为点击权重的一部分；0 表示只使用所有查询的点击。",
    ),
    ("rank.boost", "提高这些网站、目录或网址的得分，后面写增加的值：docs.example.org 0.1。"),
    ("rank.block", "从结果中排除的网站、目录或网址。"),
    ("web.listen", "监听的地址和端口。"),
    (
        "web.behind_proxy",
        "服务器前面的代理的地址或网段，例如 127.0.0.1：只有它们的 X-Forwarded-For、-Proto、-Host 和 Forwarded 请求头用来识别客户端，\
         其他来源的一律忽略。true 表示所有本机和私有网段，今后会取消。",
    ),
    ("web.timeout", "一个请求的最长时间。"),
    ("web.base_url", "服务器对外的协议和主机名，不含路径；留空则由每个请求得出。"),
    (
        "web.hosts",
        "服务器的其他主机名，例如 search.lan：没有设置 base_url 时，只有请求的主机名列在这里，或者是本机的名称或地址，才用于指向本服务器的链接。",
    ),
    ("web.metrics_allow", "可以读取 /metrics 的客户端网段；持有 API 密钥的客户端也可以。"),
    ("web.certificate", "证书链的 PEM 文件：与 key 一起启用 TLS。文件变化后自动重新读取。"),
    ("web.key", "证书私钥的 PEM 文件。"),
    ("web.connections", "最大连接数；更多的连接需要等待。一个客户端地址最多占用十六分之一。"),
    ("web.head_timeout", "客户端发送请求头的最长时间。"),
    ("web.idle_timeout", "空闲连接多久后关闭。"),
    ("web.head_limit", "请求头的最大长度。"),
    ("web.waiting", "排队查询数的上限；更多的查询返回 503。缓存的结果不受影响。"),
    ("web.view_timeout", "显示已存网页（快照、净化对比）的最长时间；超过则拒绝。"),
    ("web.view_cache", "已生成页面占用的内存。"),
    ("web.rate", "每个客户端地址平均每秒允许的请求数，超过返回 429；0 表示不限。本机的请求不计。"),
    ("web.burst", "在 rate 生效之前，一个客户端地址可以一次发送的请求数。"),
    ("web.submit", "如何处理访客提交的网址：off（不接受）、propose（由管理员决定）或 add（立即抓取）。"),
    ("web.submissions", "等待处理的提交数上限；更多的提交会被拒绝。"),
    ("web.submit_rate", "每个客户端地址每小时允许的提交数；0 表示不限。"),
    (
        "web.indexnow",
        "接受已抓取网站的站长发来的 IndexNow 网页变化通知（/indexnow），站长须用密钥文件证明身份。",
    ),
    (
        "web.api_keys",
        "API 密钥，客户端须提供其中之一（请求头 API-Key，或 Authorization: Bearer）。有名称和权限范围的密钥在控制台的“API 密钥”页。\
         没有任何密钥时，API 对所有人开放。",
    ),
    ("web.key_rate", "每个 API 密钥平均每秒允许的请求数，代替 rate；0 表示不限。"),
    ("web.cors", "允许其网页在浏览器中调用 API 的来源（协议和主机名，CORS）；* 表示全部。"),
    ("web.contact", "向站长显示的联系方式；留空则显示 crawl.contact。"),
    ("desk.enabled", "提供控制台。"),
    ("desk.allow", "可以使用控制台的客户端网段，例如 10.0.0.0/8；默认只限本机。"),
    ("desk.session", "管理员空闲多久后需要重新登录；一分钟到 7 天。"),
    ("engine.threads", "分析线程数；0 表示每个处理器核一个。"),
    ("engine.queue", "两个阶段之间排队网页的最大字节数。"),
    ("engine.page_time", "分析一个网页的最长时间；超过则隔离该网页。"),
    ("engine.disk_floor", "磁盘可用空间低于此值时暂停抓取。"),
    ("alerts.webhook", "每个新警报以 JSON POST 方式发送到的网址；留空则不发送。"),
    ("alerts.mail_to", "接收新警报的邮箱地址。"),
    ("alerts.mail_from", "邮件的发件人地址。"),
    ("alerts.smtp_server", "邮件服务器，写成 HOST:PORT，例如 mail.example.org:587。"),
    (
        "alerts.smtp_security",
        "与邮件服务器连接的加密方式：starttls（通常用 587 端口）、tls（465 端口）或 none。",
    ),
    ("alerts.smtp_user", "邮件服务器的用户名；留空则不验证身份。"),
    ("alerts.smtp_password", "邮件服务器的密码，只通过加密连接发送。"),
    ("alerts.allow_private", "也允许发送到私有地址或本机地址的网络钩子和邮件服务器。"),
    ("alerts.stalled_after", "有网页排队却一直没有抓取到网页，超过此时间视为抓取停滞；0 表示不警报。"),
    ("alerts.disk_free", "磁盘可用空间低于此值时发出警报；0 表示不警报。"),
    ("alerts.error_rate", "最近十分钟的请求（至少 50 个）中没有响应的比例高于此值时发出警报；0 表示不警报。"),
    ("alerts.certificate_left", "web.certificate 的剩余有效期低于此值时发出警报；0 表示不警报。"),
    (
        "alerts.no_results",
        "最近一小时的查询（至少 50 个）中没有结果的比例高于此值，并且上升了一半时发出警报；0 表示不警报。",
    ),
    ("alerts.backup_overdue", "定时备份延误超过此时间时发出警报；0 表示不警报。"),
    ("alerts.clear_after", "警报的原因消失多久后警报才结束；之后可以再次发送。"),
    ("backup.directory", "存放备份的目录，最好在另一块磁盘上；留空则不备份。每次备份在其中有自己的目录。"),
    (
        "backup.schedule",
        "备份时间：一天中的时刻（03:30）、带星期的时刻（sat,sun 03:30）或间隔（6h）；off 表示不备份。",
    ),
    ("backup.keep", "目录中保留的备份数；更早的会被删除。0 表示全部保留。"),
    ("log.enabled", "记录查询、结果展示、点击和系统状态。"),
    ("log.keep_for", "日志保留多久；0 表示一直保留。"),
    (
        "log.scrub_digits",
        "记录查询时去除的连续数字的最小位数；数字之间有单个空格、点或连字符时再多两位（身份证号、电话号码）；0 表示不去除。",
    ),
    ("log.key_lifetime", "识别访问的散列密钥的有效期；丢弃密钥后，访客前后的查询不再有任何关联。"),
    ("log.slot", "系统日志的记录间隔。"),
    ("log.queue", "等待写入的日志的最大字节数；超过的日志行会被丢弃并计数。"),
    ("log.access", "记录每个请求，不含查询内容和客户端地址。"),
    ("log.k", "同一查询至少出现在多少次不同的访问中，才进入点击图和导出（k-匿名）。"),
    ("clicks.half_life", "点击的半衰期：经过这段时间后，一次点击只算一半。"),
    ("clicks.steps", "随机游走的转移次数（t）。"),
    ("clicks.stay", "随机游走每次转移时留在原处的概率（s）。"),
    ("clicks.cluster", "查询与所属聚类的代表查询之间的最低接近程度。"),
    ("clicks.cutoff", "带来点击的查询数低于此值的网页，其点击词的权重打折扣（Good–Turing）。"),
    ("clicks.related", "随机游走在相关查询和相似网页中的权重；0 表示不使用。"),
    (
        "clicks.satisfied",
        "满意点击最多使建议查询的权重提高的比例，没有满意点击时则降低；0 表示只计搜索次数。",
    ),
    (
        "clicks.learn_words",
        "词典中没有的词至少被多少次访问查询过，构建索引时才加入词表；0 表示不学习，并移除以前学到的词。",
    ),
    ("hot.shown", "显示的热门查询数。"),
    ("hot.k", "每个桶交给堆的查询数（K）。"),
    ("hot.buckets", "统计查询的桶数。"),
    ("hot.interval", "由各个桶重建堆的间隔。"),
    ("hot.min_visits", "同一查询至少出现在多少次不同的访问中才向他人显示。"),
    ("hot.days", "在内存中保留多少天的日志。"),
    ("hot.max_queries", "内存中不同查询数的上限；最少见的先淘汰。"),
    ("hot.read_limit", "启动时读取的日志量上限，最新的优先。"),
    ("hot.smoothing", "上升查询按（当前 + 平滑值）/（预期 + 平滑值）排序：值越大，零星查询的影响越小。"),
    ("hot.follow_within", "同一次访问中两次查询相隔不超过此时间，后者才算作后续查询。"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_and_section_has_chinese_texts() {
        let untranslated = |keys: &[ConfigKey], texts: &[(&str, &str)]| -> Vec<&str> {
            let names = keys.iter().map(|key| key.name);
            names.filter(|name| !texts.iter().any(|(translated, _)| translated == name)).collect()
        };
        assert_eq!(untranslated(KEYS, MEANINGS), [""; 0]);
        assert_eq!(untranslated(SECTIONS, &SECTION_MEANINGS), [""; 0]);
        for (name, text) in MEANINGS {
            assert!(KEYS.iter().any(|key| key.name == *name), "there is no setting {name}");
            assert!(text.ends_with('。'), "{text}");
        }
    }

    #[test]
    fn every_setting_is_in_one_section() {
        assert_eq!(sections().map(|(_, keys)| keys.len()).sum::<usize>(), KEYS.len());
    }
}
