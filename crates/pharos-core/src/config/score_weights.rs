//! Feature weights of the ranking: the coefficients k of the weighted combination, which sum to 1.

use toml::de::DeValue;

use super::SettingValue;

/// Weights of the features of a score. They sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreWeights {
    /// Weight of the term score (k_WB).
    pub words: f64,
    /// Weight of term proximity.
    pub near: f64,
    /// Weight of the share of the query found in title and anchors.
    pub title: f64,
    /// Weight of link analysis (k_WL).
    pub links: f64,
    /// Weight of being the home page that the query names.
    pub home: f64,
    /// Weight of user clicks (k_WU).
    pub clicks: f64,
    /// Weight of freshness.
    pub fresh: f64,
    /// Weight of the share of the query found only outside the main content.
    pub other: f64,
}

impl ScoreWeights {
    /// Names of the features, in order.
    pub const NAMES: [&str; 8] = ["words", "near", "title", "links", "home", "clicks", "fresh", "other"];

    /// Creates weights from values in the order of [`Self::NAMES`].
    pub const fn new([words, near, title, links, home, clicks, fresh, other]: [f64; 8]) -> Self {
        Self { words, near, title, links, home, clicks, fresh, other }
    }

    /// Returns the values in the order of [`Self::NAMES`].
    pub fn values(&self) -> [f64; 8] {
        let Self { words, near, title, links, home, clicks, fresh, other } = *self;
        [words, near, title, links, home, clicks, fresh, other]
    }
}

impl SettingValue for ScoreWeights {
    fn expected() -> String {
        format!("weights that sum to 1, such as \"words 0.9, links 0.1\", of {}", Self::NAMES.join(", "))
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut values = [0.0; 8];
        for part in text.split(',') {
            let (name, value) = part.trim().split_once(char::is_whitespace)?;
            let nth = Self::NAMES.iter().position(|known| *known == name)?;
            values[nth] = f64::from_text(value.trim())?;
        }
        ((values.iter().sum::<f64>() - 1.0).abs() < 1e-6).then(|| Self::new(values))
    }

    fn from_toml(value: &DeValue<'_>) -> Option<Self> {
        match value {
            DeValue::String(text) => Self::from_text(text),
            _ => None,
        }
    }

    fn to_toml(&self) -> String {
        let named = Self::NAMES.iter().zip(self.values()).filter(|(_, value)| *value != 0.0);
        let parts: Vec<String> = named.map(|(name, value)| format!("{name} {value}")).collect();
        format!("\"{}\"", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_names_and_sum_to_one() {
        let weights = ScoreWeights::from_text("words 0.75,links 0.25").unwrap();
        assert_eq!((weights.words, weights.links, weights.clicks), (0.75, 0.25, 0.0));
        assert_eq!(weights.to_toml(), "\"words 0.75, links 0.25\"");
        for text in ["", "words", "words 0.5", "words 2, links -1", "colour 1", "words 1 2", "words NaN"] {
            assert_eq!(ScoreWeights::from_text(text), None, "{text}");
        }
    }
}
