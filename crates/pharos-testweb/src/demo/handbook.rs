//! The Search Handbook (both languages): how a search engine works, one idea a page.

use super::{DemoPage, DemoSite, list_of, neighbours};
use crate::model::{Charset, CharsetDeclaration, Lang, Layout, PageKind};

struct Idea {
    slug: &'static str,
    en: &'static str,
    zh: &'static str,
    part: (&'static str, &'static str),
    text: &'static str,
    text_zh: &'static str,
}

const COLLECT: (&str, &str) = ("collecting", "采集");
const UNDERSTAND: (&str, &str) = ("understanding", "理解");
const FIND: (&str, &str) = ("finding", "检索");

const IDEAS: &[Idea] = &[
    Idea {
        slug: "crawler",
        en: "What a web crawler does",
        zh: "网络爬虫是什么",
        part: COLLECT,
        text: "A crawler begins with a few addresses, fetches the pages, writes down their links and goes on with those. Repeat until the disk, the time or the web runs out.\nThe hard part is not fetching but choosing: which page next, how often again, and when to leave a site alone.",
        text_zh: "爬虫从几个网址出发，下载页面，记下页面里的链接，再去下载那些链接，直到磁盘、时间或者整个网络用完。\n难的不是下载，而是选择：下一个抓哪一页，多久再抓一次，什么时候该放过一个网站。",
    },
    Idea {
        slug: "robots",
        en: "robots.txt, the note on the door",
        zh: "robots.txt：贴在门上的纸条",
        part: COLLECT,
        text: "Before it enters, a polite crawler reads a small file called robots.txt. The file says which paths are not meant for machines; the longest matching line wins.\nIt is a request, not a lock. But a crawler that ignores it will soon find real locks.",
        text_zh: "有礼貌的爬虫进门之前，先读一个叫 robots.txt 的小文件。文件写明哪些路径不欢迎机器，匹配最长的那一行说了算。\n它是请求，不是锁。可是不理会它的爬虫，很快就会遇到真正的锁。",
    },
    Idea {
        slug: "politeness",
        en: "Politeness: how fast may a crawler ask?",
        zh: "礼貌：爬虫可以问得多快",
        part: COLLECT,
        text: "A server that answers a thousand readers should not be kept busy by one machine. So a crawler waits between two requests to the same host, and longer when the answers come slowly.\nMany hosts at once, one request at a time each: that is the whole art.",
        text_zh: "一台要照顾上千读者的服务器，不该被一台机器占着。所以爬虫在两次请求之间要等一等，对方答得慢就等得更久。\n同时访问很多主机，每台主机一次只问一句，这就是全部的学问。",
    },
    Idea {
        slug: "frontier",
        en: "The frontier: which page next?",
        zh: "待抓队列：下一页抓谁",
        part: COLLECT,
        text: "The frontier is the list of known but unfetched addresses. Breadth first is a good default, because important pages tend to be near the door.\nBetter orders weigh links, freshness and the site's share, so that one huge calendar does not eat the whole budget.",
        text_zh: "待抓队列里是已经知道、还没下载的网址。先宽后深是不错的默认选择，因为重要的页面往往离大门不远。\n更好的次序要看链接、更新快慢和每个网站的份额，免得一个没完没了的日历吃掉全部预算。",
    },
    Idea {
        slug: "url",
        en: "Normalising a URL",
        zh: "网址的规范化",
        part: COLLECT,
        text: "One page may be written in many ways: capital letters in the host, dots in the path, an escaped tilde. Before two addresses are compared they are brought into one form.\nOnly changes that every browser makes are safe; cutting off parameters is a guess and must be learnt from the site.",
        text_zh: "同一个页面可以有很多写法：主机名大写、路径里有点点、字符被转义。比较之前，先写成同一个样子。\n只有所有浏览器都会做的改动才安全；砍掉参数是猜测，要从网站本身学来。",
    },
    Idea {
        slug: "freshness",
        en: "Freshness: when to come back",
        zh: "新鲜度：多久回来看一次",
        part: COLLECT,
        text: "Pages change like radioactive atoms decay: at random, but each with its own rate. From the history of visits the rate can be estimated, and with it the best time to return.\nSurprisingly, pages that change too often deserve fewer visits: one can never keep up with them anyway.",
        text_zh: "网页的变化像原子衰变，时间随机，快慢各有规律。从以往的访问可以估计快慢，再决定什么时候回来最合算。\n有点意外的是，变得太快的页面反而应该少看，因为怎么看都跟不上。",
    },
    Idea {
        slug: "charset",
        en: "Which encoding is this page?",
        zh: "这一页是什么编码",
        part: UNDERSTAND,
        text: "A page is bytes; letters are an agreement. The agreement may stand in the header, in a meta element, or nowhere, and sometimes two of them disagree.\nChinese pages of an older day speak GBK. Read as something else, they turn into a garden of question marks.",
        text_zh: "网页只是字节，文字靠约定。约定可能写在响应头里，可能写在 meta 里，也可能哪儿都没写，有时候两处还互相矛盾。\n早年的中文网页多用 GBK，认错了编码，满屏都是问号和怪字。",
    },
    Idea {
        slug: "cleaning",
        en: "Cleaning a page: where is the article?",
        zh: "网页净化：正文在哪里",
        part: UNDERSTAND,
        text: "Around every article stand menus, advertisements and a footer. To find the article, cut the page into blocks and ask of each: how much text, how many links, how deep, how like its neighbours?\nText without links is probably article; links without text are probably menu.",
        text_zh: "正文周围总围着菜单、广告和页脚。要找到正文，先把页面切成块，再问每一块：文字多少，链接多少，嵌套多深，和邻居像不像。\n字多链接少的多半是正文，链接多字少的多半是菜单。",
    },
    Idea {
        slug: "segmentation",
        en: "Where does a Chinese word end?",
        zh: "中文分词：词在哪里断开",
        part: UNDERSTAND,
        text: "Chinese is written without blanks, so a machine must find the words first. Dictionaries help, statistics help more, and some sentences remain ambiguous even for people.\nA famous example can be read as the Yangtze bridge of a city, or as a mayor called Bridge.",
        text_zh: "中文不写空格，机器要先把词找出来。词典有用，统计更有用，有些句子连人也要读两遍。\n最有名的例子是“南京市长江大桥”：可以读成一座桥，也可以读成一位姓江的市长。",
    },
    Idea {
        slug: "duplicates",
        en: "Finding duplicates with fingerprints",
        zh: "用指纹找重复网页",
        part: UNDERSTAND,
        text: "A third of the web has been said before. Equal pages have equal checksums, which is easy; nearly equal pages need a fingerprint that changes little when the page changes little.\nSimHash folds all words of a page into sixty-four bits; near-duplicates differ in three or fewer.",
        text_zh: "网络上三分之一的内容别处都有。完全相同的页面校验和相同，容易；几乎相同的页面需要一种指纹，页面变一点，指纹也只变一点。\nSimHash 把一页的所有词折叠成六十四位，近似重复的页面最多差三位。",
    },
    Idea {
        slug: "anchor",
        en: "Anchor text: what others call you",
        zh: "锚文本：别人怎么称呼你",
        part: UNDERSTAND,
        text: "The words of a link describe the page it leads to, often better than the page itself. A home page seldom says that it is a home page; a thousand links do.\nSo anchors are gathered and indexed with their target.",
        text_zh: "链接上的文字描述的是它指向的页面，而且常常比页面自己说得更清楚。首页很少说自己是首页，一千条链接会替它说。\n所以锚文本要收集起来，和目标页面一起索引。",
    },
    Idea {
        slug: "inverted-index",
        en: "The inverted index",
        zh: "倒排索引",
        part: FIND,
        text: "A book has pages that contain words; its index has words that point to pages. Turn a million pages inside out like this and a query needs to read only a few lists.\nEach list, called a posting list, is sorted and packed: differences instead of numbers, a byte or less for each.",
        text_zh: "一本书是页里有词，书后的索引是词指向页。把一百万个网页这样翻过来，查询就只需要读几个列表。\n每个列表叫倒排列表，按顺序排好再压缩：只存差值，每个差值不到一个字节。",
    },
    Idea {
        slug: "bm25",
        en: "BM25: how well does a page match?",
        zh: "BM25：页面和查询有多相配",
        part: FIND,
        text: "A word that is rare in the collection says more than a common one; a word that stands ten times says more than once, but not ten times more; and a long page should not win by length alone.\nBM25 writes these three sentences as one formula, and after thirty years it is still hard to beat.",
        text_zh: "少见的词比常见的词更有分量；出现十次比一次更相关，但不是十倍；长文章不该只因为长而占便宜。\nBM25 把这三句话写成一个公式，三十年了还是很难打败。",
    },
    Idea {
        slug: "pagerank",
        en: "PageRank: importance from links",
        zh: "PageRank：链接投出来的重要性",
        part: FIND,
        text: "Imagine a reader who clicks links at random and, when bored, jumps to any page. The share of time spent on a page is its PageRank.\nIt is computed by passing weight along the links again and again until nothing changes.",
        text_zh: "想象一位读者随意点链接，厌倦了就跳到任意一页。他停留在某一页的时间比例，就是这一页的 PageRank。\n计算的办法是让权重沿着链接一遍一遍地传，直到不再变化。",
    },
    Idea {
        slug: "snippet",
        en: "Snippets: the two lines that decide a click",
        zh: "摘要：决定点击的两行字",
        part: FIND,
        text: "Under each title stand two lines of the page with the query's words in bold. They are chosen when the query comes, because the right lines depend on the question.\nA good snippet shows all words of the query close together and begins where a sentence begins.",
        text_zh: "每条结果的标题下面有两行字，查询词用粗体标出。摘要要等查询来了再选，因为合适的句子取决于问题。\n好的摘要让查询词靠得近，并且从句子的开头开始。",
    },
    Idea {
        slug: "spelling",
        en: "Did you mean …? Correcting queries",
        zh: "您是不是要找：查询纠错",
        part: FIND,
        text: "One query in ten is misspelt. The log knows better: what did the same person type next?\nFor Chinese the mistake is usually a homophone, so candidates are found by pinyin: 灯他 becomes 灯塔.",
        text_zh: "十个查询里有一个写错。日志知道答案：同一个人接下来输入了什么？\n中文的错误多半是同音字，所以按拼音找候选：“灯他”改成“灯塔”。",
    },
    Idea {
        slug: "evaluation",
        en: "How good is a search engine?",
        zh: "怎样评价搜索引擎",
        part: FIND,
        text: "Take queries, take judges, count. Precision asks how many of the results are right; recall asks how many of the right ones were found.\nBecause people read from the top, good measures reward right answers early: NDCG is the usual one.",
        text_zh: "找一批查询，请人打分，然后数。精确率问结果里有多少是对的，召回率问对的里面找到了多少。\n人总是从上往下看，所以好的指标奖励靠前的正确答案，最常用的是 NDCG。",
    },
    Idea {
        slug: "cache",
        en: "Caches: most questions have been asked before",
        zh: "缓存：大多数问题早有人问过",
        part: FIND,
        text: "A few queries are asked very often and most only once: Zipf's law again. Keeping the answers of the frequent ones in memory saves half of the work.\nThe price is staleness, so cached answers carry the number of the index generation they came from.",
        text_zh: "少数查询被问很多次，大多数只被问一次，又是齐普夫定律。把常问的答案留在内存里，一半的工作就省了。\n代价是可能过时，所以缓存要记下答案来自哪一代索引。",
    },
];

pub(super) fn site() -> DemoSite {
    let mut entries: Vec<DemoPage> = Vec::new();
    for lang in [Lang::En, Lang::Zh] {
        let prefix = if lang == Lang::En { "/en" } else { "/zh" };
        let paths: Vec<String> = IDEAS.iter().map(|idea| format!("{prefix}/{}", idea.slug)).collect();
        for (number, idea) in IDEAS.iter().enumerate() {
            let next = &IDEAS[(number + 1) % IDEAS.len()];
            let entry = match lang {
                Lang::En => DemoPage::article(
                    lang,
                    &paths[number],
                    idea.en,
                    format!("{}\n{}\n", idea.text, closing_en(number, idea, next)),
                )
                .by("Edwin Moor", 58 + 13 * number as u64)
                .keywords(format!("search engine, {}", idea.part.0)),
                Lang::Zh => DemoPage::article(
                    lang,
                    &paths[number],
                    idea.zh,
                    format!("{}\n{}\n", idea.text_zh, closing_zh(number, idea, next)),
                )
                .by("程知微", 59 + 13 * number as u64)
                .keywords(format!("搜索引擎, {}", idea.part.1)),
            };
            entries.push(entry.related(neighbours(&paths, number, 3)));
        }
    }
    let english = format!(
        "Eighteen ideas, in the order in which a page travels through a search engine: collecting, understanding, finding.\n{}",
        list_of(&entries, "/en/")
    );
    let chinese = format!(
        "十八个概念，按网页在搜索引擎里走过的路排列：采集、理解、检索。\n{}",
        list_of(&entries, "/zh/")
    );
    entries.push(
        DemoPage::hub(Lang::En, "/en/", "How a search engine works, in eighteen pages", english).by("", 22),
    );
    entries.push(DemoPage::hub(Lang::Zh, "/zh/", "搜索引擎原理十八讲", chinese).by("", 22));
    let home = "The Search Handbook explains search engines one idea at a time, in two languages. 搜索引擎手册，中英对照，一页讲一个概念。\n\
                * /en/ | in English\n* /zh/ | 中文\n## Good places to start\n* /en/crawler | how pages are collected\n* /en/inverted-index | how they are found\n\
                * /zh/segmentation | 中文分词\n* /zh/pagerank | 链接分析\nThe course that uses this handbook is taught at [[campus.localhost/|海滨大学]].\n";
    entries.push(
        DemoPage::new(PageKind::Home, Lang::En, "/", "The Search Handbook 搜索引擎手册", home.into())
            .by("", 6),
    );
    DemoSite {
        host: "search-handbook.localhost",
        title: "The Search Handbook",
        lang: Lang::En,
        charset: Charset::Utf8,
        declared: CharsetDeclaration::Meta,
        look: Layout::Semantic,
        navigation: &[("/", "Home"), ("/en/", "English"), ("/zh/", "中文")],
        friends: &["campus.localhost", "star-club.localhost"],
        entries,
    }
}

fn closing_en(number: usize, idea: &Idea, next: &Idea) -> String {
    let (slug, zh) = (idea.slug, idea.zh);
    match number % 3 {
        0 => format!(
            "> Part of {}. \nThe next page of the handbook is [[/en/{}|{}]]; this one in Chinese is [[/zh/{slug}|{zh}]].",
            idea.part.0, next.slug, next.en
        ),
        1 => format!(
            "Read on with [[/en/{}|{}]], or compare the Chinese page, [[/zh/{slug}|{zh}]].",
            next.slug, next.en
        ),
        _ => format!(
            "## Try it\nSearch this demo for a word of the title and look at what comes first. Then continue with [[/en/{}|{}]]. 中文：[[/zh/{slug}|{zh}]].",
            next.slug, next.en
        ),
    }
}

fn closing_zh(number: usize, idea: &Idea, next: &Idea) -> String {
    let (slug, en) = (idea.slug, idea.en);
    match number % 3 {
        0 => format!(
            "> 本页属于“{}”一章。\n下一讲：[[/zh/{}|{}]]。英文版：[[/en/{slug}|{en}]]。",
            idea.part.1, next.slug, next.zh
        ),
        1 => format!("接着读[[/zh/{}|{}]]，或者对照英文页[[/en/{slug}|{en}]]。", next.slug, next.zh),
        _ => format!(
            "## 动手试试\n在这个演示里搜索标题中的一个词，看看什么排在最前面，再读[[/zh/{}|{}]]。英文：[[/en/{slug}|{en}]]。",
            next.slug, next.zh
        ),
    }
}
