//! Manners: how gently a site is treated, as one line of the configuration.

use std::time::Duration;

use toml::de::DeValue;

use super::CrawlConfig;
use super::value::{Politeness, Setting};

/// How gently a site is treated: the numbers behind a word such as `gentle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
    /// Shortest wait between two requests to a site while it is day there.
    pub day_delay: Duration,
    /// The same by night.
    pub night_delay: Duration,
    /// Nice factor (好人系数): wait this many times as long as the last fetch took; 0 does not look at it.
    pub nice_factor: u32,
    /// Requests to a site in one day; 0 is no limit.
    pub pages_per_day: u64,
    /// Sites on one public address that are asked at one site's pace; 0 is no limit.
    pub requests_per_address: usize,
}

impl Manners {
    /// The books' numbers: 10 s by day and 1 s by night (003 part 1, D43), at most 20,000 pages of a site in a day
    /// (000 part 1, B14, which gives 30 s between requests as the alternative), and Scooter's factor of 100
    /// (001, F138).
    pub const GENTLE: Self = Self {
        day_delay: Duration::from_secs(10),
        night_delay: Duration::from_secs(1),
        nice_factor: 100,
        pages_per_day: 20_000,
        requests_per_address: 4,
    };
    /// A second between requests, and longer where the server is slow.
    pub const NORMAL: Self = Self {
        day_delay: Duration::from_secs(1),
        night_delay: Duration::from_secs(1),
        nice_factor: 10,
        pages_per_day: 0,
        requests_per_address: 8,
    };
    /// No wait and no limit: only for servers that are your own.
    pub const OWN_SITE: Self = Self {
        day_delay: Duration::ZERO,
        night_delay: Duration::ZERO,
        nice_factor: 0,
        pages_per_day: 0,
        requests_per_address: 0,
    };

    /// Does nothing of ours slow requests down?
    pub fn is_unlimited(&self) -> bool {
        self.day_delay.is_zero() && self.night_delay.is_zero() && self.nice_factor == 0
    }

    /// Sets what one word of the table stands for.
    fn set(&mut self, word: &str, read: Reading<'_>) -> Option<()> {
        match word {
            "day" => self.day_delay = read.setting()?,
            "night" => self.night_delay = read.setting()?,
            "nice" => self.nice_factor = read.setting()?,
            "per_day" => self.pages_per_day = read.setting()?,
            "per_address" => self.requests_per_address = read.setting()?,
            _ => return None,
        }
        Some(())
    }
}

/// The words of the table that must all be there.
const WORDS: usize = 5;

/// A value of the table, from either source.
enum Reading<'a> {
    Toml(&'a DeValue<'a>),
    Text(&'a str),
}

impl Reading<'_> {
    fn setting<T: Setting>(self) -> Option<T> {
        match self {
            Self::Toml(value) => T::from_toml(value),
            Self::Text(text) => T::from_text(text.trim().trim_matches('"')),
        }
    }
}

/// Reads a table in which every word stands once.
fn table<'a>(words: impl Iterator<Item = Option<(&'a str, Reading<'a>)>>) -> Option<Manners> {
    let mut manners = Manners::OWN_SITE;
    let mut seen: Vec<&str> = Vec::with_capacity(WORDS);
    for word in words {
        let (word, value) = word?;
        if seen.contains(&word) {
            return None;
        }
        manners.set(word, value)?;
        seen.push(word);
    }
    (seen.len() == WORDS).then_some(manners)
}

impl Setting for Manners {
    fn expected() -> String {
        "a table such as { day = \"10s\", night = \"1s\", nice = 100, per_day = 20000, per_address = 4 }"
            .into()
    }
    fn from_text(text: &str) -> Option<Self> {
        let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
        let words = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
        table(words.map(|part| part.split_once('=').map(|(word, value)| (word.trim(), Reading::Text(value)))))
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        let DeValue::Table(words) = value else { return None };
        table(
            words.iter().map(|(word, value)| Some((word.get_ref().as_ref(), Reading::Toml(value.get_ref())))),
        )
    }
    fn to_toml(&self) -> String {
        format!(
            "{{ day = {}, night = {}, nice = {}, per_day = {}, per_address = {} }}",
            self.day_delay.to_toml(),
            self.night_delay.to_toml(),
            self.nice_factor,
            self.pages_per_day,
            self.requests_per_address
        )
    }
}

impl CrawlConfig {
    /// The numbers behind a word.
    pub fn manners_of(&self, politeness: Politeness) -> &Manners {
        match politeness {
            Politeness::Gentle => &self.gentle,
            Politeness::Normal => &self.normal,
            Politeness::OwnSite => &self.own_site,
        }
    }

    /// The manners that hold where a site has none of its own.
    pub fn manners(&self) -> &Manners {
        self.manners_of(self.politeness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_from_toml_and_from_text() {
        let mut config = super::super::Config::default();
        let toml = "[crawl]\ngentle = { day = \"30s\", night = \"5s\", nice = 50, per_day = 1_000, per_address = 2 }\n";
        config.read_toml("pharos.toml", toml).unwrap();
        let expected = Manners {
            day_delay: Duration::from_secs(30),
            night_delay: Duration::from_secs(5),
            nice_factor: 50,
            pages_per_day: 1000,
            requests_per_address: 2,
        };
        assert_eq!(config.crawl.gentle, expected);
        let text = "day=30s, night=5s, nice=50, per_day=1000, per_address=2";
        assert_eq!(Manners::from_text(text), Some(expected));
        assert_eq!(Manners::from_text(&expected.to_toml()), Some(expected));
    }

    #[test]
    fn a_table_with_a_word_too_few_or_too_many_is_refused() {
        for bad in [
            "",
            "day=1s",
            "day=1s, day=1s, nice=50, per_day=1000, per_address=2",
            "day=1, night=5s, nice=50, per_day=1000, per_address=2",
            "day=1s, night=5s, nice=50, per_day=1000, per_address=2, per_week=1",
            "day, night=5s, nice=50, per_day=1000, per_address=2",
        ] {
            assert_eq!(Manners::from_text(bad), None, "{bad}");
        }
    }
}
