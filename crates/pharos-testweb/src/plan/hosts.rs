//! Generates the hosts: names, addresses, languages, encodings, robots.txt.

use std::collections::HashSet;
use std::net::Ipv4Addr;

use super::stream;
use crate::model::{Behaviour, Charset, CharsetDeclaration, Host, Lang, Layout};
use crate::rng::Rng;
use crate::robots::RobotsTxt;
use crate::spec::WebSpec;
use crate::words::{CHINESE, ENGLISH, TOPICS};
use crate::writer::capital;

pub(super) fn make(spec: &WebSpec) -> Vec<Host> {
    let mut names = HashSet::new();
    let mut domain = String::new();
    (0..spec.hosts)
        .map(|number| {
            let mut rng = Rng::from_parts(&[spec.seed, stream::HOST, number as u64]);
            // Spread evenly, so that small webs have both languages too.
            let chinese =
                ((number + 1) as f64 * spec.chinese) as usize > (number as f64 * spec.chinese) as usize;
            let lang = if chinese { Lang::Zh } else { Lang::En };
            let topic = rng.below(TOPICS.len());
            let address = address_of(number);
            let name = if spec.addresses_as_names {
                address.to_string()
            } else {
                // Every fourth host belongs to the domain of the one before.
                let sister = number % 4 == 3;
                if !sister {
                    domain = domain_name(lang, topic, &mut rng);
                }
                let prefix = if sister { "news" } else { "www" };
                let mut name = format!("{prefix}.{domain}");
                while !names.insert(name.clone()) {
                    domain = domain_name(lang, topic, &mut rng);
                    name = format!("{prefix}.{domain}");
                }
                name
            };
            Host {
                name,
                address,
                title: site_title(lang, topic, &mut rng),
                lang,
                charset: if chinese && rng.chance(0.5) { Charset::Gbk } else { Charset::Utf8 },
                declared: if rng.chance(0.5) { CharsetDeclaration::Header } else { CharsetDeclaration::Meta },
                behaviour: Behaviour::Good,
                mirror_of: None,
                rules: (number % 5 != 4).then(RobotsTxt::usual),
                topic,
                look: rng.pick(&[Layout::Semantic, Layout::Divisions, Layout::Tables]),
                navigation: Vec::new(),
                footer: Vec::new(),
            }
        })
        .collect()
}

/// Returns 127.77.0.1 and following addresses, without the ends of each range.
pub(crate) fn address_of(number: usize) -> Ipv4Addr {
    const PER_RANGE: usize = 250;
    let range = number / PER_RANGE;
    Ipv4Addr::new(127, 77 + (range / 256) as u8, (range % 256) as u8, (number % PER_RANGE + 1) as u8)
}

pub(super) fn domain_name(lang: Lang, topic: usize, rng: &mut Rng) -> String {
    match lang {
        Lang::En => format!("{}-{}.test", ENGLISH.nouns.draw_rare(rng), TOPICS[topic].en[0]),
        Lang::Zh => {
            const SYLLABLES: &[&str] = &[
                "bai", "chang", "chun", "deng", "dong", "feng", "gao", "guang", "hai", "hua", "jiang",
                "jing", "lan", "lin", "long", "mei", "ming", "nan", "ping", "qing", "shan", "shui", "song",
                "ta", "tian", "wen", "xi", "xin", "xue", "yang", "yu", "yuan", "yun", "zhi", "zhong", "zhou",
            ];
            let name: Vec<&str> = (0..3).map(|_| rng.pick(SYLLABLES)).collect();
            format!("{}.test", name.concat())
        }
    }
}

fn site_title(lang: Lang, topic: usize, rng: &mut Rng) -> String {
    match lang {
        Lang::En => {
            let rare = capital(ENGLISH.nouns.draw_rare(rng));
            let ending = rng.pick(&["Journal", "Notes", "Weekly", "Society", "Almanac", "Gazette"]);
            format!("{rare} {} {ending}", capital(TOPICS[topic].en[0]))
        }
        Lang::Zh => {
            let ending = rng.pick(&["网", "资讯", "之家", "周刊", "论坛", "文库"]);
            format!("{}{}{ending}", CHINESE.nouns.draw_rare(rng), TOPICS[topic].zh[0])
        }
    }
}
