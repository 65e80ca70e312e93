//! The files of categories in a data directory: `models/categories`.
//!
//! ```text
//! taxonomy.json   the taxonomy that operators edit
//! examples.json   their examples
//! decisions.json  their decisions about pages and sites
//! model-<n>/      a trained model: classifier, the taxonomy of its training, card.json with its figures
//! deployed.json   the deployed versions, the current one last
//! ```
//!
//! A version is complete before its directory gets its name, and deploying replaces one file, so that a reader sees the old
//! or the new model.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io, thread};

use pharos_files::DirectoryLock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::decisions::CategoryDecisions;
use super::examples::CategoryExample;
use super::page_classifier::PageClassifier;
use crate::classify::evaluation::Confusion;
use crate::classify::taxonomy::{Category, Taxonomy, TaxonomyError};
use crate::classify::{ClassifierModel, ModelFileError, TrainingError};

const TAXONOMY: &str = "taxonomy.json";
const EXAMPLES: &str = "examples.json";
const DECISIONS: &str = "decisions.json";
const DEPLOYED: &str = "deployed.json";
const MODEL: &str = "classifier";
const CARD: &str = "card.json";

/// Number of versions kept beside the deployed ones.
const KEPT: usize = 5;

/// Number of deployments that can be rolled back.
const MAX_DEPLOYMENTS: usize = 10;

/// Error of the files of categories.
#[derive(Debug, thiserror::Error)]
pub enum CategoryError {
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("{} is damaged: {why}", path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("the taxonomy cannot be used: {0}")]
    Taxonomy(#[from] TaxonomyError),
    #[error(transparent)]
    Model(#[from] ModelFileError),
    #[error("cannot train: {0}")]
    Training(#[from] TrainingError),
    #[error("there is no version {0}: `pharos classify models` lists them")]
    NoVersion(u64),
    #[error(
        "no model is deployed: train one with `pharos classify train`, then run `pharos classify deploy`"
    )]
    NotDeployed,
    #[error("another process is changing the categories: try again")]
    Busy,
}

/// Results of one category on texts that were held out of the training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassFigures {
    pub category: String,
    pub examples: u64,
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

/// Version and figures of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCard {
    pub version: u64,
    /// Time of the training.
    pub trained: String,
    /// Digest of the training data.
    pub digest: String,
    pub algorithm: String,
    pub examples: usize,
    /// Number of texts that are also examples of another category.
    pub contradictory: usize,
    /// Number of categories with examples.
    pub categories: usize,
    pub features: usize,
    /// Least confidence of an assigned category.
    pub min_confidence: f32,
    /// Results of cross-validation; absent with fewer than ten examples.
    pub accuracy: Option<f64>,
    pub micro_f1: Option<f64>,
    pub macro_f1: Option<f64>,
    pub classes: Vec<ClassFigures>,
    pub confusions: Vec<Confusion>,
}

/// The deployed versions, the current one last.
#[derive(Default, Serialize, Deserialize)]
struct Deployments {
    versions: Vec<u64>,
}

/// The files of categories.
#[derive(Clone, Debug)]
pub struct CategoryStore {
    dir: PathBuf,
}

impl CategoryStore {
    /// Returns the store in the directory of models. Nothing is created before the first change.
    pub fn at(models: &Path) -> Self {
        Self { dir: models.join("categories") }
    }

    /// Returns the files that decide about the categories of pages. Each is replaced as a whole, so its time of
    /// modification changes with its content.
    pub fn watched_files(&self) -> [PathBuf; 3] {
        [DEPLOYED, DECISIONS, TAXONOMY].map(|name| self.dir.join(name))
    }

    /// Returns the taxonomy that operators edit; an empty one if there is none.
    pub fn taxonomy(&self) -> Result<Taxonomy, CategoryError> {
        self.read_taxonomy(&self.dir.join(TAXONOMY))
    }

    fn read_taxonomy(&self, path: &Path) -> Result<Taxonomy, CategoryError> {
        match read(path)? {
            Some(text) => Taxonomy::parse(&text).map_err(|why| damaged(path, &why)),
            None => Ok(Taxonomy::default()),
        }
    }

    /// Changes the taxonomy, if `edit` agrees.
    pub fn change_taxonomy(
        &self,
        edit: impl FnOnce(&Taxonomy) -> Result<Taxonomy, TaxonomyError>,
    ) -> Result<Taxonomy, CategoryError> {
        let _lock = self.lock()?;
        let taxonomy = edit(&self.taxonomy()?)?;
        self.replace(TAXONOMY, taxonomy.to_json().as_bytes())?;
        Ok(taxonomy)
    }

    /// Returns the examples.
    pub fn examples(&self) -> Result<Vec<CategoryExample>, CategoryError> {
        self.read_json(EXAMPLES)
    }

    /// Changes the examples.
    pub fn change_examples<T>(
        &self,
        edit: impl FnOnce(&mut Vec<CategoryExample>) -> T,
    ) -> Result<T, CategoryError> {
        let _lock = self.lock()?;
        let mut examples = self.examples()?;
        let result = edit(&mut examples);
        self.replace(EXAMPLES, &to_json(&examples))?;
        Ok(result)
    }

    /// Returns the decisions about pages and sites.
    pub fn decisions(&self) -> Result<CategoryDecisions, CategoryError> {
        self.read_json(DECISIONS)
    }

    /// Changes the decisions.
    pub fn change_decisions<T>(
        &self,
        edit: impl FnOnce(&mut CategoryDecisions) -> T,
    ) -> Result<T, CategoryError> {
        let _lock = self.lock()?;
        let mut decisions = self.decisions()?;
        let result = edit(&mut decisions);
        self.replace(DECISIONS, &to_json(&decisions))?;
        Ok(result)
    }

    /// Stores a trained model as a new version, and removes old versions that are not deployed. Returns the card with its
    /// version.
    pub fn add_model(
        &self,
        model: &ClassifierModel,
        taxonomy: &Taxonomy,
        card: ModelCard,
    ) -> Result<ModelCard, CategoryError> {
        let _lock = self.lock()?;
        let versions = self.versions()?;
        let card = ModelCard { version: versions.last().map_or(1, |last| last + 1), ..card };
        let unfinished = self.dir.join("unfinished");
        remove_directory(&unfinished)?;
        pharos_files::create_dir_all(&unfinished).map_err(failed("create", &unfinished))?;
        model.save(&unfinished.join(MODEL))?;
        write(&unfinished.join(TAXONOMY), taxonomy.to_json().as_bytes())?;
        write(&unfinished.join(CARD), &to_json(&card))?;
        let finished = self.version_dir(card.version);
        pharos_files::install_directory(&unfinished, &finished).map_err(failed("write", &finished))?;
        let deployed: BTreeSet<u64> = self.deployments()?.versions.into_iter().collect();
        let idle: Vec<u64> = versions.into_iter().filter(|version| !deployed.contains(version)).collect();
        for version in &idle[..idle.len().saturating_sub(KEPT)] {
            remove_directory(&self.version_dir(*version))?;
        }
        Ok(card)
    }

    /// Returns the cards of all versions, the newest first. Damaged versions are left out.
    pub fn models(&self) -> Result<Vec<ModelCard>, CategoryError> {
        Ok(self.versions()?.into_iter().rev().filter_map(|version| self.card(version).ok()).collect())
    }

    /// Returns the card of a version.
    pub fn card(&self, version: u64) -> Result<ModelCard, CategoryError> {
        let path = self.version_dir(version).join(CARD);
        let text = read(&path)?.ok_or(CategoryError::NoVersion(version))?;
        serde_json::from_str(&text).map_err(|why| damaged(&path, &why))
    }

    /// Returns the deployed version.
    pub fn deployed(&self) -> Result<Option<u64>, CategoryError> {
        Ok(self.deployments()?.versions.last().copied())
    }

    /// Deploys a version: pages get their categories by it from now on.
    pub fn deploy(&self, version: u64) -> Result<(), CategoryError> {
        let _lock = self.lock()?;
        self.card(version)?;
        let mut deployments = self.deployments()?;
        if deployments.versions.last() != Some(&version) {
            deployments.versions.push(version);
        }
        let excess = deployments.versions.len().saturating_sub(MAX_DEPLOYMENTS);
        deployments.versions.drain(..excess);
        self.replace(DEPLOYED, &to_json(&deployments))
    }

    /// Takes the last deployment back. Returns the version that is deployed then, if there is one.
    pub fn roll_back(&self) -> Result<Option<u64>, CategoryError> {
        let _lock = self.lock()?;
        let mut deployments = self.deployments()?;
        deployments.versions.pop().ok_or(CategoryError::NotDeployed)?;
        self.replace(DEPLOYED, &to_json(&deployments))?;
        Ok(deployments.versions.last().copied())
    }

    /// Loads the deployed model; `None` if there is none.
    pub fn classifier(&self) -> Result<Option<PageClassifier>, CategoryError> {
        let Some(version) = self.deployed()? else { return Ok(None) };
        let dir = self.version_dir(version);
        let model = ClassifierModel::load(&dir.join(MODEL))?;
        let taxonomy = self.read_taxonomy(&dir.join(TAXONOMY))?;
        Ok(Some(PageClassifier::new(self.card(version)?, model, taxonomy, &self.decisions()?)))
    }

    /// Returns the taxonomy of the deployed model, which the index uses, with the names that operators gave since. `None` if
    /// no model is deployed.
    pub fn deployed_taxonomy(&self) -> Result<Option<Taxonomy>, CategoryError> {
        let Some(version) = self.deployed()? else { return Ok(None) };
        let deployed = self.read_taxonomy(&self.version_dir(version).join(TAXONOMY))?;
        let edited = self.taxonomy()?;
        let renamed = deployed.categories().iter().map(|category| match edited.get(&category.id) {
            Some(named) => Category { parent: category.parent.clone(), ..named.clone() },
            None => category.clone(),
        });
        Ok(Some(Taxonomy::new(renamed.collect())?))
    }

    fn deployments(&self) -> Result<Deployments, CategoryError> {
        self.read_json(DEPLOYED)
    }

    fn version_dir(&self, version: u64) -> PathBuf {
        self.dir.join(format!("model-{version}"))
    }

    /// Returns all versions in ascending order.
    fn versions(&self) -> Result<Vec<u64>, CategoryError> {
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("read", &self.dir)(error)),
        };
        let version =
            |entry: fs::DirEntry| entry.file_name().to_str()?.strip_prefix("model-")?.parse::<u64>().ok();
        let mut versions: Vec<u64> = entries.flatten().filter_map(version).collect();
        versions.sort_unstable();
        Ok(versions)
    }

    fn read_json<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, CategoryError> {
        let path = self.dir.join(name);
        match read(&path)? {
            Some(text) => serde_json::from_str(&text).map_err(|why| damaged(&path, &why)),
            None => Ok(T::default()),
        }
    }

    fn replace(&self, name: &str, content: &[u8]) -> Result<(), CategoryError> {
        write(&self.dir.join(name), content)
    }

    fn lock(&self) -> Result<DirectoryLock, CategoryError> {
        pharos_files::create_dir_all(&self.dir).map_err(failed("create", &self.dir))?;
        for _ in 0..250 {
            match DirectoryLock::try_acquire(&self.dir, "LOCK").map_err(failed("lock", &self.dir))? {
                Some(lock) => return Ok(lock),
                None => thread::sleep(Duration::from_millis(20)),
            }
        }
        Err(CategoryError::Busy)
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CategoryError {
    let path = path.to_path_buf();
    move |source| CategoryError::Io { action, path, source }
}

fn damaged(path: &Path, why: &dyn std::fmt::Display) -> CategoryError {
    CategoryError::Damaged { path: path.to_path_buf(), why: why.to_string() }
}

fn read(path: &Path) -> Result<Option<String>, CategoryError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path)(error)),
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), CategoryError> {
    pharos_files::replace(path, content).map_err(failed("write", path))
}

fn to_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).unwrap_or_default();
    text.push(b'\n');
    text
}

fn remove_directory(path: &Path) -> Result<(), CategoryError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::training::{TrainingSettings, train};
    use super::*;

    fn store() -> (tempfile::TempDir, CategoryStore, Taxonomy) {
        let dir = tempfile::tempdir().unwrap();
        let store = CategoryStore::at(dir.path());
        let taxonomy = Taxonomy::parse("id,en,zh\nsea,Sea,海\nsky,Sky,天\n").unwrap();
        store.change_taxonomy(|_| Ok(taxonomy.clone())).unwrap();
        (dir, store, taxonomy)
    }

    fn add(store: &CategoryStore, taxonomy: &Taxonomy) -> u64 {
        let texts = [("ships", "sea"), ("waves", "sea"), ("stars", "sky")];
        let texts: Vec<(String, String)> =
            texts.iter().map(|(t, c)| (t.to_string(), c.to_string())).collect();
        let (model, card) = train(&texts, taxonomy, &TrainingSettings::default(), "now").unwrap();
        store.add_model(&model, taxonomy, card).unwrap().version
    }

    #[test]
    fn versions_are_deployed_and_rolled_back() {
        let (_dir, store, taxonomy) = store();
        assert!(store.classifier().unwrap().is_none() && store.deployed_taxonomy().unwrap().is_none());
        assert!(matches!(store.roll_back(), Err(CategoryError::NotDeployed)));
        assert!(matches!(store.deploy(1), Err(CategoryError::NoVersion(1))));
        let (first, second) = (add(&store, &taxonomy), add(&store, &taxonomy));
        store.deploy(first).unwrap();
        store.deploy(second).unwrap();
        assert_eq!(store.classifier().unwrap().unwrap().card().version, second);
        assert_eq!(store.roll_back().unwrap(), Some(first));
        assert_eq!(store.classifier().unwrap().unwrap().card().version, first);
        assert_eq!(store.roll_back().unwrap(), None);
        let versions: Vec<u64> = store.models().unwrap().iter().map(|card| card.version).collect();
        assert_eq!(versions, [second, first]);
    }

    #[test]
    fn old_versions_go_and_deployed_ones_stay() {
        let (_dir, store, taxonomy) = store();
        let first = add(&store, &taxonomy);
        store.deploy(first).unwrap();
        let added: Vec<u64> = (0..KEPT + 3).map(|_| add(&store, &taxonomy)).collect();
        let versions: Vec<u64> = store.models().unwrap().iter().map(|card| card.version).collect();
        assert_eq!(
            (versions.len(), versions[0], *versions.last().unwrap()),
            (KEPT + 2, added[KEPT + 2], first)
        );
    }

    #[test]
    fn names_are_current_and_places_are_those_of_the_model() {
        let (_dir, store, taxonomy) = store();
        store.deploy(add(&store, &taxonomy)).unwrap();
        let edited = Taxonomy::parse("id,parent,en,zh\nsea,,Oceans,海洋\nnew,,New,新\n").unwrap();
        store.change_taxonomy(|_| Ok(edited)).unwrap();
        let shown = store.deployed_taxonomy().unwrap().unwrap();
        let names: Vec<&str> = shown.categories().iter().map(|category| category.name(false)).collect();
        assert_eq!(names, ["Oceans", "Sky"]);
    }

    #[test]
    fn files_survive_power_cuts() {
        let (dir, store, taxonomy) = store();
        store.deploy(add(&store, &taxonomy)).unwrap();
        let renamed = Taxonomy::parse("id,en\nsea,Oceans\n").unwrap();
        pharos_files::power_cut::check(dir.path(), || {
            store.change_taxonomy(|_| Ok(renamed.clone())).unwrap();
        })
        .unwrap();
        // A version has its name only once it is complete.
        let is_complete = |files: &pharos_files::power_cut::Files| {
            let has = |name: &str| files.contains_key(&Path::new("categories/model-2").join(name));
            [MODEL, TAXONOMY, CARD].map(has).iter().all(|has_file| *has_file == has(CARD))
        };
        let write = || assert_eq!(add(&store, &taxonomy), 2);
        pharos_files::power_cut::check_states(dir.path(), write, is_complete).unwrap();
        assert!(store.classifier().unwrap().is_some());
    }

    #[test]
    fn damaged_files_are_reported_and_kept() {
        let (dir, store, _) = store();
        let path = dir.path().join("categories").join(EXAMPLES);
        fs::write(&path, "[{").unwrap();
        assert!(
            store.change_examples(Vec::clear).unwrap_err().to_string().contains("examples.json is damaged")
        );
        assert_eq!(fs::read_to_string(path).unwrap(), "[{");
    }
}
