//! Per-site settings: `crawl.site_settings`.

use std::collections::HashMap;
use std::time::Duration;

use pharos_core::config::{PolitenessProfile, SettingValue};
use pharos_core::schedule::{TimeWindow, Zone};
use pharos_core::{SiteName, Timestamp};

use crate::politeness::utc_offset::UtcOffset;
use crate::setting_error::SettingError;

/// Settings of one site; unset values use the global settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteSettings {
    /// Time zone: `zone=+08:00` or `zone=Europe/Berlin`.
    pub zone: Option<Zone>,
    /// Politeness profile: `politeness=gentle`.
    pub politeness: Option<PolitenessProfile>,
    /// Wait between two requests, day and night: `delay=5s`.
    pub delay: Option<Duration>,
    /// Maximum number of concurrent requests: `connections=2`.
    pub connections: Option<usize>,
    /// Maximum number of pages: `max_pages=1000`.
    pub max_pages: Option<u64>,
    /// The order of query parameters is insignificant: `sorted`.
    pub sorted: bool,
    /// Times in which the site may be requested; none means always: `window=mon-fri/22:00-06:00`, repeated for
    /// several.
    pub windows: Vec<TimeWindow>,
}

/// Maximum number of crawl windows of a site.
const MAX_WINDOWS: usize = 16;

/// Settings of all configured sites.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SiteSettingsTable {
    /// By host, host and port, or `*.domain`.
    sites: HashMap<String, SiteSettings>,
    nothing: SiteSettings,
}

impl SiteSettingsTable {
    /// Parses lines of `HOST key=value …`. A host given twice is an error.
    pub fn parse(lines: &[String]) -> Result<Self, SettingError> {
        let mut table = Self::default();
        for line in lines {
            let bad = |reason: String| SettingError::Site { line: line.clone(), reason };
            let mut words = line.split_whitespace();
            let host = words.next().and_then(normal_host);
            let host = host.ok_or_else(|| bad("it does not begin with a host".into()))?;
            let mut settings = SiteSettings::default();
            for word in words {
                settings.read(word).map_err(bad)?;
            }
            if settings == SiteSettings::default() {
                return Err(bad("it has no settings".into()));
            }
            if table.sites.insert(host.clone(), settings).is_some() {
                return Err(bad(format!("{host} is configured twice")));
            }
        }
        Ok(table)
    }

    /// Returns hosts, and domains of `*.domain`, with sorted query parameters.
    pub(crate) fn sorted(&self) -> Vec<String> {
        let named = self.sites.iter().filter(|(_, settings)| settings.sorted);
        named.map(|(host, _)| host.trim_start_matches("*.").to_string()).collect()
    }

    /// Returns the hosts that have crawl windows, in order of their names.
    pub fn with_windows(&self) -> Vec<(&str, &SiteSettings)> {
        let named = self.sites.iter().filter(|(_, settings)| !settings.windows.is_empty());
        let mut named: Vec<(&str, &SiteSettings)> =
            named.map(|(host, settings)| (host.as_str(), settings)).collect();
        named.sort_by_key(|(host, _)| *host);
        named
    }

    /// Returns the largest number of concurrent requests of any site.
    pub(crate) fn most_connections(&self) -> usize {
        self.sites.values().filter_map(|site| site.connections).max().unwrap_or(0)
    }

    /// Returns the settings of a site: of its host and port, else of its host, else of the longest matching
    /// `*.domain`.
    pub fn settings_for(&self, site: &SiteName) -> &SiteSettings {
        if self.sites.is_empty() {
            return &self.nothing;
        }
        let host = site.host();
        let own = self.sites.get(site.as_str()).or_else(|| self.sites.get(host));
        let mut rest = Some(host);
        let parents = std::iter::from_fn(|| {
            let parent = rest?;
            rest = parent.split_once('.').map(|(_, parent)| parent);
            Some(parent)
        });
        own.or_else(|| parents.filter_map(|parent| self.sites.get(&format!("*.{parent}"))).next())
            .unwrap_or(&self.nothing)
    }
}

impl SiteSettings {
    fn read(&mut self, word: &str) -> Result<(), String> {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let wrong = |expected: String| format!("`{name}` must be {expected}, not `{value}`");
        match name {
            "zone" => {
                let zone = parse_zone(value).or_else(|| UtcOffset::parse(value).map(UtcOffset::to_zone));
                self.zone = Some(zone.ok_or_else(|| wrong("a zone such as +08:00 or Europe/Berlin".into()))?);
            }
            "politeness" => self.politeness = Some(setting(value).map_err(wrong)?),
            "delay" => self.delay = Some(setting(value).map_err(wrong)?),
            "connections" => {
                let count: usize = setting(value).map_err(wrong)?;
                self.connections = Some(count.max(1));
            }
            "max_pages" => self.max_pages = Some(setting(value).map_err(wrong)?),
            "window" => {
                let expected = "a window such as 22:00-06:00 or mon-fri/22:00-06:00";
                self.windows.push(TimeWindow::parse(value).ok_or_else(|| wrong(expected.into()))?);
                if self.windows.len() > MAX_WINDOWS {
                    return Err(format!("at most {MAX_WINDOWS} windows are possible"));
                }
            }
            "sorted" if word == "sorted" => self.sorted = true,
            _ => return Err(format!("unknown setting `{word}`")),
        }
        Ok(())
    }
}

impl SiteSettings {
    /// Returns the time at which the site's next crawl window opens, or `None` if it may be requested now.
    ///
    /// Times are those of the site's zone, or else of `default_zone`.
    pub fn closed_until(&self, default_zone: &Zone, now: Timestamp) -> Option<Timestamp> {
        let zone = self.zone.as_ref().unwrap_or(default_zone);
        if self.windows.is_empty() || self.windows.iter().any(|window| window.is_open(now, zone)) {
            return None;
        }
        let openings = self.windows.iter().filter_map(|window| window.next_opening(now, zone));
        Some(openings.min().unwrap_or(now.plus(FAR_OPENING)))
    }

    /// Returns the crawl windows as text with their time zone, or `None` if there are none.
    pub fn describe_windows(&self, default_zone: &Zone) -> Option<String> {
        let zone = self.zone.as_ref().unwrap_or(default_zone);
        let windows: Vec<String> = self.windows.iter().map(ToString::to_string).collect();
        (!windows.is_empty()).then(|| format!("{} ({})", windows.join(", "), zone.label()))
    }
}

/// Time after which windows are checked again that do not open within a week.
const FAR_OPENING: Duration = Duration::from_secs(86_400);

/// Parses a zone by name. The empty name, the zone of the machine, is not accepted here.
fn parse_zone(name: &str) -> Option<Zone> {
    Zone::parse(name).filter(|zone| !zone.name().is_empty())
}

fn setting<T: SettingValue>(value: &str) -> Result<T, String> {
    T::from_text(value).ok_or_else(T::expected)
}

/// Normalises a host as in a [`SiteName`]: lower case, punycode, with its port if given.
fn normal_host(text: &str) -> Option<String> {
    let (star, host) = match text.strip_prefix("*.") {
        Some(host) => ("*.", host),
        None => ("", text),
    };
    let (host, port) = match host.rsplit_once(':') {
        Some((name, port)) if !host.ends_with(']') => (name, Some(port.parse::<u16>().ok()?)),
        _ => (host, None),
    };
    let host = url::Host::parse(host).ok()?;
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{star}{host}{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(lines: &[&str]) -> Result<SiteSettingsTable, SettingError> {
        SiteSettingsTable::parse(&lines.iter().map(|line| line.to_string()).collect::<Vec<_>>())
    }

    fn site(name: &str) -> SiteName {
        SiteName::from_stored(name.into())
    }

    #[test]
    fn every_word_is_read() {
        let line =
            "WWW.Example.cn zone=+08:00 politeness=gentle sorted max_pages=1000 delay=5s connections=2";
        let given = table(&[line]).unwrap();
        let expected = SiteSettings {
            zone: Zone::parse("+08:00"),
            politeness: Some(PolitenessProfile::Gentle),
            delay: Some(Duration::from_secs(5)),
            connections: Some(2),
            max_pages: Some(1000),
            sorted: true,
            windows: Vec::new(),
        };
        assert_eq!(*given.settings_for(&site("www.example.cn")), expected);
        assert_eq!(*given.settings_for(&site("www.example.cn:8080")), expected, "on every port");
        assert_eq!(*given.settings_for(&site("example.cn")), SiteSettings::default());
    }

    #[test]
    fn the_closest_line_holds() {
        let given = table(&[
            "*.example.org max_pages=1",
            "*.news.example.org max_pages=2",
            "news.example.org max_pages=3",
            "news.example.org:8080 max_pages=4",
        ])
        .unwrap();
        let pages = |name: &str| given.settings_for(&site(name)).max_pages;
        assert_eq!(pages("example.org"), Some(1));
        assert_eq!(pages("a.b.example.org"), Some(1));
        assert_eq!(pages("a.news.example.org"), Some(2));
        assert_eq!(pages("news.example.org"), Some(3));
        assert_eq!(pages("news.example.org:8080"), Some(4));
        assert_eq!(pages("notexample.org"), None);
    }

    #[test]
    fn invalid_lines_are_reported() {
        for (line, reason) in [
            ("", "it does not begin with a host"),
            ("a b:c", "unknown setting `b:c`"),
            ("www.example.org", "it has no settings"),
            ("www.example.org zone=8", "`zone` must be a zone such as +08:00 or Europe/Berlin, not `8`"),
            (
                "www.example.org politeness=rude",
                "`politeness` must be gentle, normal or own-site, not `rude`",
            ),
            (
                "www.example.org window=22",
                "`window` must be a window such as 22:00-06:00 or mon-fri/22:00-06:00, not `22`",
            ),
            ("www.example.org zone=", "`zone` must be"),
            ("www.example.org sorted=yes", "unknown setting `sorted=yes`"),
        ] {
            let error = table(&[line]).unwrap_err().to_string();
            assert!(error.contains("crawl.site_settings") && error.contains(reason), "{error}");
        }
        assert!(table(&["a.example sorted", "A.example delay=1s"]).is_err());
    }

    #[test]
    fn windows_open_and_close_in_the_zone_of_the_site() {
        let given = table(&[
            "night.example window=22:00-06:00",
            "berlin.example zone=Europe/Berlin window=mon-fri/22:00-06:00 window=sat,sun/00:00-24:00",
        ])
        .unwrap();
        let utc = Zone::parse("Z").unwrap();
        let closed = |host: &str, at: &str| {
            let at = Timestamp::parse(at).unwrap();
            given.settings_for(&site(host)).closed_until(&utc, at).map(|until| until.to_string())
        };
        assert_eq!(closed("other.example", "2026-01-30T12:00:00Z"), None, "without windows");
        assert_eq!(closed("night.example", "2026-01-30T12:00:00Z").unwrap(), "2026-01-30T22:00:00Z");
        assert_eq!(closed("night.example", "2026-01-30T22:00:00Z"), None);
        assert_eq!(closed("berlin.example", "2026-01-30T12:00:00Z").unwrap(), "2026-01-30T21:00:00Z");
        assert_eq!(closed("berlin.example", "2026-01-31T12:00:00Z"), None, "a Saturday");
        let described = given.settings_for(&site("berlin.example")).describe_windows(&utc).unwrap();
        assert_eq!(described, "mon-fri/22:00-06:00, sat,sun/00:00-24:00 (Europe/Berlin)");
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "[\\PC= ]{0,40}", name in "\\PC{0,20}") {
            if let Ok(table) = table(&[&line]) {
                let _ = table.settings_for(&site(&name));
            }
        }
    }
}
