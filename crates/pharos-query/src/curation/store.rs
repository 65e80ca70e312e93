//! The store of curation entries: `models/curation.json`, changed by several processes.

use std::path::Path;

use super::file::CurationFile;
use super::records::{CurationError, CurationRecords};

/// Name of the file in the directory of models.
const FILE_NAME: &str = "curation.json";
/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The store of curation entries.
#[derive(Clone, Debug)]
pub struct CurationStore {
    file: CurationFile,
}

impl CurationStore {
    /// Returns the store in the directory of models. Nothing is created before the first change.
    pub fn at(models: &Path) -> Self {
        Self { file: CurationFile::new(models.join(FILE_NAME), MAX_BYTES) }
    }

    /// Reads all entries; none if the file does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is damaged.
    pub fn load(&self) -> Result<CurationRecords, CurationError> {
        let text = self.file.read()?;
        if text.is_empty() && !self.file.path().exists() {
            return Ok(CurationRecords::default());
        }
        let path = || self.file.path().display().to_string();
        CurationRecords::parse(&text).map_err(|why| CurationError::Damaged { path: path(), why })
    }

    /// Changes the entries under the lock of the file, if `edit` agrees.
    pub fn change<T>(
        &self,
        edit: impl FnOnce(&mut CurationRecords) -> Result<T, CurationError>,
    ) -> Result<T, CurationError> {
        let _lock = self.file.lock()?;
        let mut records = self.load()?;
        let result = edit(&mut records)?;
        let mut text =
            serde_json::to_vec_pretty(&records).map_err(|error| self.file.failed("write")(error.into()))?;
        text.push(b'\n');
        self.file.replace(&text)?;
        Ok(result)
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }
}

#[cfg(test)]
mod tests {
    use pharos_core::Timestamp;

    use super::*;
    use crate::curation::records::{CurationChange, CurationRule};

    fn hide(url: &str) -> CurationChange {
        let rule = CurationRule::Hide { query: None, url: url.into() };
        CurationChange { rule, until: None, by: "Keeper".into(), at: Timestamp::EPOCH }
    }

    #[test]
    fn entries_are_kept_and_a_refused_change_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = CurationStore::at(&dir.path().join("models"));
        assert!(store.load().unwrap().entries().is_empty());
        store.change(|records| records.add(hide("http://a.example/"))).unwrap();
        assert!(store.change(|records| records.add(hide("http://a.example/"))).is_err());
        let other = CurationStore::at(&dir.path().join("models"));
        assert_eq!(other.load().unwrap().entries().len(), 1);
    }

    #[test]
    fn a_damaged_file_is_an_error_and_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let store = CurationStore::at(dir.path());
        std::fs::write(store.path(), "{").unwrap();
        let error = store.change(|records| records.add(hide("http://a.example/"))).unwrap_err().to_string();
        assert!(error.contains("curation.json is damaged") && error.contains("restore it"), "{error}");
        assert_eq!(std::fs::read_to_string(store.path()).unwrap(), "{");
    }
}
