//! The Harbour News (English): events in Port Aster, Lanternhaven and Low Sallow.

use super::{DemoPage, DemoSite, list_of, neighbours};
use crate::model::{Charset, CharsetDeclaration, Lang, Layout, PageKind};

/// Slug, headline, keywords, text.
type NewsRow = (&'static str, &'static str, &'static str, &'static str);

const TOWN: &[NewsRow] = &[
    (
        "library-night-readers",
        "Port Aster library opens until midnight for night readers",
        "library, town",
        "The public library will stay open until midnight on weekdays, after a petition of three hundred signatures, one of them by the night ferry's cat.\nLibrarian Ruth Amber expects fishermen before dawn and students after supper. Tea will be served from a trolley; crumbs are tolerated in the history section only.\nThe first night drew forty-one readers. Sea stories were borrowed most, followed by tax law, which the librarian calls a surprise. A bell is rung softly at a quarter to twelve, and nobody has yet obeyed it at once.",
    ),
    (
        "clock-tower-eleven-minutes",
        "Town clock runs eleven minutes late, and nobody wants it changed",
        "clock, council",
        "For forty years the clock of the town hall has been eleven minutes late. A proposal to mend it was voted down on Tuesday, fourteen to two.\nThe ferry, the school and the bakery all keep tower time, the council argued. Visitors should simply arrive earlier.\nThe watchmaker who looks after the works says the fault is a pendulum that was replaced by a longer one in a hurry. He keeps the right one in his workshop, wrapped in newspaper of 1984, in case the town should change its mind.",
    ),
    (
        "new-bridge-name",
        "Voters name the new bridge after a mule",
        "bridge, vote",
        "The footbridge over the Raven Gorge will be called Admiral Bridge, after the [[lighthouse-museum.localhost/keepers/the-mule-admiral|mule of Cold Shoulder]]. The mule won against two mayors and a poet.\nA bronze bell will hang at the middle. Crossing walkers may ring it once.\nEngineers began the bridge in March and expect to finish before the autumn storms. It will save walkers from Low Sallow forty minutes on the way to the slate quay, and spare them the four hundred steps of the stair.",
    ),
    (
        "tea-house-merchants-light",
        "A tea house opens in the Merchants' Light",
        "tea, lighthouse, Lanternhaven",
        "Smoked tea, brass rails and a view of the customs quay: the ground floor of the [[lighthouse-museum.localhost/lights/merchants-light|Merchants' Light]] is a tea house since Saturday.\nOwner Ada Quill serves twelve teas, brewed after the [[tea-kitchen.localhost/en/tea/|atlas of the Tea Kitchen]]. The first guest asked for coffee and was forgiven.\nUpstairs the brass rails still carry the names of the merchants who paid for the light in 1783. Guests may polish one while their tea is drawing; there is a list, and the Quill family has put itself at the end of it.",
    ),
    (
        "school-radio",
        "Pupils of Low Sallow run their own radio for fishermen",
        "school, radio",
        "Every morning at five a quarter of an hour of weather, prices and jokes goes out from the school attic of Low Sallow.\nThe jokes are approved by a committee of nine-year-olds. Boats report that reception is good up to the Hen and Chickens, and that the jokes are not.\nThe idea came from a class that had learnt about the Fog Bell House and wondered what a voice could do. A retired wireless officer lent the transmitter; the licence hangs above the blackboard, between the map and the rules for chess.",
    ),
    (
        "market-square-trees",
        "Twelve lime trees return to the market square",
        "trees, square",
        "The lime trees that were felled for a car park in 1961 are back, as saplings, where the car park was.\nEach tree has been adopted by a street. Pier Street has already knitted a scarf for theirs.\nThe saplings came from the abbey garden of Saint Brannock, whose own lime was already old when the monks left. It will be thirty years before anyone can sit in proper shade, the gardener says, and so one had better begin.",
    ),
    (
        "lost-and-found",
        "What was left on the ferries this year",
        "ferry, lost and found",
        "Two hundred umbrellas, a tuba, a set of false teeth and a live hen wait in the lost property office of the ferry company.\nThe hen has been named Harbour and lays daily. The tuba's owner is asked to come before the choir finds it.\nBy law everything is kept for a year and a day and then sold for the lifeboat. Last year's sale brought in nine hundred crowns, most of it for a mechanical parrot that says the stops of line 4.",
    ),
    (
        "bakery-hundred",
        "Bakery on Pier Street turns one hundred",
        "bakery, scones",
        "Four generations, one oven, and the same recipe for [[tea-kitchen.localhost/en/dish/ginger-scones|ginger scones]]: the bakery on Pier Street celebrated its centenary with a scone for everyone.\nBy noon two thousand had been eaten. The oven was given the afternoon off.\nThe family's great-grandmother came ashore from a tea ship with a bag of candied ginger and no money. She traded the one for the other, the story goes, and the baker's son for both.",
    ),
    (
        "street-lamps-shaded",
        "Street lamps get hats so that stars can be seen",
        "street lamps, stars",
        "The council has fitted four hundred street lamps with shades, at the request of the [[star-club.localhost/|Star Club]]. The light now falls on the pavement instead of the clouds.\nOn the first clear night the Milky Way was seen from the fish market, for the first time, the oldest fishmonger says, since the war.\nThe shades cost less than expected, because pupils of the technical school cut them from old tin signs. If you look up, you can still read parts of words: HERR, TEA, and, above the police station, ICE.",
    ),
];

const HARBOUR: &[NewsRow] = &[
    (
        "regatta-dead-heat",
        "Regatta ends in a dead heat after five hours",
        "regatta, sailing",
        "Two boats crossed the line below the [[lighthouse-museum.localhost/lights/queens-beacon|Queen's Beacon]] so close that the photograph shows one sail.\nThe skippers, who are sisters, have agreed to keep the cup for six months each. Their mother will keep it on Sundays.\nSixty-two boats had started at nine in a breeze that died by ten. Spectators on the balcony of the beacon had finished their sandwiches, and some of them their books, when the wind came back.",
    ),
    (
        "ferry-electric",
        "First electric ferry enters service on line 4",
        "ferry, electricity",
        "The ferry Constance runs without smoke and almost without sound; passengers asked on the first day whether it had started.\nIt charges at Old Harbour for nine minutes an hour. Gulls, who followed the old ferry for its warm funnel, are said to be disappointed.\nThe batteries weigh as much as the engine and the oil tanks did, so the ship lies in the water as before. The old engine, built in 1958, goes to the museum, where it will be run on Sundays for those who miss the noise.",
    ),
    (
        "herring-return",
        "Herring are back in the canal after sixty years",
        "herring, fishing",
        "Lock keepers counted nine thousand herring passing the [[lighthouse-museum.localhost/lights/herring-gate|Herring Gate]] in one night. Cleaner water and a new fish ladder are the reasons, biologists say.\nFishing in the canal remains forbidden. The rule is printed in verse on both lock towers.\nIn the last century the catch paid for the school, the pump and the village light at Low Sallow. When the fish stayed away the canal silted up; it was schoolchildren with nets who found the first young herring three springs ago.",
    ),
    (
        "lighthouse-automation-vote",
        "Keepers' cottage at Cape Fennel will stay inhabited",
        "lighthouse, Cape Fennel",
        "The lamp is automatic, but the lighthouse service has decided to let the cottage to a family instead of locking it up.\nOne condition is written into the lease: at dusk somebody has to look out of the window.\nMore than two hundred families applied. The one that was chosen has three children and a telescope, and has promised to go on with the weather log, which has been kept at the cape without a gap since 1859.",
    ),
    (
        "fog-record",
        "Fog for nine days: the harbour counts by ear",
        "fog, weather",
        "For nine days the breakwater could not be seen from the pier. Pilots steered by the bell of the [[lighthouse-museum.localhost/lights/fog-bell-house|Fog Bell House]], rung by hand as in 1907.\nMeteorologists explain the record by warm air over cold water. The bell ringers explain it by the choir's new conductor.\nShops reported that candles, soup and long novels sold out. The harbour master counted thirty-one ships brought in by sound alone, without a scratch, and has ordered a new rope for the bell.",
    ),
    (
        "whale-visit",
        "A whale spends the weekend in Aster Sound",
        "whale, nature",
        "A humpback swam up the sound on Friday, inspected the marina and left on Sunday with the tide.\nBoats kept their distance, as the harbour master had asked. The whale did not.\nBiologists believe that it followed the herring, which have returned in number. It was about twelve metres long and had a white notch in its tail, by which it can be recognised should it come back for the regatta.",
    ),
    (
        "dredger-finds-anchor",
        "Dredger lifts an anchor of the brig Constance",
        "wreck, museum",
        "An anchor of three tons, overgrown with oysters, came up with the mud off Gull Rock. The stamp on the shank leaves no doubt: it belonged to the Constance, lost before the [[lighthouse-museum.localhost/lights/gull-rock|lighthouse]] was built.\nThe museum will show it on the quay. The oysters have been returned to the sea, most of them.\nThe brig had been bound for Lanternhaven with tea and porcelain. Two unbroken cups came up in the same bucket; the crew of the dredger drank from them before anybody could say that they should not.",
    ),
    (
        "pilot-retires",
        "Pilot retires after eleven thousand ships",
        "pilot, people",
        "Mira Holt brought eleven thousand ships through the channel of Lanternhaven and never touched the ground with one. On her last day the ships in port sounded their horns, in order of size.\nAsked about her secret she pointed to the two [[lighthouse-museum.localhost/lights/pilot-hill|leading lights]] and said: one above the other.\nHer successor, Tom Vane, is a great-grandson of one of the sisters who kept those lights. He has made the passage two hundred times under her eye, and says that she spoke exactly twice.",
    ),
    (
        "tide-gauge",
        "Tide gauge shows the sea has risen by a hand in a century",
        "tide, climate, data",
        "The gauge at Old Harbour has been read daily since 1921. Its curve, published this week, shows a rise of nineteen centimetres.\nThe pier will be raised by two courses of stone. The harbour master has marked the old height with a brass line, so that grandchildren may compare.\nThe figures have been published for everyone to use, day by day, more than thirty-eight thousand of them. A gap of two days in 1953 is explained in the margin: gauge under water, keeper on roof.",
    ),
];

const OUTDOORS: &[NewsRow] = &[
    (
        "mount-sallow-trail",
        "Walking up Mount Sallow to the Cold Shoulder light",
        "hiking, trail",
        "Start at the mule trough behind the church of Low Sallow and follow the blue dots. The path climbs six hundred metres in two hours, through beech, then heather, then cloud.\nThe lamp house at [[lighthouse-museum.localhost/lights/cold-shoulder|Cold Shoulder]] is open as a hut. Bring tea; the stove is there, the tea is not.\nFrom the top one can count eleven lighthouses on a clear evening. Wait for them to be lit, one after the other, and walk down by the forest road; the blue dots have been painted so that they shine a little.",
    ),
    (
        "saltmere-geese",
        "When to see the geese at Saltmere",
        "birds, marsh",
        "Ten thousand geese winter on the marshes. They arrive with the first frost and fly to the fields at sunrise, so the early visitor sees the whole sky move.\nThe tower at [[lighthouse-museum.localhost/lights/saltmere-point|Saltmere Point]] lends telescopes. Dogs may come as far as the gate.\nA count is held on the second Sunday of each month. No knowledge is needed: one person looks, one writes, and one pours tea. The figures go back to the year in which Nell Farrow noted them beside her soundings.",
    ),
    (
        "sea-swimming",
        "Cold water for beginners: swimming in the harbour pool",
        "swimming, health",
        "Water of ten degrees takes the breath, then gives it back. Go in slowly, stay no longer than you need to sing one song, and have a hot drink ready.\nThe club meets at seven by the Quiet Harbour basin. Wool hats are welcome in the water.\nA doctor of the harbour clinic recommends that beginners come in September, when the water is warmest, and simply do not stop. People with weak hearts should ask her first, and everyone should leave while it is still pleasant.",
    ),
    (
        "island-bicycle",
        "By bicycle around Candle Island in an afternoon",
        "cycling, island",
        "The road around the island is twelve kilometres long and has one hill, one tree and one chapel. Take the noon ferry and you will be back for supper.\nLight a candle in the chapel; everyone does. The [[lighthouse-museum.localhost/lights/candle-island|lighthouse]] looks like its holder.\nBicycles can be hired at the landing stage from a box with a slit for coins. The wind blows from the west on most days, so ride the northern shore first and be pushed home along the southern.",
    ),
    (
        "raven-stair-race",
        "Four hundred steps in under three minutes",
        "race, stairs",
        "The stair race to [[lighthouse-museum.localhost/lights/ravens-stair|Raven's Stair]] was won by a baker, who carries flour up to her attic every day.\nSecond came a boy of fourteen, third a priest. The oldest runner, eighty-three, took twenty minutes and stopped twice for the view.\nRunners start one by one, a minute apart, because the stair is too narrow for overtaking. The prize is a can of lamp oil, carried up by the winner of the year before, and it may be carried home only by hand.",
    ),
    (
        "tide-pools",
        "A guide to the tide pools of Fennel Bay",
        "nature, children",
        "Go two hours before low water, turn stones gently and put them back. You will find anemones, hermit crabs and, with luck, a blue-rayed limpet.\nNever turn your back on the sea. When the [[lighthouse-museum.localhost/lights/cape-fennel|Cape Fennel]] light comes on, go home.\nWear shoes with a good grip and take nothing home but drawings. The museum lends little trays with a glass bottom, through which one can watch a limpet for an hour and see it do, after all, something.",
    ),
];

const WEATHER: &[NewsRow] = &[
    (
        "storm-of-the-decade",
        "Storm reaches hurricane force at North Aster Foreland",
        "storm, weather",
        "The wind gauge of the [[lighthouse-museum.localhost/lights/north-foreland-of-aster|foreland]] showed one hundred and thirty-eight kilometres an hour before it blew away. Ferries stayed in port for two days.\nNobody was hurt. A garden shed from Low Sallow was found in Lanternhaven, upright, with the kettle still on the hook.\nThe log of the foreland has recorded such a wind only three times since 1890. On Wednesday morning the sea was flat, and the whole town went down to the strand to see what it had brought.",
    ),
    (
        "how-we-forecast",
        "How the Harbour News makes its weather forecast",
        "forecast, weather",
        "We take the official forecast, the barometer in the newsroom and the knee of our printer, and we print the two that agree.\nIn the past year this was right on two hundred and ninety-one days. The knee alone reached two hundred and sixty.\nThe printer, who wishes to remain unnamed, broke the knee in the storm of 1987. It is most reliable for rain from the south-west and has, he says, no opinion about temperatures. Readers may visit it on open days.",
    ),
    (
        "frost-flowers",
        "Frost flowers on the river for the first time since 1987",
        "frost, river",
        "On Monday the Aster was covered with flowers of ice, thin as paper, which form when the air is far colder than new ice.\nThey lasted until ten o'clock. A teacher cancelled arithmetic and took the school to look.\nFor frost flowers the air must be still, dry and at least fifteen degrees colder than the ice. They grow in minutes and draw salt up into their leaves, which is why, as several children found, they taste like soup.",
    ),
    (
        "rainbow-double",
        "Double rainbow stops traffic on the pier",
        "rainbow, light",
        "For twelve minutes a double rainbow stood with both feet in the harbour. The second bow, reader Iris Tanner points out, has its colours the other way round, because the light is reflected twice in each drop.\nThe ferry waited. So did everybody else.\nA rainbow can be seen only when the sun stands low behind you, lower than forty-two degrees. So look for it in the morning in the west and in the evening in the east; at noon in summer there is none to be had.",
    ),
    (
        "dry-summer",
        "Driest summer in fifty years: gardens may drink at night",
        "drought, garden",
        "Only forty millimetres of rain fell between May and August. The water board asks that gardens be watered after sunset, and with cans.\nThe lime trees of the market square get the rinsing water of the fish market, and seem to like it.\nAt the mill on the river Aster the wheel stood still for nine weeks, and the miller ground by wind alone. Old marks came to light on the pier of the bridge, cut in dry years by people with a knife and nothing to row on.",
    ),
    (
        "first-snow",
        "First snow on Mount Sallow comes two weeks early",
        "snow, mountain",
        "The summit was white on Sunday morning, two weeks before the mean of the past thirty years. By noon the children of Low Sallow had found every sledge in the village.\nMeteorologists warn that one early snow says nothing about the winter. The kestrels of the foreland have not commented.\nThe hut at the Cold Shoulder light was reached by two hikers, who found the stove warm and nobody there. They left a note of thanks. The note was answered, in a neat hand, by the next morning.",
    ),
];

pub(super) fn site() -> DemoSite {
    let mut entries: Vec<DemoPage> = Vec::new();
    let parts: [(&str, &[NewsRow], [&'static str; 2]); 4] = [
        ("town", TOWN, ["Ada Marsh", "Ben Carrow"]),
        ("harbour", HARBOUR, ["Ben Carrow", "Mira Lowe"]),
        ("outdoors", OUTDOORS, ["Mira Lowe", "Jonas Reed"]),
        ("weather", WEATHER, ["Greta Ash", "Ada Marsh"]),
    ];
    for (part, (folder, table, authors)) in parts.iter().enumerate() {
        let paths: Vec<String> = table.iter().map(|story| format!("/{folder}/{}", story.0)).collect();
        for (number, (_, headline, keywords, text)) in table.iter().enumerate() {
            entries.push(
                DemoPage::article(Lang::En, &paths[number], *headline, (*text).to_owned())
                    .by(authors[number % 2], (2 + part + 9 * number) as u64)
                    .keywords(*keywords)
                    .related(neighbours(&paths, number, 3)),
            );
        }
    }
    let latest: String = parts
        .iter()
        .flat_map(|(folder, table, _)| {
            table.iter().take(2).map(move |story| format!("* /{folder}/{} | {}\n", story.0, story.2))
        })
        .collect();
    for (path, title, intro) in [
        (
            "/town/",
            "Town news from Port Aster, Lanternhaven and Low Sallow",
            "Councils, clocks, trees and hens.",
        ),
        ("/harbour/", "Harbour news: ships, ferries, fish", "Everything that floats, or should."),
        ("/outdoors/", "Outdoors: walks, birds and cold water", "Put on your boots."),
        ("/weather/", "Weather on the Aster coast", "Wind, fog, frost and the printer's knee."),
    ] {
        let text = format!("{intro}\n{}", list_of(&entries, path));
        entries.push(DemoPage::hub(Lang::En, path, title, text).by("", 4));
    }
    let about = "The Harbour News has been printed in Port Aster since 1888, at first on the back of tide tables. It appears daily, \
                 except when the press is warm enough for the cat to sleep on.\n= Editor: Ada Marsh\n= Weather: Greta Ash and the printer's knee\n\
                 = Letters: to the editor, by ferry\nCorrections are printed in the same size as the mistake.\n";
    entries.push(
        DemoPage::article(Lang::En, "/about", "About the Harbour News", about.into())
            .by("Ada Marsh", 300)
            .keywords("newspaper"),
    );
    let home = format!(
        "The daily paper of a small harbour. Today: light winds, a late clock and fresh herring.\n## Latest\n{latest}## Sections\n* /town/ | councils and clocks\n\
         * /harbour/ | ships\n* /outdoors/ | walks\n* /weather/ | storms and frost\nMuseum, stars and supper: see [[lighthouse-museum.localhost/|the Lighthouse Museum]], \
         [[star-club.localhost/|the Star Club]] and [[tea-kitchen.localhost/|the Tea Kitchen]].\n"
    );
    entries.push(
        DemoPage::new(PageKind::Home, Lang::En, "/", "The Harbour News: daily paper of Port Aster", home)
            .by("", 1),
    );
    DemoSite {
        host: "harbour-news.localhost",
        title: "The Harbour News",
        lang: Lang::En,
        charset: Charset::Utf8,
        declared: CharsetDeclaration::Header,
        look: Layout::Divisions,
        navigation: &[
            ("/", "Home"),
            ("/town/", "Town"),
            ("/harbour/", "Harbour"),
            ("/outdoors/", "Outdoors"),
            ("/weather/", "Weather"),
            ("/about", "About us"),
        ],
        friends: &[
            "lighthouse-museum.localhost",
            "tea-kitchen.localhost",
            "city-walks.localhost",
            "search-handbook.localhost",
        ],
        entries,
    }
}
