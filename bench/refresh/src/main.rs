//! Mean lag of refresh policies on synthetic traces, beside the rules of Nutch and StormCrawler.
//!
//! The rules of other crawlers are written from their published descriptions: Nutch's `AdaptiveFetchSchedule` multiplies
//! the interval by 0.8 after a change and by 1.2 otherwise, between a minute and a year; StormCrawler's
//! `AdaptiveScheduler` halves it or multiplies it by 1.5, between an hour and two weeks. They have no budget. Like all
//! policies here they get a fixed number of visits, in the order in which pages are due, so that all their intervals are
//! scaled by a common factor.
//!
//! usage: bench-refresh [--pages N] [--days N] [--seeds N]

use std::error::Error;

use pharos_crawl::refresh::simulate::{
    LearnedIntervals, SimulatedVisit, SimulationOptions, VisitIntervals, simulate,
};
use pharos_crawl::refresh::trace::{ChangeLaw, SyntheticTrace, Trace, TracePage, TraceReader};
use pharos_store::interpret::refresh::{Freshness, Harmonic, Lag, Proportional, Uniform};

/// Mean change rate per day, and visits per page and day.
const MEAN_RATE: f64 = 0.3;
const BUDGET: f64 = 0.25;

/// A rule that multiplies the interval after each visit.
struct Multiplicative {
    after_change: f64,
    otherwise: f64,
    bounds: (f64, f64),
    first: f64,
    intervals: Vec<f64>,
}

impl Multiplicative {
    fn nutch(trace: &Trace) -> Self {
        Self::new(trace, 0.8, 1.2, (1.0 / 1_440.0, 365.0))
    }

    fn stormcrawler(trace: &Trace) -> Self {
        Self::new(trace, 0.5, 1.5, (1.0 / 24.0, 14.0))
    }

    fn new(trace: &Trace, after_change: f64, otherwise: f64, bounds: (f64, f64)) -> Self {
        Self { after_change, otherwise, bounds, first: 1.0 / BUDGET, intervals: vec![0.0; trace.pages().len()] }
    }
}

impl VisitIntervals for Multiplicative {
    fn start(&mut self, number: usize, _: &TracePage) -> f64 {
        self.intervals[number] = self.first;
        self.first
    }

    fn next(&mut self, number: usize, visit: &SimulatedVisit) -> f64 {
        let factor = if visit.changes > 0 { self.after_change } else { self.otherwise };
        let interval = (self.intervals[number] * factor).clamp(self.bounds.0, self.bounds.1);
        self.intervals[number] = interval;
        interval
    }

    fn current(&self, number: usize) -> f64 {
        self.intervals[number]
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut pages, mut days, mut seeds) = (800u32, 150.0, 3u64);
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or("a flag needs a value")?;
        match flag.as_str() {
            "--pages" => pages = value.parse()?,
            "--days" => days = value.parse()?,
            "--seeds" => seeds = value.parse()?,
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    println!("mean lag relative to uniform visits; {pages} pages, {days} days, {BUDGET} visits per page and day, {seeds} seeds");
    println!(
        "{:>6} {:>5} {:>12} {:>8} {:>8} {:>9} {:>9} {:>12} {:>8} {:>12}",
        "spread", "zipf", "attainable", "oracle", "lag", "harmonic", "freshness", "proportional", "nutch", "stormcrawler"
    );
    for (spread, zipf) in [(1.0, 0.0), (1.0, 0.7), (1.5, 0.0), (1.5, 0.7), (2.0, 0.0), (2.0, 0.7)] {
        let mut sums = [0.0; 8];
        for seed in 1..=seeds {
            let found = measure(pages, days, spread, zipf, seed)?;
            sums.iter_mut().zip(found).for_each(|(sum, relative)| *sum += relative / seeds as f64);
        }
        let [attainable, oracle, lag, harmonic, freshness, proportional, nutch, storm] =
            sums.map(|relative| format!("{:+.0} %", 100.0 * (relative - 1.0)));
        println!(
            "{spread:>6.1} {zipf:>5.1} {attainable:>12} {oracle:>8} {lag:>8} {harmonic:>9} {freshness:>9} {proportional:>12} {nutch:>8} {storm:>12}"
        );
    }
    Ok(())
}

/// Returns the attainable lag and that of each policy, relative to uniform visits.
fn measure(pages: u32, days: f64, spread: f64, zipf: f64, seed: u64) -> Result<[f64; 8], Box<dyn Error>> {
    let mut text = Vec::new();
    SyntheticTrace { pages, sites: 20, days, mean_rate: MEAN_RATE, spread, zipf, law: ChangeLaw::Constant, seed }
        .write(&mut text)?;
    let mut reader = TraceReader::default();
    reader.read(&text[..], &mut |invalid| eprintln!("{invalid}"))?;
    let trace = reader.into_trace();
    let options = SimulationOptions { budget: BUDGET * f64::from(pages), longest: 365.0 };
    let uniform = simulate(&trace, &options, &mut LearnedIntervals::new(&Uniform, &trace, &options))?.mean_lag;
    let run = |mut intervals: Box<dyn VisitIntervals>| {
        simulate(&trace, &options, &mut *intervals).map(|figures| figures.mean_lag / uniform)
    };
    Ok([
        trace.summary().attainable,
        run(Box::new(LearnedIntervals::oracle(&trace, &options)))?,
        run(Box::new(LearnedIntervals::new(&Lag, &trace, &options)))?,
        run(Box::new(LearnedIntervals::new(&Harmonic, &trace, &options)))?,
        run(Box::new(LearnedIntervals::new(&Freshness, &trace, &options)))?,
        run(Box::new(LearnedIntervals::new(&Proportional, &trace, &options)))?,
        run(Box::new(Multiplicative::nutch(&trace)))?,
        run(Box::new(Multiplicative::stormcrawler(&trace)))?,
    ])
}
