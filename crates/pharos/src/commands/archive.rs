//! Archive: `import`, `load`, `export`.

pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod load;
