//! Estimators of a page's change rate λ from a list of visits.
//!
//! Rates are in changes per unit of the given intervals. The estimate that the catalog keeps in two numbers per page is
//! [`ChangeHistory`](pharos_store::interpret::refresh::ChangeHistory).

/// The time since the previous visit, and whether the page changed in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ObservedInterval {
    pub elapsed: f64,
    pub changed: bool,
}

/// Estimates λ from regular visits: −ln((n − X + ½)/(n + ½))/I for X changed ones among n (Cho & Garcia-Molina,
/// *Estimating frequency of change*, TOIT 2003, §4.2).
///
/// The plain estimate X/(nI) misses repeated changes between two visits, and −ln(1 − X/n)/I is infinite when all visits
/// found a change. Returns `None` without visits or without an interval.
pub fn regular_visits(visits: u64, changed: u64, interval: f64) -> Option<f64> {
    if visits == 0 || !is_positive(interval) {
        return None;
    }
    let (n, x) = (visits as f64, changed.min(visits) as f64);
    Some(-((n - x + 0.5) / (n + 0.5)).ln() / interval)
}

/// Estimates λ from irregular visits by maximum likelihood: the solution of Σ τ/(e^(λτ) − 1) over changed intervals =
/// Σ τ over unchanged ones (Cho & Garcia-Molina 2003, §5.1).
///
/// One imaginary changed and one unchanged interval of length `smoothing` keep the result finite and positive (as in the
/// published code of LambdaCrawl, 2019, with half a day). Invalid intervals are ignored.
pub fn irregular_visits(intervals: &[ObservedInterval], smoothing: f64) -> Option<f64> {
    if !is_positive(smoothing) {
        return None;
    }
    let valid = || intervals.iter().filter(|interval| is_positive(interval.elapsed));
    let unchanged: f64 = smoothing + valid().filter(|i| !i.changed).map(|i| i.elapsed).sum::<f64>();
    let term = |elapsed: f64, rate: f64| elapsed / (rate * elapsed).min(700.0).exp_m1();
    let changed = |rate: f64| {
        term(smoothing, rate) + valid().filter(|i| i.changed).map(|i| term(i.elapsed, rate)).sum::<f64>()
    };
    // The left side falls with λ; ln λ is bisected around 1/smoothing.
    let (mut low, mut high) = (-40.0f64, 40.0f64);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if changed(middle.exp() / smoothing) > unchanged { low = middle } else { high = middle }
    }
    Some(high.exp() / smoothing)
}

/// Estimates λ from visits that also learn the time of the last change, from Last-Modified or a sitemap:
/// [(X − 1) − X/(N·ln(1 − X/N))]/T (Cho & Garcia-Molina 2003, §6.2).
///
/// X of N visits found a change; T is the sum of the times from the last change to the visit, or of the whole interval
/// where there was none. If all visits found a change, X/T is returned, which the formula approaches. Returns `None`
/// without visits or without time.
pub fn last_modified(visits: u64, changed: u64, time: f64) -> Option<f64> {
    if visits == 0 || !is_positive(time) {
        return None;
    }
    let (n, x) = (visits as f64, changed.min(visits) as f64);
    let correction = match changed.min(visits) {
        // The limit of −X/(N·ln(1 − X/N)) for X → 0.
        0 => 1.0,
        _ if changed >= visits => 0.0,
        _ => -x / (n * (1.0 - x / n).ln()),
    };
    let changes = if changed >= visits { x } else { (x - 1.0) + correction };
    Some(changes.max(0.0) / time)
}

/// Estimates λ where every change is announced: (count + ½)/(time + ½).
pub fn complete_notice(changes: u64, time: f64) -> Option<f64> {
    (time >= 0.0 && time.is_finite()).then(|| (changes as f64 + 0.5) / (time + 0.5))
}

fn is_positive(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 1e-4 * expected.max(1.0))
    }

    #[test]
    fn regular_visits_are_corrected_for_bias() {
        // −ln((10 − 6 + 0.5)/10.5) = −ln(0.428571…) = 0.8473.
        assert!(close(regular_visits(10, 6, 1.0), 0.847_298));
        assert!(close(regular_visits(10, 6, 7.0), 0.847_298 / 7.0));
        assert!(
            close(regular_visits(10, 10, 1.0), 21.0f64.ln()),
            "finite although every visit found a change"
        );
        assert_eq!(regular_visits(10, 0, 1.0), Some(-0.0));
        assert_eq!((regular_visits(0, 0, 1.0), regular_visits(1, 1, f64::NAN)), (None, None));
    }

    /// With equal intervals the likelihood has the closed form −ln(1 − X/n)/I.
    #[test]
    fn irregular_visits_agree_with_the_closed_form_of_regular_ones() {
        let visits: Vec<ObservedInterval> =
            (0..998).map(|visit| ObservedInterval { elapsed: 2.0, changed: visit < 299 }).collect();
        // With the two imaginary intervals, 300 of 1,000 changed.
        assert!(close(irregular_visits(&visits, 2.0), -(0.7f64.ln()) / 2.0));
        assert!(irregular_visits(&[], 0.5).is_some_and(|rate| rate > 0.0));
        assert_eq!(irregular_visits(&visits, 0.0), None);
    }

    #[test]
    fn the_time_of_the_last_change_is_used() {
        // N = 4, X = 2, T = 5: (1 + 2/(4·0.693147))/5 = 0.34427.
        assert!(close(last_modified(4, 2, 5.0), 0.344_27));
        assert_eq!(last_modified(4, 4, 8.0), Some(0.5));
        assert_eq!(last_modified(4, 0, 8.0), Some(0.0));
        assert!(close(complete_notice(3, 6.5), 0.5));
    }

    proptest! {
        #[test]
        fn hostile_visits_give_finite_rates(
            visits in prop::collection::vec((any::<f64>(), any::<bool>()), 0..40), smoothing: f64, n: u64, x: u64,
            interval: f64,
        ) {
            let list: Vec<_> =
                visits.iter().map(|(elapsed, changed)| ObservedInterval { elapsed: *elapsed, changed: *changed }).collect();
            for rate in [irregular_visits(&list, smoothing), last_modified(n, x, 1.0), regular_visits(n, x, 1.0)] {
                prop_assert!(rate.is_none_or(|rate| rate >= 0.0 && !rate.is_nan()), "{rate:?}");
            }
            prop_assert!(regular_visits(n, x, interval).is_none_or(|rate| rate >= 0.0));
        }
    }
}
