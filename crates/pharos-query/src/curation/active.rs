//! The entries in force, compiled for fast lookup.

use std::collections::HashMap;

use pharos_core::{PageId, Timestamp};
use pharos_text::Analyser;
use serde::Serialize;
use utoipa::ToSchema;

use super::query_key;
use super::records::{CurationEntry, CurationRecords, CurationRule};
use super::stop_words::StopWords;
use super::synonyms::SynonymSets;
use crate::language::expression::Expression;

/// The operator and the time of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct CuratedBy {
    /// Number of the entry in `pharos curate list`.
    pub entry: u64,
    /// Operator who made the decision.
    pub by: String,
    /// Time of the decision: `2026-01-31T12:00:00Z`.
    pub at: String,
    /// Time at which it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub until: Option<String>,
}

impl CuratedBy {
    fn new(entry: &CurationEntry) -> Self {
        let until = entry.until.map(|until| until.to_string());
        Self { entry: entry.id, by: entry.by.clone(), at: entry.at.to_string(), until }
    }
}

/// A text that an operator shows above the results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResultNotice {
    /// The text. It is plain text, not HTML.
    pub text: String,
    /// URL of a page with more information.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub link: Option<String>,
}

/// A page that an operator shows or hides.
#[derive(Clone, Debug)]
pub(crate) struct CuratedPage {
    pub(crate) page: PageId,
    pub(crate) by: CuratedBy,
}

/// The entries of one query.
#[derive(Clone, Debug, Default)]
struct QueryEntries {
    /// In the order in which they are shown.
    pins: Vec<CuratedPage>,
    hidden: Vec<CuratedPage>,
    notice: Option<ResultNotice>,
}

/// All entries in force at a time, with synonyms and stop words.
#[derive(Default)]
pub(crate) struct ActiveCuration {
    queries: HashMap<String, QueryEntries>,
    hidden_everywhere: Vec<CuratedPage>,
    pub(super) synonyms: std::sync::Arc<SynonymSets>,
    pub(super) stop_words: std::sync::Arc<StopWords>,
    /// Time at which the next entry ends.
    valid_until: Option<Timestamp>,
}

/// The entries that apply to a query.
pub(crate) struct QueryCuration<'a> {
    pub(crate) pins: &'a [CuratedPage],
    pub(crate) hidden: Vec<&'a CuratedPage>,
    pub(crate) notice: Option<&'a ResultNotice>,
}

impl ActiveCuration {
    pub(crate) fn compile(records: &CurationRecords, now: Timestamp) -> Self {
        let mut active = Self::default();
        let mut places: HashMap<u64, u8> = HashMap::new();
        let mut entries: Vec<&CurationEntry> =
            records.entries().iter().filter(|entry| entry.is_active(now)).collect();
        active.valid_until = entries.iter().filter_map(|entry| entry.until).min();
        for entry in &entries {
            if let CurationRule::Pin { place, .. } = &entry.rule {
                places.insert(entry.id, *place);
            }
        }
        entries.sort_by_key(|entry| (places.get(&entry.id).copied().unwrap_or_default(), entry.id));
        for entry in entries {
            active.add(entry);
        }
        active
    }

    fn add(&mut self, entry: &CurationEntry) {
        let curated = || {
            let page = entry.rule.page()?;
            Some(CuratedPage { page: page.id(), by: CuratedBy::new(entry) })
        };
        let Some(query) = entry.rule.query().map(query_key) else {
            self.hidden_everywhere.extend(curated());
            return;
        };
        let entries = self.queries.entry(query).or_default();
        match &entry.rule {
            CurationRule::Pin { .. } => entries.pins.extend(curated()),
            CurationRule::Hide { .. } => entries.hidden.extend(curated()),
            CurationRule::Notice { text, link, .. } => {
                entries.notice = Some(ResultNotice { text: text.clone(), link: link.clone() });
            }
        }
    }

    /// Returns `true` if no entry has ended since it was compiled.
    pub(super) fn is_valid_at(&self, now: Timestamp) -> bool {
        self.valid_until.is_none_or(|until| now < until)
    }

    /// Returns the entries for a query.
    pub(crate) fn for_query(&self, text: &str) -> QueryCuration<'_> {
        let own = if self.queries.is_empty() { None } else { self.queries.get(&query_key(text)) };
        let own_hidden = own.map(|own| own.hidden.as_slice()).unwrap_or_default();
        QueryCuration {
            pins: own.map(|own| own.pins.as_slice()).unwrap_or_default(),
            hidden: self.hidden_everywhere.iter().chain(own_hidden).collect(),
            notice: own.and_then(|own| own.notice.as_ref()),
        }
    }

    /// Returns who hid a page from the results of all queries.
    pub(crate) fn hidden_by(&self, page: PageId) -> Option<&CuratedBy> {
        self.hidden_everywhere.iter().find(|hidden| hidden.page == page).map(|hidden| &hidden.by)
    }

    /// Marks additional stop words and adds synonyms to an expression.
    pub(crate) fn rewrite(&self, expression: &mut Expression, analyser: &Analyser) {
        if !self.stop_words.is_empty() {
            expression.mark_stop_words(&self.stop_words);
        }
        if !self.synonyms.is_empty() {
            expression.add_synonyms(&self.synonyms, analyser);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curation::records::CurationChange;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn entries_are_found_by_query_until_they_end() {
        let mut records = CurationRecords::default();
        let mut add = |rule, until: Option<i64>| {
            records
                .add(CurationChange { rule, until: until.map(at), by: "Keeper".into(), at: at(0) })
                .unwrap();
        };
        let pin = |url: &str, place| CurationRule::Pin { query: "Red  Lamp".into(), url: url.into(), place };
        add(pin("http://a.example/2", 2), None);
        add(pin("http://a.example/1", 1), Some(50));
        add(CurationRule::Hide { query: None, url: "http://a.example/3".into() }, None);
        add(CurationRule::Hide { query: Some("red lamp".into()), url: "http://a.example/4".into() }, None);
        let text = "Closed".to_string();
        add(CurationRule::Notice { query: "red lamp".into(), text, link: None }, Some(90));
        let pins = |active: &ActiveCuration, query: &str| -> Vec<u64> {
            active.for_query(query).pins.iter().map(|pin| pin.by.entry).collect()
        };
        let active = ActiveCuration::compile(&records, at(10));
        assert_eq!(pins(&active, " RED lamp"), [2, 1]);
        assert_eq!(active.for_query("red lamp").hidden.len(), 2);
        assert_eq!(active.for_query("other").hidden.len(), 1);
        assert!(pins(&active, "lamp red").is_empty() && active.for_query("red lamp").notice.is_some());
        assert!(active.is_valid_at(at(49)) && !active.is_valid_at(at(50)));
        let later = ActiveCuration::compile(&records, at(50));
        assert_eq!(pins(&later, "red lamp"), [1]);
        assert!(!later.is_valid_at(at(90)));
        assert!(ActiveCuration::compile(&records, at(90)).for_query("red lamp").notice.is_none());
    }
}
