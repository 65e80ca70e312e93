//! Maintenance: `doctor`, `rebuild`, `compact`, `backup`, `restore`, `keys`, `health`, `man`, `completions`.

pub(crate) mod backup;
pub(crate) mod compact;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod health;
pub(crate) mod keys;
pub(crate) mod man;
pub(crate) mod rebuild;
