//! Synthetic traces with known change rates.

use std::io::{self, Write};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::json;

use super::DAY;

/// Law by which the pages of a trace change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeLaw {
    /// A Poisson process of constant rate.
    #[default]
    Constant,
    /// Changes come in groups: a Poisson process of groups, each with four changes within an hour on average.
    Bursty,
    /// Nineteen of twenty changes happen in the daytime, between 7:00 and 23:00 UTC.
    Daily,
}

/// Parameters of a synthetic trace. Change rates are lognormal, weights follow a Zipf law.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticTrace {
    pub pages: u32,
    pub sites: u32,
    pub days: f64,
    /// Mean change rate per day.
    pub mean_rate: f64,
    /// Standard deviation of ln λ.
    pub spread: f64,
    /// Exponent of the Zipf law of weights; 0 gives equal weights.
    pub zipf: f64,
    pub law: ChangeLaw,
    pub seed: u64,
}

/// Start of all synthetic traces: 2025-01-01.
const START: i64 = 1_735_689_600;

/// First and last hour of the daytime of [`ChangeLaw::Daily`], and the share of changes in it.
const DAYTIME: (f64, f64) = (7.0, 23.0);
const DAYTIME_SHARE: f64 = 0.95;

/// Mean number of changes in a group of [`ChangeLaw::Bursty`].
const BURST: f64 = 4.0;

impl SyntheticTrace {
    /// Writes the trace as JSON lines.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let mut random = StdRng::seed_from_u64(self.seed);
        // Ranks are shuffled by a key, so that weights do not depend on rates or sites.
        let mut ranks: Vec<(u64, u32)> = (1..=self.pages).map(|rank| (random.random(), rank)).collect();
        ranks.sort_unstable();
        let mean: f64 = ranks.iter().map(|(_, rank)| f64::from(*rank).powf(-self.zipf)).sum::<f64>()
            / f64::from(self.pages.max(1));
        let to = START + (self.days * DAY) as i64;
        for (number, (_, rank)) in ranks.iter().enumerate() {
            // The mean of a lognormal distribution is exp(μ + σ²/2).
            let log =
                self.mean_rate.ln() - self.spread * self.spread / 2.0 + self.spread * normal(&mut random);
            let rate = log.exp();
            let site = number as u32 % self.sites.max(1);
            let line = json!({
                "page": format!("http://site{site}.example/{number}"),
                "site": format!("site{site}.example"),
                "weight": f64::from(*rank).powf(-self.zipf) / mean,
                "from": START,
                "to": to,
                "rate": rate,
                "changes": self.changes(rate, &mut random),
            });
            writeln!(out, "{line}")?;
        }
        out.flush()
    }

    fn changes(&self, rate: f64, random: &mut StdRng) -> Vec<i64> {
        let mut changes = Vec::new();
        let process = if self.law == ChangeLaw::Bursty { rate / BURST } else { rate };
        let mut day = exponential(random) / process;
        while day < self.days && changes.len() < 10_000_000 {
            match self.law {
                ChangeLaw::Constant => changes.push(START + (day * DAY) as i64),
                ChangeLaw::Bursty => {
                    let mut at = day;
                    changes.push(START + (at * DAY) as i64);
                    while random.random::<f64>() < 1.0 - 1.0 / BURST {
                        at += exponential(random) / (24.0 * BURST);
                        if at < self.days {
                            changes.push(START + (at * DAY) as i64);
                        }
                    }
                }
                ChangeLaw::Daily => changes.push(START + (move_to_daytime(day) * DAY) as i64),
            }
            day += exponential(random) / process;
        }
        changes
    }
}

/// Maps a time of uniform activity to the same share of activity of a day with busy and quiet hours.
fn move_to_daytime(day: f64) -> f64 {
    let (morning, night) = DAYTIME;
    let share = day.fract();
    let hour = if share < DAYTIME_SHARE {
        morning + share / DAYTIME_SHARE * (night - morning)
    } else {
        let quiet = (share - DAYTIME_SHARE) / (1.0 - DAYTIME_SHARE) * (24.0 - night + morning);
        (night + quiet) % 24.0
    };
    day.floor() + hour / 24.0
}

/// Returns an exponentially distributed number with mean 1.
fn exponential(random: &mut StdRng) -> f64 {
    -(1.0 - random.random::<f64>()).ln()
}

/// Returns a normally distributed number (Box & Muller 1958).
fn normal(random: &mut StdRng) -> f64 {
    (2.0 * exponential(random)).sqrt() * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

#[cfg(test)]
mod tests {
    use super::super::TraceReader;
    use super::*;

    fn trace(law: ChangeLaw, zipf: f64, seed: u64) -> super::super::Trace {
        let mut text = Vec::new();
        SyntheticTrace { pages: 2_000, sites: 10, days: 200.0, mean_rate: 0.3, spread: 1.5, zipf, law, seed }
            .write(&mut text)
            .unwrap();
        let mut reader = TraceReader::default();
        reader.read(&text[..], &mut |invalid| panic!("{invalid}")).unwrap();
        reader.into_trace()
    }

    #[test]
    fn rates_and_weights_follow_their_laws() {
        let summary = trace(ChangeLaw::Constant, 0.7, 1).summary();
        assert!(summary.has_rates && summary.sites == 10);
        assert!((summary.spread - 1.5).abs() < 0.08, "{summary:?}");
        assert!((summary.changes as f64 / (2_000.0 * 200.0 * summary.mean_rate) - 1.0).abs() < 0.02);
        assert!(summary.attainable < 0.55, "{summary:?}");
        assert_eq!(trace(ChangeLaw::Constant, 0.7, 1), trace(ChangeLaw::Constant, 0.7, 1));
        assert_ne!(trace(ChangeLaw::Constant, 0.7, 1), trace(ChangeLaw::Constant, 0.7, 2));
    }

    #[test]
    fn daytime_and_bursts_keep_the_rate() {
        for law in [ChangeLaw::Daily, ChangeLaw::Bursty] {
            let trace = trace(law, 0.0, 3);
            let summary = trace.summary();
            let relative = summary.changes as f64 / (2_000.0 * 200.0 * summary.mean_rate);
            assert!((relative - 1.0).abs() < 0.06, "{relative}");
        }
        let daily = trace(ChangeLaw::Daily, 0.0, 3);
        let hours = daily.pages().iter().flat_map(|page| daily.changes_of(page)).map(|at| at / 3600 % 24);
        let (day, all) =
            hours.fold((0, 0), |(day, all), hour| (day + u32::from((7..23).contains(&hour)), all + 1));
        assert!((f64::from(day) / f64::from(all) - 0.95).abs() < 0.01);
    }
}
