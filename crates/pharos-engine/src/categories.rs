//! Categories of pages: training from stored pages, assignment by the deployed model, explanation.

pub mod assignment;
pub mod explanation;
pub mod training;
pub mod watch;
