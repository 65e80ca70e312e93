//! The Lighthouse Museum (English): thirty lighthouses of an imaginary coast, their keepers, and how they work.

use super::{DemoPage, DemoSite, list_of, neighbours};
use crate::model::{Charset, CharsetDeclaration, Lang, Layout, PageKind};

struct Lighthouse {
    slug: &'static str,
    name: &'static str,
    place: &'static str,
    year: u32,
    metres: u32,
    dress: &'static str,
    light: &'static str,
    miles: u32,
    why: &'static str,
    story: &'static str,
    today: &'static str,
}

macro_rules! lighthouses {
    ($($slug:literal $name:literal $place:literal $year:literal $metres:literal $dress:literal $light:literal
       $miles:literal $why:literal $story:literal $today:literal;)*) => {
        &[$(Lighthouse { slug: $slug, name: $name, place: $place, year: $year, metres: $metres, dress: $dress,
            light: $light, miles: $miles, why: $why, story: $story, today: $today }),*]
    };
}

const LIGHTHOUSES: &[Lighthouse] = lighthouses![
    "gull-rock" "Gull Rock" "a bare rock two miles off Port Aster" 1824 31 "white with a red gallery"
        "one white flash every ten seconds" 19
        "The brig Constance struck the rock on a clear night because her captain took it for a sleeping whale."
        "Three keepers lived on tinned beef and gull eggs, and played one game of chess that lasted eleven winters."
        "The lamp is electric now, but a volunteer still rows out every May to repaint the gallery.";
    "saltmere-point" "Saltmere Point" "the sandy tip of the Saltmere marshes" 1831 24 "black and white bands"
        "two white flashes every fifteen seconds" 17
        "Sandbanks wander here so quickly that charts were out of date before the ink was dry."
        "A keeper's daughter, Nell Farrow, measured the banks with a bean pole and corrected the chart eighteen times."
        "The tower is a bird observatory, and the lamp room holds four telescopes for counting geese.";
    "three-sisters" "Three Sisters" "the middle one of three basalt stacks" 1847 38 "plain grey granite"
        "three white flashes every twenty seconds" 21
        "Fishing boats were drawn between the stacks by a current that turns without warning."
        "The stones were cut on shore, numbered in Roman letters and fitted together like a puzzle at low tide."
        "Puffins nest in the old coal store; nobody lands between April and August.";
    "old-harbour" "Old Harbour Light" "the end of the stone pier at Port Aster" 1768 12 "whitewashed, with a green door"
        "a steady green light" 6
        "Before it was built the harbour master hung a ship's lantern on a pole and hoped for the best."
        "It is the oldest tower on the coast; its first lamp burned fish oil and smelt so strong that cats gathered below."
        "Children may ring the fog bell on Saturdays at noon.";
    "cape-fennel" "Cape Fennel" "the cliff above Fennel Bay" 1859 27 "yellow, because white vanished against the chalk"
        "one long flash every six seconds" 22
        "Steamers from the south cut the corner at Fennel Bay and too often met the reef instead."
        "When the first keeper complained of the wind, the builders tied the outhouse down with anchor chain."
        "The keeper's cottage lets two rooms, and breakfast is served in the oil store.";
    "widow-ledge" "Widow Ledge" "a reef that shows itself only at low water" 1868 45 "dark granite with a copper lantern"
        "one white flash every five seconds" 18
        "The ledge had taken forty ships in a century, and its name tells who was left behind."
        "Masons worked four hours a day between tides, roped to iron rings, for six summers."
        "The light was automated in 1988; the tea cups of the last crew still hang in the kitchen.";
    "pilot-hill" "Pilot Hill" "a hill behind the town of Lanternhaven" 1839 16 "white, square, with a slate roof"
        "a steady white light over a steady red one" 14
        "Kept in line with the lower light on the beach, it leads ships through the only deep channel."
        "Pilots drank in the tavern below and judged the weather by how early the keeper lit up."
        "The two leading lights are still in use, and the tavern too.";
    "hen-and-chickens" "Hen and Chickens" "a scatter of islets north of Saltmere" 1872 29 "red, with one white band"
        "two red flashes every twelve seconds" 15
        "From the deck the small islets look like harmless waves until one of them is under the keel."
        "The supply boat brought real hens in 1873, and the name has made visitors smile ever since."
        "Solar panels feed the lamp; the hens have gone.";
    "north-foreland-of-aster" "North Aster Foreland" "the windiest headland of the province" 1853 33
        "white with black lantern" "four white flashes every thirty seconds" 24
        "Ships that leave the sound must turn here, against the wind as often as not."
        "A weather station was added in 1890, and its log has missed only two days since."
        "Meteorologists share the tower with a family of kestrels.";
    "candle-island" "Candle Island" "a green island with one tree" 1802 14 "white with a brick base"
        "one white flash every four seconds" 9
        "Islanders kept a candle in the chapel window for the ferry long before any engineer came."
        "The engineer was so moved by the candle that he built the new lantern in the shape of its holder."
        "The ferry still steers by it, and every visitor lights a candle in the chapel.";
    "the-needle" "The Needle" "a spire of rock at the mouth of the Aster Sound" 1881 41 "iron, painted grey"
        "one white and one red flash every ten seconds" 20
        "There was no room for a house, so the keepers lived inside the tower, one room above the other."
        "All furniture is curved to fit the wall, even the beds and the bread box."
        "Our museum shows one of the curved beds in the [[/exhibits/|main hall]].";
    "fishers-green" "Fisher's Green" "the village green of Low Sallow" 1811 10 "half-timbered, like a small church"
        "a steady amber light" 5
        "The village paid for it with one herring from every basket landed."
        "The schoolteacher was the keeper, and lamps were trimmed as a lesson in chemistry."
        "The village pays for the electricity with the takings of the summer fair.";
    "black-heron" "Black Heron" "a mud bank in the Heron estuary" 1888 18 "black iron on nine screw piles"
        "a quick white flash every second" 8
        "No stone tower would stand in the mud, so it was screwed into the ground like a giant corkscrew."
        "At spring tides the whole house hums like a harp, and the keepers said they could name the note."
        "It is the last screw-pile lighthouse of the coast that still has its light.";
    "st-brannock" "Saint Brannock" "the ruined abbey of Saint Brannock" 1795 22 "old abbey stone with a modern lantern"
        "one white flash every eight seconds" 16
        "Monks lit a fire in the abbey tower every night for two hundred years, and ships missed it when it stopped."
        "The lantern was set upon the bell tower, so that bell and lamp share one staircase."
        "On midsummer night the abbey choir sings under the turning beams.";
    "longstone-spit" "Longstone Spit" "a shingle spit that grows every year" 1862 26 "white, moved twice"
        "two white flashes every eight seconds" 17
        "The sea keeps adding shingle, and the light must follow the end of it."
        "In 1902 the whole tower was rolled ninety metres on greased tree trunks while the lamp stayed lit."
        "Surveyors expect the next move in about thirty years.";
    "cold-shoulder" "Cold Shoulder" "the northern slope of Mount Sallow" 1877 19 "bare concrete, the first of its kind"
        "one white flash every twelve seconds" 26
        "It stands so high that low cloud often hides it, and a second lamp below had to be added."
        "Keepers reached it by mule; the last mule, Admiral, retired with a pension."
        "Hikers use the lower lamp house as a hut; see the trail notes of the [[harbour-news.localhost/outdoors/|Harbour News]].";
    "merchants-light" "Merchants' Light" "the customs quay of Lanternhaven" 1783 15 "red brick with brass rails"
        "a steady white light" 7
        "Merchants built it so that tea ships from the east could unload at night and beat the market."
        "Each merchant polished one brass rail with his name on it; the competition was fierce."
        "A tea house occupies the ground floor and roasts its own [[tea-kitchen.localhost/en/tea/lapsang|smoked tea]].";
    "otter-sound" "Otter Sound" "the narrows of Otter Sound" 1894 13 "white hexagon" "a white light with a red sector" 11
        "The red sector covers the rocks: a captain who sees red should turn at once."
        "Otters slept in the lifeboat so often that the keeper built them one of their own."
        "The otters' boat is still there, and so are the otters.";
    "wreckers-cove" "Wreckers' Cove" "the cliff where false lights were once shown" 1836 30 "white with blue gallery"
        "three quick flashes every nine seconds" 20
        "A true light was set where thieves had lured ships with lanterns tied to cows."
        "The first keeper was a former wrecker, who knew better than anyone where ships would look."
        "The [[/exhibits/false-lights|exhibition on false lights]] tells the whole story.";
    "dune-lantern" "Dune Lantern" "the dunes of Long Strand" 1904 21 "striped like a stick of candy"
        "one white flash every seven seconds" 18
        "Fog rolls over Long Strand without warning, and bathers as well as boats lost their way."
        "The stripes were chosen by the children of the strand school in a vote, nine to seven."
        "The beach café at its foot is famous for ginger ice cream.";
    "iron-maid" "Iron Maid" "a caisson in the open bay" 1911 36 "cast-iron rings, riveted, deep red"
        "two white flashes every six seconds" 19
        "The bay has no rock to build upon, so a floating drum was towed out and sunk with gravel."
        "Rivets were heated on the deck of a barge and thrown, glowing, to the men on the tower."
        "Divers visit the caisson for its anemones.";
    "quiet-harbour" "Quiet Harbour" "the yacht basin of Quiet Harbour" 1926 9 "white concrete in the style of its day"
        "a steady green and a steady red light" 5
        "Quiet Harbour had no light because it had no trade, until sailing became a pleasure."
        "Its architect designed cinemas, and the staircase has a ticket window."
        "Films are shown on the tower's white wall every August.";
    "ravens-stair" "Raven's Stair" "four hundred steps above the Raven Gorge" 1866 17 "slate, with a white lantern"
        "one white flash every fifteen seconds" 25
        "Ships bound for the slate quay need to find the gorge, which is invisible from the sea."
        "Oil was carried up the stair in two cans on a yoke, twelve times a week."
        "The stair race in September is won in under three minutes.";
    "southern-cross-light" "Southern Cross Light" "the last island before the open ocean" 1898 40
        "white with a broad black cross" "four flashes in the shape of a cross, every forty seconds" 25
        "It is the last light of home for ships that leave, and the first for those that return."
        "Sailors' families used to send letters to the keeper, who read them aloud to passing ships with a speaking trumpet."
        "Radio did away with the trumpet, which hangs in our hall.";
    "millers-reach" "Miller's Reach" "a windmill on the river Aster" 1779 20 "a windmill, still turning"
        "a white light with dark gaps, made by the sails" 8
        "The miller hung a lamp in the cap, and the passing sails made it the first flashing light of the coast."
        "Bargemen paid in flour sacks, to be filled on the way home."
        "The mill grinds on Sundays and sells the flour.";
    "fog-bell-house" "Fog Bell House" "the end of Mussel Bank" 1884 7 "a wooden house on stilts"
        "no light but a bell, struck every twenty seconds" 2
        "Where the mist lies deepest a light is useless, and only sound can warn."
        "When the clockwork broke in 1907 the keeper struck the bell by hand for seventeen hours."
        "The bell now rings for weddings; the house may be rented by the day.";
    "queens-beacon" "Queen's Beacon" "the breakwater of Lanternhaven" 1890 28 "white marble, too fine for its work"
        "one white flash every three seconds" 21
        "The city wanted a monument and the pilots a light, and for once both were satisfied."
        "The marble had to be painted with lime after all, because birds could not see it at night."
        "Its balcony is the best place to watch the regatta in June.";
    "herring-gate" "Herring Gate" "the lock of the herring canal" 1851 8 "two small towers, left red, right green"
        "a red and a green light" 4
        "The canal is so narrow that a skipper who mixes left and right blocks the town's supper."
        "The lock keeper's rhyme for the colours is still taught in the sailing school."
        "Both towers are lit by a single switch in the lock kitchen.";
    "moon-shoal" "Moon Shoal" "a lightship's old station in the outer bay" 1936 25 "a steel lattice on three legs"
        "one white flash every two seconds" 17
        "For eighty years a lightship lay here at anchor, and its crew was seasick in turns."
        "On its first night the new tower was so bright that the neighbouring village drew its curtains."
        "The old lightship is moored at our quay and can be visited.";
    "pharos-replica" "The Little Pharos" "the garden of the museum" 1998 6 "limestone, in three storeys"
        "a wood fire on feast days" 1
        "It is a model, one to twenty, of the [[/history/pharos-of-alexandria|Pharos of Alexandria]], built to find out how the draught of its fire worked."
        "The fire smoked so badly on opening day that the mayor finished his speech from a boat."
        "Thanks to a second chimney, found in an old drawing, it now burns well.";
];

const KEEPERS: &[(&str, &str, &str, &str)] = &[
    (
        "nell-farrow",
        "Nell Farrow, the girl who corrected the chart",
        "/lights/saltmere-point",
        "Nell was nine when she pushed a bean pole into the sand and found two feet of water where the chart had none. She wrote to the hydrographer; he answered with a box of pencils.\nBy the age of thirty she had measured every bank between Saltmere and Hen and Chickens, always at dawn, always with the same pole, into which she had cut a notch for every birthday.\n> The sand moves, so I move too.\nHer notebooks fill two shelves of our library. The pole stands in the corner; please do not lean on it.",
    ),
    (
        "jonas-pike",
        "Jonas Pike and the longest game of chess",
        "/lights/gull-rock",
        "Three men shared Gull Rock and one chess board. Jonas Pike opened with the queen's pawn in the autumn of 1861 and was mated in the spring of 1872.\nA move was made only when the lamp had been trimmed without fault, which, the log says, happened about once a week. The pieces were carved from a spar of the Constance.\nThe board is shown with the pieces in their last position. Visitors often find a better move for black.",
    ),
    (
        "maud-ellery",
        "Maud Ellery, who struck the bell for seventeen hours",
        "/lights/fog-bell-house",
        "On 9 November 1907 the weight of the striking clock fell through the floor of the Fog Bell House, and the fog came in at noon. Maud Ellery, alone with a kettle and a cat, took the hammer.\nShe struck every twenty seconds, three thousand and sixty times, until a mail steamer found the channel at five in the morning. Her arm was in a sling for a month.\nThe passengers bought her a new clock. She thanked them and kept the hammer by the door.",
    ),
    (
        "old-tam-sallow",
        "Old Tam Sallow, the honest wrecker",
        "/lights/wreckers-cove",
        "Nobody proved anything against Tam Sallow, but everybody knew whose cow wore a lantern. When the true light was lit in 1836 the engineer, a practical man, hired him as keeper.\nTam knew every trick by which a ship may be fooled, and wrote them all down as warnings. In thirty years not one vessel was lost in the cove.\nHe left the cow's collar to the parish. It is the first thing you see in the exhibition.",
    ),
    (
        "brother-anselm",
        "Brother Anselm and the lamp on the bell tower",
        "/lights/st-brannock",
        "The abbey was already a ruin when Brother Anselm came back as a lamp lighter, wearing an oilskin over his habit. He rang the hours and trimmed the wick on the same walk up the stairs.\nHe counted the steps aloud in Latin, and pilots who passed close in calm weather set their watches by him.",
    ),
    (
        "ida-and-ruth-vane",
        "Ida and Ruth Vane, keepers of the leading lights",
        "/lights/pilot-hill",
        "Two sisters kept the two leading lights of Lanternhaven for forty-one years: Ida the upper, Ruth the lower. They spoke every evening by lamp signal and met on Sundays.\nTheir private code, half of it gossip about pilots, was deciphered by a school class in 1999. The class was asked not to publish all of it.",
    ),
    (
        "samuel-oake",
        "Samuel Oake, who talked with a trumpet",
        "/lights/southern-cross-light",
        "A family in Port Aster had news for a sailor; the post was slow, the ship was passing. So Samuel Oake climbed the gallery with a speaking trumpet and shouted the letter across the water.\nIn twenty-six years he announced three hundred births, a dozen weddings and, once, the winning number of the harbour lottery, which turned the ship round.",
    ),
    (
        "greta-lund",
        "Greta Lund and the weather book",
        "/lights/north-foreland-of-aster",
        "Greta Lund read the barometer at six, noon and six for thirty-eight years. Her weather book is dry and exact, except on 3 March 1921, where it says only: “everything at once”.\nModern meteorologists use her figures to learn how storms of the Aster coast have changed. The city guide explains [[city-walks.localhost/qingdao/weather|how sea fog forms]] in more detail.",
    ),
    (
        "the-mule-admiral",
        "Admiral, the mule of Cold Shoulder",
        "/lights/cold-shoulder",
        "Admiral carried oil up Mount Sallow every second day and refused to be hurried. He knew the way in fog better than the keepers, who held on to his tail.\nWhen electricity came in 1951 the lighthouse service granted him a pension of oats. His bell hangs in the museum shop and rings when the door opens.",
    ),
    (
        "engineer-holm",
        "Astrid Holm, builder of the Iron Maid",
        "/lights/iron-maid",
        "The bay had swallowed two towers when Astrid Holm proposed to sink a drum of iron and fill it with gravel. The board laughed, then looked at her sums, then stopped laughing.\nShe stood on the drum when it went down, with a spirit level in her hand. It is out of true by less than the width of a thumb.",
    ),
];

const HOW: &[(&str, &str, &str, &str)] = &[
    (
        "how-a-fresnel-lens-works",
        "How a Fresnel lens works",
        "lens, light, physics",
        "A bare lamp throws its light in all directions, and most of it is lost to the sky and the floor. In 1822 Augustin Fresnel showed how to save it.\n## A lens without its belly\nOnly the curved surface of a lens bends light; the glass inside merely makes it heavy. Fresnel cut the lens into rings, pushed them flat, and kept the curves. Prisms above and below catch what the rings miss.\n= Light caught by a mirror lamp: about one fifth\n= Light caught by a Fresnel lens: more than four fifths\n= Height of the largest lenses: over two and a half metres\nThe same idea is used in overhead projectors and in the [[star-club.localhost/telescopes/|telescopes]] of our friends at the Star Club.",
    ),
    (
        "why-lights-flash",
        "Why lighthouses flash, and what the rhythm says",
        "signals, navigation",
        "If every light were steady, one could not be told from another. So each has its own rhythm, called its character, and a book that lists them all.\nEarly lights turned behind shutters driven by falling weights. Later the lens itself turned, floating on mercury so that a finger could move four tons.\n## Reading a character\nCount the flashes, measure the period with a watch, and look at the colour. Two white flashes every fifteen seconds can only be [[/lights/saltmere-point|Saltmere Point]].\nChinese readers will find the same subject at [[dengta.localhost/guang/dengzhi|灯质：灯塔的语言]].",
    ),
    (
        "what-lamps-burned",
        "From fish oil to LED: what lighthouse lamps burned",
        "lamp, oil, electricity",
        "The first keepers burned wood, then coal, then candles; [[/lights/old-harbour|Old Harbour]] burned fish oil and attracted cats.\nColza oil was cleaner, paraffin brighter. Around 1900 the oil was turned into vapour and burned in a mantle, and one lamp could be seen as far as the curve of the earth allows.\n= 1768: fish oil, one candle-power per wick\n= 1840: colza oil, four wicks\n= 1905: paraffin vapour in a mantle\n= 1951: electric bulb\n= 2010: a LED no larger than a teaspoon\nToday a lamp that would fit into your pocket reaches eighteen miles.",
    ),
    (
        "how-far-can-you-see-a-lighthouse",
        "How far can you see a lighthouse?",
        "horizon, distance, geometry",
        "The earth is round, and that, not the strength of the lamp, decides how far a tall lighthouse can be seen.\nTake the height of the lamp in metres, draw the square root, and multiply by two: this is roughly the distance to the horizon in sea miles. Do the same for your own eye, and add the two.\n1. Lamp at 36 metres: the root is 6, so 12 miles.\n1. Eye at 4 metres on the bridge: the root is 2, so 4 miles.\n1. Together: the light appears at 16 miles.\nIn mist all this is worth nothing, which is why [[/lights/fog-bell-house|fog bells]] were invented.",
    ),
    (
        "building-on-a-rock",
        "How to build a tower on a rock in the sea",
        "engineering, granite",
        "The trouble with a rock is that it is dry for only a few hours. At [[/lights/widow-ledge|Widow Ledge]] the masons had four, and on half of the days none.\nEach stone is cut so that it grips its neighbours on all sides and the courses above and below. The tower becomes one stone, and the waves have nothing to pull at.\nThe foot is wide and curved like the trunk of an oak; a wave that runs up the curve loses its strength before it reaches the door.",
    ),
    (
        "keepers-day",
        "A day in the life of a lighthouse keeper",
        "keeper, daily life",
        "A keeper's day begins at dusk. He lights the lamp, winds the clockwork, and writes the wind and the weather into the log.\nFour hours on watch, eight hours off: so three keepers share the night. In the morning the lens is covered with a linen curtain, because the sun shining backwards through it could set fire to the dunes.\nThen come polish and paint. Brass, it is said, was invented to keep lighthouse men out of mischief. See what became of ten of them under [[/keepers/|keepers]].",
    ),
    (
        "colours-and-stripes",
        "Why towers wear stripes",
        "colour, daymark",
        "At night the lamp speaks, by day the coat. A white tower is lost before chalk or snow, a dark one before trees; so each is painted to stand out against what lies behind.\nRed and white bands are best in snow, black and white before green hills, and plain yellow saved [[/lights/cape-fennel|Cape Fennel]] from being taken for a cloud.\nThe candy stripes of the [[/lights/dune-lantern|Dune Lantern]] have no reason but joy, and mariners love them.",
    ),
];

pub(super) fn site() -> DemoSite {
    let mut entries: Vec<DemoPage> = Vec::new();
    let paths: Vec<String> = LIGHTHOUSES.iter().map(|light| format!("/lights/{}", light.slug)).collect();
    for (number, light) in LIGHTHOUSES.iter().enumerate() {
        entries.push(
            DemoPage::article(Lang::En, &paths[number], title_of(number, light), tell(number, light))
                .by(["Clara Whitby", "Hugo Marsh", "Iris Tanner"][number % 3], 60 + 29 * number as u64)
                .keywords(format!("lighthouse, {}, built in {}", light.name, light.year))
                .related(neighbours(&paths, number, 3)),
        );
    }
    let keeper_paths: Vec<String> = KEEPERS.iter().map(|keeper| format!("/keepers/{}", keeper.0)).collect();
    for (number, (_, title, tower, text)) in KEEPERS.iter().enumerate() {
        entries.push(
            DemoPage::article(
                Lang::En,
                &keeper_paths[number],
                *title,
                format!("{text}{}", after(number, tower)),
            )
            .by("Iris Tanner", 90 + 31 * number as u64)
            .keywords("lighthouse keepers, people")
            .related([tower.to_string()])
            .related(neighbours(&keeper_paths, number, 2)),
        );
    }
    let how_paths: Vec<String> = HOW.iter().map(|how| format!("/how/{}", how.0)).collect();
    for (number, (_, title, keywords, text)) in HOW.iter().enumerate() {
        entries.push(
            DemoPage::article(Lang::En, &how_paths[number], *title, (*text).to_owned())
                .by("Hugo Marsh", 120 + 17 * number as u64)
                .keywords(*keywords)
                .related(neighbours(&how_paths, number, 3)),
        );
    }
    entries.push(pharos());
    entries.push(false_lights());
    entries.extend(galleries());
    entries.push(visit());
    hubs(&mut entries);
    DemoSite {
        host: "lighthouse-museum.localhost",
        title: "The Lighthouse Museum of Port Aster",
        lang: Lang::En,
        charset: Charset::Utf8,
        declared: CharsetDeclaration::Header,
        look: Layout::Semantic,
        navigation: &[
            ("/", "Home"),
            ("/lights/", "Lighthouses"),
            ("/keepers/", "Keepers"),
            ("/how/", "How it works"),
            ("/exhibits/", "Exhibits"),
            ("/gallery/", "Gallery"),
            ("/visit", "Visit"),
        ],
        friends: &["harbour-news.localhost", "dengta.localhost", "star-club.localhost"],
        entries,
    }
}

fn title_of(number: usize, light: &Lighthouse) -> String {
    let name = light.name.trim_end_matches(" Light");
    match number % 4 {
        0 => format!("{name} Lighthouse, {}", light.year),
        1 => format!("The lighthouse at {name}"),
        2 => format!("{name}: a lighthouse and its story"),
        _ => format!("{name} lighthouse and the ships it saved"),
    }
}

fn tell(number: usize, light: &Lighthouse) -> String {
    let Lighthouse { name, place, year, metres, dress, light: rhythm, miles, why, story, today, .. } = light;
    let facts = format!(
        "= Built: {year}\n= Height: {metres} m\n= Daymark: {dress}\n= Light: {rhythm}\n= Range: {miles} sea miles\n"
    );
    let picture = format!("! lighthouse-{} | {name}, seen from the south\n", light.slug);
    let compare = match number % 3 {
        0 => {
            "How such a range comes about is explained in [[/how/how-far-can-you-see-a-lighthouse|How far can you see a lighthouse?]]"
        }
        1 => "What the rhythm of a light means is told in [[/how/why-lights-flash|Why lighthouses flash]].",
        _ => {
            "Why it wears these colours you can read in [[/how/colours-and-stripes|Why towers wear stripes]]."
        }
    };
    match number % 4 {
        0 => format!(
            "{name} stands on {place} and has been lit since {year}. {why}\n{picture}## The tower\n{facts}\
             The tower is {metres} metres high, {dress}. {compare}\n## The people\n{story}\n## Today\n{today}\n"
        ),
        1 => format!(
            "{why} So in {year} a lighthouse was built on {place}, and sailors have called it {name} ever since.\n\
             {story}\n{picture}At night you will know it by its light: {rhythm}, visible for {miles} miles. \
             {compare}\n{facts}{today}\n"
        ),
        2 => format!(
            "{story} That is the tale most visitors remember of {name}, but the lighthouse on {place} has more to \
             tell.\n## Why it was built\n{why} The lamp was lit for the first time in {year}.\n{facts}{compare}\n\
             {picture}## What has become of it\n{today}\n"
        ),
        _ => format!(
            "Look out for {rhythm}: that is {name}, the lighthouse on {place}.\n{picture}{why} Since {year} a tower \
             of {metres} metres, {dress}, has kept watch there.\n> {story}\n{compare}\n{facts}## Good to know\n{today}\n"
        ),
    }
}

fn after(number: usize, tower: &str) -> String {
    match number % 3 {
        0 => format!("\nThe tower itself is described on [[{tower}|its own page]]."),
        1 => format!("\nThose who want to stand where it happened should visit [[{tower}|the lighthouse]]."),
        _ => format!("\nMore about the place: [[{tower}|the lighthouse and its light]]."),
    }
}

fn pharos() -> DemoPage {
    let text = "The word for lighthouse in many languages, phare, faro, farol, comes from one small island: Pharos, \
                in front of the harbour of Alexandria.\n\
                ## A wonder that worked\n\
                Around 280 BC, under the kings Ptolemy I and Ptolemy II, a tower was raised there, by most accounts \
                more than a hundred metres high. Sostratus of Knidos is named as its builder. It had three storeys: a \
                square one, an eight-sided one and a round one, with a fire at the top.\n\
                = Begun: about 300 BC\n= Finished: about 280 BC\n= Height: probably more than 100 m\n\
                = Destroyed: by earthquakes, the last in the 14th century\n\
                ## What remains\n\
                Earthquakes brought it down, and in the fifteenth century a fort was built on the spot from its stones. \
                Divers found blocks and statues on the sea floor in 1994. This much is history; our \
                [[/lights/pharos-replica|Little Pharos]] in the garden is a guess.\n\
                A Chinese account is at [[dengta.localhost/shi/faluosi|法罗斯：亚历山大的灯塔]]. The search engine that you \
                may be using right now took its name from this island.\n";
    DemoPage::article(
        Lang::En,
        "/history/pharos-of-alexandria",
        "The Pharos of Alexandria, first of all lighthouses",
        text.into(),
    )
    .by("Clara Whitby", 210)
    .keywords("Pharos, Alexandria, history, wonder of the world")
}

fn false_lights() -> DemoPage {
    let text = "Was it ever true that thieves lured ships on to the rocks with false lights? The museum has collected \
                the evidence for and against.\n\
                Against it speaks that a captain who sees a light on a dark coast turns away from it, not towards it. \
                For it speaks a leather collar with a lantern hook, made for a cow, found in \
                [[/lights/wreckers-cove|Wreckers' Cove]].\n\
                The exhibition leaves the verdict to the visitor. On the last wall you may vote with a white or a black \
                pebble; at the moment the cow is winning.\n";
    DemoPage::article(
        Lang::En,
        "/exhibits/false-lights",
        "False lights: wreckers, lanterns and one cow",
        text.into(),
    )
    .by("Iris Tanner", 45)
    .keywords("wreckers, exhibition")
}

fn galleries() -> Vec<DemoPage> {
    let night = "lights at night";
    let sets = [
        ("storm", "Lighthouses in storm: a gallery of twelve winters", "waves over the gallery", 0),
        ("dawn", "Lighthouses at dawn: a gallery in gold and grey", "first sun on the lantern", 8),
        ("night", "Beams: a gallery of lighthouses at night", night, 16),
        (
            "doors",
            "Green doors, red doors: lighthouse details in pictures",
            "a door that has seen weather",
            23,
        ),
    ];
    sets.iter()
        .map(|(slug, title, what, start)| {
            let mut text =
                format!("Six pictures by the museum's friends: {what}. Click on a name to read its story.\n");
            for light in LIGHTHOUSES.iter().skip(*start).take(6) {
                text.push_str(&format!("! lighthouse-{slug}-{} | {}: {what}\n", light.slug, light.name));
                text.push_str(&format!("* /lights/{} | built in {}\n", light.slug, light.year));
            }
            DemoPage::new(PageKind::Picture, Lang::En, format!("/gallery/{slug}"), *title, text)
                .by("Friends of the Museum", 80)
                .keywords(format!("pictures, {what}"))
        })
        .collect()
}

fn visit() -> DemoPage {
    let text = "The museum is open daily from ten to five, in winter until the lamp is lit. Children under ten and \
                keepers of any age enter free.\n\
                = Address: 1 Pier Street, Port Aster\n= Ferry: line 4, stop Old Harbour\n= Café: tea from eleven, soup from twelve\n\
                The ferry timetable is printed by the [[harbour-news.localhost/|Harbour News]]; the café buys its scones and \
                recipes from the [[tea-kitchen.localhost/|Tea Kitchen]].\n";
    DemoPage::article(Lang::En, "/visit", "Plan your visit to the Lighthouse Museum", text.into())
        .by("Clara Whitby", 20)
        .keywords("opening hours, tickets")
}

fn hubs(entries: &mut Vec<DemoPage>) {
    for (path, title, intro) in [
        (
            "/lights/",
            "All lighthouses of the Aster coast",
            "Thirty towers between Saltmere and the Southern Cross, each with its rhythm and its story.",
        ),
        (
            "/keepers/",
            "Keepers: ten people (and a mule) who kept the lamps",
            "Every lamp needs a hand. These are some of them.",
        ),
        (
            "/how/",
            "How lighthouses work",
            "Lenses, lamps, rhythms and geometry, explained with as few formulas as possible.",
        ),
        ("/gallery/", "Picture galleries of the museum", "Storm, dawn, night, and doors."),
    ] {
        let text = format!("{intro}\n{}", list_of(entries, path));
        entries.push(DemoPage::hub(Lang::En, path, title, text).by("", 30));
    }
    let exhibits = "What to see in the main hall: the curved bed of [[/lights/the-needle|The Needle]], the chess board \
                    of [[/keepers/jonas-pike|Jonas Pike]], the trumpet of [[/keepers/samuel-oake|Samuel Oake]].\n\
                    * /exhibits/false-lights | until the end of June\n* /history/pharos-of-alexandria | permanent\n\
                    * /how/how-a-fresnel-lens-works | with a lens to touch\n";
    entries
        .push(DemoPage::hub(Lang::En, "/exhibits/", "Exhibits in the main hall", exhibits.into()).by("", 25));
    let home = "Welcome to the Lighthouse Museum, where thirty lamps are kept from going out. We collect towers, lenses, \
                log books and the stories of those who stayed awake so that others could sleep.\n\
                ! lighthouse-welcome | The Old Harbour Light and the museum quay\n\
                ## Begin here\n\
                * /lights/ | every tower of the coast\n* /keepers/ | the people\n* /how/ | lenses, lamps and flashes\n\
                * /history/pharos-of-alexandria | where it all began\n* /gallery/ | pictures\n* /exhibits/ | in the main hall\n\
                ## This month\n\
                * /exhibits/false-lights | new exhibition\n* /lights/merchants-light | tower of the month\n\
                For readers of Chinese our sister site tells [[dengta.localhost/|灯塔故事]].\n";
    entries.push(
        DemoPage::new(
            PageKind::Home,
            Lang::En,
            "/",
            "The Lighthouse Museum of Port Aster: towers, keepers, lights",
            home.into(),
        )
        .by("", 10),
    );
}
