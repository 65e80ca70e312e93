//! Trained models: `classify`, `topics`.

pub(crate) mod categories;
pub(crate) mod classify;
mod input;
pub(crate) mod topics;
