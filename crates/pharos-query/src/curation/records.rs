//! The entries of `models/curation.json`: pinned results, hidden results and notices.

use pharos_core::{PageUrl, Timestamp};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::query_key;
use crate::request::collapse_whitespace;

/// Maximum number of entries, because every hidden page is part of every query.
pub const MAX_ENTRIES: usize = 2_000;
/// Maximum number of results pinned to one query.
pub const MAX_PINS: usize = 10;
/// Maximum length of a query in characters.
pub const MAX_QUERY_CHARS: usize = 200;
/// Maximum length of a notice in characters.
pub const MAX_NOTICE_CHARS: usize = 1_000;
/// Maximum length of the name of an operator in characters.
const MAX_NAME_CHARS: usize = 64;

/// One decision of an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurationEntry {
    pub id: u64,
    /// Starts at 1 and increases with every change, so that concurrent changes are detected.
    pub version: u64,
    #[serde(flatten)]
    pub rule: CurationRule,
    /// Time from which the entry has no effect.
    #[serde(default, with = "iso_option", skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Operator who made the last change.
    pub by: String,
    /// Time of the last change.
    #[serde(with = "iso")]
    pub at: Timestamp,
}

impl CurationEntry {
    /// Returns `true` if the entry has an effect at this time.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// The effect of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum CurationRule {
    /// Shows a page above the results of a query.
    Pin {
        query: String,
        url: String,
        /// Position among the pinned results, from 1.
        #[serde(default = "first_place")]
        place: u8,
    },
    /// Hides a page from the results of one query, or of all queries.
    Hide {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
        url: String,
    },
    /// Shows a text above the results of a query.
    Notice {
        query: String,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<String>,
    },
}

fn first_place() -> u8 {
    1
}

/// Parses the end of an entry: `2026-01-31`, `2026-01-31T12:00` or a complete time. Times without a zone are in UTC.
pub fn parse_until(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    ["", ":00Z", "T00:00:00Z"].iter().find_map(|rest| Timestamp::parse(&format!("{text}{rest}")))
}

/// A reason why an entry cannot be stored or changed.
#[derive(Debug, Error)]
pub enum CurationError {
    #[error("cannot {what} {path}: {source}")]
    Io { what: &'static str, path: String, source: std::io::Error },
    #[error("{path} is damaged: {why}; restore it from a backup, or delete it to start without entries")]
    Damaged { path: String, why: String },
    #[error("the query is empty")]
    EmptyQuery,
    #[error("the query is longer than {MAX_QUERY_CHARS} characters")]
    LongQuery,
    #[error("`{0}` is not the URL of a page: enter it in full, such as https://www.example.org/")]
    InvalidUrl(String),
    #[error("the place must be a number from 1 to {MAX_PINS}")]
    InvalidPlace,
    #[error("the text of the notice is empty")]
    EmptyText,
    #[error("the text of the notice is longer than {MAX_NOTICE_CHARS} characters")]
    LongText,
    #[error("`{0}` is not a link: it must begin with http:// or https://")]
    InvalidLink(String),
    #[error("there are {MAX_ENTRIES} entries already: remove some first")]
    Full,
    #[error("the query has {MAX_PINS} pinned results already: remove one first")]
    TooManyPins,
    #[error("such an entry exists already: change that one")]
    Exists,
    #[error("there is no such entry: it may have been removed meanwhile")]
    Missing,
    /// Contains the current entry.
    #[error("the entry was changed by {} meanwhile", .0.by)]
    Conflict(Box<CurationEntry>),
    #[error("the file was changed meanwhile")]
    FileConflict,
    #[error("the file would be longer than {0} bytes")]
    LongFile(u64),
}

impl CurationRule {
    /// Returns the rule with trimmed texts and normalised URLs.
    ///
    /// # Errors
    /// Returns the first invalid field.
    pub fn validated(self) -> Result<Self, CurationError> {
        Ok(match self {
            Self::Pin { place, .. } if !(1..=MAX_PINS).contains(&usize::from(place)) => {
                return Err(CurationError::InvalidPlace);
            }
            Self::Pin { query, url, place } => {
                Self::Pin { query: valid_query(&query)?, url: valid_url(&url)?, place }
            }
            Self::Hide { query, url } => {
                let query = query.filter(|query| !query.trim().is_empty());
                Self::Hide {
                    query: query.map(|query| valid_query(&query)).transpose()?,
                    url: valid_url(&url)?,
                }
            }
            Self::Notice { query, text, link } => Self::Notice {
                query: valid_query(&query)?,
                text: valid_text(&text)?,
                link: link
                    .filter(|link| !link.trim().is_empty())
                    .map(|link| valid_link(&link))
                    .transpose()?,
            },
        })
    }

    /// Returns the query that the rule belongs to; `None` for all queries.
    pub fn query(&self) -> Option<&str> {
        match self {
            Self::Pin { query, .. } | Self::Notice { query, .. } => Some(query),
            Self::Hide { query, .. } => query.as_deref(),
        }
    }

    /// Returns the page that the rule shows or hides.
    pub fn page(&self) -> Option<PageUrl> {
        match self {
            Self::Pin { url, .. } | Self::Hide { url, .. } => PageUrl::parse(url).ok(),
            Self::Notice { .. } => None,
        }
    }

    /// Returns the name of the kind, as in the file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Pin { .. } => "pin",
            Self::Hide { .. } => "hide",
            Self::Notice { .. } => "notice",
        }
    }

    /// Returns `true` if both rules concern the same query and page. There is one entry for each.
    pub fn has_same_subject(&self, other: &Self) -> bool {
        let key = |rule: &Self| rule.query().map(query_key);
        self.kind() == other.kind() && self.page() == other.page() && key(self) == key(other)
    }
}

fn valid_query(query: &str) -> Result<String, CurationError> {
    let query = collapse_whitespace(query);
    if query.chars().count() > MAX_QUERY_CHARS {
        return Err(CurationError::LongQuery);
    }
    if query_key(&query).is_empty() || query.chars().any(char::is_control) {
        return Err(CurationError::EmptyQuery);
    }
    Ok(query)
}

fn valid_url(url: &str) -> Result<String, CurationError> {
    match PageUrl::parse(url.trim()) {
        Ok(url) => Ok(url.to_string()),
        Err(_) => Err(CurationError::InvalidUrl(url.trim().to_string())),
    }
}

fn valid_text(text: &str) -> Result<String, CurationError> {
    let text = collapse_whitespace(text);
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    match text.chars().count() {
        0 => Err(CurationError::EmptyText),
        length if length > MAX_NOTICE_CHARS => Err(CurationError::LongText),
        _ => Ok(text),
    }
}

fn valid_link(link: &str) -> Result<String, CurationError> {
    let link = link.trim();
    let is_web = link.starts_with("http://") || link.starts_with("https://");
    let is_plain = !link.contains(|c: char| c.is_control() || c.is_whitespace());
    if is_web && is_plain && PageUrl::parse(link).is_ok() {
        Ok(link.to_string())
    } else {
        Err(CurationError::InvalidLink(link.to_string()))
    }
}

/// All entries, in the order of their creation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurationRecords {
    /// Id of the last entry created. Ids are never used again.
    last_id: u64,
    entries: Vec<CurationEntry>,
}

/// A change of an entry: the new rule, its expiry, and the operator.
#[derive(Clone, Debug)]
pub struct CurationChange {
    pub rule: CurationRule,
    pub until: Option<Timestamp>,
    pub by: String,
    pub at: Timestamp,
}

impl CurationRecords {
    /// Reads the content of the file. The error describes the defect.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let records: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if records.entries.len() > MAX_ENTRIES {
            return Err(format!("more than {MAX_ENTRIES} entries"));
        }
        let mut ids = std::collections::HashSet::new();
        for entry in &records.entries {
            let rule = entry.rule.clone().validated();
            rule.map_err(|error| format!("entry {}: {error}", entry.id))?;
            if entry.id > records.last_id || !ids.insert(entry.id) {
                return Err(format!("entry {}: the id is not unique", entry.id));
            }
        }
        Ok(records)
    }

    /// Returns the entries.
    pub fn entries(&self) -> &[CurationEntry] {
        &self.entries
    }

    /// Finds an entry by its id.
    pub fn get(&self, id: u64) -> Option<&CurationEntry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// Finds the entry about the same query and page.
    pub fn find(&self, rule: &CurationRule) -> Option<&CurationEntry> {
        self.entries.iter().find(|entry| entry.rule.has_same_subject(rule))
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// Fails if the rule is invalid, exists already, or if there are too many entries.
    pub fn add(&mut self, change: CurationChange) -> Result<CurationEntry, CurationError> {
        let change = change.validated()?;
        if self.find(&change.rule).is_some() {
            return Err(CurationError::Exists);
        }
        self.check_room(&change.rule, None)?;
        if self.entries.len() >= MAX_ENTRIES {
            return Err(CurationError::Full);
        }
        self.last_id += 1;
        let CurationChange { rule, until, by, at } = change;
        let entry = CurationEntry { id: self.last_id, version: 1, rule, until, by, at };
        self.entries.push(entry.clone());
        Ok(entry)
    }

    /// Changes an entry whose version is still `version`.
    ///
    /// # Errors
    /// Returns [`CurationError::Conflict`] if the entry has another version.
    pub fn update(
        &mut self,
        id: u64,
        version: u64,
        change: CurationChange,
    ) -> Result<CurationEntry, CurationError> {
        let change = change.validated()?;
        let current = self.get(id).ok_or(CurationError::Missing)?;
        if current.version != version {
            return Err(CurationError::Conflict(Box::new(current.clone())));
        }
        if self.find(&change.rule).is_some_and(|other| other.id != id) {
            return Err(CurationError::Exists);
        }
        self.check_room(&change.rule, Some(id))?;
        let entry = self.entries.iter_mut().find(|entry| entry.id == id).ok_or(CurationError::Missing)?;
        let CurationChange { rule, until, by, at } = change;
        *entry = CurationEntry { id, version: version.saturating_add(1), rule, until, by, at };
        Ok(entry.clone())
    }

    /// Adds an entry, or changes the entry about the same query and page.
    pub fn put(&mut self, change: CurationChange) -> Result<CurationEntry, CurationError> {
        let rule = change.rule.clone().validated()?;
        match self.find(&rule).map(|entry| (entry.id, entry.version)) {
            Some((id, version)) => self.update(id, version, change),
            None => self.add(change),
        }
    }

    /// Removes an entry whose version is still `version`.
    ///
    /// # Errors
    /// Returns [`CurationError::Conflict`] if the entry has another version.
    pub fn remove(&mut self, id: u64, version: u64) -> Result<CurationEntry, CurationError> {
        let current = self.get(id).ok_or(CurationError::Missing)?.clone();
        if current.version != version {
            return Err(CurationError::Conflict(Box::new(current)));
        }
        self.entries.retain(|entry| entry.id != id);
        Ok(current)
    }

    /// Checks that a query has room for one more pinned result.
    fn check_room(&self, rule: &CurationRule, except: Option<u64>) -> Result<(), CurationError> {
        let CurationRule::Pin { query, .. } = rule else { return Ok(()) };
        let key = query_key(query);
        let others = self.entries.iter().filter(|entry| Some(entry.id) != except);
        let pins = others.filter(
            |entry| matches!(&entry.rule, CurationRule::Pin { query, .. } if query_key(query) == key),
        );
        if pins.count() >= MAX_PINS { Err(CurationError::TooManyPins) } else { Ok(()) }
    }
}

impl CurationChange {
    fn validated(self) -> Result<Self, CurationError> {
        let by = self.by.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect();
        Ok(Self { rule: self.rule.validated()?, by, ..self })
    }
}

/// Times in the file, such as `2026-01-31T12:00:00Z`.
mod iso {
    use pharos_core::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&time.to_precise())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(from)?;
        Timestamp::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a time")))
    }
}

/// Optional times in the file.
mod iso_option {
    use pharos_core::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(time: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => super::iso::serialize(time, to),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
        let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let time = Timestamp::parse(&text);
        time.map(Some).ok_or_else(|| D::Error::custom(format!("`{text}` is not a time")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pin(query: &str, url: &str) -> CurationRule {
        CurationRule::Pin { query: query.into(), url: url.into(), place: 1 }
    }

    fn change(rule: CurationRule) -> CurationChange {
        CurationChange { rule, until: None, by: "Keeper".into(), at: Timestamp::EPOCH }
    }

    #[test]
    fn one_entry_for_each_query_and_page() {
        let mut records = CurationRecords::default();
        let first = records.add(change(pin(" 灯塔  Lamp ", "HTTP://a.example"))).unwrap();
        assert_eq!((first.id, first.version), (1, 1));
        assert_eq!(first.rule, pin("灯塔 Lamp", "http://a.example/"));
        let again = records.add(change(pin("灯塔 ＬＡＭＰ", "http://a.example/"))).unwrap_err();
        assert!(matches!(again, CurationError::Exists), "case and width make no difference");
        let put = records.put(change(pin("灯塔 lamp", "http://a.example/"))).unwrap();
        assert_eq!((put.id, put.version, records.entries().len()), (1, 2, 1));
        records.add(change(CurationRule::Hide { query: None, url: "http://a.example/".into() })).unwrap();
        records
            .add(change(CurationRule::Hide { query: Some("lamp".into()), url: "http://a.example/".into() }))
            .unwrap();
        assert_eq!(records.entries().len(), 3);
        let text = serde_json::to_vec(&records).unwrap();
        assert_eq!(CurationRecords::parse(&text).unwrap(), records);
    }

    #[test]
    fn the_second_of_two_changes_is_a_conflict() {
        let mut records = CurationRecords::default();
        let entry = records.add(change(pin("a", "http://a.example/"))).unwrap();
        records.update(entry.id, 1, change(pin("b", "http://a.example/"))).unwrap();
        let conflict = records.update(entry.id, 1, change(pin("c", "http://a.example/"))).unwrap_err();
        let CurationError::Conflict(current) = conflict else { panic!("{conflict}") };
        assert_eq!((current.version, current.rule.query()), (2, Some("b")));
        assert!(matches!(records.remove(entry.id, 1), Err(CurationError::Conflict(_))));
        records.remove(entry.id, 2).unwrap();
        assert!(matches!(records.remove(entry.id, 2), Err(CurationError::Missing)));
        let next = records.add(change(pin("a", "http://a.example/"))).unwrap();
        assert_eq!(next.id, 2, "ids are never used again");
    }

    #[test]
    fn entries_are_bounded() {
        let mut records = CurationRecords::default();
        for nth in 0..MAX_PINS {
            records.add(change(pin("lamp", &format!("http://a.example/{nth}")))).unwrap();
        }
        let more = records.add(change(pin("Lamp", "http://a.example/more"))).unwrap_err();
        assert!(matches!(more, CurationError::TooManyPins));
        for nth in records.entries().len()..MAX_ENTRIES {
            let url = format!("http://b.example/{nth}");
            records.add(change(CurationRule::Hide { query: None, url })).unwrap();
        }
        let hide = CurationRule::Hide { query: None, url: "http://b.example/more".into() };
        assert!(matches!(records.add(change(hide)), Err(CurationError::Full)));
    }

    #[test]
    fn invalid_fields_are_named() {
        let notice = |text: &str, link: &str| CurationRule::Notice {
            query: "a".into(),
            text: text.into(),
            link: Some(link.into()),
        };
        let error = |rule: CurationRule| rule.validated().unwrap_err().to_string();
        assert!(error(pin(" ", "http://a.example/")).contains("query is empty"));
        assert!(error(pin(&"x".repeat(201), "http://a.example/")).contains("200 characters"));
        assert!(error(pin("a", "javascript:alert(1)")).contains("`javascript:alert(1)` is not the URL"));
        let place = CurationRule::Pin { query: "a".into(), url: "http://a.example/".into(), place: 11 };
        assert!(error(place).contains("1 to 10"));
        assert!(error(notice(" \n", "")).contains("empty"));
        assert!(error(notice(&"x".repeat(1_001), "")).contains("1000 characters"));
        for link in ["javascript:alert(1)", "//a.example/", "http://a b/", "data:text/html,x"] {
            assert!(error(notice("text", link)).contains("not a link"), "{link}");
        }
        let good = notice("Closed\non Mondays", " https://a.example/#times ").validated().unwrap();
        assert_eq!(
            good,
            CurationRule::Notice {
                query: "a".into(),
                text: "Closed on Mondays".into(),
                link: Some("https://a.example/#times".into()),
            }
        );
    }

    #[test]
    fn an_end_is_a_day_or_a_time() {
        let at = |text: &str| parse_until(text).map(|time| time.to_string());
        assert_eq!(at(" 2026-01-31").as_deref(), Some("2026-01-31T00:00:00Z"));
        assert_eq!(at("2026-01-31T12:30").as_deref(), Some("2026-01-31T12:30:00Z"));
        assert_eq!(at("2026-01-31T12:30:05+01:00").as_deref(), Some("2026-01-31T11:30:05Z"));
        assert_eq!((at(""), at("tomorrow"), at("2026-02-30")), (None, None, None));
    }

    #[test]
    fn damaged_files_are_errors() {
        for (text, why) in [
            ("", "EOF"),
            ("{}", "missing field"),
            (
                "{\"last_id\":1,\"entries\":[{\"id\":2,\"version\":1,\"kind\":\"hide\",\"url\":\"http://a.example/\",\"by\":\"x\",\"at\":\"2026-01-31T12:00:00Z\"}]}",
                "not unique",
            ),
            (
                "{\"last_id\":1,\"entries\":[{\"id\":1,\"version\":1,\"kind\":\"hide\",\"url\":\"ftp://a\",\"by\":\"x\",\"at\":\"2026-01-31T12:00:00Z\"}]}",
                "not the URL",
            ),
            (
                "{\"last_id\":1,\"entries\":[{\"id\":1,\"version\":1,\"kind\":\"hide\",\"url\":\"http://a/\",\"by\":\"x\",\"at\":\"today\"}]}",
                "not a time",
            ),
        ] {
            let error = CurationRecords::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_content_is_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,80}") {
            let _ = CurationRecords::parse(&bytes);
            let _ = pin(&text, &text).validated();
            let notice = CurationRule::Notice { query: text.clone(), text: text.clone(), link: Some(text) };
            if let Ok(valid) = notice.validated() {
                prop_assert_eq!(valid.clone().validated().unwrap(), valid);
            }
        }
    }
}
