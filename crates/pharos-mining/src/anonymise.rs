//! Anonymisation (匿名化) of logs that are handed on, measures of their anonymity, and removal of a visit
//! (《走进搜索引擎》§6.5.2).
//!
//! ```text
//! records ─▶ first pass: visits by query ─▶ second pass: drop, scrub, hash, generalise ─▶ records
//! ```
//!
//! A hash of queries alone does not help against an attacker with a similar log, who compares frequencies. Keyed hashes
//! and the removal of rare queries limit this; k-anonymity ([`k_anonymity`]) measures the rest (Sweeney 2002).

pub mod k_anonymity;
pub mod purge;
mod sensitive;
pub mod ubi;

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;

use data_encoding::HEXLOWER;
use foldhash::fast::{FixedState, RandomState};
use pharos_core::Timestamp;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::Serialize;

pub use self::sensitive::{SensitiveKind, SensitiveWords};
use crate::log::privacy::scrub;
use crate::log::records::{AnyRecord, LogRecord, QueryRecord};
use crate::search_log::query_key;

/// Bytes of a hash that are kept.
const HASH_BYTES: usize = 8;

/// Treatment of identifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdentifierRule {
    Keep,
    /// Replaces them by a keyed hash.
    #[default]
    Hash,
    Remove,
}

/// Treatment of records whose query contains sensitive words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SensitiveRule {
    Keep,
    /// Removes the words.
    #[default]
    Scrub,
    /// Drops the records.
    Drop,
}

/// Precision of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimePrecision {
    Exact,
    #[default]
    Hour,
    Day,
}

/// Switches of the anonymiser.
#[derive(Clone, Debug)]
pub struct AnonymiseRules {
    pub visits: IdentifierRule,
    /// Hashed queries can be counted but not read.
    pub hash_queries: bool,
    /// Drops queries asked by fewer visits.
    pub min_visits: u32,
    pub times: TimePrecision,
    /// Removes runs of this many digits; 0 removes none.
    pub digits: usize,
    pub sensitive: SensitiveRule,
    /// Kinds of sensitive words.
    pub words: SensitiveWords,
}

/// Result of anonymising a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnonymiseReport {
    pub read: u64,
    pub written: u64,
    /// Records of queries asked by too few visits.
    pub rare: u64,
    /// Records with sensitive words that were dropped.
    pub sensitive: u64,
    /// Texts from which words or digits were removed.
    pub scrubbed: u64,
}

/// Counts the visits of each query, after scrubbing: the first pass.
#[derive(Default)]
pub struct QueryVisits {
    visits: HashMap<u64, HashSet<u64, RandomState>, RandomState>,
    anonymous: HashMap<u64, u32, RandomState>,
}

impl QueryVisits {
    /// Adds a record.
    pub fn add(&mut self, record: &AnyRecord, rules: &AnonymiseRules) {
        let AnyRecord::Query(record) = record else { return };
        let Some(key) = query_key(&scrub_text(&record.query, rules).0) else { return };
        let key = hash(&key);
        if record.visit.is_empty() {
            // Without names, every query may be of the same visitor.
            self.anonymous.insert(key, 1);
        } else {
            let visits = self.visits.entry(key).or_default();
            // More than needed are not counted.
            if visits.len() < rules.min_visits.max(1) as usize {
                visits.insert(hash(&record.visit));
            }
        }
    }

    fn of(&self, query: &str) -> u32 {
        let Some(key) = query_key(query).map(|key| hash(&key)) else { return 0 };
        let named = self.visits.get(&key).map_or(0, |visits| visits.len() as u32);
        named.max(self.anonymous.get(&key).copied().unwrap_or(0))
    }
}

fn hash(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}

/// Anonymises records: the second pass. Queries must precede the impressions and clicks that refer to them.
pub struct Anonymiser<'v> {
    rules: AnonymiseRules,
    visits: &'v QueryVisits,
    key: hmac::Key,
    kept: HashSet<u64, RandomState>,
    pub report: AnonymiseReport,
}

impl<'v> Anonymiser<'v> {
    /// Creates an anonymiser. Logs anonymised with the same secret can be joined.
    pub fn new(rules: AnonymiseRules, visits: &'v QueryVisits, secret: &[u8]) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
        Self { rules, visits, key, kept: HashSet::default(), report: AnonymiseReport::default() }
    }

    /// Returns the anonymised record, or `None` if it is dropped.
    pub fn anonymise(&mut self, record: AnyRecord) -> Option<AnyRecord> {
        self.report.read += 1;
        let kept = match record {
            AnyRecord::Query(record) => self.query(record).map(AnyRecord::Query),
            AnyRecord::Impression(mut record) => self.is_kept(&record.id).then(|| {
                record.at = self.generalise(record.at);
                self.texts(&mut record);
                AnyRecord::Impression(record)
            }),
            AnyRecord::Click(mut record) => self.is_kept(&record.impression).then(|| {
                record.at = self.generalise(record.at);
                record.visit = self.identifier(&record.visit);
                self.texts(&mut record);
                AnyRecord::Click(record)
            }),
            AnyRecord::System(_) | AnyRecord::Access(_) => None,
        };
        self.report.written += u64::from(kept.is_some());
        kept
    }

    fn query(&mut self, mut record: QueryRecord) -> Option<QueryRecord> {
        if self.rules.sensitive == SensitiveRule::Drop && self.rules.words.matches(&record.query) {
            self.report.sensitive += 1;
            return None;
        }
        let visits = self.visits.of(&scrub_text(&record.query, &self.rules).0);
        if visits < self.rules.min_visits {
            self.report.rare += 1;
            return None;
        }
        self.kept.insert(hash(&record.id));
        record.at = self.generalise(record.at);
        record.visit = self.identifier(&record.visit);
        // Where a visit came from narrows down its author.
        record.referrer = String::new();
        record.entry = String::new();
        self.texts(&mut record);
        Some(record)
    }

    fn is_kept(&self, id: &str) -> bool {
        self.kept.contains(&hash(id))
    }

    fn texts<R: LogRecord>(&mut self, record: &mut R) {
        for text in record.user_texts() {
            let (scrubbed, is_changed) = scrub_text(text, &self.rules);
            self.report.scrubbed += u64::from(is_changed);
            *text = match self.rules.hash_queries && !scrubbed.is_empty() {
                // The normalised form, so that equal queries have equal hashes.
                true => keyed_hash(&self.key, &query_key(&scrubbed).unwrap_or_default()),
                false => scrubbed,
            };
        }
    }

    fn identifier(&self, visit: &str) -> String {
        match self.rules.visits {
            IdentifierRule::Keep => visit.to_string(),
            IdentifierRule::Hash if !visit.is_empty() => keyed_hash(&self.key, visit),
            IdentifierRule::Hash | IdentifierRule::Remove => String::new(),
        }
    }

    fn generalise(&self, at: Timestamp) -> Timestamp {
        let unit = match self.rules.times {
            TimePrecision::Exact => 1,
            TimePrecision::Hour => 3_600_000,
            TimePrecision::Day => 86_400_000,
        };
        Timestamp::from_millis(at.millis().saturating_sub(at.millis().rem_euclid(unit)))
    }
}

fn keyed_hash(key: &hmac::Key, text: &str) -> String {
    HEXLOWER.encode(&hmac::sign(key, text.as_bytes()).as_ref()[..HASH_BYTES])
}

/// Returns a new key for hashes, or `None` if the system provides no randomness.
pub fn random_secret() -> Option<Vec<u8>> {
    let mut secret = vec![0; 32];
    SystemRandom::new().fill(&mut secret).ok()?;
    Some(secret)
}

/// Removes digits and sensitive words as the rules say. Returns `true` if the text has changed.
fn scrub_text(text: &str, rules: &AnonymiseRules) -> (String, bool) {
    let scrubbed = scrub(text, rules.digits);
    let scrubbed = match rules.sensitive {
        SensitiveRule::Scrub => rules.words.remove(&scrubbed),
        SensitiveRule::Keep | SensitiveRule::Drop => scrubbed.into_owned(),
    };
    let is_changed = scrubbed != text;
    (scrubbed, is_changed)
}

#[cfg(test)]
mod tests;
