//! The form of a curation entry, as typed and as an entry.

use pharos_core::{Clock as _, SystemClock};
use pharos_query::curation::records::{
    CurationChange, CurationEntry, CurationError, CurationRule, MAX_NOTICE_CHARS, MAX_PINS, parse_until,
};

use super::messages::CurationMessages;
use crate::admin::form::FormFields;
use crate::messages::{Lang, fill};
use crate::server::visitor::Visitor;

/// The fields of an entry as typed.
#[derive(Clone, Debug, Default)]
pub(super) struct EntryForm {
    /// 0 for a new entry.
    pub(super) id: u64,
    /// Version that the operator has seen.
    pub(super) version: u64,
    pub(super) kind: String,
    pub(super) query: String,
    pub(super) url: String,
    pub(super) place: String,
    pub(super) text: String,
    pub(super) link: String,
    pub(super) until: String,
}

impl EntryForm {
    /// Returns the fields of a submitted form.
    pub(super) fn from_fields(form: &FormFields) -> Self {
        let number = |name| form.text(name).parse().unwrap_or_default();
        let text = |name| form.text(name).to_string();
        Self {
            id: number("id"),
            version: number("version"),
            kind: text("kind"),
            query: text("query"),
            url: text("url"),
            place: text("place"),
            text: text("text"),
            link: text("link"),
            until: text("until"),
        }
    }

    /// Returns a form for a new entry, with fields given in a link.
    pub(super) fn from_link(visitor: &Visitor) -> Self {
        let text = |name| visitor.param(name).unwrap_or_default().chars().take(2_048).collect::<String>();
        let kind = text("kind");
        Self {
            kind: if kind.is_empty() { "pin".into() } else { kind },
            query: text("q"),
            url: text("url"),
            place: "1".into(),
            ..Self::default()
        }
    }

    /// Returns the form that changes an entry.
    pub(super) fn from_entry(entry: &CurationEntry) -> Self {
        let mut form = Self {
            id: entry.id,
            version: entry.version,
            kind: entry.rule.kind().into(),
            query: entry.rule.query().unwrap_or_default().into(),
            place: "1".into(),
            until: entry.until.map(|until| until.to_string()[..16].to_string()).unwrap_or_default(),
            ..Self::default()
        };
        match &entry.rule {
            CurationRule::Pin { url, place, .. } => (form.url, form.place) = (url.clone(), place.to_string()),
            CurationRule::Hide { url, .. } => form.url.clone_from(url),
            CurationRule::Notice { text, link, .. } => {
                (form.text, form.link) = (text.clone(), link.clone().unwrap_or_default());
            }
        }
        form
    }

    /// Returns the entry, or a message that names the invalid field.
    pub(super) fn to_change(&self, by: &str, lang: Lang) -> Result<CurationChange, String> {
        let m = CurationMessages::for_lang(lang);
        let until = match self.until.trim() {
            "" => None,
            until => Some(parse_until(until).ok_or(m.wrong_until)?),
        };
        let (query, url) = (self.query.clone(), self.url.clone());
        let rule = match self.kind.as_str() {
            "pin" => CurationRule::Pin { query, url, place: self.place.trim().parse().unwrap_or_default() },
            "hide" => CurationRule::Hide { query: Some(query), url },
            "notice" => {
                CurationRule::Notice { query, text: self.text.clone(), link: Some(self.link.clone()) }
            }
            _ => return Err(m.wrong_kind.into()),
        };
        let rule = rule.validated().map_err(|error| describe_error(&error, m, lang))?;
        Ok(CurationChange { rule, until, by: by.to_string(), at: SystemClock.now() })
    }
}

/// Describes an error in the language of the operator.
pub(super) fn describe_error(error: &CurationError, m: &CurationMessages, lang: Lang) -> String {
    match error {
        CurationError::EmptyQuery => m.empty_query.into(),
        CurationError::LongQuery => m.long_query.into(),
        CurationError::InvalidUrl(url) => fill(m.invalid_url, &[url]),
        CurationError::InvalidPlace => fill(m.invalid_place, &[&MAX_PINS.to_string()]),
        CurationError::EmptyText => m.empty_text.into(),
        CurationError::LongText => fill(m.long_text, &[&MAX_NOTICE_CHARS.to_string()]),
        CurationError::InvalidLink(link) => fill(m.invalid_link, &[link]),
        CurationError::Full => m.full.into(),
        CurationError::TooManyPins => fill(m.too_many_pins, &[&MAX_PINS.to_string()]),
        CurationError::Exists => m.exists.into(),
        CurationError::Missing => m.missing.into(),
        CurationError::Conflict(current) => fill(m.conflict, &[&current.by, &lang.date_time(current.at)]),
        CurationError::FileConflict => m.file_conflict.into(),
        CurationError::Io { .. } | CurationError::Damaged { .. } | CurationError::LongFile(_) => {
            fill(m.not_saved, &[&error.to_string()])
        }
    }
}
