//! Click statistics: which results of an impression users clicked.

pub mod patterns;
