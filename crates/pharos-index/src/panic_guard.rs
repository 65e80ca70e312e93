//! Conversion of panics caused by damaged index files into errors.
//!
//! tantivy trusts its files and may read out of bounds in a damaged one. Files are verified before use where that is
//! affordable ([`manifest`](crate::generations::manifest)). Elsewhere, and for later damage, a panic becomes an error
//! that names the generation.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use crate::IndexError;

thread_local! {
    /// Number of nested guards on this thread.
    static GUARD_DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs `work` on the files at `path` and converts a panic into [`IndexError::DamagedGeneration`].
pub(crate) fn catch_panic<T>(
    path: &Path,
    work: impl FnOnce() -> Result<T, IndexError>,
) -> Result<T, IndexError> {
    // Panics inside a guard are reported as errors, so the panic hook stays silent for them.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let previous_hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if GUARD_DEPTH.get() == 0 {
                previous_hook(info);
            }
        }));
    });
    GUARD_DEPTH.set(GUARD_DEPTH.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    GUARD_DEPTH.set(GUARD_DEPTH.get() - 1);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unreadable");
        let detail = text.lines().next().unwrap_or_default().to_string();
        Err(IndexError::DamagedGeneration { path: path.to_path_buf(), detail })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_that_names_the_place() {
        let bytes: Vec<u8> = Vec::new();
        let error = catch_panic(Path::new("index/history-7"), || Ok(bytes[3])).unwrap_err().to_string();
        assert!(error.contains("index/history-7 is damaged (index out of bounds"), "{error}");
        assert_eq!(catch_panic(Path::new(""), || Ok(1)).unwrap(), 1);
    }
}
