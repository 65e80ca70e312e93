//! 灯塔故事 (Chinese, GBK): lighthouses of an imaginary coast and the science of light.

use super::{DemoPage, DemoSite, list_of, neighbours};
use crate::model::{Charset, CharsetDeclaration, Lang, Layout, PageKind};

/// Slug, name, place, year, height, light, reason, text, today.
type Tower = (
    &'static str,
    &'static str,
    &'static str,
    u32,
    u32,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const TOWERS: &[Tower] = &[
    (
        "wanglang",
        "望浪灯塔",
        "东澜岛最东端的断崖上",
        1872,
        23,
        "每十秒闪白光一次",
        "那里暗礁密布，渔民说浪花底下藏着牙齿。",
        "第一任守塔人老韩把每一艘平安经过的船都刻在门框上，刻了三十年，门框换了三次。",
        "如今门框陈列在塔下的小屋里，游客可以用手摸到那些刻痕。",
    ),
    (
        "xueyan",
        "雪雁灯塔",
        "北岬的雪坡上",
        1889,
        18,
        "每十五秒闪白光两次",
        "冬天的海雾比雪还白，船只常常分不清天与海。",
        "雪雁每年十月飞过塔顶，守塔人便把第一只雪雁的日期写进日记。",
        "鸟类学家用这些日记研究候鸟迁徙，发现雪雁比一百年前早到九天。",
    ),
    (
        "chachuan",
        "茶船灯塔",
        "青螺港的老码头",
        1851,
        12,
        "绿色长明灯",
        "运茶的帆船要赶夜潮出港，没有灯就会错过一整天的行情。",
        "商人们凑钱点灯，约定谁家的茶最先卖完，谁家出第二年的灯油。",
        "塔下开了一间茶馆，最受欢迎的是用旧船木熏过的红茶。",
    ),
    (
        "guanyue",
        "观月灯塔",
        "月牙湾的沙嘴",
        1903,
        27,
        "每六秒闪白光一次",
        "沙嘴每年都在变长，海图总是赶不上它。",
        "守塔人的女儿阿沅用竹竿量了二十年水深，海图上至今有一条阿沅沙。",
        "塔顶现在是天文爱好者的观测点，中秋节要提前两个月预约。",
    ),
    (
        "sanxiong",
        "三兄弟灯塔",
        "三座礁石中间的那一座",
        1866,
        34,
        "每二十秒闪白光三次",
        "水流在三座礁石之间打转，进去容易出来难。",
        "建塔的石头先在岸上编好号码，像搭积木一样趁低潮拼起来。",
        "每年只有六天可以登礁，其余日子属于海鸟。",
    ),
    (
        "hongyan",
        "红岩灯塔",
        "红岩角",
        1895,
        20,
        "每八秒闪红光一次",
        "红色的山崖在黄昏时会和晚霞混在一起，船长们吃过不少亏。",
        "为了不被晚霞淹没，塔身被刷成了黑白相间的条纹。",
        "附近的渔家乐以清蒸石斑鱼出名。",
    ),
    (
        "tingchao",
        "听潮灯塔",
        "听潮村的山坡上",
        1911,
        15,
        "每四秒闪白光一次",
        "村里一半的人出海，另一半的人等着他们回来。",
        "小学老师兼任守塔人，点灯是学生们的自然课。",
        "村小学的校徽就是这座灯塔。",
    ),
    (
        "qianfan",
        "千帆灯塔",
        "千帆港的防波堤尽头",
        1928,
        30,
        "每三秒闪白光一次",
        "港口越来越忙，旧的灯笼已经照不过来。",
        "设计师原本是造电影院的，塔里的旋转楼梯还留着一个售票窗口。",
        "夏天的夜晚，塔的白墙上放露天电影。",
    ),
    (
        "wuzhong",
        "雾钟台",
        "贻贝滩的浅水里",
        1884,
        8,
        "没有灯，雾天每二十秒敲钟一次",
        "雾最浓的地方灯光没有用，只有声音能传出去。",
        "机械坏了的那一夜，守钟人梅姑徒手敲了十七个小时。",
        "如今钟声只在婚礼和新年响起。",
    ),
    (
        "guihang",
        "归航灯塔",
        "外海最后一座小岛",
        1898,
        40,
        "每四十秒闪白光四次",
        "离家的船最后看见它，回家的船最先看见它。",
        "守塔人用喇叭筒把家信念给过路的船听，一共念了三百多个孩子出生的消息。",
        "那只铜喇叭现在存放在灯塔博物馆。",
    ),
    (
        "xiaozhu",
        "小烛岛灯塔",
        "只有一棵树的小烛岛",
        1802,
        11,
        "每五秒闪白光一次",
        "在有灯塔以前，岛上的人家轮流在窗口点一支蜡烛。",
        "工程师被那支蜡烛打动，把灯笼做成了烛台的样子。",
        "渡船仍然靠它认路，每个上岛的人都会点一支蜡烛。",
    ),
    (
        "longmen",
        "龙门导灯",
        "龙门水道两侧的山头",
        1839,
        16,
        "上白下红两盏长明灯",
        "水道只有八十米宽，两盏灯重成一线才是安全的航路。",
        "一对姐妹分别看守两盏灯，每天晚上用灯光聊天，星期天才见面。",
        "她们的暗语后来被一个中学班级破译，一半是关于引水员的闲话。",
    ),
    (
        "tieniang",
        "铁娘子灯塔",
        "开阔海湾中央的沉箱上",
        1911,
        36,
        "每六秒闪白光两次",
        "海湾里没有一块可以打地基的石头。",
        "工程师让一只铁桶漂出去，再用碎石把它沉下去，自己拿着水平仪站在上面。",
        "潜水员常来看沉箱上的海葵。",
    ),
    (
        "mofang",
        "磨坊灯塔",
        "澜江口的一座风车",
        1779,
        20,
        "风车叶片遮出来的闪光",
        "磨坊主在风车顶上挂了一盏灯，叶片转动，灯就一明一灭。",
        "过往的船用面粉口袋付钱，回程时装满面粉。",
        "星期天风车还在磨面，面粉当场出售。",
    ),
    (
        "shuita",
        "水獭湾灯塔",
        "水獭湾的窄口",
        1894,
        13,
        "白光，礁石方向为红光",
        "看见红光的船长应该立刻转舵。",
        "水獭总是睡在救生艇里，守塔人索性给它们另造了一条。",
        "水獭和它们的小船都还在。",
    ),
    (
        "qingshi",
        "青石阶灯塔",
        "四百级石阶之上",
        1866,
        17,
        "每十五秒闪白光一次",
        "采石场的码头藏在峡谷里，从海上完全看不见。",
        "灯油用扁担挑上去，一星期十二趟。",
        "每年九月的登阶比赛，冠军用时不到三分钟。",
    ),
];

const LIGHT: &[(&str, &str, &str, &str)] = &[
    (
        "dengzhi",
        "灯质：灯塔的语言",
        "闪光, 周期, 航海",
        "每座灯塔都有自己的节奏，叫做灯质。闪几次、隔多久、什么颜色，写在一本叫《航标表》的书里。\n在夜里看见陌生的灯光，船员先数闪光的次数，再用秒表量周期，最后看颜色，就知道自己在哪里。\n= 长明灯: 一直亮着，多在港口\n= 闪光灯: 亮的时间比暗的短\n= 互光灯: 不同颜色交替出现\n英文读者可以看博物馆的[[lighthouse-museum.localhost/how/why-lights-flash|Why lighthouses flash]]。",
    ),
    (
        "feinieer",
        "菲涅耳透镜：把灯光送到天边",
        "透镜, 光学",
        "一盏普通的灯把光撒向四面八方，大部分浪费在天上和地上。1822年，菲涅耳把透镜切成一圈一圈的棱镜，又轻又亮。\n透镜只有表面的弧度在弯折光线，中间的厚玻璃只是重量。把重量去掉，留下弧度，这就是菲涅耳透镜的道理。\n今天的投影仪和太阳灶还在用同样的办法，天文爱好者也可以在[[star-club.localhost/zh/wangyuanjing|望远镜入门]]里读到透镜的另一种用法。",
    ),
    (
        "dengyou",
        "从鱼油到发光二极管：灯塔烧什么",
        "灯油, 电灯",
        "最早的守塔人烧木柴，后来烧煤、点蜡烛、烧鱼油。鱼油的气味很重，据说塔下总是聚着猫。\n菜籽油干净一些，煤油更亮。二十世纪初，煤油变成蒸气在纱罩里燃烧，灯光第一次能照到地平线。\n如今一只茶匙大小的发光二极管就能照十八海里。",
    ),
    (
        "shijing",
        "灯塔能看多远：地平线的算法",
        "地平线, 几何",
        "地球是圆的，所以灯塔能看多远，主要不看灯有多亮，而看塔有多高。\n把灯的高度（米）开平方，再乘以二，大约就是到地平线的海里数；对自己的眼睛也这样算一次，然后相加。\n1. 灯高三十六米，开平方得六，到地平线十二海里。\n1. 眼睛在船桥上高四米，开平方得二，到地平线四海里。\n1. 合起来，十六海里外就能看见灯光。",
    ),
    (
        "yanse",
        "塔身为什么有条纹",
        "颜色, 昼标",
        "夜里靠灯，白天靠颜色。白塔在雪地里看不见，黑塔在树林前看不见，所以每座塔都要穿一件与背景不同的衣服。\n红白条纹适合雪地，黑白条纹适合青山。红岩灯塔的条纹是为了不被晚霞淹没，详见[[/ta/hongyan|红岩灯塔]]。",
    ),
];

const HISTORY: &[(&str, &str, &str, &str)] = &[
    (
        "faluosi",
        "法罗斯：亚历山大的灯塔",
        "法罗斯, 亚历山大, 世界奇迹",
        "许多语言里“灯塔”一词都来自一个小岛的名字：法罗斯，它就在埃及亚历山大港的前面。\n公元前280年前后，托勒密王朝在岛上建成了一座高塔，一般认为高度超过一百米，建造者是克尼多斯的索斯特拉图斯。塔分三层，下层方，中层八角，上层圆，顶上燃着火。\n几次大地震之后，塔在十四世纪倒塌，后来人们用它的石头建了一座城堡。1994年，潜水员在海底找到了塔石和雕像。\n您正在使用的搜索引擎也以它为名，中文叫“灯塔”。英文介绍见[[lighthouse-museum.localhost/history/pharos-of-alexandria|The Pharos of Alexandria]]。",
    ),
    (
        "shouta",
        "守塔人的一天",
        "守塔人, 日常",
        "守塔人的一天从黄昏开始：点灯，给钟表机构上弦，把风向和天气写进日志。\n值班四小时，休息八小时，三个人分一个夜晚。清晨要给透镜拉上布帘，不然太阳光倒着照进来，会把草坡点着。\n剩下的时间用来擦铜器、刷油漆、钓鱼和写信。信往往要等一个月才有船来取。",
    ),
    (
        "jiashang",
        "假灯的传说",
        "海盗, 传说",
        "传说从前有人在牛角上挂灯笼，把船骗上礁石，再去捡货物。\n船长们不太相信：夜里看见灯光，正常人会躲开而不是靠近。可是村里真的留着一只带灯钩的牛项圈。\n故事的两种讲法都收在博物馆的展览里，见[[lighthouse-museum.localhost/exhibits/false-lights|False lights]]。",
    ),
    (
        "chayuta",
        "茶与灯塔：一条夜航的路",
        "茶叶, 贸易, 港口",
        "青螺港的春茶要赶在谷雨前运出去，船在夜里顺着潮水出港，于是商人们在码头点起了灯。\n灯油钱写在每一箱茶的账上，叫做“灯钱”，一箱三文。后来灯钱攒够了，就有了[[/ta/chachuan|茶船灯塔]]。\n想知道那种熏茶怎么泡，可以看[[tea-kitchen.localhost/zh/tea/lapsang|正山小种]]。",
    ),
];

pub(super) fn site() -> DemoSite {
    let mut entries: Vec<DemoPage> = Vec::new();
    let paths: Vec<String> = TOWERS.iter().map(|tower| format!("/ta/{}", tower.0)).collect();
    for (number, tower) in TOWERS.iter().enumerate() {
        let title = match number % 4 {
            0 => format!("{}：一座塔和一个家", tower.1),
            1 => format!("{}的故事", tower.1),
            2 => format!("寻访{}", tower.1),
            _ => format!("{}，{}年点亮", tower.1, tower.3),
        };
        entries.push(
            DemoPage::article(Lang::Zh, &paths[number], title, tell(number, tower))
                .by(["林晓帆", "周海生", "何若汀"][number % 3], 70 + 37 * number as u64)
                .keywords(format!("灯塔, {}", tower.1))
                .related(neighbours(&paths, number, 3)),
        );
    }
    for (folder, table) in [("guang", LIGHT), ("shi", HISTORY)] {
        let paths: Vec<String> = table.iter().map(|row| format!("/{folder}/{}", row.0)).collect();
        for (number, (_, title, keywords, text)) in table.iter().enumerate() {
            entries.push(
                DemoPage::article(Lang::Zh, &paths[number], *title, (*text).to_owned())
                    .by("周海生", 100 + 41 * number as u64)
                    .keywords(*keywords)
                    .related(neighbours(&paths, number, 2)),
            );
        }
    }
    for (path, title, intro) in [
        ("/ta/", "灯塔名录：澜海沿岸的十六座灯塔", "从雪雁到归航，每一座灯塔都有自己的灯光和故事。"),
        ("/guang/", "灯光的科学", "透镜、灯油、节奏和地平线。"),
        ("/shi/", "灯塔往事", "从法罗斯到茶船，灯火照过的日子。"),
    ] {
        let text = format!("{intro}\n{}", list_of(&entries, path));
        entries.push(DemoPage::hub(Lang::Zh, path, title, text).by("", 33));
    }
    let home = "灯塔故事收集澜海沿岸的灯塔：塔有多高，灯怎样闪，谁在夜里守着它。\n\
                ## 从这里开始\n* /ta/ | 十六座灯塔\n* /guang/ | 灯光的科学\n* /shi/ | 往事\n\
                ## 本月推荐\n* /ta/guihang | 最后的一盏灯\n* /shi/faluosi | 世界第一座灯塔\n* /guang/dengzhi | 灯塔会说话\n\
                英文姊妹站：[[lighthouse-museum.localhost/|The Lighthouse Museum]]。\n";
    entries.push(
        DemoPage::new(PageKind::Home, Lang::Zh, "/", "灯塔故事：澜海沿岸的灯塔与守塔人", home.into())
            .by("", 12),
    );
    DemoSite {
        host: "dengta.localhost",
        title: "灯塔故事",
        lang: Lang::Zh,
        charset: Charset::Gbk,
        declared: CharsetDeclaration::Meta,
        look: Layout::Tables,
        navigation: &[("/", "首页"), ("/ta/", "灯塔名录"), ("/guang/", "灯光的科学"), ("/shi/", "灯塔往事")],
        friends: &["lighthouse-museum.localhost", "campus.localhost", "city-walks.localhost"],
        entries,
    }
}

fn tell(number: usize, tower: &Tower) -> String {
    let (slug, name, place, year, metres, light, why, story, today) = tower;
    let facts = format!("= 建成: {year}年\n= 塔高: {metres}米\n= 灯质: {light}\n");
    let picture = format!("! lighthouse-zh-{slug} | {name}远景\n");
    match number % 4 {
        0 => format!(
            "{name}立在{place}，{year}年第一次亮灯。{why}\n{picture}{facts}## 守塔的人\n{story}\n## 今天\n{today}塔的灯质怎么读，\
             请看[[/guang/dengzhi|灯塔的语言]]。\n"
        ),
        1 => format!(
            "{why}于是{year}年，人们在{place}建起了{name}。\n{story}\n{facts}{picture}夜里认它很容易：{light}。\
             它能照多远，可以用[[/guang/shijing|地平线的算法]]算一算。\n{today}\n"
        ),
        2 => format!(
            "{story}这是关于{name}流传最广的一件事。\n## 为什么建塔\n塔在{place}。{why}{year}年塔成，高{metres}米。\n{facts}\
             ## 如今\n{today}同一时代的灯塔用什么灯油，见[[/guang/dengyou|灯塔烧什么]]。\n"
        ),
        _ => format!(
            "如果在海上看见{light}，那就是{place}的{name}。\n{picture}{why}塔身高{metres}米，从{year}年守到现在。\n> {story}\n\
             {facts}{today}守塔人的日子是怎样过的，见[[/shi/shouta|守塔人的一天]]。\n"
        ),
    }
}
