//! The part of a page's weight that comes from users and operators rather than from the page itself.

use pharos_core::PageUrl;
use pharos_core::config::{CrawlConfig, RefreshConfig};
use thiserror::Error;

use super::super::wildcard::matches_wildcards;

/// Steps per factor of two, and the largest number of steps in each direction.
const STEPS: f64 = 8.0;
const MAX_STEPS: f64 = 32.0;

/// Factor of the pages of `crawl.important_sites`.
const IMPORTANT_SITE: f64 = 2.0;

/// Largest and smallest factor that an operator can set.
const OPERATOR_FACTORS: std::ops::RangeInclusive<f64> = 0.01..=100.0;

/// A factor of the weight of a page, from 1/16 to 16, in one byte: eighths of its binary logarithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageInterest(i8);

impl PageInterest {
    /// Creates the nearest factor. Numbers that are no positive factor give 1.
    pub fn from_factor(factor: f64) -> Self {
        if factor.is_nan() || factor <= 0.0 {
            return Self::default();
        }
        Self((factor.log2() * STEPS).round().clamp(-MAX_STEPS, MAX_STEPS) as i8)
    }

    /// Returns the factor.
    pub fn factor(self) -> f64 {
        (f64::from(self.0) / STEPS).exp2()
    }

    pub(super) fn to_bits(self) -> u8 {
        self.0.cast_unsigned()
    }

    pub(super) fn from_bits(bits: u8) -> Self {
        let steps = bits.cast_signed();
        if f64::from(steps).abs() > MAX_STEPS { Self::default() } else { Self(steps) }
    }
}

/// An invalid line of `refresh.weights`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("invalid line `{0}` in `refresh.weights`: expected for example `www.example.org 4`")]
pub struct InvalidWeight(pub String);

/// Weights of sites and URL patterns that operators set (`refresh.weights`, `crawl.important_sites`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatorWeights {
    lines: Vec<(Target, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Target {
    /// A host, or all hosts of a domain.
    Site(String),
    /// A pattern for whole URLs.
    Pattern(String),
}

impl OperatorWeights {
    /// Reads the weights of a configuration.
    ///
    /// # Errors
    /// Returns the first invalid line.
    pub fn from_config(crawl: &CrawlConfig, refresh: &RefreshConfig) -> Result<Self, InvalidWeight> {
        let mut lines = refresh.weights.iter().map(|line| parse_line(line)).collect::<Result<Vec<_>, _>>()?;
        let important = crawl.important_sites.iter();
        lines.extend(important.map(|name| (Target::Site(name.to_lowercase()), IMPORTANT_SITE)));
        Ok(Self { lines })
    }

    /// Returns the factor of the first line that matches, or 1.
    pub fn factor(&self, url: &PageUrl) -> f64 {
        if self.lines.is_empty() {
            return 1.0;
        }
        let site = url.site();
        let is_match = |target: &Target| match target {
            Target::Site(name) => name == site.host() || name == site.domain(),
            Target::Pattern(pattern) => matches_wildcards(pattern, url.as_str(), true),
        };
        self.lines.iter().find(|(target, _)| is_match(target)).map_or(1.0, |(_, factor)| *factor)
    }
}

fn parse_line(line: &str) -> Result<(Target, f64), InvalidWeight> {
    let invalid = || InvalidWeight(line.to_string());
    let mut words = line.split_whitespace();
    let (Some(target), Some(factor), None) = (words.next(), words.next(), words.next()) else {
        return Err(invalid());
    };
    let factor: f64 = factor.parse().map_err(|_| invalid())?;
    if !OPERATOR_FACTORS.contains(&factor) {
        return Err(invalid());
    }
    let is_pattern = target.contains(['/', '*']);
    if is_pattern && !target.starts_with("http") && !target.starts_with('*') {
        return Err(invalid());
    }
    let target =
        if is_pattern { Target::Pattern(target.into()) } else { Target::Site(target.to_lowercase()) };
    Ok((target, factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weights(lines: &[&str]) -> Result<OperatorWeights, InvalidWeight> {
        let refresh = RefreshConfig {
            weights: lines.iter().map(|line| (*line).to_string()).collect(),
            ..RefreshConfig::default()
        };
        let crawl = CrawlConfig { important_sites: vec!["Gov.example".into()], ..CrawlConfig::default() };
        OperatorWeights::from_config(&crawl, &refresh)
    }

    #[test]
    fn the_first_matching_line_decides() {
        let weights =
            weights(&["http://a.example/news/* 8", "a.example 0.5", "*.pdf 0.25", "example.org 3"]).unwrap();
        let factor = |url: &str| weights.factor(&PageUrl::parse(url).unwrap());
        assert_eq!((factor("http://a.example/news/1"), factor("http://a.example/b")), (8.0, 0.5));
        assert_eq!((factor("http://b.example/x.pdf"), factor("http://b.example/x")), (0.25, 1.0));
        assert_eq!(factor("https://www.example.org/"), 3.0, "all hosts of a domain");
        assert_eq!(factor("http://gov.example/"), 2.0, "an important site");
    }

    #[test]
    fn invalid_lines_are_refused() {
        for line in [
            "",
            "a.example",
            "a.example x",
            "a.example 0",
            "a.example NaN",
            "a.example 101",
            "a/b* 2",
            "a b 2",
        ] {
            assert_eq!(weights(&[line]), Err(InvalidWeight(line.into())));
        }
        assert!(InvalidWeight("x".into()).to_string().contains("`x` in `refresh.weights`"));
    }

    proptest! {
        #[test]
        fn factors_survive_their_packing(factor: f64, bits: u8) {
            let interest = PageInterest::from_factor(factor);
            prop_assert_eq!(PageInterest::from_bits(interest.to_bits()), interest);
            let factor = PageInterest::from_bits(bits).factor();
            prop_assert!((1.0 / 16.0..=16.0).contains(&factor));
        }

        #[test]
        fn factors_are_kept_within_a_twentieth(log in -2.7f64..2.7) {
            prop_assert!((PageInterest::from_factor(log.exp()).factor().ln() - log).abs() < 0.05);
        }
    }
}
