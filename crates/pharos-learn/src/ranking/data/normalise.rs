//! Normalisation of features.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::RankingData;

/// Change of features before training and scoring. A model stores the one it was trained with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalisation {
    /// Values as given.
    #[default]
    None,
    /// (x − min) / (max − min) over the rows of the query, 0 for equal values, as in LETOR 4.0 (Qin et al. 2010, §4.2).
    Query,
    /// (x − mean) / standard deviation over the rows of the query, 0 for equal values.
    QueryStandard,
    /// sign(x) · ln(1 + |x|), for counts.
    Log,
}

impl Normalisation {
    const NAMES: [(&str, Self); 4] = [
        ("none", Self::None),
        ("query", Self::Query),
        ("query-standard", Self::QueryStandard),
        ("log", Self::Log),
    ];

    /// Applies the normalisation to all rows. Missing values remain missing.
    pub fn apply(self, data: &mut RankingData) {
        if self == Self::None {
            return;
        }
        for query in 0..data.queries().len() {
            let rows = data.queries()[query].rows.clone();
            for feature in 0..data.features() {
                let (shift, scale) = self.shift_and_scale(rows.clone().map(|row| data.row(row)[feature]));
                for row in rows.clone() {
                    let value = &mut data.row_mut(row)[feature];
                    *value = match self {
                        Self::Log => value.signum() * value.abs().ln_1p(),
                        _ => ((f64::from(*value) - shift) * scale) as f32,
                    };
                }
            }
        }
    }

    /// Returns the numbers a and b of (x − a) · b for the values of a query.
    fn shift_and_scale(self, values: impl Iterator<Item = f32> + Clone) -> (f64, f64) {
        let known = values.filter(|value| !value.is_nan()).map(f64::from);
        let inverse = |range: f64| if range > 0.0 { 1.0 / range } else { 0.0 };
        match self {
            Self::None | Self::Log => (0.0, 1.0),
            Self::Query => {
                let low = known.clone().fold(f64::INFINITY, f64::min);
                let high = known.fold(f64::NEG_INFINITY, f64::max);
                (low, inverse(high - low))
            }
            Self::QueryStandard => {
                let count = known.clone().count().max(1) as f64;
                let mean = known.clone().sum::<f64>() / count;
                let variance = known.map(|value| (value - mean).powi(2)).sum::<f64>() / count;
                (mean, inverse(variance.sqrt()))
            }
        }
    }
}

impl fmt::Display for Normalisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, each)| each == self).map_or("none", |(name, _)| name);
        f.write_str(name)
    }
}

impl FromStr for Normalisation {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, each)| *each)
            .ok_or_else(|| format!("unknown normalisation `{name}`: use none, query, query-standard or log"))
    }
}
