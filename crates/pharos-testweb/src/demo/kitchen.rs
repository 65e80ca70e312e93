//! The Tea Kitchen (both languages): teas and recipes, each page with a counterpart in the other language.

use super::{DemoPage, DemoSite, list_of, neighbours};
use crate::model::{Charset, CharsetDeclaration, Lang, Layout, PageKind};
use crate::writer::capital;

struct Tea {
    slug: &'static str,
    en: &'static str,
    zh: &'static str,
    kind: (&'static str, &'static str),
    home: (&'static str, &'static str),
    degrees: u32,
    minutes: &'static str,
    taste: (&'static str, &'static str),
    note: (&'static str, &'static str),
}

const TEAS: &[Tea] = &[
    Tea {
        slug: "longjing",
        en: "Longjing",
        zh: "龙井茶",
        kind: ("green tea", "绿茶"),
        home: ("Hangzhou in Zhejiang", "浙江杭州"),
        degrees: 80,
        minutes: "2",
        taste: ("roasted chestnut and fresh beans", "炒栗香和豆香"),
        note: (
            "The flat leaves are pressed by hand in a hot pan; the best are picked before the Qingming festival.",
            "扁平的叶片是在热锅里用手压出来的，清明前采的最好。",
        ),
    },
    Tea {
        slug: "biluochun",
        en: "Biluochun",
        zh: "碧螺春",
        kind: ("green tea", "绿茶"),
        home: ("Dongting Mountain near Suzhou", "苏州洞庭山"),
        degrees: 75,
        minutes: "2",
        taste: ("flowers and ripe fruit", "花香和果香"),
        note: (
            "Tea bushes grow between peach and plum trees, and some say one can taste the neighbours.",
            "茶树种在桃树和李树之间，有人说喝得出邻居的味道。",
        ),
    },
    Tea {
        slug: "maofeng",
        en: "Huangshan Maofeng",
        zh: "黄山毛峰",
        kind: ("green tea", "绿茶"),
        home: ("the Yellow Mountains of Anhui", "安徽黄山"),
        degrees: 80,
        minutes: "3",
        taste: ("orchid and sweet grass", "兰花香，回味甘甜"),
        note: (
            "Each bud wears fine white down, like a mountain peak in snow.",
            "每个芽头都披着白毫，像落雪的山峰。",
        ),
    },
    Tea {
        slug: "tieguanyin",
        en: "Tieguanyin",
        zh: "铁观音",
        kind: ("oolong tea", "乌龙茶"),
        home: ("Anxi in Fujian", "福建安溪"),
        degrees: 95,
        minutes: "1",
        taste: ("lilac, butter and stone", "兰香浓郁，音韵悠长"),
        note: (
            "Leaves are rolled into little fists and open in the seventh cup.",
            "茶叶卷成小拳头，泡到第七道才完全展开。",
        ),
    },
    Tea {
        slug: "dahongpao",
        en: "Da Hong Pao",
        zh: "大红袍",
        kind: ("rock oolong", "岩茶"),
        home: ("the Wuyi cliffs of Fujian", "福建武夷山"),
        degrees: 98,
        minutes: "1",
        taste: ("cocoa, charcoal and wet rock", "岩骨花香，带炭火味"),
        note: (
            "A handful of old bushes on a cliff gave the tea its name, the big red robe.",
            "悬崖上的几棵老茶树给了它这个名字。",
        ),
    },
    Tea {
        slug: "lapsang",
        en: "Lapsang Souchong",
        zh: "正山小种",
        kind: ("black tea", "红茶"),
        home: ("Tongmu village in the Wuyi mountains", "武夷山桐木村"),
        degrees: 95,
        minutes: "3",
        taste: ("pine smoke and longan", "松烟香和桂圆汤味"),
        note: (
            "Leaves are dried over smouldering pine; sailors at the Merchants' Light drank nothing else.",
            "叶子用松柴慢慢熏干，茶船灯塔的水手只喝这一种。",
        ),
    },
    Tea {
        slug: "qimen",
        en: "Keemun",
        zh: "祁门红茶",
        kind: ("black tea", "红茶"),
        home: ("Qimen in Anhui", "安徽祁门"),
        degrees: 92,
        minutes: "3",
        taste: ("rose, apple and a little wine", "玫瑰香和苹果香，略带酒味"),
        note: ("It is the quiet heart of many breakfast blends.", "许多早餐茶的配方里都有它。"),
    },
    Tea {
        slug: "dianhong",
        en: "Yunnan Black",
        zh: "滇红",
        kind: ("black tea", "红茶"),
        home: ("Fengqing in Yunnan", "云南凤庆"),
        degrees: 92,
        minutes: "3",
        taste: ("honey, pepper and sweet potato", "蜜香，带一点胡椒和红薯味"),
        note: (
            "Golden tips turn the cup the colour of a harbour at sunset.",
            "金色的芽头让茶汤像日落时的港口。",
        ),
    },
    Tea {
        slug: "puer",
        en: "Pu'er",
        zh: "普洱茶",
        kind: ("fermented tea", "黑茶"),
        home: ("southern Yunnan", "云南南部"),
        degrees: 100,
        minutes: "1",
        taste: ("earth, wood and dates", "木香、枣香和泥土的气息"),
        note: (
            "Cakes of it travelled on horseback for months and grew better on the way.",
            "茶饼在马背上走几个月，越走越香。",
        ),
    },
    Tea {
        slug: "baihao-yinzhen",
        en: "Silver Needle",
        zh: "白毫银针",
        kind: ("white tea", "白茶"),
        home: ("Fuding in Fujian", "福建福鼎"),
        degrees: 85,
        minutes: "4",
        taste: ("melon, hay and cool air", "清甜，带瓜香和干草香"),
        note: (
            "Only buds, only sun, hardly any work: the simplest tea is the hardest to make.",
            "只用芽头，只靠太阳，最简单的茶最难做。",
        ),
    },
    Tea {
        slug: "junshan",
        en: "Junshan Yinzhen",
        zh: "君山银针",
        kind: ("yellow tea", "黄茶"),
        home: ("an island in Dongting Lake", "洞庭湖君山岛"),
        degrees: 80,
        minutes: "3",
        taste: ("sweet corn and bamboo", "甜玉米和嫩竹的香气"),
        note: (
            "In a glass the needles rise and sink three times, like little swimmers.",
            "在玻璃杯里茶针三起三落，像一群游泳的人。",
        ),
    },
    Tea {
        slug: "jasmine",
        en: "Jasmine Tea",
        zh: "茉莉花茶",
        kind: ("scented tea", "花茶"),
        home: ("Fuzhou and Hengxian", "福州和横县"),
        degrees: 85,
        minutes: "3",
        taste: ("jasmine, of course, and honey", "茉莉花香，回味带蜜"),
        note: (
            "Fresh blossoms are laid upon the leaves at night, when they open, and sieved out in the morning; this is done up to seven times.",
            "鲜花夜里开放时铺在茶叶上，早晨筛走，最多要重复七次。",
        ),
    },
];

struct Dish {
    slug: &'static str,
    en: &'static str,
    zh: &'static str,
    minutes: u32,
    serves: u32,
    hint: (&'static str, &'static str),
    things: (&'static str, &'static str),
    steps: (&'static [&'static str], &'static [&'static str]),
}

const DISHES: &[Dish] = &[
    Dish {
        slug: "tomato-eggs",
        en: "Tomato and egg stir-fry",
        zh: "番茄炒蛋",
        minutes: 15,
        serves: 2,
        hint: (
            "The first dish many people learn to cook, and the one they miss most when far from home.",
            "很多人学会的第一道菜，离家以后最想念的也是它。",
        ),
        things: (
            "three eggs, two ripe tomatoes, a spring onion, salt, sugar",
            "鸡蛋三个、熟番茄两个、小葱一根、盐、糖",
        ),
        steps: (
            &[
                "Beat the eggs with a pinch of salt and scramble them softly in hot oil; take them out.",
                "Fry the tomatoes in pieces until they give juice, add half a spoon of sugar.",
                "Return the eggs, fold twice, scatter spring onion and serve.",
            ],
            &[
                "鸡蛋加少许盐打散，热油滑炒到半熟盛出。",
                "番茄切块炒出汁，加半勺糖。",
                "倒回鸡蛋翻两下，撒葱花出锅。",
            ],
        ),
    },
    Dish {
        slug: "mapo-tofu",
        en: "Mapo tofu",
        zh: "麻婆豆腐",
        minutes: 20,
        serves: 3,
        hint: (
            "Soft tofu in a red sauce that numbs the tongue and wakes the mind.",
            "嫩豆腐裹着红油，麻在舌尖，醒在心里。",
        ),
        things: (
            "soft tofu, minced beef, broad bean paste, Sichuan pepper, garlic",
            "嫩豆腐、牛肉末、豆瓣酱、花椒、蒜",
        ),
        steps: (
            &[
                "Simmer tofu cubes in salted water for three minutes.",
                "Fry the beef until dry, add bean paste and garlic, fry until the oil is red.",
                "Add a cup of stock and the tofu, simmer, thicken three times, dust with ground Sichuan pepper.",
            ],
            &[
                "豆腐切块，在盐水里煮三分钟。",
                "牛肉末炒干，下豆瓣酱和蒜炒出红油。",
                "加一碗高汤和豆腐，小火煮，分三次勾芡，撒花椒面。",
            ],
        ),
    },
    Dish {
        slug: "steamed-fish",
        en: "Steamed sea bass",
        zh: "清蒸鲈鱼",
        minutes: 25,
        serves: 4,
        hint: (
            "Eight minutes of steam, one spoon of hot oil, and the harbour is on the table.",
            "八分钟蒸汽，一勺热油，整个港口就在桌上。",
        ),
        things: ("one sea bass, ginger, spring onion, steamed-fish soy sauce", "鲈鱼一条、姜、葱、蒸鱼豉油"),
        steps: (
            &[
                "Score the fish, rub with a little salt, lay on ginger.",
                "Steam over strong heat for eight minutes and pour off the liquid.",
                "Cover with fresh spring onion, pour on soy sauce and smoking hot oil.",
            ],
            &["鱼身划刀抹少许盐，垫姜片。", "大火蒸八分钟，倒掉盘里的水。", "铺葱丝，淋豉油，浇热油。"],
        ),
    },
    Dish {
        slug: "beef-noodles",
        en: "Lanzhou beef noodles",
        zh: "兰州牛肉面",
        minutes: 180,
        serves: 4,
        hint: (
            "One clear, two white, three red, four green, five yellow: soup, radish, chilli, coriander, noodles.",
            "一清二白三红四绿五黄：汤清、萝卜白、辣油红、香菜绿、面黄。",
        ),
        things: (
            "beef shank and bones, white radish, pulled noodles, chilli oil, coriander",
            "牛腱和牛骨、白萝卜、拉面、辣椒油、香菜",
        ),
        steps: (
            &[
                "Simmer the bones and the beef with spices for two and a half hours, skimming patiently.",
                "Cook radish slices in the strained broth.",
                "Boil the noodles, ladle on broth, top with beef, chilli oil and coriander.",
            ],
            &[
                "牛骨和牛肉加香料炖两个半小时，耐心撇沫。",
                "滤清的汤里煮萝卜片。",
                "面煮好盛碗，浇汤，放牛肉、辣椒油和香菜。",
            ],
        ),
    },
    Dish {
        slug: "dumplings",
        en: "Pork and chive dumplings",
        zh: "韭菜猪肉饺子",
        minutes: 90,
        serves: 5,
        hint: (
            "Dumplings are made by many hands; the quarrel about the right pleat is part of the recipe.",
            "饺子要很多双手一起包，争论怎么捏褶也是菜谱的一部分。",
        ),
        things: (
            "flour, minced pork, garlic chives, soy sauce, sesame oil",
            "面粉、猪肉馅、韭菜、酱油、香油",
        ),
        steps: (
            &[
                "Knead flour and water to a smooth dough and let it rest for half an hour.",
                "Stir pork with soy sauce in one direction, add chives at the last moment.",
                "Roll, fill, pleat; boil with three additions of cold water.",
            ],
            &[
                "面粉加水揉成光滑的面团，醒半小时。",
                "肉馅加酱油顺一个方向搅，最后放韭菜。",
                "擀皮、包馅、捏褶，煮的时候点三次凉水。",
            ],
        ),
    },
    Dish {
        slug: "tea-eggs",
        en: "Tea eggs",
        zh: "茶叶蛋",
        minutes: 60,
        serves: 6,
        hint: (
            "Cracked shells draw a marble pattern; the smell fills the whole street.",
            "敲裂的蛋壳画出大理石花纹，香味飘满整条街。",
        ),
        things: (
            "six eggs, two spoons of black tea, soy sauce, star anise, cinnamon",
            "鸡蛋六个、红茶两勺、酱油、八角、桂皮",
        ),
        steps: (
            &[
                "Boil the eggs for seven minutes, crack the shells all over.",
                "Simmer them with tea, soy sauce and spices for forty minutes.",
                "Leave them in the liquid overnight.",
            ],
            &["鸡蛋煮七分钟，把壳敲裂。", "和茶叶、酱油、香料一起小火煮四十分钟。", "在汤里泡一夜。"],
        ),
    },
    Dish {
        slug: "congee",
        en: "Rice congee with ginger",
        zh: "姜丝白粥",
        minutes: 70,
        serves: 3,
        hint: (
            "What the lighthouse keepers ate when the sea was rough and nobody felt like more.",
            "风浪大、没胃口的日子，守塔人就喝它。",
        ),
        things: ("half a cup of rice, two litres of water, ginger, salt", "大米半杯、水两升、姜、盐"),
        steps: (
            &[
                "Soak the rice in water with a drop of oil.",
                "Boil, then simmer for an hour, stirring in one direction towards the end.",
                "Serve with shreds of ginger and pickles.",
            ],
            &["大米加一滴油泡水。", "煮开后小火熬一小时，最后顺一个方向搅。", "配姜丝和小菜。"],
        ),
    },
    Dish {
        slug: "hotpot",
        en: "Chongqing hotpot at home",
        zh: "家庭版重庆火锅",
        minutes: 60,
        serves: 6,
        hint: (
            "A pot in the middle, friends around it, and windows that steam up by themselves.",
            "锅在中间，朋友围着，窗户自己就起了雾。",
        ),
        things: (
            "beef tallow, dried chillies, Sichuan pepper, bean paste, beef slices, tofu, lotus root",
            "牛油、干辣椒、花椒、豆瓣酱、肥牛、豆腐、莲藕",
        ),
        steps: (
            &[
                "Melt the tallow and fry bean paste, chillies and pepper over low heat for half an hour.",
                "Add stock and bring to the boil at the table.",
                "Dip each thing for as long as it needs: tripe fifteen seconds, potato five minutes.",
            ],
            &[
                "牛油化开，小火炒豆瓣酱、辣椒和花椒半小时。",
                "加高汤，端上桌烧开。",
                "各样东西按时间涮：毛肚十五秒，土豆五分钟。",
            ],
        ),
    },
    Dish {
        slug: "scallion-pancake",
        en: "Scallion pancakes",
        zh: "葱油饼",
        minutes: 45,
        serves: 4,
        hint: ("Flaky inside, crisp outside, gone in a minute.", "里面分层，外面酥脆，一分钟就吃完。"),
        things: ("flour, boiling water, spring onions, oil, salt", "面粉、开水、小葱、油、盐"),
        steps: (
            &[
                "Scald the flour with boiling water, knead, rest.",
                "Roll thin, brush with oil, scatter onions, roll up, coil like a snail and flatten.",
                "Fry slowly on both sides.",
            ],
            &["面粉用开水烫，揉匀，醒面。", "擀薄刷油撒葱，卷起来盘成蜗牛再压扁。", "两面小火慢煎。"],
        ),
    },
    Dish {
        slug: "red-braised-pork",
        en: "Red-braised pork",
        zh: "红烧肉",
        minutes: 90,
        serves: 4,
        hint: (
            "Little water, slow fire; when the time has come it is good by itself.",
            "少着水，慢着火，火候足时它自美。",
        ),
        things: ("pork belly, rock sugar, soy sauce, rice wine, ginger", "五花肉、冰糖、酱油、黄酒、姜"),
        steps: (
            &[
                "Blanch the pork in cubes.",
                "Melt rock sugar in oil until amber and turn the pork in it.",
                "Add wine, soy sauce and little water; simmer for an hour; reduce until it shines.",
            ],
            &[
                "五花肉切块焯水。",
                "冰糖炒成琥珀色，下肉翻匀。",
                "加黄酒、酱油和少量水，小火一小时，收汁发亮。",
            ],
        ),
    },
    Dish {
        slug: "ginger-scones",
        en: "Ginger scones of Port Aster",
        zh: "港口姜味司康",
        minutes: 35,
        serves: 8,
        hint: (
            "Baked every morning in the museum café, and gone before the second ferry.",
            "博物馆咖啡馆每天早上烤，第二班渡轮到之前就卖光。",
        ),
        things: (
            "flour, butter, candied ginger, buttermilk, baking powder",
            "面粉、黄油、糖姜、酪乳、泡打粉",
        ),
        steps: (
            &[
                "Rub cold butter into flour and baking powder.",
                "Add ginger and buttermilk, touch it as little as possible.",
                "Cut, brush with milk, bake for fifteen minutes.",
            ],
            &["冷黄油搓进面粉和泡打粉。", "加糖姜和酪乳，尽量少碰面团。", "切块刷奶，烤十五分钟。"],
        ),
    },
    Dish {
        slug: "fish-soup",
        en: "Harbour fish soup",
        zh: "海港鱼汤",
        minutes: 50,
        serves: 6,
        hint: (
            "Every boat has its own recipe, and every cook denies having learnt it from another.",
            "每条船都有自己的做法，每个厨子都不承认是跟别人学的。",
        ),
        things: ("mixed fish, mussels, potatoes, fennel, saffron", "杂鱼、贻贝、土豆、茴香、藏红花"),
        steps: (
            &[
                "Sweat fennel and potatoes in oil.",
                "Add fish stock and saffron, cook until the potatoes are soft.",
                "Add fish and mussels for the last five minutes.",
            ],
            &["茴香和土豆用油煸软。", "加鱼高汤和藏红花，煮到土豆熟。", "最后五分钟放鱼和贻贝。"],
        ),
    },
];

pub(super) fn site() -> DemoSite {
    let mut entries: Vec<DemoPage> = Vec::new();
    for lang in [Lang::En, Lang::Zh] {
        let prefix = if lang == Lang::En { "/en" } else { "/zh" };
        let paths: Vec<String> = TEAS.iter().map(|tea| format!("{prefix}/tea/{}", tea.slug)).collect();
        for (number, tea) in TEAS.iter().enumerate() {
            entries.push(tea_page(lang, number, tea, &paths));
        }
        let paths: Vec<String> = DISHES.iter().map(|dish| format!("{prefix}/dish/{}", dish.slug)).collect();
        for (number, dish) in DISHES.iter().enumerate() {
            entries.push(dish_page(lang, number, dish, &paths));
        }
    }
    for (path, lang, title, intro) in [
        (
            "/en/tea/",
            Lang::En,
            "A short atlas of Chinese tea",
            "Twelve teas: where they come from, how hot the water should be, and what to expect in the cup.",
        ),
        ("/zh/tea/", Lang::Zh, "中国茶小图鉴", "十二种茶：产地、水温、时间和滋味。"),
        (
            "/en/dish/",
            Lang::En,
            "Recipes from the harbour and from home",
            "Twelve dishes that work in a small kitchen, even in a round one.",
        ),
        ("/zh/dish/", Lang::Zh, "家常菜谱与海港菜谱", "十二道小厨房也能做好的菜，圆形的厨房也行。"),
    ] {
        let text = format!("{intro}\n{}", list_of(&entries, path));
        entries.push(DemoPage::hub(lang, path, title, text).by("", 40));
    }
    let home = "Put the kettle on. The Tea Kitchen is a cookbook in two languages: tea on the left burner, supper on the \
                right.\n! tea-home | The kettle of the house\n## In English\n* /en/tea/ | teas\n* /en/dish/ | recipes\n## 中文\n* /zh/tea/ | 茶\n* /zh/dish/ | 菜谱\n\
                ## Favourites of our readers\n* /en/dish/ginger-scones | the famous scones\n* /zh/dish/beef-noodles | 一碗面\n* /zh/tea/longjing | 春天的茶\n\
                Curious where the dishes come from? Walk with us through the cities of [[city-walks.localhost/|城市漫步]].\n";
    entries.push(
        DemoPage::new(
            PageKind::Home,
            Lang::En,
            "/",
            "The Tea Kitchen 茶与厨房: tea and recipes in two languages",
            home.into(),
        )
        .by("", 9),
    );
    DemoSite {
        host: "tea-kitchen.localhost",
        title: "The Tea Kitchen",
        lang: Lang::En,
        charset: Charset::Utf8,
        declared: CharsetDeclaration::Meta,
        look: Layout::Semantic,
        navigation: &[
            ("/", "Home"),
            ("/en/tea/", "Tea"),
            ("/en/dish/", "Recipes"),
            ("/zh/tea/", "茶"),
            ("/zh/dish/", "菜谱"),
        ],
        friends: &["city-walks.localhost", "harbour-news.localhost", "lighthouse-museum.localhost"],
        entries,
    }
}

fn tea_page(lang: Lang, number: usize, tea: &Tea, paths: &[String]) -> DemoPage {
    let Tea { slug, en, zh, kind, home, degrees, minutes, taste, note } = tea;
    let picture = format!("! tea-{slug} | {en} {zh}\n");
    let (title, text) = match lang {
        Lang::En => {
            let opening = match number % 3 {
                0 => format!("{en} is a {} from {}. It tastes of {}.", kind.0, home.0, taste.0),
                1 => format!("In {} they make a {} that tastes of {}: {en}.", home.0, kind.0, taste.0),
                _ => format!("If you like {}, you will like {en}, a {} from {}.", taste.0, kind.0, home.0),
            };
            let text = format!(
                "{opening} {}\n{picture}## How to brew {en}\n= Leaf: one heaped teaspoon per cup\n= Water: {degrees} °C\n\
                 = First infusion: {minutes} min\nWarm the pot, rinse the leaves if you like, pour, and wait without \
                 looking at the clock too often. Water that is too hot makes {} bitter; water that is too cool leaves \
                 its best half in the leaves.\nIn Chinese: [[/zh/tea/{slug}|{zh}的泡法]].\n",
                note.0, kind.0
            );
            (format!("{en} tea: taste, origin and how to brew it"), text)
        }
        Lang::Zh => {
            let opening = match number % 3 {
                0 => format!("{zh}是{}，产自{}，{}。", kind.1, home.1, taste.1),
                1 => format!("{}有一种{}，{}，它就是{zh}。", home.1, kind.1, taste.1),
                _ => format!("喜欢{}的人，多半会喜欢{}的{zh}，它属于{}。", taste.1, home.1, kind.1),
            };
            let text = format!(
                "{opening}{}\n{picture}## {zh}怎么泡\n= 用量: 每杯一满勺\n= 水温: {degrees}度\n= 头道: {minutes}分钟\n\
                 先温壶，喜欢的话可以洗一遍茶，然后注水，安静地等。水太烫，{}会苦；水太凉，好味道就留在叶子里了。\n\
                 English: [[/en/tea/{slug}|how to brew {en}]]。\n",
                note.1, kind.1
            );
            (format!("{zh}：产地、滋味与泡法"), text)
        }
    };
    let keywords = if lang == Lang::En { format!("tea, {}", kind.0) } else { format!("茶, {}", kind.1) };
    DemoPage::article(lang, &paths[number], title, text)
        .by(if lang == Lang::En { "Flora Penn" } else { "沈清茗" }, 50 + 23 * number as u64)
        .keywords(keywords)
        .related(neighbours(paths, number, 3))
}

fn dish_page(lang: Lang, number: usize, dish: &Dish, paths: &[String]) -> DemoPage {
    let Dish { slug, en, zh, minutes, serves, hint, things, steps } = dish;
    let numbered = |steps: &[&str]| steps.iter().map(|step| format!("1. {step}\n")).collect::<String>();
    let tea = &TEAS[(number * 5) % TEAS.len()];
    let (title, text) = match lang {
        Lang::En => (
            format!("{en}: a recipe for {serves}"),
            format!(
                "{}\n= Time: {minutes} minutes\n= Serves: {serves}\n## You need\n{}.\n## Method\n{}{} goes well with a \
                 pot of [[/en/tea/{}|{}]].\nIn Chinese: [[/zh/dish/{slug}|{zh}]].\n",
                hint.0,
                capital(things.0),
                numbered(steps.0),
                en,
                tea.slug,
                tea.en
            ),
        ),
        Lang::Zh => (
            format!("{zh}的做法（{serves}人份）"),
            format!(
                "{}\n= 时间: {minutes}分钟\n= 份量: {serves}人\n## 材料\n{}。\n## 做法\n{}吃{zh}的时候，不妨泡一壶[[/zh/tea/{}|{}]]。\n\
                 English: [[/en/dish/{slug}|{en}]]。\n",
                hint.1,
                things.1,
                numbered(steps.1),
                tea.slug,
                tea.zh
            ),
        ),
    };
    DemoPage::article(lang, &paths[number], title, text)
        .by(if lang == Lang::En { "Flora Penn" } else { "沈清茗" }, 65 + 19 * number as u64)
        .keywords(if lang == Lang::En {
            format!("recipe, {minutes} minutes")
        } else {
            format!("菜谱, {minutes}分钟")
        })
        .related(neighbours(paths, number, 3))
}
