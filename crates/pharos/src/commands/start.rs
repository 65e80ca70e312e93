//! Start: `demo`, `up`, `serve`, `config`.

pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod serve;
pub(crate) mod up;
