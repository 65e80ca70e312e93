//! The kinds of value a key can have.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::de::DeValue;

/// A kind of value: from TOML, from text (environment, flags), and back to TOML.
pub trait Setting: Sized {
    /// What the key takes, for messages: "a whole number".
    fn expected() -> String;
    /// From text.
    fn from_text(text: &str) -> Option<Self>;
    /// From a TOML value.
    fn from_toml(value: &DeValue<'_>) -> Option<Self>;
    /// As a TOML value.
    fn to_toml(&self) -> String;
}

/// A TOML string that `from_text` understands; what most kinds are made of.
fn from_string<T: Setting>(value: &DeValue<'_>) -> Option<T> {
    match value {
        DeValue::String(text) => T::from_text(text),
        _ => None,
    }
}

impl Setting for String {
    fn expected() -> String {
        "a text in quotes".into()
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

impl Setting for bool {
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
}

impl Setting for f64 {
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
        impl Setting for $kind {
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

impl Setting for Vec<String> {
    fn expected() -> String {
        "a list of texts, [\"…\", \"…\"]".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        Some(text.split(',').map(str::trim).filter(|s| !s.is_empty()).map(String::from).collect())
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Array(items) => items.iter().map(|item| String::from_toml(item.get_ref())).collect(),
            _ => None,
        }
    }
    fn to_toml(&self) -> String {
        format!("[{}]", self.iter().map(Setting::to_toml).collect::<Vec<_>>().join(", "))
    }
}

impl Setting for Vec<u32> {
    fn expected() -> String {
        "a list of whole numbers, [10, 1]".into()
    }
    fn from_text(text: &str) -> Option<Self> {
        text.split([',', ':']).map(|number| u32::from_text(number.trim())).collect()
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::Array(items) => items.iter().map(|item| u32::from_toml(item.get_ref())).collect(),
            _ => None,
        }
    }
    fn to_toml(&self) -> String {
        format!("[{}]", self.iter().map(Setting::to_toml).collect::<Vec<_>>().join(", "))
    }
}

/// Splits `250ms` into number and unit.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, text[digits..].trim()))
}

impl Setting for Duration {
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

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

impl Size {
    /// As the length of something in memory.
    pub fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// `512MB`, in powers of 1,024 as everybody means it.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(40, "TB"), (30, "GB"), (20, "MB"), (10, "KB")];
        match units.iter().find(|(bits, _)| self.0 > 0 && self.0.trailing_zeros() >= *bits) {
            Some((bits, unit)) => write!(f, "{}{unit}", self.0 >> bits),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl Setting for Size {
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
        number.checked_mul(1 << bits).map(Size)
    }
    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        from_string(value)
    }
    fn to_toml(&self) -> String {
        format!("\"{self}\"")
    }
}

/// Declares a setting that is one of a few words.
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

        impl Setting for $Name {
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
        }
    };
}

choice! {
    /// How far from the seeds links are followed.
    Scope, "host, domain or any" {
        /// Only hosts of the seeds.
        Host = "host",
        /// Hosts of the seeds' registrable domains.
        Domain = "domain",
        /// Everywhere.
        Any = "any",
    }
}

choice! {
    /// Which page is fetched next (抓取策略).
    StrategyName, "breadth-first, depth-first, importance, alternate, hot-queue, site-first or worm" {
        /// Nearest to the seeds first.
        BreadthFirst = "breadth-first",
        /// Deepest first, down to the depth limit.
        DepthFirst = "depth-first",
        /// The most important first, home pages before all.
        Importance = "importance",
        /// Some by weight, then some at random.
        Alternate = "alternate",
        /// Several queues by ratio.
        HotQueue = "hot-queue",
        /// A page of every new site first, then the sites in turn.
        SiteFirst = "site-first",
        /// Level by level, and nothing that was read before.
        Worm = "worm",
    }
}

choice! {
    /// Where a crawl goes on from.
    Restart, "known or seeds" {
        /// From every known page that was never asked for.
        Known = "known",
        /// From the seeds, and what is found from now on.
        Seeds = "seeds",
    }
}

choice! {
    /// What a crawl does with pages that are known (批量搜集, 增量搜集).
    Mode, "incremental or batch" {
        /// Leaves them until they are due.
        Incremental = "incremental",
        /// Fetches them again when something leads to them.
        Batch = "batch",
    }
}

choice! {
    /// How gently a host is treated.
    Politeness, "gentle, normal or own-site" {
        /// With the books' patience: `crawl.gentle`.
        Gentle = "gentle",
        /// With everyday manners: `crawl.normal`.
        Normal = "normal",
        /// Without waiting, only for servers that are your own: `crawl.own_site`.
        OwnSite = "own-site",
    }
}

choice! {
    /// What becomes of addresses that visitors submit.
    Submit, "off, propose or add" {
        /// Nobody may submit.
        Off = "off",
        /// An operator decides.
        Propose = "propose",
        /// They are fetched.
        Add = "add",
    }
}

choice! {
    /// How well the words of a query fit a page.
    RankModel, "bm25, basic-weight, binary, tf or tfidf" {
        /// Okapi BM25.
        Bm25 = "bm25",
        /// Frequency by tags, rarity and length.
        BasicWeight = "basic-weight",
        /// Cosine; a word is there or not.
        Binary = "binary",
        /// Cosine; the share of a word.
        Tf = "tf",
        /// Cosine; the share of a word and its rarity.
        TfIdf = "tfidf",
    }
}

choice! {
    /// How the parts of a score are joined.
    Combine, "sum or product" {
        /// A weighted sum: no part gives more than its weight.
        Sum = "sum",
        /// A product: every part multiplies the others.
        Product = "product",
    }
}

choice! {
    /// How the records of the library are compressed.
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
    fn sizes_and_durations_print_as_they_are_written() {
        for text in ["0B", "7B", "512KB", "5MB", "1GB", "3TB"] {
            assert_eq!(Size::from_text(text).unwrap().to_string(), text);
        }
        for text in ["\"250ms\"", "\"10s\"", "\"5m\"", "\"2h\"", "\"1d\""] {
            assert_eq!(Duration::from_text(text.trim_matches('"')).unwrap().to_toml(), text);
        }
        assert_eq!(Vec::<u32>::from_text("10:1"), Some(vec![10, 1]));
        assert_eq!(Vec::<u32>::from_text("10, 3, 1"), Some(vec![10, 3, 1]));
        assert_eq!(Vec::<u32>::from_text("10:"), None);
        assert_eq!(Size::from_text("99999999999999999999TB"), None);
        assert_eq!(Size::from_text("99999999999TB"), None);
        assert_eq!(Duration::from_text("10"), None, "seconds or minutes? the unit must be written");
    }
}
