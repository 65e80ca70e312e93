//! Work budgets: bounds on the computation that one untrusted document may cause.
//!
//! Code that processes foreign input reports its work in *steps* ([`spend_work`]), about one per loop iteration or byte.
//! [`WorkBudget::run`] executes a computation with a limit on steps and time. A computation that exceeds a limit, or
//! that was cancelled, ends by unwinding, as `salsa::Cancelled` does in rust-analyzer: no function in between needs a
//! `Result`, and none can forget to check it. Without an active budget, steps are not limited.
//!
//! ```
//! use pharos_core::work::{WorkBudget, WorkExceeded, spend_work};
//!
//! let endless = || loop { spend_work(1) };
//! assert_eq!(WorkBudget::new(1_000).run(endless), Err::<(), _>(WorkExceeded::Steps));
//! ```

use std::cell::Cell;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Number of steps between two looks at the clock and at the cancellation flag.
const STEPS_PER_CHECK: u64 = 16_384;

/// Limits on the work of one computation.
#[derive(Clone, Debug)]
pub struct WorkBudget {
    steps: u64,
    time: Option<Duration>,
    cancelled: Option<Arc<AtomicBool>>,
}

impl WorkBudget {
    /// Limits the number of steps.
    pub fn new(steps: u64) -> Self {
        WorkBudget { steps, time: None, cancelled: None }
    }

    /// Limits the time as well.
    pub fn with_time(self, time: Duration) -> Self {
        WorkBudget { time: Some(time), ..self }
    }

    /// Ends the computation soon after `cancelled` becomes `true`.
    pub fn with_cancellation(self, cancelled: Arc<AtomicBool>) -> Self {
        WorkBudget { cancelled: Some(cancelled), ..self }
    }

    /// Runs a computation on this thread within the budget.
    ///
    /// The computation is abandoned by unwinding when it exceeds the budget; whatever it was building is dropped.
    /// Other panics pass through. A nested budget applies instead of the outer one until it ends.
    pub fn run<T>(&self, computation: impl FnOnce() -> T) -> Result<T, WorkExceeded> {
        let outer = ACTIVE.replace(Some(ActiveBudget {
            left: self.steps,
            deadline: self.time.and_then(|time| Instant::now().checked_add(time)),
            cancelled: self.cancelled.clone(),
        }));
        let unchecked = UNCHECKED.replace(STEPS_PER_CHECK.min(self.steps));
        let outcome = panic::catch_unwind(AssertUnwindSafe(computation));
        ACTIVE.set(outer);
        UNCHECKED.set(unchecked);
        outcome.or_else(|payload| match payload.downcast::<WorkExceeded>() {
            Ok(exceeded) => Err(*exceeded),
            Err(payload) => panic::resume_unwind(payload),
        })
    }
}

/// Why a computation was abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkExceeded {
    Steps,
    Time,
    Cancelled,
}

impl fmt::Display for WorkExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WorkExceeded::Steps => "too much work for its size",
            WorkExceeded::Time => "took too long",
            WorkExceeded::Cancelled => "cancelled",
        })
    }
}

impl std::error::Error for WorkExceeded {}

struct ActiveBudget {
    left: u64,
    deadline: Option<Instant>,
    cancelled: Option<Arc<AtomicBool>>,
}

thread_local! {
    static ACTIVE: Cell<Option<ActiveBudget>> = const { Cell::new(None) };
    /// Steps until the next check of the active budget.
    static UNCHECKED: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Reports work. Unwinds with [`WorkExceeded`] if the active budget of this thread is exceeded.
#[inline]
pub fn spend_work(steps: u64) {
    let left = UNCHECKED.get();
    if steps < left {
        UNCHECKED.set(left - steps);
    } else {
        check_budget(steps - left);
    }
}

/// Accounts for the steps since the last check and for `excess` ones beyond.
#[cold]
fn check_budget(excess: u64) {
    let Some(mut active) = ACTIVE.take() else {
        UNCHECKED.set(u64::MAX);
        return;
    };
    let exceeded = active.check(excess);
    UNCHECKED.set(STEPS_PER_CHECK.min(active.left));
    ACTIVE.set(Some(active));
    if let Some(exceeded) = exceeded {
        // Unlike a panic, this does not call the panic hook.
        panic::resume_unwind(Box::new(exceeded));
    }
}

/// Unwinds with [`WorkExceeded`] if the active budget of this thread was cancelled or its time is over.
///
/// For computations that wait, and therefore report no steps.
pub fn check_interruption() {
    let active = ACTIVE.take();
    let exceeded = active.as_ref().and_then(ActiveBudget::interruption);
    ACTIVE.set(active);
    if let Some(exceeded) = exceeded {
        panic::resume_unwind(Box::new(exceeded));
    }
}

impl ActiveBudget {
    fn check(&mut self, excess: u64) -> Option<WorkExceeded> {
        let spent = STEPS_PER_CHECK.min(self.left).saturating_add(excess);
        if spent >= self.left {
            self.left = 0;
            return Some(WorkExceeded::Steps);
        }
        self.left -= spent;
        self.interruption()
    }

    fn interruption(&self) -> Option<WorkExceeded> {
        if self.cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Ordering::Relaxed)) {
            return Some(WorkExceeded::Cancelled);
        }
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(WorkExceeded::Time)
    }
}

/// Runs a computation without a limit and returns its number of steps, for tests and benchmarks.
pub fn measure_work<T>(computation: impl FnOnce() -> T) -> (T, u64) {
    let budget = ActiveBudget { left: u64::MAX, deadline: None, cancelled: None };
    let outer = ACTIVE.replace(Some(budget));
    let unchecked = UNCHECKED.replace(STEPS_PER_CHECK);
    let value = computation();
    let left = ACTIVE.replace(outer).map_or(u64::MAX, |active| active.left);
    let since_check = STEPS_PER_CHECK.saturating_sub(UNCHECKED.replace(unchecked));
    (value, u64::MAX - left + since_check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computation_within_its_budget_returns_its_value() {
        let spend = |steps| move || (0..steps).for_each(|_| spend_work(1));
        assert_eq!(WorkBudget::new(100_000).run(spend(99_999)), Ok(()));
        assert_eq!(WorkBudget::new(100_000).run(spend(100_000)), Err(WorkExceeded::Steps));
        assert_eq!(WorkBudget::new(10).run(|| spend_work(u64::MAX)), Err(WorkExceeded::Steps));
        spend(1_000_000)();
    }

    #[test]
    fn time_and_cancellation_end_a_computation() {
        let endless = || loop {
            spend_work(1);
        };
        let never = WorkBudget::new(u64::MAX);
        assert_eq!(never.clone().with_time(Duration::ZERO).run(endless), Err::<(), _>(WorkExceeded::Time));
        let cancelled = Arc::new(AtomicBool::new(true));
        assert_eq!(never.with_cancellation(cancelled).run(endless), Err::<(), _>(WorkExceeded::Cancelled));
    }

    #[test]
    fn budgets_nest_and_other_panics_pass() {
        let outer = WorkBudget::new(1_000).run(|| {
            assert_eq!(WorkBudget::new(5).run(|| spend_work(6)), Err(WorkExceeded::Steps));
            spend_work(999);
        });
        assert_eq!(outer, Ok(()));
        let panicked = panic::catch_unwind(|| WorkBudget::new(9).run(|| panic!("on purpose")));
        assert!(panicked.is_err());
        spend_work(1_000_000);
    }

    #[test]
    fn work_is_measured() {
        assert_eq!(measure_work(|| (0..50_000).for_each(|_| spend_work(3))).1, 150_000);
        assert_eq!(measure_work(|| ()).1, 0);
    }
}
