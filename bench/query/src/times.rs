//! A sample of times.

use std::time::Duration;

/// Times in ascending order.
pub struct Times(Vec<Duration>);

impl Times {
    pub fn of(times: impl IntoIterator<Item = Duration>) -> Self {
        let mut times: Vec<Duration> = times.into_iter().collect();
        times.sort_unstable();
        Self(times)
    }

    /// Returns the quantile in µs.
    pub fn part(&self, part: f64) -> f64 {
        let place = (part * self.0.len() as f64).ceil() as usize;
        micros(self.0.get(place.saturating_sub(1)).copied().unwrap_or_default())
    }

    pub fn mean(&self) -> f64 {
        micros(self.0.iter().sum()) / self.0.len().max(1) as f64
    }

    pub fn max(&self) -> f64 {
        micros(self.0.last().copied().unwrap_or_default())
    }

    /// Returns median, 90th and 99th percentile, maximum and mean.
    pub fn cells(&self) -> String {
        let [half, most, nearly_all] = [0.5, 0.9, 0.99].map(|part| self.part(part));
        format!("{half:.0} | {most:.0} | {nearly_all:.0} | {:.0} | {:.0}", self.max(), self.mean())
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
