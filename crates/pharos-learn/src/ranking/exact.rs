//! Numbers of model files as strings, which every reader converts without rounding.

use serde::{Deserialize, Deserializer, Serializer};

/// A number or its decimal form in a string.
#[derive(Deserialize)]
#[serde(untagged)]
enum Exact {
    Text(String),
    Number(f64),
}

impl Exact {
    fn value<E: serde::de::Error>(self) -> Result<f64, E> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Text(text) => text.parse().map_err(|_| E::custom(format!("`{text}` is not a number"))),
        }
    }
}

pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Exact::deserialize(deserializer)?.value()
}

/// Lists of numbers.
pub(super) mod list {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Exact;

    pub(crate) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(f64::to_string))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Vec::<Exact>::deserialize(deserializer)?.into_iter().map(Exact::value).collect()
    }
}
