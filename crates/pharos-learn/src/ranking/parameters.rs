//! Parameters of training algorithms.

use std::collections::BTreeMap;

use serde::Serialize;

use super::RankingError;

/// A parameter with its range and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parameter {
    pub name: &'static str,
    pub default: f64,
    pub lowest: f64,
    pub highest: f64,
    /// `true` if only whole numbers are allowed.
    pub is_whole: bool,
    pub meaning: &'static str,
}

impl Parameter {
    pub(crate) const fn real(
        name: &'static str,
        default: f64,
        lowest: f64,
        highest: f64,
        meaning: &'static str,
    ) -> Self {
        Self { name, default, lowest, highest, is_whole: false, meaning }
    }

    pub(crate) const fn whole(
        name: &'static str,
        default: u32,
        lowest: u32,
        highest: u32,
        meaning: &'static str,
    ) -> Self {
        Self {
            name,
            default: default as f64,
            lowest: lowest as f64,
            highest: highest as f64,
            is_whole: true,
            meaning,
        }
    }

    /// Checks a value of this parameter.
    pub fn check(&self, value: f64) -> Result<(), RankingError> {
        let Self { name, lowest, highest, is_whole, .. } = self;
        if !(*lowest..=*highest).contains(&value) || *is_whole && value.fract() != 0.0 {
            let kind = if *is_whole { "a whole number" } else { "a number" };
            return Err(RankingError::Parameter(format!(
                "{name} = {value}: expected {kind} from {lowest} to {highest}"
            )));
        }
        Ok(())
    }
}

/// The values of all parameters of an algorithm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(BTreeMap<&'static str, f64>);

impl Parameters {
    /// Takes the given values, and the defaults of the others. Unknown names and values out of range are errors.
    pub fn new(known: &[Parameter], given: &BTreeMap<String, f64>) -> Result<Self, RankingError> {
        for (name, value) in given {
            match known.iter().find(|parameter| parameter.name == name) {
                Some(parameter) => parameter.check(*value)?,
                None => {
                    let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
                    return Err(RankingError::Parameter(format!(
                        "unknown parameter `{name}` of this model: use {}",
                        names.join(", ")
                    )));
                }
            }
        }
        let value = |parameter: &Parameter| given.get(parameter.name).copied().unwrap_or(parameter.default);
        Ok(Self(known.iter().map(|parameter| (parameter.name, value(parameter))).collect()))
    }

    /// Returns a value; 0 for a name that is not a parameter of the algorithm.
    pub(crate) fn get(&self, name: &str) -> f64 {
        debug_assert!(self.0.contains_key(name), "{name}");
        self.0.get(name).copied().unwrap_or(0.0)
    }

    /// Returns a value as a whole number.
    pub(crate) fn whole(&self, name: &str) -> usize {
        self.get(name) as usize
    }

    /// Iterates over names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.0.iter().map(|(name, value)| (*name, *value))
    }
}
