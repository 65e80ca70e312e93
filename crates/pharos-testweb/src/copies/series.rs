//! Series: articles on different topics that share an introduction and a disclaimer.

use crate::model::{Host, Lang};
use crate::rng::Rng;
use crate::writer::TextWriter;

/// Purpose of the random stream of series.
const STREAM: u64 = 202;

/// Minimum number of own words of an article of a series: about twice the shared text.
pub(crate) const LEAST_WORDS: usize = 140;

const EN_ABOUT: &[&str] = &[
    "This article belongs to the series “{series}”, in which the editors of {site} take up one subject at a time, \
     ask those who know it best, and add what readers have sent us since.",
    "“{series}” appears on {site} every other week; each part stands alone, was read by two editors before it was \
     printed, and is corrected when readers point out a mistake.",
];

const EN_DISCLAIMERS: &[&str] = &[
    "What is said here is the opinion of the author and need not be that of {site}; names and numbers were checked \
     with care, but nobody is liable for them. Letters are welcome at any time.",
    "All parts of this series are protected by copyright. Please ask {site} before you print any of them again, name \
     the author, and do not shorten the text without permission from the editors.",
];

const ZH_ABOUT: &[&str] = &[
    "本文属于“{series}”专栏。{site}编辑部每期只谈一个题目，请最熟悉它的人来写，并附上读者后来寄给我们的补充与更正。",
    "“{series}”每两周在{site}刊出一期，各期独立成篇，付印之前都经过两位编辑审读，读者指出的错误会及时改正。",
];

const ZH_DISCLAIMERS: &[&str] = &[
    "以上内容只代表作者本人的看法，不代表{site}的立场；人名和数字虽经仔细核对，本站不对其准确与完整承担责任，欢迎随时来信指正。",
    "本专栏各篇均受版权保护，未经{site}许可不得转载、摘编或删改；如需引用，请注明作者与出处，并事先与编辑部联系。",
];

/// Content shared by all articles of a series.
pub(crate) struct Series {
    pub(crate) name: String,
    /// Paragraph above the text.
    pub(crate) about: String,
    /// Paragraph below the text.
    pub(crate) disclaimer: String,
}

impl Series {
    /// Creates the series of this number, on this host.
    pub(crate) fn new(seed: u64, number: u32, host: &Host) -> Series {
        let mut rng = Rng::from_parts(&[seed, STREAM, u64::from(number)]);
        let name = TextWriter::new(host.lang, host.topic).title(&mut rng);
        let (about, disclaimers) = match host.lang {
            Lang::En => (EN_ABOUT, EN_DISCLAIMERS),
            Lang::Zh => (ZH_ABOUT, ZH_DISCLAIMERS),
        };
        let mut written =
            |lines: &[&str]| rng.pick(lines).replace("{series}", &name).replace("{site}", &host.title);
        let (about, disclaimer) = (written(about), written(disclaimers));
        Series { name, about, disclaimer }
    }

    /// Returns the headline of an article of the series.
    pub(crate) fn headline(&self, lang: Lang, part: usize, title: &str) -> String {
        match lang {
            Lang::En => format!("{}, part {part}: {title}", self.name),
            Lang::Zh => format!("{}（{part}）：{title}", self.name),
        }
    }
}
