//! Value types of settings: numbers, sizes, durations, lists and enumerations.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::de::DeValue;

/// A type of setting that is parsed from TOML or from text (environment, flags) and written as TOML.
pub trait SettingValue: Sized {
    /// Returns a description of valid values for error messages: "a whole number".
    fn expected() -> String;
    /// Parses a value from text.
    fn from_text(text: &str) -> Option<Self>;
    /// Converts a TOML value.
    fn from_toml(value: &DeValue<'_>) -> Option<Self>;
    /// Formats the value as TOML.
    fn to_toml(&self) -> String;
    /// Returns all valid values if they are few and have names.
    fn choices() -> &'static [&'static str] {
        &[]
    }
}

/// Converts a TOML string with `from_text`.
fn from_string<T: SettingValue>(value: &DeValue<'_>) -> Option<T> {
    match value {
        DeValue::String(text) => T::from_text(text),
        _ => None,
    }
}

impl SettingValue for String {
    fn expected() -> String {
        "a string in quotes".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_string())
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        from_string(value)
    }
    fn to_toml(&self) -> String {
        toml::Value::from(self.as_str()).to_string()
    }
}

impl SettingValue for bool {
    fn expected() -> String {
        "true or false".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Boolean(b) => Some(*b),
            _ => None,
        }
    }
    fn to_toml(&self) -> String {
        self.to_string()
    }
    fn choices() -> &'static [&'static str] {
        &["true", "false"]
    }
}

impl SettingValue for f64 {
    fn expected() -> String {
        "a number, 0 or more".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Float(number) => Self::from_text(number.as_str()),
            DeValue::Integer(number) => Self::from_text(number.as_str()),
            _ => None,
        }
    }
    fn to_toml(&self) -> String {
        format!("{self:?}")
    }
}

macro_rules! whole_number {
    ($($kind:ty),+) => { $(
        impl SettingValue for $kind {
            fn expected() -> String {
                "a whole number".into()
            }
            fn from_text(text: &str) -> Option<Self> {
                text.replace('_', "").parse().ok()
            }
            fn from_toml(value: &DeValue<'_>) -> Option<Self> {
                match value {
                    DeValue::Integer(i) => <$kind>::from_str_radix(i.as_str(), i.radix()).ok(),
                    _ => None,
                }
            }
            fn to_toml(&self) -> String {
                self.to_string()
            }
        }
    )+ };
}
whole_number!(u32, u64, usize);

impl SettingValue for Vec<String> {
    fn expected() -> String {
        "a list of strings, [\"…\", \"…\"]; outside the file also separated by commas".into()
    }
    /// Reads a JSON list or a list separated by commas. An IPv6 address may begin with a bracket, too.
    fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.starts_with('[') && text.ends_with(']') {
            match serde_json::from_str(text) {
                Ok(list) => return Some(list),
                Err(_) if text.starts_with("[\"") => return None,
                Err(_) => {}
            }
        }
        Some(text.split(',').map(str::trim).filter(|s| !s.is_empty()).map(String::from).collect())
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Array(items) => items.iter().map(|item| String::from_toml(item.get_ref())).collect(),
            _ => None,
        }
    }
    fn to_toml(&self) -> String {
        format!("[{}]", self.iter().map(SettingValue::to_toml).collect::<Vec<_>>().join(", "))
    }
}

impl SettingValue for Vec<u32> {
    fn expected() -> String {
        "a list of whole numbers, [10, 1]".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let list = text.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(text);
        list.split([',', ':']).map(|number| u32::from_text(number.trim())).collect()
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Array(items) => items.iter().map(|item| u32::from_toml(item.get_ref())).collect(),
            _ => None,
        }
    }
    fn to_toml(&self) -> String {
        format!("[{}]", self.iter().map(SettingValue::to_toml).collect::<Vec<_>>().join(", "))
    }
}

/// Splits `250ms` into number and unit.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, text[digits..].trim()))
}

impl SettingValue for Duration {
    fn expected() -> String {
        "a duration such as \"500ms\", \"10s\", \"5m\", \"2h\" or \"1d\"".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        let (number, unit) = number_and_unit(text)?;
        let millis: u64 = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "" if number == 0 => 1,
            _ => return None,
        };
        Some(Duration::from_millis(number.checked_mul(millis)?))
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        from_string(value)
    }
    fn to_toml(&self) -> String {
        let millis = self.as_millis();
        let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
        match units.iter().find(|(size, _)| millis > 0 && millis.is_multiple_of(*size)) {
            Some((size, unit)) => format!("\"{}{unit}\"", millis / size),
            None => format!("\"{millis}ms\""),
        }
    }
}

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

impl ByteSize {
    /// Returns the size as an in-memory length, saturating at `usize::MAX`.
    pub fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// Formats as `512MB`, with units in powers of 1,024.
impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(40, "TB"), (30, "GB"), (20, "MB"), (10, "KB")];
        match units.iter().find(|(bits, _)| self.0 > 0 && self.0.trailing_zeros() >= *bits) {
            Some((bits, unit)) => write!(f, "{}{unit}", self.0 >> bits),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl SettingValue for ByteSize {
    fn expected() -> String {
        "a size such as \"512KB\", \"5MB\" or \"1GB\"".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        let (number, unit) = number_and_unit(text)?;
        let bits = match unit.to_ascii_uppercase().as_str() {
            "" | "B" => 0,
            "K" | "KB" => 10,
            "M" | "MB" => 20,
            "G" | "GB" => 30,
            "T" | "TB" => 40,
            _ => return None,
        };
        number.checked_mul(1 << bits).map(ByteSize)
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        from_string(value)
    }
    fn to_toml(&self) -> String {
        format!("\"{self}\"")
    }
}

/// Declares a setting with a fixed set of named values.
macro_rules! choice {
    ($(#[doc = $doc:literal])+ $Name:ident, $expected:literal { $( $(#[doc = $variant_doc:literal])+ $Variant:ident = $word:literal, )+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $Name { $( $(#[doc = $variant_doc])+ #[serde(rename = $word)] $Variant, )+ }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $( Self::$Variant => $word, )+ })
            }
        }

        impl SettingValue for $Name {
            fn expected() -> String {
                $expected.into()
            }
            fn from_text(text: &str) -> Option<Self> {
                match text { $( $word => Some(Self::$Variant), )+ _ => None }
            }
            fn from_toml(value: &DeValue<'_>) -> Option<Self> {
                from_string(value)
            }
            fn to_toml(&self) -> String {
                format!("\"{self}\"")
            }
            fn choices() -> &'static [&'static str] {
                &[$( $word, )+]
            }
        }
    };
}

choice! {
    /// Scope of a crawl relative to its seeds.
    LinkScope, "host, domain or any" {
        /// Hosts of the seeds only.
        Host = "host",
        /// Hosts in the registrable domains of the seeds.
        Domain = "domain",
        /// All hosts.
        Any = "any",
    }
}

choice! {
    /// Crawl order (抓取策略).
    StrategyName, "breadth-first, depth-first, importance, alternate, hot-queue, site-first or worm" {
        /// Nearest to the seeds first.
        BreadthFirst = "breadth-first",
        /// Deepest first, down to the depth limit.
        DepthFirst = "depth-first",
        /// Most important first, with home pages before all others.
        Importance = "importance",
        /// A number of pages by weight, then a number at random (TSE).
        Alternate = "alternate",
        /// Several queues, served in a fixed ratio.
        HotQueue = "hot-queue",
        /// One page of every new site first, then the sites in turn.
        SiteFirst = "site-first",
        /// Level by level, without refetching (World Wide Web Worm, McBryan 1994).
        Worm = "worm",
    }
}

impl StrategyName {
    /// Returns `true` if the strategy orders pages by their weight.
    pub fn uses_weights(self) -> bool {
        matches!(self, Self::Importance | Self::Alternate | Self::HotQueue)
    }
}

choice! {
    /// Encryption of the connection to a mail server.
    SmtpSecurity, "starttls, tls or none" {
        /// Plain at first, then TLS (RFC 3207). A server without it is refused.
        StartTls = "starttls",
        /// TLS from the start (RFC 8314).
        Tls = "tls",
        /// No encryption, and no password.
        Plain = "none",
    }
}

choice! {
    /// Refresh policy (网页重访策略): the rule for the interval between two visits of a page.
    RefreshPolicyName, "uniform, proportional, paper, freshness, harmonic or lag" {
        /// Fixed intervals by class of page.
        Uniform = "uniform",
        /// Visits in proportion to the change rate.
        Proportional = "proportional",
        /// Intervals that the share of new links shortens and lengthens, with inserted visits.
        Paper = "paper",
        /// Maximum share of time in which the stored copies are current.
        Freshness = "freshness",
        /// Minimum harmonic penalty of missed changes (LambdaCrawl).
        Harmonic = "harmonic",
        /// Minimum delay between a change and the visit that collects it.
        Lag = "lag",
    }
}

impl RefreshPolicyName {
    /// Returns `true` if the policy considers the weight of a page.
    pub fn uses_weights(self) -> bool {
        matches!(self, Self::Freshness | Self::Harmonic | Self::Lag)
    }
}

choice! {
    /// Place of an additional visit between two regular ones.
    InsertedVisit, "midpoint or golden-section" {
        /// The middle of the interval.
        Midpoint = "midpoint",
        /// After 0.618 of the interval.
        GoldenSection = "golden-section",
    }
}

choice! {
    /// Starting point of a resumed crawl.
    RestartPolicy, "known or seeds" {
        /// All known pages that were never requested.
        Known = "known",
        /// The seeds, and pages discovered from now on.
        Seeds = "seeds",
    }
}

choice! {
    /// Treatment of known pages in a crawl (批量搜集, 增量搜集).
    CrawlMode, "incremental or batch" {
        /// Known pages are fetched again when they are due.
        Incremental = "incremental",
        /// Known pages are fetched again when a seed, link or redirect leads to them.
        Batch = "batch",
    }
}

choice! {
    /// Politeness profile of a host.
    PolitenessProfile, "gentle, normal or own-site" {
        /// The delays of the literature: `crawl.gentle`.
        Gentle = "gentle",
        /// The default delays: `crawl.normal`.
        Normal = "normal",
        /// No delays, only for servers of the operator: `crawl.own_site`.
        OwnSite = "own-site",
    }
}

choice! {
    /// Treatment of URLs submitted by visitors.
    SubmissionPolicy, "off, propose or add" {
        /// Submissions are rejected.
        Off = "off",
        /// An operator decides.
        Propose = "propose",
        /// Submitted URLs are fetched.
        Add = "add",
    }
}

choice! {
    /// Term scoring model.
    RankModel, "bm25, basic-weight, binary, tf or tfidf" {
        /// Okapi BM25.
        Bm25 = "bm25",
        /// Term frequency weighted by HTML tags, rarity and page length.
        BasicWeight = "basic-weight",
        /// Cosine of binary vectors.
        Binary = "binary",
        /// Cosine of term-frequency vectors.
        Tf = "tf",
        /// Cosine of TF-IDF vectors.
        TfIdf = "tfidf",
    }
}

choice! {
    /// Combination of the features of a score.
    ScoreCombination, "sum or product" {
        /// Weighted sum: no feature contributes more than its weight.
        Sum = "sum",
        /// Product: every feature multiplies the others.
        Product = "product",
    }
}

choice! {
    /// Compression of library records.
    LibraryFormat, "gzip or zstd" {
        /// `.warc.gz`.
        Gzip = "gzip",
        /// `.warc.zst`.
        Zstd = "zstd",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_round_trip() {
        for text in ["0B", "7B", "512KB", "5MB", "1GB", "3TB"] {
            assert_eq!(ByteSize::from_text(text).unwrap().to_string(), text);
        }
        for text in ["\"250ms\"", "\"10s\"", "\"5m\"", "\"2h\"", "\"1d\""] {
            assert_eq!(Duration::from_text(text.trim_matches('"')).unwrap().to_toml(), text);
        }
        assert_eq!(Vec::<u32>::from_text("10:1"), Some(vec![10, 1]));
        assert_eq!(Vec::<u32>::from_text("10, 3, 1"), Some(vec![10, 3, 1]));
        assert_eq!(Vec::<u32>::from_text("10:"), None);
        assert_eq!(ByteSize::from_text("99999999999999999999TB"), None);
        assert_eq!(ByteSize::from_text("99999999999TB"), None);
        assert_eq!(Duration::from_text("10"), None, "the unit is required");
    }
}
