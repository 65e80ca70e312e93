//! An additional visit between two regular ones (a refresh strategy based on the Poisson process, §3).

use pharos_core::config::InsertedVisit;

/// Returns the time of a visit inserted between visits at `previous` and `next`.
///
/// The midpoint minimises [`total_wait`]. The golden section is meant for pages that do not change as a Poisson process
/// (§5 of the source).
pub fn inserted_visit(previous: f64, next: f64, place: InsertedVisit) -> f64 {
    previous + (next - previous) * inserted_share(place)
}

/// Returns the share of an interval that passes before the inserted visit.
pub fn inserted_share(place: InsertedVisit) -> f64 {
    match place {
        InsertedVisit::Midpoint => 0.5,
        InsertedVisit::GoldenSection => 0.618,
    }
}

/// Returns the expected sum of the waits of all changes in an interval that is divided at `inserted`:
/// λ/2·[(t − Tₘ)² + (Tₘ + T − t)²].
///
/// A change waits from its publication to the next visit. The formula printed in the source subtracts Tₘ twice and so
/// depends on the origin of time; its minimum is at the same place.
pub fn total_wait(rate: f64, previous: f64, next: f64, inserted: f64) -> f64 {
    rate / 2.0 * ((inserted - previous).powi(2) + (next - inserted).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_midpoint_is_halfway() {
        assert_eq!(inserted_visit(100.0, 120.0, InsertedVisit::Midpoint), 110.0);
    }

    #[test]
    fn the_golden_section_is_later() {
        assert!((inserted_visit(100.0, 120.0, InsertedVisit::GoldenSection) - 112.36).abs() < 1e-9);
    }

    #[test]
    fn a_visit_in_the_middle_halves_the_total_wait() {
        let rate = 3.0;
        assert_eq!(total_wait(rate, 100.0, 120.0, 120.0), 200.0 * rate, "no visit inserted");
        assert_eq!(total_wait(rate, 100.0, 120.0, 110.0), 100.0 * rate);
        let elsewhere = [101.0, 105.0, 112.36, 119.0].map(|t| total_wait(rate, 100.0, 120.0, t));
        assert!(elsewhere.iter().all(|wait| *wait > 100.0 * rate));
        assert_eq!(total_wait(rate, 0.0, 20.0, 10.0), 100.0 * rate, "the origin of time does not matter");
    }
}
