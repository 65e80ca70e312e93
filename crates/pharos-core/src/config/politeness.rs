//! Politeness limits: request delays and quotas per site, as one table of the configuration.

use std::time::Duration;

use toml::de::DeValue;

use super::CrawlConfig;
use super::value::{PolitenessProfile, SettingValue};

/// The limits of a politeness profile such as `gentle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolitenessLimits {
    /// Minimum delay between two requests to a site during its local daytime.
    pub day_delay: Duration,
    /// Minimum delay between two requests to a site during its local night.
    pub night_delay: Duration,
    /// Nice factor (好人系数): the delay is at least this multiple of the duration of the last fetch; 0 disables it.
    pub nice_factor: u32,
    /// Maximum number of requests to a site per day; 0 means no limit.
    pub pages_per_day: u64,
    /// Number of sites on one public address that are fetched at the rate of one site; 0 means no limit.
    pub sites_per_address: usize,
}

impl PolitenessLimits {
    /// The limits of the literature: 10 s by day and 1 s by night (《走进搜索引擎》§2.4.7), at most 20,000 pages per
    /// site per day (《搜索引擎——原理、技术与系统》§2.5, with 30 s between requests as the alternative), and the nice
    /// factor 100 of AltaVista's Scooter.
    pub const GENTLE: Self = Self {
        day_delay: Duration::from_secs(10),
        night_delay: Duration::from_secs(1),
        nice_factor: 100,
        pages_per_day: 20_000,
        sites_per_address: 4,
    };
    /// One second between requests, and longer for slow servers.
    pub const NORMAL: Self = Self {
        day_delay: Duration::from_secs(1),
        night_delay: Duration::from_secs(1),
        nice_factor: 10,
        pages_per_day: 0,
        sites_per_address: 8,
    };
    /// No delay and no limit, only for servers of the operator.
    pub const OWN_SITE: Self = Self {
        day_delay: Duration::ZERO,
        night_delay: Duration::ZERO,
        nice_factor: 0,
        pages_per_day: 0,
        sites_per_address: 0,
    };

    /// Returns `true` if no delay applies between requests.
    pub fn is_unlimited(&self) -> bool {
        self.day_delay.is_zero() && self.night_delay.is_zero() && self.nice_factor == 0
    }

    /// Sets one field of the table. Returns `None` if the field is unknown or the value invalid.
    fn set(&mut self, field: &str, value: FieldValue<'_>) -> Option<()> {
        match field {
            "day" => self.day_delay = value.parse()?,
            "night" => self.night_delay = value.parse()?,
            "nice" => self.nice_factor = value.parse()?,
            "per_day" => self.pages_per_day = value.parse()?,
            "per_address" => self.sites_per_address = value.parse()?,
            _ => return None,
        }
        Some(())
    }
}

/// Number of fields of the table, all of which are required.
const FIELDS: usize = 5;

/// A field value, from TOML or from text.
enum FieldValue<'a> {
    Toml(&'a DeValue<'a>),
    Text(&'a str),
}

impl FieldValue<'_> {
    fn parse<T: SettingValue>(self) -> Option<T> {
        match self {
            Self::Toml(value) => T::from_toml(value),
            Self::Text(text) => T::from_text(text.trim().trim_matches('"')),
        }
    }
}

/// Parses a table that contains every field exactly once.
fn parse_table<'a>(
    fields: impl Iterator<Item = Option<(&'a str, FieldValue<'a>)>>,
) -> Option<PolitenessLimits> {
    let mut limits = PolitenessLimits::OWN_SITE;
    let mut seen: Vec<&str> = Vec::with_capacity(FIELDS);
    for field in fields {
        let (field, value) = field?;
        if seen.contains(&field) {
            return None;
        }
        limits.set(field, value)?;
        seen.push(field);
    }
    (seen.len() == FIELDS).then_some(limits)
}

impl SettingValue for PolitenessLimits {
    fn expected() -> String {
        "a table such as { day = \"10s\", night = \"1s\", nice = 100, per_day = 20000, per_address = 4 }"
            .into()
    }
    fn from_text(text: &str) -> Option<Self> {
        let inner = text.trim().trim_start_matches('{').trim_end_matches('}');
        let fields = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
        parse_table(
            fields.map(|part| {
                part.split_once('=').map(|(field, value)| (field.trim(), FieldValue::Text(value)))
            }),
        )
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        let DeValue::Table(fields) = value else { return None };
        parse_table(
            fields
                .iter()
                .map(|(field, value)| Some((field.get_ref().as_ref(), FieldValue::Toml(value.get_ref())))),
        )
    }
    fn to_toml(&self) -> String {
        format!(
            "{{ day = {}, night = {}, nice = {}, per_day = {}, per_address = {} }}",
            self.day_delay.to_toml(),
            self.night_delay.to_toml(),
            self.nice_factor,
            self.pages_per_day,
            self.sites_per_address
        )
    }
}

impl CrawlConfig {
    /// Returns the limits of a politeness profile.
    pub fn politeness_limits_of(&self, politeness: PolitenessProfile) -> &PolitenessLimits {
        match politeness {
            PolitenessProfile::Gentle => &self.gentle,
            PolitenessProfile::Normal => &self.normal,
            PolitenessProfile::OwnSite => &self.own_site,
        }
    }

    /// Returns the limits of the default profile, used by sites without settings of their own.
    pub fn politeness_limits(&self) -> &PolitenessLimits {
        self.politeness_limits_of(self.politeness)
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
        let expected = PolitenessLimits {
            day_delay: Duration::from_secs(30),
            night_delay: Duration::from_secs(5),
            nice_factor: 50,
            pages_per_day: 1000,
            sites_per_address: 2,
        };
        assert_eq!(config.crawl.gentle, expected);
        let text = "day=30s, night=5s, nice=50, per_day=1000, per_address=2";
        assert_eq!(PolitenessLimits::from_text(text), Some(expected));
        assert_eq!(PolitenessLimits::from_text(&expected.to_toml()), Some(expected));
    }

    #[test]
    fn a_table_with_missing_or_extra_fields_is_rejected() {
        for bad in [
            "",
            "day=1s",
            "day=1s, day=1s, nice=50, per_day=1000, per_address=2",
            "day=1, night=5s, nice=50, per_day=1000, per_address=2",
            "day=1s, night=5s, nice=50, per_day=1000, per_address=2, per_week=1",
            "day, night=5s, nice=50, per_day=1000, per_address=2",
        ] {
            assert_eq!(PolitenessLimits::from_text(bad), None, "{bad}");
        }
    }
}
