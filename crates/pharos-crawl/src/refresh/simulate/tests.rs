use super::super::trace::{ChangeLaw, SyntheticTrace, TraceReader};
use super::*;
use pharos_core::config::InsertedVisit;
use pharos_store::interpret::refresh::{Freshness, Harmonic, Lag, Proportional, Uniform};
use proptest::prelude::*;

fn synthetic(spread: f64, zipf: f64, law: ChangeLaw, mean_rate: f64, days: f64, seed: u64) -> Trace {
    let mut text = Vec::new();
    SyntheticTrace { pages: 400, sites: 10, days, mean_rate, spread, zipf, law, seed }
        .write(&mut text)
        .unwrap();
    let mut reader = TraceReader::default();
    reader.read(&text[..], &mut |invalid| panic!("{invalid}")).unwrap();
    reader.into_trace()
}

fn options(budget: f64) -> SimulationOptions {
    SimulationOptions { budget, longest: 90.0 }
}

fn lag_of(
    policy: &'static dyn pharos_store::interpret::refresh::RefreshPolicy,
    trace: &Trace,
    budget: f64,
) -> f64 {
    let options = options(budget);
    simulate(trace, &options, &mut LearnedIntervals::new(policy, trace, &options)).unwrap().mean_lag
}

/// One page that changes once a day, visited once a day: a change waits until the next visit.
#[test]
fn a_change_waits_for_the_next_visit() {
    let mut trace = Trace::default();
    let mut changes: Vec<i64> = (0..10).map(|day| day * 86_400 + 43_200).collect();
    trace.push(0, 1.0, 0.0, 0, 10 * 86_400, &mut changes);
    let figures =
        simulate(&trace, &options(1.0), &mut LearnedIntervals::new(&Uniform, &trace, &options(1.0))).unwrap();
    assert_eq!((figures.mean_lag, figures.visits, figures.changes), (43_200.0, 10, 10));
    assert_eq!((figures.freshness, figures.useless_share, figures.longest_unvisited), (0.5, 0.0, 86_400.0));
    assert!((figures.p90_lag / 43_200.0 - 1.0).abs() < 0.01);
    assert_eq!(figures.uncollected, 0);
}

#[test]
fn the_lag_policy_learns_rates_and_beats_the_uniform_one() {
    for (zipf, seed, least) in [(0.7, 1, 0.40), (0.7, 2, 0.40), (0.0, 1, 0.30), (0.0, 2, 0.30)] {
        let trace = synthetic(1.5, zipf, ChangeLaw::Constant, 0.3, 150.0, seed);
        let (uniform, lag) = (lag_of(&Uniform, &trace, 100.0), lag_of(&Lag, &trace, 100.0));
        assert!(lag < (1.0 - least) * uniform, "seed {seed}, zipf {zipf}: {lag} of {uniform}");
        let oracle =
            simulate(&trace, &options(100.0), &mut LearnedIntervals::oracle(&trace, &options(100.0)))
                .unwrap();
        assert!(
            lag < oracle.mean_lag + 0.08 * uniform,
            "seed {seed}, zipf {zipf}: {lag}, {}",
            oracle.mean_lag
        );
    }
}

#[test]
fn other_policies_reach_what_they_aim_at() {
    let trace = synthetic(1.5, 0.0, ChangeLaw::Constant, 0.3, 150.0, 5);
    let run = |policy| {
        simulate(&trace, &options(100.0), &mut LearnedIntervals::new(policy, &trace, &options(100.0)))
            .unwrap()
    };
    let (uniform, freshness, harmonic) = (run(&Uniform), run(&Freshness), run(&Harmonic));
    assert!(freshness.freshness > uniform.freshness && harmonic.freshness > uniform.freshness);
    assert!(harmonic.mean_lag < 0.8 * uniform.mean_lag);
    let proportional = run(&Proportional);
    assert!(proportional.mean_lag > 0.7 * uniform.mean_lag, "visits in proportion to λ gain little");
    let visits = [&uniform, &freshness, &harmonic, &proportional].map(|figures| figures.visits);
    assert!(visits.iter().all(|number| *number == visits[0]), "equal budgets: {visits:?}");
}

/// Changes come by day, and several between two visits. The paper reports sites of which 60 % and others of which 5 % of
/// the pages change in a day, which is a spread of about 1.3.
#[test]
fn the_papers_policy_is_at_least_ten_percent_faster_than_fixed_visits() {
    let trace = synthetic(1.3, 0.0, ChangeLaw::Daily, 12.0, 20.0, 7);
    let options = options(3_200.0);
    let fixed = simulate(&trace, &options, &mut LearnedIntervals::new(&Uniform, &trace, &options)).unwrap();
    for place in [InsertedVisit::Midpoint, InsertedVisit::GoldenSection] {
        let paper = simulate(&trace, &options, &mut PaperIntervals::new(&trace, &options, place)).unwrap();
        assert!(paper.mean_lag < 0.9 * fixed.mean_lag, "{place:?}: {} of {}", paper.mean_lag, fixed.mean_lag);
    }
}

#[test]
fn no_page_is_left_unvisited_for_longer_than_allowed() {
    let mut trace = synthetic(2.0, 0.0, ChangeLaw::Constant, 0.3, 300.0, 3);
    let (start, end) = trace.span().unwrap();
    trace.push(0, 0.0, 0.0, start, end, &mut []);
    let options = SimulationOptions { budget: 100.0, longest: 30.0 };
    let figures = simulate(&trace, &options, &mut LearnedIntervals::new(&Lag, &trace, &options)).unwrap();
    assert!(figures.longest_unvisited < 32.0 * 86_400.0, "{}", figures.longest_unvisited / 86_400.0);
}

#[test]
fn impossible_conditions_are_errors() {
    let trace = synthetic(1.0, 0.0, ChangeLaw::Constant, 0.3, 10.0, 3);
    let run = |trace: &Trace, budget| {
        simulate(trace, &options(budget), &mut LearnedIntervals::new(&Lag, trace, &options(budget)))
            .unwrap_err()
    };
    assert_eq!(run(&Trace::default(), 1.0), SimulationError::NoPages);
    assert_eq!(run(&trace, 0.0), SimulationError::InvalidBudget);
    assert_eq!(run(&trace, f64::NAN), SimulationError::InvalidBudget);
    assert!(matches!(run(&trace, 1e12), SimulationError::TooManyVisits { .. }));
}

#[test]
fn the_figure_names_every_policy() {
    let trace = synthetic(1.0, 0.0, ChangeLaw::Constant, 0.3, 30.0, 3);
    let figures =
        simulate(&trace, &options(50.0), &mut LearnedIntervals::new(&Lag, &trace, &options(50.0))).unwrap();
    let svg = lag_figure(&[("a<b".into(), figures)]);
    assert!(
        svg.contains("a&lt;b") && svg.contains("<polyline points=\"") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert!(lag_figure(&[]).contains("</svg>"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Pages come and go at any time, with any weights and changes.
    #[test]
    fn measures_stay_within_their_ranges(
        pages in prop::collection::vec(
            (0i64..3_000_000, 1i64..3_000_000, 0.0f32..9.0, prop::collection::vec(0i64..6_000_000, 0..20)), 1..20),
        budget in 0.05f64..200.0,
    ) {
        let mut trace = Trace::default();
        for (number, (from, time, weight, changes)) in pages.iter().enumerate() {
            trace.push(number as u32 % 3, *weight, 0.0, *from, from + time, &mut changes.clone());
        }
        let options = options(budget);
        let mut all: Vec<Box<dyn VisitIntervals>> = vec![
            Box::new(LearnedIntervals::new(&Lag, &trace, &options)),
            Box::new(LearnedIntervals::new(&Freshness, &trace, &options)),
            Box::new(LearnedIntervals::oracle(&trace, &options)),
            Box::new(PaperIntervals::new(&trace, &options, InsertedVisit::Midpoint)),
        ];
        for intervals in &mut all {
            let figures = simulate(&trace, &options, &mut **intervals).unwrap();
            prop_assert_eq!(figures.changes, trace.change_count() as u64);
            prop_assert!((0.0..=1.0 + 1e-9).contains(&figures.freshness), "{:?}", figures);
            prop_assert!((0.0..=1.0).contains(&figures.useless_share), "{:?}", figures);
            prop_assert!(figures.mean_lag >= 0.0 && figures.mean_lag <= 3_000_000.0);
            prop_assert!(figures.uncollected <= figures.changes && figures.longest_unvisited <= 3_000_000.0);
        }
    }
}
