//! The refresh state that the catalog keeps for a page: 8 bytes for the change rate, and up to 8 bytes for the rest.

use std::time::Duration;

use super::control::VisitRhythm;
use super::interest::PageInterest;
use super::plan::RefreshPlan;
use super::{ChangeHistory, RefreshClass};

/// Change rate and rhythm of visits of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RefreshState {
    pub history: ChangeHistory,
    pub class: RefreshClass,
    /// State of the paper's policy.
    pub rhythm: VisitRhythm,
    /// Factor of the weight that comes from users and operators.
    pub interest: PageInterest,
    /// `true` if the site announced a change after the last visit.
    pub is_announced: bool,
}

/// A visit that settled the content of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SettledVisit {
    pub(crate) class: RefreshClass,
    /// Fixed interval of the class; `None` for never.
    pub(crate) fixed: Option<Duration>,
    /// Time since the previous visit, if the texts of both can be compared.
    pub(crate) compared: Option<Duration>,
    pub(crate) changed: bool,
    /// `false` if the visit was applied before.
    pub(crate) is_new: bool,
    /// Weight of the page, 1 to 1000; 0 if it was not computed.
    pub(crate) weight: u32,
}

impl RefreshState {
    /// Updates the state after a visit. Returns the wait until the next one, or `None` for never.
    pub(crate) fn after_visit(&mut self, plan: &RefreshPlan, visit: &SettledVisit) -> Option<Duration> {
        self.class = visit.class;
        if let Some(elapsed) = visit.compared {
            self.history.observe(days(elapsed), visit.changed, &plan.prior(visit.class));
        }
        let fixed = visit.fixed?;
        if visit.is_new {
            plan.step(self, visit.compared.is_some(), visit.changed, fixed);
        }
        Some(plan.interval(self, visit.weight).unwrap_or(fixed))
    }

    /// Packs the state into two integers, which take at most 16 bytes in the catalog.
    pub(crate) fn to_columns(self) -> (Option<i64>, Option<i64>) {
        let rate = (!self.history.is_empty()).then(|| self.history.to_bits().cast_signed());
        let rhythm = &self.rhythm;
        let class = match self.class {
            RefreshClass::Page => 0,
            RefreshClass::Home => 1,
            RefreshClass::Hub => 2,
            RefreshClass::Feed => 3,
        };
        let flags = [rhythm.is_hit, rhythm.is_inserted, rhythm.was_inserted_hit, rhythm.is_after_inserted];
        let flags = flags.iter().enumerate().map(|(bit, flag)| i64::from(*flag) << (2 + bit)).sum::<i64>();
        let misses = i64::from(rhythm.misses.min(3)) << 6;
        let interval = i64::from(rhythm.interval.to_bits()) << 8;
        let interest = i64::from(self.interest.to_bits()) << 40;
        let announced = i64::from(self.is_announced) << 48;
        let packed = class | flags | misses | interval | interest | announced;
        (rate, (packed != 0).then_some(packed))
    }

    /// Unpacks a state.
    pub(crate) fn from_columns(rate: Option<i64>, packed: Option<i64>) -> Self {
        let packed = packed.unwrap_or_default();
        let flag = |bit: u32| packed >> bit & 1 == 1;
        let interval = f32::from_bits((packed >> 8) as u32);
        Self {
            history: rate.map(|bits| ChangeHistory::from_bits(bits.cast_unsigned())).unwrap_or_default(),
            class: match packed & 3 {
                1 => RefreshClass::Home,
                2 => RefreshClass::Hub,
                3 => RefreshClass::Feed,
                _ => RefreshClass::Page,
            },
            rhythm: VisitRhythm {
                interval: if interval.is_finite() && interval > 0.0 { interval } else { 0.0 },
                is_hit: flag(2),
                is_inserted: flag(3),
                was_inserted_hit: flag(4),
                is_after_inserted: flag(5),
                misses: (packed >> 6 & 3) as u8,
            },
            interest: PageInterest::from_bits((packed >> 40) as u8),
            is_announced: flag(48),
        }
    }
}

/// Returns a duration in days.
pub(super) fn days(duration: Duration) -> f64 {
    duration.as_secs_f64() / 86_400.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::refresh::RatePrior;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_state_survives_its_packing(
            class in 0..4usize, flags in any::<[bool; 4]>(), misses in 0..4u8, interval in 0.001f32..400.0, visits in 0..5,
            factor in 0.1f64..10.0, is_announced: bool,
        ) {
            let classes = [RefreshClass::Page, RefreshClass::Home, RefreshClass::Hub, RefreshClass::Feed];
            let [is_hit, is_inserted, was_inserted_hit, is_after_inserted] = flags;
            let mut state = RefreshState {
                class: classes[class],
                rhythm: VisitRhythm { interval, is_hit, misses, is_inserted, was_inserted_hit, is_after_inserted },
                interest: PageInterest::from_factor(factor),
                is_announced,
                ..RefreshState::default()
            };
            for visit in 0..visits {
                state.history.observe(2.0, visit % 2 == 0, &RatePrior::new(0.3, 0.5));
            }
            let (rate, packed) = state.to_columns();
            prop_assert_eq!(RefreshState::from_columns(rate, packed), state);
            prop_assert!(packed.is_none_or(|packed| (0..1 << 49).contains(&packed)), "at most eight bytes");
        }

        #[test]
        fn hostile_columns_cause_no_panic(rate: Option<i64>, packed: Option<i64>) {
            let state = RefreshState::from_columns(rate, packed);
            prop_assert!(state.rhythm.interval >= 0.0);
        }
    }
}
