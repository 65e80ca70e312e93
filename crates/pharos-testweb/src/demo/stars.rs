//! The Star Club of Port Aster (both languages): planets, constellations, telescopes and nights under the sky.

use super::{DemoPage, DemoSite, list_of, neighbours};
use crate::model::{Charset, CharsetDeclaration, Lang, Layout, PageKind};

/// Slug, English name, Chinese name, facts in English, facts in Chinese, sights, 看点.
type Planet = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [(&'static str, &'static str)],
    &'static str,
    &'static str,
);

const PLANETS: &[Planet] = &[
    (
        "mercury",
        "Mercury",
        "水星",
        &[("Year", "88 days"), ("Moons", "none"), ("Diameter", "4,880 km")],
        &[("公转", "88天"), ("卫星", "没有"), ("直径", "4880千米")],
        "Mercury never strays far from the Sun, so look for it low in the dusk or dawn, and be quick: it is gone in half an hour.",
        "水星总在太阳附近，只能在黎明或黄昏的低空找它，半小时就不见了。",
    ),
    (
        "venus",
        "Venus",
        "金星",
        &[("Year", "225 days"), ("Moons", "none"), ("Diameter", "12,100 km")],
        &[("公转", "225天"), ("卫星", "没有"), ("直径", "12100千米")],
        "Nothing but the Moon outshines Venus at night. A small telescope shows that it has phases, as Galileo saw in 1610.",
        "夜空里除了月亮，数金星最亮。小望远镜就能看出它像月亮一样有圆缺，伽利略在1610年看到过。",
    ),
    (
        "mars",
        "Mars",
        "火星",
        &[("Year", "687 days"), ("Moons", "Phobos and Deimos"), ("Diameter", "6,780 km")],
        &[("公转", "687天"), ("卫星", "两颗"), ("直径", "6780千米")],
        "Every twenty-six months Mars comes close. Then, on a steady night, a telescope shows a white polar cap and dark plains.",
        "火星每隔二十六个月靠近地球一次，空气平稳的夜晚能看见白色的极冠和暗色的平原。",
    ),
    (
        "jupiter",
        "Jupiter",
        "木星",
        &[("Year", "11.9 years"), ("Large moons", "four"), ("Diameter", "140,000 km")],
        &[("公转", "11.9年"), ("大卫星", "四颗"), ("直径", "14万千米")],
        "Binoculars show four points of light in a row: the moons of Jupiter. Draw them every evening for a week and you repeat a revolution of thought.",
        "用双筒望远镜就能看见排成一行的四个光点，那是木星的卫星。连画一个星期，就重复了一次思想的革命。",
    ),
    (
        "saturn",
        "Saturn",
        "土星",
        &[("Year", "29.5 years"), ("Rings", "wide and thin"), ("Diameter", "116,500 km")],
        &[("公转", "29.5年"), ("光环", "又宽又薄"), ("直径", "116500千米")],
        "People gasp when they first see the rings of Saturn in a telescope; some suspect a sticker on the lens.",
        "第一次在望远镜里看见土星光环的人都会叫出声来，有人怀疑镜头上贴了画。",
    ),
    (
        "uranus",
        "Uranus",
        "天王星",
        &[("Year", "84 years"), ("Found", "1781 by William Herschel"), ("Diameter", "50,700 km")],
        &[("公转", "84年"), ("发现", "1781年，威廉·赫歇尔"), ("直径", "50700千米")],
        "Uranus was found from a garden with a home-made telescope. It rolls along its orbit lying on its side.",
        "天王星是在自家花园里用自制望远镜发现的，它躺着身子绕太阳滚。",
    ),
    (
        "neptune",
        "Neptune",
        "海王星",
        &[("Year", "165 years"), ("Found", "1846, by calculation"), ("Diameter", "49,200 km")],
        &[("公转", "165年"), ("发现", "1846年，先算出来"), ("直径", "49200千米")],
        "Neptune was found with a pencil first and a telescope second: its pull on Uranus gave it away.",
        "海王星是先用笔算出来、再用望远镜找到的，它对天王星的拉扯暴露了自己。",
    ),
];

const CONSTELLATIONS: &[(&str, &str, &str, &str, &str)] = &[
    (
        "orion",
        "Orion, the hunter",
        "winter evenings",
        "Three stars in a row make the belt; below it hangs the sword, and in the sword a nebula where stars are being born.",
        "Betelgeuse is reddish, Rigel blue-white. Compare the two with the naked eye and you have done spectroscopy.\nIn old stories the hunter boasted that he would kill every beast, and a scorpion was sent to teach him modesty; so he sinks in the west when Scorpius rises in the east. Chinese star maps see three great lords in his belt.",
    ),
    (
        "ursa-major",
        "Ursa Major and the Plough",
        "all year in the north",
        "Seven stars of the Great Bear form a pan with a bent handle. The outer edge of the pan points to the Pole Star.",
        "The second star of the handle has a faint companion, Alcor, an old test of eyesight.\nChinese sky watchers call the seven stars the Northern Ladle and told the season by its handle: when it points east at dusk it is spring, south summer, west autumn and north winter.",
    ),
    (
        "cassiopeia",
        "Cassiopeia, the letter in the sky",
        "autumn evenings",
        "A large W, or an M, depending on the hour. It lies opposite the Plough, so one of the two is always high.",
        "The Milky Way runs through it, and binoculars find cluster after cluster.\nThe vain queen was placed near the pole so that half of the night she has to hang upside down. In 1572 Tycho Brahe saw a new star flare up here and measured that it lay far beyond the Moon.",
    ),
    (
        "lyra",
        "Lyra, the lyre",
        "summer evenings",
        "A small parallelogram hangs from Vega, one of the brightest stars of the sky and a corner of the Summer Triangle.",
        "Between the two lower stars floats the Ring Nebula, a smoke ring in a telescope of ten centimetres.\nIn China Vega is the Weaving Girl, parted from the Cowherd, Altair, by the river of the Milky Way. On the seventh day of the seventh month magpies build them a bridge, and our club brings cake.",
    ),
    (
        "cygnus",
        "Cygnus, the swan",
        "late summer",
        "A great cross flying down the Milky Way, with Deneb as its tail and Albireo as its beak.",
        "Albireo is a double star, gold and blue, and the first thing we show to visitors.\nFrom a dark place you can see that the Milky Way splits in two along the swan's neck. The gap is not empty; it is a long cloud of dust that hides the stars behind.",
    ),
    (
        "scorpius",
        "Scorpius, the scorpion",
        "low in the south in July",
        "Red Antares is the heart; a curved line of stars dips behind the harbour roofs as the tail.",
        "From the [[lighthouse-museum.localhost/lights/southern-cross-light|southern island]] the whole tail is visible.\nAntares means rival of Mars, and when the planet passes by, the two red lights are easily confused. The ancient Chinese called the star the Great Fire and began their calendar by it.",
    ),
    (
        "leo",
        "Leo, the lion",
        "spring evenings",
        "A backward question mark makes the mane, with Regulus as its point.",
        "In November the Leonids, a meteor shower, seem to fly out of the mane.\nBetween mane and tail lies a whole field of galaxies, three of which fit into one view of a small telescope. Spring is the season for them, because then we look out of the disc of our own.",
    ),
    (
        "taurus",
        "Taurus and the Pleiades",
        "winter evenings",
        "Orange Aldebaran is the eye of the bull; on its shoulder sit the Pleiades, a tiny dipper of blue stars.",
        "Most people count six Pleiades, good eyes seven, and binoculars fifty.\nNear the tip of the lower horn glows the Crab Nebula, the remains of a star whose explosion was written down by Chinese astronomers in the year 1054; it was bright enough to be seen by day.",
    ),
    (
        "andromeda",
        "Andromeda and the nearest large galaxy",
        "autumn evenings",
        "From the great square of Pegasus two lines of stars lead to a faint smudge: a galaxy two and a half million light years away.",
        "It is the farthest thing you can see without any telescope at all.\nThe light that reaches you tonight set out before there were people to look at it. In binoculars the smudge is longer than the Moon is wide; a camera shows that it is larger still.",
    ),
    (
        "gemini",
        "Gemini, the twins",
        "winter and spring",
        "Castor and Pollux stand side by side, feet in the Milky Way.",
        "In December the Geminids send a hundred meteors an hour, if the clouds allow.\nNear the foot of Castor lies a cluster of some hundred stars, visible in binoculars as a grain of mist. Pollux is a little brighter and a little more golden; once you have noticed it you will never mix up the twins.",
    ),
];

const TELESCOPES: &[(&str, &str, &str)] = &[
    (
        "first-telescope",
        "Choosing a first telescope",
        "The best first telescope is a pair of binoculars, the second best is one that you can carry outside in one trip.\n## Three numbers\n= Aperture: the width of the lens or mirror; more light, more stars\n= Focal length: divide it by that of the eyepiece and you get the magnification\n= Weight: the number that decides how often you use it\nIgnore the magnification printed on the box. A mirror of fifteen centimetres on a simple wooden mount shows the rings of Saturn, the moons of Jupiter and hundreds of galaxies.",
    ),
    (
        "refractor",
        "The refractor: a telescope with a lens",
        "A refractor gathers light with a lens at the front. It is rugged, needs no adjusting and shows the Moon crisp to the edge.\nIts old illness is colour: a simple lens bends blue more than red, and bright stars wear a violet fringe. Two lenses of different glass cure most of it, three nearly all, at a price.\nLighthouse lenses fight the same battle in the other direction; see [[lighthouse-museum.localhost/how/how-a-fresnel-lens-works|how a Fresnel lens works]].",
    ),
    (
        "reflector",
        "The reflector: a telescope with a mirror",
        "Isaac Newton put a curved mirror at the bottom of the tube and a small flat one near the top, and colour fringes were gone.\nMirrors are cheaper than lenses of the same size, so reflectors are the telescopes of those who want much light for little money. Once in a while the mirrors must be aligned, which takes five minutes and a little courage.",
    ),
    (
        "dobson",
        "How to build a Dobsonian telescope from wood",
        "A mirror, a tube, a box, three pads: a Dobsonian telescope can be built on a weekend with tools from a kitchen drawer.\n1. Cut the base and the rocker box from plywood.\n1. Fix two round bearings to the tube where it balances.\n1. Glue three pads of slippery plastic to the base.\n1. Set in the mirror, align it, carry it outside and look at the Moon.\nOur workshop meets on the first Tuesday of the month; bring a sandwich.",
    ),
    (
        "eyepieces",
        "Eyepieces, or why magnification is overrated",
        "Air trembles, and a telescope magnifies the trembling too. On most nights a hundred times is enough.\nHave three eyepieces: one for wide views, one for planets, one in between. Spend more on the wide one; you will use it most.\nA good way to choose is to borrow: on every clear Friday the club's box of eyepieces lies open on the table, with a red lamp beside it and a list on which you write what you saw.",
    ),
    (
        "care",
        "Keeping a telescope alive near the sea",
        "Salt is the enemy of mirrors. Cap the tube while it is still warm, store it dry, and let dew evaporate before you close the box.\nNever wipe a mirror. Rinse it once a year with distilled water, and let gravity do the drying. The keepers of the [[lighthouse-museum.localhost/keepers/|lighthouses]] used linen and patience; we use only patience.",
    ),
];

const NIGHTS: &[(&str, &str, &str)] = &[
    (
        "perseids",
        "Night report: the Perseids from Pilot Hill",
        "Forty-two people, eleven blankets, one hundred and eighteen meteors. The best one crossed from Cassiopeia to the harbour and lit up everyone's face.\nA boy asked where the stones come from. They are crumbs of the comet Swift–Tuttle, most of them smaller than a grain of rice, and they burn a hundred kilometres above us.\nWe go again next August. Bring something warm, leave the torches at home, and lie with your feet to the north-east; the meteors come from all sides, but your neck will thank you.",
    ),
    (
        "lunar-eclipse",
        "Night report: a red Moon over Saltmere",
        "At nine the shadow of the Earth touched the Moon; at ten it hung above the marshes like a copper coin. Frogs stopped, then went on.\nThe red light is that of all sunrises and sunsets of the world at once, bent by our air into the shadow.\nWe drew the edge of the shadow every ten minutes. It is always round, from whatever side it comes, and that is how people knew the shape of the Earth long before anybody sailed round it.",
    ),
    (
        "saturn-party",
        "Night report: Saturn on the market square",
        "We set three telescopes between the cheese stall and the tram stop and said nothing. Within minutes there was a queue.\nA woman of ninety-one looked for a long time and said she had waited for this since school. We have her name in the guest book, twice.\nBetween eight and midnight two hundred and six people looked through the big telescope, and at least half of them said the same word. We shall do it again when Jupiter is high, on the other side of the cheese.",
    ),
    (
        "fog",
        "Night report: fog, tea and a lecture",
        "No star, no Moon, no harbour. So we brewed [[tea-kitchen.localhost/en/tea/puer|Pu'er]], and Jonas explained the [[/sky/orion|Orion Nebula]] with a torch and a jar of milk.\nIt was, several members said, the best night of the season.\nThe milk scatters blue light to the side and lets red light pass, as dust does between the stars. At eleven the fog bell began, everyone counted to twenty, and then we went home along the wall.",
    ),
    (
        "milky-way",
        "Night report: the Milky Way from Gull Rock",
        "The boatman took us out to [[lighthouse-museum.localhost/lights/gull-rock|Gull Rock]] at new moon. Away from the street lamps the Milky Way threw shadows on the deck, or so we swear.\nThe lighthouse flashes only every ten seconds; between two flashes there is time for a galaxy.\nLanding is allowed only in calm weather and with the harbour master's leave. Take a hat: the gulls do not sleep as much as one would think.",
    ),
    (
        "occultation",
        "Night report: the Moon hides a star",
        "At 21:14:06 the dark edge of the Moon touched Aldebaran and the star went out like a lamp that is switched off. No fading: the Moon has no air, and a star is a point.\nWe timed it to a tenth of a second with three phones and one stopwatch of 1952. The stopwatch won.\nSuch timings are still useful: from many of them, made along the coast, one can draw the mountains at the edge of the Moon. Ours went to the observatory of the university, with a drawing by the boatman.",
    ),
];

const CHINESE: &[(&str, &str, &str)] = &[
    (
        "wangyuanjing",
        "望远镜入门：第一台望远镜怎么选",
        "最好的第一台望远镜是双筒镜，其次是一趟就能搬到院子里的那一台。\n## 三个数字\n= 口径: 镜片有多宽，决定能收多少光\n= 焦距: 除以目镜焦距，就是放大倍数\n= 重量: 决定你多久用一次\n包装盒上印的倍数不用看。一台十五厘米口径的反射镜，足够看土星光环、木星卫星和几百个星系。天文爱好者的第一课，是学会等眼睛适应黑暗。",
    ),
    (
        "sijixing",
        "四季星空：抬头先找哪几颗星",
        "春天找狮子座的镰刀，夏天找织女、牛郎和天津四连成的大三角，秋天找飞马座的四方形，冬天找猎户座的腰带。\n一年四季都可以从北斗七星出发：勺口两颗星的连线延长五倍，就是北极星。\n英文的星座介绍见[[/sky/|the sky]]。",
    ),
    (
        "liuxingyu",
        "流星雨观测指南",
        "看流星雨不用望远镜，只要一张躺椅、一条毯子和没有月亮的夜晚。\n= 英仙座流星雨: 八月十二日前后\n= 双子座流星雨: 十二月十四日前后\n= 象限仪座流星雨: 一月三日前后\n离开路灯，等二十分钟，让眼睛习惯黑暗。看到第一颗之前不要看手机。",
    ),
    (
        "yueshi",
        "月食：红月亮是怎么来的",
        "月食的时候，地球挡住了太阳，月亮却没有全黑，而是变成铜红色。\n那是地球大气把全世界的日出和日落一起折射到月亮上。空气越干净，红色越亮；火山喷发之后的月食会格外暗。\n观月灯塔是看月食的好地方，见[[dengta.localhost/ta/guanyue|观月灯塔]]。",
    ),
    (
        "guangwuran",
        "光污染：城市里还能看见几颗星",
        "在市中心抬头，数得清的星星不到二十颗；在渔村的码头上，可以看见三千颗。\n把路灯的光罩朝下，把招牌在半夜关掉，星星就会回来一半。灯塔的光束几乎是水平的，对观星的影响反而不大。\n校园观星的安排见[[campus.localhost/club/tianwen|海滨大学天文社]]。",
    ),
];

pub(super) fn site() -> DemoSite {
    let mut entries: Vec<DemoPage> = Vec::new();
    planets(&mut entries);
    let paths: Vec<String> = CONSTELLATIONS.iter().map(|row| format!("/sky/{}", row.0)).collect();
    for (number, (_, name, season, see, more)) in CONSTELLATIONS.iter().enumerate() {
        let text = match number % 2 {
            0 => format!(
                "{see}\n! star-{} | {name}\n= Best seen: {season}\n{more}\nWhat to look at it with: [[/telescopes/first-telescope|choosing a first telescope]].\n",
                CONSTELLATIONS[number].0
            ),
            _ => format!(
                "Best seen on {season}: {name}. {see}\n{more}\n! star-{} | {name}, drawn at the club\nMembers meet it in our [[/nights/|night reports]].\n",
                CONSTELLATIONS[number].0
            ),
        };
        let title = if number % 2 == 0 {
            format!("{name}: a constellation guide")
        } else {
            format!("{name}, and how to find it in the sky")
        };
        entries.push(
            DemoPage::article(Lang::En, &paths[number], title, text)
                .by("Jonas Reed", 75 + 33 * number as u64)
                .keywords(format!("constellation, astronomy, {season}"))
                .related(neighbours(&paths, number, 3)),
        );
    }
    for (folder, table, author, words) in [
        ("telescopes", TELESCOPES, "Edwin Moor", "astronomy, telescope"),
        ("nights", NIGHTS, "Dinah Frost", "observing, astronomy club"),
    ] {
        let paths: Vec<String> = table.iter().map(|row| format!("/{folder}/{}", row.0)).collect();
        for (number, (_, title, text)) in table.iter().enumerate() {
            entries.push(
                DemoPage::article(Lang::En, &paths[number], *title, (*text).to_owned())
                    .by(author, 35 + 27 * number as u64)
                    .keywords(words)
                    .related(neighbours(&paths, number, 2)),
            );
        }
    }
    let paths: Vec<String> = CHINESE.iter().map(|row| format!("/zh/{}", row.0)).collect();
    for (number, (_, title, text)) in CHINESE.iter().enumerate() {
        entries.push(
            DemoPage::article(Lang::Zh, &paths[number], *title, (*text).to_owned())
                .by("顾星河", 48 + 25 * number as u64)
                .keywords("天文, 观星")
                .related(neighbours(&paths, number, 2)),
        );
    }
    for (path, lang, title, intro) in [
        (
            "/planets/",
            Lang::En,
            "The planets, seen from the harbour",
            "Seven wanderers and when to catch them.",
        ),
        ("/sky/", Lang::En, "Constellations through the year", "Ten pictures that everyone can find."),
        (
            "/telescopes/",
            Lang::En,
            "Telescopes: choosing, building, keeping",
            "Astronomy begins with the eye; a telescope comes second.",
        ),
        ("/nights/", Lang::En, "Night reports of the Star Club", "What we saw, or would have seen."),
        ("/zh/", Lang::Zh, "星空俱乐部中文专栏", "给中文读者的观星笔记。"),
    ] {
        let text = format!("{intro}\n{}", list_of(&entries, path));
        entries.push(DemoPage::hub(lang, path, title, text).by("", 31));
    }
    let home = "The Star Club is an astronomy club by the sea. We own four telescopes, one of which works in the rain, and we \
                meet whenever it is clear. 中文读者请看[[/zh/|中文专栏]]。\n! star-home | The club telescope on Pilot Hill\n\
                * /planets/ | seven wanderers\n* /sky/ | constellations\n* /telescopes/ | our instruments and yours\n* /nights/ | reports\n\
                ## Tonight\n* /planets/saturn | high in the south\n* /sky/cygnus | overhead\n";
    entries.push(
        DemoPage::new(
            PageKind::Home,
            Lang::En,
            "/",
            "The Star Club of Port Aster: astronomy by the sea",
            home.into(),
        )
        .by("", 7),
    );
    DemoSite {
        host: "star-club.localhost",
        title: "The Star Club",
        lang: Lang::En,
        charset: Charset::Utf8,
        declared: CharsetDeclaration::Header,
        look: Layout::Divisions,
        navigation: &[
            ("/", "Home"),
            ("/planets/", "Planets"),
            ("/sky/", "Constellations"),
            ("/telescopes/", "Telescopes"),
            ("/nights/", "Night reports"),
            ("/zh/", "中文"),
        ],
        friends: &["lighthouse-museum.localhost", "campus.localhost", "harbour-news.localhost"],
        entries,
    }
}

fn planets(entries: &mut Vec<DemoPage>) {
    let paths: Vec<String> = PLANETS.iter().map(|planet| format!("/planets/{}", planet.0)).collect();
    for (number, (slug, en, zh, facts, facts_zh, see, see_zh)) in PLANETS.iter().enumerate() {
        let rows = |facts: &[(&str, &str)]| {
            facts.iter().map(|(name, value)| format!("= {name}: {value}\n")).collect::<String>()
        };
        let text = format!(
            "{see}\n! star-{slug} | {en} above the harbour\n{}Any of our [[/telescopes/|telescopes]] will do for {en}. Chinese readers know it \
             as [[/zh/{slug}|{zh}]].\n",
            rows(facts)
        );
        entries.push(
            DemoPage::article(Lang::En, &paths[number], format!("{en}: what a small telescope shows"), text)
                .by("Dinah Frost", 64 + 22 * number as u64)
                .keywords("planet, astronomy")
                .related(neighbours(&paths, number, 2)),
        );
        let text = format!(
            "{see_zh}\n{}观测{zh}用不着大望远镜，[[/zh/wangyuanjing|入门的口径]]就够。英文名叫[[/planets/{slug}|{en}]]，去年我们在港口的灯塔旁边看过它三次，每次都有路人停下来排队。\n把每次看到的样子画下来，半年之后翻一翻，会发现自己比照相机更会看。\n",
            rows(facts_zh)
        );
        entries.push(
            DemoPage::article(Lang::Zh, format!("/zh/{slug}"), format!("{zh}观测笔记"), text)
                .by("顾星河", 66 + 22 * number as u64)
                .keywords("行星, 天文"),
        );
    }
}
