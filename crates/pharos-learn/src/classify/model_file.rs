//! Files of classifiers: a name, a format version, a checksum, and the model in postcard form.
//!
//! Files may come from elsewhere. They are read up to a maximum size and checked completely, so that no content of a file
//! can cause a panic or an endless loop.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::dataset::MAX_CLASSES;
use super::model::ClassifierModel;

/// Beginning of a file.
const MAGIC: &[u8; 8] = b"PHAROSCL";

/// Version of the format.
const FORMAT: u32 = 1;

/// Length of name, version and checksum.
const HEADER: usize = 20;

/// Maximum size of a file.
const MAX_BYTES: u64 = 2 << 30;

/// Error of reading or writing a file of a classifier.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    /// The file is not a classifier of this version.
    #[error("{} is not a usable classifier: {problem}; train it again with `pharos classify train`", path.display())]
    Invalid { path: PathBuf, problem: &'static str },
}

impl ClassifierModel {
    /// Returns the content of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let body = postcard::to_stdvec(self).unwrap_or_default();
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Reads the content of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, &'static str> {
        let (header, body) = bytes.split_at_checked(HEADER).ok_or("it is too short")?;
        let (magic, header) = header.split_at(MAGIC.len());
        let (format, checksum) = header.split_at(4);
        if magic != MAGIC {
            return Err("it was not written by Pharos");
        }
        if format != FORMAT.to_le_bytes() {
            return Err("it has another format version");
        }
        if checksum != xxh3_64(body).to_le_bytes() {
            return Err("it is damaged");
        }
        Self::from_body(body)
    }

    /// Reads a model and checks that its parts fit together.
    pub fn from_body(body: &[u8]) -> Result<Self, &'static str> {
        let mut model: Self = postcard::from_bytes(body).map_err(|_| "it is damaged")?;
        let classes = model.classes.len();
        let is_valid = (2..=MAX_CLASSES).contains(&classes)
            && model.sharpness.is_finite()
            && model.thresholds.is_valid(classes)
            && model.vocabulary.complete()
            && model.scorer.complete(model.vocabulary.len(), classes);
        if is_valid { Ok(model) } else { Err("its parts do not fit together") }
    }

    /// Writes a file; a previous one stays complete until the new one is.
    pub fn save(&self, path: &Path) -> Result<(), ModelFileError> {
        let failed = |source| ModelFileError::Io { action: "write", path: path.to_path_buf(), source };
        pharos_files::replace(path, &self.to_bytes()).map_err(failed)
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, ModelFileError> {
        let failed = |source| ModelFileError::Io { action: "read", path: path.to_path_buf(), source };
        let mut bytes = Vec::new();
        File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes)).map_err(failed)?;
        Self::from_bytes(&bytes)
            .map_err(|problem| ModelFileError::Invalid { path: path.to_path_buf(), problem })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::dataset::{ClassColumn, Dataset};
    use super::super::options::{Algorithm, TrainingOptions};
    use super::*;

    fn model(algorithm: Algorithm) -> ClassifierModel {
        let lines = (0..40).map(|i| match i % 2 {
            0 => format!("oil price barrel {}\teconomy/oil\n", i % 7),
            _ => format!("goal match player {}\tsports/football\n", i % 5),
        });
        let tsv: String = lines.collect();
        let data = Dataset::read(tsv.as_bytes(), ClassColumn::Detect, &[]).unwrap();
        ClassifierModel::train(&data, &TrainingOptions { algorithm, ..TrainingOptions::default() }).unwrap()
    }

    #[test]
    fn every_algorithm_learns_and_survives_its_file() {
        for algorithm in Algorithm::ALL {
            let model = model(algorithm);
            let read = ClassifierModel::from_bytes(&model.to_bytes()).unwrap();
            for text in ["the price of oil", "a match of players", "", "unknown"] {
                assert_eq!(read.scores(text), model.scores(text), "{algorithm:?}");
                assert!(read.classify(text).iter().all(|p| (0.0..=1.0).contains(&p.confidence)));
            }
            let class = read.classify("price barrel")[0].class;
            assert_eq!(read.classes()[class as usize], "economy/oil", "{algorithm:?}");
            assert!(model.summary().held_out.is_some_and(|results| results.micro_f1 > 0.9), "{algorithm:?}");
        }
    }

    #[test]
    fn files_survive_power_cuts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model");
        model(Algorithm::Rocchio).save(&path).unwrap();
        let new = model(Algorithm::Linear);
        pharos_files::power_cut::check(dir.path(), || new.save(&path).unwrap()).unwrap();
        assert_eq!(ClassifierModel::load(&path).unwrap().algorithm(), Algorithm::Linear);
        assert!(ClassifierModel::load(&dir.path().join("none")).is_err());
    }

    #[test]
    fn damaged_files_are_reported() {
        let bytes = model(Algorithm::Linear).to_bytes();
        let error = |bytes: &[u8]| ClassifierModel::from_bytes(bytes).unwrap_err();
        assert_eq!(error(&bytes[..10]), "it is too short");
        assert_eq!(error(&[0; 50]), "it was not written by Pharos");
        let mut damaged = bytes.clone();
        damaged[100] ^= 1;
        assert_eq!(error(&damaged), "it is damaged");
        damaged = bytes;
        damaged[8] = 99;
        assert_eq!(error(&damaged), "it has another format version");
    }

    proptest! {
        #[test]
        fn changed_models_are_rejected_or_usable(at in 0usize..4000, value: u8, algorithm in 0usize..11) {
            let mut body = model(Algorithm::ALL[algorithm]).to_bytes().split_off(HEADER);
            let at = at % body.len();
            body[at] = value;
            if let Ok(model) = ClassifierModel::from_body(&body) {
                model.classify("oil price of a match");
            }
        }

        #[test]
        fn any_bytes_are_rejected(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(ClassifierModel::from_body(&bytes).is_err());
        }
    }
}
