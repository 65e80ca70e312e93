//! 城市漫步 (Chinese): cities to walk in, with weather, food and an English postcard each. The cities are real, the
//! advice is invented.

use super::{DemoPage, DemoSite, neighbours};
use crate::model::{Charset, CharsetDeclaration, Lang, Layout, PageKind};

struct City {
    slug: &'static str,
    zh: &'static str,
    en: &'static str,
    /// The best month to come, in both languages.
    best: (&'static str, &'static str),
    nature: &'static str,
    seasons: [&'static str; 4],
    wear: &'static str,
    walks: [&'static str; 3],
    foods: [&'static str; 3],
    table: &'static str,
    postcard: &'static str,
}

const CITIES: &[City] = &[
    City {
        slug: "beijing",
        best: ("十月", "October"),
        zh: "北京",
        en: "Beijing",
        nature: "北京是首都，胡同、城墙和中轴线写着八百多年的故事",
        seasons: [
            "春天短，多风，偶尔有沙尘，四月的玉兰和海棠很好看",
            "夏天炎热，七八月雨水集中，午后常有雷阵雨",
            "秋天最美，天高云淡，香山的红叶在十月下旬转红",
            "冬天寒冷干燥，最低气温在零下十度上下，湖面结冰可以滑冰",
        ],
        wear: "春秋早晚温差大，带一件外套；冬天要羽绒服、帽子和润唇膏",
        walks: ["从鼓楼沿着胡同走到什刹海", "清晨的景山，看故宫的金色屋顶", "颐和园西堤，垂柳和六座桥"],
        foods: ["烤鸭", "炸酱面", "豆汁配焦圈"],
        table: "烤鸭要现片，薄饼卷上葱丝和甜面酱；豆汁第一口难，第三口就懂了",
        postcard: "Beijing is best on foot: lanes called hutongs, a hill behind the palace, and lakes that turn into skating rinks in winter.\nGet up early once: in the parks people sing opera to the trees, write poems on the pavement with water, and walk backwards for their health. In the evening climb the hill behind the palace and watch the roofs turn from gold to grey.",
    },
    City {
        slug: "shanghai",
        best: ("四月", "April"),
        zh: "上海",
        en: "Shanghai",
        nature: "上海在长江口，一条江分开老洋房和高楼",
        seasons: [
            "春天湿润，三月多雨，四月开始暖和",
            "六月中到七月初是梅雨，随后是闷热的盛夏，偶有台风",
            "秋天晴朗舒服，桂花香满街",
            "冬天湿冷，气温很少低于零下五度，屋里没有集中供暖",
        ],
        wear: "梅雨季带伞和防滑的鞋，冬天穿得比气温看上去更厚一些",
        walks: ["外滩看对岸的灯火", "武康路的梧桐和老公寓", "苏州河边新修的步道"],
        foods: ["生煎包", "葱油拌面", "蟹粉小笼"],
        table: "生煎要底脆汤多，先咬小口把汤吸掉；小笼配姜醋",
        postcard: "Shanghai is a conversation across a river: stone banks on one side, towers of glass on the other, plane trees in between.\nCross the river by the cheap ferry rather than the tunnel. Then lose yourself under the plane trees of the old quarter, where washing hangs between villas and every second door hides a noodle shop.",
    },
    City {
        slug: "xian",
        best: ("四月", "April"),
        zh: "西安",
        en: "Xi'an",
        nature: "西安是十三朝古都，城墙完整得可以骑一圈自行车",
        seasons: [
            "春天干爽，樱花和牡丹先后开",
            "夏天很热，午后适合待在博物馆里",
            "秋天多有连阴雨，雨后的城墙颜色最深",
            "冬天冷而干，雪后的大雁塔很安静",
        ],
        wear: "夏天防晒，秋天带雨具，冬天要厚外套",
        walks: ["傍晚的南门城墙", "回民街后面的小巷", "大雁塔北广场到曲江池"],
        foods: ["羊肉泡馍", "肉夹馍", "凉皮"],
        table: "泡馍要自己掰，掰得越碎越入味；凉皮的辣油不辣，主要是香",
        postcard: "In Xi'an you may cycle round a whole city on top of its wall, and break your own bread into the soup.\nHire a bicycle at the south gate an hour before sunset and ride the fourteen kilometres slowly. The lamps on the wall are lit one by one, as if somebody were counting you home.",
    },
    City {
        slug: "chengdu",
        best: ("三月", "March"),
        zh: "成都",
        en: "Chengdu",
        nature: "成都在四川盆地，茶馆比银行多",
        seasons: [
            "春天来得早，三月就可以在院子里喝茶",
            "夏天闷热多夜雨，白天常常是阴的",
            "秋天银杏金黄，雾气渐多",
            "冬天阴冷少阳光，出太阳的日子人人都去晒",
        ],
        wear: "一年四季备一把伞，冬天多穿一层",
        walks: ["人民公园的老茶馆", "宽窄巷子清早没人的时候", "锦江边的绿道"],
        foods: ["麻婆豆腐", "担担面", "串串香"],
        table: "辣分很多种，跟店家说微辣；麻婆豆腐的做法见茶与厨房的菜谱",
        postcard: "Chengdu takes its time: bamboo chairs, long-spouted kettles, and pandas who agree.\nSit down in the tea house of the People's Park, pay for one bowl and stay all day; hot water is free, and an ear cleaner will find you. Ask for food only a little hot, and accept that you will be laughed at.",
    },
    City {
        slug: "hangzhou",
        best: ("四月", "April"),
        zh: "杭州",
        en: "Hangzhou",
        nature: "杭州有西湖，三面云山一面城",
        seasons: [
            "春天桃红柳绿，清明前后采龙井",
            "夏天湿热，荷花开在断桥边",
            "秋天满觉陇的桂花最香",
            "冬天偶尔下雪，断桥残雪要起早",
        ],
        wear: "春天多雨，夏天防晒防蚊，冬天湿冷要保暖",
        walks: ["苏堤从南到北", "龙井村的茶园小路", "九溪十八涧"],
        foods: ["片儿川", "东坡肉", "龙井虾仁"],
        table: "龙井虾仁用新茶最好，茶的泡法见茶与厨房",
        postcard: "Hangzhou is a lake with a city attached; in April the hills behind it smell of roasting tea.\nWalk the long causeway from south to north before breakfast, then take the bus up to the tea villages. Farmers roast the leaves in iron pans with bare hands and will sell you a hundred grams and an opinion.",
    },
    City {
        slug: "guangzhou",
        best: ("十一月", "November"),
        zh: "广州",
        en: "Guangzhou",
        nature: "广州在珠江边，早茶从清晨喝到中午",
        seasons: [
            "春天有回南天，墙壁会出水",
            "夏天漫长炎热，雷雨说来就来，常有台风",
            "秋天干爽，是最好的季节",
            "冬天温和，偶有几天湿冷",
        ],
        wear: "夏天轻薄透气加雨伞，冬天一件薄羽绒就够",
        walks: ["沙面岛的老房子和榕树", "永庆坊的骑楼", "珠江夜游码头一带"],
        foods: ["虾饺", "肠粉", "煲仔饭"],
        table: "早茶讲究一盅两件：一壶茶，两样点心，坐一上午",
        postcard: "Guangzhou begins the day with dumplings and ends it with soup; in between it rains, warmly.\nBreakfast is called morning tea and lasts until noon: one pot, two baskets, three generations at one table. Tap two fingers on the cloth to thank whoever fills your cup.",
    },
    City {
        slug: "kunming",
        best: ("十月", "October"),
        zh: "昆明",
        en: "Kunming",
        nature: "昆明海拔近一千九百米，四季如春",
        seasons: [
            "春天干燥晴朗，风大",
            "夏天是雨季，不热，蘑菇上市",
            "秋天蓝天白云，早晚凉",
            "冬天阳光好，红嘴鸥从北方飞来过冬",
        ],
        wear: "一件薄外套穿全年，紫外线强要防晒",
        walks: ["翠湖喂红嘴鸥", "滇池海埂大坝", "斗南花市的夜晚"],
        foods: ["过桥米线", "野生菌火锅", "鲜花饼"],
        table: "菌子要煮熟再吃，时间不到不许动筷子",
        postcard: "Kunming, the city of eternal spring, sells flowers by the kilo and mushrooms by the story.\nRed-billed gulls come from the north each winter and are fed by the whole town at Green Lake. In the rainy season the markets fill with wild mushrooms; eat them only where the cook sets a timer.",
    },
    City {
        slug: "harbin",
        best: ("一月", "January"),
        zh: "哈尔滨",
        en: "Harbin",
        nature: "哈尔滨在松花江边，冬天是一座冰做的城",
        seasons: [
            "春天来得晚，五月丁香才开",
            "夏天凉爽，江边最热闹",
            "秋天短，国庆前后就要穿毛衣",
            "冬天漫长，零下二三十度，冰灯和雪雕从十二月亮到二月",
        ],
        wear: "冬天要厚羽绒服、棉鞋、手套，手机贴身放",
        walks: ["中央大街的石头路", "松花江的冰面", "索菲亚教堂广场"],
        foods: ["锅包肉", "红肠", "马迭尔冰棍"],
        table: "零下二十度吃冰棍，是这座城的礼貌",
        postcard: "Harbin builds palaces of river ice each winter and lets the spring take them away.\nDress like an onion, keep your phone next to your skin and eat an ice lolly in the street, because everybody does. In summer the same river has beaches, accordions and very long evenings.",
    },
    City {
        slug: "qingdao",
        best: ("九月", "September"),
        zh: "青岛",
        en: "Qingdao",
        nature: "青岛红瓦绿树，碧海蓝天，老城里能闻到啤酒和海风",
        seasons: [
            "春天多海雾，气温比内陆低",
            "夏天凉爽，七八月可以下海",
            "秋天晴朗干燥，海水还暖",
            "冬天风大，海边比气温冷",
        ],
        wear: "春夏带一件防风外套，海雾天注意脚下",
        walks: ["栈桥到小青岛灯塔", "八大关的林荫路", "崂山的石阶"],
        foods: ["辣炒蛤蜊", "鲅鱼饺子", "海菜凉粉"],
        table: "蛤蜊配散装啤酒，用塑料袋打酒是当地的风景",
        postcard: "Qingdao keeps a small white lighthouse at the end of its bay, and when the sea fog comes in one is glad of it.\nFollow the shore from the pier to the pine avenues, and buy beer the local way, in a plastic bag with a straw. When fog rolls in over the red roofs, listen for the horn and wait; it rarely stays past noon.",
    },
    City {
        slug: "nanjing",
        best: ("四月", "April"),
        zh: "南京",
        en: "Nanjing",
        nature: "南京有城墙、梧桐和一条秦淮河",
        seasons: [
            "春天看鸡鸣寺的樱花，雨水不少",
            "夏天闷热，是有名的火炉",
            "秋天栖霞山红叶，梧桐落满大道",
            "冬天湿冷，偶有大雪",
        ],
        wear: "夏天防暑，冬天防湿冷",
        walks: ["明城墙台城段", "颐和路的民国老房子", "傍晚的秦淮河"],
        foods: ["鸭血粉丝汤", "盐水鸭", "梅花糕"],
        table: "没有一只鸭子能游出南京，先从一碗鸭血粉丝开始",
        postcard: "Nanjing wears a brick wall as a belt and plane trees as a hat.\nCherry trees flower along one lane below a temple for ten days in spring, and the entire city goes to look. On other days have the lane, the temple and a bowl of duck soup nearly to yourself.",
    },
    City {
        slug: "suzhou",
        best: ("十月", "October"),
        zh: "苏州",
        en: "Suzhou",
        nature: "苏州把山水搬进院子，叫做园林",
        seasons: [
            "春天细雨如丝，碧螺春上市",
            "夏天梅雨过后是伏天，评弹馆里最凉快",
            "秋天吃蟹赏桂",
            "冬天阴冷，园林人少，最适合慢慢看",
        ],
        wear: "雨具常备，园林石路滑要穿平底鞋",
        walks: ["平江路的水巷", "拙政园的清晨", "虎丘塔下"],
        foods: ["苏式汤面", "松鼠鳜鱼", "鸡头米"],
        table: "一碗面分红汤白汤，浇头自己点，头汤面要赶早",
        postcard: "In Suzhou a garden is a mountain that has agreed to live behind a wall.\nChoose one garden, go when it opens, and stay in one pavilion until the light has changed. Then drift along the canal lanes to a noodle house and order the first broth of the day, which regulars get up for.",
    },
    City {
        slug: "chongqing",
        best: ("四月", "April"),
        zh: "重庆",
        en: "Chongqing",
        nature: "重庆是山城，一楼出门可能是别人的十楼",
        seasons: [
            "春天多雾，气温回升快",
            "夏天酷热，四十度不稀奇",
            "秋天多绵绵细雨",
            "冬天阴湿多雾，很少下雪",
        ],
        wear: "鞋要好走，台阶很多；夏天随身带水",
        walks: ["山城步道看江", "磁器口的石板路", "坐一次过江索道"],
        foods: ["重庆火锅", "小面", "酸辣粉"],
        table: "火锅的家庭做法，见茶与厨房的菜谱",
        postcard: "Chongqing stacks its streets like plates; trains run through houses and nobody looks up.\nTake the cable car across the river, then a lift that costs less than a sweet and lets you out on another street twenty floors higher. Maps are of little use here; follow the smell of chilli oil.",
    },
    City {
        slug: "xiamen",
        best: ("十月", "October"),
        zh: "厦门",
        en: "Xiamen",
        nature: "厦门是海上的花园，鼓浪屿上只听见琴声和脚步声",
        seasons: [
            "春天潮湿多雾",
            "夏天炎热，七到九月注意台风",
            "秋天最舒服，海水温暖",
            "冬天温和，十几度的晴天很多",
        ],
        wear: "防晒，台风季看好天气再订船票",
        walks: ["环岛路骑车", "鼓浪屿的小巷", "沙坡尾的老避风坞"],
        foods: ["沙茶面", "海蛎煎", "花生汤"],
        table: "沙茶面的料自己加，多加一份油豆腐不会错",
        postcard: "Xiamen has an island without cars where pianos outnumber engines.\nStay on the island without cars until the last day visitors have left and the lanes belong to cats and pianos. In typhoon season look at the sky before you buy the ferry ticket.",
    },
    City {
        slug: "lhasa",
        best: ("七月", "July"),
        zh: "拉萨",
        en: "Lhasa",
        nature: "拉萨海拔三千六百多米，阳光多得用不完",
        seasons: [
            "春天风大干燥，桃花开在河谷",
            "夏天白天暖夜里下雨，是最舒服的季节",
            "秋天天空最蓝",
            "冬天白天晒、夜里冷，空气含氧更低",
        ],
        wear: "防晒、保湿、慢慢走，头两天不要跑不要洗热水澡",
        walks: ["八廓街顺时针走一圈", "药王山看布达拉宫的日出", "拉萨河边的柳林"],
        foods: ["甜茶", "糌粑", "牦牛肉包子"],
        table: "甜茶馆里一磅一磅地要，零钱放在桌上，添一杯收一次",
        postcard: "In Lhasa the sun is a neighbour, and sweet tea is paid for one small glass at a time.\nDo nothing on the first day and little on the second; the air is thin and the hills are patient. Then walk the old circuit clockwise with everyone else, slowly, and rest in a tea house when your breath asks for it.",
    },
];

pub(super) fn site() -> DemoSite {
    let mut entries: Vec<DemoPage> = Vec::new();
    let homes: Vec<String> = CITIES.iter().map(|city| format!("/{}/", city.slug)).collect();
    for (number, city) in CITIES.iter().enumerate() {
        entries.extend(pages_of(number, city, &homes));
    }
    let mut weather = String::from("出门之前先看天气：下面是各城市四季的气候和穿衣建议。\n");
    let mut food = String::from("一座城市的早晨在碗里。\n");
    let mut postcards = String::from("One postcard from each city, for readers of English.\n");
    let mut all = String::from("城市漫步写十四座城市：怎么走，吃什么，什么季节来。\n## 城市\n");
    for city in CITIES {
        all.push_str(&format!("* /{}/ | {}\n", city.slug, city.foods[0]));
        weather.push_str(&format!("* /{}/weather | {}\n", city.slug, city.wear));
        food.push_str(&format!("* /{}/food | {}\n", city.slug, city.foods.join("、")));
        postcards.push_str(&format!("* /postcards/{} | {}\n", city.slug, city.zh));
    }
    all.push_str("## 专题\n* /天气/ | 十四座城市的天气\n* /美食/ | 十四座城市的早晨\n* /postcards/ | in English\n海边的城市都有灯塔，灯塔的事请看[[dengta.localhost/|灯塔故事]]。\n");
    entries.push(DemoPage::hub(Lang::Zh, "/天气/", "十四座城市的天气与穿衣", weather).by("", 28));
    entries.push(DemoPage::hub(Lang::Zh, "/美食/", "十四座城市的早晨与美食", food).by("", 27));
    entries.push(
        DemoPage::hub(Lang::En, "/postcards/", "Postcards from fourteen Chinese cities", postcards)
            .by("", 26),
    );
    entries.push(
        DemoPage::new(PageKind::Home, Lang::Zh, "/", "城市漫步：十四座城市的天气、美食和散步路线", all)
            .by("", 8),
    );
    DemoSite {
        host: "city-walks.localhost",
        title: "城市漫步",
        lang: Lang::Zh,
        charset: Charset::Utf8,
        declared: CharsetDeclaration::Header,
        look: Layout::Divisions,
        navigation: &[
            ("/", "首页"),
            ("/天气/", "天气"),
            ("/美食/", "美食"),
            ("/beijing/", "北京"),
            ("/shanghai/", "上海"),
            ("/xian/", "西安"),
            ("/postcards/", "Postcards"),
        ],
        friends: &["tea-kitchen.localhost", "campus.localhost", "dengta.localhost"],
        entries,
    }
}

fn pages_of(number: usize, city: &City, homes: &[String]) -> [DemoPage; 4] {
    let City { slug, zh, en, best, nature, seasons, wear, walks, foods, table, postcard } = city;
    let month = best.0;
    let in_season = |season: usize| {
        let name = ["春天", "夏天", "秋天", "冬天"][season];
        seasons[season].strip_prefix(name).unwrap_or(seasons[season])
    };
    let guide = format!(
        "{nature}。第一次来，建议留三天，最好的月份是{month}。\n! city-{slug} | {zh}的轮廓\n## 三条散步路线\n1. {}\n1. {}\n1. {}\n\
         ## 出发之前\n看一看[[/{slug}/weather|{zh}的天气]]，再想好[[/{slug}/food|在{zh}吃什么]]。English readers: [[/postcards/{slug}|a postcard from {en}]]。\n",
        walks[0], walks[1], walks[2]
    );
    let weather = match number % 2 {
        0 => format!(
            "去{zh}之前，很多人会先查{zh}天气。这里不报明天，只说四季。\n## 春夏秋冬\n= 春: {}\n= 夏: {}\n= 秋: {}\n= 冬: {}\n## 穿什么\n{wear}。\n\
             如果只能选一个月，我们选{month}。更多路线见[[/{slug}/|{zh}漫步]]。\n",
            in_season(0),
            in_season(1),
            in_season(2),
            in_season(3)
        ),
        _ => format!(
            "{zh}天气的脾气，住一年才摸得清。先说结论：{month}最好。\n{}。\n{}。\n{}。\n{}。\n## 行李建议\n{wear}。\n\
             天气好的话，按[[/{slug}/|{zh}的三条散步路线]]走一走。\n",
            seasons[0], seasons[1], seasons[2], seasons[3]
        ),
    };
    let (first, second, third) = (foods[0], foods[1], foods[2]);
    let food = format!(
        "在{zh}，早饭比闹钟更有用。当地人说起吃的，先说{first}，再说{second}，最后压低声音说{third}。\n## 怎么点\n{table}。\n## 在哪里吃\n\
         不要去最亮的招牌下面，去排队的人提着菜篮子的那家。吃饱了，正好去走[[/{slug}/|{}]]。\n\
         想在家里做？看看[[tea-kitchen.localhost/zh/dish/|茶与厨房的菜谱]]。\n",
        walks[number % 3]
    );
    let english = format!(
        "{postcard}\n= Chinese name: {zh}\n= Best month: {}\n= Eat: {first}, {second}, {third}\nThe long version, in Chinese, is at \
         [[/{slug}/|{zh}漫步]]; the weather through the year at [[/{slug}/weather|{zh}天气]].\n",
        best.1
    );
    let age = 55 + 21 * number as u64;
    [
        DemoPage::hub(Lang::Zh, format!("/{slug}/"), format!("{zh}漫步：三条路线走进{zh}"), guide)
            .by("许一舟", age)
            .keywords(format!("{zh}, 旅游, 散步"))
            .related(neighbours(homes, number, 3)),
        DemoPage::article(
            Lang::Zh,
            format!("/{slug}/weather"),
            format!("{zh}天气：四季气候与穿衣指南"),
            weather,
        )
        .by("许一舟", age + 3)
        .keywords(format!("{zh}, 天气, 气候, 穿衣")),
        DemoPage::article(Lang::Zh, format!("/{slug}/food"), format!("{zh}吃什么：从{first}到{third}"), food)
            .by("秦小满", age + 6)
            .keywords(format!("{zh}, 美食, {first}")),
        DemoPage::article(Lang::En, format!("/postcards/{slug}"), format!("A postcard from {en}"), english)
            .by("Mira Lowe", age + 9)
            .keywords(format!("{en}, travel"))
            .related([format!("/{slug}/")]),
    ]
}
